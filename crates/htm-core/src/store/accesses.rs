//! Recall counts of nodes. They have a table of their own, so that a recall does not touch the indexes of nodes.

use std::time::Duration;

use super::connections::Connections;
use super::named::sql;
use crate::model::error::Result;
use crate::model::id::NodeId;

/// The recalls of a node since the counts were last written.
pub(crate) struct Accessed {
    pub(crate) node: NodeId,
    pub(crate) namespace: String,
    pub(crate) times: i64,
    /// The time since the last recall.
    pub(crate) ago: Duration,
}

/// Adds to the counts. A node that no longer exists, or that another transaction has locked, is left out.
pub(crate) async fn add(pool: &dyn Connections, accessed: &[Accessed]) -> Result<()> {
    sql!(include_str!("sql/add_accesses.sql"))
        .bind("namespaces", accessed.iter().map(|it| it.namespace.as_str()).collect::<Vec<_>>())?
        .bind("nodes", accessed.iter().map(|it| it.node).collect::<Vec<_>>())?
        .bind("times", accessed.iter().map(|it| it.times).collect::<Vec<_>>())?
        .bind("ago_ms", accessed.iter().map(|it| it.ago.as_millis() as i64).collect::<Vec<_>>())?
        .execute(pool)
        .await
        .map(drop)
}
