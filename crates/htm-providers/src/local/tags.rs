//! The local tagger, without a language model. It proposes the terms of the ontology whose embeddings are nearest to
//! the text's, or else a key phrase of the text.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use htm_core::Result;
use htm_core::provider::{
    Calls, ModelName, ProviderError, ProviderErrorKind, TagOrigin, TagSuggestion, Tagger,
};
use htm_core::tag::{KnownTag, KnownTags, TagPath, TagRules};
use tokio::sync::OnceCell;

use super::LocalSettings;
use super::kept_terms::KeptTerms;
use super::model::Model;
use super::nearness::{self, Naming, Nearness, Terms};
use super::ontology::{self, Term};
use super::phrases::{self, Words};
use crate::codes::bad_value;
use crate::hash::fnv1a;

/// The most tags in use that are compared, the most used first. Each costs two embeddings once.
const MAX_IN_USE: usize = 2_000;
/// The most tags in use whose vectors are kept, across namespaces. A full cache is cleared.
const MAX_CACHED: usize = 20_000;

/// Proposes the nearest terms of its templates and tags in use, else a key phrase.
pub(super) struct LocalTagger {
    model: Arc<Model>,
    cache_dir: PathBuf,
    version: String,
    threshold: f32,
    max_tags: usize,
    rules: TagRules,
    terms: Vec<Term>,
    embedded: OnceCell<Arc<Terms>>,
    /// The vectors of tags in use, by their embedded lines.
    in_use: Mutex<HashMap<String, Arc<[f32]>>>,
}

impl LocalTagger {
    pub(super) fn new(settings: &LocalSettings) -> Result<Self> {
        if !(0.0..=1.0).contains(&settings.tag_threshold) {
            let reason = format!("is {}, not between 0 and 1", settings.tag_threshold);
            return Err(bad_value("tag.threshold", reason));
        }
        let terms = ontology::load(&settings.templates)?;
        let (threshold, max_tags) = (settings.tag_threshold, settings.max_tags);
        let written = (settings.rules.max_depth, &settings.rules.singular);
        let rules = format!("{threshold} {max_tags} {} {written:?} {terms:?}", nearness::RULES);
        Ok(Self {
            model: Model::shared(&settings.model_dir, settings.threads)?,
            cache_dir: settings.cache_dir.clone(),
            version: format!("ontology-{:016x}", fnv1a(rules.as_bytes())),
            threshold,
            max_tags,
            rules: settings.rules.clone(),
            terms,
            embedded: OnceCell::new(),
            in_use: Mutex::default(),
        })
    }

    /// The terms of the templates, embedded at the first call.
    async fn embedded(&self) -> Result<Arc<Terms>, ProviderError> {
        let made = self.embedded.get_or_try_init(async || {
            let lines: Vec<Vec<String>> = self.terms.iter().map(Term::lines).collect();
            let mut vectors = self.vectors_of_terms(lines.concat()).await?.into_iter();
            let mut terms = Terms::new(self.model.dimensions());
            for (term, lines) in self.terms.iter().zip(&lines) {
                terms.push(term.path.clone(), vectors.by_ref().take(lines.len()).flatten());
            }
            Ok(Arc::new(terms))
        });
        made.await.cloned()
    }

    /// The vectors of the terms' lines: those that an earlier tagger has kept, if they are of this model.
    async fn vectors_of_terms(&self, lines: Vec<String>) -> Result<Vec<Vec<f32>>, ProviderError> {
        let kept = Arc::new(KeptTerms::new(&self.cache_dir, &self.model.name().name, &lines));
        let (reader, dimensions) = (Arc::clone(&kept), self.model.dimensions());
        if let Some(vectors) = self.computed(move || reader.read(dimensions)).await? {
            let compared = kept.compared().map(|place| lines[place].clone()).collect();
            if kept.are_of(&vectors, &self.vectors(compared).await?) {
                return Ok(vectors);
            }
        }
        let vectors = Arc::new(self.vectors(lines).await?);
        let written = Arc::clone(&vectors);
        if let Err(error) = self.computed(move || kept.write(&written)).await? {
            tracing::debug!(%error, "the vectors of the ontology are not kept");
        }
        Ok(Arc::unwrap_or_clone(vectors))
    }

