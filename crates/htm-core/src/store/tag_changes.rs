//! Changes of the ontology and their log (`htm.tag_changes`): the statements of one transaction, which holds the
//! namespace's names.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use sqlx::types::Json;
use sqlx::{PgConnection, PgPool, Postgres, Transaction};

use super::priorities;
use crate::model::error::{Error, Result};
use crate::model::ontology::names::{Draft, Meaning, NameChange, Names, Tag};
use crate::model::tags::Leftover;

/// Begins a change: nobody else changes names of the namespace until its end, nor takes assignments from any nodes. A
/// million nodes take a while; whoever is in the way of a single statement may be there half a minute.
pub(crate) async fn begin(pool: &PgPool, namespace: &str) -> Result<Transaction<'static, Postgres>> {
    let begin = "begin; set local statement_timeout = 0; set local lock_timeout = '30s'";
    let mut tx = pool.begin_with(begin).await?;
    sqlx::query("select pg_advisory_xact_lock(htm.tag_changes_lock($1))")
        .bind(namespace)
        .execute(&mut *tx)
        .await?;
    Ok(tx)
}

/// Begins what only says what it would do: as of one moment, and nobody waits for it.
pub(crate) async fn begin_dry(pool: &PgPool) -> Result<Transaction<'static, Postgres>> {
    let begin = "begin isolation level repeatable read, read only; set local statement_timeout = 0";
    Ok(pool.begin_with(begin).await?)
}

/// Keeps everybody from registering tags by these names, or below them.
pub(crate) async fn hold_names_in_tx(
    connection: &mut PgConnection,
    namespace: &str,
    names: &BTreeSet<String>,
) -> Result<()> {
    sqlx::query(
        "select pg_advisory_xact_lock(l.id)
           from (select distinct htm.tag_name_lock($1, n.path) as id from unnest($2::text[]) n(path) order by 1) l",
    )
    .bind(namespace)
    .bind(names.iter().map(String::as_str).collect::<Vec<_>>())
    .execute(connection)
    .await?;
    Ok(())
}

/// What every name of a namespace means.
pub(crate) async fn names(connection: &mut PgConnection, namespace: &str) -> Result<Names> {
    type Row = (String, Option<String>, Option<Vec<String>>, String);
    let tags: Vec<Row> =
        sqlx::query_as("select path, description, split_into, split_rest from htm.tags where namespace = $1")
            .bind(namespace)
            .fetch_all(&mut *connection)
            .await?;
    let synonyms: Vec<(String, String)> = sqlx::query_as(
        "select s.path, t.path from htm.tag_synonyms s join htm.tags t on t.id = s.tag_id where s.namespace = $1",
    )
    .bind(namespace)
    .fetch_all(connection)
    .await?;
    let tag = |(path, description, split_into, rest): Row| {
        let leftover = Leftover::read(Some(&rest));
        (path, Tag { description, split_into: split_into.unwrap_or_default(), leftover })
    };
    Ok(Names { tags: tags.into_iter().map(tag).collect(), synonyms: synonyms.into_iter().collect() })
}

/// Notes a change, and returns its number.
pub(crate) async fn open_in_tx(
    connection: &mut PgConnection,
    namespace: &str,
    kind: &str,
    details: &Value,
    made_by: Option<&str>,
) -> Result<i64> {
    // Not now(): the lock may have been waited for.
    Ok(sqlx::query_scalar(
        "insert into htm.tag_changes (namespace, kind, details, made_by, made_at)
         values ($1, $2, $3, $4, clock_timestamp()) returning id",
    )
    .bind(namespace)
    .bind(kind)
    .bind(details)
    .bind(made_by)
    .fetch_one(connection)
    .await?)
}

/// Calls tags otherwise; whatever refers to them stays.
pub(crate) async fn rename_in_tx(
    connection: &mut PgConnection,
    namespace: &str,
    renamed: &BTreeMap<String, String>,
) -> Result<()> {
    if renamed.is_empty() {
        return Ok(());
    }
    let (from, to) = columns(renamed);
    sqlx::query(
        "update htm.tags t set path = m.to_path
           from unnest($2::text[], $3::text[]) m(from_path, to_path)
          where t.namespace = $1 and t.path = m.from_path",
    )
    .bind(namespace)
    .bind(from)
    .bind(to)
    .execute(connection)
    .await?;
    Ok(())
}

