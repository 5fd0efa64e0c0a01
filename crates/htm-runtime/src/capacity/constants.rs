//! The constants of the plan.
//!
//! `./justw bench-capacity` measures them: its column "bytes a row" is the constant of each table and index, and it prints
//! the others below. Those of other origin say so. Names of namespaces have 12 bytes there (`tenant-00042`); a longer one
//! takes its excess in each row of each table and in most index entries.

use super::storage::{Kind, Per};

/// A table or an index with a size in proportion to its rows.
pub(super) struct Sized {
    pub(super) table: &'static str,
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    pub(super) per: Per,
    /// The bytes of one row.
    pub(super) bytes: f64,
    /// Whether it is a GIN index, which also has a list of [`PENDING`] entries.
    pub(super) is_gin: bool,
}

const fn table(name: &'static str, per: Per, bytes: f64) -> Sized {
    Sized { table: name, name, kind: Kind::Table, per, bytes, is_gin: false }
}

const fn index(table: &'static str, name: &'static str, per: Per, bytes: f64) -> Sized {
    Sized { table, name, kind: Kind::Index, per, bytes, is_gin: false }
}

const fn gin(table: &'static str, name: &'static str, per: Per, bytes: f64) -> Sized {
    Sized { table, name, kind: Kind::Index, per, bytes, is_gin: true }
}

/// All but the four whose size depends on the text or on the dimensions (`storage.rs`).
pub(super) const SIZED: &[Sized] = &[
    index("htm.nodes", "nodes_pk", Per::Memory, 40.5),
    index("htm.nodes", "nodes_namespace_created_at_idx", Per::Memory, 70.0),
    index("htm.nodes", "nodes_duplicate_key", Per::Fact, 114.0),
    index("htm.nodes", "nodes_robot_idx", Per::Memory, 84.0),
    index("htm.nodes", "nodes_language_idx", Per::Memory, 8.3),
    index("htm.nodes", "nodes_session_idx", Per::Turn, 111.0),
    index("htm.nodes", "nodes_session_seq_idx", Per::Turn, 129.0),
    index("htm.embeddings_N", "embeddings_N_pk", Per::Memory, 40.5),
    index("htm.embeddings_N", "embeddings_N_scope_idx", Per::Memory, 70.0),
    table("htm.completions", Per::Completion, 166.0),
    index("htm.completions", "completions_pk", Per::Completion, 103.0),
    index("htm.completions", "completions_model_idx", Per::Completion, 90.0),
    table("htm.node_tags", Per::Tag, 134.5),
    index("htm.node_tags", "node_tags_pk", Per::Tag, 61.0),
    index("htm.node_tags", "node_tags_tag_idx", Per::Tag, 52.5),
    table("htm.tags", Per::NamespaceTag, 89.5),
    index("htm.tags", "tags_pk", Per::NamespaceTag, 22.4),
    index("htm.tags", "tags_namespace_path_key", Per::NamespaceTag, 67.0),
    gin("htm.tags", "tags_path_trigram_idx", Per::NamespaceTag, 41.0),
    gin("htm.tags", "tags_leaf_trigram_idx", Per::NamespaceTag, 13.0),
    table("htm.node_accesses", Per::Memory, 99.0),
    index("htm.node_accesses", "node_accesses_pk", Per::Memory, 52.5),
    table("htm.lexeme_statistics", Per::Lexeme, 55.0),
    index("htm.lexeme_statistics", "lexeme_statistics_pk", Per::Lexeme, 71.0),
    gin("htm.lexeme_statistics", "lexeme_statistics_trigram_idx", Per::Lexeme, 21.5),
    table("htm.namespace_statistics", Per::Namespace, 100.0),
    index("htm.namespace_statistics", "namespace_statistics_pk", Per::Namespace, 50.0),
    table("htm.robots", Per::Namespace, 130.0),
    index("htm.robots", "robots_pk", Per::Namespace, 25.0),
    index("htm.robots", "robots_uuid_key", Per::Namespace, 60.0),
    index("htm.robots", "robots_namespace_name_key", Per::Namespace, 70.0),
    // Its size depends on how soon vacuum comes after the updates: 310 to 640 bytes a row.
    table("apalis.jobs", Per::Job, 420.0),
    index("apalis.jobs", "jobs_pkey", Per::Job, 93.0),
    index("apalis.jobs", "idx_jobs_idempotency_key", Per::Job, 127.0),
    index("apalis.jobs", "idx_apalis_jobs_fetch_partial", Per::Job, 3.5),
    index("apalis.jobs", "idx_apalis_jobs_lock_by", Per::Job, 16.0),
    index("apalis.jobs", "jobs_htm_done_idx", Per::Job, 8.0),
    index("apalis.jobs", "jobs_htm_open_idx", Per::Job, 6.5),
];

