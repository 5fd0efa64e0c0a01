//! The statistics that BM25 needs, refreshed in the background.

use sqlx::{PgConnection, PgPool};

use crate::error::Result;

/// Refreshes the statistics of the namespaces that changed by a twentieth, or at all five minutes ago; the number
/// of namespaces refreshed. Processes that call it at once do the work once.
///
/// Between refreshes the statistics are stale: that blurs the weight of words, it hides no node (a word that the
/// statistics do not know is counted live).
///
/// # Errors
/// A database error.
pub async fn refresh_due(pool: &PgPool) -> Result<usize> {
    let due: Vec<String> = sqlx::query_scalar(include_str!("sql/observe_writes.sql")).fetch_all(pool).await?;
    for namespace in &due {
        refresh(pool, namespace).await?;
    }
    Ok(due.len())
}

/// Notes that texts of a namespace were edited, forgotten or restored. To be the transaction's last statement: others
/// who change the same namespace wait for its end.
pub(crate) async fn note_changed_in_tx(
    connection: &mut PgConnection,
    namespace: &str,
    nodes: usize,
) -> Result<()> {
    sqlx::query(
        "insert into htm.namespace_statistics as s (namespace, unseen_count) values ($1, $2)
         on conflict (namespace) do update set unseen_count = s.unseen_count + excluded.unseen_count",
    )
    .bind(namespace)
    .bind(nodes as i64)
    .execute(connection)
    .await?;
    Ok(())
}

/// Refreshes the statistics of one namespace, unless another process is at it.
///
/// # Errors
/// A database error.
pub async fn refresh(pool: &PgPool, namespace: &str) -> Result<()> {
    // A large namespace takes longer than a statement of the application may.
    let mut tx = pool.begin_with("begin; set local statement_timeout = 0").await?;
    // Whoever has the lock does the work; the others leave it alone.
    let ours: bool =
        sqlx::query_scalar("select pg_try_advisory_xact_lock(hashtextextended('htm.statistics/' || $1, 0))")
            .bind(namespace)
            .fetch_one(&mut *tx)
            .await?;
    if !ours {
        return Ok(());
    }
    sqlx::query("select htm.refresh_statistics($1)").bind(namespace).execute(&mut *tx).await?;
    tx.commit().await?;
    Ok(())
}
