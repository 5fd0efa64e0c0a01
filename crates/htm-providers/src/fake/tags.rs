//! The fake tagger, with a fixed rule.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::time::Duration;

use async_trait::async_trait;
use htm_core::provider::{
    Calls, ModelName, ProviderError, ProviderErrorKind, TagOrigin, TagSuggestion, Tagger,
};
use htm_core::tag::{KnownTag, KnownTags};

use super::trouble::Trouble;
use super::{FakeSettings, words};

/// The most tags per text.
const MAX_TAGS: usize = 3;
/// Words shorter than this are mostly grammar.
const MIN_BYTES: usize = 4;

/// The fake tagger. It proposes `word:<a frequent word>` for up to three words, the most frequent first. If a word is a
/// level of a tag in use, it proposes that tag instead.
#[derive(Debug)]
pub struct FakeTagger {
    model: ModelName,
    trouble: Trouble,
}

impl FakeTagger {
    /// A tagger without trouble.
    pub fn new(settings: FakeSettings) -> Self {
        Self { model: ModelName::new("fake", settings.model), trouble: Trouble::new(settings.latency) }
    }

    /// A tagger whose calls all fail with `kind`.
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
}

impl Default for FakeTagger {
    fn default() -> Self {
        Self::new(FakeSettings::default())
    }
}

#[async_trait]
impl Tagger for FakeTagger {
    fn model(&self) -> &ModelName {
        &self.model
    }

    fn origin(&self) -> TagOrigin {
        TagOrigin::Rule
    }

    fn version(&self) -> &str {
        "words-1"
    }

    async fn extract_within(
        &self,
        texts: &[String],
        ontology: &KnownTags,
        _calls: &dyn Calls,
    ) -> Result<Vec<Vec<TagSuggestion>>, ProviderError> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        self.trouble.meet(&self.model, texts).await?;
        Ok(texts.iter().map(|text| tags(text, &ontology.tags)).collect())
    }
}

fn tags(text: &str, ontology: &[KnownTag]) -> Vec<TagSuggestion> {
    let mut counts: HashMap<String, u32> = HashMap::new();
    for word in
        words(text).filter(|word| word.len() >= MIN_BYTES && word.bytes().all(|b| b.is_ascii_alphanumeric()))
    {
        *counts.entry(word).or_default() += 1;
    }
    let mut counts: Vec<(String, u32)> = counts.into_iter().collect();
    counts.sort_by_cached_key(|(word, count)| (Reverse(*count), word.clone()));
    let mut tags: Vec<TagSuggestion> = Vec::new();
    for (word, _) in counts {
        let in_use = ontology.iter().map(|tag| &tag.path).find(|tag| tag.levels().any(|level| level == word));
        // A word that is too long for a tag is skipped.
        let Some(path) = in_use.cloned().or_else(|| format!("word:{word}").parse().ok()) else { continue };
        if tags.len() < MAX_TAGS && !tags.iter().any(|tag| tag.path == path) {
            tags.push(TagSuggestion { path, confidence: None });
        }
    }
    tags
}

#[cfg(test)]
mod tests {
    use htm_core::tag::TagPath;

    use super::*;

    #[test]
    fn frequent_words_and_tags_in_use() {
        let ontology = ["animal:cats".parse::<TagPath>().unwrap().into()];
        let tags = tags("Cats like fish. Fish, fish! Cats and dogs play.", &ontology);
        let paths: Vec<&str> = tags.iter().map(|tag| tag.path.as_str()).collect();
        assert_eq!(paths, ["word:fish", "animal:cats", "word:dogs"]);
    }
}
