//! Recalls that are kept for feedback.

use sea_orm::entity::prelude::*;

use crate::model::rankings::TrialKind;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(schema_name = "htm", table_name = "recalls")]
pub(crate) struct Model {
    #[sea_orm(primary_key)]
    pub(crate) number: i64,
    #[sea_orm(primary_key, auto_increment = false)]
    pub(crate) namespace: String,
    pub(crate) id: String,
    pub(crate) author: String,
    pub(crate) made_at: ChronoDateTimeUtc,
    pub(crate) features: i16,
    pub(crate) version: i32,
    pub(crate) shown: i16,
    pub(crate) query: Option<String>,
    pub(crate) trial: Option<i32>,
    pub(crate) trial_kind: Option<TrialKind>,
    pub(crate) differs: Option<bool>,
    pub(crate) missed: i16,
    pub(crate) judged: bool,
    pub(crate) keep_until: ChronoDateTimeUtc,
    pub(crate) candidates: Option<Vec<i64>>,
    pub(crate) candidates_shown: Option<Vec<i16>>,
    pub(crate) candidates_by_trial: Option<Vec<bool>>,
    pub(crate) candidates_features: Option<Vec<u8>>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub(crate) enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
