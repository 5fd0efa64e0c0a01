//! A membership without a process. The holder of its id continues it, one call at a time, in any process, and renews the
//! lease: all of its state is in the database.

use std::time::Duration;

use uuid::Uuid;

use super::inner::{Inner, Op};
use super::{Group, GroupRole, TransferReceipt, TransferTarget, Transferred, distinct};
use crate::model::context::{Context, ContextOptions};
use crate::model::error::Result;
use crate::model::filter::Filter;
use crate::model::groups::mirror::{Mirror, RowChange};
use crate::model::groups::{GroupNews, errors};
use crate::model::id::{MembershipId, NodeId};
use crate::model::memory::{MAX_NAME_BYTES, Memory, validate_name};
use crate::model::remember::Receipt;
use crate::store::{group_memory, groups};

/// The number of heartbeats of an active member, on average, to one that prunes removals.
const PRUNE_EACH: u128 = 20;

/// A robot's membership in a group that is held by its id and not by a process. See [`Group::enter`].
#[derive(Debug)]
pub struct Membership {
    inner: Inner,
    /// The latest version of the working memory when the membership was looked up.
    version: i64,
}

impl Group {
    /// Joins the group as [`join`](Self::join) does, for a caller who keeps the membership alive by
    /// [heartbeats](Membership::heartbeat). The first news has the whole working memory.
    ///
    /// # Errors
    /// As [`join`](Self::join).
    pub async fn enter(&self, robot: &str, options: super::JoinOptions) -> Result<(Membership, GroupNews)> {
        let namespace = self.check_join(robot, &options)?;
        let inner = Inner::join(&self.htm, namespace, &self.name, robot, options).await?;
        // An earlier holder of the robot's membership is told that it was replaced.
        groups::notify(self.htm.pool(), inner.group).await;
        let mut membership = Membership { version: 0, inner };
        let news = membership.news(-1).await?;
        membership.version = news.version;
        Ok((membership, news))
    }

    /// Continues a membership by its id.
    ///
    /// # Errors
    /// `group_unknown`, `group_closed`; `group_member_replaced` if another membership acts for the robot, or it has left;
    /// `robot_forbidden`, `namespace_forbidden`, or a database error.
    pub async fn membership(&self, robot: &str, id: MembershipId) -> Result<Membership> {
        let namespace = self.checked_namespace()?;
        validate_name("robot", robot, MAX_NAME_BYTES)?;
        self.htm.admit_robot(robot)?;
        let found = groups::membership(self.htm.pool(), (namespace, &self.name), robot, id.0).await?;
        let found = found.ok_or_else(|| self.unknown())?;
        if found.closed {
            return Err(errors::closed(&self.name));
        }
        let membership = found.membership.ok_or_else(|| errors::replaced(&self.name, robot))?;
        let place = (namespace, self.name.as_str(), robot);
        let inner = Inner::of(&self.htm, place, membership, Mirror::new());
        Ok(Membership { inner, version: found.version })
    }
}

impl Membership {
    /// The id. Its holder acts for the robot.
    pub fn id(&self) -> MembershipId {
        MembershipId(self.inner.membership)
    }

    /// The time for which the member is alive after a heartbeat.
    pub fn lease(&self) -> Duration {
        self.inner.lease
    }

    /// Renews the lease. Returns the role, and what has changed in the working memory since a version; none: all of it. If
    /// no active member is left, this makes one.
    ///
    /// # Errors
    /// `group_member_replaced`, `group_closed`, or a database error.
    pub async fn heartbeat(&self, since: Option<i64>) -> Result<GroupNews> {
        let (inner, pool) = (&self.inner, self.inner.htm.pool());
        // Removals are pruned when all have seen them: a version that is not there yet was not seen.
        let seen = since.unwrap_or(0).clamp(0, self.version);
        let mut connection = pool.acquire().await?;
        let beat = groups::beat(&mut connection, inner.group, inner.robot_id, inner.membership, seen).await?;
        drop(connection);
        let beat = beat.filter(|beat| !beat.closed).ok_or_else(|| errors::closed(&inner.name))?;
        let role = beat.role.ok_or_else(|| errors::replaced(&inner.name, &inner.robot))?;
        let is_pruning = role == GroupRole::Active && Uuid::new_v4().as_u128().is_multiple_of(PRUNE_EACH);
        if is_pruning {
            groups::prune(pool, inner.group, &inner.namespace, inner.lease).await?;
        } else if beat.orphaned && groups::take_over(pool, inner.group, inner.lease).await? {
            groups::notify(pool, inner.group).await;
        }
        self.news(since.unwrap_or(-1)).await
    }

