//! The working memories of groups.

use sea_orm::entity::prelude::*;

use crate::model::id::{GroupId, NodeId, RobotId};

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(schema_name = "htm", table_name = "group_memory")]
pub(crate) struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub(crate) group_id: GroupId,
    #[sea_orm(primary_key, auto_increment = false)]
    pub(crate) namespace: String,
    #[sea_orm(primary_key, auto_increment = false)]
    pub(crate) node_id: NodeId,
    pub(crate) version: i64,
    pub(crate) robot_id: Option<RobotId>,
    pub(crate) added_at: ChronoDateTimeUtc,
    pub(crate) accessed_at: ChronoDateTimeUtc,
    pub(crate) accesses: i64,
    pub(crate) removed_at: Option<ChronoDateTimeUtc>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub(crate) enum Relation {
    #[sea_orm(belongs_to = "super::group::Entity", from = "Column::GroupId", to = "super::group::Column::Id")]
    Group,
    #[sea_orm(
        belongs_to = "super::node::Entity",
        from = "(Column::NodeId, Column::Namespace)",
        to = "(super::node::Column::Id, super::node::Column::Namespace)"
    )]
    Node,
}

impl Related<super::group::Entity> for Entity {
    fn to() -> RelationDef {
        Relation::Group.def()
    }
}

impl Related<super::node::Entity> for Entity {
    fn to() -> RelationDef {
        Relation::Node.def()
    }
}

impl ActiveModelBehavior for ActiveModel {}
