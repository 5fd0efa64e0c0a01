//! Limits and breakers of providers' models.

use sea_orm::entity::prelude::*;

use crate::model::providers::BreakerState;

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(schema_name = "htm", table_name = "providers")]
pub(crate) struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub(crate) model: String,
    pub(crate) requests_per_minute: Option<i32>,
    pub(crate) tokens_per_minute: Option<i32>,
    pub(crate) concurrent_calls: Option<i32>,
    pub(crate) request_level: f64,
    pub(crate) token_level: f64,
    pub(crate) levels_at: Option<ChronoDateTimeUtc>,
    pub(crate) pace_ms: Option<f64>,
    pub(crate) breaker: BreakerState,
    pub(crate) failures: i32,
    pub(crate) openings: i32,
    pub(crate) limits: i32,
    pub(crate) reason: Option<String>,
    pub(crate) retry_at: Option<ChronoDateTimeUtc>,
    pub(crate) resume_at: Option<ChronoDateTimeUtc>,
    pub(crate) changed_at: ChronoDateTimeUtc,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub(crate) enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
