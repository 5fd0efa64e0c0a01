//! The choice of the tags in use that a language model is shown: those nearest to the call's texts, and the top of the
//! tree.
//!
//! Nearness is the cosine of two embeddings: that of a text, and that of a tag's words and description. The vectors of
//! tags are kept in the process. A call embeds a bounded number of missing ones, starting with tags that share words
//! with the texts. A call therefore makes one request, whatever the ontology's size. The vectors of a large ontology
//! accumulate over the first calls.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use htm_core::TokenEncoding;
use htm_core::error::chain;
use htm_core::provider::{Embedder, ProviderError, Purpose};
use htm_core::tag::{KnownTag, TagPath};
use moka::sync::Cache;

use crate::governed::Governed;
use crate::in_use::InUse;

/// The most tags that are compared with the texts of a call.
const COMPARED: usize = 20_000;
/// The most tags that a call embeds.
const NEW_A_CALL: usize = 512;
/// The characters of a text that are compared: its beginning shows the topic.
const TEXT_CHARS: usize = 1_000;
/// The size of the vector cache in bytes: 40,000 vectors of 384 dimensions.
const KEPT_BYTES: u64 = 64 << 20;
/// The divisor of the budget that gives the share of the top of the tree.
const TOP_SHARE: usize = 3;
/// The divisor of the budget that gives the share of descriptions.
const ABOUT_SHARE: usize = 4;
/// The most characters of a description that are shown.
const ABOUT_CHARS: usize = 200;

/// Chooses tags in use by their relevance for texts.
pub struct TagSelection {
    embedder: Option<Arc<dyn Embedder>>,
    governed: Option<Governed>,
    /// By the embedded text, since a tag's description differs between namespaces.
    vectors: Cache<String, Arc<[f32]>>,
    budget_tokens: usize,
    encoding: TokenEncoding,
}

impl TagSelection {
    /// Chooses tags up to `budget_tokens` in all. Without an embedder, chooses the top of the tree, then the most used.
    pub fn new(embedder: Option<Arc<dyn Embedder>>, budget_tokens: usize, encoding: TokenEncoding) -> Self {
        let weight = |words: &String, vector: &Arc<[f32]>| (words.len() + 4 * vector.len()) as u32;
        let vectors = Cache::builder().weigher(weight).max_capacity(KEPT_BYTES).build();
        Self { embedder, governed: None, vectors, budget_tokens, encoding }
    }

    /// Calls the embedder within its provider's limits.
    #[must_use]
    pub fn governed(mut self, governed: Governed) -> Self {
        self.governed = Some(governed);
        self
    }

    /// The tags to show for `texts`: the nearest, then the top of the tree, then the most used. The first ones have
    /// their descriptions. If all tags fit, they are shown by use, and nothing is embedded.
    pub(crate) async fn choose(&self, ontology: &InUse, texts: &[String]) -> Vec<KnownTag> {
        let by_use = || ontology.tags.iter().map(|tag| tag.path.clone());
        let mut all = Shown::new(self);
        if self.budget_tokens == 0 || all.fill(by_use()) {
            all.describe(&ontology.about);
            return all.tags;
        }
        let nearest = self.nearest(ontology, texts).await.unwrap_or_else(|error| {
            tracing::warn!(code = error.code(), error = %chain(&error), "the model is shown only the top of the ontology");
            Vec::new()
        });
        let mut top = Shown::new(self);
        top.left /= TOP_SHARE;
        top.fill(ontology.top());
        let about = if ontology.about.is_empty() { 0 } else { self.budget_tokens / ABOUT_SHARE };
        let mut shown = Shown::new(self);
        shown.left -= top.spent + about;
        shown.fill(nearest.into_iter().map(|place| ontology.tags[place].path.clone()));
        shown.left += top.spent;
        shown.fill(top.tags.into_iter().map(|tag| tag.path));
        shown.left += about;
        shown.describe(&ontology.about);
        shown.fill(by_use());
        shown.tags
    }

