//! Feedback on recalls.

use chrono::{DateTime, Utc};
use sea_orm::{ColumnTrait, DerivePartialModel, EntityTrait, QueryFilter};
use sqlx::PgConnection;

use super::connections::Connections;
use super::entity::recall;
use super::kept_recalls;
use super::named::sql;
use super::orm::on;
use super::priorities;
use crate::model::error::Result;
use crate::model::id::NodeId;
use crate::model::learning::{FeedbackAuthor, REFUSES_FROM, Signal};

/// A kept recall that is judged.
#[derive(Clone, Debug, DerivePartialModel, sqlx::FromRow)]
#[sea_orm(entity = "recall::Entity")]
pub(crate) struct Judged {
    pub(crate) number: i64,
    pub(crate) namespace: String,
    pub(crate) id: String,
    pub(crate) made_at: DateTime<Utc>,
}

/// The effect of verdicts.
#[derive(Clone, Copy, Debug, sqlx::FromRow)]
pub(crate) struct Settled {
    /// Judged recalls of all namespaces that learn together.
    pub(crate) judged: i64,
    /// Whether a ranking was asked for.
    pub(crate) learns: bool,
}

/// The source of a verdict in the table: what was told, or a signal.
const TOLD: &str = "told";

/// The most bytes of the hits that a new text is compared with.
const MOST_SHOWN_BYTES: i64 = 8 << 20;

/// A kept recall.
pub(crate) async fn find(pool: &dyn Connections, id: &str) -> Result<Option<Judged>> {
    Ok(recall::Entity::find().filter(recall::Column::Id.eq(id)).into_partial_model().one(&on(pool)).await?)
}

/// The last kept recall of an author in any of the namespaces, with `a/*` for those below `a`; none: in all.
pub(crate) async fn last_of(
    pool: &dyn Connections,
    author: &str,
    seen: Option<&[String]>,
) -> Result<Option<Judged>> {
    sql!(
        "select number, namespace, id, made_at from htm.recalls
          where author = :author and (:seen::text[] is null or htm.is_within(namespace, :seen))
          order by made_at desc, number desc limit 1"
    )
    .bind("author", author)?
    .bind("seen", seen)?
    .fetch_optional(pool)
    .await
}

/// Whether any of the nodes was a hit of the recall.
pub(crate) async fn has_hit(pool: &dyn Connections, recall: &Judged, nodes: &[NodeId]) -> Result<bool> {
    sql!(
        "select exists (
                select from htm.recalls r, unnest(r.candidates, r.candidates_shown) c(node, shown)
                 where r.number = :recall and r.namespace = :namespace and c.shown > 0 and c.node = any (:nodes))
             or exists (
                select from htm.recall_candidates
                 where recall = :recall and namespace = :namespace and shown is not null and node_id = any (:nodes))"
    )
    .bind("recall", recall.number)?
    .bind("namespace", &recall.namespace)?
    .bind("nodes", nodes)?
    .fetch_scalar(pool)
    .await
}

/// The number of other recalls that the author has judged in a day.
pub(crate) async fn judged_in_a_day(
    connection: &mut PgConnection,
    recall: &Judged,
    author: &str,
) -> Result<i64> {
    sql!(
        "select count(distinct recall) from htm.feedback
          where namespace = :namespace and author = :author and signal = 'told'
            and given_at > now() - interval '1 day' and recall <> :recall"
    )
    .bind("namespace", &recall.namespace)?
    .bind("author", author)?
    .bind("recall", recall.number)?
    .fetch_scalar(connection)
    .await
}

/// Records verdicts. Those on candidates are returned; none if the recall is gone.
pub(crate) async fn judge_in_tx(
    connection: &mut PgConnection,
    recall: &Judged,
    author: &str,
    signal: Option<Signal>,
    verdicts: &[(NodeId, bool)],
) -> Result<Option<Vec<(NodeId, bool)>>> {
    if !kept_recalls::unfold_in_tx(&mut *connection, recall.number, &recall.namespace).await? {
        return Ok(None);
    }
    let (nodes, used): (Vec<NodeId>, Vec<bool>) = verdicts.iter().copied().unzip();
    sql!(include_str!("sql/judge.sql"))
        .bind("recall", recall.number)?
        .bind("namespace", &recall.namespace)?
        .bind("author", author)?
        .bind("signal", signal.map_or(TOLD, <&str>::from))?
        .bind("nodes", nodes)?
        .bind("used", used)?
        .fetch_all(connection)
        .await
        .map(Some)
}

