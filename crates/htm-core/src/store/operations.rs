//! Operations and their answers.

use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter};
use serde_json::{Value, json};
use sqlx::PgConnection;

use std::time::Duration;

use super::connections::Connections;
use super::entity::operation;
use super::named::sql;
use super::orm::on;
use crate::model::error::Result;
use crate::model::operations::{Kept, Operation};

/// The most operations that one statement deletes.
const SWEEP: i64 = 10_000;

/// Claims an operation for a time. Returns the answer of an earlier request instead, if there was one. Of two at the
/// same time in transactions, the second waits for the first. An operation whose claim has run out is claimed again.
///
/// # Errors
/// `operation_differs`, `operation_open`, or a database error.
pub(crate) async fn claim(
    connection: &mut PgConnection,
    operation: &Operation,
    lease: Duration,
) -> Result<Option<Value>> {
    let claimed = sql!(
        "insert into htm.operations (scope, id, digest, claimed_until, expires_at)
         values (:scope, :id, :digest, clock_timestamp() + :lease * interval '1 second',
                 clock_timestamp() + :keep * interval '1 second')
         on conflict (scope, id) do update
            set digest = excluded.digest, answer = null, claimed_until = excluded.claimed_until,
                expires_at = excluded.expires_at
          where operations.expires_at < clock_timestamp()
             or operations.answer is null and operations.claimed_until < clock_timestamp()
            and operations.digest = excluded.digest"
    )
    .bind("scope", &operation.scope)?
    .bind("id", &operation.id)?
    .bind("digest", &operation.digest[..])?
    .bind("lease", lease.as_secs_f64())?
    .bind("keep", operation.keep.as_secs_f64())?
    .execute(&mut *connection)
    .await?;
    if claimed == 1 {
        return Ok(None);
    }
    let key = (operation.scope.clone(), operation.id.clone());
    let found = operation::Entity::find_by_id(key).one(&on(connection)).await?;
    match found.map(|found| (found.digest, found.answer)) {
        Some((_, Some(answer))) if answer == erased() => Err(operation.erased()),
        Some((digest, _)) if digest != operation.digest => Err(operation.differs()),
        Some((_, Some(answer))) => Ok(Some(answer)),
        // None: abandoned or swept this moment.
        Some((_, None)) | None => Err(operation.open()),
    }
}

/// The substitute for an answer about a memory that was erased. Without it, a retry would write the memory again.
pub(crate) fn erased() -> Value {
    json!({"erased": true})
}

/// Claims an operation without an answer for a time from now.
pub(crate) async fn renew(pool: &dyn Connections, operation: &Operation, lease: Duration) -> Result<()> {
    sql!(
        "update htm.operations set claimed_until = clock_timestamp() + :lease * interval '1 second'
          where scope = :scope and id = :id and digest = :digest and answer is null"
    )
    .bind("lease", lease.as_secs_f64())?
    .bind("scope", &operation.scope)?
    .bind("id", &operation.id)?
    .bind("digest", &operation.digest[..])?
    .execute(pool)
    .await
    .map(drop)
}

/// Keeps the answer of an operation.
pub(crate) async fn answer(
    connection: &mut PgConnection,
    operation: &Operation,
    answer: &Value,
) -> Result<()> {
    operation::Entity::update_many()
        .set(operation::ActiveModel { answer: Set(Some(answer.clone())), ..Default::default() })
        .col_expr(operation::Column::ClaimedUntil, Expr::cust("clock_timestamp()"))
        .filter(operation::Column::Scope.eq(&operation.scope))
        .filter(operation::Column::Id.eq(&operation.id))
        .filter(operation::Column::Digest.eq(operation.digest.to_vec()))
        .exec(&on(connection))
        .await?;
    Ok(())
}

/// Keeps the answer to a write, if it is an operation.
///
/// # Errors
/// A database error.
pub(crate) async fn keep_in_tx<T>(
    connection: &mut PgConnection,
    kept: Option<Kept<'_, T>>,
    result: &T,
) -> Result<()> {
    let Some(Kept { operation, answer: made }) = kept else { return Ok(()) };
    answer(connection, operation, &made(result)).await
}

/// Deletes an operation without an answer.
pub(crate) async fn abandon(pool: &dyn Connections, operation: &Operation) -> Result<()> {
    operation::Entity::delete_by_id((operation.scope.clone(), operation.id.clone()))
        .filter(operation::Column::Digest.eq(operation.digest.to_vec()))
        .filter(operation::Column::Answer.is_null())
        .exec(&on(pool))
        .await?;
    Ok(())
}

/// Deletes operations whose time has passed; returns their number.
///
/// # Errors
/// A database error.
pub async fn sweep(pool: &dyn Connections) -> Result<u64> {
    let mut deleted = 0;
    loop {
        let now = sql!(
            "delete from htm.operations where (scope, id) in
             (select scope, id from htm.operations where expires_at < now()
               order by expires_at limit :limit for update skip locked)"
        )
        .bind("limit", SWEEP)?
        .execute(pool)
        .await?;
        deleted += now;
        if now < SWEEP as u64 {
            return Ok(deleted);
        }
    }
}
