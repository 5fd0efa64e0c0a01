//! The receipts of erasures.

use sea_orm::entity::prelude::*;

use crate::model::erase::ErasureKind;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(schema_name = "htm", table_name = "erasures")]
pub(crate) struct Model {
    #[sea_orm(primary_key)]
    pub(crate) id: i64,
    pub(crate) asked_by: String,
    pub(crate) selection: ErasureKind,
    pub(crate) robot: Option<String>,
    pub(crate) namespaces: Vec<String>,
    pub(crate) memories: i64,
    pub(crate) removed: Json,
    pub(crate) tags: Vec<i64>,
    pub(crate) began_at: ChronoDateTimeUtc,
    pub(crate) changed_at: ChronoDateTimeUtc,
    #[sea_orm(column_type = "custom(\"xid8\")", select_as = "text")]
    pub(crate) changed_by: String,
    pub(crate) ended_at: Option<ChronoDateTimeUtc>,
    #[sea_orm(column_type = "custom(\"pg_lsn\")", nullable, select_as = "text")]
    pub(crate) wal_position: Option<String>,
    pub(crate) vacuum: Option<Json>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub(crate) enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
