//! Relations between memories: those that people and agents set, and those that follow from what is stored.

use chrono::{DateTime, Utc};

use crate::model::error::{Error, Result, codes};
use crate::model::id::NodeId;
use crate::model::memory::validate_text;
use crate::model::tags::TagPath;

/// The most bytes of a relation's reason.
const MAX_REASON_BYTES: usize = 4_096;

/// The kind of a relation that is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[derive(strum::AsRefStr, strum::Display, strum::EnumString, strum::IntoStaticStr, strum::VariantNames)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", parse_err_ty = Error, parse_err_fn = no_kind)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum RelationKind {
    /// The memory takes the place of another one, which is no longer right.
    Supersedes,
    /// The two memories cannot both be right. It holds in both directions.
    Contradicts,
}

/// A relation that a person or an agent has set.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Relation {
    /// The memory that supersedes or contradicts.
    pub from: NodeId,
    /// The kind.
    pub kind: RelationKind,
    /// The memory that is superseded or contradicted.
    pub to: NodeId,
    /// The reason, if one was given.
    pub reason: Option<String>,
    /// The robot that set it, by its name at that time.
    pub robot: String,
    /// When it was set.
    pub made_at: DateTime<Utc>,
}

/// The receipt of a relation.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Relating {
    /// The relation as it is stored.
    #[serde(flatten)]
    pub relation: Relation,
    /// Whether it is new. A repeat changes nothing.
    pub is_new: bool,
    /// The relations that it has ended: those by which the other memory superseded this one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub removed: Vec<Relation>,
}

/// A memory that supersedes another one.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Successor {
    /// Its id.
    pub node: NodeId,
    /// When it happened.
    pub created_at: DateTime<Utc>,
    /// The first 100 characters of its text.
    pub excerpt: String,
    /// The reason, if one was given.
    pub reason: Option<String>,
    /// When the relation was set.
    pub made_at: DateTime<Utc>,
}

/// A memory, and those that supersede it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Superseded {
    /// The superseded memory.
    pub node: NodeId,
    /// The memories that supersede it, the last set first.
    pub superseded_by: Vec<Successor>,
}

/// A memory that is superseded by another one.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Predecessor {
    /// Its id.
    pub node: NodeId,
    /// When it happened.
    pub created_at: DateTime<Utc>,
    /// The first 100 characters of its text.
    pub excerpt: String,
    /// The reason, if one was given.
    pub reason: Option<String>,
    /// When the relation was set.
    pub made_at: DateTime<Utc>,
}

/// The way in which a memory is related to the one that was asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[derive(strum::AsRefStr, strum::Display, strum::EnumString, strum::IntoStaticStr, strum::VariantNames)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", parse_err_ty = Error, parse_err_fn = no_way)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum RelatedBy {
    /// It is superseded by the one asked about.
    Supersedes,
    /// It supersedes the one asked about.
    SupersededBy,
    /// One of the two contradicts the other.
    Contradicts,
    /// Its text means nearly the same. Derived from the vectors.
    NearDuplicate,
    /// It has the same rare tags. Derived from the tags.
    SharedTags,
}

/// A related memory.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RelatedNode {
    /// The way in which it is related.
    pub by: RelatedBy,
    /// Its id.
    pub node: NodeId,
    /// The name of the robot that remembered it.
    pub robot: String,
    /// When it happened.
    pub created_at: DateTime<Utc>,
    /// The first 100 characters of its text.
    pub excerpt: String,
    /// The reason of a relation that was set, if one was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The robot that set the relation; none of a derived one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub made_by: Option<String>,
    /// When the relation was set; none of a derived one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub made_at: Option<DateTime<Utc>>,
    /// The cosine similarity of a near-duplicate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub similarity: Option<f64>,
    /// The shared tags, the rarest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub tags: Vec<TagPath>,
}

/// The memories that a memory is related to.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Related {
    /// The memory that was asked about.
    pub node: NodeId,
    /// The number of its former texts, which [`Htm::revisions`](crate::Htm::revisions) lists.
    pub former_texts: i64,
    /// The related memories: those of relations that were set first, then near-duplicates, then those with the same tags.
    pub related: Vec<RelatedNode>,
    /// The derived relations that could not be looked for, and why.
    pub not_searched: Vec<String>,
}

