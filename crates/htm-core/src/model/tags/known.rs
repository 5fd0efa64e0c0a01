//! What a tagger is told of a namespace's ontology.

use super::{FormerNames, TagPath};

/// The ontology of a namespace, as a tagger is told of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownTags {
    /// The tags, those to be preferred first.
    pub tags: Vec<KnownTag>,
    /// What names mean that are no tags any more.
    pub former: FormerNames,
}

/// A tag that a namespace has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownTag {
    /// The tag.
    pub path: TagPath,
    /// What it is about, where somebody said so.
    pub description: Option<String>,
}

impl KnownTag {
    /// What is embedded of it: its words, and what it is about. `database:postgresql` is `database postgresql`.
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
