//! The migrations of HTM's schema and of apalis'. Tables are created and dropped only here.
//!
//! [`up`] applies both under one advisory lock, so that any number of processes may call it at once. [`version`] is the
//! version of a database, and [`LATEST`] that of this program.

mod m20261122_000001_schema;
mod partitions;
mod restoration;
mod roles;

pub use partitions::{
    Layout, LayoutChange, LayoutStep, MAX_PARTITIONS, abandon_repartition, layout, layout_target, partitions,
    repartition,
};
pub use restoration::{RESTORING, Restoration, SCHEMAS, tables};
pub use roles::grant;

use sea_orm_migration::prelude::*;
use sea_orm_migration::sea_orm::{DatabaseConnection, SqlxPostgresConnector};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, PgConnection, PgPool, SqlSafeStr};

/// The schema version of this program: the number of HTM's migrations.
pub const LATEST: u32 = 1;

/// The extensions that HTM and apalis need.
const EXTENSIONS: [&str; 3] = ["vector", "pg_trgm", "hstore"];

/// The extensions that some kinds of vector index need.
pub const INDEX_EXTENSIONS: [&str; 2] = ["vectorscale", "vchord"];

/// Applies the missing migrations of apalis and of HTM.
///
/// Waits for another process that is migrating the same database. Drops apalis' trigger `notify_workers`, because a
/// NOTIFY within the transaction of a write makes commits wait for one another.
///
/// # Errors
/// [`MigrationError::RestoreIncomplete`], [`MigrationError::ExtensionMissing`], [`MigrationError::ExtensionElsewhere`] and
/// [`MigrationError::ServerTooOld`], before any change. After a database error the migrations before the failing one stay
/// applied.
pub async fn up(options: &PgConnectOptions) -> Result<(), MigrationError> {
    let mut lock = Lock::take(options).await?;
    restoration::expect_none(&mut lock.connection).await?;
    apply(options, lock).await
}

/// Applies the missing migrations under a lock, and releases it.
async fn apply(options: &PgConnectOptions, mut lock: Lock) -> Result<(), MigrationError> {
    check_server(&mut lock.connection).await?;
    let result: Result<(), MigrationError> = async {
        let pool = migration_pool(options).await?;
        // Before apalis' migrations: theirs name no schema, and the search path may begin with that of HTM.
        connection(&pool).execute_unprepared(&EXTENSIONS.map(creation).concat()).await?;
        apalis_migrations().run(&pool).await?;
        sqlx::raw_sql(
            "drop trigger if exists notify_workers on apalis.jobs; create schema if not exists htm",
        )
        .execute(&pool)
        .await?;
        let missing = LATEST.saturating_sub(applied(&mut lock.connection).await?);
        if missing > 0 {
            Migrator::up(&connection(&pool), Some(missing)).await?;
        }
        sqlx::raw_sql(include_str!("sql/tenant_role.sql")).execute(&pool).await?;
        pool.close().await;
        Ok(())
    }
    .await;
    let released = lock.release().await;
    result?;
    Ok(released?)
}

/// Creates the extensions, for a schema that is restored from a backup. Of [`INDEX_EXTENSIONS`] those in `further` too.
async fn create_extensions(connection: &mut PgConnection, further: &[String]) -> Result<(), MigrationError> {
    let further = INDEX_EXTENSIONS.into_iter().filter(|name| further.iter().any(|known| known == name));
    for name in EXTENSIONS.into_iter().chain(further) {
        available(connection, name).await?;
        sqlx::raw_sql(AssertSqlSafe(creation(name))).execute(&mut *connection).await?;
    }
    Ok(())
}

/// The statement that creates an extension.
fn creation(name: &str) -> String {
    format!("create extension if not exists {name} with schema public;")
}

