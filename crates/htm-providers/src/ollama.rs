//! Ollama's API: `/api/embed` and `/api/chat`. Requests are ollama-rs' types, sent by our own client.

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

/// Settings of [`embedder`], [`tagger`] and [`expander`]; each has its own, for their models differ.
#[derive(Clone, Debug)]
pub struct OllamaSettings {
    /// The server's URL without `/api`, as `http://localhost:11434`.
    pub base_url: String,
    /// Sent as a bearer token to servers behind a proxy that wants one; mostly empty.
    pub api_key: Secret,
    /// The model, as `nomic-embed-text`; it must be pulled.
    pub model: String,
    /// The length of the vectors, to be checked. None: the first answer decides. Tags do not use it.
    pub dimensions: Option<usize>,
    /// Tokens that the model reads at once. None: by the model's name, else 512. Versions of Ollama around 0.13
    /// break off at more than 512 tokens of nomic-embed-text, which has 2,048.
    pub window: Option<usize>,
    /// How long a request may take in all; the first after a pause includes loading the model.
    pub timeout: Duration,
    /// Put before each document. None: by the model's name (nomic-embed-text has one).
    pub document_prefix: Option<String>,
    /// Put before each query. None: by the model's name.
    pub query_prefix: Option<String>,
    /// The system prompt for tags or phrasings. None: `config/prompts/tags.md`, `config/prompts/expansion.md`.
    pub prompt: Option<String>,
    /// The most tags that one text gets; at least 1. Embeddings do not use it.
    pub max_tags: usize,
    /// How tags are written. Embeddings do not use it.
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

/// The embedder of `settings.model`. Makes no call.
///
/// # Errors
/// One of the [`codes`](crate::codes) for a URL, timeout or model name that cannot work.
pub fn embedder(settings: OllamaSettings) -> Result<Arc<dyn Embedder>> {
    let http = http(&settings)?;
    Ok(Arc::new(embed::OllamaEmbedder::new(settings, http)?))
}

/// The tagger that asks `settings.model`, a chat model. Makes no call.
///
/// # Errors
/// As [`embedder`].
pub fn tagger(settings: OllamaSettings) -> Result<Arc<dyn TagExtractor>> {
    let http = http(&settings)?;
    Ok(Arc::new(tags::OllamaTagger::new(settings, http)))
}

/// What says a query in other words: `settings.model`, a chat model; its prompt is `config/prompts/expansion.md` when
/// none is set. Makes no call.
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
