//! A sentence-embedding model in this process, on the CPU; tags are the nearest terms of an ontology.
//!
//! The model directory holds `config.json`, `tokenizer.json` and `model.safetensors` of a BERT encoder such
//! as all-MiniLM-L6-v2 (384 dimensions, 256 word pieces a window), and optionally
//! `sentence_bert_config.json`. `./justw setup` puts it at [`default_model_dir`].
//!
//! A directory of the same kind with a pooler and a classifier of one label, such as ms-marco-MiniLM-L-6-v2, is a
//! [`reranker`].

mod bert;
mod cross_encoder;
mod kernels;
mod matmul;
mod model;
mod nearness;
mod ontology;
mod phrases;
mod tags;
mod weights;
mod windows;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use htm_core::TagRules;
use htm_core::provider::{Embedder, Embedding, ModelName, ProviderError, Purpose, Reranker, TagExtractor};

use crate::SettingsError;
use model::Model;

/// Settings of [`embedder`] and [`tagger`].
#[derive(Clone, Debug)]
pub struct LocalSettings {
    /// The directory of the model; its last component is the model's name.
    pub model_dir: PathBuf,
    /// Threads for inference; 0 for as many as the machine has.
    pub threads: usize,
    /// The least similarity, 0 to 1, of a text and a term for the term to become a tag: a cosine, less what the text has
    /// in common with every term.
    pub tag_threshold: f32,
    /// The most tags a text gets.
    pub max_tags: usize,
    /// The ontology's templates: names of built-in ones (`software`, `research`, `personal`, `business`) or
    /// paths of TOML files of the same form.
    pub templates: Vec<String>,
    /// How tags are written.
    pub rules: TagRules,
}

impl Default for LocalSettings {
    fn default() -> Self {
        Self {
            model_dir: default_model_dir(),
            threads: 0,
            tag_threshold: nearness::DEFAULT_THRESHOLD,
            max_tags: 5,
            templates: crate::templates::built_in().map(str::to_owned).collect(),
            rules: TagRules::default(),
        }
    }
}

/// The embedder of the model at `settings.model_dir`.
///
/// # Errors
/// [`SettingsError::MissingFile`] and [`SettingsError::BadFile`] name the file of the model that cannot be read.
pub fn embedder(settings: LocalSettings) -> Result<Arc<dyn Embedder>, SettingsError> {
    Ok(Arc::new(LocalEmbedder { model: Model::shared(&settings.model_dir, settings.threads)? }))
}

/// The tagger that proposes the nearest terms of the ontology.
///
/// # Errors
/// As [`embedder`]; besides [`SettingsError::Value`] for a threshold outside 0 to 1, and
/// [`SettingsError::Template`] for a template that cannot be used.
pub fn tagger(settings: LocalSettings) -> Result<Arc<dyn TagExtractor>, SettingsError> {
    Ok(Arc::new(tags::LocalTagger::new(&settings)?))
}

/// The cross-encoder of the directory `model_dir`, whose last component is the model's name, on so many threads (0: as
/// many as the machine has): `config.json`, `tokenizer.json` or `vocab.txt`, and `model.safetensors` with `bert.*`,
/// `bert.pooler.dense.*` and `classifier.*`. The score is the logit.
///
/// # Errors
/// As [`embedder`].
pub fn reranker(model_dir: &Path, threads: usize) -> Result<Arc<dyn Reranker>, SettingsError> {
    Ok(Arc::new(cross_encoder::LocalReranker::load(model_dir, threads)?))
}

/// Where `./justw setup` puts the model: `$HTM_HOME/models/all-MiniLM-L6-v2`.
///
/// `HTM_HOME` defaults to `/var/lib/htm` for root (PostgreSQL's user must reach it, and root's home is closed
/// to that one), else to `$XDG_DATA_HOME/htm`, which is `~/.local/share/htm`.
pub fn default_model_dir() -> PathBuf {
    home().join("models").join("all-MiniLM-L6-v2")
}

fn home() -> PathBuf {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(home) = variable("HTM_HOME") {
        return home;
    }
    if is_root() {
        return PathBuf::from("/var/lib/htm");
    }
    let data = variable("XDG_DATA_HOME").filter(|path| path.is_absolute());
    data.or_else(|| variable("HOME").map(|home| home.join(".local/share"))).unwrap_or_default().join("htm")
}

#[cfg(unix)]
fn is_root() -> bool {
    nix::unistd::geteuid().is_root()
}

#[cfg(not(unix))]
fn is_root() -> bool {
    false
}

struct LocalEmbedder {
    model: Arc<Model>,
}

#[async_trait]
impl Embedder for LocalEmbedder {
    fn model(&self) -> &ModelName {
        self.model.name()
    }

    async fn dimensions(&self) -> Result<usize, ProviderError> {
        Ok(self.model.dimensions())
    }

    async fn embed(&self, texts: &[String], _: Purpose) -> Result<Vec<Embedding>, ProviderError> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        self.model.embed(texts.to_vec()).await
    }
}

#[cfg(test)]
mod tests;
