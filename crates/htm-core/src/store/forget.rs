//! Forgotten nodes: marks, and removes the marks.

use std::collections::{BTreeSet, HashMap};

use sea_orm::sea_query::{Expr, LockType};
use sea_orm::{ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter};
use sqlx::PgConnection;

use super::connections::Connections;
use super::entity::{node, node_tag, robot};
use super::named::{Named, sql};
use super::nodes::UniqueKeys;
use super::orm::on;
use super::{embeddings, statistics};
use crate::model::caller::Owner;
use crate::model::error::Result;
use crate::model::forget::{ForgetPlan, ForgetReason, ForgottenNode, MAX_MATCHES, Match, Removed};
use crate::model::id::NodeId;
use crate::model::timeline::TimeCursor;

/// A live node, locked until the transaction's end.
#[derive(Clone, Debug, sqlx::FromRow)]
pub(crate) struct Locked {
    pub(crate) id: NodeId,
    pub(crate) namespace: String,
    pub(crate) robot: String,
    pub(crate) revision: i32,
    /// The size of its text.
    pub(crate) bytes: i32,
    /// Another robot that remembered the same text; none if there is no such robot.
    pub(crate) other: Option<String>,
}

impl Locked {
    pub(crate) fn owner(&self) -> Owner<'_> {
        Owner { namespace: &self.namespace, robot: &self.robot }
    }
}

/// Locks the live ones of the nodes.
pub(crate) async fn lock_in_tx(connection: &mut PgConnection, nodes: &[NodeId]) -> Result<Vec<Locked>> {
    let mut locked: Vec<Locked> = sql!(
        "select n.id, n.namespace, r.name as robot, n.revision, octet_length(n.content) as bytes, null::text as other
           from htm.nodes n join htm.robots r on r.id = n.robot_id
          where n.id = any (:nodes) and n.deleted_at is null
          order by n.id
            for update of n"
    )
    .bind("nodes", nodes)?
    .fetch_all(&mut *connection)
    .await?;
    if locked.is_empty() {
        return Ok(locked);
    }
    // A statement of its own: a robot that has repeated a text may have held its node until now.
    let others: Vec<(NodeId, String)> = sql!(
        "select p.node_id, min(o.name collate \"C\")
           from unnest(:namespaces::text[], :nodes::bigint[]) as u(namespace, id)
           join htm.nodes n on n.namespace = u.namespace and n.id = u.id
           join htm.repeats p on p.namespace = n.namespace and p.node_id = n.id and p.robot_id <> n.robot_id
           join htm.robots o on o.id = p.robot_id
          group by p.node_id"
    )
    .bind("namespaces", locked.iter().map(|node| node.namespace.as_str()).collect::<Vec<_>>())?
    .bind("nodes", locked.iter().map(|node| node.id).collect::<Vec<_>>())?
    .fetch_all(connection)
    .await?;
    let mut others: HashMap<NodeId, String> = others.into_iter().collect();
    for node in &mut locked {
        node.other = others.remove(&node.id);
    }
    Ok(locked)
}

/// Marks locked nodes as forgotten, and deletes their waiting jobs and dead letters. A running job writes nothing (its
/// ack checks deleted_at) and ends as superseded. The caller [notes](note_in_tx) them at its transaction's end.
pub(crate) async fn forget_in_tx(
    connection: &mut PgConnection,
    nodes: &[Locked],
    reason: ForgetReason,
) -> Result<Removed> {
    if nodes.is_empty() {
        return Ok(Removed::default());
    }
    let (ids, namespaces): (Vec<NodeId>, Vec<&str>) =
        nodes.iter().map(|node| (node.id, node.namespace.as_str())).unzip();
    let named: Vec<&str> = BTreeSet::from_iter(namespaces.iter().copied()).into_iter().collect();
    node::Entity::update_many()
        // With what takes its place in this transaction, and not before an edit that the transaction waited for.
        .col_expr(node::Column::DeletedAt, Expr::cust("greatest(current_timestamp, updated_at)"))
        .col_expr(
            node::Column::ForgetReason,
            Expr::value((reason != ForgetReason::Asked).then_some(reason.as_ref())),
        )
        .filter(node::Column::Namespace.is_in(named.iter().copied()))
        .filter(node::Column::Id.eq_any(ids.iter().copied()))
        .exec(&on(&mut *connection))
        .await?;
    let jobs = delete_jobs_in_tx(connection, &namespaces, &ids).await?;
    let tags = node_tag::Entity::find()
        .filter(node_tag::Column::Namespace.is_in(named.iter().copied()))
        .filter(node_tag::Column::NodeId.eq_any(ids.iter().copied()))
        .count(&on(&mut *connection))
        .await?;
    let mut embeddings = 0;
    for store in embeddings::stores(&mut *connection).await? {
        let sql = format!(
            "select count(*) from {store} where namespace = any (:namespaces) and node_id = any (:nodes)"
        );
        let count: i64 = Named::new(&sql)
            .bind("namespaces", &named)?
            .bind("nodes", &ids)?
            .fetch_scalar(&mut *connection)
            .await?;
        embeddings += count as u64;
    }
    Ok(Removed { nodes: ids.len() as u64, embeddings, tags, jobs })
}

/// Records that texts were forgotten, in the transaction's last statement: see [`statistics::note_changed_in_tx`].
pub(crate) async fn note_in_tx(connection: &mut PgConnection, nodes: &[Locked]) -> Result<()> {
    statistics::note_in_tx(connection, nodes.iter().map(|node| node.namespace.as_str())).await
}

