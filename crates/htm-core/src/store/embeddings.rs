//! Embedding models and their stores, one table for each model.

use std::time::Duration;

use sea_orm::{ColumnTrait, EntityTrait, QueryOrder};

use super::connections::{Connections, Db};
use super::entity::embedding_model;
use super::named::sql;
use super::orm::on;
use crate::model::error::{Error, Result};
use crate::model::jobs::queue_unknown;
use crate::model::models::{ModelState, unknown};
use crate::model::vector_index::VectorIndex;
use crate::provider::ModelName;

/// The longest time until a process sees that another model became active.
pub(crate) const MODELS_KEPT: Duration = Duration::from_secs(1);

/// A registered embedding model.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RegisteredModel {
    /// Its number; its vectors are in `htm.embeddings_<id>`.
    pub id: i32,
    /// Provider and name.
    pub name: ModelName,
    /// The length of its vectors.
    pub dimensions: usize,
    /// Its unique label: `provider/name`, with `@dimensions` if another model has that name.
    pub label: String,
    /// The queue of its jobs; none: its callers bring the vectors.
    pub queue: Option<String>,
    /// Its state.
    pub state: ModelState,
    /// The kind of the index of its vectors.
    pub vector_index: VectorIndex,
}

impl RegisteredModel {
    /// Whether writes go to it.
    pub fn is_in_use(&self) -> bool {
        self.state != ModelState::Retired
    }

    /// Whether the vectors come from the callers of HTM.
    pub fn is_of_callers(&self) -> bool {
        self.queue.is_none()
    }

    /// The table of its vectors. Safe to put into SQL: the name is built from a number.
    pub(crate) fn store(&self) -> String {
        format!("htm.embeddings_{}", self.id)
    }

    /// The index of that table of this kind, whether it exists or not.
    pub(crate) fn index_of(&self, kind: VectorIndex) -> String {
        format!("htm.embeddings_{}_{kind}_idx", self.id)
    }
}

/// Registers a model and creates its store, or finds it. The first model ever registered becomes active; any other gets
/// its index when it is complete (`vector_index::build`).
///
/// # Errors
/// A database error, also for dimensions outside 1 to 4,000.
pub async fn register_model(
    pool: &dyn Connections,
    name: &ModelName,
    dimensions: usize,
) -> Result<RegisteredModel> {
    let id: i32 = sql!("select htm.register_embedding_model(:provider, :name, :dimensions)")
        .bind("provider", &name.provider)?
        .bind("name", &name.name)?
        .bind("dimensions", i32::try_from(dimensions).unwrap_or(i32::MAX))?
        .fetch_scalar(pool)
        .await?;
    let found = models(pool).await?.into_iter().find(|model| model.id == id);
    found.ok_or_else(|| Error::corrupt(format!("embedding model {id} is not there after it was made")))
}

/// The models, the active one first, then the newest first.
///
/// # Errors
/// A database error.
pub async fn models(pool: &dyn Connections) -> Result<Vec<RegisteredModel>> {
    models_on(pool).await
}

/// As [`models`], also within a transaction.
pub(crate) async fn models_on(db: impl Into<Db<'_>>) -> Result<Vec<RegisteredModel>> {
    let rows = embedding_model::Entity::find()
        .order_by_desc(embedding_model::Column::State.eq(ModelState::Active))
        .order_by_desc(embedding_model::Column::Id)
        .all(&on(db))
        .await?;
    let model = |row: embedding_model::Model| RegisteredModel {
        id: row.id,
        name: ModelName { provider: row.provider, name: row.name },
        dimensions: row.dimensions as usize,
        label: row.label,
        queue: row.queue,
        state: row.state,
        vector_index: row.index_kind,
    };
    Ok(rows.into_iter().map(model).collect())
}

/// The existing tables of vectors, including those of retired models. Safe to put into SQL.
pub(crate) async fn stores(db: impl Into<Db<'_>>) -> Result<Vec<String>> {
    sql!(
        "select 'htm.embeddings_' || id from htm.embedding_models
          where to_regclass('htm.embeddings_' || id) is not null order by id"
    )
    .fetch_scalars(db)
    .await
}

/// The model with this label.
///
/// # Errors
/// `model_unknown`, with the known labels.
pub fn by_label<'a>(models: &'a [RegisteredModel], label: &str) -> Result<&'a RegisteredModel> {
    let found = models.iter().find(|model| model.label == label);
    found.ok_or_else(|| {
        let known: Vec<&str> = models.iter().map(|model| model.label.as_str()).collect();
        unknown(label, &known.join(", "))
    })
}

/// The model of this name that is meant where no dimensions are given: the active one, else the only one in use.
pub fn by_name<'a>(models: &'a [RegisteredModel], name: &ModelName) -> Option<&'a RegisteredModel> {
    // The active one is the first.
    let mut in_use = models.iter().filter(|model| model.name == *name && model.is_in_use());
    let first = in_use.next()?;
    (first.state == ModelState::Active || in_use.next().is_none()).then_some(first)
}

/// The model whose jobs are in this queue.
///
/// # Errors
/// `queue_unknown`, with the known queues.
pub fn by_queue<'a>(models: &'a [RegisteredModel], queue: &str) -> Result<&'a RegisteredModel> {
    let found = models.iter().find(|model| model.queue.as_deref() == Some(queue));
    found.ok_or_else(|| {
        let known: Vec<String> = models
            .iter()
            .filter_map(|model| Some(format!("{} ({})", model.queue.as_ref()?, model.label)))
            .collect();
        queue_unknown(queue, &known)
    })
}
