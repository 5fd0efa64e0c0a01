//! How often nodes were recalled: a table of its own, so that no index of a node is touched.

use std::time::Duration;

use sqlx::PgPool;

use super::named::sql;
use crate::model::error::Result;
use crate::model::id::NodeId;

/// How often a node was recalled since that was written last.
pub(crate) struct Accessed {
    pub(crate) node: NodeId,
    pub(crate) times: i64,
    /// How long ago the last time was.
    pub(crate) ago: Duration,
}

/// Adds to the counts; a node that is gone, or that somebody changes at this moment, is left out.
pub(crate) async fn add(pool: &PgPool, accessed: &[Accessed]) -> Result<()> {
    sql!(include_str!("sql/add_accesses.sql"))
        .bind("nodes", accessed.iter().map(|it| it.node).collect::<Vec<_>>())?
        .bind("times", accessed.iter().map(|it| it.times).collect::<Vec<_>>())?
        .bind("ago_ms", accessed.iter().map(|it| it.ago.as_millis() as i64).collect::<Vec<_>>())?
        .execute(pool)
        .await
        .map(drop)
}
