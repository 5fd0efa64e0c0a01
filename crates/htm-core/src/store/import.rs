//! The rows of an export, written as they were. Existing rows are left as they are.

pub(crate) mod log;
pub(crate) mod parts;
pub(crate) mod settings;

use std::collections::{HashMap, HashSet};

use chrono::{DateTime, Utc};
use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::{LockType, OnConflict};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use sqlx::PgConnection;
use sqlx::types::Json;

use super::connections::Connections;
use super::entity::{group, node};
use super::named::sql;
use super::nodes::{DuplicateScope, Unique};
use super::orm::on;
use super::{relations, tag_changes};
use crate::model::documents::KIND;
use crate::model::error::{Error, Result, codes};
use crate::model::export::{SavedGroup, SavedMemory, SavedRelation, SavedRevision, SavedRobot};
use crate::model::forget::ForgetReason;
use crate::model::id::{GroupId, NodeId};
use crate::model::relations::{RelationKind, cycle};
use crate::model::remember::Deduplicate;

/// A memory of an export, ready to be inserted.
#[derive(Clone, Copy)]
pub(crate) struct NewSaved<'a> {
    pub(crate) saved: &'a SavedMemory,
    pub(crate) content_hash: [u8; 32],
    pub(crate) token_count: i32,
    /// SHA-256 of its first text.
    pub(crate) first_hash: [u8; 32],
    /// The forgotten node of this memory: it stays forgotten, and nothing is written.
    pub(crate) forgotten: Option<NodeId>,
}

impl<'a> NewSaved<'a> {
    pub(crate) fn unique(&self) -> Unique<'a> {
        Unique {
            namespace: &self.saved.ns,
            robot: &self.saved.robot,
            key: self.saved.id.as_deref(),
            content_hash: self.content_hash,
            scope: scope(self.saved),
            bytes: self.saved.text.len(),
        }
    }
}

/// Inserts a robot, with a new identity if another robot has its own; false if the name exists.
pub(crate) async fn robot(pool: &dyn Connections, robot: &SavedRobot) -> Result<bool> {
    let inserted = sql!(
        "insert into htm.robots (namespace, name, uuid, metadata, created_at, last_active, max_tokens)
         select :namespace, :name,
                case when exists (select from htm.robots where uuid = :uuid) then gen_random_uuid() else :uuid end,
                :metadata, :created_at, :last_active, :max_tokens
         on conflict on constraint robots_namespace_name_key do nothing"
    )
    .bind("namespace", &robot.ns)?
    .bind("name", &robot.name)?
    .bind("uuid", robot.uuid)?
    .bind("metadata", Json(&robot.metadata))?
    .bind("created_at", robot.created_at)?
    .bind("last_active", robot.last_active)?
    .bind("max_tokens", robot.max_tokens)?
    .execute(pool)
    .await?;
    Ok(inserted > 0)
}

/// Inserts a group with its members; false if the name exists. No process acts for a member: it is lost until it joins
/// again. A member that is no robot here is left out.
pub(crate) async fn group(pool: &dyn Connections, group: &SavedGroup) -> Result<bool> {
    let mut tx = pool.begin().await?;
    let row = group::ActiveModel {
        namespace: Set(group.ns.clone()),
        name: Set(group.name.clone()),
        max_tokens: Set(group.max_tokens),
        created_at: Set(group.created_at),
        closed_at: Set(group.closed_at),
        ..Default::default()
    };
    let unless_taken =
        OnConflict::columns([group::Column::Namespace, group::Column::Name]).do_nothing().to_owned();
    let made =
        group::Entity::insert(row).on_conflict(unless_taken).exec_with_returning_keys(&on(&mut tx)).await?;
    let Some(made) = made.into_iter().next() else { return Ok(false) };
    sql!(
        "insert into htm.group_members (group_id, robot_id, role, membership, lease_ms, seen_at, joined_at)
         select :group, r.id, u.role, gen_random_uuid(), 1, least(u.joined_at, now() - interval '1 second'), u.joined_at
           from unnest(:robots::text[], :roles::text[], :joined::timestamptz[]) u(robot, role, joined_at)
           join htm.robots r on r.namespace = :namespace and r.name = u.robot
         on conflict on constraint group_members_pk do nothing"
    )
    .bind("group", made)?
    .bind("namespace", &group.ns)?
    .bind("robots", group.members.iter().map(|it| it.robot.as_str()).collect::<Vec<_>>())?
    .bind("roles", group.members.iter().map(|it| it.role.as_ref()).collect::<Vec<&str>>())?
    .bind("joined", group.members.iter().map(|it| it.joined_at).collect::<Vec<_>>())?
    .execute(&mut *tx)
    .await?;
    tx.commit().await?;
    Ok(true)
}

