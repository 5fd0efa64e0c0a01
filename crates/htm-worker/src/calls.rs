//! Calls to the provider: packed, by the governor's leave, halved around a bad text.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use htm_core::fault::Fault;
use htm_core::provider::{Calls, ProviderError, ProviderErrorKind};
use htm_core::store::governor::{self, Breaker, CallFailure, FailureKind, Grant, Leave};
use sqlx::PgPool;
use tokio::sync::Mutex;

use crate::call_size::CallSize;
use crate::deadline::Deadline;
use crate::handler::{Handler, Item};
use crate::monitor::Monitor;
use crate::pack::{CallLimits, next_call};
use crate::persist::persist;
use crate::verdict::Backoff;

/// Who waits for leave asks again so often.
const ASK_AGAIN: Duration = Duration::from_secs(1);

/// A batch waits so long for a rate limit to end; for a longer one its jobs are put back.
const SHORT_WAIT: Duration = Duration::from_secs(5);

/// Makes a worker's calls.
pub(crate) struct Caller<H> {
    pub(crate) pool: PgPool,
    pub(crate) handler: Arc<H>,
    pub(crate) worker: String,
    pub(crate) size: CallSize,
    /// Tokens a call.
    pub(crate) tokens: u32,
    /// By when a call has ended.
    pub(crate) deadline: Duration,
    /// By when a statement has its answer.
    pub(crate) answer: Deadline,
    pub(crate) breaker: Breaker,
    /// How long to wait after a rate limit that does not say.
    pub(crate) backoff: Backoff,
    pub(crate) monitor: Arc<Monitor>,
}

/// What became of items.
pub(crate) struct Worked<T> {
    pub(crate) results: Vec<(Item, T)>,
    pub(crate) setbacks: Vec<(Item, Setback)>,
}

/// Why an item has no result.
#[derive(Clone, Debug)]
pub(crate) enum Setback {
    /// Its call failed. `jitter`, from 0 to 1, is one for the whole call: what failed together comes back together,
    /// as a batch.
    Failed { error: ProviderError, jitter: f64 },
    /// No call was made: the provider is to be left alone.
    Held { wait: Duration, why: String },
}

impl<H: Handler> Caller<H> {
    /// Works on items, in as many calls as it takes.
    ///
    /// # Errors
    /// A database error, when the governor cannot be asked.
    pub(crate) async fn work(&self, items: Vec<Item>) -> htm_core::Result<Worked<H::Output>> {
        let mut worked = Worked { results: Vec::with_capacity(items.len()), setbacks: Vec::new() };
        let mut left = VecDeque::from(items);
        while !left.is_empty() {
            let limits = CallLimits {
                items: self.size.get(),
                tokens: self.tokens,
                one_namespace: self.handler.one_namespace_a_call(),
            };
            self.call(next_call(&mut left, limits), &mut worked).await?;
        }
        Ok(worked)
    }

    /// One call, and those that its halves need when a text is refused.
    async fn call(&self, items: Vec<Item>, worked: &mut Worked<H::Output>) -> htm_core::Result<()> {
        let mut open = vec![items];
        while let Some(mut items) = open.pop() {
            let grant = match self.leave(&items).await? {
                Ok(grant) => grant,
                Err(held) => {
                    worked.setbacks.extend(items.into_iter().map(|item| (item, held.clone())));
                    continue;
                }
            };
            let round = Round { caller: self, items: &items, open: Mutex::new(Some(Open::new(grant))) };
            let result = self.handler.work(&items, &round).await;
            if let Some(open) = round.open.into_inner() {
                if result.is_ok() {
                    self.size.answered(open.started.elapsed());
                }
                self.end(open, &items, result.as_ref().err()).await;
            }
            match result {
                Ok(outputs) => {
                    worked.results.extend(items.into_iter().zip(outputs));
                }
                Err(error) if error.is_about_texts() && items.len() > 1 => {
                    let right = items.split_off(items.len() / 2);
                    open.extend([right, items]);
                }
                Err(error) => {
                    if matches!(
                        error.kind,
                        ProviderErrorKind::RateLimited { .. } | ProviderErrorKind::Timeout
                    ) {
                        self.size.strained();
                    }
                    let setback = Setback::Failed { error, jitter: fastrand::f64() };
                    worked.setbacks.extend(items.into_iter().map(|item| (item, setback.clone())));
                }
            }
        }
        Ok(())
    }

