//! The progress of each backfill run.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel, sqlx::FromRow)]
#[sea_orm(schema_name = "htm", table_name = "backfills")]
pub(crate) struct Model {
    #[sea_orm(primary_key)]
    pub(crate) id: i64,
    pub(crate) queue: String,
    pub(crate) model: String,
    pub(crate) namespace: Option<String>,
    pub(crate) since: Option<ChronoDateTimeUtc>,
    pub(crate) forced: bool,
    pub(crate) cursor_node: i64,
    pub(crate) last_node: i64,
    pub(crate) enqueued: i64,
    pub(crate) started_at: ChronoDateTimeUtc,
    pub(crate) finished_at: Option<ChronoDateTimeUtc>,
    pub(crate) cancelled: bool,
    pub(crate) version: Option<String>,
    pub(crate) max_queued: Option<i64>,
    pub(crate) server: Option<String>,
    pub(crate) served_until: Option<ChronoDateTimeUtc>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub(crate) enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
