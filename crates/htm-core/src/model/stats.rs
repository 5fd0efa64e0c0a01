//! Counts by robot, namespace, type and tag; progress, ages, sizes.

use chrono::{DateTime, Utc};

use crate::model::jobs::Stage;
use crate::model::scope::Scope;

/// The request of statistics.
#[derive(Clone, Debug)]
pub struct StatsQuery {
    /// The namespaces.
    pub scope: Scope,
    /// The length of each list, the largest entries first.
    pub top: u32,
}

impl Default for StatsQuery {
    /// The handle's namespace, ten of each list.
    fn default() -> Self {
        Self { scope: Scope::Own, top: 10 }
    }
}

/// The statistics, all of one instant.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct MemoryStats {
    /// The namespace; none for all.
    pub namespace: Option<String>,
    /// The totals.
    pub totals: Totals,
    /// The ages of the live memories.
    pub ages: Ages,
    /// Live nodes by namespace.
    pub namespaces: Counts,
    /// Live nodes by robot.
    pub robots: Counts,
    /// Live nodes by type; no name for those without one.
    pub types: Counts,
    /// Live nodes by tag.
    pub tags: Counts,
    /// The progress of the live nodes, by stage and model.
    pub enrichment: Vec<Enrichment>,
    /// The handle's token budget of a working memory; a robot may have its own.
    pub working_memory_tokens: usize,
    /// The saved working memories, the fullest first.
    pub working_memory: Vec<WorkingMemoryUse>,
    /// The open groups, the fullest first.
    pub groups: Vec<GroupUse>,
    /// The disk space of all namespaces; none for a restricted handle.
    pub storage: Option<Storage>,
}

/// Sums over the nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Totals {
    /// Live nodes.
    pub nodes: i64,
    /// Their tokens.
    pub tokens: i64,
    /// Forgotten nodes.
    pub forgotten: i64,
    /// When the first live memory happened.
    pub oldest: Option<DateTime<Utc>>,
    /// When the last live memory happened.
    pub newest: Option<DateTime<Utc>>,
}

/// Live nodes by age; each is counted once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Ages {
    /// Within the last 24 hours, or in the future.
    pub day: i64,
    /// Within the last 7 days, otherwise.
    pub week: i64,
    /// Within the last 30 days, otherwise.
    pub month: i64,
    /// Older.
    pub older: i64,
}

/// A list of groups of nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Counts {
    /// The number of groups.
    pub distinct: i64,
    /// The groups with the most nodes.
    pub top: Vec<GroupCount>,
}

/// A group of nodes.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct GroupCount {
    /// Its namespace; none for a type, which spans them.
    pub namespace: Option<String>,
    /// Its name; none for nodes without one.
    pub name: Option<String>,
    /// Its live nodes.
    pub nodes: i64,
    /// Their tokens; none for a tag.
    pub tokens: Option<i64>,
}

/// The progress of a stage.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Enrichment {
    /// The stage.
    pub stage: Stage,
    /// The embedding model; none for tags.
    pub model: Option<String>,
    /// Nodes that are done, at their current revision.
    pub done: i64,
    /// Due and waiting jobs.
    pub pending: i64,
    /// Parked jobs.
    pub parked: i64,
    /// Running jobs.
    pub running: i64,
    /// Dead letters.
    pub dead: i64,
}

/// The utilisation of a robot's working memory.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WorkingMemoryUse {
    /// The robot's namespace.
    pub namespace: String,
    /// Its name.
    pub robot: String,
    /// Live nodes in it.
    pub nodes: i64,
    /// Their tokens.
    pub tokens: i64,
    /// Its token budget: the robot's own, otherwise the handle's.
    pub max_tokens: i64,
    /// The used share of the budget, 0 to 1; more if the budget was lowered.
    pub utilisation: f64,
}

/// The utilisation of a group's working memory.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct GroupUse {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub group: String,
    /// Its members.
    pub members: i64,
    /// Active members within their lease.
    pub active: i64,
    /// Live nodes in its working memory.
    pub nodes: i64,
    /// Their tokens.
    pub tokens: i64,
    /// Its token budget.
    pub max_tokens: i64,
    /// The used share of the budget, 0 to 1; more if a node in it grew.
    pub utilisation: f64,
}

/// The disk space of the database.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Storage {
    /// The whole database, in bytes.
    pub database_bytes: i64,
    /// The tables of HTM and of its jobs, the largest first.
    pub tables: Vec<TableSize>,
    /// Their indexes, the largest first.
    pub indexes: Vec<IndexSize>,
}

/// The disk space of a table.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TableSize {
    /// Its name, with its schema.
    pub name: String,
    /// The approximate number of rows, by the last ANALYZE; none before the first.
    pub rows: Option<i64>,
    /// Bytes of the rows, including long values.
    pub table_bytes: i64,
    /// Bytes of its indexes.
    pub index_bytes: i64,
}

/// The disk space of an index.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct IndexSize {
    /// Its name.
    pub name: String,
    /// Its table.
    pub table: String,
    /// Bytes.
    pub bytes: i64,
}
