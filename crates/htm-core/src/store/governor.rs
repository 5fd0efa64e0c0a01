//! The governor: what the whole fleet may ask of a provider, kept in PostgreSQL (`htm.providers`, `htm.budgets`).
//!
//! Requests and tokens a minute and calls at once are limits that an operator sets. The breaker opens by itself after
//! failures in a row, lets one call try now and then, and closes with its answer. `Retry-After` holds every worker.

use std::time::Duration;

use sqlx::PgPool;

use crate::error::Result;

/// Whether a call may be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Leave {
    /// It may; say how it ended with [`finish`].
    Granted(Grant),
    /// Not yet.
    Wait {
        /// How long, by the database's clock.
        wait: Duration,
        /// `requests_per_minute`, `tokens_per_minute`, `concurrent_calls`, `breaker` or `retry_after`.
        why: String,
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

/// Asks for leave to call a model with `tokens` of text, for at most `deadline`.
///
/// # Errors
/// A database error.
pub async fn acquire(
    pool: &PgPool,
    model: &str,
    worker: &str,
    tokens: u32,
    deadline: Duration,
) -> Result<Leave> {
    let (granted, report_success, trial, call, wait_ms, why): (
        bool,
        bool,
        bool,
        Option<i64>,
        i64,
        Option<String>,
    ) = sqlx::query_as(
        "select granted, report, trial, call, wait_ms, why from htm.acquire_call($1, $2, $3, $4)",
    )
    .bind(model)
    .bind(worker)
    .bind(i32::try_from(tokens).unwrap_or(i32::MAX))
    .bind(millis(deadline))
    .fetch_one(pool)
    .await?;
    Ok(match granted {
        true => Leave::Granted(Grant { call, trial, report_success }),
        false => Leave::Wait {
            wait: Duration::from_millis(u64::try_from(wait_ms).unwrap_or(0)),
            why: why.unwrap_or_default(),
        },
    })
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
    sqlx::query("select htm.finish_call($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)")
        .bind(model)
        .bind(grant.call)
        .bind(grant.trial)
        .bind(kind)
        .bind(failure.map(|failure| failure.reason.replace('\0', " ")))
        .bind(retry_after.map(millis))
        .bind(millis(wait))
        .bind(i32::try_from(breaker.failures).unwrap_or(i32::MAX))
        .bind(millis(breaker.open))
        .bind(millis(breaker.cap))
        .execute(pool)
        .await?;
    Ok(())
}

/// Spends tokens from the budgets of namespaces, one after the other: whether each had enough left today. A negative
/// number gives back; a namespace without a budget always has enough.
///
/// # Errors
/// A database error; then nothing is spent.
pub async fn spend(pool: &PgPool, amounts: &[(&str, i64)]) -> Result<Vec<bool>> {
    let (namespaces, tokens): (Vec<&str>, Vec<i64>) = amounts.iter().copied().unzip();
    // By namespace: two workers that took the same rows in different orders would wait for each other.
    let mut spent: Vec<(i64, bool)> = sqlx::query_as(
        "select ord, htm.spend(namespace, tokens)
           from (select * from unnest($1::text[], $2::bigint[]) with ordinality as a(namespace, tokens, ord)
                  order by namespace, ord) amounts",
    )
    .bind(namespaces)
    .bind(tokens)
    .fetch_all(pool)
    .await?;
    spent.sort_unstable();
    Ok(spent.into_iter().map(|(_, enough)| enough).collect())
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
