//! The list of jobs, for operators.

use std::fmt;
use std::str::FromStr;

use chrono::{DateTime, Utc};
use serde::{Serialize, Serializer};

use super::connections::Connections;
use super::named::Named;
use crate::model::error::{Error, Result, codes};
use crate::model::id::NodeId;
use crate::model::jobs::{JobState, LearnPayload, Payload, PayloadError, decode, not_found};
use crate::model::memory::time_of_micros;
use crate::model::status::ParkedFor;

/// A filter of jobs: those that meet every condition that is set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobFilter {
    /// The queue.
    pub queue: Option<String>,
    /// The state; none: any state but done.
    pub state: Option<JobState>,
    /// The namespace of their nodes.
    pub namespace: Option<String>,
    /// Their node.
    pub node: Option<NodeId>,
    /// A part of their last error, in upper or lower case.
    pub error: Option<String>,
}

/// Jobs by id or by filter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selection {
    /// The jobs with these ids.
    Ids(Vec<String>),
    /// The jobs that pass a filter.
    Filter(JobFilter),
}

impl Selection {
    /// The queue of a filter.
    pub(crate) fn queue(&self) -> Option<&str> {
        match self {
            Self::Ids(_) => None,
            Self::Filter(filter) => filter.queue.as_deref(),
        }
    }
}

/// All data of a job.
#[derive(Clone, Debug, Serialize, sqlx::FromRow)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Job {
    /// Its id, a ULID.
    pub id: String,
    /// Its queue.
    pub queue: String,
    /// Its state.
    pub state: JobState,
    /// The namespace of its node, or the one that it learns for.
    pub namespace: Option<String>,
    /// Its node; none if it learns.
    pub node: Option<NodeId>,
    /// The revision of the node that it is for.
    pub revision: Option<i32>,
    /// The number of attempts, including the one in progress.
    pub attempts: i32,
    /// The maximum number of attempts.
    pub max_attempts: i32,
    /// The error of its last attempt.
    pub last_error: Option<String>,
    /// Its outcome, if it is done.
    pub outcome: Option<String>,
    /// The time from which it may be claimed, or might have been.
    pub due_at: DateTime<Utc>,
    /// The worker that holds it.
    pub held_by: Option<String>,
    /// The time of the claim.
    pub held_since: Option<DateTime<Utc>>,
    /// The time when it was done or died.
    pub ended_at: Option<DateTime<Utc>>,
    /// The priority; the largest is claimed first. Backfill is below 0.
    pub priority: i32,
    /// The key that refuses a second job like it: node/revision/generation/model, or the namespace that it learns for.
    pub key: Option<String>,
    /// The reason why it is parked.
    pub parked: Option<ParkedFor>,
    /// The time since which it has been deferred, no attempt counted.
    pub deferred_since: Option<DateTime<Utc>>,
    /// The payload, as stored. JSON shows it decoded, or escaped if it cannot be decoded.
    #[serde(serialize_with = "readable")]
    #[cfg_attr(feature = "openapi", schema(value_type = serde_json::Value))]
    pub payload: Vec<u8>,
    /// The time of reading, by the database's clock.
    pub read_at: DateTime<Utc>,
}

impl Job {
    /// The payload as text: JSON, or escaped bytes with the error of decoding.
    pub fn payload_text(&self) -> String {
        match Known::decode(&self.payload) {
            Ok(payload) => serde_json::to_string(&payload).unwrap_or_default(),
            Err(error) => format!("{} ({error})", self.payload.escape_ascii()),
        }
    }
}

/// A payload of any queue.
#[derive(Serialize)]
#[serde(untagged)]
enum Known {
    Node(Payload),
    Learning(LearnPayload),
}

impl Known {
    fn decode(payload: &[u8]) -> Result<Self, PayloadError> {
        let of_node = |error| decode(payload).map(Self::Learning).map_err(|_| error);
        decode(payload).map(Self::Node).or_else(of_node)
    }
}

