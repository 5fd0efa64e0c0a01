//! Writes that answer when workers have done their part.

use std::time::Duration;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use htm_core::error::chain;
use htm_core::error::codes::LIMIT_OUT_OF_RANGE;
use htm_core::{Htm, NodeId, NodeStatus, Stage};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::Instant;
use utoipa::{IntoParams, ToSchema};

use crate::extract::Asked;
use crate::problem::{Problem, Result};

/// The longest wait for the stages of a write, and the wait of a request that names none, in milliseconds.
const MAX_WAIT_MS: u64 = 30_000;
const WAIT_MS: u64 = 10_000;

/// The stages that a write waits for after its commit.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum WaitFor {
    /// Its embeddings, so that vectors find it.
    Embed,
    /// Its tags.
    Tag,
    /// Both.
    All,
}

impl WaitFor {
    fn stages(self) -> &'static [Stage] {
        match self {
            Self::Embed => &[Stage::Embed],
            Self::Tag => &[Stage::Tag],
            Self::All => &Stage::ALL,
        }
    }
}

/// Waiting for the stages of a write.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Waiting {
    /// Answer only when this is done, or when the time is over. The write is committed in any case.
    #[param(inline)]
    wait: Option<WaitFor>,
    /// The time to wait in milliseconds, at most 30,000. Default: 10,000.
    wait_ms: Option<u64>,
}

/// The wait of a request. A bad one is refused before anything is written.
pub(crate) struct Wait(Option<(WaitFor, Duration)>);

impl<S: Sync + Send> FromRequestParts<S> for Wait {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self> {
        let Asked(asked) = Asked::<Waiting>::from_request_parts(parts, state).await?;
        let ms = asked.wait_ms.unwrap_or(WAIT_MS);
        if ms > MAX_WAIT_MS {
            let problem = format!("a wait of {ms} ms is outside 0 to {MAX_WAIT_MS}");
            return Err(Problem::new(LIMIT_OUT_OF_RANGE, problem));
        }
        Ok(Self(asked.wait.map(|stages| (stages, Duration::from_millis(ms)))))
    }
}

impl Wait {
    /// Waits for the stages of nodes and returns their states; no states if the request does not wait. A stage that fails
    /// or is late does not fail the write: its state says so. A node that was forgotten meanwhile has no state. Nor have
    /// this node and the next ones after an error of the database: the write is committed, and a failure would be retried.
    pub(crate) async fn wait(&self, htm: &Htm, nodes: &[NodeId]) -> Vec<Option<NodeStatus>> {
        let Some((stages, time)) = self.0 else { return Vec::new() };
        let until = Instant::now() + time;
        let mut states = Vec::new();
        for node in nodes {
            match state_of(htm, *node, stages.stages(), until).await {
                Ok(state) => states.push(Some(state)),
                Err(error) if is_of_the_node(&error) => states.push(None),
                Err(error) => {
                    tracing::warn!(code = error.code(), error = %chain(&error), "a write was not waited for");
                    break;
                }
            }
        }
        states
    }

    /// Waits for all receipts among results, and adds the states to them.
    pub(crate) async fn wait_for_all(&self, htm: &Htm, results: &mut Value) {
        let written: Vec<&mut Value> =
            results.as_array_mut().into_iter().flatten().filter(|it| it.get("node").is_some()).collect();
        let nodes: Vec<NodeId> = written.iter().filter_map(|it| it["node"].as_i64()).map(NodeId).collect();
        for (result, state) in written.into_iter().zip(self.wait(htm, &nodes).await) {
            if let Some(state) = state {
                result["status"] = json!(state);
            }
        }
    }
}

/// The state of a node after the wait for its stages.
async fn state_of(htm: &Htm, node: NodeId, stages: &[Stage], until: Instant) -> htm_core::Result<NodeStatus> {
    for stage in stages {
        match htm.wait_for(node, *stage, until.saturating_duration_since(Instant::now())).await {
            Ok(_) => {}
            Err(error) if is_of_the_node(&error) => break,
            Err(error) => return Err(error),
        }
    }
    htm.status(node).await
}

/// Whether a wait ended with the state of its node rather than with an error of the server.
fn is_of_the_node(error: &htm_core::Error) -> bool {
    matches!(error.code(), "wait_timeout" | "stage_dead" | "node_not_found")
}
