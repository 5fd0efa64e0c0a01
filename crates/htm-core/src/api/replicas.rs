//! Read replicas: which of them are fresh enough to answer.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures::future::join_all;
use sqlx::PgPool;
use tokio::sync::{Notify, watch};
use tokio_util::task::AbortOnDropHandle;

use crate::model::error::{Error, chain};
use crate::model::replicas::{History, ReplicaState};
use crate::model::wal::WalPosition;
use crate::store::connections::{Connections, Walled};
use crate::store::hosts::{self as store, HostState, Looking};

/// The longest time between two looks at all servers.
const LOOK: Duration = Duration::from_secs(1);

/// The time between two looks of a caller that waits for a measure.
const AGAIN: Duration = Duration::from_millis(100);

/// Where a handle reads.
#[derive(Clone, Default)]
pub(crate) struct Reading {
    pub(crate) replicas: Option<Replicas>,
    /// The position that reads must have reached.
    pub(crate) after: Option<WalPosition>,
    /// The connections of the read that the handle was made for.
    pub(crate) at: Option<Arc<dyn Connections>>,
}

/// The read replicas of a database. Cheap to clone. They are looked at until the last clone is dropped.
#[derive(Clone, Debug)]
pub struct Replicas {
    inner: Arc<Inner>,
    _task: Arc<AbortOnDropHandle<()>>,
}

#[derive(Debug)]
struct Inner {
    primary: PgPool,
    looking: Looking,
    /// Whether the last look did not find the primary.
    is_away: watch::Sender<bool>,
    members: Vec<Member>,
    history: Mutex<History>,
    /// The most that a replica may be stale.
    max_staleness: Duration,
    next: AtomicUsize,
}

/// A replica, and what its last look has found.
#[derive(Debug)]
struct Member {
    host: String,
    pool: PgPool,
    tenants: PgPool,
    looking: Looking,
    seen: Mutex<Seen>,
    /// Notified when a look has failed.
    failed: Notify,
}

#[derive(Clone, Debug, Default)]
struct Seen {
    replayed: WalPosition,
    /// Why it cannot be used. None: it can, unless it is stale.
    reason: Option<String>,
}

/// The pools of a replica: of the application's role, and of the [tenants'](crate::tenant_options).
pub type ReplicaPools = (PgPool, PgPool);

impl Replicas {
    /// Watches replicas of the database of `primary`. Reads go to those that lack nothing older than `max_staleness`.
    /// Must be called within a tokio runtime. Nothing is read there before the first look.
    pub fn start(primary: PgPool, replicas: Vec<ReplicaPools>, max_staleness: Duration) -> Self {
        let unseen = || Seen { reason: Some("it was not looked at yet".into()), ..Seen::default() };
        let member = |(pool, tenants): ReplicaPools| Member {
            host: store::name(&pool.connect_options()),
            pool,
            tenants,
            looking: Looking::default(),
            seen: Mutex::new(unseen()),
            failed: Notify::new(),
        };
        let inner = Arc::new(Inner {
            primary,
            looking: Looking::default(),
            is_away: watch::Sender::new(false),
            members: replicas.into_iter().map(member).collect(),
            history: Mutex::new(History::new(2 * max_staleness)),
            max_staleness,
            next: AtomicUsize::new(0),
        });
        let task = tokio::spawn({
            let inner = inner.clone();
            async move {
                loop {
                    inner.look().await;
                    tokio::time::sleep(LOOK.min(max_staleness / 4)).await;
                }
            }
        });
        Self { inner, _task: Arc::new(AbortOnDropHandle::new(task)) }
    }

    /// The states of the replicas, in the order of the configuration.
    pub fn states(&self) -> Vec<ReplicaState> {
        let now = Instant::now();
        let state = |member: &Member| {
            let seen = lock(&member.seen).clone();
            let reason = self.inner.fault(now, &seen);
            ReplicaState {
                host: member.host.clone(),
                in_use: reason.is_none(),
                staleness_seconds: self.inner.staleness(now, &seen).map(|stale| stale.as_secs_f64()),
                reason: reason.unwrap_or_default(),
            }
        };
        self.inner.members.iter().map(state).collect()
    }

    /// The states as of now: looks at all servers.
    pub async fn look(&self) -> Vec<ReplicaState> {
        self.inner.look().await;
        self.states()
    }

    /// As [`look`](Self::look), again until it is measured how stale each replica is: the first look compares what one has
    /// replayed with a single place of the primary, which writes on.
    pub async fn measure(&self) -> Vec<ReplicaState> {
        let until = Instant::now() + self.inner.max_staleness;
        loop {
            let states = self.look().await;
            let is_measured = !self.inner.members.iter().any(|member| self.inner.is_unmeasured(member));
            if is_measured || Instant::now() >= until {
                return states;
            }
            tokio::time::sleep(AGAIN).await;
        }
    }

