//! Where statements get their connections: a pool, a pool whose connections see some namespaces only, or the caller.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use sqlx::pool::PoolConnection;
use sqlx::{AssertSqlSafe, PgConnection, PgPool, Postgres, Result, SqlSafeStr};
use sqlx_core::transaction::TransactionManager;
use tokio::time::timeout;

use super::switches::{answered, tested};

type Outcome<T> = crate::model::error::Result<T>;

type Manager = <Postgres as sqlx::Database>::TransactionManager;

/// The role of walled connections. The policies of the tables restrict it to the namespaces in the setting
/// `htm.namespaces`.
pub(crate) const TENANT_ROLE: &str = "htm_tenant";

/// The time limit for an idle connection to begin a transaction.
const ANSWER: Duration = Duration::from_secs(1);

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
/// answered. Dropped before its end, it is undone.
#[derive(Debug)]
pub struct Tx {
    connection: PoolConnection<Postgres>,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The server may have begun it.
    Unknown,
    Open,
    Ended,
}

impl Tx {
    /// Begins a transaction. If this fails or is dropped, the connection is closed: sqlx would return it to the pool, and
    /// its next user would write into a transaction that nobody commits.
    async fn begin(connection: PoolConnection<Postgres>, statement: &str) -> Result<Self> {
        let mut tx = Self { connection, state: State::Unknown };
        let statement = AssertSqlSafe(statement.to_owned()).into_sql_str();
        answered(Manager::begin(&mut tx.connection, Some(statement))).await?;
        tx.state = State::Open;
        Ok(tx)
    }

    /// Commits it.
    ///
    /// # Errors
    /// A database error. It may be committed all the same if the connection was lost.
    pub async fn commit(mut self) -> Result<()> {
        tested(&mut self.connection).await?;
        answered(Manager::commit(&mut self.connection)).await?;
        self.state = State::Ended;
        Ok(())
    }

    /// Undoes it.
    ///
    /// # Errors
    /// A database error. It is undone all the same.
    pub async fn rollback(mut self) -> Result<()> {
        tested(&mut self.connection).await?;
        answered(Manager::rollback(&mut self.connection)).await?;
        self.state = State::Ended;
        Ok(())
    }
}

impl Drop for Tx {
    fn drop(&mut self) {
        match self.state {
            State::Unknown => self.connection.close_on_drop(),
            State::Open => Manager::start_rollback(&mut self.connection),
            State::Ended => {}
        }
    }
}

impl Deref for Tx {
    type Target = PoolConnection<Postgres>;

    fn deref(&self) -> &Self::Target {
        &self.connection
    }
}

impl DerefMut for Tx {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.connection
    }
}

/// A part of an open transaction that can be undone alone: a savepoint.
///
/// If it is dropped before its end, what was written since stays in the transaction, which then has to be undone. A
/// savepoint of sqlx would end the whole transaction if it is dropped as it is made, and what follows would commit statement
/// by statement.
pub(crate) struct Part<'c>(&'c mut PgConnection);

impl<'c> Part<'c> {
    pub(crate) async fn begin(connection: &'c mut PgConnection) -> Result<Self> {
        let connection = tested(connection).await?;
        run(connection, "savepoint htm_part").await?;
        Ok(Self(connection))
    }

    /// Keeps what was written.
    pub(crate) async fn commit(self) -> Result<()> {
        run(tested(self.0).await?, "release savepoint htm_part").await
    }

    /// Undoes what was written.
    pub(crate) async fn rollback(self) -> Result<()> {
        // A statement may have failed because nothing answers any more.
        run(tested(self.0).await?, "rollback to savepoint htm_part; release savepoint htm_part").await
    }

    /// Keeps what was written, or undoes it after an error.
    pub(crate) async fn end<T>(self, done: Outcome<T>) -> Outcome<T> {
        match done {
            Ok(done) => self.commit().await.map(|()| done).map_err(Into::into),
            Err(error) => {
                // If this fails, so does the end of the transaction.
                self.rollback().await.ok();
                Err(error)
            }
        }
    }
}

impl Deref for Part<'_> {
    type Target = PgConnection;

    fn deref(&self) -> &PgConnection {
        self.0
    }
}

impl DerefMut for Part<'_> {
    fn deref_mut(&mut self) -> &mut PgConnection {
        self.0
    }
}

async fn run(connection: &mut PgConnection, statements: &'static str) -> Result<()> {
    answered(sqlx::raw_sql(statements).execute(connection)).await.map(drop)
}

#[async_trait]
impl Connections for PgPool {
    async fn acquire(&self) -> Result<PoolConnection<Postgres>> {
        PgPool::acquire(self).await
    }

    async fn begin_with(&self, statement: &str) -> Result<Tx> {
        let connection = answered(PgPool::acquire(self)).await?;
        Tx::begin(connection, statement).await
    }

    fn are_mostly_idle(&self) -> bool {
        let in_use = (self.size() as usize).saturating_sub(self.num_idle());
        self.num_idle() > 0 && 2 * in_use <= self.options().get_max_connections() as usize
    }

    async fn begin_if_idle(&self, statement: &str) -> Option<Tx> {
        // It is not tested before its use, as those that are waited for are.
        let connection = self.try_acquire()?;
        let begun = timeout(ANSWER, Tx::begin(connection, statement)).await;
        let begun = begun.unwrap_or(Err(sqlx::Error::PoolTimedOut));
        begun.inspect_err(|error| tracing::debug!(%error, "an idle connection is of no use")).ok()
    }
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

impl<'c> From<&'c mut PoolConnection<Postgres>> for Db<'c> {
    fn from(connection: &'c mut PoolConnection<Postgres>) -> Self {
        Self::from(&mut **connection)
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
