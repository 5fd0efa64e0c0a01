//! The caches of programs, as far as they have erased memories. The program that erases empties its own at once, and others
//! when they are notified.

use std::time::Duration;

use sqlx::Executor;
use sqlx::postgres::{PgListener, PgPoolOptions};
use tokio_util::task::AbortOnDropHandle;

use crate::api::htm::Htm;
use crate::model::error::{Result, chain};
use crate::store::erase::CHANNEL;
use crate::store::hosts::name;

/// The wait before a lost connection is opened again.
const PAUSE: Duration = Duration::from_secs(1);

/// The silence after which a connection is tested.
const QUIET: Duration = Duration::from_secs(60);

/// Follows erasures until it is dropped.
#[derive(Debug)]
#[must_use = "it follows no erasure when it is dropped"]
pub struct ErasureFollower {
    _task: AbortOnDropHandle<()>,
}

impl Htm {
    /// Follows the erasures of other programs: what this handle and its clones have of erased memories is dropped when
    /// the database notifies them. It takes a connection of its own. A context leaves out erased memories without it
    /// too; until then their texts are in the memory of this process.
    pub fn follow_erasures(&self) -> ErasureFollower {
        ErasureFollower { _task: AbortOnDropHandle::new(tokio::spawn(follow(self.clone()))) }
    }

    /// Drops what the caches have of erased memories: texts in working memories, words of queries and of
    /// counts, names of robots, events, what quotas are used.
    /// Groups follow their own notifications.
    pub(crate) async fn drop_erased(&self) -> Result<()> {
        self.query_embeddings().invalidate_all();
        self.known_robots().invalidate_all();
        self.known_words().clear();
        self.event_looks().forget();
        self.rooms().forget_all();
        self.minds().drop_erased().await
    }
}

async fn follow(htm: Htm) {
    loop {
        if let Err(error) = listen(&htm).await {
            tracing::debug!(error = %chain(&error), "erasures are not followed; again in a second");
        }
        if htm.shared_pool().is_closed() {
            return;
        }
        tokio::time::sleep(PAUSE).await;
    }
}

async fn listen(htm: &Htm) -> Result<()> {
    // The pool's connections are for work, and may be few.
    let options = htm.shared_pool().connect_options().as_ref().clone();
    let server = name(&options);
    let own = PgPoolOptions::new().max_connections(1).connect_with(options).await?;
    let mut listener = PgListener::connect_with(&own).await?;
    listener.listen(CHANNEL).await?;
    // A notification may have been missed.
    htm.drop_erased().await?;
    loop {
        match tokio::time::timeout(QUIET, listener.try_recv()).await {
            Ok(notification) => match notification? {
                Some(_) => htm.drop_erased().await?,
                None => return Ok(()),
            },
            // A peer that has lost its power is silent too, and a former primary that still runs.
            Err(_) => {
                let has_moved = name(&htm.shared_pool().connect_options()) != server;
                if has_moved || !answers(&mut listener).await {
                    return Ok(());
                }
            }
        }
    }
}

async fn answers(listener: &mut PgListener) -> bool {
    let answer = tokio::time::timeout(PAUSE, listener.execute("select 1"));
    matches!(answer.await, Ok(Ok(_)))
}
