//! The former texts of nodes.

use sea_orm::entity::prelude::*;

use crate::model::id::NodeId;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(schema_name = "htm", table_name = "node_revisions")]
pub(crate) struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub(crate) namespace: String,
    #[sea_orm(primary_key, auto_increment = false)]
    pub(crate) node_id: NodeId,
    #[sea_orm(primary_key, auto_increment = false)]
    pub(crate) revision: i32,
    pub(crate) content: String,
    pub(crate) author: String,
    pub(crate) written_at: ChronoDateTimeUtc,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub(crate) enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
