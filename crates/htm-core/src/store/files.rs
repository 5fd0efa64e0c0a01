//! The memories whose keys are paths of files.

use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use serde_json::Value;
use sqlx::PgConnection;

use super::entity::node;
use super::named::sql;
use super::orm::{of_json, on};
use crate::model::error::Result;
use crate::model::files::path::FilePath;
use crate::model::files::{BLANK, BLANK_TEXT, text_of};
use crate::model::id::NodeId;

/// A file with its text.
pub(crate) struct File {
    pub(crate) node: NodeId,
    pub(crate) revision: i32,
    pub(crate) text: String,
}

/// A file below a directory.
#[derive(sqlx::FromRow)]
pub(crate) struct FileBelow {
    pub(crate) node: NodeId,
    pub(crate) key: String,
    pub(crate) bytes: i64,
}

/// Waits for other commands that create, rename or delete files of the namespace, and holds up later ones until the
/// transaction's end. Edits of texts do not wait.
pub(crate) async fn hold_in_tx(connection: &mut PgConnection, namespace: &str) -> Result<()> {
    sql!("select pg_advisory_xact_lock(hashtextextended('htm.files/' || :namespace, 0))")
        .bind("namespace", namespace)?
        .execute(connection)
        .await
        .map(drop)
}

/// The file at a path.
pub(crate) async fn at(
    connection: &mut PgConnection,
    namespace: &str,
    path: &FilePath,
) -> Result<Option<File>> {
    let found: Option<(NodeId, i32, String, Value)> = node::Entity::find()
        .select_only()
        .columns([node::Column::Id, node::Column::Revision, node::Column::Content, node::Column::Metadata])
        .filter(node::Column::Namespace.eq(namespace))
        .filter(node::Column::Key.eq(path.as_str()))
        .filter(node::Column::DeletedAt.is_null())
        .into_tuple()
        .one(&on(connection))
        .await?;
    let Some((node, revision, content, metadata)) = found else { return Ok(None) };
    Ok(Some(File { node, revision, text: text_of(content, &of_json(metadata)?) }))
}

/// Which of the paths are files.
pub(crate) async fn files_among(
    connection: &mut PgConnection,
    namespace: &str,
    paths: &[FilePath],
) -> Result<Vec<(NodeId, String)>> {
    let found = node::Entity::find()
        .select_only()
        .columns([node::Column::Id, node::Column::Key])
        .filter(node::Column::Namespace.eq(namespace))
        .filter(node::Column::Key.eq_any(paths.iter().map(|path| path.as_str().to_owned())))
        .filter(node::Column::DeletedAt.is_null())
        .order_by_asc(node::Column::Key);
    Ok(found.into_tuple().all(&on(connection)).await?)
}

/// The files below a path. Keys that only look like paths are left out.
pub(crate) async fn below(
    connection: &mut PgConnection,
    namespace: &str,
    path: &FilePath,
) -> Result<Vec<FileBelow>> {
    let mut files: Vec<FileBelow> = sql!(include_str!("sql/files_below.sql"))
        .bind("namespace", namespace)?
        .bind("path", path.as_str())?
        .bind("blank", BLANK)?
        .bind("blank_text", BLANK_TEXT)?
        .fetch_all(connection)
        .await?;
    files.retain(|file| FilePath::is_of_file(&file.key));
    Ok(files)
}

/// Gives locked files new paths.
pub(crate) async fn rename_in_tx(
    connection: &mut PgConnection,
    namespace: &str,
    nodes: &[NodeId],
    paths: &[FilePath],
) -> Result<()> {
    sql!(
        "update htm.nodes n set key = u.path
           from (select :namespace::text as namespace, unnest(:nodes::bigint[]) as node, unnest(:paths::text[]) as path) u
          where n.id = u.node and n.namespace = u.namespace"
    )
    .bind("namespace", namespace)?
    .bind("nodes", nodes)?
    .bind("paths", paths.iter().map(FilePath::as_str).collect::<Vec<_>>())?
    .execute(connection)
    .await
    .map(drop)
}
