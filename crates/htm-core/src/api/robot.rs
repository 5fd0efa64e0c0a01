//! A robot: the shared long-term memory, and a working memory of its own.

mod context;

use std::collections::HashMap;
use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use sqlx::PgConnection;

pub use self::context::{RobotContext, Unverified};
use crate::api::htm::Htm;
use crate::api::working_memory::{Mind, Saver};
use crate::model::error::Result;
use crate::model::groups::TransferReceipt;
use crate::model::id::{NodeId, RobotId};
use crate::model::memory::{MAX_NAME_BYTES, Memory, filled, validate_name};
use crate::model::nodes::not_found;
use crate::model::recall::{RecallQuery, Recalled};
use crate::model::remember::{Outcome, Receipt};
use crate::model::robots::unknown;
use crate::model::tokens::TokenEncoding;
use crate::model::working_memory::{Entry, WorkingMemory, WorkingMemoryStats};
use crate::store::connections::Db;
use crate::store::nodes;
use crate::store::working_memory::{self as store, KeptNode, LiveNode};

/// A robot, with its [`WorkingMemory`]. Cheap to clone; clones share the working memory.
///
/// Its working memory is saved in the background, in batches. A robot that is opened again with the same [`Htm`] or a clone
/// of it shares the working memory, with what is not saved yet. One in another process continues with what is saved.
/// Before the program ends, [`close`](Self::close) it or [`Htm::flush`] its handle. Otherwise the last 200 ms of changes to
/// the working memory may be lost. Memories are never lost.
///
/// ```no_run
/// # async fn example(htm: htm_core::Htm) -> htm_core::Result<()> {
/// use htm_core::{ContextOptions, Memory, RecallQuery};
/// let robot = htm.robot("architect").await?;
/// robot.remember(Memory::new("We chose PostgreSQL for the ledger.").importance(8.0)).await?;
/// let found = robot.recall(&RecallQuery::new("which database did we choose?")).await?;
/// let options = ContextOptions::new(4_000).first(found.recalled.nodes());
/// let prompt = robot.context(&options).await.context.text;
/// robot.close().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Robot {
    htm: Htm,
    mind: Arc<Mind>,
    saver: Arc<Saver>,
    left_behind: Arc<[NodeId]>,
}

/// The effect of adding nodes to a working memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Intake {
    /// Evicted nodes, in the order of their eviction.
    pub evicted: Vec<NodeId>,
    /// Nodes that were not added: each alone exceeds the budget.
    pub oversized: Vec<Oversized>,
}

/// A node that exceeds the budget of a working memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Oversized {
    /// The node.
    pub node: NodeId,
    /// Its tokens.
    pub tokens: usize,
}

/// The result of [`Robot::remember`].
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Remembered {
    /// The receipt of the write to long-term memory.
    #[serde(flatten)]
    pub receipt: Receipt,
    /// The changes of the working memory.
    #[serde(flatten)]
    pub intake: Intake,
}

/// The result of [`Robot::recall`].
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RobotRecalled {
    /// The hits.
    #[serde(flatten)]
    pub recalled: Recalled,
    /// The changes of the working memory.
    #[serde(flatten)]
    pub intake: Intake,
}

impl Htm {
    /// Opens a robot of the handle's namespace with its saved working memory. A new robot is registered. Nodes that
    /// were forgotten meanwhile are left out; edited ones have their new text. The budget is the robot's own
    /// ([`set_robot_budget`](Self::set_robot_budget)), otherwise
    /// [`Settings::working_memory_tokens`](crate::Settings::working_memory_tokens).
    ///
    /// # Errors
    /// `robot_invalid`, or a database error.
    pub async fn robot(&self, name: &str) -> Result<Robot> {
        self.robot_in(&self.settings().namespace, name).await
    }

    /// As [`robot`](Self::robot), of another namespace.
    ///
    /// # Errors
    /// `namespace_invalid`, `robot_invalid`, or a database error.
    pub async fn robot_in(&self, namespace: &str, name: &str) -> Result<Robot> {
        self.written_or_own(Some(namespace))?;
        validate_name("robot", name, MAX_NAME_BYTES)?;
        self.admit_robot(name)?;
        let opened = store::open_robot(self.pool(), namespace, name).await?;
        let max_tokens = self.budget(opened.max_tokens());
        let restored = self.restored(self.pool(), opened.id, opened.now, max_tokens);
        let (open, others) = self.minds().of(opened.id, self.namespaces());
        for mind in others {
            mind.flush().await?;
        }
        let (saver, gone) = match open {
            Some(saver) => {
                let gone = saver.mind().reread((opened.id, name), restored).await?;
                (saver, gone)
            }
            None => {
                let (memory, gone) = restored.await?;
                let pool = self.shared_pool().clone();
                let mind = Mind::new(pool, opened.id, (namespace, name), memory, opened.now);
                (self.minds().open(mind, self.namespaces()), gone)
            }
        };
        Ok(Robot { htm: self.clone(), mind: saver.mind().clone(), saver, left_behind: gone.into() })
    }

