//! Quotas of namespaces.

use sqlx::PgConnection;

use super::connections::Connections;
use super::named::sql;
use crate::model::error::Result;
use crate::model::quota::{Quota, QuotaUse};

pub(crate) async fn get(pool: &dyn Connections, namespace: &str) -> Result<Quota> {
    let found = sql!("select max_memories, max_bytes from htm.quotas where namespace = :namespace")
        .bind("namespace", namespace)?
        .fetch_optional(pool)
        .await?;
    Ok(found.map_or_else(Quota::default, |(max_memories, max_bytes)| Quota { max_memories, max_bytes }))
}

/// Sets a quota. One that limits nothing is deleted.
pub(crate) async fn set_in_tx(connection: &mut PgConnection, namespace: &str, quota: Quota) -> Result<()> {
    if quota.is_none() {
        let delete = sql!("delete from htm.quotas where namespace = :namespace");
        return delete.bind("namespace", namespace)?.execute(connection).await.map(drop);
    }
    sql!(
        "insert into htm.quotas (namespace, max_memories, max_bytes) values (:namespace, :memories, :bytes)
         on conflict (namespace) do update set max_memories = excluded.max_memories, max_bytes = excluded.max_bytes"
    )
    .bind("namespace", namespace)?
    .bind("memories", quota.max_memories)?
    .bind("bytes", quota.max_bytes)?
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
