//! Erasures: the nodes are recorded first, and then removed with all that depends on them, 1,000 a transaction. So an
//! interrupted erasure goes on where it stopped.

pub(crate) mod places;
pub(crate) mod proof;
pub(crate) mod rest;

use std::collections::BTreeMap;
use std::time::Duration;

use chrono::{DateTime, Utc};
use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::{Expr, ExprTrait};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect, Select};
use sqlx::postgres::PgRow;
use sqlx::types::Json;
use sqlx::{FromRow, PgConnection, Row};

use super::connections::{Connections, Tx};
use super::entity::{erased_nodes, erasure, group, node};
use super::named::{Named, sql};
use super::orm::on;
use super::{documents, groups, kept_recalls, nodes, server, statistics};
use crate::model::erase::{ErasePlan, Erasure, ErasureKind, unknown};
use crate::model::error::{Result, chain};
use crate::model::forget::{MAX_MATCHES, Match};
use crate::model::id::{GroupId, NodeId, RobotId};
use places::Holds;

/// The notification channel for removed nodes; the payload is the erasure's number.
pub(crate) const CHANNEL: &str = "htm_erasures";

/// The nodes to erase. Each condition that is given holds.
#[derive(Default)]
pub(crate) struct Selected<'a> {
    pub(crate) nodes: Option<&'a [NodeId]>,
    pub(crate) namespace: Option<&'a str>,
    pub(crate) robot: Option<RobotId>,
    pub(crate) text: Option<&'a str>,
}

/// The same as an SQL condition, on one line, as the heads of statements mention it. [`Selected::statement`] binds the
/// parameters.
const SELECTED: &str = "(:nodes::bigint[] is null or n.id = any (:nodes)) \
    and (:namespace::text is null or n.namespace = :namespace) \
    and (:robot::bigint is null or n.robot_id = :robot) \
    and (:text::text is null or htm.contains(n.content, :text) \
         or exists (select from htm.node_revisions f \
                     where f.node_id = n.id and f.namespace = n.namespace and htm.contains(f.content, :text)))";

impl Selected<'_> {
    fn statement(&self, text: &str) -> Result<Named> {
        Named::new(&text.replace("{{selected}}", SELECTED))
            .bind("nodes", self.nodes)?
            .bind("namespace", self.namespace)?
            .bind("robot", self.robot)?
            .bind("text", self.text)
            .map(Named::planned_anew)
    }
}

/// Reading all texts of a namespace may take longer than the application's statement timeout.
const BEGIN: &str = "begin; set local statement_timeout = 0";
const BEGIN_DRY: &str = "begin isolation level repeatable read, read only; set local statement_timeout = 0";

/// The patience of the locks of groups with a step that is suspended.
const GROUPS: Duration = Duration::from_secs(60);

/// Counts what an erasure would remove; reads all of it.
pub(crate) async fn plan(pool: &dyn Connections, selected: &Selected<'_>) -> Result<ErasePlan> {
    let mut tx = pool.begin_with(BEGIN_DRY).await?;
    let Recorded { memories, digest: plan } = digest_in_tx(&mut tx, selected).await?;
    let matches: Vec<Match> = selected
        .statement(include_str!("sql/erase_matches.sql"))?
        .bind("limit", MAX_MATCHES as i64)?
        .fetch_all(&mut *tx)
        .await?;
    let mut removed = BTreeMap::new();
    for place in places::all(&mut tx).await? {
        let table = &place.table;
        let rows = match place.holds {
            Holds::Nodes(columns) => format!(
                "with selected as materialized (select n.id from htm.nodes n where {{{{selected}}}})
                 select count(*) from {table} t where {}",
                places::of_nodes(columns, "in (select id from selected)")
            ),
            Holds::Recalls => "select count(*) from htm.recalls t
                  where t.candidates && array(select n.id from htm.nodes n where {{selected}})"
                .into(),
            Holds::Jobs => "select count(*) from apalis.jobs j
                  where j.job_type like 'htm.%'
                    and (j.metadata -> 'node')::bigint in (select n.id from htm.nodes n where {{selected}})"
                .into(),
            _ => continue,
        };
        let count: i64 = selected.statement(&rows)?.fetch_scalar(&mut *tx).await?;
        if count > 0 {
            removed.insert(table.to_string(), count as u64);
        }
    }
    tx.commit().await?;
    Ok(ErasePlan { plan, memories: memories as u64, removed, matches })
}

