//! A node's progress: written at once, embedded and tagged later.

use std::time::{Duration, Instant};

use crate::api::htm::Htm;
use crate::model::error::{Error, Result};
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
                    return Err(Error::StageDead { node, stage: stage.as_str(), reason: error.clone() });
                }
                state if started.elapsed() >= timeout => {
                    return Err(Error::WaitTimeout {
                        node,
                        stage: stage.as_str(),
                        waited_ms: started.elapsed().as_millis() as u64,
                        state: state.name().into(),
                    });
                }
                _ => {}
            }
            tokio::time::sleep(pause.min(timeout.saturating_sub(started.elapsed()))).await;
            pause = (pause * 2).min(Duration::from_millis(100));
        }
    }
}
