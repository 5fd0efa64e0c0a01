//! Keys of the API.

use sea_orm::sea_query::{Expr, ExprTrait};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use sqlx::PgConnection;

use super::connections::Connections;
use super::entity::api_key;
use super::named::sql;
use super::orm::on;
use crate::model::api_keys::{ApiKey, NewApiKey, Parts};
use crate::model::error::Result;

/// A key that was presented.
#[derive(sqlx::FromRow)]
pub(crate) struct Presented {
    #[sqlx(flatten, try_from = "api_key::Model")]
    pub(crate) key: ApiKey,
    /// Whether its secret part is right.
    pub(crate) is_right: bool,
    pub(crate) is_expired: bool,
}

pub(crate) async fn create(connection: &mut PgConnection, parts: &Parts, key: &NewApiKey) -> Result<ApiKey> {
    let created: api_key::Model = sql!(
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
    .await?;
    Ok(created.into())
}

/// All keys, the newest first.
pub(crate) async fn all(pool: &dyn Connections) -> Result<Vec<ApiKey>> {
    let keys = api_key::Entity::find()
        .order_by_desc(api_key::Column::CreatedAt)
        .order_by_asc(api_key::Column::Id)
        .all(&on(pool))
        .await?;
    Ok(keys.into_iter().map(Into::into).collect())
}

/// Locks a key.
pub(crate) async fn lock_in_tx(connection: &mut PgConnection, id: &str) -> Result<Option<ApiKey>> {
    let found = api_key::Entity::find_by_id(id).lock_exclusive().one(&on(connection)).await?;
    Ok(found.map(Into::into))
}

/// Revokes a key. One that is revoked stays as it is.
pub(crate) async fn revoke_in_tx(connection: &mut PgConnection, id: &str) -> Result<ApiKey> {
    let before = Expr::col(api_key::Column::RevokedAt);
    let revoked = api_key::Entity::update_many()
        .col_expr(api_key::Column::RevokedAt, before.if_null(Expr::current_timestamp()))
        .filter(api_key::Column::Id.eq(id))
        .exec_with_returning(&on(connection))
        .await?;
    Ok(revoked.into_iter().next().ok_or(sqlx::Error::RowNotFound)?.into())
}

/// Looks up a presented key, and notes its use.
pub(crate) async fn presented(pool: &dyn Connections, parts: &Parts) -> Result<Option<Presented>> {
    sql!(include_str!("sql/present_api_key.sql"))
        .bind("id", &parts.id)?
        .bind("digest", &parts.digest[..])?
        .fetch_optional(pool)
        .await
}

/// As [`presented`], at a replica: its use is not noted.
pub(crate) async fn presented_at_replica(pool: &dyn Connections, parts: &Parts) -> Result<Option<Presented>> {
    sql!(
        "select k.*, k.digest = :digest as is_right, coalesce(k.expires_at <= now(), false) as is_expired
           from htm.api_keys k
          where k.id = :id"
    )
    .bind("id", &parts.id)?
    .bind("digest", &parts.digest[..])?
    .fetch_optional(pool)
    .await
}

/// Whether there is any key, a revoked one included.
pub(crate) async fn exist(pool: &dyn Connections) -> Result<bool> {
    Ok(api_key::Entity::find().one(&on(pool)).await?.is_some())
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

impl From<api_key::Model> for ApiKey {
    fn from(row: api_key::Model) -> Self {
        Self {
            id: row.id,
            name: row.name,
            role: row.role,
            namespaces: row.namespaces,
            robot: row.robot,
            requests_per_minute: row.requests_per_minute,
            created_at: row.created_at,
            expires_at: row.expires_at,
            revoked_at: row.revoked_at,
            last_used_at: row.last_used_at,
        }
    }
}
