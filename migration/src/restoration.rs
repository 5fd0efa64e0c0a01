//! The restore of a backup, which leaves a marker in the database until it is complete.
//!
//! The rows of a backup come before its keys and indexes, and the schema's version is one of the rows. Without a marker a
//! restore that was interrupted would look like a whole database.

use std::time::Duration;

use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, PgConnection};

use crate::{Lock, MigrationError, applied, apply, check_server, create_extensions};

/// The schemas of HTM and of apalis, which a backup has.
pub const SCHEMAS: [&str; 2] = ["htm", "apalis"];

/// The name of the marker, a schema without anything in it, and of the sessions that load the rows.
pub const RESTORING: &str = "htm_restoring";

/// The tables that have rows in a database that nobody has used.
const FILLED: [&str; 5] = [
    "apalis._sqlx_migrations",
    "htm.compatibility",
    "htm.held_queues",
    "htm.seaql_migrations",
    "htm.statistics_watermark",
];

/// The tries to take the lock of restores, and the pause between two. A process that was killed has it for a moment more.
const TRIES: u32 = 15;
const PAUSE: Duration = Duration::from_millis(200);

/// The restore of a backup. While it is alive, no other one begins in the database, and nobody resets it. Dropped before its
/// [end](Self::finish), it leaves the marker, and [`version`](crate::version) and [`up`](crate::up) are errors.
pub struct Restoration {
    lock: Lock,
}

impl Restoration {
    /// Begins a restore, in one transaction: drops a schema that nobody has used, or what an interrupted restore has left;
    /// creates the extensions, of [`INDEX_EXTENSIONS`](crate::INDEX_EXTENSIONS) those in `index_extensions`; sets the marker.
    /// None if `stop` ends first; then nothing is changed.
    ///
    /// # Errors
    /// [`MigrationError::InUse`] and [`MigrationError::Locked`] if anything of anybody would be lost,
    /// [`MigrationError::Restoring`], those of a server that lacks what HTM needs, or a database error. Nothing is changed.
    pub async fn begin(
        options: &PgConnectOptions,
        index_extensions: &[String],
        stop: impl Future<Output = ()>,
    ) -> Result<Option<Self>, MigrationError> {
        let mut lock = tokio::select! {
            biased;
            // The server undoes the transaction of a connection that is closed.
            () = stop => return Ok(None),
            prepared = prepare(options, index_extensions) => prepared?,
        };
        sqlx::raw_sql("commit").execute(&mut lock.connection).await?;
        Ok(Some(Self { lock }))
    }

    /// Migrates what was restored to [`LATEST`](crate::LATEST), and takes the marker away.
    ///
    /// # Errors
    /// As [`up`](crate::up). The marker stays.
    pub async fn finish(mut self, options: &PgConnectOptions) -> Result<(), MigrationError> {
        apply(options, Lock::take(options).await?).await?;
        // On the connection that has the lock: if that was lost, another restore may have begun.
        sqlx::raw_sql("drop schema htm_restoring").execute(&mut self.lock.connection).await?;
        Ok(self.lock.release().await?)
    }
}

/// Takes the lock of restores, and does what [`Restoration::begin`] does. The transaction is open.
async fn prepare(options: &PgConnectOptions, index_extensions: &[String]) -> Result<Lock, MigrationError> {
    let mut lock = take_lock(options).await?;
    let connection = &mut lock.connection;
    check_server(connection).await?;
    // Rows that are committed while it waits for a lock must be seen after.
    sqlx::raw_sql("begin isolation level read committed").execute(&mut *connection).await?;
    hold_off_migrations(connection).await?;
    make_room(connection).await?;
    create_extensions(connection, index_extensions).await?;
    sqlx::raw_sql(
        "create schema htm_restoring;
         comment on schema htm_restoring is
         'A restore of a backup is not complete. While this schema is there, the programs of HTM refuse the database.'",
    )
    .execute(connection)
    .await?;
    Ok(lock)
}

/// The names of the tables of HTM and of apalis, quoted. A partition is not one of them, because its table is.
///
/// # Errors
/// A database error.
pub async fn tables(connection: &mut PgConnection) -> Result<Vec<String>, sqlx::Error> {
    sqlx::query_scalar(
        "select format('%I.%I', n.nspname, c.relname)
           from pg_class c
           join pg_namespace n on n.oid = c.relnamespace
          where n.nspname = any ($1) and c.relkind in ('r', 'p') and not c.relispartition
          order by 1",
    )
    .bind(SCHEMAS)
    .fetch_all(connection)
    .await
}

/// Makes sure that no restore is incomplete.
pub(crate) async fn expect_none(connection: &mut PgConnection) -> Result<(), MigrationError> {
    match is_marked(connection).await? {
        true => Err(MigrationError::RestoreIncomplete),
        false => Ok(()),
    }
}

/// Takes the lock of restores, on a connection of its own.
pub(crate) async fn take_lock(options: &PgConnectOptions) -> Result<Lock, MigrationError> {
    // The connection is idle for as long as others load the rows.
    let options = options.clone().options([("idle_session_timeout", "0")]);
    let (mut connection, key) = (Lock::connect(&options).await?, Lock::OF_RESTORATION);
    for _ in 0..TRIES {
        let is_taken: bool = sqlx::query_scalar("select pg_try_advisory_lock($1)")
            .bind(key)
            .fetch_one(&mut connection)
            .await?;
        if is_taken {
            return Ok(Lock { connection, key });
        }
        tokio::time::sleep(PAUSE).await;
    }
    Err(MigrationError::Restoring)
}