/// Makes the tags that a change brings, and says what those that it describes are about.
pub(crate) async fn define_in_tx(
    connection: &mut PgConnection,
    namespace: &str,
    changes: &[NameChange],
) -> Result<()> {
    let tags: Vec<(&str, &Tag)> = changes
        .iter()
        .filter_map(|change| match &change.after {
            Some(Meaning::Tag(tag)) => Some((change.path.as_str(), tag)),
            _ => None,
        })
        .collect();
    if tags.is_empty() {
        return Ok(());
    }
    sqlx::query(
        "insert into htm.tags as t (namespace, path, description, split_into, split_rest)
         select $1, u.path, u.description, nullif(array(select jsonb_array_elements_text(u.split_into)), '{}'), u.rest
           from unnest($2::text[], $3::text[], $4::jsonb[], $5::text[]) u(path, description, split_into, rest)
         on conflict on constraint tags_namespace_path_key do update
            set (description, split_into, split_rest) = (excluded.description, excluded.split_into, excluded.split_rest)",
    )
    .bind(namespace)
    .bind(tags.iter().map(|tag| tag.0).collect::<Vec<_>>())
    .bind(tags.iter().map(|tag| tag.1.description.as_deref()).collect::<Vec<_>>())
    .bind(tags.iter().map(|tag| Json(&tag.1.split_into)).collect::<Vec<_>>())
    .bind(tags.iter().map(|tag| tag.1.leftover.as_str()).collect::<Vec<_>>())
    .execute(connection)
    .await?;
    Ok(())
}

/// Makes other names, and takes away the names that mean nothing any more.
pub(crate) async fn settle_in_tx(
    connection: &mut PgConnection,
    namespace: &str,
    changes: &[NameChange],
) -> Result<()> {
    let is_synonym = |meaning: &Option<Meaning>| matches!(meaning, Some(Meaning::Synonym(_)));
    let synonyms: Vec<(&str, &str)> = changes
        .iter()
        .filter_map(|change| match &change.after {
            Some(Meaning::Synonym(tag)) => Some((change.path.as_str(), tag.as_str())),
            _ => None,
        })
        .collect();
    let freed: Vec<&str> = (changes.iter())
        .filter(|it| is_synonym(&it.before) && !is_synonym(&it.after))
        .map(|it| it.path.as_str())
        .collect();
    let gone: Vec<&str> = (changes.iter())
        .filter(|it| matches!(it.before, Some(Meaning::Tag(_))) && !matches!(it.after, Some(Meaning::Tag(_))))
        .map(|it| it.path.as_str())
        .collect();
    let (names, tags): (Vec<&str>, Vec<&str>) = synonyms.into_iter().unzip();
    sqlx::query(
        "insert into htm.tag_synonyms as s (namespace, path, tag_id)
         select $1, u.name, t.id
           from unnest($2::text[], $3::text[]) u(name, tag)
           join htm.tags t on t.namespace = $1 and t.path = u.tag
         on conflict on constraint tag_synonyms_pk do update set tag_id = excluded.tag_id",
    )
    .bind(namespace)
    .bind(names)
    .bind(tags)
    .execute(&mut *connection)
    .await?;
    sqlx::query("delete from htm.tag_synonyms where namespace = $1 and path = any ($2)")
        .bind(namespace)
        .bind(freed)
        .execute(&mut *connection)
        .await?;
    let deleted = sqlx::query("delete from htm.tags where namespace = $1 and path = any ($2)")
        .bind(namespace)
        .bind(gone)
        .execute(connection)
        .await;
    match deleted {
        // Something that does not hold the names has assigned one at this moment.
        Err(error) if super::robots::is_about(&error, "node_tags_tag_fk") => Err(Error::contended()),
        deleted => Ok(deleted.map(|_| ())?),
    }
}

/// Writes down what became of names.
pub(crate) async fn log_names_in_tx(
    connection: &mut PgConnection,
    change: i64,
    changes: &[NameChange],
) -> Result<()> {
    sqlx::query(
        "insert into htm.tag_change_names (change_id, path, before, after, moved_from)
         select $1, u.* from unnest($2::text[], $3::jsonb[], $4::jsonb[], $5::text[]) u",
    )
    .bind(change)
    .bind(changes.iter().map(|it| it.path.as_str()).collect::<Vec<_>>())
    .bind(changes.iter().map(|it| it.before.as_ref().map(Json)).collect::<Vec<_>>())
    .bind(changes.iter().map(|it| it.after.as_ref().map(Json)).collect::<Vec<_>>())
    .bind(changes.iter().map(|it| it.moved_from.as_deref()).collect::<Vec<_>>())
    .execute(connection)
    .await?;
    Ok(())
}

