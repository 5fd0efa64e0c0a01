//! Where reads run: at a replica that is fresh enough, else at the primary.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use crate::api::htm::Htm;
use crate::api::replicas::{Reading, Replicas};
use crate::model::error::{Error, ErrorKind, Result, codes};
use crate::model::fault::Fault;
use crate::model::wal::WalPosition;
use crate::store::connections::Connections;
use crate::store::error::had_to_wait;
use crate::store::hosts;

/// How long the primary may take before a replica is asked in its place, if it is away.
const PATIENCE: Duration = Duration::from_millis(250);
/// The most replicas that are asked in its place.
const REPLICAS_TRIED: usize = 3;

impl Htm {
    /// This handle with read replicas. Recall, timelines, statistics and maps are read there. All else, also a node
    /// by its id, is read at the primary. A replica that fails costs a second attempt at the primary.
    #[must_use]
    pub fn with_replicas(self, replicas: Replicas) -> Self {
        let reading = Reading { replicas: Some(replicas), ..self.reads().clone() };
        self.with_reading(reading)
    }

    /// This handle without read replicas: it reads at the primary.
    #[must_use]
    pub fn without_replicas(self) -> Self {
        self.with_reading(Reading::default())
    }

    /// The read replicas of this handle, if there are any.
    pub fn replicas(&self) -> Option<&Replicas> {
        self.reads().replicas.as_ref()
    }

    /// A position in the write-ahead log behind everything that was committed before this call.
    ///
    /// # Errors
    /// A database error.
    pub async fn wal_position(&self) -> Result<WalPosition> {
        hosts::position(self.shared_pool()).await
    }

    /// This handle for reads that must see what was committed before [`position`](Self::wal_position): a replica that has
    /// not replayed it is not asked.
    #[must_use]
    pub fn reading_after(self, position: WalPosition) -> Self {
        let after = self.reads().after.max(Some(position));
        let reading = Reading { after, ..self.reads().clone() };
        self.with_reading(reading)
    }

    /// Reads at a replica if there is a fresh one, with the handle that `read` gets. Other statements of that handle
    /// would run there too, so `read` must not write.
    pub(crate) async fn reading<T, F>(&self, read: impl Fn(Htm) -> F) -> Result<T>
    where
        F: Future<Output = Result<T>>,
    {
        // A read within a read stays where that one is.
        let reading = self.reads();
        if let Some(replicas) = reading.replicas.as_ref().filter(|_| reading.at.is_none())
            && let Some(replica) = replicas.choose(reading.after).await
        {
            let at = Some(replica.connections(self.seen_by_tenants()));
            let there = read(self.clone().with_reading(Reading { at, ..reading.clone() }));
            let answer = tokio::select! {
                answer = there => Some(answer),
                () = replica.failure() => None,
            };
            let failed = match answer {
                None => None,
                Some(Err(error)) if error.kind() == ErrorKind::Database => Some(error),
                Some(answer) => return answer,
            };
            // A replica cancels reads that keep it from replaying. Other errors may be of a schema that it has not replayed
            // yet. With a busy pool, only this read goes elsewhere.
            if let Some(error) = failed.filter(is_failure) {
                replica.leave_out(&error);
            }
        }
        read(self.clone()).await
    }

    /// Asks the primary. While it is away, a fresh replica answers instead, by `at_replica`, which must not write. Its answer
    /// counts only if it `suffices`: a replica may lack the newest rows.
    pub(crate) async fn at_primary_or_replica<T, F>(
        &self,
        at_primary: impl Future<Output = Result<T>>,
        at_replica: impl Fn(Arc<dyn Connections>) -> F,
        suffices: impl Fn(&T) -> bool,
    ) -> Result<T>
    where
        F: Future<Output = Result<T>>,
    {
        let Some(replicas) = self.replicas() else { return at_primary.await };
        let mut at_primary = pin!(at_primary);
        let is_away = async {
            tokio::time::sleep(PATIENCE).await;
            replicas.primary_is_away().await;
        };
        let answer = tokio::select! {
            answer = &mut at_primary => Some(answer),
            () = is_away => None,
        };
        let failed = match answer {
            None => None,
            // A busy pool does not mean that the primary is away.
            Some(Err(error)) if error.is(codes::DATABASE_UNREACHABLE) && !had_to_wait(&error) => Some(error),
            Some(answer) => return answer,
        };
        for _ in 0..REPLICAS_TRIED {
            let Some(replica) = replicas.choose(None).await else { break };
            let answer = tokio::select! {
                answer = at_replica(replica.connections(None)) => answer,
                () = replica.failure() => continue,
            };
            match answer {
                Ok(answer) if suffices(&answer) => return Ok(answer),
                Ok(_) => break,
                Err(error) if is_failure(&error) => replica.leave_out(&error),
                Err(_) => {}
            }
        }
        match failed {
            Some(error) => Err(error),
            None => at_primary.await,
        }
    }
}

/// Whether an error is of the server. A busy pool is no failure of it.
fn is_failure(error: &Error) -> bool {
    error.fault() == Fault::Transient && !had_to_wait(error)
}
