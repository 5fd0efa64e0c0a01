//! A cross-encoder: a BERT that reads a query and a text together and scores the text as an answer to the query
//! (Nogueira and Cho 2019, "Passage Re-ranking with BERT"). The score is a logit, `classifier(tanh(pooler(vector of
//! [CLS])))`.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use htm_core::Result;
use htm_core::provider::{ModelName, ProviderError, ProviderErrorKind, Reranker};
use rayon::ThreadPool;
use rayon::prelude::*;

use super::config::Config;
use super::encoder::{Encoder, Sequence};
use super::family::Family;
use super::files::{bad, unsupported};
use super::linear::{Finish, Linear};
use super::model::BATCH_TOKENS;
use super::weights::{Tensors, Weights};
use super::windows::Marked;
use crate::codes::bad_value;

/// The re-ranker of a cross-encoder.
pub(super) struct LocalReranker {
    model: Arc<CrossEncoder>,
}

impl LocalReranker {
    /// Reads the model of `dir`.
    pub(super) fn load(dir: &Path, threads: usize) -> Result<Self> {
        Ok(Self { model: Arc::new(CrossEncoder::load(dir, threads)?) })
    }
}

#[async_trait]
impl Reranker for LocalReranker {
    fn model(&self) -> &ModelName {
        &self.model.name
    }

    async fn rerank(&self, query: &str, texts: &[String]) -> Result<Vec<f64>, ProviderError> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let (model, query, texts) = (Arc::clone(&self.model), query.to_owned(), texts.to_vec());
        // If the caller stops waiting, the threads stop after the current batch.
        let call = Call::default();
        let given_up = Arc::clone(&call.given_up);
        let joined = tokio::task::spawn_blocking(move || model.scores(&query, &texts, &given_up)).await;
        let scores = joined.unwrap_or_else(|error| Err(format!("inference ended early: {error}")));
        scores.map_err(|message| ProviderError::new(self.model(), ProviderErrorKind::Server, message))
    }
}

/// A call in progress. Dropping it marks it as given up.
#[derive(Default)]
struct Call {
    given_up: Arc<AtomicBool>,
}

impl Drop for Call {
    fn drop(&mut self) {
        self.given_up.store(true, Ordering::Relaxed);
    }
}

struct CrossEncoder {
    name: ModelName,
    text: Marked,
    bert: Encoder,
    pooler: Linear,
    classifier: Linear,
    threads: ThreadPool,
}

/// A query and a text as one sequence of tokens.
struct Pair {
    /// The index of the text.
    text: usize,
    /// `[CLS]`, query, `[SEP]`, text, `[SEP]`.
    tokens: Vec<u32>,
    /// The number of tokens up to the first `[SEP]`, inclusive.
    first: usize,
}

impl CrossEncoder {
    fn load(dir: &Path, threads: usize) -> Result<Self> {
        let config = Config::load(dir)?;
        let path = dir.join("config.json");
        if config.family != Family::Bert {
            return Err(unsupported(&path, "model_type", config.family.name(), "bert"));
        }
        if config.positions() < 8 || config.token_types < 2 {
            return Err(bad(&path, "max_position_embeddings must be 8 or more, type_vocab_size 2 or more"));
        }
        let mut text = Marked::load(dir, &config)?;
        // A text that contains a mark's name, such as `[SEP]`, must not get the mark.
        text.tokenizer.set_encode_special_tokens(true);
        let tensors = Tensors::open(dir.join("model.safetensors"), &config)?;
        let weights = Weights::of(&tensors, &config)?;
        let width = config.hidden_size;
        let (pooler, classifier) =
            (tensors.linear("pooler.dense", width, width)?, tensors.linear("classifier", width, 1)?);
        let name = dir.file_name().map_or_else(|| "model".into(), |name| name.to_string_lossy().into_owned());
        let threads = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .thread_name(|index| format!("htm-rerank-{index}"))
            .build()
            .map_err(|error| bad_value("the local re-ranker's number of threads", error))?;
        Ok(Self {
            name: ModelName::new("local", name),
            text,
            bert: Encoder { config, weights },
            pooler,
            classifier,
            threads,
        })
    }

    /// A logit for each text. An error if the call is given up meanwhile.
    fn scores(&self, query: &str, texts: &[String], given_up: &AtomicBool) -> Result<Vec<f64>, String> {
        self.threads.install(|| {
            let mut pairs = self.pairs(query, texts)?;
            // Batches of similar length take similar time, so that no thread waits for a long one.
            pairs.sort_by_key(|pair| pair.tokens.len());
            let batches: Vec<&[Pair]> = batches(&pairs);
            let score = |batch| (!given_up.load(Ordering::Relaxed)).then(|| self.score(batch));
            let scored: Option<Vec<Vec<f64>>> = batches.into_par_iter().with_max_len(1).map(score).collect();
            let scored = scored.ok_or("the call was given up")?;
            let mut scores = vec![0.0; texts.len()];
            for (pair, score) in pairs.iter().zip(scored.into_iter().flatten()) {
                scores[pair.text] = score;
            }
            Ok(scores)
        })
    }

    fn pairs(&self, query: &str, texts: &[String]) -> Result<Vec<Pair>, String> {
        let Marked { tokenizer, first, last } = &self.text;
        let encode =
            |inputs: Vec<&str>| tokenizer.encode_batch_fast(inputs, false).map_err(|error| error.to_string());
        let asked = encode(vec![query])?.remove(0);
        let room = self.bert.config.positions() - 3;
        let asked = asked.get_ids();
        // A query takes at most half of the window.
        let asked = &asked[..asked.len().min(room / 2)];
        let encodings = encode(texts.iter().map(String::as_str).collect())?;
        let pair = |(text, encoding): (usize, &tokenizers::Encoding)| {
            let ids = encoding.get_ids();
            let ids = &ids[..ids.len().min(room - asked.len())];
            let tokens = [&[*first], asked, &[*last], ids, &[*last]].concat();
            Pair { text, tokens, first: asked.len() + 2 }
        };
        Ok(encodings.iter().enumerate().map(pair).collect())
    }

    fn score(&self, pairs: &[Pair]) -> Vec<f64> {
        let sequences: Vec<Sequence> =
            pairs.iter().map(|pair| Sequence { tokens: &pair.tokens, first: pair.first }).collect();
        let firsts = self.bert.first_tokens(&sequences).concat();
        let mut pooled = vec![0.0; firsts.len()];
        let mut packed = Vec::new();
        self.pooler.apply(&firsts, &mut pooled, Finish::Bias, &mut packed);
        pooled.iter_mut().for_each(|x| *x = x.tanh());
        let mut logits = vec![0.0; pairs.len()];
        self.classifier.apply(&pooled, &mut logits, Finish::Bias, &mut packed);
        logits.into_iter().map(f64::from).collect()
    }
}

/// Splits pairs into runs of at most [`BATCH_TOKENS`] tokens. A longer pair is a run of its own.
fn batches(pairs: &[Pair]) -> Vec<&[Pair]> {
    let mut tokens = 0;
    let mut ends = Vec::new();
    for (at, pair) in pairs.iter().enumerate() {
        if tokens > 0 && tokens + pair.tokens.len() > BATCH_TOKENS {
            ends.push(at);
            tokens = 0;
        }
        tokens += pair.tokens.len();
    }
    ends.push(pairs.len());
    let starts = std::iter::once(0).chain(ends.iter().copied());
    starts.zip(&ends).map(|(start, end)| &pairs[start..*end]).collect()
}

#[cfg(test)]
mod tests;
