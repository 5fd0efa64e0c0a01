//! The learn worker, as a library for `htm up` and tests. The process is in `main.rs`.

mod arguments;
mod fit;

use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use async_trait::async_trait;
use htm_core::job::LearnPayload;
use htm_core::provider::Calls;
use htm_core::worker::jobs::{Claimed, Lease};
use htm_core::worker::learning::{self, Evidence, LearntRanking};
use htm_core::{Error, Result};
use htm_runtime::codes;
use htm_worker::service::LEARNING_LIMIT;
use htm_worker::{Handler, Item, Kind, Subjects, WorkError, payloads};
use sqlx::PgPool;
use tokio::sync::oneshot;

pub use arguments::Arguments;
pub use fit::fit;

/// Learns from evidence: a pure computation of seconds to minutes.
/// None: there is nothing to learn from.
pub type Fit = fn(&Evidence) -> Option<LearntRanking>;

/// Learns the ranking of namespaces.
pub struct LearnHandler {
    fit: Fit,
    limit: Duration,
}

impl LearnHandler {
    /// Makes a handler that gives each fit at most `limit`.
    pub fn new(fit: Fit, limit: Duration) -> Self {
        Self { fit, limit }
    }

    /// Runs the fit on a thread of its own. The thread cannot be interrupted: after the limit, or when the worker stops,
    /// it goes on unheard until it is done or the process ends. The runtime's own threads would keep the process alive.
    async fn fitted(&self, evidence: Arc<Evidence>) -> Result<Option<LearntRanking>> {
        let namespace = evidence.namespace.clone();
        let (sender, receiver) = oneshot::channel();
        let fit = self.fit;
        let run = move || {
            let fitted = panic::catch_unwind(AssertUnwindSafe(|| fit(&evidence)));
            // Nobody listens any more after the limit or a stop.
            sender.send(fitted).ok();
        };
        thread::Builder::new().name("fit".into()).spawn(run).map_err(|error| {
            Error::new(codes::LEARNING_FAILED, "no thread could be started").with_source(error)
        })?;
        let failed = |why: &str| {
            Error::new(codes::LEARNING_FAILED, format!("learning for namespace `{namespace}` failed: {why}"))
        };
        match tokio::time::timeout(self.limit, receiver).await {
            Ok(Ok(Ok(learnt))) => Ok(learnt),
            Ok(Ok(Err(panic))) => Err(failed(said(&*panic))),
            Ok(Err(_closed)) => Err(failed("its thread ended")),
            Err(_elapsed) => Err(Error::new(
                codes::LEARNING_TIMEOUT,
                format!(
                    "learning for namespace `{namespace}` took longer than {} ms",
                    self.limit.as_millis()
                ),
            )),
        }
    }
}

/// The message of a panic.
fn said(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("a panic without a message")
}

/// Makes the handler of a worker.
pub fn handler() -> LearnHandler {
    LearnHandler::new(fit::fit, LEARNING_LIMIT)
}

#[async_trait]
impl Handler for LearnHandler {
    type Subject = Arc<Evidence>;
    type Output = Option<LearntRanking>;

    fn kind(&self) -> Kind {
        Kind::Learn
    }

    fn model(&self) -> Option<String> {
        None
    }

    async fn read(&self, pool: &PgPool, jobs: &[Claimed]) -> Result<Subjects<Arc<Evidence>>> {
        let (payloads, undecoded) = payloads::<LearnPayload>(jobs);
        let mut items = Vec::with_capacity(payloads.len());
        for (job, LearnPayload { namespace, .. }) in payloads {
            let subject = Arc::new(learning::evidence(pool, &namespace).await?);
            items.push(Item {
                job: job.id.clone(),
                namespace,
                priority: job.priority,
                attempt: job.attempt,
                max_attempts: job.max_attempts,
                tokens: 0,
                has_budget: false,
                subject,
            });
        }
        Ok(Subjects { items, superseded: Vec::new(), undecoded })
    }

    async fn work(
        &self,
        items: &[Item<Arc<Evidence>>],
        _calls: &dyn Calls,
    ) -> Result<Vec<Option<LearntRanking>>, WorkError> {
        let mut learnt = Vec::with_capacity(items.len());
        for item in items {
            learnt.push(self.fitted(item.subject.clone()).await?);
        }
        Ok(learnt)
    }

    async fn ack(
        &self,
        pool: &PgPool,
        lease: &Lease,
        results: &[(Item<Arc<Evidence>>, Option<LearntRanking>)],
    ) -> Result<usize> {
        let mut held = 0;
        for (item, learnt) in results {
            held +=
                usize::from(learning::ack(pool, lease, &item.job, &item.namespace, learnt.as_ref()).await?);
        }
        Ok(held)
    }
}
