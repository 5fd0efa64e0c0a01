//! Where statements get their connections: a pool, a pool whose connections see some namespaces only, or the caller.

use std::ops::{Deref, DerefMut};
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use sqlx::pool::PoolConnection;
use sqlx::{AssertSqlSafe, PgConnection, PgPool, Postgres, Result, Transaction};
use tokio::time::timeout;

use super::switches::{answered, tested};

/// The role of walled connections. The policies of the tables restrict it to the namespaces in the setting
/// `htm.namespaces`.
pub(crate) const TENANT_ROLE: &str = "htm_tenant";

/// The time limit for an idle connection to begin a transaction.
const ANSWER: Duration = Duration::from_secs(1);

/// The time for which connections are looked at after a begin was cut off. They are returned at once.
const CUT_OFF_FOR: Duration = Duration::from_secs(2);

/// A connection that should be of the tenants' role is of another, which may see every row.
#[derive(Debug, thiserror::Error)]
#[error("a connection does not have the role {TENANT_ROLE}")]
pub(crate) struct NotATenant;

/// A source of connections.
#[async_trait]
pub trait Connections: Send + Sync {
    /// A connection.
    async fn acquire(&self) -> Result<PoolConnection<Postgres>>;

    /// A transaction, begun by a statement of this crate.
    async fn begin_with(&self, statement: &str) -> Result<Tx>;

    /// A transaction.
    async fn begin(&self) -> Result<Tx> {
        self.begin_with("begin").await
    }

    /// Whether a connection is idle, and so are most of those that there may be.
    fn are_mostly_idle(&self) -> bool;

    /// A transaction on an idle connection; none: there is none, or it does not answer.
    async fn begin_if_idle(&self, statement: &str) -> Option<Tx>;
}

/// A transaction. Its end fails, as its statements do, if it was begun before another host became the primary and is not
/// answered.
#[derive(Debug)]
pub struct Tx(Transaction<'static, Postgres>);

impl Tx {
    /// Commits it.
    ///
    /// # Errors
    /// A database error. It may be committed all the same if the connection was lost.
    pub async fn commit(mut self) -> Result<()> {
        tested(&mut self.0).await?;
        answered(self.0.commit()).await
    }

    /// Undoes it.
    ///
    /// # Errors
    /// A database error. It is undone all the same.
    pub async fn rollback(mut self) -> Result<()> {
        tested(&mut self.0).await?;
        answered(self.0.rollback()).await
    }
}

impl Deref for Tx {
    type Target = Transaction<'static, Postgres>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for Tx {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

#[async_trait]
impl Connections for PgPool {
    async fn acquire(&self) -> Result<PoolConnection<Postgres>> {
        PgPool::acquire(self).await
    }

    async fn begin_with(&self, statement: &str) -> Result<Tx> {
        #[expect(clippy::disallowed_methods, reason = "it is looked after here")]
        begun(answered(PgPool::begin_with(self, AssertSqlSafe(statement.to_owned())))).await.map(Tx)
    }

    fn are_mostly_idle(&self) -> bool {
        let in_use = (self.size() as usize).saturating_sub(self.num_idle());
        self.num_idle() > 0 && 2 * in_use <= self.options().get_max_connections() as usize
    }

    async fn begin_if_idle(&self, statement: &str) -> Option<Tx> {
        // It is not tested before its use, as those that are waited for are.
        let begin = async {
            #[expect(clippy::disallowed_methods, reason = "it is looked after here")]
            let begin = self.try_begin_with(AssertSqlSafe(statement.to_owned()));
            timeout(ANSWER, begin).await.unwrap_or(Err(sqlx::Error::PoolTimedOut))
        };
        let begun = begun(begin).await;
        begun.inspect_err(|error| tracing::debug!(%error, "an idle connection is of no use")).ok()?.map(Tx)
    }
}

/// The last transaction of which it is unknown whether it was begun.
static CUT_OFF: Mutex<Option<Instant>> = Mutex::new(None);

/// Awaits the begin of a transaction. If it fails or is dropped, sqlx does not end the transaction that the server may have
/// begun, and returns the connection to the pool.
async fn begun<T>(begin: impl Future<Output = Result<T>>) -> Result<T> {
    struct CutOff;
    impl Drop for CutOff {
        fn drop(&mut self) {
            *CUT_OFF.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
        }
    }
    // Dropped before the connection is returned.
    let (begin, cut_off) = (pin!(begin), CutOff);
    let begun = begin.await;
    if begun.is_ok() {
        std::mem::forget(cut_off);
    }
    begun
}

/// Whether a connection that is returned may be within a transaction that was cut off as it was begun.
pub(crate) fn may_be_within_a_transaction() -> bool {
    let cut_off = *CUT_OFF.lock().unwrap_or_else(PoisonError::into_inner);
    cut_off.is_some_and(|at| at.elapsed() < CUT_OFF_FOR)
}

/// Any connection of a pool, or a given one.
pub(crate) enum Db<'c> {
    Pool(&'c dyn Connections),
    /// In a mutex because sea-orm shares its executor; nobody ever waits for the lock.
    Connection(tokio::sync::Mutex<&'c mut PgConnection>),
}

/// The connection of a caller, if it has one. A caller that has one and waits for another of the same pool can deadlock.
pub(crate) type Held<'c> = Option<&'c mut PgConnection>;

impl<'c> Db<'c> {
    /// The connection that is held, otherwise one of the pool.
    pub(crate) fn held_or(held: &'c mut Held<'_>, pool: &'c dyn Connections) -> Self {
        match held {
            Some(connection) => Self::from(&mut **connection),
            None => Self::Pool(pool),
        }
    }

    /// The same, for another statement.
    pub(crate) fn again(&mut self) -> Db<'_> {
        match self {
            Self::Pool(pool) => Db::Pool(*pool),
            Self::Connection(connection) => Db::from(&mut **connection.get_mut()),
        }
    }
}

impl<'c> From<&'c dyn Connections> for Db<'c> {
    fn from(pool: &'c dyn Connections) -> Self {
        Self::Pool(pool)
    }
}

impl<'c> From<&'c PgPool> for Db<'c> {
    fn from(pool: &'c PgPool) -> Self {
        Self::Pool(pool)
    }
}

