//! When this process last found another primary: the pools that have to follow, and the statements that the former one
//! may never answer.

use std::convert::Infallible;
use std::io;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use sqlx::{Connection, PgConnection, PgPool};
use tokio::sync::{Notify, watch};
use tokio::time::{sleep, timeout};

/// The last switch of any database of this process.
static LAST: LazyLock<watch::Sender<Option<Instant>>> = LazyLock::new(|| watch::Sender::new(None));

/// Wakes the statements that were sent before a switch.
static SWITCHED: Notify = Notify::const_new();

/// The time until all pools know of a switch.
const KNOWN: Duration = Duration::from_secs(1);

/// The time for an answer by what may be a former primary.
const ANSWER: Duration = Duration::from_secs(2);

/// The longest time after a switch for which a caller may still hold a connection to the former primary.
const HELD: Duration = Duration::from_secs(600);

/// Notes that new connections go to another host from now on.
pub(crate) fn note() {
    note_late();
    SWITCHED.notify_waiters();
}

/// Notes that the connections that were being opened at a switch are open by now.
pub(crate) fn note_late() {
    LAST.send_replace(Some(Instant::now()));
}

/// Whether a connection of this age may lead to a former primary.
pub fn is_former(age: Duration) -> bool {
    LAST.borrow().is_some_and(|switched| age + KNOWN > switched.elapsed())
}

/// The answer to a statement. The machine of a former primary may have lost its power: then nothing answers, and nothing
/// closes the connection. So a statement that was sent before a switch fails soon after it, as on a closed connection.
///
/// # Errors
/// The statement's, or that of a closed connection. Then it is unknown whether it was executed.
pub(crate) async fn answered<T>(statement: impl Future<Output = sqlx::Result<T>>) -> sqlx::Result<T> {
    // It notices a switch from here on.
    let switched = SWITCHED.notified();
    let given_up = async {
        switched.await;
        sleep(ANSWER).await;
    };
    tokio::select! {
        biased;
        answer = statement => answer,
        () = given_up => Err(lost()),
    }
}

/// A connection that the caller holds. After a switch it is tested: a caller that held it before has not noticed the switch.
///
/// # Errors
/// That of a closed connection.
pub(crate) async fn tested(connection: &mut PgConnection) -> sqlx::Result<&mut PgConnection> {
    let is_in_doubt = LAST.borrow().is_some_and(|switched| switched.elapsed() < HELD);
    if is_in_doubt {
        timeout(ANSWER, connection.ping()).await.unwrap_or_else(|_elapsed| Err(lost()))?;
    }
    Ok(connection)
}

fn lost() -> sqlx::Error {
    let what = "another host is the primary now, and the former one does not answer";
    sqlx::Error::Io(io::Error::new(io::ErrorKind::ConnectionAborted, what))
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
