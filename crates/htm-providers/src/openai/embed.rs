//! `POST {base_url}/embeddings`.

use std::sync::OnceLock;

use async_openai::types::embeddings::{CreateEmbeddingRequest, EmbeddingInput, EncodingFormat};
use async_trait::async_trait;
use htm_core::provider::{Embedder, ModelName, ProviderError, ProviderErrorKind, Purpose};
use serde::Deserialize;

use super::OpenAiSettings;
use crate::http::Http;
use crate::prefix::Prefixes;
use crate::{SettingsError, check};

pub(super) struct OpenAiEmbedder {
    http: Http,
    asked: Option<u32>,
    dimensions: OnceLock<usize>,
    prefixes: Prefixes,
}

/// Of the answer only what we use: compatible servers leave out `object` or `usage`, which async-openai's
/// type demands.
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
    pub(super) fn new(settings: &OpenAiSettings, http: Http) -> Result<Self, SettingsError> {
        let asked = settings.dimensions.map(u32::try_from).transpose().ok().filter(|asked| *asked != Some(0));
        let asked = asked.ok_or_else(|| SettingsError::Value {
            setting: "dimensions",
            reason: "must be a length that a vector can have".to_owned(),
        })?;
        let prefixes =
            Prefixes::new(&settings.model, settings.document_prefix.clone(), settings.query_prefix.clone());
        Ok(Self {
            http,
            asked,
            dimensions: settings.dimensions.map_or_else(OnceLock::new, OnceLock::from),
            prefixes,
        })
    }

    /// The vectors by their `index`, each exactly once.
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
        let vectors = self.embed(&["dimensions".to_owned()], Purpose::Document).await?;
        Ok(vectors.first().map_or(0, Vec::len))
    }

    async fn embed(&self, texts: &[String], purpose: Purpose) -> Result<Vec<Vec<f32>>, ProviderError> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let request = CreateEmbeddingRequest {
            model: self.model().name.clone(),
            input: EmbeddingInput::StringArray(self.prefixes.apply(texts, purpose)),
            encoding_format: Some(EncodingFormat::Float),
            user: None,
            dimensions: self.asked,
        };
        let answer: Answer = self.http.post("embeddings", &request, texts).await?;
        let vectors = self.ordered(answer.data, texts.len())?;
        let vectors = check::vectors(self.model(), texts.len(), self.dimensions.get().copied(), vectors)?;
        if let Some(first) = vectors.first() {
            self.dimensions.get_or_init(|| first.len());
        }
        Ok(vectors)
    }
}
