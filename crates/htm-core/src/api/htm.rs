//! The handle: a pool, settings, and embedders for queries.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use moka::future::Cache;
use moka::sync::Cache as SyncCache;
use sqlx::PgPool;

use crate::api::accesses::Accesses;
use crate::api::activity::Activity;
use crate::api::connect::{connect_options, pool_options};
use crate::api::embedders::{Embedders, Only};
use crate::api::event_looks::Looks;
use crate::api::kept_recalls::KeptRecalls;
use crate::api::ping::Pinger;
use crate::api::replicas::Reading;
use crate::api::rooms::Rooms;
use crate::api::sizes::Sizes;
use crate::api::vocabulary::KnownWords;
use crate::api::working_memory::OpenMinds;
use crate::model::api_keys::ApiKey;
use crate::model::error::Result;
use crate::model::nodes::Node;
use crate::model::recall::Recalled;
use crate::model::settings::Settings;
use crate::model::tags::TagRules;
use crate::model::wall::Wall;
use crate::provider::{Embedder, QueryExpander, Reranker};
use crate::store::connections::{Connections, Walled};
use crate::store::embeddings::{MODELS_KEPT, RegisteredModel};

/// The memory. Cheap to clone; clones share the pool and the caches.
#[derive(Clone)]
pub struct Htm {
    inner: Arc<Inner>,
    wall: Option<Arc<Wall>>,
    /// The pool of the tenants' role, if there is one.
    tenants: Option<PgPool>,
    /// The tenants' pool for the wall's namespaces. None: there is no wall, or no such pool.
    walled: Option<Walled>,
    reading: Reading,
    actor: Option<Arc<str>>,
    /// The key that it acts for.
    key: Option<Arc<ApiKey>>,
    reranker: Option<Arc<dyn Reranker>>,
    expander: Option<Arc<dyn QueryExpander>>,
    on_recall: Option<OnRecall>,
}

/// The callback for each answer.
type OnRecall = Arc<dyn Fn(&Recalled) + Send + Sync>;

/// The statistics of the cache of query embeddings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct QueryCache {
    /// The approximate number of cached embeddings.
    pub entries: u64,
    /// Its capacity.
    pub max_entries: u64,
    /// Cache hits.
    pub hits: u64,
    /// Cache misses, which called the provider.
    pub misses: u64,
}

#[derive(Default)]
struct CacheCounts {
    hits: AtomicU64,
    misses: AtomicU64,
}

/// The longest time until a process sees that a text search configuration was dropped.
const LANGUAGES_KEPT: Duration = Duration::from_secs(60);

struct Inner {
    pool: PgPool,
    settings: Settings,
    embedders: Option<Arc<dyn Embedders>>,
    pinger: Pinger,
    activity: Activity,
    accesses: Accesses,
    kept_recalls: KeptRecalls,
    minds: OpenMinds,
    rooms: Rooms,
    event_looks: Looks,
    /// Robots known to be registered, by namespace and name.
    robots: SyncCache<(String, String), ()>,
    /// Text search configurations that existed at most a minute ago.
    languages: SyncCache<String, ()>,
    cache: CacheCounts,
    /// By the model's label and the text.
    query_embeddings: Cache<(String, String), Arc<[f32]>>,
    /// The models as of at most a second ago, by whether a replica said so.
    models: Cache<bool, Arc<[RegisteredModel]>>,
    sizes: Sizes,
    words: KnownWords,
}

impl Htm {
    /// Opens a migrated database. Without an embedder, recall is by full text.
    ///
    /// # Errors
    /// Those of [`Settings::validate`], `database_url_invalid`, `database_unreachable`, `database_denied`, or another
    /// database error.
    pub async fn connect(url: &str, settings: Settings, embedder: Option<Arc<dyn Embedder>>) -> Result<Self> {
        settings.validate()?;
        let options = connect_options(url)?;
        let pool = pool_options().acquire_timeout(Duration::from_secs(5)).connect_with(options).await?;
        Ok(Self::with_pool(pool, settings, embedder))
    }

    /// Uses the application's pool. Must be called within a tokio runtime, to which the handle then belongs. Recall uses
    /// vectors if the embedder's model is active, or complete and on standby. Writes fail if the settings are not
    /// [valid](Settings::validate).
    pub fn with_pool(pool: PgPool, settings: Settings, embedder: Option<Arc<dyn Embedder>>) -> Self {
        Self::with_embedders(pool, settings, embedder.map(|embedder| Arc::new(Only(embedder)) as _))
    }

