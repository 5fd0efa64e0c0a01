//! The processing of a batch: subjects, budgets, provider, results.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use chrono::NaiveDate;
use htm_core::error::codes;
use htm_core::fault::Fault;
use htm_core::job::PayloadError;
use htm_core::provider::ProviderError;
use htm_core::worker::governor::{self, Spent};
use htm_core::worker::jobs::{self, Claimed, Failed, Lease, SupersededAck, Verdict};
use htm_core::worker::priorities::LIVE;
use htm_runtime::chain;
use sqlx::PgPool;
use tracing::Instrument as _;

use crate::batch::LeasedBatch;
use crate::calls::{Dispatcher, Setback};
use crate::deadline::Deadline;
use crate::handler::Handler;
use crate::metrics::Outcome;
use crate::monitor::Monitor;
use crate::persist::{persist, persist_results};
use crate::subject::{Item, Subjects};
use crate::verdict::{Backoff, verdict};

/// The most rejected results that are kept for the next attempts of their jobs.
const MOST_REFUSED: usize = 1_000;

/// Results, each with its item.
type Made<H> = Vec<(Item<<H as Handler>::Subject>, <H as Handler>::Output)>;

/// Processes a worker's batches.
pub(crate) struct Processor<H: Handler> {
    pub(crate) pool: PgPool,
    pub(crate) dispatcher: Dispatcher<H>,
    pub(crate) backoff: Backoff,
    /// The longest time for which a job may be deferred before it is parked.
    pub(crate) patience: Duration,
    /// The time limit of a statement.
    pub(crate) answer: Deadline,
    pub(crate) counts: Arc<Counts>,
    pub(crate) monitor: Arc<Monitor>,
    pub(crate) refused: Refused<H::Output>,
}

/// Results that the database rejected, by job. The job's next attempt by this worker writes the kept result and makes
/// no provider call. Another worker that claims the job makes its own call. A result is therefore paid for at most once
/// per worker, and at most once per attempt.
pub(crate) struct Refused<T>(Mutex<HashMap<String, T>>);

impl<T> Default for Refused<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> Refused<T> {
    fn keep(&self, job: &str, result: T) {
        let mut results = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Leftovers of jobs that other workers ended, or that are never retried. They are rare, and can be made again.
        if results.len() >= MOST_REFUSED {
            results.clear();
        }
        results.insert(job.into(), result);
    }

    fn take(&self, job: &str) -> Option<T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(job)
    }
}

/// The numbers of a batch's jobs by the ends of their attempts.
#[derive(Debug, Default)]
struct Ends {
    done: usize,
    /// To be tried again, the attempt counted.
    failed: usize,
    /// To be tried again, no attempt counted.
    deferred: usize,
    parked: usize,
    dead: usize,
    released: usize,
}

impl Ends {
    fn add(&mut self, outcome: Outcome, jobs: usize) {
        *match outcome {
            Outcome::Done | Outcome::Superseded => &mut self.done,
            Outcome::Retried => &mut self.failed,
            Outcome::Deferred => &mut self.deferred,
            Outcome::Parked => &mut self.parked,
            Outcome::Dead => &mut self.dead,
            Outcome::Released => &mut self.released,
        } += jobs;
    }

    fn all(&self) -> usize {
        let Self { done, failed, deferred, parked, dead, released } = self;
        done + failed + deferred + parked + dead + released
    }
}

/// The worker's totals since its start.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) done: AtomicU64,
    pub(crate) failed: AtomicU64,
}

impl<H: Handler> Processor<H> {
    /// Processes the batch and writes the end of every job. If the database is away, the batch stays unsettled and the
    /// claimer releases its jobs.
    pub(crate) async fn process(&self, batch: &LeasedBatch) {
        let span = tracing::info_span!("batch", jobs = batch.jobs.len());
        self.process_in_span(batch).instrument(span).await;
    }

    async fn process_in_span(&self, batch: &LeasedBatch) {
        let started = Instant::now();
        match self.attempt(batch, &batch.lease).await {
            // The worker stops, and the provider was not called. The jobs are released.
            Ok(None) => {}
            Ok(Some(ends)) => {
                let lost = batch.jobs.len().saturating_sub(ends.all());
                if lost > 0 {
                    let queue = self.dispatcher.handler.queue();
                    tracing::warn!(
                        queue,
                        lost,
                        "results were rejected: the lease of these jobs was lost, or they were cancelled or erased"
                    );
                }
                self.ended(batch, &ends, started);
            }
            Err(error) if error.fault() == Fault::Transient => {
                tracing::warn!(code = error.code(), error = %chain(&error), jobs = batch.jobs.len(), "a batch could not be written");
                // It keeps its place meanwhile, so that released jobs are not claimed again at once.
                tokio::time::sleep(self.backoff.base).await;
            }
            Err(error) => self.failed(batch, &because(&error), error.fault()).await,
        }
    }

