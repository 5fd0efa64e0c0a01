//! The state and the writes that a member's calls and tasks share.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Mutex as StdMutex, PoisonError};
use std::time::Duration;

use sqlx::PgConnection;
use tokio::sync::{Mutex, MutexGuard, Notify, broadcast};
use uuid::Uuid;

use super::{Fence, GroupRole};
use crate::api::htm::Htm;
use crate::api::remember::PendingReceipt;
use crate::model::error::{Error, Result, codes};
use crate::model::groups::GroupEvent;
use crate::model::groups::errors;
use crate::model::groups::mirror::{Applied, Mirror, Use};
use crate::model::id::{GroupId, NodeId, RobotId};
use crate::model::memory::Memory;
use crate::model::quotas::QuotaUse;
use crate::model::remember::Outcome;
use crate::store::connections::Tx;
use crate::store::group_memory::{self, Changes, Synced};
use crate::store::{groups, robots};

pub(super) struct Inner {
    pub(super) htm: Htm,
    pub(super) group: GroupId,
    pub(super) namespace: String,
    pub(super) name: String,
    pub(super) robot: String,
    pub(super) robot_id: RobotId,
    pub(super) membership: Uuid,
    pub(super) lease: Duration,
    pub(super) mirror: Mutex<Mirror>,
    /// The version of the copy, for the heartbeat, which does not wait for a write.
    pub(super) seen: AtomicI64,
    /// Whether uses are to be written with the next heartbeat.
    pub(super) used: AtomicBool,
    pub(super) state: StdMutex<State>,
    /// Signals that the copy may be out of date, or that there are uses to write.
    pub(super) stirred: Notify,
    /// Signals that the other members have to be notified.
    pub(super) told: Notify,
    /// Signals that the group may need an active member, or have removals to prune.
    pub(super) untended: Notify,
    pub(super) events: broadcast::Sender<GroupEvent>,
}

#[derive(Clone, Copy)]
pub(super) struct State {
    pub(super) role: GroupRole,
    /// The reason why the membership ended; none while it lasts.
    pub(super) over: Option<Over>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Over {
    Replaced,
    Closed,
}

/// An operation that is written in one transaction.
pub(super) enum Op {
    Remember(Box<Memory>),
    /// Adds live nodes; the last one is evicted last.
    Add(Vec<NodeId>),
    /// Adds those hits that are live and fit by themselves; the last one is evicted last.
    Recalled(Vec<NodeId>),
    Remove(NodeId),
    Uses,
}

/// The result of a write.
#[derive(Default)]
pub(super) struct Written {
    pub(super) pending: Option<PendingReceipt>,
    pub(super) removed: Vec<NodeId>,
    pub(super) applied: Applied,
}

/// A write that changes the copy. If it fails, or its caller drops it, the copy may have changes that were not written, or
/// lack changes that were: it is read again.
struct MirrorChange<'a> {
    inner: &'a Inner,
    mirror: MutexGuard<'a, Mirror>,
    /// The uses that it writes.
    uses: Vec<(NodeId, Use)>,
    /// The bytes of the new memory that it writes: room for it was taken of the namespace's quota.
    room: Option<usize>,
    is_written: bool,
}

impl Drop for MirrorChange<'_> {
    fn drop(&mut self) {
        if !self.is_written {
            self.mirror.return_uses(std::mem::take(&mut self.uses));
            self.mirror.reset();
            self.inner.stirred.notify_one();
        }
    }
}

impl std::fmt::Debug for Inner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Inner").field("group", &self.name).field("robot", &self.robot).finish_non_exhaustive()
    }
}

impl Inner {
    pub(super) fn htm(&self) -> &Htm {
        &self.htm
    }

