//! The working memory of a group: the changes since a version, and writes.

use chrono::{DateTime, Utc};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use sqlx::PgConnection;
use uuid::Uuid;

use super::connections::Db;
use super::entity::{group_memory, node};
use super::named::sql;
use super::orm::on;
use crate::model::error::Result;
use crate::model::groups::GroupRole;
use crate::model::groups::mirror::{Delta, Held, RowChange, Use};
use crate::model::id::{GroupId, NodeId, RobotId};
use crate::model::nodes::not_found;
use crate::model::tokens::TokenEncoding;
use crate::model::working_memory::Entry;

/// The state of a group for one member, and the changes that the member has not seen.
pub(crate) struct Synced {
    pub(crate) closed: bool,
    pub(crate) max_tokens: usize,
    /// Its role and the membership that acts for it; none if the robot is not a member.
    pub(crate) member: Option<(GroupRole, Uuid)>,
    pub(crate) delta: Delta,
}

#[derive(sqlx::FromRow)]
struct SyncRow {
    version: i64,
    max_tokens: i64,
    closed: bool,
    complete: bool,
    role: Option<GroupRole>,
    membership: Option<Uuid>,
    node: Option<NodeId>,
    live: Option<bool>,
    #[sqlx(flatten)]
    held: HeldRow,
}

/// Null if a row has no node, or a removed one.
#[derive(sqlx::FromRow)]
struct HeldRow {
    content: Option<String>,
    token_count: Option<i32>,
    token_encoding: Option<String>,
    importance: Option<f32>,
    source: Option<String>,
    created_at: Option<DateTime<Utc>>,
    revision: Option<i32>,
    added_at: Option<DateTime<Utc>>,
    accessed_at: Option<DateTime<Utc>>,
    accesses: Option<i64>,
}

impl HeldRow {
    fn read(self, node: NodeId, encoding: TokenEncoding) -> Option<Held> {
        let entry = Entry {
            node,
            content: self.content?.into(),
            tokens: self.token_count?.max(0) as usize,
            importance: self.importance?,
            source: self.source,
            happened_at: self.created_at?,
            revision: self.revision?,
            added_at: self.added_at?,
            accessed_at: self.accessed_at?,
            accesses: self.accesses?.max(0) as u64,
        };
        Some(Held { entry, foreign: self.token_encoding? != encoding.as_ref() })
    }
}

/// The changes since a version (-1: the whole content), for a robot; none if there is no such group.
pub(crate) async fn sync(
    db: impl Into<Db<'_>>,
    group: GroupId,
    robot: Option<RobotId>,
    seen: i64,
    encoding: TokenEncoding,
) -> Result<Option<Synced>> {
    let rows: Vec<SyncRow> = sql!(include_str!("sql/group_sync.sql"))
        .bind("group", group)?
        .bind("robot", robot)?
        .bind("seen", seen)?
        .fetch_all(db)
        .await?;
    let Some(first) = rows.first() else { return Ok(None) };
    let member = match (first.role, first.membership) {
        (Some(role), Some(membership)) => Some((role, membership)),
        _ => None,
    };
    let (closed, max_tokens) = (first.closed, usize::try_from(first.max_tokens).unwrap_or(usize::MAX));
    let (version, complete) = (first.version, first.complete);
    let change = |row: SyncRow| {
        let node = row.node?;
        let held = row.live.unwrap_or(false).then(|| row.held.read(node, encoding)).flatten();
        Some(held.map_or(RowChange::Removed(node), |held| RowChange::Held(Box::new(held))))
    };
    let rows = rows.into_iter().filter_map(change).collect();
    Ok(Some(Synced { closed, max_tokens, member, delta: Delta { version, complete, rows } }))
}

/// New working memory entries of nodes of a namespace, in the given order: the first is the oldest. A node that is not
/// live is an error.
pub(crate) async fn entries_in_tx(
    connection: &mut PgConnection,
    namespace: &str,
    nodes: &[NodeId],
) -> Result<Vec<Entry>> {
    let entries = live_entries_in_tx(connection, namespace, nodes).await?;
    match nodes.iter().find(|node| entries.iter().all(|entry| entry.node != **node)) {
        Some(missing) => Err(not_found(*missing)),
        None => Ok(entries),
    }
}

/// New working memory entries of the nodes that are live and of this namespace, in the given order: the first is the
/// oldest.
pub(crate) async fn live_entries_in_tx(
    connection: &mut PgConnection,
    namespace: &str,
    nodes: &[NodeId],
) -> Result<Vec<Entry>> {
    let rows: Vec<EntryRow> = sql!(
        "select n.id as node, n.content, n.token_count, n.token_encoding, n.importance, n.source, n.created_at, n.revision,
                u.added_at, u.added_at as accessed_at, 0::bigint as accesses
           from (select id, place, now() + place * interval '1 microsecond' as added_at
                   from unnest(:nodes::bigint[]) with ordinality as u(id, place)) u
           join htm.nodes n on n.id = u.id and n.namespace = :namespace and n.deleted_at is null
          order by u.place
            for key share of n"
    )
    .bind("namespace", namespace)?
    .bind("nodes", nodes)?
    .fetch_all(connection)
    .await?;
    let entry = |row: EntryRow| row.held.read(row.node, TokenEncoding::default()).map(|held| held.entry);
    Ok(rows.into_iter().filter_map(entry).collect())
}

#[derive(sqlx::FromRow)]
struct EntryRow {
    node: NodeId,
    #[sqlx(flatten)]
    held: HeldRow,
}

/// A change of a group's working memory.
#[derive(Default)]
pub(crate) struct Changes {
    pub(crate) added: Vec<NodeId>,
    pub(crate) removed: Vec<NodeId>,
    pub(crate) used: Vec<(NodeId, Use)>,
}

impl Changes {
    pub(crate) fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty() && self.used.is_empty()
    }
}

/// Changes the working memory of a locked group of a namespace; `robot` is recorded as the one that added the nodes, the
/// first of which is the oldest.
pub(crate) async fn write_in_tx(
    connection: &mut PgConnection,
    group: GroupId,
    namespace: &str,
    robot: Option<RobotId>,
    changes: &Changes,
) -> Result<()> {
    let used = &changes.used;
    sql!(include_str!("sql/group_write.sql"))
        .bind("group", group)?
        .bind("namespace", namespace)?
        .bind("robot", robot)?
        .bind("added", &changes.added)?
        .bind("removed", &changes.removed)?
        .bind("used", used.iter().map(|(node, _)| *node).collect::<Vec<_>>())?
        .bind("times", used.iter().map(|(_, it)| it.times as i64).collect::<Vec<_>>())?
        .bind("ago_ms", used.iter().map(|(_, it)| it.last.elapsed().as_millis() as i64).collect::<Vec<_>>())?
        .execute(connection)
        .await?;
    Ok(())
}

/// The live nodes in a group's working memory, by id, with their revisions. Editing, forgetting or restoring a node
/// changes them without a change of the group.
pub(crate) async fn live(
    db: impl Into<Db<'_>>,
    group: GroupId,
    namespace: &str,
) -> Result<Vec<(NodeId, i32)>> {
    Ok(group_memory::Entity::find()
        .inner_join(node::Entity)
        .select_only()
        .columns([node::Column::Id, node::Column::Revision])
        .filter(group_memory::Column::GroupId.eq(group))
        .filter(group_memory::Column::Namespace.eq(namespace))
        .filter(group_memory::Column::RemovedAt.is_null())
        .filter(node::Column::DeletedAt.is_null())
        .order_by_asc(node::Column::Id)
        .into_tuple()
        .all(&on(db))
        .await?)
}
