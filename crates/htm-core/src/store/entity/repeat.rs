//! The number of times that a robot remembered an existing memory again.

use sea_orm::entity::prelude::*;

use crate::model::id::{NodeId, RobotId};

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(schema_name = "htm", table_name = "repeats")]
pub(crate) struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub(crate) namespace: String,
    #[sea_orm(primary_key, auto_increment = false)]
    pub(crate) node_id: NodeId,
    #[sea_orm(primary_key, auto_increment = false)]
    pub(crate) robot_id: RobotId,
    pub(crate) count: i64,
    pub(crate) first_at: ChronoDateTimeUtc,
    pub(crate) last_at: ChronoDateTimeUtc,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub(crate) enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
