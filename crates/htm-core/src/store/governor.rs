//! The governor: the limits of the whole fleet for calls to providers, kept in PostgreSQL (`htm.providers`,
//! `htm.budgets`).
//!
//! An operator limits the requests and tokens a minute and the concurrent calls. The breaker opens after consecutive
//! failures, lets a trial call pass now and then, and closes when one is answered. `Retry-After` holds every worker.
//!
//! Calls that have to wait for a limit wait in line (`htm.waiting_calls`): by priority, then first come, first served.
//! A large call gets its turn although small ones would find room sooner.

use std::time::Duration;

use chrono::{DateTime, NaiveDate, Utc};
use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::{Expr, OnConflict};
use sea_orm::{ColumnTrait, EntityTrait};

use super::connections::Connections;
use super::entity::provider;
use super::named::sql;
use super::orm::on;
use crate::model::error::Result;
use crate::model::fault::Fault;
use crate::model::providers::{BreakerState, HoldReason};
use crate::provider::{ProviderError, ProviderErrorKind};

/// A call to be made.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// The model's label.
    pub model: &'a str,
    /// The worker that would make it.
    pub worker: &'a str,
    /// The number of tokens that it sends.
    pub tokens: u32,
    /// The time within which it ends.
    pub deadline: Duration,
    /// The priority of its most urgent job; see [`LIVE`](super::priorities::LIVE).
    pub priority: i32,
}

/// Whether the call waits in line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// It does not wait: a denial is final.
    Once,
    /// It waits from now on, if it has to.
    New,
    /// It has waited since an earlier denial; from [`Leave::Wait`].
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
    /// It may be made; report its end with [`finish`].
    Granted(Grant),
    /// It may not be made yet.
    Wait {
        /// The time to wait, by the database's clock.
        wait: Duration,
        /// The reason; none for a call that only stands in line.
        why: Option<HoldReason>,
        /// The place in line, for the next request. It is lost without a request within some seconds after `wait`.
        turn: Turn,
    },
}

/// The permission for one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    call: Option<i64>,
    trial: bool,
    report_success: bool,
}

impl Grant {
    /// Whether the breaker waits for the end of this call, which closes it or opens it again.
    pub fn is_trial(&self) -> bool {
        self.trial
    }
}

/// A call that failed, as the breaker sees it.
#[derive(Clone, Debug)]
pub struct CallFailure {
    /// The reason; shown to operators.
    pub reason: String,
    /// The consequence for later calls.
    pub kind: FailureKind,
}

impl CallFailure {
    /// The failure that a provider's error means for later calls. None for an error about the texts: the provider
    /// itself works. `wait` is the wait after a rate limit without `Retry-After`.
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

/// The consequence of a failed call for later calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// The provider works, but limits the rate. Calls are held for `retry_after`, or else for `wait`, doubled with each
    /// consecutive limit.
    Limited {
        /// From `Retry-After`.
        retry_after: Option<Duration>,
        /// The wait without `Retry-After`.
        wait: Duration,
    },
    /// A failure that may pass.
    Transient,
    /// A failure that does not pass by itself (a refused key, a request that is refused whatever its text): the breaker
    /// opens at once.
    Permanent,
}

/// The settings of the breaker: when it opens, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Breaker {
    /// The consecutive failures of the whole fleet after which it opens.
    pub failures: u32,
    /// The time for which it is open at first; doubled with each consecutive opening.
    pub open: Duration,
    /// The longest time for which it is open.
    pub cap: Duration,
}

impl Default for Breaker {
    fn default() -> Self {
        Self { failures: 5, open: Duration::from_secs(5), cap: Duration::from_secs(5 * 60) }
    }
}

/// Asks for permission to make a call.
///
/// # Errors
/// A database error.
pub async fn acquire(pool: &dyn Connections, call: &Call<'_>, turn: Turn) -> Result<Answer> {
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

/// Records the reason why a model could not be called at all, such as the failed start of a worker. The breaker stays
/// as it is: other workers may succeed.
///
/// # Errors
/// A database error.
pub async fn note(pool: &dyn Connections, model: &str, reason: &str) -> Result<()> {
    let noted = provider::ActiveModel {
        model: Set(model.to_owned()),
        reason: Set(Some(reason.replace('\0', " "))),
        ..Default::default()
    };
    let renewed = OnConflict::column(provider::Column::Model)
        .update_column(provider::Column::Reason)
        .value(provider::Column::ChangedAt, Expr::current_timestamp())
        .action_and_where(provider::Column::Breaker.eq(BreakerState::Closed))
        .to_owned();
    provider::Entity::insert(noted).on_conflict(renewed).exec_without_returning(&on(pool)).await?;
    Ok(())
}

/// Reports the end of a call. A success costs no statement, unless the governor waits for the report.
///
/// # Errors
/// A database error; then a counted call ends at its deadline.
pub async fn finish(
    pool: &dyn Connections,
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

/// The result of spending an amount.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spent {
    /// The namespace has no budget.
    Freely,
    /// Spent from the budget of this day (UTC); [`refund`] gives it back.
    On(NaiveDate),
    /// Too little of today's budget is left, and nothing was spent.
    TooMuch {
        /// The start of the next budget: the next midnight (UTC).
        until: DateTime<Utc>,
    },
}

/// Spends tokens from the budgets of namespaces, one after the other.
///
/// # Errors
/// A database error; then nothing is spent.
pub async fn spend(pool: &dyn Connections, amounts: &[(&str, i64)]) -> Result<Vec<Spent>> {
    let (namespaces, tokens): (Vec<&str>, Vec<i64>) = amounts.iter().copied().unzip();
    // Ordered by namespace: two workers that lock the same rows in different orders would deadlock.
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

/// Gives back tokens spent on a day, to the budget of that day. If that day is over, nothing is given back.
///
/// # Errors
/// A database error; then nothing is given back.
pub async fn refund(pool: &dyn Connections, amounts: &[(&str, NaiveDate, i64)]) -> Result<()> {
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
