//! Robots: registered, seen, counted, renamed, merged.

use std::time::Duration;

use chrono::{DateTime, Utc};
use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::{LockType, OnConflict};
use sea_orm::{ColumnTrait, Condition, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use serde_json::{Value, json};
use sqlx::PgConnection;

use super::again::{again, was_overtaken};
use super::audit_log::{self, Done};
use super::connections::{Connections, Db, Part};
use super::entity::robot;
use super::groups;
use super::named::{Named, sql};
use super::orm::on;
use crate::model::error::{Error, Result, codes};
use crate::model::id::{GroupId, RobotId};
use crate::model::robots::{MergeReceipt, RobotInfo, RobotStatistics, unknown};

const NOW_CALLED: &str = "select id, name from htm.robots
    where id = coalesce((select into_id from htm.merged_robots where robot_id = :robot), :robot)";

/// The foreign keys against which a write fails if its robot's row was removed between its check and the write.
pub(crate) const ROBOT_KEYS: [&str; 2] = ["nodes_robot_fk", "repeats_robot_fk"];

/// The longest time for which a suspended merge keeps the groups of its robots waiting.
const PATIENCE: Duration = Duration::from_secs(1);
/// The number of attempts of a registration whose robots are removed as fast as it registers them.
const REGISTRATIONS: u32 = 20;

/// Registers robots by namespace and name, and locks all of them until the end of the transaction: nobody removes one
/// meanwhile.
pub(crate) async fn register_in_tx(connection: &mut PgConnection, robots: &[(&str, &str)]) -> Result<()> {
    let (namespaces, names): (Vec<&str>, Vec<&str>) = robots.iter().copied().unzip();
    for _ in 0..REGISTRATIONS {
        // The locks of an attempt are released before the next one. They are taken in one order; otherwise two callers
        // that hold one robot each would wait for the other's.
        let mut attempt = Part::begin(&mut *connection).await?;
        let missing: Result<i64> = sql!(include_str!("sql/register_robots.sql"))
            .bind("namespaces", &namespaces)?
            .bind("names", &names)?
            .fetch_scalar(&mut *attempt)
            .await;
        if matches!(missing, Ok(0)) {
            return Ok(attempt.commit().await?);
        }
        attempt.rollback().await?;
        missing?;
    }
    Err(Error::contended())
}

/// Writes the times at which robots were last seen. Robots that are not registered, or locked at this moment, are left
/// out.
pub(crate) async fn touch(pool: &dyn Connections, seen: &[(&str, &str, Duration)]) -> Result<()> {
    sql!(include_str!("sql/touch_robots.sql"))
        .bind("namespaces", seen.iter().map(|(namespace, ..)| *namespace).collect::<Vec<_>>())?
        .bind("names", seen.iter().map(|(_, name, _)| *name).collect::<Vec<_>>())?
        .bind("ago_ms", seen.iter().map(|(.., ago)| ago.as_millis() as i64).collect::<Vec<_>>())?
        .execute(pool)
        .await
        .map(drop)
}

/// Robots with their statistics: all of a namespace or of all namespaces, or the one with this name.
pub(crate) async fn statistics(
    pool: &dyn Connections,
    namespace: Option<&str>,
    name: Option<&str>,
) -> Result<Vec<RobotStatistics>> {
    let rows: Vec<StatisticsRow> = sql!(include_str!("sql/robot_statistics.sql"))
        .bind("namespace", namespace)?
        .bind("name", name)?
        // Planned for these arguments: a null argument is no filter.
        .planned_anew()
        .fetch_all(pool)
        .await?;
    Ok(rows.into_iter().map(Into::into).collect())
}

/// The robots of a namespace with the most similar names.
pub(crate) async fn nearest(pool: &dyn Connections, namespace: &str, name: &str) -> Result<Vec<String>> {
    sql!(
        "select r.name from htm.robots r where r.namespace = :namespace
          order by similarity(r.name, :name) desc, r.name collate \"C\"
          limit 3"
    )
    .bind("namespace", namespace)?
    .bind("name", name)?
    .fetch_scalars(pool)
    .await
}

/// A robot's id.
pub(crate) async fn find(db: impl Into<Db<'_>>, namespace: &str, name: &str) -> Result<Option<RobotId>> {
    Ok(robot::Entity::find()
        .select_only()
        .column(robot::Column::Id)
        .filter(called(namespace, name))
        .into_tuple()
        .one(&on(db))
        .await?)
}

/// The condition for the robot with this name.
pub(super) fn called(namespace: &str, name: &str) -> Condition {
    Condition::all().add(robot::Column::Namespace.eq(namespace)).add(robot::Column::Name.eq(name))
}

/// A registered robot.
pub(crate) async fn get(pool: &dyn Connections, namespace: &str, name: &str) -> Result<Option<RobotInfo>> {
    let row = robot::Entity::find().filter(called(namespace, name)).one(&on(pool)).await?;
    Ok(row.map(Into::into))
}

/// The current id and name of a robot, or of the robot that it was merged into; none if it no longer exists.
pub(crate) async fn now_called(pool: &dyn Connections, robot: RobotId) -> Result<Option<(RobotId, String)>> {
    sql!(NOW_CALLED).bind("robot", robot)?.fetch_optional(pool).await
}

/// As [`now_called`], and locks the name until the end of the transaction.
pub(crate) async fn hold_name_in_tx(
    connection: &mut PgConnection,
    robot: RobotId,
) -> Result<Option<(RobotId, String)>> {
    Named::new(&format!("{NOW_CALLED} for key share")).bind("robot", robot)?.fetch_optional(connection).await
}

/// Registers one robot; none if its name is taken.
pub(crate) async fn insert(
    pool: &dyn Connections,
    namespace: &str,
    name: &str,
    metadata: &Value,
) -> Result<Option<RobotInfo>> {
    let robot = robot::ActiveModel {
        namespace: Set(namespace.to_owned()),
        name: Set(name.to_owned()),
        metadata: Set(metadata.clone()),
        ..Default::default()
    };
    let unless_taken =
        OnConflict::columns([robot::Column::Namespace, robot::Column::Name]).do_nothing().to_owned();
    let inserted =
        robot::Entity::insert(robot).on_conflict(unless_taken).exec_with_returning_many(&on(pool)).await?;
    Ok(inserted.into_iter().next().map(Into::into))
}

/// Renames a robot; none if no robot has the old name.
pub(crate) async fn rename(
    connection: &mut PgConnection,
    namespace: &str,
    old: &str,
    new: &str,
) -> Result<Option<RobotInfo>> {
    let change = robot::ActiveModel { name: Set(new.to_owned()), ..Default::default() };
    update(connection, namespace, old, change).await
}

/// Sets a robot's metadata; none if there is no such robot.
pub(crate) async fn set_metadata(
    pool: &dyn Connections,
    namespace: &str,
    name: &str,
    metadata: &Value,
) -> Result<Option<RobotInfo>> {
    let change = robot::ActiveModel { metadata: Set(metadata.clone()), ..Default::default() };
    update(pool, namespace, name, change).await
}

/// Sets the token budget of a robot's working memory; none if there is no such robot.
pub(crate) async fn set_budget(
    pool: &dyn Connections,
    namespace: &str,
    name: &str,
    max_tokens: Option<i64>,
) -> Result<Option<RobotInfo>> {
    let change = robot::ActiveModel { max_tokens: Set(max_tokens), ..Default::default() };
    update(pool, namespace, name, change).await
}

async fn update<'c>(
    db: impl Into<Db<'c>>,
    namespace: &str,
    name: &str,
    change: robot::ActiveModel,
) -> Result<Option<RobotInfo>> {
    let updated = robot::Entity::update_many()
        .set(change)
        .filter(called(namespace, name))
        .exec_with_returning(&on(db))
        .await?;
    Ok(updated.into_iter().next().map(Into::into))
}

