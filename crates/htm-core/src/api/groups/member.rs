//! A robot in a group.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use tokio::sync::broadcast;
use tokio_util::task::AbortOnDropHandle;

use super::inner::{Inner, Op};
use super::{
    AfterShutdown, Group, GroupEvent, GroupMemberInfo, GroupRole, JoinOptions, TransferReceipt,
    TransferTarget, Transferred, tasks,
};
use crate::api::htm::Htm;
use crate::model::context::{Context, ContextOptions};
use crate::model::error::{ErrorKind, Result};
use crate::model::filter::Filter;
use crate::model::id::NodeId;
use crate::model::memory::Memory;
use crate::model::recall::{RecallQuery, Recalled};
use crate::model::remember::Receipt;
use crate::model::working_memory::{Entry, WorkingMemoryStats};
use crate::store::robots;

/// The result of [`GroupMember::recall`].
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct GroupRecalled {
    /// The hits.
    #[serde(flatten)]
    pub recalled: Recalled,
    /// Whether the hits entered the working memory; those of a passive member do not, nor does one that exceeds the
    /// budget.
    pub is_in_working_memory: bool,
    /// Evicted nodes.
    pub evicted: Vec<NodeId>,
}

/// A robot's membership in a group, from [`Group::join`] to [`leave`](Self::leave). It keeps a copy of the group's
/// working memory up to date and its lease renewed.
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
        let inner = Arc::new(Inner::join(htm, namespace, name, robot, options).await?);
        // Notifies an earlier process of this robot that it was replaced.
        inner.told.notify_one();
        let tasks = tasks::start(&inner);
        Ok(Self { inner, _tasks: tasks })
    }

    /// The robot's name when it joined. A renamed robot stays a member.
    pub fn robot(&self) -> &str {
        &self.inner.robot
    }

    /// Its last known role.
    pub fn role(&self) -> GroupRole {
        self.inner.state().role
    }

    /// The group's events from now on.
    pub fn events(&self) -> broadcast::Receiver<GroupEvent> {
        self.inner.events.subscribe()
    }

    /// Remembers as this robot, in the group's namespace, and adds the node to the shared working memory. Node, jobs
    /// and working memory commit together.
    ///
    /// # Errors
    /// `group_member_passive`; `group_member_replaced`; `group_closed`; `group_elsewhere` for a memory of another
    /// namespace; `node_oversized`; the errors of [`Htm::remember`]. Nothing was written then.
    pub async fn remember(&self, memory: Memory) -> Result<Receipt> {
        self.inner.remember(memory).await
    }

    /// Adds a node; returns the evicted ones. A node that is there already counts as used.
    ///
    /// # Errors
    /// `node_not_found`, also for one of another namespace; `node_oversized`; `group_member_passive`;
    /// `group_member_replaced`; `group_closed`; or a database error.
    pub async fn add(&self, node: NodeId) -> Result<Vec<NodeId>> {
        Ok(self.inner.write(Op::Add(vec![node])).await?.removed)
    }

    /// Recalls and adds the hits of the group's namespace to the working memory, the best one last: it is evicted last.
    /// The default namespace is the group's. A passive member adds nothing.
    ///
    /// # Errors
    /// The errors of [`Htm::recall`]; `group_member_replaced`, or `group_closed`.
    pub async fn recall(&self, query: &RecallQuery) -> Result<GroupRecalled> {
        let inner = &self.inner;
        let query = RecallQuery { filter: query.filter.or_in(&inner.namespace), ..query.clone() };
        // The robot may have been renamed.
        if let Some((_, name)) = robots::now_called(inner.htm.pool(), inner.robot_id).await? {
            inner.htm.saw_robot(&inner.namespace, &name);
        }
        let recalled = inner.htm.recall(&query).await?;
        // A former text is no memory of now.
        let of_now = recalled.hits.iter().rev().filter(|_| query.as_of.is_none());
        let hits: Vec<NodeId> = of_now.map(|hit| hit.node.id).collect();
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
        Ok(GroupRecalled {
            recalled,
            is_in_working_memory: taken_in.is_some(),
            evicted: taken_in.unwrap_or_default(),
        })
    }

    /// Removes a node from the working memory; false if it was not there.
    ///
    /// # Errors
    /// `group_member_passive`, `group_member_replaced`, `group_closed`, or a database error.
    pub async fn remove(&self, node: NodeId) -> Result<bool> {
        Ok(!self.inner.write(Op::Remove(node)).await?.removed.is_empty())
    }

    /// Marks a node as used; false if it is not there. Others see it within a third of the lease.
    ///
    /// # Errors
    /// `group_member_passive`, `group_member_replaced`, or `group_closed`.
    pub async fn touch(&self, node: NodeId) -> Result<bool> {
        self.inner.check_active()?;
        let there = self.inner.mirror.lock().await.touch(node);
        self.inner.used.fetch_or(there, Ordering::Relaxed);
        Ok(there)
    }

    /// Fetches the latest version: every write, edit or forget before this call is included.
    ///
    /// # Errors
    /// `group_member_replaced`, `group_closed`, or a database error.
    pub async fn sync(&self) -> Result<()> {
        let mut mirror = self.inner.mirror.lock().await;
        self.inner.refresh(&mut mirror).await
    }

    /// The working memory as one text, with the latest edits and removals.
    ///
    /// # Errors
    /// As [`sync`](Self::sync).
    pub async fn context(&self, options: &ContextOptions) -> Result<Context> {
        self.context_of(&Filter::default(), options).await
    }

    /// As [`context`](Self::context), with only those nodes of the working memory that pass a filter. The default
    /// namespace is the group's.
    ///
    /// # Errors
    /// As [`sync`](Self::sync) and [`Htm::latest`].
    pub async fn context_of(&self, filter: &Filter, options: &ContextOptions) -> Result<Context> {
        self.inner.context_of(filter, options).await
    }

    /// The working memory as last fetched, the next to be evicted first.
    pub async fn entries(&self) -> Vec<Entry> {
        self.inner.mirror.lock().await.memory().in_eviction_order().cloned().collect()
    }

    /// The use of the working memory.
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
    /// The same.
    pub async fn promote(&self, robot: &str) -> Result<()> {
        self.group().promote(robot).await?;
        self.sync().await
    }

    /// See [`Group::demote`].
    ///
    /// # Errors
    /// The same.
    pub async fn demote(&self, robot: &str) -> Result<()> {
        self.group().demote(robot).await?;
        self.sync().await
    }

    /// See [`Group::transfer`]; only an active member may.
    ///
    /// # Errors
    /// The same, `group_member_passive`, or `group_member_replaced`.
    pub async fn transfer(&self, what: &Transferred, to: &TransferTarget) -> Result<TransferReceipt> {
        self.inner.check_active()?;
        let fence = Some(self.inner.fence());
        let receipt = self.group().transfer_as(what, to, fence).await?;
        self.sync().await?;
        Ok(receipt)
    }

    /// Leaves the group. If it was the only active member, the passive member that joined first takes over.
    ///
    /// # Errors
    /// A database error; the lease ends by itself then.
    pub async fn leave(self) -> Result<()> {
        self.inner.leave().await
    }

    /// See [`Group::shutdown`]; only an active member may.
    ///
    /// # Errors
    /// The same, `group_member_passive`, or `group_member_replaced`.
    pub async fn shutdown(self, after: AfterShutdown) -> Result<u64> {
        self.inner.check_active()?;
        let fence = Some(self.inner.fence());
        self.group().shutdown_as(after, fence).await
    }

    fn group(&self) -> Group {
        self.inner.htm.group(&self.inner.name).namespace(&self.inner.namespace)
    }
}