    /// As [`with_pool`](Self::with_pool), with embedders of several models: recall uses the active one.
    pub fn with_embedders(pool: PgPool, settings: Settings, embedders: Option<Arc<dyn Embedders>>) -> Self {
        let inner = Inner {
            pinger: Pinger::start(pool.clone()),
            activity: Activity::start(pool.clone()),
            accesses: Accesses::start(pool.clone()),
            kept_recalls: KeptRecalls::start(pool.clone()),
            minds: OpenMinds::default(),
            rooms: Rooms::default(),
            event_looks: Looks::default(),
            cache: CacheCounts::default(),
            robots: SyncCache::new(100_000),
            languages: SyncCache::builder().max_capacity(1_000).time_to_live(LANGUAGES_KEPT).build(),
            query_embeddings: Cache::new(settings.cache_entries),
            models: Cache::builder().max_capacity(2).time_to_live(MODELS_KEPT).build(),
            sizes: Sizes::default(),
            words: KnownWords::default(),
            pool,
            settings,
            embedders,
        };
        Self {
            inner: Arc::new(inner),
            wall: None,
            tenants: None,
            walled: None,
            reading: Reading::default(),
            actor: None,
            key: None,
            reranker: None,
            expander: None,
            on_recall: None,
        }
    }

    /// This handle with a re-ranker, for [`RecallQuery::rerank`](crate::RecallQuery).
    #[must_use]
    pub fn with_reranker(self, reranker: Arc<dyn Reranker>) -> Self {
        Self { reranker: Some(reranker), ..self }
    }

    /// This handle with a query expander, for [`RecallQuery::expand`](crate::RecallQuery).
    #[must_use]
    pub fn with_expander(self, expander: Arc<dyn QueryExpander>) -> Self {
        Self { expander: Some(expander), ..self }
    }

    /// This handle with a function that is called with each answer of a recall, for metrics.
    #[must_use]
    pub fn on_recall(self, observe: impl Fn(&Recalled) + Send + Sync + 'static) -> Self {
        Self { on_recall: Some(Arc::new(observe)), ..self }
    }

    pub(crate) fn observe(&self, recalled: &Recalled) {
        if let Some(observe) = &self.on_recall {
            observe(recalled);
        }
    }

    /// The handle's pool, for statements of the application's own.
    ///
    /// # Errors
    /// `namespace_forbidden` on a handle with a wall: a pool is not restricted by it.
    pub fn database_pool(&self) -> Result<&PgPool> {
        self.admit_all()?;
        Ok(self.shared_pool())
    }

    /// This handle with a pool of the role `htm_tenant`, made by [`tenant_options`](crate::tenant_options). Handles
    /// [`within`](Self::within) namespaces then use it, and PostgreSQL's row-level security keeps the rows of other
    /// namespaces from them too.
    #[must_use]
    pub fn with_tenants(self, tenants: PgPool) -> Self {
        Self { tenants: Some(tenants), ..self }
    }

    pub(crate) fn reads(&self) -> &Reading {
        &self.reading
    }

    pub(crate) fn with_reading(self, reading: Reading) -> Self {
        Self { reading, ..self }
    }

    /// Where this handle's statements run.
    pub(crate) fn pool(&self) -> &dyn Connections {
        match (&self.reading.at, &self.walled) {
            (Some(at), _) => at.as_ref(),
            (None, Some(walled)) => walled,
            (None, None) => &self.inner.pool,
        }
    }

    /// The namespaces that row-level security restricts this handle to; none: it does not.
    pub(crate) fn seen_by_tenants(&self) -> Option<&[String]> {
        self.walled.as_ref().and(self.wall.as_deref()).and_then(|wall| wall.namespaces.as_deref())
    }

    /// The pool that clones share, for the background and for what concerns no namespace. No wall restricts it.
    pub(crate) fn shared_pool(&self) -> &PgPool {
        &self.inner.pool
    }

    /// The handle's settings.
    pub fn settings(&self) -> &Settings {
        self.wall.as_deref().map_or(&self.inner.settings, |wall| &wall.settings)
    }

    pub(crate) fn wall(&self) -> Option<&Wall> {
        self.wall.as_deref()
    }

    pub(crate) fn with_wall(&self, wall: Wall) -> Self {
        let seen = wall.namespaces.as_deref();
        let walled = self.tenants.clone().zip(seen).map(|(tenants, seen)| Walled::new(tenants, seen));
        Self { wall: Some(Arc::new(wall)), walled, ..self.clone() }
    }

    /// This handle with the name of its actor, such as `key 0f3a…`, for the audit and ontology logs.
    #[must_use]
    pub fn on_behalf_of(self, actor: &str) -> Self {
        Self { actor: Some(actor.into()), ..self }
    }

