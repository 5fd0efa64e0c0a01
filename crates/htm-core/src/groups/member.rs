//! A robot in a group: what it writes, and what it follows.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex as StdMutex, PoisonError};
use std::time::Duration;

use chrono::Utc;
use sqlx::PgConnection;
use tokio::sync::{Mutex, Notify, broadcast};
use tokio_util::task::AbortOnDropHandle;
use uuid::Uuid;

use super::mirror::{Applied, Mirror};
use super::{
    AfterShutdown, Group, GroupError, GroupMemberInfo, GroupRole, JoinOptions, TransferReceipt,
    TransferTarget, Transferred, tasks,
};
use crate::context::{Context, ContextOptions, assemble};
use crate::error::{Error, Result};
use crate::htm::Htm;
use crate::id::{GroupId, NodeId, RobotId};
use crate::memory::Memory;
use crate::remember::{PendingReceipt, Receipt};
use crate::store::group_memory::{self, Changes, Synced};
use crate::store::{groups, robots};
use crate::working_memory::{Entry, WorkingMemoryStats};

/// How many events a slow reader may be behind before it misses the oldest.
const EVENTS: usize = 1_024;

/// What happens to a member.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum GroupEvent {
    /// The working memory changed, by this member or another one.
    Synced {
        /// The version that this member has now.
        version: i64,
        /// Nodes that came in.
        added: Vec<NodeId>,
        /// Nodes that left.
        removed: Vec<NodeId>,
    },
    /// It is active now.
    Promoted,
    /// It is passive now.
    Demoted,
    /// Another process speaks for its robot now, or the robot is no member any more. The last event.
    Replaced,
    /// The group was shut down. The last event.
    Closed,
}

/// A robot's membership in a group, from [`Group::join`] to [`leave`](Self::leave). It keeps a copy of the group's working
/// memory up to date and its lease renewed.
#[derive(Debug)]
pub struct GroupMember {
    inner: Arc<Inner>,
    _tasks: Vec<AbortOnDropHandle<()>>,
}

pub(super) struct Inner {
    htm: Htm,
    pub(super) group: GroupId,
    namespace: String,
    name: String,
    robot: String,
    robot_id: RobotId,
    session: Uuid,
    pub(super) lease: Duration,
    mirror: Mutex<Mirror>,
    /// The version that the copy has, for the heartbeat, which does not wait for a write.
    seen: AtomicI64,
    /// Whether uses are to be written with the next heartbeat.
    used: AtomicBool,
    state: StdMutex<State>,
    /// There may be something that the copy does not have, or uses to write.
    pub(super) stirred: Notify,
    /// The others are to be told.
    pub(super) told: Notify,
    /// The group may need an active member, or have removals to forget.
    pub(super) untended: Notify,
    events: broadcast::Sender<GroupEvent>,
}

#[derive(Clone, Copy)]
struct State {
    role: GroupRole,
    /// Why it is no member any more.
    over: Option<Over>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Over {
    Replaced,
    Closed,
}

/// What is written in one transaction.
enum Op {
    Remember(Box<Memory>),
    Add(NodeId),
    Remove(NodeId),
    Uses,
}

impl GroupMember {
    pub(super) async fn join(
        htm: &Htm,
        namespace: &str,
        name: &str,
        robot: &str,
        options: JoinOptions,
    ) -> Result<Self> {
        // Loads the vocabulary, which a program does once: not while the others wait.
        htm.settings().token_encoding.count("");
        let session = Uuid::new_v4();
        let mut tx = htm.pool().begin().await?;
        let max_tokens = i64::try_from(options.max_tokens).unwrap_or(i64::MAX);
        let group = groups::ensure_in_tx(&mut tx, namespace, name, max_tokens).await?;
        groups::lock_in_tx(&mut tx, &[group], options.lease).await?;
        // Groups before robots, as a write and a merge of robots do.
        robots::register_in_tx(&mut tx, &[(namespace, robot)]).await?;
        let robot_id = robots::find(&mut *tx, namespace, robot).await?.ok_or(Error::Contended)?;
        let role = groups::join_in_tx(&mut tx, group, robot_id, session, options.lease, options.role).await?;
        let encoding = htm.settings().token_encoding;
        let synced = group_memory::sync(&mut *tx, group, Some(robot_id), -1, encoding).await?;
        tx.commit().await?;
        let mut mirror = Mirror::new();
        mirror.apply(synced.ok_or(Error::Contended)?.delta);
        htm.saw_robot(namespace, robot);
        let inner = Arc::new(Inner {
            htm: htm.clone(),
            group,
            namespace: namespace.into(),
            name: name.into(),
            robot: robot.into(),
            robot_id,
            session,
            lease: options.lease,
            seen: AtomicI64::new(mirror.seen()),
            used: AtomicBool::new(false),
            mirror: Mutex::new(mirror),
            state: StdMutex::new(State { role, over: None }),
            stirred: Notify::new(),
            told: Notify::new(),
            untended: Notify::new(),
            events: broadcast::Sender::new(EVENTS),
        });
        // A process that spoke for this robot before is told that it does not any more.
        inner.told.notify_one();
        let tasks = tasks::start(&inner);
        Ok(Self { inner, _tasks: tasks })
    }