/// Drops the schemas of HTM **and of apalis**: every memory is gone, and so is what an interrupted restore has left. Ask the
/// user before.
///
/// # Errors
/// [`MigrationError::Restoring`], or a database error. Nothing is dropped.
pub async fn down(options: &PgConnectOptions) -> Result<(), MigrationError> {
    let mut lock = restoration::take_lock(options).await?;
    let mut tx = lock.connection.begin().await?;
    restoration::hold_off_migrations(&mut tx).await?;
    restoration::drop_schemas(&mut tx).await?;
    tx.commit().await?;
    Ok(lock.release().await?)
}

/// The schema version of a database: the number of HTM's applied migrations. 0 without HTM's schema.
///
/// # Errors
/// [`MigrationError::RestoreIncomplete`], or a database error.
pub async fn version(connection: &mut PgConnection) -> Result<u32, MigrationError> {
    // The table is not looked for beside the marker: the rights to the schema are granted after a restore.
    let exists: Option<bool> = sqlx::query_scalar(
        "select case when to_regnamespace('htm_restoring') is null
                     then to_regclass('htm.seaql_migrations') is not null end",
    )
    .fetch_one(&mut *connection)
    .await?;
    if !exists.ok_or(MigrationError::RestoreIncomplete)? {
        return Ok(0);
    }
    // The marker again, in the statement that counts: a restore may have begun in between.
    let (count, is_restoring): (i64, bool) = sqlx::query_as(
        "select count(*), to_regnamespace('htm_restoring') is not null from htm.seaql_migrations",
    )
    .fetch_one(connection)
    .await?;
    match is_restoring {
        true => Err(MigrationError::RestoreIncomplete),
        false => Ok(count as u32),
    }
}

/// The number of HTM's applied migrations, also while a restore is incomplete.
async fn applied(connection: &mut PgConnection) -> Result<u32, sqlx::Error> {
    let exists: bool = sqlx::query_scalar("select to_regclass('htm.seaql_migrations') is not null")
        .fetch_one(&mut *connection)
        .await?;
    if !exists {
        return Ok(0);
    }
    let count: i64 =
        sqlx::query_scalar("select count(*) from htm.seaql_migrations").fetch_one(connection).await?;
    Ok(count as u32)
}

/// The [`LATEST`] of the oldest program that the database serves. Programs of the previous version go on while the
/// fleet is upgraded. Call it only on a database with a newer version than this program's.
///
/// # Errors
/// A database error.
pub async fn oldest_program(connection: &mut PgConnection) -> Result<u32, sqlx::Error> {
    let oldest: i32 =
        sqlx::query_scalar("select oldest_program from htm.compatibility").fetch_one(connection).await?;
    Ok(oldest.unsigned_abs())
}