/// Locks the nodes of tags, and those that a change in the log is about.
pub(crate) async fn lock_nodes_in_tx(
    connection: &mut PgConnection,
    namespace: &str,
    tags: &[String],
    change: Option<i64>,
) -> Result<()> {
    sqlx::query(include_str!("sql/lock_tagged_nodes.sql"))
        .bind(namespace)
        .bind(tags)
        .bind(change)
        .execute(connection)
        .await?;
    Ok(())
}

/// Gives the nodes of tags other tags instead.
pub(crate) async fn move_assignments_in_tx(
    connection: &mut PgConnection,
    change: i64,
    namespace: &str,
    merged: &BTreeMap<String, String>,
) -> Result<()> {
    if merged.is_empty() {
        return Ok(());
    }
    let (from, to) = columns(merged);
    sqlx::query(include_str!("sql/move_assignments.sql"))
        .bind(change)
        .bind(namespace)
        .bind(from)
        .bind(to)
        .execute(connection)
        .await?;
    Ok(())
}

/// Takes tags from all nodes.
pub(crate) async fn take_assignments_in_tx(
    connection: &mut PgConnection,
    change: i64,
    namespace: &str,
    tags: &[String],
) -> Result<()> {
    sqlx::query(include_str!("sql/take_assignments.sql"))
        .bind(change)
        .bind(namespace)
        .bind(tags)
        .execute(connection)
        .await?;
    Ok(())
}

/// How many nodes, forgotten ones too, have any of these tags.
pub(crate) async fn count_nodes(
    connection: &mut PgConnection,
    namespace: &str,
    tags: &[String],
) -> Result<i64> {
    Ok(sqlx::query_scalar(
        "select count(distinct a.node_id) from htm.tags t join htm.node_tags a on a.tag_id = t.id
          where t.namespace = $1 and t.path = any ($2)",
    )
    .bind(namespace)
    .bind(tags)
    .fetch_one(connection)
    .await?)
}

/// Notes and returns how many nodes a change is about: those in its log, and those of the tags that are called otherwise.
pub(crate) async fn close_in_tx(
    connection: &mut PgConnection,
    namespace: &str,
    change: i64,
    renamed: &BTreeMap<String, String>,
) -> Result<i64> {
    let (_, to) = columns(renamed);
    Ok(sqlx::query_scalar(
        "update htm.tag_changes
            set nodes = (select count(distinct node_id)
                           from (select node_id from htm.tag_change_nodes where change_id = $1
                                 union all
                                 select a.node_id from htm.tags t join htm.node_tags a on a.tag_id = t.id
                                  where t.namespace = $2 and t.path = any ($3)) changed)
          where id = $1
         returning nodes",
    )
    .bind(change)
    .bind(namespace)
    .bind(to)
    .fetch_one(connection)
    .await?)
}

/// Which of these tags nodes have.
pub(crate) async fn assigned(
    connection: &mut PgConnection,
    namespace: &str,
    tags: &[String],
) -> Result<Vec<String>> {
    Ok(sqlx::query_scalar(
        "select t.path from htm.tags t
          where t.namespace = $1 and t.path = any ($2)
            and exists (select from htm.node_tags a where a.tag_id = t.id)",
    )
    .bind(namespace)
    .bind(tags)
    .fetch_all(connection)
    .await?)
}

/// Lets the nodes of a tag be tagged again; returns how many jobs were made.
pub(crate) async fn split_in_tx(
    connection: &mut PgConnection,
    change: i64,
    namespace: &str,
    tag: &str,
    model: &str,
    max_attempts: u32,
) -> Result<i64> {
    Ok(sqlx::query_scalar(include_str!("sql/split_tag.sql"))
        .bind(change)
        .bind(namespace)
        .bind(tag)
        .bind(model)
        .bind(max_attempts as i32)
        .bind(priorities::BACKFILL)
        .fetch_one(connection)
        .await?)
}

/// How many jobs a split would make.
pub(crate) async fn would_split(connection: &mut PgConnection, namespace: &str, tag: &str) -> Result<i64> {
    Ok(sqlx::query_scalar(include_str!("sql/would_split.sql"))
        .bind(namespace)
        .bind(tag)
        .fetch_one(connection)
        .await?)
}

/// Ends the jobs of a split that nobody has begun.
pub(crate) async fn end_split_in_tx(connection: &mut PgConnection, change: i64, model: &str) -> Result<i64> {
    let ended = sqlx::query(
        "delete from apalis.jobs j
          using htm.tag_change_nodes c
           join htm.nodes n on n.id = c.node_id
          where c.change_id = $1 and not c.added and j.job_type = 'htm.tag' and j.status = 'Pending'
            and j.idempotency_key = concat_ws('/', n.id, n.revision, 'split-' || $1, $2::text)",
    )
    .bind(change)
    .bind(model)
    .execute(connection)
    .await?;
    Ok(ended.rows_affected() as i64)
}

