//! The settings of providers with an HTTP API.

use std::time::Duration;

use htm_core::TagRules;

use crate::Secret;

/// The settings of an embedder, tagger or expander of [`ollama`](crate::ollama) or [`openai`](crate::openai). Each has
/// its own settings, because their models differ.
#[derive(Clone, Debug)]
pub struct ApiSettings {
    /// The server's URL: of Ollama without `/api`, such as `http://localhost:11434`; of OpenAI or a compatible server
    /// with its version, such as `https://api.openai.com/v1`.
    pub base_url: String,
    /// The bearer token. Empty for servers without authentication. Ollama has none; a proxy before it may.
    pub api_key: Secret,
    /// The model, such as `nomic-embed-text` or `text-embedding-3-small`. Ollama must have pulled it.
    pub model: String,
    /// The length of the vectors. OpenAI is asked for it (text-embedding-3 and later shorten their vectors), and
    /// every answer is checked. None: the model's own length. Not used for tags.
    pub dimensions: Option<usize>,
    /// The model's own length of vectors, where it is known: the provider is not asked, and every answer is checked. None:
    /// that of the first answer. Not used for tags.
    pub known_dimensions: Option<usize>,
    /// The model's window in tokens. None: by the model's name; 8,191 for OpenAI's models, else 512 (the default of
    /// llama.cpp's server). Versions of Ollama around 0.13 fail with more than 512 tokens of nomic-embed-text, which has
    /// 2,048.
    pub window: Option<usize>,
    /// The time limit of a request, including the connection, the time to load the model, and the answer.
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

impl ApiSettings {
    /// Ollama on this machine with `nomic-embed-text`. A call has two minutes, as it may load the model.
    pub fn ollama() -> Self {
        Self::of("http://localhost:11434", "nomic-embed-text", Duration::from_secs(120))
    }

    /// OpenAI with `text-embedding-3-small`, without a key. A call has a minute.
    pub fn openai() -> Self {
        Self::of("https://api.openai.com/v1", "text-embedding-3-small", Duration::from_secs(60))
    }

    fn of(base_url: &str, model: &str, timeout: Duration) -> Self {
        Self {
            base_url: base_url.to_owned(),
            api_key: Secret::default(),
            model: model.to_owned(),
            dimensions: None,
            known_dimensions: None,
            window: None,
            timeout,
            document_prefix: None,
            query_prefix: None,
            prompt: None,
            max_tags: 5,
            rules: TagRules::default(),
        }
    }
}