    /// The robot's name.
    pub fn robot(&self) -> &str {
        &self.inner.robot
    }

    /// Its role, as far as it was told.
    pub fn role(&self) -> GroupRole {
        self.inner.state().role
    }

    /// What happens from here on.
    pub fn events(&self) -> broadcast::Receiver<GroupEvent> {
        self.inner.events.subscribe()
    }

    /// Remembers, and has it in mind: the node, its jobs and its place in the working memory commit together, and all
    /// members have it in mind then. The memory is of the group's namespace and this robot.
    ///
    /// # Errors
    /// `group_member_passive`; `group_member_replaced`; `group_closed`; `group_elsewhere` for a memory of another
    /// namespace; `node_oversized`; what [`Htm::remember`] says. Nothing was written then.
    pub async fn remember(&self, memory: Memory) -> Result<Receipt> {
        let inner = &self.inner;
        if let Some(other) = memory.namespace.as_ref().filter(|other| **other != inner.namespace) {
            let (group, namespace) = (inner.name.clone(), inner.namespace.clone());
            return Err(GroupError::Elsewhere { group, namespace, other: other.clone() }.into());
        }
        let (namespace, robot) = (Some(inner.namespace.clone()), Some(inner.robot.clone()));
        let memory = Memory { namespace, robot, ..memory };
        memory.validate()?;
        let written = inner.write(Op::Remember(Box::new(memory))).await?;
        written.pending.map(PendingReceipt::notify).ok_or(Error::Contended)
    }

    /// Takes a node in; gives those that had to leave for it. One that is there counts as used.
    ///
    /// # Errors
    /// `node_not_found`, also for one of another namespace; `node_oversized`; `group_member_passive`;
    /// `group_member_replaced`; `group_closed`; or a database error.
    pub async fn add(&self, node: NodeId) -> Result<Vec<NodeId>> {
        Ok(self.inner.write(Op::Add(node)).await?.removed)
    }

    /// Puts a node out of mind, for all members; false when it was not there.
    ///
    /// # Errors
    /// `group_member_passive`, `group_member_replaced`, `group_closed`, or a database error.
    pub async fn remove(&self, node: NodeId) -> Result<bool> {
        Ok(!self.inner.write(Op::Remove(node)).await?.removed.is_empty())
    }

    /// Notes that a node was used; false when it is not in mind. The others learn of it within a third of the lease.
    ///
    /// # Errors
    /// `group_member_passive`, `group_member_replaced`, or `group_closed`.
    pub async fn touch(&self, node: NodeId) -> Result<bool> {
        self.inner.check_active()?;
        let there = self.inner.mirror.lock().await.touch(node);
        self.inner.used.fetch_or(there, Ordering::Relaxed);
        Ok(there)
    }

    /// Fetches what it does not have yet: after this it has what every write before it wrote.
    ///
    /// # Errors
    /// `group_member_replaced`, `group_closed`, or a database error.
    pub async fn sync(&self) -> Result<()> {
        self.inner.sync().await
    }

