//! A sample of nodes with their vectors.

use chrono::{DateTime, Utc};
use pgvector::HalfVector;

use super::connections::Connections;
use super::embeddings::RegisteredModel;
use super::filter::{Conditions, Required, Scope};
use super::named::Named;
use crate::model::error::Result;
use crate::model::id::NodeId;

/// Nodes that pass a filter, and how many there are.
#[derive(Debug, Default)]
pub(crate) struct Sample {
    pub(crate) nodes: i64,
    pub(crate) embedded: i64,
    pub(crate) sampled: Vec<Sampled>,
}

/// A node of the sample.
#[derive(Debug, sqlx::FromRow)]
pub(crate) struct Sampled {
    pub(crate) id: NodeId,
    embedding: HalfVector,
    pub(crate) excerpt: String,
    pub(crate) topics: Vec<String>,
    pub(crate) robot: String,
    pub(crate) created_at: DateTime<Utc>,
}

impl Sampled {
    /// Its vector.
    pub(crate) fn vector(&self) -> Vec<f32> {
        self.embedding.as_slice().iter().map(|x| x.to_f32()).collect()
    }
}

/// At most `limit` of the nodes that pass a filter and have a vector of `model`, by id. Without a model they are counted
/// only.
pub(crate) async fn sample(
    pool: &dyn Connections,
    scope: Scope<'_>,
    model: Option<&RegisteredModel>,
    limit: usize,
) -> Result<Sample> {
    let mut tx = pool.begin_with("begin read only; set local plan_cache_mode = force_custom_plan").await?;
    let conditions = Conditions::of(&mut tx, scope, Required::default()).await?;
    let Some(model) = model else {
        let sql = format!(
            "select count(*) from htm.visible_nodes m where {conditions}",
            conditions = conditions.nodes()
        );
        let nodes = conditions.bind(Named::new(&sql))?.fetch_scalar(&mut tx).await?;
        return Ok(Sample { nodes, ..Sample::default() });
    };
    let with =
        |sql: &str| sql.replace("{{store}}", &model.store()).replace("{{conditions}}", &conditions.nodes());
    let count = with(
        "select count(*), count(e.node_id)
           from htm.visible_nodes m left join {{store}} e on e.node_id = m.id and e.namespace = m.namespace
          where {{conditions}}",
    );
    let (nodes, embedded) = conditions.bind(Named::new(&count))?.fetch_one(&mut tx).await?;
    let sampled = with(include_str!("sql/map_sample.sql"));
    let sampled = Named::new(&sampled).bind("limit", limit as i64)?;
    let sampled = conditions.bind(sampled)?.fetch_all(&mut tx).await?;
    tx.commit().await?;
    Ok(Sample { nodes, embedded, sampled })
}