impl<'c> From<&'c mut PgConnection> for Db<'c> {
    fn from(connection: &'c mut PgConnection) -> Self {
        Self::Connection(tokio::sync::Mutex::new(connection))
    }
}

impl<'c> From<&'c mut Transaction<'_, Postgres>> for Db<'c> {
    fn from(tx: &'c mut Transaction<'_, Postgres>) -> Self {
        Self::from(&mut **tx)
    }
}

impl<'c> From<&'c mut Tx> for Db<'c> {
    fn from(tx: &'c mut Tx) -> Self {
        Self::from(&mut **tx)
    }
}

/// A pool of the tenants' role, for the rows of some namespaces.
#[derive(Clone)]
pub(crate) struct Walled {
    tenants: PgPool,
    namespaces: Arc<[String]>,
}

impl Walled {
    pub(crate) fn new(tenants: PgPool, namespaces: &[String]) -> Self {
        Self { tenants, namespaces: namespaces.into() }
    }

    /// Says which namespaces the connection sees. A connection that was told nothing sees none.
    ///
    /// # Errors
    /// A database error, or [`NotATenant`].
    async fn tell(&self, connection: &mut PgConnection, is_local: bool) -> Result<()> {
        let sql = "select current_user::text = $3, set_config('htm.namespaces', $1::text[]::text, $2)";
        let told = sqlx::query_as(sql).bind(&self.namespaces[..]).bind(is_local).bind(TENANT_ROLE);
        let (is_tenant, _): (bool, String) = answered(told.fetch_one(connection)).await?;
        // A pooler may drop the settings of connections, the role among them: also one before a replica.
        if is_tenant { Ok(()) } else { Err(sqlx::Error::Configuration(Box::new(NotATenant))) }
    }
}

#[async_trait]
impl Connections for Walled {
    async fn acquire(&self) -> Result<PoolConnection<Postgres>> {
        let mut connection = self.tenants.acquire().await?;
        self.tell(&mut connection, false).await?;
        Ok(connection)
    }

    async fn begin_with(&self, statement: &str) -> Result<Tx> {
        let mut tx = Connections::begin_with(&self.tenants, statement).await?;
        self.tell(&mut tx, true).await?;
        Ok(tx)
    }

    fn are_mostly_idle(&self) -> bool {
        self.tenants.are_mostly_idle()
    }

    async fn begin_if_idle(&self, statement: &str) -> Option<Tx> {
        let mut tx = self.tenants.begin_if_idle(statement).await?;
        self.tell(&mut tx, true).await.ok()?;
        Some(tx)
    }
}
