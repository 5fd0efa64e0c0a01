//! The lines of an export, one type a kind.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;

use super::LineCounts;
use crate::model::documents::DocumentKind;
use crate::model::forget::ForgetReason;
use crate::model::groups::GroupRole;
use crate::model::learning::{LearningSettings, Signal};
use crate::model::ontology::names::Meaning;
use crate::model::ontology::{ChangeKind, DocumentTag};
use crate::model::quotas::Quota;
use crate::model::rank::Learnt;
use crate::model::rankings::RankingFigures;
use crate::model::relations::RelationKind;
use crate::model::remember::Deduplicate;
use crate::model::retention::Retention;
use crate::model::tags::{TagOrigin, TagPath};

/// Whether a field is left out: an empty list or text, zero, false, none.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// The first line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Header {
    /// [`FORMAT`](super::FORMAT).
    pub(crate) format: String,
    /// [`VERSION`](super::VERSION).
    pub(crate) version: u32,
    /// The version of the program that wrote it.
    pub(crate) program: String,
    /// The time of the snapshot, by the database's clock.
    pub(crate) made_at: DateTime<Utc>,
    /// The exported namespaces; null: all.
    pub(crate) namespaces: Option<Vec<String>>,
    /// Whether it has forgotten memories.
    pub(crate) forgotten: bool,
    /// Whether it has vectors.
    pub(crate) vectors: bool,
    /// The number of its memories.
    pub(crate) memories: u64,
}

/// The last line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct End {
    pub(crate) lines: LineCounts,
}

/// An embedding model. Vectors name it by its label.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SavedModel {
    pub(crate) label: String,
    pub(crate) provider: String,
    pub(crate) name: String,
    pub(crate) dimensions: usize,
}

/// A retention policy.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SavedRetention {
    pub(crate) ns: String,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) forget_after_seconds: Option<i64>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) purge_after_seconds: Option<i64>,
}

impl SavedRetention {
    pub(crate) fn policy(&self) -> Retention {
        Retention {
            forget_after_seconds: self.forget_after_seconds,
            purge_after_seconds: self.purge_after_seconds,
        }
    }
}

/// A budget of a namespace. The tokens spent today are no part of it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SavedBudget {
    pub(crate) ns: String,
    pub(crate) tokens_per_day: i64,
}

/// The limits of a provider's model. Its failures are no part of them.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SavedLimits {
    pub(crate) model: String,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) requests_per_minute: Option<i32>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) tokens_per_minute: Option<i32>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) concurrent_calls: Option<i32>,
}

/// The settings of a namespace's learning, and its ranking in use. The recalls and their feedback are no part of it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SavedLearning {
    pub(crate) ns: String,
    pub(crate) learns_with: String,
    pub(crate) is_on: bool,
    pub(crate) keeps_text: bool,
    pub(crate) keep_days: i32,
    pub(crate) least: i32,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) signals: Vec<Signal>,
    /// 0: the default ranking.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) version: i32,
}

impl SavedLearning {
    pub(crate) fn settings(&self) -> LearningSettings {
        LearningSettings {
            is_on: self.is_on,
            learns_with: Some(self.learns_with.clone()),
            keeps_text: self.keeps_text,
            keep_days: self.keep_days,
            least: self.least,
            signals: self.signals.clone(),
        }
    }
}

/// A learnt ranking.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SavedRanking {
    pub(crate) ns: String,
    pub(crate) version: i32,
    pub(crate) learnt: Learnt,
    pub(crate) figures: RankingFigures,
    pub(crate) adopted: bool,
    pub(crate) reason: String,
    pub(crate) made_at: DateTime<Utc>,
}

/// A quota of a namespace.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SavedQuota {
    pub(crate) ns: String,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) max_memories: Option<i64>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) max_bytes: Option<i64>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) requests_per_minute: Option<i32>,
}

impl SavedQuota {
    pub(crate) fn quota(&self) -> Quota {
        Quota {
            max_memories: self.max_memories,
            max_bytes: self.max_bytes,
            requests_per_minute: self.requests_per_minute,
        }
    }
}

