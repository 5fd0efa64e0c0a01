//! The working memory of a robot, written to the database in the background, in batches.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use chrono::{DateTime, SubsecRound, TimeDelta, Utc};
use sqlx::PgPool;
use tokio::sync::Notify;

use crate::model::error::chain;
use crate::model::error::{Error, Result};
use crate::model::id::{NodeId, RobotId};
use crate::model::working_memory::WorkingMemory;
use crate::store::again::{again, met_another};
use crate::store::working_memory::{self as store, KeptNode};
use crate::store::{erase, robots};

/// A batch is written after this time, or with this number of nodes.
const BATCH_WAIT: Duration = Duration::from_millis(200);
const BATCH_NODES: usize = 100;

const RETRY_FIRST: Duration = Duration::from_millis(500);
const RETRY_LAST: Duration = Duration::from_secs(30);

/// The state that all clones of a robot share.
#[derive(Debug)]
pub(crate) struct Mind {
    pool: PgPool,
    pub(crate) namespace: String,
    state: Mutex<State>,
    changed: Notify,
    batch_full: Notify,
    closing: AtomicBool,
    closed: Notify,
    /// One write at a time: an older one never overtakes a newer one.
    writing: tokio::sync::Mutex<()>,
}

/// The working memory, and its unwritten changes.
#[derive(Debug)]
pub(crate) struct State {
    id: RobotId,
    name: String,
    pub(crate) memory: WorkingMemory,
    /// The nodes that were added, used or removed since the last write.
    pending: HashSet<NodeId>,
    /// The database's time minus this machine's time.
    offset: TimeDelta,
    last: DateTime<Utc>,
}

impl State {
    /// The database's time, in microseconds as PostgreSQL stores it; later at each call.
    pub(crate) fn tick(&mut self) -> DateTime<Utc> {
        let now = (Utc::now() + self.offset).trunc_subsecs(6);
        self.last = now.max(self.last + TimeDelta::microseconds(1));
        self.last
    }
}

impl Mind {
    pub(crate) fn new(
        pool: PgPool,
        id: RobotId,
        (namespace, name): (&str, &str),
        memory: WorkingMemory,
        now: DateTime<Utc>,
    ) -> Self {
        let last = memory.iter().map(|entry| entry.accessed_at).max().unwrap_or(now).min(now);
        let state =
            State { id, name: name.into(), memory, pending: HashSet::new(), offset: now - Utc::now(), last };
        Self {
            pool,
            namespace: namespace.into(),
            state: Mutex::new(state),
            changed: Notify::new(),
            batch_full: Notify::new(),
            closing: AtomicBool::new(false),
            closed: Notify::new(),
            writing: tokio::sync::Mutex::default(),
        }
    }

    pub(crate) fn id(&self) -> RobotId {
        self.lock().id
    }

    pub(crate) fn name(&self) -> String {
        self.lock().name.clone()
    }

