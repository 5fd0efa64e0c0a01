//! The rows and bytes of each table and index.

use htm_core::RecallSettings;
use serde::Serialize;

use super::Workload;
use super::constants as c;
use super::layout;

/// The unit that a table has a row of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Per {
    /// A memory.
    Memory,
    /// A turn of a conversation.
    Turn,
    /// A memory that is no turn: it is stored once.
    Fact,
    /// A tag of a memory.
    Tag,
    /// A tag of a namespace.
    NamespaceTag,
    /// A completion: a memory embedded, or tagged.
    Completion,
    /// A job that is kept.
    Job,
    /// A namespace.
    Namespace,
    /// A distinct lexeme of a namespace.
    Lexeme,
}

/// A kind of relation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A table, with its TOAST table.
    Table,
    /// An index.
    Index,
}

/// A table or an index.
#[derive(Clone, Debug, Serialize)]
pub struct Object {
    /// The table, with its schema. `htm.embeddings_N` is that of the embedding model.
    pub table: &'static str,
    /// The index; of a table, the table again.
    pub name: &'static str,
    /// Which of them it is.
    pub kind: Kind,
    /// The rows, or entries.
    pub rows: u64,
    /// The bytes.
    pub bytes: u64,
    /// Whether each recall reads parts of it: it should be in memory.
    pub hot: bool,
}

/// The storage of the database.
#[derive(Clone, Debug, Serialize)]
pub struct Storage {
    /// The tables and indexes with rows that depend on the workload, by table.
    pub objects: Vec<Object>,
    /// Their bytes.
    pub bytes: u64,
    /// The bytes of the indexes among them.
    pub index_bytes: u64,
    /// The bytes of what each recall reads parts of.
    pub hot_bytes: u64,
    /// Whether a recall in one namespace compares all its vectors. Otherwise it asks the vector index.
    pub exact: bool,
    /// The write-ahead log, in bytes a second.
    pub wal_bytes_per_second: u64,
}

impl Storage {
    /// The tables and indexes of a workload.
    pub(super) fn of(workload: &Workload) -> Self {
        let exact = workload.memories_each() <= RecallSettings::default().exact_scope as f64;
        let (nodes, embeddings, memories) = ("htm.nodes", "htm.embeddings_N", workload.memories as f64);
        let vector = layout::vector_row(c::VECTOR_ROW, workload.dimensions);
        let entry = layout::hnsw_entry(workload.dimensions);
        let mut objects = vec![
            object(nodes, nodes, Kind::Table, memories, memories * node(workload)),
            object(nodes, "nodes_tsv_idx", Kind::Index, memories, text_index(workload)),
            object(embeddings, embeddings, Kind::Table, memories, memories * vector),
            object(embeddings, "embeddings_N_hnsw_idx", Kind::Index, memories, memories * entry),
        ];
        objects.extend(c::SIZED.iter().map(|it| {
            let rows = rows(it.per, workload);
            let pending = if it.is_gin { pending(rows) } else { 0.0 };
            object(it.table, it.name, it.kind, rows, rows * it.bytes + pending)
        }));
        for object in &mut objects {
            object.hot = is_hot(object, exact);
        }
        // By table in the order of ORDER, the table before its indexes.
        objects.sort_by_key(|it| (place(it.table), it.kind == Kind::Index));
        let sum = |wanted: &dyn Fn(&Object) -> bool| {
            objects.iter().filter(|it| wanted(it)).map(|it| it.bytes).sum()
        };
        Self {
            bytes: sum(&|_| true),
            index_bytes: sum(&|it| it.kind == Kind::Index),
            hot_bytes: sum(&|it| it.hot),
            exact,
            wal_bytes_per_second: (workload.writes_per_second * (c::WAL + c::WAL_PER_ENTRY * entry)).round()
                as u64,
            objects,
        }
    }
}

/// The tables, in the order of their listing.
const ORDER: [&str; 10] = [
    "htm.nodes",
    "htm.embeddings_N",
    "htm.completions",
    "htm.node_tags",
    "htm.node_accesses",
    "htm.lexeme_statistics",
    "htm.tags",
    "htm.robots",
    "htm.namespace_statistics",
    "apalis.jobs",
];

fn place(table: &str) -> usize {
    ORDER.iter().position(|it| *it == table).unwrap_or(ORDER.len())
}

fn object(table: &'static str, name: &'static str, kind: Kind, rows: f64, bytes: f64) -> Object {
    Object { table, name, kind, rows: rows.round() as u64, bytes: bytes.round() as u64, hot: false }
}

fn rows(per: Per, workload: &Workload) -> f64 {
    let (memories, namespaces) = (workload.memories as f64, workload.namespaces as f64);
    let each = workload.memories_each();
    match per {
        Per::Memory => memories,
        Per::Turn => memories * workload.turns,
        Per::Fact => memories * (1.0 - workload.turns),
        Per::Tag => memories * workload.tags,
        Per::NamespaceTag => namespaces * (each * workload.tags).min(c::TAGS_PER_NAMESPACE),
        Per::Completion => memories * c::JOBS,
        Per::Job => (workload.writes_per_second * c::JOBS_KEPT_S).min(memories) * c::JOBS,
        Per::Namespace => namespaces,
        Per::Lexeme => namespaces * vocabulary(each, workload.words),
    }
}

/// The distinct lexemes of a memory.
fn lexemes(workload: &Workload) -> f64 {
    workload.words.powf(c::LEXEMES_POWER)
}

/// The distinct lexemes of some memories.
fn vocabulary(memories: f64, words: f64) -> f64 {
    (c::VOCABULARY * (memories * words).powf(c::VOCABULARY_POWER)).min(memories * words)
}

fn node(workload: &Workload) -> f64 {
    c::NODE + c::TURN * workload.turns + c::BYTES_PER_WORD * workload.words + c::LEXEME * lexemes(workload)
}

/// The index of words. Its lexemes are those of all namespaces.
fn text_index(workload: &Workload) -> f64 {
    let memories = workload.memories as f64;
    let postings = c::POSTING * lexemes(workload) * memories;
    postings + c::LEXEME_ENTRY * vocabulary(memories, workload.words) + pending(memories)
}

/// The list of pending entries of a GIN index.
fn pending(rows: f64) -> f64 {
    (rows * c::PENDING_PER_ROW).min(c::PENDING)
}

/// Whether each recall reads parts of it. A recall in a small namespace reads all its vectors and not the vector index.
fn is_hot(object: &Object, exact: bool) -> bool {
    match object.name {
        "htm.embeddings_N" | "embeddings_N_scope_idx" => exact,
        "embeddings_N_hnsw_idx" => !exact,
        "nodes_tsv_idx"
        | "nodes_pk"
        | "nodes_namespace_created_at_idx"
        | "embeddings_N_pk"
        | "node_tags_pk" => true,
        "lexeme_statistics_pk" | "htm.namespace_statistics" => true,
        _ => false,
    }
}
