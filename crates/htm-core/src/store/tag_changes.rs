//! Changes of the ontology and their log (`htm.tag_changes`): the statements of one transaction, which holds the
//! namespace's names.

use std::collections::{BTreeMap, BTreeSet};

use sea_orm::ActiveValue::Set;
use sea_orm::{ColumnTrait, DerivePartialModel, EntityTrait, QueryFilter, QueryOrder};
use serde_json::Value;
use sqlx::PgConnection;
use sqlx::types::Json;

use super::connections::{Connections, Tx};
use super::entity::{tag, tag_change, tag_change_name, tag_synonym};
use super::named::sql;
use super::orm::on;
use super::priorities;
use crate::model::error::{Error, Result};
use crate::model::ontology::ChangeKind;
use crate::model::ontology::names::{Draft, Meaning, NameChange, Names, Tag};
use crate::model::tags::Leftover;

/// Begins a change: until its end nobody else changes names of the namespace or removes assignments from any nodes.
/// There is no statement timeout, because a million nodes take a while; each lock is waited for half a minute at most.
pub(crate) async fn begin(pool: &dyn Connections, namespace: &str) -> Result<Tx> {
    let begin = "begin; set local statement_timeout = 0; set local lock_timeout = '30s'";
    let mut tx = pool.begin_with(begin).await?;
    sql!("select pg_advisory_xact_lock(htm.tag_changes_lock(:namespace))")
        .bind("namespace", namespace)?
        .execute(&mut *tx)
        .await?;
    Ok(tx)
}

/// Begins a dry run: it reads one snapshot and blocks nobody.
pub(crate) async fn begin_dry(pool: &dyn Connections) -> Result<Tx> {
    let begin = "begin isolation level repeatable read, read only; set local statement_timeout = 0";
    Ok(pool.begin_with(begin).await?)
}

/// Keeps others from registering tags with these names, or below them, until the end of the transaction.
pub(crate) async fn hold_names_in_tx(
    connection: &mut PgConnection,
    namespace: &str,
    names: &BTreeSet<String>,
) -> Result<()> {
    sql!(
        "select pg_advisory_xact_lock(l.id)
           from (select distinct htm.tag_name_lock(:namespace, n.path) as id
                   from unnest(:names::text[]) n(path) order by 1) l"
    )
    .bind("namespace", namespace)?
    .bind("names", names.iter().map(String::as_str).collect::<Vec<_>>())?
    .execute(connection)
    .await?;
    Ok(())
}

/// The meaning of every name of a namespace.
pub(crate) async fn names(connection: &mut PgConnection, namespace: &str) -> Result<Names> {
    let db = on(connection);
    let tags = tag::Entity::find().filter(tag::Column::Namespace.eq(namespace)).all(&db).await?;
    let synonyms = tag_synonym::Entity::find()
        .filter(tag_synonym::Column::Namespace.eq(namespace))
        .find_both_related(tag::Entity)
        .all(&db)
        .await?;
    let tag = |tag: tag::Model| {
        let leftover = Leftover::read(Some(&tag.split_rest));
        let split_into = tag.split_into.unwrap_or_default();
        let distinct_from = tag.distinct_from.unwrap_or_default().into_iter().collect();
        (tag.path, Tag { description: tag.description, split_into, leftover, distinct_from })
    };
    Ok(Names {
        tags: tags.into_iter().map(tag).collect(),
        synonyms: synonyms.into_iter().map(|(synonym, tag)| (synonym.path, tag.path)).collect(),
    })
}

/// Records a change, and returns its number.
pub(crate) async fn open_in_tx(
    connection: &mut PgConnection,
    namespace: &str,
    kind: ChangeKind,
    details: &Value,
    made_by: Option<&str>,
) -> Result<i64> {
    // Not now(): the transaction may have waited for the lock.
    sql!(
        "insert into htm.tag_changes (namespace, kind, details, made_by, made_at)
         values (:namespace, :kind, :details, :made_by, clock_timestamp()) returning id"
    )
    .bind("namespace", namespace)?
    .bind("kind", kind.as_ref())?
    .bind("details", details)?
    .bind("made_by", made_by)?
    .fetch_scalar(connection)
    .await
}