    /// The places of the nearest tags, each text in turn.
    async fn nearest(&self, ontology: &InUse, texts: &[String]) -> Result<Vec<usize>, ProviderError> {
        let Some(embedder) = &self.embedder else { return Ok(Vec::new()) };
        let likeliest = ontology.likeliest(texts);
        let compared = &likeliest[..likeliest.len().min(COMPARED)];
        let mut known: Vec<(usize, Arc<[f32]>)> = Vec::with_capacity(compared.len());
        let mut lacking: Vec<usize> = Vec::new();
        for place in compared {
            match self.vectors.get(&ontology.tags[*place].words()) {
                Some(vector) => known.push((*place, vector)),
                None if lacking.len() < NEW_A_CALL => lacking.push(*place),
                None => {}
            }
        }
        let beginnings = texts.iter().map(|text| text.chars().take(TEXT_CHARS).collect());
        let named = lacking.iter().map(|place| ontology.tags[*place].words());
        let inputs: Vec<String> = beginnings.chain(named).collect();
        let embedded = match &self.governed {
            Some(governed) => governed.embed(embedder.as_ref(), &inputs).await?,
            None => embedder.embed(&inputs, Purpose::Document).await?,
        };
        let mut vectors = embedded.into_iter().map(|embedding| Arc::<[f32]>::from(embedding.vector));
        let texts: Vec<Arc<[f32]>> = vectors.by_ref().take(texts.len()).collect();
        for (place, vector) in lacking.into_iter().zip(vectors) {
            self.vectors.insert(ontology.tags[place].words(), vector.clone());
            known.push((place, vector));
        }
        // On a blocking thread, so that the computation delays no task of the worker.
        let ranked = tokio::task::spawn_blocking(move || in_turn(&known, &texts)).await;
        Ok(ranked.unwrap_or_default())
    }
}

/// The tags that a model is shown.
struct Shown {
    tags: Vec<KnownTag>,
    known: HashSet<TagPath>,
    encoding: TokenEncoding,
    left: usize,
    spent: usize,
}

impl Shown {
    fn new(relevance: &TagSelection) -> Self {
        let (encoding, left) = (relevance.encoding, relevance.budget_tokens);
        Self { tags: Vec::new(), known: HashSet::new(), encoding, left, spent: 0 }
    }

    /// Adds tags until one does not fit. Returns whether all did.
    fn fill(&mut self, paths: impl Iterator<Item = TagPath>) -> bool {
        for path in paths {
            if self.known.contains(&path) {
                continue;
            }
            let tokens = self.encoding.count(&alone(&path));
            if tokens > self.left {
                return false;
            }
            self.left -= tokens;
            self.spent += tokens;
            self.known.insert(path.clone());
            self.tags.push(path.into());
        }
        true
    }

    /// Adds descriptions to tags, in order, as far as there is room.
    fn describe(&mut self, about: &HashMap<TagPath, String>) {
        for tag in &mut self.tags {
            let Some(text) = about.get(&tag.path) else { continue };
            let text: String = text.chars().take(ABOUT_CHARS).collect();
            let with = format!("{{\"tag\":\"{}\",\"about\":\"{text}\"}},", tag.path);
            let tokens = self.encoding.count(&with).saturating_sub(self.encoding.count(&alone(&tag.path)));
            if tokens <= self.left {
                self.left -= tokens;
                self.spent += tokens;
                tag.description = Some(text);
            }
        }
    }
}

/// A tag in the JSON of the prompt.
fn alone(path: &TagPath) -> String {
    format!("\"{path}\",")
}

/// The nearest tag of each text, then the second-nearest of each, and so on. At most 500 of each text: more are never
/// shown.
fn in_turn(tags: &[(usize, Arc<[f32]>)], texts: &[Arc<[f32]>]) -> Vec<usize> {
    const OF_EACH: usize = 500;
    let of_text = |text: &Arc<[f32]>| {
        let mut by_nearness: Vec<(f32, usize)> =
            tags.iter().map(|(place, tag)| (dot(tag, text), *place)).collect();
        let order = |a: &(f32, usize), b: &(f32, usize)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
        if by_nearness.len() > OF_EACH {
            by_nearness.select_nth_unstable_by(OF_EACH, order);
            by_nearness.truncate(OF_EACH);
        }
        by_nearness.sort_unstable_by(order);
        by_nearness
    };
    let of_texts: Vec<Vec<(f32, usize)>> = texts.iter().map(of_text).collect();
    let most = of_texts.iter().map(Vec::len).max().unwrap_or_default();
    (0..most)
        .flat_map(|rank| of_texts.iter().filter_map(move |tags| tags.get(rank)))
        .map(|(_, place)| *place)
        .collect()
}

