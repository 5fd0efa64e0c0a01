//! The embed worker, as a library for `htm up` and tests. The process is in `main.rs`.

mod arguments;

use std::sync::Arc;

use async_trait::async_trait;
use htm_core::provider::{Calls, Embedder, Embedding, ProviderError, ProviderErrorKind, Purpose};
use htm_core::worker::embeddings::{self, ModelState, RegisteredModel, retired};
use htm_core::worker::jobs::{self, Claimed, Embedded, Lease};
use htm_core::{Result, Stage};
use htm_runtime::Session;
use htm_worker::{Handler, Item, Kind, Subjects, Text, WorkError, texts};
use sqlx::PgPool;

pub use arguments::Arguments;

/// Turns texts into embeddings of one registered model.
pub struct EmbedHandler {
    embedder: Arc<dyn Embedder>,
    model: RegisteredModel,
}

impl EmbedHandler {
    /// Asks the provider for its dimensions and registers the model. A new model gets a table.
    ///
    /// # Errors
    /// `model_retired`, the provider's error, or a database error.
    pub async fn register(pool: &PgPool, embedder: Arc<dyn Embedder>) -> Result<Self> {
        let dimensions = embedder.dimensions().await?;
        let model = embeddings::register_model(pool, embedder.model(), dimensions).await?;
        Self::new(embedder, model)
    }

    /// Makes the handler of a registered model.
    ///
    /// # Errors
    /// `model_retired`: the model accepts no more embeddings.
    pub fn new(embedder: Arc<dyn Embedder>, model: RegisteredModel) -> Result<Self> {
        match model.is_in_use() {
            true => Ok(Self { embedder, model }),
            false => Err(retired(&model.label)),
        }
    }
}

/// Makes the handler of the model with this queue. Without a queue, makes that of the configured model, and registers
/// the model if it is new.
///
/// # Errors
/// `queue_unknown`, `model_retired`, one of the `provider_settings_…` codes, the provider's error, or a database error.
pub async fn handler(session: &Session, queue: Option<&str>) -> Result<EmbedHandler> {
    if let Some(queue) = queue {
        let models = embeddings::models(session.pool()).await?;
        return handler_of(session, embeddings::by_queue(&models, queue)?).await;
    }
    let handler = EmbedHandler::register(session.pool(), session.embedder()?).await?;
    if handler.model.state != ModelState::Active {
        let models = embeddings::models(session.pool()).await?;
        let active = models.iter().find(|model| model.state == ModelState::Active);
        let label = &handler.model.label;
        tracing::warn!(
            model = label,
            active = active.map(|model| model.label.as_str()),
            "the configured model is {}, and recall asks another: `htm models backfill {label}` completes the configured \
             one, `htm models activate {label}` makes recall ask it",
            handler.model.state
        );
    }
    Ok(handler)
}

/// Makes the handler of a registered model.
///
/// # Errors
/// As [`handler`], and `embedder_other` if the configuration has no such provider.
pub async fn handler_of(session: &Session, model: &RegisteredModel) -> Result<EmbedHandler> {
    if !model.is_in_use() {
        return Err(retired(&model.label));
    }
    let embedder = session.embedder_of(model).await?;
    let dimensions = embedder.dimensions().await?;
    if dimensions != model.dimensions {
        return Err(unfit(model, dimensions).into());
    }
    EmbedHandler::new(embedder, model.clone())
}

#[async_trait]
impl Handler for EmbedHandler {
    type Subject = Text;
    type Output = Embedding;

    fn kind(&self) -> Kind {
        Kind::Stage(Stage::Embed)
    }

    fn queue(&self) -> String {
        // A model without a queue has no embedder, so no handler is made for it.
        self.model.queue.clone().unwrap_or_default()
    }

    fn model(&self) -> Option<String> {
        Some(self.model.label.clone())
    }

    async fn read(&self, pool: &PgPool, jobs: &[Claimed]) -> Result<Subjects<Text>> {
        texts(pool, jobs).await
    }

    async fn work(&self, items: &[Item], calls: &dyn Calls) -> Result<Vec<Embedding>, WorkError> {
        let texts: Vec<String> = items.iter().map(|item| item.subject.content.clone()).collect();
        let embeddings = self.embedder.embed_within(&texts, Purpose::Document, calls).await?;
        let mut lengths = embeddings.iter().map(|embedding| embedding.vector.len());
        match lengths.find(|length| *length != self.model.dimensions) {
            None => Ok(embeddings),
            Some(length) => Err(unfit(&self.model, length).into()),
        }
    }

    fn harmless(&self, item: &Item) -> Option<Item> {
        Some(item.harmless())
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
                node: item.subject.node,
                revision: item.subject.revision,
                embedding: embedding.vector.clone(),
                parts: embedding.parts,
            })
            .collect();
        jobs::ack_embedded(pool, lease, &self.model, &results).await
    }
}

/// Vectors of a length that does not fit the model's table.
fn unfit(model: &RegisteredModel, dimensions: usize) -> ProviderError {
    let message = format!("gave {dimensions} dimensions where its store has {}", model.dimensions);
    ProviderError::new(&model.name, ProviderErrorKind::BadResponse, message)
}