/// A loaded document. Its passages are lines of memories.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SavedDocument {
    pub(crate) ns: String,
    pub(crate) path: String,
    pub(crate) format: DocumentKind,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) title: Option<String>,
    pub(crate) bytes: i64,
    /// SHA-256 of the file and of how it was cut, in hex; none: it is cut anew when it is loaded again.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) digest: Option<String>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) tags: Vec<TagPath>,
    pub(crate) passages: i32,
    pub(crate) loaded_at: DateTime<Utc>,
    pub(crate) changed_at: DateTime<Utc>,
}

/// A robot.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SavedRobot {
    pub(crate) ns: String,
    pub(crate) name: String,
    pub(crate) uuid: Uuid,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) metadata: Map<String, Value>,
    pub(crate) created_at: DateTime<Utc>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) last_active: Option<DateTime<Utc>>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) max_tokens: Option<i64>,
}

/// A group. Its working memory is with the memories.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SavedGroup {
    pub(crate) ns: String,
    pub(crate) name: String,
    pub(crate) max_tokens: i64,
    pub(crate) created_at: DateTime<Utc>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) closed_at: Option<DateTime<Utc>>,
    /// The robots that have joined it and have not left.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) members: Vec<SavedMember>,
}

/// A member of a group. The lease of its process is no part of it: an imported member is lost until it joins again.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SavedMember {
    pub(crate) robot: String,
    pub(crate) role: GroupRole,
    pub(crate) joined_at: DateTime<Utc>,
}

/// A change of the ontology. The names that it concerned are lines of their own, and the tags that it took from memories
/// and gave them are with the memories.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SavedChange {
    pub(crate) ns: String,
    /// Its number in the exporting database, larger than those of the changes before it in its namespace.
    pub(crate) change: i64,
    pub(crate) action: ChangeKind,
    /// The request.
    pub(crate) details: Map<String, Value>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) made_by: Option<String>,
    pub(crate) made_at: DateTime<Utc>,
    /// How many memories got other or renamed tags by it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) nodes: i64,
    /// The change that it reverted.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) reverts: Option<i64>,
}

/// A name before and after a change.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SavedName {
    pub(crate) ns: String,
    /// The change's number in the exporting database.
    pub(crate) change: i64,
    pub(crate) name: TagPath,
    /// None: it meant nothing.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) before: Option<Meaning>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) after: Option<Meaning>,
    /// The former name of a renamed tag.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) moved_from: Option<TagPath>,
}

/// A tag with its descriptions, synonyms, split and distinctions, or the name of a removed tag, which taggers leave out.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SavedTag {
    pub(crate) ns: String,
    pub(crate) tag: TagPath,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) description: Option<String>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) synonyms: Vec<TagPath>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) split_into: Vec<TagPath>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) leftover: crate::model::tags::Leftover,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) distinct_from: Vec<TagPath>,
    /// None for a removed tag.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) created_at: Option<DateTime<Utc>>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) removed: bool,
}

impl SavedTag {
    pub(crate) fn document_tag(&self) -> DocumentTag {
        DocumentTag {
            tag: self.tag.clone(),
            description: self.description.clone(),
            synonyms: self.synonyms.clone(),
            split_into: self.split_into.clone(),
            leftover: self.leftover,
            distinct_from: self.distinct_from.clone(),
        }
    }
}

