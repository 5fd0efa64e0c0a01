//! Entries of the audit log.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(schema_name = "htm", table_name = "audit_log")]
pub(crate) struct Model {
    #[sea_orm(primary_key)]
    pub(crate) id: i64,
    pub(crate) at: ChronoDateTimeUtc,
    pub(crate) actor: String,
    pub(crate) action: String,
    pub(crate) namespace: Option<String>,
    pub(crate) subject: Option<String>,
    pub(crate) details: Json,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub(crate) enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
