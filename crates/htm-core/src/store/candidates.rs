//! The vectors of candidates, which a refined recall reads beside the hits.

use std::collections::HashMap;

use pgvector::HalfVector;

use super::connections::Connections;
use super::embeddings::RegisteredModel;
use super::named::Named;
use crate::model::error::Result;
use crate::model::id::NodeId;

/// The vectors of nodes by one model, each with the revision of its text; a node whose embedding is pending has none. Each
/// node comes with its namespace.
pub(crate) async fn vectors(
    pool: &dyn Connections,
    model: &RegisteredModel,
    nodes: &[(NodeId, &str)],
) -> Result<HashMap<NodeId, (i32, Vec<f32>)>> {
    let sql = include_str!("sql/candidate_vectors.sql").replace("{{store}}", &model.store());
    let rows: Vec<(NodeId, i32, HalfVector)> = Named::new(&sql)
        .bind("namespaces", nodes.iter().map(|(_, namespace)| *namespace).collect::<Vec<_>>())?
        .bind("nodes", nodes.iter().map(|(node, _)| *node).collect::<Vec<_>>())?
        .fetch_all(pool)
        .await?;
    let widened = |vector: HalfVector| vector.as_slice().iter().map(|x| x.to_f32()).collect();
    Ok(rows.into_iter().map(|(node, revision, vector)| (node, (revision, widened(vector)))).collect())
}
