//! The governor: what the whole fleet may ask of a provider, kept in PostgreSQL (`htm.providers`, `htm.budgets`).
//!
//! Requests and tokens a minute and calls at once are limits that an operator sets. The breaker opens by itself after
//! failures in a row, lets one call try now and then, and closes with its answer. `Retry-After` holds every worker.
//!
//! Who has to wait for a limit waits in line (`htm.waiting_calls`): by priority, then first come, first served. A large
//! call gets its turn although small ones would find room sooner.

use std::time::Duration;

use chrono::{DateTime, NaiveDate, Utc};
use sqlx::PgPool;

use super::named::sql;
use crate::model::error::Result;
use crate::model::fault::Fault;
use crate::model::providers::HoldReason;
use crate::provider::{ProviderError, ProviderErrorKind};

/// A call that somebody would make.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// The model's label.
    pub model: &'a str,
    /// Who would make it.
    pub worker: &'a str,
    /// How much text it sends.
    pub tokens: u32,
    /// It ends within this.
    pub deadline: Duration,
    /// Of its most urgent job; see [`LIVE`](super::priorities::LIVE).
    pub priority: i32,
}

/// Whether who asks waits in line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// No: a denial is the end of it.
    Once,
    /// From now on, if it has to.
    New,
    /// Since an earlier denial; from [`Leave::Wait`].
    Waiting(i64),
}

/// The governor's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Whether the call may be made.
    pub leave: Leave,
    /// The most tokens that a call of this model should have: a larger one waits until the bucket is full.
    pub burst: Option<u32>,
}

/// Whether a call may be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Leave {
    /// It may; say how it ended with [`finish`].
    Granted(Grant),
    /// Not yet.
    Wait {
        /// How long, by the database's clock.
        wait: Duration,
        /// Why; none for a call that only stands in line.
        why: Option<HoldReason>,
        /// The place in line, to ask with again. It is lost by who does not ask for some seconds after `wait`.
        turn: Turn,
    },
}

/// Leave to make one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    call: Option<i64>,
    trial: bool,
    report_success: bool,
}

/// A call that failed, as the breaker sees it.
#[derive(Clone, Debug)]
pub struct CallFailure {
    /// What happened; shown to operators.
    pub reason: String,
    /// What that means for the calls to come.
    pub kind: FailureKind,
}

impl CallFailure {
    /// What a provider's error means for the calls to come. None for an error about the texts: the provider itself works.
    /// `wait` is the wait after a rate limit without `Retry-After`.
    pub fn of(error: &ProviderError, wait: Duration) -> Option<Self> {
        if error.is_about_texts() {
            return None;
        }
        let kind = match error.kind {
            ProviderErrorKind::RateLimited { retry_after } => FailureKind::Limited { retry_after, wait },
            _ if error.fault() == Fault::Permanent => FailureKind::Permanent,
            _ => FailureKind::Transient,
        };
        Some(Self { reason: format!("{}: {error}", error.code()), kind })
    }
}

/// What a failed call means for the calls to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// The provider is well and wants to be left alone: for as long as it says, else for `wait`, doubled with each
    /// limit in a row.
    Limited {
        /// From `Retry-After`.
        retry_after: Option<Duration>,
        /// When it does not say.
        wait: Duration,
    },
    /// It may pass.
    Transient,
    /// It will not mend by itself (a refused key): the breaker opens at once.
    Permanent,
}

/// When the breaker opens, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Breaker {
    /// Failures in a row, of the whole fleet.
    pub failures: u32,
    /// How long it is open the first time; doubled with each opening in a row.
    pub open: Duration,
    /// The longest that it is open.
    pub cap: Duration,
}

impl Default for Breaker {
    fn default() -> Self {
        Self { failures: 5, open: Duration::from_secs(5), cap: Duration::from_secs(5 * 60) }
    }
}

/// Asks for leave to make a call.
///
/// # Errors
/// A database error.
pub async fn acquire(pool: &PgPool, call: &Call<'_>, turn: Turn) -> Result<Answer> {
    let answer: Acquired =
        sql!("select * from htm.acquire_call(:model, :worker, :tokens, :deadline_ms, :priority, :turn)")
            .bind("model", call.model)?
            .bind("worker", call.worker)?
            .bind("tokens", i32::try_from(call.tokens).unwrap_or(i32::MAX))?
            .bind("deadline_ms", millis(call.deadline))?
            .bind("priority", call.priority)?
            .bind(
                "turn",
                match turn {
                    Turn::Once => None,
                    Turn::New => Some(0),
                    Turn::Waiting(turn) => Some(turn),
                },
            )?
            .fetch_one(pool)
            .await?;
    let leave = match answer.granted {
        true => {
            Leave::Granted(Grant { call: answer.call, trial: answer.trial, report_success: answer.report })
        }
        false => Leave::Wait {
            wait: Duration::from_millis(u64::try_from(answer.wait_ms).unwrap_or(0)),
            why: answer.why,
            turn: match (turn, answer.turn) {
                (Turn::Once, _) => Turn::Once,
                (_, Some(turn)) => Turn::Waiting(turn),
                (_, None) => Turn::New,
            },
        },
    };
    Ok(Answer { leave, burst: answer.burst.and_then(|burst| u32::try_from(burst).ok()) })
}

