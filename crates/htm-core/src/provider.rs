//! The traits of embedders, taggers, re-rankers and query expanders, and their error.
//!
//! The clients live in `htm-providers`. Core holds the traits because recall embeds its query.

mod failure;

use async_trait::async_trait;

pub use failure::{ProviderError, ProviderErrorKind};

pub use crate::model::models::{CALLER, ModelName};
pub use crate::model::tags::TagOrigin;
use crate::model::tags::{KnownTags, TagPath};

/// Turns texts into vectors.
#[async_trait]
pub trait Embedder: Send + Sync {
    /// The model. Vectors of different models are never mixed.
    fn model(&self) -> &ModelName;

    /// The length of this model's vectors. If it is not configured, the provider is asked once.
    async fn dimensions(&self) -> Result<usize, ProviderError>;

    /// Embeds texts: one embedding for each, in the order of `texts`. An empty slice makes no call.
    ///
    /// Nothing is cut off. A text longer than the model's window is split at the ends of sentences, else of words, and
    /// each part is embedded. The embedding is the parts' mean, weighted by their tokens, at unit length. An empty text
    /// is embedded like any other.
    ///
    /// A call makes one request, or several if the parts do not fit into one. Each has the provider's deadline.
    ///
    /// # Errors
    /// See [`ProviderErrorKind`]. An error does not name the text that caused it. After a
    /// [`ProviderErrorKind::BadInput`], halve the batch to find the text.
    async fn embed(&self, texts: &[String], purpose: Purpose) -> Result<Vec<Embedding>, ProviderError>;

    /// As [`embed`](Self::embed). An embedder that makes several requests asks `calls` before each further one.
    ///
    /// # Errors
    /// As [`embed`](Self::embed), and [`ProviderErrorKind::RateLimited`] if a further request is not permitted.
    async fn embed_within(
        &self,
        texts: &[String],
        purpose: Purpose,
        _calls: &dyn Calls,
    ) -> Result<Vec<Embedding>, ProviderError> {
        self.embed(texts, purpose).await
    }
}

/// The embedding of a text.
#[derive(Clone, Debug, PartialEq)]
pub struct Embedding {
    /// A finite component for each of the model's dimensions, at unit length. The client normalises the vector, so the
    /// cosine similarity is the inner product for every provider.
    pub vector: Vec<f32>,
    /// The number of windows that the text was split into; 1 if it fit.
    pub parts: u32,
}

/// Proposes tags for texts.
#[async_trait]
pub trait Tagger: Send + Sync {
    /// The model, recorded with each assignment.
    fn model(&self) -> &ModelName;

    /// The method of this tagger, recorded with each assignment.
    fn origin(&self) -> TagOrigin;

    /// The version of the prompt or of the rules, recorded with each completion. It selects the nodes to tag again
    /// after a change.
    fn version(&self) -> &str;

    /// Proposes tags: one list for each text, in the order of `texts`. A list may be empty. `ontology` holds tags of
    /// the namespace, the most preferred first. Taggers prefer all of them to new tags.
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

    /// As [`extract`](Self::extract). Before a second request, such as one to correct a bad answer, the tagger asks
    /// `calls`.
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

/// Scores how well texts answer a query: a cross-encoder, which reads the query and a text together. It is more
/// accurate than a comparison of two vectors, and too slow for more than the first candidates.
#[async_trait]
pub trait Reranker: Send + Sync {
    /// The model.
    fn model(&self) -> &ModelName;

    /// Scores texts: one finite score for each, in the order of `texts`. Larger is better. The scale is the model's
    /// own: compare scores of one call only. An empty slice makes no call. A text longer than the model's window is
    /// scored by its beginning.
    ///
    /// # Errors
    /// See [`ProviderErrorKind`].
    async fn rerank(&self, query: &str, texts: &[String]) -> Result<Vec<f64>, ProviderError>;
}

/// Rephrases a query with a language model, to find memories in other words.
#[async_trait]
pub trait QueryExpander: Send + Sync {
    /// The model.
    fn model(&self) -> &ModelName;

    /// At most `count` other phrasings of `query`, the most useful first. The list may be empty.
    ///
    /// # Errors
    /// See [`ProviderErrorKind`].
    async fn expand(&self, query: &str, count: usize) -> Result<Vec<String>, ProviderError>;
}

/// Permission for further requests within a call. A provider's limits count requests, so each further one needs
/// permission.
#[async_trait]
pub trait Calls: Send + Sync {
    /// Waits until another request may be made. Returns false if the provider must be left alone for now.
    async fn another(&self, request: Further) -> bool;
}

/// A further request within a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Further {
    /// The same texts again, such as to correct a bad answer.
    Again,
    /// Texts of the call that have no answer yet. Their tokens were counted with the first request.
    Rest,
}

/// Permits any number of requests.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ungoverned;

#[async_trait]
impl Calls for Ungoverned {
    async fn another(&self, _request: Further) -> bool {
        true
    }
}

/// The role of an embedded text. Some models need a different prefix for each role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// A memory to search in.
    Document,
    /// A query to search with.
    Query,
}

/// A tag that a tagger proposes for a text.
#[derive(Clone, Debug, PartialEq)]
pub struct TagSuggestion {
    /// The tag.
    pub path: TagPath,
    /// 0 to 1: the similarity for `local`, the model's own statement for a language model. None if it gave no number.
    pub confidence: Option<f32>,
}
