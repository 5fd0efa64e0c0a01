//! Groups of robots.

use sea_orm::entity::prelude::*;

use crate::model::id::GroupId;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(schema_name = "htm", table_name = "robot_groups")]
pub(crate) struct Model {
    #[sea_orm(primary_key)]
    pub(crate) id: GroupId,
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) max_tokens: i64,
    pub(crate) version: i64,
    pub(crate) pruned_version: i64,
    pub(crate) created_at: ChronoDateTimeUtc,
    pub(crate) closed_at: Option<ChronoDateTimeUtc>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub(crate) enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
