//! The executor of statements for sqlx and for sea-orm: sea-orm's own transactions cannot wrap an open one.

use std::sync::Arc;

use async_trait::async_trait;
use sea_orm::{ConnectionTrait, DbBackend, DbErr, ExecResult, QueryResult, RuntimeErr, Statement};
use sea_query_sqlx::SqlxValues;
use sqlx::AssertSqlSafe;
use sqlx::postgres::Postgres;
use sqlx::query::Query;

use super::connections::Db;
use super::switches::{answered, tested};

/// The executor for the statements of entities.
pub(crate) fn on<'c>(db: impl Into<Db<'c>>) -> Db<'c> {
    db.into()
}

/// Runs a query by a method of sqlx.
macro_rules! run {
    ($db:expr, $statement:expr, $method:ident) => {{
        let query = query($statement);
        match $db {
            Db::Pool(pool) => answered(query.$method(&mut *pool.acquire().await.map_err(failed)?)).await,
            Db::Connection(connection) => {
                let mut held = connection.lock().await;
                let connection = tested(&mut held).await.map_err(failed)?;
                answered(query.$method(connection)).await
            }
        }
        .map_err(failed)
    }};
}

#[async_trait]
impl ConnectionTrait for Db<'_> {
    fn get_database_backend(&self) -> DbBackend {
        DbBackend::Postgres
    }

    async fn execute_raw(&self, statement: Statement) -> Result<ExecResult, DbErr> {
        run!(self, statement, execute).map(Into::into)
    }

    /// Prepared all the same: no caller runs several statements at once this way.
    async fn execute_unprepared(&self, sql: &str) -> Result<ExecResult, DbErr> {
        self.execute_raw(Statement::from_string(DbBackend::Postgres, sql)).await
    }

    async fn query_one_raw(&self, statement: Statement) -> Result<Option<QueryResult>, DbErr> {
        run!(self, statement, fetch_optional).map(|row| row.map(Into::into))
    }

    async fn query_all_raw(&self, statement: Statement) -> Result<Vec<QueryResult>, DbErr> {
        run!(self, statement, fetch_all).map(|rows| rows.into_iter().map(Into::into).collect())
    }
}

/// The text is built by sea-query, which puts no values into it.
fn query(statement: Statement) -> Query<'static, Postgres, SqlxValues> {
    let values = statement.values.map_or_else(Default::default, |values| values.0);
    sqlx::query_with(AssertSqlSafe(statement.sql), SqlxValues(sea_orm::Values(values)))
}

fn failed(error: sqlx::Error) -> DbErr {
    DbErr::Query(RuntimeErr::SqlxError(Arc::new(error)))
}
