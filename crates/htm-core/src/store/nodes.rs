//! Nodes: written in one statement with their jobs, and read.

use std::collections::{BTreeMap, HashMap};

use chrono::{DateTime, Utc};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect, Select};
use sqlx::PgConnection;
use sqlx::types::Json;
use ulid::Ulid;

use super::connections::{Connections, Db};
use super::entity::{group, group_memory, node};
use super::named::{Named, sql};
use super::orm::on;
use super::recall::{NodeRow, node_columns};
use super::switches::answered;
use super::then::Then;
use crate::model::error::{Error, Result};
use crate::model::expiry::Expiry;
use crate::model::id::{NodeId, RobotId};
use crate::model::keepers::{Keepers, KeptBy};
use crate::model::memory::filled;
use crate::model::nodes::{Node, Revision, TagAssignment, content_taken, forgotten, key_taken, not_found};
use crate::model::wall::is_within;

/// Above this number of items, the parts of the statement are joined by hash: the planner expects a handful of rows of
/// each part and would use nested loops. The bulk statement has a text of its own, and so a prepared plan of its own.
pub(crate) const MANY_AT_ONCE: usize = 50;

/// The values that an insertion needs beside the memories.
pub(crate) struct Insertion {
    pub(crate) token_encoding: &'static str,
    pub(crate) embedding_model: String,
    pub(crate) tag_model: String,
    pub(crate) max_attempts: i32,
}

/// A memory whose defaults are filled in, ready to be inserted.
#[derive(Clone, Copy)]
pub(crate) struct NewNode<'a> {
    pub(crate) memory: &'a crate::model::memory::Memory,
    pub(crate) namespace: &'a str,
    pub(crate) robot: &'a str,
    pub(crate) language: &'a str,
    pub(crate) content_hash: [u8; 32],
    pub(crate) token_count: i32,
    pub(crate) duplicate_scope: Option<DuplicateScope>,
    /// The priority of its jobs.
    pub(crate) priority: i32,
}

impl<'a> NewNode<'a> {
    pub(crate) fn unique(&self) -> Unique<'a> {
        Unique {
            namespace: self.namespace,
            robot: self.robot,
            key: self.memory.key.as_deref(),
            content_hash: self.content_hash,
            scope: self.duplicate_scope,
            bytes: self.memory.content.len(),
        }
    }
}

/// The unique values of a memory: its key, and its content in a scope.
#[derive(Clone, Copy)]
pub(crate) struct Unique<'a> {
    pub(crate) namespace: &'a str,
    pub(crate) robot: &'a str,
    pub(crate) key: Option<&'a str>,
    pub(crate) content_hash: [u8; 32],
    pub(crate) scope: Option<DuplicateScope>,
    /// The length of the content.
    pub(crate) bytes: usize,
}

/// The scope in which a content is unique.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DuplicateScope {
    Namespace,
    Robot,
}

impl DuplicateScope {
    /// The parameter of the statements; the table has the robot's id instead of -1.
    pub(crate) fn as_parameter(self) -> i64 {
        match self {
            Self::Namespace => 0,
            Self::Robot => -1,
        }
    }
}

