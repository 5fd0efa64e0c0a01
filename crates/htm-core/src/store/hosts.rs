//! The state of each server of a replicated database, by its own word, on connections outside any pool.

use std::time::Duration;

use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions, Connection, PgConnection, PgPool};
use tokio::sync::Mutex;

use crate::model::error::{Error, Result};
use crate::model::wal::WalPosition;
use crate::store::switches::answered;

/// The state of a server, by its own word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HostState {
    /// Whether it only replays what a primary wrote.
    pub(crate) is_replica: bool,
    /// The timeline that a primary writes, or that a replica follows. Each promotion of a replica begins a new one. A role
    /// without the right to read statistics sees that of a replica's last restart point.
    pub(crate) timeline: u32,
    /// The position up to which a primary has written durably, or a replica has replayed.
    pub(crate) position: WalPosition,
    /// The database cluster: the same for a primary and its replicas.
    pub(crate) cluster: i64,
}

/// A new connection, which must be there within the timeout.
///
/// # Errors
/// `database_unreachable`, or what the server answers.
pub(crate) async fn connect(options: &PgConnectOptions, timeout: Duration) -> Result<PgConnection> {
    within(timeout, options.connect()).await
}

/// Asks a server what it is.
///
/// # Errors
/// A database error, or `database_unreachable` after the timeout.
pub(crate) async fn state(connection: &mut PgConnection, timeout: Duration) -> Result<HostState> {
    // The functions of a primary fail on a replica. The name of a segment begins with the timeline.
    let asked = sqlx::query_as::<_, (bool, i64, i64, i64)>(
        "select is_replica,
                case when is_replica
                     then coalesce((select received_tli from pg_stat_wal_receiver),
                                   (select timeline_id from pg_control_checkpoint()))::bigint
                     else ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::bigint end,
                (case when is_replica then pg_last_wal_replay_lsn() else pg_current_wal_flush_lsn() end
                 - '0/0'::pg_lsn)::bigint,
                (select system_identifier from pg_control_system())
           from (select pg_is_in_recovery() as is_replica offset 0) asked",
    );
    let (is_replica, timeline, position, cluster) = within(timeout, asked.fetch_one(connection)).await?;
    let position = WalPosition::of_bytes(position);
    Ok(HostState { is_replica, timeline: timeline.clamp(0, u32::MAX.into()) as u32, position, cluster })
}

/// The host and port of a server, or the directory of its socket, for messages.
pub(crate) fn name(options: &PgConnectOptions) -> String {
    match options.get_socket() {
        Some(socket) => format!("{}:{}", socket.display(), options.get_port()),
        None => format!("{}:{}", options.get_host(), options.get_port()),
    }
}

/// A connection for looks at the server of a pool, beside the pool: a busy pool must not look like a server that is away.
/// It has the name of its server.
#[derive(Debug, Default)]
pub(crate) struct Looking(Mutex<Option<(String, PgConnection)>>);

impl Looking {
    /// Asks the server what it is.
    ///
    /// # Errors
    /// As [`state`].
    pub(crate) async fn state(&self, pool: &PgPool, timeout: Duration) -> Result<HostState> {
        let mut kept = self.0.lock().await;
        let options = pool.connect_options();
        let server = name(&options);
        // The pool may have gone to another server, while the former one still answers.
        let mut connection = match kept.take().filter(|(of, _)| *of == server) {
            Some((_, connection)) => connection,
            None => connect(&options, timeout).await?,
        };
        let state = state(&mut connection, timeout).await?;
        *kept = Some((server, connection));
        Ok(state)
    }

    /// Connects anew at the next look.
    pub(crate) async fn forget(&self) {
        self.0.lock().await.take();
    }
}

/// A position behind everything that was committed before. A reader that waits until it is replayed reads all of that.
///
/// # Errors
/// A database error.
pub(crate) async fn position(pool: &PgPool) -> Result<WalPosition> {
    // A commit that does not wait for the disk may not be flushed yet.
    let asked = sqlx::query_scalar::<_, i64>(
        "select (case current_setting('synchronous_commit') when 'off' then pg_current_wal_insert_lsn()
                                                             else pg_current_wal_flush_lsn() end
                 - '0/0'::pg_lsn)::bigint",
    );
    Ok(WalPosition::of_bytes(answered(asked.fetch_one(pool)).await?))
}

/// How far a replica has replayed. None: it did not say so in time, or the pool is busy.
///
/// # Errors
/// A database error.
pub(crate) async fn replayed(pool: &PgPool, timeout: Duration) -> Result<Option<WalPosition>> {
    let asked = sqlx::query_scalar::<_, i64>(
        "select case when pg_is_in_recovery() then (pg_last_wal_replay_lsn() - '0/0'::pg_lsn)::bigint else 0 end",
    );
    match tokio::time::timeout(timeout, asked.fetch_one(pool)).await {
        Ok(Ok(bytes)) => Ok(Some(WalPosition::of_bytes(bytes))),
        Err(_) | Ok(Err(sqlx::Error::PoolTimedOut)) => Ok(None),
        Ok(Err(error)) => Err(error.into()),
    }
}

/// Ends a connection without waiting for the server.
pub(crate) async fn hang_up(connection: PgConnection) {
    // An error means that it is gone already.
    let _ = connection.close_hard().await;
}

async fn within<T>(timeout: Duration, work: impl Future<Output = sqlx::Result<T>>) -> Result<T> {
    let timed = tokio::time::timeout(timeout, work).await;
    let silent = |_elapsed| Err(sqlx::Error::Io(std::io::ErrorKind::TimedOut.into()));
    timed.unwrap_or_else(silent).map_err(Error::from)
}