    /// A robot's saved working memory. Reads only; the robot is not opened.
    ///
    /// # Errors
    /// `robot_unknown`, `robot_invalid`, `namespace_invalid`, or a database error.
    pub async fn working_memory(&self, namespace: Option<&str>, name: &str) -> Result<WorkingMemory> {
        validate_name("robot", name, MAX_NAME_BYTES)?;
        let robot = self.find_robot(namespace, name).await?;
        Ok(self.restored(self.pool(), robot.id, Utc::now(), self.budget(robot.max_tokens)).await?.0)
    }

    /// The budget of a robot's working memory, in tokens: its own, otherwise the handle's.
    fn budget(&self, own: Option<usize>) -> usize {
        own.unwrap_or(self.settings().working_memory_tokens)
    }

    /// Evicts what the saved working memory has more than a budget.
    pub(crate) async fn evict_saved(&self, id: RobotId, max_tokens: usize) -> Result<()> {
        let (_, gone) = self.restored(self.pool(), id, Utc::now(), max_tokens).await?;
        if gone.is_empty() { Ok(()) } else { store::keep(self.pool(), id, &[], &gone).await }
    }

    /// Adds nodes to the saved working memory of a robot, in order and within its budget. Nodes that do not fit are not
    /// transferred.
    ///
    /// # Errors
    /// `robot_unknown`, `node_not_found`, `node_oversized`, or a database error.
    pub(crate) async fn give_to_robot_in_tx(
        &self,
        connection: &mut PgConnection,
        (namespace, name): (&str, &str),
        nodes: &[NodeId],
    ) -> Result<TransferReceipt> {
        let robot = store::hold_robot_in_tx(&mut *connection, namespace, name).await?;
        let robot = robot.ok_or_else(|| unknown(namespace, name))?;
        if nodes.is_empty() {
            return Ok(TransferReceipt::default());
        }
        let max_tokens = self.budget(robot.max_tokens());
        let (mut memory, left_behind) =
            self.restored(&mut *connection, robot.id, robot.now, max_tokens).await?;
        let former: Vec<NodeId> = memory.in_eviction_order().map(|entry| entry.node).collect();
        let known: Vec<(NodeId, i32)> = nodes.iter().map(|node| (*node, 0)).collect();
        let live = store::live_nodes(&mut *connection, &known).await?;
        let mut live: HashMap<NodeId, LiveNode> = live.into_iter().map(|node| (node.node, node)).collect();
        let mut added_at = robot.now;
        for node in nodes {
            let live = live.remove(node).ok_or_else(|| not_found(*node))?;
            // The first is the oldest.
            added_at += TimeDelta::microseconds(1);
            memory.add(entry_of(live, None, added_at, self.settings().token_encoding))?;
        }
        let kept: Vec<&Entry> = nodes.iter().filter_map(|node| memory.get(*node)).collect();
        let transferred = kept.iter().map(|entry| entry.node).collect();
        let kept: Vec<KeptNode> = kept.into_iter().map(KeptNode::from).collect();
        let mut evicted: Vec<NodeId> = left_behind.into_iter().chain(former).collect();
        evicted.retain(|node| !memory.contains(*node));
        store::keep(connection, robot.id, &kept, &evicted).await?;
        Ok(TransferReceipt { transferred, evicted })
    }

    /// The saved working memory, within the current budget; and the nodes for which the budget has no room.
    async fn restored(
        &self,
        db: impl Into<Db<'_>>,
        id: RobotId,
        now: DateTime<Utc>,
        max_tokens: usize,
    ) -> Result<(WorkingMemory, Vec<NodeId>)> {
        let mut memory = WorkingMemory::new(usize::MAX);
        for row in store::restore(db, id, self.namespaces()).await? {
            let entry = Entry {
                added_at: row.added_at,
                accessed_at: row.accessed_at,
                accesses: row.accesses as u64,
                ..entry_of(row.node, None, now, self.settings().token_encoding)
            };
            memory.add(entry)?;
        }
        // After all rows were added: if the budget is smaller now, the important nodes get most of it.
        let gone = memory.resize(max_tokens).into_iter().map(|entry| entry.node).collect();
        Ok((memory, gone))
    }
}

