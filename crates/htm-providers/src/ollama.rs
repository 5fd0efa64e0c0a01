//! Ollama's API: `/api/embed` and `/api/chat`. Requests have the types of ollama-rs, and are sent by this crate's
//! client.

mod chat;
mod embed;
mod tags;

use std::sync::Arc;
use std::time::Duration;

use htm_core::provider::{Embedder, ModelName, QueryExpander, TagExtractor};
use htm_core::{Result, TagRules};

use crate::Secret;
use crate::expansion::Expander;
use crate::http::Http;

/// Settings of [`embedder`], [`tagger`] and [`expander`]. Each has its own settings, because their models differ.
#[derive(Clone, Debug)]
pub struct OllamaSettings {
    /// The server's URL without `/api`, such as `http://localhost:11434`.
    pub base_url: String,
    /// The bearer token for a proxy before the server. Usually empty.
    pub api_key: Secret,
    /// The model, such as `nomic-embed-text`. It must be pulled.
    pub model: String,
    /// The expected length of the vectors. None: the first answer determines it. Not used for tags.
    pub dimensions: Option<usize>,
    /// The model's window in tokens. None: by the model's name, else 512. Versions of Ollama around 0.13 fail with more
    /// than 512 tokens of nomic-embed-text, which has 2,048.
    pub window: Option<usize>,
    /// The time limit of a request. It includes the time to load the model.
    pub timeout: Duration,
    /// The prefix of documents. None: by the model's name (nomic-embed-text has one).
    pub document_prefix: Option<String>,
    /// The prefix of queries. None: by the model's name.
    pub query_prefix: Option<String>,
    /// The system prompt for tags or phrasings. None: `config/prompts/tags.md`, `config/prompts/expansion.md`.
    pub prompt: Option<String>,
    /// The most tags per text, at least 1. Not used for embeddings.
    pub max_tags: usize,
    /// The rules of tags. Not used for embeddings.
    pub rules: TagRules,
}

impl Default for OllamaSettings {
    fn default() -> Self {
        Self {
            base_url: "http://localhost:11434".to_owned(),
            api_key: Secret::default(),
            model: "nomic-embed-text".to_owned(),
            dimensions: None,
            window: None,
            timeout: Duration::from_secs(120),
            document_prefix: None,
            query_prefix: None,
            prompt: None,
            max_tags: 5,
            rules: TagRules::default(),
        }
    }
}

/// Makes the embedder of `settings.model`. Makes no call.
///
/// # Errors
/// One of the [`codes`](crate::codes) for a URL, timeout or model name that cannot work.
pub fn embedder(settings: OllamaSettings) -> Result<Arc<dyn Embedder>> {
    let http = http(&settings)?;
    Ok(Arc::new(embed::OllamaEmbedder::new(settings, http)?))
}

/// Makes the tagger of `settings.model`, a chat model. Makes no call.
///
/// # Errors
/// As [`embedder`].
pub fn tagger(settings: OllamaSettings) -> Result<Arc<dyn TagExtractor>> {
    let http = http(&settings)?;
    Ok(Arc::new(tags::OllamaTagger::new(settings, http)))
}

/// Makes the query expander of `settings.model`, a chat model. Makes no call.
///
/// # Errors
/// As [`embedder`].
pub fn expander(settings: OllamaSettings) -> Result<Arc<dyn QueryExpander>> {
    let chat = chat::OllamaChat::new(http(&settings)?);
    Ok(Arc::new(Expander::new(chat, settings.prompt)))
}

fn http(settings: &OllamaSettings) -> Result<Http> {
    let model = ModelName::new("ollama", &settings.model);
    Http::new("ollama", &settings.base_url, settings.api_key.clone(), settings.timeout, model)
}
