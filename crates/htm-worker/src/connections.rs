//! The worker's connections.

use std::time::Duration;

use sqlx::PgPool;

/// The time limit for closing the connections.
const CLOSE: Duration = Duration::from_secs(5);

/// A pool with the options of another one, whose connections are tested.
pub(crate) fn own_pool(like: &PgPool, connections: u32) -> PgPool {
    let options = like.connect_options().as_ref().clone();
    htm_core::with_tests(like.options().clone()).max_connections(connections).connect_lazy_with(options)
}

/// Closes a pool. Connections that stay busy end with the process.
pub(crate) async fn close(pool: &PgPool) {
    if tokio::time::timeout(CLOSE, pool.close()).await.is_err() {
        tracing::warn!("a connection to the database did not close in time");
    }
}
