//! What is wrong with a call about the ontology.

use super::TagRule;
use crate::model::fault::Fault;

/// What is wrong with a call about the ontology. Nothing has changed then.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TagError {
    /// No tag of that name.
    #[error("namespace `{namespace}` has no tag `{tag}`")]
    Unknown {
        /// The name given.
        tag: String,
        /// Where it was looked for.
        namespace: String,
        /// Those that are written nearly so, the nearest first.
        nearest: Vec<String>,
    },
    /// Tags were to be merged into one that there is not.
    #[error("namespace `{namespace}` has no tag `{tag}` to merge into")]
    IntoUnknown {
        /// The name given.
        tag: String,
        /// Those that were to go into it.
        from: Vec<String>,
        /// Where it was looked for.
        namespace: String,
        /// Those that are written nearly so, the nearest first.
        nearest: Vec<String>,
    },
    /// A tag was to be renamed to, merged into or split into itself.
    #[error("tag `{tag}` cannot take its own place")]
    IntoItself {
        /// Its name.
        tag: String,
    },
    /// A tag was to be moved below itself.
    #[error("tag `{tag}` cannot be moved to `{into}`, which stands below it")]
    IntoOwnChild {
        /// Its name.
        tag: String,
        /// Where it was to go.
        into: String,
    },
    /// A tag that goes along would get a name that is none.
    #[error("`{tag}` would become `{to}`: {rule}")]
    Unmovable {
        /// The tag.
        tag: String,
        /// What it would be called.
        to: String,
        /// The rule that this breaks.
        rule: TagRule,
    },
    /// The new name is a tag's.
    #[error("there is a tag `{tag}` already")]
    Taken {
        /// The tag.
        tag: String,
        /// The one that was to be called so.
        from: String,
    },
    /// The name is another name of a tag.
    #[error("`{name}` is another name of `{tag}`")]
    NameIsSynonym {
        /// The name given.
        name: String,
        /// The tag that it means.
        tag: String,
    },
    /// What was to be another name of a tag is a tag itself, or has tags below it.
    #[error("`{name}` cannot be another name of `{tag}`: it is a tag itself, or stands above tags")]
    SynonymIsTag {
        /// The name given.
        name: String,
        /// The tag that it was to mean.
        tag: String,
    },
    /// No tag has that other name.
    #[error("no tag of namespace `{namespace}` has the other name `{name}`")]
    SynonymUnknown {
        /// The name given.
        name: String,
        /// Where it was looked for.
        namespace: String,
    },
    /// Nodes have the tag that was to be removed, or one below it.
    #[error("`{tag}`, or a tag below it, is on {nodes} {}", if *.nodes == 1 { "node" } else { "nodes" })]
    InUse {
        /// The tag.
        tag: String,
        /// How many nodes.
        nodes: i64,
    },
    /// Names that are wanted are held by a change under way, or by a long transaction.
    #[error(
        "tags of namespace `{namespace}` are being changed by somebody else, which lasts longer than is waited for"
    )]
    Held {
        /// Whose tags.
        namespace: String,
    },
    /// A namespace has as many tags as it may.
    #[error("namespace `{namespace}` has {limit} tags, as many as it may: there is no room for `{tag}`")]
    NamespaceFull {
        /// Whose tags.
        namespace: String,
        /// The new one, or the first of several.
        tag: String,
        /// The most.
        limit: usize,
    },
    /// A merge of nothing.
    #[error("no tag to merge was named")]
    NothingToMerge,
    /// A split into fewer than two.
    #[error("a tag is split into at least two, not {count}")]
    NothingToSplit {
        /// How many were named.
        count: usize,
    },
    /// A description is too long.
    #[error("the description of `{tag}` has {bytes} bytes, more than the {limit} that one may have")]
    DescriptionTooLong {
        /// The tag.
        tag: String,
        /// What it has.
        bytes: usize,
        /// The most.
        limit: usize,
    },
    /// A document of another version.
    #[error("the ontology has version {found}, this program reads version {read}")]
    DocumentVersion {
        /// What it has.
        found: u32,
        /// What can be read.
        read: u32,
    },
    /// A tag stands twice in a document.
    #[error("tag {number} of the ontology, `{tag}`, stands in it before")]
    Twice {
        /// The tag.
        tag: String,
        /// Its place, from 1.
        number: usize,
    },
    /// No change of that number.
    #[error("namespace `{namespace}` has no change {change}")]
    ChangeUnknown {
        /// The number given.
        change: i64,
        /// Where it was looked for.
        namespace: String,
    },
    /// The change was undone before.
    #[error("change {change} was reverted by change {by}")]
    ChangeReverted {
        /// The change.
        change: i64,
        /// The one that undid it.
        by: i64,
    },
    /// A name of the change is not any more what the change made it.
    #[error("`{name}` is not any more what change {change} made it")]
    ChangedSince {
        /// The change that was to be undone.
        change: i64,
        /// The name.
        name: String,
        /// The change that touched it last, if one did.
        by: Option<i64>,
    },
}

