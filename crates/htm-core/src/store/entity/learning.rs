//! Settings of learning, and the chosen rankings.

use sea_orm::entity::prelude::*;

use crate::model::rankings::TrialKind;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(schema_name = "htm", table_name = "learning")]
pub(crate) struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub(crate) namespace: String,
    pub(crate) learns_with: String,
    pub(crate) is_on: bool,
    pub(crate) keeps_text: bool,
    pub(crate) keep_days: i32,
    pub(crate) least: i32,
    pub(crate) signals: Vec<String>,
    pub(crate) version: i32,
    pub(crate) trial: Option<i32>,
    pub(crate) trial_kind: Option<TrialKind>,
    pub(crate) judged: i64,
    pub(crate) asked_at: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub(crate) enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
