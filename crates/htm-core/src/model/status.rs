//! A node's progress: written at once, embedded and tagged later.

use chrono::{DateTime, Utc};

use crate::model::id::NodeId;
use crate::model::jobs::Stage;

/// A node's progress through the stages.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct NodeStatus {
    /// The node.
    pub node: NodeId,
    /// When its text was written, by the database's clock.
    pub written_at: DateTime<Utc>,
    /// Embed and tag, in this order.
    pub stages: Vec<StageStatus>,
}

impl NodeStatus {
    /// The state of one stage.
    pub fn stage(&self, stage: Stage) -> &StageState {
        self.stages
            .iter()
            .find(|status| status.stage == stage)
            .map_or(&StageState::Stranded, |status| &status.state)
    }
}

/// A stage of a node.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StageStatus {
    /// The stage.
    pub stage: Stage,
    /// The revision whose result is used until the edited text has its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stale: Option<i32>,
    /// Its state.
    #[serde(flatten)]
    pub state: StageState,
}

/// The reason why a job is parked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, strum::Display, strum::EnumString)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum ParkedFor {
    /// Its namespace has spent the day's budget.
    Budget,
    /// It was deferred for too long.
    Age,
}

/// The state of a stage.
#[derive(Clone, Debug, PartialEq, serde::Serialize, strum::IntoStaticStr)]
#[serde(tag = "state", rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum StageState {
    /// Its job waits.
    Pending {
        /// Attempts made.
        attempts: i32,
        /// Attempts allowed.
        max_attempts: i32,
        /// When it is due.
        due_at: Option<DateTime<Utc>>,
        /// The error of the last attempt.
        last_error: Option<String>,
    },
    /// Its job is parked.
    Parked {
        /// The reason.
        why: ParkedFor,
        /// When it becomes due by itself; far in the future for `age`.
        until: Option<DateTime<Utc>>,
        /// The error of the last attempt.
        last_error: Option<String>,
    },
    /// A worker holds it.
    Running {
        /// The number of the attempt, from 1.
        attempt: i32,
        /// The worker's identity.
        worker: String,
    },
    /// It is done.
    Done {
        /// The model.
        model: String,
        /// The outcome, such as `embedded`, `embedded in 3 parts` or `3 tags`.
        outcome: String,
        /// When it was done.
        at: DateTime<Utc>,
        /// Milliseconds from the write of the text.
        after_ms: f64,
        /// The worker.
        worker: String,
        /// The number of the attempt.
        attempt: i32,
    },
    /// A dead letter.
    Dead {
        /// Attempts made.
        attempts: i32,
        /// The error of the last attempt.
        error: String,
    },
    /// The vectors of the active model come from callers, and none was given for the current text.
    Awaited,
    /// No completion and no job: the pipeline lost it. `htm doctor` counts these; there should be none.
    Stranded,
}

impl StageState {
    /// The state in one word.
    pub fn name(&self) -> &'static str {
        self.into()
    }
}
