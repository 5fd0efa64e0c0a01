//! Views of an ontology.

use chrono::{DateTime, Utc};
use serde::Serialize;
use serde_json::Value;

use super::change::ChangeKind;
use crate::model::id::NodeId;
use crate::model::tags::{TagOrigin, TagPath};

/// A tag with its counts.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TagUse {
    /// The tag.
    pub tag: TagPath,
    /// Its description.
    pub description: Option<String>,
    /// The tags that replace it after a split.
    pub split_into: Vec<String>,
    /// Tags declared distinct from it. A pair is on one of its tags.
    pub distinct_from: Vec<String>,
    /// When it was registered.
    pub created_at: DateTime<Utc>,
    /// Live nodes that have it.
    pub nodes: i64,
    /// Live nodes that have it or one below it, each counted once.
    pub total: i64,
    /// When it was assigned last.
    pub last_used: Option<DateTime<Utc>>,
}

/// The progress of a split.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SplitOutcome {
    /// Nodes that wait to be tagged again.
    pub waiting: i64,
    /// The new tags, each with its nodes.
    pub into: Vec<TagCount>,
    /// Nodes that fit none of them and keep the tag.
    pub kept: i64,
}

/// The number of nodes of a tag.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TagCount {
    /// The tag.
    pub tag: String,
    /// Live nodes.
    pub nodes: i64,
}

/// The details of a tag.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TagDetails {
    /// The tag with its counts.
    #[serde(flatten)]
    pub tag: TagUse,
    /// Its synonyms.
    pub synonyms: Vec<String>,
    /// The tags above it, the root first.
    pub parents: Vec<TagPath>,
    /// The tags directly below it.
    pub children: Vec<TagUse>,
    /// The tags beside it, below the same parent.
    pub siblings: Vec<TagPath>,
    /// Its assignments by origin.
    pub origins: Vec<OriginCount>,
    /// The newest nodes that have it or one below it.
    pub newest: Vec<TaggedNode>,
}

/// The assignments of one origin.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct OriginCount {
    /// The origin.
    pub origin: TagOrigin,
    /// The model; none for manual assignments.
    pub model: Option<String>,
    /// The version of its prompt or rules.
    pub prompt_version: Option<String>,
    /// The number of live nodes.
    pub nodes: i64,
    /// Their mean confidence, if known.
    pub mean_confidence: Option<f32>,
}

/// A node that has a tag.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TaggedNode {
    /// The node.
    pub node: NodeId,
    /// Its text.
    pub content: String,
}

/// A tag with a similar name.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SimilarTag {
    /// The tag.
    pub tag: String,
    /// The trigram similarity, 0.3 to 1, of its name, its last level or a synonym.
    pub similarity: f32,
}

impl SimilarTag {
    /// A tag whose name or last level differs from a text by one typing error, or by two from 8 letters on. Shorter texts
    /// than 4 letters are too near to everything.
    pub(crate) fn mistyped(text: &str, tag: &str) -> Option<Self> {
        let letters = text.chars().count();
        let most = match letters {
            0..4 => return None,
            4..8 => 1,
            _ => 2,
        };
        let last = tag.rsplit(':').next().unwrap_or(tag);
        let errors = strsim::osa_distance(text, tag).min(strsim::osa_distance(text, last));
        let similarity = 1.0 - errors as f32 / letters as f32;
        (errors <= most).then(|| Self { tag: tag.to_owned(), similarity })
    }
}

/// A filter that matches no tag.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct UnmatchedTag {
    /// The tag of the filter.
    pub tag: TagPath,
    /// Tags with similar names, the nearest first.
    pub nearest: Vec<String>,
}

/// Two tags with common nodes.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CoOccurrence {
    /// One tag.
    pub tag: String,
    /// The other.
    pub other: String,
    /// Live nodes with both.
    pub nodes: i64,
    /// Live nodes with the one.
    pub tag_nodes: i64,
    /// Live nodes with the other.
    pub other_nodes: i64,
    /// The share of common nodes, 0 to 1.
    pub jaccard: f32,
}

/// A change in the log.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LoggedChange {
    /// Its number.
    pub change: i64,
    /// Its kind.
    pub kind: ChangeKind,
    /// The request.
    pub details: Value,
    /// The author.
    pub made_by: Option<String>,
    /// When it was made.
    pub made_at: DateTime<Utc>,
    /// The change that reverted it.
    pub reverted_by: Option<i64>,
    /// The number of its names.
    pub names: i64,
    /// The number of nodes with changed or renamed tags.
    pub nodes: i64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistyped_tag_is_told_from_another_one() {
        let is_near = |text, tag| SimilarTag::mistyped(text, tag).is_some();
        assert!(
            is_near("alhpa", "alpha")
                && is_near("alhpa", "greek:alpha")
                && is_near("greek:alhpa", "greek:alpha")
        );
        assert!(is_near("databasse", "database"));
        assert!(!is_near("alhpa", "beta") && !is_near("zz", "zzz") && !is_near("alha", "beta:alpine"));
        assert_eq!(SimilarTag::mistyped("alhpa", "alpha").unwrap().similarity, 0.8);
    }
}
