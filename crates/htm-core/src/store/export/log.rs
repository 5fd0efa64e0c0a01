//! The log of the ontology in an export: the changes, and the names that they concerned.

use sqlx::types::Json;
use sqlx::{FromRow, PgConnection};

use super::{Namespaces, ROWS};
use crate::model::error::Result;
use crate::model::export::{SavedChange, SavedName};
use crate::model::ontology::ChangeKind;
use crate::model::ontology::names::Meaning;
use crate::model::tags::read_tag;
use crate::store::named::sql;

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
        .bind("limit", ROWS)?
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
    #[derive(FromRow)]
    struct Name {
        change_id: i64,
        namespace: String,
        path: String,
        before: Option<Json<Meaning>>,
        after: Option<Json<Meaning>>,
        moved_from: Option<String>,
    }
    let rows: Vec<Name> = sql!(
        "select change_id, namespace, path, before, after, moved_from from htm.tag_change_names
          where (:namespaces::text[] is null or namespace = any (:namespaces)) and (change_id, path) > (:change, :name)
          order by change_id, path limit :limit"
    )
    .bind("namespaces", of)?
    .bind("change", change)?
    .bind("name", name)?
    .bind("limit", ROWS)?
    .fetch_all(db)
    .await?;
    let name = |row: Name| {
        Ok(SavedName {
            ns: row.namespace,
            change: row.change_id,
            name: read_tag(row.path)?,
            before: row.before.map(|it| it.0),
            after: row.after.map(|it| it.0),
            moved_from: row.moved_from.map(read_tag).transpose()?,
        })
    };
    rows.into_iter().map(name).collect()
}
