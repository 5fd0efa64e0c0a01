//! The size of each namespace.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(schema_name = "htm", table_name = "namespace_statistics")]
pub(crate) struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub(crate) namespace: String,
    pub(crate) node_count: i64,
    pub(crate) average_lexemes: f32,
    pub(crate) unseen_count: i64,
    pub(crate) refreshed_at: Option<ChronoDateTimeUtc>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub(crate) enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
