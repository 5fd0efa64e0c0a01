//! When this process last found another primary, and the pools that have to follow.

use std::convert::Infallible;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use sqlx::PgPool;
use tokio::sync::watch;

/// The last switch of any database of this process.
static LAST: LazyLock<watch::Sender<Option<Instant>>> = LazyLock::new(|| watch::Sender::new(None));

/// The time until all pools know of a switch.
const KNOWN: Duration = Duration::from_secs(1);

/// Notes that new connections go to another host from now on.
pub(crate) fn note() {
    LAST.send_replace(Some(Instant::now()));
}

/// Whether a connection of this age may lead to a former primary.
pub fn is_former(age: Duration) -> bool {
    LAST.borrow().is_some_and(|switched| age + KNOWN > switched.elapsed())
}

/// Keeps pools at the host of another pool.
pub async fn tie<const N: usize>(pools: [&PgPool; N], to: &PgPool) -> Infallible {
    let mut switched = LAST.subscribe();
    loop {
        // The sender is static, so there is no error.
        let _ = switched.changed().await;
        for pool in pools {
            pool.set_connect_options(to.connect_options().as_ref().clone());
        }
    }
}
