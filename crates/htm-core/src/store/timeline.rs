//! Nodes in order of time: those of a timeframe, and those around a node.

use std::cmp::Reverse;
use std::collections::HashMap;

use chrono::{DateTime, Utc};

use super::connections::Connections;
use super::filter::{Conditions, Required, Scope, placed};
use super::named::Named;
use super::recall::{NodeRow, node_columns};
use super::then::Then;
use crate::model::error::Result;
use crate::model::id::NodeId;
use crate::model::nodes::Node;
use crate::model::timeline::{CountBy, TimeCount, TimeCursor, TimeStep};

/// The latest nodes of a namespace that pass a filter within a timeframe, the latest first.
pub(crate) async fn latest(
    pool: &dyn Connections,
    namespace: &str,
    scope: Scope<'_>,
    limit: usize,
    then: Then,
) -> Result<Vec<Node>> {
    // A generic plan would not use the index that fits the filter.
    let mut tx = pool.begin_with("begin read only; set local plan_cache_mode = force_custom_plan").await?;
    let scope = Scope { namespaces: &[namespace], ..scope };
    let conditions = Conditions::of(&mut tx, scope, Required::default()).await?.at(then);
    let (tags, places) = placed(conditions.tags());
    let sql = include_str!("sql/timeline.sql")
        .replace("{{conditions}}", &conditions.untagged())
        .replace("{{node}}", &node_columns());
    let statement = Named::new(&then.statement(&sql))
        .bind("namespace", namespace)?
        .bind("limit", limit as i64)?
        .bind("tags", tags)?
        .bind("places", places)?
        .bind("needed", conditions.tags().len() as i64)?;
    let rows: Vec<NodeRow> = conditions.bind(statement)?.fetch_answer(&mut tx).await?;
    tx.commit().await?;
    rows.into_iter().map(NodeRow::into_node).collect()
}

/// Sorts nodes of several namespaces as the statement sorts those of one.
pub(crate) fn sort_latest_first(nodes: &mut [Node]) {
    nodes.sort_by_key(|node| Reverse((node.created_at, node.seq.is_none(), node.seq, node.id)));
}

/// The number of nodes that pass a filter in each step of time, the earliest first; at most `limit` rows.
pub(crate) async fn counts(
    pool: &dyn Connections,
    scope: Scope<'_>,
    step: TimeStep,
    by: CountBy,
    limit: usize,
) -> Result<Vec<TimeCount>> {
    let mut tx = pool.begin_with("begin read only; set local plan_cache_mode = force_custom_plan").await?;
    let conditions = Conditions::of(&mut tx, scope, Required::default()).await?;
    let (count, group, groups) = match by {
        CountBy::Time => ("count(*)", "null::text", ""),
        CountBy::Robot => ("count(*)", "r.name", "join htm.robots r on r.id = m.robot_id"),
        CountBy::Tag => (
            "count(distinct m.id)",
            "split_part(t.path, ':', 1)",
            "join htm.node_tags nt on nt.node_id = m.id and nt.namespace = m.namespace join htm.tags t on t.id = nt.tag_id",
        ),
    };
    let sql = include_str!("sql/timeline_counts.sql")
        .replace("{{conditions}}", &conditions.nodes())
        .replace("{{count}}", count)
        .replace("{{groups}}", groups)
        .replace("{{group}}", group);
    let statement = Named::new(&sql).bind("step", step.as_ref())?.bind("limit", limit as i64)?;
    let rows: Vec<(DateTime<Utc>, Option<String>, i64)> =
        conditions.bind(statement)?.fetch_all(&mut tx).await?;
    tx.commit().await?;
    Ok(rows.into_iter().map(|(start, name, memories)| TimeCount { start, name, memories }).collect())
}

/// A page of the live nodes of a namespace, the earliest first, after a cursor.
pub(crate) async fn page(
    pool: &dyn Connections,
    namespace: &str,
    after: Option<TimeCursor>,
    limit: usize,
) -> Result<Vec<Node>> {
    let rows: Vec<NodeRow> = Named::new(&include_str!("sql/page.sql").replace("{{node}}", &node_columns()))
        .bind("namespace", namespace)?
        .bind("time", after.map(|cursor| cursor.time))?
        .bind("node", after.map(|cursor| cursor.number))?
        .bind("limit", limit as i64)?
        .fetch_answer(pool)
        .await?;
    rows.into_iter().map(NodeRow::into_node).collect()
}

/// The nodes around one: those before it and those after it, each in time order.
pub(crate) type Around = (Vec<Node>, Vec<Node>);

/// The nodes around some nodes of these namespaces, by the node that they are around.
pub(crate) async fn neighbours(
    pool: &dyn Connections,
    nodes: &[NodeId],
    namespaces: &[&str],
    before: usize,
    after: usize,
) -> Result<HashMap<NodeId, Around>> {
    let rows: Vec<Placed> =
        Named::new(&include_str!("sql/neighbours.sql").replace("{{node}}", &node_columns()))
            .bind("nodes", nodes)?
            .bind("namespaces", namespaces)?
            .bind("before", before as i32)?
            .bind("after", after as i32)?
            .planned_anew()
            .fetch_answer(pool)
            .await?;
    let mut found: HashMap<NodeId, Around> = HashMap::new();
    for Placed { around, place, node } in rows {
        let (earlier, later) = found.entry(around).or_default();
        let side = if place < 0 { earlier } else { later };
        side.push(node.into_node()?);
    }
    Ok(found)
}

#[derive(sqlx::FromRow)]
struct Placed {
    around: NodeId,
    place: i64,
    #[sqlx(flatten)]
    node: NodeRow,
}
