//! A process's connection to its memory: the database, started and migrated if it is the private one.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use htm_core::error::chain;
use htm_core::provider::{Embedder, QueryExpander, Reranker, TagExtractor};
use htm_core::worker::embeddings::{RegisteredModel, without_embedder};
use htm_core::{Embedders, Htm, RecallSettings, Result, Settings};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{Connection, PgConnection, PgPool};

use crate::config::{Config, Deduplicate};
use crate::embedders::ConfiguredEmbedders;
use crate::error::{self, of_migration};
use crate::paths::Paths;
use crate::private_pg::{PrivatePg, ServerUse};
use crate::providers;
use crate::refiners::{self, Refiners};

/// How long what waits may take to be written, and the connections to end: one whose other end is gone without a word never does.
const CLOSE: Duration = Duration::from_secs(5);

/// What the server is to find out by itself: a client that is gone without a word keeps its locks for so long. After
/// 30 s of silence it is asked, and has 30 s to answer. On a Unix socket these have no effect.
const KEEPALIVE: [(&str, &str); 4] = [
    ("tcp_keepalives_idle", "30"),
    ("tcp_keepalives_interval", "10"),
    ("tcp_keepalives_count", "3"),
    ("tcp_user_timeout", "30000"),
];

/// The database of the configuration, ready to be used. [`close`](Session::close) it at the end: what its handles write
/// behind the calls is written then, and the private PostgreSQL stops with its last user.
pub struct Session {
    config: Config,
    paths: Paths,
    pool: PgPool,
    server: Option<ServerUse>,
    embedders: Arc<ConfiguredEmbedders>,
    refiners: Refiners,
    handles: Mutex<BTreeMap<Asks, Htm>>,
}

/// What a handle of a session recalls with. There is one of each kind: a program may ask for it as often as it likes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Asks {
    Text,
    ActiveModel,
    Model(String),
}

impl Session {
    /// Connects to `database.url`, or starts the private PostgreSQL and migrates it.
    ///
    /// ```no_run
    /// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
    /// use htm_core::{Memory, RecallQuery};
    /// let loaded = htm_runtime::config::Config::load(&Default::default())?;
    /// let session = htm_runtime::Session::open(&loaded.config).await?;
    /// let htm = session.htm_with_embedder()?;
    /// htm.remember(Memory::new("The staging database moved to port 5433.")).await?;
    /// let recalled = htm.recall(&RecallQuery::new("which port is staging on?")).await?;
    /// session.close().await;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// No PostgreSQL to be found or reached, or one whose schema is not this program's
    /// (`schema_version`; `htm db migrate` mends an older one).
    pub async fn open(config: &Config) -> Result<Self> {
        let paths = Paths::from_env()?;
        let server = start_server(config, &paths).await?;
        let url = server.as_ref().map_or_else(|| config.database.url.expose().to_owned(), ServerUse::url);
        let options = connect_options(config, &url)?;
        // Not through the pool, which tries again until its timeout and then does not say why.
        let timeout = Duration::from_millis(config.database.connect_timeout_ms);
        let mut found = version(&options, timeout).await?;
        if server.is_some() && found < htm_migration::LATEST {
            // The private database is this program's own: it is brought up to date without being asked.
            htm_migration::up(&options).await.map_err(of_migration)?;
            found = htm_migration::LATEST;
        }
        let pool = PgPoolOptions::new()
            .max_connections(config.database.max_connections)
            .acquire_timeout(timeout)
            .connect_lazy_with(options.clone());
        if found != htm_migration::LATEST && !serves_older(&options, found, timeout).await? {
            return Err(error::schema_version(found, htm_migration::LATEST));
        }
        let embedders = Arc::new(ConfiguredEmbedders::new(config.clone(), paths.clone()));
        let refiners = Refiners::new(config);
        Ok(Self {
            config: config.clone(),
            paths,
            pool,
            server,
            embedders,
            refiners,
            handles: Mutex::default(),
        })
    }

    /// The pool of the session.
    pub fn pool(&self) -> &PgPool {
        &self.pool
    }

    /// The configuration that the session was opened with.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Where this machine keeps HTM's files.
    pub fn paths(&self) -> &Paths {
        &self.paths
    }

    /// The URL of the database.
    pub fn url(&self) -> String {
        self.server.as_ref().map_or_else(|| self.config.database.url.expose().to_owned(), ServerUse::url)
    }

