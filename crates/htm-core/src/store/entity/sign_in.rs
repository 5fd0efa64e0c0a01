//! Browsers that were signed in with a key.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(schema_name = "htm", table_name = "sign_ins")]
pub(crate) struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub(crate) digest: Vec<u8>,
    pub(crate) key_id: String,
    pub(crate) issued_at: ChronoDateTimeUtc,
    pub(crate) ends_at: ChronoDateTimeUtc,
    pub(crate) is_replaced: bool,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub(crate) enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