    /// A replica that is fresh enough, and has replayed `after`. They take turns.
    pub(crate) async fn choose(&self, after: Option<WalPosition>) -> Option<Replica> {
        let number = self.inner.members.len();
        let first = self.inner.next.fetch_add(1, Ordering::Relaxed);
        let now = Instant::now();
        for index in (0..number).map(|step| (first.wrapping_add(step)) % number) {
            let member = &self.inner.members[index];
            let seen = lock(&member.seen).clone();
            if self.inner.fault(now, &seen).is_some() {
                continue;
            }
            if let Some(after) = after.filter(|after| *after > seen.replayed) {
                // It may have replayed it since the last look.
                match store::replayed(&member.pool, LOOK).await {
                    Ok(Some(replayed)) if replayed >= after => lock(&member.seen).replayed = replayed,
                    Ok(_) => continue,
                    Err(error) => {
                        member.leave_out(&error);
                        continue;
                    }
                }
            }
            return Some(Replica { inner: self.inner.clone(), index });
        }
        None
    }

    /// Ends when a look does not find the primary, at once if the last one did not.
    pub(crate) async fn primary_is_away(&self) {
        let mut is_away = self.inner.is_away.subscribe();
        // The sender lives as long as this.
        is_away.wait_for(|is_away| *is_away).await.ok();
    }

    /// Closes the pools of the replicas.
    pub async fn close(&self) {
        let pools = self.inner.members.iter().flat_map(|member| [&member.pool, &member.tenants]);
        join_all(pools.map(PgPool::close)).await;
    }
}

impl Inner {
    /// Looks at the primary, then at the replicas: what they have replayed is never compared with what came after.
    async fn look(&self) {
        let asked = Instant::now();
        let primary = match self.looking.state(&self.primary, LOOK).await {
            Ok(state) if state.is_replica => {
                // It was demoted. The pool goes to the new primary, and so does the next look.
                self.looking.forget().await;
                None
            }
            Ok(state) => {
                lock(&self.history).add(asked, state.position);
                Some(state)
            }
            Err(error) => {
                tracing::debug!(error = %chain(&error), "the primary was not asked where it is");
                None
            }
        };
        self.is_away.send_replace(primary.is_none());
        join_all(self.members.iter().map(|member| member.look(primary.as_ref()))).await;
    }

    fn staleness(&self, now: Instant, seen: &Seen) -> Option<Duration> {
        lock(&self.history).staleness(now, seen.replayed)
    }

    /// Why a replica is left out, by its last look; none if it is not.
    fn fault(&self, now: Instant, seen: &Seen) -> Option<String> {
        let too_stale = || lock(&self.history).too_stale(now, seen.replayed, self.max_staleness);
        seen.reason.clone().or_else(too_stale)
    }

    /// Whether more looks may show that a replica is fresh.
    fn is_unmeasured(&self, member: &Member) -> bool {
        let seen = lock(&member.seen).clone();
        let is_unmeasured =
            || lock(&self.history).is_unmeasured(Instant::now(), seen.replayed, self.max_staleness);
        seen.reason.is_none() && is_unmeasured()
    }
}

impl Member {
    async fn look(&self, primary: Option<&HostState>) {
        match self.looking.state(&self.pool, LOOK).await {
            Ok(state) => {
                let reason = match primary {
                    Some(primary) if primary.cluster != state.cluster => {
                        Some("it is of another database cluster")
                    }
                    _ if !state.is_replica => Some("it is no replica"),
                    // Its log is another one, from the promotion on.
                    Some(primary) if primary.timeline != state.timeline => {
                        Some("it does not follow the primary's timeline")
                    }
                    _ => None,
                };
                self.saw(state.position, reason.map(str::to_owned));
            }
            Err(error) => {
                self.leave_out(&error);
                self.failed.notify_waiters();
            }
        }
    }

    fn leave_out(&self, error: &Error) {
        let replayed = lock(&self.seen).replayed;
        self.saw(replayed, Some(format!("it failed: {}", error.code())));
        tracing::debug!(replica = self.host, error = %chain(error), "a replica failed");
    }

    /// Notes a look. A change is logged, the first look only if it found a fault.
    fn saw(&self, replayed: WalPosition, reason: Option<String>) {
        let mut seen = lock(&self.seen);
        if seen.reason != reason {
            match &reason {
                Some(reason) => tracing::warn!(replica = self.host, reason, "reads do not go to a replica"),
                None => tracing::info!(replica = self.host, "reads go to a replica"),
            }
        }
        *seen = Seen { replayed, reason };
    }
}

/// A replica that was chosen for a read.
#[derive(Clone, Debug)]
pub(crate) struct Replica {
    inner: Arc<Inner>,
    index: usize,
}

impl Replica {
    /// Its connections: those of the tenants' role for the rows of some namespaces.
    pub(crate) fn connections(&self, seen: Option<&[String]>) -> Arc<dyn Connections> {
        let member = &self.inner.members[self.index];
        match seen {
            Some(seen) => Arc::new(Walled::new(member.tenants.clone(), seen)),
            None => Arc::new(member.pool.clone()),
        }
    }

    /// Ends when a look at it fails. A server that has lost its power answers no read, and refuses none.
    pub(crate) async fn failure(&self) {
        self.inner.members[self.index].failed.notified().await;
    }

    /// Leaves it out until a look has found it well.
    pub(crate) fn leave_out(&self, error: &Error) {
        self.inner.members[self.index].leave_out(error);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