/// The error of a migration.
#[derive(Debug, thiserror::Error)]
pub enum MigrationError {
    /// PostgreSQL lacks an extension that HTM or apalis needs.
    #[error("this PostgreSQL has no extension `{name}`{}", version_found(.found))]
    ExtensionMissing {
        /// `vector`, `pg_trgm`, `hstore`, or one of [`INDEX_EXTENSIONS`].
        name: &'static str,
        /// The version, if it is available but too old.
        found: Option<String>,
    },
    /// An extension is installed in another schema, where HTM's statements do not find it.
    #[error("the extension `{name}` is in the schema `{schema}`; HTM needs it in `public`")]
    ExtensionElsewhere {
        /// `vector`, `pg_trgm` or `hstore`.
        name: String,
        /// The schema.
        schema: String,
    },
    /// The server has no role of this name.
    #[error("the server has no role `{name}`")]
    RoleMissing {
        /// The name.
        name: String,
    },
    /// PostgreSQL is older than 15.
    #[error("this PostgreSQL is version {found}; HTM needs 15 or later")]
    ServerTooOld {
        /// PostgreSQL's `server_version`.
        found: String,
    },
    /// More than [`MAX_PARTITIONS`].
    #[error("{partitions} partitions are more than {MAX_PARTITIONS}")]
    TooManyPartitions {
        /// The number.
        partitions: u32,
    },
    /// A change of the layout to another number of partitions is not complete.
    #[error("a change to {partitions} partitions is under way")]
    LayoutChanging {
        /// Its number.
        partitions: u32,
    },
    /// A backup was not restored to its end. Neither its rows nor its indexes need to be complete.
    #[error("a backup was not restored to its end: the database is not whole")]
    RestoreIncomplete,
    /// Another process restores a backup.
    #[error("another process restores a backup into the database")]
    Restoring,
    /// A backup would take the place of what somebody has.
    #[error("the database is in use: {why}")]
    InUse {
        /// What is there.
        why: String,
    },
    /// Another connection uses the tables.
    #[error("the database is in use: another connection has locks on its tables")]
    Locked,
    /// apalis' migrations failed.
    #[error("apalis' migrations failed")]
    Apalis(#[from] sqlx::migrate::MigrateError),
    /// HTM's migrations failed.
    #[error("HTM's migrations failed")]
    Htm(#[from] DbErr),
    /// A statement around the migrations failed, or the connection.
    #[error("the database refused a migration's statement")]
    Database(#[from] sqlx::Error),
}

/// The statements of the newest schema. Tests use them to tell whether a template has this program's schema.
pub fn statements() -> String {
    m20261122_000001_schema::TOPICS.concat()
}

/// HTM's own migrations, in order.
struct Migrator;

#[async_trait::async_trait]
impl MigratorTrait for Migrator {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        vec![Box::new(m20261122_000001_schema::Migration)]
    }
}

/// apalis' migrations without pgcrypto. Early ones create the extension, but apalis does not use it since
/// `20260605000000`. HTM therefore also runs on servers without it (it needs OpenSSL). The checksums stay apalis' own.
fn apalis_migrations() -> sqlx::migrate::Migrator {
    let mut migrator = apalis_postgres::PostgresStorage::<()>::migrations();
    for migration in migrator.migrations.to_mut() {
        let sql = migration.sql.as_str();
        if sql.contains(PGCRYPTO) {
            migration.sql = AssertSqlSafe(sql.replace(PGCRYPTO, "")).into_sql_str();
        }
    }
    migrator
}

const PGCRYPTO: &str = "CREATE EXTENSION IF NOT EXISTS pgcrypto;";

/// An advisory lock, on a connection of its own.
struct Lock {
    connection: PgConnection,
    key: i64,
}

impl Lock {
    const OF_MIGRATION: i64 = 0x48_54_4d_5f_6d_69_67; // "HTM_mig"
    const OF_LAYOUT: i64 = 0x48_54_4d_5f_6c_61_79; // "HTM_lay"
    const OF_RESTORATION: i64 = 0x48_54_4d_5f_72_65_73; // "HTM_res"

    async fn take(options: &PgConnectOptions) -> Result<Self, sqlx::Error> {
        let (mut connection, key) = (Self::connect(options).await?, Self::OF_MIGRATION);
        sqlx::query("select pg_advisory_lock($1)").bind(key).execute(&mut connection).await?;
        Ok(Self { connection, key })
    }

    /// The lock of a change of the layout, which takes hours: migrations do not wait for it.
    async fn of_layout(
        options: &PgConnectOptions,
        on_step: &mut (dyn FnMut(LayoutStep) + Send),
    ) -> Result<Self, sqlx::Error> {
        let (mut connection, key) = (Self::connect(options).await?, Self::OF_LAYOUT);
        let mut waits = false;
        // Polled: a session that waits for the lock would keep the build of an index from ending, because the build waits
        // for every older snapshot.
        while !sqlx::query_scalar::<_, bool>("select pg_try_advisory_lock($1)")
            .bind(key)
            .fetch_one(&mut connection)
            .await?
        {
            if !std::mem::replace(&mut waits, true) {
                on_step(LayoutStep::Wait);
            }
            tokio::time::sleep(std::time::Duration::from_millis(200)).await;
        }
        Ok(Self { connection, key })
    }

    async fn connect(options: &PgConnectOptions) -> Result<PgConnection, sqlx::Error> {
        let options = options.clone().options([("statement_timeout", "0")]);
        let mut connection = PgConnection::connect_with(&options).await?;
        // The lock of a stopped process must not stay until its session has built an index, or has a lock that it waits for.
        // Not every system can tell.
        sqlx::raw_sql("set client_connection_check_interval = '500ms'").execute(&mut connection).await.ok();
        Ok(connection)
    }

    async fn release(mut self) -> Result<(), sqlx::Error> {
        sqlx::query("select pg_advisory_unlock($1)").bind(self.key).execute(&mut self.connection).await?;
        self.connection.close().await
    }
}

/// A pool with one connection. The search path begins with `htm`, because sea-orm creates its own table in the first
/// schema. There is no statement timeout, because a migration may build an index for hours.
async fn migration_pool(options: &PgConnectOptions) -> Result<PgPool, sqlx::Error> {
    // sqlx would log the notices of what is already there, and slow statements with the text of a whole migration.
    let options = options.clone().disable_statement_logging().options([
        ("search_path", "htm,public"),
        ("statement_timeout", "0"),
        ("client_min_messages", "warning"),
    ]);
    PgPoolOptions::new().max_connections(1).connect_with(options).await
}

fn connection(pool: &PgPool) -> DatabaseConnection {
    SqlxPostgresConnector::from_sqlx_postgres_pool(pool.clone())
}

/// The version of an extension that is created, else of the one that would be.
async fn available(connection: &mut PgConnection, name: &'static str) -> Result<String, MigrationError> {
    let found: Option<String> = sqlx::query_scalar(
        "select coalesce(e.extversion, a.default_version) from pg_available_extensions a
           left join pg_extension e on e.extname = a.name where a.name = $1",
    )
    .bind(name)
    .fetch_optional(connection)
    .await?;
    found.ok_or(MigrationError::ExtensionMissing { name, found: None })
}

/// Checks the server's version and extensions, before any change.
async fn check_server(connection: &mut PgConnection) -> Result<(), MigrationError> {
    let (number, version): (i32, String) = sqlx::query_as(
        "select current_setting('server_version_num')::int, current_setting('server_version')",
    )
    .fetch_one(&mut *connection)
    .await?;
    if number < 150_000 {
        return Err(MigrationError::ServerTooOld { found: version });
    }
    for name in EXTENSIONS {
        let version = available(connection, name).await?;
        if name == "vector" && !has_iterative_scans(&version) {
            return Err(MigrationError::ExtensionMissing { name, found: Some(version) });
        }
    }
    let elsewhere: Option<(String, String)> = sqlx::query_as(
        "select e.extname::text, n.nspname::text from pg_extension e join pg_namespace n on n.oid = e.extnamespace
          where e.extname = any ($1) and n.nspname <> 'public' order by 1 limit 1",
    )
    .bind(EXTENSIONS)
    .fetch_optional(connection)
    .await?;
    match elsewhere {
        Some((name, schema)) => Err(MigrationError::ExtensionElsewhere { name, schema }),
        None => Ok(()),
    }
}

/// Whether this version of pgvector has iterative index scans (0.8 or later). Without them a filtered vector search
/// loses rows.
fn has_iterative_scans(pgvector: &str) -> bool {
    let mut parts = pgvector.split('.').map(|part| part.parse::<u32>().unwrap_or(0));
    (parts.next().unwrap_or(0), parts.next().unwrap_or(0)) >= (0, 8)
}

fn version_found(version: &Option<String>) -> String {
    version
        .as_ref()
        .map(|version| format!(" of the version that HTM needs (found {version})"))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latest_counts_the_migrations() {
        assert_eq!(Migrator::migrations().len(), LATEST as usize);
    }

    #[test]
    fn pgvector_before_iterative_scans_is_too_old() {
        assert!(!has_iterative_scans("0.7.4"));
        assert!(has_iterative_scans("0.8.0"));
        assert!(has_iterative_scans("1.0"));
    }
}