    /// Ends the jobs of a batch that failed as a whole. This counts as an attempt, so a batch that always fails becomes
    /// dead letters. It does not count if an operator has to fix the cause.
    pub(crate) async fn failed(&self, batch: &LeasedBatch, reason: &str, fault: Fault) {
        tracing::error!(reason, jobs = batch.jobs.len(), "a batch failed");
        let failed = |job: &Claimed| Failed {
            job: job.id.clone(),
            reason: reason.into(),
            verdict: again(fault, job.attempt, self.backoff),
        };
        let failures: Vec<Failed> = batch.jobs.iter().map(failed).collect();
        let (started, mut ends) = (Instant::now(), Ends::default());
        match self.fail(&batch.lease, &failures, &mut ends).await {
            Ok(()) => self.ended(batch, &ends, started),
            Err(error) => {
                tracing::warn!(code = error.code(), error = %chain(&error), "the end of a failed batch could not be written");
            }
        }
    }

    /// Settles a batch, and logs how its jobs ended.
    fn ended(&self, batch: &LeasedBatch, ends: &Ends, started: Instant) {
        let Ends { done, failed, deferred, parked, dead, .. } = *ends;
        self.counts.done.fetch_add(done as u64, Ordering::Relaxed);
        self.counts.failed.fetch_add((failed + dead) as u64, Ordering::Relaxed);
        let (queue, ms) = (self.dispatcher.handler.queue(), started.elapsed().as_millis() as u64);
        tracing::info!(queue, done, failed, deferred, parked, dead, ms, "batch");
        batch.settle();
    }

    /// Writes the ends of attempts without a result. Logs a line for each reason and outcome, with the first of its jobs:
    /// those of a call have the same.
    async fn fail(&self, lease: &Lease, failures: &[Failed], ends: &mut Ends) -> htm_core::Result<()> {
        let held = persist(self.answer, || jobs::fail(&self.pool, lease, failures, self.patience)).await?;
        let mut told: Vec<(&str, Outcome, &str, usize)> = Vec::new();
        for Failed { job, reason, verdict } in failures {
            let Some(now) = held.get(job) else { continue };
            let (outcome, reason) = (Outcome::of(*verdict, *now), reason.lines().next().unwrap_or_default());
            match told.iter_mut().find(|told| (told.0, told.1) == (reason, outcome)) {
                Some((.., jobs)) => *jobs += 1,
                None => told.push((reason, outcome, job.as_str(), 1)),
            }
        }
        for (reason, outcome, job, jobs) in told {
            self.count(ends, outcome, jobs);
            match outcome {
                Outcome::Dead => tracing::warn!(job, jobs, reason, "jobs became dead letters"),
                Outcome::Retried => tracing::warn!(job, jobs, reason, "jobs failed"),
                _ => tracing::info!(job, jobs, reason, "jobs were put off"),
            }
        }
        Ok(())
    }

    fn count(&self, ends: &mut Ends, outcome: Outcome, jobs: usize) {
        self.monitor.metrics.ended(outcome, jobs);
        ends.add(outcome, jobs);
    }

