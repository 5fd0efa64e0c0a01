//! A batch from its payloads to its results.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use htm_core::fault::Fault;
use htm_core::job::{Payload, PayloadError};
use htm_core::provider::ProviderError;
use htm_core::store::jobs::{self, Failed, Lease, Superseded, SupersededAck, Verdict};
use htm_core::store::{governor, nodes};
use sqlx::PgPool;

use crate::batch::LeasedBatch;
use crate::calls::{Caller, Setback};
use crate::deadline::Deadline;
use crate::handler::{Handler, Item};
use crate::metrics::Outcome;
use crate::monitor::Monitor;
use crate::persist::persist;
use crate::verdict::{Backoff, verdict};

/// What every batch of a worker shares.
pub(crate) struct Processor<H> {
    pub(crate) pool: PgPool,
    pub(crate) caller: Caller<H>,
    pub(crate) backoff: Backoff,
    /// How long a job may be put off without charge.
    pub(crate) patience: Duration,
    /// By when a statement has its answer.
    pub(crate) answer: Deadline,
    pub(crate) counts: Arc<Counts>,
    pub(crate) monitor: Arc<Monitor>,
}

/// What the worker has done since its start.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) done: AtomicU64,
    pub(crate) failed: AtomicU64,
}

impl<H: Handler> Processor<H> {
    /// Brings every job of the batch to an end that the database knows. While the database is away it cannot: then
    /// the batch is dropped, and the claimer gives its jobs back.
    pub(crate) async fn process(&self, batch: &LeasedBatch) {
        let started = Instant::now();
        match self.attempt(batch, &batch.lease).await {
            // The worker stops before the provider was asked: the jobs are given back.
            Ok(None) => {}
            Ok(Some((done, failed))) => {
                self.counts.done.fetch_add(done, Ordering::Relaxed);
                self.counts.failed.fetch_add(failed, Ordering::Relaxed);
                let ms = started.elapsed().as_millis() as u64;
                tracing::info!(queue = self.caller.handler.queue(), done, failed, ms, "batch");
                batch.settle();
            }
            Err(error) if error.fault() == Fault::Transient => {
                tracing::warn!(code = error.code(), %error, jobs = batch.jobs.len(), "a batch could not be written");
            }
            Err(error) => self.failed(batch, &format!("{}: {error}", error.code())).await,
        }
    }

    /// Charges the attempt to every job of a batch that failed as a whole, so that one which always does ends as a
    /// dead letter.
    pub(crate) async fn failed(&self, batch: &LeasedBatch, reason: &str) {
        tracing::error!(reason, jobs = batch.jobs.len(), "a batch failed");
        let failures: Vec<Failed> = batch
            .jobs
            .iter()
            .map(|job| {
                let delay = self.backoff.delay(job.attempt.max(1) as u32, fastrand::f64());
                let verdict = Verdict::Retry { delay_ms: delay.as_millis() as u64 };
                Failed { job: job.id.clone(), reason: reason.into(), verdict }
            })
            .collect();
        match persist(self.answer, || jobs::fail(&self.pool, &batch.lease, &failures, self.patience)).await {
            Ok(failed) => {
                self.counts.failed.fetch_add(failed as u64, Ordering::Relaxed);
                self.monitor.metrics.failed(&batch.jobs, &failures);
                batch.settle();
            }
            Err(error) => {
                tracing::warn!(code = error.code(), %error, "the end of a failed batch could not be written");
            }
        }
    }