    /// What is in mind, as one text. What was edited or forgotten meanwhile is seen.
    ///
    /// # Errors
    /// As [`sync`](Self::sync).
    pub async fn context(&self, options: &ContextOptions) -> Result<Context> {
        let inner = &self.inner;
        let encoding = inner.htm.settings().token_encoding;
        let mut mirror = inner.mirror.lock().await;
        inner.refresh(&mut mirror).await?;
        let counted = |entry: &Entry| match mirror.is_foreign(entry.node) {
            true => Entry { tokens: encoding.count(&entry.content), ..entry.clone() },
            false => entry.clone(),
        };
        let entries: Vec<Entry> = mirror.memory().iter().map(counted).collect();
        Ok(assemble(&entries, options, encoding, Utc::now()))
    }

    /// What is in mind, the next to leave first, as far as it was told.
    pub async fn entries(&self) -> Vec<Entry> {
        self.inner.mirror.lock().await.memory().in_eviction_order().cloned().collect()
    }

    /// How full the working memory is.
    ///
    /// # Errors
    /// `group_unknown`, or a database error.
    pub async fn stats(&self) -> Result<WorkingMemoryStats> {
        let info = self.group().info().await?;
        let [nodes, tokens, max_tokens] =
            [info.nodes, info.tokens, info.max_tokens].map(|it| usize::try_from(it).unwrap_or(0));
        let utilisation = tokens as f64 / max_tokens.max(1) as f64;
        Ok(WorkingMemoryStats { nodes, tokens, max_tokens, utilisation })
    }

    /// All members.
    ///
    /// # Errors
    /// `group_unknown`, or a database error.
    pub async fn members(&self) -> Result<Vec<GroupMemberInfo>> {
        Ok(self.group().info().await?.members)
    }

    /// See [`Group::promote`].
    ///
    /// # Errors
    /// Those of that.
    pub async fn promote(&self, robot: &str) -> Result<()> {
        self.group().promote(robot).await?;
        self.sync().await
    }

    /// See [`Group::demote`].
    ///
    /// # Errors
    /// Those of that.
    pub async fn demote(&self, robot: &str) -> Result<()> {
        self.group().demote(robot).await?;
        self.sync().await
    }

    /// See [`Group::transfer`]; an active member may.
    ///
    /// # Errors
    /// Those of that, `group_member_passive`, or `group_member_replaced`.
    pub async fn transfer(&self, what: &Transferred, to: &TransferTarget) -> Result<TransferReceipt> {
        self.inner.check_active()?;
        let fence = Some((self.inner.robot.as_str(), self.inner.session));
        let receipt = self.group().transfer_as(what, to, fence).await?;
        self.sync().await?;
        Ok(receipt)
    }

    /// Leaves the group. When it was the only active member, the passive one that has been one for longest takes over.
    ///
    /// # Errors
    /// A database error; the lease ends by itself then.
    pub async fn leave(self) -> Result<()> {
        let inner = &self.inner;
        if inner.check_active().is_ok() {
            inner.write_uses().await.ok();
        }
        let mut tx = inner.htm.pool().begin().await?;
        groups::lock_in_tx(&mut tx, &[inner.group], inner.lease).await?;
        let member = groups::member_in_tx(&mut tx, inner.group, &inner.robot).await?;
        if let Some(member) = member.filter(|member| member.session == inner.session) {
            groups::remove_in_tx(&mut tx, inner.group, member.robot_id).await?;
            if member.is_active() {
                groups::hand_over_in_tx(&mut tx, inner.group, None).await?;
            }
        }
        tx.commit().await?;
        groups::notify(inner.htm.pool(), inner.group).await;
        Ok(())
    }

    /// See [`Group::shutdown`]; an active member may.
    ///
    /// # Errors
    /// Those of that, `group_member_passive`, or `group_member_replaced`.
    pub async fn shutdown(self, after: AfterShutdown) -> Result<u64> {
        self.inner.check_active()?;
        let fence = Some((self.inner.robot.as_str(), self.inner.session));
        self.group().shutdown_as(after, fence).await
    }

