//! What a member does by itself: its heartbeat, following the others, telling them.

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

/// Heartbeats in a lease.
const BEATS: u32 = 3;
/// The longest time between two, however long the lease: what was not told is seen with the next one.
const LONGEST_BEAT: Duration = Duration::from_secs(10);
/// Until a lost connection is made anew, at the longest.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);
/// Heartbeats from one look for removals that can be forgotten to the next.
const PRUNE_EACH: u64 = 20;

/// Tasks that end with the member, or with what is returned.
pub(super) fn start(inner: &Arc<Inner>) -> Vec<AbortOnDropHandle<()>> {
    vec![
        AbortOnDropHandle::new(tokio::spawn(heart(inner.clone()))),
        AbortOnDropHandle::new(tokio::spawn(tend(inner.clone()))),
        AbortOnDropHandle::new(tokio::spawn(follow(inner.clone()))),
        AbortOnDropHandle::new(tokio::spawn(listen(inner.clone()))),
        AbortOnDropHandle::new(tokio::spawn(tell(inner.clone()))),
    ]
}

/// Renews the lease, whatever else goes on: it waits for no lock, and has a connection of its own.
async fn heart(inner: Arc<Inner>) {
    let mut connection = None;
    let period = (inner.lease / BEATS).min(LONGEST_BEAT);
    let mut ticks = tokio::time::interval(period);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    for beat in 1_u64.. {
        ticks.tick().await;
        // A server that does not answer is asked again by another connection.
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

async fn beat_once(inner: &Inner, connection: &mut Option<PgConnection>) -> Result<()> {
    let connection = match connection {
        Some(connection) => connection,
        None => connection.insert(own_options(inner).connect().await?),
    };
    inner.beat(connection).await
}

/// Does what waits for the group's lock: takes over, and forgets removals.
async fn tend(inner: Arc<Inner>) {
    while !inner.is_over() {
        inner.untended.notified().await;
        if let Err(error) = inner.tend().await {
            tracing::warn!(code = error.code(), error = %chain(&error), "a group was not tended; again with the next heartbeat");
        }
    }
}

/// Fetches what others wrote, and writes what was used.
async fn follow(inner: Arc<Inner>) {
    while !inner.is_over() {
        inner.stirred.notified().await;
        let followed = match inner.sync().await {
            Ok(()) => inner.write_uses().await,
            Err(error) => Err(error),
        };
        if let Err(error) = followed {
            tracing::debug!(error = %chain(&error), "a group was not followed; again with the next heartbeat");
        }
    }
}

/// Hears that others wrote. After a lost connection it may have missed something: then all that is new is fetched.
async fn listen(inner: Arc<Inner>) {
    while !inner.is_over() {
        if let Ok(mut listener) = listener(&inner).await {
            inner.stirred.notify_one();
            while let Ok(Some(note)) = listener.try_recv().await {
                if note.payload() == inner.group.to_string() {
                    inner.stirred.notify_one();
                }
            }
        }
        tokio::time::sleep((inner.lease / BEATS).min(LONGEST_PAUSE)).await;
    }
}

/// A connection of its own: the pool's are for work, and it may have few.
async fn listener(inner: &Inner) -> sqlx::Result<PgListener> {
    let own = PgPoolOptions::new().max_connections(1).connect_with(own_options(inner)).await?;
    let mut listener = PgListener::connect_with(&own).await?;
    listener.listen(groups::CHANNEL).await?;
    Ok(listener)
}

fn own_options(inner: &Inner) -> PgConnectOptions {
    inner.htm().pool().connect_options().as_ref().clone()
}

/// Tells the others; what is written while it is being sent is told with the next one.
async fn tell(inner: Arc<Inner>) {
    loop {
        inner.told.notified().await;
        groups::notify(inner.htm().pool(), inner.group).await;
    }
}
