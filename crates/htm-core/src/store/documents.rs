//! Documents, and the passages that they have as nodes.

use std::collections::HashSet;

use chrono::{DateTime, Utc};
use sea_orm::ActiveValue::Set;
use sea_orm::EntityTrait;
use sea_orm::sea_query::{Expr, OnConflict};
use sqlx::PgConnection;
use sqlx::types::Json;

use super::connections::Connections;
use super::embeddings;
use super::entity::document;
use super::named::{Named, sql};
use super::orm::on;
use super::recall::{NodeRow, node_columns};
use crate::model::caller::Owner;
use crate::model::documents::{Document, DocumentInfo, DocumentKind, Known, Moved};
use crate::model::error::Result;
use crate::model::id::NodeId;
use crate::model::nodes::Node;
use crate::model::tags::{TagPath, read_tag};

/// A document's row.
pub(crate) struct Found {
    pub(crate) info: DocumentInfo,
    /// None: a passage was erased since it was loaded.
    pub(crate) digest: Option<Vec<u8>>,
    /// The passages that it had when it was loaded.
    pub(crate) loaded: u64,
}

/// A row of htm.documents.
#[derive(sqlx::FromRow)]
struct DocumentRow {
    namespace: String,
    path: String,
    kind: DocumentKind,
    title: Option<String>,
    bytes: i64,
    digest: Option<Vec<u8>>,
    tags: Vec<String>,
    /// The passages that it had when it was loaded.
    loaded: i32,
    loaded_at: DateTime<Utc>,
    changed_at: DateTime<Utc>,
    /// The passages that it has now.
    passages: i64,
}

impl DocumentRow {
    fn into_found(self) -> Result<Found> {
        let info = DocumentInfo {
            kind: self.kind,
            tags: self.tags.into_iter().map(read_tag).collect::<Result<_>>()?,
            namespace: self.namespace,
            path: self.path,
            title: self.title,
            bytes: self.bytes as u64,
            passages: self.passages as u64,
            loaded_at: self.loaded_at,
            changed_at: self.changed_at,
        };
        Ok(Found { info, digest: self.digest, loaded: self.loaded as u64 })
    }
}

/// Which documents of a namespace are read.
#[derive(Default)]
pub(crate) struct Which<'a> {
    pub(crate) path: Option<&'a str>,
    pub(crate) after: Option<&'a str>,
    pub(crate) below: Option<&'a str>,
}

fn select(namespace: &str, which: &Which<'_>, limit: i64) -> Result<Named> {
    let statement = sql!(include_str!("sql/documents.sql"))
        .bind("namespace", namespace)?
        .bind("path", which.path)?
        .bind("after", which.after)?
        .bind("below", which.below)?
        .bind("limit", limit)?;
    Ok(statement.planned_anew())
}

/// Documents in the order of their paths.
pub(crate) async fn list(
    pool: &dyn Connections,
    namespace: &str,
    which: &Which<'_>,
    limit: i64,
) -> Result<Vec<DocumentInfo>> {
    let rows: Vec<DocumentRow> = select(namespace, which, limit)?.fetch_all(pool).await?;
    rows.into_iter().map(|row| Ok(row.into_found()?.info)).collect()
}

/// The document with a path.
pub(crate) async fn find_in_tx(
    connection: &mut PgConnection,
    namespace: &str,
    path: &str,
) -> Result<Option<Found>> {
    let which = Which { path: Some(path), ..Which::default() };
    let row: Option<DocumentRow> = select(namespace, &which, 1)?.fetch_optional(connection).await?;
    row.map(DocumentRow::into_found).transpose()
}

