//! OpenAI's API, also of compatible servers (llama.cpp, vLLM, LM Studio): `/embeddings` and `/chat/completions` under a
//! base URL. Requests have the types of async-openai, and are sent by this crate's client.

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
pub struct OpenAiSettings {
    /// The API's URL with its version, such as `https://api.openai.com/v1`.
    pub base_url: String,
    /// The bearer token. Empty for servers without authentication.
    pub api_key: Secret,
    /// The model, such as `text-embedding-3-small`.
    pub model: String,
    /// The length of the vectors. If set, it is requested (text-embedding-3 and later shorten their vectors) and
    /// checked. None: the model's own length. Not used for tags.
    pub dimensions: Option<usize>,
    /// The model's window in tokens. None: 8,191 for OpenAI's models, 512 for others (the default of llama.cpp's
    /// server).
    pub window: Option<usize>,
    /// The time limit of a request, including the connection and the answer.
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

/// Makes the embedder of `settings.model`. Makes no call.
///
/// # Errors
/// One of the [`codes`](crate::codes) for a URL, key, timeout or model name that cannot work.
pub fn embedder(settings: OpenAiSettings) -> Result<Arc<dyn Embedder>> {
    Ok(Arc::new(embed::OpenAiEmbedder::new(&settings, http(&settings)?)?))
}

/// Makes the tagger of `settings.model`, a chat model. Makes no call.
///
/// # Errors
/// As [`embedder`].
pub fn tagger(settings: OpenAiSettings) -> Result<Arc<dyn TagExtractor>> {
    let http = http(&settings)?;
    Ok(Arc::new(tags::OpenAiTagger::new(settings, http)))
}

/// Makes the query expander of `settings.model`, a chat model. Makes no call.
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
