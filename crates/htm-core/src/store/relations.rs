//! Relations between nodes: those that were set, and those by tags.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use sea_orm::ActiveValue::{NotSet, Set};
use sea_orm::sea_query::ExprTrait;
use sea_orm::{ColumnTrait, Condition, EntityTrait, PaginatorTrait, QueryFilter};
use sqlx::PgConnection;
use sqlx::types::Json;

use super::connections::Connections;
use super::entity::{node_revision, relation};
use super::named::{Named, sql};
use super::orm::on;
use super::recall::successors;
use super::then::Then;
use crate::model::caller::Owner;
use crate::model::error::Result;
use crate::model::id::NodeId;
use crate::model::relations::{RelatedBy, RelatedNode, Relation, RelationKind, Successor, Superseded};
use crate::model::tags::read_tag;

/// A node that a relation is about.
#[derive(Clone, Debug, sqlx::FromRow)]
pub(crate) struct End {
    pub(crate) id: NodeId,
    pub(crate) namespace: String,
    robot: String,
}

impl End {
    pub(crate) fn owner(&self) -> Owner<'_> {
        Owner { namespace: &self.namespace, robot: &self.robot }
    }
}

/// The live ones of the nodes, which cannot be deleted until the transaction's end.
pub(crate) async fn lock_in_tx(connection: &mut PgConnection, nodes: &[NodeId]) -> Result<Vec<End>> {
    sql!(
        "select n.id, n.namespace, r.name as robot
           from htm.nodes n join htm.robots r on r.id = n.robot_id
          where n.id = any (:nodes) and n.deleted_at is null
          order by n.id
            for key share of n"
    )
    .bind("nodes", nodes)?
    .fetch_all(connection)
    .await
}

/// Waits for other transactions that set relations of the namespace, and holds up later ones until the transaction's end:
/// two of them could close a circle that neither sees.
pub(crate) async fn hold_in_tx(connection: &mut PgConnection, namespace: &str) -> Result<()> {
    sql!("select pg_advisory_xact_lock(hashtextextended('htm.relations/' || :namespace, 0))")
        .bind("namespace", namespace)?
        .execute(connection)
        .await
        .map(drop)
}

impl From<relation::Model> for Relation {
    fn from(row: relation::Model) -> Self {
        let relation::Model { from_node: from, kind, to_node: to, reason, robot, made_at, .. } = row;
        Self { from, kind, to, reason, robot, made_at }
    }
}

/// The relation that is set already. Contradiction has no direction.
pub(crate) async fn get(
    connection: &mut PgConnection,
    namespace: &str,
    (from, kind, to): (NodeId, RelationKind, NodeId),
) -> Result<Option<Relation>> {
    let between =
        |from: NodeId, to: NodeId| relation::Column::FromNode.eq(from).and(relation::Column::ToNode.eq(to));
    let reversed = (kind == RelationKind::Contradicts).then(|| between(to, from));
    let found = relation::Entity::find()
        .filter(relation::Column::Namespace.eq(namespace))
        .filter(relation::Column::Kind.eq(kind))
        .filter(Condition::any().add(between(from, to)).add_option(reversed))
        .one(&on(connection))
        .await?;
    Ok(found.map(Into::into))
}

/// The nodes from `to` to `from`, each of which supersedes the next, forgotten ones included; empty if there is no such
/// chain.
pub(crate) async fn chain(
    connection: &mut PgConnection,
    namespace: &str,
    from: NodeId,
    to: NodeId,
) -> Result<Vec<NodeId>> {
    let found: Option<Vec<NodeId>> = sql!(include_str!("sql/relation_chain.sql"))
        .bind("namespace", namespace)?
        .bind("from", from)?
        .bind("to", to)?
        .fetch_optional_scalar(connection)
        .await?;
    Ok(found.unwrap_or_default())
}

/// The nodes that supersede `from` in the chains from `to` to `from`, forgotten ones included.
pub(crate) async fn closing(
    connection: &mut PgConnection,
    namespace: &str,
    from: NodeId,
    to: NodeId,
) -> Result<Vec<End>> {
    sql!(include_str!("sql/closing_relations.sql"))
        .bind("namespace", namespace)?
        .bind("from", from)?
        .bind("to", to)?
        .fetch_all(connection)
        .await
}

/// Sets a relation. Without a time, it is set now.
pub(crate) async fn insert_in_tx(
    connection: &mut PgConnection,
    namespace: &str,
    (from, kind, to): (NodeId, RelationKind, NodeId),
    (reason, robot, made_at): (Option<&str>, &str, Option<DateTime<Utc>>),
) -> Result<Relation> {
    let relation = relation::ActiveModel {
        namespace: Set(namespace.to_owned()),
        from_node: Set(from),
        kind: Set(kind),
        to_node: Set(to),
        reason: Set(reason.map(str::to_owned)),
        robot: Set(robot.to_owned()),
        made_at: made_at.map_or(NotSet, Set),
    };
    Ok(relation::Entity::insert(relation).exec_with_returning(&on(connection)).await?.into())
}