/// A change in the log.
#[derive(sqlx::FromRow)]
pub(crate) struct Past {
    pub(crate) kind: String,
    pub(crate) details: Value,
    pub(crate) reverted_by: Option<i64>,
}

impl Past {
    /// Whether nodes were to be tagged again by it.
    pub(crate) fn is_split(&self) -> bool {
        self.kind == crate::model::ontology::ChangeKind::Split.as_str()
    }
}

/// A change of a namespace, none when there is no such.
pub(crate) async fn past(
    connection: &mut PgConnection,
    namespace: &str,
    change: i64,
) -> Result<Option<Past>> {
    Ok(sqlx::query_as(
        "select kind, details, reverted_by from htm.tag_changes where id = $2 and namespace = $1",
    )
    .bind(namespace)
    .bind(change)
    .fetch_optional(connection)
    .await?)
}

/// What a change made of names.
pub(crate) async fn past_names(connection: &mut PgConnection, change: i64) -> Result<Vec<NameChange>> {
    type Row = (String, Option<Json<Meaning>>, Option<Json<Meaning>>, Option<String>);
    let rows: Vec<Row> = sqlx::query_as(
        "select path, before, after, moved_from from htm.tag_change_names where change_id = $1 order by path",
    )
    .bind(change)
    .fetch_all(connection)
    .await?;
    let plain = |meaning: Option<Json<Meaning>>| meaning.map(|it| it.0);
    let change = |(path, before, after, moved_from)| NameChange {
        path,
        before: plain(before),
        after: plain(after),
        moved_from,
    };
    Ok(rows.into_iter().map(change).collect())
}

/// The last change after `change` that a name is in, and that was not undone.
pub(crate) async fn touched_since(
    connection: &mut PgConnection,
    change: i64,
    path: &str,
) -> Result<Option<i64>> {
    Ok(sqlx::query_scalar(
        "select max(c.id) from htm.tag_changes made
           join htm.tag_changes c on c.namespace = made.namespace and c.id > made.id and c.reverted_by is null
           join htm.tag_change_names n on n.change_id = c.id and (n.path = $2 or n.moved_from = $2)
          where made.id = $1",
    )
    .bind(change)
    .bind(path)
    .fetch_one(connection)
    .await?)
}

/// What taking back the assignments of `undone` would be about: how many nodes, and which of the tags `made` by it nodes
/// would still have.
pub(crate) async fn would_revert(
    connection: &mut PgConnection,
    namespace: &str,
    undone: i64,
    also_if_tagged_since: bool,
    draft: &Draft,
    made: &[String],
) -> Result<(i64, Vec<String>)> {
    let (renamed, to) = columns(&draft.renamed);
    Ok(sqlx::query_as(include_str!("sql/would_revert.sql"))
        .bind(namespace)
        .bind(undone)
        .bind(also_if_tagged_since)
        .bind(renamed)
        .bind(to)
        .bind(draft.merged.keys().map(String::as_str).collect::<Vec<_>>())
        .bind(made)
        .fetch_one(connection)
        .await?)
}

/// Takes back the assignments that `undone` made, by the names that it left.
pub(crate) async fn undo_added_in_tx(
    connection: &mut PgConnection,
    change: i64,
    namespace: &str,
    undone: i64,
) -> Result<()> {
    sqlx::query(include_str!("sql/undo_added.sql"))
        .bind(change)
        .bind(namespace)
        .bind(undone)
        .execute(connection)
        .await?;
    Ok(())
}

/// Gives back the assignments that `undone` took, by the names that it found. Returns to how many nodes.
pub(crate) async fn undo_taken_in_tx(
    connection: &mut PgConnection,
    change: i64,
    namespace: &str,
    undone: i64,
    also_if_tagged_since: bool,
) -> Result<i64> {
    Ok(sqlx::query_scalar(include_str!("sql/undo_taken.sql"))
        .bind(change)
        .bind(namespace)
        .bind(undone)
        .bind(also_if_tagged_since)
        .fetch_one(connection)
        .await?)
}

/// Notes that a change was undone.
pub(crate) async fn mark_reverted_in_tx(connection: &mut PgConnection, undone: i64, by: i64) -> Result<()> {
    sqlx::query("update htm.tag_changes set reverted_by = $2 where id = $1")
        .bind(undone)
        .bind(by)
        .execute(connection)
        .await?;
    Ok(())
}

fn columns(moves: &BTreeMap<String, String>) -> (Vec<&str>, Vec<&str>) {
    moves.iter().map(|(from, to)| (from.as_str(), to.as_str())).unzip()
}
