//! The ontology of a namespace as a document: written out, read in, or laid over one that is there.

mod plan;

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::fault::Fault;
use crate::htm::Htm;
use crate::store::exchange;
use crate::tag::{InvalidTag, TagPath, TagRule, TagRules};

pub(crate) use self::plan::{Name, Plan};

/// The version that [`Ontology`] documents have.
pub const ONTOLOGY_VERSION: u32 = 1;
/// The most bytes of a description.
pub const MAX_DESCRIPTION_BYTES: usize = 10_000;

/// The tags of a namespace with what they are about and their other names: no nodes, no counts, no namespace, so that
/// the same ontology is the same document wherever it is.
///
/// Tags are in the stored form and in the order of a tree; one that is above another may be left out, it is added all
/// the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ontology {
    /// [`ONTOLOGY_VERSION`].
    pub version: u32,
    /// The tags.
    pub tags: Vec<OntologyTag>,
}

/// A tag of an [`Ontology`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OntologyTag {
    /// Its path.
    pub tag: TagPath,
    /// What it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its other names, sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub synonyms: Vec<TagPath>,
}

/// How an ontology is laid over the one that is there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Descriptions {
    /// A tag that has a description keeps it.
    #[default]
    Keep,
    /// The document's takes its place.
    Overwrite,
}

/// Where an ontology comes from, as the log of changes says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A document, by the name of its file.
    Document(String),
    /// A template, by its name.
    Template(String),
}

/// What an import changed, or would change. By the names that the tags have here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Imported {
    /// The namespace.
    pub namespace: String,
    /// The change's number in the log; none when nothing was changed.
    pub change: Option<i64>,
    /// Tags that were not there, those above the document's included.
    pub added: Vec<TagPath>,
    /// Tags that were there and have the document's description now.
    pub described: Vec<TagPath>,
    /// Tags that were there and kept a description that is not the document's.
    pub kept: Vec<TagPath>,
    /// Other names that were not there.
    pub synonyms: Vec<Called>,
    /// Tags of the document whose name means another tag here: that one was meant.
    pub renamed: Vec<Called>,
}

/// A name, and the tag that it means.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Called {
    /// The name.
    pub name: TagPath,
    /// The tag.
    pub tag: TagPath,
}

/// What is wrong with an ontology.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OntologyError {
    /// A document of another version.
    #[error("the ontology has version {found}, this program reads version {ONTOLOGY_VERSION}")]
    Version {
        /// What it has.
        found: u32,
    },
    /// A tag stands twice in the document.
    #[error("tag {number} of the ontology, `{tag}`, comes a second time")]
    Twice {
        /// Its place among the tags, from 1.
        number: usize,
        /// The tag.
        tag: TagPath,
    },
    /// A tag of the document that this program would not store.
    #[error("tag {number} of the ontology: {reason}")]
    Tag {
        /// Its place among the tags, from 1.
        number: usize,
        /// The rule that it breaks.
        reason: InvalidTag,
    },
    /// A description that cannot be stored.
    #[error("tag {number} of the ontology, `{tag}`: its description {rule}")]
    Description {
        /// Its place among the tags, from 1.
        number: usize,
        /// The tag.
        tag: TagPath,
        /// The rule that it breaks.
        rule: &'static str,
    },
    /// Another name that stands for two tags, or twice for one.
    #[error("tag {number} of the ontology, `{tag}`: its other name `{name}` stands in the document before")]
    SynonymTwice {
        /// The tag's place, from 1.
        number: usize,
        /// The tag.
        tag: TagPath,
        /// The name.
        name: TagPath,
    },
    /// Another name that is a tag.
    #[error("`{name}` cannot be another name of `{tag}`: it is a tag itself, {place}")]
    SynonymIsTag {
        /// The name.
        name: TagPath,
        /// What it was to mean.
        tag: TagPath,
        /// `of the ontology`, or of which namespace.
        place: String,
    },
    /// Another name that means another tag already.
    #[error("`{name}` cannot be another name of `{tag}`: in namespace `{namespace}` it means `{present}`")]
    SynonymTaken {
        /// The name.
        name: TagPath,
        /// What it was to mean.
        tag: TagPath,
        /// What it means.
        present: TagPath,
        /// Where.
        namespace: String,
    },
}