    /// Returns the ends of the jobs. None if the worker is stopped before the provider is called.
    async fn attempt(&self, batch: &LeasedBatch, lease: &Lease) -> htm_core::Result<Option<Ends>> {
        let mut ends = Ends::default();
        let handler = &self.dispatcher.handler;
        let read = || handler.read(&self.pool, &batch.jobs);
        let Subjects { items, superseded, undecoded } = persist(self.answer, read).await?;
        let mut failures: Vec<Failed> =
            undecoded.into_iter().map(|(job, error)| undecodable(job, &error, self.backoff)).collect();
        let Some(turn) = batch.turn().await else { return Ok(None) };
        let (mut made, items) = self.made_before(items);
        let (items, spent_on) = match self.spend(items, lease, &mut ends).await {
            Ok(spent) => spent,
            Err(error) => {
                made.into_iter().for_each(|(item, result)| self.refused.keep(&item.job, result));
                return Err(error);
            }
        };
        let worked = self.dispatcher.work(items).await;
        drop(turn);
        made.extend(worked.results);
        self.refund(&worked.setbacks, &spent_on).await;
        for (item, setback) in worked.setbacks {
            let attempt = batch.job(&item.job).map_or(1, |job| job.attempt);
            failures.push(match setback {
                Setback::Failed { error, jitter } => Failed {
                    verdict: verdict(&error, attempt.max(1) as u32, self.backoff, jitter),
                    reason: reason(&error),
                    job: item.job,
                },
                Setback::Undone { reason, fault } => {
                    Failed { verdict: again(fault, attempt, self.backoff), reason, job: item.job }
                }
                Setback::Held { wait, why } => Failed {
                    verdict: Verdict::Defer { delay_ms: wait.as_millis() as u64 },
                    reason: format!("provider_held: the provider is left alone for now ({why})"),
                    job: item.job,
                },
            });
        }
        // Live jobs do not wait until a backfill's results are written.
        let (first, then): (Vec<_>, Vec<_>) = made.into_iter().partition(|(item, _)| item.priority >= LIVE);
        let mut done = self.ack(batch, lease, first, &mut failures).await?;
        done += self.ack(batch, lease, then, &mut failures).await?;
        self.count(&mut ends, Outcome::Done, done);
        if !superseded.is_empty() {
            let ack = || jobs::ack_superseded(&self.pool, lease, &superseded);
            let SupersededAck { ended, released } = persist(self.answer, ack).await?;
            self.count(&mut ends, Outcome::Superseded, ended);
            self.count(&mut ends, Outcome::Released, released);
        }
        if !failures.is_empty() {
            self.fail(lease, &failures, &mut ends).await?;
        }
        Ok(Some(ends))
    }

    /// Splits items into those with a kept result and those to process.
    fn made_before(&self, items: Vec<Item<H::Subject>>) -> (Made<H>, Vec<Item<H::Subject>>) {
        let (mut made, mut left) = (Vec::new(), Vec::with_capacity(items.len()));
        for item in items {
            match self.refused.take(&item.job) {
                Some(result) => made.push((item, result)),
                None => left.push(item),
            }
        }
        (made, left)
    }

    /// Writes results. If the database rejects them, they are written one by one. A result that is rejected alone is
    /// kept, and its job is retried.
    async fn ack(
        &self,
        batch: &LeasedBatch,
        lease: &Lease,
        results: Made<H>,
        failures: &mut Vec<Failed>,
    ) -> htm_core::Result<usize> {
        if results.is_empty() {
            return Ok(0);
        }
        match self.write(lease, &results).await {
            Err(error) if was_answered(&error) => {}
            result => return result,
        }
        let mut done = 0;
        for (item, result) in results {
            let alone = [(item, result)];
            let written = self.write(lease, &alone).await;
            let [(item, result)] = alone;
            match written {
                Ok(acked) => done += acked,
                Err(error) if was_answered(&error) => {
                    let attempt = batch.job(&item.job).map_or(1, |job| job.attempt);
                    // Results without a provider call are computed again.
                    if self.dispatcher.handler.model().is_some() {
                        self.refused.keep(&item.job, result);
                    }
                    failures.push(Failed {
                        verdict: again(error.fault(), attempt, self.backoff),
                        reason: because(&error),
                        job: item.job,
                    });
                }
                Err(error) => return Err(error),
            }
        }
        Ok(done)
    }

    async fn write(
        &self,
        lease: &Lease,
        results: &[(Item<H::Subject>, H::Output)],
    ) -> htm_core::Result<usize> {
        let handler = &self.dispatcher.handler;
        let ack = || handler.ack(&self.pool, lease, results);
        persist_results(&self.pool, &handler.queue(), self.answer, ack).await
    }

