//! The audit log.

use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::Expr;
use sea_orm::sea_query::extension::postgres::PgExpr;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter};
use serde_json::{Map, Value};
use sqlx::PgConnection;
use sqlx::types::Json;

use super::connections::Connections;
use super::entity::audit_entry;
use super::named::sql;
use super::orm::on;
use crate::model::audit_log::AuditEntry;
use crate::model::error::Result;
use crate::model::timeline::TimeCursor;

/// An act, with who did it and to what.
#[derive(Clone)]
pub(crate) struct Done<'a> {
    pub(crate) actor: &'a str,
    pub(crate) action: &'static str,
    /// None: all.
    pub(crate) namespace: Option<&'a str>,
    pub(crate) subject: Option<&'a str>,
    pub(crate) details: Value,
}

/// Writes an entry, and returns its number.
pub(crate) async fn record(connection: &mut PgConnection, done: Done<'_>) -> Result<i64> {
    let entry = audit_entry::ActiveModel {
        actor: Set(done.actor.to_owned()),
        action: Set(done.action.to_owned()),
        namespace: Set(done.namespace.map(str::to_owned)),
        subject: Set(done.subject.map(str::to_owned)),
        details: Set(done.details),
        ..Default::default()
    };
    Ok(audit_entry::Entity::insert(entry).exec(&on(connection)).await?.last_insert_id)
}

/// Adds the outcome to an entry's details.
pub(crate) async fn complete(pool: &dyn Connections, entry: i64, outcome: Value) -> Result<()> {
    audit_entry::Entity::update_many()
        .col_expr(audit_entry::Column::Details, Expr::col(audit_entry::Column::Details).concatenate(outcome))
        .filter(audit_entry::Column::Id.eq(entry))
        .exec(&on(pool))
        .await?;
    Ok(())
}

/// The entries of the namespaces `seen` before a cursor, the newest first.
pub(crate) async fn last(
    pool: &dyn Connections,
    seen: Option<&[String]>,
    before: Option<TimeCursor>,
    limit: i64,
) -> Result<Vec<AuditEntry>> {
    type Row = (
        i64,
        chrono::DateTime<chrono::Utc>,
        String,
        String,
        Option<String>,
        Option<String>,
        Json<Map<String, Value>>,
    );
    let rows: Vec<Row> = sql!(include_str!("sql/audit_log.sql"))
        .bind("seen", seen)?
        .bind("time", before.map(|cursor| cursor.time))?
        .bind("number", before.map(|cursor| cursor.number))?
        .bind("limit", limit)?
        .fetch_all(pool)
        .await?;
    let entry = |(number, at, actor, action, namespace, subject, Json(details)): Row| AuditEntry {
        cursor: TimeCursor { time: at, number },
        at,
        actor,
        action,
        namespace,
        subject,
        details,
    };
    Ok(rows.into_iter().map(entry).collect())
}
