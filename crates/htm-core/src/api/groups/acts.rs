//! The acts of a member, with or without a process of its own: join, remember, read, leave.

use std::sync::Mutex as StdMutex;
use std::sync::atomic::{AtomicBool, AtomicI64};

use chrono::Utc;
use tokio::sync::{Mutex, Notify, broadcast};
use uuid::Uuid;

use super::JoinOptions;
use super::inner::{Inner, Op, State};
use crate::api::htm::Htm;
use crate::api::remember::PendingReceipt;
use crate::model::context::{Context, ContextOptions, LeftOut, assemble};
use crate::model::error::{Error, Result};
use crate::model::filter::Filter;
use crate::model::groups::errors;
use crate::model::groups::mirror::Mirror;
use crate::model::id::NodeId;
use crate::model::memory::Memory;
use crate::model::remember::Receipt;
use crate::model::working_memory::Entry;
use crate::store::groups::{self, MembershipRecord};
use crate::store::{group_memory, relations, robots};

/// The most events that a slow reader can be behind before it misses the oldest.
const EVENTS: usize = 1_024;

impl Inner {
    /// Makes a robot a member, with a new membership.
    pub(super) async fn join(
        htm: &Htm,
        namespace: &str,
        name: &str,
        robot: &str,
        options: JoinOptions,
    ) -> Result<Self> {
        // Loads the vocabulary, once in a program, before the other members have to wait.
        htm.settings().token_encoding.count("");
        let id = Uuid::new_v4();
        let mut tx = htm.pool().begin().await?;
        let max_tokens = i64::try_from(options.max_tokens).unwrap_or(i64::MAX);
        let group = groups::ensure_in_tx(&mut tx, namespace, name, max_tokens).await?;
        groups::lock_in_tx(&mut tx, &[group], options.lease).await?;
        // Groups before robots, as in a write and in a merge of robots.
        robots::register_in_tx(&mut tx, &[(namespace, robot)]).await?;
        let robot_id = robots::find(&mut *tx, namespace, robot).await?.ok_or_else(Error::contended)?;
        let role = groups::join_in_tx(&mut tx, group, robot_id, id, options.lease, options.role).await?;
        let encoding = htm.settings().token_encoding;
        let synced = group_memory::sync(&mut *tx, group, Some(robot_id), -1, encoding).await?;
        tx.commit().await?;
        let mut mirror = Mirror::new();
        mirror.apply(synced.ok_or_else(Error::contended)?.delta);
        htm.saw_robot(namespace, robot);
        let membership = MembershipRecord { group, robot: robot_id, id, role, lease: options.lease };
        Ok(Self::of(htm, (namespace, name, robot), membership, mirror))
    }

    /// A membership with a copy of the working memory.
    pub(super) fn of(
        htm: &Htm,
        (namespace, name, robot): (&str, &str, &str),
        member: MembershipRecord,
        mirror: Mirror,
    ) -> Self {
        Self {
            htm: htm.clone(),
            group: member.group,
            namespace: namespace.into(),
            name: name.into(),
            robot: robot.into(),
            robot_id: member.robot,
            membership: member.id,
            lease: member.lease,
            seen: AtomicI64::new(mirror.seen()),
            used: AtomicBool::new(false),
            mirror: Mutex::new(mirror),
            state: StdMutex::new(State { role: member.role, over: None }),
            stirred: Notify::new(),
            told: Notify::new(),
            untended: Notify::new(),
            events: broadcast::Sender::new(EVENTS),
        }
    }

    pub(super) async fn remember(&self, memory: Memory) -> Result<Receipt> {
        if let Some(other) = memory.namespace.as_ref().filter(|other| **other != self.namespace) {
            return Err(errors::elsewhere(&self.name, &self.namespace, other));
        }
        let (namespace, robot) = (Some(self.namespace.clone()), Some(self.robot.clone()));
        let memory = Memory { namespace, robot, ..memory };
        memory.validate()?;
        let written = self.write(Op::Remember(Box::new(memory))).await?;
        written.pending.map(PendingReceipt::notify).ok_or_else(Error::contended)
    }

    pub(super) async fn context_of(&self, filter: &Filter, options: &ContextOptions) -> Result<Context> {
        let encoding = self.htm.settings().token_encoding;
        let mut mirror = self.mirror.lock().await;
        self.refresh(&mut mirror).await?;
        let counted = |entry: &Entry| match mirror.is_foreign(entry.node) {
            true => Entry { tokens: encoding.count(&entry.content), ..entry.clone() },
            false => entry.clone(),
        };
        let mut entries: Vec<Entry> = mirror.memory().iter().map(counted).collect();
        let mut others: Vec<Entry> = Vec::new();
        if !filter.is_empty() {
            let nodes: Vec<NodeId> = entries.iter().map(|entry| entry.node).collect();
            let conditions = self.htm.conditions(&filter.or_in(&self.namespace)).await?;
            let passing = conditions.passing(self.htm.pool(), &nodes).await?;
            (entries, others) = entries.into_iter().partition(|entry| passing.contains(&entry.node));
        }
        let nodes: Vec<NodeId> = entries.iter().map(|entry| entry.node).collect();
        let superseded = relations::superseded(self.htm.pool(), &nodes).await?;
        let mut context = assemble(&entries, &superseded, options, encoding, Utc::now());
        context.left_out.extend(others.iter().map(LeftOut::filtered));
        Ok(context)
    }

    pub(super) async fn leave(&self) -> Result<()> {
        if self.check_active().is_ok() {
            self.write_uses().await.ok();
        }
        let mut tx = self.htm.pool().begin().await?;
        groups::lock_in_tx(&mut tx, &[self.group], self.lease).await?;
        let member = groups::member_in_tx(&mut tx, self.group, self.robot_id).await?;
        if let Some(member) = member.filter(|member| member.membership == self.membership) {
            groups::remove_in_tx(&mut tx, self.group, member.robot_id).await?;
            if member.is_active() {
                groups::hand_over_in_tx(&mut tx, self.group, None).await?;
            }
        }
        tx.commit().await?;
        groups::notify(self.htm.pool(), self.group).await;
        Ok(())
    }
}
