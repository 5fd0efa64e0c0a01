//! The final removal of forgotten nodes.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter};
use sqlx::PgConnection;

use super::again::{again, met_another};
use super::connections::{Connections, Db};
use super::entity::node;
use super::named::{Named, sql};
use super::orm::on;
use super::{documents, embeddings, forget, kept_recalls};
use crate::model::caller::Owner;
use crate::model::error::Result;
use crate::model::forget::Removed;
use crate::model::id::NodeId;
use crate::model::purge::Purged;

/// The number of nodes that one transaction removes.
const NODES: i64 = 1_000;
/// The number of job rows that one statement reads.
const JOBS: i64 = 10_000;

/// The nodes that are to be purged.
pub(crate) struct Doomed<'a> {
    pub(crate) before: DateTime<Utc>,
    /// None means all namespaces.
    pub(crate) namespace: Option<&'a str>,
    /// None means any robot.
    pub(crate) owner: Option<Owner<'a>>,
}

/// The same as an SQL condition; [`Doomed::bind`] binds the parameters.
const DOOMED: &str = "n.deleted_at < :before and (:namespace::text is null or n.namespace = :namespace)
    and (:robot::text is null
         or (n.namespace = :home and exists (select from htm.robots r where r.id = n.robot_id and r.name = :robot)))";

impl Doomed<'_> {
    fn bind(&self, statement: Named) -> Result<Named> {
        statement
            .bind("before", self.before)?
            .bind("namespace", self.namespace)?
            .bind("robot", self.owner.map(|owner| owner.robot))?
            .bind("home", self.owner.map(|owner| owner.namespace))
    }
}

/// The database's time, by which nodes are marked as forgotten.
pub(crate) async fn now(db: impl Into<Db<'_>>) -> Result<DateTime<Utc>> {
    sql!("select clock_timestamp()").fetch_scalar(db).await
}

/// Removes up to 1,000 nodes with all dependent rows, in one transaction; their done jobs are left until these are pruned.
/// None if there are no more.
pub(crate) async fn step(pool: &dyn Connections, doomed: &Doomed<'_>) -> Result<Option<Purged>> {
    let step = again(met_another, || nodes_step(pool, doomed)).await?;
    Ok((step.removed.nodes > 0).then_some(step))
}

/// Removes the nodes with all dependent rows, and then their done jobs: reads all jobs.
pub(crate) async fn all(pool: &dyn Connections, doomed: &Doomed<'_>) -> Result<Purged> {
    let mut purged = Purged::default();
    while let Some(step) = step(pool, doomed).await? {
        purged.add(step);
    }
    let mut cursor = String::new();
    while let Some((last, jobs)) = done_jobs_step(pool, doomed, &cursor).await? {
        purged.removed.jobs += jobs;
        cursor = last;
    }
    Ok(purged)
}