    /// A handle that writes, and recalls by full text. Loads no model.
    pub fn htm(&self) -> Htm {
        self.handle(Asks::Text)
    }

    /// A handle that recalls by vector as well: with the model that is active at the time, whose embedder is made when
    /// it is needed first.
    ///
    /// # Errors
    /// None today: an embedder that cannot be made is told by the answer to a recall.
    pub fn htm_with_embedder(&self) -> Result<Htm> {
        Ok(self.handle(Asks::ActiveModel))
    }

    /// As [`htm_with_embedder`](Self::htm_with_embedder), but recall asks the model of this label, active or not.
    pub fn htm_asking(&self, model: &str) -> Htm {
        self.handle(Asks::Model(model.into()))
    }

    fn handle(&self, asks: Asks) -> Htm {
        let mut handles = self.handles.lock().unwrap_or_else(PoisonError::into_inner);
        let new = || {
            let mut settings = settings(&self.config);
            let embedders = match &asks {
                Asks::Text => None,
                Asks::ActiveModel | Asks::Model(_) => Some(self.embedders.clone() as Arc<dyn Embedders>),
            };
            if let Asks::Model(model) = &asks {
                settings.recall_model = Some(model.clone());
            }
            self.refiners.given_to(Htm::with_embedders(self.pool.clone(), settings, embedders))
        };
        handles.entry(asks.clone()).or_insert_with(new).clone()
    }

    /// The embedder of a registered model, made once a session.
    ///
    /// # Errors
    /// `embedder_other` for a model of a provider that nobody knows here; settings that cannot work; or the provider's
    /// error when it has to be asked for its dimensions.
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

    /// The tag extractor of the configuration.
    ///
    /// # Errors
    /// Settings that cannot work.
    pub fn tagger(&self) -> Result<Arc<dyn TagExtractor>> {
        providers::tagger(&self.config, &self.paths)
    }

    /// The re-ranker of the configuration, which the session's handles have as well; none when none is configured.
    ///
    /// # Errors
    /// Settings that cannot work.
    pub fn reranker(&self) -> Result<Option<Arc<dyn Reranker>>> {
        self.refiners.reranker()
    }

    /// What says a query in other words, as the session's handles have it; none when none is configured.
    ///
    /// # Errors
    /// Settings that cannot work.
    pub fn expander(&self) -> Result<Option<Arc<dyn QueryExpander>>> {
        self.refiners.expander()
    }

    /// Ends it: [flushes](Htm::flush) its handles, closes the pool and lets go of the private PostgreSQL. A server that
    /// does not stop is logged: it is no failure of what the session was opened for.
    pub async fn close(self) {
        let handles = self.handles.into_inner().unwrap_or_else(PoisonError::into_inner);
        let flush = async {
            for htm in handles.values() {
                htm.flush().await;
            }
        };
        if tokio::time::timeout(CLOSE, flush).await.is_err() {
            tracing::warn!("the database did not take in time what is written behind the calls");
        }
        drop(handles);
        if tokio::time::timeout(CLOSE, self.pool.close()).await.is_err() {
            tracing::warn!("a connection to the database did not end in time; it ends with the process");
        }
        release(self.server).await;
    }
}

/// The server of the configuration, without regard to what its database holds. The private one stays up until it
/// is [closed](DatabaseServer::close).
pub struct DatabaseServer {
    url: String,
    server: Option<ServerUse>,
}

impl DatabaseServer {
    /// Starts the private PostgreSQL if that is what is configured.
    ///
    /// # Errors
    /// What keeps it from starting.
    pub async fn open(config: &Config) -> Result<Self> {
        let server = start_server(config, &Paths::from_env()?).await?;
        let url = server.as_ref().map_or_else(|| config.database.url.expose().to_owned(), ServerUse::url);
        Ok(Self { url, server })
    }

    /// Its URL, with the configured database.
    pub fn url(&self) -> String {
        self.url.clone()
    }

    /// Lets go of the private PostgreSQL.
    pub async fn close(self) {
        release(self.server).await;
    }
}

/// Migrates the database of the configuration.
///
/// # Errors
/// As [`Session::open`], and what [`htm_migration::up`] says.
pub async fn migrate(config: &Config) -> Result<()> {
    on_database(config, async |options| htm_migration::up(&options).await.map_err(of_migration)).await
}

