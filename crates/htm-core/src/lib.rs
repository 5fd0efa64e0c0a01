//! HTM: durable memory for LLM agents.
//!
//! [`Htm::remember`] commits a [`Memory`] and its embedding and tagging jobs in one transaction. Worker processes run
//! the jobs. [`Htm::recall`] finds memories by vector, by full text, or by both.
//!
//! A [`Robot`] remembers and recalls under its own name. It has a [`WorkingMemory`] with a token budget;
//! [`Robot::context`] turns it into the text for a prompt.
//!
//! This crate is the library. It uses PostgreSQL, and neither HTTP nor files. A handle needs a migrated database and,
//! for recall by vector, an [`provider::Embedder`]. `htm-runtime` builds both from a configuration.

mod api;
mod model;
pub mod provider;
mod store;
pub mod worker;

pub use api::{database, groups, jobs, models, ontology, providers};
/// Learnt rankings, and the features that they weigh.
pub mod ranking {
    pub use crate::model::rank::{
        FEATURE_COUNT, FEATURE_VERSION, FEATURES, FeatureVector, Learnt, Tree, TreeNode,
    };
}

pub use model::{context, error, fault, jobs as job, tags as tag, working_memory};

pub use api::backfill::{Backfill, BackfillProgress, BackfillRequest, BackfillRun, BackfillStep};
pub use api::connect::{connect_options, pool_options, tenant_options};
pub use api::edit::{Edit, Edited};
pub use api::embedders::Embedders;
pub use api::erase::ErasureFollower;
pub use api::export::{ExportOptions, Exporter};
pub use api::files::Files;
pub use api::groups::{Group, GroupMember, GroupRecalled, Membership};
pub use api::hosts::{Follower, FollowingPool, Hosts, address};
pub use api::htm::{Htm, QueryCache};
pub use api::import::{Importer, LineResult};
pub use api::ontology::Ontology;
pub use api::remember::PendingReceipt;
pub use api::replicas::{ReplicaPools, Replicas};
pub use api::robot::{Intake, Oversized, Remembered, Robot, RobotContext, RobotRecalled, Unverified};
pub use model::api_keys::{ApiKey, CreatedApiKey, KeyText, NewApiKey, Role};
pub use model::audit_log::AuditEntry;
pub use model::caller::{Caller, Confirmation};
pub use model::context::{Context, ContextHeader, ContextOptions, ContextOrder, LeftOut, LeftOutReason};
pub use model::documents::{
    Document, DocumentInfo, DocumentKind, DocumentPassage, LoadOutcome, LoadedDocument, MAX_PASSAGES,
    PassagePlace, UnloadedDocuments, normal_path,
};
pub use model::erase::{
    Erase, ErasePlan, Erasure, ErasureKind, MemoryWithText, PlaceFound, Vacuumed, Verification,
};
pub use model::error::{Error, ErrorKind, Result};
pub use model::events::{Event, EventCursor, EventKind, EventPage};
pub use model::expiry::{Expiry, read_duration};
pub use model::export::{ImportedLine, LineKind};
pub use model::field_change::FieldChange;
pub use model::files::FileReply;
pub use model::filter::{Filter, MAX_LIMIT, NameKind, TagFilter, UnknownName};
pub use model::forget::{
    ForgetPlan, ForgetReason, Forgotten, ForgottenNode, MAX_MATCHES, Match, Removed, Restored,
};
pub use model::groups::{GroupEvent, GroupInfo, GroupNews, GroupRole, JoinOptions};
pub use model::id::{GroupId, IdInvalid, MembershipId, NodeId, RobotId};
pub use model::jobs::Stage;
pub use model::keepers::{Keepers, KeptBy};
pub use model::learning::{
    Feedback, FeedbackAuthor, FeedbackReceipt, Learning, LearningProblem, LearningSettings, Signal,
};
pub use model::line::{MAX_LINE_BYTES, read_object, unreadable};
pub use model::map::{MapPoint, MemoryMap};
pub use model::memory::{MAX_CONTENT_BYTES, MAX_METADATA_BYTES, Memory};
pub use model::namespaces::{NamespaceQuery, UnknownNamespace, labels_of, namespace_of};
pub use model::nodes::{Node, Revision, TagAssignment};
pub use model::operations::{Kept, MAX_OPERATION_BYTES, Operation};
pub use model::providers::{BreakerState, HoldReason};
pub use model::purge::{Purge, Purged};
pub use model::quotas::{Quota, QuotaUse};
pub use model::rankings::{
    RankingChoice, RankingComparison, RankingFigures, RankingInfo, RankingUsed, RankingWeight, Rankings,
    Trial, TrialKind,
};
pub use model::recall::{
    AsOf, Chosen, ChosenFor, Correction, Degraded, Explanation, Facet, Fusion, Hit, Leg, MAX_QUERY_BYTES,
    MatchedBy, RecallQuery, RecallSettings, Recalled, ScorePart, Scores, Snippet, Step, Strategy,
    VectorSearch,
};
pub use model::refine::RefineSettings;
pub use model::relations::{
    Predecessor, Related, RelatedBy, RelatedNode, Relating, Relation, RelationKind, Successor, Superseded,
};
pub use model::relevance::{RelevanceWeights, Signals};
pub use model::remember::{Deduplicate, Outcome, Receipt};
pub use model::replace::{Conversation, Replacement};
pub use model::replicas::ReplicaState;
pub use model::retention::{Retention, RetentionPlan, Swept, SweptNamespace};
pub use model::robots::{DEFAULT_BUDGET, MAX_BUDGET, MergeReceipt, RobotInfo, RobotStatistics};
pub use model::scope::Scope;
pub use model::settings::Settings;
pub use model::sign_ins::SignIn;
pub use model::stats::{
    Ages, Counts, Enrichment, GroupCount, GroupUse, IndexSize, MemoryStats, StatsQuery, Storage, TableSize,
    Totals, WorkingMemoryUse,
};
pub use model::status::{NodeStatus, ParkedFor, StageState, StageStatus};
pub use model::tags::{InvalidTag, TagLimits, TagPath, TagRule, TagRules, TagTree};
pub use model::timeframe::{
    TimeExpression, TimeFilter, TimePhrase, TimeRange, TimeSettings, Timeframe, WeekStart, Zone, read_expiry,
    read_instant, read_timestamp,
};
pub use model::timeline::{
    CountBy, Grouping, Neighbours, TimeCount, TimeCursor, TimeStep, Timeline, TimelineEntry, TimelineGroup,
    TimelineQuery,
};
pub use model::tokens::TokenEncoding;
pub use model::vectors::VectorSet;
pub use model::wal::WalPosition;
pub use model::words::{IgnoredExclusions, ignored_exclusions};
pub use model::working_memory::{WorkingMemory, WorkingMemoryStats};
