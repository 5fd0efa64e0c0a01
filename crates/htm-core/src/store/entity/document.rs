//! Loaded documents.

use sea_orm::entity::prelude::*;

use crate::model::documents::DocumentKind;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(schema_name = "htm", table_name = "documents")]
pub(crate) struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub(crate) namespace: String,
    #[sea_orm(primary_key, auto_increment = false)]
    pub(crate) path: String,
    pub(crate) kind: DocumentKind,
    pub(crate) title: Option<String>,
    pub(crate) bytes: i64,
    pub(crate) digest: Option<Vec<u8>>,
    pub(crate) tags: Vec<String>,
    pub(crate) passages: i32,
    pub(crate) loaded_at: ChronoDateTimeUtc,
    pub(crate) changed_at: ChronoDateTimeUtc,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub(crate) enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
