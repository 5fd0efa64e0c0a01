//! The settings of namespaces and providers in an export.

use sqlx::types::Json;
use sqlx::{PgConnection, Row};

use super::{Namespaces, ROWS};
use crate::model::error::Result;
use crate::model::export::{
    SavedBudget, SavedDocument, SavedLearning, SavedLimits, SavedQuota, SavedRanking, SavedRetention,
};
use crate::model::rank::Learnt;
use crate::model::rankings::RankingFigures;
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
    let saved = |mut row: DocumentRow| {
        Ok(SavedDocument {
            format: row.kind,
            tags: row.tags()?,
            ns: row.namespace,
            path: row.path,
            title: row.title,
            bytes: row.bytes,
            digest: row.digest.map(hex::encode),
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

/// A page of what namespaces keep for learning, after a namespace.
pub(crate) async fn learning(
    db: &mut PgConnection,
    of: Namespaces<'_>,
    after: &str,
) -> Result<Vec<SavedLearning>> {
    sql!(
        "select namespace, learns_with, is_on, keeps_text, keep_days, least, signals, version from htm.learning
          where (:namespaces::text[] is null or namespace = any (:namespaces)) and namespace > :after
          order by namespace limit :limit"
    )
    .bind("namespaces", of)?
    .bind("after", after)?
    .bind("limit", ROWS)?
    .fetch_each(db, |row| {
        let signals: Vec<String> = row.try_get("signals")?;
        Ok(SavedLearning {
            ns: row.try_get("namespace")?,
            learns_with: row.try_get("learns_with")?,
            is_on: row.try_get("is_on")?,
            keeps_text: row.try_get("keeps_text")?,
            keep_days: row.try_get("keep_days")?,
            least: row.try_get("least")?,
            signals: signals.iter().filter_map(|signal| signal.parse().ok()).collect(),
            version: row.try_get("version")?,
        })
    })
    .await
}

/// A page of the learnt rankings, after a namespace and version.
pub(crate) async fn rankings(
    db: &mut PgConnection,
    of: Namespaces<'_>,
    (namespace, version): (&str, i32),
) -> Result<Vec<SavedRanking>> {
    sql!(
        "select namespace, version, learnt, figures, adopted, reason, made_at from htm.rankings
          where (:namespaces::text[] is null or namespace = any (:namespaces))
            and (namespace, version) > (:namespace collate \"C\", :version)
          order by namespace, version limit :limit"
    )
    .bind("namespaces", of)?
    .bind("namespace", namespace)?
    .bind("version", version)?
    .bind("limit", ROWS)?
    .fetch_each(db, |row| {
        Ok(SavedRanking {
            ns: row.try_get("namespace")?,
            version: row.try_get("version")?,
            learnt: row.try_get::<Json<Learnt>, _>("learnt")?.0,
            figures: row.try_get::<Json<RankingFigures>, _>("figures")?.0,
            adopted: row.try_get("adopted")?,
            reason: row.try_get("reason")?,
            made_at: row.try_get("made_at")?,
        })
    })
    .await
}