/// Renames tags; references to them stay.
pub(crate) async fn rename_in_tx(
    connection: &mut PgConnection,
    namespace: &str,
    renamed: &BTreeMap<String, String>,
) -> Result<()> {
    if renamed.is_empty() {
        return Ok(());
    }
    let (from, to) = columns(renamed);
    sql!(
        "update htm.tags t set path = m.to_path
           from unnest(:from::text[], :to::text[]) m(from_path, to_path)
          where t.namespace = :namespace and t.path = m.from_path"
    )
    .bind("namespace", namespace)?
    .bind("from", from)?
    .bind("to", to)?
    .execute(connection)
    .await?;
    Ok(())
}

/// Creates the tags of a change, and updates the attributes of existing ones.
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
    sql!(
        "insert into htm.tags as t (namespace, path, description, split_into, split_rest, distinct_from)
         select :namespace, u.path, u.description,
                nullif(array(select jsonb_array_elements_text(u.split_into)), '{}'), u.rest,
                nullif(array(select jsonb_array_elements_text(u.distinct_from)), '{}')
           from unnest(:paths::text[], :descriptions::text[], :splits::jsonb[], :leftovers::text[], :distinct::jsonb[])
                u(path, description, split_into, rest, distinct_from)
         on conflict on constraint tags_namespace_path_key do update
            set (description, split_into, split_rest, distinct_from)
              = (excluded.description, excluded.split_into, excluded.split_rest, excluded.distinct_from)"
    )
    .bind("namespace", namespace)?
    .bind("paths", tags.iter().map(|tag| tag.0).collect::<Vec<_>>())?
    .bind("descriptions", tags.iter().map(|tag| tag.1.description.as_deref()).collect::<Vec<_>>())?
    .bind("splits", tags.iter().map(|tag| Json(&tag.1.split_into)).collect::<Vec<_>>())?
    .bind("leftovers", tags.iter().map(|tag| tag.1.leftover.as_ref()).collect::<Vec<_>>())?
    .bind("distinct", tags.iter().map(|tag| Json(&tag.1.distinct_from)).collect::<Vec<_>>())?
    .execute(connection)
    .await?;
    Ok(())
}

/// Creates synonyms, and removes the names that no longer mean anything.
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
    let freed: Vec<String> = (changes.iter())
        .filter(|it| is_synonym(&it.before) && !is_synonym(&it.after))
        .map(|it| it.path.clone())
        .collect();
    let gone: Vec<String> = (changes.iter())
        .filter(|it| matches!(it.before, Some(Meaning::Tag(_))) && !matches!(it.after, Some(Meaning::Tag(_))))
        .map(|it| it.path.clone())
        .collect();
    let (names, tags): (Vec<&str>, Vec<&str>) = synonyms.into_iter().unzip();
    sql!(
        "insert into htm.tag_synonyms as s (namespace, path, tag_id)
         select :namespace, u.name, t.id
           from unnest(:names::text[], :tags::text[]) u(name, tag)
           join htm.tags t on t.namespace = :namespace and t.path = u.tag
         on conflict on constraint tag_synonyms_pk do update set tag_id = excluded.tag_id"
    )
    .bind("namespace", namespace)?
    .bind("names", names)?
    .bind("tags", tags)?
    .execute(&mut *connection)
    .await?;
    tag_synonym::Entity::delete_many()
        .filter(tag_synonym::Column::Namespace.eq(namespace))
        .filter(tag_synonym::Column::Path.eq_any(freed))
        .exec(&on(&mut *connection))
        .await?;
    let deleted = tag::Entity::delete_many()
        .filter(tag::Column::Namespace.eq(namespace))
        .filter(tag::Column::Path.eq_any(gone))
        .exec(&on(connection))
        .await;
    match deleted.map_err(Error::from) {
        // A writer without the lock of the names has assigned one at this moment.
        Err(error) if error.violates("node_tags_tag_fk") => Err(Error::contended()),
        deleted => deleted.map(drop),
    }
}

