//! Operations and their answers.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(schema_name = "htm", table_name = "operations")]
pub(crate) struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub(crate) scope: String,
    #[sea_orm(primary_key, auto_increment = false)]
    pub(crate) id: String,
    pub(crate) digest: Vec<u8>,
    pub(crate) answer: Option<Json>,
    pub(crate) claimed_until: ChronoDateTimeUtc,
    pub(crate) expires_at: ChronoDateTimeUtc,
    pub(crate) seen_by: String,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub(crate) enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
