//! Groups of robots: members, roles and takeovers. Every change of a group locks its row first, and reads it in a later
//! statement, which sees the changes of the previous lock holder.

use std::time::Duration;

use chrono::{DateTime, Utc};
use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use sqlx::PgConnection;
use uuid::Uuid;

use super::connections::{Connections, Db};
use super::entity::{group, group_member};
use super::named::sql;
use super::orm::on;
use super::server;
use crate::model::error::chain;
use crate::model::error::{Error, Result};
use crate::model::groups::{GroupInfo, GroupMemberInfo, GroupRole};
use crate::model::id::{GroupId, RobotId};

/// The notification channel for changes of groups; the payload is the group's id.
pub(crate) const CHANNEL: &str = "htm_groups";

/// Notifies the members of a group of a change; call it after the commit. A lost notification is no failure: members
/// see the change with their next heartbeat.
pub(crate) async fn notify(pool: &dyn Connections, group: GroupId) {
    let sent = server::notify(pool, CHANNEL, &group.to_string()).await;
    if let Err(error) = sent {
        tracing::debug!(error = %chain(&error), "members of a group were not told; they see it with their next heartbeat");
    }
}

/// Creates a group unless it exists. Its budget is that of its first member.
pub(crate) async fn ensure_in_tx(
    connection: &mut PgConnection,
    namespace: &str,
    name: &str,
    max_tokens: i64,
) -> Result<GroupId> {
    let group = group::ActiveModel {
        namespace: Set(namespace.to_owned()),
        name: Set(name.to_owned()),
        max_tokens: Set(max_tokens),
        ..Default::default()
    };
    group::Entity::insert(group)
        .on_conflict_do_nothing_on([group::Column::Namespace, group::Column::Name])
        .exec_without_returning(&on(&mut *connection))
        .await?;
    find(connection, namespace, name).await?.ok_or_else(Error::contended)
}

/// A group's id.
pub(crate) async fn find(db: impl Into<Db<'_>>, namespace: &str, name: &str) -> Result<Option<GroupId>> {
    Ok(group::Entity::find()
        .select_only()
        .column(group::Column::Id)
        .filter(group::Column::Namespace.eq(namespace))
        .filter(group::Column::Name.eq(name))
        .into_tuple()
        .one(&on(db))
        .await?)
}

/// The groups that robots are members of.
pub(crate) async fn of_robots(db: impl Into<Db<'_>>, robots: &[RobotId]) -> Result<Vec<GroupId>> {
    Ok(group_member::Entity::find()
        .select_only()
        .column(group_member::Column::GroupId)
        .distinct()
        .filter(group_member::Column::RobotId.eq_any(robots.iter().copied()))
        .order_by_asc(group_member::Column::GroupId)
        .into_tuple()
        .all(&on(db))
        .await?)
}

/// Locks groups until the end of the transaction, always in the order of their ids. A process that is suspended while
/// it holds the lock loses the lock and its transaction after `patience` (at least a second: a busy machine is not
/// suspended; at most a minute). Otherwise nobody could take over from it.
pub(crate) async fn lock_in_tx(
    connection: &mut PgConnection,
    groups: &[GroupId],
    patience: Duration,
) -> Result<()> {
    // Not `for update`: a new row that refers to the group is no change of it.
    sql!(
        "select set_config('idle_in_transaction_session_timeout', :patience_ms, true)
           from htm.robot_groups where id = any (:groups) order by id for no key update"
    )
    .bind("groups", groups)?
    .bind("patience_ms", patience.as_millis().clamp(1_000, 60_000).to_string())?
    .execute(connection)
    .await?;
    Ok(())
}

/// Whether the database ended a transaction that was idle while it held a lock.
pub(crate) fn lost_lock(error: &Error) -> bool {
    error.database().is_some_and(|it| it.sqlstate() == Some("25P03"))
}

