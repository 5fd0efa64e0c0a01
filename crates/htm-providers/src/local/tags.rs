//! Tags without a language model: the terms of the ontology whose embedding is nearest to the text's.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use async_trait::async_trait;
use htm_core::provider::{
    ModelName, ProviderError, ProviderErrorKind, TagExtractor, TagOrigin, TagSuggestion,
};
use htm_core::tag::TagPath;

use super::LocalSettings;
use super::model::Model;
use super::ontology::{self, Term};
use crate::SettingsError;
use crate::hash::fnv1a;

/// The cosine similarity from which a term of all-MiniLM-L6-v2 is more often right than wrong, on the
/// sentences of `tests::tags_of_plain_sentences`.
pub(super) const DEFAULT_THRESHOLD: f32 = 0.28;
/// A term this much below the best one is about something else.
const MARGIN: f32 = 0.12;
/// What a tag in use is ahead of a term that nobody has used, in the order only.
const IN_USE: f32 = 0.02;
/// The most tags in use that are compared, the most used first: each costs an embedding once.
const MAX_IN_USE: usize = 2_000;
/// Vectors of tags in use that are kept, across namespaces; beyond, all are dropped and made anew.
const MAX_CACHED: usize = 20_000;

/// Proposes the nearest terms of its templates and of the tags in use.
pub(super) struct LocalTagger {
    model: Arc<Model>,
    version: String,
    threshold: f32,
    max_tags: usize,
    terms: Vec<Term>,
    term_vectors: OnceLock<Vec<Arc<[f32]>>>,
    in_use: Mutex<HashMap<TagPath, Arc<[f32]>>>,
}

type Known = (TagPath, Arc<[f32]>, f32);

impl LocalTagger {
    pub(super) fn new(settings: &LocalSettings) -> Result<Self, SettingsError> {
        if !(0.0..=1.0).contains(&settings.tag_threshold) {
            let reason = format!("is {}, not between 0 and 1", settings.tag_threshold);
            return Err(SettingsError::Value { setting: "local.tag_threshold", reason });
        }
        let terms = ontology::load(&settings.templates)?;
        let rules = format!("{} {} {} {terms:?}", settings.tag_threshold, settings.max_tags, MARGIN);
        Ok(Self {
            model: Model::shared(&settings.model_dir, settings.threads)?,
            version: format!("ontology-{:016x}", fnv1a(rules.as_bytes())),
            threshold: settings.tag_threshold,
            max_tags: settings.max_tags,
            terms,
            term_vectors: OnceLock::new(),
            in_use: Mutex::default(),
        })
    }

    /// Every term with its vector: those of the templates, then the tags in use that are none of them.
    async fn known(&self, ontology: &[TagPath]) -> Result<Vec<Known>, ProviderError> {
        let used: HashSet<&TagPath> = ontology.iter().take(MAX_IN_USE).collect();
        if self.term_vectors.get().is_none() {
            let texts = self.terms.iter().map(|term| format!("{}: {}", leaf(&term.path), term.description));
            let vectors = self.vectors(texts.collect()).await?.into_iter().map(Arc::from).collect();
            // Another call may have been first; its vectors are the same.
            let _ = self.term_vectors.set(vectors);
        }
        let vectors = self.term_vectors.get().into_iter().flatten().cloned();
        let mut known: Vec<Known> = self
            .terms
            .iter()
            .zip(vectors)
            .map(|(term, vector)| {
                let ahead = if used.contains(&term.path) { IN_USE } else { 0.0 };
                (term.path.clone(), vector, ahead)
            })
            .collect();
        let described: HashSet<&TagPath> = self.terms.iter().map(|term| &term.path).collect();
        let others: Vec<TagPath> =
            used.into_iter().filter(|path| !described.contains(path)).cloned().collect();
        let vectors = self.in_use_vectors(&others).await?;
        known.extend(others.into_iter().zip(vectors).map(|(path, vector)| (path, vector, IN_USE)));
        Ok(known)
    }

    async fn vectors(&self, texts: Vec<String>) -> Result<Vec<Vec<f32>>, ProviderError> {
        let embeddings = self.model.embed(texts).await?;
        Ok(embeddings.into_iter().map(|embedding| embedding.vector).collect())
    }

    async fn in_use_vectors(&self, paths: &[TagPath]) -> Result<Vec<Arc<[f32]>>, ProviderError> {
        let cache = || self.in_use.lock().unwrap_or_else(PoisonError::into_inner);
        let mut found: HashMap<&TagPath, Arc<[f32]>> = {
            let cache = cache();
            paths.iter().filter_map(|path| Some((path, Arc::clone(cache.get(path)?)))).collect()
        };
        let missing: Vec<&TagPath> = paths.iter().filter(|path| !found.contains_key(path)).collect();
        if !missing.is_empty() {
            let texts = missing.iter().map(|path| path.as_str().replace([':', '-'], " ")).collect();
            let vectors = self.vectors(texts).await?;
            let mut cache = cache();
            if cache.len() + missing.len() > MAX_CACHED {
                cache.clear();
            }
            for (path, vector) in missing.into_iter().zip(vectors) {
                let vector: Arc<[f32]> = vector.into();
                cache.insert(path.clone(), Arc::clone(&vector));
                found.insert(path, vector);
            }
        }
        Ok(paths.iter().filter_map(|path| found.remove(path)).collect())
    }
}

