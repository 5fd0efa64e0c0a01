//! Keys of the API.

use sqlx::PgConnection;

use super::connections::Connections;
use super::named::sql;
use crate::model::api_keys::{ApiKey, NewApiKey, Parts};
use crate::model::error::Result;

/// A key that was presented.
#[derive(sqlx::FromRow)]
pub(crate) struct Presented {
    #[sqlx(flatten)]
    pub(crate) key: ApiKey,
    /// Whether its secret part is right.
    pub(crate) is_right: bool,
    pub(crate) is_expired: bool,
}

pub(crate) async fn create(connection: &mut PgConnection, parts: &Parts, key: &NewApiKey) -> Result<ApiKey> {
    sql!(
        "insert into htm.api_keys (id, digest, name, role, namespaces, robot, requests_per_minute, expires_at)
         values (:id, :digest, :name, :role, :namespaces, :robot, :rate, now() + :seconds * interval '1 second')
         returning *"
    )
    .bind("id", &parts.id)?
    .bind("digest", &parts.digest[..])?
    .bind("name", &key.name)?
    .bind("role", key.role.as_ref())?
    .bind("namespaces", (!key.namespaces.is_empty()).then_some(&key.namespaces))?
    .bind("robot", &key.robot)?
    .bind("rate", key.requests_per_minute)?
    .bind("seconds", key.expires_in.map(|time| time.as_secs_f64()))?
    .fetch_one(connection)
    .await
}

/// All keys, the newest first.
pub(crate) async fn all(pool: &dyn Connections) -> Result<Vec<ApiKey>> {
    sql!("select * from htm.api_keys order by created_at desc, id").fetch_all(pool).await
}

/// Locks a key.
pub(crate) async fn lock_in_tx(connection: &mut PgConnection, id: &str) -> Result<Option<ApiKey>> {
    sql!("select * from htm.api_keys where id = :id for update")
        .bind("id", id)?
        .fetch_optional(connection)
        .await
}

/// Revokes a key. One that is revoked stays as it is.
pub(crate) async fn revoke_in_tx(connection: &mut PgConnection, id: &str) -> Result<ApiKey> {
    sql!("update htm.api_keys set revoked_at = coalesce(revoked_at, now()) where id = :id returning *")
        .bind("id", id)?
        .fetch_one(connection)
        .await
}

/// Looks up a presented key, and notes its use.
pub(crate) async fn presented(pool: &dyn Connections, parts: &Parts) -> Result<Option<Presented>> {
    sql!(include_str!("sql/present_api_key.sql"))
        .bind("id", &parts.id)?
        .bind("digest", &parts.digest[..])?
        .fetch_optional(pool)
        .await
}

/// Whether there is any key, a revoked one included.
pub(crate) async fn exist(pool: &dyn Connections) -> Result<bool> {
    sql!("select exists (select from htm.api_keys)").fetch_scalar(pool).await
}

/// Takes up to `wanted` of a key's requests of this minute. Returns how many were left to take, and the seconds until the
/// next minute.
pub(crate) async fn take_requests(
    pool: &dyn Connections,
    id: &str,
    limit: i32,
    wanted: i32,
) -> Result<(i32, f64)> {
    sql!(include_str!("sql/take_requests.sql"))
        .bind("key", id)?
        .bind("limit", limit)?
        .bind("wanted", wanted)?
        .fetch_one(pool)
        .await
}
