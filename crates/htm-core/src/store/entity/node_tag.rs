//! The tags of nodes.

use sea_orm::entity::prelude::*;

use crate::model::id::NodeId;
use crate::model::tags::TagOrigin;

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(schema_name = "htm", table_name = "node_tags")]
pub(crate) struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub(crate) namespace: String,
    #[sea_orm(primary_key, auto_increment = false)]
    pub(crate) node_id: NodeId,
    #[sea_orm(primary_key, auto_increment = false)]
    pub(crate) tag_id: i64,
    pub(crate) origin: TagOrigin,
    pub(crate) model: Option<String>,
    pub(crate) prompt_version: Option<String>,
    pub(crate) confidence: Option<f32>,
    pub(crate) created_at: ChronoDateTimeUtc,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub(crate) enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
