//! The map: memories in two dimensions, near to each other if their vectors are.

mod projection;

use chrono::{DateTime, Utc};

use crate::model::id::NodeId;
pub(crate) use projection::{Projection, project};

/// The most memories of a map.
pub(crate) const MAX_MAP: usize = 5_000;

/// A sample of memories in two dimensions.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct MemoryMap {
    /// The embedding model whose vectors are shown, the active one; none: there is none.
    pub model: Option<String>,
    /// The number of memories that pass the filter.
    pub memories: i64,
    /// Those that have a vector of this model. The sample is of these.
    pub embedded: i64,
    /// The share of the vectors' variance that is along x, 0 to 1.
    pub variance_x: f32,
    /// The share that is along y.
    pub variance_y: f32,
    /// The sample, in the order of ids. The same memories give the same places.
    pub points: Vec<MapPoint>,
}

/// The place of a memory.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct MapPoint {
    /// The memory.
    pub node: NodeId,
    /// From -1 to 1, in the same scale as y.
    pub x: f32,
    /// From -1 to 1.
    pub y: f32,
    /// The start of its text: at most 160 characters, then `…`.
    pub excerpt: String,
    /// The first levels of its tags, by name.
    pub topics: Vec<String>,
    /// The robot that remembered it.
    pub robot: String,
    /// When it happened.
    pub created_at: DateTime<Utc>,
}
