//! Robots.

use sea_orm::entity::prelude::*;

use crate::model::id::RobotId;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel, sqlx::FromRow)]
#[sea_orm(schema_name = "htm", table_name = "robots")]
pub(crate) struct Model {
    #[sea_orm(primary_key)]
    pub(crate) id: RobotId,
    pub(crate) uuid: Uuid,
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) metadata: Json,
    pub(crate) created_at: ChronoDateTimeUtc,
    pub(crate) last_active: Option<ChronoDateTimeUtc>,
    pub(crate) max_tokens: Option<i64>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub(crate) enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
