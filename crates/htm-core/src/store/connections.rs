//! Where statements get their connections: a pool, or a pool whose connections see some namespaces only.

use std::sync::Arc;

use async_trait::async_trait;
use sqlx::pool::PoolConnection;
use sqlx::{AssertSqlSafe, PgConnection, PgPool, Postgres, Result, Transaction};

/// The role of walled connections. The policies of the tables restrict it to the namespaces in the setting
/// `htm.namespaces`.
pub(crate) const TENANT_ROLE: &str = "htm_tenant";

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
    async fn begin_with(&self, statement: &str) -> Result<Transaction<'static, Postgres>>;

    /// A transaction.
    async fn begin(&self) -> Result<Transaction<'static, Postgres>> {
        self.begin_with("begin").await
    }
}

#[async_trait]
impl Connections for PgPool {
    async fn acquire(&self) -> Result<PoolConnection<Postgres>> {
        PgPool::acquire(self).await
    }

    async fn begin_with(&self, statement: &str) -> Result<Transaction<'static, Postgres>> {
        PgPool::begin_with(self, AssertSqlSafe(statement.to_owned())).await
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
        let (is_tenant, _): (bool, String) = told.fetch_one(connection).await?;
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

    async fn begin_with(&self, statement: &str) -> Result<Transaction<'static, Postgres>> {
        let mut tx = Connections::begin_with(&self.tenants, statement).await?;
        self.tell(&mut tx, true).await?;
        Ok(tx)
    }
}
