//! A sentence-embedding model in this process, on the CPU; tags are the nearest terms of an ontology.
//!
//! The model directory is as sentence-transformers saves one: `config.json`, `tokenizer.json` and `model.safetensors` of
//! an encoder, and what says how it is used, as far as it is there. `./justw setup` puts all-MiniLM-L6-v2 (384 dimensions,
//! 256 word pieces a window) at [`default_model_dir`]. [`facts`] says what was read:
//!
//! | file | what it decides |
//! |---|---|
//! | `config.json` | the family, by `model_type`, else `architectures`: BERT (MiniLM, BGE, E5, GTE), DistilBERT, MPNet, RoBERTa (XLM-RoBERTa, multilingual E5) |
//! | `modules.json` | where the parts are; one that is no encoder, pooling or normalisation is refused |
//! | `1_Pooling/config.json` | mean, first token (`cls`) or max; the mean without the file |
//! | `sentence_bert_config.json`, else `tokenizer_config.json` | the window |
//! | `config_sentence_transformers.json` | the prefixes: prompts `document` (`passage`, `corpus`) and `query`, else `default_prompt_name`'s |
//!
//! Vectors come at unit length, whether the model asks for it or not. Where the files name no prompts and the model wants
//! some, the settings do: E5 wants `query: ` and `passage: `, BGE (English, v1.5) `Represent this sentence for searching
//! relevant passages: ` before queries. Nothing is guessed by a directory's name.
//!
//! A directory of the same kind with a pooler and a classifier of one label, such as ms-marco-MiniLM-L-6-v2, is a
//! [`reranker`].

mod config;
mod cross_encoder;
mod distance;
mod encoder;
mod family;
mod files;
mod kernels;
mod linear;
mod matmul;
mod model;
mod nearness;
mod ontology;
mod phrases;
mod pooling;
mod sentence;
mod tags;
mod weights;
mod windows;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use htm_core::provider::{Embedder, Embedding, ModelName, ProviderError, Purpose, Reranker, TagExtractor};
use htm_core::{Result, TagRules};
use serde::Serialize;

use model::Model;
use windows::Prefix;

use crate::codes::bad_value;

/// Settings of [`embedder`] and [`tagger`].
#[derive(Clone, Debug)]
pub struct LocalSettings {
    /// The directory of the model; its last component is the model's name.
    pub model_dir: PathBuf,
    /// Threads for inference; 0 for as many as the machine has.
    pub threads: usize,
    /// Put before each document by [`embedder`]; none: what the model's files say.
    pub document_prefix: Option<String>,
    /// Put before each query by [`embedder`]; none: what the model's files say.
    pub query_prefix: Option<String>,
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
            document_prefix: None,
            query_prefix: None,
            tag_threshold: nearness::DEFAULT_THRESHOLD,
            max_tags: 5,
            templates: crate::templates::built_in().map(str::to_owned).collect(),
            rules: TagRules::default(),
        }
    }
}

/// What a model's files say of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ModelFacts {
    /// The kind of encoder, as `MPNet`.
    pub family: &'static str,
    /// Its layers.
    pub layers: usize,
    /// The length of its vectors.
    pub dimensions: usize,
    /// Tokens that it reads at once, with the two marks around a text.
    pub window: usize,
    /// How a text's vector is made of its tokens': `mean`, `cls` or `max`.
    pub pooling: &'static str,
    /// Whether the files ask for vectors of unit length; ours have it always.
    pub normalised: bool,
    /// What is put before a document; none where the files say nothing of it.
    pub document_prefix: Option<String>,
    /// What is put before a query.
    pub query_prefix: Option<String>,
}

impl fmt::Display for ModelFacts {
    /// One line: `BERT, 6 layers, 384 dimensions, 256 tokens at once, pooling mean, no prefix`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { family, layers, dimensions, window, pooling, .. } = self;
        write!(
            f,
            "{family}, {layers} layers, {dimensions} dimensions, {window} tokens at once, pooling {pooling}"
        )?;
        let prefix = |prefix: &Option<String>| prefix.clone().filter(|prefix| !prefix.is_empty());
        match (prefix(&self.document_prefix), prefix(&self.query_prefix)) {
            (None, None) => f.write_str(", no prefix"),
            (document, query) => {
                let [document, query] = [document, query].map(Option::unwrap_or_default);
                write!(f, ", before documents {document:?}, before queries {query:?}")
            }
        }
    }
}

/// What the model at `model_dir` is, by its small files: the weights are not read.
///
/// # Errors
/// As [`embedder`].
pub fn facts(model_dir: &Path) -> Result<ModelFacts> {
    model::read_facts(model_dir)
}

/// The embedder of the model at `settings.model_dir`.
///
/// # Errors
/// `provider_settings_missing_file` and `provider_settings_bad_file` name the file of the model that cannot be read,
/// `provider_settings_unsupported` what of the model cannot be run; `provider_settings_value` is for a prefix that fills the
/// model's window.
pub fn embedder(settings: LocalSettings) -> Result<Arc<dyn Embedder>> {
    let model = Model::shared(&settings.model_dir, settings.threads)?;
    let facts = model.facts();
    let prefix = |setting, set: Option<String>, own: Option<String>| {
        let text = set.or(own).unwrap_or_default();
        model.prefix(&text).map(Arc::new).map_err(|reason| bad_value(setting, reason))
    };
    Ok(Arc::new(LocalEmbedder {
        document: prefix("embedding.document_prefix", settings.document_prefix, facts.document_prefix)?,
        query: prefix("embedding.query_prefix", settings.query_prefix, facts.query_prefix)?,
        model,
    }))
}

/// The tagger that proposes the nearest terms of the ontology.
///
/// # Errors
/// As [`embedder`]; besides `provider_settings_value` for a threshold outside 0 to 1, and
/// `provider_settings_template` for a template that cannot be used.
pub fn tagger(settings: LocalSettings) -> Result<Arc<dyn TagExtractor>> {
    Ok(Arc::new(tags::LocalTagger::new(&settings)?))
}

/// The cross-encoder of the directory `model_dir`, whose last component is the model's name, on so many threads (0: as
/// many as the machine has): `config.json`, `tokenizer.json` or `vocab.txt`, and `model.safetensors` with `bert.*`,
/// `bert.pooler.dense.*` and `classifier.*`. The score is the logit.
///
/// # Errors
/// As [`embedder`].
pub fn reranker(model_dir: &Path, threads: usize) -> Result<Arc<dyn Reranker>> {
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
    document: Arc<Prefix>,
    query: Arc<Prefix>,
}

#[async_trait]
impl Embedder for LocalEmbedder {
    fn model(&self) -> &ModelName {
        self.model.name()
    }

    async fn dimensions(&self) -> Result<usize, ProviderError> {
        Ok(self.model.dimensions())
    }

    async fn embed(&self, texts: &[String], purpose: Purpose) -> Result<Vec<Embedding>, ProviderError> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let prefix = match purpose {
            Purpose::Document => &self.document,
            Purpose::Query => &self.query,
        };
        self.model.embed(texts.to_vec(), Arc::clone(prefix)).await
    }
}

#[cfg(test)]
mod tests;