impl OntologyError {
    /// A stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Version { .. } => "ontology_version",
            Self::Twice { .. } | Self::SynonymTwice { .. } => "ontology_twice",
            Self::Tag { .. } => "tag_invalid",
            Self::Description { .. } => "description_invalid",
            Self::SynonymIsTag { .. } => "synonym_is_tag",
            Self::SynonymTaken { .. } => "synonym_taken",
        }
    }

    /// What to do next.
    pub fn hint(&self) -> String {
        match self {
            Self::Version { .. } => "export it again with this program's version, or upgrade this program".into(),
            Self::Twice { .. } | Self::SynonymTwice { .. } => {
                "take one of the two out of the document; nothing was imported".into()
            }
            Self::Tag { .. } => {
                "write it like `database:postgresql:index`: a-z, 0-9 and -, at most 5 levels; nothing was imported"
                    .into()
            }
            Self::Description { .. } => "shorten or clean it; nothing was imported".into(),
            Self::SynonymIsTag { name, tag, .. } => {
                format!("take one of the two out of the document, or make one tag of both: `htm tags merge {name} {tag}`")
            }
            Self::SynonymTaken { name, .. } => {
                format!("take it out of the document, or from what has it: `htm tags synonyms remove {name}`")
            }
        }
    }

    pub(crate) fn fault(&self) -> Fault {
        Fault::User
    }
}

impl Ontology {
    /// A document of these tags.
    pub fn new(tags: Vec<OntologyTag>) -> Self {
        Self { version: ONTOLOGY_VERSION, tags }
    }

    /// Whether it could be laid over an empty namespace.
    ///
    /// # Errors
    /// What is wrong with it, and where.
    pub fn check(&self, rules: &TagRules) -> Result<(), OntologyError> {
        if self.version != ONTOLOGY_VERSION {
            return Err(OntologyError::Version { found: self.version });
        }
        let mut tags = HashSet::new();
        for (number, it) in (1..).zip(&self.tags) {
            if it.tag.depth() > rules.max_depth {
                let rule = TagRule::TooDeep { levels: it.tag.depth(), most: rules.max_depth };
                let reason = InvalidTag { tag: it.tag.to_string(), rule };
                return Err(OntologyError::Tag { number, reason });
            }
            if !tags.insert(it.tag.clone()) {
                return Err(OntologyError::Twice { number, tag: it.tag.clone() });
            }
            let description = it.description.as_deref().unwrap_or_default();
            if let Some(rule) = broken_rule(description) {
                return Err(OntologyError::Description { number, tag: it.tag.clone(), rule });
            }
        }
        let above: Vec<TagPath> = tags.iter().flat_map(TagPath::ancestors).collect();
        tags.extend(above);
        let mut names = HashMap::new();
        for (number, it) in (1..).zip(&self.tags) {
            for name in &it.synonyms {
                let (name, tag) = (name.clone(), it.tag.clone());
                if tags.contains(&name) {
                    let place = "of the ontology".into();
                    return Err(OntologyError::SynonymIsTag { name, tag, place });
                }
                if names.insert(name.clone(), number).is_some() {
                    return Err(OntologyError::SynonymTwice { number, tag, name });
                }
            }
        }
        Ok(())
    }
}

fn broken_rule(description: &str) -> Option<&'static str> {
    if description.contains('\0') {
        Some("has a NUL byte, which PostgreSQL's text cannot hold")
    } else if description.len() > MAX_DESCRIPTION_BYTES {
        Some("has more than 10,000 bytes")
    } else {
        None
    }
}

impl Htm {
    /// The tags of a namespace (the handle's if none is named), used or not, as a document.
    ///
    /// # Errors
    /// `namespace_invalid`, or a database error.
    pub async fn export_ontology(&self, namespace: Option<&str>) -> Result<Ontology> {
        let namespace = self.namespace_or_own(namespace)?;
        Ok(Ontology::new(exchange::tags(self.pool(), namespace).await?))
    }

