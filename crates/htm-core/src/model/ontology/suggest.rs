//! What could be made better of an ontology.

use serde::Serialize;

use super::look::TagUse;
use crate::model::tags::TagPath;

/// Two tags that may be one, and what speaks for it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Suggestion {
    /// The one of fewer nodes.
    pub from: TagPath,
    /// The one that would stay.
    pub into: TagPath,
    /// Nodes of `from` and those below it.
    pub from_nodes: i64,
    /// Nodes of `into` and those below it.
    pub into_nodes: i64,
    /// How far their last levels are written alike: the share of common trigrams, from 0.5.
    pub name: Option<f32>,
    /// The share of nodes with either that have both, from 0.5.
    pub nodes: Option<f32>,
    /// The cosine of their embeddings, from 0.85.
    pub meaning: Option<f32>,
}

impl Suggestion {
    /// How much speaks for it: each kind of evidence leaves less doubt.
    pub fn score(&self) -> f32 {
        1.0 - [self.name, self.nodes, self.meaning]
            .into_iter()
            .flatten()
            .fold(1.0, |doubt, it| doubt * (1.0 - it * 0.99))
    }
}

/// A tag of few nodes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Orphan {
    /// The tag with its counts.
    #[serde(flatten)]
    pub tag: TagUse,
    /// What it could be merged into: one that is written alike, else the one above it; none for a root that is like no other.
    pub merge_into: Option<TagPath>,
}
