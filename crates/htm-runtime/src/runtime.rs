//! A process's runtime: its database, and its configured providers.

use std::fmt;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use htm_core::error::{chain, codes};
use htm_core::models::{RegisteredModel, without_embedder};
use htm_core::provider::{Embedder, QueryExpander, Reranker, Tagger};
use htm_core::{
    Embedders, Error, Follower, Hosts, Htm, RecallSettings, ReplicaPools, Replicas, Result, Settings,
    pool_options, tenant_options,
};
use sqlx::pool::PoolConnection;
use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, Connection, PgConnection, PgPool, Postgres, Row};

use crate::config::Config;
use crate::doing::Doing;
use crate::embedders::ConfiguredEmbedders;
use crate::error::{self, of_migration};
use crate::paths::Paths;
use crate::private_pg::{PrivatePg, ServerUse};
use crate::providers;
use crate::refiners::{self, Refiners};

/// The statements that turn on row-level security. Since PostgreSQL 16 only a role with the admin option may grant a role.
pub const TO_TURN_ON_ROW_SECURITY: &str = "as the owner of the schema: `htm db migrate`, for an application's role with \
     `--application-role ROLE`; if the owner may not create or grant roles, an administrator first: `create role htm_tenant \
     nologin; grant htm_tenant to OWNER with admin option`";

/// The time limit for saving pending changes and for closing the connections. Without it, a vanished server would block
/// the process.
const CLOSE: Duration = Duration::from_secs(5);

/// The time after which a connection that is not there is looked into.
const SOON: Duration = Duration::from_millis(100);

/// Keepalives, by which the server detects a vanished client and releases its locks. After 30 s of silence the server
/// probes the client, which has 30 s to answer. They have no effect on a Unix socket.
const KEEPALIVE: [(&str, &str); 4] = [
    ("tcp_keepalives_idle", "30"),
    ("tcp_keepalives_interval", "10"),
    ("tcp_keepalives_count", "3"),
    ("tcp_user_timeout", "30000"),
];

/// A setting of each connection whose value is its name. It is lost if something between drops the settings.
const DIRECT: &str = "htm.direct";

/// The database of the configuration, ready to be used. [`close`](Runtime::close) it at the end: buffered writes are
/// flushed then, and the private PostgreSQL stops with its last user. Until then it is started again if it ends.
pub struct Runtime {
    config: Config,
    paths: Paths,
    url: String,
    pool: PgPool,
    tenants: PgPool,
    follower: Option<Follower>,
    server: Option<ServerUse>,
    embedders: Arc<ConfiguredEmbedders>,
    refiners: Refiners,
    htm: Htm,
}

impl Runtime {
    /// Connects to `database.url`, or starts the private PostgreSQL and migrates it.
    ///
    /// ```no_run
    /// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
    /// use htm_core::{Memory, RecallQuery};
    /// let loaded = htm_runtime::config::Config::load(&Default::default())?;
    /// let runtime = htm_runtime::Runtime::open(&loaded.config).await?;
    /// let htm = runtime.htm();
    /// htm.remember(Memory::new("The staging database moved to port 5433.")).await?;
    /// let recalled = htm.recall(&RecallQuery::new("which port is staging on?")).await?;
    /// runtime.close().await;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `config_bad_value`. No PostgreSQL is found or reachable, its schema has another version (`schema_version`), or a backup was not restored
    /// to its end (`restore_incomplete`). `htm db migrate` upgrades an older schema.
    pub async fn open(config: &Config) -> Result<Self> {
        config.check()?;
        let paths = Paths::from_env()?;
        let server = start_server(config, &paths).await?;
        if let Some(server) = &server {
            server.keep_running();
        }
        let url = server.as_ref().map_or_else(|| config.database.url.expose().to_owned(), ServerUse::url);
        Self::on(config, paths, server, url).await
    }

    /// As [`open`](Self::open), for a caller that cannot wait for a start: the private PostgreSQL is neither started nor
    /// migrated. It is not kept running either, so its last other user may stop it.
    ///
    /// # Errors
    /// As [`open`](Self::open), and those of a connection if the private PostgreSQL does not run.
    pub async fn open_if_up(config: &Config) -> Result<Self> {
        config.check()?;
        let paths = Paths::from_env()?;
        let url = match config.database.url.is_empty() {
            true => PrivatePg::locate(&paths)?.url_in_use(),
            false => config.database.url.expose().to_owned(),
        };
        Self::on(config, paths, None, url).await
    }

