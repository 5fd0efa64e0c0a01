//! The changes of the version that orders the hits of a namespace.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(schema_name = "htm", table_name = "ranking_choices")]
pub(crate) struct Model {
    #[sea_orm(primary_key)]
    pub(crate) id: i64,
    pub(crate) namespace: String,
    pub(crate) version: i32,
    pub(crate) former: i32,
    pub(crate) chosen_at: ChronoDateTimeUtc,
    pub(crate) chosen_by: String,
    pub(crate) reason: String,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub(crate) enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
