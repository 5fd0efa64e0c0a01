//! The members of groups.

use sea_orm::entity::prelude::*;

use crate::model::groups::GroupRole;
use crate::model::id::{GroupId, RobotId};

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(schema_name = "htm", table_name = "group_members")]
pub(crate) struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub(crate) group_id: GroupId,
    #[sea_orm(primary_key, auto_increment = false)]
    pub(crate) robot_id: RobotId,
    pub(crate) role: GroupRole,
    pub(crate) membership: Uuid,
    pub(crate) lease_ms: i64,
    pub(crate) seen_at: ChronoDateTimeUtc,
    pub(crate) seen_version: i64,
    pub(crate) joined_at: ChronoDateTimeUtc,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub(crate) enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