/// The cosine of two vectors of unit length. 0 if their lengths differ, as those of different models do.
fn dot(a: &[f32], b: &[f32]) -> f32 {
    if a.len() != b.len() {
        return 0.0;
    }
    // Eight independent sums, so that the compiler can vectorise the loop.
    let mut sums = [0.0_f32; 8];
    let (a, b) = (a.chunks_exact(8), b.chunks_exact(8));
    let rest: f32 = a.remainder().iter().zip(b.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in a.zip(b) {
        for lane in 0..8 {
            sums[lane] += a[lane] * b[lane];
        }
    }
    sums.iter().sum::<f32>() + rest
}

#[cfg(test)]
mod tests {
    use htm_providers::fake::{self, FakeEmbedder, FakeSettings};

    use super::*;

    fn ontology(tags: usize) -> InUse {
        let common = (0..tags).map(|n| format!("common-{}:topic-{n}", n % 7));
        let rare = ["cooking:fermentation:kimchi".to_owned()];
        InUse::new(common.chain(rare).map(|path| path.parse::<TagPath>().unwrap().into()).collect())
    }

    fn tokens(tags: &[KnownTag]) -> usize {
        let as_json = |tag: &KnownTag| match &tag.description {
            Some(about) => serde_json::json!({ "tag": tag.path, "about": about }).to_string() + ",",
            None => alone(&tag.path),
        };
        tags.iter().map(|tag| TokenEncoding::Estimate.count(&as_json(tag))).sum()
    }

    fn texts() -> Vec<String> {
        vec!["On cooking kimchi by fermentation.".to_owned(), "Nothing of note".to_owned()]
    }

    fn relevance(budget_tokens: usize, embedder: Option<Arc<dyn Embedder>>) -> TagSelection {
        TagSelection::new(embedder, budget_tokens, TokenEncoding::Estimate)
    }

    #[tokio::test]
    async fn a_rare_tag_that_is_near_is_shown_within_the_budget_and_so_is_the_top() {
        let embedder = fake::embedder(FakeSettings { dimensions: 256, ..FakeSettings::default() }).unwrap();
        let shown = relevance(300, Some(embedder)).choose(&ontology(3_000), &texts()).await;
        assert_eq!(shown[0].path.as_str(), "cooking:fermentation:kimchi");
        for root in (0..7).map(|n| format!("common-{n}")) {
            assert!(shown.iter().any(|tag| tag.path.as_str() == root), "{root}: {shown:?}");
        }
        assert!(tokens(&shown) <= 300 && tokens(&shown) > 280, "{}", tokens(&shown));
    }

    #[tokio::test]
    async fn what_fits_is_shown_whole_and_embeds_nothing() {
        let embedder = Arc::new(FakeEmbedder::default());
        let relevance = relevance(1_000, Some(embedder.clone()));
        let ontology = ontology(20);
        assert_eq!(relevance.choose(&ontology, &texts()).await, ontology.tags);
        assert_eq!(embedder.calls(), 0);
    }

    #[tokio::test]
    async fn what_a_tag_is_about_is_compared_and_shown_within_the_budget() {
        let embedder: Arc<dyn Embedder> =
            fake::embedder(FakeSettings { dimensions: 256, ..FakeSettings::default() }).unwrap();
        let mut tags = ontology(3_000).tags;
        for (place, tag) in tags.iter_mut().enumerate().take(3_000) {
            tag.description = Some(format!("Something else, number {place}, at some length"));
        }
        // Its name is unrelated to its description.
        tags[2_999] = KnownTag {
            path: "zzz".parse().unwrap(),
            description: Some("On cooking kimchi by fermentation".into()),
        };
        let ontology = InUse::new(tags.clone());
        let shown = relevance(300, Some(embedder.clone())).choose(&ontology, &texts()).await;
        assert!(shown[..2].contains(&tags[2_999]), "{:?}", &shown[..2]);
        assert!(shown.last().is_some_and(|last| last.description.is_none()));
        assert!(tokens(&shown) <= 300 && tokens(&shown) > 250, "{}", tokens(&shown));
        // All of a few tags are shown. A long description is cut.
        tags.truncate(3);
        tags[0].description = Some("é".repeat(500));
        let shown = relevance(1_000, Some(embedder)).choose(&InUse::new(tags.clone()), &texts()).await;
        assert_eq!(shown[1..], tags[1..]);
        assert_eq!(shown[0].description, Some("é".repeat(ABOUT_CHARS)));
    }

    #[tokio::test]
    async fn without_an_embedding_the_top_of_the_tree_is_shown() {
        let failing = FakeEmbedder::failing(htm_core::provider::ProviderErrorKind::Server);
        for embedder in [None, Some(Arc::new(failing) as Arc<dyn Embedder>)] {
            let shown = relevance(120, embedder).choose(&ontology(3_000), &texts()).await;
            assert_eq!(shown[0].path.as_str(), "common-0");
            assert!(tokens(&shown) <= 120 && shown.len() > 8, "{shown:?}");
        }
    }

    #[tokio::test]
    async fn a_tag_is_embedded_once() {
        let embedder = Arc::new(FakeEmbedder::default());
        let relevance = relevance(50, Some(embedder.clone()));
        let ontology = ontology(100);
        relevance.choose(&ontology, &texts()).await;
        relevance.choose(&ontology, &texts()).await;
        relevance.vectors.run_pending_tasks();
        assert_eq!((embedder.calls(), relevance.vectors.entry_count()), (2, 101));
    }
}
