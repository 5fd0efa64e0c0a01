//! The embedders of the configuration. Each is made at its first use.

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use htm_core::Embedders;
use htm_core::models::RegisteredModel;
use htm_core::provider::Embedder;
use tokio::sync::Mutex;

use crate::config::Config;
use crate::paths::Paths;
use crate::providers;

/// Makes the embedder of any registered model whose provider is in the configuration.
pub(crate) struct ConfiguredEmbedders {
    config: Config,
    paths: Paths,
    /// By the model's label. Locked while an embedder is made, so that each is made once.
    made: Mutex<HashMap<String, Arc<dyn Embedder>>>,
}

impl ConfiguredEmbedders {
    pub(crate) fn new(config: Config, paths: Paths) -> Self {
        Self { config, paths, made: Mutex::default() }
    }
}

#[async_trait]
impl Embedders for ConfiguredEmbedders {
    async fn embedder(&self, model: &RegisteredModel) -> htm_core::Result<Option<Arc<dyn Embedder>>> {
        let mut made = self.made.lock().await;
        if let Some(embedder) = made.get(&model.label) {
            return Ok(Some(embedder.clone()));
        }
        let embedder = providers::embedder_of(&self.config, &self.paths, model).await?;
        if let Some(embedder) = &embedder {
            made.insert(model.label.clone(), embedder.clone());
        }
        Ok(embedder)
    }
}