#[async_trait]
impl TagExtractor for LocalTagger {
    fn model(&self) -> &ModelName {
        self.model.name()
    }

    fn origin(&self) -> TagOrigin {
        TagOrigin::Local
    }

    fn version(&self) -> &str {
        &self.version
    }

    async fn extract(
        &self,
        texts: &[String],
        ontology: &[TagPath],
    ) -> Result<Vec<Vec<TagSuggestion>>, ProviderError> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let known = self.known(ontology).await?;
        let vectors = self.vectors(texts.to_vec()).await?;
        let (threshold, max_tags) = (self.threshold, self.max_tags);
        let chosen = tokio::task::spawn_blocking(move || {
            vectors.iter().map(|vector| nearest(vector, &known, threshold, max_tags)).collect()
        });
        chosen.await.map_err(|error| {
            ProviderError::new(
                self.model.name(),
                ProviderErrorKind::Server,
                format!("tagging ended early: {error}"),
            )
        })
    }
}

fn leaf(path: &TagPath) -> String {
    path.as_str().rsplit(':').next().unwrap_or_default().replace('-', " ")
}

/// The nearest of `known` to `vector`, best first: at least `threshold` near, within [`MARGIN`] of the best,
/// and without ancestors of what is chosen.
fn nearest(vector: &[f32], known: &[Known], threshold: f32, max_tags: usize) -> Vec<TagSuggestion> {
    let mut near: Vec<(f32, f32, &TagPath)> = known
        .iter()
        .map(|(path, term, ahead)| {
            (vector.iter().zip(term.iter()).map(|(a, b)| a * b).sum::<f32>(), *ahead, path)
        })
        .filter(|(similarity, _, _)| *similarity >= threshold)
        .collect();
    near.sort_by(|a, b| (b.0 + b.1).total_cmp(&(a.0 + a.1)).then_with(|| a.2.cmp(b.2)));
    let best = near.iter().map(|(similarity, _, _)| *similarity).fold(0.0, f32::max);
    let mut chosen: Vec<TagSuggestion> = Vec::new();
    for (similarity, _, path) in near.into_iter().filter(|(similarity, _, _)| *similarity >= best - MARGIN) {
        if chosen.iter().any(|tag| *path == tag.path || is_ancestor(path, &tag.path)) {
            continue;
        }
        chosen.retain(|tag| !is_ancestor(&tag.path, path));
        if chosen.len() >= max_tags {
            break;
        }
        chosen.push(TagSuggestion { path: path.clone(), confidence: Some(similarity.clamp(0.0, 1.0)) });
    }
    chosen
}

fn is_ancestor(ancestor: &TagPath, path: &TagPath) -> bool {
    path.as_str().strip_prefix(ancestor.as_str()).is_some_and(|rest| rest.starts_with(':'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(terms: &[(&str, [f32; 2], f32)]) -> Vec<Known> {
        terms
            .iter()
            .map(|(path, vector, ahead)| (path.parse().unwrap(), Arc::from(*vector), *ahead))
            .collect()
    }

    fn paths(tags: Vec<TagSuggestion>) -> Vec<String> {
        tags.into_iter().map(|tag| tag.path.into()).collect()
    }

    #[test]
    fn ancestors_give_way_and_far_terms_stay_out() {
        let terms = known(&[
            ("data", [0.9, 0.0], 0.0),
            ("data:sql", [0.88, 0.0], 0.0),
            ("data-x", [0.86, 0.0], 0.0),
            ("data-x", [0.8, 0.0], 0.0),
            ("far", [0.5, 0.0], 0.0),
        ]);
        assert_eq!(paths(nearest(&[1.0, 0.0], &terms, 0.3, 5)), ["data:sql", "data-x"]);
        assert_eq!(paths(nearest(&[1.0, 0.0], &terms, 0.3, 1)), ["data:sql"]);
        assert!(nearest(&[0.0, 1.0], &terms, 0.3, 5).is_empty());
    }

    #[test]
    fn a_tag_in_use_wins_a_near_tie() {
        let terms = known(&[("new", [0.81, 0.0], 0.0), ("used", [0.80, 0.0], IN_USE)]);
        let tags = nearest(&[1.0, 0.0], &terms, 0.3, 1);
        assert_eq!((tags[0].path.as_str(), tags[0].confidence), ("used", Some(0.80)));
    }
}
