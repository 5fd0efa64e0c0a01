//! Quotas of namespaces.

use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::OnConflict;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use sqlx::PgConnection;

use super::connections::{Connections, Db};
use super::entity::quota;
use super::named::sql;
use super::orm::on;
use crate::model::error::Result;
use crate::model::quotas::{Quota, QuotaUse};

pub(crate) async fn get(db: impl Into<Db<'_>>, namespace: &str) -> Result<Quota> {
    let found = quota::Entity::find_by_id(namespace).one(&on(db)).await?;
    Ok(found.map_or_else(Quota::default, |row| Quota {
        max_memories: row.max_memories,
        max_bytes: row.max_bytes,
        requests_per_minute: row.requests_per_minute,
    }))
}

/// Those of these namespaces whose quota limits requests, and the most requests a minute of each.
pub(crate) async fn of_requests(pool: &dyn Connections, namespaces: &[String]) -> Result<Vec<(String, i32)>> {
    Ok(quota::Entity::find()
        .select_only()
        .columns([quota::Column::Namespace, quota::Column::RequestsPerMinute])
        .filter(quota::Column::Namespace.eq_any(namespaces.to_vec()))
        .filter(quota::Column::RequestsPerMinute.is_not_null())
        .order_by_asc(quota::Column::Namespace)
        .into_tuple()
        .all(&on(pool))
        .await?)
}

/// Takes up to `wanted` of the requests that the quota of a namespace allows in this minute. Returns how many were left to
/// take, and the seconds until the next minute. None: it allows any number.
pub(crate) async fn take_requests(
    pool: &dyn Connections,
    namespace: &str,
    wanted: i32,
) -> Result<Option<(i32, f64)>> {
    sql!(include_str!("sql/take_requests_of_namespace.sql"))
        .bind("namespace", namespace)?
        .bind("wanted", wanted)?
        .fetch_optional(pool)
        .await
}

/// Reads the quota of a namespace, and keeps other transactions from changing it until the end of this one.
pub(crate) async fn hold_in_tx(connection: &mut PgConnection, namespace: &str) -> Result<Quota> {
    sql!("select pg_advisory_xact_lock(hashtextextended('htm.quotas/' || :namespace, 0))")
        .bind("namespace", namespace)?
        .execute(&mut *connection)
        .await?;
    get(connection, namespace).await
}

/// Sets a quota. One that limits nothing is deleted.
pub(crate) async fn set_in_tx(connection: &mut PgConnection, namespace: &str, quota: Quota) -> Result<()> {
    if quota.is_none() {
        quota::Entity::delete_by_id(namespace).exec(&on(connection)).await?;
        return Ok(());
    }
    let row = quota::ActiveModel {
        namespace: Set(namespace.to_owned()),
        max_memories: Set(quota.max_memories),
        max_bytes: Set(quota.max_bytes),
        requests_per_minute: Set(quota.requests_per_minute),
        ..Default::default()
    };
    let changed = OnConflict::column(quota::Column::Namespace)
        .update_columns([
            quota::Column::MaxMemories,
            quota::Column::MaxBytes,
            quota::Column::RequestsPerMinute,
        ])
        .to_owned();
    quota::Entity::insert(row).on_conflict(changed).exec_without_returning(&on(connection)).await?;
    Ok(())
}

/// Counts what a namespace uses. Reads all of its nodes, but no text.
pub(crate) async fn used(db: impl Into<Db<'_>>, namespace: &str) -> Result<QuotaUse> {
    // The size of a long text is known without reading it.
    let (memories, bytes) = sql!(
        "select count(*), coalesce(sum(octet_length(n.content)), 0)::bigint
           from htm.nodes n where n.namespace = :namespace and n.deleted_at is null"
    )
    .bind("namespace", namespace)?
    .fetch_one(db)
    .await?;
    Ok(QuotaUse { memories, bytes })
}
