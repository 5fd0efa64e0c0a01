//! Where reads run: at a replica that is fresh enough, else at the primary.

use std::pin::pin;
use std::sync::Arc;

use crate::api::htm::Htm;
use crate::api::replicas::{Reading, Replicas};
use crate::model::error::{Error, ErrorKind, Result, codes};
use crate::model::fault::Fault;
use crate::model::wal::WalPosition;
use crate::store::connections::Connections;
use crate::store::error::had_to_wait;
use crate::store::hosts;

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
            // yet. A busy pool is no failure of the server: only this read goes elsewhere.
            let is_failure = |error: &Error| error.fault() == Fault::Transient && !had_to_wait(error);
            if let Some(error) = failed.filter(is_failure) {
                replica.leave_out(&error);
            }
        }
        read(self.clone()).await
    }

    /// Asks the primary. While it is away, a fresh replica answers instead, by `at_replica`, which must not write.
    pub(crate) async fn at_primary_or_replica<T, F>(
        &self,
        at_primary: impl Future<Output = Result<T>>,
        at_replica: impl FnOnce(Arc<dyn Connections>) -> F,
    ) -> Result<T>
    where
        F: Future<Output = Result<T>>,
    {
        let Some(replicas) = self.replicas() else { return at_primary.await };
        let mut at_primary = pin!(at_primary);
        let answer = tokio::select! {
            answer = &mut at_primary => Some(answer),
            () = replicas.primary_is_away() => None,
        };
        let failed = match answer {
            None => None,
            // A busy pool does not mean that the primary is away.
            Some(Err(error)) if error.is(codes::DATABASE_UNREACHABLE) && !had_to_wait(&error) => Some(error),
            Some(answer) => return answer,
        };
        match (replicas.choose(None).await, failed) {
            (Some(replica), _) => at_replica(replica.connections(None)).await,
            (None, Some(error)) => Err(error),
            (None, None) => at_primary.await,
        }
    }
}