    fn group(&self) -> Group {
        self.inner.htm.group(&self.inner.name).namespace(&self.inner.namespace)
    }
}

impl std::fmt::Debug for Inner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Inner").field("group", &self.name).field("robot", &self.robot).finish_non_exhaustive()
    }
}

/// What a write did.
#[derive(Default)]
struct Written {
    pending: Option<PendingReceipt>,
    removed: Vec<NodeId>,
    applied: Applied,
}

impl Inner {
    pub(super) fn htm(&self) -> &Htm {
        &self.htm
    }

    pub(super) fn is_over(&self) -> bool {
        self.state().over.is_some()
    }

    fn state(&self) -> State {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Renews the lease.
    pub(super) async fn beat(&self, connection: &mut PgConnection) -> Result<()> {
        let seen = self.seen.load(Ordering::Relaxed);
        let beat = groups::beat(connection, self.group, self.robot_id, self.session, seen).await?;
        let Some(beat) = beat.filter(|beat| !beat.closed) else {
            self.end(Over::Closed);
            return Ok(());
        };
        let Some(role) = beat.role else {
            // Replaced, or closed at this moment: a statement that did not wait for whoever did it knows which.
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

    /// Forgets removals that all have seen, an active member's task; or gives a group an active one that has none.
    pub(super) async fn tend(&self) -> Result<()> {
        let pool = self.htm.pool();
        if self.state().role == GroupRole::Active {
            groups::prune(pool, self.group, self.lease).await?;
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

    /// Writes how often nodes were used; a passive member has nothing to write.
    pub(super) async fn write_uses(&self) -> Result<()> {
        let is_needed = self.mirror.lock().await.has_uses();
        if is_needed && self.check_active().is_ok() {
            self.write(Op::Uses).await?;
        }
        Ok(())
    }

    async fn sync_mirror(&self, mirror: &mut Mirror) -> Result<()> {
        let encoding = self.htm.settings().token_encoding;
        let synced =
            group_memory::sync(self.htm.pool(), self.group, Some(self.robot_id), mirror.seen(), encoding)
                .await?;
        let synced = self.admit(synced)?;
        let applied = mirror.apply(synced.delta);
        self.follow(mirror, applied);
        Ok(())
    }

    /// Reads everything again when a node was edited or forgotten, or the last write left it unsure what there is.
    async fn refresh(&self, mirror: &mut Mirror) -> Result<()> {
        self.sync_mirror(mirror).await?;
        let nodes: Vec<(NodeId, i32)> =
            mirror.memory().iter().map(|entry| (entry.node, entry.revision)).collect();
        let ids: Vec<NodeId> = nodes.iter().map(|(node, _)| *node).collect();
        let mut now = group_memory::revisions(self.htm.pool(), &ids).await?;
        now.sort_unstable();
        let mut known = nodes;
        known.sort_unstable();
        if now != known {
            mirror.reset();
            self.sync_mirror(mirror).await?;
        }
        Ok(())
    }

    async fn write(&self, op: Op) -> Result<Written> {
        let mut mirror = self.mirror.lock().await;
        self.check_active()?;
        match self.try_write(&mut mirror, op).await {
            Ok(mut written) => {
                self.follow(&mirror, std::mem::take(&mut written.applied));
                self.told.notify_one();
                Ok(written)
            }
            Err(error) => {
                // The copy may have what was not written, or lack what was: it is read again.
                mirror.reset();
                self.stirred.notify_one();
                // It was stopped in the middle: nothing was written, and it may be tried again if it may write still.
                Err(if groups::lost_lock(&error) { Error::Contended } else { error })
            }
        }
    }

    async fn try_write(&self, mirror: &mut Mirror, op: Op) -> Result<Written> {
        let mut tx = self.htm.pool().begin().await?;
        groups::lock_in_tx(&mut tx, &[self.group], self.lease).await?;
        let synced = self.synced_in_tx(&mut tx, mirror).await?;
        let was_active = self.state().role == GroupRole::Active;
        let synced = self.admit(synced)?;
        if self.state().role != GroupRole::Active {
            return Err(if was_active { self.replaced() } else { self.passive() });
        }
        let mut written = Written { applied: mirror.apply(synced.delta), ..Written::default() };
        let mut changes = Changes::default();
        match op {
            Op::Remember(memory) => {
                let pending = self.htm.remember_in_tx(&mut tx, *memory).await?;
                let node = pending.receipt().node;
                written.pending = Some(pending);
                changes = self.plan(&mut tx, mirror, node, synced.max_tokens).await?;
            }
            Op::Add(node) => changes = self.plan(&mut tx, mirror, node, synced.max_tokens).await?,
            Op::Remove(node) if mirror.memory().contains(node) => changes.removed = vec![node],
            Op::Remove(_) | Op::Uses => {}
        }
        changes.used = mirror.take_uses();
        if !changes.is_empty() {
            group_memory::write_in_tx(&mut tx, self.group, Some(self.robot_id), &changes).await?;
            let own = self.synced_in_tx(&mut tx, mirror).await?;
            written.applied.extend(mirror.apply(self.admit(own)?.delta));
        }
        tx.commit().await?;
        written.removed = changes.removed;
        Ok(written)
    }

    async fn plan(
        &self,
        connection: &mut PgConnection,
        mirror: &mut Mirror,
        node: NodeId,
        max_tokens: usize,
    ) -> Result<Changes> {
        let entries = group_memory::entries_in_tx(connection, &self.namespace, &[node]).await?;
        let removed = mirror.plan(entries, max_tokens)?;
        Ok(Changes { added: vec![node], removed, ..Changes::default() })
    }

    async fn synced_in_tx(&self, connection: &mut PgConnection, mirror: &Mirror) -> Result<Option<Synced>> {
        let encoding = self.htm.settings().token_encoding;
        group_memory::sync(&mut *connection, self.group, Some(self.robot_id), mirror.seen(), encoding).await
    }

    /// Whether this process still speaks for the robot; takes note of its role.
    fn admit(&self, synced: Option<Synced>) -> Result<Synced> {
        let Some(synced) = synced.filter(|synced| !synced.closed) else {
            self.end(Over::Closed);
            return Err(self.closed());
        };
        match synced.member {
            Some((role, session)) if session == self.session => self.observe(role),
            _ => {
                self.end(Over::Replaced);
                return Err(self.replaced());
            }
        }
        Ok(synced)
    }

    fn check_active(&self) -> Result<()> {
        let state = self.state();
        match (state.over, state.role) {
            (Some(Over::Closed), _) => Err(self.closed()),
            (Some(Over::Replaced), _) => Err(self.replaced()),
            (None, GroupRole::Passive) => Err(self.passive()),
            (None, GroupRole::Active) => Ok(()),
        }
    }

    fn observe(&self, role: GroupRole) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.over.is_none() && state.role != role {
            state.role = role;
            self.tell(match role {
                GroupRole::Active => GroupEvent::Promoted,
                GroupRole::Passive => GroupEvent::Demoted,
            });
        }
    }

    fn end(&self, over: Over) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.over.is_none() {
            state.over = Some(over);
            self.tell(match over {
                Over::Replaced => GroupEvent::Replaced,
                Over::Closed => GroupEvent::Closed,
            });
        }
    }

    fn follow(&self, mirror: &Mirror, applied: Applied) {
        let version = mirror.seen();
        let before = self.seen.swap(version, Ordering::Relaxed);
        if version != before || !applied.is_empty() {
            self.tell(GroupEvent::Synced { version, added: applied.added, removed: applied.removed });
        }
    }

    fn tell(&self, event: GroupEvent) {
        // Nobody has to listen.
        let _ = self.events.send(event);
    }

    fn passive(&self) -> Error {
        GroupError::Passive { robot: self.robot.clone(), group: self.name.clone() }.into()
    }

    fn replaced(&self) -> Error {
        GroupError::Replaced { robot: self.robot.clone(), group: self.name.clone() }.into()
    }

    fn closed(&self) -> Error {
        GroupError::Closed { group: self.name.clone() }.into()
    }
}
