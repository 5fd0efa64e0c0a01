//! The worker's connections.

use std::pin::Pin;
use std::time::Duration;

use sqlx::postgres::{PgConnection, PgPool};
use sqlx::{Connection, pool::PoolConnectionMetadata};

/// How long a connection may take to say that it is well.
const ANSWER: Duration = Duration::from_secs(1);

/// How long the connections may take to end.
const CLOSE: Duration = Duration::from_secs(5);

/// A pool like another one, whose connections leave it when they do not answer.
///
/// sqlx asks each connection that comes back whether it is well, and waits for the answer for ever: a statement that was
/// given up would keep its place in the pool for as long as the other end is silent.
pub(crate) fn own_pool(like: &PgPool, connections: u32) -> PgPool {
    like.options()
        .clone()
        .max_connections(connections)
        .test_before_acquire(false)
        .before_acquire(answers)
        .after_release(answers)
        .connect_lazy_with(like.connect_options().as_ref().clone())
}

/// Closes a pool; connections that are busy for longer end with the process.
pub(crate) async fn close(pool: &PgPool) {
    if tokio::time::timeout(CLOSE, pool.close()).await.is_err() {
        tracing::warn!("a connection to the database did not end in time");
    }
}

fn answers(
    connection: &mut PgConnection,
    _: PoolConnectionMetadata,
) -> Pin<Box<dyn Future<Output = sqlx::Result<bool>> + Send + '_>> {
    Box::pin(async {
        match tokio::time::timeout(ANSWER, connection.ping()).await {
            Ok(answer) => answer.map(|()| true),
            Err(elapsed) => Err(sqlx::Error::Io(elapsed.into())),
        }
    })
}