/// The live passages of a document, in its order, and the bytes of their texts.
pub(crate) async fn known_in_tx(
    connection: &mut PgConnection,
    namespace: &str,
    path: &str,
) -> Result<Vec<(Known, i64)>> {
    let rows: Vec<KnownRow> = sql!(
        "select n.id, n.key, n.seq, n.source, n.metadata, n.created_at, n.remembered_at, octet_length(n.content) as bytes
           from htm.nodes n
          where n.namespace = :namespace and md5(n.session) = md5(:path) and n.session = :path and n.type = 'passage'
            and n.key like 'passage:%'
            and n.deleted_at is null
          order by n.seq, n.id"
    )
    .bind("namespace", namespace)?
    .bind("path", path)?
    .fetch_all(connection)
    .await?;
    Ok(rows.into_iter().map(|row| row.into_known(false)).collect())
}

/// The passages that unloads of a document have forgotten, those of the last one first; only those of `owner`, if given. Those
/// whose key or content a live node has by now are left out.
pub(crate) async fn unloaded_in_tx(
    connection: &mut PgConnection,
    namespace: &str,
    path: &str,
    owner: Option<Owner<'_>>,
) -> Result<Vec<(Known, i64)>> {
    // An owner of another namespace has no nodes here.
    let robot = owner.map(|owner| if owner.namespace == namespace { owner.robot } else { "" });
    let rows: Vec<KnownRow> = sql!(
        "select n.id, n.key, n.seq, n.source, n.metadata, n.created_at, n.remembered_at, octet_length(n.content) as bytes
           from htm.nodes n join htm.robots r on r.id = n.robot_id
          where n.namespace = :namespace and md5(n.session) = md5(:path) and n.session = :path and n.type = 'passage'
            and n.key like 'passage:%'
            and n.deleted_at is not null and n.forget_reason = 'unloaded'
            and (:robot::text is null or r.name = :robot)
            and not exists (select from htm.nodes h
                             where h.namespace = :namespace and h.key = n.key and h.deleted_at is null)
            and not exists (select from htm.nodes h
                             where h.namespace = :namespace and h.duplicate_scope = n.duplicate_scope
                               and h.content_hash = n.content_hash and h.deleted_at is null)
          order by n.deleted_at desc, n.seq, n.id"
    )
    .bind("namespace", namespace)?
    .bind("path", path)?
    .bind("robot", robot)?
    .fetch_all(connection)
    .await?;
    Ok(rows.into_iter().map(|row| row.into_known(true)).collect())
}

/// Locks nodes, among them passages that the unload has forgotten. False: one of these is restored or purged by now.
pub(crate) async fn lock_unloaded_in_tx(
    connection: &mut PgConnection,
    namespace: &str,
    nodes: &[NodeId],
    unloaded: &[NodeId],
) -> Result<bool> {
    let locked: Vec<(NodeId, bool)> = sql!(
        "select n.id, coalesce(n.forget_reason = 'unloaded', false)
           from htm.nodes n
          where n.namespace = :namespace and n.id = any (:nodes)
          order by n.id
            for update"
    )
    .bind("namespace", namespace)?
    .bind("nodes", nodes)?
    .fetch_all(connection)
    .await?;
    let still: HashSet<NodeId> = locked.into_iter().filter(|it| it.1).map(|it| it.0).collect();
    Ok(unloaded.iter().all(|node| still.contains(node)))
}

#[derive(sqlx::FromRow)]
struct KnownRow {
    id: NodeId,
    key: Option<String>,
    seq: Option<i32>,
    source: Option<String>,
    metadata: serde_json::Value,
    created_at: DateTime<Utc>,
    remembered_at: DateTime<Utc>,
    bytes: i32,
}

impl KnownRow {
    /// The passage, and the bytes of its text.
    fn into_known(self, is_unloaded: bool) -> (Known, i64) {
        let Self { id: node, key, seq, source, metadata, created_at: at, remembered_at, bytes } = self;
        (Known { node, is_unloaded, key, seq, source, metadata, at, remembered_at }, i64::from(bytes))
    }
}

