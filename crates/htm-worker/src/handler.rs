//! The handler: the work of one kind of worker on texts.

use async_trait::async_trait;
use htm_core::provider::{Calls, ProviderError};
use htm_core::worker::jobs::Lease;
use htm_core::{NodeId, Stage};
use sqlx::PgPool;

/// A text to process: the current text of a node.
#[derive(Clone, Debug)]
pub struct Item {
    /// The job.
    pub job: String,
    /// The node.
    pub node: NodeId,
    /// The revision of the text.
    pub revision: i32,
    /// The node's namespace.
    pub namespace: String,
    /// The text.
    pub content: String,
    /// Its length in tokens, as counted when it was written.
    pub tokens: u32,
    /// The job's priority. Larger is served first.
    pub priority: i32,
}

/// A kind of work: it makes a result of each text, and writes the results.
#[async_trait]
pub trait Handler: Send + Sync + 'static {
    /// The result for one text.
    type Output: Send + Sync;

    /// The stage.
    fn stage(&self) -> Stage;

    /// The queue to claim jobs from.
    fn queue(&self) -> String {
        self.stage().queue().into()
    }

    /// The model, for logs, the list of workers, and the limits of its provider.
    fn model(&self) -> String;

    /// Whether all texts of a call must be of one namespace.
    fn one_namespace_a_call(&self) -> bool {
        false
    }

    /// Makes one call to the provider: one output for each item, in order. The handler asks `calls` before a second
    /// request for the same items.
    ///
    /// # Errors
    /// The provider's error, for the whole batch. If a single text may be the cause, the worker halves the batch and
    /// tries again, down to a single item.
    async fn work(&self, items: &[Item], calls: &dyn Calls) -> Result<Vec<Self::Output>, ProviderError>;

    /// Writes results and ends their jobs in one transaction. Returns the number of jobs that were still held.
    ///
    /// # Errors
    /// A database error. Nothing was written.
    async fn ack(
        &self,
        pool: &PgPool,
        lease: &Lease,
        results: &[(Item, Self::Output)],
    ) -> htm_core::Result<usize>;
}
