//! The lookup of unknown namespaces.

use sqlx::PgPool;

use super::named::sql;
use crate::model::error::Result;
use crate::model::namespaces::UnknownNamespace;

/// The given namespaces without nodes, each with the nearest existing ones, only from `visible` if given.
pub(crate) async fn unknown(
    pool: &PgPool,
    namespaces: &[&str],
    visible: Option<&[String]>,
) -> Result<Vec<UnknownNamespace>> {
    let rows: Vec<(String, Vec<String>)> = sql!(include_str!("sql/unknown_namespaces.sql"))
        .bind("namespaces", namespaces)?
        .bind("visible", visible)?
        .fetch_all(pool)
        .await?;
    Ok(rows.into_iter().map(|(namespace, nearest)| UnknownNamespace { namespace, nearest }).collect())
}