/// Counts the rows that a merge would move; nothing is locked or written.
pub(crate) async fn would_merge(
    pool: &dyn Connections,
    namespace: &str,
    from: &[&str],
    into: &str,
) -> Result<MergeReceipt> {
    let mut ids = Vec::new();
    for name in from {
        ids.push(find(pool, namespace, name).await?.ok_or_else(|| unknown(namespace, name))?);
    }
    let into_id = find(pool, namespace, into).await?.ok_or_else(|| unknown(namespace, into))?;
    let would_move: Moved = sql!(include_str!("sql/would_merge_robots.sql"))
        .bind("from", &ids)?
        .bind("into", into_id)?
        .bind("namespace", namespace)?
        .fetch_one(pool)
        .await?;
    Ok(would_move.receipt(namespace, from, into))
}

/// The numbers of rows that a merge moves.
#[derive(sqlx::FromRow)]
struct Moved {
    #[sqlx(default)]
    nodes: i64,
    repeats: i64,
    working_memory: i64,
    memberships: i64,
}

impl Moved {
    fn receipt(self, namespace: &str, from: &[&str], into: &str) -> MergeReceipt {
        let Self { nodes, repeats, working_memory, memberships } = self;
        let from = from.iter().map(|name| (*name).to_owned()).collect();
        let (namespace, into) = (namespace.into(), into.into());
        MergeReceipt { namespace, into, from, nodes, repeats, working_memory, memberships }
    }
}

/// Moves everything of the robots `from` to `into` and removes them, in one transaction.
pub(crate) async fn merge(
    pool: &dyn Connections,
    namespace: &str,
    from: &[&str],
    into: &str,
    done: &Done<'_>,
) -> Result<MergeReceipt> {
    let (receipt, groups) = again(met_another_write, || try_merge(pool, namespace, from, into, done)).await?;
    for group in groups {
        groups::notify(pool, group).await;
    }
    Ok(receipt)
}

