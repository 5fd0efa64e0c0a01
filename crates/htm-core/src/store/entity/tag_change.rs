//! The log of the ontology's changes.

use sea_orm::entity::prelude::*;

use crate::model::ontology::ChangeKind;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(schema_name = "htm", table_name = "tag_changes")]
pub(crate) struct Model {
    #[sea_orm(primary_key)]
    pub(crate) id: i64,
    pub(crate) namespace: String,
    pub(crate) kind: ChangeKind,
    pub(crate) details: Json,
    pub(crate) made_by: Option<String>,
    pub(crate) made_at: ChronoDateTimeUtc,
    pub(crate) nodes: i64,
    pub(crate) reverted_by: Option<i64>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub(crate) enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