    pub(super) fn fence(&self) -> Fence<'_> {
        Fence { robot: &self.robot, robot_id: self.robot_id, membership: self.membership }
    }

    pub(super) fn is_over(&self) -> bool {
        self.state().over.is_some()
    }

    pub(super) fn state(&self) -> State {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Renews the lease.
    pub(super) async fn beat(&self, connection: &mut PgConnection) -> Result<()> {
        let seen = self.seen.load(Ordering::Relaxed);
        let beat = groups::beat(connection, self.group, self.robot_id, self.membership, seen).await?;
        let Some(beat) = beat.filter(|beat| !beat.closed) else {
            self.end(Over::Closed);
            return Ok(());
        };
        let Some(role) = beat.role else {
            // Replaced, or closed at this moment: a statement that did not wait for that transaction tells which.
            let ended = self.sync().await;
            return if self.is_over() { Ok(()) } else { ended };
        };
        self.observe(role);
        if beat.version != seen || self.used.swap(false, Ordering::Relaxed) {
            self.stirred.notify_one();
        }
        if beat.orphaned {
            self.untended.notify_one();
        }
        Ok(())
    }

    /// As an active member, prunes removals that all have seen; otherwise gives a group without an active member one.
    pub(super) async fn tend(&self) -> Result<()> {
        let pool = self.htm.pool();
        if self.state().role == GroupRole::Active {
            groups::prune(pool, self.group, &self.namespace, self.lease).await?;
        } else if groups::take_over(pool, self.group, self.lease).await? {
            self.stirred.notify_one();
            self.told.notify_one();
        }
        Ok(())
    }

    pub(super) async fn sync(&self) -> Result<()> {
        let mut mirror = self.mirror.lock().await;
        self.sync_mirror(&mut mirror).await
    }

    /// Writes the uses of nodes; a passive member writes nothing.
    pub(super) async fn write_uses(&self) -> Result<()> {
        let is_needed = self.mirror.lock().await.has_uses();
        if is_needed && self.check_active().is_ok() {
            self.write(Op::Uses).await?;
        }
        Ok(())
    }

    pub(super) async fn sync_mirror(&self, mirror: &mut Mirror) -> Result<()> {
        let encoding = self.htm.settings().token_encoding;
        let synced =
            group_memory::sync(self.htm.pool(), self.group, Some(self.robot_id), mirror.seen(), encoding)
                .await?;
        let synced = self.admit(synced)?;
        let applied = mirror.apply(synced.delta);
        self.follow(mirror, applied);
        Ok(())
    }

    /// Fetches the latest version. Reads everything again if a node was edited, forgotten or restored: the group has no
    /// new version then.
    pub(super) async fn refresh(&self, mirror: &mut Mirror) -> Result<()> {
        self.sync_mirror(mirror).await?;
        if !mirror.has_just(&group_memory::live(self.htm.pool(), self.group, &self.namespace).await?) {
            mirror.reset();
            self.sync_mirror(mirror).await?;
        }
        Ok(())
    }

    pub(super) async fn write(&self, op: Op) -> Result<Written> {
        let mirror = self.mirror.lock().await;
        self.check_active()?;
        let mut change =
            MirrorChange { inner: self, mirror, uses: Vec::new(), room: None, is_written: false };
        match self.try_write(&mut change, op).await {
            Ok(mut written) => {
                change.is_written = true;
                self.follow(&change.mirror, std::mem::take(&mut written.applied));
                self.told.notify_one();
                Ok(written)
            }
            Err(error) => {
                if let Some(bytes) = change.room {
                    let gone = QuotaUse { memories: 1, bytes: bytes as i64 };
                    self.htm.rooms().give(&self.namespace, gone).await;
                }
                // The process was suspended: nothing was written. The write may be retried if the member may still write.
                Err(if groups::lost_lock(&error) { Error::contended() } else { error })
            }
        }
    }

    async fn try_write(&self, change: &mut MirrorChange<'_>, op: Op) -> Result<Written> {
        let mirror = &mut *change.mirror;
        let mut tx = self.htm.pool().begin().await?;
        groups::lock_in_tx(&mut tx, &[self.group], self.lease).await?;
        let synced = self.synced_in_tx(&mut tx, mirror).await?;
        let synced = self.admit(synced)?;
        if self.state().role != GroupRole::Active {
            return Err(self.passive());
        }
        let before = mirror.nodes();
        let mut written = Written::default();
        mirror.apply(synced.delta);
        // All decisions from here on are based on the current nodes.
        if !mirror.has_just(&group_memory::live(&mut *tx, self.group, &self.namespace).await?) {
            mirror.reset();
            let all = self.synced_in_tx(&mut tx, mirror).await?;
            mirror.apply(self.admit(all)?.delta);
        }
        let mut changes = Changes::default();
        match op {
            Op::Remember(mut memory) => {
                // The robot may have been renamed.
                let (_, name) =
                    robots::hold_name_in_tx(&mut tx, self.robot_id).await?.ok_or_else(Error::contended)?;
                memory.robot = Some(name);
                let bytes = memory.content.len();
                let pending = self.htm.remember_within(&mut tx, *memory).await?;
                change.room = (pending.receipt().outcome == Outcome::Written).then_some(bytes);
                let node = pending.receipt().node;
                written.pending = Some(pending);
                let planned = self.plan(&mut tx, mirror, &[node], synced.max_tokens).await;
                changes = planned.map_err(|error| self.unwritten(error))?;
            }
            Op::Add(nodes) => changes = self.plan(&mut tx, mirror, &nodes, synced.max_tokens).await?,
            Op::Recalled(nodes) => {
                let mut entries = group_memory::live_entries_in_tx(&mut tx, &self.namespace, &nodes).await?;
                entries.retain(|entry| entry.tokens <= synced.max_tokens);
                let mut added: Vec<NodeId> = entries.iter().map(|entry| entry.node).collect();
                let removed = mirror.plan(entries, synced.max_tokens)?;
                added.retain(|node| mirror.memory().contains(*node));
                changes = Changes { added, removed, ..Changes::default() };
            }
            Op::Remove(node) if mirror.memory().contains(node) => changes.removed = vec![node],
            Op::Remove(_) | Op::Uses => {}
        }
        changes.used = mirror.take_uses();
        change.uses.clone_from(&changes.used);
        self.commit(tx, mirror, &changes).await?;
        let after = mirror.nodes();
        written.applied = Applied {
            added: after.difference(&before).copied().collect(),
            removed: before.difference(&after).copied().collect(),
        };
        written.removed = changes.removed;
        Ok(written)
    }

    /// Writes changes, reads them back as the other members will, and commits.
    async fn commit(&self, mut tx: Tx, mirror: &mut Mirror, changes: &Changes) -> Result<()> {
        if !changes.is_empty() {
            let robot = Some(self.robot_id);
            group_memory::write_in_tx(&mut tx, self.group, &self.namespace, robot, changes).await?;
            let own = self.synced_in_tx(&mut tx, mirror).await?;
            mirror.apply(self.admit(own)?.delta);
        }
        Ok(tx.commit().await?)
    }

    async fn plan(
        &self,
        connection: &mut PgConnection,
        mirror: &mut Mirror,
        nodes: &[NodeId],
        max_tokens: usize,
    ) -> Result<Changes> {
        let entries = group_memory::entries_in_tx(connection, &self.namespace, nodes).await?;
        let removed = mirror.plan(entries, max_tokens)?;
        // Many nodes may be more than the budget.
        let added = nodes.iter().copied().filter(|node| mirror.memory().contains(*node)).collect();
        Ok(Changes { added, removed, ..Changes::default() })
    }

    pub(super) async fn synced_in_tx(
        &self,
        connection: &mut PgConnection,
        mirror: &Mirror,
    ) -> Result<Option<Synced>> {
        let encoding = self.htm.settings().token_encoding;
        group_memory::sync(&mut *connection, self.group, Some(self.robot_id), mirror.seen(), encoding).await
    }

    /// Checks that this process still acts for the robot, and records its role.
    pub(super) fn admit(&self, synced: Option<Synced>) -> Result<Synced> {
        let Some(synced) = synced.filter(|synced| !synced.closed) else {
            self.end(Over::Closed);
            return Err(self.closed());
        };
        match synced.member {
            Some((role, membership)) if membership == self.membership => self.observe(role),
            _ => {
                self.end(Over::Replaced);
                return Err(self.replaced());
            }
        }
        Ok(synced)
    }

    pub(super) fn check_active(&self) -> Result<()> {
        let state = self.state();
        match (state.over, state.role) {
            (Some(Over::Closed), _) => Err(self.closed()),
            (Some(Over::Replaced), _) => Err(self.replaced()),
            (None, GroupRole::Passive) => Err(self.passive()),
            (None, GroupRole::Active) => Ok(()),
        }
    }

    pub(super) fn observe(&self, role: GroupRole) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.over.is_none() && state.role != role {
            state.role = role;
            self.tell(match role {
                GroupRole::Active => GroupEvent::Promoted,
                GroupRole::Passive => GroupEvent::Demoted,
            });
        }
    }

    pub(super) fn end(&self, over: Over) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.over.is_none() {
            state.over = Some(over);
            self.tell(match over {
                Over::Replaced => GroupEvent::Replaced,
                Over::Closed => GroupEvent::Closed,
            });
        }
    }

    pub(super) fn follow(&self, mirror: &Mirror, applied: Applied) {
        let version = mirror.seen();
        let before = self.seen.swap(version, Ordering::Relaxed);
        if version != before || !applied.is_empty() {
            self.tell(GroupEvent::Synced { version, added: applied.added, removed: applied.removed });
        }
    }

    pub(super) fn tell(&self, event: GroupEvent) {
        // It is no failure if nobody listens.
        let _ = self.events.send(event);
    }

    /// The error for a memory that is not written because its node is too large for the group; other errors are
    /// unchanged.
    pub(super) fn unwritten(&self, error: Error) -> Error {
        match error.is(codes::NODE_OVERSIZED) {
            true => errors::oversized(&self.name, error),
            false => error,
        }
    }

    pub(super) fn passive(&self) -> Error {
        errors::passive(&self.name, &self.robot)
    }

    pub(super) fn replaced(&self) -> Error {
        errors::replaced(&self.name, &self.robot)
    }

    pub(super) fn closed(&self) -> Error {
        errors::closed(&self.name)
    }
}
