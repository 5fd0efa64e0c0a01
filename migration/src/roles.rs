//! The privileges of applications and workers. The migrating role owns the schemas.

use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, Connection, PgConnection};

use crate::MigrationError;

/// Grants a role the privileges of applications and workers: to read and write rows, and to call the functions that
/// they need. The role owns nothing and cannot change the schema. The grant covers the tables of later embedding
/// models.
///
/// # Errors
/// [`MigrationError::RoleMissing`], or a database error. Nothing is granted.
pub async fn grant(options: &PgConnectOptions, role: &str) -> Result<(), MigrationError> {
    let mut connection = PgConnection::connect_with(options).await?;
    let quoted: Option<String> =
        sqlx::query_scalar("select quote_ident(rolname) from pg_roles where rolname = $1")
            .bind(role)
            .fetch_optional(&mut connection)
            .await?;
    let quoted = quoted.ok_or_else(|| MigrationError::RoleMissing { name: role.into() })?;
    let grants = include_str!("sql/grants.sql").replace("{{role}}", &quoted);
    sqlx::raw_sql(AssertSqlSafe(format!("begin; {grants} commit"))).execute(&mut connection).await?;
    Ok(connection.close().await?)
}