pub(crate) async fn delete_in_tx(
    connection: &mut PgConnection,
    namespace: &str,
    relation: &Relation,
) -> Result<()> {
    relation::Entity::delete_many()
        .filter(relation::Column::Namespace.eq(namespace))
        .filter(relation::Column::FromNode.eq(relation.from))
        .filter(relation::Column::ToNode.eq(relation.to))
        .filter(relation::Column::Kind.eq(relation.kind))
        .exec(&on(connection))
        .await?;
    Ok(())
}

#[derive(sqlx::FromRow)]
struct Found {
    by: String,
    node: NodeId,
    robot: String,
    created_at: DateTime<Utc>,
    excerpt: String,
    reason: Option<String>,
    made_by: Option<String>,
    made_at: Option<DateTime<Utc>>,
    tags: Vec<String>,
}

impl Found {
    fn node(self) -> Result<RelatedNode> {
        Ok(RelatedNode {
            by: self.by.parse::<RelatedBy>()?,
            node: self.node,
            robot: self.robot,
            created_at: self.created_at,
            excerpt: self.excerpt,
            reason: self.reason,
            made_by: self.made_by,
            made_at: self.made_at,
            similarity: None,
            tags: self.tags.into_iter().map(read_tag).collect::<Result<_>>()?,
        })
    }
}

/// The live nodes that a node has a relation with, the last set first.
pub(crate) async fn set(
    pool: &dyn Connections,
    node: NodeId,
    namespace: &str,
    by: Option<RelatedBy>,
    limit: usize,
) -> Result<Vec<RelatedNode>> {
    let found: Vec<Found> = sql!(include_str!("sql/related.sql"))
        .bind("node", node)?
        .bind("namespace", namespace)?
        .bind("by", by.map(|by| by.as_ref().to_owned()))?
        .bind("limit", limit as i64)?
        .fetch_all(pool)
        .await?;
    found.into_iter().map(Found::node).collect()
}

/// The most nodes of a tag that counts as rare.
const RARE: i64 = 20;

/// The live nodes that share rare tags with a node, those with the rarest first.
pub(crate) async fn sharing_tags(
    pool: &dyn Connections,
    node: NodeId,
    namespace: &str,
    limit: usize,
) -> Result<Vec<RelatedNode>> {
    let found: Vec<Found> = sql!(include_str!("sql/shared_tags.sql"))
        .bind("node", node)?
        .bind("namespace", namespace)?
        .bind("rare", RARE)?
        .bind("limit", limit as i64)?
        .fetch_all(pool)
        .await?;
    found.into_iter().map(Found::node).collect()
}

/// The number of the former texts of a node.
pub(crate) async fn former_texts(pool: &dyn Connections, node: NodeId, namespace: &str) -> Result<i64> {
    let texts = node_revision::Entity::find()
        .filter(node_revision::Column::NodeId.eq(node))
        .filter(node_revision::Column::Namespace.eq(namespace))
        .count(&on(pool))
        .await?;
    Ok(texts as i64)
}

/// The links of the chains from nodes to those that supersede them, as of a time: a node and its successor, the nearest to
/// the nodes first, at most `most`. Each node is given with its namespace.
pub(crate) async fn successions(
    pool: &dyn Connections,
    nodes: &HashMap<NodeId, &str>,
    most: usize,
    then: Then,
) -> Result<Vec<(NodeId, NodeId)>> {
    let (nodes, namespaces): (Vec<NodeId>, Vec<&str>) = nodes.iter().map(|(node, of)| (*node, *of)).unzip();
    let statement = Named::new(&then.statement(include_str!("sql/successions.sql")))
        .bind("nodes", &nodes[..])?
        .bind("namespaces", &namespaces[..])?
        .bind("most", most as i64)?;
    then.bind(statement)?.fetch_all(pool).await
}

/// Those of the nodes that others supersede.
pub(crate) async fn superseded(pool: &dyn Connections, nodes: &[NodeId]) -> Result<Vec<Superseded>> {
    if nodes.is_empty() {
        return Ok(Vec::new());
    }
    let sql = format!(
        "select h.id, m.superseded_by
           from unnest(:nodes::bigint[]) with ordinality h(id, ord)
          cross join lateral (select {} as superseded_by from htm.nodes m where m.id = h.id) m
          where m.superseded_by is not null
          order by h.ord",
        successors()
    );
    let found: Vec<(NodeId, Json<Vec<Successor>>)> =
        Named::new(&sql).bind("nodes", nodes)?.fetch_all(pool).await?;
    Ok(found.into_iter().map(|(node, it)| Superseded { node, superseded_by: it.0 }).collect())
}
