//! HTM: the memory that agents keep.
//!
//! A [`Memory`] goes in through [`Htm::remember`], which commits the node and the jobs that will embed and tag it;
//! worker processes do those jobs; [`Htm::recall`] finds it again by vector, by full text, or by both.
//!
//! A [`Robot`] does the same in its own name, and has what it used last in mind: a [`WorkingMemory`] within a budget
//! of tokens, from which [`Robot::context`] makes the text for a prompt.
//!
//! This crate is the library: it knows PostgreSQL, and neither HTTP nor files. Its handle takes a database that is
//! migrated and, for recall by vector, an [`provider::Embedder`]. Programs that want those made from a
//! configuration use `htm-runtime`.

mod accesses;
mod backfill;
mod caller;
mod connect;
pub mod context;
mod edit;
mod embed_query;
mod embedders;
pub mod error;
pub mod fault;
mod forget;
pub mod groups;
mod htm;
mod id;
pub mod job;
mod keepers;
mod memory;
mod namespaces;
mod node;
pub mod ontology;
mod ping;
pub mod provider;
mod purge;
mod rank;
mod recall;
mod refine;
mod relevance;
mod remember;
mod robot;
mod robots;
mod scope;
mod stats;
mod status;
pub mod store;
pub mod tag;
mod timeframe;
mod timeline;
mod tokens;
mod wall;
pub mod working_memory;

pub use backfill::{Backfill, BackfillProgress, BackfillRequest, BackfillStep};
pub use caller::{Caller, Confirmation};
pub use connect::connect_options;
pub use context::{Context, ContextHeader, ContextOptions, ContextStrategy, LeftOut, LeftOutReason};
pub use edit::{Change, Edit, Edited};
pub use embedders::Embedders;
pub use error::{Error, Result};
pub use forget::{ForgetPlan, Forgotten, ForgottenNode, MAX_MATCHES, Match, Removed, Restored};
pub use groups::{
    Group, GroupError, GroupEvent, GroupInfo, GroupMember, GroupRecalled, GroupRole, JoinOptions,
};
pub use htm::{Htm, QueryCache, Settings};
pub use id::{GroupId, IdInvalid, NodeId, RobotId};
pub use job::Stage;
pub use keepers::{Keepers, KeptBy};
pub use memory::{MAX_CONTENT_BYTES, MAX_METADATA_BYTES, Memory};
pub use namespaces::UnknownNamespace;
pub use node::{Node, Revision};
pub use ontology::Ontology;
pub use purge::{Purge, Purged};
pub use recall::{
    Chosen, Correction, Degraded, Explanation, Facet, Fusion, Hit, Leg, MAX_LIMIT, MAX_QUERY_BYTES,
    MatchedBy, RecallError, RecallQuery, RecallSettings, Recalled, ScorePart, Scores, Snippet, Strategy,
    TagFilter, VectorSearch,
};
pub use refine::{RefineError, RefineSettings};
pub use relevance::{RelevanceError, RelevanceWeights, Signals};
pub use remember::{Deduplicate, Outcome, PendingReceipt, Receipt};
pub use robot::{Intake, Oversized, Remembered, Robot, RobotContext, RobotRecalled, Unverified};
pub use robots::{MAX_BUDGET, MergeReceipt, RobotError, RobotInfo, RobotStatistics};
pub use scope::Scope;
pub use stats::{
    Ages, Counts, Enrichment, GroupCount, GroupUse, IndexSize, MemoryStats, StatsQuery, Storage, TableSize,
    Totals, WorkingMemoryUse,
};
pub use status::{NodeStatus, StageState, StageStatus};
pub use tag::{InvalidTag, TagLimits, TagPath, TagRule, TagRules, TagTree};
pub use timeframe::{
    TimeExpression, TimeFilter, TimePhrase, TimeRange, TimeSettings, Timeframe, WeekStart, Zone,
};
pub use timeline::{
    Grouping, MAX_NEIGHBOURS, Neighbours, Timeline, TimelineEntry, TimelineGroup, TimelineQuery,
};
pub use tokens::TokenEncoding;
pub use working_memory::{WorkingMemory, WorkingMemoryStats};
