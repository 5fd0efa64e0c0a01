//! What a kind of worker does with texts.

use async_trait::async_trait;
use htm_core::provider::{Calls, ProviderError};
use htm_core::worker::jobs::Lease;
use htm_core::{NodeId, Stage};
use sqlx::PgPool;

/// A text to work on: the one that its node has now.
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
    /// Of the job: larger is served first.
    pub priority: i32,
}

/// A kind of work: what to make of texts, and how to write it.
#[async_trait]
pub trait Handler: Send + Sync + 'static {
    /// What is made of one text.
    type Output: Send + Sync;

    /// Which stage.
    fn stage(&self) -> Stage;

    /// The queue that its jobs come from.
    fn queue(&self) -> String {
        self.stage().queue().into()
    }

    /// The model, for logs, the list of workers, and the limits of its provider.
    fn model(&self) -> String;

    /// Whether each call is about texts of one namespace.
    fn one_namespace_a_call(&self) -> bool {
        false
    }

    /// One call to the provider: one output an item, in order. `calls` is asked before a second one about the same
    /// items.
    ///
    /// # Errors
    /// The provider's, about the batch as a whole. When single texts may be to blame, the batch is halved and tried
    /// again, down to the single item.
    async fn work(&self, items: &[Item], calls: &dyn Calls) -> Result<Vec<Self::Output>, ProviderError>;

    /// Writes results and ends their jobs in one transaction; how many of the jobs were still held.
    ///
    /// # Errors
    /// The database's; then nothing was written.
    async fn ack(
        &self,
        pool: &PgPool,
        lease: &Lease,
        results: &[(Item, Self::Output)],
    ) -> htm_core::Result<usize>;
}
