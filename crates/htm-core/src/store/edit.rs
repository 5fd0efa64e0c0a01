//! Edits of a node, which its editor has locked.

use chrono::{DateTime, Utc};
use sea_orm::ActiveValue::Set;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QuerySelect};
use serde_json::{Map, Value};
use sqlx::PgConnection;

use super::entity::node;
use super::named::sql;
use super::nodes::UniqueKeys;
use super::orm::on;
use crate::model::caller::Owner;
use crate::model::error::Result;
use crate::model::id::NodeId;

/// The fields of a node that an edit may change or has to know. The text itself is not read.
#[derive(Clone, Debug, PartialEq, sqlx::FromRow)]
pub(crate) struct Current {
    pub(crate) namespace: String,
    pub(crate) robot: String,
    pub(crate) key: Option<String>,
    pub(crate) content_hash: Vec<u8>,
    /// The bytes of the text.
    pub(crate) bytes: i32,
    pub(crate) source: Option<String>,
    pub(crate) kind: Option<String>,
    pub(crate) importance: f32,
    #[sqlx(json)]
    pub(crate) metadata: Map<String, Value>,
    pub(crate) revision: i32,
    pub(crate) duplicate_scope: Option<i64>,
    pub(crate) expires_at: Option<DateTime<Utc>>,
    pub(crate) ttl_seconds: Option<i64>,
}

impl Current {
    pub(crate) fn owner(&self) -> Owner<'_> {
        Owner { namespace: &self.namespace, robot: &self.robot }
    }

    /// Its unique keys.
    pub(crate) fn unique_keys(&self) -> UniqueKeys {
        UniqueKeys {
            namespace: self.namespace.clone(),
            key: self.key.clone(),
            content_hash: self.content_hash.clone(),
            duplicate_scope: self.duplicate_scope,
        }
    }
}

/// The namespace of a live node, which never changes.
pub(crate) async fn namespace(connection: &mut PgConnection, node: NodeId) -> Result<Option<String>> {
    Ok(node::Entity::find_by_id(node)
        .select_only()
        .column(node::Column::Namespace)
        .filter(node::Column::DeletedAt.is_null())
        .into_tuple()
        .one(&on(connection))
        .await?)
}

/// A live node, locked until the transaction's end.
pub(crate) async fn lock_in_tx(connection: &mut PgConnection, node: NodeId) -> Result<Option<Current>> {
    sql!(
        "select n.namespace, r.name as robot, n.key, n.content_hash, octet_length(n.content) as bytes, n.source, n.type as kind, n.importance,
                n.metadata, n.revision, n.duplicate_scope, n.expires_at, n.ttl_seconds
           from htm.nodes n join htm.robots r on r.id = n.robot_id
          where n.id = :node and n.deleted_at is null
            for update of n"
    )
    .bind("node", node)?
    .fetch_optional(connection)
    .await
}

pub(crate) async fn write_details_in_tx(
    connection: &mut PgConnection,
    node: NodeId,
    after: &Current,
) -> Result<()> {
    let details = node::ActiveModel {
        key: Set(after.key.clone()),
        source: Set(after.source.clone()),
        r#type: Set(after.kind.clone()),
        importance: Set(after.importance),
        metadata: Set(Value::Object(after.metadata.clone())),
        ..Default::default()
    };
    node::Entity::update_many()
        .set(details)
        .filter(node::Column::Namespace.eq(&*after.namespace))
        .filter(node::Column::Id.eq(node))
        .exec(&on(connection))
        .await?;
    Ok(())
}

/// Writes a new text with its author, its token count and the encoding of the count. The former text becomes a row of
/// its own.
pub(crate) async fn write_text_in_tx(
    connection: &mut PgConnection,
    node: NodeId,
    after: &Current,
    text: &str,
    author: &str,
    (tokens, encoding): (i32, &str),
) -> Result<()> {
    // Not now(), the start of the transaction: tags that were assigned while it waited for the lock are of the old
    // text.
    sql!(
        "with former as (
            insert into htm.node_revisions (namespace, node_id, revision, content, author, written_at)
            select n.namespace, n.id, n.revision, n.content, coalesce(n.author, :robot), n.updated_at
              from htm.nodes n where n.namespace = :namespace and n.id = :node
         )
         update htm.nodes
            set content = :text, content_hash = :content_hash, revision = :revision, token_count = :tokens,
                token_encoding = :encoding, author = :author, updated_at = clock_timestamp()
          where namespace = :namespace and id = :node"
    )
    .bind("namespace", &after.namespace)?
    .bind("node", node)?
    .bind("text", text)?
    .bind("content_hash", &after.content_hash)?
    .bind("revision", after.revision)?
    .bind("tokens", tokens)?
    .bind("encoding", encoding)?
    .bind("author", Some(author).filter(|author| *author != after.robot))?
    .bind("robot", &after.robot)?
    .execute(connection)
    .await
    .map(drop)
}

/// Ends the waiting jobs of a node's former text, and its dead letters; returns their number. A running job writes
/// nothing (its ack checks the revision), and ends in the same way.
pub(crate) async fn supersede_in_tx(
    connection: &mut PgConnection,
    namespace: &str,
    node: NodeId,
) -> Result<u64> {
    // Jobs are locked in the order of their ids, so that no two statements deadlock.
    let ended = sql!(
        "update htm.visible_jobs
            set status = 'Done', done_at = now(), last_result = '{\"Ok\": \"superseded\"}',
                metadata = delete(metadata, array['parked', 'deferred_since', 'losses'])
          where id = any (array(select j.id from htm.visible_jobs j
                                 where j.job_type like 'htm.%' and j.status in ('Pending', 'Killed')
                                   and j.status <> 'Done'
                                   and j.metadata -> 'namespace' = :namespace
                                   and j.metadata -> 'node' = :node::bigint::text
                                 order by j.id
                                   for update))"
    )
    .bind("namespace", namespace)?
    .bind("node", node)?
    .execute(connection)
    .await?;
    Ok(ended)
}
