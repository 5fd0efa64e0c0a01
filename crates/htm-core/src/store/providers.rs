//! Models of providers: their limits, which the fleet shares, and their state. And the budgets of namespaces, and what they
//! spend.

use chrono::{DateTime, NaiveDate, Utc};
use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::{Expr, OnConflict};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QuerySelect};

use super::audit_log::{self, Done};
use super::connections::Connections;
use super::entity::{budget, provider};
use super::jobs;
use super::named::sql;
use super::orm::on;
use crate::model::error::{Error, Result, codes};
use crate::model::field_change::FieldChange;
use crate::model::jobs::Stage;
use crate::model::memory::validate_namespace;
use crate::model::providers::BreakerState;

/// A model of a provider, as an operator sees it. A model without limits that never failed has no row.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, sqlx::FromRow)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Provider {
    /// The model's label.
    pub model: String,
    /// The most requests that the fleet may send in a minute; none: no limit.
    pub requests_per_minute: Option<i32>,
    /// The most tokens that it may send in a minute; none: no limit.
    pub tokens_per_minute: Option<i32>,
    /// The most concurrent calls; none: no limit.
    pub concurrent_calls: Option<i32>,
    /// Calls in progress; counted only if `concurrent_calls` is set.
    pub calls: i64,
    /// Calls that wait in line for a limit.
    pub waiting: i64,
    /// The state of its breaker.
    pub breaker: BreakerState,
    /// Consecutive failed calls.
    pub failures: i32,
    /// The reason of the last failure.
    pub reason: Option<String>,
    /// Open: the time of the next trial call. Half open: the time when that trial is given up.
    pub retry_at: Option<DateTime<Utc>>,
    /// The provider's Retry-After: no call before. It may have passed.
    pub resume_at: Option<DateTime<Utc>>,
    /// The time for which nothing is claimed yet, in milliseconds; none if the model may be called.
    pub held_ms: Option<i64>,
}

/// Changes of a model's limits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LimitChanges {
    /// Requests a minute, at least 1.
    pub requests_per_minute: FieldChange<i32>,
    /// Tokens a minute, at least 1.
    pub tokens_per_minute: FieldChange<i32>,
    /// Concurrent calls, at least 1.
    pub concurrent_calls: FieldChange<i32>,
}

impl LimitChanges {
    fn validate(&self) -> Result<()> {
        let given = [self.requests_per_minute, self.tokens_per_minute, self.concurrent_calls];
        match given.iter().filter_map(FieldChange::set).find(|limit| **limit < 1) {
            Some(limit) => {
                Err(Error::new(codes::LIMIT_OUT_OF_RANGE, format!("a limit of {limit} is below 1"))
                    .with_hint("give 1 or more, or remove the limit"))
            }
            None => Ok(()),
        }
    }
}

/// The models that have limits or have failed.
///
/// # Errors
/// A database error.
pub(crate) async fn list(pool: &dyn Connections) -> Result<Vec<Provider>> {
    sql!(
        "select p.*, (select count(*) from htm.provider_calls c where c.model = p.model and c.expires_at > now()) as calls,
                (select count(*) from htm.waiting_calls w where w.model = p.model and w.expires_at > now()) as waiting,
                (extract(epoch from nullif(greatest(p.retry_at, p.resume_at, now()), now()) - now()) * 1000)::bigint
                    as held_ms
           from htm.providers p
          order by p.model"
    )
    .fetch_all(pool)
    .await
}

/// Changes the limits of a model, used or not. Its buckets are full afterwards. A model without limits that never failed
/// has no row afterwards.
///
/// # Errors
/// `limit_out_of_range` for a limit below 1, or a database error.
pub(crate) async fn set_limits(
    pool: &dyn Connections,
    model: &str,
    changes: LimitChanges,
    done: Done<'_>,
) -> Result<()> {
    changes.validate()?;
    let (change_requests, requests) = changes.requests_per_minute.parts();
    let (change_tokens, tokens) = changes.tokens_per_minute.parts();
    let (change_calls, calls) = changes.concurrent_calls.parts();
    let mut tx = pool.begin().await?;
    let limits = provider::ActiveModel {
        model: Set(model.to_owned()),
        requests_per_minute: Set(requests),
        tokens_per_minute: Set(tokens),
        concurrent_calls: Set(calls),
        levels_at: Set(None),
        ..Default::default()
    };
    let limit_columns = [
        (provider::Column::RequestsPerMinute, change_requests),
        (provider::Column::TokensPerMinute, change_tokens),
        (provider::Column::ConcurrentCalls, change_calls),
    ];
    let changed = limit_columns.into_iter().filter_map(|(column, is_changed)| is_changed.then_some(column));
    let unless_new = OnConflict::column(provider::Column::Model)
        .update_columns(changed.chain([provider::Column::LevelsAt]))
        .value(provider::Column::ChangedAt, Expr::current_timestamp())
        .to_owned();
    provider::Entity::insert(limits).on_conflict(unless_new).exec_without_returning(&on(&mut tx)).await?;
    provider::Entity::delete_many()
        .filter(provider::Column::Model.eq(model))
        .filter(provider::Column::RequestsPerMinute.is_null())
        .filter(provider::Column::TokensPerMinute.is_null())
        .filter(provider::Column::ConcurrentCalls.is_null())
        .filter(provider::Column::Breaker.eq(BreakerState::Closed))
        .filter(provider::Column::Failures.eq(0))
        .filter(provider::Column::Reason.is_null())
        .filter(provider::Column::ResumeAt.is_null())
        .exec(&on(&mut tx))
        .await?;
    audit_log::record(&mut tx, done).await?;
    tx.commit().await?;
    Ok(())
}

