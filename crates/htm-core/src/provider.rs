//! What a provider of embeddings, tags, scores or phrasings promises, and how it says that it failed.
//!
//! The clients live in `htm-providers`. Core holds the traits because recall embeds its query.

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;

use crate::model::fault::Fault;
use crate::model::tag::{KnownTags, TagPath};

/// Turns texts into vectors.
#[async_trait]
pub trait Embedder: Send + Sync {
    /// Which model answers. Vectors of different models are never mixed.
    fn model(&self) -> &ModelName;

    /// The length of this model's vectors; asks the provider once when it is not configured.
    async fn dimensions(&self) -> Result<usize, ProviderError>;

    /// One embedding a text, in the order of `texts`; an empty slice gives an empty answer without a call.
    ///
    /// The whole text counts: one that is longer than the model's window is split at the ends of sentences,
    /// else of words, each part is embedded, and the parts' mean, weighted by their tokens, is brought to unit
    /// length. Nothing is cut off. An empty text is embedded like any other.
    ///
    /// A call makes one request, or several when a request could not hold the parts; each ends by the
    /// provider's deadline.
    ///
    /// # Errors
    /// See [`ProviderErrorKind`]. An error says nothing about single texts: halve the batch to find the one
    /// that a [`ProviderErrorKind::BadInput`] is about.
    async fn embed(&self, texts: &[String], purpose: Purpose) -> Result<Vec<Embedding>, ProviderError>;
}

/// What a model makes of a text.
#[derive(Clone, Debug, PartialEq)]
pub struct Embedding {
    /// As many finite components as the model has dimensions, at unit length (the client normalises, so that
    /// cosine similarity is the inner product whatever the provider does).
    pub vector: Vec<f32>,
    /// Into how many windows the text was split; 1: it fit.
    pub parts: u32,
}

/// Proposes tags for texts.
#[async_trait]
pub trait TagExtractor: Send + Sync {
    /// Which model answers; recorded with each assignment.
    fn model(&self) -> &ModelName;

    /// What kind of evidence this extractor gives; recorded with each assignment.
    fn origin(&self) -> TagOrigin;

    /// The version of the prompt or of the rules, recorded with each completion so that a newer one can
    /// replay what an older one did.
    fn version(&self) -> &str;

    /// One list a text, in the order of `texts`; zero tags is an answer. `ontology` holds tags of the namespace, those
    /// to be preferred first: extractors prefer all of them to new ones.
    ///
    /// # Errors
    /// As [`Embedder::embed`].
    async fn extract(
        &self,
        texts: &[String],
        ontology: &KnownTags,
    ) -> Result<Vec<Vec<TagSuggestion>>, ProviderError> {
        self.extract_within(texts, ontology, &Ungoverned).await
    }

    /// As [`extract`](Self::extract). An extractor that may need a second request, to have a bad answer mended, asks
    /// `calls` before.
    ///
    /// # Errors
    /// As [`extract`](Self::extract).
    async fn extract_within(
        &self,
        texts: &[String],
        ontology: &KnownTags,
        calls: &dyn Calls,
    ) -> Result<Vec<Vec<TagSuggestion>>, ProviderError>;
}

/// Says how well each of a few texts answers a query: a cross-encoder, which reads both together. Better than vectors that
/// were made apart, and too slow for more than the first candidates.
#[async_trait]
pub trait Reranker: Send + Sync {
    /// Which model answers.
    fn model(&self) -> &ModelName;

    /// One finite score a text, in the order of `texts`: larger is better, on any scale, to be compared within one call
    /// only. No texts give no scores without a call. A text longer than the model's window counts by its beginning.
    ///
    /// # Errors
    /// See [`ProviderErrorKind`].
    async fn rerank(&self, query: &str, texts: &[String]) -> Result<Vec<f64>, ProviderError>;
}

/// Says a query in other words, so that memories that say it otherwise are found: a language model.
#[async_trait]
pub trait QueryExpander: Send + Sync {
    /// Which model answers.
    fn model(&self) -> &ModelName;

    /// At most `count` other phrasings of `query`, the most useful first; none is an answer too.
    ///
    /// # Errors
    /// See [`ProviderErrorKind`].
    async fn expand(&self, query: &str, count: usize) -> Result<Vec<String>, ProviderError>;
}

/// Leave for more than one request in a call. A provider's limits count requests: who makes another asks first.
#[async_trait]
pub trait Calls: Send + Sync {
    /// Waits until another request with the same texts may be made; false: the provider is to be left alone for now.
    async fn another(&self) -> bool;
}

/// Leave for any number of requests: nobody counts them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ungoverned;

#[async_trait]
impl Calls for Ungoverned {
    async fn another(&self) -> bool {
        true
    }
}

/// What a text is embedded for; some models want a different prefix for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// A memory that is to be found.
    Document,
    /// The question that looks for it.
    Query,
}

/// A model by provider and name, as in `local/all-MiniLM-L6-v2`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize)]
pub struct ModelName {
    /// `local`, `ollama`, `openai`, `fake`.
    pub provider: String,
    /// The provider's own name of the model.
    pub name: String,
}

impl ModelName {
    /// The model `name` of `provider`.
    pub fn new(provider: impl Into<String>, name: impl Into<String>) -> Self {
        Self { provider: provider.into(), name: name.into() }
    }
}

impl fmt::Display for ModelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.provider, self.name)
    }
}