    async fn on(config: &Config, paths: Paths, server: Option<ServerUse>, url: String) -> Result<Self> {
        let timeout = Duration::from_millis(config.database.connect_timeout_ms);
        let hosts = hosts(config, &url)?;
        let options = hosts.primary(timeout).await?;
        let (pool, tenants) = pools(config, &options);
        let mut connection = first(&pool, &options, timeout).await?;
        let mut found = version(&mut connection, timeout).await?;
        if server.is_some() && found < htm_migration::LATEST {
            // The private database belongs to this program, so it is migrated without asking.
            migrate_at(&options).await?;
            found = htm_migration::LATEST;
        }
        if found != htm_migration::LATEST && !serves_older(&mut connection, found).await? {
            return Err(error::schema_version(found, htm_migration::LATEST));
        }
        drop(connection);
        let follower =
            hosts.follow(&options, vec![(pool.clone(), |same| same), (tenants.clone(), tenant_options)]);
        let embedders = Arc::new(ConfiguredEmbedders::new(config.clone(), paths.clone()));
        let refiners = Refiners::new(config, &paths);
        let htm = Htm::with_embedders(pool.clone(), settings(config), Some(embedders.clone()));
        let mut htm = refiners.given_to(htm);
        if let Some(replicas) = replicas(config, &url, &pool)? {
            htm = htm.with_replicas(replicas);
        }
        let config = config.clone();
        Ok(Self { config, paths, url, pool, tenants, follower, server, embedders, refiners, htm })
    }

    /// The pool of the runtime.
    pub fn pool(&self) -> &PgPool {
        &self.pool
    }

    /// The configuration that the runtime was opened with.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The directories of HTM's files.
    pub fn paths(&self) -> &Paths {
        &self.paths
    }

    /// The URL of the database.
    pub fn url(&self) -> String {
        self.url.clone()
    }

    /// The free bytes on the disk of the private PostgreSQL. None if the database is another one, or if the system does not
    /// tell them.
    pub fn private_free_bytes(&self) -> Option<u64> {
        self.server.as_ref()?.free_bytes().ok()
    }

    /// The runtime's handle. Recall by vectors uses the model that is active at the time; its embedder is made at the
    /// first query that needs it.
    pub fn htm(&self) -> Htm {
        self.htm.clone()
    }

    /// The runtime's handle for a server of several tenants: handles within namespaces use connections that PostgreSQL's
    /// row-level security restricts. Without it a warning is logged.
    ///
    /// # Errors
    /// A database error.
    pub async fn htm_for_tenants(&self) -> Result<Htm> {
        if !self.htm.has_row_security().await? {
            tracing::warn!(
                "row-level security is off: the role htm_tenant is missing, or this role may not set it; {TO_TURN_ON_ROW_SECURITY}"
            );
            return Ok(self.htm());
        }
        Ok(self.htm().with_tenants(self.tenants.clone()))
    }

    /// The embedder of a registered model, made once per runtime.
    ///
    /// # Errors
    /// `embedder_other` for an unknown provider, `embedder_unusable` for settings that cannot work, or the provider's
    /// error when it is asked for its dimensions.
    pub async fn embedder_of(&self, model: &RegisteredModel) -> Result<Arc<dyn Embedder>> {
        let embedder = self.embedders.embedder(model).await?;
        embedder.ok_or_else(|| without_embedder(&model.label))
    }

    /// The embedder of the configuration.
    ///
    /// # Errors
    /// Settings that cannot work.
    pub fn embedder(&self) -> Result<Arc<dyn Embedder>> {
        providers::embedder(&self.config, &self.paths)
    }

    /// The tagger of the configuration.
    ///
    /// # Errors
    /// Settings that cannot work.
    pub fn tagger(&self) -> Result<Arc<dyn Tagger>> {
        providers::tagger(&self.config, &self.paths)
    }

    /// The re-ranker of the configuration, shared with the runtime's handles. None if none is configured.
    ///
    /// # Errors
    /// Settings that cannot work.
    pub fn reranker(&self) -> Result<Option<Arc<dyn Reranker>>> {
        self.refiners.reranker()
    }

