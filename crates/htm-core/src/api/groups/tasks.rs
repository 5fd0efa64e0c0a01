//! The tasks of a member: its heartbeat, following the other members, and notifying them.

use std::sync::Arc;
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgListener, PgPoolOptions};
use sqlx::{ConnectOptions, PgConnection};
use tokio::time::MissedTickBehavior;
use tokio_util::task::AbortOnDropHandle;

use super::inner::Inner;
use crate::model::error::Result;
use crate::model::error::chain;
use crate::store::groups;
use crate::store::hosts::name;

/// The number of heartbeats in a lease.
const BEATS: u32 = 3;
/// The longest time between two heartbeats, however long the lease: a missed notification is made up for by the next
/// one.
const LONGEST_BEAT: Duration = Duration::from_secs(10);
/// The longest wait before a lost connection is opened again.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);
/// The longest silence before the connection for notifications is replaced.
const QUIET: Duration = Duration::from_secs(60);
/// The number of heartbeats between two checks for removals to prune.
const PRUNE_EACH: u64 = 20;

/// Starts the tasks. They end with the membership, or when the returned handles are dropped.
pub(super) fn start(inner: &Arc<Inner>) -> Vec<AbortOnDropHandle<()>> {
    vec![
        AbortOnDropHandle::new(tokio::spawn(heart(inner.clone()))),
        AbortOnDropHandle::new(tokio::spawn(tend(inner.clone()))),
        AbortOnDropHandle::new(tokio::spawn(follow(inner.clone()))),
        AbortOnDropHandle::new(tokio::spawn(listen(inner.clone()))),
        AbortOnDropHandle::new(tokio::spawn(tell(inner.clone()))),
    ]
}

/// Renews the lease, independently of the other tasks: it waits for no lock, and has a connection of its own.
async fn heart(inner: Arc<Inner>) {
    let mut connection = None;
    let period = (inner.lease / BEATS).min(LONGEST_BEAT);
    let mut ticks = tokio::time::interval(period);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    for beat in 1_u64.. {
        ticks.tick().await;
        // If the server does not answer, the next heartbeat uses another connection.
        let beaten =
            tokio::time::timeout(inner.lease.max(LONGEST_PAUSE), beat_once(&inner, &mut connection)).await;
        match beaten {
            Ok(Ok(())) => {}
            Ok(Err(error)) => {
                connection = None;
                tracing::warn!(code = error.code(), error = %chain(&error), "a heartbeat in a group was missed");
            }
            Err(_) => {
                connection = None;
                tracing::warn!("a heartbeat in a group was missed: the database did not answer");
            }
        }
        if inner.is_over() {
            return;
        }
        if beat.is_multiple_of(PRUNE_EACH) {
            inner.untended.notify_one();
        }
    }
}

async fn beat_once(inner: &Inner, connection: &mut Option<(String, PgConnection)>) -> Result<()> {
    let options = own_options(inner);
    let server = name(&options);
    // A former primary may still run when the pool has gone to another one.
    let connection = match connection.take().filter(|(of, _)| *of == server) {
        Some(kept) => connection.insert(kept),
        None => connection.insert((server, options.connect().await?)),
    };
    inner.beat(&mut connection.1).await
}

/// Does the work that waits for the group's lock: takeovers, and the pruning of removals.
async fn tend(inner: Arc<Inner>) {
    while !inner.is_over() {
        inner.untended.notified().await;
        if let Err(error) = inner.tend().await {
            tracing::warn!(code = error.code(), error = %chain(&error), "a group was not tended; again with the next heartbeat");
        }
    }
}

/// Fetches the changes of other members, and writes uses.
async fn follow(inner: Arc<Inner>) {
    while !inner.is_over() {
        inner.stirred.notified().await;
        let followed = match inner.sync().await {
            Ok(()) => inner.write_uses().await,
            Err(error) => Err(error),
        };
        if let Err(error) = followed {
            tracing::debug!(error = %chain(&error), "a group was not followed; again after a pause");
            // Uses that could not be written stir at once.
            tokio::time::sleep((inner.lease / BEATS).min(LONGEST_PAUSE)).await;
        }
    }
}

/// Listens for changes of other members. After a lost connection, a notification may be missing: then all changes are
/// fetched.
async fn listen(inner: Arc<Inner>) {
    while !inner.is_over() {
        if let Ok(mut listener) = listener(&inner).await {
            inner.stirred.notify_one();
            // A silent connection is replaced, because its peer may be gone.
            while let Ok(Ok(Some(note))) = tokio::time::timeout(QUIET, listener.try_recv()).await {
                if note.payload() == inner.group.to_string() {
                    inner.stirred.notify_one();
                }
            }
        }
        tokio::time::sleep((inner.lease / BEATS).min(LONGEST_PAUSE)).await;
    }
}

/// Opens a connection of its own: the pool's are for work, and may be few.
async fn listener(inner: &Inner) -> sqlx::Result<PgListener> {
    let own = PgPoolOptions::new().max_connections(1).connect_with(own_options(inner)).await?;
    let mut listener = PgListener::connect_with(&own).await?;
    listener.listen(groups::CHANNEL).await?;
    Ok(listener)
}

fn own_options(inner: &Inner) -> PgConnectOptions {
    inner.htm().shared_pool().connect_options().as_ref().clone()
}

/// Notifies the other members. A write during a notification is covered by the next one.
async fn tell(inner: Arc<Inner>) {
    loop {
        inner.told.notified().await;
        groups::notify(inner.htm().pool(), inner.group).await;
    }
}