/// The cursor of a page of jobs: the place of a job in the list, when it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobCursor {
    /// 1 for dead letters to 5 for done jobs, as in list_jobs.sql.
    rank: i32,
    time: DateTime<Utc>,
    id: String,
}

impl Job {
    /// The cursor of the page after it.
    pub fn cursor(&self) -> JobCursor {
        let rank = match self.state {
            JobState::Dead => 1,
            JobState::Done => 5,
            _ if self.parked.is_some() => 2,
            _ if self.last_error.is_some() => 3,
            _ => 4,
        };
        let time = self.ended_at.or(self.held_since).unwrap_or(self.due_at);
        JobCursor { rank, time, id: self.id.clone() }
    }
}

impl fmt::Display for JobCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.rank, self.time.timestamp_micros(), self.id)
    }
}

impl FromStr for JobCursor {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let cursor = || {
            let (rank, rest) = text.split_once('.')?;
            let (time, id) = rest.split_once('.')?;
            Some(Self { rank: rank.parse().ok()?, time: time_of_micros(time)?, id: id.into() })
        };
        cursor().ok_or_else(|| Error::new(codes::CURSOR_INVALID, format!("`{text}` is not a cursor")))
    }
}

/// The jobs that pass a filter after a cursor, at most `limit`: dead letters first, then parked jobs, then failed ones,
/// then the rest; the newest of each first. Without a state, done jobs are left out.
///
/// # Errors
/// A database error.
pub(crate) async fn list(
    pool: &dyn Connections,
    filter: &JobFilter,
    after: Option<&JobCursor>,
    limit: u32,
) -> Result<Vec<Job>> {
    let selection = Selection::Filter(filter.clone());
    listed(&selection, after)?.bind("limit", i64::from(limit))?.fetch_all(pool).await
}

/// The jobs with these ids, in the given order.
///
/// # Errors
/// `job_not_found`, or a database error.
pub(crate) async fn show(pool: &dyn Connections, ids: &[String]) -> Result<Vec<Job>> {
    let jobs = listed(&Selection::Ids(ids.to_vec()), None)?;
    let found: Vec<Job> = jobs.bind("limit", i64::MAX)?.fetch_all(pool).await?;
    let find = |id: &String| found.iter().find(|job| job.id == *id).cloned();
    ids.iter().map(|id| find(id).ok_or_else(|| not_found(id))).collect()
}

fn listed(selection: &Selection, after: Option<&JobCursor>) -> Result<Named> {
    chosen(include_str!("sql/list_jobs.sql"), selection)?
        .bind("after_rank", after.map(|cursor| cursor.rank))?
        .bind("after_time", after.map(|cursor| cursor.time))?
        .bind("after_id", after.map(|cursor| cursor.id.as_str()))
}

/// The state of a job, as SQL.
pub(super) const STATE: &str = include_str!("sql/job_state.sql");

/// A statement over selected jobs: inserts the condition and binds its parameters.
pub(super) fn chosen(sql: &str, selection: &Selection) -> Result<Named> {
    let all = JobFilter::default();
    let (ids, filter) = match selection {
        Selection::Ids(ids) => (Some(ids), &all),
        Selection::Filter(filter) => (None, filter),
    };
    let sql = sql.replace("{{chosen}}", include_str!("sql/chosen_jobs.sql")).replace("{{state}}", STATE);
    Named::new(&sql)
        .bind("ids", ids)?
        .bind("queue", &filter.queue)?
        .bind("state", filter.state.map(<&str>::from))?
        .bind("namespace", &filter.namespace)?
        .bind("node", filter.node)?
        .bind("error", &filter.error)
}

fn readable<S: Serializer>(payload: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    match Known::decode(payload) {
        Ok(payload) => payload.serialize(serializer),
        Err(_) => serializer.serialize_str(&payload.escape_ascii().to_string()),
    }
}
