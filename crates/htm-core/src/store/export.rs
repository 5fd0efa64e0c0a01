//! The rows of an export, read in one snapshot, a page at a time.

pub(crate) mod log;
pub(crate) mod settings;

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use pgvector::HalfVector;
use serde_json::{Map, Value};
use sqlx::postgres::PgRow;
use sqlx::types::Json;
use sqlx::{FromRow, PgConnection, Row};
use uuid::Uuid;

use super::connections::{Connections, Tx};
use super::embeddings::{self, RegisteredModel};
use super::named::{Named, sql};
use crate::model::error::{Error, Result};
use crate::model::export::{
    SavedGroup, SavedMemory, SavedRelation, SavedRevision, SavedRobot, SavedTag, SavedVector,
};
use crate::model::forget::ForgetReason;
use crate::model::remember::Deduplicate;
use crate::model::tags::{Leftover, read_tag};

/// The rows of a page.
const ROWS: i64 = 500;
/// The bytes of text of a page of nodes.
const BYTES: i64 = 4 << 20;
/// The former texts of a page, each of up to 1 MiB.
const REVISIONS: i64 = 4;

/// The namespaces of an export; none: all.
pub(crate) type Namespaces<'a> = Option<&'a [String]>;

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
    let count: i64 = sql!(
        "select count(*) from htm.nodes
          where (:namespaces::text[] is null or namespace = any (:namespaces)) and (:forgotten or deleted_at is null)"
    )
    .bind("namespaces", of)?
    .bind("forgotten", forgotten)?
    .planned_anew()
    .fetch_scalar(db)
    .await?;
    Ok(count as u64)
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
    sql!(
        "select namespace, name, uuid, metadata, created_at, last_active, max_tokens from htm.robots
          where (:namespaces::text[] is null or namespace = any (:namespaces)) and (namespace, name) > (:namespace, :name)
          order by namespace, name limit :limit"
    )
    .bind("namespaces", of)?
    .bind("namespace", namespace)?
    .bind("name", name)?
    .bind("limit", ROWS)?
    .fetch_each(db, |row| {
        Ok(SavedRobot {
            ns: row.try_get("namespace")?,
            name: row.try_get("name")?,
            uuid: row.try_get::<Uuid, _>("uuid")?,
            metadata: row.try_get::<Json<Map<String, Value>>, _>("metadata")?.0,
            created_at: row.try_get("created_at")?,
            last_active: row.try_get("last_active")?,
            max_tokens: row.try_get("max_tokens")?,
        })
    })
    .await
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
    .bind("limit", ROWS)?
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
        .bind("limit", ROWS)?
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
    sql!("select min(namespace) from htm.nodes where namespace > :after")
        .bind("after", after)?
        .fetch_scalar(db)
        .await
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
        .bind("limit", ROWS)?
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
        .bind("limit", ROWS)?
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
    sql!(
        "select node_id, revision, content, author, written_at from htm.node_revisions
          where namespace = :namespace and node_id = :node and revision > :after order by revision limit :limit"
    )
    .bind("namespace", namespace)?
    .bind("node", node)?
    .bind("after", after)?
    .bind("limit", REVISIONS)?
    .fetch_each(db, |row| {
        Ok(SavedRevision {
            node: row.try_get("node_id")?,
            revision: row.try_get("revision")?,
            text: row.try_get("content")?,
            author: row.try_get("author")?,
            written_at: row.try_get("written_at")?,
        })
    })
    .await
}
