//! The robots that a client speaks as.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use htm_core::error::chain;
use htm_core::{Htm, Robot};

/// The time after which a robot is opened again. Its working memory then has what other programs did with it.
const KEPT: Duration = Duration::from_secs(60);

/// The most robots that are kept open.
const MOST: usize = 16;

/// The open robots of a server with one client. Opening a robot loads its working memory, which may have thousands of
/// nodes; a call should not wait for it.
#[derive(Default)]
pub(crate) struct OpenRobots(Mutex<HashMap<(String, String), (Instant, Robot)>>);

impl OpenRobots {
    /// An open robot, or one that is opened.
    pub(crate) async fn get(&self, htm: &Htm, namespace: &str, name: &str) -> htm_core::Result<Robot> {
        let who = (namespace.to_owned(), name.to_owned());
        if let Some((opened, robot)) = self.lock().get(&who)
            && opened.elapsed() < KEPT
        {
            return Ok(robot.clone());
        }
        let robot = htm.robot_in(namespace, name).await?;
        let mut open = self.lock();
        if open.len() >= MOST {
            open.clear();
        }
        open.insert(who, (Instant::now(), robot.clone()));
        Ok(robot)
    }

    /// Saves the working memories. Returns at once if nothing has changed.
    pub(crate) async fn save(&self) {
        let open: Vec<Robot> = self.lock().values().map(|(_, robot)| robot.clone()).collect();
        for robot in open {
            save(&robot).await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<(String, String), (Instant, Robot)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Saves the working memory of a robot. A failure is only logged: the call has done its work, and saving is tried again.
pub(crate) async fn save(robot: &Robot) {
    if let Err(error) = robot.flush().await {
        tracing::warn!(code = error.code(), error = %chain(&error), "a working memory was not saved");
    }
}