    /// Records the robot's current id and name: it was renamed, or merged into another robot. After a merge, its
    /// working memory is added to that robot's.
    pub(crate) fn become_robot(&self, id: RobotId, name: &str) {
        let mut state = self.lock();
        if state.id != id {
            state.id = id;
            // What was removed and not written yet came to that robot with the merge.
            let State { memory, pending, .. } = &mut *state;
            pending.extend(memory.iter().map(|entry| entry.node));
            self.changed.notify_one();
        }
        if state.name != name {
            state.name = name.into();
        }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records that these nodes were added, used or removed; the background task writes them.
    pub(crate) fn note_changed(&self, nodes: impl IntoIterator<Item = NodeId>) {
        let mut state = self.lock();
        state.pending.extend(nodes);
        if !state.pending.is_empty() {
            self.changed.notify_one();
        }
        if state.pending.len() >= BATCH_NODES {
            self.batch_full.notify_one();
        }
    }

    /// Writes the pending changes; if that fails, they stay pending.
    pub(crate) async fn flush(&self) -> Result<()> {
        let _one_at_a_time = self.writing.lock().await;
        self.save().await
    }

    /// Writes the pending changes, and takes the name of the robot with this id and the saved working memory that `read` reads
    /// then, unless there are newer changes. Returns what `read` found no room for.
    pub(crate) async fn reread(
        &self,
        (id, name): (RobotId, &str),
        read: impl Future<Output = Result<(WorkingMemory, Vec<NodeId>)>>,
    ) -> Result<Vec<NodeId>> {
        let _one_at_a_time = self.writing.lock().await;
        self.save().await?;
        let (memory, gone) = read.await?;
        let mut state = self.lock();
        // It may have been merged into another one meanwhile.
        if state.id == id {
            state.name = name.into();
            if state.pending.is_empty() {
                state.memory = memory;
            }
        }
        Ok(gone)
    }

    async fn save(&self) -> Result<()> {
        match self.write_pending().await {
            Ok(Saved::All) => return Ok(()),
            Ok(Saved::OfFormerRobot) => {}
            Err(error) if is_robot_gone(&error) => {
                // The robot was merged into another one, or was removed: then its name is registered again.
                let (id, name) = match robots::now_called(&self.pool, self.id()).await? {
                    Some(now) => now,
                    None => {
                        let name = self.name();
                        (store::open_robot(&self.pool, &self.namespace, &name).await?.id, name)
                    }
                };
                self.become_robot(id, &name);
            }
            Err(error) => return Err(error),
        }
        self.write_pending().await.map(drop)
    }

    async fn write_pending(&self) -> Result<Saved> {
        let (id, pending, kept, gone) = {
            let mut state = self.lock();
            let pending = std::mem::take(&mut state.pending);
            if pending.is_empty() {
                return Ok(Saved::All);
            }
            let memory = &state.memory;
            let kept: Vec<KeptNode> =
                pending.iter().filter_map(|node| memory.get(*node)).map(KeptNode::from).collect();
            let gone: Vec<NodeId> = pending.iter().copied().filter(|node| !memory.contains(*node)).collect();
            (state.id, pending, kept, gone)
        };
        // Given back if the write fails, or if its caller is cancelled.
        let mut taken = TakenChanges { mind: self, pending };
        // Another program of the robot may have added a row since this one read which there are.
        again(met_another, || store::keep(&self.pool, id, &kept, &gone)).await?;
        // It may have been renamed elsewhere, or merged: then what was removed is there again, with the other robot.
        let now = robots::now_called(&self.pool, id).await.ok().flatten();
        let is_merged = now.as_ref().is_some_and(|(now, _)| *now != id);
        if !is_merged {
            taken.pending.clear();
        }
        drop(taken);
        if let Some((now, name)) = now {
            self.become_robot(now, &name);
        }
        Ok(if is_merged { Saved::OfFormerRobot } else { Saved::All })
    }

    /// Writes batch after batch until the robot is closed. The last batch begins after that.
    async fn save_until_closed(&self) {
        loop {
            if !self.is_closing() {
                tokio::select! {
                    () = self.changed.notified() => {}
                    () = self.closed.notified() => {}
                }
            }
            if !self.is_closing() {
                let _batch = tokio::time::timeout(BATCH_WAIT, async {
                    tokio::select! {
                        () = self.batch_full.notified() => {}
                        () = self.closed.notified() => {}
                    }
                })
                .await;
            }
            let is_last = self.is_closing();
            self.flush_until_written().await;
            if is_last {
                return;
            }
        }
    }

    async fn flush_until_written(&self) {
        let mut wait = RETRY_FIRST;
        while let Err(error) = self.flush().await {
            let robot = self.name();
            if self.is_closing() {
                tracing::warn!(code = error.code(), error = %chain(&error), robot, "the last changes of its working memory were not saved");
                return;
            }
            if wait == RETRY_FIRST {
                tracing::warn!(code = error.code(), error = %chain(&error), robot, "changes of its working memory are not saved yet; retrying");
            }
            let _woken = tokio::time::timeout(wait, self.closed.notified()).await;
            wait = (wait * 2).min(RETRY_LAST);
        }
    }

    fn is_closing(&self) -> bool {
        self.closing.load(Ordering::Acquire) || self.pool.is_closed()
    }
}

/// The outcome of a write.
enum Saved {
    All,
    /// The robot was merged into another one before; everything is pending again, for that robot.
    OfFormerRobot,
}

struct TakenChanges<'a> {
    mind: &'a Mind,
    pending: HashSet<NodeId>,
}