/// Lets a role of the database of the configuration do what applications and workers do ([`htm_migration::grant`]).
///
/// # Errors
/// As [`migrate`], and `role_missing`.
pub async fn grant(config: &Config, role: &str) -> Result<()> {
    on_database(config, async |options| htm_migration::grant(&options, role).await.map_err(of_migration))
        .await
}

/// Drops HTM's and apalis' schemas from the database of the configuration. The caller has asked.
///
/// # Errors
/// As [`migrate`].
pub async fn drop_schemas(config: &Config) -> Result<()> {
    on_database(config, async |options| htm_migration::down(&options).await.map_err(of_migration)).await
}

/// The schema version of the database of the configuration; 0 when it has none.
///
/// # Errors
/// As [`migrate`].
pub async fn schema_version(config: &Config) -> Result<u32> {
    let timeout = Duration::from_millis(config.database.connect_timeout_ms);
    on_database(config, async |options| version(&options, timeout).await).await
}

async fn on_database<T>(config: &Config, work: impl AsyncFnOnce(PgConnectOptions) -> Result<T>) -> Result<T> {
    let server = DatabaseServer::open(config).await?;
    let result = match connect_options(config, &server.url) {
        Ok(options) => work(options).await,
        Err(error) => Err(error),
    };
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

/// The schema version, by a connection of its own.
async fn version(options: &PgConnectOptions, timeout: Duration) -> Result<u32> {
    let connect = tokio::time::timeout(timeout, PgConnection::connect_with(options));
    let mut connection = connect.await.map_err(|_elapsed| sqlx::Error::PoolTimedOut)??;
    let version = htm_migration::version(&mut connection).await?;
    connection.close().await?;
    Ok(version)
}

/// Whether a newer schema says that this program may work on it: a fleet is upgraded database first, and what is not
/// upgraded yet goes on, and may be started again.
async fn serves_older(options: &PgConnectOptions, found: u32, timeout: Duration) -> Result<bool> {
    if found < htm_migration::LATEST {
        return Ok(false);
    }
    let connect = tokio::time::timeout(timeout, PgConnection::connect_with(options));
    let mut connection = connect.await.map_err(|_elapsed| sqlx::Error::PoolTimedOut)??;
    let oldest = htm_migration::oldest_program(&mut connection).await?;
    connection.close().await?;
    let serves = oldest <= htm_migration::LATEST;
    if serves {
        let wanted = htm_migration::LATEST;
        tracing::warn!(
            found,
            wanted,
            "the database is ahead of this program, and serves it still; upgrade it"
        );
    }
    Ok(serves)
}

/// Settings that every connection of the pool has.
fn connect_options(config: &Config, url: &str) -> Result<PgConnectOptions> {
    let options = htm_core::connect_options(url)?;
    let timeout = config.database.statement_timeout_ms.to_string();
    // No statement of ours runs for so long that compiling its plan would pay, whatever the planner expects.
    let options = options.application_name("htm").options(KEEPALIVE);
    Ok(options.options([("statement_timeout", timeout.as_str()), ("jit", "off")]))
}

fn settings(config: &Config) -> Settings {
    let (embedding_model, tag_model) = providers::model_names(config);
    Settings {
        namespace: config.memory.namespace.clone(),
        robot: config.memory.robot_name().into(),
        language: config.memory.language.clone(),
        time: config.time.settings(),
        token_encoding: config.tokens.encoding.into(),
        working_memory_tokens: config.working_memory.max_tokens as usize,
        deduplicate: match config.memory.deduplicate {
            Deduplicate::Off => htm_core::Deduplicate::Off,
            Deduplicate::Robot => htm_core::Deduplicate::Robot,
            Deduplicate::Namespace => htm_core::Deduplicate::Namespace,
        },
        tag_rules: config.tag.rules(),
        embedding_model,
        tag_model,
        max_attempts: config.jobs.max_attempts,
        recall: RecallSettings {
            ef_search: config.recall.ef_search,
            correct: config.recall.spelling == crate::config::Spelling::Correct,
            min_similarity: Some(config.recall.min_similarity).filter(|least| *least > 0.0),
            refine: refiners::settings(config),
            ..RecallSettings::default()
        },
        ..Settings::default()
    }
}
