//! The executor of statements for sqlx and for sea-orm: sea-orm's own transactions cannot wrap an open one.

use std::sync::Arc;

use async_trait::async_trait;
use sea_orm::sea_query::{Expr, ExprTrait};
use sea_orm::{
    ColumnTrait, ConnectionTrait, DbBackend, DbErr, ExecResult, QueryResult, RuntimeErr, Statement, Value,
};
use sea_query_sqlx::SqlxValues;
use serde::de::DeserializeOwned;
use sqlx::AssertSqlSafe;
use sqlx::postgres::Postgres;
use sqlx::query::Query;

use super::connections::Db;
use super::switches::{answered, tested};
use crate::model::error::Result;

/// The executor for the statements of entities.
pub(crate) fn on<'c>(db: impl Into<Db<'c>>) -> Db<'c> {
    db.into()
}

/// The condition for the rows after one, in the order of two columns.
pub(crate) fn behind<C: ColumnTrait>(columns: [C; 2], last: [Value; 2]) -> Expr {
    Expr::tuple(columns.map(Expr::col)).gt(Expr::tuple(last.map(Expr::val)))
}

/// Reads what a `jsonb` column has.
pub(crate) fn of_json<T: DeserializeOwned>(column: serde_json::Value) -> Result<T> {
    Ok(serde_json::from_value(column).map_err(|error| DbErr::Json(error.to_string()))?)
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
