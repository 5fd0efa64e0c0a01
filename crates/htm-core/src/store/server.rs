//! The database server: its versions and durability, its clock, and numbers over all nodes.

use chrono::{DateTime, Utc};

use super::connections::{Connections, TENANT_ROLE};
use super::named::sql;
use crate::model::error::Result;
use crate::model::jobs::Stage;

/// Versions and durability of the server.
#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct Versions {
    /// The version of PostgreSQL, such as `18.6`.
    pub postgres: String,
    /// The version of pgvector, such as `0.8.6`; empty if it is not installed.
    pub pgvector: String,
    /// Whether fsync and synchronous_commit are on: a commit survives a crash of the server.
    pub durable: bool,
}

/// Reads the versions and durability of the server.
///
/// # Errors
/// A database error.
pub(crate) async fn versions(pool: &dyn Connections) -> Result<Versions> {
    sql!(
        "select current_setting('server_version') as postgres,
                coalesce((select extversion from pg_extension where extname = 'vector'), '') as pgvector,
                current_setting('fsync') = 'on' and current_setting('synchronous_commit') <> 'off' as durable"
    )
    .fetch_one(pool)
    .await
}

/// Writes a megabyte to a table that nobody else sees, and undoes it.
///
/// # Errors
/// A database error, such as that of a full disk.
pub(crate) async fn try_write(pool: &dyn Connections) -> Result<()> {
    let mut tx = pool.begin().await?;
    // Temporary tables may have a disk of their own, but memories are not there.
    sql!("select set_config('temp_tablespaces', '', true)").execute(&mut tx).await?;
    sql!(
        "create temporary table htm_tried on commit drop as
         select repeat('-', 1000) as filler from generate_series(1, 1000)"
    )
    .execute(&mut tx)
    .await?;
    Ok(tx.rollback().await?)
}

/// Whether the tables have policies for the tenants' role, and this role may set it.
pub(crate) async fn has_row_security(pool: &dyn Connections) -> Result<bool> {
    sql!(
        "select exists (select from pg_roles r
                         where r.rolname = :role
                           and pg_has_role(current_user, r.oid, case when current_setting('server_version_num')::int >= 160000
                                                                     then 'SET' else 'MEMBER' end))
                and (select relrowsecurity from pg_class where oid = 'htm.nodes'::regclass)"
    )
    .bind("role", TENANT_ROLE)?
    .fetch_scalar(pool)
    .await
}

/// Notifies the listeners of a channel.
pub(crate) async fn notify(pool: &dyn Connections, channel: &str, payload: &str) -> Result<()> {
    // A crash loses the listeners with the notification, so the commit is not flushed.
    let notify = sql!("select pg_notify(:channel, :payload), set_config('synchronous_commit', 'off', true)");
    notify.bind("channel", channel)?.bind("payload", payload)?.execute(pool).await.map(drop)
}

/// The database's time, the only clock for decisions.
pub(crate) async fn now(pool: &dyn Connections) -> Result<DateTime<Utc>> {
    sql!("select now()").fetch_scalar(pool).await
}

/// The progress of all live nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct Progress {
    /// Live nodes.
    pub nodes: i64,
    /// Embedded nodes.
    pub embedded: i64,
    /// Tagged nodes (zero tags included).
    pub tagged: i64,
    /// Dead letters of both stages.
    pub dead: i64,
}

/// Counts live nodes by stage; reads all of them.
///
/// # Errors
/// A database error.
pub(crate) async fn progress(pool: &dyn Connections) -> Result<Progress> {
    sql!(
        "select count(distinct n.id) as nodes,
                count(distinct n.id) filter (where c.stage = 'embed') as embedded,
                count(distinct n.id) filter (where c.stage = 'tag') as tagged,
                (select count(*) from apalis.jobs
                  where job_type like 'htm.%' and job_type <> 'htm.learn' and status = 'Killed') as dead
           from htm.nodes n
           left join htm.completions c on c.node_id = n.id and c.namespace = n.namespace and c.revision = n.revision
          where n.deleted_at is null"
    )
    .fetch_one(pool)
    .await
}

/// The time between the write of a node and the end of a stage.
#[derive(Clone, Debug, PartialEq, sqlx::FromRow)]
pub struct StageLatency {
    /// The stage.
    pub stage: Stage,
    /// Median, milliseconds.
    pub p50_ms: f64,
    /// 95th percentile, milliseconds.
    pub p95_ms: f64,
    /// The longest, milliseconds.
    pub max_ms: f64,
}

/// The latencies of both stages over all live nodes; reads all of them.
///
/// # Errors
/// A database error.
pub(crate) async fn stage_latencies(pool: &dyn Connections) -> Result<Vec<StageLatency>> {
    sql!(
        "select stage, percentile_cont(0.5) within group (order by ms) as p50_ms,
                percentile_cont(0.95) within group (order by ms) as p95_ms, max(ms) as max_ms
           from (select c.stage, extract(epoch from c.done_at - n.updated_at)::float8 * 1000 as ms
                   from htm.completions c
                   join htm.nodes n on n.id = c.node_id and n.namespace = c.namespace and n.revision = c.revision
                  where n.deleted_at is null and c.stage in ('embed', 'tag')) latency
          group by stage order by stage"
    )
    .fetch_all(pool)
    .await
}
