//! Memories, without the columns of full text.

use sea_orm::entity::prelude::*;

use crate::model::id::{NodeId, RobotId};

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(schema_name = "htm", table_name = "nodes")]
pub(crate) struct Model {
    #[sea_orm(primary_key)]
    pub(crate) id: NodeId,
    pub(crate) namespace: String,
    pub(crate) robot_id: RobotId,
    pub(crate) key: Option<String>,
    pub(crate) content: String,
    pub(crate) content_hash: Vec<u8>,
    pub(crate) revision: i32,
    pub(crate) author: Option<String>,
    pub(crate) speaker: Option<String>,
    pub(crate) session: Option<String>,
    pub(crate) seq: Option<i32>,
    pub(crate) source: Option<String>,
    pub(crate) r#type: Option<String>,
    pub(crate) importance: f32,
    pub(crate) token_count: i32,
    pub(crate) token_encoding: String,
    pub(crate) language: String,
    pub(crate) metadata: Json,
    pub(crate) duplicate_scope: Option<i64>,
    pub(crate) created_at: ChronoDateTimeUtc,
    pub(crate) remembered_at: ChronoDateTimeUtc,
    pub(crate) updated_at: ChronoDateTimeUtc,
    pub(crate) deleted_at: Option<ChronoDateTimeUtc>,
    pub(crate) forget_reason: Option<String>,
    pub(crate) expires_at: Option<ChronoDateTimeUtc>,
    pub(crate) ttl_seconds: Option<i64>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub(crate) enum Relation {
    #[sea_orm(belongs_to = "super::robot::Entity", from = "Column::RobotId", to = "super::robot::Column::Id")]
    Robot,
}

impl Related<super::robot::Entity> for Entity {
    fn to() -> RelationDef {
        Relation::Robot.def()
    }
}

impl ActiveModelBehavior for ActiveModel {}