/// A memory. The fields up to `type` are those of a line of an import.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SavedMemory {
    /// Its key.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) id: Option<String>,
    pub(crate) ns: String,
    pub(crate) text: String,
    pub(crate) created_at: DateTime<Utc>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) expires_at: Option<DateTime<Utc>>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) ttl_seconds: Option<i64>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) speaker: Option<String>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) session: Option<String>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) seq: Option<i32>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) tags: Vec<SavedAssignment>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) metadata: Map<String, Value>,
    pub(crate) robot: String,
    pub(crate) importance: f32,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) source: Option<String>,
    #[serde(default, rename = "type", skip_serializing_if = "is_default")]
    pub(crate) kind: Option<String>,
    /// Its number in the exporting database. The lines of its former texts name it.
    pub(crate) node: i64,
    pub(crate) language: String,
    pub(crate) remembered_at: DateTime<Utc>,
    pub(crate) updated_at: DateTime<Utc>,
    pub(crate) revision: i32,
    /// The SHA-256 of its first text, in hex; none if that is `text`. With the times it identifies the memory.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) first_sha256: Option<String>,
    /// The robot that wrote the text; none: `robot`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) author: Option<String>,
    /// Where its text is unique; none: nowhere.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) unique_in: Option<Deduplicate>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) forgotten_at: Option<DateTime<Utc>>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) forgotten_because: Option<ForgetReason>,
    /// When it was forgotten and restored.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) absences: Vec<SavedAbsence>,
    /// Whether the line of a relation names it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) related: bool,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) repeats: Vec<SavedRepeat>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) recalled: Option<SavedRecalls>,
    /// The assignments of tags that changes of the ontology took from it and gave it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) retagged: Vec<SavedReassignment>,
    /// The taggers that have read the text; none while it waits to be tagged again.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) tagged: Vec<SavedCompletion>,
    /// The robots that have it in their working memory.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) in_memory_of: Vec<SavedEntry>,
    /// The groups that have it in their working memory.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) in_groups: Vec<SavedGroupEntry>,
    /// The vectors of the text.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) vectors: Vec<SavedVector>,
}

/// The assignment of a tag to a memory.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SavedAssignment {
    pub(crate) tag: TagPath,
    pub(crate) origin: TagOrigin,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) model: Option<String>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) prompt_version: Option<String>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) confidence: Option<f32>,
    pub(crate) at: DateTime<Utc>,
}

/// An assignment that a change of the ontology made, took or replaced.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SavedReassignment {
    /// The change's number in the exporting database.
    pub(crate) change: i64,
    pub(crate) added: bool,
    pub(crate) assignment: SavedAssignment,
}

/// A time for which a memory was forgotten, until it was restored.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SavedAbsence {
    pub(crate) forgotten_at: DateTime<Utc>,
    pub(crate) restored_at: DateTime<Utc>,
}

/// A relation between two memories of lines before it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SavedRelation {
    pub(crate) ns: String,
    /// The `node` of the memory that supersedes or contradicts.
    pub(crate) from: i64,
    pub(crate) relation: RelationKind,
    /// The `node` of the other one.
    pub(crate) to: i64,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) reason: Option<String>,
    /// The robot that set it, by its name at that time.
    pub(crate) robot: String,
    pub(crate) made_at: DateTime<Utc>,
}

/// How often a robot remembered the same text again.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SavedRepeat {
    pub(crate) robot: String,
    pub(crate) count: i64,
    pub(crate) first_at: DateTime<Utc>,
    pub(crate) last_at: DateTime<Utc>,
}

/// How often the memory was recalled.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SavedRecalls {
    pub(crate) count: i64,
    pub(crate) last_at: DateTime<Utc>,
}

/// The record that a stage is done. The memory is not tagged again.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SavedCompletion {
    pub(crate) model: String,
    pub(crate) version: String,
    pub(crate) outcome: String,
    pub(crate) at: DateTime<Utc>,
}

/// A place in the working memory of a robot.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SavedEntry {
    /// The robot's namespace.
    pub(crate) ns: String,
    pub(crate) robot: String,
    pub(crate) added_at: DateTime<Utc>,
    pub(crate) accessed_at: DateTime<Utc>,
    pub(crate) accesses: i64,
}

/// A place in the working memory of a group.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SavedGroupEntry {
    pub(crate) group: String,
    /// The robot that brought it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) robot: Option<String>,
    pub(crate) added_at: DateTime<Utc>,
    pub(crate) accessed_at: DateTime<Utc>,
    pub(crate) accesses: i64,
}

/// A vector of a memory's text.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SavedVector {
    /// The label of its model.
    pub(crate) model: String,
    pub(crate) outcome: String,
    pub(crate) at: DateTime<Utc>,
    pub(crate) vector: Vec<f32>,
}

/// A former text of the memory on the line before.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SavedRevision {
    /// The memory's `node`.
    pub(crate) node: i64,
    pub(crate) revision: i32,
    pub(crate) text: String,
    pub(crate) author: String,
    pub(crate) written_at: DateTime<Utc>,
}
