//! The embedders of the configuration. Each is made at its first use.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use htm_core::Embedders;
use htm_core::models::RegisteredModel;
use htm_core::provider::Embedder;
use tokio::sync::OnceCell;

use crate::config::Config;
use crate::paths::Paths;
use crate::providers;

/// Makes the embedder of any registered model whose provider is in the configuration.
pub(crate) struct ConfiguredEmbedders {
    config: Config,
    paths: Paths,
    /// By the model's label. Each is made once; the others are there while a provider is asked.
    made: Mutex<HashMap<String, Made>>,
}

/// An embedder, as soon as it is made.
type Made = Arc<OnceCell<Arc<dyn Embedder>>>;

impl ConfiguredEmbedders {
    pub(crate) fn new(config: Config, paths: Paths) -> Self {
        Self { config, paths, made: Mutex::default() }
    }
}

#[async_trait]
impl Embedders for ConfiguredEmbedders {
    async fn embedder(&self, model: &RegisteredModel) -> htm_core::Result<Option<Arc<dyn Embedder>>> {
        let cell = {
            let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
            made.entry(model.label.clone()).or_default().clone()
        };
        // The error of a model without an embedder is none.
        let make = async || {
            let made = providers::embedder_of(&self.config, &self.paths, model).await.map_err(Some)?;
            made.ok_or(None)
        };
        match cell.get_or_try_init(make).await {
            Ok(embedder) => Ok(Some(embedder.clone())),
            Err(error) => error.map_or(Ok(None), Err),
        }
    }
}
