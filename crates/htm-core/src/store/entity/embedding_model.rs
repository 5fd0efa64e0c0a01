//! Embedding models.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(schema_name = "htm", table_name = "embedding_models")]
pub(crate) struct Model {
    #[sea_orm(primary_key)]
    pub(crate) id: i32,
    pub(crate) provider: String,
    pub(crate) name: String,
    pub(crate) dimensions: i32,
    pub(crate) distance: String,
    pub(crate) state: String,
    pub(crate) label: String,
    pub(crate) queue: Option<String>,
    pub(crate) index_kind: String,
    pub(crate) created_at: ChronoDateTimeUtc,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub(crate) enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
