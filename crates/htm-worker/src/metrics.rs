//! A worker's Prometheus metrics: counters of its work, and gauges of its queue, which are read at a scrape.

use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use htm_core::job::JobState;
use htm_core::worker::gauges::{QueueGauges, gauges};
use htm_core::worker::jobs::Verdict;
use prometheus_client::encoding::{EncodeLabelSet, text};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};
use sqlx::PgPool;
use strum::VariantArray;

/// The time for which a reading of the queue is reused, so that frequent scrapes do not load the database.
const READING_LASTS: Duration = Duration::from_secs(10);

/// The time that a scrape waits for the database. Prometheus gives up after 10 s.
const READING_PATIENCE: Duration = Duration::from_secs(5);

/// One worker's metrics. All names begin with `htm_`, and all metrics have the label `queue`.
#[derive(Debug)]
pub(crate) struct Metrics {
    queue: String,
    registry: Registry,
    read_at: tokio::sync::Mutex<Option<Instant>>,
    jobs: Family<State, Gauge>,
    oldest_due_age: Family<[(&'static str, &'static str); 0], Gauge<f64, AtomicU64>>,
    in_flight: Gauge,
    claims: Counter,
    claim_time: Histogram,
    attempts: Counter,
    outcomes: Family<Ended, Counter>,
    provider_calls: Family<Call, Counter>,
    provider_call_time: Family<Model, Histogram>,
    provider_tokens: Family<Model, Counter>,
    batch_size: Histogram,
    info: Family<Info, Gauge>,
}

/// The outcome of an attempt of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::AsRefStr, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "lowercase")]
pub(crate) enum Outcome {
    /// The result is written.
    Done,
    /// The node had been edited or forgotten before the work began.
    Superseded,
    /// The job waits for another attempt.
    Retried,
    /// The job waits. This did not count as an attempt.
    Deferred,
    /// The job is parked: its namespace's budget is spent, or it was deferred for too long. This did not count as an
    /// attempt.
    Parked,
    /// The job is a dead letter.
    Dead,
    /// The job was released. This did not count as an attempt.
    Released,
}

impl Outcome {
    /// The outcome of an attempt without a result, by the state of its job now: one whose attempts are used up is dead
    /// after any verdict, and one whose budget was raised meanwhile is not parked.
    pub(crate) fn of(verdict: Verdict, now: JobState) -> Self {
        match (now, verdict) {
            (JobState::Dead, _) | (_, Verdict::Dead) => Self::Dead,
            (JobState::Parked, _) => Self::Parked,
            (_, Verdict::Retry { .. }) => Self::Retried,
            (_, Verdict::Defer { .. } | Verdict::OverBudget { .. }) => Self::Deferred,
        }
    }
}

impl Metrics {
    /// The metrics of a worker of this queue.
    pub(crate) fn new(queue: &str) -> Self {
        let labels = [("queue".into(), queue.to_owned().into())];
        let mut metrics = Self {
            queue: queue.into(),
            registry: Registry::with_prefix_and_labels("htm", labels.into_iter()),
            read_at: tokio::sync::Mutex::default(),
            jobs: Family::default(),
            oldest_due_age: Family::default(),
            in_flight: Gauge::default(),
            claims: Counter::default(),
            // 1 ms (an idle database nearby) to 8 s (locks, or a full server).
            claim_time: Histogram::new(exponential_buckets(0.001, 2.0, 14)),
            attempts: Counter::default(),
            outcomes: Family::default(),
            provider_calls: Family::default(),
            // 5 ms (a local model, one text) to 82 s (a language model, a batch).
            provider_call_time: Family::new_with_constructor(|| {
                Histogram::new(exponential_buckets(0.005, 2.0, 15))
            }),
            provider_tokens: Family::default(),
            batch_size: Histogram::new(exponential_buckets(1.0, 2.0, 12)),
            info: Family::default(),
        };
        metrics.register();
        // Counters start at 0 instead of missing. Otherwise `rate` would not show the first event.
        for outcome in Outcome::VARIANTS {
            metrics.ended(*outcome, 0);
        }
        metrics
    }

    /// Records the start of the worker.
    pub(crate) fn started(&self, program: &str, model: Option<&str>) {
        let label = model.unwrap_or_default().into();
        let info = Info { program: program.into(), version: env!("CARGO_PKG_VERSION"), model: label };
        self.info.get_or_create(&info).set(1);
        let Some(model) = model else { return };
        let model = Model { model: model.into() };
        // They start at 0 too, as the outcomes do.
        self.provider_calls.get_or_create(&Call { model: model.model.clone(), outcome: "ok" }).inc_by(0);
        self.provider_tokens.get_or_create(&model).inc_by(0);
        drop(self.provider_call_time.get_or_create(&model));
    }

    /// Counts a claim that returned jobs, and how long the database took for it.
    pub(crate) fn claimed(&self, jobs: usize, took: Duration) {
        self.claims.inc();
        self.claim_time.observe(took.as_secs_f64());
        self.attempts.inc_by(jobs as u64);
    }

    /// The gauge of the jobs that the worker holds. Its owner updates it.
    pub(crate) fn in_flight(&self) -> Gauge {
        self.in_flight.clone()
    }

