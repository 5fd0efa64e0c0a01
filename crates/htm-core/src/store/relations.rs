//! Relations between nodes: those that were set, and those by tags.

use chrono::{DateTime, Utc};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter};
use sqlx::PgConnection;
use sqlx::types::Json;

use super::connections::Connections;
use super::entity::relation;
use super::named::{Named, sql};
use super::orm::on;
use super::recall::successors;
use crate::model::caller::Owner;
use crate::model::error::Result;
use crate::model::id::NodeId;
use crate::model::relations::{RelatedBy, RelatedNode, Relation, RelationKind, Successor, Superseded};
use crate::model::tags::read_tag;

/// A live node that a relation is about.
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

#[derive(sqlx::FromRow)]
struct Row {
    from_node: NodeId,
    kind: RelationKind,
    to_node: NodeId,
    reason: Option<String>,
    robot: String,
    made_at: DateTime<Utc>,
}

impl From<Row> for Relation {
    fn from(row: Row) -> Self {
        let Row { from_node, kind, to_node, reason, robot, made_at } = row;
        Self { from: from_node, kind, to: to_node, reason, robot, made_at }
    }
}

/// The relation that is set already. Contradiction has no direction.
pub(crate) async fn get(
    connection: &mut PgConnection,
    namespace: &str,
    (from, kind, to): (NodeId, RelationKind, NodeId),
) -> Result<Option<Relation>> {
    let found: Option<Row> = sql!(
        "select from_node, kind, to_node, reason, robot, made_at from htm.relations
          where namespace = :namespace and kind = :kind
            and (from_node = :from and to_node = :to
                 or :kind = 'contradicts' and from_node = :to and to_node = :from)"
    )
    .bind("namespace", namespace)?
    .bind("from", from)?
    .bind("kind", kind.as_ref())?
    .bind("to", to)?
    .fetch_optional(connection)
    .await?;
    Ok(found.map(Relation::from))
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

/// Sets a relation. Without a time, it is set now.
pub(crate) async fn insert_in_tx(
    connection: &mut PgConnection,
    namespace: &str,
    (from, kind, to): (NodeId, RelationKind, NodeId),
    (reason, robot, made_at): (Option<&str>, &str, Option<DateTime<Utc>>),
) -> Result<Relation> {
    let made: Row = sql!(
        "insert into htm.relations (namespace, from_node, kind, to_node, reason, robot, made_at)
         values (:namespace, :from, :kind, :to, :reason, :robot, coalesce(:made_at, now()))
         returning from_node, kind, to_node, reason, robot, made_at"
    )
    .bind("namespace", namespace)?
    .bind("from", from)?
    .bind("kind", kind.as_ref())?
    .bind("to", to)?
    .bind("reason", reason)?
    .bind("robot", robot)?
    .bind("made_at", made_at)?
    .fetch_one(connection)
    .await?;
    Ok(made.into())
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
    sql!("select count(*) from htm.node_revisions where node_id = :node and namespace = :namespace")
        .bind("node", node)?
        .bind("namespace", namespace)?
        .fetch_scalar(pool)
        .await
}

/// The live nodes that supersede a node, the last set first.
pub(crate) async fn successors_of(
    pool: &dyn Connections,
    node: NodeId,
    namespace: &str,
) -> Result<Vec<Successor>> {
    let sql =
        format!("select {} from htm.nodes m where m.id = :node and m.namespace = :namespace", successors());
    let found: Option<Option<Json<Vec<Successor>>>> = Named::new(&sql)
        .bind("node", node)?
        .bind("namespace", namespace)?
        .fetch_optional_scalar(pool)
        .await?;
    Ok(found.flatten().map(|it| it.0).unwrap_or_default())
}

/// Those of the nodes that others supersede.
pub(crate) async fn superseded(pool: &dyn Connections, nodes: &[NodeId]) -> Result<Vec<Superseded>> {
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