    /// How many jobs are done, and how many failed; none when the worker is stopped before the provider is asked.
    async fn attempt(&self, batch: &LeasedBatch, lease: &Lease) -> htm_core::Result<Option<(u64, u64)>> {
        let (payloads, mut failures) = decode(batch, self.backoff);
        let wanted: Vec<_> = payloads.iter().map(|(_, payload)| (payload.node, payload.revision)).collect();
        let texts = persist(self.answer, || nodes::contents(&self.pool, &wanted)).await?;
        let mut items = Vec::with_capacity(payloads.len());
        let mut superseded = Vec::new();
        let mut budgeted = HashSet::new();
        for (job, payload) in payloads {
            let Some(text) = texts.get(&(payload.node, payload.revision)) else {
                superseded.push(Superseded { job, node: payload.node, revision: payload.revision });
                continue;
            };
            if text.has_budget {
                budgeted.insert(text.namespace.clone());
            }
            items.push(Item {
                job,
                node: payload.node,
                revision: payload.revision,
                namespace: text.namespace.clone(),
                content: text.content.clone(),
                tokens: text.tokens.max(0) as u32,
            });
        }
        let Some(turn) = batch.turn().await else { return Ok(None) };
        let items = self.spend(items, &budgeted, lease).await?;
        let worked = self.caller.work(items).await?;
        drop(turn);
        self.refund(&worked.setbacks, &budgeted).await;
        for (item, setback) in worked.setbacks {
            let attempt = batch.jobs.iter().find(|job| job.id == item.job).map_or(1, |job| job.attempt);
            failures.push(match setback {
                Setback::Failed { error, jitter } => Failed {
                    verdict: verdict(&error, attempt.max(1) as u32, self.backoff, jitter),
                    reason: reason(&error),
                    job: item.job,
                },
                Setback::Held { wait, why } => Failed {
                    verdict: Verdict::Defer { delay_ms: wait.as_millis() as u64 },
                    reason: format!("provider_held: the provider is left alone for now ({why})"),
                    job: item.job,
                },
            });
        }
        // What was just written does not wait until a backfill's results are.
        let live = batch.live();
        let (first, then): (Vec<_>, Vec<_>) =
            worked.results.into_iter().partition(|(item, _)| live.contains(item.job.as_str()));
        let mut done = self.ack(lease, first, &mut failures).await?;
        done += self.ack(lease, then, &mut failures).await?;
        self.monitor.metrics.ended(Outcome::Done, done);
        if !superseded.is_empty() {
            let ack = || jobs::ack_superseded(&self.pool, lease, &superseded);
            let SupersededAck { ended, released } = persist(self.answer, ack).await?;
            self.monitor.metrics.ended(Outcome::Superseded, ended);
            self.monitor.metrics.ended(Outcome::Released, released);
            done += ended;
        }
        if !failures.is_empty() {
            for failure in &failures {
                let reason = failure.reason.lines().next();
                tracing::warn!(job = failure.job, reason, verdict = ?failure.verdict, "a job failed");
            }
            persist(self.answer, || jobs::fail(&self.pool, lease, &failures, self.patience)).await?;
            self.monitor.metrics.failed(&batch.jobs, &failures);
        }
        Ok(Some((done as u64, failures.len() as u64)))
    }

    /// Writes results. When the database refuses them, one by one: what it refuses then fails alone, and waits.
    async fn ack(
        &self,
        lease: &Lease,
        results: Vec<(Item, H::Output)>,
        failures: &mut Vec<Failed>,
    ) -> htm_core::Result<usize> {
        if results.is_empty() {
            return Ok(0);
        }
        match persist(self.answer, || self.caller.handler.ack(&self.pool, lease, &results)).await {
            Err(error) if was_answered(&error) && results.len() > 1 => {}
            Err(error) if was_answered(&error) => {
                failures.push(self.unwritten(results[0].0.job.clone(), &error));
                return Ok(0);
            }
            result => return result,
        }
        let mut done = 0;
        for result in results {
            match persist(self.answer, || {
                self.caller.handler.ack(&self.pool, lease, std::slice::from_ref(&result))
            })
            .await
            {
                Ok(acked) => done += acked,
                Err(error) if was_answered(&error) => {
                    failures.push(self.unwritten(result.0.job, &error));
                }
                Err(error) => return Err(error),
            }
        }
        Ok(done)
    }

