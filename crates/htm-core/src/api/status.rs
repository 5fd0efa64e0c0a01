//! A node's progress: written at once, embedded and tagged later.

use std::time::{Duration, Instant};

use crate::api::htm::Htm;
use crate::model::error::{Error, ErrorKind, Result, codes};
use crate::model::id::NodeId;
use crate::model::jobs::Stage;
use crate::model::status::{NodeStatus, StageState};
use crate::store;

impl Htm {
    /// A node's progress.
    ///
    /// # Errors
    /// `node_not_found`, or a database error.
    pub async fn status(&self, node: NodeId) -> Result<NodeStatus> {
        self.admit_nodes(&[node]).await?;
        store::status::of(self.pool(), node).await
    }

    /// Waits until a stage of a node is done. Few callers need this: full text finds a node as soon as it is written.
    ///
    /// # Errors
    /// `wait_timeout` after `timeout`, `stage_dead` when its job became a dead letter, `node_not_found`.
    pub async fn wait_for(&self, node: NodeId, stage: Stage, timeout: Duration) -> Result<NodeStatus> {
        let started = Instant::now();
        let mut pause = Duration::from_millis(2);
        loop {
            let status = self.status(node).await?;
            match status.stage(stage) {
                StageState::Done { .. } => return Ok(status),
                StageState::Dead { error, .. } => {
                    let message = format!("node {node} will not pass stage `{stage}`: {error}");
                    return Err(Error::new(codes::STAGE_DEAD, message).with_value("node", node));
                }
                state if started.elapsed() >= timeout => {
                    let (waited_ms, state) = (started.elapsed().as_millis(), state.name());
                    let message = format!(
                        "node {node} is not through stage `{stage}` after {waited_ms} ms: it is {state}"
                    );
                    return Err(Error::new(codes::WAIT_TIMEOUT, message).with_kind(ErrorKind::WaitTimeout));
                }
                _ => {}
            }
            tokio::time::sleep(pause.min(timeout.saturating_sub(started.elapsed()))).await;
            pause = (pause * 2).min(Duration::from_millis(100));
        }
    }
}