    /// The query expander of the configuration, shared with the runtime's handles. None if none is configured.
    ///
    /// # Errors
    /// Settings that cannot work.
    pub fn expander(&self) -> Result<Option<Arc<dyn QueryExpander>>> {
        self.refiners.expander()
    }

    /// [Flushes](Htm::flush) the handle, closes the pool and releases the private PostgreSQL. Failures are logged only.
    pub async fn close(self) {
        if tokio::time::timeout(CLOSE, self.htm.flush()).await.is_err() {
            tracing::warn!("the database did not take the buffered writes in time");
        }
        drop(self.follower);
        let closed = async {
            tokio::join!(self.pool.close(), self.tenants.close());
            if let Some(replicas) = self.htm.replicas() {
                replicas.close().await;
            }
        };
        if tokio::time::timeout(CLOSE, closed).await.is_err() {
            tracing::warn!("a connection to the database did not close in time; it ends with the process");
        }
        release(self.server).await;
    }
}

/// The server of the configuration, whatever its database contains. The private one stays up until it is
/// [closed](DatabaseServer::close).
pub struct DatabaseServer {
    url: String,
    server: Option<ServerUse>,
}

impl DatabaseServer {
    /// Starts the private PostgreSQL if no `database.url` is configured.
    ///
    /// # Errors
    /// As [`PrivatePg::locate`] and [`PrivatePg::start`].
    pub async fn open(config: &Config) -> Result<Self> {
        let server = start_server(config, &Paths::from_env()?).await?;
        let url = server.as_ref().map_or_else(|| config.database.url.expose().to_owned(), ServerUse::url);
        Ok(Self { url, server })
    }

    /// The URL of the configured database.
    pub fn url(&self) -> String {
        self.url.clone()
    }

    /// Releases the private PostgreSQL.
    pub async fn close(self) {
        release(self.server).await;
    }
}

/// Migrates the database of the configuration.
///
/// # Errors
/// As [`Runtime::open`], and those of [`htm_migration::up`].
pub async fn migrate(config: &Config) -> Result<()> {
    on_database(config, async |options| migrate_at(&options).await).await
}

async fn migrate_at(options: &PgConnectOptions) -> Result<()> {
    let _migrating = Doing::begin("migrating the database");
    htm_migration::up(options).await.map_err(of_migration)
}

/// Grants a role the privileges of applications and workers ([`htm_migration::grant`]).
///
/// # Errors
/// As [`migrate`], and `role_missing`.
pub async fn grant(config: &Config, role: &str) -> Result<()> {
    on_database(config, async |options| htm_migration::grant(&options, role).await.map_err(of_migration))
        .await
}

/// Drops HTM's and apalis' schemas from the database of the configuration. Ask the user before.
///
/// # Errors
/// As [`migrate`].
pub async fn drop_schemas(config: &Config) -> Result<()> {
    on_database(config, async |options| htm_migration::down(&options).await.map_err(of_migration)).await
}

/// The schema version of the configured database. 0 without a schema.
///
/// # Errors
/// As [`migrate`].
pub async fn schema_version(config: &Config) -> Result<u32> {
    let timeout = Duration::from_millis(config.database.connect_timeout_ms);
    on_database(config, async |options| {
        let mut connection = connect(&options, timeout).await?;
        let version = version(&mut connection, timeout).await?;
        connection.close().await?;
        Ok(version)
    })
    .await
}

/// Does something at the primary of the configured database, whatever its schema.
pub(crate) async fn on_database<T>(
    config: &Config,
    work: impl AsyncFnOnce(PgConnectOptions) -> Result<T>,
) -> Result<T> {
    let server = DatabaseServer::open(config).await?;
    let timeout = Duration::from_millis(config.database.connect_timeout_ms);
    let at_primary = async {
        let options = hosts(config, &server.url)?.primary(timeout).await?;
        let mut connection = connect(&options, timeout).await?;
        check_direct(&mut connection).await?;
        connection.close().await?;
        work(options).await
    };
    let result = at_primary.await;
    server.close().await;
    result
}

async fn release(server: Option<ServerUse>) {
    if let Some(server) = server
        && let Err(error) = server.release().await
    {
        tracing::warn!(code = error.code(), error = %chain(&error), "the private PostgreSQL did not stop");
    }
}

async fn start_server(config: &Config, paths: &Paths) -> Result<Option<ServerUse>> {
    if !config.database.url.is_empty() {
        return Ok(None);
    }
    Ok(Some(PrivatePg::locate(paths)?.start().await?))
}

