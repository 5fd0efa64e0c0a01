//! Tags without a language model: the terms of the ontology whose embedding is nearest to the text's; where none is
//! near, a phrase of the text itself.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use htm_core::provider::{
    ModelName, ProviderError, ProviderErrorKind, TagExtractor, TagOrigin, TagSuggestion,
};
use htm_core::tag::TagPath;
use tokio::sync::OnceCell;

use super::LocalSettings;
use super::model::Model;
use super::nearness::{self, Nearness, Terms};
use super::ontology::{self, Term};
use super::phrases;
use crate::SettingsError;
use crate::hash::fnv1a;

/// The most tags in use that are compared, the most used first: each costs two embeddings once.
const MAX_IN_USE: usize = 2_000;
/// Tags in use whose vectors are kept, across namespaces; beyond, all are dropped and made anew.
const MAX_CACHED: usize = 20_000;

/// Proposes the nearest terms of its templates and of the tags in use, else a key phrase.
pub(super) struct LocalTagger {
    model: Arc<Model>,
    version: String,
    threshold: f32,
    max_tags: usize,
    terms: Vec<Term>,
    described: OnceCell<Arc<Terms>>,
    in_use: Mutex<HashMap<TagPath, Arc<[f32]>>>,
}

impl LocalTagger {
    pub(super) fn new(settings: &LocalSettings) -> Result<Self, SettingsError> {
        if !(0.0..=1.0).contains(&settings.tag_threshold) {
            let reason = format!("is {}, not between 0 and 1", settings.tag_threshold);
            return Err(SettingsError::Value { setting: "local.tag_threshold", reason });
        }
        let terms = ontology::load(&settings.templates)?;
        let rules = format!("{} {} {} {terms:?}", settings.tag_threshold, settings.max_tags, nearness::RULES);
        Ok(Self {
            model: Model::shared(&settings.model_dir, settings.threads)?,
            version: format!("ontology-{:016x}", fnv1a(rules.as_bytes())),
            threshold: settings.tag_threshold,
            max_tags: settings.max_tags,
            terms,
            described: OnceCell::new(),
            in_use: Mutex::default(),
        })
    }

    /// The terms of the templates, embedded at the first call.
    async fn described(&self) -> Result<Arc<Terms>, ProviderError> {
        let made = self.described.get_or_try_init(async || {
            let lines: Vec<Vec<String>> = self.terms.iter().map(Term::lines).collect();
            let mut vectors = self.vectors(lines.concat()).await?.into_iter();
            let mut terms = Terms::new(self.model.dimensions());
            for (term, lines) in self.terms.iter().zip(&lines) {
                terms.push(term.path.clone(), vectors.by_ref().take(lines.len()).flatten());
            }
            Ok(Arc::new(terms))
        });
        made.await.cloned()
    }

    /// The tags in use that no template describes.
    async fn undescribed(&self, used: &HashSet<TagPath>) -> Result<Terms, ProviderError> {
        let described: HashSet<&TagPath> = self.terms.iter().map(|term| &term.path).collect();
        let mut paths: Vec<&TagPath> = used.iter().filter(|path| !described.contains(path)).collect();
        paths.sort();
        let cache = || self.in_use.lock().unwrap_or_else(PoisonError::into_inner);
        let mut found: HashMap<&TagPath, Arc<[f32]>> = {
            let cache = cache();
            paths.iter().filter_map(|path| Some((*path, Arc::clone(cache.get(*path)?)))).collect()
        };
        let missing: Vec<&TagPath> = paths.iter().copied().filter(|path| !found.contains_key(path)).collect();
        if !missing.is_empty() {
            let words = |text: &str| text.replace([':', '-'], " ");
            let lines = missing.iter().flat_map(|path| [words(path.as_str()), words(path.leaf())]);
            let vectors = self.vectors(lines.collect()).await?;
            let mut cache = cache();
            if cache.len() + missing.len() > MAX_CACHED {
                cache.clear();
            }
            for (path, two) in missing.into_iter().zip(vectors.chunks_exact(2)) {
                let vector: Arc<[f32]> = two.concat().into();
                cache.insert(path.clone(), Arc::clone(&vector));
                found.insert(path, vector);
            }
        }
        let mut terms = Terms::new(self.model.dimensions());
        for path in paths {
            terms.push(path.clone(), found.get(path).into_iter().flat_map(|vector| vector.iter().copied()));
        }
        Ok(terms)
    }

    async fn vectors(&self, texts: Vec<String>) -> Result<Vec<Vec<f32>>, ProviderError> {
        let embeddings = self.model.embed(texts).await?;
        Ok(embeddings.into_iter().map(|embedding| embedding.vector).collect())
    }

    async fn computed<T: Send + 'static>(
        &self,
        compute: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, ProviderError> {
        tokio::task::spawn_blocking(compute).await.map_err(|error| {
            let message = format!("tagging ended early: {error}");
            ProviderError::new(self.model.name(), ProviderErrorKind::Server, message)
        })
    }

    /// Gives each text of `lists` without a tag its key phrase, if it has one.
    async fn name_the_rest(
        &self,
        texts: &[String],
        vectors: Arc<Vec<Vec<f32>>>,
        nearness: Arc<Nearness>,
        lists: &mut [Vec<TagSuggestion>],
    ) -> Result<(), ProviderError> {
        let named: Vec<(usize, Vec<String>)> = lists
            .iter()
            .enumerate()
            .filter(|(_, tags)| tags.is_empty())
            .map(|(index, _)| (index, phrases::candidates(&texts[index])))
            .filter(|(_, phrases)| !phrases.is_empty())
            .collect();
        if named.is_empty() {
            return Ok(());
        }
        let phrases: Vec<String> = named.iter().flat_map(|(_, phrases)| phrases).cloned().collect();
        let of_phrases = self.vectors(phrases).await?;
        let chosen = self.computed(move || {
            let mut rest = of_phrases.as_slice();
            let choose = |(index, phrases): (usize, Vec<String>)| {
                let (these, after) = rest.split_at(phrases.len());
                rest = after;
                Some((index, nearness.key_phrase(&vectors[index], &phrases, these)?))
            };
            named.into_iter().filter_map(choose).collect::<Vec<_>>()
        });
        for (index, tag) in chosen.await? {
            lists[index].push(tag);
        }
        Ok(())
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
        let used: HashSet<TagPath> = ontology.iter().take(MAX_IN_USE).cloned().collect();
        let (described, undescribed) = (self.described().await?, self.undescribed(&used).await?);
        let nearness = Arc::new(Nearness { described, undescribed, used, threshold: self.threshold });
        let vectors = Arc::new(self.vectors(texts.to_vec()).await?);
        let (near, of, max_tags) = (Arc::clone(&nearness), Arc::clone(&vectors), self.max_tags);
        let mut lists = self.computed(move || near.tags(&of, max_tags)).await?;
        for (text, tags) in texts.iter().zip(&mut lists) {
            // Its embedding is near to something all the same: "see you" to gratitude.
            if phrases::is_small_talk(text) {
                tags.clear();
            }
        }
        if self.max_tags > 0 {
            self.name_the_rest(texts, vectors, nearness, &mut lists).await?;
        }
        Ok(lists)
    }
}