impl Drop for TakenChanges<'_> {
    fn drop(&mut self) {
        if !self.pending.is_empty() {
            self.mind.lock().pending.extend(self.pending.drain());
            self.mind.changed.notify_one();
        }
    }
}

/// The robots that a handle has open.
#[derive(Debug, Default)]
pub(crate) struct OpenMinds(Mutex<Vec<OpenMind>>);

/// A robot that is open, or is closed and being saved.
#[derive(Debug)]
struct OpenMind {
    mind: Weak<Mind>,
    saver: Weak<Saver>,
    /// The namespaces whose memories it sees. None: all.
    seen: Option<Vec<String>>,
}

impl OpenMinds {
    /// The open robot with this id that sees these namespaces, and the others with the id: those with other namespaces, and
    /// those that are closed and not saved yet.
    pub(crate) fn of(&self, id: RobotId, seen: Option<&[String]>) -> (Option<Arc<Saver>>, Vec<Arc<Mind>>) {
        let (mut open, mut others) = (None, Vec::new());
        for it in self.lock().iter() {
            let Some(mind) = it.mind.upgrade().filter(|mind| mind.id() == id) else { continue };
            match it.saver.upgrade().filter(|_| it.seen.as_deref() == seen) {
                Some(saver) if open.is_none() => open = Some(saver),
                _ => others.push(mind),
            }
        }
        (open, others)
    }

    /// Opens a robot that was just read, unless another call has opened it meanwhile.
    pub(crate) fn open(&self, mind: Mind, seen: Option<&[String]>) -> Arc<Saver> {
        let mut minds = self.lock();
        minds.retain(|it| it.mind.strong_count() > 0);
        let alike = minds.iter().filter(|it| it.seen.as_deref() == seen);
        let open = alike.filter_map(|it| it.saver.upgrade()).find(|it| it.mind().id() == mind.id());
        if let Some(open) = open {
            return open;
        }
        let saver = Arc::new(Saver::start(Arc::new(mind)));
        minds.push(OpenMind {
            mind: Arc::downgrade(saver.mind()),
            saver: Arc::downgrade(&saver),
            seen: seen.map(<[String]>::to_vec),
        });
        saver
    }

    fn lock(&self) -> MutexGuard<'_, Vec<OpenMind>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn all(&self) -> Vec<Arc<Mind>> {
        self.lock().iter().filter_map(|it| it.mind.upgrade()).collect()
    }

    /// Saves the working memories of the open robots.
    pub(crate) async fn flush(&self) {
        for mind in self.all() {
            if let Err(error) = mind.flush().await {
                let robot = mind.name();
                tracing::warn!(code = error.code(), error = %chain(&error), robot, "the last changes of its working memory were not saved");
            }
        }
    }

    /// Drops nodes that do not exist any more from the open robots.
    pub(crate) async fn drop_erased(&self) -> Result<()> {
        for mind in self.all() {
            let nodes: Vec<NodeId> = mind.lock().memory.iter().map(|entry| entry.node).collect();
            for gone in erase::gone(&mind.pool, &nodes).await? {
                mind.lock().memory.remove(gone);
            }
        }
        Ok(())
    }
}

/// The task that saves a working memory; it saves once more when the last clone of the robot is dropped.
#[derive(Debug)]
pub(crate) struct Saver(Arc<Mind>);

impl Saver {
    pub(crate) fn start(mind: Arc<Mind>) -> Self {
        tokio::spawn({
            let mind = mind.clone();
            async move { mind.save_until_closed().await }
        });
        Self(mind)
    }

    pub(crate) fn mind(&self) -> &Arc<Mind> {
        &self.0
    }
}

impl Drop for Saver {
    fn drop(&mut self) {
        self.0.closing.store(true, Ordering::Release);
        self.0.closed.notify_one();
    }
}

/// Whether the robot's row was removed: the database refused a row that refers to it.
fn is_robot_gone(error: &Error) -> bool {
    error.database().and_then(|it| it.constraint()) == Some("working_memory_robot_fk")
}
