//! The ontology as a tagger sees it.

use super::{FormerNames, TagPath};

/// A namespace's ontology as a tagger sees it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownTags {
    /// The tags, preferred ones first.
    pub tags: Vec<KnownTag>,
    /// The meanings of former names.
    pub former: FormerNames,
}

/// A tag of a namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownTag {
    /// The tag.
    pub path: TagPath,
    /// Its description, if any.
    pub description: Option<String>,
}

impl KnownTag {
    /// Its text for embedding: its words and its description. `database:postgresql` is `database postgresql`.
    pub fn words(&self) -> String {
        let words = self.path.as_str().replace([':', '-'], " ");
        match &self.description {
            Some(description) => format!("{words}: {description}"),
            None => words,
        }
    }
}

impl From<TagPath> for KnownTag {
    fn from(path: TagPath) -> Self {
        Self { path, description: None }
    }
}

impl FromIterator<TagPath> for KnownTags {
    fn from_iter<I: IntoIterator<Item = TagPath>>(paths: I) -> Self {
        Self { tags: paths.into_iter().map(KnownTag::from).collect(), former: FormerNames::default() }
    }
}