/// Deletes the waiting jobs and the dead letters of nodes.
pub(super) async fn delete_jobs_in_tx(
    connection: &mut PgConnection,
    namespaces: &[&str],
    nodes: &[NodeId],
) -> Result<u64> {
    // Jobs are locked in the order of their ids, so that no two statements deadlock.
    let deleted = sql!(
        "delete from apalis.jobs
          where id = any (array(select j.id
                                  from unnest(:namespaces::text[], :nodes::bigint[]) as gone(namespace, node)
                                  join apalis.jobs j on j.metadata -> 'namespace' = gone.namespace
                                                    and j.metadata -> 'node' = gone.node::text
                                 where j.job_type like 'htm.%' and j.status in ('Pending', 'Killed')
                                   and j.status <> 'Done'
                                 order by j.id
                                   for update of j))"
    )
    .bind("namespaces", namespaces)?
    .bind("nodes", nodes)?
    .execute(connection)
    .await?;
    Ok(deleted)
}

/// The live nodes of a namespace whose text contains `text`; only those of `owner`, if given.
pub(crate) async fn matching(
    pool: &dyn Connections,
    namespace: &str,
    text: &str,
    owner: Option<Owner<'_>>,
) -> Result<ForgetPlan> {
    // An owner of another namespace has no nodes here.
    let robot = owner.map(|owner| if owner.namespace == namespace { owner.robot } else { "" });
    // All texts of the namespace are read, which may take longer than the application's statement timeout.
    let mut tx = pool.begin_with("begin read only; set local statement_timeout = 0").await?;
    let (of_others, found): (i64, i64) = sql!(
        "select count(*) filter (where not own), count(*) filter (where own)
           from htm.nodes n join htm.robots r on r.id = n.robot_id
          cross join lateral (select :robot is null or (r.name = :robot
                and not exists (select from htm.repeats p
                                 where p.node_id = n.id and p.namespace = n.namespace
                                   and p.robot_id <> n.robot_id))) o(own)
          where n.namespace = :namespace and n.deleted_at is null and htm.contains(n.content, :text)"
    )
    .bind("namespace", namespace)?
    .bind("text", text)?
    .bind("robot", robot)?
    .fetch_one(&mut *tx)
    .await?;
    let matches: Vec<Match> = sql!(include_str!("sql/matching_nodes.sql"))
        .bind("namespace", namespace)?
        .bind("text", text)?
        .bind("robot", robot)?
        .bind("limit", MAX_MATCHES as i64)?
        .fetch_all(&mut *tx)
        .await?;
    tx.commit().await?;
    Ok(ForgetPlan { more: found > matches.len() as i64, matches, of_others })
}

pub(crate) async fn forgotten(
    pool: &dyn Connections,
    namespace: Option<&str>,
    before: Option<TimeCursor>,
    limit: i64,
) -> Result<Vec<ForgottenNode>> {
    sql!(
        "select n.id as node, n.namespace, r.name as robot, n.key, n.deleted_at, coalesce(n.forget_reason, 'asked') as reason,
                left(n.content, 100) as excerpt
           from htm.nodes n join htm.robots r on r.id = n.robot_id
          where n.deleted_at is not null and (:namespace::text is null or n.namespace = :namespace)
            and (:time::timestamptz is null or (n.deleted_at, n.id) < (:time, :node::bigint))
          order by n.deleted_at desc, n.id desc
          limit :limit"
    )
    .bind("namespace", namespace)?
    .bind("time", before.map(|cursor| cursor.time))?
    .bind("node", before.map(|cursor| cursor.number))?
    .bind("limit", limit)?
    .planned_anew()
    .fetch_all(pool)
    .await
}

/// A node, live or forgotten, locked until the transaction's end.
pub(crate) struct Found {
    pub(crate) is_forgotten: bool,
    pub(crate) revision: i32,
    pub(crate) robot: String,
    /// The size of its text.
    pub(crate) bytes: usize,
    pub(crate) unique_keys: UniqueKeys,
}

impl Found {
    pub(crate) fn owner(&self) -> Owner<'_> {
        Owner { namespace: &self.unique_keys.namespace, robot: &self.robot }
    }
}

pub(crate) async fn lock_forgotten_in_tx(
    connection: &mut PgConnection,
    node: NodeId,
) -> Result<Option<Found>> {
    let mut found = node::Entity::find_by_id(node).find_both_related(robot::Entity);
    found.query().lock_with_tables(LockType::Update, [node::Entity]);
    Ok(found.one(&on(connection)).await?.map(|(node, robot)| Found {
        is_forgotten: node.deleted_at.is_some(),
        revision: node.revision,
        robot: robot.name,
        bytes: node.content.len(),
        unique_keys: UniqueKeys {
            namespace: node.namespace,
            key: node.key,
            content_hash: node.content_hash,
            duplicate_scope: node.duplicate_scope,
        },
    }))
}

/// Restores forgotten nodes of a namespace.
pub(crate) async fn restore_in_tx(
    connection: &mut PgConnection,
    namespace: &str,
    nodes: &[NodeId],
) -> Result<()> {
    // An expiry that has passed is removed. Otherwise the next sweep would forget the node again.
    sql!(
        "with absence as (
            insert into htm.node_absences (namespace, node_id, forgotten_at, restored_at)
            select n.namespace, n.id, n.deleted_at, clock_timestamp() from htm.nodes n
             where n.namespace = :namespace and n.id = any (:nodes)
            on conflict on constraint node_absences_pk do nothing
         )
         update htm.nodes
            set deleted_at = null, forget_reason = null,
                expires_at = case when expires_at > now() then expires_at end,
                ttl_seconds = case when expires_at > now() then ttl_seconds end
          where namespace = :namespace and id = any (:nodes)"
    )
    .bind("namespace", namespace)?
    .bind("nodes", nodes)?
    .execute(connection)
    .await
    .map(drop)
}
