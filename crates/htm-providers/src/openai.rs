//! OpenAI's API, and every server that speaks it (llama.cpp, vLLM, LM Studio): `/embeddings` and
//! `/chat/completions` under a base URL. Requests are async-openai's types, sent by our own client.

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
pub struct OpenAiSettings {
    /// The API's URL with its version, as `https://api.openai.com/v1`.
    pub base_url: String,
    /// Sent as a bearer token; empty for servers that want none.
    pub api_key: Secret,
    /// The model, as `text-embedding-3-small`.
    pub model: String,
    /// The length of the vectors. If set it is asked for (text-embedding-3 and later shorten their vectors)
    /// and checked; else the model's own. Tags do not use it.
    pub dimensions: Option<usize>,
    /// Tokens that the model reads at once. None: 8,191 for OpenAI's models, 512 for others (what llama.cpp's
    /// server takes unless it is told otherwise).
    pub window: Option<usize>,
    /// How long a request may take in all, connecting and reading included.
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

impl Default for OpenAiSettings {
    fn default() -> Self {
        Self {
            base_url: "https://api.openai.com/v1".to_owned(),
            api_key: Secret::default(),
            model: "text-embedding-3-small".to_owned(),
            dimensions: None,
            window: None,
            timeout: Duration::from_secs(60),
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
/// One of the [`codes`](crate::codes) for a URL, key, timeout or model name that cannot work.
pub fn embedder(settings: OpenAiSettings) -> Result<Arc<dyn Embedder>> {
    Ok(Arc::new(embed::OpenAiEmbedder::new(&settings, http(&settings)?)?))
}

/// The tagger that asks `settings.model`, a chat model. Makes no call.
///
/// # Errors
/// As [`embedder`].
pub fn tagger(settings: OpenAiSettings) -> Result<Arc<dyn TagExtractor>> {
    let http = http(&settings)?;
    Ok(Arc::new(tags::OpenAiTagger::new(settings, http)))
}

/// What says a query in other words: `settings.model`, a chat model; its prompt is `config/prompts/expansion.md` when
/// none is set. Makes no call.
///
/// # Errors
/// As [`embedder`].
pub fn expander(settings: OpenAiSettings) -> Result<Arc<dyn QueryExpander>> {
    let chat = chat::OpenAiChat::new(http(&settings)?, "queries");
    Ok(Arc::new(Expander::new(chat, settings.prompt)))
}

fn http(settings: &OpenAiSettings) -> Result<Http> {
    let model = ModelName::new("openai", &settings.model);
    Http::new("openai", &settings.base_url, settings.api_key.clone(), settings.timeout, model)
}
