//! Expiry and retention.

use std::collections::HashSet;
use std::time::Duration;

use chrono::{DateTime, Utc};
use sea_orm::ActiveValue::Set;
use sea_orm::EntityTrait;
use sea_orm::sea_query::OnConflict;
use sqlx::PgConnection;

use super::connections::{Connections, Db};
use super::entity::retention;
use super::forget::{self, Locked};
use super::named::sql;
use super::orm::on;
use super::purge::{self, Doomed};
use crate::model::error::Result;
use crate::model::expiry::Expiry;
use crate::model::forget::ForgetReason;
use crate::model::id::NodeId;
use crate::model::retention::{Retention, RetentionPlan, Swept};

/// The number of nodes that one transaction forgets.
const NODES: i64 = 1_000;

/// A node that was remembered again, with the expiry that the writer asked for; none: it is to stay.
pub(crate) struct Wanted<'a> {
    pub(crate) namespace: &'a str,
    pub(crate) node: NodeId,
    pub(crate) expiry: Option<Expiry>,
}

/// The effect on nodes that expire.
#[derive(Default)]
pub(crate) struct Prolonged {
    /// Whether any has a later expiry now.
    pub(crate) any: bool,
    /// Those that were forgotten meanwhile.
    pub(crate) gone: HashSet<NodeId>,
}

