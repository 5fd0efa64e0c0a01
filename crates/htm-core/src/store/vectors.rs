//! Vectors that callers bring.

use pgvector::HalfVector;
use sqlx::PgConnection;

use super::embeddings::RegisteredModel;
use super::named::Named;
use crate::model::error::Result;
use crate::model::id::NodeId;

/// A vector for a node, if that has this revision or this text.
pub(crate) struct Brought<'a> {
    pub(crate) node: NodeId,
    pub(crate) namespace: &'a str,
    pub(crate) revision: Option<i32>,
    /// The SHA-256 of the text.
    pub(crate) hash: Option<Vec<u8>>,
    pub(crate) vector: &'a [f32],
}

/// Writes vectors of a model. Returns the nodes that got theirs.
pub(crate) async fn bring_in_tx(
    connection: &mut PgConnection,
    model: &RegisteredModel,
    vectors: &[Brought<'_>],
) -> Result<Vec<NodeId>> {
    let statement = include_str!("sql/bring_vectors.sql").replace("{{store}}", &model.store());
    Named::new(&statement)
        .bind("nodes", vectors.iter().map(|it| it.node).collect::<Vec<_>>())?
        .bind("namespaces", vectors.iter().map(|it| it.namespace).collect::<Vec<_>>())?
        .bind("revisions", vectors.iter().map(|it| it.revision).collect::<Vec<_>>())?
        .bind("hashes", vectors.iter().map(|it| it.hash.clone()).collect::<Vec<_>>())?
        .bind(
            "embeddings",
            vectors.iter().map(|it| HalfVector::from_f32_slice(it.vector)).collect::<Vec<_>>(),
        )?
        .bind("model", &model.label)?
        .fetch_scalars(connection)
        .await
}