/// Removes some nodes with all dependent rows, the first forgotten first.
async fn nodes_step(pool: &dyn Connections, doomed: &Doomed<'_>) -> Result<Purged> {
    let mut tx = pool.begin().await?;
    let next = Named::new(&format!(
        "select n.id, n.namespace from htm.nodes n where {DOOMED}
          order by n.deleted_at limit :limit for update of n skip locked"
    ));
    let rows: Vec<(NodeId, String)> = doomed.bind(next)?.bind("limit", NODES)?.fetch_all(&mut tx).await?;
    let (ids, namespaces): (Vec<NodeId>, Vec<&str>) =
        rows.iter().map(|(id, namespace)| (*id, namespace.as_str())).unzip();
    let mut purged = Purged::default();
    if ids.is_empty() {
        return Ok(purged);
    }
    let named: Vec<&str> = BTreeSet::from_iter(namespaces.iter().copied()).into_iter().collect();
    // Each table by itself, so that its rows are counted. Other rows of the nodes are deleted by their foreign keys.
    for store in embeddings::stores(&mut *tx).await? {
        purged.removed.embeddings += delete(&mut tx, &store, &named, &ids).await?;
    }
    purged.removed.tags = delete(&mut tx, "htm.node_tags", &named, &ids).await?;
    purged.completions = delete(&mut tx, "htm.completions", &named, &ids).await?;
    purged.repeats = delete(&mut tx, "htm.repeats", &named, &ids).await?;
    purged.revisions = delete(&mut tx, "htm.node_revisions", &named, &ids).await?;
    for table in ["htm.working_memory", "htm.group_memory"] {
        purged.working_memory += delete(&mut tx, table, &named, &ids).await?;
    }
    purged.removed.jobs = forget::delete_jobs_in_tx(&mut tx, &namespaces, &ids).await?;
    let of_documents = documents::of_nodes_in_tx(&mut tx, &named, &ids).await?;
    let deleted = node::Entity::delete_many()
        .filter(node::Column::Namespace.is_in(named.iter().copied()))
        .filter(node::Column::Id.eq_any(ids.iter().copied()))
        .exec(&on(&mut tx))
        .await?;
    purged.removed.nodes = deleted.rows_affected;
    documents::delete_empty_in_tx(&mut tx, &of_documents).await?;
    kept_recalls::delete_in_tx(&mut tx, &named, &ids).await?;
    tx.commit().await?;
    Ok(purged)
}

/// Deletes the done jobs of nodes that no longer exist, among some jobs after `cursor`. Returns the last job read and
/// the number of deleted ones, or none if there are no more jobs.
async fn done_jobs_step(
    pool: &dyn Connections,
    doomed: &Doomed<'_>,
    cursor: &str,
) -> Result<Option<(String, u64)>> {
    let (last, deleted): (Option<String>, i64) = sql!(include_str!("sql/purge_jobs.sql"))
        .bind("after", cursor)?
        .bind("limit", JOBS)?
        .bind("namespace", doomed.namespace.or(doomed.owner.map(|owner| owner.namespace)))?
        .fetch_one(pool)
        .await?;
    Ok(last.map(|last| (last, deleted as u64)))
}

/// Counts the rows that a purge would remove; reads all of them.
pub(crate) async fn count(pool: &dyn Connections, doomed: &Doomed<'_>) -> Result<Purged> {
    // One snapshot.
    let begin = "begin isolation level repeatable read, read only; set local statement_timeout = 0";
    let mut tx = pool.begin_with(begin).await?;
    let stores = embeddings::stores(&mut tx).await?;
    let mut of = async |table: &str, on: &str| -> Result<u64> {
        let sql = format!("select count(*) from {table} it join htm.nodes n on {on} where {DOOMED}");
        let count: i64 = doomed.bind(Named::new(&sql))?.fetch_scalar(&mut tx).await?;
        Ok(count as u64)
    };
    let by_node = "n.id = it.node_id and n.namespace = it.namespace";
    let mut purged = Purged {
        removed: Removed {
            nodes: of("htm.nodes", "n.id = it.id and n.namespace = it.namespace").await?,
            embeddings: 0,
            tags: of("htm.node_tags", by_node).await?,
            jobs: of(
                "apalis.jobs",
                "it.metadata -> 'node' = n.id::text and it.job_type like 'htm.%' and it.status <> 'Running'",
            )
            .await?,
        },
        completions: of("htm.completions", by_node).await?,
        repeats: of("htm.repeats", by_node).await?,
        revisions: of("htm.node_revisions", by_node).await?,
        working_memory: of("htm.working_memory", by_node).await? + of("htm.group_memory", by_node).await?,
    };
    for store in stores {
        purged.removed.embeddings += of(&store, by_node).await?;
    }
    tx.commit().await?;
    Ok(purged)
}

async fn delete(
    connection: &mut PgConnection,
    table: &str,
    namespaces: &[&str],
    nodes: &[NodeId],
) -> Result<u64> {
    let delete =
        format!("delete from {table} where namespace = any (:namespaces) and node_id = any (:nodes)");
    Named::new(&delete).bind("namespaces", namespaces)?.bind("nodes", nodes)?.execute(connection).await
}