    /// Lays an ontology over that of a namespace (the handle's if none is named): adds the tags and other names that it
    /// lacks, and describes those without a description. In one transaction, logged as one change that can be reverted;
    /// a change of nothing is not logged.
    ///
    /// A tag of the document that is another name here means the tag of that name.
    ///
    /// # Errors
    /// `ontology_version`, `ontology_twice`, `tag_invalid`, `description_invalid`, `synonym_is_tag`, `synonym_taken`,
    /// `namespace_invalid`, or a database error. Nothing has changed then.
    pub async fn import_ontology(
        &self,
        namespace: Option<&str>,
        ontology: &Ontology,
        descriptions: Descriptions,
        origin: &Origin,
    ) -> Result<Imported> {
        let namespace = self.checked(namespace, ontology)?;
        exchange::import(self.pool(), namespace, ontology, descriptions, Some(origin)).await
    }

    /// What [`import_ontology`](Self::import_ontology) would change now.
    ///
    /// # Errors
    /// The same.
    pub async fn preview_ontology(
        &self,
        namespace: Option<&str>,
        ontology: &Ontology,
        descriptions: Descriptions,
    ) -> Result<Imported> {
        let namespace = self.checked(namespace, ontology)?;
        exchange::import(self.pool(), namespace, ontology, descriptions, None).await
    }

    fn checked<'a>(&'a self, namespace: Option<&'a str>, ontology: &Ontology) -> Result<&'a str> {
        let namespace = self.namespace_or_own(namespace)?;
        ontology.check(self.tag_rules())?;
        Ok(namespace)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ontology(tags: &[(&str, &[&str])]) -> Ontology {
        let path = |path: &str| path.parse().unwrap();
        let tag = |(tag, names): &(&str, &[&str])| OntologyTag {
            tag: path(tag),
            description: None,
            synonyms: names.iter().map(|name| path(name)).collect(),
        };
        Ontology::new(tags.iter().map(tag).collect())
    }

    #[test]
    fn each_contradiction_has_its_code_and_place() {
        let rules = TagRules { max_depth: 3, ..TagRules::default() };
        let check = |tags: &[(&str, &[&str])]| ontology(tags).check(&rules);
        assert_eq!(check(&[("a:b", &["c", "d"]), ("e", &[])]), Ok(()));
        for (tags, code, says) in [
            (&[("a", &[][..]), ("b", &[]), ("a", &[])][..], "ontology_twice", "tag 3 of the ontology, `a`"),
            (&[("a:b:c:d", &[])], "tag_invalid", "4 levels, 3 are the most"),
            (&[("a", &["b"]), ("b", &[])], "synonym_is_tag", "`b` cannot be another name of `a`"),
            (&[("a", &["b"]), ("b:c", &[])], "synonym_is_tag", "it is a tag itself"),
            (&[("a:b", &["a"])], "synonym_is_tag", "of the ontology"),
            (&[("a", &["a"])], "synonym_is_tag", "of the ontology"),
            (&[("a", &["c"]), ("b", &["c"])], "ontology_twice", "tag 2 of the ontology, `b`"),
            (&[("a", &["c", "c"])], "ontology_twice", "stands in the document before"),
        ] {
            let error = check(tags).unwrap_err();
            assert_eq!(error.code(), code, "{error}");
            assert!(error.to_string().contains(says) && !error.hint().is_empty(), "{error}");
        }
    }

    #[test]
    fn versions_and_descriptions_are_checked() {
        let code = |change: &dyn Fn(&mut Ontology)| {
            let mut ontology = ontology(&[("a", &[])]);
            change(&mut ontology);
            ontology.check(&TagRules::default()).unwrap_err().code()
        };
        assert_eq!(code(&|it| it.version = 2), "ontology_version");
        assert_eq!(code(&|it| it.tags[0].description = Some("a\0b".into())), "description_invalid");
        assert_eq!(code(&|it| it.tags[0].description = Some("x".repeat(10_001))), "description_invalid");
    }
}