    /// Takes the tokens of each item from its namespace's budget. Returns the affordable items, and the day of the
    /// budget by job. The other items are parked at once, so that a budget raised during the provider call finds them.
    ///
    /// A worker that is killed before the ack has spent the tokens for nothing: a budget is a bound, not a bill.
    async fn spend(
        &self,
        items: Vec<Item<H::Subject>>,
        lease: &Lease,
        ends: &mut Ends,
    ) -> htm_core::Result<(Vec<Item<H::Subject>>, HashMap<String, NaiveDate>)> {
        let mut spent_on = HashMap::new();
        let (costly, mut affordable): (Vec<_>, Vec<_>) = items.into_iter().partition(|item| item.has_budget);
        if costly.is_empty() {
            return Ok((affordable, spent_on));
        }
        let amounts: Vec<_> =
            costly.iter().map(|item| (item.namespace.as_str(), i64::from(item.tokens))).collect();
        let spent = self.answer.of(governor::spend(&self.pool, &amounts)).await?;
        let mut parked = Vec::new();
        for (item, spent) in costly.into_iter().zip(spent) {
            match spent {
                Spent::Freely => affordable.push(item),
                Spent::On(day) => {
                    spent_on.insert(item.job.clone(), day);
                    affordable.push(item);
                }
                Spent::TooMuch { until } => parked.push(Failed {
                    reason: format!(
                        "budget_spent: namespace `{}` has spent its tokens for today",
                        item.namespace
                    ),
                    verdict: Verdict::OverBudget { until, tokens: item.tokens },
                    job: item.job,
                }),
            }
        }
        if !parked.is_empty() {
            self.fail(lease, &parked, ends).await?;
        }
        Ok((affordable, spent_on))
    }

    /// Refunds the tokens of calls without a result.
    async fn refund(&self, setbacks: &[(Item<H::Subject>, Setback)], spent_on: &HashMap<String, NaiveDate>) {
        let amounts: Vec<_> = setbacks
            .iter()
            .filter_map(|(item, _)| {
                let day = *spent_on.get(&item.job)?;
                Some((item.namespace.as_str(), day, i64::from(item.tokens)))
            })
            .collect();
        if amounts.is_empty() {
            return;
        }
        if let Err(error) = self.answer.of(governor::refund(&self.pool, &amounts)).await {
            tracing::warn!(code = error.code(), error = %chain(&error), "the tokens of failed calls could not be refunded to their budgets");
        }
    }
}

/// The reason for operators. If a language model's answer is the cause, the second line quotes it.
fn reason(error: &ProviderError) -> String {
    let reason = format!("{}: {error}", error.code());
    match &error.answer {
        Some(answer) => format!("{reason}\nthe model said: {answer}"),
        None => reason,
    }
}

/// The reason for operators, with the error's causes. The outermost message alone says only that the database refused a
/// statement.
fn because(error: &htm_core::Error) -> String {
    format!("{}: {}", error.code(), chain(error))
}

/// The verdict on a job that failed without the provider's doing.
fn again(fault: Fault, attempt: i32, backoff: Backoff) -> Verdict {
    let delay_ms = backoff.delay(attempt.max(1) as u32, fastrand::f64()).as_millis() as u64;
    match fault {
        Fault::Permanent => Verdict::Defer { delay_ms: delay_ms.max(backoff.base.as_millis() as u64) },
        Fault::User | Fault::Transient | Fault::Bug => Verdict::Retry { delay_ms },
    }
}

/// Whether the database answered with the error, and was not away.
fn was_answered(error: &htm_core::Error) -> bool {
    error.is(codes::DATABASE_ERROR) || error.fault() != Fault::Transient
}

/// The failure of a job whose payload cannot be processed. One of a newer version is left to newer workers, and any other
/// is a dead letter.
fn undecodable(job: String, error: &PayloadError, backoff: Backoff) -> Failed {
    let verdict = match error {
        PayloadError::Newer(_) => Verdict::Defer { delay_ms: backoff.cap.as_millis() as u64 / 10 },
        PayloadError::Undecodable(_) => Verdict::Dead,
    };
    Failed { job, verdict, reason: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_that_fails_here_comes_back_later_and_later() {
        let backoff = Backoff { base: Duration::from_secs(1), cap: Duration::from_secs(600) };
        let longest = |attempt| {
            let delays = (0..500).map(|_| match again(Fault::Bug, attempt, backoff) {
                Verdict::Retry { delay_ms } => delay_ms,
                verdict => panic!("{verdict:?}"),
            });
            delays.max().unwrap_or_default()
        };
        assert!((500..=1_000).contains(&longest(1)));
        assert!((16_000..=32_000).contains(&longest(6)));
        assert!((300_000..=600_000).contains(&longest(25)));
        // An operator has to act, so it does not count as an attempt.
        assert!(matches!(again(Fault::Permanent, 1, backoff), Verdict::Defer { delay_ms: 1_000.. }));
    }
}
