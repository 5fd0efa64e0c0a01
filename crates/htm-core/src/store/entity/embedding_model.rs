//! Embedding models.

use sea_orm::entity::prelude::*;

use crate::model::models::ModelState;
use crate::model::vector_index::VectorIndex;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(schema_name = "htm", table_name = "embedding_models")]
pub(crate) struct Model {
    #[sea_orm(primary_key)]
    pub(crate) id: i32,
    pub(crate) provider: String,
    pub(crate) name: String,
    pub(crate) dimensions: i32,
    pub(crate) distance: String,
    pub(crate) state: ModelState,
    pub(crate) label: String,
    pub(crate) queue: Option<String>,
    pub(crate) index_kind: VectorIndex,
    pub(crate) created_at: ChronoDateTimeUtc,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub(crate) enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
