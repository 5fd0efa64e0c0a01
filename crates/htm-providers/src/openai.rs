//! OpenAI's API, also of compatible servers (llama.cpp, vLLM, LM Studio): `/embeddings` and `/chat/completions` under a
//! base URL. Requests have the types of async-openai, and are sent by this crate's client.

mod chat;
mod embed;

use std::sync::Arc;

use htm_core::Result;
use htm_core::provider::{Embedder, ModelName, QueryExpander, Tagger};

use crate::api_embedder::ApiEmbedder;
use crate::api_settings::ApiSettings;
use crate::api_tagger::ApiTagger;
use crate::expansion::Expander;
use crate::http::Http;

/// Makes the embedder of `settings.model`. Makes no call.
///
/// # Errors
/// One of the [`codes`](crate::codes) for a URL, key, timeout, model name or prefix that cannot work.
pub fn embedder(settings: ApiSettings) -> Result<Arc<dyn Embedder>> {
    let (http, window) = (http(&settings)?, embed::window(&settings));
    let api = embed::OpenAiEmbedding::new(&settings)?;
    Ok(Arc::new(ApiEmbedder::new(api, window, settings, http)?))
}

/// Makes the tagger of `settings.model`, a chat model. Makes no call.
///
/// # Errors
/// As [`embedder`].
pub fn tagger(settings: ApiSettings) -> Result<Arc<dyn Tagger>> {
    let chat = chat::OpenAiChat::new(http(&settings)?, "tags");
    Ok(Arc::new(ApiTagger::new(chat, settings)))
}

/// Makes the query expander of `settings.model`, a chat model. Makes no call.
///
/// # Errors
/// As [`embedder`].
pub fn expander(settings: ApiSettings) -> Result<Arc<dyn QueryExpander>> {
    let chat = chat::OpenAiChat::new(http(&settings)?, "queries");
    Ok(Arc::new(Expander::new(chat, settings.prompt)))
}

/// The name of a model without its provider, which gateways put before it (`azure/o3-mini`).
fn own_name(model: &str) -> &str {
    model.rsplit('/').next().unwrap_or(model)
}

fn http(settings: &ApiSettings) -> Result<Http> {
    let model = ModelName::new("openai", &settings.model);
    Http::new("openai", &settings.base_url, settings.api_key.clone(), settings.timeout, model)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_leaves_half_of_the_window_to_the_text() {
        let made = |prefix: String| {
            let (window, query_prefix) = (Some(100), Some(prefix));
            embedder(ApiSettings { window, query_prefix, ..ApiSettings::openai() }).map(|_| ())
        };
        // By tokens, not by bytes.
        made("very ".repeat(30)).unwrap();
        let error = made("very ".repeat(200)).unwrap_err();
        assert_eq!(error.code(), "provider_settings_value");
        assert!(error.to_string().starts_with("embedding.query_prefix has 20"), "{error}");
    }
}
