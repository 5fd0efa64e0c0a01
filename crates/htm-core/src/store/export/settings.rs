//! The settings of namespaces and providers in an export.

use sqlx::{PgConnection, Row};

use super::{Namespaces, ROWS};
use crate::model::error::Result;
use crate::model::export::{SavedBudget, SavedDocument, SavedLimits, SavedQuota, SavedRetention};
use crate::store::documents::DocumentRow;
use crate::store::named::sql;

/// A page of the retention policies, after a namespace.
pub(crate) async fn retention(
    db: &mut PgConnection,
    of: Namespaces<'_>,
    after: &str,
) -> Result<Vec<SavedRetention>> {
    sql!(
        "select namespace, forget_after_seconds, purge_after_seconds from htm.retention
          where (:namespaces::text[] is null or namespace = any (:namespaces)) and namespace > :after
          order by namespace limit :limit"
    )
    .bind("namespaces", of)?
    .bind("after", after)?
    .bind("limit", ROWS)?
    .fetch_each(db, |row| {
        Ok(SavedRetention {
            ns: row.try_get("namespace")?,
            forget_after_seconds: row.try_get("forget_after_seconds")?,
            purge_after_seconds: row.try_get("purge_after_seconds")?,
        })
    })
    .await
}

/// A page of the budgets, after a namespace.
pub(crate) async fn budgets(
    db: &mut PgConnection,
    of: Namespaces<'_>,
    after: &str,
) -> Result<Vec<SavedBudget>> {
    sql!(
        "select namespace, tokens_per_day from htm.budgets
          where (:namespaces::text[] is null or namespace = any (:namespaces)) and namespace > :after
          order by namespace limit :limit"
    )
    .bind("namespaces", of)?
    .bind("after", after)?
    .bind("limit", ROWS)?
    .fetch_each(db, |row| {
        Ok(SavedBudget { ns: row.try_get("namespace")?, tokens_per_day: row.try_get("tokens_per_day")? })
    })
    .await
}

/// A page of the limits of providers' models, after a model.
pub(crate) async fn limits(db: &mut PgConnection, after: &str) -> Result<Vec<SavedLimits>> {
    sql!(
        "select model, requests_per_minute, tokens_per_minute, concurrent_calls from htm.providers
          where model > :after and num_nonnulls(requests_per_minute, tokens_per_minute, concurrent_calls) > 0
          order by model limit :limit"
    )
    .bind("after", after)?
    .bind("limit", ROWS)?
    .fetch_each(db, |row| {
        Ok(SavedLimits {
            model: row.try_get("model")?,
            requests_per_minute: row.try_get("requests_per_minute")?,
            tokens_per_minute: row.try_get("tokens_per_minute")?,
            concurrent_calls: row.try_get("concurrent_calls")?,
        })
    })
    .await
}

/// A page of the documents, after a namespace and path.
pub(crate) async fn documents(
    db: &mut PgConnection,
    of: Namespaces<'_>,
    (namespace, path): (&str, &str),
) -> Result<Vec<SavedDocument>> {
    let rows: Vec<DocumentRow> = sql!(
        "select namespace, path, kind, title, bytes, digest, tags, passages as loaded, loaded_at, changed_at
           from htm.documents
          where (:namespaces::text[] is null or namespace = any (:namespaces)) and (namespace, path) > (:namespace, :path)
          order by namespace, path limit :limit"
    )
    .bind("namespaces", of)?
    .bind("namespace", namespace)?
    .bind("path", path)?
    .bind("limit", ROWS)?
    .fetch_all(db)
    .await?;
    let hex = |digest: Vec<u8>| digest.iter().map(|byte| format!("{byte:02x}")).collect();
    let saved = |mut row: DocumentRow| {
        Ok(SavedDocument {
            format: row.kind()?,
            tags: row.tags()?,
            ns: row.namespace,
            path: row.path,
            title: row.title,
            bytes: row.bytes,
            digest: row.digest.map(hex),
            passages: row.loaded,
            loaded_at: row.loaded_at,
            changed_at: row.changed_at,
        })
    };
    rows.into_iter().map(saved).collect()
}

/// A page of the quotas, after a namespace.
pub(crate) async fn quotas(
    db: &mut PgConnection,
    of: Namespaces<'_>,
    after: &str,
) -> Result<Vec<SavedQuota>> {
    sql!(
        "select namespace, max_memories, max_bytes, requests_per_minute from htm.quotas
          where (:namespaces::text[] is null or namespace = any (:namespaces)) and namespace > :after
          order by namespace limit :limit"
    )
    .bind("namespaces", of)?
    .bind("after", after)?
    .bind("limit", ROWS)?
    .fetch_each(db, |row| {
        Ok(SavedQuota {
            ns: row.try_get("namespace")?,
            max_memories: row.try_get("max_memories")?,
            max_bytes: row.try_get("max_bytes")?,
            requests_per_minute: row.try_get("requests_per_minute")?,
        })
    })
    .await
}
