//! Browsers that were signed in with a key.

use std::time::Duration;

use chrono::{DateTime, Utc};
use sea_orm::sea_query::{Expr, ExprTrait};
use sea_orm::{EntityTrait, QueryFilter};
use sqlx::PgConnection;

use super::connections::Connections;
use super::entity::{api_key, sign_in};
use super::named::sql;
use super::orm::on;
use crate::model::api_keys::ApiKey;
use crate::model::error::Result;

/// A sign-in that has not ended.
#[derive(sqlx::FromRow)]
pub(crate) struct Found {
    #[sqlx(flatten, try_from = "api_key::Model")]
    pub(crate) key: ApiKey,
    pub(crate) ends_at: DateTime<Utc>,
}

/// Begins one, and removes those that have ended. Returns when it ends.
pub(crate) async fn begin(
    connection: &mut PgConnection,
    digest: &[u8; 32],
    key: &str,
    length: Duration,
) -> Result<DateTime<Utc>> {
    sign_in::Entity::delete_many()
        .filter(Expr::col(sign_in::Column::EndsAt).lte(Expr::current_timestamp()))
        .exec(&on(&mut *connection))
        .await?;
    sql!(
        "insert into htm.sign_ins (digest, key_id, ends_at)
         values (:digest, :key, now() + :seconds * interval '1 second')
         returning ends_at"
    )
    .bind("digest", &digest[..])?
    .bind("key", key)?
    .bind("seconds", length.as_secs_f64())?
    .fetch_scalar(connection)
    .await
}

/// The sign-in of a token, if neither it nor its key has ended.
pub(crate) async fn find(pool: &dyn Connections, digest: &[u8; 32]) -> Result<Option<Found>> {
    sql!(
        "select k.*, s.ends_at
           from htm.sign_ins s
           join htm.api_keys k on k.id = s.key_id
          where s.digest = :digest and s.ends_at > now() and k.revoked_at is null
            and (k.expires_at is null or k.expires_at > now())"
    )
    .bind("digest", &digest[..])?
    .fetch_optional(pool)
    .await
}

/// Replaces a token of this age, once. The former one is accepted for `overlap` more. Returns whether it was replaced.
pub(crate) async fn renew(
    pool: &dyn Connections,
    former: &[u8; 32],
    new: &[u8; 32],
    age: Duration,
    overlap: Duration,
) -> Result<bool> {
    let renewed = sql!(
        "with whole as (
            select digest, key_id, ends_at from htm.sign_ins
             where digest = :former and not is_replaced and issued_at <= now() - :age * interval '1 second'
               for update
         ), former as (
            update htm.sign_ins s
               set ends_at = least(s.ends_at, now() + :overlap * interval '1 second'), is_replaced = true
              from whole
             where s.digest = whole.digest
         )
         insert into htm.sign_ins (digest, key_id, ends_at) select :new, key_id, ends_at from whole"
    )
    .bind("former", &former[..])?
    .bind("age", age.as_secs_f64())?
    .bind("overlap", overlap.as_secs_f64())?
    .bind("new", &new[..])?
    .execute(pool)
    .await?;
    Ok(renewed > 0)
}

/// Ends the sign-in of a token.
pub(crate) async fn end(pool: &dyn Connections, digest: &[u8; 32]) -> Result<()> {
    sign_in::Entity::delete_by_id(digest.to_vec()).exec(&on(pool)).await?;
    Ok(())
}
