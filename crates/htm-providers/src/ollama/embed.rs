//! `POST {base_url}/api/embed`.

use async_trait::async_trait;
use htm_core::provider::ProviderError;
use ollama_rs::generation::embeddings::request::{EmbeddingsInput, GenerateEmbeddingsRequest};
use serde::Deserialize;

use crate::api_embedder::EmbeddingApi;
use crate::api_settings::ApiSettings;
use crate::check::Numbers;
use crate::http::Http;
use crate::requests::Limits;
use crate::split::Window;

pub(super) struct OllamaEmbedding;

/// The used field of the answer. ollama-rs' type has no `null` in vectors.
#[derive(Deserialize)]
struct Answer {
    embeddings: Vec<Numbers>,
}

#[async_trait]
impl EmbeddingApi for OllamaEmbedding {
    /// Ollama states no limits. These keep a request short enough for a slow machine to answer in time.
    const LIMITS: Limits = Limits { inputs: 2048, tokens: 32_768 };

    async fn ask(
        &self,
        http: &Http,
        inputs: Vec<String>,
        texts: &[String],
    ) -> Result<Vec<Vec<f32>>, ProviderError> {
        let (model, inputs) = (http.model().name.clone(), EmbeddingsInput::Multiple(inputs));
        // By default Ollama cuts a text at the model's window silently. With `false` it returns an error.
        let request = GenerateEmbeddingsRequest::new(model, inputs).truncate(false);
        let answer: Answer = http.post("api/embed", &request, texts).await?;
        Ok(answer.embeddings.into_iter().map(|Numbers(numbers)| numbers).collect())
    }
}

/// The window for an embedder.
pub(super) fn window(settings: &ApiSettings) -> Window {
    Window::generous(settings.window.unwrap_or_else(|| known_window(&settings.model)))
}

/// The window that Ollama gives a model, in tokens: the smaller of `num_ctx` in its library's model file and the
/// context length of the weights.
fn known_window(model: &str) -> usize {
    /// BERT's window, the smallest of most models in the library.
    const DEFAULT: usize = 512;
    let known = [("nomic-embed-text", 2048), ("mxbai-embed-large", 512), ("all-minilm", 256)];
    known.iter().find(|(name, _)| model.contains(name)).map_or(DEFAULT, |(_, tokens)| *tokens)
}

#[cfg(test)]
mod tests {
    use super::known_window;

    #[test]
    fn known_models_have_their_window() {
        for (model, tokens) in [
            ("nomic-embed-text:v1.5", 2048),
            ("all-minilm:l6-v2", 256),
            ("mxbai-embed-large", 512),
            ("own", 512),
        ] {
            assert_eq!(known_window(model), tokens, "{model}");
        }
    }
}