/// Keeps migrations waiting until the transaction ends.
pub(crate) async fn hold_off_migrations(connection: &mut PgConnection) -> Result<(), sqlx::Error> {
    sqlx::query("select pg_advisory_xact_lock($1)").bind(Lock::OF_MIGRATION).execute(connection).await?;
    Ok(())
}

/// Drops everything of HTM and of apalis, and the marker of a restore. The caller has the lock of restores.
pub(crate) async fn drop_schemas(connection: &mut PgConnection) -> Result<(), sqlx::Error> {
    // Sessions of a `pg_restore` that outlived the process that had the lock would go on to load rows.
    sqlx::query(
        "select pg_terminate_backend(pid, 10000) from pg_stat_activity
          where datname = current_database() and application_name = $1 and pid <> pg_backend_pid()",
    )
    .bind(RESTORING)
    .execute(&mut *connection)
    .await?;
    sqlx::raw_sql(
        "drop schema if exists htm cascade; drop schema if exists apalis cascade;
         drop schema if exists htm_next cascade; drop schema if exists htm_previous cascade;
         drop schema if exists htm_restoring",
    )
    .execute(connection)
    .await?;
    Ok(())
}

async fn is_marked(connection: &mut PgConnection) -> Result<bool, sqlx::Error> {
    sqlx::query_scalar("select to_regnamespace('htm_restoring') is not null").fetch_one(connection).await
}

/// Drops what may be dropped, if nothing of anybody is in the way.
async fn make_room(connection: &mut PgConnection) -> Result<(), MigrationError> {
    // Writers wait behind a lock that is waited for.
    sqlx::raw_sql("set local lock_timeout = '5s'").execute(&mut *connection).await?;
    if is_marked(connection).await? {
        expect_alone(connection).await?;
        return drop_schemas(connection).await.map_err(of_lock);
    }
    if applied(connection).await? == 0 {
        // The schemas of another program, or the remains of one that sets no marker.
        let found: Option<String> =
            sqlx::query_scalar("select nspname::text from pg_namespace where nspname = any ($1)")
                .bind(SCHEMAS)
                .fetch_optional(connection)
                .await?;
        return match found {
            Some(schema) => Err(MigrationError::InUse { why: format!("it has a schema {schema}") }),
            None => Ok(()),
        };
    }
    // Before the locks too, so that a database in use is refused without a wait of its writers.
    expect_unused(connection).await?;
    // A table that is made after this list has a row in one that is locked: that of the models.
    let tables = tables(connection).await?.join(", ");
    let lock = AssertSqlSafe(format!("lock table {tables} in access exclusive mode"));
    sqlx::raw_sql(lock).execute(&mut *connection).await.map_err(of_lock)?;
    expect_unused(connection).await?;
    drop_schemas(connection).await.map_err(of_lock)
}

/// Makes sure that no program of HTM is connected. One that was before the marker does not look for it, and writes what would
/// be dropped. The sessions of a process that was killed end soon.
async fn expect_alone(connection: &mut PgConnection) -> Result<(), MigrationError> {
    let mut others = 0;
    for _ in 0..TRIES {
        others = sqlx::query_scalar::<_, i64>(
            "select count(*) from pg_stat_activity
              where datname = current_database() and application_name = 'htm' and pid <> pg_backend_pid()",
        )
        .fetch_one(&mut *connection)
        .await?;
        if others == 0 {
            return Ok(());
        }
        // The activity that was read is kept until the transaction ends.
        sqlx::query("select pg_stat_clear_snapshot()").execute(&mut *connection).await?;
        tokio::time::sleep(PAUSE).await;
    }
    Err(MigrationError::InUse {
        why: format!("other programs of HTM have connections to it ({others}): stop them"),
    })
}

/// Makes sure that no table has rows but those that a migration fills.
async fn expect_unused(connection: &mut PgConnection) -> Result<(), MigrationError> {
    // Not counted: a large database would take long, and one row is enough.
    for table in tables(connection).await?.iter().filter(|table| !FILLED.contains(&table.as_str())) {
        let exists = AssertSqlSafe(format!("select exists (select from {table})"));
        let has_rows: bool = sqlx::query_scalar(exists).fetch_one(&mut *connection).await?;
        if has_rows {
            return Err(MigrationError::InUse { why: format!("{table} has rows") });
        }
    }
    Ok(())
}

/// The error of a statement that needs locks which others may have.
fn of_lock(error: sqlx::Error) -> MigrationError {
    const LOCK_NOT_AVAILABLE: &str = "55P03";
    const DEADLOCK_DETECTED: &str = "40P01";
    let is_of = |code: &str| {
        error.as_database_error().is_some_and(|error| error.code().is_some_and(|found| found == code))
    };
    if is_of(LOCK_NOT_AVAILABLE) || is_of(DEADLOCK_DETECTED) {
        return MigrationError::Locked;
    }
    MigrationError::Database(error)
}
