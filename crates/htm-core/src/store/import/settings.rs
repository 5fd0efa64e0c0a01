//! The settings of an export, set where there are none.

use sea_orm::ActiveValue::Set;
use sea_orm::EntityTrait;
use sea_orm::sea_query::OnConflict;
use sqlx::PgConnection;
use sqlx::types::Json;

use crate::model::error::Result;
use crate::model::export::{SavedBudget, SavedDocument, SavedLearning, SavedLimits, SavedRanking};
use crate::store::connections::Connections;
use crate::store::entity::{budget, document};
use crate::store::named::sql;
use crate::store::orm::on;
use crate::store::rankings;

/// Sets a budget; false if the namespace has one.
pub(crate) async fn budget(pool: &dyn Connections, budget: &SavedBudget) -> Result<bool> {
    let row = budget::ActiveModel {
        namespace: Set(budget.ns.clone()),
        tokens_per_day: Set(budget.tokens_per_day),
        ..Default::default()
    };
    let unless_set = OnConflict::column(budget::Column::Namespace).do_nothing().to_owned();
    let inserted =
        budget::Entity::insert(row).on_conflict(unless_set).exec_without_returning(&on(pool)).await?;
    Ok(inserted > 0)
}

/// Writes a learnt ranking; false if the namespace has one of its version.
pub(crate) async fn ranking(pool: &dyn Connections, ranking: &SavedRanking) -> Result<bool> {
    let inserted = sql!(
        "insert into htm.rankings (namespace, version, learnt, figures, adopted, reason, made_at)
         values (:namespace, :version, :learnt, :figures, :adopted, :reason, :made_at)
         on conflict on constraint rankings_pk do nothing"
    )
    .bind("namespace", &ranking.ns)?
    .bind("version", ranking.version)?
    .bind("learnt", Json(&ranking.learnt))?
    .bind("figures", Json(&ranking.figures))?
    .bind("adopted", ranking.adopted)?
    .bind("reason", &ranking.reason)?
    .bind("made_at", ranking.made_at)?
    .execute(pool)
    .await?;
    Ok(inserted > 0)
}

/// Sets what a namespace keeps for learning, and its ranking, which is that of `home`; false if something was set.
pub(crate) async fn learning_in_tx(
    connection: &mut PgConnection,
    learning: &SavedLearning,
    home: &str,
) -> Result<bool> {
    let signals: Vec<&str> = learning.signals.iter().map(|signal| <&str>::from(*signal)).collect();
    let inserted = sql!(
        "with home as (
             insert into htm.learning (namespace, learns_with, is_on) select :home, :home, false where :home <> :namespace
             on conflict on constraint learning_pk do nothing
         )
         insert into htm.learning (namespace, learns_with, is_on, keeps_text, keep_days, least, signals, version)
         values (:namespace, :home, :is_on, :keeps_text, :keep_days, :least, :signals, :version)
         -- Another line may have made the place of this one.
         on conflict on constraint learning_pk do update
            set learns_with = excluded.learns_with, is_on = excluded.is_on, keeps_text = excluded.keeps_text,
                keep_days = excluded.keep_days, least = excluded.least, signals = excluded.signals,
                version = excluded.version
          where not learning.is_on and learning.version = 0 and learning.learns_with = learning.namespace
            and learning.judged = 0 and not learning.keeps_text
            and (excluded.is_on or excluded.version > 0 or excluded.learns_with <> excluded.namespace
                 or excluded.keeps_text)"
    )
    .bind("namespace", &learning.ns)?
    .bind("home", home)?
    .bind("is_on", learning.is_on)?
    .bind("keeps_text", learning.keeps_text)?
    .bind("keep_days", learning.keep_days)?
    .bind("least", learning.least)?
    .bind("signals", signals)?
    .bind("version", learning.version)?
    .execute(&mut *connection)
    .await?;
    if inserted > 0 {
        rankings::lead_in_tx(connection, &learning.ns, home).await?;
    }
    Ok(inserted > 0)
}

/// Writes a document; false if there is one with its path.
pub(crate) async fn document(
    pool: &dyn Connections,
    document: &SavedDocument,
    digest: Option<Vec<u8>>,
) -> Result<bool> {
    let row = document::ActiveModel {
        namespace: Set(document.ns.clone()),
        path: Set(document.path.clone()),
        kind: Set(document.format),
        title: Set(document.title.clone()),
        bytes: Set(document.bytes),
        digest: Set(digest),
        tags: Set(document.tags.iter().map(ToString::to_string).collect()),
        passages: Set(document.passages),
        loaded_at: Set(document.loaded_at),
        changed_at: Set(document.changed_at),
    };
    let unless_there =
        OnConflict::columns([document::Column::Namespace, document::Column::Path]).do_nothing().to_owned();
    let inserted =
        document::Entity::insert(row).on_conflict(unless_there).exec_without_returning(&on(pool)).await?;
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