fn no_kind(name: &str) -> Error {
    let hint = match name {
        "superseded_by" => "give `supersedes`, with the two memories the other way round",
        _ => "give `supersedes` or `contradicts`",
    };
    Error::new(codes::RELATION_INVALID, format!("`{name}` is not a kind of relation")).with_hint(hint)
}

fn no_way(name: &str) -> Error {
    Error::new(codes::RELATION_INVALID, format!("`{name}` is not a way in which memories are related"))
        .with_hint("give `supersedes`, `superseded_by`, `contradicts`, `near_duplicate` or `shared_tags`")
}

/// Checks a relation as far as it is possible without the database.
pub(crate) fn validate(from: NodeId, kind: RelationKind, to: NodeId, reason: Option<&str>) -> Result<()> {
    if from == to {
        let message = format!("node {from} cannot have the relation `{kind}` to itself");
        return Err(Error::new(codes::RELATION_INVALID, message).with_value("node", from));
    }
    match reason {
        Some(reason) if reason.trim().is_empty() => {
            Err(Error::new(codes::RELATION_INVALID, "the reason of the relation is empty")
                .with_hint("give a reason with a letter in it, or none"))
        }
        Some(reason) => validate_text("reason", reason, MAX_REASON_BYTES),
        None => Ok(()),
    }
}

/// The two nodes are of different namespaces.
pub(crate) fn of_two_namespaces(from: (NodeId, &str), to: (NodeId, &str)) -> Error {
    let message = format!(
        "node {} is in namespace `{}` and node {} in `{}`, and a relation is within one namespace",
        from.0, from.1, to.0, to.1
    );
    Error::new(codes::RELATION_INVALID, message)
}

/// The relation would close a circle. `chain` are the nodes from `to` to `from`, each of which supersedes the next. Without
/// its last relation, `from` would be current.
pub(crate) fn cycle(from: NodeId, to: NodeId, chain: &[NodeId]) -> Error {
    let last = chain.len().checked_sub(2).and_then(|at| chain.get(at)).copied().unwrap_or(to);
    let chain = chain.iter().map(ToString::to_string).collect::<Vec<_>>().join(" supersedes ");
    let message = format!("node {from} cannot supersede node {to}, because {chain}");
    Error::new(codes::RELATION_CYCLE, message)
        .with_value("chain", chain)
        .with_value("superseding", last)
        .with_value("superseded", from)
}

/// There is no such relation.
pub(crate) fn unknown(from: NodeId, kind: RelationKind, to: NodeId) -> Error {
    Error::new(codes::RELATION_UNKNOWN, format!("there is no relation: node {from} {kind} node {to}"))
        .with_value("node", from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_relation_has_two_ends_and_no_empty_reason() {
        let check = |to, reason| validate(NodeId(1), RelationKind::Supersedes, NodeId(to), reason);
        assert!(check(2, None).is_ok() && check(2, Some("newer")).is_ok());
        assert_eq!(check(1, None).unwrap_err().code(), "relation_invalid");
        assert_eq!(check(2, Some(" \n")).unwrap_err().code(), "relation_invalid");
        assert_eq!(check(2, Some("a\0")).unwrap_err().code(), "nul_byte");
        let long = "x".repeat(MAX_REASON_BYTES + 1);
        assert_eq!(check(2, Some(&long)).unwrap_err().code(), "field_too_long");
    }

    #[test]
    fn kinds_and_ways_are_words() {
        assert_eq!("supersedes".parse::<RelationKind>().unwrap(), RelationKind::Supersedes);
        assert_eq!("superseded_by".parse::<RelatedBy>().unwrap(), RelatedBy::SupersededBy);
        assert_eq!("replaces".parse::<RelationKind>().unwrap_err().code(), "relation_invalid");
        let turned = "superseded_by".parse::<RelationKind>().unwrap_err();
        assert!(turned.hint().contains("the other way round"), "{}", turned.hint());
        assert_eq!("near".parse::<RelatedBy>().unwrap_err().code(), "relation_invalid");
    }

    #[test]
    fn a_circle_is_named() {
        let error = cycle(NodeId(1), NodeId(3), &[NodeId(3), NodeId(2), NodeId(1)]);
        assert_eq!(error.to_string(), "node 1 cannot supersede node 3, because 3 supersedes 2 supersedes 1");
        assert_eq!((error.value("superseding"), error.value("superseded")), (Some("2"), Some("1")));
    }
}