/// Makes a robot a member of a locked group. If it becomes active without having asked for a role, lost active members
/// become passive. If it joins as passive, another member takes over when no active one is left.
pub(crate) async fn join_in_tx(
    connection: &mut PgConnection,
    group: GroupId,
    robot: RobotId,
    membership: Uuid,
    lease: Duration,
    asked: Option<GroupRole>,
) -> Result<GroupRole> {
    let role: GroupRole = sql!(include_str!("sql/group_join.sql"))
        .bind("group", group)?
        .bind("robot", robot)?
        .bind("membership", membership)?
        .bind("lease_ms", lease.as_millis() as i64)?
        .bind("role", asked.map(<&str>::from))?
        .fetch_scalar(&mut *connection)
        .await?;
    match (role, asked) {
        (GroupRole::Passive, _) => drop(hand_over_in_tx(connection, group, Some(robot)).await?),
        (GroupRole::Active, None) => demote_lost_in_tx(connection, group).await?,
        (GroupRole::Active, Some(_)) => {}
    }
    Ok(role)
}

/// Makes lost active members of a locked group passive, because another one is active instead.
pub(crate) async fn demote_lost_in_tx(connection: &mut PgConnection, group: GroupId) -> Result<()> {
    sql!(
        "update htm.group_members set role = 'passive'
          where group_id = :group and role = 'active'
            and seen_at + lease_ms * interval '1 millisecond' <= clock_timestamp()"
    )
    .bind("group", group)?
    .execute(connection)
    .await?;
    Ok(())
}

/// The result of a heartbeat.
pub(crate) struct Beat {
    pub(crate) version: i64,
    pub(crate) closed: bool,
    /// None if this process no longer acts for the robot.
    pub(crate) role: Option<GroupRole>,
    /// Whether another member has to take over.
    pub(crate) orphaned: bool,
}

/// Records a heartbeat of a member; none if its group no longer exists.
pub(crate) async fn beat(
    connection: &mut PgConnection,
    group: GroupId,
    robot: RobotId,
    membership: Uuid,
    seen_version: i64,
) -> Result<Option<Beat>> {
    let row: Option<BeatRow> = sql!(include_str!("sql/group_beat.sql"))
        .bind("group", group)?
        .bind("robot", robot)?
        .bind("membership", membership)?
        .bind("seen_version", seen_version)?
        .fetch_optional(connection)
        .await?;
    row.map(|row| {
        let BeatRow { version, closed, role, orphaned } = row;
        Ok(Beat { version, closed, role, orphaned })
    })
    .transpose()
}

#[derive(sqlx::FromRow)]
struct BeatRow {
    version: i64,
    closed: bool,
    role: Option<GroupRole>,
    orphaned: bool,
}

/// Gives a group a live active member, if it has none and a member can become one. Returns whether roles changed.
pub(crate) async fn take_over(pool: &dyn Connections, group: GroupId, lease: Duration) -> Result<bool> {
    let mut tx = pool.begin().await?;
    lock_in_tx(&mut tx, &[group], lease).await?;
    let changed = hand_over_in_tx(&mut tx, group, None).await?;
    tx.commit().await?;
    Ok(changed)
}

/// As [`take_over`], in a locked group; `except` is not chosen.
pub(crate) async fn hand_over_in_tx(
    connection: &mut PgConnection,
    group: GroupId,
    except: Option<RobotId>,
) -> Result<bool> {
    let changed: Vec<(String, String)> = sql!(include_str!("sql/group_hand_over.sql"))
        .bind("group", group)?
        .bind("except", except)?
        .fetch_all(connection)
        .await?;
    for (robot, role) in &changed {
        tracing::info!(%group, robot, role, "a member of a group has another role");
    }
    Ok(!changed.is_empty())
}

/// A membership, by its id: a process or another holder acts for the robot in the group.
pub(crate) struct MembershipRecord {
    pub(crate) group: GroupId,
    pub(crate) robot: RobotId,
    pub(crate) id: Uuid,
    pub(crate) role: GroupRole,
    pub(crate) lease: Duration,
}

