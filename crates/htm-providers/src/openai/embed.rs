//! `POST {base_url}/embeddings`.

use async_openai::types::embeddings::{CreateEmbeddingRequest, EmbeddingInput, EncodingFormat};
use async_trait::async_trait;
use htm_core::provider::{ModelName, ProviderError, ProviderErrorKind};
use htm_core::{Result, TokenEncoding};
use serde::Deserialize;

use crate::api_embedder::EmbeddingApi;
use crate::api_settings::ApiSettings;
use crate::check::Numbers;
use crate::codes::bad_value;
use crate::http::Http;
use crate::openai::own_name;
use crate::requests::Limits;
use crate::split::Window;

pub(super) struct OpenAiEmbedding {
    asked: Option<u32>,
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
    embedding: Numbers,
}

impl OpenAiEmbedding {
    pub(super) fn new(settings: &ApiSettings) -> Result<Self> {
        let asked = settings.dimensions.map(u32::try_from).transpose();
        let asked = asked
            .map_err(|_| bad_value("embedding.dimensions", "must be a length that a vector can have"))?;
        Ok(Self { asked })
    }
}

#[async_trait]
impl EmbeddingApi for OpenAiEmbedding {
    /// <https://platform.openai.com/docs/api-reference/embeddings/create>
    const LIMITS: Limits = Limits { inputs: 2048, tokens: 300_000 };

    async fn ask(
        &self,
        http: &Http,
        inputs: Vec<String>,
        texts: &[String],
    ) -> Result<Vec<Vec<f32>>, ProviderError> {
        let (model, count) = (http.model(), inputs.len());
        let request = CreateEmbeddingRequest {
            model: model.name.clone(),
            input: EmbeddingInput::StringArray(inputs),
            encoding_format: Some(EncodingFormat::Float),
            user: None,
            dimensions: self.asked,
        };
        let answer: Answer = http.post("embeddings", &request, texts).await?;
        ordered(model, answer.data, count)
    }
}

/// Orders vectors by their `index`. Each index must occur exactly once.
fn ordered(model: &ModelName, items: Vec<Item>, count: usize) -> Result<Vec<Vec<f32>>, ProviderError> {
    let broken = |message: String| ProviderError::new(model, ProviderErrorKind::BadResponse, message);
    if items.len() != count {
        return Err(broken(format!("{} vectors came for {count} texts", items.len())));
    }
    let mut vectors: Vec<Option<Vec<f32>>> = vec![None; count];
    for Item { index, embedding: Numbers(embedding) } in items {
        let place = vectors.get_mut(index);
        let place = place.ok_or_else(|| broken(format!("a vector has index {index} of {count} texts")))?;
        if place.replace(embedding).is_some() {
            return Err(broken(format!("two vectors have index {index}")));
        }
    }
    Ok(vectors.into_iter().flatten().collect())
}

/// The window of a model. OpenAI's embedding models use cl100k_base and accept 8,191 tokens (the cookbook, "Embedding
/// texts that are longer than the model's maximum context length"). Other models use other tokenizers.
pub(super) fn window(settings: &ApiSettings) -> Window {
    /// The physical batch of llama.cpp's server, 512 tokens unless `--ubatch-size` changes it
    /// (<https://github.com/ggml-org/llama.cpp/pull/7389>). It is BERT's window too.
    const OTHERS: usize = 512;
    // `text-embedding-` alone is not enough: LM Studio puts it before every embedding model's name.
    let openai = ["text-embedding-3-", "text-embedding-ada-002"];
    match openai.iter().any(|name| own_name(&settings.model).starts_with(name)) {
        true => Window::exact(settings.window.unwrap_or(8191), TokenEncoding::Cl100kBase),
        false => Window::generous(settings.window.unwrap_or(OTHERS)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_of_openai_has_its_window_behind_a_gateway() {
        let of = |model: &str| {
            format!("{:?}", window(&ApiSettings { model: model.to_owned(), ..ApiSettings::openai() }))
        };
        let own = of("text-embedding-3-small");
        assert_eq!(of("openai/text-embedding-3-small"), own);
        assert_eq!(of("openrouter/openai/text-embedding-3-large"), own);
        assert_ne!(of("text-embedding-nomic-embed-text-v1.5"), own);
    }
}
