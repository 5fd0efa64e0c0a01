//! A sentence-embedding model in this process, on the CPU. Tags are the nearest terms of an ontology.
//!
//! The model directory has the form of sentence-transformers: `config.json`, `tokenizer.json` and `model.safetensors`
//! of an encoder, and optional files about its use. `./justw setup` puts all-MiniLM-L6-v2 (384 dimensions, a window of
//! 256 word pieces) at [`default_model_dir`]. [`facts`] returns the properties that these files determine:
//!
//! | file | property |
//! |---|---|
//! | `config.json` | the family, by `model_type`, else `architectures`: BERT (MiniLM, BGE, E5, GTE), DistilBERT, MPNet, RoBERTa (XLM-RoBERTa, multilingual E5) |
//! | `modules.json` | the places of the encoder, the pooling and the normalisation; other parts are an error |
//! | `1_Pooling/config.json` | mean, first token (`cls`) or max; the mean without the file |
//! | `sentence_bert_config.json`, else `tokenizer_config.json` | the window |
//! | `config_sentence_transformers.json` | the prefixes: prompts `document` (`passage`, `corpus`) and `query`, else `default_prompt_name`'s |
//! | `htm.json` | the prefixes of a model that `htm models pull` knows, if the files above name none |
//!
//! Vectors always have unit length. If a model needs prefixes and its files name none, set them: E5 needs `query: ` and
//! `passage: `, BGE (English, v1.5) `Represent this sentence for searching relevant passages: ` before queries.
//! Prefixes are not guessed from the directory's name.
//!
//! A directory of the same form with a pooler and a classifier of one label, such as ms-marco-MiniLM-L-6-v2, makes a
//! [`reranker`].

mod config;
mod cross_encoder;
mod distance;
mod encoder;
mod family;
mod files;
mod kept_terms;
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
mod turns;
mod weights;
mod windows;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use etcetera::base_strategy::{BaseStrategy as _, Xdg};
use htm_core::provider::{
    Embedder, Embedding, ModelName, ProviderError, ProviderErrorKind, Purpose, Reranker, Tagger,
};
use htm_core::{Result, TagRules};
use serde::Serialize;

use model::Model;
use windows::Prefix;

use crate::codes::bad_value;

/// Settings of [`embedder`] and [`tagger`].
#[derive(Clone, Debug)]
pub struct LocalSettings {
    /// The directory of the model. Its last component is the model's name.
    pub model_dir: PathBuf,
    /// Threads for inference. 0: one per processor.
    pub threads: usize,
    /// The prefix of documents. None: as the model's files say.
    pub document_prefix: Option<String>,
    /// The prefix of queries. None: as the model's files say.
    pub query_prefix: Option<String>,
    /// The least similarity, 0 to 1, of a text and a term for the term to become a tag. It is a cosine less the text's
    /// background: half of its mean cosine with all terms.
    pub tag_threshold: f32,
    /// The most tags per text.
    pub max_tags: usize,
    /// The ontology's templates: names of built-in ones (`software`, `research`, `personal`, `business`) or
    /// paths of TOML files of the same form.
    pub templates: Vec<String>,
    /// The rules of tags.
    pub rules: TagRules,
    /// The directory where a tagger keeps the vectors of its templates' terms for the next start. It is made when it is
    /// needed; where it cannot be written, each tagger embeds the terms anew.
    pub cache_dir: PathBuf,
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
            cache_dir: home().unwrap_or_default().join("cache"),
        }
    }
}

/// A model's properties, by its files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ModelFacts {
    /// The kind of encoder, such as `MPNet`.
    pub family: &'static str,
    /// The number of layers.
    pub layers: usize,
    /// The length of the vectors.
    pub dimensions: usize,
    /// The window in tokens, with the two marks around a text.
    pub window: usize,
    /// The pooling of the tokens' vectors: `mean`, `cls` or `max`.
    pub pooling: &'static str,
    /// Whether the files ask for vectors of unit length. HTM normalises in any case.
    pub normalised: bool,
    /// The prefix of documents. None if the files name none.
    pub document_prefix: Option<String>,
    /// The prefix of queries. None if the files name none.
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

/// Reads the properties of the model at `model_dir`, without its weights.
///
/// # Errors
/// As [`embedder`].
pub fn facts(model_dir: &Path) -> Result<ModelFacts> {
    model::read_facts(model_dir)
}

/// Makes the embedder of the model at `settings.model_dir`.
///
/// # Errors
/// `provider_settings_missing_file` and `provider_settings_bad_file` name the file that cannot be read.
/// `provider_settings_unsupported` names the property of the model that HTM cannot run. `provider_settings_value` is
/// for a prefix that takes more than half of the window.
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

/// Makes the tagger, which proposes the nearest terms of the ontology.
///
/// # Errors
/// As [`embedder`], `provider_settings_value` for a threshold outside 0 to 1, and `provider_settings_template` for a
/// template that cannot be used.
pub fn tagger(settings: LocalSettings) -> Result<Arc<dyn Tagger>> {
    Ok(Arc::new(tags::LocalTagger::new(&settings)?))
}

/// Makes the re-ranker of the cross-encoder at `model_dir`. The directory's last component is the model's name. The
/// directory has `config.json`, `tokenizer.json` or `vocab.txt`, and `model.safetensors` with `bert.*`,
/// `bert.pooler.dense.*` and `classifier.*`. `threads` is for inference; 0 is one per processor. The score is the
/// logit.
///
/// # Errors
/// As [`embedder`].
pub fn reranker(model_dir: &Path, threads: usize) -> Result<Arc<dyn Reranker>> {
    Ok(Arc::new(cross_encoder::LocalReranker::load(model_dir, threads)?))
}

/// The directory where `./justw setup` puts the model: `models/all-MiniLM-L6-v2` in HTM's [`home`].
pub fn default_model_dir() -> PathBuf {
    home().unwrap_or_default().join("models").join("all-MiniLM-L6-v2")
}

/// The directory of HTM's files: `HTM_HOME`, else `$XDG_DATA_HOME/htm`, usually `~/.local/share/htm`. That of root is
/// `/var/lib/htm`, because PostgreSQL's user cannot enter root's own home. None for a user without a home.
pub fn home() -> Option<PathBuf> {
    match std::env::var_os("HTM_HOME").filter(|value| !value.is_empty()) {
        Some(home) => Some(home.into()),
        None if is_root() => Some("/var/lib/htm".into()),
        None => Some(Xdg::new().ok()?.data_dir().join("htm")),
    }
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
        if purpose == Purpose::Query && !texts.iter().all(|text| self.model.knows(text)) {
            let message =
                "the model does not know most words of the query, so nothing is near to it by meaning";
            return Err(ProviderError::new(self.model.name(), ProviderErrorKind::BadInput, message));
        }
        self.model.embed(texts.to_vec(), Arc::clone(prefix)).await
    }
}

#[cfg(test)]
mod tests;
