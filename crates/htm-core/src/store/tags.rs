//! Tags: registered before they are assigned.

use std::collections::HashMap;

use sqlx::{PgConnection, PgPool};

use super::nodes::read_tag;
use crate::error::{Error, Result};
use crate::id::NodeId;
use crate::ontology::TagError;
use crate::tag::{FormerNames, KnownTag, KnownTags};

/// What tags are called now, by the namespace and the path that were given.
pub(crate) struct Names(HashMap<(String, String), String>);

impl Names {
    /// The present name of one that was registered.
    pub(crate) fn of<'a>(&'a self, namespace: &str, path: &'a str) -> &'a str {
        self.0.get(&(namespace.to_owned(), path.to_owned())).map_or(path, String::as_str)
    }
}

/// Registers tags by namespace and path, and those above them, of names that synonyms make at most `max_depth` levels.
/// Until the transaction's end none of them changes its name. Callers that bring the same new tag create it once. Who
/// changes them is waited for five seconds ([`TagError::Held`]).
pub(crate) async fn register_in_tx(
    connection: &mut PgConnection,
    tags: &[(&str, &str)],
    max_depth: usize,
) -> Result<Names> {
    if tags.is_empty() {
        return Ok(Names(HashMap::new()));
    }
    let (namespaces, paths) = tags.iter().map(|(namespace, path)| (*namespace, Some(*path))).unzip();
    hold_in_tx(connection, namespaces, paths, max_depth).await
}

/// As [`register_in_tx`]; a path that is none holds all names of its namespace as they are: who changes any, and who
/// takes assignments from many nodes, never meet on the nodes.
pub(crate) async fn hold_in_tx(
    connection: &mut PgConnection,
    namespaces: Vec<&str>,
    paths: Vec<Option<&str>>,
    max_depth: usize,
) -> Result<Names> {
    let whose = namespaces.first().copied().unwrap_or_default().to_owned();
    let rows: Vec<(String, String, String)> =
        sqlx::query_as("select namespace, path, tag from htm.register_tags($1, $2, $3)")
            .bind(namespaces)
            .bind(paths)
            .bind(max_depth as i32)
            .fetch_all(connection)
            .await
            .map_err(|error| held(error, &whose))?;
    Ok(Names(rows.into_iter().map(|(namespace, path, tag)| ((namespace, path), tag)).collect()))
}

/// An error of a statement that may have waited for names of a namespace.
pub(crate) fn held(error: impl Into<Error>, namespace: &str) -> Error {
    let error = error.into();
    let code = match &error {
        Error::Database(error) => error.as_database_error().and_then(|error| error.code()),
        _ => None,
    };
    // lock_not_available, deadlock_detected.
    match code.as_deref() {
        Some("55P03" | "40P01") => TagError::Held { namespace: namespace.into() }.into(),
        _ => error,
    }
}

/// Assigns tags that were given by hand: (node, namespace, path), which are registered. One that a model has
/// assigned becomes a manual one. Returns how many were not manual before.
pub(crate) async fn assign_manual_in_tx(
    connection: &mut PgConnection,
    tags: &[(NodeId, &str, &str)],
) -> Result<u64, sqlx::Error> {
    let assigned = sqlx::query(
        "insert into htm.node_tags as nt (namespace, node_id, tag_id, origin)
         select distinct g.namespace, g.node, t.id, 'manual'
           from unnest($1::bigint[], $2::text[], $3::text[]) as g(node, namespace, path)
           join htm.tags t on t.namespace = g.namespace and t.path = g.path
          order by 2, 3
         on conflict (node_id, tag_id, namespace) do update
            set origin = 'manual', model = null, prompt_version = null, confidence = null
          where nt.origin <> 'manual'",
    )
    .bind(tags.iter().map(|tag| tag.0).collect::<Vec<_>>())
    .bind(tags.iter().map(|tag| tag.1).collect::<Vec<_>>())
    .bind(tags.iter().map(|tag| tag.2).collect::<Vec<_>>())
    .execute(connection)
    .await?;
    Ok(assigned.rows_affected())
}

/// Takes tags from a node, whoever assigned them, by any of their names; returns how many it had.
pub(crate) async fn unassign_in_tx(
    connection: &mut PgConnection,
    node: NodeId,
    paths: &[&str],
) -> Result<u64, sqlx::Error> {
    let taken = sqlx::query(
        "delete from htm.node_tags nt using htm.tags t
          where nt.node_id = $1 and t.id = nt.tag_id
            and t.path in (select unnest(array[p, htm.tag_meant(t.namespace, p)]) from unnest($2::text[]) p)",
    )
    .bind(node)
    .bind(paths)
    .execute(connection)
    .await?;
    Ok(taken.rows_affected())
}

/// The tags in use in a namespace, most used first, and those that somebody described; those of forgotten nodes alone are
/// not in use, nor is one that was split: those that take its place are.
///
/// # Errors
/// A database error.
pub async fn in_use(pool: &PgPool, namespace: &str, limit: u32) -> Result<Vec<KnownTag>> {
    let tags: Vec<(String, Option<String>)> = sqlx::query_as(
        "select t.path, t.description
           from htm.tags t
          cross join lateral (select count(*) as uses
                                from (select from htm.node_tags nt where nt.tag_id = t.id limit 1000) counted) u
          where t.namespace = $1 and t.split_into is null
            -- Stops at the first that is found; what is described, or takes the place of another tag, counts from the start.
            and (t.description is not null
                 or exists (select from htm.node_tags nt join htm.nodes n on n.id = nt.node_id
                          where nt.tag_id = t.id and n.deleted_at is null)
                 or exists (select from htm.tags split where split.namespace = $1 and t.path = any (split.split_into)))
          order by u.uses desc, t.path limit $2",
    )
    .bind(namespace)
    .bind(i64::from(limit))
    .fetch_all(pool)
    .await?;
    let known = |(path, description)| Ok(KnownTag { path: read_tag(path)?, description });
    tags.into_iter().map(known).collect()
}

/// What a tagger is told of a namespace that chooses by itself: the tags [`in_use`], and what became of others.
///
/// # Errors
/// A database error.
pub async fn known(pool: &PgPool, namespace: &str, limit: u32) -> Result<KnownTags> {
    let tags = in_use(pool, namespace, limit).await?;
    let names: Vec<(String, Option<String>, bool)> =
        sqlx::query_as(include_str!("sql/former_names.sql")).bind(namespace).fetch_all(pool).await?;
    let mut former = FormerNames::default();
    for (name, tag, is_split) in names {
        match tag {
            Some(tag) => {
                former.synonyms.insert(name, tag);
            }
            None if is_split => {
                former.split.insert(name);
            }
            None => {
                former.removed.insert(name);
            }
        }
    }
    Ok(KnownTags { tags, former })
}