/// A connection of its own, which must be there within the timeout.
async fn connect(options: &PgConnectOptions, timeout: Duration) -> Result<PgConnection> {
    let connect = tokio::time::timeout(timeout, PgConnection::connect_with(options)).await;
    let connected = connect.unwrap_or_else(|_elapsed| Err(silent()));
    connected.map_err(|error| at_address(error, options))
}

/// The error for a server that did not answer in time.
fn silent() -> sqlx::Error {
    sqlx::Error::Io(std::io::ErrorKind::TimedOut.into())
}

fn at_address(error: sqlx::Error, options: &PgConnectOptions) -> Error {
    let address = htm_core::address(options);
    match error {
        sqlx::Error::Protocol(_) => {
            let message = format!("what answers at {address} does not speak as PostgreSQL does");
            Error::new(codes::DATABASE_UNREACHABLE, message)
                .with_hint("check the host and the port that database.url names")
                .with_source(error)
        }
        _ => Error::from(error).with_value("address", address),
    }
}

/// Refuses a pooler that drops the settings of connections: the role of tenants is one of them, and a pooler by transactions
/// would also mix up whose rows a connection sees.
async fn check_direct(connection: &mut PgConnection) -> Result<()> {
    // Not prepared: such a pooler may not know what is.
    let shown =
        sqlx::raw_sql(AssertSqlSafe(format!("select coalesce(current_setting('{DIRECT}', true), '')")));
    if shown.fetch_one(connection).await?.get::<String, _>(0) == DIRECT {
        return Ok(());
    }
    let message = "the settings of connections do not reach PostgreSQL: a pooler is between";
    Err(Error::new(codes::DATABASE_POOLED, message))
}

/// The first connection of a pool. The pool retries while a server refuses connections, and hides the cause. So if there is
/// no connection soon, one outside the pool finds the cause.
async fn first(
    pool: &PgPool,
    options: &PgConnectOptions,
    timeout: Duration,
) -> Result<PoolConnection<Postgres>> {
    let mut acquired = pin!(pool.acquire());
    if let Ok(soon) = tokio::time::timeout(SOON.min(timeout / 2), &mut acquired).await {
        return soon.map_err(|error| at_address(error, options));
    }
    connect(options, timeout).await?.close().await?;
    acquired.await.map_err(|error| at_address(error, options))
}

/// Reads the schema version. A server that has gone silent since it took the connection is not followed yet, so the time
/// is limited.
async fn version(connection: &mut PgConnection, limit: Duration) -> Result<u32> {
    let read = async {
        check_direct(connection).await?;
        htm_migration::version(connection).await.map_err(of_migration)
    };
    tokio::time::timeout(limit, read).await.unwrap_or_else(|_elapsed| Err(silent().into()))
}

/// Whether a newer schema still serves this program. A fleet is upgraded database first, and programs of the previous
/// version may go on and restart meanwhile.
async fn serves_older(connection: &mut PgConnection, found: u32) -> Result<bool> {
    if found < htm_migration::LATEST {
        return Ok(false);
    }
    let serves = htm_migration::oldest_program(connection).await? <= htm_migration::LATEST;
    if serves {
        let wanted = htm_migration::LATEST;
        tracing::warn!(
            found,
            wanted,
            "the database is newer than this program, and still serves it; upgrade the program"
        );
    }
    Ok(serves)
}

/// The hosts of the database, with the settings of a pool's connections.
fn hosts(config: &Config, url: &str) -> Result<Hosts> {
    let timeout = config.database.statement_timeout_ms.to_string();
    // Compiling a plan never pays here, because no statement runs long enough.
    Ok(Hosts::of(url)?.with(|options| {
        let options = options.application_name("htm").options(KEEPALIVE);
        // A role or a database may have other ones: the extensions are in `public`, and texts are written as the standard has it.
        let own = [("search_path", "public"), ("standard_conforming_strings", "on"), (DIRECT, DIRECT)];
        options.options([("statement_timeout", timeout.as_str()), ("jit", "off")]).options(own)
    }))
}