#[derive(sqlx::FromRow)]
struct Acquired {
    granted: bool,
    report: bool,
    trial: bool,
    call: Option<i64>,
    turn: Option<i64>,
    wait_ms: i64,
    burst: Option<i32>,
    why: Option<HoldReason>,
}

/// Records why a model could not even be asked, as by a worker that did not start for it. The breaker stays as it is:
/// other workers may do better.
///
/// # Errors
/// A database error.
pub async fn note(pool: &PgPool, model: &str, reason: &str) -> Result<()> {
    sql!(
        "insert into htm.providers as p (model, reason) values (:model, :reason)
         on conflict (model) do update set reason = excluded.reason, changed_at = now() where p.breaker = 'closed'"
    )
    .bind("model", model)?
    .bind("reason", reason.replace('\0', " "))?
    .execute(pool)
    .await?;
    Ok(())
}

/// Says how a call ended. A good end costs nothing when nobody waits to hear of it.
///
/// # Errors
/// A database error; then a counted call ends at its deadline.
pub async fn finish(
    pool: &PgPool,
    model: &str,
    grant: Grant,
    failure: Option<&CallFailure>,
    breaker: Breaker,
) -> Result<()> {
    if failure.is_none() && !grant.report_success {
        return Ok(());
    }
    let (kind, retry_after, wait) = match failure.map(|failure| failure.kind) {
        None => ("answered", None, Duration::ZERO),
        Some(FailureKind::Limited { retry_after, wait }) => ("limited", retry_after, wait),
        Some(FailureKind::Transient) => ("transient", None, Duration::ZERO),
        Some(FailureKind::Permanent) => ("permanent", None, Duration::ZERO),
    };
    sql!(
        "select htm.finish_call(:model, :call, :trial, :kind, :reason, :retry_after_ms, :wait_ms, :failures,
                                :open_ms, :cap_ms)"
    )
    .bind("model", model)?
    .bind("call", grant.call)?
    .bind("trial", grant.trial)?
    .bind("kind", kind)?
    .bind("reason", failure.map(|failure| failure.reason.replace('\0', " ")))?
    .bind("retry_after_ms", retry_after.map(millis))?
    .bind("wait_ms", millis(wait))?
    .bind("failures", i32::try_from(breaker.failures).unwrap_or(i32::MAX))?
    .bind("open_ms", millis(breaker.open))?
    .bind("cap_ms", millis(breaker.cap))?
    .execute(pool)
    .await?;
    Ok(())
}

/// What became of an amount that was to be spent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spent {
    /// The namespace has no budget.
    Freely,
    /// It came from the budget of this day (UTC); [`refund`] gives it back.
    On(NaiveDate),
    /// Too little is left today, and nothing was spent: there is a new budget then.
    TooMuch {
        /// The next midnight (UTC).
        until: DateTime<Utc>,
    },
}

/// Spends tokens from the budgets of namespaces, one after the other.
///
/// # Errors
/// A database error; then nothing is spent.
pub async fn spend(pool: &PgPool, amounts: &[(&str, i64)]) -> Result<Vec<Spent>> {
    let (namespaces, tokens): (Vec<&str>, Vec<i64>) = amounts.iter().copied().unzip();
    // By namespace: two workers that took the same rows in different orders would wait for each other.
    let mut spent: Vec<(i64, Option<NaiveDate>, Option<DateTime<Utc>>)> = sql!(
        "select ord, spent_on, until
           from (select * from unnest(:namespaces::text[], :tokens::bigint[])
                                 with ordinality as a(namespace, tokens, ord)
                  order by namespace, ord) amounts, htm.spend(namespace, tokens)"
    )
    .bind("namespaces", namespaces)?
    .bind("tokens", tokens)?
    .fetch_all(pool)
    .await?;
    spent.sort_unstable();
    let spent = spent.into_iter().map(|(_, spent_on, until)| match (spent_on, until) {
        (_, Some(until)) => Spent::TooMuch { until },
        (Some(day), None) => Spent::On(day),
        (None, None) => Spent::Freely,
    });
    Ok(spent.collect())
}

/// Gives back what was spent on a day: to that day's budget, or to nobody when it is over.
///
/// # Errors
/// A database error; then nothing is given back.
pub async fn refund(pool: &PgPool, amounts: &[(&str, NaiveDate, i64)]) -> Result<()> {
    let namespaces: Vec<&str> = amounts.iter().map(|(namespace, ..)| *namespace).collect();
    let days: Vec<NaiveDate> = amounts.iter().map(|(_, day, _)| *day).collect();
    let tokens: Vec<i64> = amounts.iter().map(|(.., tokens)| *tokens).collect();
    sql!(
        "select htm.refund(namespace, day, tokens)
           from (select * from unnest(:namespaces::text[], :days::date[], :tokens::bigint[]) as a(namespace, day, tokens)
                  order by namespace) amounts"
    )
    .bind("namespaces", namespaces)?
    .bind("days", days)?
    .bind("tokens", tokens)?
    .execute(pool)
    .await?;
    Ok(())
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
