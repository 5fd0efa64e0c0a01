//! Quotas of namespaces.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(schema_name = "htm", table_name = "quotas")]
pub(crate) struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub(crate) namespace: String,
    pub(crate) max_memories: Option<i64>,
    pub(crate) max_bytes: Option<i64>,
    pub(crate) requests_per_minute: Option<i32>,
    pub(crate) minute: Option<ChronoDateTimeUtc>,
    pub(crate) taken: i32,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub(crate) enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