/// Inserts nodes with their jobs; their robots must be registered. Returns the id of each item that was written, or
/// none if its key or content exists already or its robot is not registered.
pub(crate) async fn insert_in_tx(
    connection: &mut PgConnection,
    nodes: &[NewNode<'_>],
    insertion: &Insertion,
) -> Result<Vec<Option<NodeId>>> {
    let column = |of: fn(&crate::model::memory::Memory) -> &Option<String>| -> Vec<Option<&str>> {
        nodes.iter().map(|node| filled(of(node.memory))).collect()
    };
    let bulk = nodes.len() > MANY_AT_ONCE;
    if bulk {
        answered(sqlx::raw_sql("set local enable_nestloop = off").execute(&mut *connection)).await?;
    }
    let job_ids = || nodes.iter().map(|_| Ulid::new().to_string()).collect::<Vec<_>>();
    let statement = match bulk {
        true => sql!(concat!(include_str!("sql/remember.sql"), "/* in bulk */")),
        false => sql!(include_str!("sql/remember.sql")),
    };
    let written: Vec<(i64, NodeId)> = statement
        .bind("namespaces", nodes.iter().map(|node| node.namespace).collect::<Vec<_>>())?
        .bind("robots", nodes.iter().map(|node| node.robot).collect::<Vec<_>>())?
        .bind("keys", column(|memory| &memory.key))?
        .bind("contents", nodes.iter().map(|node| node.memory.content.as_str()).collect::<Vec<_>>())?
        .bind("hashes", nodes.iter().map(|node| node.content_hash.to_vec()).collect::<Vec<_>>())?
        .bind("speakers", column(|memory| &memory.speaker))?
        .bind("sessions", column(|memory| &memory.session))?
        .bind("seqs", nodes.iter().map(|node| node.memory.seq).collect::<Vec<_>>())?
        .bind("sources", column(|memory| &memory.source))?
        .bind("types", column(|memory| &memory.kind))?
        .bind("importances", nodes.iter().map(|node| node.memory.importance).collect::<Vec<_>>())?
        .bind("token_counts", nodes.iter().map(|node| node.token_count).collect::<Vec<_>>())?
        .bind("token_encoding", insertion.token_encoding)?
        .bind("languages", nodes.iter().map(|node| node.language).collect::<Vec<_>>())?
        .bind("metadata", nodes.iter().map(|node| Json(&node.memory.metadata)).collect::<Vec<_>>())?
        .bind("times", nodes.iter().map(|node| node.memory.at).collect::<Vec<Option<DateTime<Utc>>>>())?
        .bind("embed_jobs", job_ids())?
        .bind("tag_jobs", job_ids())?
        .bind("embedding_model", &insertion.embedding_model)?
        .bind("tag_model", &insertion.tag_model)?
        .bind("max_attempts", insertion.max_attempts)?
        .bind("priorities", nodes.iter().map(|node| node.priority).collect::<Vec<_>>())?
        .bind("scopes", scopes(nodes))?
        .bind(
            "expiries",
            nodes.iter().map(|node| node.memory.expires.and_then(Expiry::at)).collect::<Vec<_>>(),
        )?
        .bind(
            "ttls",
            nodes.iter().map(|node| node.memory.expires.and_then(Expiry::ttl_seconds)).collect::<Vec<_>>(),
        )?
        .fetch_all(&mut *connection)
        .await?;
    if bulk {
        answered(sqlx::raw_sql("set local enable_nestloop = on").execute(connection)).await?;
    }
    let mut ids = vec![None; nodes.len()];
    for (ord, id) in written {
        ids[ord as usize - 1] = Some(id);
    }
    Ok(ids)
}

/// Inserts one node with its jobs; returns none as [`insert_in_tx`] does. `robot` is the expected id of the robot: if
/// another robot has the name, nothing is written.
pub(crate) async fn insert_one(
    connection: &mut PgConnection,
    node: &NewNode<'_>,
    robot: Option<RobotId>,
    insertion: &Insertion,
) -> Result<Option<NodeId>> {
    let memory = node.memory;
    sql!(include_str!("sql/remember_one.sql"))
        .bind("namespace", node.namespace)?
        .bind("robot", node.robot)?
        .bind("robot_id", robot)?
        .bind("key", &memory.key)?
        .bind("content", &memory.content)?
        .bind("hash", &node.content_hash[..])?
        .bind("speaker", filled(&memory.speaker))?
        .bind("session", filled(&memory.session))?
        .bind("seq", memory.seq)?
        .bind("source", filled(&memory.source))?
        .bind("type", filled(&memory.kind))?
        .bind("importance", memory.importance)?
        .bind("token_count", node.token_count)?
        .bind("token_encoding", insertion.token_encoding)?
        .bind("language", node.language)?
        .bind("metadata", Json(&memory.metadata))?
        .bind("time", memory.at)?
        .bind("embed_job", Ulid::new().to_string())?
        .bind("tag_job", Ulid::new().to_string())?
        .bind("embedding_model", &insertion.embedding_model)?
        .bind("tag_model", &insertion.tag_model)?
        .bind("max_attempts", insertion.max_attempts)?
        .bind("priority", node.priority)?
        .bind("scope", node.duplicate_scope.map(DuplicateScope::as_parameter))?
        .bind("expiry", memory.expires.and_then(Expiry::at))?
        .bind("ttl", memory.expires.and_then(Expiry::ttl_seconds))?
        .fetch_optional_scalar(connection)
        .await
}

/// The given names that are text search configurations, in the syntax of a cast to regconfig.
pub(crate) async fn languages(db: impl Into<Db<'_>>, names: &[&str]) -> Result<Vec<String>> {
    sql!(
        "select u.name
           from unnest(:names::text[]) as u(name)
          where exists (select from pg_ts_config c join pg_namespace s on s.oid = c.cfgnamespace
                         where pg_ts_config_is_visible(c.oid)
                           and quote_ident(c.cfgname) in (btrim(u.name), lower(btrim(u.name)))
                            or quote_ident(s.nspname) || '.' || quote_ident(c.cfgname)
                               in (btrim(u.name), lower(btrim(u.name))))"
    )
    .bind("names", names)?
    .fetch_scalars(db)
    .await
}

/// Counts memories as repeats of nodes that have the same content in the same scope. Returns the node of each, or none
/// if it was forgotten meanwhile.
pub(crate) async fn repeat_in_tx(
    connection: &mut PgConnection,
    nodes: &[NewNode<'_>],
) -> Result<Vec<Option<NodeId>>> {
    let rows: Vec<(i64, NodeId)> = sql!(include_str!("sql/repeat.sql"))
        .bind("namespaces", nodes.iter().map(|node| node.namespace).collect::<Vec<_>>())?
        .bind("robots", nodes.iter().map(|node| node.robot).collect::<Vec<_>>())?
        .bind("hashes", nodes.iter().map(|node| node.content_hash.to_vec()).collect::<Vec<_>>())?
        .bind("scopes", scopes(nodes))?
        .fetch_all(connection)
        .await?;
    let mut ids = vec![None; nodes.len()];
    for (ord, id) in rows {
        ids[ord as usize - 1] = Some(id);
    }
    Ok(ids)
}

fn scopes(nodes: &[NewNode<'_>]) -> Vec<Option<i64>> {
    nodes.iter().map(|node| node.duplicate_scope.map(DuplicateScope::as_parameter)).collect()
}

/// A live node with a key.
pub(crate) struct Holder {
    pub(crate) node: NodeId,
    pub(crate) revision: i32,
    pub(crate) content_hash: Vec<u8>,
}

/// The live nodes with these keys.
pub(crate) async fn by_keys(
    db: impl Into<Db<'_>>,
    keys: &[(&str, &str)],
) -> Result<HashMap<(String, String), Holder>> {
    if keys.is_empty() {
        return Ok(HashMap::new());
    }
    let (namespaces, names): (Vec<&str>, Vec<&str>) = keys.iter().copied().unzip();
    let rows: Vec<(String, String, NodeId, i32, Vec<u8>)> = sql!(
        "select n.namespace, n.key, n.id, n.revision, n.content_hash
           from unnest(:namespaces::text[], :keys::text[]) as k(namespace, key)
           join htm.nodes n on n.namespace = k.namespace and n.key = k.key and n.deleted_at is null"
    )
    .bind("namespaces", namespaces)?
    .bind("keys", names)?
    .fetch_all(db)
    .await?;
    let holder = |(namespace, key, node, revision, content_hash)| {
        ((namespace, key), Holder { node, revision, content_hash })
    };
    Ok(rows.into_iter().map(holder).collect())
}

/// The live nodes that have the same content in the same scope.
pub(crate) async fn same_content(
    db: impl Into<Db<'_>>,
    memories: &[Unique<'_>],
) -> Result<Vec<Option<NodeId>>> {
    let mut ids = vec![None; memories.len()];
    if memories.iter().all(|it| it.scope.is_none()) {
        return Ok(ids);
    }
    let rows: Vec<(i64, NodeId)> = sql!(
        "select u.ord, n.id
           from unnest(:namespaces::text[], :robots::text[], :hashes::bytea[], :scopes::bigint[]) with ordinality
                as u(namespace, robot, content_hash, scope, ord)
           left join htm.robots r on r.namespace = u.namespace and r.name = u.robot
          cross join lateral (select m.id from htm.nodes m
                               where m.namespace = u.namespace and m.content_hash = u.content_hash
                                 and m.duplicate_scope = case u.scope when -1 then r.id else u.scope end
                                 and m.deleted_at is null
                               limit 1) n"
    )
    .bind("namespaces", memories.iter().map(|it| it.namespace).collect::<Vec<_>>())?
    .bind("robots", memories.iter().map(|it| it.robot).collect::<Vec<_>>())?
    .bind("hashes", memories.iter().map(|it| it.content_hash.to_vec()).collect::<Vec<_>>())?
    .bind(
        "scopes",
        memories.iter().map(|it| it.scope.map(DuplicateScope::as_parameter)).collect::<Vec<_>>(),
    )?
    .fetch_all(db)
    .await?;
    for (ord, id) in rows {
        ids[ord as usize - 1] = Some(id);
    }
    Ok(ids)
}

/// The ids and namespaces of those of the nodes that exist, forgotten ones included.
pub(crate) fn places_of(nodes: &[NodeId]) -> Select<node::Entity> {
    node::Entity::find()
        .select_only()
        .columns([node::Column::Id, node::Column::Namespace])
        .filter(node::Column::Id.eq_any(nodes.iter().copied()))
}

/// The namespaces of those of the nodes that exist, forgotten ones included.
pub(crate) async fn namespaces_of(
    pool: &dyn Connections,
    nodes: &[NodeId],
) -> Result<BTreeMap<NodeId, String>> {
    let found: Vec<(NodeId, String)> = places_of(nodes).into_tuple().all(&on(pool)).await?;
    Ok(found.into_iter().collect())
}

/// The error about a node that is not live. It may say that the node was forgotten: callers that do not see its
/// namespace were refused before.
pub(crate) async fn missing(db: impl Into<Db<'_>>, id: NodeId) -> Error {
    let of_forgotten = node::Entity::find_by_id(id)
        .select_only()
        .column(node::Column::Namespace)
        .filter(node::Column::DeletedAt.is_not_null());
    match of_forgotten.into_tuple::<String>().one(&on(db)).await {
        Ok(Some(namespace)) => forgotten(id, &namespace),
        Ok(None) => not_found(id),
        Err(error) => error.into(),
    }
}

/// The robots and groups that keep a live node, in the namespaces `seen`, if given.
pub(crate) async fn keepers(
    pool: &dyn Connections,
    node: NodeId,
    seen: Option<&[String]>,
) -> Result<Keepers> {
    let robots: Vec<KeptBy> =
        sql!(include_str!("sql/keepers.sql")).bind("node", node)?.bind("seen", seen)?.fetch_all(pool).await?;
    if robots.is_empty() {
        return Err(missing(pool, node).await);
    }
    let groups: Vec<(String, String)> = group_memory::Entity::find()
        .select_only()
        .columns([group::Column::Name, group::Column::Namespace])
        .inner_join(group::Entity)
        .filter(group_memory::Column::NodeId.eq(node))
        .filter(group_memory::Column::RemovedAt.is_null())
        .order_by_asc(group::Column::Name)
        .into_tuple()
        .all(&on(pool))
        .await?;
    let is_seen = |namespace: &str| seen.is_none_or(|seen| is_within(namespace, seen));
    let groups = groups.into_iter().filter(|(_, namespace)| is_seen(namespace)).map(|(name, _)| name);
    Ok(Keepers { robots, groups: groups.collect() })
}

/// Those of the nodes that are live as of a time, in the order of the ids.
pub(crate) async fn as_of(pool: &dyn Connections, nodes: &[NodeId], then: Then) -> Result<Vec<Node>> {
    read(pool, None, nodes, then).await
}

/// As [`as_of`], of a namespace if it is known: it tells the partition.
async fn read(
    pool: &dyn Connections,
    namespace: Option<&str>,
    nodes: &[NodeId],
    then: Then,
) -> Result<Vec<Node>> {
    let of_namespace = if namespace.is_some() { " and n.namespace = :namespace" } else { "" };
    let sql = format!(
        "select {} from unnest(:nodes::bigint[]) with ordinality h(id, ord)
          -- One by one: as of a time, a join would read all nodes.
          cross join lateral (select n.* from htm.nodes n where n.id = h.id and n.deleted_at is null{of_namespace} offset 0) m
           join htm.robots r on r.id = m.robot_id
          order by h.ord",
        node_columns()
    );
    let statement = Named::new(&then.statement(&sql)).bind("nodes", nodes)?.bind("namespace", namespace)?;
    let rows: Vec<NodeRow> = then.bind(statement)?.fetch_answer(pool).await?;
    rows.into_iter().map(NodeRow::into_node).collect()
}

/// A live node by its id, of a namespace if it is known.
pub(crate) async fn get(pool: &dyn Connections, namespace: Option<&str>, id: NodeId) -> Result<Node> {
    match read(pool, namespace, &[id], Then::NOW).await?.pop() {
        Some(node) => Ok(node),
        None => Err(missing(pool, id).await),
    }
}

/// The tags of a live node, by their paths.
pub(crate) async fn tags(pool: &dyn Connections, node: NodeId) -> Result<Vec<TagAssignment>> {
    sql!(
        "select t.path as tag, a.origin, a.model, a.prompt_version, a.confidence, a.created_at as assigned_at
           from htm.nodes n
           join htm.node_tags a on a.node_id = n.id and a.namespace = n.namespace
           join htm.tags t on t.id = a.tag_id
          where n.id = :node and n.deleted_at is null
          order by t.path"
    )
    .bind("node", node)?
    .fetch_all(pool)
    .await
}

/// The texts of a live node, the oldest first.
pub(crate) async fn revisions(pool: &dyn Connections, node: NodeId) -> Result<Vec<Revision>> {
    let texts: Vec<Revision> = sql!(
        "select f.revision, f.content, f.author, f.written_at
           from htm.node_revisions f join htm.nodes n on n.id = f.node_id and n.namespace = f.namespace
          where f.node_id = :node and n.deleted_at is null
         union all
         select n.revision, n.content, coalesce(n.author, r.name), n.updated_at
           from htm.nodes n join htm.robots r on r.id = n.robot_id
          where n.id = :node and n.deleted_at is null
          order by revision"
    )
    .bind("node", node)?
    .fetch_answer(pool)
    .await?;
    match texts.is_empty() {
        true => Err(missing(pool, node).await),
        false => Ok(texts),
    }
}

/// The id of the live node with a key.
pub(crate) async fn id_by_key(pool: &dyn Connections, namespace: &str, key: &str) -> Result<Option<NodeId>> {
    let live = live_ids().filter(node::Column::Namespace.eq(namespace)).filter(node::Column::Key.eq(key));
    Ok(live.into_tuple().one(&on(pool)).await?)
}

/// The ids of live nodes.
fn live_ids() -> Select<node::Entity> {
    node::Entity::find().select_only().column(node::Column::Id).filter(node::Column::DeletedAt.is_null())
}

/// The keys of a node that only one node may have.
#[derive(Clone, Debug)]
pub(crate) struct UniqueKeys {
    pub(crate) namespace: String,
    pub(crate) key: Option<String>,
    pub(crate) content_hash: Vec<u8>,
    pub(crate) duplicate_scope: Option<i64>,
}

/// The error of a write that another node's key or content prevented, with that node; other errors are unchanged.
pub(crate) async fn taken(pool: &dyn Connections, node: NodeId, keys: &UniqueKeys, error: Error) -> Error {
    let by_key = error.violates("nodes_namespace_key_key");
    if !by_key && !error.violates("nodes_duplicate_key") {
        return error;
    }
    let of_namespace = live_ids().filter(node::Column::Namespace.eq(&keys.namespace));
    let holder = match by_key {
        true => of_namespace.filter(node::Column::Key.eq(keys.key.as_deref())),
        false => of_namespace
            .filter(node::Column::DuplicateScope.eq(keys.duplicate_scope))
            .filter(node::Column::ContentHash.eq(keys.content_hash.as_slice())),
    };
    match holder.into_tuple().one(&on(pool)).await {
        Ok(Some(holder)) if by_key => {
            key_taken(keys.key.as_deref().unwrap_or_default(), &keys.namespace, holder)
        }
        Ok(Some(holder)) => content_taken(node, holder),
        Ok(None) => Error::contended(),
        Err(error) => error.into(),
    }
}

/// The current texts of live nodes, by node and revision. Nodes that are not at the given revision of the given namespace
/// are left out.
///
/// # Errors
/// A database error.
pub async fn contents(
    pool: &dyn Connections,
    nodes: &[(NodeId, i32, &str)],
) -> Result<HashMap<(NodeId, i32), NodeText>> {
    let (ids, revisions, namespaces): (Vec<NodeId>, Vec<i32>, Vec<&str>) = nodes.iter().copied().collect();
    let rows: Vec<NodeText> = sql!(
        "select n.id as node, n.revision, n.namespace, n.content, n.token_count as tokens,
                b.namespace is not null as has_budget
           from unnest(:nodes::bigint[], :revisions::int[], :namespaces::text[]) as w(id, revision, namespace)
           join htm.nodes n on n.id = w.id and n.namespace = w.namespace and n.revision = w.revision and n.deleted_at is null
           left join htm.budgets b on b.namespace = n.namespace"
    )
    .bind("nodes", ids)?
    .bind("revisions", revisions)?
    .bind("namespaces", namespaces)?
    .fetch_all(pool)
    .await?;
    Ok(rows.into_iter().map(|text| ((text.node, text.revision), text)).collect())
}

/// The texts of random live nodes of a namespace; reads all of them.
///
/// # Errors
/// A database error.
pub(crate) async fn sample_contents(
    pool: &dyn Connections,
    namespace: &str,
    count: u32,
) -> Result<Vec<String>> {
    sql!(
        "select content from htm.nodes
          where namespace = :namespace and deleted_at is null order by random() limit :count"
    )
    .bind("namespace", namespace)?
    .bind("count", i64::from(count))?
    .fetch_scalars(pool)
    .await
}

/// A node's text, and the data that a worker needs to send it to a provider.
#[derive(Clone, Debug, sqlx::FromRow)]
pub struct NodeText {
    /// The node.
    pub node: NodeId,
    /// Its revision.
    pub revision: i32,
    /// Its namespace.
    pub namespace: String,
    /// The text.
    pub content: String,
    /// Its length in tokens, as counted when it was written.
    pub tokens: i32,
    /// Whether its namespace has a budget.
    pub has_budget: bool,
}
