//! The rows of an export, read in one snapshot, a page at a time.

pub(crate) mod log;
pub(crate) mod settings;

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use pgvector::HalfVector;
use sea_orm::{ColumnTrait, Condition, EntityTrait, PaginatorTrait, QueryFilter, QueryOrder, QuerySelect};
use sqlx::postgres::PgRow;
use sqlx::types::Json;
use sqlx::{FromRow, PgConnection, Row};

use super::connections::{Connections, Tx};
use super::embeddings::{self, RegisteredModel};
use super::entity::{node, node_revision, robot};
use super::named::{Named, sql};
use super::orm::{behind, of_json, on};
use crate::model::error::{Error, Result};
use crate::model::export::{
    SavedGroup, SavedMemory, SavedRelation, SavedRevision, SavedRobot, SavedTag, SavedVector,
};
use crate::model::forget::ForgetReason;
use crate::model::remember::Deduplicate;
use crate::model::tags::{Leftover, read_tag};

/// The rows of a page.
const ROWS: u64 = 500;
/// The bytes of text of a page of nodes.
const BYTES: i64 = 4 << 20;
/// The former texts of a page, each of up to 1 MiB.
const REVISIONS: u64 = 4;

/// The namespaces of an export; none: all.
pub(crate) type Namespaces<'a> = Option<&'a [String]>;

/// The condition for the rows of the namespaces.
fn within<C: ColumnTrait>(of: Namespaces<'_>, namespace: C) -> Condition {
    Condition::all().add_option(of.map(|of| namespace.eq_any(of.to_vec())))
}

/// A snapshot, its time, and what tells it from later ones.
pub(crate) struct Snapshot {
    pub(crate) tx: Tx,
    pub(crate) at: DateTime<Utc>,
    pub(crate) name: String,
}

/// The namespaces that a handle sees: those that it names, and those below one that have anything.
pub(crate) async fn namespaces_within(connection: &mut PgConnection, seen: &[String]) -> Result<Vec<String>> {
    sql!(
        "select u.namespace from unnest(:seen::text[]) u(namespace) where u.namespace not like '_%/*'
         union
         select s.namespace
           from (select namespace from htm.robots union select namespace from htm.robot_groups
                 union select namespace from htm.tags union select namespace from htm.tag_synonyms
                 union select namespace from htm.retention union select namespace from htm.quotas
                 union select namespace from htm.budgets union select namespace from htm.learning
                 union select namespace from htm.tag_changes) s
          where htm.is_within(s.namespace, :seen) and s.namespace not like '_%/*'"
    )
    .bind("seen", seen)?
    .fetch_scalars(connection)
    .await
}

/// Begins the snapshot. PostgreSQL ends it if its reader asks for nothing for five minutes: no row
/// that was deleted since is vacuumed meanwhile.
pub(crate) async fn begin(pool: &dyn Connections) -> Result<Snapshot> {
    let begin = "begin isolation level repeatable read, read only; set local statement_timeout = 0;
                 set local idle_in_transaction_session_timeout = '5min'";
    let mut tx = pool.begin_with(begin).await?;
    let (at, name) = sql!("select now(), pg_current_snapshot()::text").fetch_one(&mut *tx).await?;
    Ok(Snapshot { tx, at, name })
}

/// The number of nodes.
pub(crate) async fn count(db: &mut PgConnection, of: Namespaces<'_>, forgotten: bool) -> Result<u64> {
    let is_live = (!forgotten).then(|| node::Column::DeletedAt.is_null());
    Ok(node::Entity::find()
        .filter(within(of, node::Column::Namespace))
        .filter(Condition::all().add_option(is_live))
        .count(&on(db))
        .await?)
}

/// The models that have a table of vectors, the active one first.
pub(crate) async fn models(db: &mut PgConnection) -> Result<Vec<RegisteredModel>> {
    let stores = embeddings::stores(&mut *db).await?;
    let models = embeddings::models_on(db).await?;
    Ok(models.into_iter().filter(|model| stores.contains(&model.store())).collect())
}

/// A page of the robots, after a namespace and name.
pub(crate) async fn robots(
    db: &mut PgConnection,
    of: Namespaces<'_>,
    (namespace, name): (&str, &str),
) -> Result<Vec<SavedRobot>> {
    let columns = [robot::Column::Namespace, robot::Column::Name];
    let rows = robot::Entity::find()
        .filter(within(of, robot::Column::Namespace))
        .filter(behind(columns, [namespace.into(), name.into()]))
        .order_by_asc(robot::Column::Namespace)
        .order_by_asc(robot::Column::Name)
        .limit(ROWS)
        .all(&on(db))
        .await?;
    let robot = |row: robot::Model| {
        Ok(SavedRobot {
            ns: row.namespace,
            name: row.name,
            uuid: row.uuid,
            metadata: of_json(row.metadata)?,
            created_at: row.created_at,
            last_active: row.last_active,
            max_tokens: row.max_tokens,
        })
    };
    rows.into_iter().map(robot).collect()
}

