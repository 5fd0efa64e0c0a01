//! Recalls that are kept for feedback.

use sea_orm::ActiveValue::Set;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter};
use sqlx::PgConnection;

use super::entity::recall;
use super::named::sql;
use super::orm::on;
use crate::model::error::Result;
use crate::model::id::NodeId;
use crate::model::kept_recalls::KeptRecall;
use crate::model::rank::{FEATURE_COUNT, FEATURE_VERSION, FeatureVector};

/// Begins a transaction that keeps recalls. Those that remove nodes wait for it, and it for them: no candidate that was
/// removed meanwhile is kept.
pub(crate) const BEGIN: &str = "begin; select pg_advisory_xact_lock_shared(hashtext('htm.recalls'))";

/// Waits until no recall is being kept. Those that are kept later see what this transaction has written, once it is over.
pub(crate) async fn wait_for_keepers_in_tx(connection: &mut PgConnection) -> Result<()> {
    sql!("select pg_advisory_xact_lock(hashtext('htm.recalls'))").execute(connection).await.map(drop)
}

/// Keeps a recall.
pub(crate) async fn keep_in_tx(connection: &mut PgConnection, recall: &KeptRecall) -> Result<()> {
    let search = &recall.search;
    let shown = |node| recall.shown.iter().position(|hit| *hit == node).map_or(0, |at| at as i16 + 1);
    let candidates = &search.candidates;
    sql!(include_str!("sql/keep_recall.sql"))
        .bind("id", &recall.id)?
        .bind("namespace", &recall.namespace)?
        .bind("author", &recall.author)?
        .bind("features", FEATURE_VERSION)?
        .bind("version", search.ranking.version)?
        .bind("query", &recall.query)?
        .bind("trial", search.trial.map(|trial| trial.version))?
        .bind("trial_kind", search.trial.map(|trial| <&str>::from(trial.kind)))?
        .bind("differs", search.differs)?
        .bind("nodes", candidates.iter().map(|it| it.node).collect::<Vec<_>>())?
        .bind("shown", candidates.iter().map(|it| shown(it.node)).collect::<Vec<i16>>())?
        .bind("by_trial", candidates.iter().map(|it| it.by_trial).collect::<Vec<_>>())?
        .bind("vectors", candidates.iter().map(|it| packed(&it.features)).collect::<Vec<_>>())?
        .execute(connection)
        .await
        .map(drop)
}

/// Locks a recall, and makes rows of its candidates, so that verdicts can be given on them. What removes nodes takes locks
/// in the same order: of the nodes, the recall, its candidates. False: the recall is gone.
pub(crate) async fn unfold_in_tx(
    connection: &mut PgConnection,
    recall: i64,
    namespace: &str,
) -> Result<bool> {
    sql!(include_str!("sql/unfold_recall.sql"))
        .bind("recall", recall)?
        .bind("namespace", namespace)?
        .execute(&mut *connection)
        .await?;
    let unfolded = recall::ActiveModel {
        candidates: Set(None),
        candidates_shown: Set(None),
        candidates_by_trial: Set(None),
        candidates_features: Set(None),
        ..Default::default()
    };
    let updated = recall::Entity::update_many()
        .set(unfolded)
        .filter(recall::Column::Number.eq(recall))
        .filter(recall::Column::Namespace.eq(namespace))
        .exec(&on(connection))
        .await?;
    Ok(updated.rows_affected > 0)
}

/// Deletes the recalls of namespaces that nobody has judged and that had one of the nodes among their candidates. The
/// nodes are about to be removed. Returns how many.
pub(crate) async fn delete_in_tx(
    connection: &mut PgConnection,
    namespaces: &[&str],
    nodes: &[NodeId],
) -> Result<u64> {
    wait_for_keepers_in_tx(&mut *connection).await?;
    sql!(
        "delete from htm.recalls where namespace = any (:namespaces) and number = any (array(
             select number from htm.recalls
              where candidates is not null and namespace = any (:namespaces)
                and number in (select r.number from htm.recalls r cross join lateral unnest(r.candidates) c(node)
                                where r.candidates is not null and r.namespace = any (:namespaces)
                                  and c.node in (select unnest(:nodes::bigint[])))
              order by number for update))"
    )
    .bind("namespaces", namespaces)?
    .bind("nodes", nodes)?
    .execute(connection)
    .await
}

/// Deletes the texts of queries that had one of the nodes among their candidates: they may quote it.
pub(crate) async fn drop_texts_in_tx(
    connection: &mut PgConnection,
    namespaces: &[&str],
    nodes: &[NodeId],
) -> Result<()> {
    sql!(
        "update htm.recalls r set query = null
          where r.query is not null and r.namespace = any (:namespaces)
            and (r.namespace, r.number) in (select c.namespace, c.recall from htm.recall_candidates c
                                             where c.namespace = any (:namespaces) and c.node_id = any (:nodes))"
    )
    .bind("namespaces", namespaces)?
    .bind("nodes", nodes)?
    .execute(connection)
    .await
    .map(drop)
}

fn packed(features: &[f32]) -> Vec<u8> {
    features.iter().flat_map(|feature| feature.to_le_bytes()).collect()
}

/// The features of a candidate as they were kept; none of another length.
pub(crate) fn unpacked(bytes: &[u8]) -> Option<FeatureVector> {
    let (numbers, rest) = bytes.as_chunks::<4>();
    let features: Vec<f32> = numbers.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
    let is_whole = rest.is_empty() && features.len() == FEATURE_COUNT;
    is_whole.then(|| std::array::from_fn(|at| features[at]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_are_kept_as_they_were() {
        let features: FeatureVector = std::array::from_fn(|at| at as f32 / 7.0 - 1.0);
        assert_eq!(unpacked(&packed(&features)), Some(features));
        assert_eq!(unpacked(&packed(&features)[4..]), None);
        assert_eq!(unpacked(&[0; 4 * FEATURE_COUNT + 1]), None);
    }
}
