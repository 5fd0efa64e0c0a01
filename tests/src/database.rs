//! A database for each test, cloned from a migrated template.

use std::thread::JoinHandle;
use std::time::Duration;

use htm_core::provider::ModelName;
use htm_core::{Htm, Settings, TokenEncoding, pool_options, tenant_options};
use htm_providers::fake::{self, FakeSettings};
use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, Connection, PgConnection, PgPool};
use tokio::sync::oneshot;

use crate::logs;
use crate::server::Server;

/// A migrated database for one test. It is dropped at the test's end.
pub struct TestDatabase {
    admin: PgConnectOptions,
    name: String,
    /// A pool on this database.
    pub pool: PgPool,
    server: Server,
    /// The keeper drops the database when this is dropped.
    is_used: Option<oneshot::Sender<()>>,
    keeper: Option<JoinHandle<sqlx::Result<()>>>,
}

impl TestDatabase {
    /// Creates a database from the template.
    pub async fn new() -> Self {
        Self::create(Some(Template::new(partitions()))).await
    }

    /// As [`new`](Self::new), in one table whatever `HTM_TEST_PARTITIONS` says: for a test that names tables and indexes of the
    /// catalog.
    pub async fn in_one_table() -> Self {
        Self::create(Some(Template::new(0))).await
    }

    /// Creates an empty database without HTM's schema.
    pub async fn empty() -> Self {
        Self::create(None).await
    }

    async fn create(template: Option<Template>) -> Self {
        crate::logs::keep_own_log();
        let server = Server::get().await;
        let admin: PgConnectOptions = server.url().parse().expect("the server's URL");
        let name = format!("t_{}", ulid::Ulid::new().to_string().to_lowercase());
        let (made, is_made) = oneshot::channel();
        let (is_used, ended) = oneshot::channel();
        let keeper = {
            let (admin, name, is_own) = (admin.clone(), name.clone(), server.is_own());
            std::thread::spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
                runtime.block_on(keep(&admin, &name, template, is_own, made, ended))
            })
        };
        is_made.await.expect("a database is made");
        let pool = pool_options()
            .max_connections(10)
            .connect_with(admin.clone().database(&name))
            .await
            .expect("the new database answers");
        Self { admin, name, pool, server, is_used: Some(is_used), keeper: Some(keeper) }
    }

    /// The connection options.
    pub fn options(&self) -> PgConnectOptions {
        self.admin.clone().database(&self.name)
    }

    /// The URL, for processes.
    pub fn url(&self) -> String {
        let url = self.server.url();
        let (base, _) = url.rsplit_once('/').expect("a URL has a path");
        match url.split_once('?') {
            Some((_, query)) => format!("{base}/{}?{query}", self.name),
            None => format!("{base}/{}", self.name),
        }
    }

    /// A handle on this database with the fake embedder. Row-level security restricts those within namespaces.
    pub fn htm(&self) -> Htm {
        self.htm_on(self.pool.clone())
    }

    /// As [`htm`](Self::htm), with another pool.
    pub fn htm_on(&self, pool: PgPool) -> Htm {
        let embedder = fake::embedder(FakeSettings::default()).expect("the fake embedder");
        let settings = Settings {
            embedding_model: embedder.model().clone(),
            tag_model: ModelName::new("fake", "tags"),
            // A vocabulary takes longer to load than most tests to run.
            token_encoding: TokenEncoding::Estimate,
            ..Settings::default()
        };
        let tenants = pool_options().max_connections(5);
        Htm::with_pool(pool, settings, Some(embedder))
            .with_tenants(tenants.connect_lazy_with(tenant_options(self.options())))
    }

    /// Keeps PostgreSQL from counting the rows of this database by itself.
    ///
    /// # Panics
    /// If the database does not answer.
    pub async fn without_autovacuum(&self) {
        let tables = "select format('alter table %I.%I set (autovacuum_enabled = off)', nspname, relname)
                        from pg_class c join pg_namespace n on n.oid = relnamespace
                       where nspname in ('htm', 'apalis') and relkind = 'r'";
        let tables: Vec<String> = sqlx::query_scalar(tables).fetch_all(&self.pool).await.expect("the tables");
        sqlx::raw_sql(AssertSqlSafe(tables.join(";"))).execute(&self.pool).await.expect("altered");
    }

    /// The result of a query for one number.
    pub async fn count(&self, sql: &'static str) -> i64 {
        sqlx::query_scalar(sql).fetch_one(&self.pool).await.expect("a count")
    }
}

impl Drop for TestDatabase {
    fn drop(&mut self) {
        self.is_used.take();
        let dropped = self.keeper.take().map(JoinHandle::join);
        if let Some(Ok(Err(error))) = dropped {
            eprintln!("a test database was not dropped: {error}");
        }
    }
}

