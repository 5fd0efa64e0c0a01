//! Tags: registered before they are assigned.

use std::collections::HashMap;

use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use sqlx::PgConnection;

use super::connections::Connections;
use super::entity::tag_change;
use super::named::sql;
use super::orm::on;
use super::tags_in_use;
use crate::model::error::{Error, Result};
use crate::model::id::NodeId;
use crate::model::ontology::errors;
use crate::model::tags::{FormerNames, KnownTag, Leftover, SplitTag, TagRules, read_tag};

/// The most locks of a transaction, as far as the number is known in advance. The database's lock table has a fixed
/// size (`max_locks_per_transaction`, 64 by default, for each connection): 6,400 by default, and others need some too.
pub(crate) const MOST_LOCKS: usize = 1_000;

/// The most locks for the names of one namespace (`htm.tag_name_lock`).
pub(crate) const LOCKS_A_NAMESPACE: usize = 256;

/// The number of items, each a namespace and a number of names, whose locks fit into one transaction; at least the
/// first.
pub(crate) fn room_in_tx<'a>(names: impl Iterator<Item = (&'a str, usize)>) -> usize {
    let mut by_namespace: HashMap<&str, usize> = HashMap::new();
    let mut locks = 0;
    let mut room = 0;
    for (namespace, names) in names {
        // One more for the namespace.
        let held = by_namespace.get(namespace).copied();
        let holds = (held.unwrap_or(1) + names).min(1 + LOCKS_A_NAMESPACE);
        locks += holds - held.unwrap_or(0);
        if room > 0 && locks > MOST_LOCKS {
            break;
        }
        by_namespace.insert(namespace, holds);
        room += 1;
    }
    room
}

/// The current names of tags, by the given namespace and path.
pub(crate) struct Names {
    /// None for a new tag beyond the limit of its namespace.
    tags: HashMap<(String, String), Option<String>>,
    limit: usize,
}

impl Names {
    /// The current name of a registered tag; `namespace_full` if it was not registered.
    pub(crate) fn of(&self, namespace: &str, path: &str) -> Result<&str> {
        let tag = self.tags.get(&(namespace.to_owned(), path.to_owned())).and_then(Option::as_deref);
        tag.ok_or_else(|| errors::namespace_full(namespace, path, self.limit))
    }
}

/// Registers tags by namespace and path, and those above them. A plural means its singular if only the singular is a
/// name. None of the tags is renamed until the end of the transaction. Concurrent callers with the same new tag create
/// it once. A change of the names is waited for up to five seconds (`contended`).
pub(crate) async fn register_in_tx(
    connection: &mut PgConnection,
    tags: &[(&str, &str)],
    rules: &TagRules,
) -> Result<Names> {
    if tags.is_empty() {
        return Ok(Names { tags: HashMap::new(), limit: rules.limits.namespace });
    }
    let (namespaces, paths) = tags.iter().map(|(namespace, path)| (*namespace, Some(*path))).unzip();
    hold_in_tx(connection, namespaces, paths, rules).await
}

/// As [`register_in_tx`]; a path of none locks all names of its namespace. A change of names, and a writer that removes
/// assignments from many nodes, then never wait for each other's nodes.
pub(crate) async fn hold_in_tx(
    connection: &mut PgConnection,
    namespaces: Vec<&str>,
    paths: Vec<Option<&str>>,
    rules: &TagRules,
) -> Result<Names> {
    let whose = namespaces.first().copied().unwrap_or_default().to_owned();
    let written: Vec<(&str, &str)> =
        namespaces.iter().zip(&paths).filter_map(|(namespace, path)| Some((*namespace, (*path)?))).collect();
    let called = tags_in_use::names(&mut *connection, rules, &written).await?;
    let mut next = called.iter();
    let paths: Vec<Option<&str>> =
        paths.iter().map(|path| path.and_then(|_| next.next()).map(String::as_str)).collect();
    let rows: Vec<(String, String, Option<String>)> =
        sql!("select namespace, path, tag from htm.register_tags(:namespaces, :paths, :max_depth, :most)")
            .bind("namespaces", namespaces)?
            .bind("paths", paths)?
            .bind("max_depth", rules.max_depth as i32)?
            .bind("most", rules.limits.namespace as i64)?
            .fetch_all(connection)
            .await
            .map_err(|error| held(error, &whose))?;
    let tags: HashMap<(String, String), Option<String>> =
        rows.into_iter().map(|(namespace, path, tag)| ((namespace, path), tag)).collect();
    let of = |((namespace, path), called): (&(&str, &str), &String)| {
        let tag = tags.get(&((*namespace).to_owned(), called.clone()))?;
        Some((((*namespace).to_owned(), (*path).to_owned()), tag.clone()))
    };
    Ok(Names { tags: written.iter().zip(&called).filter_map(of).collect(), limit: rules.limits.namespace })
}

/// Converts the error of a statement that may have waited for names of a namespace.
pub(crate) fn held(error: impl Into<Error>, namespace: &str) -> Error {
    let error = error.into();
    // lock_not_available, deadlock_detected.
    match error.database().and_then(|it| it.sqlstate()) {
        Some("55P03" | "40P01") => errors::held(namespace),
        _ => error,
    }
}

