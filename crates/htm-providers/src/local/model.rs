//! The loaded model. It turns texts into unit vectors, on its own threads.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};

use htm_core::Result;
use htm_core::provider::{Embedding, ModelName, ProviderError, ProviderErrorKind};
use tokio_util::sync::CancellationToken;

use super::ModelFacts;
use super::config::Config;
use super::encoder::Encoder;
use super::sentence::{Modules, Sentence};
use super::turns::Turns;
use super::weights::Weights;
use super::windows::{Prefix, Window, Windows, batches};
use crate::codes::bad_value;
use crate::pool::pool;

/// The most tokens that a thread processes at once: enough to make each product efficient, and few enough to keep the
/// intermediate results in the core's cache. `bench` on 2 cores of an EPYC: 256 gives 397 texts/s, 512 gives 432, 1,024
/// gives 435.
pub(super) const BATCH_TOKENS: usize = 512;

/// The batches of a thread until other long calls get their turn.
const BATCHES_A_TURN: usize = 4;

/// The most bytes of texts that are tokenized beside the model's threads: some 512 tokens.
const FEW_BYTES: usize = 4 * BATCH_TOKENS;

/// The models of this process, by directory and threads.
type Loaded = Mutex<HashMap<(PathBuf, usize), Weak<Model>>>;

/// A sentence-embedding model in memory.
pub(super) struct Model {
    name: ModelName,
    windows: Windows,
    sentence: Sentence,
    encoder: Encoder,
    turns: Turns,
}

impl Model {
    /// The model of `dir`, shared within this process.
    pub(super) fn shared(dir: &Path, threads: usize) -> Result<Arc<Self>> {
        static LOADED: LazyLock<Loaded> = LazyLock::new(Mutex::default);
        let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (dir.to_owned(), threads);
        if let Some(model) = loaded.get(&key).and_then(Weak::upgrade) {
            return Ok(model);
        }
        let model = Arc::new(Self::load(dir, threads)?);
        loaded.insert(key, Arc::downgrade(&model));
        Ok(model)
    }

    /// The model's name.
    pub(super) fn name(&self) -> &ModelName {
        &self.name
    }

    /// The length of the vectors.
    pub(super) fn dimensions(&self) -> usize {
        self.encoder.config.hidden_size
    }

    /// The model's properties.
    pub(super) fn facts(&self) -> ModelFacts {
        facts(&self.encoder.config, &self.sentence)
    }

    /// Makes a prefix of `text`. An error if it is too long for the model.
    pub(super) fn prefix(&self, text: &str) -> Result<Prefix, String> {
        self.windows.prefix(text)
    }

    /// Whether the model knows at least half of a text's words.
    pub(super) fn knows(&self, text: &str) -> bool {
        self.windows.knows(text)
    }

    /// As [`embed_blocking`](Self::embed_blocking), on a blocking thread of tokio. It ends early when this future is dropped.
    pub(super) async fn embed(
        self: &Arc<Self>,
        texts: Vec<String>,
        prefix: Arc<Prefix>,
    ) -> Result<Vec<Embedding>, ProviderError> {
        let model = Arc::clone(self);
        let dropped = CancellationToken::new();
        let _guard = dropped.clone().drop_guard();
        let joined =
            tokio::task::spawn_blocking(move || model.embed_blocking(&texts, &prefix, &dropped)).await;
        joined.unwrap_or_else(|error| Err(self.failed(format!("inference ended early: {error}"))))
    }

