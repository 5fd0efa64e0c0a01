//! Calls to the provider. Items are packed into calls, each call waits for the governor's grant, and a rejected batch
//! is halved until the bad text is alone. Before a lone text is blamed, the provider must have taken another one. Work
//! without a provider is done item by item, and needs no grant.

use std::cmp::Reverse;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use htm_core::HoldReason;
use htm_core::error::chain;
use htm_core::fault::Fault;
use htm_core::provider::{Calls, Further, ProviderError, ProviderErrorKind};
use htm_core::worker::governor::{self, Breaker, Call, CallFailure, FailureKind, Grant, Leave, Turn};
use htm_core::worker::priorities::LIVE;
use sqlx::PgPool;
use tokio::sync::Mutex;

use crate::call_size::CallSize;
use crate::deadline::Deadline;
use crate::handler::{Handler, WorkError};
use crate::monitor::Monitor;
use crate::outage;
use crate::pack::{CallLimits, next_call};
use crate::persist::persist;
use crate::proof::Proof;
use crate::subject::Item;
use crate::verdict::Backoff;

/// The longest rate limit that a batch waits out. For a longer one its jobs are put back.
const SHORT_WAIT: Duration = Duration::from_secs(5);

/// Makes a worker's calls.
pub(crate) struct Dispatcher<H> {
    pub(crate) pool: PgPool,
    pub(crate) handler: Arc<H>,
    pub(crate) worker: String,
    pub(crate) size: CallSize,
    /// The most tokens per call.
    pub(crate) tokens: u32,
    /// The most tokens per call by the governor's last answer. A call with more waits until a bucket is full.
    pub(crate) burst: AtomicU32,
    /// The proof that the provider takes texts.
    pub(crate) proof: Proof,
    /// The time limit of a call.
    pub(crate) deadline: Duration,
    /// The time limit of a statement.
    pub(crate) answer: Deadline,
    pub(crate) breaker: Breaker,
    /// The wait after a rate limit without `Retry-After`.
    pub(crate) backoff: Backoff,
    pub(crate) monitor: Arc<Monitor>,
}

/// The outcome of items.
pub(crate) struct Worked<S, T> {
    pub(crate) results: Vec<(Item<S>, T)>,
    pub(crate) setbacks: Vec<(Item<S>, Setback)>,
}

/// The reason why an item has no result.
#[derive(Clone, Debug)]
pub(crate) enum Setback {
    /// Its call failed. All items of the call have the same `jitter`, from 0 to 1, so that they are retried together,
    /// as a batch, and as smaller ones in later attempts.
    Failed { error: ProviderError, jitter: f64 },
    /// The work failed for this reason, without a provider.
    Undone { reason: String, fault: Fault },
    /// No call was made, because the provider is held.
    Held { wait: Duration, why: String },
}

impl From<WorkError> for Setback {
    fn from(error: WorkError) -> Self {
        match error {
            WorkError::Provider(error) => Self::Failed { error, jitter: fastrand::f64() },
            WorkError::Other(error) => {
                let reason = format!("{}: {}", error.code(), chain(&error));
                Self::Undone { reason, fault: error.fault() }
            }
        }
    }
}

impl<H: Handler> Dispatcher<H> {
    /// Processes items in as many calls as needed.
    pub(crate) async fn work(&self, mut items: Vec<Item<H::Subject>>) -> Worked<H::Subject, H::Output> {
        let mut worked = Worked { results: Vec::with_capacity(items.len()), setbacks: Vec::new() };
        items.sort_by_key(|item| (Reverse(item.priority), item.attempt));
        let mut left = VecDeque::from(items);
        let has_provider = self.handler.model().is_some();
        while !left.is_empty() {
            let limits = CallLimits {
                items: if has_provider { self.size.get() } else { 1 },
                tokens: self.tokens.min(self.burst.load(Ordering::Relaxed)),
                one_namespace: self.handler.one_namespace_a_call(),
            };
            self.call(next_call(&mut left, limits), &mut worked).await;
        }
        worked
    }

