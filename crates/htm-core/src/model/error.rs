//! What can go wrong, with a stable code and the next step for each.

mod database;
mod groups;
mod hint;
mod ontology;
mod provider;
mod recall;
mod refine;
mod relevance;
mod robots;
mod tags;
mod who;

pub use database::DatabaseError;
pub use groups::GroupError;
pub use ontology::TagError;
pub use provider::{ProviderError, ProviderErrorKind};
pub use recall::RecallError;
pub use refine::RefineError;
pub use relevance::RelevanceError;
pub use robots::RobotError;
pub use tags::{InvalidTag, TagRule};

use crate::model::id::NodeId;
use crate::model::jobs::{JobState, Stage};

/// The result of the library's calls.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a call did nothing. [`code`](Error::code) is stable, [`hint`](Error::hint) names the next step,
/// [`fault`](Error::fault) says who has to act.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The text is empty or only white space.
    #[error("the text is empty")]
    ContentEmpty,
    /// The text has more bytes than a node may hold.
    #[error("the text has {bytes} bytes, more than the {limit} that a node may hold")]
    ContentTooLarge {
        /// The text's size.
        bytes: usize,
        /// The most.
        limit: usize,
    },
    /// The handle does not see this namespace.
    #[error("namespace `{namespace}` is outside of what this handle sees: {seen}")]
    NamespaceForbidden {
        /// The one that was asked for.
        namespace: String,
        /// Those that it sees.
        seen: String,
    },
    /// PostgreSQL cannot store a NUL byte in text.
    #[error("{field} has a NUL byte at byte {position}")]
    NulByte {
        /// `content`, `key`, `metadata`, …
        field: &'static str,
        /// Where.
        position: usize,
    },
    /// A tag breaks a rule.
    #[error(transparent)]
    TagInvalid(#[from] InvalidTag),
    /// Weights of relevance that are none.
    #[error(transparent)]
    Relevance(#[from] RelevanceError),
    /// Importance is not within 1 to 10.
    #[error("importance {value} is outside 1 to 10")]
    ImportanceOutOfRange {
        /// The value given.
        value: f32,
    },
    /// A namespace, robot or key is empty or too long.
    #[error("{field} `{value}` is not valid: {rule}")]
    NameInvalid {
        /// `namespace`, `robot`, `key`.
        field: &'static str,
        /// The value, cut after 80 characters.
        value: String,
        /// The rule that it breaks.
        rule: &'static str,
    },
    /// Too many items in one node's list.
    #[error(
        "{count} tags, with those above them, are more than the {limit} that a node may be given at once"
    )]
    TooManyTags {
        /// How many.
        count: usize,
        /// The most.
        limit: usize,
    },
    /// A text, or the metadata as JSON, has more bytes than it may.
    #[error("{field} has {bytes} bytes, more than the {limit} that it may have")]
    FieldTooLong {
        /// `source`, `session`, `metadata`, `query`, …
        field: &'static str,
        /// Its size.
        bytes: usize,
        /// The most.
        limit: usize,
    },
    /// Lists and objects of the metadata that are too deep within one another.
    #[error("the metadata has more than {limit} levels of lists and objects")]
    MetadataTooDeep {
        /// The most.
        limit: usize,
    },
    /// Metadata is not a JSON object.
    #[error("metadata must be a JSON object, not {found}")]
    MetadataNotObject {
        /// What it is.
        found: &'static str,
    },
    /// The key names another node.
    #[error("key `{key}` in namespace `{namespace}` is taken by node {node}")]
    KeyTaken {
        /// The key.
        key: String,
        /// Its namespace.
        namespace: String,
        /// The node that has it.
        node: NodeId,
    },
    /// What the text would become stands already, where it may stand once.
    #[error("node {existing} has this content already, so node {node} cannot have it")]
    ContentTaken {
        /// The node that would have it as well.
        node: NodeId,
        /// The node that has it.
        existing: NodeId,
    },
    /// What stood in the way of this item was removed while it was being written, twice in a row.
    #[error("what stood in the way of this memory was removed at the same moment, again and again")]
    Contended,
    /// Of many memories, those before this one are written, and the transaction that would have written it failed.
    #[error("the database failed before this memory was written ({cause})")]
    NotWritten {
        /// The code of what failed.
        cause: &'static str,
    },
    /// The node was remembered by another robot.
    #[error(
        "node {node} was remembered by robot `{owner}` of namespace `{namespace}`, not by `{robot}` of `{robot_namespace}`"
    )]
    NotOwner {
        /// The node.
        node: NodeId,
        /// The robot that remembered it.
        owner: String,
        /// That robot's namespace, and the node's.
        namespace: String,
        /// The robot that asks.
        robot: String,
        /// Its namespace.
        robot_namespace: String,
    },
    /// Another robot remembered it too.
    #[error("robot `{other}` remembered node {node} too")]
    RememberedByOthers {
        /// The node.
        node: NodeId,
        /// One of the others.
        other: String,
    },
    /// The text was written again since the caller read it.
    #[error("node {node} is at revision {current}, not {expected}")]
    RevisionConflict {
        /// The node.
        node: NodeId,
        /// The revision that the caller expected.
        expected: i32,
        /// The one that it has.
        current: i32,
    },
    /// The node to be restored is there.
    #[error("node {node} is not forgotten")]
    NotForgotten {
        /// The node.
        node: NodeId,
    },
    /// No strategy of that name.
    #[error("`{value}` is not a strategy")]
    StrategyUnknown {
        /// The name given.
        value: String,
    },
    /// No strategy of that name to assemble a context by.
    #[error("`{value}` is not a strategy for a context")]
    ContextStrategyUnknown {
        /// The name given.
        value: String,
    },
    /// The limit is not within 1 to 10,000.
    #[error("limit {value} is outside 1 to 10,000")]
    LimitOutOfRange {
        /// The value given.
        value: u64,
    },
    /// A timeframe that ends before it starts, or at its start.
    #[error("the timeframe ends ({until}) before it starts ({from})")]
    TimeframeReversed {
        /// Its start.
        from: chrono::DateTime<chrono::Utc>,
        /// Its end.
        until: chrono::DateTime<chrono::Utc>,
    },
    /// A text that is not a timeframe.
    #[error("`{value}` is not a timeframe: {reason}")]
    TimeframeInvalid {
        /// The text given.
        value: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A time zone that the IANA database does not have.
    #[error("there is no time zone `{value}`")]
    ZoneUnknown {
        /// The name given.
        value: String,
    },
    /// A timeline can be grouped by day and by session.
    #[error("a timeline is not grouped by `{value}`")]
    GroupingUnknown {
        /// The name given.
        value: String,
    },
    /// More neighbours than one call gives.
    #[error("{value} neighbours are more than the 1,000 that one call gives on a side")]
    NeighboursOutOfRange {
        /// The number given.
        value: u64,
    },
    /// A text search configuration that this PostgreSQL does not have.
    #[error("`{value}` is not a text search configuration of this PostgreSQL")]
    LanguageUnknown {
        /// The name given.
        value: String,
    },
    /// A time that has yet to come, where only one that has passed is meant.
    #[error("{value} is in the future: the database's clock says {now}")]
    TimeInFuture {
        /// The time given.
        value: chrono::DateTime<chrono::Utc>,
        /// The database's time.
        now: chrono::DateTime<chrono::Utc>,
    },
    /// No such node (or it was forgotten).
    #[error("there is no node {node}")]
    NodeNotFound {
        /// The id asked for.
        node: NodeId,
    },
    /// `forget` or `purge` without its confirmation.
    #[error("{what} was not confirmed")]
    NotConfirmed {
        /// What would have been done, as `forgetting node 7`.
        what: String,
        /// How to say so.
        hint: String,
    },
    /// No such job (or its row was pruned).
    #[error("there is no job {job}")]
    JobNotFound {
        /// The id asked for.
        job: String,
    },
    /// A job is in a state in which this cannot be done to it.
    #[error("job {job} is {state}: it cannot be {verb}")]
    JobUnfit {
        /// The job.
        job: String,
        /// What it is.
        state: JobState,
        /// `retried` or `cancelled`.
        verb: &'static str,
    },
    /// Jobs of such a state cannot be chosen for this.
    #[error("jobs that are {state} cannot be {verb}")]
    StateUnfit {
        /// The state asked for.
        state: JobState,
        /// `retried` or `cancelled`.
        verb: &'static str,
    },
    /// Several jobs would be cancelled, and nobody has said so.
    #[error("cancelling {count} jobs was not confirmed")]
    CancelNotConfirmed {
        /// How many.
        count: u64,
    },
    /// No queue of that name.
    #[error("there is no queue `{queue}`")]
    QueueUnknown {
        /// The name given.
        queue: String,
        /// Those that there are.
        known: Vec<String>,
    },
    /// Nothing is recorded of a provider's model.
    #[error("nothing is recorded of a model `{model}`")]
    ProviderUnknown {
        /// The label given.
        model: String,
        /// Those of which something is.
        known: Vec<String>,
    },
    /// `wait_for` gave up.
    #[error("node {node} is not through stage `{stage}` after {waited_ms} ms: it is {state}")]
    WaitTimeout {
        /// The node.
        node: NodeId,
        /// `embed` or `tag`.
        stage: &'static str,
        /// How long was waited.
        waited_ms: u64,
        /// What it is instead.
        state: String,
    },
    /// A stage ended in a dead letter.
    #[error("node {node} will not pass stage `{stage}`: {reason}")]
    StageDead {
        /// The node.
        node: NodeId,
        /// `embed` or `tag`.
        stage: &'static str,
        /// What its last attempt said.
        reason: String,
    },
    /// The recall needs a query embedding, and no embedder is configured.
    #[error("strategy `vector` needs an embedding provider, and none is configured")]
    EmbedderMissing,
    /// Nobody has embedded anything with this model yet.
    #[error("nothing is embedded with {model} yet")]
    ModelNotReady {
        /// The model of the configuration.
        model: String,
    },
    /// The model in question, as the one that recall asks, is none that this program has an embedder for.
    #[error("this program has no embedder for model {model}")]
    EmbedderOther {
        /// Its label.
        model: String,
    },
    /// The embedder of a model could not be made.
    #[error("the embedder of {model} cannot be used: {reason}")]
    EmbedderUnusable {
        /// The model's label.
        model: String,
        /// What is wrong with its settings.
        reason: String,
        /// What to do about that.
        hint: String,
    },
    /// A version of a prompt, where there is none.
    #[error("stage `{stage}` has no prompt that could have a version")]
    VersionUnfit {
        /// The stage.
        stage: Stage,
    },
    /// No model of that label is registered.
    #[error("there is no embedding model `{label}`")]
    ModelUnknown {
        /// The label given.
        label: String,
        /// Those that are there, one after the other.
        known: String,
    },
    /// The model is retired: nothing is written to it, and it is not asked.
    #[error("embedding model {label} is retired")]
    ModelRetired {
        /// Its label.
        label: String,
    },
    /// The model is the one that recall asks: it cannot be retired.
    #[error("embedding model {label} is the active one")]
    ModelActive {
        /// Its label.
        label: String,
    },
    /// Nodes that recall finds by vector now would not be found after the model's activation.
    #[error(
        "{label} has no embedding yet of {missing} of the nodes that recall finds by vector with {active}"
    )]
    ModelIncomplete {
        /// The label of the model that was to be activated.
        label: String,
        /// The label of the active one.
        active: String,
        /// Nodes that would be lost to vectors.
        missing: i64,
        /// Jobs that its queue still has to do.
        open: i64,
        /// Dead letters in its queue.
        dead: i64,
    },
    /// A transaction that was open before a model was added or retired is still open.
    #[error("a transaction that remembered something is still open after {waited_ms} ms")]
    WriterOpen {
        /// How long was waited.
        waited_ms: u64,
    },
    /// The node alone has more tokens than a working memory may hold.
    #[error("node {node} has {tokens} tokens, more than the {max_tokens} that the working memory holds")]
    NodeOversized {
        /// The node.
        node: NodeId,
        /// Its tokens.
        tokens: usize,
        /// The most.
        max_tokens: usize,
    },
    /// The token encoding is not known.
    #[error("`{value}` is not a token encoding")]
    EncodingUnknown {
        /// The name given.
        value: String,
    },
    /// The database has no schema of HTM's, or an older or a newer one.
    #[error("the database has schema version {found}, this program wants {wanted}")]
    SchemaVersion {
        /// What is there; 0 for none.
        found: u32,
        /// What is wanted.
        wanted: u32,
    },
    /// A call about a group of robots that cannot be done.
    #[error(transparent)]
    Group(#[from] GroupError),
    /// A call about robots that cannot be done.
    #[error(transparent)]
    Robot(#[from] RobotError),
    /// A recall that is to be refined as it cannot be.
    #[error(transparent)]
    Refine(#[from] RefineError),
    /// A call about the ontology that cannot be done.
    #[error(transparent)]
    Tag(#[from] TagError),
    /// A recall that cannot be done.
    #[error(transparent)]
    Recall(#[from] RecallError),
    /// The provider of embeddings failed.
    #[error(transparent)]
    Provider(#[from] ProviderError),
    /// The database cannot be reached.
    #[error("the database cannot be reached")]
    DatabaseUnreachable(#[source] DatabaseError),
    /// The database refused a statement.
    #[error("the database refused a statement")]
    Database(#[source] DatabaseError),
    /// The database has run out of something (SQLSTATE classes 53 and 58): disk, memory, files.
    #[error("the database has run out of room or cannot read or write its files")]
    DatabaseExhausted(#[source] DatabaseError),
    /// One transaction needs more locks than the server has room for.
    #[error("the database has no room for all the locks that this takes")]
    DatabaseLocks(#[source] DatabaseError),
    /// The database does not let this program in, or not do what it needs.
    #[error("the database refuses this program")]
    DatabaseDenied(#[source] DatabaseError),
    /// A time that PostgreSQL cannot store.
    #[error("{value} is before 4713 BC, the first year that PostgreSQL stores")]
    TimeOutOfRange {
        /// The time given.
        value: chrono::DateTime<chrono::Utc>,
    },
    /// What the database holds cannot be read.
    #[error("the database holds what this program cannot read: {what}")]
    Corrupt {
        /// What it is.
        what: String,
    },
}

impl Error {
    /// A stable code for programs, as `key_taken`.
    pub fn code(&self) -> &'static str {
        match self {
            Self::ContentEmpty => "content_empty",
            Self::ContentTooLarge { .. } => "content_too_large",
            Self::NulByte { .. } => "nul_byte",
            Self::NamespaceForbidden { .. } => "namespace_forbidden",
            Self::TagInvalid(_) => "tag_invalid",
            Self::Relevance(error) => error.code(),
            Self::ImportanceOutOfRange { .. } => "importance_out_of_range",
            Self::NameInvalid { field: "namespace", .. } => "namespace_invalid",
            Self::NameInvalid { field: "robot", .. } => "robot_invalid",
            Self::NameInvalid { field: "key", .. } => "key_invalid",
            Self::NameInvalid { field: "group", .. } => "group_invalid",
            Self::NameInvalid { .. } => "name_invalid",
            Self::TooManyTags { .. } => "too_many_tags",
            Self::FieldTooLong { .. } => "field_too_long",
            Self::MetadataTooDeep { .. } => "metadata_too_deep",
            Self::MetadataNotObject { .. } => "metadata_not_object",
            Self::KeyTaken { .. } => "key_taken",
            Self::ContentTaken { .. } => "content_taken",
            Self::Contended => "contended",
            Self::NotWritten { .. } => "not_written",
            Self::NotOwner { .. } => "not_owner",
            Self::RememberedByOthers { .. } => "remembered_by_others",
            Self::RevisionConflict { .. } => "revision_conflict",
            Self::NotForgotten { .. } => "not_forgotten",
            Self::StrategyUnknown { .. } => "strategy_unknown",
            Self::ContextStrategyUnknown { .. } => "context_strategy_unknown",
            Self::LimitOutOfRange { .. } => "limit_out_of_range",
            Self::TimeframeReversed { .. } => "timeframe_reversed",
            Self::TimeframeInvalid { .. } => "timeframe_invalid",
            Self::ZoneUnknown { .. } => "zone_unknown",
            Self::GroupingUnknown { .. } => "grouping_unknown",
            Self::NeighboursOutOfRange { .. } => "limit_out_of_range",
            Self::LanguageUnknown { .. } => "language_unknown",
            Self::NodeNotFound { .. } => "node_not_found",
            Self::NotConfirmed { .. } => "not_confirmed",
            Self::JobNotFound { .. } => "job_not_found",
            Self::JobUnfit { .. } | Self::StateUnfit { .. } => "job_state_unfit",
            Self::CancelNotConfirmed { .. } => "not_confirmed",
            Self::QueueUnknown { .. } => "queue_unknown",
            Self::ProviderUnknown { .. } => "provider_unknown",
            Self::WaitTimeout { .. } => "wait_timeout",
            Self::StageDead { .. } => "stage_dead",
            Self::EmbedderMissing => "embedder_missing",
            Self::ModelNotReady { .. } => "model_not_ready",
            Self::EmbedderOther { .. } => "embedder_other",
            Self::EmbedderUnusable { .. } => "embedder_unusable",
            Self::VersionUnfit { .. } => "version_unfit",
            Self::ModelUnknown { .. } => "model_unknown",
            Self::ModelRetired { .. } => "model_retired",
            Self::ModelActive { .. } => "model_active",
            Self::ModelIncomplete { .. } => "model_incomplete",
            Self::WriterOpen { .. } => "writer_open",
            Self::NodeOversized { .. } => "node_oversized",
            Self::EncodingUnknown { .. } => "encoding_unknown",
            Self::SchemaVersion { .. } => "schema_version",
            Self::Group(error) => error.code(),
            Self::Robot(error) => error.code(),
            Self::Refine(error) => error.code(),
            Self::Tag(error) => error.code(),
            Self::Recall(error) => error.code(),
            Self::Provider(error) => error.code(),
            Self::DatabaseUnreachable(_) => "database_unreachable",
            Self::DatabaseExhausted(_) => "database_exhausted",
            Self::DatabaseLocks(_) => "database_locks",
            Self::DatabaseDenied(_) => "database_denied",
            Self::TimeOutOfRange { .. } => "time_out_of_range",
            Self::TimeInFuture { .. } => "time_in_future",
            Self::Database(_) => "database_error",
            Self::Corrupt { .. } => "corrupt",
        }
    }
}