    /// Waits for the governor's leave. A limit is waited out, however long it takes: the jobs are next, and nobody else
    /// would be served sooner. While the breaker is open, or a rate limit lasts, nothing is claimed either, so the jobs
    /// are put back; a trial is then made with the one job that is claimed for it.
    async fn leave(&self, items: &[Item]) -> htm_core::Result<Result<Grant, Setback>> {
        let tokens = tokens_of(items);
        let model = self.handler.model();
        loop {
            let ask = || governor::acquire(&self.pool, &model, &self.worker, tokens, self.deadline);
            match persist(self.answer, ask).await? {
                Leave::Granted(grant) => return Ok(Ok(grant)),
                Leave::Wait { wait, why } => {
                    if why == "breaker" || (why == "retry_after" && wait > SHORT_WAIT) {
                        return Ok(Err(Setback::Held { wait, why }));
                    }
                    tracing::debug!(
                        model,
                        why,
                        wait_ms = wait.as_millis() as u64,
                        "waiting for leave to call"
                    );
                    // Not in step with the other workers that wait; and a limit may be lifted meanwhile.
                    tokio::time::sleep(wait.min(ASK_AGAIN).mul_f64(1.0 + fastrand::f64() / 4.0)).await;
                }
            }
        }
    }

    /// Notes how a request ended.
    async fn end(&self, open: Open, items: &[Item], error: Option<&ProviderError>) {
        let outcome = error.map_or("ok", ProviderError::code);
        let (took, tokens) = (open.started.elapsed(), tokens_of(items).into());
        self.monitor.metrics.provider_call(&self.handler.model(), outcome, took, items.len(), tokens);
        self.finish(open.grant, error).await;
    }

    /// The governor's bookkeeping must not cost a result: what fails is logged.
    async fn finish(&self, grant: Grant, error: Option<&ProviderError>) {
        let failure = error.and_then(|error| self.failure(error));
        if let (Some(error), Some(_)) = (error, &failure) {
            tracing::warn!(code = error.code(), %error, hint = error.hint(), "the provider failed");
        }
        let model = self.handler.model();
        let finish = governor::finish(&self.pool, &model, grant, failure.as_ref(), self.breaker);
        if let Err(error) = self.answer.of(finish).await {
            tracing::warn!(code = error.code(), %error, "the end of a call could not be noted");
        }
    }

    /// What the breaker hears of an error; nothing of what is about the texts: the provider itself is well.
    fn failure(&self, error: &ProviderError) -> Option<CallFailure> {
        if error.is_about_texts() {
            return None;
        }
        let kind = match error.kind {
            ProviderErrorKind::RateLimited { retry_after } => {
                FailureKind::Limited { retry_after, wait: self.backoff.base }
            }
            _ if error.fault() == Fault::Permanent => FailureKind::Permanent,
            _ => FailureKind::Transient,
        };
        Some(CallFailure { reason: format!("{}: {error}", error.code()), kind })
    }
}

/// A request that is under way.
struct Open {
    grant: Grant,
    started: Instant,
}

impl Open {
    fn new(grant: Grant) -> Self {
        Self { grant, started: Instant::now() }
    }
}

/// The requests of one call, one after the other, each by the governor's leave.
struct Round<'a, H> {
    caller: &'a Caller<H>,
    items: &'a [Item],
    /// None: the last one has ended, and there was no leave for another.
    open: Mutex<Option<Open>>,
}

#[async_trait]
impl<H: Handler> Calls for Round<'_, H> {
    async fn another(&self) -> bool {
        let mut open = self.open.lock().await;
        if let Some(ended) = open.take() {
            self.caller.end(ended, self.items, None).await;
        }
        match self.caller.leave(self.items).await {
            Ok(Ok(grant)) => *open = Some(Open::new(grant)),
            Ok(Err(held)) => tracing::debug!(?held, "no second request"),
            Err(error) => tracing::warn!(code = error.code(), %error, "no second request"),
        }
        open.is_some()
    }
}

fn tokens_of(items: &[Item]) -> u32 {
    items.iter().fold(0, |sum: u32, item| sum.saturating_add(item.tokens))
}
