//! Ollama's API: `/api/embed` and `/api/chat`. Requests have the types of ollama-rs, and are sent by this crate's
//! client.

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
/// One of the [`codes`](crate::codes) for a URL, timeout, model name or prefix that cannot work.
pub fn embedder(settings: ApiSettings) -> Result<Arc<dyn Embedder>> {
    let (http, window) = (http(&settings)?, embed::window(&settings));
    Ok(Arc::new(ApiEmbedder::new(embed::OllamaEmbedding, window, settings, http)?))
}

/// Makes the tagger of `settings.model`, a chat model. Makes no call.
///
/// # Errors
/// As [`embedder`].
pub fn tagger(settings: ApiSettings) -> Result<Arc<dyn Tagger>> {
    let chat = chat::OllamaChat::new(http(&settings)?);
    Ok(Arc::new(ApiTagger::new(chat, settings)))
}

/// Makes the query expander of `settings.model`, a chat model. Makes no call.
///
/// # Errors
/// As [`embedder`].
pub fn expander(settings: ApiSettings) -> Result<Arc<dyn QueryExpander>> {
    let chat = chat::OllamaChat::new(http(&settings)?);
    Ok(Arc::new(Expander::new(chat, settings.prompt)))
}

fn http(settings: &ApiSettings) -> Result<Http> {
    let model = ModelName::new("ollama", &settings.model);
    Http::new("ollama", &settings.base_url, settings.api_key.clone(), settings.timeout, model)
}