    fn unwritten(&self, job: String, error: &htm_core::Error) -> Failed {
        let verdict = Verdict::Retry { delay_ms: self.backoff.base.as_millis() as u64 };
        Failed { job, reason: format!("{}: {error}", error.code()), verdict }
    }

    /// Takes what each item costs from its namespace's budget; what is too much for today is parked, at once: a budget
    /// that is raised while the others are with the provider has to find it.
    ///
    /// A worker that is killed between this and the ack has spent for nothing: the day's budget is a bound, not a bill.
    async fn spend(
        &self,
        items: Vec<Item>,
        budgeted: &HashSet<String>,
        lease: &Lease,
    ) -> htm_core::Result<Vec<Item>> {
        if budgeted.is_empty() {
            return Ok(items);
        }
        let (costly, mut affordable): (Vec<Item>, Vec<Item>) =
            items.into_iter().partition(|item| budgeted.contains(&item.namespace));
        let amounts: Vec<_> =
            costly.iter().map(|item| (item.namespace.as_str(), i64::from(item.tokens))).collect();
        let spent = self.answer.of(governor::spend(&self.pool, &amounts)).await?;
        let mut parked = Vec::new();
        for (item, spent) in costly.into_iter().zip(spent) {
            match spent {
                true => affordable.push(item),
                false => parked.push(Failed {
                    reason: format!(
                        "budget_spent: namespace `{}` has spent its tokens for today",
                        item.namespace
                    ),
                    verdict: Verdict::OverBudget,
                    job: item.job,
                }),
            }
        }
        if !parked.is_empty() {
            persist(self.answer, || jobs::fail(&self.pool, lease, &parked, self.patience)).await?;
            self.monitor.metrics.ended(Outcome::Parked, parked.len());
        }
        Ok(affordable)
    }

    /// Gives back what was spent for calls that gave nothing.
    async fn refund(&self, setbacks: &[(Item, Setback)], budgeted: &HashSet<String>) {
        let amounts: Vec<_> = setbacks
            .iter()
            .filter(|(item, _)| budgeted.contains(&item.namespace))
            .map(|(item, _)| (item.namespace.as_str(), -i64::from(item.tokens)))
            .collect();
        if amounts.is_empty() {
            return;
        }
        if let Err(error) = self.answer.of(governor::spend(&self.pool, &amounts)).await {
            tracing::warn!(code = error.code(), %error, "a budget did not get back what failed calls had taken");
        }
    }
}

/// What operators read of a failed call; the second line is what a language model said, if that is why.
fn reason(error: &ProviderError) -> String {
    let reason = format!("{}: {error}", error.code());
    match &error.answer {
        Some(answer) => format!("{reason}\nthe model said: {answer}"),
        None => reason,
    }
}

/// Whether the database answered, with a refusal: it cannot have been away.
fn was_answered(error: &htm_core::Error) -> bool {
    matches!(error, htm_core::Error::Database(_)) || error.fault() != Fault::Transient
}

/// The payloads that can be acted on, and what becomes of the others: one that is newer is left to newer workers,
/// one that cannot be read is a dead letter.
fn decode(batch: &LeasedBatch, backoff: Backoff) -> (Vec<(String, Payload)>, Vec<Failed>) {
    let mut payloads = Vec::with_capacity(batch.jobs.len());
    let mut failures = Vec::new();
    for job in &batch.jobs {
        match Payload::decode(&job.payload) {
            Ok(payload) => payloads.push((job.id.clone(), payload)),
            Err(error) => failures.push(Failed {
                job: job.id.clone(),
                verdict: match error {
                    PayloadError::Newer(_) => {
                        Verdict::Defer { delay_ms: backoff.cap.as_millis() as u64 / 10 }
                    }
                    PayloadError::Undecodable(_) => Verdict::Dead,
                },
                reason: error.to_string(),
            }),
        }
    }
    (payloads, failures)
}