/// Inserts a relation between two nodes; false if it exists. `relation_cycle` if the nodes here have relations that it would
/// close to a circle, `line_invalid` if a node was purged or erased since it was imported.
pub(crate) async fn relation(
    pool: &dyn Connections,
    saved: &SavedRelation,
    from: NodeId,
    to: NodeId,
) -> Result<bool> {
    let mut tx = pool.begin().await?;
    // Forgotten nodes have relations, too.
    let ends: Vec<NodeId> = node::Entity::find()
        .select_only()
        .column(node::Column::Id)
        .filter(node::Column::Namespace.eq(&saved.ns))
        .filter(node::Column::Id.eq_any([from, to]))
        .order_by_asc(node::Column::Id)
        .lock(LockType::KeyShare)
        .into_tuple()
        .all(&on(&mut tx))
        .await?;
    if ends.len() < 2 {
        let what = format!(
            "memories {} and {} are not two memories of namespace `{}` here",
            saved.from, saved.to, saved.ns
        );
        return Err(Error::new(codes::LINE_INVALID, what));
    }
    relations::hold_in_tx(&mut tx, &saved.ns).await?;
    if relations::get(&mut tx, &saved.ns, (from, saved.relation, to)).await?.is_some() {
        return Ok(false);
    }
    if saved.relation == RelationKind::Supersedes {
        let chain = relations::chain(&mut tx, &saved.ns, from, to).await?;
        if !chain.is_empty() {
            return Err(
                cycle(from, to, &chain).with_hint("remove one relation of the chain first: `Htm::unrelate`")
            );
        }
    }
    let said = (saved.reason.as_deref(), saved.robot.as_str(), Some(saved.made_at));
    relations::insert_in_tx(&mut tx, &saved.ns, (from, saved.relation, to), said).await?;
    tx.commit().await?;
    Ok(true)
}

/// The groups with these namespaces and names.
pub(crate) async fn groups_named(
    connection: &mut PgConnection,
    groups: &[(&str, &str)],
) -> Result<Vec<GroupId>> {
    let (namespaces, names): (Vec<&str>, Vec<&str>) = groups.iter().copied().unzip();
    sql!(
        "select distinct g.id
           from unnest(:namespaces::text[], :names::text[]) u(namespace, name)
           join htm.robot_groups g on g.namespace = u.namespace and g.name = u.name"
    )
    .bind("namespaces", namespaces)?
    .bind("names", names)?
    .fetch_scalars(connection)
    .await
}

/// Sets the times at which tags were made, where these are earlier.
pub(crate) async fn date_tags(
    pool: &dyn Connections,
    namespace: &str,
    tags: &[(&str, DateTime<Utc>)],
) -> Result<()> {
    let (paths, times): (Vec<&str>, Vec<DateTime<Utc>>) = tags.iter().copied().unzip();
    sql!(
        "update htm.tags t set created_at = u.created_at
           from unnest(:paths::text[], :times::timestamptz[]) u(path, created_at)
          where t.namespace = :namespace and t.path = u.path and t.created_at > u.created_at"
    )
    .bind("namespace", namespace)?
    .bind("paths", paths)?
    .bind("times", times)?
    .execute(pool)
    .await
    .map(drop)
}

/// Logs the removal of tags; returns the names that are new in the log.
pub(crate) async fn remove_tags(
    pool: &dyn Connections,
    namespace: &str,
    paths: &[&str],
    made_by: &str,
) -> Result<HashSet<String>> {
    let mut tx = tag_changes::begin(pool, namespace).await?;
    let gone: Vec<String> = sql!(include_str!("sql/import_removed_tags.sql"))
        .bind("namespace", namespace)?
        .bind("paths", paths)?
        .bind("made_by", made_by)?
        .fetch_scalars(&mut *tx)
        .await?;
    tx.commit().await?;
    Ok(gone.into_iter().collect())
}

