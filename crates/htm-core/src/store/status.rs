//! The state of each stage of a node.

use chrono::{DateTime, Utc};

use super::connections::Connections;
use super::job_list;
use super::named::Named;
use super::nodes::missing;
use crate::model::error::Result;
use crate::model::id::NodeId;
use crate::model::jobs::{JobState, Stage};
use crate::model::status::{NodeStatus, ParkedFor, StageState, StageStatus};

#[derive(sqlx::FromRow)]
struct Row {
    stage: Stage,
    model: Option<String>,
    outcome: Option<String>,
    done_at: Option<DateTime<Utc>>,
    done_by: Option<String>,
    done_attempt: Option<i32>,
    job_state: Option<JobState>,
    attempts: Option<i32>,
    max_attempts: Option<i32>,
    run_at: Option<DateTime<Utc>>,
    lock_by: Option<String>,
    last_error: Option<String>,
    parked: Option<ParkedFor>,
    updated_at: DateTime<Utc>,
    stale: Option<i32>,
    is_of_caller: bool,
}

/// The status of a live node.
pub(crate) async fn of(pool: &dyn Connections, node: NodeId) -> Result<NodeStatus> {
    let sql = include_str!("sql/status.sql").replace("{{state}}", job_list::STATE);
    let rows: Vec<Row> = Named::new(&sql).bind("node", node)?.fetch_all(pool).await?;
    let Some(first) = rows.first() else { return Err(missing(pool, node).await) };
    let written_at = first.updated_at;
    let stages = rows
        .into_iter()
        .map(|row| StageStatus { stage: row.stage, stale: row.stale, state: state(row) })
        .collect();
    Ok(NodeStatus { node, written_at, stages })
}

fn state(row: Row) -> StageState {
    if let (Some(model), Some(at)) = (row.model, row.done_at) {
        return StageState::Done {
            model,
            outcome: row.outcome.unwrap_or_default(),
            at,
            after_ms: (at - row.updated_at).num_microseconds().unwrap_or(0) as f64 / 1_000.0,
            worker: row.done_by.unwrap_or_default(),
            attempt: row.done_attempt.unwrap_or(1),
        };
    }
    let attempts = row.attempts.unwrap_or(0);
    match (row.job_state, row.parked) {
        (Some(JobState::Running), _) => {
            StageState::Running { attempt: attempts, worker: row.lock_by.unwrap_or_default() }
        }
        (Some(JobState::Parked), Some(why)) => {
            StageState::Parked { why, until: row.run_at, last_error: row.last_error }
        }
        (Some(JobState::Due | JobState::Waiting | JobState::Parked), _) => StageState::Pending {
            attempts,
            max_attempts: row.max_attempts.unwrap_or(0),
            due_at: row.run_at,
            last_error: row.last_error,
        },
        (Some(JobState::Dead | JobState::Done), _) => StageState::Dead {
            attempts,
            error: row.last_error.unwrap_or_else(|| "no reason recorded".into()),
        },
        (None, _) if row.is_of_caller => StageState::Awaited,
        (None, _) => StageState::Stranded,
    }
}
