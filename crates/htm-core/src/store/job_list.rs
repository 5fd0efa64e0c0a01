//! Jobs as an operator sees them.

use chrono::{DateTime, Utc};
use serde::{Serialize, Serializer};
use sqlx::PgPool;

use super::named::Named;
use crate::model::error::Result;
use crate::model::id::NodeId;
use crate::model::jobs::{JobState, Payload, not_found};
use crate::model::status::ParkedFor;

/// Which jobs: those that pass every filter that is set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobFilter {
    /// Of this queue.
    pub queue: Option<String>,
    /// In this state; none: in any but done.
    pub state: Option<JobState>,
    /// Of nodes of this namespace.
    pub namespace: Option<String>,
    /// Of this node.
    pub node: Option<NodeId>,
    /// Whose last error has this text in it, in whatever case.
    pub error: Option<String>,
}

/// Jobs by name or by what they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selection {
    /// These ids.
    Ids(Vec<String>),
    /// Those that pass a filter.
    Filter(JobFilter),
}

/// Everything that is known of a job.
#[derive(Clone, Debug, Serialize, sqlx::FromRow)]
pub struct Job {
    /// Its id, a ULID.
    pub id: String,
    /// Its queue.
    pub queue: String,
    /// What it is.
    pub state: JobState,
    /// The namespace of its node.
    pub namespace: Option<String>,
    /// Its node.
    pub node: Option<NodeId>,
    /// The revision that it is about.
    pub revision: Option<i32>,
    /// How often it was tried; the attempt under way is counted.
    pub attempts: i32,
    /// How often it may be tried.
    pub max_attempts: i32,
    /// Why its last attempt failed.
    pub last_error: Option<String>,
    /// What came of it, when it is done.
    pub outcome: Option<String>,
    /// When it may be claimed, or might have been.
    pub due_at: DateTime<Utc>,
    /// The worker that holds it.
    pub held_by: Option<String>,
    /// Since when.
    pub held_since: Option<DateTime<Utc>>,
    /// When it was done or died.
    pub ended_at: Option<DateTime<Utc>>,
    /// Larger is claimed first; backfill is below 0.
    pub priority: i32,
    /// What keeps a second one like it out: node/revision/generation/model.
    pub key: Option<String>,
    /// Why it is parked.
    pub parked: Option<ParkedFor>,
    /// Since when it is being put off without charge.
    pub deferred_since: Option<DateTime<Utc>>,
    /// What it carries, as it is stored. JSON shows it decoded, or escaped where it cannot be.
    #[serde(serialize_with = "readable")]
    pub payload: Vec<u8>,
    /// When this was read, by the database's clock.
    pub read_at: DateTime<Utc>,
}

impl Job {
    /// What it carries, as text: JSON, or escaped bytes with what is wrong with them.
    pub fn payload_text(&self) -> String {
        match Payload::decode(&self.payload) {
            Ok(payload) => serde_json::to_string(&payload).unwrap_or_default(),
            Err(error) => format!("{} ({error})", self.payload.escape_ascii()),
        }
    }
}

/// The jobs that pass a filter, at most `limit`: dead letters first, then what is parked or has failed; the newest of
/// each first. Without a state, done jobs are left out.
///
/// # Errors
/// A database error.
pub async fn list(pool: &PgPool, filter: &JobFilter, limit: u32) -> Result<Vec<Job>> {
    let selection = Selection::Filter(filter.clone());
    chosen(include_str!("sql/list_jobs.sql"), &selection)?
        .bind("limit", i64::from(limit))?
        .fetch_all(pool)
        .await
}

/// These jobs, in the order asked for.
///
/// # Errors
/// `job_not_found`, or a database error.
pub async fn show(pool: &PgPool, ids: &[String]) -> Result<Vec<Job>> {
    let jobs = chosen(include_str!("sql/list_jobs.sql"), &Selection::Ids(ids.to_vec()))?;
    let found: Vec<Job> = jobs.bind("limit", i64::MAX)?.fetch_all(pool).await?;
    let find = |id: &String| found.iter().find(|job| job.id == *id).cloned();
    ids.iter().map(|id| find(id).ok_or_else(|| not_found(id))).collect()
}

/// A statement over chosen jobs: the condition is put in, and its parameters are bound.
pub(super) fn chosen(sql: &str, selection: &Selection) -> Result<Named> {
    let all = JobFilter::default();
    let (ids, filter) = match selection {
        Selection::Ids(ids) => (Some(ids), &all),
        Selection::Filter(filter) => (None, filter),
    };
    Named::new(&sql.replace("{{chosen}}", include_str!("sql/chosen_jobs.sql")))
        .bind("ids", ids)?
        .bind("queue", &filter.queue)?
        .bind("state", filter.state.map(<&str>::from))?
        .bind("namespace", &filter.namespace)?
        .bind("node", filter.node)?
        .bind("error", &filter.error)
}

fn readable<S: Serializer>(payload: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    match Payload::decode(payload) {
        Ok(payload) => payload.serialize(serializer),
        Err(_) => serializer.serialize_str(&payload.escape_ascii().to_string()),
    }
}
