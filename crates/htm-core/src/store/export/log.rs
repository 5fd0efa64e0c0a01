//! The log of the ontology in an export: the changes, and the names that they concerned.

use sea_orm::{EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use sqlx::types::Json;
use sqlx::{FromRow, PgConnection};

use super::{Namespaces, ROWS, within};
use crate::model::error::Result;
use crate::model::export::{SavedChange, SavedName};
use crate::model::ontology::ChangeKind;
use crate::model::tags::read_tag;
use crate::store::entity::tag_change_name;
use crate::store::named::sql;
use crate::store::orm::{behind, of_json, on};

/// A page of the changes, after a namespace and number.
pub(crate) async fn changes(
    db: &mut PgConnection,
    of: Namespaces<'_>,
    (namespace, change): (&str, i64),
) -> Result<Vec<SavedChange>> {
    #[derive(FromRow)]
    struct ChangeRow {
        id: i64,
        namespace: String,
        kind: ChangeKind,
        details: Json<serde_json::Map<String, serde_json::Value>>,
        made_by: Option<String>,
        made_at: chrono::DateTime<chrono::Utc>,
        nodes: i64,
        reverts: Option<i64>,
    }
    let rows: Vec<ChangeRow> = sql!(include_str!("../sql/export_changes.sql"))
        .bind("namespaces", of)?
        .bind("namespace", namespace)?
        .bind("change", change)?
        .bind("limit", ROWS as i64)?
        .fetch_all(db)
        .await?;
    let change = |row: ChangeRow| SavedChange {
        action: row.kind,
        ns: row.namespace,
        change: row.id,
        details: row.details.0,
        made_by: row.made_by,
        made_at: row.made_at,
        nodes: row.nodes,
        reverts: row.reverts,
    };
    Ok(rows.into_iter().map(change).collect())
}

/// A page of the names, after a change and a name.
pub(crate) async fn names(
    db: &mut PgConnection,
    of: Namespaces<'_>,
    (change, name): (i64, &str),
) -> Result<Vec<SavedName>> {
    let columns = [tag_change_name::Column::ChangeId, tag_change_name::Column::Path];
    let rows = tag_change_name::Entity::find()
        .filter(within(of, tag_change_name::Column::Namespace))
        .filter(behind(columns, [change.into(), name.into()]))
        .order_by_asc(tag_change_name::Column::ChangeId)
        .order_by_asc(tag_change_name::Column::Path)
        .limit(ROWS)
        .all(&on(db))
        .await?;
    let name = |row: tag_change_name::Model| {
        Ok(SavedName {
            ns: row.namespace,
            change: row.change_id,
            name: read_tag(row.path)?,
            before: row.before.map(of_json).transpose()?,
            after: row.after.map(of_json).transpose()?,
            moved_from: row.moved_from.map(read_tag).transpose()?,
        })
    };
    rows.into_iter().map(name).collect()
}
