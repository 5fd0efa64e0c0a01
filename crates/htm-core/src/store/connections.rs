//! Where statements get their connections: a pool, or a pool whose connections see some namespaces only.

use std::sync::Arc;

use async_trait::async_trait;
use sqlx::pool::PoolConnection;
use sqlx::{AssertSqlSafe, PgConnection, PgPool, Postgres, Result, Transaction};

/// The role of walled connections. The policies of the tables restrict it to the namespaces in the setting
/// `htm.namespaces`.
pub(crate) const TENANT_ROLE: &str = "htm_tenant";

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
    async fn tell(&self, connection: &mut PgConnection, is_local: bool) -> Result<()> {
        sqlx::query("select set_config('htm.namespaces', $1::text[]::text, $2)")
            .bind(&self.namespaces[..])
            .bind(is_local)
            .execute(connection)
            .await
            .map(drop)
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