/// The record of an erasure.
pub(crate) struct Recorded {
    pub(crate) memories: i64,
    pub(crate) digest: String,
}

/// The number of the nodes that are selected, and the digest of a plan of them.
pub(crate) async fn digest_in_tx(connection: &mut PgConnection, selected: &Selected<'_>) -> Result<Recorded> {
    let statement = selected.statement(include_str!("sql/erase_digest.sql"))?;
    let (memories, digest) = statement.fetch_one(connection).await?;
    Ok(Recorded { memories, digest })
}

/// Whether an erasure of a whole namespace has not ended.
pub(crate) async fn is_interrupted(connection: &mut PgConnection, namespace: &str) -> Result<bool> {
    sql!(
        "select exists (select from htm.erasures e
                         where e.ended_at is null and e.selection = 'namespace' and e.namespaces = array[:namespace::text])"
    )
    .bind("namespace", namespace)?
    .fetch_scalar(connection)
    .await
}

/// The erasure of a whole namespace that has not ended, locked until the transaction's end. Two erasures of one namespace do
/// not begin at the same time.
pub(crate) async fn interrupted_in_tx(connection: &mut PgConnection, namespace: &str) -> Result<Option<i64>> {
    sql!("select pg_advisory_xact_lock(hashtextextended('htm.erasures/' || :namespace, 0))")
        .bind("namespace", namespace)?
        .execute(&mut *connection)
        .await?;
    sql!(
        "select e.id from htm.erasures e
          where e.ended_at is null and e.selection = 'namespace' and e.namespaces = array[:namespace::text]
          order by e.id desc limit 1 for update"
    )
    .bind("namespace", namespace)?
    .fetch_optional_scalar(connection)
    .await
}

/// Records an erasure, without its nodes.
pub(crate) async fn open_in_tx(
    connection: &mut PgConnection,
    asked_by: &str,
    kind: ErasureKind,
    robot: Option<&str>,
    namespaces: &[&str],
) -> Result<i64> {
    let receipt = erasure::ActiveModel {
        asked_by: Set(asked_by.to_owned()),
        selection: Set(kind),
        robot: Set(robot.map(str::to_owned)),
        namespaces: Set(namespaces.iter().map(|namespace| (*namespace).to_owned()).collect()),
        ..Default::default()
    };
    Ok(erasure::Entity::insert(receipt).exec(&on(connection)).await?.last_insert_id)
}

