//! Embedding models and their stores, a table each.

use sqlx::PgPool;

use crate::error::Result;
use crate::provider::ModelName;

/// A registered embedding model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegisteredModel {
    /// Its number; its vectors are in `htm.embeddings_<id>`.
    pub id: i32,
    /// Provider and name.
    pub name: ModelName,
    /// The length of its vectors.
    pub dimensions: usize,
    /// Whether another model has a store too: then nodes may be missing here without a job that will bring them.
    pub has_others: bool,
}

impl RegisteredModel {
    /// The table that holds its vectors. Safe to put into SQL: it is made of a number.
    pub(crate) fn store(&self) -> String {
        format!("htm.embeddings_{}", self.id)
    }
}

/// Registers a model and makes its store, or finds it; the first ever registered becomes the active one.
///
/// # Errors
/// A database error, also for dimensions outside 1 to 4,000.
pub async fn register_model(pool: &PgPool, name: &ModelName, dimensions: usize) -> Result<RegisteredModel> {
    let id = sqlx::query_scalar("select htm.register_embedding_model($1, $2, $3)")
        .bind(&name.provider)
        .bind(&name.name)
        .bind(i32::try_from(dimensions).unwrap_or(i32::MAX))
        .fetch_one(pool)
        .await?;
    let has_others = sqlx::query_scalar("select exists (select from htm.embedding_models where id <> $1)")
        .bind(id)
        .fetch_one(pool)
        .await?;
    Ok(RegisteredModel { id, name: name.clone(), dimensions, has_others })
}

/// The model registered last under this name, if any: the one that recall asks.
///
/// # Errors
/// A database error.
pub async fn find_model(pool: &PgPool, name: &ModelName) -> Result<Option<RegisteredModel>> {
    let row: Option<(i32, i32, bool)> = sqlx::query_as(
        "select id, dimensions, exists (select from htm.embedding_models other where other.id <> m.id)
           from htm.embedding_models m
          where provider = $1 and name = $2 order by state = 'active' desc, id desc limit 1",
    )
    .bind(&name.provider)
    .bind(&name.name)
    .fetch_optional(pool)
    .await?;
    Ok(row.map(|(id, dimensions, has_others)| RegisteredModel {
        id,
        name: name.clone(),
        dimensions: dimensions as usize,
        has_others,
    }))
}
