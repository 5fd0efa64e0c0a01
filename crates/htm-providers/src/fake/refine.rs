//! The fake re-ranker and expander, with fixed rules.

use std::collections::BTreeSet;
use std::time::Duration;

use async_trait::async_trait;
use htm_core::provider::{ModelName, ProviderError, ProviderErrorKind, QueryExpander, Reranker};

use super::trouble::Trouble;
use super::{FakeSettings, words};

/// The fake re-ranker. The score is the share of the query's words in the text, less 0.001 for each other word of the
/// text.
#[derive(Debug)]
pub struct FakeReranker {
    model: ModelName,
    trouble: Trouble,
}

impl FakeReranker {
    /// A re-ranker without trouble.
    pub fn new(settings: FakeSettings) -> Self {
        Self { model: ModelName::new("fake", settings.model), trouble: Trouble::new(settings.latency) }
    }

    /// A re-ranker whose calls all fail with `kind`.
    pub fn failing(kind: ProviderErrorKind) -> Self {
        let mut fake = Self::default();
        fake.trouble.fail(kind, u64::MAX);
        fake
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
}

impl Default for FakeReranker {
    fn default() -> Self {
        Self::new(FakeSettings { model: "shared-words".to_owned(), ..FakeSettings::default() })
    }
}

#[async_trait]
impl Reranker for FakeReranker {
    fn model(&self) -> &ModelName {
        &self.model
    }

    async fn rerank(&self, query: &str, texts: &[String]) -> Result<Vec<f64>, ProviderError> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        self.trouble.meet(&self.model, texts).await?;
        let asked: BTreeSet<String> = words(query).collect();
        let score = |text: &String| {
            let has: BTreeSet<String> = words(text).collect();
            let shared = asked.intersection(&has).count();
            shared as f64 / asked.len().max(1) as f64 - (has.len() - shared) as f64 / 1_000.0
        };
        Ok(texts.iter().map(score).collect())
    }
}

/// The fake expander. The phrasings are the query's words of five letters or more.
#[derive(Debug)]
pub struct FakeExpander {
    model: ModelName,
    trouble: Trouble,
}

impl FakeExpander {
    /// An expander without trouble.
    pub fn new(settings: FakeSettings) -> Self {
        Self { model: ModelName::new("fake", settings.model), trouble: Trouble::new(settings.latency) }
    }

    /// An expander whose calls all fail with `kind`.
    pub fn failing(kind: ProviderErrorKind) -> Self {
        let mut fake = Self::default();
        fake.trouble.fail(kind, u64::MAX);
        fake
    }

    /// The number of calls, failed ones included.
    pub fn calls(&self) -> u64 {
        self.trouble.calls()
    }
}

impl Default for FakeExpander {
    fn default() -> Self {
        Self::new(FakeSettings { model: "long-words".to_owned(), ..FakeSettings::default() })
    }
}

#[async_trait]
impl QueryExpander for FakeExpander {
    fn model(&self) -> &ModelName {
        &self.model
    }

    async fn expand(&self, query: &str, count: usize) -> Result<Vec<String>, ProviderError> {
        /// Shorter words are mostly grammar.
        const MIN_CHARS: usize = 5;
        self.trouble.meet(&self.model, &[query.to_owned()]).await?;
        let long = words(query).filter(|word| word.chars().count() >= MIN_CHARS);
        Ok(long.collect::<BTreeSet<_>>().into_iter().take(count).collect())
    }
}