/// Closes a model's breaker, clears its Retry-After, and wakes the workers: the next call is made at once. Jobs that
/// were deferred because of the provider are due again; returns their number.
///
/// # Errors
/// `provider_unknown` when nothing is recorded of the model, or a database error.
pub(crate) async fn reset(pool: &dyn Connections, model: &str) -> Result<u64> {
    let mut tx = pool.begin_with("begin; set local statement_timeout = 0").await?;
    let well = provider::ActiveModel {
        breaker: Set(BreakerState::Closed),
        failures: Set(0),
        openings: Set(0),
        limits: Set(0),
        reason: Set(None),
        retry_at: Set(None),
        resume_at: Set(None),
        levels_at: Set(None),
        ..Default::default()
    };
    let updated = provider::Entity::update_many()
        .set(well)
        .col_expr(provider::Column::ChangedAt, Expr::current_timestamp())
        .filter(provider::Column::Model.eq(model))
        .exec(&on(&mut tx))
        .await?;
    if updated.rows_affected == 0 {
        tx.rollback().await?;
        let known: Vec<String> = list(pool).await?.into_iter().map(|provider| provider.model).collect();
        let error = Error::new(codes::PROVIDER_UNKNOWN, format!("nothing is recorded of a model `{model}`"));
        return Err(match known.is_empty() {
            true => error,
            false => error
                .with_hint(format!("use one of: {}", known.join(", ")))
                .with_value("known", known.join(", ")),
        });
    }
    // An embedding model has a queue of its own; any other model tags. Jobs are locked in the order of their ids, so that
    // no two statements deadlock.
    let hastened = sql!(
        "with deferred as (
            select id from apalis.jobs
             where job_type = case when exists (select from htm.embedding_models where label = :model)
                                   then (select queue from htm.embedding_models where label = :model) else 'htm.tag' end
               and status = 'Pending' and metadata ? 'deferred_since' and not metadata ? 'parked'
             order by id
               for update
         )
         update apalis.jobs j set run_at = now(), metadata = delete(j.metadata, 'deferred_since')
           from deferred d
          where j.id = d.id"
    )
    .bind("model", model)?
    .execute(&mut *tx)
    .await?;
    tx.commit().await?;
    jobs::ping(pool).await;
    Ok(hastened)
}

/// The daily token budget of a namespace, and its use.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, sqlx::FromRow)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Budget {
    /// The namespace.
    pub namespace: String,
    /// Tokens a day (UTC), at all providers together.
    pub tokens_per_day: i64,
    /// Tokens spent today.
    pub tokens_used: i64,
    /// Jobs that wait for tomorrow's budget.
    pub parked: i64,
}

/// The namespaces that have a budget.
///
/// # Errors
/// A database error.
pub(crate) async fn budgets(pool: &dyn Connections) -> Result<Vec<Budget>> {
    sql!(
        "select b.namespace, b.tokens_per_day,
                case when b.day = (now() at time zone 'utc')::date then b.tokens_used else 0 end as tokens_used,
                (select count(*) from apalis.jobs j
                  where j.job_type like 'htm.%' and j.status = 'Pending' and j.status <> 'Done'
                    and j.metadata -> 'namespace' = b.namespace collate \"default\" -- the index's
                    and j.metadata -> 'parked' = 'budget' and j.run_at > now()) as parked
           from htm.budgets b
          order by b.namespace"
    )
    .fetch_all(pool)
    .await
}

/// The most rows of a usage.
const MAX_USAGE: i64 = 10_000;

/// The tokens of the memories of a namespace that a model has processed last on one day.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, sqlx::FromRow)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TokenUsage {
    /// The day (UTC).
    pub day: NaiveDate,
    /// The namespace.
    pub namespace: String,
    /// The stage of the calls.
    pub stage: Stage,
    /// The model's label.
    pub model: String,
    /// The memories whose last result is of that day. One that was purged or erased since is not counted.
    pub jobs: i64,
    /// The tokens of their memories' texts, as budgets count them. Prompts and answers are not counted.
    pub tokens: i64,
}

