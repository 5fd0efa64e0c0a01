//! An embedder with an HTTP API.

use std::sync::OnceLock;

use async_trait::async_trait;
use htm_core::Result;
use htm_core::provider::{Calls, Embedder, Embedding, ModelName, ProviderError, Purpose, Ungoverned};

use crate::api_settings::ApiSettings;
use crate::check;
use crate::codes::bad_value;
use crate::http::Http;
use crate::prefix::Prefixes;
use crate::requests::{Endpoint, Limits, embed};
use crate::split::Window;

/// The part of an embedder that differs between the APIs.
#[async_trait]
pub(crate) trait EmbeddingApi: Send + Sync {
    /// The limits of one request.
    const LIMITS: Limits;

    /// Asks for the vectors of `inputs`, in their order. Errors must not quote `texts`.
    async fn ask(
        &self,
        http: &Http,
        inputs: Vec<String>,
        texts: &[String],
    ) -> Result<Vec<Vec<f32>>, ProviderError>;
}

pub(crate) struct ApiEmbedder<A> {
    api: A,
    http: Http,
    dimensions: OnceLock<usize>,
    window: Window,
    prefixes: Prefixes,
}

impl<A: EmbeddingApi> ApiEmbedder<A> {
    pub(crate) fn new(api: A, window: Window, settings: ApiSettings, http: Http) -> Result<Self> {
        if settings.dimensions == Some(0) {
            return Err(bad_value("embedding.dimensions", "must be a length that a vector can have"));
        }
        let dimensions = settings.dimensions.or(settings.known_dimensions);
        let prefixes = Prefixes::new(&settings.model, settings.document_prefix, settings.query_prefix);
        for (setting, purpose) in
            [("embedding.document_prefix", Purpose::Document), ("embedding.query_prefix", Purpose::Query)]
        {
            let checked = window.check_prefix(prefixes.of(purpose));
            checked.map_err(|reason| bad_value(setting, reason))?;
        }
        Ok(Self {
            api,
            http,
            dimensions: dimensions.map_or_else(OnceLock::new, OnceLock::from),
            window,
            prefixes,
        })
    }
}

#[async_trait]
impl<A: EmbeddingApi> Embedder for ApiEmbedder<A> {
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
        embed(self, self.window, A::LIMITS, self.prefixes.of(purpose), texts, calls).await
    }
}

#[async_trait]
impl<A: EmbeddingApi> Endpoint for ApiEmbedder<A> {
    fn model(&self) -> &ModelName {
        self.http.model()
    }

    async fn send(&self, inputs: Vec<String>, texts: &[String]) -> Result<Vec<Vec<f32>>, ProviderError> {
        let count = inputs.len();
        let vectors = self.api.ask(&self.http, inputs, texts).await?;
        let vectors = check::vectors(self.http.model(), count, self.dimensions.get().copied(), vectors)?;
        if let Some(first) = vectors.first() {
            self.dimensions.get_or_init(|| first.len());
        }
        Ok(vectors)
    }
}
