//! The calls of providers, what they cost, and the workers that make them.

use serde::Serialize;

use super::Workload;
use super::constants as c;

const SECONDS_PER_MONTH: f64 = 30.0 * 86_400.0;
const MILLION: f64 = 1e6;

/// Calls of a provider.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Calls {
    /// The number of calls.
    pub calls: u64,
    /// The tokens that are sent and answered.
    pub tokens: u64,
    /// The price of the tokens, in the currency of the price given.
    pub cost: f64,
}

impl Calls {
    fn new(calls: f64, tokens: f64, price: f64) -> Self {
        let cost = (tokens / MILLION * price * 100.0).round() / 100.0;
        Self { calls: calls.ceil() as u64, tokens: tokens.round() as u64, cost }
    }
}

/// The calls of the embedding provider, and of a language model that tags. The local providers have the same calls and
/// cost nothing.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Provider {
    /// Embeddings of all memories, once: an import, or another model.
    pub embed_all: Calls,
    /// Embeddings of the new memories of 30 days.
    pub embed_month: Calls,
    /// Embeddings of the queries of 30 days.
    pub queries_month: Calls,
    /// Tags of all memories by a language model, once.
    pub tag_all: Calls,
    /// Tags of the new memories of 30 days by a language model.
    pub tag_month: Calls,
}

impl Provider {
    pub(super) fn of(workload: &Workload) -> Self {
        let (memories, month) = (workload.memories as f64, workload.writes_per_second * SECONDS_PER_MONTH);
        let queries = workload.recalls_per_second * SECONDS_PER_MONTH;
        let tokens = workload.words * c::TOKENS_PER_WORD;
        let embed = |memories: f64, texts| Calls::new(memories / texts, memories * tokens, workload.price);
        let texts = texts_of_one_namespace(c::TAG_BATCH, workload.namespaces as f64);
        let tag = |memories: f64, texts: f64| {
            let each = tokens + c::TAG_ANSWER_TOKENS + c::TAG_PROMPT_TOKENS / texts;
            Calls::new(memories / texts, memories * each, workload.tag_price)
        };
        Self {
            embed_all: embed(memories, f64::from(workload.batch)),
            embed_month: embed(month, texts_that_wait(workload)),
            queries_month: Calls::new(queries, queries * c::QUERY_WORDS * c::TOKENS_PER_WORD, workload.price),
            tag_all: tag(memories, texts),
            tag_month: tag(month, 1.0),
        }
    }
}

/// The texts of a call among new memories: those that come while the calls before it run.
fn texts_that_wait(workload: &Workload) -> f64 {
    let arrived = workload.writes_per_second * workload.provider_latency_ms / 1e3 / c::CONCURRENCY;
    arrived.clamp(1.0, f64::from(workload.batch.max(1)))
}

/// The texts of a call that takes only those of one namespace, of `batch` texts of any namespace.
fn texts_of_one_namespace(batch: f64, namespaces: f64) -> f64 {
    // The expected number of distinct namespaces among them.
    let distinct = -namespaces * (batch * (-1.0 / namespaces).ln_1p()).exp_m1();
    (batch / distinct).clamp(1.0, batch)
}

/// Processes of embed-worker. Tagging by the local model needs as many of tag-worker.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Workers {
    /// The processes that keep up with the new memories.
    pub for_writes: u64,
    /// The texts that one process embeds a second, at most.
    pub texts_per_second: f64,
    /// How long these processes need to embed all memories, in hours, if the database keeps up.
    pub hours_for_all: f64,
}

impl Workers {
    pub(super) fn of(workload: &Workload) -> Self {
        let latency_s = (workload.provider_latency_ms / 1e3).max(1e-3);
        let texts_per_second = c::CONCURRENCY * f64::from(workload.batch) / latency_s;
        let for_writes = (workload.writes_per_second / texts_per_second).ceil().max(1.0);
        let hours = workload.memories as f64 / (for_writes * texts_per_second) / 3_600.0;
        Self { for_writes: for_writes as u64, texts_per_second, hours_for_all: hours }
    }
}