    /// Makes one call, and further calls for its halves when a text is rejected.
    async fn call(&self, items: Vec<Item<H::Subject>>, worked: &mut Worked<H::Subject, H::Output>) {
        // Each with whether it is asked about again, after the provider took a harmless text.
        let mut open = vec![(items, false)];
        while let Some((mut items, is_again)) = open.pop() {
            let grant = match self.leave(&items, Amount::of(&items)).await {
                Ok(grant) => grant,
                Err(held) => {
                    worked.setbacks.extend(items.into_iter().map(|item| (item, held.clone())));
                    continue;
                }
            };
            let began = Instant::now();
            let Asked { result, last, longest, held } = self.ask(&items, grant).await;
            if let Some(last) = last {
                if result.is_ok() {
                    self.proof.renew(Instant::now());
                    self.size.answered(last.started.elapsed().max(longest));
                }
                match result.as_ref().err().and_then(WorkError::of_provider) {
                    Some(error)
                        if error.kind == ProviderErrorKind::BadInput
                            && (items.len() == 1 || last.is_trial()) =>
                    {
                        match self.blames(&items, is_again, error, last).await {
                            Ok(true) => {}
                            Ok(false) => {
                                open.push((items, true));
                                continue;
                            }
                            Err(setback) => {
                                worked.setbacks.extend(items.into_iter().map(|item| (item, setback.clone())));
                                continue;
                            }
                        }
                    }
                    error => self.end(last, error).await,
                }
            }
            match result {
                Ok(outputs) => {
                    worked.results.extend(items.into_iter().zip(outputs));
                }
                // The jobs are put back for the reason why a further request was not granted.
                Err(WorkError::Provider(_)) if let Some(held) = &held => {
                    worked.setbacks.extend(items.into_iter().map(|item| (item, held.clone())));
                }
                Err(WorkError::Provider(error)) if error.is_about_texts() && items.len() > 1 => {
                    let right = items.split_off(items.len() / 2);
                    open.extend([(right, false), (items, false)]);
                }
                Err(error) => {
                    match error.of_provider().map(|error| &error.kind) {
                        Some(ProviderErrorKind::RateLimited { .. }) => self.size.limited(began),
                        Some(ProviderErrorKind::Timeout) => self.size.strained(),
                        _ => {}
                    }
                    let setback = Setback::from(error);
                    worked.setbacks.extend(items.into_iter().map(|item| (item, setback.clone())));
                }
            }
        }
    }

    /// Makes a call. The end of its last request is not recorded yet.
    async fn ask(&self, items: &[Item<H::Subject>], grant: Option<Grant>) -> Asked<H::Output> {
        let open = Some(InFlight::new(grant, Amount::of(items)));
        let requests = Mutex::new(Requests { open, longest: Duration::ZERO, held: None });
        let round = Round { dispatcher: self, items, requests };
        let result = self.handler.work(items, &round).await;
        let Requests { open: last, longest, held } = round.requests.into_inner();
        Asked { result, last, longest, held }
    }

    /// Records the end of a rejected request. Returns whether its texts are to blame. Without a proof that the provider
    /// takes texts, it is asked about a harmless one. If it takes that one, the texts are asked about again, because the
    /// provider may have been mended in between.
    ///
    /// # Errors
    /// The setback of the items, if the provider does not take the harmless text.
    async fn blames(
        &self,
        items: &[Item<H::Subject>],
        is_again: bool,
        rejection: &ProviderError,
        last: InFlight,
    ) -> Result<bool, Setback> {
        // A trial is made for lack of a proof.
        let is_proven = !last.is_trial() && (is_again || self.proof.blames(Instant::now()));
        let harmless = items.first().filter(|_| !is_proven).and_then(|item| self.handler.harmless(item));
        let Some(harmless) = harmless else {
            self.end(last, Some(rejection)).await;
            return Ok(true);
        };
        let harmless = [harmless];
        let grant = if last.is_trial() {
            // The harmless text belongs to the trial: the rejection alone must not close the breaker.
            self.count(&last, Some(rejection));
            last.grant
        } else {
            self.end(last, Some(rejection)).await;
            self.leave(&harmless, Amount::of(&harmless)).await?
        };
        let Asked { result, last, held, .. } = self.ask(&harmless, grant).await;
        let error = result.err().map(|error| match error {
            WorkError::Provider(error) => WorkError::Provider(error.about_harmless_text()),
            error => error,
        });
        let of_provider = error.as_ref().and_then(WorkError::of_provider);
        if let Some(last) = last {
            self.end(last, of_provider).await;
        }
        match error {
            // The provider takes the text of an unusable answer, too.
            Some(error) if !error.of_provider().is_some_and(ProviderError::is_about_texts) => {
                Err(held.unwrap_or_else(|| error.into()))
            }
            _ => {
                self.proof.renew(Instant::now());
                Ok(false)
            }
        }
    }

    /// Waits in line for the governor's grant. A configured limit is waited out, however long it takes: the jobs are
    /// next in line, and no other worker would be served sooner.
    ///
    /// An open breaker or a long rate limit is a setback: the jobs are put back. Nothing else is claimed meanwhile,
    /// apart from the one job of a trial call. An unreachable database is a setback too, and the results of the batch's
    /// other calls are still written.
    async fn leave(&self, items: &[Item<H::Subject>], amount: Amount) -> Result<Option<Grant>, Setback> {
        let Some(model) = self.handler.model() else { return Ok(None) };
        let call = Call {
            model: &model,
            worker: &self.worker,
            tokens: amount.tokens,
            deadline: self.deadline,
            priority: items.iter().map(|item| item.priority).max().unwrap_or(LIVE),
        };
        let mut turn = Turn::New;
        loop {
            let answer = persist(self.answer, || governor::acquire(&self.pool, &call, turn)).await.map_err(
                |error| {
                    outage::warn(&error, "the governor cannot be asked");
                    Setback::Held { wait: self.backoff.base, why: error.code().into() }
                },
            )?;
            self.burst.store(answer.burst.unwrap_or(u32::MAX), Ordering::Relaxed);
            match answer.leave {
                Leave::Granted(grant) => return Ok(Some(grant)),
                Leave::Wait { wait, why, turn: place } => {
                    let is_left_alone = why == Some(HoldReason::Breaker)
                        || (why == Some(HoldReason::RetryAfter) && wait > SHORT_WAIT);
                    let why = why.map_or("in line", <&str>::from);
                    if is_left_alone {
                        return Err(Setback::Held { wait, why: why.into() });
                    }
                    turn = place;
                    tracing::debug!(
                        model,
                        why,
                        wait_ms = wait.as_millis() as u64,
                        "waiting for leave to call"
                    );
                    // Jitter, so that waiting workers do not ask in step.
                    tokio::time::sleep(wait.mul_f64(1.0 + fastrand::f64() / 4.0)).await;
                }
            }
        }
    }