    /// Counts a provider call. `outcome` is `ok` or the error's code.
    pub(crate) fn provider_call(
        &self,
        model: &str,
        outcome: &'static str,
        took: Duration,
        texts: usize,
        tokens: u64,
    ) {
        let model = Model { model: model.into() };
        self.provider_calls.get_or_create(&Call { model: model.model.clone(), outcome }).inc();
        self.provider_call_time.get_or_create(&model).observe(took.as_secs_f64());
        self.provider_tokens.get_or_create(&model).inc_by(tokens);
        // A further request has no text that was not counted.
        if texts > 0 {
            self.batch_size.observe(texts as f64);
        }
    }

    /// Counts attempts by their outcome.
    pub(crate) fn ended(&self, outcome: Outcome, jobs: usize) {
        self.outcomes.get_or_create(&Ended { outcome: outcome.into() }).inc_by(jobs as u64);
    }

    /// All metrics as OpenMetrics text. The queue's gauges are missing while the database does not answer.
    pub(crate) async fn render(&self, pool: &PgPool) -> String {
        self.read_queue(pool).await;
        let mut text = String::new();
        text::encode(&mut text, &self.registry).expect("writing to a String cannot fail");
        text
    }

    async fn read_queue(&self, pool: &PgPool) {
        // Locked during the reading, so that concurrent scrapes share one.
        let mut read_at = self.read_at.lock().await;
        if read_at.is_some_and(|at| at.elapsed() < READING_LASTS) {
            return;
        }
        let error = match tokio::time::timeout(READING_PATIENCE, gauges(pool, &self.queue)).await {
            Ok(Ok(gauges)) => {
                self.show(gauges);
                None
            }
            Ok(Err(error)) => Some(error.to_string()),
            Err(_elapsed) => Some(format!("no answer within {} s", READING_PATIENCE.as_secs())),
        };
        if let Some(error) = error {
            tracing::warn!(queue = self.queue, error, "the queue's metrics could not be read");
            // An old number would look like a stuck queue.
            self.jobs.clear();
            self.oldest_due_age.clear();
        }
        *read_at = Some(Instant::now());
    }

    fn show(&self, gauges: QueueGauges) {
        let QueueGauges { due, waiting, parked, running, dead, oldest_due_age_seconds } = gauges;
        for (state, jobs) in
            [("due", due), ("waiting", waiting), ("parked", parked), ("running", running), ("dead", dead)]
        {
            self.jobs.get_or_create(&State { state }).set(jobs);
        }
        self.oldest_due_age.get_or_create(&[]).set(oldest_due_age_seconds);
    }

    fn register(&mut self) {
        let registry = &mut self.registry;
        registry.register(
            "queue_jobs",
            "Jobs in the queue, of all workers; a count stops at 10000 for each priority",
            self.jobs.clone(),
        );
        registry.register_with_unit(
            "queue_oldest_due_age",
            "How long the oldest due job has been due; 0 if none is due",
            Unit::Seconds,
            self.oldest_due_age.clone(),
        );
        registry.register("jobs_in_flight", "Jobs that this worker holds", self.in_flight.clone());
        registry.register("claims", "Claims that returned jobs", self.claims.clone());
        registry.register_with_unit(
            "claim",
            "The duration of claims that returned jobs",
            Unit::Seconds,
            self.claim_time.clone(),
        );
        registry.register("job_attempts", "Attempts that began", self.attempts.clone());
        registry.register("job_outcomes", "Attempts that ended, by outcome", self.outcomes.clone());
        registry.register(
            "provider_calls",
            "Calls to the provider: ok, or the error's code",
            self.provider_calls.clone(),
        );
        registry.register_with_unit(
            "provider_call",
            "The duration of provider calls",
            Unit::Seconds,
            self.provider_call_time.clone(),
        );
        registry.register("provider_tokens", "Tokens sent to the provider", self.provider_tokens.clone());
        registry.register("batch_size", "Texts in a call to the provider", self.batch_size.clone());
        registry.register("worker_info", "Always 1; the labels describe the worker", self.info.clone());
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct State {
    state: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Ended {
    outcome: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Model {
    model: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Call {
    model: String,
    outcome: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Info {
    program: String,
    version: &'static str,
    model: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outcome_is_what_the_job_is_now() {
        let defer = Verdict::Defer { delay_ms: 1_000 };
        let over_budget = Verdict::OverBudget { until: chrono::DateTime::UNIX_EPOCH, tokens: 1 };
        for (verdict, now, expected) in [
            (Verdict::Retry { delay_ms: 0 }, JobState::Due, Outcome::Retried),
            (Verdict::Retry { delay_ms: 0 }, JobState::Dead, Outcome::Dead),
            (defer, JobState::Waiting, Outcome::Deferred),
            (defer, JobState::Parked, Outcome::Parked),
            (over_budget, JobState::Parked, Outcome::Parked),
            (over_budget, JobState::Due, Outcome::Deferred),
        ] {
            assert_eq!(Outcome::of(verdict, now), expected, "{verdict:?}, {now}");
        }
    }
}
