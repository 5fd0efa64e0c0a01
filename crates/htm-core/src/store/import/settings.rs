//! The settings of an export, set where there are none.

use crate::model::error::Result;
use crate::model::export::{SavedBudget, SavedDocument, SavedLimits};
use crate::model::tags::TagPath;
use crate::store::connections::Connections;
use crate::store::named::sql;

/// Sets a budget; false if the namespace has one.
pub(crate) async fn budget(pool: &dyn Connections, budget: &SavedBudget) -> Result<bool> {
    let inserted = sql!(
        "insert into htm.budgets (namespace, tokens_per_day) values (:namespace, :tokens)
         on conflict on constraint budgets_pk do nothing"
    )
    .bind("namespace", &budget.ns)?
    .bind("tokens", budget.tokens_per_day)?
    .execute(pool)
    .await?;
    Ok(inserted > 0)
}

/// Writes a document; false if there is one with its path.
pub(crate) async fn document(
    pool: &dyn Connections,
    document: &SavedDocument,
    digest: Option<Vec<u8>>,
) -> Result<bool> {
    let inserted = sql!(
        "insert into htm.documents
                (namespace, path, kind, title, bytes, digest, tags, passages, loaded_at, changed_at)
         values (:namespace, :path, :kind, :title, :bytes, :digest, :tags, :passages, :loaded_at, :changed_at)
         on conflict on constraint documents_pk do nothing"
    )
    .bind("namespace", &document.ns)?
    .bind("path", &document.path)?
    .bind("kind", document.format.as_ref())?
    .bind("title", &document.title)?
    .bind("bytes", document.bytes)?
    .bind("digest", digest)?
    .bind("tags", document.tags.iter().map(TagPath::as_str).collect::<Vec<_>>())?
    .bind("passages", document.passages)?
    .bind("loaded_at", document.loaded_at)?
    .bind("changed_at", document.changed_at)?
    .execute(pool)
    .await?;
    Ok(inserted > 0)
}

/// Sets the limits of a model; false if it has some.
pub(crate) async fn limits(pool: &dyn Connections, limits: &SavedLimits) -> Result<bool> {
    let written = sql!(
        "insert into htm.providers as p (model, requests_per_minute, tokens_per_minute, concurrent_calls)
         values (:model, :requests, :tokens, :calls)
         on conflict on constraint providers_pk do update
            set requests_per_minute = :requests, tokens_per_minute = :tokens, concurrent_calls = :calls,
                levels_at = null, changed_at = now()
          where num_nonnulls(p.requests_per_minute, p.tokens_per_minute, p.concurrent_calls) = 0
            and num_nonnulls(:requests::int, :tokens::int, :calls::int) > 0"
    )
    .bind("model", &limits.model)?
    .bind("requests", limits.requests_per_minute)?
    .bind("tokens", limits.tokens_per_minute)?
    .bind("calls", limits.concurrent_calls)?
    .execute(pool)
    .await?;
    Ok(written > 0)
}
