//! A node that is being edited, locked by its editor.

use serde_json::{Map, Value};
use sqlx::PgConnection;
use sqlx::types::Json;

use super::nodes::Place;
use crate::model::caller::Owner;
use crate::model::error::Result;
use crate::model::id::NodeId;

/// What an edit may change about a node, and what it has to know. The text itself is not read.
#[derive(Clone, Debug, PartialEq, sqlx::FromRow)]
pub(crate) struct Current {
    pub(crate) namespace: String,
    pub(crate) robot: String,
    pub(crate) key: Option<String>,
    pub(crate) content_hash: Vec<u8>,
    pub(crate) source: Option<String>,
    pub(crate) kind: Option<String>,
    pub(crate) importance: f32,
    #[sqlx(json)]
    pub(crate) metadata: Map<String, Value>,
    pub(crate) revision: i32,
    pub(crate) duplicate_scope: Option<i64>,
}

impl Current {
    pub(crate) fn owner(&self) -> Owner<'_> {
        Owner { namespace: &self.namespace, robot: &self.robot }
    }

    /// What it holds that only one node may hold.
    pub(crate) fn place(&self) -> Place {
        Place {
            namespace: self.namespace.clone(),
            key: self.key.clone(),
            content_hash: self.content_hash.clone(),
            duplicate_scope: self.duplicate_scope,
        }
    }
}

/// The namespace of a live node, which never changes.
pub(crate) async fn namespace(connection: &mut PgConnection, node: NodeId) -> Result<Option<String>> {
    Ok(sqlx::query_scalar("select namespace from htm.nodes where id = $1 and deleted_at is null")
        .bind(node)
        .fetch_optional(connection)
        .await?)
}

/// A live node, locked until the transaction's end.
pub(crate) async fn lock_in_tx(connection: &mut PgConnection, node: NodeId) -> Result<Option<Current>> {
    Ok(sqlx::query_as(
        "select n.namespace, r.name as robot, n.key, n.content_hash, n.source, n.type as kind, n.importance,
                n.metadata, n.revision, n.duplicate_scope
           from htm.nodes n join htm.robots r on r.id = n.robot_id
          where n.id = $1 and n.deleted_at is null
            for update of n",
    )
    .bind(node)
    .fetch_optional(connection)
    .await?)
}

pub(crate) async fn write_details_in_tx(
    connection: &mut PgConnection,
    node: NodeId,
    after: &Current,
) -> Result<(), sqlx::Error> {
    sqlx::query(
        "update htm.nodes set key = $2, source = $3, type = $4, importance = $5, metadata = $6 where id = $1",
    )
    .bind(node)
    .bind(&after.key)
    .bind(&after.source)
    .bind(&after.kind)
    .bind(after.importance)
    .bind(Json(&after.metadata))
    .execute(connection)
    .await
    .map(drop)
}

/// Writes another text, with its author, its tokens and what counted them; the former text becomes a row of its own.
pub(crate) async fn write_text_in_tx(
    connection: &mut PgConnection,
    node: NodeId,
    after: &Current,
    text: &str,
    author: &str,
    (tokens, encoding): (i32, &str),
) -> Result<(), sqlx::Error> {
    // Not now(), the transaction's beginning: tags that were assigned while it waited for the lock are of the old text.
    sqlx::query(
        "with former as (
            insert into htm.node_revisions (namespace, node_id, revision, content, author, written_at)
            select n.namespace, n.id, n.revision, n.content, coalesce(n.author, $8), n.updated_at
              from htm.nodes n where n.id = $1
         )
         update htm.nodes
            set content = $2, content_hash = $3, revision = $4, token_count = $5, token_encoding = $6,
                author = $7, updated_at = clock_timestamp()
          where id = $1",
    )
    .bind(node)
    .bind(text)
    .bind(&after.content_hash)
    .bind(after.revision)
    .bind(tokens)
    .bind(encoding)
    .bind(Some(author).filter(|author| *author != after.robot))
    .bind(&after.robot)
    .execute(connection)
    .await
    .map(drop)
}

/// Ends the jobs of a node's former text that wait, and its dead letters; returns how many. One that runs at this moment
/// writes nothing (its ack looks at the revision), and ends in the same way.
pub(crate) async fn supersede_in_tx(
    connection: &mut PgConnection,
    namespace: &str,
    node: NodeId,
) -> Result<u64> {
    let ended = sqlx::query(
        "update apalis.jobs
            set status = 'Done', done_at = now(), last_result = '{\"Ok\": \"superseded\"}',
                metadata = delete(metadata, array['parked', 'deferred_since', 'losses'])
          where job_type like 'htm.%' and status in ('Pending', 'Killed') and status <> 'Done'
            and metadata -> 'namespace' = $1 and metadata -> 'node' = $2::bigint::text",
    )
    .bind(namespace)
    .bind(node)
    .execute(connection)
    .await?;
    Ok(ended.rows_affected())
}
