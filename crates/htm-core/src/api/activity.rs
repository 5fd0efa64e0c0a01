//! The times of robots' last activity, written in the background.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use sqlx::PgPool;

use super::write_behind::{Unwritten, WriteBehind};
use crate::model::error::chain;
use crate::store::robots;

/// When each robot was last seen: one statement a minute for all of a process. A crash loses the last minute.
pub(crate) type Activity = WriteBehind<Seen>;

/// By namespace and name, so that a known robot is found without building a key.
#[derive(Debug, Default)]
pub(crate) struct Seen(HashMap<String, HashMap<String, Instant>>);

impl Activity {
    /// Records an activity of a robot, as of now.
    pub(crate) fn saw(&self, namespace: &str, robot: &str) {
        let now = Instant::now();
        self.change(|Seen(seen)| {
            if let Some(at) = seen.get_mut(namespace).and_then(|robots| robots.get_mut(robot)) {
                *at = now;
                return false;
            }
            seen.entry(namespace.to_owned()).or_default().insert(robot.to_owned(), now);
            true
        });
    }
}

impl Unwritten for Seen {
    const GATHER: Duration = Duration::from_secs(1);
    const PAUSE: Duration = Duration::from_secs(60);

    async fn write(self, pool: &PgPool) -> Option<Self> {
        let seen: Vec<(&str, &str, Duration)> = self
            .0
            .iter()
            .flat_map(|(namespace, robots)| {
                robots.iter().map(|(name, at)| (namespace.as_str(), name.as_str(), at.elapsed()))
            })
            .collect();
        if seen.is_empty() {
            return None;
        }
        if let Err(error) = robots::touch(pool, &seen).await {
            tracing::debug!(error = %chain(&error), "when robots were active last is not written yet");
            return Some(self);
        }
        None
    }

    fn put_back(&mut self, older: Self) {
        for (namespace, robots) in older.0 {
            let seen = self.0.entry(namespace).or_default();
            for (robot, at) in robots {
                seen.entry(robot).or_insert(at);
            }
        }
    }
}