/// A group, and a membership in it.
pub(crate) struct FoundMembership {
    pub(crate) closed: bool,
    pub(crate) version: i64,
    /// None if it does not act for the robot.
    pub(crate) membership: Option<MembershipRecord>,
}

/// The membership of an id that acts for a robot; none if there is no such group.
pub(crate) async fn membership(
    pool: &dyn Connections,
    (namespace, name): (&str, &str),
    robot: &str,
    id: Uuid,
) -> Result<Option<FoundMembership>> {
    #[derive(sqlx::FromRow)]
    struct Row {
        id: GroupId,
        closed: bool,
        version: i64,
        robot_id: Option<RobotId>,
        role: Option<GroupRole>,
        lease_ms: Option<i64>,
    }
    let row: Option<Row> = sql!(
        "select g.id, g.closed_at is not null as closed, g.version, m.robot_id, m.role, m.lease_ms
           from htm.robot_groups g
           left join htm.robots r on r.namespace = g.namespace and r.name = :robot
           left join htm.group_members m on m.group_id = g.id and m.robot_id = r.id and m.membership = :membership
          where g.namespace = :namespace and g.name = :name"
    )
    .bind("namespace", namespace)?
    .bind("name", name)?
    .bind("robot", robot)?
    .bind("membership", id)?
    .fetch_optional(pool)
    .await?;
    let Some(row) = row else { return Ok(None) };
    let membership = match (row.robot_id, row.role, row.lease_ms) {
        (Some(robot), Some(role), Some(lease_ms)) => Some(MembershipRecord {
            group: row.id,
            robot,
            id,
            role,
            lease: Duration::from_millis(lease_ms.max(0) as u64),
        }),
        _ => None,
    };
    Ok(Some(FoundMembership { closed: row.closed, version: row.version, membership }))
}

/// A member of a locked group.
#[derive(sqlx::FromRow)]
pub(crate) struct Member {
    pub(crate) robot_id: RobotId,
    role: GroupRole,
    pub(crate) membership: Uuid,
    pub(crate) alive: bool,
}

impl Member {
    pub(crate) fn is_active(&self) -> bool {
        self.role == GroupRole::Active
    }
}

/// A robot's membership in a group.
pub(crate) async fn member_in_tx(
    connection: &mut PgConnection,
    group: GroupId,
    robot: RobotId,
) -> Result<Option<Member>> {
    sql!(
        "select robot_id, role, membership, seen_at + lease_ms * interval '1 millisecond' > clock_timestamp() as alive
           from htm.group_members where group_id = :group and robot_id = :robot"
    )
    .bind("group", group)?
    .bind("robot", robot)?
    .fetch_optional(connection)
    .await
}

/// Whether an active member of a locked group is alive.
pub(crate) async fn has_active_in_tx(connection: &mut PgConnection, group: GroupId) -> Result<bool> {
    sql!(
        "select exists (select from htm.group_members where group_id = :group and role = 'active'
                           and seen_at + lease_ms * interval '1 millisecond' > clock_timestamp())"
    )
    .bind("group", group)?
    .fetch_scalar(connection)
    .await
}

/// Sets the role of a member of a locked group.
pub(crate) async fn set_role_in_tx(
    connection: &mut PgConnection,
    group: GroupId,
    robot: RobotId,
    role: GroupRole,
) -> Result<()> {
    group_member::Entity::update_many()
        .set(group_member::ActiveModel { role: Set(role), ..Default::default() })
        .filter(group_member::Column::GroupId.eq(group))
        .filter(group_member::Column::RobotId.eq(robot))
        .exec(&on(connection))
        .await?;
    Ok(())
}

/// Ends the membership of a robot in a locked group.
pub(crate) async fn remove_in_tx(
    connection: &mut PgConnection,
    group: GroupId,
    robot: RobotId,
) -> Result<()> {
    group_member::Entity::delete_by_id((group, robot)).exec(&on(connection)).await?;
    Ok(())
}