/// The forgotten nodes of memories with these namespaces and keys, at their places. A key that a live node has is not
/// forgotten.
pub(crate) async fn forgotten(
    pool: &dyn Connections,
    keys: &[Option<(&str, &str)>],
) -> Result<Vec<Option<NodeId>>> {
    let (namespaces, names): (Vec<Option<&str>>, Vec<Option<&str>>) =
        keys.iter().copied().map(Option::unzip).unzip();
    let rows: Vec<(i64, NodeId)> = sql!(include_str!("sql/import_forgotten.sql"))
        .bind("namespaces", namespaces)?
        .bind("keys", names)?
        .fetch_all(pool)
        .await?;
    let mut nodes = vec![None; keys.len()];
    for (ord, node) in rows {
        nodes[ord as usize - 1] = Some(node);
    }
    Ok(nodes)
}

/// The places of live passages whose document is here whole without them: no live node has their key.
pub(crate) async fn strange_passages(
    connection: &mut PgConnection,
    items: &[NewSaved<'_>],
) -> Result<HashSet<usize>> {
    let passages: Vec<(i64, &SavedMemory, &str, &str)> = (0..)
        .zip(items)
        .filter(|(_, it)| it.saved.forgotten_at.is_none() && it.saved.kind.as_deref() == Some(KIND))
        .filter_map(|(at, it)| Some((at, it.saved, it.saved.session.as_deref()?, it.saved.id.as_deref()?)))
        .collect();
    if passages.is_empty() {
        return Ok(HashSet::new());
    }
    let strange: Vec<i64> = sql!(
        "with u as materialized (
             select * from unnest(:places::bigint[], :namespaces::text[], :paths::text[], :keys::text[])
                           as u(place, namespace, path, key)
         ), whole as materialized (
             select d.namespace, d.path from htm.documents d
              where (d.namespace, d.path) in (select u.namespace, u.path from u)
                and d.passages <= (select count(*) from htm.nodes p
                                    where p.namespace = d.namespace and md5(p.session) = md5(d.path)
                                      and p.session = d.path and p.type = 'passage' and p.key like 'passage:%'
                                      and p.deleted_at is null)
         )
         select u.place
           from u join whole d on d.namespace = u.namespace and d.path = u.path
          where not exists (select from htm.nodes n
                             where n.namespace = u.namespace and n.key = u.key and n.deleted_at is null)"
    )
    .bind("places", passages.iter().map(|it| it.0).collect::<Vec<_>>())?
    .bind("namespaces", passages.iter().map(|it| it.1.ns.as_str()).collect::<Vec<_>>())?
    .bind("paths", passages.iter().map(|it| it.2).collect::<Vec<_>>())?
    .bind("keys", passages.iter().map(|it| it.3).collect::<Vec<_>>())?
    .fetch_scalars(connection)
    .await?;
    Ok(strange.into_iter().map(|place| place as usize).collect())
}

/// The SHA-256 of the text by which a node is known.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum TextHash {
    First(Vec<u8>),
    /// Its current text: an import ended before it wrote the first one.
    Current(Vec<u8>),
}

/// The identity of a node of an export in any database: no call changes it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Identity {
    pub(crate) namespace: String,
    pub(crate) created_at: DateTime<Utc>,
    pub(crate) remembered_at: DateTime<Utc>,
    pub(crate) text: TextHash,
    pub(crate) speaker: Option<String>,
    pub(crate) session: Option<String>,
    pub(crate) seq: Option<i32>,
}

impl Identity {
    /// The identities of a memory: with its first text, and with its current one.
    pub(crate) fn each(new: &NewSaved<'_>) -> [Self; 2] {
        [TextHash::First(new.first_hash.to_vec()), TextHash::Current(new.content_hash.to_vec())]
            .map(|text| Self::with(text, new.saved))
    }

