//! Tags and their descriptions.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(schema_name = "htm", table_name = "tags")]
pub(crate) struct Model {
    #[sea_orm(primary_key)]
    pub(crate) id: i64,
    pub(crate) namespace: String,
    pub(crate) path: String,
    pub(crate) created_at: ChronoDateTimeUtc,
    pub(crate) description: Option<String>,
    pub(crate) split_into: Option<Vec<String>>,
    pub(crate) split_rest: String,
    pub(crate) distinct_from: Option<Vec<String>>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub(crate) enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