    /// Embeds texts. A text longer than the window gets the mean of its windows, weighted by their tokens. Nothing is
    /// cut off.
    pub(super) fn embed_blocking(
        &self,
        texts: &[String],
        prefix: &Prefix,
        cancelled: &CancellationToken,
    ) -> Result<Vec<Embedding>, ProviderError> {
        let windows = self.windows(texts, prefix).map_err(|error| self.failed(error))?;
        let total: usize = windows.iter().map(|window| window.tokens.len()).sum();
        let threads = self.turns.threads();
        // The same number of batches for each thread. With 5 batches for 2 threads, one would idle a fifth of the time.
        let rounds = total.div_ceil(threads * BATCH_TOKENS).max(1);
        let longest = windows.iter().map(|window| window.tokens.len()).max().unwrap_or(0);
        let budget = total.div_ceil(threads * rounds) + longest / 2;
        let mut pooled: Vec<Vec<Vec<f32>>> = Vec::new();
        for turn in batches(&windows, budget).chunks(threads * BATCHES_A_TURN) {
            if cancelled.is_cancelled() {
                return Err(self.failed("nobody waits for these texts any more"));
            }
            pooled.extend(match total <= BATCH_TOKENS {
                true => self.turns.short(turn, |run| self.run(run)),
                false => self.turns.long(turn, |run| self.run(run)),
            });
        }
        let mut parts: Vec<Vec<(Vec<f32>, usize)>> = vec![Vec::new(); texts.len()];
        for (window, vector) in windows.iter().zip(pooled.into_iter().flatten()) {
            parts[window.text].push((vector, window.tokens.len()));
        }
        parts.iter().map(|parts| pool(parts).ok_or_else(|| self.failed("a vector has length zero"))).collect()
    }

    fn load(dir: &Path, threads: usize) -> Result<Self> {
        let modules = Modules::load(dir)?;
        let config = Config::load(&modules.encoder)?;
        let sentence = Sentence::load(dir, &modules, &config)?;
        let windows = Windows::load(&modules.encoder, &config, &sentence)?;
        let weights = Weights::load(&modules.encoder, &config)?;
        let name =
            dir.file_name().map_or_else(|| "model".to_owned(), |name| name.to_string_lossy().into_owned());
        let turns =
            Turns::new(threads).map_err(|error| bad_value("the local model's number of threads", error))?;
        let name = ModelName::new("local", name);
        Ok(Self { name, windows, sentence, encoder: Encoder { config, weights }, turns })
    }

    /// Splits texts into windows, in order. Few are not worth a wait for the threads.
    fn windows(&self, texts: &[String], prefix: &Prefix) -> Result<Vec<Window>, String> {
        let texts: Vec<(usize, &String)> = texts.iter().enumerate().collect();
        let split = |(place, text): &(usize, &String)| self.windows.split(*place, text, prefix);
        let bytes: usize = texts.iter().map(|(_, text)| text.len()).sum();
        let split: Vec<_> = match bytes <= FEW_BYTES {
            true => texts.iter().map(split).collect(),
            false => self.turns.long(&texts, split),
        };
        Ok(split.into_iter().collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
    }

    fn run(&self, windows: &[Window]) -> Vec<Vec<f32>> {
        let sequences: Vec<&[u32]> = windows.iter().map(|window| window.tokens.as_slice()).collect();
        self.encoder.pooled(&sequences, self.sentence.pooling)
    }

    fn failed(&self, message: impl Into<String>) -> ProviderError {
        ProviderError::new(&self.name, ProviderErrorKind::Server, message)
    }
}

/// Reads the properties of the model of `dir`, without its weights.
pub(super) fn read_facts(dir: &Path) -> Result<ModelFacts> {
    let modules = Modules::load(dir)?;
    let config = Config::load(&modules.encoder)?;
    Ok(facts(&config, &Sentence::load(dir, &modules, &config)?))
}

fn facts(config: &Config, sentence: &Sentence) -> ModelFacts {
    ModelFacts {
        family: config.family.name(),
        layers: config.layers,
        dimensions: config.hidden_size,
        window: sentence.window,
        pooling: sentence.pooling.name(),
        normalised: sentence.normalised,
        document_prefix: sentence.document_prefix.clone(),
        query_prefix: sentence.query_prefix.clone(),
    }
}
