//! The handler: the work of one kind of worker.

use async_trait::async_trait;
use htm_core::Error;
use htm_core::provider::{Calls, ProviderError};
use htm_core::worker::jobs::{Claimed, Lease};
use sqlx::PgPool;

use crate::kind::Kind;
use crate::subject::{Item, Subjects};

/// The reason why work has no result.
#[derive(Debug, thiserror::Error)]
pub enum WorkError {
    /// The provider's error.
    #[error(transparent)]
    Provider(#[from] ProviderError),
    /// Another error. Its fault decides whether the jobs are retried.
    #[error(transparent)]
    Other(#[from] Error),
}

impl WorkError {
    /// The provider's error, if it is one.
    pub(crate) fn of_provider(&self) -> Option<&ProviderError> {
        match self {
            Self::Provider(error) => Some(error),
            Self::Other(_) => None,
        }
    }
}

/// A kind of work: it reads what jobs are about, makes a result of each, and writes the results.
#[async_trait]
pub trait Handler: Send + Sync + 'static {
    /// The subject of a job.
    type Subject: Send + Sync;
    /// The result of a job.
    type Output: Send + Sync;

    /// The kind of worker.
    fn kind(&self) -> Kind;

    /// The queue to claim jobs from.
    fn queue(&self) -> String {
        self.kind().queue().into()
    }

    /// The model, for logs, the list of workers, and the limits of its provider. None if it calls no provider: its items
    /// are worked on one by one, without limits and budgets.
    fn model(&self) -> Option<String>;

    /// Whether all items of a call must be of one namespace.
    fn one_namespace_a_call(&self) -> bool {
        false
    }

    /// Reads the subjects of claimed jobs.
    ///
    /// # Errors
    /// A database error.
    async fn read(&self, pool: &PgPool, jobs: &[Claimed]) -> htm_core::Result<Subjects<Self::Subject>>;

    /// Makes one output for each item, in order, by one call to the provider. The handler asks `calls` before each
    /// further request.
    ///
    /// # Errors
    /// The error of the whole batch. If a single text may be the cause of the provider's error, the worker halves the
    /// batch and tries again, down to a single item.
    async fn work(
        &self,
        items: &[Item<Self::Subject>],
        calls: &dyn Calls,
    ) -> Result<Vec<Self::Output>, WorkError>;

    /// The item with a harmless text in place of its own, as [`Item::harmless`]. When a text is rejected, [`work`] on
    /// the harmless one shows whether the text is bad or the provider rejects every text; the result is dropped. None
    /// if there is no such item: then each rejected text counts as bad.
    ///
    /// [`work`]: Self::work
    fn harmless(&self, _item: &Item<Self::Subject>) -> Option<Item<Self::Subject>> {
        None
    }

    /// Writes results and ends their jobs in one transaction. Returns the number of jobs that were still held.
    ///
    /// # Errors
    /// A database error. Nothing was written.
    async fn ack(
        &self,
        pool: &PgPool,
        lease: &Lease,
        results: &[(Item<Self::Subject>, Self::Output)],
    ) -> htm_core::Result<usize>;
}