/// A page of the passages of a document, in its order, after a position.
pub(crate) async fn passages(
    pool: &dyn Connections,
    namespace: &str,
    path: &str,
    after: Option<i32>,
    limit: i64,
) -> Result<Vec<Node>> {
    let statement = format!(
        "select {} from htm.nodes m join htm.robots r on r.id = m.robot_id
          where m.namespace = :namespace and md5(m.session) = md5(:path) and m.session = :path and m.type = 'passage'
            and m.deleted_at is null and (:after::int is null or m.seq > :after)
          order by m.seq, m.id limit :limit",
        node_columns()
    );
    let rows: Vec<NodeRow> = Named::new(&statement)
        .bind("namespace", namespace)?
        .bind("path", path)?
        .bind("after", after)?
        .bind("limit", limit)?
        .planned_anew()
        .fetch_answer(pool)
        .await?;
    rows.into_iter().map(NodeRow::into_node).collect()
}

/// Moves passages to other places of their document, and to other times. Their texts stay, and so do their vectors.
pub(crate) async fn move_in_tx(
    connection: &mut PgConnection,
    namespace: &str,
    moved: &[Moved],
) -> Result<()> {
    if moved.is_empty() {
        return Ok(());
    }
    sql!(
        "update htm.nodes n
            set seq = u.seq, source = u.source, metadata = u.metadata, created_at = coalesce(u.at, n.created_at)
           from unnest(:nodes::bigint[], :seqs::int[], :sources::text[], :metadata::jsonb[], :times::timestamptz[])
                as u(node, seq, source, metadata, at)
          where n.id = u.node and n.namespace = :namespace"
    )
    .bind("namespace", namespace)?
    .bind("nodes", moved.iter().map(|it| it.node).collect::<Vec<_>>())?
    .bind("seqs", moved.iter().map(|it| it.seq).collect::<Vec<_>>())?
    .bind("sources", moved.iter().map(|it| it.source.as_str()).collect::<Vec<_>>())?
    .bind("metadata", moved.iter().map(|it| Json(&it.metadata)).collect::<Vec<_>>())?
    .bind("times", moved.iter().map(|it| it.at).collect::<Vec<Option<DateTime<Utc>>>>())?
    .execute(&mut *connection)
    .await?;
    let (nodes, times): (Vec<NodeId>, Vec<DateTime<Utc>>) =
        moved.iter().filter_map(|it| Some((it.node, it.at?))).unzip();
    if nodes.is_empty() {
        return Ok(());
    }
    // Filters by time read the time beside the vector. A worker that brings one waits for the lock of its node.
    for store in embeddings::stores(&mut *connection).await? {
        let statement = format!(
            "update {store} e set created_at = u.at
               from unnest(:nodes::bigint[], :times::timestamptz[]) as u(node, at)
              where e.node_id = u.node and e.namespace = :namespace"
        );
        Named::new(&statement)
            .bind("namespace", namespace)?
            .bind("nodes", &nodes)?
            .bind("times", &times)?
            .execute(&mut *connection)
            .await?;
    }
    Ok(())
}

/// Takes tags from passages that they have because their document had them, not because of a tagger.
pub(crate) async fn untag_in_tx(
    connection: &mut PgConnection,
    namespace: &str,
    nodes: &[NodeId],
    tags: &[TagPath],
) -> Result<()> {
    if nodes.is_empty() || tags.is_empty() {
        return Ok(());
    }
    sql!(
        "delete from htm.node_tags nt using htm.tags t
          where nt.node_id = any (:nodes) and nt.namespace = :namespace and nt.origin = 'manual' and t.id = nt.tag_id
            and t.path in (select unnest(array[p, htm.tag_meant(t.namespace, p)]) from unnest(:paths::text[]) p)"
    )
    .bind("namespace", namespace)?
    .bind("nodes", nodes)?
    .bind("paths", tags.iter().map(TagPath::as_str).collect::<Vec<_>>())?
    .execute(connection)
    .await
    .map(drop)
}

