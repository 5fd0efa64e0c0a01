//! The embed worker, as a library for `htm up` and tests. The process is in `main.rs`.

mod arguments;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use htm_core::error::codes;
use htm_core::models::{ModelState, RegisteredModel, retired};
use htm_core::provider::{Calls, Embedder, Embedding, ProviderError, ProviderErrorKind, Purpose};
use htm_core::worker::embeddings;
use htm_core::worker::jobs::{self, Claimed, Embedded, Lease};
use htm_core::{Error, Result, Stage};
use htm_runtime::Runtime;
use htm_runtime::active_model::other_active;
use htm_runtime::config::Config;
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

/// Makes the handler of the model with this queue. Without a queue, makes that of the configured model. If that model is
/// new, its provider is asked for its dimensions, and may take `patience` to answer; then the model is registered.
///
/// # Errors
/// `queue_unknown`, `model_retired`, one of the `provider_settings_…` codes, the provider's error, or a database error.
pub async fn handler(runtime: &Runtime, queue: Option<&str>, patience: Duration) -> Result<EmbedHandler> {
    let models = embeddings::models(runtime.pool()).await?;
    if let Some(queue) = queue {
        return handler_of(runtime, embeddings::by_queue(&models, queue)?).await;
    }
    let made = configured(runtime, &models, patience).await;
    let handler = made.map_err(|error| naming_active(error, runtime.config(), &models))?;
    if handler.model.state != ModelState::Active {
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

/// Names the active model to those whose configured model is retired.
fn naming_active(error: Error, config: &Config, models: &[RegisteredModel]) -> Error {
    match other_active(config, models) {
        Some(other) if error.is(codes::MODEL_RETIRED) && !other.active.is_of_callers() => {
            error.with_hint(other.help)
        }
        _ => error,
    }
}

/// Makes the handler of the configured model. If it is registered, the provider is not asked: it may be away, and if it
/// gives other dimensions now, another model must not take the place of this one.
async fn configured(
    runtime: &Runtime,
    models: &[RegisteredModel],
    patience: Duration,
) -> Result<EmbedHandler> {
    let embedder = runtime.embedder()?;
    if runtime.config().embedding.dimensions > 0 {
        return EmbedHandler::register(runtime.pool(), embedder).await;
    }
    let name = embedder.model();
    if let Some(model) = embeddings::by_name(models, name) {
        return handler_of(runtime, model).await;
    }
    let of_name = models.iter().filter(|model| model.name == *name);
    let (in_use, former): (Vec<_>, Vec<_>) = of_name.partition(|model| model.is_in_use());
    if let ([], [model, ..]) = (&in_use[..], &former[..]) {
        return Err(retired(&model.label));
    }
    tracing::info!(model = %name, "the provider is asked for the dimensions of its vectors");
    let asked = tokio::time::timeout(patience, embedder.dimensions()).await;
    let dimensions = asked.unwrap_or_else(|_elapsed| {
        let message = format!("no answer within {} s", patience.as_secs());
        Err(ProviderError::new(name, ProviderErrorKind::Timeout, message))
    })?;
    if let Some(model) = in_use.iter().find(|model| model.dimensions == dimensions) {
        return handler_of(runtime, model).await;
    }
    if !in_use.is_empty() {
        let known: Vec<String> =
            in_use.iter().map(|model| format!("{} ({})", model.dimensions, model.label)).collect();
        return Err(ProviderError::other_dimensions(name, dimensions, known.join(" or ")).into());
    }
    let model = embeddings::register_model(runtime.pool(), name, dimensions).await?;
    EmbedHandler::new(embedder, model)
}

/// Makes the handler of a registered model.
///
/// # Errors
/// As [`handler`], and `embedder_other` if the configuration has no such provider.
pub async fn handler_of(runtime: &Runtime, model: &RegisteredModel) -> Result<EmbedHandler> {
    if !model.is_in_use() {
        return Err(retired(&model.label));
    }
    let embedder = runtime.embedder_of(model).await?;
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

/// The error of vectors of a length that does not fit the model's table.
fn unfit(model: &RegisteredModel, dimensions: usize) -> ProviderError {
    ProviderError::other_dimensions(&model.name, dimensions, model.dimensions)
}