    fn with(text: TextHash, saved: &SavedMemory) -> Self {
        Self {
            namespace: saved.ns.clone(),
            created_at: saved.created_at,
            remembered_at: saved.remembered_at,
            text,
            speaker: saved.speaker.clone(),
            session: saved.session.clone(),
            seq: saved.seq,
        }
    }
}

/// Waits for other imports into these namespaces, and holds up later ones until the transaction's end: two imports at
/// once would both find a memory missing, and both insert it. There are 256 locks, so that many namespaces fit into the
/// database's lock table.
pub(crate) async fn hold_in_tx(connection: &mut PgConnection, items: &[NewSaved<'_>]) -> Result<()> {
    sql!(
        "select count(pg_advisory_xact_lock(hashtext('htm.imports'), place))
           from (select distinct hashtext(namespace) & 255 as place
                   from unnest(:namespaces::text[]) as u(namespace)
                  order by place offset 0) p"
    )
    .bind("namespaces", items.iter().map(|it| it.saved.ns.as_str()).collect::<Vec<_>>())?
    .execute(connection)
    .await
    .map(drop)
}

/// A node that is here already.
pub(crate) struct Known {
    pub(crate) node: NodeId,
    pub(crate) key: Option<String>,
    pub(crate) content_hash: Vec<u8>,
}

/// The nodes that are here already, by their identity.
pub(crate) async fn known(
    connection: &mut PgConnection,
    items: &[NewSaved<'_>],
) -> Result<HashMap<Identity, Vec<Known>>> {
    #[derive(sqlx::FromRow)]
    struct Row {
        id: NodeId,
        namespace: String,
        key: Option<String>,
        speaker: Option<String>,
        session: Option<String>,
        seq: Option<i32>,
        created_at: DateTime<Utc>,
        remembered_at: DateTime<Utc>,
        first_hash: Option<Vec<u8>>,
        content_hash: Vec<u8>,
    }
    let rows: Vec<Row> = sql!(include_str!("sql/import_known.sql"))
        .bind("namespaces", items.iter().map(|it| it.saved.ns.as_str()).collect::<Vec<_>>())?
        .bind("created", items.iter().map(|it| it.saved.created_at).collect::<Vec<_>>())?
        .bind("remembered", items.iter().map(|it| it.saved.remembered_at).collect::<Vec<_>>())?
        .bind("hashes", items.iter().map(|it| it.first_hash.to_vec()).collect::<Vec<_>>())?
        .fetch_all(connection)
        .await?;
    let mut known: HashMap<Identity, Vec<Known>> = HashMap::new();
    for row in rows {
        let Row { id: node, namespace, key, speaker, session, seq, created_at, remembered_at, .. } = row;
        let content_hash = row.content_hash;
        let text = row.first_hash.map_or_else(|| TextHash::Current(content_hash.clone()), TextHash::First);
        let identity = Identity { namespace, created_at, remembered_at, text, speaker, session, seq };
        known.entry(identity).or_default().push(Known { node, key, content_hash });
    }
    Ok(known)
}

/// Those of the nodes whose metadata is not that of the memories.
pub(crate) async fn with_other_metadata(
    pool: &dyn Connections,
    nodes: &[(NodeId, &SavedMemory)],
) -> Result<HashSet<NodeId>> {
    let other: Vec<NodeId> = sql!(
        "select n.id
           from unnest(:namespaces::text[], :nodes::bigint[], :metadata::jsonb[]) as u(namespace, node, metadata)
           join htm.nodes n on n.namespace = u.namespace and n.id = u.node
          where n.metadata is distinct from u.metadata"
    )
    .bind("namespaces", nodes.iter().map(|(_, it)| it.ns.as_str()).collect::<Vec<_>>())?
    .bind("nodes", nodes.iter().map(|(node, _)| *node).collect::<Vec<_>>())?
    .bind("metadata", nodes.iter().map(|(_, it)| Json(&it.metadata)).collect::<Vec<_>>())?
    .fetch_scalars(pool)
    .await?;
    Ok(other.into_iter().collect())
}

fn scope(saved: &SavedMemory) -> Option<DuplicateScope> {
    match saved.unique_in {
        None | Some(Deduplicate::Off) => None,
        Some(Deduplicate::Namespace) => Some(DuplicateScope::Namespace),
        Some(Deduplicate::Robot) => Some(DuplicateScope::Robot),
    }
}

/// Inserts nodes, whose robots must be registered. Returns the id of each, or none if its key or content exists already.
pub(crate) async fn insert_in_tx(
    connection: &mut PgConnection,
    items: &[&NewSaved<'_>],
    token_encoding: &str,
) -> Result<Vec<Option<NodeId>>> {
    fn each<'a, T>(items: &'a [&NewSaved<'_>], of: impl Fn(&'a SavedMemory) -> T) -> Vec<T> {
        items.iter().map(|it| of(it.saved)).collect()
    }
    let reason = |it: &SavedMemory| {
        it.forgotten_because.filter(|it| *it != ForgetReason::Asked).map(|it| it.as_ref().to_owned())
    };
    let written: Vec<(i64, NodeId)> = sql!(include_str!("sql/import_nodes.sql"))
        .bind("namespaces", each(items, |it| it.ns.as_str()))?
        .bind("robots", each(items, |it| it.robot.as_str()))?
        .bind("keys", each(items, |it| it.id.as_deref()))?
        .bind("contents", each(items, |it| it.text.as_str()))?
        .bind("hashes", items.iter().map(|it| it.content_hash.to_vec()).collect::<Vec<_>>())?
        .bind("revisions", each(items, |it| it.revision))?
        .bind("authors", each(items, |it| it.author.as_deref()))?
        .bind("speakers", each(items, |it| it.speaker.as_deref()))?
        .bind("sessions", each(items, |it| it.session.as_deref()))?
        .bind("seqs", each(items, |it| it.seq))?
        .bind("sources", each(items, |it| it.source.as_deref()))?
        .bind("types", each(items, |it| it.kind.as_deref()))?
        .bind("importances", each(items, |it| it.importance))?
        .bind("token_counts", items.iter().map(|it| it.token_count).collect::<Vec<_>>())?
        .bind("languages", each(items, |it| it.language.as_str()))?
        .bind("metadata", each(items, |it| Json(&it.metadata)))?
        .bind("created", each(items, |it| it.created_at))?
        .bind("remembered", each(items, |it| it.remembered_at))?
        .bind("updated", each(items, |it| it.updated_at))?
        .bind("forgotten", each(items, |it| it.forgotten_at))?
        .bind("reasons", each(items, reason))?
        .bind("expiries", each(items, |it| it.expires_at))?
        .bind("ttls", each(items, |it| it.ttl_seconds))?
        .bind("scopes", each(items, |it| scope(it).map(DuplicateScope::as_parameter)))?
        .bind("token_encoding", token_encoding)?
        .fetch_all(connection)
        .await?;
    let mut ids = vec![None; items.len()];
    for (ord, id) in written {
        ids[ord as usize - 1] = Some(id);
    }
    Ok(ids)
}

/// Writes former texts of nodes; returns the number of those that were not there.
pub(crate) async fn revisions_in_tx(
    connection: &mut PgConnection,
    texts: &[(NodeId, &SavedRevision)],
) -> Result<Vec<(NodeId, i32)>> {
    sql!(
        "insert into htm.node_revisions (namespace, node_id, revision, content, author, written_at)
         select n.namespace, n.id, u.revision, u.content, u.author, u.written_at
           from unnest(:nodes::bigint[], :revisions::int[], :contents::text[], :authors::text[], :times::timestamptz[])
                as u(node, revision, content, author, written_at)
           join htm.nodes n on n.id = u.node and u.revision < n.revision
         on conflict on constraint node_revisions_pk do nothing
         returning node_id, revision"
    )
    .bind("nodes", texts.iter().map(|(node, _)| *node).collect::<Vec<_>>())?
    .bind("revisions", texts.iter().map(|(_, it)| it.revision).collect::<Vec<_>>())?
    .bind("contents", texts.iter().map(|(_, it)| it.text.as_str()).collect::<Vec<_>>())?
    .bind("authors", texts.iter().map(|(_, it)| it.author.as_str()).collect::<Vec<_>>())?
    .bind("times", texts.iter().map(|(_, it)| it.written_at).collect::<Vec<_>>())?
    .fetch_all(connection)
    .await
}
