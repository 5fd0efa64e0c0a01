//! Groups of robots: a shared working memory that survives each of its members.
//!
//! Active members write, passive ones follow and can take over. A change is a row with a version. Members fetch newer
//! versions when notified (`LISTEN`/`NOTIFY`, after the commit) or with their next heartbeat. The writer decides
//! evictions, in the same transaction.
//!
//! A member renews its lease each third of it. If no active member was seen within its lease, the passive member that
//! joined first becomes active: at the latest a lease, a heartbeat and a notification after the last sign of life. If
//! all members are passive for another reason, this takes at least a lease after the member joined. Late writes of the
//! former active member are rejected: each write checks membership and role.

mod acts;
mod inner;
mod member;
mod membership;
mod tasks;

use std::collections::HashSet;
use std::time::Duration;

use uuid::Uuid;

pub use self::member::{GroupMember, GroupRecalled};
pub use self::membership::Membership;
use crate::api::htm::Htm;
use crate::model::error::{Error, Result, codes};
use crate::model::groups::errors;
pub use crate::model::groups::errors::replaced;
use crate::model::groups::mirror::Mirror;
pub use crate::model::groups::{
    AfterShutdown, GroupEvent, GroupInfo, GroupMemberInfo, GroupNews, GroupRole, JoinOptions,
    TransferReceipt, TransferTarget, Transferred,
};
use crate::model::id::{GroupId, NodeId, RobotId};
use crate::model::memory::{MAX_NAME_BYTES, validate_name};
use crate::model::nodes::not_found;
use crate::model::robots::MAX_BUDGET;
use crate::model::scope::Scope;
use crate::store::connections::Tx;
use crate::store::group_memory::{self, Changes};
use crate::store::{groups, robots};

/// The longest time that a group waits for a caller without membership that holds its lock.
const LOCK_PATIENCE: Duration = Duration::from_secs(1);

/// The process that acts for a robot in a group.
#[derive(Clone, Copy)]
pub(crate) struct Fence<'a> {
    /// The robot's name, for error messages.
    robot: &'a str,
    robot_id: RobotId,
    membership: Uuid,
}

/// The working memory that a transfer goes to.
enum Destination<'a> {
    Robot(&'a str),
    Group(Box<Group>, GroupId),
}

/// A group by name, existing or not; the calls that need no membership. See [`Htm::group`].
#[derive(Clone, Debug)]
pub struct Group {
    htm: Htm,
    namespace: Option<String>,
    name: String,
}

impl Htm {
    /// A group of the handle's namespace, or of [another](Group::namespace).
    ///
    /// ```no_run
    /// # async fn example(htm: htm_core::Htm) -> htm_core::Result<()> {
    /// use htm_core::{ContextOptions, JoinOptions, Memory};
    /// let member = htm.group("on-call").join("ada", JoinOptions::default()).await?;
    /// member.remember(Memory::new("The disk of db-3 is full.")).await?;
    /// let context = member.context(&ContextOptions::new(4_000)).await?;
    /// println!("{}", context.text);
    /// member.leave().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn group(&self, name: impl Into<String>) -> Group {
        Group { htm: self.clone(), namespace: None, name: name.into() }
    }

    /// The groups with their members, by namespace and name.
    ///
    /// # Errors
    /// `namespace_invalid`, or a database error.
    pub async fn groups(&self, scope: &Scope) -> Result<Vec<GroupInfo>> {
        groups::list(self.pool(), scope.namespace(self)?, None).await
    }
}