/// The pools of a server: of the configured role, and of the tenants'. No connection is opened before one is needed.
fn pools(config: &Config, options: &PgConnectOptions) -> ReplicaPools {
    let timeout = Duration::from_millis(config.database.connect_timeout_ms);
    let lazy = |options| {
        let pool = pool_options().max_connections(config.database.max_connections);
        pool.acquire_timeout(timeout).connect_lazy_with(options)
    };
    (lazy(options.clone()), lazy(tenant_options(options.clone())))
}

/// The configured read replicas, if there are any.
fn replicas(config: &Config, url: &str, primary: &PgPool) -> Result<Option<Replicas>> {
    let mut members = Vec::new();
    for replica in &config.database.replica_urls {
        let each = hosts(config, &with_user_of(url, replica.expose()))?;
        members.extend(each.each().iter().map(|options| pools(config, options)));
    }
    let most = Duration::from_millis(config.database.max_staleness_ms);
    Ok((!members.is_empty()).then(|| Replicas::start(primary.clone(), members, most)))
}

/// A URL with the user and the password of another one, if it has none.
fn with_user_of(other: &str, url: &str) -> String {
    let authority = |url: &str| {
        let rest = url.split_once("://").map_or("", |(_, rest)| rest).to_owned();
        rest.split(['/', '?', '#']).next().unwrap_or_default().to_owned()
    };
    // Both may be parameters instead.
    let parameters = |url: &str| {
        let query = url.split_once('?').map_or("", |(_, query)| query);
        let of_user = |it: &&str| it.starts_with("user=") || it.starts_with("password=");
        query.split('&').filter(of_user).map(str::to_owned).collect::<Vec<_>>()
    };
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    if authority(url).contains('@') || !parameters(url).is_empty() {
        return url.to_owned();
    }
    let mut with_user = match authority(other).rsplit_once('@') {
        Some((user, _)) => format!("{scheme}://{user}@{rest}"),
        None => url.to_owned(),
    };
    for parameter in parameters(other) {
        with_user.push(if with_user.contains('?') { '&' } else { '?' });
        with_user.push_str(&parameter);
    }
    with_user
}

fn settings(config: &Config) -> Settings {
    let (embedding_model, tag_model) = providers::model_names(config);
    Settings {
        namespace: config.memory.namespace.clone(),
        robot: config.memory.robot_name().into(),
        language: config.memory.language.clone(),
        time: config.time.settings(),
        token_encoding: config.tokens.encoding,
        working_memory_tokens: config.working_memory.max_tokens as usize,
        deduplicate: config.memory.deduplicate,
        tag_rules: config.tag.rules(),
        embedding_model,
        tag_model,
        max_attempts: config.jobs.max_attempts,
        recall: RecallSettings {
            ef_search: config.recall.ef_search,
            correct: config.recall.spelling == crate::config::Spelling::Correct,
            min_similarity: Some(config.recall.min_similarity).filter(|least| *least > 0.0),
            // A provider's own timeout is for each of its requests, and says more.
            embed_timeout: Duration::from_millis(config.embedding.timeout_ms) * 2,
            refine: refiners::settings(config),
            ..RecallSettings::default()
        },
        ..Settings::default()
    }
}

impl fmt::Debug for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The configuration hides its secrets; the URL of the pool does not.
        f.debug_struct("Runtime").field("config", &self.config).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replica_without_a_user_has_that_of_the_primary() {
        let primary = "postgres://ada:p%40w@one:5432,two/htm?sslmode=require";
        for (url, expected) in [
            ("postgres://two:5433/htm", "postgres://ada:p%40w@two:5433/htm"),
            ("postgres://bob@two/htm", "postgres://bob@two/htm"),
            ("postgres:///htm?host=/run/b", "postgres://ada:p%40w@/htm?host=/run/b"),
        ] {
            assert_eq!(with_user_of(primary, url), expected);
        }
        assert_eq!(with_user_of("postgres://one/htm", "postgres://two/htm"), "postgres://two/htm");
        let primary = "postgres:///htm?host=one,two&user=ada&password=p%40w";
        for (url, expected) in [
            ("postgres://two/htm", "postgres://two/htm?user=ada&password=p%40w"),
            ("postgres:///htm?host=two", "postgres:///htm?host=two&user=ada&password=p%40w"),
            ("postgres:///htm?host=two&user=bob", "postgres:///htm?host=two&user=bob"),
            ("postgres://bob@two/htm", "postgres://bob@two/htm"),
        ] {
            assert_eq!(with_user_of(primary, url), expected);
        }
    }
}
