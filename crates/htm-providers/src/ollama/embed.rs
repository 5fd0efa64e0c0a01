//! `POST {base_url}/api/embed`.

use std::sync::OnceLock;

use async_trait::async_trait;
use htm_core::provider::{Embedder, ModelName, ProviderError, Purpose};
use ollama_rs::generation::embeddings::GenerateEmbeddingsResponse;
use ollama_rs::generation::embeddings::request::{EmbeddingsInput, GenerateEmbeddingsRequest};

use super::OllamaSettings;
use crate::http::Http;
use crate::prefix::Prefixes;
use crate::{SettingsError, check};

pub(super) struct OllamaEmbedder {
    http: Http,
    dimensions: OnceLock<usize>,
    prefixes: Prefixes,
}

impl OllamaEmbedder {
    pub(super) fn new(settings: OllamaSettings, http: Http) -> Result<Self, SettingsError> {
        if settings.dimensions == Some(0) {
            let reason = "must be a length that a vector can have".to_owned();
            return Err(SettingsError::Value { setting: "dimensions", reason });
        }
        let prefixes = Prefixes::new(&settings.model, settings.document_prefix, settings.query_prefix);
        Ok(Self {
            http,
            dimensions: settings.dimensions.map_or_else(OnceLock::new, OnceLock::from),
            prefixes,
        })
    }
}

#[async_trait]
impl Embedder for OllamaEmbedder {
    fn model(&self) -> &ModelName {
        self.http.model()
    }

    async fn dimensions(&self) -> Result<usize, ProviderError> {
        if let Some(dimensions) = self.dimensions.get() {
            return Ok(*dimensions);
        }
        let vectors = self.embed(&["dimensions".to_owned()], Purpose::Document).await?;
        Ok(vectors.first().map_or(0, Vec::len))
    }

    async fn embed(&self, texts: &[String], purpose: Purpose) -> Result<Vec<Vec<f32>>, ProviderError> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let input = EmbeddingsInput::Multiple(self.prefixes.apply(texts, purpose));
        // Ollama's default cuts a text at the model's window and says nothing; an error can be acted upon.
        let request = GenerateEmbeddingsRequest::new(self.model().name.clone(), input).truncate(false);
        let answer: GenerateEmbeddingsResponse = self.http.post("api/embed", &request, texts).await?;
        let known = self.dimensions.get().copied();
        let vectors = check::vectors(self.model(), texts.len(), known, answer.embeddings)?;
        if let Some(first) = vectors.first() {
            self.dimensions.get_or_init(|| first.len());
        }
        Ok(vectors)
    }
}