/// Whether any row is of a namespace, with memories or without.
pub(crate) async fn is_there(connection: &mut PgConnection, namespace: &str) -> Result<bool> {
    for place in places::all(&mut *connection).await? {
        let Some(condition) = place.of_namespace else { continue };
        // No node is left that these rows could be of, and few of the tables have an index by namespace.
        if matches!(place.holds, Holds::Nodes(_)) && condition.starts_with("namespace") {
            continue;
        }
        if has_rows(&mut *connection, &place.table, condition, namespace).await? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a table has rows of a namespace, by the [condition](places::TableOfTraces::of_namespace) on them.
async fn has_rows(
    connection: &mut PgConnection,
    table: &str,
    condition: &str,
    namespace: &str,
) -> Result<bool> {
    let exists = format!("select exists (select from {table} where {condition})");
    Named::new(&exists).bind("namespace", namespace)?.fetch_scalar(connection).await
}

/// Records the nodes of an erasure that are not recorded yet.
pub(crate) async fn record_in_tx(
    connection: &mut PgConnection,
    erasure: i64,
    selected: &Selected<'_>,
) -> Result<Recorded> {
    let (memories, digest) = selected
        .statement(include_str!("sql/erase_record.sql"))?
        .bind("erasure", erasure)?
        .fetch_one(connection)
        .await?;
    Ok(Recorded { memories, digest })
}

/// Records the nodes that others have written to a namespace since. Returns whether there is something to remove, which
/// another process may have recorded.
pub(crate) async fn record_rest(pool: &dyn Connections, erasure: i64, namespace: &str) -> Result<bool> {
    let mut tx = begin(pool).await?;
    lock_in_tx(&mut tx, erasure).await?;
    let selected = Selected { namespace: Some(namespace), ..Selected::default() };
    let is_left = record_rest_in_tx(&mut tx, erasure, &selected).await?;
    tx.commit().await?;
    Ok(is_left)
}

/// The same for a locked receipt.
pub(crate) async fn record_rest_in_tx(
    connection: &mut PgConnection,
    erasure: i64,
    selected: &Selected<'_>,
) -> Result<bool> {
    if open_of(erasure).one(&on(&mut *connection)).await?.is_some() {
        return Ok(true);
    }
    Ok(record_in_tx(connection, erasure, selected).await?.memories > 0)
}

/// Begins the transaction of a [record](record_in_tx).
pub(crate) async fn begin(pool: &dyn Connections) -> Result<Tx> {
    Ok(pool.begin_with(BEGIN).await?)
}

/// Removes the next recorded nodes with all that depends on them; false if there are none. Of several processes at one
/// erasure, each waits for the one before it.
pub(crate) async fn step(pool: &dyn Connections, erasure: i64) -> Result<bool> {
    let mut tx = begin(pool).await?;
    lock_in_tx(&mut tx, erasure).await?;
    let next = open_of(erasure).order_by_asc(erased_nodes::Column::Chunk).one(&on(&mut tx)).await?;
    let Some(erased_nodes::Model { chunk, nodes, .. }) = next else { return Ok(false) };
    let nodes: Vec<NodeId> = nodes.into_iter().map(NodeId).collect();
    // Groups before nodes, as everywhere.
    let groups = groups_with(&mut tx, erasure, &nodes).await?;
    groups::lock_in_tx(&mut tx, &groups, GROUPS).await?;
    // Writers about a node lock it and then find no row: acks, members of groups, background saves.
    let found: Vec<(NodeId, String)> = nodes::places_of(&nodes)
        .order_by_asc(node::Column::Id)
        .lock_exclusive()
        .into_tuple()
        .all(&on(&mut *tx))
        .await?;
    let (ids, namespaces): (Vec<NodeId>, Vec<&str>) =
        found.iter().map(|(id, namespace)| (*id, namespace.as_str())).unzip();
    let tags: Vec<i64> = sql!(
        "select distinct p.id
           from htm.node_tags nt
           join htm.tags t on t.id = nt.tag_id
          cross join lateral htm.tag_lineage(t.path) l(path)
           join htm.tags p on p.namespace = t.namespace and p.path = l.path
          where nt.namespace = any (:namespaces) and nt.node_id = any (:nodes)"
    )
    .bind("namespaces", &namespaces)?
    .bind("nodes", &ids)?
    .fetch_scalars(&mut *tx)
    .await?;
    if groups_with(&mut tx, erasure, &nodes).await? != groups {
        // A member was faster: the next step locks its group too.
        return Ok(true);
    }
    let of_documents = documents::of_nodes_in_tx(&mut tx, &namespaces, &ids).await?;
    kept_recalls::drop_texts_in_tx(&mut tx, &namespaces, &ids).await?;
    let mut removed = BTreeMap::new();
    for place in places::all(&mut tx).await? {
        let rows = match place.holds {
            Holds::Nodes(columns) => {
                let rows = places::of_nodes(columns, "= any (:nodes)");
                let delete = format!("delete from {} t where {rows}", place.table);
                Named::new(&delete).bind("nodes", &ids)?.execute(&mut *tx).await?
            }
            Holds::Recalls => kept_recalls::delete_in_tx(&mut tx, &namespaces, &ids).await?,
            Holds::Jobs => {
                sql!(include_str!("sql/erase_open_jobs.sql"))
                    .bind("namespaces", &namespaces)?
                    .bind("nodes", &ids)?
                    .execute(&mut *tx)
                    .await?
            }
            // Their passages are gone by now.
            Holds::Documents => {
                documents::delete_empty_in_tx(&mut tx, &of_documents).await?
                    + documents::clear_digests_in_tx(&mut tx, &of_documents).await?
            }
            _ => continue,
        };
        removed.insert(place.table.into_owned(), rows);
    }
    erased_nodes::Entity::update_many()
        .col_expr(erased_nodes::Column::ErasedAt, Expr::cust("clock_timestamp()"))
        .filter(erased_nodes::Column::ErasureId.eq(erasure))
        .filter(erased_nodes::Column::Chunk.eq(chunk))
        .exec(&on(&mut tx))
        .await?;
    add_in_tx(&mut tx, erasure, &removed, &tags).await?;
    // The members' copies lack the removals, which are no changes of the group: each reads its memory anew.
    let next = || Expr::col(group::Column::Version).add(1);
    group::Entity::update_many()
        .col_expr(group::Column::Version, next())
        .col_expr(group::Column::PrunedVersion, next())
        .filter(group::Column::Id.eq_any(groups.iter().copied()))
        .exec(&on(&mut *tx))
        .await?;
    statistics::note_in_tx(&mut tx, namespaces.into_iter()).await?;
    tx.commit().await?;
    for group in groups {
        groups::notify(pool, group).await;
    }
    Ok(true)
}

/// The recorded nodes of an erasure that are not removed yet.
fn open_of(erasure: i64) -> Select<erased_nodes::Entity> {
    erased_nodes::Entity::find()
        .filter(erased_nodes::Column::ErasureId.eq(erasure))
        .filter(erased_nodes::Column::ErasedAt.is_null())
}

/// The groups with some of the nodes of an erasure in their working memory, in the order of their ids.
async fn groups_with(connection: &mut PgConnection, erasure: i64, nodes: &[NodeId]) -> Result<Vec<GroupId>> {
    sql!(
        "select distinct m.group_id
           from htm.erasures e
           join htm.group_memory m on m.namespace = any (e.namespaces) and m.node_id = any (:nodes)
          where e.id = :erasure order by 1"
    )
    .bind("erasure", erasure)?
    .bind("nodes", nodes)?
    .fetch_scalars(connection)
    .await
}

/// Those of the nodes that do not exist any more.
pub(crate) async fn gone(pool: &dyn Connections, nodes: &[NodeId]) -> Result<Vec<NodeId>> {
    let found = nodes::namespaces_of(pool, nodes).await?;
    Ok(nodes.iter().copied().filter(|node| !found.contains_key(node)).collect())
}

/// Notifies programs that follow erasures. Call it after the commit.
pub(crate) async fn notify(pool: &dyn Connections, erasure: i64) {
    if let Err(error) = server::notify(pool, CHANNEL, &erasure.to_string()).await {
        tracing::warn!(error = %chain(&error), "other programs were not told of an erasure");
    }
}

/// Locks the receipt, so that one process at a time goes on with it.
pub(crate) async fn lock_in_tx(connection: &mut PgConnection, erasure: i64) -> Result<()> {
    let found: Option<i64> = erasure::Entity::find_by_id(erasure)
        .select_only()
        .column(erasure::Column::Id)
        .lock_exclusive()
        .into_tuple()
        .one(&on(connection))
        .await?;
    found.map(drop).ok_or_else(|| unknown(erasure))
}

/// Adds to the numbers of removed rows of a locked receipt, and marks its last removal as this transaction.
pub(crate) async fn add_in_tx(
    connection: &mut PgConnection,
    erasure: i64,
    removed: &BTreeMap<String, u64>,
    tags: &[i64],
) -> Result<()> {
    let (tables, rows): (Vec<&str>, Vec<i64>) = removed
        .iter()
        .filter(|(_, rows)| **rows > 0)
        .map(|(table, rows)| (table.as_str(), *rows as i64))
        .unzip();
    sql!(include_str!("sql/erase_add.sql"))
        .bind("erasure", erasure)?
        .bind("tables", tables)?
        .bind("rows", rows)?
        .bind("tags", tags)?
        .execute(connection)
        .await
        .map(drop)
}

/// Ends an erasure. A later removal, by a resumed run, is no reason to begin anew.
pub(crate) async fn end(pool: &dyn Connections, erasure: i64) -> Result<()> {
    let before = Expr::col(erasure::Column::EndedAt);
    erasure::Entity::update_many()
        .col_expr(erasure::Column::EndedAt, before.if_null(Expr::cust("clock_timestamp()")))
        .col_expr(erasure::Column::WalPosition, Expr::cust("pg_current_wal_lsn()"))
        .filter(erasure::Column::Id.eq(erasure))
        .exec(&on(pool))
        .await?;
    Ok(())
}

/// A receipt, if all of its namespaces are among `seen`.
pub(crate) async fn get(pool: &dyn Connections, erasure: i64, seen: Option<&[String]>) -> Result<Erasure> {
    let found = list_of(pool, Some(erasure), seen, None, 1).await?;
    found.into_iter().next().ok_or_else(|| unknown(erasure))
}

/// The last receipts of which all namespaces are among `seen`, the newest first.
pub(crate) async fn list(
    pool: &dyn Connections,
    seen: Option<&[String]>,
    before: Option<i64>,
    limit: i64,
) -> Result<Vec<Erasure>> {
    list_of(pool, None, seen, before, limit).await
}

async fn list_of(
    pool: &dyn Connections,
    erasure: Option<i64>,
    seen: Option<&[String]>,
    before: Option<i64>,
    limit: i64,
) -> Result<Vec<Erasure>> {
    sql!(include_str!("sql/erasures.sql"))
        .bind("erasure", erasure)?
        .bind("seen", seen)?
        .bind("before", before)?
        .bind("limit", limit)?
        .planned_anew()
        .fetch_all(pool)
        .await
}

impl FromRow<'_, PgRow> for Erasure {
    fn from_row(row: &PgRow) -> sqlx::Result<Self> {
        let number = |name: &str| row.try_get::<i64, _>(name).map(|it| it as u64);
        Ok(Self {
            id: row.try_get("id")?,
            asked_by: row.try_get("asked_by")?,
            kind: row.try_get("selection")?,
            robot: row.try_get("robot")?,
            namespaces: row.try_get("namespaces")?,
            memories: number("memories")?,
            erased: number("erased")?,
            removed: row.try_get::<Json<_>, _>("removed")?.0,
            began_at: row.try_get("began_at")?,
            ended_at: row.try_get("ended_at")?,
            wal_position: row.try_get("wal_position")?,
            vacuum: row.try_get::<Option<Json<_>>, _>("vacuum")?.map(|it| it.0),
        })
    }
}

/// Whether something of these namespaces was erased that a snapshot still has. `began` is when the snapshot began: an
/// erasure that ended long before it is not asked, as a database that was copied to another server has other numbers of
/// transactions.
pub(crate) async fn is_in_snapshot(
    connection: &mut PgConnection,
    namespaces: Option<&[String]>,
    snapshot: &str,
    began: DateTime<Utc>,
) -> Result<bool> {
    sql!(
        "select exists (select from htm.erasures e
                         where e.changed_at > :began - interval '10 minutes'
                           and (:namespaces::text[] is null
                                or exists (select from unnest(e.namespaces) n(namespace)
                                            where htm.is_within(n.namespace, :namespaces)))
                           and not pg_visible_in_snapshot(e.changed_by, :snapshot::pg_snapshot))"
    )
    .bind("began", began)?
    .bind("namespaces", namespaces)?
    .bind("snapshot", snapshot)?
    .fetch_scalar(connection)
    .await
}