impl Robot {
    /// Its id; after a merge, that of the robot it was merged into.
    pub fn id(&self) -> RobotId {
        self.mind.id()
    }

    /// Its name. A rename elsewhere shows after the next [`remember`](Self::remember).
    pub fn name(&self) -> String {
        self.mind.name()
    }

    /// Its namespace.
    pub fn namespace(&self) -> &str {
        &self.mind.namespace
    }

    /// Remembers as this robot and adds the node to the working memory. The default namespace is the robot's.
    ///
    /// A text that exceeds the working memory is written to long-term memory all the same; the answer says so.
    ///
    /// # Errors
    /// As [`Htm::remember`].
    pub async fn remember(&self, mut memory: Memory) -> Result<Remembered> {
        memory.robot = Some(self.mind.name());
        let namespace = memory.namespace.get_or_insert_with(|| self.mind.namespace.clone());
        let receipt = match *namespace == self.mind.namespace {
            true => {
                let (receipt, now) = self.htm.remember_as(self.mind.id(), &mut memory).await?;
                self.mind.become_robot(now, memory.robot.as_deref().unwrap_or_default());
                receipt
            }
            false => self.htm.remember(memory.clone()).await?,
        };
        let mut entry = self.entry_of_memory(receipt.node, &memory);
        if receipt.outcome != Outcome::Written {
            // The node existed already, with its own importance and time. If it cannot be read, revision 0 makes the
            // next context read it.
            entry.revision = 0;
            let live = store::live_nodes(self.htm.pool(), &[(receipt.node, 0)]).await;
            if let Some(live) = live.ok().and_then(|mut rows| rows.pop()) {
                entry = entry_of(live, None, entry.added_at, self.encoding());
            }
        }
        Ok(Remembered { receipt, intake: self.take_in([entry]) })
    }

    /// Recalls and adds the hits to the working memory, the best one last: it is the most recent and is evicted last.
    /// The default namespace is the robot's.
    ///
    /// # Errors
    /// As [`Htm::recall`].
    pub async fn recall(&self, query: &RecallQuery) -> Result<RobotRecalled> {
        let filter = query.filter.or_in(&self.mind.namespace);
        self.htm.saw_robot(&self.mind.namespace, &self.mind.name());
        let recalled = self.htm.recall(&RecallQuery { filter, ..query.clone() }).await?;
        // A former text is no memory of now.
        let is_of_now = query.as_of.is_none();
        let entries: Vec<Entry> = recalled
            .hits
            .iter()
            .filter(|_| is_of_now)
            .rev()
            .map(|hit| {
                let node = LiveNode {
                    node: hit.node.id,
                    revision: hit.node.revision,
                    content: Some(hit.node.content.clone()),
                    token_count: hit.node.token_count,
                    token_encoding: hit.node.token_encoding.clone(),
                    importance: hit.node.importance,
                    source: hit.node.source.clone(),
                    happened_at: hit.node.created_at,
                };
                entry_of(node, None, DateTime::UNIX_EPOCH, self.encoding())
            })
            .collect();
        let intake = self.take_in(entries);
        Ok(RobotRecalled { recalled, intake })
    }

    /// Adds nodes of any namespace to the working memory, in order. A node that is there already counts as used.
    ///
    /// # Errors
    /// `node_not_found` (then none is added), or a database error.
    pub async fn add(&self, nodes: &[NodeId]) -> Result<Intake> {
        self.htm.admit_nodes(nodes).await?;
        // Revision 0 requests the texts.
        let known: Vec<(NodeId, i32)> = nodes.iter().map(|node| (*node, 0)).collect();
        let live = store::live_nodes(self.htm.pool(), &known).await?;
        let mut live: HashMap<NodeId, LiveNode> = live.into_iter().map(|node| (node.node, node)).collect();
        if let Some(missing) = nodes.iter().find(|node| !live.contains_key(node)) {
            return Err(nodes::missing(self.htm.pool(), *missing).await);
        }
        let entries = nodes.iter().filter_map(|node| live.remove(node));
        let entries = entries.map(|node| entry_of(node, None, DateTime::UNIX_EPOCH, self.encoding()));
        Ok(self.take_in(entries.collect::<Vec<_>>()))
    }

