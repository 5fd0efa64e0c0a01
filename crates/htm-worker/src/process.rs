//! A batch from its payloads to its results.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use futures::future::BoxFuture;
use htm_core::fault::Fault;
use htm_core::job::{Payload, PayloadError};
use htm_core::provider::ProviderError;
use htm_core::store::jobs::{self, Failed, Lease, Verdict};
use htm_core::store::nodes;
use sqlx::PgPool;
use tokio::sync::watch;

use crate::batch::LeasedBatch;
use crate::handler::{Handler, Item};
use crate::metrics::Outcome;
use crate::monitor::Monitor;
use crate::verdict::{Backoff, verdict};

/// How long results are kept and offered again to a database that does not answer.
const ACK_PATIENCE: Duration = Duration::from_secs(60);

/// What every batch of a worker shares.
pub(crate) struct Processor<H> {
    pub(crate) pool: PgPool,
    pub(crate) handler: H,
    pub(crate) backoff: Backoff,
    pub(crate) cooldown: watch::Sender<tokio::time::Instant>,
    pub(crate) consecutive_failures: AtomicU32,
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
            Ok((done, failed)) => {
                self.counts.done.fetch_add(done, Ordering::Relaxed);
                self.counts.failed.fetch_add(failed, Ordering::Relaxed);
                let ms = started.elapsed().as_millis() as u64;
                tracing::info!(queue = self.handler.stage().queue(), done, failed, ms, "batch");
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
        match persist(|| jobs::fail(&self.pool, &batch.lease, &failures)).await {
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

    async fn attempt(&self, batch: &LeasedBatch, lease: &Lease) -> htm_core::Result<(u64, u64)> {
        let (payloads, mut failures) = decode(batch, self.backoff);
        let wanted: Vec<_> = payloads.iter().map(|(_, payload)| (payload.node, payload.revision)).collect();
        let texts = persist(|| nodes::contents(&self.pool, &wanted)).await?;
        let mut items = Vec::with_capacity(payloads.len());
        let mut superseded = Vec::new();
        for (job, payload) in payloads {
            match texts.get(&payload.node) {
                Some(text) => items.push(Item {
                    job,
                    node: payload.node,
                    revision: payload.revision,
                    namespace: text.namespace.clone(),
                    content: text.content.clone(),
                }),
                None => superseded.push(job),
            }
        }
        let mut results = Vec::with_capacity(items.len());
        let mut refused = Vec::new();
        self.work(items, &mut results, &mut refused).await;
        for (item, error) in refused {
            let attempt = batch.jobs.iter().find(|job| job.id == item.job).map_or(1, |job| job.attempt);
            failures.push(Failed {
                verdict: verdict(&error, attempt.max(1) as u32, self.backoff, fastrand::f64()),
                reason: format!("{}: {error}", error.code()),
                job: item.job,
            });
        }
        let mut done = self.ack(lease, results, &mut failures).await?;
        self.monitor.metrics.ended(Outcome::Done, done);
        if !superseded.is_empty() {
            let ended = persist(|| jobs::ack_superseded(&self.pool, lease, &superseded)).await?;
            self.monitor.metrics.ended(Outcome::Superseded, ended);
            done += ended;
        }
        if !failures.is_empty() {
            for failure in &failures {
                tracing::warn!(job = failure.job, reason = failure.reason, verdict = ?failure.verdict, "a job failed");
            }
            persist(|| jobs::fail(&self.pool, lease, &failures)).await?;
            self.monitor.metrics.failed(&batch.jobs, &failures);
        }
        Ok((done as u64, failures.len() as u64))
    }

    /// Writes results. When the database refuses them for good, one by one: what it refuses then fails alone.
    async fn ack(
        &self,
        lease: &Lease,
        results: Vec<(Item, H::Output)>,
        failures: &mut Vec<Failed>,
    ) -> htm_core::Result<usize> {
        if results.is_empty() {
            return Ok(0);
        }
        match persist(|| self.handler.ack(&self.pool, lease, &results)).await {
            Err(error) if error.fault() != Fault::Transient && results.len() > 1 => {}
            result => return result,
        }
        let mut done = 0;
        for result in results {
            match persist(|| self.handler.ack(&self.pool, lease, std::slice::from_ref(&result))).await {
                Ok(acked) => done += acked,
                Err(error) if error.fault() == Fault::Transient => return Err(error),
                Err(error) => failures.push(Failed {
                    job: result.0.job,
                    reason: format!("{}: {error}", error.code()),
                    verdict: Verdict::Retry { delay_ms: self.backoff.base.as_millis() as u64 },
                }),
            }
        }
        Ok(done)
    }

    /// Works on items; a batch that is refused for a text's sake is halved until the text stands alone.
    fn work<'a>(
        &'a self,
        items: Vec<Item>,
        results: &'a mut Vec<(Item, H::Output)>,
        refused: &'a mut Vec<(Item, ProviderError)>,
    ) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            if items.is_empty() {
                return;
            }
            let started = Instant::now();
            let result = self.handler.work(&items).await;
            let outcome = result.as_ref().map_or_else(ProviderError::code, |_| "ok");
            self.monitor.metrics.provider_call(
                &self.handler.model(),
                outcome,
                started.elapsed(),
                items.len(),
                0,
            );
            match result {
                Ok(outputs) => {
                    self.provider_answered();
                    results.extend(items.into_iter().zip(outputs));
                }
                Err(error) if error.fault() == Fault::User && items.len() > 1 => {
                    let mut left = items;
                    let right = left.split_off(left.len() / 2);
                    self.work(left, results, refused).await;
                    self.work(right, results, refused).await;
                }
                Err(error) => {
                    if error.fault() != Fault::User {
                        self.provider_failed(&error);
                    }
                    refused.extend(items.into_iter().map(|item| (item, error.clone())));
                }
            }
        })
    }

    fn provider_answered(&self) {
        self.consecutive_failures.store(0, Ordering::Relaxed);
    }

    /// Nothing is claimed for a while: a provider that is down would eat an attempt of every job in the queue.
    fn provider_failed(&self, error: &ProviderError) {
        let failures = self.consecutive_failures.fetch_add(1, Ordering::Relaxed) + 1;
        let wait = match error.kind {
            htm_core::provider::ProviderErrorKind::RateLimited { retry_after: Some(wait) } => wait,
            _ => self.backoff.delay(failures, 1.0).min(Duration::from_secs(30)),
        };
        tracing::warn!(code = error.code(), %error, hint = error.hint(), wait_ms = wait.as_millis() as u64,
                       "the provider failed; claiming waits");
        let until = tokio::time::Instant::now() + wait;
        self.cooldown.send_if_modified(|current| {
            let later = until > *current;
            if later {
                *current = until;
            }
            later
        });
    }
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

/// Offers a statement again while the database is away: what a provider has computed is worth a wait.
async fn persist<T, F, Fut>(mut statement: F) -> htm_core::Result<T>
where
    F: FnMut() -> Fut,
    Fut: Future<Output = htm_core::Result<T>>,
{
    let started = Instant::now();
    let mut failures = 0;
    loop {
        match statement().await {
            Err(error) if error.fault() == Fault::Transient && started.elapsed() < ACK_PATIENCE => {
                failures += 1;
                let backoff = Backoff { base: Duration::from_millis(50), cap: Duration::from_secs(2) };
                tokio::time::sleep(backoff.delay(failures, 0.5 + fastrand::f64() / 2.0)).await;
            }
            result => return result,
        }
    }
}
