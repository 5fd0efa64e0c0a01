//! `POST {base_url}/embeddings`.

use std::sync::OnceLock;

use async_openai::types::embeddings::{CreateEmbeddingRequest, EmbeddingInput, EncodingFormat};
use async_trait::async_trait;
use htm_core::provider::{
    Calls, Embedder, Embedding, ModelName, ProviderError, ProviderErrorKind, Purpose, Ungoverned,
};
use htm_core::{Result, TokenEncoding};
use serde::Deserialize;

use crate::api_settings::ApiSettings;
use crate::check;
use crate::codes::bad_value;
use crate::http::Http;
use crate::prefix::Prefixes;
use crate::requests::{Endpoint, Limits, embed};
use crate::split::Window;

/// <https://platform.openai.com/docs/api-reference/embeddings/create>
const LIMITS: Limits = Limits { inputs: 2048, tokens: 300_000 };

pub(super) struct OpenAiEmbedder {
    http: Http,
    asked: Option<u32>,
    dimensions: OnceLock<usize>,
    window: Window,
    prefixes: Prefixes,
}

/// The used fields of the answer. async-openai's type requires `object` and `usage`, which compatible servers leave
/// out.
#[derive(Deserialize)]
struct Answer {
    data: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    index: usize,
    embedding: Vec<f32>,
}

impl OpenAiEmbedder {
    pub(super) fn new(settings: &ApiSettings, http: Http) -> Result<Self> {
        let asked = settings.dimensions.map(u32::try_from).transpose().ok().filter(|asked| *asked != Some(0));
        let asked =
            asked.ok_or_else(|| bad_value("dimensions", "must be a length that a vector can have"))?;
        let prefixes =
            Prefixes::new(&settings.model, settings.document_prefix.clone(), settings.query_prefix.clone());
        Ok(Self {
            http,
            asked,
            dimensions: settings
                .dimensions
                .or(settings.known_dimensions)
                .map_or_else(OnceLock::new, OnceLock::from),
            window: window(settings),
            prefixes,
        })
    }

    /// Orders vectors by their `index`. Each index must occur exactly once.
    fn ordered(&self, items: Vec<Item>, count: usize) -> Result<Vec<Vec<f32>>, ProviderError> {
        let broken =
            |message: String| ProviderError::new(self.http.model(), ProviderErrorKind::BadResponse, message);
        if items.len() != count {
            return Err(broken(format!("{} vectors came for {count} texts", items.len())));
        }
        let mut vectors: Vec<Option<Vec<f32>>> = vec![None; count];
        for Item { index, embedding } in items {
            let place = vectors.get_mut(index);
            let place =
                place.ok_or_else(|| broken(format!("a vector has index {index} of {count} texts")))?;
            if place.replace(embedding).is_some() {
                return Err(broken(format!("two vectors have index {index}")));
            }
        }
        Ok(vectors.into_iter().flatten().collect())
    }
}

#[async_trait]
impl Embedder for OpenAiEmbedder {
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
impl Endpoint for OpenAiEmbedder {
    fn model(&self) -> &ModelName {
        self.http.model()
    }

    async fn send(&self, inputs: Vec<String>, texts: &[String]) -> Result<Vec<Vec<f32>>, ProviderError> {
        let (model, count) = (self.http.model(), inputs.len());
        let request = CreateEmbeddingRequest {
            model: model.name.clone(),
            input: EmbeddingInput::StringArray(inputs),
            encoding_format: Some(EncodingFormat::Float),
            user: None,
            dimensions: self.asked,
        };
        let answer: Answer = self.http.post("embeddings", &request, texts).await?;
        let vectors = self.ordered(answer.data, count)?;
        let vectors = check::vectors(model, count, self.dimensions.get().copied(), vectors)?;
        if let Some(first) = vectors.first() {
            self.dimensions.get_or_init(|| first.len());
        }
        Ok(vectors)
    }
}

/// The window of a model. OpenAI's embedding models use cl100k_base and accept 8,191 tokens (the cookbook, "Embedding
/// texts that are longer than the model's maximum context length"). Other models use other tokenizers.
fn window(settings: &ApiSettings) -> Window {
    /// The physical batch of llama.cpp's server, 512 tokens unless `--ubatch-size` changes it
    /// (<https://github.com/ggml-org/llama.cpp/pull/7389>). It is BERT's window too.
    const OTHERS: usize = 512;
    // `text-embedding-` alone is not enough: LM Studio puts it before every embedding model's name.
    let openai = ["text-embedding-3-", "text-embedding-ada-002"];
    match openai.iter().any(|name| settings.model.starts_with(name)) {
        true => Window::exact(settings.window.unwrap_or(8191), TokenEncoding::Cl100kBase),
        false => Window::generous(settings.window.unwrap_or(OTHERS)),
    }
}
