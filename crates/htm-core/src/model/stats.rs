//! What there is, counted: by robot, namespace, type and tag; how far it is enriched; how old and how large it is.

use chrono::{DateTime, Utc};

use crate::model::jobs::Stage;
use crate::model::scope::Scope;

/// What is to be counted.
#[derive(Clone, Debug)]
pub struct StatsQuery {
    /// Whose memories.
    pub scope: Scope,
    /// How many of each list are named, those with the most first.
    pub top: u32,
}

impl Default for StatsQuery {
    /// The handle's namespace, ten of each list.
    fn default() -> Self {
        Self { scope: Scope::Own, top: 10 }
    }
}

/// The memory in numbers; all of them of one instant.
#[derive(Clone, Debug, serde::Serialize)]
pub struct MemoryStats {
    /// The namespace that was counted; none for all of them.
    pub namespace: Option<String>,
    /// All of it.
    pub totals: Totals,
    /// When the live memories happened.
    pub ages: Ages,
    /// Live nodes by namespace.
    pub namespaces: Counts,
    /// Live nodes by the robot that made them.
    pub robots: Counts,
    /// Live nodes by what they are; no name for those of no type.
    pub types: Counts,
    /// Live nodes by tag.
    pub tags: Counts,
    /// How far the live nodes are, by stage and model.
    pub enrichment: Vec<Enrichment>,
    /// What a working memory may hold, in tokens, as this handle is set; a robot may have a budget of its own.
    pub working_memory_tokens: usize,
    /// The working memories, as they were written last; the fullest first.
    pub working_memory: Vec<WorkingMemoryUse>,
    /// The groups that are open, the fullest first.
    pub groups: Vec<GroupUse>,
    /// What all namespaces take on disk; none for a handle with a wall, which is not told of the others' sizes.
    pub storage: Option<Storage>,
}

/// Sums over the nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Totals {
    /// Live nodes.
    pub nodes: i64,
    /// Their tokens.
    pub tokens: i64,
    /// Nodes that are forgotten, not purged.
    pub forgotten: i64,
    /// When the first live memory happened.
    pub oldest: Option<DateTime<Utc>>,
    /// When the last one did.
    pub newest: Option<DateTime<Utc>>,
}

/// Live nodes by how long ago they happened; each is counted once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Ages {
    /// Within the last 24 hours, or in the future.
    pub day: i64,
    /// Within the last 7 days, and not in the above.
    pub week: i64,
    /// Within the last 30 days, and not in the above.
    pub month: i64,
    /// Before that.
    pub older: i64,
}

/// A list of groups of nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Counts {
    /// How many groups there are.
    pub distinct: i64,
    /// Those with the most nodes.
    pub top: Vec<GroupCount>,
}

/// A group of nodes.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct GroupCount {
    /// Its namespace; none for a type, which spans them.
    pub namespace: Option<String>,
    /// Its name; none for nodes that have none.
    pub name: Option<String>,
    /// Its live nodes.
    pub nodes: i64,
    /// Their tokens; none for a tag.
    pub tokens: Option<i64>,
}

/// How far the live nodes are with a stage.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Enrichment {
    /// Which.
    pub stage: Stage,
    /// The embedding model; none for tags, whichever model found them.
    pub model: Option<String>,
    /// Nodes that are through it, as their text is now.
    pub done: i64,
    /// Jobs that wait.
    pub pending: i64,
    /// Jobs that wait for more than time.
    pub parked: i64,
    /// Jobs that a worker holds.
    pub running: i64,
    /// Dead letters.
    pub dead: i64,
}

/// How full a robot's working memory is.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct WorkingMemoryUse {
    /// The robot's namespace.
    pub namespace: String,
    /// Its name.
    pub robot: String,
    /// Live nodes in it.
    pub nodes: i64,
    /// Their tokens.
    pub tokens: i64,
    /// What it may hold, in tokens: the robot's own budget, or what this handle is set to.
    pub max_tokens: i64,
    /// The share of that, 0 to 1; more when the limit was lowered since.
    pub utilisation: f64,
}

/// What a group has in mind.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct GroupUse {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub group: String,
    /// Its members.
    pub members: i64,
    /// Those of them that are active and were seen within their lease.
    pub active: i64,
    /// Live nodes in its working memory.
    pub nodes: i64,
    /// Their tokens.
    pub tokens: i64,
    /// The most that it may hold.
    pub max_tokens: i64,
    /// The share of that, 0 to 1; more when a node in it grew.
    pub utilisation: f64,
}

/// What the database takes on disk.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Storage {
    /// The whole database, in bytes.
    pub database_bytes: i64,
    /// The tables of HTM and of its jobs, the largest first.
    pub tables: Vec<TableSize>,
    /// Their indexes, the largest first.
    pub indexes: Vec<IndexSize>,
}

/// What a table takes.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct TableSize {
    /// Its name, with its schema.
    pub name: String,
    /// About how many rows it has, as the last ANALYZE counted; none before the first.
    pub rows: Option<i64>,
    /// Bytes of the rows, with long values.
    pub table_bytes: i64,
    /// Bytes of its indexes.
    pub index_bytes: i64,
}

/// What an index takes.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct IndexSize {
    /// Its name.
    pub name: String,
    /// Its table.
    pub table: String,
    /// Bytes.
    pub bytes: i64,
}
