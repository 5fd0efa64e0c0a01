//! What a member does by itself: its heartbeat, following the others, telling them.

use std::sync::Arc;

use sqlx::postgres::{PgListener, PgPoolOptions};
use tokio::time::MissedTickBehavior;
use tokio_util::task::AbortOnDropHandle;

use super::member::Inner;
use crate::store::groups;

/// Heartbeats in a lease.
const BEATS: u32 = 3;
/// Heartbeats from one look for removals that can be forgotten to the next.
const PRUNE_EACH: u64 = 20;

/// Tasks that end with the member, or with what is returned.
pub(super) fn start(inner: &Arc<Inner>) -> Vec<AbortOnDropHandle<()>> {
    vec![
        AbortOnDropHandle::new(tokio::spawn(heart(inner.clone()))),
        AbortOnDropHandle::new(tokio::spawn(follow(inner.clone()))),
        AbortOnDropHandle::new(tokio::spawn(listen(inner.clone()))),
        AbortOnDropHandle::new(tokio::spawn(tell(inner.clone()))),
    ]
}

/// Renews the lease, whatever else goes on.
async fn heart(inner: Arc<Inner>) {
    let mut ticks = tokio::time::interval(inner.lease / BEATS);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    for beat in 1_u64.. {
        ticks.tick().await;
        let mut again = true;
        while again && !inner.is_over() {
            again = inner.beat().await.unwrap_or_else(|error| {
                tracing::warn!(code = error.code(), %error, "a heartbeat in a group was missed");
                false
            });
        }
        if inner.is_over() {
            return;
        }
        if beat.is_multiple_of(PRUNE_EACH)
            && let Err(error) = inner.prune().await
        {
            tracing::debug!(%error, "removals of a group were not forgotten");
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
            tracing::debug!(%error, "a group was not followed; again with the next heartbeat");
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
        tokio::time::sleep(inner.lease / BEATS).await;
    }
}

/// A connection of its own: the pool's are for work, and it may have few.
async fn listener(inner: &Inner) -> Result<PgListener, sqlx::Error> {
    let options = inner.htm().pool().connect_options().as_ref().clone();
    let own = PgPoolOptions::new().max_connections(1).connect_with(options).await?;
    let mut listener = PgListener::connect_with(&own).await?;
    listener.listen(groups::CHANNEL).await?;
    Ok(listener)
}

/// Tells the others; what is written while it is being sent is told with the next one.
async fn tell(inner: Arc<Inner>) {
    loop {
        inner.told.notified().await;
        groups::notify(inner.htm().pool(), inner.group).await;
    }
}
