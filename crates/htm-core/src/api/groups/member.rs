//! A robot in a group: what it writes, and what it follows.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex as StdMutex};

use chrono::Utc;
use tokio::sync::{Mutex, Notify, broadcast};
use tokio_util::task::AbortOnDropHandle;
use uuid::Uuid;

use super::inner::{Inner, Op, State};
use super::{
    AfterShutdown, Group, GroupEvent, GroupMemberInfo, GroupRole, JoinOptions, TransferReceipt,
    TransferTarget, Transferred, tasks,
};
use crate::api::htm::Htm;
use crate::api::remember::PendingReceipt;
use crate::model::context::{Context, ContextOptions, assemble};
use crate::model::error::{Error, ErrorKind, Result};
use crate::model::groups::errors;
use crate::model::groups::mirror::Mirror;
use crate::model::id::NodeId;
use crate::model::memory::Memory;
use crate::model::recall::{RecallQuery, Recalled};
use crate::model::remember::Receipt;
use crate::model::working_memory::{Entry, WorkingMemoryStats};
use crate::store::group_memory::{self};
use crate::store::{groups, robots};

/// How many events a slow reader may be behind before it misses the oldest.
const EVENTS: usize = 1_024;

/// What [`GroupMember::recall`] found.
#[derive(Clone, Debug, serde::Serialize)]
pub struct GroupRecalled {
    /// The hits.
    #[serde(flatten)]
    pub recalled: Recalled,
    /// Whether they were taken into the group's mind: a passive member takes nothing in. One that is larger than the
    /// group's budget stays out all the same.
    pub is_in_mind: bool,
    /// Nodes that had to leave for them.
    pub evicted: Vec<NodeId>,
}

/// A robot's membership in a group, from [`Group::join`] to [`leave`](Self::leave). It keeps a copy of the group's working
/// memory up to date and its lease renewed.
#[derive(Debug)]
pub struct GroupMember {
    inner: Arc<Inner>,
    _tasks: Vec<AbortOnDropHandle<()>>,
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
        let robot_id = robots::find(&mut *tx, namespace, robot).await?.ok_or_else(Error::contended)?;
        let role = groups::join_in_tx(&mut tx, group, robot_id, session, options.lease, options.role).await?;
        let encoding = htm.settings().token_encoding;
        let synced = group_memory::sync(&mut *tx, group, Some(robot_id), -1, encoding).await?;
        tx.commit().await?;
        let mut mirror = Mirror::new();
        mirror.apply(synced.ok_or_else(Error::contended)?.delta);
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

    /// The robot's name, as it joined; when it is renamed it is a member still, and what it remembers is its own.
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
            return Err(errors::elsewhere(&inner.name, &inner.namespace, other));
        }
        let (namespace, robot) = (Some(inner.namespace.clone()), Some(inner.robot.clone()));
        let memory = Memory { namespace, robot, ..memory };
        memory.validate()?;
        let written = inner.write(Op::Remember(Box::new(memory))).await?;
        written.pending.map(PendingReceipt::notify).ok_or_else(Error::contended)
    }

    /// Takes a node in; gives those that had to leave for it. One that is there counts as used.
    ///
    /// # Errors
    /// `node_not_found`, also for one of another namespace; `node_oversized`; `group_member_passive`;
    /// `group_member_replaced`; `group_closed`; or a database error.
    pub async fn add(&self, node: NodeId) -> Result<Vec<NodeId>> {
        Ok(self.inner.write(Op::Add(node)).await?.removed)
    }

    /// Recalls, in the group's namespace unless the query names another, and takes the hits of the group's namespace into
    /// mind, for all members, the best one last: it leaves last. A passive member recalls and takes nothing in.
    ///
    /// # Errors
    /// What [`Htm::recall`] says; `group_member_replaced`, or `group_closed`.
    pub async fn recall(&self, query: &RecallQuery) -> Result<GroupRecalled> {
        let inner = &self.inner;
        let mut query = query.clone();
        if query.namespaces.is_empty() {
            query.namespaces.push(inner.namespace.clone());
        }
        // It may be called otherwise by now.
        if let Some((_, name)) = robots::now_called(inner.htm.pool(), inner.robot_id).await? {
            inner.htm.saw_robot(&inner.namespace, &name);
        }
        let recalled = inner.htm.recall(&query).await?;
        let hits: Vec<NodeId> = recalled.hits.iter().rev().map(|hit| hit.node.id).collect();
        let taken_in = match inner.check_active() {
            Err(error) if error.kind() == ErrorKind::NotActive => None,
            Err(error) => return Err(error),
            Ok(()) if hits.is_empty() => Some(Vec::new()),
            // It may have become passive since.
            Ok(()) => match inner.write(Op::Recalled(hits)).await {
                Ok(written) => Some(written.removed),
                Err(error) if error.kind() == ErrorKind::NotActive => None,
                Err(error) => return Err(error),
            },
        };
        Ok(GroupRecalled { recalled, is_in_mind: taken_in.is_some(), evicted: taken_in.unwrap_or_default() })
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

    /// Fetches what it does not have yet: after this it has what every write, edit or forget before it wrote.
    ///
    /// # Errors
    /// `group_member_replaced`, `group_closed`, or a database error.
    pub async fn sync(&self) -> Result<()> {
        let mut mirror = self.inner.mirror.lock().await;
        self.inner.refresh(&mut mirror).await
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
        let fence = Some(self.inner.fence());
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
        let member = groups::member_in_tx(&mut tx, inner.group, inner.robot_id).await?;
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
        let fence = Some(self.inner.fence());
        self.group().shutdown_as(after, fence).await
    }

    fn group(&self) -> Group {
        self.inner.htm.group(&self.inner.name).namespace(&self.inner.namespace)
    }
}