/// Logs the changes of names.
pub(crate) async fn log_names_in_tx(
    connection: &mut PgConnection,
    change: i64,
    changes: &[NameChange],
) -> Result<()> {
    sql!(
        "insert into htm.tag_change_names (change_id, namespace, path, before, after, moved_from)
         select c.id, c.namespace, u.*
           from htm.tag_changes c
          cross join unnest(:paths::text[], :before::jsonb[], :after::jsonb[], :moved_from::text[]) u
          where c.id = :change"
    )
    .bind("change", change)?
    .bind("paths", changes.iter().map(|it| it.path.as_str()).collect::<Vec<_>>())?
    .bind("before", changes.iter().map(|it| it.before.as_ref().map(Json)).collect::<Vec<_>>())?
    .bind("after", changes.iter().map(|it| it.after.as_ref().map(Json)).collect::<Vec<_>>())?
    .bind("moved_from", changes.iter().map(|it| it.moved_from.as_deref()).collect::<Vec<_>>())?
    .execute(connection)
    .await?;
    Ok(())
}

/// Locks the nodes of tags, and the nodes of a logged change.
pub(crate) async fn lock_nodes_in_tx(
    connection: &mut PgConnection,
    namespace: &str,
    tags: &[String],
    change: Option<i64>,
) -> Result<()> {
    sql!(include_str!("sql/lock_tagged_nodes.sql"))
        .bind("namespace", namespace)?
        .bind("tags", tags)?
        .bind("change", change)?
        .execute(connection)
        .await?;
    Ok(())
}

/// Replaces tags of nodes by other tags.
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
    sql!(include_str!("sql/move_assignments.sql"))
        .bind("change", change)?
        .bind("namespace", namespace)?
        .bind("from", from)?
        .bind("to", to)?
        .execute(connection)
        .await?;
    Ok(())
}

/// Removes tags from all nodes.
pub(crate) async fn take_assignments_in_tx(
    connection: &mut PgConnection,
    change: i64,
    namespace: &str,
    tags: &[String],
) -> Result<()> {
    sql!(include_str!("sql/take_assignments.sql"))
        .bind("change", change)?
        .bind("namespace", namespace)?
        .bind("tags", tags)?
        .execute(connection)
        .await?;
    Ok(())
}

/// The number of nodes, including forgotten ones, with any of these tags.
pub(crate) async fn count_nodes(
    connection: &mut PgConnection,
    namespace: &str,
    tags: &[String],
) -> Result<i64> {
    sql!(
        "select count(distinct a.node_id) from htm.tags t join htm.node_tags a on a.tag_id = t.id
          where t.namespace = :namespace and t.path = any (:tags)"
    )
    .bind("namespace", namespace)?
    .bind("tags", tags)?
    .fetch_scalar(connection)
    .await
}

/// Records and returns the number of nodes of a change: those in its log, and those of the renamed tags.
pub(crate) async fn close_in_tx(
    connection: &mut PgConnection,
    namespace: &str,
    change: i64,
    renamed: &BTreeMap<String, String>,
) -> Result<i64> {
    let (_, to) = columns(renamed);
    sql!(
        "update htm.tag_changes
            set nodes = (select count(distinct node_id)
                           from (select node_id from htm.tag_change_nodes
                                  where namespace = :namespace and change_id = :change
                                 union all
                                 select a.node_id from htm.tags t join htm.node_tags a on a.tag_id = t.id
                                  where t.namespace = :namespace and t.path = any (:renamed)) changed)
          where id = :change
         returning nodes"
    )
    .bind("change", change)?
    .bind("namespace", namespace)?
    .bind("renamed", to)?
    .fetch_scalar(connection)
    .await
}