/// Closes a locked group and ends all memberships. Returns their number, or none if it is closed already.
pub(crate) async fn close_in_tx(connection: &mut PgConnection, group: GroupId) -> Result<Option<u64>> {
    let db = on(connection);
    let closed = group::Entity::update_many()
        .col_expr(group::Column::ClosedAt, Expr::current_timestamp())
        .filter(group::Column::Id.eq(group))
        .filter(group::Column::ClosedAt.is_null())
        .exec(&db)
        .await?;
    if closed.rows_affected == 0 {
        return Ok(None);
    }
    let gone =
        group_member::Entity::delete_many().filter(group_member::Column::GroupId.eq(group)).exec(&db).await?;
    Ok(Some(gone.rows_affected))
}

/// Deletes the records of removals that every live member has seen.
pub(crate) async fn prune(
    pool: &dyn Connections,
    group: GroupId,
    namespace: &str,
    lease: Duration,
) -> Result<()> {
    let mut tx = pool.begin().await?;
    lock_in_tx(&mut tx, &[group], lease).await?;
    sql!(include_str!("sql/group_prune.sql"))
        .bind("group", group)?
        .bind("namespace", namespace)?
        .execute(&mut *tx)
        .await?;
    tx.commit().await?;
    Ok(())
}

#[derive(sqlx::FromRow)]
struct GroupRow {
    id: GroupId,
    namespace: String,
    name: String,
    max_tokens: i64,
    version: i64,
    created_at: DateTime<Utc>,
    closed_at: Option<DateTime<Utc>>,
    nodes: i64,
    tokens: i64,
}

#[derive(sqlx::FromRow)]
struct MemberRow {
    group_id: GroupId,
    robot: String,
    role: GroupRole,
    alive: bool,
    unseen_ms: i64,
    lease_ms: i64,
    seen_version: i64,
    joined_at: DateTime<Utc>,
}

/// Groups with their members: all of a namespace or of all namespaces, or the one of this name.
pub(crate) async fn list(
    pool: &dyn Connections,
    namespace: Option<&str>,
    name: Option<&str>,
) -> Result<Vec<GroupInfo>> {
    let groups: Vec<GroupRow> = sql!(include_str!("sql/groups.sql"))
        .bind("namespace", namespace)?
        .bind("name", name)?
        .planned_anew()
        .fetch_all(pool)
        .await?;
    let members: Vec<MemberRow> = sql!(
        "select m.group_id, r.name as robot, m.role, m.lease_ms, m.seen_version, m.joined_at,
                m.seen_at + m.lease_ms * interval '1 millisecond' > clock_timestamp() as alive,
                (extract(epoch from clock_timestamp() - m.seen_at) * 1000)::bigint as unseen_ms
           from htm.group_members m join htm.robots r on r.id = m.robot_id
          where m.group_id = any (:groups)
          order by m.role, m.joined_at, r.name"
    )
    .bind("groups", groups.iter().map(|group| group.id).collect::<Vec<_>>())?
    .fetch_all(pool)
    .await?;
    let member = |row: MemberRow| {
        let MemberRow { group_id, robot, role, alive, unseen_ms, lease_ms, seen_version, joined_at } = row;
        (group_id, GroupMemberInfo { robot, role, alive, unseen_ms, lease_ms, seen_version, joined_at })
    };
    let members: Vec<_> = members.into_iter().map(member).collect();
    let group = |row: GroupRow| {
        let own = members.iter().filter(|(group, _)| *group == row.id).map(|(_, member)| member.clone());
        GroupInfo {
            members: own.collect(),
            id: row.id,
            namespace: row.namespace,
            name: row.name,
            max_tokens: row.max_tokens,
            tokens: row.tokens,
            nodes: row.nodes,
            version: row.version,
            created_at: row.created_at,
            closed_at: row.closed_at,
        }
    };
    Ok(groups.into_iter().map(group).collect())
}