/// A tag that an extractor proposes for a text.
#[derive(Clone, Debug, PartialEq)]
pub struct TagSuggestion {
    /// The tag.
    pub path: TagPath,
    /// 0 to 1: the similarity for `local`, the model's own statement for an LLM; none when it said nothing.
    pub confidence: Option<f32>,
}

/// Who assigned a tag to a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TagOrigin {
    /// The caller of `remember`.
    Manual,
    /// A language model.
    Llm,
    /// The nearest terms of the ontology, by embedding.
    Local,
    /// A fixed rule.
    Rule,
}

impl TagOrigin {
    /// As the database stores it.
    pub fn as_str(self) -> &'static str {
        match self {
            TagOrigin::Manual => "manual",
            TagOrigin::Llm => "llm",
            TagOrigin::Local => "local",
            TagOrigin::Rule => "rule",
        }
    }
}

/// A provider's failure: what it was, of which provider, and what it means for the job.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{provider}: {message}")]
pub struct ProviderError {
    /// What kind of failure; decides what is done about it.
    pub kind: ProviderErrorKind,
    /// The model that was asked, as `provider/name`.
    pub provider: String,
    /// What happened, for people. Holds no text of a memory and no key.
    pub message: String,
    /// What a language model said that could not be used: its beginning, on one line, without control characters. It
    /// may repeat a memory, so it is kept with the job and never logged.
    pub answer: Option<String>,
}

/// The kinds of failure, by what is to be done about them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProviderErrorKind {
    /// No connection, or it broke.
    Unreachable,
    /// No answer within the deadline.
    Timeout,
    /// 429; the provider may have said when to come back.
    RateLimited {
        /// From the `Retry-After` header.
        retry_after: Option<Duration>,
    },
    /// A 5xx answer, or another that is the provider's trouble.
    Server,
    /// The text was refused (400, 413, 422): sending it again gives the same answer.
    BadInput,
    /// The key was refused (401, 403).
    Unauthorized,
    /// The account's quota is spent (402, or 429 that says `insufficient_quota`).
    QuotaExceeded,
    /// No such model at the provider (404).
    ModelNotFound,
    /// An answer that breaks the contract: not JSON, too few vectors, an index twice, a component that is not
    /// finite, another dimension than before.
    BadResponse,
    /// A language model answered, was told what is wrong with its answer, and said again nothing that can be used.
    /// At temperature 0 the same texts get the same answer: fewer of them may get another.
    UnusableAnswer,
}

impl ProviderError {
    /// An error of `kind` from `model`.
    pub fn new(model: &ModelName, kind: ProviderErrorKind, message: impl Into<String>) -> Self {
        Self { kind, provider: model.to_string(), message: message.into(), answer: None }
    }

    /// With what the model said, shortened to 500 characters.
    pub fn with_answer(self, answer: &str) -> Self {
        /// As much as shows what kind of answer it was.
        const MAX_CHARS: usize = 500;
        let words =
            answer.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
        let mut line = words.collect::<Vec<_>>().join(" ");
        if line.chars().count() > MAX_CHARS {
            line = line.chars().take(MAX_CHARS - 1).chain(['…']).collect();
        }
        Self { answer: Some(line), ..self }
    }

    /// Whether the failure may be about single texts of a call: then each half of them is worth a call of its own.
    pub fn is_about_texts(&self) -> bool {
        matches!(self.kind, ProviderErrorKind::BadInput | ProviderErrorKind::UnusableAnswer)
    }

    /// Who has to act.
    pub fn fault(&self) -> Fault {
        use ProviderErrorKind::*;
        match self.kind {
            Unreachable | Timeout | RateLimited { .. } | Server | BadResponse => Fault::Transient,
            BadInput | UnusableAnswer => Fault::User,
            Unauthorized | QuotaExceeded | ModelNotFound => Fault::Permanent,
        }
    }

    /// A stable code, as `provider_timeout`.
    pub fn code(&self) -> &'static str {
        use ProviderErrorKind::*;
        match self.kind {
            Unreachable => "provider_unreachable",
            Timeout => "provider_timeout",
            RateLimited { .. } => "provider_rate_limited",
            Server => "provider_server_error",
            BadInput => "provider_refused_text",
            Unauthorized => "provider_unauthorized",
            QuotaExceeded => "provider_quota_exceeded",
            ModelNotFound => "provider_model_not_found",
            BadResponse => "provider_bad_response",
            UnusableAnswer => "provider_unusable_answer",
        }
    }

    /// What to do next.
    pub fn hint(&self) -> &'static str {
        use ProviderErrorKind::*;
        match self.kind {
            Unreachable => "check that the provider runs at its base URL: `htm config show`, `htm doctor`",
            Timeout => "raise the provider's timeout_ms, or lower the worker's batch",
            RateLimited { .. } => "wait; the job comes back by itself",
            Server => "look at the provider's own log; the job is retried by itself",
            BadInput => "shorten or mend the text: the provider refuses it as it is",
            Unauthorized => "set a valid key, for example HTM_OPENAI__API_KEY",
            QuotaExceeded => "raise the quota at the provider",
            ModelNotFound => "check the model's name, or pull it: `ollama pull MODEL`",
            BadResponse => "check that the base URL is the provider's API, not a page or another service",
            UnusableAnswer => "look at what the model said: `htm jobs show`; a larger model may do better",
        }
    }
}
