//! A deterministic provider without network or files, for tests and demonstrations.
//!
//! Its vectors are hashed bags of words and of three-letter runs, so texts with common words are near. It can be slow,
//! fail, and reject single texts, to test the pipeline.

mod refine;
mod tags;
mod trouble;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use htm_core::provider::{Embedder, Embedding, ModelName, ProviderError, ProviderErrorKind, Purpose, Tagger};
use htm_core::{Result, TokenEncoding};

use crate::codes::bad_value;
use crate::hash::fnv1a;
use crate::pool::pool;
use crate::split::Window;
pub use refine::{FakeExpander, FakeReranker};
pub use tags::FakeTagger;
use trouble::Trouble;

/// The weight of a word, where a three-letter run has 1.
const WORD_WEIGHT: f32 = 3.0;

/// Settings of [`embedder`] and [`tagger`].
#[derive(Clone, Debug)]
pub struct FakeSettings {
    /// The model's name.
    pub model: String,
    /// The length of the vectors.
    pub dimensions: usize,
    /// The window in tokens of four characters. None: unlimited.
    pub window: Option<usize>,
    /// The duration of each call.
    pub latency: Duration,
}

impl Default for FakeSettings {
    fn default() -> Self {
        Self { model: "bag-of-words".to_owned(), dimensions: 64, window: None, latency: Duration::ZERO }
    }
}

/// Makes the embedder.
///
/// # Errors
/// `provider_settings_value` for 0 dimensions.
pub fn embedder(settings: FakeSettings) -> Result<Arc<dyn Embedder>> {
    Ok(Arc::new(FakeEmbedder::new(settings)?))
}

/// Makes the tagger.
///
/// # Errors
/// None. The signature is that of the other providers.
pub fn tagger(settings: FakeSettings) -> Result<Arc<dyn Tagger>> {
    Ok(Arc::new(FakeTagger::new(settings)))
}

/// The fake embedder. Tests can make it slow or let it fail.
///
/// ```
/// # use htm_core::provider::{Embedder, ProviderErrorKind, Purpose};
/// # use htm_providers::fake::FakeEmbedder;
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let embedder = FakeEmbedder::default().failing_times(ProviderErrorKind::Server, 1).refusing("poison");
/// let embed = |text: &str| { let texts = [text.to_owned()]; let embedder = &embedder;
///     async move { embedder.embed(&texts, Purpose::Document).await } };
/// assert_eq!(embed("a").await.unwrap_err().kind, ProviderErrorKind::Server);
/// assert!(embed("a").await.is_ok());
/// assert_eq!(embed("some poison").await.unwrap_err().kind, ProviderErrorKind::BadInput);
/// assert_eq!(embedder.calls(), 3);
/// # });
/// ```
#[derive(Debug)]
pub struct FakeEmbedder {
    model: ModelName,
    dimensions: usize,
    window: Option<Window>,
    trouble: Trouble,
}

impl FakeEmbedder {
    /// An embedder without trouble.
    ///
    /// # Errors
    /// `provider_settings_value` for 0 dimensions.
    pub fn new(settings: FakeSettings) -> Result<Self> {
        if settings.dimensions == 0 {
            return Err(bad_value("embedding.dimensions", "must be a length that a vector can have"));
        }
        Ok(Self::build(settings))
    }

    /// An embedder whose calls all fail with `kind`.
    pub fn failing(kind: ProviderErrorKind) -> Self {
        Self::default().failing_times(kind, u64::MAX)
    }

    /// Lets the next `times` calls fail with `kind`.
    #[must_use]
    pub fn failing_times(mut self, kind: ProviderErrorKind, times: u64) -> Self {
        self.trouble.fail(kind, times);
        self
    }

    /// Rejects every batch with `word` in a text, with [`ProviderErrorKind::BadInput`].
    #[must_use]
    pub fn refusing(mut self, word: impl Into<String>) -> Self {
        self.trouble.refuse(word.into());
        self
    }

    /// Lets each call take `latency`.
    #[must_use]
    pub fn with_latency(mut self, latency: Duration) -> Self {
        self.trouble.slow(latency);
        self
    }

    /// The number of calls, failed ones included.
    pub fn calls(&self) -> u64 {
        self.trouble.calls()
    }

    fn build(settings: FakeSettings) -> Self {
        Self {
            model: ModelName::new("fake", settings.model),
            dimensions: settings.dimensions,
            window: settings.window.map(|tokens| Window::exact(tokens, TokenEncoding::Estimate)),
            trouble: Trouble::new(settings.latency),
        }
    }

    fn embedding(&self, text: &str) -> Embedding {
        let Some(window) = self.window else {
            return Embedding { vector: vector(text, self.dimensions), parts: 1 };
        };
        let parts = window.split(text);
        let vectors: Vec<_> =
            parts.iter().map(|part| (vector(part.text, self.dimensions), part.tokens)).collect();
        // Parts that cancel each other get the vector of a text without words.
        pool(&vectors)
            .unwrap_or_else(|| Embedding { vector: vector("", self.dimensions), parts: parts.len() as u32 })
    }
}

impl Default for FakeEmbedder {
    fn default() -> Self {
        Self::build(FakeSettings::default())
    }
}

#[async_trait]
impl Embedder for FakeEmbedder {
    fn model(&self) -> &ModelName {
        &self.model
    }

    async fn dimensions(&self) -> Result<usize, ProviderError> {
        Ok(self.dimensions)
    }

    async fn embed(&self, texts: &[String], _: Purpose) -> Result<Vec<Embedding>, ProviderError> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        self.trouble.meet(&self.model, texts).await?;
        Ok(texts.iter().map(|text| self.embedding(text)).collect())
    }
}

/// The lower-cased words of `text`.
fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase)
}

fn vector(text: &str, dimensions: usize) -> Vec<f32> {
    let mut vector = vec![0.0_f32; dimensions];
    let mut add = |part: &[u8], weight: f32| {
        let hash = fnv1a(part);
        // The low bits choose the place and the top bit the sign, so that collisions cancel as often as they add.
        vector[(hash % dimensions as u64) as usize] += if hash >> 63 == 0 { weight } else { -weight };
    };
    for word in words(text) {
        add(word.as_bytes(), WORD_WEIGHT);
        let letters: Vec<char> = format!(" {word} ").chars().collect();
        for run in letters.windows(3) {
            add(run.iter().collect::<String>().as_bytes(), 1.0);
        }
    }
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    if length > 0.0 {
        vector.iter_mut().for_each(|x| *x /= length);
    } else {
        // The text has no words, or its words cancel each other.
        vector[0] = 1.0;
    }
    vector
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_words_are_near() {
        let near = |a: &str, b: &str| {
            let (a, b) = (vector(a, 64), vector(b, 64));
            a.iter().zip(&b).map(|(a, b)| a * b).sum::<f32>()
        };
        let text = "PostgreSQL indexes speed up queries";
        assert!((near(text, &text.to_uppercase()) - 1.0).abs() < 1e-5);
        assert!(near(text, "queries with indexes") > near(text, "a walk by the sea") + 0.2);
    }
}
