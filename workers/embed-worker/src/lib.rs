//! Embeds what was remembered. The process is in `main.rs`; `htm up` and tests run the worker from here.

use std::sync::Arc;

use async_trait::async_trait;
use htm_core::Stage;
use htm_core::provider::{Embedder, Embedding, ProviderError, ProviderErrorKind, Purpose};
use htm_core::store::embeddings::RegisteredModel;
use htm_core::store::jobs::{self, Embedded, Lease};
use htm_runtime::{RuntimeError, Session};
use htm_worker::{Handler, Item};
use sqlx::PgPool;

/// Turns texts into embeddings of one registered model.
pub struct EmbedHandler {
    embedder: Arc<dyn Embedder>,
    model: RegisteredModel,
}

impl EmbedHandler {
    /// Asks the provider for its dimensions and registers the model, which makes its store if it is new.
    ///
    /// # Errors
    /// The provider's error when it does not answer, or a database error.
    pub async fn register(pool: &PgPool, embedder: Arc<dyn Embedder>) -> htm_core::Result<Self> {
        let dimensions = embedder.dimensions().await?;
        let model = htm_core::store::embeddings::register_model(pool, embedder.model(), dimensions).await?;
        Ok(Self { embedder, model })
    }
}

/// The handler of the session's configuration.
///
/// # Errors
/// Settings of the provider that cannot work, a provider that does not answer, or a database error.
pub async fn handler(session: &Session) -> Result<EmbedHandler, RuntimeError> {
    Ok(EmbedHandler::register(session.pool(), session.embedder()?).await?)
}

#[async_trait]
impl Handler for EmbedHandler {
    type Output = Embedding;

    fn stage(&self) -> Stage {
        Stage::Embed
    }

    fn queue(&self) -> String {
        self.model.queue.clone()
    }

    fn model(&self) -> String {
        self.model.label.clone()
    }

    async fn work(&self, items: &[Item]) -> Result<Vec<Embedding>, ProviderError> {
        let texts: Vec<String> = items.iter().map(|item| item.content.clone()).collect();
        let embeddings = self.embedder.embed(&texts, Purpose::Document).await?;
        let mut lengths = embeddings.iter().map(|embedding| embedding.vector.len());
        match lengths.find(|length| *length != self.model.dimensions) {
            None => Ok(embeddings),
            Some(length) => Err(ProviderError::new(
                &self.model.name,
                ProviderErrorKind::BadResponse,
                format!("gave {length} dimensions where its store has {}", self.model.dimensions),
            )),
        }
    }

    async fn ack(
        &self,
        pool: &PgPool,
        lease: &Lease,
        results: &[(Item, Embedding)],
    ) -> htm_core::Result<usize> {
        let results: Vec<Embedded> = results
            .iter()
            .map(|(item, embedding)| Embedded {
                job: item.job.clone(),
                node: item.node,
                revision: item.revision,
                embedding: embedding.vector.clone(),
                parts: embedding.parts,
            })
            .collect();
        jobs::ack_embedded(pool, lease, &self.model, &results).await
    }
}
