//! Suggestions for an ontology.

use serde::Serialize;

use super::look::TagUse;
use crate::model::tags::TagPath;

/// Two tags that may mean the same, with the evidence.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Suggestion {
    /// The tag with fewer nodes.
    pub from: TagPath,
    /// The tag to keep.
    pub into: TagPath,
    /// Nodes of `from` and those below it.
    pub from_nodes: i64,
    /// Nodes of `into` and those below it.
    pub into_nodes: i64,
    /// The trigram similarity of their last levels, from 0.5.
    pub name: Option<f32>,
    /// The share of common nodes, from 0.5.
    pub nodes: Option<f32>,
    /// The cosine of their embeddings, from 0.85.
    pub meaning: Option<f32>,
}

impl Suggestion {
    /// The combined evidence.
    pub fn score(&self) -> f32 {
        1.0 - [self.name, self.nodes, self.meaning]
            .into_iter()
            .flatten()
            .fold(1.0, |doubt, it| doubt * (1.0 - it * 0.99))
    }
}

/// Two tags declared distinct.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DistinctTags {
    /// One of them.
    pub tag: TagPath,
    /// The other one.
    pub other: TagPath,
}

/// A tag of few nodes.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Orphan {
    /// The tag with its counts.
    #[serde(flatten)]
    pub tag: TagUse,
    /// The suggested target: a tag with a similar name, otherwise the parent; none for a root without a similar tag.
    pub merge_into: Option<TagPath>,
}