    /// Records the end of a request.
    async fn end(&self, open: InFlight, error: Option<&ProviderError>) {
        self.count(&open, error);
        if let Some((model, grant)) = self.handler.model().zip(open.grant) {
            self.finish(&model, grant, error).await;
        }
    }

    /// Counts a request in the metrics.
    fn count(&self, open: &InFlight, error: Option<&ProviderError>) {
        let (Some(model), Some(_)) = (self.handler.model(), &open.grant) else { return };
        let outcome = error.map_or("ok", ProviderError::code);
        let (took, Amount { texts, tokens }) = (open.started.elapsed(), open.amount);
        self.monitor.metrics.provider_call(&model, outcome, took, texts, tokens.into());
    }

    /// Tells the governor about the end of a call. An error is only logged: bookkeeping must not cost a result.
    async fn finish(&self, model: &str, grant: Grant, error: Option<&ProviderError>) {
        let failure = error.and_then(|error| CallFailure::of(error, self.backoff.base));
        match (error, failure.as_ref().map(|failure| failure.kind)) {
            (Some(error), Some(FailureKind::Limited { .. })) => {
                tracing::info!(code = error.code(), error = %chain(&error), "the provider limits the rate");
            }
            (Some(error), Some(_)) => {
                tracing::warn!(code = error.code(), error = %chain(&error), hint = error.hint(), "the provider failed");
            }
            _ => {}
        }
        let finish = governor::finish(&self.pool, model, grant, failure.as_ref(), self.breaker);
        if let Err(error) = self.answer.of(finish).await {
            tracing::warn!(code = error.code(), error = %chain(&error), "the end of a call could not be recorded");
        }
    }
}

/// The answer to a call.
struct Asked<T> {
    result: Result<Vec<T>, WorkError>,
    /// The last request. None if a further one was not granted.
    last: Option<InFlight>,
    /// The longest time of the requests before it.
    longest: Duration,
    /// The reason why a further request was not granted.
    held: Option<Setback>,
}

/// A request in flight.
struct InFlight {
    /// None without a provider.
    grant: Option<Grant>,
    amount: Amount,
    started: Instant,
}

impl InFlight {
    fn new(grant: Option<Grant>, amount: Amount) -> Self {
        Self { grant, amount, started: Instant::now() }
    }

    fn is_trial(&self) -> bool {
        self.grant.as_ref().is_some_and(Grant::is_trial)
    }
}

/// The texts and tokens that a request adds to the counts.
#[derive(Clone, Copy, Debug, Default)]
struct Amount {
    texts: usize,
    tokens: u32,
}

impl Amount {
    fn of<S>(items: &[Item<S>]) -> Self {
        let tokens = items.iter().fold(0, |sum: u32, item| sum.saturating_add(item.tokens));
        Self { texts: items.len(), tokens }
    }
}

/// The requests of one call, one after the other. Each needs the governor's grant, and those of a trial share one.
struct Round<'a, H: Handler> {
    dispatcher: &'a Dispatcher<H>,
    items: &'a [Item<H::Subject>],
    requests: Mutex<Requests>,
}

struct Requests {
    /// The request in flight. None if the last one has ended and no other was granted.
    open: Option<InFlight>,
    /// The longest time of a request that has ended.
    longest: Duration,
    /// The reason why a further request was not granted.
    held: Option<Setback>,
}

#[async_trait]
impl<H: Handler> Calls for Round<'_, H> {
    async fn another(&self, request: Further) -> bool {
        let amount = match request {
            Further::Again => Amount::of(self.items),
            Further::Rest => Amount::default(),
        };
        let mut requests = self.requests.lock().await;
        if let Some(ended) = requests.open.take() {
            requests.longest = requests.longest.max(ended.started.elapsed());
            if ended.is_trial() {
                // The whole call is the trial: this request may follow a rejection, which must not close the breaker.
                self.dispatcher.count(&ended, None);
                requests.open = Some(InFlight::new(ended.grant, amount));
                return true;
            }
            self.dispatcher.end(ended, None).await;
        }
        match self.dispatcher.leave(self.items, amount).await {
            Ok(grant) => requests.open = Some(InFlight::new(grant, amount)),
            Err(held) => {
                tracing::debug!(?held, "no further request");
                requests.held = Some(held);
            }
        }
        requests.open.is_some()
    }
}