/// The pages of the list of pending entries of a GIN index: at most `gin_pending_list_limit` (4 MB by default), and at
/// most this for each row.
pub(super) const PENDING: f64 = 4_194_304.0;
pub(super) const PENDING_PER_ROW: f64 = 400.0;

/// A row of htm.nodes without text and lexemes, with its share of the page.
pub(super) const NODE: f64 = 191.0;
/// The bytes that a turn of a conversation adds to its row: session, place, speaker.
pub(super) const TURN: f64 = 60.0;
/// The bytes of a word with its space. Measured on the demo's memories; 5.5 to 7.0 on four sets of dialogues, chats and
/// abstracts.
pub(super) const BYTES_PER_WORD: f64 = 5.64;
/// The bytes of a distinct lexeme in a row's `tsv`.
pub(super) const LEXEME: f64 = 14.0;
/// Distinct lexemes of a text are its words to this power: 33 words have 20. The demo has 20.5; dialogues of 27 words
/// have 14, abstracts of 215 words 94 (predicted 17 and 101).
pub(super) const LEXEMES_POWER: f64 = 0.86;
/// The bytes of a lexeme of a row in `nodes_tsv_idx`.
pub(super) const POSTING: f64 = 4.65;
/// The bytes of a distinct lexeme in `nodes_tsv_idx`.
pub(super) const LEXEME_ENTRY: f64 = 20.0;
/// The vocabulary of a text of n words is VOCABULARY · n^POWER distinct lexemes (Heaps' law): 10,000 words have 2,000,
/// 50,000 have 5,000, a million 28,000. Measured: the demo 2,370 of 10,000; dialogues 2,260 and chats 3,190 of 50,000;
/// abstracts 38,400 of a million.
pub(super) const VOCABULARY: f64 = 10.0;
pub(super) const VOCABULARY_POWER: f64 = 0.575;
/// The most tags of a namespace, with those above them. An assumption: as many as the templates of the local tagger have.
pub(super) const TAGS_PER_NAMESPACE: f64 = 234.0;
/// A row of an embedding table without its vector: header, node, namespace, time, revision. By PostgreSQL's layout.
pub(super) const VECTOR_ROW: f64 = 60.0;

/// The jobs of a memory: one to embed, one to tag.
pub(super) const JOBS: f64 = 2.0;
/// How long the rows of done jobs are kept, in seconds: `jobs.keep_done_ms` by default.
pub(super) const JOBS_KEPT_S: f64 = 3_600.0;

/// The write-ahead log of a new memory with its jobs, tags and completions: a fixed part, and a part in sizes of its entry
/// in the vector index. Measured at 384 and 768 dimensions, without the images of pages that the first change after a
/// checkpoint adds.
pub(super) const WAL: f64 = 9_500.0;
pub(super) const WAL_PER_ENTRY: f64 = 2.1;
/// PostgreSQL's processor time for a memory that is written, embedded and tagged alone, in milliseconds: a fixed part, and
/// a part for each dimension. 8.7 at 384 dimensions, 13.7 at 768.
pub(super) const WRITE_MS: f64 = 4.0;
pub(super) const WRITE_MS_PER_DIMENSION: f64 = 0.013;
/// PostgreSQL's processor time for a hybrid recall in one namespace, in milliseconds: 4.7 in one of 200 memories, 10.3 by
/// the vector index in one of 12,000.
pub(super) const RECALL_MS: f64 = 10.0;

/// The tokens of a word, of o200k_base.
pub(super) const TOKENS_PER_WORD: f64 = 1.34;
/// The words of a query. An assumption.
pub(super) const QUERY_WORDS: f64 = 10.0;
/// The most concurrent calls of a worker: `embed_worker.concurrency` by default.
pub(super) const CONCURRENCY: f64 = 2.0;
/// The most texts in one call of a tagger: `tag_worker.batch` by default. A call has texts of one namespace.
pub(super) const TAG_BATCH: f64 = 16.0;
/// The tokens of a tagging call beside its texts: the prompt and the tags in use (`ONTOLOGY_TOKENS` of tag-worker).
pub(super) const TAG_PROMPT_TOKENS: f64 = 450.0 + 1_500.0;
/// The tokens of a language model's answer for one memory. An assumption: three tags.
pub(super) const TAG_ANSWER_TOKENS: f64 = 70.0;

/// The share of a host's memory for what recall reads. The rest is for connections, sorting and the system.
pub(super) const MEMORY_SHARE: f64 = 0.75;
/// The share of a host's cores in use on average, so that peaks fit.
pub(super) const CORE_SHARE: f64 = 0.5;