/// The given tags that any node has.
pub(crate) async fn assigned(
    connection: &mut PgConnection,
    namespace: &str,
    tags: &[String],
) -> Result<Vec<String>> {
    sql!(
        "select t.path from htm.tags t
          where t.namespace = :namespace and t.path = any (:tags)
            and exists (select from htm.node_tags a where a.tag_id = t.id and a.namespace = :namespace)"
    )
    .bind("namespace", namespace)?
    .bind("tags", tags)?
    .fetch_scalars(connection)
    .await
}

/// Enqueues jobs that tag the nodes of a tag again; returns their number.
pub(crate) async fn split_in_tx(
    connection: &mut PgConnection,
    change: i64,
    namespace: &str,
    tag: &str,
    model: &str,
    max_attempts: u32,
) -> Result<i64> {
    sql!(include_str!("sql/split_tag.sql"))
        .bind("change", change)?
        .bind("namespace", namespace)?
        .bind("tag", tag)?
        .bind("model", model)?
        .bind("max_attempts", max_attempts as i32)?
        .bind("priority", priorities::BACKFILL)?
        .fetch_scalar(connection)
        .await
}

/// The number of jobs that a split would enqueue.
pub(crate) async fn would_split(connection: &mut PgConnection, namespace: &str, tag: &str) -> Result<i64> {
    sql!(include_str!("sql/would_split.sql"))
        .bind("namespace", namespace)?
        .bind("tag", tag)?
        .fetch_scalar(connection)
        .await
}

/// Deletes the pending jobs and the dead letters of a split; returns their number.
pub(crate) async fn end_split_in_tx(
    connection: &mut PgConnection,
    namespace: &str,
    change: i64,
    model: &str,
) -> Result<i64> {
    // Jobs are locked in the order of their ids, so that no two statements deadlock.
    let ended = sql!(
        "with ended as (
            select j.id
              from htm.tag_change_nodes c
              join htm.nodes n on n.id = c.node_id and n.namespace = c.namespace
              join apalis.jobs j on j.idempotency_key = concat_ws('/', n.id, n.revision, 'split-' || :change, :model::text)
             where c.namespace = :namespace and c.change_id = :change and not c.added
               and j.job_type = 'htm.tag' and j.status in ('Pending', 'Killed')
             order by j.id
               for update of j
         )
         delete from apalis.jobs j using ended e where j.id = e.id"
    )
    .bind("namespace", namespace)?
    .bind("change", change)?
    .bind("model", model)?
    .execute(connection)
    .await?;
    Ok(ended as i64)
}

/// A change in the log.
#[derive(DerivePartialModel)]
#[sea_orm(entity = "tag_change::Entity")]
pub(crate) struct Past {
    pub(crate) kind: ChangeKind,
    pub(crate) details: Value,
    pub(crate) reverted_by: Option<i64>,
}

impl Past {
    /// Whether it is a split, after which nodes are tagged again.
    pub(crate) fn is_split(&self) -> bool {
        self.kind == ChangeKind::Split
    }
}

/// A logged change of a namespace; none if there is no such change.
pub(crate) async fn past(
    connection: &mut PgConnection,
    namespace: &str,
    change: i64,
) -> Result<Option<Past>> {
    Ok(tag_change::Entity::find_by_id(change)
        .filter(tag_change::Column::Namespace.eq(namespace))
        .into_partial_model()
        .one(&on(connection))
        .await?)
}