/// A page of the groups, after a namespace and name.
pub(crate) async fn groups(
    db: &mut PgConnection,
    of: Namespaces<'_>,
    (namespace, name): (&str, &str),
) -> Result<Vec<SavedGroup>> {
    sql!(
        "select g.namespace, g.name, g.max_tokens, g.created_at, g.closed_at,
                coalesce((select jsonb_agg(jsonb_build_object('robot', r.name, 'role', m.role, 'joined_at', m.joined_at)
                                           order by r.name)
                            from htm.group_members m join htm.robots r on r.id = m.robot_id
                           where m.group_id = g.id), '[]') as members
           from htm.robot_groups g
          where (:namespaces::text[] is null or g.namespace = any (:namespaces))
            and (g.namespace, g.name) > (:namespace, :name)
          order by g.namespace, g.name limit :limit"
    )
    .bind("namespaces", of)?
    .bind("namespace", namespace)?
    .bind("name", name)?
    .bind("limit", ROWS as i64)?
    .fetch_each(db, |row| {
        Ok(SavedGroup {
            ns: row.try_get("namespace")?,
            name: row.try_get("name")?,
            max_tokens: row.try_get("max_tokens")?,
            created_at: row.try_get("created_at")?,
            closed_at: row.try_get("closed_at")?,
            members: row.try_get::<Json<_>, _>("members")?.0,
        })
    })
    .await
}

/// A page of the tags, after a namespace and path; those that were split, or the others.
pub(crate) async fn tags(
    db: &mut PgConnection,
    of: Namespaces<'_>,
    are_split: bool,
    (namespace, path): (&str, &str),
) -> Result<Vec<SavedTag>> {
    #[derive(FromRow)]
    struct Tag {
        namespace: String,
        path: String,
        description: Option<String>,
        split_into: Vec<String>,
        split_rest: String,
        distinct_from: Vec<String>,
        created_at: DateTime<Utc>,
        synonyms: Vec<String>,
    }
    let rows: Vec<Tag> = sql!(include_str!("sql/export_tags.sql"))
        .bind("namespaces", of)?
        .bind("are_split", are_split)?
        .bind("namespace", namespace)?
        .bind("path", path)?
        .bind("limit", ROWS as i64)?
        .fetch_all(db)
        .await?;
    let tag = |row: Tag| {
        Ok(SavedTag {
            ns: row.namespace,
            tag: read_tag(row.path)?,
            description: row.description,
            synonyms: row.synonyms.into_iter().map(read_tag).collect::<Result<_>>()?,
            split_into: row.split_into.into_iter().map(read_tag).collect::<Result<_>>()?,
            leftover: Leftover::read(Some(&row.split_rest)),
            distinct_from: row.distinct_from.into_iter().map(read_tag).collect::<Result<_>>()?,
            created_at: Some(row.created_at),
            removed: false,
        })
    };
    rows.into_iter().map(tag).collect()
}

/// The first namespace with nodes after another one.
pub(crate) async fn next_namespace(db: &mut PgConnection, after: &str) -> Result<Option<String>> {
    let first: Option<Option<String>> = node::Entity::find()
        .select_only()
        .expr(node::Column::Namespace.min())
        .filter(node::Column::Namespace.gt(after))
        .into_tuple()
        .one(&on(db))
        .await?;
    Ok(first.flatten())
}

/// A page of the nodes of a namespace, after a node's time and id.
pub(crate) async fn nodes(
    db: &mut PgConnection,
    namespace: &str,
    after: Option<(DateTime<Utc>, i64)>,
    forgotten: bool,
    seen: Namespaces<'_>,
) -> Result<Vec<SavedMemory>> {
    sql!(include_str!("sql/export_nodes.sql"))
        .bind("namespace", namespace)?
        .bind("time", after.map(|(time, _)| time))?
        .bind("node", after.map(|(_, node)| node))?
        .bind("forgotten", forgotten)?
        .bind("limit", ROWS as i64)?
        .bind("bytes", BYTES)?
        .bind("seen", seen)?
        .fetch_all(db)
        .await
}

