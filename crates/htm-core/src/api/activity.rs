//! The times of robots' last activity, written in the background.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use sqlx::PgPool;
use tokio::sync::Notify;
use tokio_util::task::AbortOnDropHandle;

use crate::model::error::chain;
use crate::store::robots;

/// The time that the first robot waits for others to be written with it.
const GATHER: Duration = Duration::from_secs(1);
/// The minimum time between two writes of a process, for all of its robots.
const PAUSE: Duration = Duration::from_secs(60);

/// By namespace and name, so that a known robot is found without building a key.
type Seen = HashMap<String, HashMap<String, Instant>>;

/// Keeps in memory when each robot was last seen, and writes it in the background: one statement a minute for all of
/// them. A crash loses the last minute.
#[derive(Clone, Debug)]
pub(crate) struct Activity {
    seen: Arc<Mutex<Seen>>,
    stirred: Arc<Notify>,
    _task: Arc<AbortOnDropHandle<()>>,
}

impl Activity {
    pub(crate) fn start(pool: PgPool) -> Self {
        let seen = Arc::new(Mutex::new(Seen::new()));
        let stirred = Arc::new(Notify::new());
        let task = tokio::spawn({
            let (seen, stirred) = (seen.clone(), stirred.clone());
            async move {
                loop {
                    stirred.notified().await;
                    tokio::time::sleep(GATHER).await;
                    write(&seen, &pool).await;
                    tokio::time::sleep(PAUSE).await;
                }
            }
        });
        Self { seen, stirred, _task: Arc::new(AbortOnDropHandle::new(task)) }
    }

    /// Records an activity of a robot, as of now.
    pub(crate) fn saw(&self, namespace: &str, robot: &str) {
        let now = Instant::now();
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = seen.get_mut(namespace).and_then(|robots| robots.get_mut(robot)) {
            *at = now;
            return;
        }
        seen.entry(namespace.to_owned()).or_default().insert(robot.to_owned(), now);
        drop(seen);
        self.stirred.notify_one();
    }

    /// Writes the unwritten times; for programs that are about to end.
    pub(crate) async fn flush(&self, pool: &PgPool) {
        write(&self.seen, pool).await;
    }
}

async fn write(seen: &Mutex<Seen>, pool: &PgPool) {
    let taken = std::mem::take(&mut *seen.lock().unwrap_or_else(PoisonError::into_inner));
    let seen: Vec<(&str, &str, Duration)> = taken
        .iter()
        .flat_map(|(namespace, robots)| {
            robots.iter().map(|(name, at)| (namespace.as_str(), name.as_str(), at.elapsed()))
        })
        .collect();
    if seen.is_empty() {
        return;
    }
    // Not retried: the next activity is written a minute later.
    if let Err(error) = robots::touch(pool, &seen).await {
        tracing::debug!(error = %chain(&error), "when robots were active last was not written");
    }
}
