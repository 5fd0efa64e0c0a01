//! The worker's connections.

use std::time::Duration;

use sqlx::postgres::PgPool;

/// The time limit for closing the connections.
const CLOSE: Duration = Duration::from_secs(5);

/// A pool with the options of another one. It drops connections that do not answer, and those within a transaction whose
/// begin was cut off.
pub(crate) fn own_pool(like: &PgPool, connections: u32) -> PgPool {
    let options = like.options().clone().max_connections(connections);
    htm_core::tested_options(options).connect_lazy_with(like.connect_options().as_ref().clone())
}

/// Closes a pool. Connections that stay busy end with the process.
pub(crate) async fn close(pool: &PgPool) {
    if tokio::time::timeout(CLOSE, pool.close()).await.is_err() {
        tracing::warn!("a connection to the database did not close in time");
    }
}
