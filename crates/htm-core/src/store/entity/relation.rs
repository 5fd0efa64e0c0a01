//! Statements about two nodes.

use sea_orm::entity::prelude::*;

use crate::model::id::NodeId;
use crate::model::relations::RelationKind;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(schema_name = "htm", table_name = "relations")]
pub(crate) struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub(crate) from_node: NodeId,
    #[sea_orm(primary_key, auto_increment = false)]
    pub(crate) to_node: NodeId,
    #[sea_orm(primary_key, auto_increment = false)]
    pub(crate) kind: RelationKind,
    #[sea_orm(primary_key, auto_increment = false)]
    pub(crate) namespace: String,
    pub(crate) reason: Option<String>,
    pub(crate) robot: String,
    pub(crate) made_at: ChronoDateTimeUtc,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub(crate) enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