/// The logged effects of a change on names.
pub(crate) async fn past_names(connection: &mut PgConnection, change: i64) -> Result<Vec<NameChange>> {
    let rows = tag_change_name::Entity::find()
        .filter(tag_change_name::Column::ChangeId.eq(change))
        .order_by_asc(tag_change_name::Column::Path)
        .all(&on(connection))
        .await?;
    let meaning = |json: Option<Value>| {
        json.map(serde_json::from_value::<Meaning>)
            .transpose()
            .map_err(|error| Error::corrupt(error.to_string()))
    };
    let change = |row: tag_change_name::Model| {
        let (before, after) = (meaning(row.before)?, meaning(row.after)?);
        Ok(NameChange { path: row.path, before, after, moved_from: row.moved_from })
    };
    rows.into_iter().map(change).collect()
}

/// The last change in force after `change` that has a name in its log.
pub(crate) async fn touched_since(
    connection: &mut PgConnection,
    namespace: &str,
    change: i64,
    path: &str,
) -> Result<Option<i64>> {
    let later = later(connection, namespace, change, Some(path)).await?;
    Ok(later.first().map(|(_, by, _)| *by))
}

/// A name that a later change in force builds on, and the last such change.
pub(crate) async fn built_on(
    connection: &mut PgConnection,
    namespace: &str,
    change: i64,
) -> Result<Option<(String, i64)>> {
    let later = later(connection, namespace, change, None).await?;
    Ok(later.into_iter().find(|(_, _, builds)| *builds).map(|(path, by, _)| (path, by)))
}

/// The later changes in force of a name, or of the names of a change, the last one first: the name, the change, and whether it
/// builds on the earlier one.
async fn later(
    connection: &mut PgConnection,
    namespace: &str,
    change: i64,
    path: Option<&str>,
) -> Result<Vec<(String, i64, bool)>> {
    sql!(include_str!("sql/later_changes.sql"))
        .bind("namespace", namespace)?
        .bind("change", change)?
        .bind("path", path)?
        .fetch_all(connection)
        .await
}

/// The effect of reverting the assignments of `undone`: the number of nodes, and those of its tags `made` that nodes
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
    sql!(include_str!("sql/would_revert.sql"))
        .bind("namespace", namespace)?
        .bind("undone", undone)?
        .bind("also_if_tagged_since", also_if_tagged_since)?
        .bind("renamed", renamed)?
        .bind("called", to)?
        .bind("merged", draft.merged.keys().map(String::as_str).collect::<Vec<_>>())?
        .bind("made", made)?
        .fetch_one(connection)
        .await
}

/// Removes the assignments that `undone` added, by the names that it left.
pub(crate) async fn undo_added_in_tx(
    connection: &mut PgConnection,
    change: i64,
    namespace: &str,
    undone: i64,
) -> Result<()> {
    sql!(include_str!("sql/undo_added.sql"))
        .bind("change", change)?
        .bind("namespace", namespace)?
        .bind("undone", undone)?
        .execute(connection)
        .await?;
    Ok(())
}

/// Restores the assignments that `undone` removed, by the names before it. Returns the number of nodes.
pub(crate) async fn undo_taken_in_tx(
    connection: &mut PgConnection,
    change: i64,
    namespace: &str,
    undone: i64,
    also_if_tagged_since: bool,
) -> Result<i64> {
    sql!(include_str!("sql/undo_taken.sql"))
        .bind("change", change)?
        .bind("namespace", namespace)?
        .bind("undone", undone)?
        .bind("also_if_tagged_since", also_if_tagged_since)?
        .fetch_scalar(connection)
        .await
}

/// Records that a change was reverted.
pub(crate) async fn mark_reverted_in_tx(connection: &mut PgConnection, undone: i64, by: i64) -> Result<()> {
    let reverted = tag_change::ActiveModel { reverted_by: Set(Some(by)), ..Default::default() };
    tag_change::Entity::update_many()
        .set(reverted)
        .filter(tag_change::Column::Id.eq(undone))
        .exec(&on(connection))
        .await?;
    Ok(())
}

fn columns(moves: &BTreeMap<String, String>) -> (Vec<&str>, Vec<&str>) {
    moves.iter().map(|(from, to)| (from.as_str(), to.as_str())).unzip()
}
