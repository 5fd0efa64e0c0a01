//! What a provider of embeddings, tags, scores or phrasings promises, and how it says that it failed.
//!
//! The clients live in `htm-providers`. Core holds the traits because recall embeds its query.

mod failure;

use async_trait::async_trait;

pub use failure::{ProviderError, ProviderErrorKind};

pub use crate::model::models::ModelName;
use crate::model::tags::{KnownTags, TagPath};

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