    /// Marks a node of the working memory as used; false if it is not there.
    pub fn touch(&self, node: NodeId) -> bool {
        let mut state = self.mind.lock();
        let now = state.tick();
        let touched = state.memory.touch(node, now);
        drop(state);
        if touched {
            self.mind.note_changed([node]);
        }
        touched
    }

    /// Removes a node from the working memory; it stays in long-term memory. False if it was not there.
    pub fn remove(&self, node: NodeId) -> bool {
        let removed = self.mind.lock().memory.remove(node).is_some();
        if removed {
            self.mind.note_changed([node]);
        }
        removed
    }

    /// Empties the working memory and returns the number of nodes. They stay in long-term memory.
    pub fn clear(&self) -> usize {
        let mut state = self.mind.lock();
        let nodes: Vec<NodeId> = state.memory.iter().map(|entry| entry.node).collect();
        state.memory.clear();
        drop(state);
        let count = nodes.len();
        self.mind.note_changed(nodes);
        count
    }

    /// The working memory, the next to be evicted first.
    pub fn working_memory(&self) -> Vec<Entry> {
        self.mind.lock().memory.in_eviction_order().cloned().collect()
    }

    /// Nodes of the saved working memory that do not fit: another program has a larger budget, or their texts grew. They
    /// are evicted when the next node is added. Opening a robot with a smaller budget and adding nothing loses nothing.
    pub fn left_behind(&self) -> &[NodeId] {
        &self.left_behind
    }

    /// The use of the working memory.
    pub fn working_memory_stats(&self) -> WorkingMemoryStats {
        self.mind.lock().memory.stats()
    }

    /// Saves the working memory now.
    ///
    /// # Errors
    /// A database error; saving is retried in the background.
    pub async fn flush(&self) -> Result<()> {
        self.mind.flush().await
    }

    /// Closes the robot and saves its working memory. Dropping the last clone tries the same.
    ///
    /// # Errors
    /// As [`flush`](Self::flush).
    pub async fn close(self) -> Result<()> {
        let result = self.flush().await;
        drop(self.saver);
        result
    }

    fn encoding(&self) -> TokenEncoding {
        self.htm.settings().token_encoding
    }

    fn entry_of_memory(&self, node: NodeId, memory: &Memory) -> Entry {
        let now = self.mind.lock().tick();
        Entry {
            importance: memory.importance,
            source: filled(&memory.source).map(str::to_owned),
            happened_at: memory.at.unwrap_or(now),
            ..Entry::new(node, memory.content.as_str(), self.encoding().count(&memory.content), now)
        }
    }

    /// Adds nodes, one after the other.
    fn take_in(&self, entries: impl IntoIterator<Item = Entry>) -> Intake {
        let mut intake = Intake::default();
        let mut changed = Vec::new();
        let mut state = self.mind.lock();
        for mut entry in entries {
            let now = state.tick();
            (entry.added_at, entry.accessed_at) = (now, now);
            let (node, tokens) = (entry.node, entry.tokens);
            match state.memory.add(entry) {
                Ok(evicted) => {
                    changed.push(node);
                    changed.extend(evicted.iter().map(|entry| entry.node));
                    intake.evicted.extend(evicted.iter().map(|entry| entry.node));
                }
                Err(_oversized) => {
                    // If a text grew, the old one is no longer that of the memory.
                    if state.memory.remove(node).is_some() {
                        changed.push(node);
                    }
                    intake.oversized.push(Oversized { node, tokens });
                }
            }
        }
        drop(state);
        if !changed.is_empty() {
            changed.extend(self.left_behind.iter().copied());
        }
        self.mind.note_changed(changed);
        intake
    }
}

/// A live node as an entry of the working memory; what the row lacks comes from `old`. The row's token count is used if
/// it has the same encoding.
fn entry_of(live: LiveNode, old: Option<&Entry>, now: DateTime<Utc>, encoding: TokenEncoding) -> Entry {
    let entry = match (live.content, old) {
        (None, Some(old)) => old.clone(),
        (content, old) => {
            let content = content.unwrap_or_default();
            let tokens = match live.token_encoding == encoding.as_ref() {
                true => live.token_count.max(0) as usize,
                false => encoding.count(&content),
            };
            let (accessed_at, accesses) = old.map_or((now, 0), |old| (old.accessed_at, old.accesses));
            Entry { accessed_at, accesses, ..Entry::new(live.node, content, tokens, now) }
        }
    };
    Entry {
        importance: live.importance,
        source: live.source,
        happened_at: live.happened_at,
        revision: live.revision,
        ..entry
    }
}