/// Assigns registered tags by hand: (node, namespace, path). A tag that a model assigned becomes a manual one. Returns
/// the number that were not manual before.
pub(crate) async fn assign_manual_in_tx(
    connection: &mut PgConnection,
    tags: &[(NodeId, &str, &str)],
) -> Result<u64> {
    let assigned = sql!(
        "insert into htm.node_tags as nt (namespace, node_id, tag_id, origin)
         select distinct g.namespace, g.node, t.id, 'manual'
           from unnest(:nodes::bigint[], :namespaces::text[], :paths::text[]) as g(node, namespace, path)
           join htm.tags t on t.namespace = g.namespace and t.path = g.path
          order by 2, 3
         on conflict (node_id, tag_id, namespace) do update
            set origin = 'manual', model = null, prompt_version = null, confidence = null
          where nt.origin <> 'manual'"
    )
    .bind("nodes", tags.iter().map(|tag| tag.0).collect::<Vec<_>>())?
    .bind("namespaces", tags.iter().map(|tag| tag.1).collect::<Vec<_>>())?
    .bind("paths", tags.iter().map(|tag| tag.2).collect::<Vec<_>>())?
    .execute(connection)
    .await?;
    Ok(assigned)
}

/// Removes tags of any origin from a node, by any of their names; returns the number removed.
pub(crate) async fn unassign_in_tx(
    connection: &mut PgConnection,
    (node, namespace): (NodeId, &str),
    paths: &[&str],
) -> Result<u64> {
    let taken = sql!(
        "delete from htm.node_tags nt using htm.tags t
          where nt.node_id = :node and nt.namespace = :namespace and t.id = nt.tag_id
            and t.path in (select unnest(array[p, htm.tag_meant(t.namespace, p)]) from unnest(:paths::text[]) p)"
    )
    .bind("node", node)?
    .bind("namespace", namespace)?
    .bind("paths", paths)?
    .execute(connection)
    .await?;
    Ok(taken)
}

/// The tags in use in a namespace, the most used first, and those with a description. Tags that only forgotten nodes
/// have are not in use, nor are split tags: the tags that replace them are.
///
/// # Errors
/// A database error.
pub async fn in_use(pool: &dyn Connections, namespace: &str, limit: u32) -> Result<Vec<KnownTag>> {
    listed(pool, namespace, limit, false).await
}

async fn listed(
    pool: &dyn Connections,
    namespace: &str,
    limit: u32,
    also_split: bool,
) -> Result<Vec<KnownTag>> {
    let tags: Vec<(String, Option<String>)> = sql!(
        "select t.path, t.description
           from htm.tags t
          cross join lateral (select count(*) as uses
                                from (select from htm.node_tags nt where nt.tag_id = t.id limit 1000) counted) u
           -- Stops at the first that is found. As a condition, \"exists\" may be answered by reading every assignment.
          cross join lateral (select count(*) > 0 as is_used
                                from (select from htm.node_tags nt join htm.nodes n on n.id = nt.node_id and n.namespace = :namespace
                                       where nt.tag_id = t.id and nt.namespace = :namespace and n.deleted_at is null
                                       limit 1) found) l
          where t.namespace = :namespace and (t.split_into is null or :also_split)
            -- What is described, or takes the place of another tag, counts from the start.
            and (t.description is not null or l.is_used
                 or t.path = any (array(select unnest(split.split_into) from htm.tags split
                                         where split.namespace = :namespace and split.split_into is not null)))
          order by u.uses desc, t.path limit :limit"
    )
    .bind("namespace", namespace)?
    .bind("limit", i64::from(limit))?
    .bind("also_split", also_split)?
    .fetch_all(pool)
    .await?;
    let known = |(path, description)| Ok(KnownTag { path: read_tag(path)?, description });
    tags.into_iter().map(known).collect()
}

/// As [`in_use`], including split tags: the list for a tagger that chooses by itself.
///
/// # Errors
/// A database error.
pub async fn in_use_or_split(pool: &dyn Connections, namespace: &str, limit: u32) -> Result<Vec<KnownTag>> {
    listed(pool, namespace, limit, true).await
}

/// The number of the last change of a namespace's names; 0: there is none.
///
/// # Errors
/// A database error.
pub async fn last_change(pool: &dyn Connections, namespace: &str) -> Result<i64> {
    let last = tag_change::Entity::find()
        .select_only()
        .column(tag_change::Column::Id)
        .filter(tag_change::Column::Namespace.eq(namespace))
        .order_by_desc(tag_change::Column::Id)
        .into_tuple::<i64>()
        .one(&on(pool))
        .await?;
    Ok(last.unwrap_or_default())
}

/// The meanings of names that are no longer tags.
///
/// # Errors
/// A database error.
pub async fn former(pool: &dyn Connections, namespace: &str) -> Result<FormerNames> {
    let names: Vec<FormerName> =
        sql!(include_str!("sql/former_names.sql")).bind("namespace", namespace)?.fetch_all(pool).await?;
    let mut former = FormerNames::default();
    for FormerName { name, tag, split_into, split_rest } in names {
        match (tag, split_into) {
            (Some(tag), _) => {
                former.synonyms.insert(name, tag);
            }
            (None, Some(into)) => {
                let into = into.into_iter().map(read_tag).collect::<Result<_>>()?;
                former.split.insert(name, SplitTag { into, leftover: Leftover::read(split_rest.as_deref()) });
            }
            (None, None) => {
                former.removed.insert(name);
            }
        }
    }
    Ok(former)
}

#[derive(sqlx::FromRow)]
struct FormerName {
    name: String,
    tag: Option<String>,
    split_into: Option<Vec<String>>,
    split_rest: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_transaction_holds_as_many_names_as_the_table_of_locks_has_room_for() {
        let namespaces: Vec<String> = (0..2_000).map(|n| n.to_string()).collect();
        let each_its_own = |names| room_in_tx(namespaces.iter().map(|it| (it.as_str(), names)));
        assert_eq!((each_its_own(0), each_its_own(3), each_its_own(5_000)), (1_000, 250, 3));
        assert_eq!(room_in_tx(namespaces.iter().map(|_| ("one", 25))), 2_000);
        assert_eq!(room_in_tx([].into_iter()), 0);
    }
}