impl FromRow<'_, PgRow> for SavedMemory {
    fn from_row(row: &PgRow) -> sqlx::Result<Self> {
        let corrupt = |word: String| sqlx::Error::Decode(format!("`{word}` is unknown").into());
        let forgotten_at: Option<DateTime<Utc>> = row.try_get("deleted_at")?;
        let reason: Option<ForgetReason> = row.try_get("forget_reason")?;
        let unique_in = row.try_get::<Option<String>, _>("unique_in")?;
        Ok(Self {
            id: row.try_get("key")?,
            ns: row.try_get("namespace")?,
            text: row.try_get("content")?,
            created_at: row.try_get("created_at")?,
            expires_at: row.try_get("expires_at")?,
            ttl_seconds: row.try_get("ttl_seconds")?,
            speaker: row.try_get("speaker")?,
            session: row.try_get("session")?,
            seq: row.try_get("seq")?,
            tags: row.try_get::<Json<_>, _>("tags")?.0,
            metadata: row.try_get::<Json<_>, _>("metadata")?.0,
            robot: row.try_get("robot")?,
            importance: row.try_get("importance")?,
            source: row.try_get("source")?,
            kind: row.try_get("type")?,
            node: row.try_get("id")?,
            language: row.try_get("language")?,
            remembered_at: row.try_get("remembered_at")?,
            updated_at: row.try_get("updated_at")?,
            revision: row.try_get("revision")?,
            first_sha256: row.try_get("first_sha256")?,
            author: row.try_get("author")?,
            unique_in: match unique_in.as_deref() {
                None => None,
                Some("namespace") => Some(Deduplicate::Namespace),
                Some("robot") => Some(Deduplicate::Robot),
                Some(other) => return Err(corrupt(other.to_owned())),
            },
            forgotten_at,
            forgotten_because: forgotten_at.map(|_| reason.unwrap_or(ForgetReason::Asked)),
            absences: row.try_get::<Json<_>, _>("absences")?.0,
            related: row.try_get("related")?,
            repeats: row.try_get::<Json<_>, _>("repeats")?.0,
            recalled: row.try_get::<Option<Json<_>>, _>("recalled")?.map(|it| it.0),
            retagged: row.try_get::<Json<_>, _>("retagged")?.0,
            tagged: row.try_get::<Json<_>, _>("tagged")?.0,
            in_memory_of: row.try_get::<Json<_>, _>("in_memory_of")?.0,
            in_groups: row.try_get::<Json<_>, _>("in_groups")?.0,
            vectors: Vec::new(),
        })
    }
}

/// Adds the vectors of a model to the memories of a namespace.
pub(crate) async fn add_vectors(
    db: &mut PgConnection,
    model: &RegisteredModel,
    namespace: &str,
    memories: &mut [SavedMemory],
) -> Result<()> {
    let places: HashMap<i64, usize> =
        memories.iter().enumerate().map(|(place, memory)| (memory.node, place)).collect();
    let statement = include_str!("sql/export_vectors.sql").replace("{{store}}", &model.store());
    let rows: Vec<(i64, HalfVector, String, DateTime<Utc>)> = Named::new(&statement)
        .bind("nodes", places.keys().copied().collect::<Vec<_>>())?
        .bind("namespace", namespace)?
        .bind("model", &model.label)?
        .fetch_all(db)
        .await?;
    for (node, vector, outcome, at) in rows {
        let place = places.get(&node).ok_or_else(|| Error::corrupt(format!("a vector of node {node}")))?;
        let vector = vector.as_slice().iter().map(|x| x.to_f32()).collect();
        memories[*place].vectors.push(SavedVector { model: model.label.clone(), outcome, at, vector });
    }
    Ok(())
}

/// A page of the relations of a namespace, after one of them by its nodes.
pub(crate) async fn relations(
    db: &mut PgConnection,
    of: Namespaces<'_>,
    forgotten: bool,
    (from, to): (i64, i64),
) -> Result<Vec<SavedRelation>> {
    sql!(include_str!("sql/export_relations.sql"))
        .bind("namespaces", of)?
        .bind("forgotten", forgotten)?
        .bind("from", from)?
        .bind("to", to)?
        .bind("limit", ROWS as i64)?
        .planned_anew()
        .fetch_each(db, |row| {
            Ok(SavedRelation {
                ns: row.try_get("namespace")?,
                from: row.try_get("from_node")?,
                relation: row.try_get("kind")?,
                to: row.try_get("to_node")?,
                reason: row.try_get("reason")?,
                robot: row.try_get("robot")?,
                made_at: row.try_get("made_at")?,
            })
        })
        .await
}

/// A page of a node's former texts, after a revision.
pub(crate) async fn revisions(
    db: &mut PgConnection,
    namespace: &str,
    node: i64,
    after: i32,
) -> Result<Vec<SavedRevision>> {
    let rows = node_revision::Entity::find()
        .filter(node_revision::Column::Namespace.eq(namespace))
        .filter(node_revision::Column::NodeId.eq(node))
        .filter(node_revision::Column::Revision.gt(after))
        .order_by_asc(node_revision::Column::Revision)
        .limit(REVISIONS)
        .all(&on(db))
        .await?;
    let revision = |row: node_revision::Model| SavedRevision {
        node: row.node_id.0,
        revision: row.revision,
        text: row.content,
        author: row.author,
        written_at: row.written_at,
    };
    Ok(rows.into_iter().map(revision).collect())
}