impl TagError {
    /// A stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unknown { .. } | Self::IntoUnknown { .. } => "tag_unknown",
            Self::IntoItself { .. } => "tag_into_itself",
            Self::IntoOwnChild { .. } => "tag_into_own_child",
            Self::Unmovable { .. } => "tag_unmovable",
            Self::Taken { .. } => "tag_taken",
            Self::NameIsSynonym { .. } => "tag_is_synonym",
            Self::SynonymIsTag { .. } => "synonym_is_tag",
            Self::SynonymUnknown { .. } => "synonym_unknown",
            Self::InUse { .. } => "tag_in_use",
            Self::Held { .. } => "contended",
            Self::NamespaceFull { .. } => "namespace_full",
            Self::NothingToMerge => "nothing_to_merge",
            Self::NothingToSplit { .. } => "nothing_to_split",
            Self::DescriptionTooLong { .. } => "description_too_long",
            Self::DocumentVersion { .. } => "ontology_version",
            Self::Twice { .. } => "tag_twice",
            Self::ChangeUnknown { .. } => "change_unknown",
            Self::ChangeReverted { .. } => "change_reverted",
            Self::ChangedSince { .. } => "changed_since",
        }
    }

    /// What to do next.
    pub fn hint(&self) -> String {
        match self {
            Self::Unknown { nearest, .. } if nearest.is_empty() => {
                "see those that there are: `htm tags list`; a tag belongs to one namespace".into()
            }
            Self::Unknown { nearest, .. } => format!("the nearest that there are: {}", nearest.join(", ")),
            Self::IntoUnknown { tag, from, namespace, nearest } => {
                let whose = match namespace.as_str() {
                    "default" => String::new(),
                    namespace => format!(" --namespace {namespace}"),
                };
                let (first, others) = from.split_first().map_or(("", &[][..]), |(first, rest)| (first, rest));
                let mut hint = format!(
                    "to give a tag this name, rename it: `htm tags rename {first} {tag}{whose} --yes`"
                );
                if !others.is_empty() {
                    hint += &format!(", then `htm tags merge {} {tag}{whose} --yes`", others.join(" "));
                }
                if !nearest.is_empty() {
                    hint += &format!("; the nearest that there are: {}", nearest.join(", "));
                }
                hint
            }
            Self::IntoItself { .. } => "name another tag; one may be written in several ways".into(),
            Self::IntoOwnChild { tag, .. } => {
                format!("to make several of it, each a tag: `htm tags split {tag} …`")
            }
            Self::Unmovable { .. } => "move or shorten what stands below it first".into(),
            Self::Taken { tag, from } => format!("make one of both: `htm tags merge {from} {tag} --yes`"),
            Self::NameIsSynonym { name, tag } => {
                format!("use `{tag}`, or free the name: `htm tags synonyms remove {name}`")
            }
            Self::SynonymIsTag { name, tag } => {
                format!("make one of both: `htm tags merge {name} {tag} --yes`")
            }
            Self::SynonymUnknown { .. } => "see those that there are: `htm tags synonyms list`".into(),
            Self::InUse { tag, .. } => format!(
                "merge it into another (`htm tags merge {tag} INTO --yes`), or take it from them: \
                 `htm tags remove {tag} --assigned --yes`"
            ),
            Self::Held { .. } => {
                "do it again in a moment; a change of many nodes is in `htm tags log` when it is done".into()
            }
            Self::NamespaceFull { namespace, .. } => format!(
                "give tags that there are, make fewer of them (`htm tags orphans --namespace {namespace}`), or raise \
                 `tag.namespace_limit`"
            ),
            Self::NothingToMerge => "name at least one tag that is to go".into(),
            Self::NothingToSplit { .. } => {
                "name two tags or more; to replace it by one, rename or merge it".into()
            }
            Self::DescriptionTooLong { .. } => "say in a sentence or two what it is about".into(),
            Self::DocumentVersion { .. } => "export it with this version, or upgrade this program".into(),
            Self::Twice { .. } => "take one of the two out; nothing was imported".into(),
            Self::ChangeUnknown { .. } => "see those that there are: `htm tags log`".into(),
            Self::ChangeReverted { by, .. } => {
                format!("to do it again, undo that: `htm tags revert {by} --yes`")
            }
            Self::ChangedSince { by: Some(by), .. } => {
                format!("undo that one first: `htm tags revert {by} --yes`")
            }
            Self::ChangedSince { name, .. } => format!("look at what it is now: `htm tags show {name}`"),
        }
    }

    pub(crate) fn fault(&self) -> Fault {
        match self {
            Self::Held { .. } => Fault::Transient,
            _ => Fault::User,
        }
    }
}
