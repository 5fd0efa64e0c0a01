//! Nodes in the order of time: all of a timeframe, and those around one.

use sqlx::{AssertSqlSafe, PgPool};

use super::filter::{needed, paths_and_prefixes, several, tags_named, wanted_metadata};
use super::recall::{NodeRow, node_columns};
use crate::model::error::Result;
use crate::model::id::NodeId;
use crate::model::nodes::Node;
use crate::model::timeframe::Timeframe;
use crate::model::timeline::TimelineQuery;

/// The latest nodes that a query without a topic asks for, the latest first.
pub(crate) async fn latest(
    pool: &PgPool,
    namespace: &str,
    query: &TimelineQuery,
    timeframe: &Timeframe,
) -> Result<Vec<Node>> {
    let (starts, ends) = several(timeframe);
    // A generic plan would not walk the index of what is asked for.
    let mut tx = pool.begin_with("begin read only; set local plan_cache_mode = force_custom_plan").await?;
    let (paths, prefixes) = paths_and_prefixes(&query.tags);
    let sql = include_str!("sql/timeline.sql")
        .replace("{{tags:$9,$10}}", &tags_named("array[$1::text]", "$9", "$10"))
        .replace("{{wanted}}", include_str!("sql/in_timeline.sql").trim_end())
        .replace("{{node}}", node_columns());
    let rows: Vec<NodeRow> = sqlx::query_as(AssertSqlSafe(sql))
        .bind(namespace)
        .bind(timeframe.from())
        .bind(timeframe.until())
        .bind(starts)
        .bind(ends)
        .bind((!query.robots.is_empty()).then_some(&query.robots[..]))
        .bind(query.session.as_deref())
        .bind(query.limit as i32)
        .bind(paths)
        .bind(prefixes)
        .bind(needed(&query.tags, query.any_tag))
        .bind(wanted_metadata(&query.metadata))
        .fetch_all(&mut *tx)
        .await?;
    tx.commit().await?;
    rows.into_iter().map(NodeRow::into_node).collect()
}

/// The nodes around one: those before it and those after it, each in time order.
pub(crate) async fn neighbours(
    pool: &PgPool,
    node: NodeId,
    before: usize,
    after: usize,
) -> Result<(Vec<Node>, Vec<Node>)> {
    let rows: Vec<Placed> =
        sqlx::query_as(AssertSqlSafe(include_str!("sql/neighbours.sql").replace("{{node}}", node_columns())))
            .bind(node)
            .bind(before as i32)
            .bind(after as i32)
            .fetch_all(pool)
            .await?;
    let (earlier, later): (Vec<_>, Vec<_>) = rows.into_iter().partition(|row| row.place < 0);
    let nodes = |rows: Vec<Placed>| rows.into_iter().map(|row| row.node.into_node()).collect::<Result<_>>();
    Ok((nodes(earlier)?, nodes(later)?))
}

#[derive(sqlx::FromRow)]
struct Placed {
    place: i64,
    #[sqlx(flatten)]
    node: NodeRow,
}
