//! The settings of namespaces and providers in an export.

use sea_orm::{ColumnTrait, Condition, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use sqlx::PgConnection;

use super::{Namespaces, ROWS, within};
use crate::model::error::Result;
use crate::model::export::{
    SavedBudget, SavedDocument, SavedLearning, SavedLimits, SavedQuota, SavedRanking, SavedRetention,
};
use crate::model::tags::read_tag;
use crate::store::entity::{budget, document, learning, provider, quota, ranking, retention};
use crate::store::orm::{behind, of_json, on};

/// A page of a table that has a row for each namespace, after a namespace.
async fn page<E: EntityTrait>(
    db: &mut PgConnection,
    of: Namespaces<'_>,
    namespace: E::Column,
    after: &str,
) -> Result<Vec<E::Model>>
where
    E::Model: Sync,
{
    let mut rows = E::find().filter(within(of, namespace)).cursor_by(namespace);
    Ok(rows.after(after).first(ROWS).all(&on(db)).await?)
}

/// A page of the retention policies, after a namespace.
pub(crate) async fn retention(
    db: &mut PgConnection,
    of: Namespaces<'_>,
    after: &str,
) -> Result<Vec<SavedRetention>> {
    let rows = page::<retention::Entity>(db, of, retention::Column::Namespace, after).await?;
    let saved = |row: retention::Model| SavedRetention {
        ns: row.namespace,
        forget_after_seconds: row.forget_after_seconds,
        purge_after_seconds: row.purge_after_seconds,
    };
    Ok(rows.into_iter().map(saved).collect())
}

/// A page of the budgets, after a namespace.
pub(crate) async fn budgets(
    db: &mut PgConnection,
    of: Namespaces<'_>,
    after: &str,
) -> Result<Vec<SavedBudget>> {
    let rows = page::<budget::Entity>(db, of, budget::Column::Namespace, after).await?;
    let saved = |row: budget::Model| SavedBudget { ns: row.namespace, tokens_per_day: row.tokens_per_day };
    Ok(rows.into_iter().map(saved).collect())
}

/// A page of the limits of providers' models, after a model.
pub(crate) async fn limits(db: &mut PgConnection, after: &str) -> Result<Vec<SavedLimits>> {
    let any_limit = Condition::any()
        .add(provider::Column::RequestsPerMinute.is_not_null())
        .add(provider::Column::TokensPerMinute.is_not_null())
        .add(provider::Column::ConcurrentCalls.is_not_null());
    let rows = provider::Entity::find()
        .filter(any_limit)
        .cursor_by(provider::Column::Model)
        .after(after)
        .first(ROWS)
        .all(&on(db))
        .await?;
    let saved = |row: provider::Model| SavedLimits {
        model: row.model,
        requests_per_minute: row.requests_per_minute,
        tokens_per_minute: row.tokens_per_minute,
        concurrent_calls: row.concurrent_calls,
    };
    Ok(rows.into_iter().map(saved).collect())
}

/// A page of the documents, after a namespace and path.
pub(crate) async fn documents(
    db: &mut PgConnection,
    of: Namespaces<'_>,
    (namespace, path): (&str, &str),
) -> Result<Vec<SavedDocument>> {
    let columns = [document::Column::Namespace, document::Column::Path];
    let rows = document::Entity::find()
        .filter(within(of, document::Column::Namespace))
        .filter(behind(columns, [namespace.into(), path.into()]))
        .order_by_asc(document::Column::Namespace)
        .order_by_asc(document::Column::Path)
        .limit(ROWS)
        .all(&on(db))
        .await?;
    let saved = |row: document::Model| {
        Ok(SavedDocument {
            format: row.kind,
            tags: row.tags.into_iter().map(read_tag).collect::<Result<_>>()?,
            ns: row.namespace,
            path: row.path,
            title: row.title,
            bytes: row.bytes,
            digest: row.digest.map(hex::encode),
            passages: row.passages,
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
    let rows = page::<quota::Entity>(db, of, quota::Column::Namespace, after).await?;
    let saved = |row: quota::Model| SavedQuota {
        ns: row.namespace,
        max_memories: row.max_memories,
        max_bytes: row.max_bytes,
        requests_per_minute: row.requests_per_minute,
    };
    Ok(rows.into_iter().map(saved).collect())
}

/// A page of what namespaces keep for learning, after a namespace.
pub(crate) async fn learning(
    db: &mut PgConnection,
    of: Namespaces<'_>,
    after: &str,
) -> Result<Vec<SavedLearning>> {
    let rows = page::<learning::Entity>(db, of, learning::Column::Namespace, after).await?;
    let saved = |row: learning::Model| SavedLearning {
        ns: row.namespace,
        learns_with: row.learns_with,
        is_on: row.is_on,
        keeps_text: row.keeps_text,
        keep_days: row.keep_days,
        least: row.least,
        signals: row.signals.iter().filter_map(|signal| signal.parse().ok()).collect(),
        version: row.version,
    };
    Ok(rows.into_iter().map(saved).collect())
}

/// A page of the learnt rankings, after a namespace and version.
pub(crate) async fn rankings(
    db: &mut PgConnection,
    of: Namespaces<'_>,
    (namespace, version): (&str, i32),
) -> Result<Vec<SavedRanking>> {
    let columns = [ranking::Column::Namespace, ranking::Column::Version];
    let rows = ranking::Entity::find()
        .filter(within(of, ranking::Column::Namespace))
        .filter(behind(columns, [namespace.into(), version.into()]))
        .order_by_asc(ranking::Column::Namespace)
        .order_by_asc(ranking::Column::Version)
        .limit(ROWS)
        .all(&on(db))
        .await?;
    let saved = |row: ranking::Model| {
        Ok(SavedRanking {
            ns: row.namespace,
            version: row.version,
            learnt: of_json(row.learnt)?,
            figures: of_json(row.figures)?,
            adopted: row.adopted,
            reason: row.reason,
            made_at: row.made_at,
        })
    };
    rows.into_iter().map(saved).collect()
}