    /// The terms and tags of a namespace to compare texts with.
    async fn nearness(&self, ontology: &KnownTags) -> Result<Nearness, ProviderError> {
        let naming = Naming { rules: self.rules.clone(), former: ontology.former.clone() };
        let mut called: Vec<Option<TagPath>> =
            self.terms.iter().map(|term| naming.of(term.path.as_str())).collect();
        let (mut described, mut undescribed) = (Vec::new(), Vec::new());
        let mut used = HashSet::new();
        for tag in ontology.tags.iter().take(MAX_IN_USE) {
            let Some(path) = naming.of(tag.path.as_str()).filter(|path| !used.contains(path)) else {
                continue;
            };
            let mut of_templates =
                self.terms.iter().zip(&called).filter(|(_, called)| called.as_ref() == Some(&path));
            match &tag.description {
                // A description in the namespace replaces the template's.
                Some(about) if of_templates.by_ref().all(|(term, _)| term.description != *about) => {
                    called
                        .iter_mut()
                        .filter(|called| called.as_ref() == Some(&path))
                        .for_each(|it| *it = None);
                    let term = Term { path: path.clone(), description: about.clone() };
                    described.push((path.clone(), term.lines()));
                }
                None if of_templates.next().is_none() => undescribed.push((path.clone(), names(&path))),
                _ => {}
            }
            used.insert(path);
        }
        Ok(Nearness {
            terms: self.embedded().await?,
            called,
            described: self.rows(described).await?,
            undescribed: self.rows(undescribed).await?,
            naming,
            used,
            threshold: self.threshold,
        })
    }

    /// The vectors of tags, each with its lines to embed. Known ones come from the cache.
    async fn rows(&self, mut tags: Vec<(TagPath, Vec<String>)>) -> Result<Terms, ProviderError> {
        tags.sort();
        let cache = || self.in_use.lock().unwrap_or_else(PoisonError::into_inner);
        let mut found: Vec<Option<Arc<[f32]>>> = {
            let cache = cache();
            tags.iter().map(|(_, lines)| cache.get(&lines.join("\n")).cloned()).collect()
        };
        let missing: Vec<usize> = (0..tags.len()).filter(|place| found[*place].is_none()).collect();
        if !missing.is_empty() {
            let lines = missing.iter().flat_map(|place| tags[*place].1.iter().cloned()).collect();
            let mut vectors = self.vectors(lines).await?.into_iter();
            let mut cache = cache();
            if cache.len() + missing.len() > MAX_CACHED {
                cache.clear();
            }
            for place in missing {
                let lines = &tags[place].1;
                let rows: Arc<[f32]> = vectors.by_ref().take(lines.len()).flatten().collect();
                cache.insert(lines.join("\n"), Arc::clone(&rows));
                found[place] = Some(rows);
            }
        }
        let mut terms = Terms::new(self.model.dimensions());
        for ((path, _), rows) in tags.into_iter().zip(found) {
            terms.push(path, rows.iter().flat_map(|rows| rows.iter().copied()));
        }
        Ok(terms)
    }

    async fn vectors(&self, texts: Vec<String>) -> Result<Vec<Vec<f32>>, ProviderError> {
        let embeddings = self.model.embed(texts, Arc::default()).await?;
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

    /// Adds the key phrase, if there is one, of each text without tags in `lists`.
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
impl Tagger for LocalTagger {
    fn model(&self) -> &ModelName {
        self.model.name()
    }

    fn origin(&self) -> TagOrigin {
        TagOrigin::Local
    }

    fn version(&self) -> &str {
        &self.version
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
        let nearness = Arc::new(self.nearness(ontology).await?);
        let vectors = Arc::new(self.vectors(texts.to_vec()).await?);
        let (near, of, max_tags) = (Arc::clone(&nearness), Arc::clone(&vectors), self.max_tags);
        let (written, rules) = (texts.to_vec(), self.rules.clone());
        let tags = move || {
            let words: Vec<Words> = written.iter().map(|text| Words::of(text, &rules)).collect();
            near.tags(&words, &of, max_tags)
        };
        let mut lists = self.computed(tags).await?;
        for (text, tags) in texts.iter().zip(&mut lists) {
            // Its embedding is near to some term all the same: "see you" to gratitude.
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

/// The embedded lines of a tag without a description: its path, and its last level.
fn names(path: &TagPath) -> Vec<String> {
    let words = |path: TagPath| KnownTag::from(path).words();
    vec![words(path.clone()), path.leaf().replace('-', " ")]
}