/// Keeps the recall, counts it, and asks for a ranking if it is time.
pub(crate) async fn settle_in_tx(
    connection: &mut PgConnection,
    recall: &Judged,
    (any, any_used): (bool, bool),
    missed: usize,
    max_attempts: u32,
) -> Result<Settled> {
    sql!(include_str!("sql/settle_feedback.sql"))
        .bind("recall", recall.number)?
        .bind("namespace", &recall.namespace)?
        .bind("any", any)?
        .bind("any_used", any_used)?
        .bind("missed", missed as i16)?
        .bind("max_attempts", max_attempts as i32)?
        .bind("priority", priorities::LIVE)?
        .fetch_one(connection)
        .await
}

/// The last recall of an author within half an hour that had one of the nodes as a hit, with those of them.
pub(crate) async fn last_with(
    pool: &dyn Connections,
    namespace: &str,
    author: &str,
    nodes: &[NodeId],
) -> Result<Option<(Judged, Vec<NodeId>)>> {
    #[derive(sqlx::FromRow)]
    struct Row {
        #[sqlx(flatten)]
        recall: Judged,
        nodes: Vec<NodeId>,
    }
    let row: Option<Row> = sql!(
        "select r.number, r.namespace, r.id, r.made_at, array_agg(hit.node order by hit.node) as nodes
           from htm.recalls r
          cross join lateral (
                select node from unnest(r.candidates, r.candidates_shown) c(node, shown) where shown > 0
                union all
                select node_id from htm.recall_candidates
                 where recall = r.number and namespace = r.namespace and shown is not null) hit
          where r.namespace = :namespace and r.author = :author and r.made_at > now() - interval '30 minutes'
            and hit.node = any (:nodes)
          group by r.number, r.namespace, r.id, r.made_at order by r.made_at desc, r.number desc limit 1"
    )
    .bind("namespace", namespace)?
    .bind("author", author)?
    .bind("nodes", nodes)?
    .fetch_optional(pool)
    .await?;
    Ok(row.map(|row| (row.recall, row.nodes)))
}

/// The first hits of the author's last recall within half an hour, with their texts, except of these nodes.
pub(crate) async fn last_shown(
    pool: &dyn Connections,
    namespace: &str,
    author: &str,
    except: &[NodeId],
) -> Result<Vec<(NodeId, String)>> {
    sql!(
        "select id, content
           from (select n.id, n.content, sum(octet_length(n.content)) over (order by hit.shown, n.id) as bytes
                   from (select number, candidates, candidates_shown from htm.recalls
                          where namespace = :namespace and author = :author and made_at > now() - interval '30 minutes'
                          order by made_at desc, number desc limit 1) r
                  cross join lateral (
                        select node, shown from unnest(r.candidates, r.candidates_shown) c(node, shown) where shown > 0
                        union all
                        select node_id, shown from htm.recall_candidates
                         where recall = r.number and namespace = :namespace and shown is not null) hit
                   join htm.nodes n on n.id = hit.node and n.namespace = :namespace and n.deleted_at is null
                  where n.id <> all (:except)) first
          where bytes <= :most"
    )
    .bind("namespace", namespace)?
    .bind("author", author)?
    .bind("except", except)?
    .bind("most", MOST_SHOWN_BYTES)?
    .fetch_all(pool)
    .await
}

/// The authors of feedback in a namespace, the most active first; at most 20.
pub(crate) async fn authors(pool: &dyn Connections, namespace: &str) -> Result<Vec<FeedbackAuthor>> {
    let rows: Vec<(String, i64, i64, i64)> = sql!(
        "select author, count(distinct recall), count(*) filter (where is_used), count(*) filter (where not is_used)
           from htm.feedback where namespace = :namespace group by author order by 2 desc, 1 limit 20"
    )
    .bind("namespace", namespace)?
    .fetch_all(pool)
    .await?;
    let author = |(author, recalls, used, useless)| FeedbackAuthor { author, recalls, used, useless };
    Ok(rows.into_iter().map(author).collect())
}

/// The authors that judge much and find nothing of use, with their namespaces and the number of recalls.
pub(crate) async fn refusing(pool: &dyn Connections) -> Result<Vec<(String, String, i64)>> {
    sql!(
        "select namespace, author, count(distinct recall) from htm.feedback
          group by namespace, author
         having count(*) filter (where is_used) = 0 and count(distinct recall) >= :least
          order by 3 desc limit 20"
    )
    .bind("least", REFUSES_FROM)?
    .fetch_all(pool)
    .await
}