/// Makes a database, and drops it when it is no longer used, by one connection: to open one takes as long as a small test.
/// It runs on a thread of its own, because the test's runtime may be gone or busy at the end.
async fn keep(
    admin: &PgConnectOptions,
    name: &str,
    template: Option<Template>,
    is_own_server: bool,
    made: oneshot::Sender<()>,
    ended: oneshot::Receiver<()>,
) -> sqlx::Result<()> {
    let mut connection = PgConnection::connect_with(admin).await.expect("the test server answers");
    if let Some(template) = &template {
        ensure_template(&mut connection, is_own_server, admin, template).await;
    }
    let from = template.map_or_else(|| "template0".into(), |template| template.name);
    // Files are copied in a third of the time that the write-ahead log takes.
    let make = format!("create database {name} template {from} strategy file_copy");
    sqlx::raw_sql(AssertSqlSafe(make)).execute(&mut connection).await.expect("a database is made");
    made.send(()).ok();
    ended.await.ok();
    // The server may have been started anew.
    if connection.ping().await.is_err() {
        connection = PgConnection::connect_with(admin).await?;
    }
    // The test waits here, so its runtime gives back no lock that a test still has.
    end_connections(&mut connection, name).await?;
    logs::keep_memories(&admin.clone().database(name)).await;
    // A drop that finds a connection waits for 100 ms.
    for _ in 0..100 {
        if end_connections(&mut connection, name).await? == 0 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let drop = AssertSqlSafe(format!("drop database if exists {name} with (force)"));
    sqlx::raw_sql(drop).execute(&mut connection).await?;
    connection.close().await.ok();
    Ok(())
}

/// Ends the connections of a database. Returns their number.
async fn end_connections(connection: &mut PgConnection, database: &str) -> sqlx::Result<i64> {
    let end = "select count(pg_terminate_backend(pid)) from pg_stat_activity where datname = $1";
    sqlx::query_scalar(end).bind(database).fetch_one(connection).await
}

/// All rows of all tables, as text.
pub async fn every_row(pool: &PgPool) -> Vec<(String, String)> {
    let tables: Vec<String> = sqlx::query_scalar(
        "select format('%I.%I', schemaname, tablename) from pg_tables where schemaname in ('htm', 'apalis') order by 1",
    )
    .fetch_all(pool)
    .await
    .expect("the tables");
    let mut all = Vec::new();
    for table in tables {
        let every = AssertSqlSafe(format!("select t::text from {table} t order by 1"));
        let every: Vec<String> = sqlx::query_scalar(every).fetch_all(pool).await.expect("its rows");
        all.extend(every.into_iter().map(|row| (table.clone(), row)));
    }
    all
}

/// A migrated database that those of tests are cloned from.
struct Template {
    name: String,
    partitions: u32,
}

impl Template {
    /// Each schema has its own template, so that checkouts with different schemas can share a server.
    fn new(partitions: u32) -> Self {
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        for byte in htm_migration::statements().bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        Self { name: format!("htm_template_{hash:016x}_{partitions}"), partitions }
    }
}

/// The number of partitions of the tests' databases: `HTM_TEST_PARTITIONS`, or none.
fn partitions() -> u32 {
    std::env::var("HTM_TEST_PARTITIONS")
        .map_or(0, |number| number.parse().expect("HTM_TEST_PARTITIONS is a number"))
}

async fn ensure_template(
    connection: &mut PgConnection,
    is_own_server: bool,
    admin: &PgConnectOptions,
    template: &Template,
) {
    let Template { name, partitions } = template;
    sqlx::query("select pg_advisory_lock(20261121)").execute(&mut *connection).await.expect("the lock");
    let ready: bool =
        sqlx::query_scalar("select exists (select from pg_database where datname = $1 and datistemplate)")
            .bind(name)
            .fetch_one(&mut *connection)
            .await
            .expect("the list of databases");
    if !ready {
        let run = |sql: String| sqlx::raw_sql(AssertSqlSafe(sql));
        if is_own_server {
            // Only a crash of the whole machine loses unflushed data. The databases of a thousand tests are not kept.
            let fast = [
                "alter system set fsync = off",
                "alter system set full_page_writes = off",
                "select pg_reload_conf()",
            ];
            for sql in fast {
                run(sql.to_owned()).execute(&mut *connection).await.expect("the tests' own server is set");
            }
        }
        run(format!("drop database if exists {name}")).execute(&mut *connection).await.expect("dropped");
        run(format!("create database {name} template template0"))
            .execute(&mut *connection)
            .await
            .expect("made");
        let options = admin.clone().database(name);
        htm_migration::up(&options).await.expect("migrated");
        htm_migration::repartition(&options, *partitions, &mut |_| {}).await.expect("partitioned");
        // A connection that finds no file of PostgreSQL's own relations writes one. Clones get it too.
        let first = PgConnection::connect_with(&options).await.expect("the template answers");
        first.close().await.expect("closed");
        // Marked last, so that a half-migrated database is never cloned.
        run(format!("alter database {name} is_template true"))
            .execute(&mut *connection)
            .await
            .expect("marked");
    }
    sqlx::query("select pg_advisory_unlock(20261121)").execute(connection).await.expect("unlocked");
}