/// The tokens of the memories whose last result of a stage and a model is of the last days, the latest day first, and in
/// each day the most tokens first. At most 10,000 rows.
pub(crate) async fn usage(pool: &dyn Connections, days: u32) -> Result<Vec<TokenUsage>> {
    sql!(include_str!("sql/token_usage.sql"))
        .bind("days", i64::from(days))?
        .bind("limit", MAX_USAGE)?
        .planned_anew()
        .fetch_all(pool)
        .await
}

/// Sets the daily token budget of a namespace; none: no limit. Jobs that were parked for the budget are due at once if
/// it was removed, or raised beyond what is spent today; returns their number.
///
/// # Errors
/// `namespace_invalid`, `budget_out_of_range` for a budget below 0, or a database error.
pub(crate) async fn set_budget(
    pool: &dyn Connections,
    namespace: &str,
    tokens_per_day: Option<i64>,
    done: &Done<'_>,
) -> Result<u64> {
    validate_namespace(namespace)?;
    if let Some(tokens) = tokens_per_day.filter(|tokens| *tokens < 0) {
        return Err(Error::new(
            codes::BUDGET_OUT_OF_RANGE,
            format!("a budget of {tokens} tokens is below 0"),
        )
        .with_hint("give 0 or more, or remove the budget"));
    }
    // A million parked jobs may take longer than the application's statement timeout.
    let mut tx = pool.begin_with("begin; set local statement_timeout = 0").await?;
    let own = budget::Entity::find_by_id(namespace).lock_exclusive().one(&on(&mut tx)).await?;
    let before = own.map(|budget| budget.tokens_per_day);
    match tokens_per_day {
        None => {
            budget::Entity::delete_by_id(namespace).exec(&on(&mut tx)).await?;
        }
        Some(tokens) => {
            let budget = budget::ActiveModel {
                namespace: Set(namespace.to_owned()),
                tokens_per_day: Set(tokens),
                // A budget is one of the whole day, whenever it is set.
                tokens_used: Set(spent_today(&mut tx, namespace).await?),
                ..Default::default()
            };
            let changed = OnConflict::column(budget::Column::Namespace)
                .update_column(budget::Column::TokensPerDay)
                .to_owned();
            budget::Entity::insert(budget).on_conflict(changed).exec_without_returning(&on(&mut tx)).await?;
        }
    }
    let has_room = match tokens_per_day {
        None => true,
        Some(after) => {
            before.is_none_or(|before| after > before) && after > used_today(&mut tx, namespace).await?
        }
    };
    let unparked = if has_room { unpark(&mut tx, namespace).await? } else { 0 };
    audit_log::record(&mut tx, done.clone()).await?;
    tx.commit().await?;
    if unparked > 0 {
        jobs::ping(pool).await;
    }
    Ok(unparked)
}

/// The tokens of the results of a namespace that were made today and are there now. Repeated work counts once: only a
/// budget counts what is spent.
async fn spent_today(connection: &mut sqlx::PgConnection, namespace: &str) -> Result<i64> {
    sql!(
        "select coalesce(sum(n.token_count), 0)::bigint
           from htm.completions c
           join htm.nodes n on n.id = c.node_id and n.namespace = c.namespace
          where c.namespace = :namespace and c.done_at >= date_trunc('day', now() at time zone 'utc') at time zone 'utc'"
    )
    .bind("namespace", namespace)?
    .fetch_scalar(connection)
    .await
}

/// The tokens that count against the budget of a namespace today.
async fn used_today(connection: &mut sqlx::PgConnection, namespace: &str) -> Result<i64> {
    sql!(
        "select case when day = (now() at time zone 'utc')::date then tokens_used else 0 end
           from htm.budgets where namespace = :namespace"
    )
    .bind("namespace", namespace)?
    .fetch_scalar(connection)
    .await
}

async fn unpark(connection: &mut sqlx::PgConnection, namespace: &str) -> Result<u64> {
    // Jobs are locked in the order of their ids, so that no two statements deadlock.
    let updated = sql!(
        "with parked as (
            select id from apalis.jobs
             where job_type like 'htm.%' and status = 'Pending' and status <> 'Done'
               and metadata -> 'namespace' = :namespace and metadata -> 'parked' = 'budget'
             order by id
               for update
         )
         update apalis.jobs j set run_at = now(), metadata = delete(j.metadata, 'parked')
           from parked p
          where j.id = p.id"
    )
    .bind("namespace", namespace)?
    .execute(connection)
    .await?;
    Ok(updated)
}