    /// The role, and what has changed since a version; -1: all.
    async fn news(&self, since: i64) -> Result<GroupNews> {
        let (inner, encoding) = (&self.inner, self.inner.htm.settings().token_encoding);
        let synced =
            group_memory::sync(inner.htm.pool(), inner.group, Some(inner.robot_id), since, encoding).await?;
        let synced = inner.admit(synced)?;
        let mut news = GroupNews {
            role: inner.state().role,
            version: synced.delta.version,
            max_tokens: synced.max_tokens,
            whole: synced.delta.complete || since < 0,
            nodes: Vec::new(),
            removed: Vec::new(),
        };
        for row in synced.delta.rows {
            match row {
                RowChange::Held(held) => news.nodes.push(held.entry),
                RowChange::Removed(_) if news.whole => {}
                RowChange::Removed(node) => news.removed.push(node),
            }
        }
        news.nodes.sort_by_key(|entry| (entry.added_at, entry.node));
        Ok(news)
    }

    /// As [`GroupMember::remember`](super::GroupMember::remember).
    ///
    /// # Errors
    /// The same.
    pub async fn remember(&self, memory: Memory) -> Result<Receipt> {
        let receipt = self.inner.remember(memory).await?;
        self.tell().await;
        Ok(receipt)
    }

    /// Adds nodes in order, all or none; returns the evicted ones. A node that is there already counts as used.
    ///
    /// # Errors
    /// As [`GroupMember::add`](super::GroupMember::add).
    pub async fn add(&self, nodes: &[NodeId]) -> Result<Vec<NodeId>> {
        let evicted = self.inner.write(Op::Add(distinct(nodes))).await?.removed;
        self.tell().await;
        Ok(evicted)
    }

    /// Removes a node; false if it was not there.
    ///
    /// # Errors
    /// `group_member_passive`, `group_member_replaced`, `group_closed`, or a database error.
    pub async fn remove(&self, node: NodeId) -> Result<bool> {
        let removed = !self.inner.write(Op::Remove(node)).await?.removed.is_empty();
        self.tell().await;
        Ok(removed)
    }

    /// The working memory as one text, with only those nodes that pass a filter. The default namespace is the group's.
    ///
    /// # Errors
    /// `group_member_replaced`, `group_closed`, and those of [`Htm::latest`](crate::Htm::latest).
    pub async fn context_of(&self, filter: &Filter, options: &ContextOptions) -> Result<Context> {
        self.inner.context_of(filter, options).await
    }

    /// See [`Group::transfer`]; only an active member may.
    ///
    /// # Errors
    /// The same, `group_member_passive`, or `group_member_replaced`.
    pub async fn transfer(&self, what: &Transferred, to: &TransferTarget) -> Result<TransferReceipt> {
        let inner = &self.inner;
        let group = inner.htm.group(&inner.name).namespace(&inner.namespace);
        group.transfer_as(what, to, Some(inner.fence())).await
    }

    /// Leaves the group. If it was the only active member, the passive member that joined first takes over.
    ///
    /// # Errors
    /// A database error; the lease ends by itself then.
    pub async fn leave(self) -> Result<()> {
        self.inner.leave().await
    }

    async fn tell(&self) {
        groups::notify(self.inner.htm.pool(), self.inner.group).await;
    }
}
