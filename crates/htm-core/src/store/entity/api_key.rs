//! Keys of the API, without their secret parts.

use sea_orm::entity::prelude::*;

use crate::model::api_keys::Role;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel, sqlx::FromRow)]
#[sea_orm(schema_name = "htm", table_name = "api_keys")]
pub(crate) struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub(crate) id: String,
    pub(crate) digest: Vec<u8>,
    pub(crate) name: Option<String>,
    pub(crate) role: Role,
    pub(crate) namespaces: Option<Vec<String>>,
    pub(crate) robot: Option<String>,
    pub(crate) requests_per_minute: Option<i32>,
    pub(crate) created_at: ChronoDateTimeUtc,
    pub(crate) expires_at: Option<ChronoDateTimeUtc>,
    pub(crate) revoked_at: Option<ChronoDateTimeUtc>,
    pub(crate) last_used_at: Option<ChronoDateTimeUtc>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub(crate) enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