/// Writes the row of a document that was loaded, and whose passages have these tags.
pub(crate) async fn put_in_tx(
    connection: &mut PgConnection,
    namespace: &str,
    document: &Document,
    tags: &[TagPath],
) -> Result<()> {
    use document::Column;
    let row = document::ActiveModel {
        namespace: Set(namespace.to_owned()),
        path: Set(document.path.clone()),
        kind: Set(document.kind),
        title: Set(document.title.clone()),
        bytes: Set(document.bytes as i64),
        digest: Set(Some(document.digest.to_vec())),
        tags: Set(tags.iter().map(ToString::to_string).collect()),
        passages: Set(document.passages.len() as i32),
        ..Default::default()
    };
    let loaded = [Column::Kind, Column::Title, Column::Bytes, Column::Digest, Column::Tags, Column::Passages];
    let changed = OnConflict::columns([Column::Namespace, Column::Path])
        .update_columns(loaded)
        .value(Column::ChangedAt, Expr::current_timestamp())
        .to_owned();
    document::Entity::insert(row).on_conflict(changed).exec_without_returning(&on(connection)).await?;
    Ok(())
}

/// Deletes the row of a document; false if there is none.
pub(crate) async fn remove_in_tx(connection: &mut PgConnection, namespace: &str, path: &str) -> Result<bool> {
    let key = (namespace.to_owned(), path.to_owned());
    Ok(document::Entity::delete_by_id(key).exec(&on(connection)).await?.rows_affected > 0)
}

/// The documents that these nodes are passages of, by namespace and path.
pub(super) async fn of_nodes_in_tx(
    connection: &mut PgConnection,
    namespaces: &[&str],
    nodes: &[NodeId],
) -> Result<Vec<(String, String)>> {
    sql!(
        "select distinct d.namespace, d.path
           from htm.nodes n join htm.documents d on d.namespace = n.namespace and d.path = n.session
          where n.namespace = any (:namespaces) and n.id = any (:nodes)
            and n.type = 'passage' and n.key like 'passage:%'
          order by 1, 2"
    )
    .bind("namespaces", namespaces)?
    .bind("nodes", nodes)?
    .fetch_all(connection)
    .await
}

/// After some passages of these documents are gone for ever: deletes the rows of those that have none left, forgotten ones
/// included. Returns the number of rows.
pub(super) async fn delete_empty_in_tx(
    connection: &mut PgConnection,
    documents: &[(String, String)],
) -> Result<u64> {
    if documents.is_empty() {
        return Ok(0);
    }
    let (namespaces, paths) = unzipped(documents);
    // A statement of its own: a load may have the row, and the passages that it writes are seen after its end.
    sql!(
        "select from htm.documents d join unnest(:namespaces::text[], :paths::text[]) u(namespace, path)
             on (d.namespace, d.path) = (u.namespace, u.path)
          order by d.namespace, d.path for update of d"
    )
    .bind("namespaces", &namespaces)?
    .bind("paths", &paths)?
    .execute(&mut *connection)
    .await?;
    sql!(
        "delete from htm.documents d using unnest(:namespaces::text[], :paths::text[]) u(namespace, path)
          where (d.namespace, d.path) = (u.namespace, u.path)
            and not exists (select from htm.nodes n
                             where n.namespace = d.namespace and md5(n.session) = md5(d.path) and n.session = d.path
                               and n.type = 'passage' and n.key like 'passage:%')"
    )
    .bind("namespaces", namespaces)?
    .bind("paths", paths)?
    .execute(connection)
    .await
}

/// Clears the digests of these documents: passages of theirs were erased. Returns the number of rows.
pub(super) async fn clear_digests_in_tx(
    connection: &mut PgConnection,
    documents: &[(String, String)],
) -> Result<u64> {
    if documents.is_empty() {
        return Ok(0);
    }
    let (namespaces, paths) = unzipped(documents);
    sql!(
        "update htm.documents d set digest = null from unnest(:namespaces::text[], :paths::text[]) u(namespace, path)
          where (d.namespace, d.path) = (u.namespace, u.path) and d.digest is not null"
    )
    .bind("namespaces", namespaces)?
    .bind("paths", paths)?
    .execute(connection)
    .await
}

fn unzipped(documents: &[(String, String)]) -> (Vec<&str>, Vec<&str>) {
    documents.iter().map(|(namespace, path)| (namespace.as_str(), path.as_str())).unzip()
}