/// Gives nodes that expire the later of their own expiry and the wanted one; none is the latest. A node lasts for the
/// longest time that a writer asked for. Those that expire are locked.
pub(crate) async fn prolong_in_tx(connection: &mut PgConnection, wanted: &[Wanted<'_>]) -> Result<Prolonged> {
    let ttl = |it: &Wanted<'_>| it.expiry.and_then(Expiry::ttl_seconds);
    let found: Vec<(NodeId, bool, bool)> = sql!(include_str!("sql/prolong.sql"))
        .bind("namespaces", wanted.iter().map(|it| it.namespace).collect::<Vec<_>>())?
        .bind("nodes", wanted.iter().map(|it| it.node).collect::<Vec<_>>())?
        .bind("expiries", wanted.iter().map(|it| it.expiry.and_then(Expiry::at)).collect::<Vec<_>>())?
        .bind("ttls", wanted.iter().map(ttl).collect::<Vec<_>>())?
        .fetch_all(connection)
        .await?;
    Ok(Prolonged {
        any: found.iter().any(|(_, is_prolonged, _)| *is_prolonged),
        gone: found.iter().filter(|(_, _, is_gone)| *is_gone).map(|(node, ..)| *node).collect(),
    })
}

/// Sets or clears a node's expiry.
pub(crate) async fn set_in_tx(
    connection: &mut PgConnection,
    namespace: &str,
    node: NodeId,
    expiry: Option<Expiry>,
) -> Result<()> {
    sql!(
        "update htm.nodes
            set expires_at = coalesce(:at::timestamptz, now() + :ttl::bigint * interval '1 second'), ttl_seconds = :ttl
          where namespace = :namespace and id = :node"
    )
    .bind("namespace", namespace)?
    .bind("node", node)?
    .bind("at", expiry.and_then(Expiry::at))?
    .bind("ttl", expiry.and_then(Expiry::ttl_seconds))?
    .execute(connection)
    .await
    .map(drop)
}

/// Starts the times to live of live nodes again, of all or of one robot alone; nodes without one are left. A later expiry
/// stays. Returns the number of nodes.
pub(crate) async fn refresh(pool: &dyn Connections, nodes: &[NodeId], robot: Option<&str>) -> Result<u64> {
    sql!(
        "update htm.nodes n set expires_at = greatest(n.expires_at, now() + n.ttl_seconds * interval '1 second')
           from (select id, namespace from htm.nodes
                  where id = any (:nodes) and ttl_seconds is not null and deleted_at is null
                    and (:robot::text is null or robot_id in (select id from htm.robots where name = :robot))
                  order by id for update) h
          where n.id = h.id and n.namespace = h.namespace"
    )
    .bind("nodes", nodes)?
    .bind("robot", robot)?
    .execute(pool)
    .await
}

/// Forgets expired nodes, in transactions of 1,000. A node that another sweep or an edit has locked is left to the next
/// sweep. `swept` is what it has done, also before an error.
///
/// # Errors
/// A database error.
pub async fn sweep_expired(pool: &dyn Connections, swept: &mut Swept) -> Result<()> {
    loop {
        let mut tx = pool.begin().await?;
        let expired: Vec<Locked> =
            sql!(include_str!("sql/expired_nodes.sql")).bind("limit", NODES)?.fetch_all(&mut *tx).await?;
        let step = forget_by_namespace(&mut tx, &expired, ForgetReason::Expired).await?;
        tx.commit().await?;
        swept.add(step);
        if expired.len() < NODES as usize {
            return Ok(());
        }
    }
}

/// A policy, with the times that it means now.
#[derive(sqlx::FromRow)]
struct Policy {
    namespace: String,
    forget_before: Option<DateTime<Utc>>,
    purge_before: Option<DateTime<Utc>>,
}

/// A node that is too old.
#[derive(sqlx::FromRow)]
struct Aged {
    #[sqlx(flatten)]
    node: Locked,
    created_at: DateTime<Utc>,
}

/// Carries out the retention policies that no sweep has taken for `period`: forgets what is too old, and purges what was
/// forgotten long enough ago. `swept` is what it has done, also before an error. An error in one namespace does not keep
/// it from the next ones.
///
/// # Errors
/// The first database error.
pub async fn sweep_retention(pool: &dyn Connections, period: Duration, swept: &mut Swept) -> Result<()> {
    let before = purge::now(pool).await? - period;
    let mut result = Ok(());
    while let Some(policy) = due(pool, before).await? {
        let done = sweep_namespace(pool, &policy, swept).await;
        result = result.and(done);
    }
    result
}

/// Takes the next policy to carry out.
async fn due(pool: &dyn Connections, before: DateTime<Utc>) -> Result<Option<Policy>> {
    sql!(include_str!("sql/due_retention.sql")).bind("before", before)?.fetch_optional(pool).await
}

async fn sweep_namespace(pool: &dyn Connections, policy: &Policy, swept: &mut Swept) -> Result<()> {
    let Policy { namespace, forget_before, purge_before } = policy;
    if let Some(before) = forget_before {
        let mut last: Option<(DateTime<Utc>, NodeId)> = None;
        loop {
            let mut tx = pool.begin().await?;
            let aged: Vec<Aged> = sql!(include_str!("sql/aged_nodes.sql"))
                .bind("namespace", namespace)?
                .bind("before", before)?
                .bind("time", last.map(|(time, _)| time))?
                .bind("node", last.map(|(_, node)| node))?
                .bind("limit", NODES)?
                .fetch_all(&mut *tx)
                .await?;
            last = aged.last().map(|it| (it.created_at, it.node.id));
            let is_last = aged.len() < NODES as usize;
            let aged: Vec<Locked> = aged.into_iter().map(|it| it.node).collect();
            let step = forget_by_namespace(&mut tx, &aged, ForgetReason::Retention).await?;
            tx.commit().await?;
            swept.add(step);
            if is_last {
                break;
            }
        }
    }
    if let Some(before) = purge_before {
        let doomed = Doomed { before: *before, namespace: Some(namespace), owner: None };
        while let Some(step) = purge::step(pool, &doomed).await? {
            swept.of(namespace).purged.add(step);
        }
    }
    Ok(())
}

async fn forget_by_namespace(
    connection: &mut PgConnection,
    nodes: &[Locked],
    reason: ForgetReason,
) -> Result<Swept> {
    let mut swept = Swept::default();
    // In a fixed order, as in every forget.
    let mut nodes = nodes.to_vec();
    nodes.sort_by(|a, b| (&a.namespace, a.id).cmp(&(&b.namespace, b.id)));
    for of_one in nodes.chunk_by(|a, b| a.namespace == b.namespace) {
        let forgotten = forget::forget_in_tx(&mut *connection, of_one, reason).await?;
        let row = swept.of(&of_one[0].namespace);
        *(if reason == ForgetReason::Expired { &mut row.expired } else { &mut row.aged }) += forgotten.nodes;
        row.forgotten.add(forgotten);
    }
    forget::note_in_tx(connection, &nodes).await?;
    Ok(swept)
}

/// The retention policy of a namespace.
pub(crate) async fn retention(db: impl Into<Db<'_>>, namespace: &str) -> Result<Retention> {
    let found = retention::Entity::find_by_id(namespace).one(&on(db)).await?;
    Ok(found.map_or_else(Retention::default, |row| Retention {
        forget_after_seconds: row.forget_after_seconds,
        purge_after_seconds: row.purge_after_seconds,
    }))
}

/// Reads the retention policy of a namespace, and keeps other transactions from changing it until the end of this one.
pub(crate) async fn hold_retention_in_tx(
    connection: &mut PgConnection,
    namespace: &str,
) -> Result<Retention> {
    sql!("select pg_advisory_xact_lock(hashtextextended('htm.retention/' || :namespace, 0))")
        .bind("namespace", namespace)?
        .execute(&mut *connection)
        .await?;
    retention(connection, namespace).await
}

/// Sets the retention policy of a namespace; the empty one deletes the row.
pub(crate) async fn set_retention(
    connection: &mut PgConnection,
    namespace: &str,
    policy: Retention,
) -> Result<()> {
    if policy.is_none() {
        retention::Entity::delete_by_id(namespace).exec(&on(connection)).await?;
        return Ok(());
    }
    let row = retention::ActiveModel {
        namespace: Set(namespace.to_owned()),
        forget_after_seconds: Set(policy.forget_after_seconds),
        purge_after_seconds: Set(policy.purge_after_seconds),
        // The next sweep takes it.
        swept_at: Set(None),
    };
    let changed = OnConflict::column(retention::Column::Namespace)
        .update_columns([
            retention::Column::ForgetAfterSeconds,
            retention::Column::PurgeAfterSeconds,
            retention::Column::SweptAt,
        ])
        .to_owned();
    retention::Entity::insert(row).on_conflict(changed).exec_without_returning(&on(connection)).await?;
    Ok(())
}

/// Counts the nodes that a policy would forget and purge at once.
pub(crate) async fn plan_retention(
    db: impl Into<Db<'_>>,
    namespace: &str,
    policy: Retention,
) -> Result<RetentionPlan> {
    let (to_forget, to_purge) = sql!(include_str!("sql/count_retention.sql"))
        .bind("namespace", namespace)?
        .bind("forget", policy.forget_after_seconds)?
        .bind("purge", policy.purge_after_seconds)?
        .fetch_one(db)
        .await?;
    Ok(RetentionPlan { to_forget, to_purge })
}
