//! `POST {base_url}/api/embed`.

use std::sync::OnceLock;

use async_trait::async_trait;
use htm_core::Result;
use htm_core::provider::{Calls, Embedder, Embedding, ModelName, ProviderError, Purpose, Ungoverned};
use ollama_rs::generation::embeddings::GenerateEmbeddingsResponse;
use ollama_rs::generation::embeddings::request::{EmbeddingsInput, GenerateEmbeddingsRequest};

use crate::api_settings::ApiSettings;
use crate::check;
use crate::codes::bad_value;
use crate::http::Http;
use crate::prefix::Prefixes;
use crate::requests::{Endpoint, Limits, embed};
use crate::split::Window;

/// Ollama states no limits. These keep a request short enough for a slow machine to answer in time.
const LIMITS: Limits = Limits { inputs: 2048, tokens: 32_768 };

pub(super) struct OllamaEmbedder {
    http: Http,
    dimensions: OnceLock<usize>,
    window: Window,
    prefixes: Prefixes,
}

impl OllamaEmbedder {
    pub(super) fn new(settings: ApiSettings, http: Http) -> Result<Self> {
        if settings.dimensions == Some(0) {
            return Err(bad_value("dimensions", "must be a length that a vector can have"));
        }
        let window = Window::generous(settings.window.unwrap_or_else(|| window(&settings.model)));
        let prefixes = Prefixes::new(&settings.model, settings.document_prefix, settings.query_prefix);
        Ok(Self {
            http,
            dimensions: settings
                .dimensions
                .or(settings.known_dimensions)
                .map_or_else(OnceLock::new, OnceLock::from),
            window,
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
        let embedded = self.embed(&["dimensions".to_owned()], Purpose::Document).await;
        let embeddings = embedded.map_err(ProviderError::about_harmless_text)?;
        Ok(embeddings.first().map_or(0, |embedding| embedding.vector.len()))
    }

    async fn embed(&self, texts: &[String], purpose: Purpose) -> Result<Vec<Embedding>, ProviderError> {
        self.embed_within(texts, purpose, &Ungoverned).await
    }

    async fn embed_within(
        &self,
        texts: &[String],
        purpose: Purpose,
        calls: &dyn Calls,
    ) -> Result<Vec<Embedding>, ProviderError> {
        embed(self, self.window, LIMITS, self.prefixes.of(purpose), texts, calls).await
    }
}

#[async_trait]
impl Endpoint for OllamaEmbedder {
    fn model(&self) -> &ModelName {
        self.http.model()
    }

    async fn send(&self, inputs: Vec<String>, texts: &[String]) -> Result<Vec<Vec<f32>>, ProviderError> {
        let (model, count) = (self.http.model(), inputs.len());
        // By default Ollama cuts a text at the model's window silently. With `false` it returns an error.
        let request = GenerateEmbeddingsRequest::new(model.name.clone(), EmbeddingsInput::Multiple(inputs))
            .truncate(false);
        let answer: GenerateEmbeddingsResponse = self.http.post("api/embed", &request, texts).await?;
        let vectors = check::vectors(model, count, self.dimensions.get().copied(), answer.embeddings)?;
        if let Some(first) = vectors.first() {
            self.dimensions.get_or_init(|| first.len());
        }
        Ok(vectors)
    }
}

/// The window that Ollama gives a model, in tokens: the smaller of `num_ctx` in its library's model file and the
/// context length of the weights.
fn window(model: &str) -> usize {
    /// BERT's window, the smallest of most models in the library.
    const DEFAULT: usize = 512;
    let known = [("nomic-embed-text", 2048), ("mxbai-embed-large", 512), ("all-minilm", 256)];
    known.iter().find(|(name, _)| model.contains(name)).map_or(DEFAULT, |(_, tokens)| *tokens)
}

#[cfg(test)]
mod tests {
    use super::window;

    #[test]
    fn known_models_have_their_window() {
        for (model, tokens) in [
            ("nomic-embed-text:v1.5", 2048),
            ("all-minilm:l6-v2", 256),
            ("mxbai-embed-large", 512),
            ("own", 512),
        ] {
            assert_eq!(window(model), tokens, "{model}");
        }
    }
}