/// Returns the receipt of the merge, and the groups to notify.
async fn try_merge(
    pool: &dyn Connections,
    namespace: &str,
    from: &[&str],
    into: &str,
    done: &Done<'_>,
) -> Result<(MergeReceipt, Vec<GroupId>)> {
    // A million nodes may take longer than the application's statement timeout.
    let mut tx = pool.begin_with("begin; set local statement_timeout = 0").await?;
    // One merge at a time in a namespace: two of them could wait for each other's robots.
    sql!("select pg_advisory_xact_lock(hashtextextended('htm.merge/' || :namespace, 0))")
        .bind("namespace", namespace)?
        .execute(&mut *tx)
        .await?;
    let names = from.iter().chain([&into]).map(|name| (*name).to_owned());
    let known: Vec<(RobotId, String)> = robot::Entity::find()
        .select_only()
        .columns([robot::Column::Id, robot::Column::Name])
        .filter(robot::Column::Namespace.eq(namespace))
        .filter(robot::Column::Name.eq_any(names))
        .order_by_asc(robot::Column::Id)
        .lock(LockType::KeyShare)
        .into_tuple()
        .all(&on(&mut tx))
        .await?;
    let id_of = |name: &str| {
        let found = known.iter().find(|(_, known)| known == name);
        found.map(|(id, _)| *id).ok_or_else(|| unknown(namespace, name))
    };
    let into_id = id_of(into)?;
    let from_ids = from.iter().map(|name| id_of(name)).collect::<Result<Vec<_>>>()?;
    // First without a lock on the robots, which may write; then, under the lock, the nodes written meanwhile.
    let mut nodes = move_nodes(&mut tx, namespace, &from_ids, into_id).await?;
    // Groups before robots, as in every write to a group.
    let joined = groups::of_robots(&mut *tx, &from_ids).await?;
    groups::lock_in_tx(&mut tx, &joined, PATIENCE).await?;
    let _held: Vec<RobotId> = robot::Entity::find()
        .select_only()
        .column(robot::Column::Id)
        .filter(robot::Column::Id.eq_any(from_ids.iter().copied()))
        .order_by_asc(robot::Column::Id)
        .lock_exclusive()
        .into_tuple()
        .all(&on(&mut *tx))
        .await?;
    if groups::of_robots(&mut *tx, &from_ids).await?.iter().any(|group| !joined.contains(group)) {
        return Err(Error::contended());
    }
    nodes += move_nodes(&mut tx, namespace, &from_ids, into_id).await?;
    let moved: Moved = sql!(include_str!("sql/merge_robots.sql"))
        .bind("from", &from_ids)?
        .bind("into", into_id)?
        .fetch_one(&mut *tx)
        .await?;
    for group in &joined {
        groups::hand_over_in_tx(&mut tx, *group, None).await?;
    }
    // By their ids: an erasure of the namespace leaves no name of a robot.
    let subject = into_id.to_string();
    let done = Done { subject: Some(&subject), details: json!({"from": from_ids}), ..done.clone() };
    audit_log::record(&mut tx, done).await?;
    tx.commit().await?;
    Ok((Moved { nodes, ..moved }.receipt(namespace, from, into), joined))
}

async fn move_nodes(
    connection: &mut PgConnection,
    namespace: &str,
    from: &[RobotId],
    into: RobotId,
) -> Result<i64> {
    let moved = sql!(include_str!("sql/merge_nodes.sql"))
        .bind("from", from)?
        .bind("into", into)?
        .bind("namespace", namespace)?
        .execute(connection)
        .await?;
    Ok(moved as i64)
}

/// Whether another transaction was in the way of a merge: in a deadlock with a forget or an edit; by the same content,
/// which `into` has just written; as one of `from` joined a group; or by a write of one of `from`. PostgreSQL (18.6) may
/// grant `for update` beside a `for key share` of the same moment. The foreign key then refuses the removal of the robot.
fn met_another_write(error: &Error) -> bool {
    let is_content = || was_overtaken(error, &["nodes_duplicate_key"]);
    error.is(codes::CONTENDED) || was_overtaken(error, &ROBOT_KEYS) || is_content()
}

impl From<robot::Model> for RobotInfo {
    fn from(row: robot::Model) -> Self {
        let robot::Model { id, uuid, namespace, name, metadata, created_at, last_active, max_tokens } = row;
        let max_tokens = max_tokens.and_then(|tokens| usize::try_from(tokens).ok());
        Self { id, uuid, namespace, name, metadata, created_at, last_active, max_tokens }
    }
}

#[derive(sqlx::FromRow)]
struct StatisticsRow {
    #[sqlx(flatten)]
    robot: robot::Model,
    nodes: i64,
    tokens: i64,
    forgotten: i64,
    repeats: i64,
    first_memory: Option<DateTime<Utc>>,
    last_memory: Option<DateTime<Utc>>,
    in_working_memory: i64,
    working_memory_tokens: i64,
    groups: Vec<String>,
}

impl From<StatisticsRow> for RobotStatistics {
    fn from(row: StatisticsRow) -> Self {
        Self {
            robot: row.robot.into(),
            nodes: row.nodes,
            tokens: row.tokens,
            forgotten: row.forgotten,
            repeats: row.repeats,
            first_memory: row.first_memory,
            last_memory: row.last_memory,
            in_working_memory: row.in_working_memory,
            working_memory_tokens: row.working_memory_tokens,
            groups: row.groups,
        }
    }
}
