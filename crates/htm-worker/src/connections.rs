//! The worker's connections.

use std::pin::Pin;
use std::time::Duration;

use htm_core::worker::switches;
use sqlx::postgres::{PgConnection, PgPool};
use sqlx::{Connection, pool::PoolConnectionMetadata};

/// The time limit of a connection's health check.
const ANSWER: Duration = Duration::from_secs(1);

/// The time limit for closing the connections.
const CLOSE: Duration = Duration::from_secs(5);

/// A pool with the options of another one. It drops connections that do not answer.
///
/// sqlx pings each returned connection without a timeout. After a cancelled statement, a silent server would occupy the
/// connection's place in the pool for ever.
pub(crate) fn own_pool(like: &PgPool, connections: u32) -> PgPool {
    like.options()
        .clone()
        .max_connections(connections)
        .test_before_acquire(false)
        .before_acquire(answers)
        .after_release(answers)
        .connect_lazy_with(like.connect_options().as_ref().clone())
}

/// Closes a pool. Connections that stay busy end with the process.
pub(crate) async fn close(pool: &PgPool) {
    if tokio::time::timeout(CLOSE, pool.close()).await.is_err() {
        tracing::warn!("a connection to the database did not close in time");
    }
}

fn answers(
    connection: &mut PgConnection,
    its: PoolConnectionMetadata,
) -> Pin<Box<dyn Future<Output = sqlx::Result<bool>> + Send + '_>> {
    Box::pin(async move {
        if switches::is_former(its.age) {
            return Ok(false);
        }
        match tokio::time::timeout(ANSWER, connection.ping()).await {
            Ok(answer) => answer.map(|()| true),
            Err(elapsed) => Err(sqlx::Error::Io(elapsed.into())),
        }
    })
}
