//! The nodes of erasures, up to 1,000 a row.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(schema_name = "htm", table_name = "erased_nodes")]
pub(crate) struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub(crate) erasure_id: i64,
    #[sea_orm(primary_key, auto_increment = false)]
    pub(crate) chunk: i32,
    pub(crate) nodes: Vec<i64>,
    pub(crate) erased_at: Option<ChronoDateTimeUtc>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub(crate) enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