    /// The name of the actor of this handle, for the audit and ontology logs: by default its robot.
    pub fn actor(&self) -> &str {
        self.actor.as_deref().unwrap_or(&self.settings().robot)
    }

    pub(crate) fn with_key(self, key: &ApiKey) -> Self {
        Self { key: Some(Arc::new(key.clone())), ..self }
    }

    pub(crate) fn key(&self) -> Option<&ApiKey> {
        self.key.as_deref()
    }

    pub(crate) fn is_on_behalf(&self) -> bool {
        self.actor.is_some()
    }

    /// Writes buffered data now: the notification of workers, robots' last activity, access counts, recalls for
    /// feedback, and working memories. For a program that ends and has a pool of its own. Memories are safe without it. Failures are logged.
    pub async fn flush(&self) {
        self.inner.pinger.flush(&self.inner.pool).await;
        self.inner.activity.flush(&self.inner.pool).await;
        self.inner.accesses.flush(&self.inner.pool).await;
        self.inner.kept_recalls.flush(&self.inner.pool).await;
        self.inner.minds.flush().await;
    }

    /// [Flushes](Self::flush) and closes the pool. A handle from [`within`](Self::within) shares its pool with its
    /// parent; then the pool stays open.
    pub async fn close(self) {
        self.flush().await;
        if self.wall.is_none() {
            self.inner.pool.close().await;
            if let Some(tenants) = self.tenants {
                tenants.close().await;
            }
        }
    }

    pub(crate) fn embedders(&self) -> Option<&dyn Embedders> {
        self.inner.embedders.as_deref()
    }

    pub(crate) fn reranker(&self) -> Option<&dyn Reranker> {
        self.reranker.as_deref()
    }

    pub(crate) fn expander(&self) -> Option<&dyn QueryExpander> {
        self.expander.as_deref()
    }

    pub(crate) fn pinger(&self) -> &Pinger {
        &self.inner.pinger
    }

    /// Records an activity of a robot, as of now; runs no statement.
    pub(crate) fn saw_robot(&self, namespace: &str, robot: &str) {
        self.inner.activity.saw(namespace, robot);
    }

    /// Counts a recall of nodes, as of now; runs no statement.
    pub(crate) fn count_accesses<'a>(&self, nodes: impl IntoIterator<Item = &'a Node>) {
        self.inner.accesses.count(nodes);
    }

    pub(crate) fn kept_recalls(&self) -> &KeptRecalls {
        &self.inner.kept_recalls
    }

    pub(crate) fn event_looks(&self) -> &Looks {
        &self.inner.event_looks
    }

    pub(crate) fn rooms(&self) -> &Rooms {
        &self.inner.rooms
    }

    pub(crate) fn minds(&self) -> &OpenMinds {
        &self.inner.minds
    }

    /// Hits and misses of the cache of query embeddings, since the handle was opened. Handles from
    /// [`within`](Self::within) share it, so its counts cover all namespaces.
    ///
    /// # Errors
    /// `namespace_forbidden` on a handle with a wall.
    pub fn query_cache(&self) -> Result<QueryCache> {
        self.admit_all()?;
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Ok(QueryCache {
            entries: self.inner.query_embeddings.entry_count(),
            max_entries: self.settings().cache_entries,
            hits: count(&self.inner.cache.hits),
            misses: count(&self.inner.cache.misses),
        })
    }

    pub(crate) fn count_cache(&self, was_there: bool) {
        let cache = &self.inner.cache;
        if was_there { &cache.hits } else { &cache.misses }.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn known_robots(&self) -> &SyncCache<(String, String), ()> {
        &self.inner.robots
    }

    /// The rules by which this handle normalises tags.
    pub fn tag_rules(&self) -> &TagRules {
        &self.settings().tag_rules
    }

    pub(crate) fn known_languages(&self) -> &SyncCache<String, ()> {
        &self.inner.languages
    }

    pub(crate) fn query_embeddings(&self) -> &Cache<(String, String), Arc<[f32]>> {
        &self.inner.query_embeddings
    }

    pub(crate) fn known_sizes(&self) -> &Sizes {
        &self.inner.sizes
    }

    pub(crate) fn known_words(&self) -> &KnownWords {
        &self.inner.words
    }

    pub(crate) fn known_models(&self) -> &Cache<bool, Arc<[RegisteredModel]>> {
        &self.inner.models
    }
}

impl std::fmt::Debug for Htm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Htm")
            .field("settings", self.settings())
            .field("namespaces", &self.namespaces())
            .field("robot", &self.bound_robot())
            .finish_non_exhaustive()
    }
}