impl Group {
    /// Sets the namespace.
    pub fn namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = Some(namespace.into());
        self
    }

    /// Joins the group as a robot and creates it if needed. A robot has one process in a group: an earlier one is
    /// replaced. [`leave`](GroupMember::leave) ends the membership; dropping the member acts like the death of its
    /// process.
    ///
    /// # Errors
    /// `namespace_invalid`, `group_invalid`, `robot_invalid`, `group_setting_out_of_range`, or a database error.
    pub async fn join(&self, robot: &str, options: JoinOptions) -> Result<GroupMember> {
        let namespace = self.check_join(robot, &options)?;
        GroupMember::join(&self.htm, namespace, &self.name, robot, options).await
    }

    /// Checks who joins, and how. Returns the namespace.
    fn check_join(&self, robot: &str, options: &JoinOptions) -> Result<&str> {
        validate_name("group", &self.name, MAX_NAME_BYTES)?;
        let namespace = self.htm.written_or_own(self.namespace.as_deref())?;
        validate_name("robot", robot, MAX_NAME_BYTES)?;
        self.htm.admit_robot(robot)?;
        let out_of_range = |what: &str, value: u64, allowed: &str| {
            let message = format!("{what} {value} is outside {allowed}");
            let error = Error::new(codes::GROUP_SETTING_OUT_OF_RANGE, message);
            Err(error.with_hint(format!("give a value of {allowed}")))
        };
        let lease_ms = u64::try_from(options.lease.as_millis()).unwrap_or(u64::MAX);
        if !(100..=86_400_000).contains(&lease_ms) {
            return out_of_range("lease in milliseconds", lease_ms, "100 to 86400000");
        }
        if !(1..=MAX_BUDGET as u64).contains(&options.max_tokens) {
            return out_of_range("budget in tokens", options.max_tokens, &format!("1 to {MAX_BUDGET}"));
        }
        Ok(namespace)
    }

    /// Its working memory and members.
    ///
    /// # Errors
    /// `group_unknown`, `namespace_invalid`, or a database error.
    pub async fn info(&self) -> Result<GroupInfo> {
        let namespace = self.checked_namespace()?;
        let found = groups::list(self.htm.pool(), Some(namespace), Some(&self.name)).await?;
        found.into_iter().next().ok_or_else(|| self.unknown())
    }

    /// Makes a member active. Active members beyond their lease become passive.
    ///
    /// # Errors
    /// `group_unknown`, `group_member_unknown`, `group_member_lost`, or a database error.
    pub async fn promote(&self, robot: &str) -> Result<()> {
        let (mut tx, group, member) = self.lock_member(robot).await?;
        if !member.alive {
            return Err(errors::lost(&self.name, robot));
        }
        groups::set_role_in_tx(&mut tx, group, member.robot_id, GroupRole::Active).await?;
        groups::demote_lost_in_tx(&mut tx, group).await?;
        self.commit(tx, group).await
    }

    /// Makes a member passive. If it was the only active one, the passive member that joined first takes over.
    ///
    /// # Errors
    /// `group_unknown`, `group_member_unknown`, `group_last_active`, or a database error.
    pub async fn demote(&self, robot: &str) -> Result<()> {
        let (mut tx, group, member) = self.lock_member(robot).await?;
        if member.is_active() {
            groups::set_role_in_tx(&mut tx, group, member.robot_id, GroupRole::Passive).await?;
            groups::hand_over_in_tx(&mut tx, group, Some(member.robot_id)).await?;
            if !groups::has_active_in_tx(&mut tx, group).await? {
                return Err(errors::last_active(&self.name, robot));
            }
        }
        self.commit(tx, group).await
    }

    /// Ends a robot's membership, like [`leave`](GroupMember::leave). A process that still runs is told that it was
    /// replaced. If it was the only active member, the passive member that joined first takes over.
    ///
    /// # Errors
    /// `group_unknown`, `group_member_unknown`, or a database error.
    pub async fn remove(&self, robot: &str) -> Result<()> {
        let (mut tx, group, member) = self.lock_member(robot).await?;
        groups::remove_in_tx(&mut tx, group, member.robot_id).await?;
        groups::hand_over_in_tx(&mut tx, group, None).await?;
        self.commit(tx, group).await
    }

    /// Moves nodes from its working memory to another one, within that one's budget.
    ///
    /// # Errors
    /// `group_unknown` of either, `group_closed`, `robot_unknown`, `group_transfer_to_itself`, `node_not_found` for a
    /// node that is not in the working memory, `node_oversized`, or a database error. Nothing has changed then.
    pub async fn transfer(&self, what: &Transferred, to: &TransferTarget) -> Result<TransferReceipt> {
        self.transfer_as(what, to, None).await
    }

    /// Closes the group and ends all memberships; returns their number.
    ///
    /// # Errors
    /// `group_unknown`, `group_closed`, or a database error.
    pub async fn shutdown(&self, after: AfterShutdown) -> Result<u64> {
        self.shutdown_as(after, None).await
    }

    /// As [`shutdown`](Self::shutdown), if `fence` may write.
    pub(crate) async fn shutdown_as(&self, after: AfterShutdown, fence: Option<Fence<'_>>) -> Result<u64> {
        let namespace = self.checked_namespace()?;
        let group = self.id().await?;
        let mut tx = self.htm.pool().begin().await?;
        groups::lock_in_tx(&mut tx, &[group], LOCK_PATIENCE).await?;
        if let Some(fence) = fence {
            self.check_writer_in_tx(&mut tx, group, fence).await?;
        }
        let members = groups::close_in_tx(&mut tx, group).await?;
        let members = members.ok_or_else(|| errors::closed(&self.name))?;
        if after == AfterShutdown::Clear {
            let held = self.held_in_tx(&mut tx, group).await?;
            let removed = held.memory().iter().map(|entry| entry.node).collect();
            let changes = Changes { removed, ..Changes::default() };
            group_memory::write_in_tx(&mut tx, group, namespace, None, &changes).await?;
        }
        self.commit(tx, group).await?;
        Ok(members)
    }

    /// As [`transfer`](Self::transfer), if `fence` may write.
    pub(crate) async fn transfer_as(
        &self,
        what: &Transferred,
        to: &TransferTarget,
        fence: Option<Fence<'_>>,
    ) -> Result<TransferReceipt> {
        let namespace = self.checked_namespace()?;
        let from = self.id().await?;
        let mut locked = vec![from];
        let destination = match to {
            TransferTarget::Robot(name) => {
                self.htm.admit_robot(name)?;
                Destination::Robot(name)
            }
            TransferTarget::Group(name) if *name == self.name => {
                let message = format!("group `{name}` cannot be transferred to itself");
                return Err(Error::new(codes::GROUP_TRANSFER_TO_ITSELF, message));
            }
            TransferTarget::Group(name) => {
                let group = Self { name: name.clone(), ..self.clone() };
                let id = group.id().await?;
                locked.push(id);
                Destination::Group(Box::new(group), id)
            }
        };
        let mut tx = self.htm.pool().begin().await?;
        groups::lock_in_tx(&mut tx, &locked, LOCK_PATIENCE).await?;
        if let Some(fence) = fence {
            self.check_writer_in_tx(&mut tx, from, fence).await?;
        }
        let held = self.held_in_tx(&mut tx, from).await?;
        let nodes: Vec<NodeId> = match what {
            Transferred::All => held.memory().in_eviction_order().map(|entry| entry.node).collect(),
            Transferred::Nodes(nodes) => distinct(nodes),
        };
        if let Some(node) = nodes.iter().find(|node| !held.memory().contains(**node)) {
            return Err(not_found(*node));
        }
        let mut receipt = TransferReceipt { transferred: nodes.clone(), evicted: Vec::new() };
        match destination {
            Destination::Group(target, id) => {
                let mut there = target.held_in_tx(&mut tx, id).await?;
                let entries = group_memory::entries_in_tx(&mut tx, namespace, &nodes).await?;
                let mut evicted = there.plan(entries, target.budget_in_tx(&mut tx, id).await?)?;
                // Nodes that do not fit stay where they are.
                evicted.retain(|node| !nodes.contains(node));
                receipt.transferred.retain(|node| there.memory().contains(*node));
                let (added, removed) = (receipt.transferred.clone(), evicted.clone());
                receipt.evicted = evicted;
                let changes = Changes { added, removed, ..Changes::default() };
                group_memory::write_in_tx(&mut tx, id, namespace, None, &changes).await?;
            }
            Destination::Robot(name) => {
                receipt = self.htm.give_to_robot_in_tx(&mut tx, (namespace, name), &nodes).await?;
            }
        }
        let changes = Changes { removed: receipt.transferred.clone(), ..Changes::default() };
        group_memory::write_in_tx(&mut tx, from, namespace, None, &changes).await?;
        tx.commit().await?;
        for group in locked {
            groups::notify(self.htm.pool(), group).await;
        }
        Ok(receipt)
    }

    /// Begins a change of a member. The group is locked.
    async fn lock_member(&self, robot: &str) -> Result<(Tx, GroupId, groups::Member)> {
        let group = self.id().await?;
        let mut tx = self.htm.pool().begin().await?;
        groups::lock_in_tx(&mut tx, &[group], LOCK_PATIENCE).await?;
        let member = self.member_in_tx(&mut tx, group, robot).await?;
        Ok((tx, group, member))
    }

    /// Commits a change, and tells the members of it.
    async fn commit(&self, tx: Tx, group: GroupId) -> Result<()> {
        tx.commit().await?;
        groups::notify(self.htm.pool(), group).await;
        Ok(())
    }

    async fn check_writer_in_tx(
        &self,
        connection: &mut sqlx::PgConnection,
        group: GroupId,
        fence: Fence<'_>,
    ) -> Result<()> {
        match groups::member_in_tx(connection, group, fence.robot_id).await? {
            Some(member) if member.membership != fence.membership => {
                Err(errors::replaced(&self.name, fence.robot))
            }
            None => Err(errors::replaced(&self.name, fence.robot)),
            Some(member) if !member.is_active() => Err(errors::passive(&self.name, fence.robot)),
            Some(_) => Ok(()),
        }
    }

    /// A group's working memory.
    async fn held_in_tx(&self, connection: &mut sqlx::PgConnection, group: GroupId) -> Result<Mirror> {
        let encoding = self.htm.settings().token_encoding;
        let synced = group_memory::sync(connection, group, None, -1, encoding).await?;
        let mut mirror = Mirror::new();
        mirror.apply(synced.ok_or_else(|| self.unknown())?.delta);
        Ok(mirror)
    }

    async fn budget_in_tx(&self, connection: &mut sqlx::PgConnection, group: GroupId) -> Result<usize> {
        let encoding = self.htm.settings().token_encoding;
        // A version newer than all: no node is returned.
        let synced = group_memory::sync(connection, group, None, i64::MAX, encoding).await?;
        let synced = synced.ok_or_else(|| self.unknown())?;
        if synced.closed {
            return Err(errors::closed(&self.name));
        }
        Ok(synced.max_tokens)
    }

    async fn member_in_tx(
        &self,
        connection: &mut sqlx::PgConnection,
        group: GroupId,
        robot: &str,
    ) -> Result<groups::Member> {
        let namespace = self.checked_namespace()?;
        let member = match robots::find(&mut *connection, namespace, robot).await? {
            Some(robot) => groups::member_in_tx(connection, group, robot).await?,
            None => None,
        };
        member.ok_or_else(|| errors::member_unknown(&self.name, robot))
    }

    async fn id(&self) -> Result<GroupId> {
        let namespace = self.checked_namespace()?;
        groups::find(self.htm.pool(), namespace, &self.name).await?.ok_or_else(|| self.unknown())
    }

    fn checked_namespace(&self) -> Result<&str> {
        validate_name("group", &self.name, MAX_NAME_BYTES)?;
        self.htm.namespace_or_own(self.namespace.as_deref())
    }

    fn unknown(&self) -> Error {
        let namespace = self.namespace.as_deref().unwrap_or(&self.htm.settings().namespace);
        errors::unknown(namespace, &self.name)
    }
}

/// The nodes without duplicates, each at its first place.
fn distinct(nodes: &[NodeId]) -> Vec<NodeId> {
    let mut named = HashSet::new();
    nodes.iter().copied().filter(|node| named.insert(*node)).collect()
}
