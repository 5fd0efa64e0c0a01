//! Quotas of namespaces.

use sqlx::PgConnection;

use super::connections::Connections;
use super::named::sql;
use crate::model::error::Result;
use crate::model::quota::{Quota, QuotaUse};

pub(crate) async fn get(pool: &dyn Connections, namespace: &str) -> Result<Quota> {
    let found = sql!(
        "select max_memories, max_bytes, requests_per_minute from htm.quotas where namespace = :namespace"
    )
    .bind("namespace", namespace)?
    .fetch_optional(pool)
    .await?;
    Ok(found.map_or_else(Quota::default, |(max_memories, max_bytes, requests_per_minute)| Quota {
        max_memories,
        max_bytes,
        requests_per_minute,
    }))
}

/// Those of these namespaces whose quota limits requests, and the most requests a minute of each.
pub(crate) async fn of_requests(pool: &dyn Connections, namespaces: &[String]) -> Result<Vec<(String, i32)>> {
    sql!(
        "select namespace, requests_per_minute from htm.quotas
          where namespace = any(:namespaces) and requests_per_minute is not null
          order by namespace"
    )
    .bind("namespaces", namespaces)?
    .fetch_all(pool)
    .await
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

/// Sets a quota. One that limits nothing is deleted.
pub(crate) async fn set_in_tx(connection: &mut PgConnection, namespace: &str, quota: Quota) -> Result<()> {
    if quota.is_none() {
        let delete = sql!("delete from htm.quotas where namespace = :namespace");
        return delete.bind("namespace", namespace)?.execute(connection).await.map(drop);
    }
    sql!(
        "insert into htm.quotas (namespace, max_memories, max_bytes, requests_per_minute)
         values (:namespace, :memories, :bytes, :requests)
         on conflict (namespace) do update
            set max_memories = excluded.max_memories, max_bytes = excluded.max_bytes,
                requests_per_minute = excluded.requests_per_minute"
    )
    .bind("namespace", namespace)?
    .bind("memories", quota.max_memories)?
    .bind("bytes", quota.max_bytes)?
    .bind("requests", quota.requests_per_minute)?
    .execute(connection)
    .await
    .map(drop)
}

/// Counts what a namespace uses. Reads all of its nodes, but no text.
pub(crate) async fn used(pool: &dyn Connections, namespace: &str) -> Result<QuotaUse> {
    // The size of a long text is known without reading it.
    let (memories, bytes) = sql!(
        "select count(*), coalesce(sum(octet_length(n.content)), 0)::bigint
           from htm.nodes n where n.namespace = :namespace and n.deleted_at is null"
    )
    .bind("namespace", namespace)?
    .fetch_one(pool)
    .await?;
    Ok(QuotaUse { memories, bytes })
}
