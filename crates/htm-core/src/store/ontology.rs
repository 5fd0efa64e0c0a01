//! What the tags of a namespace are, and what was changed of them.

use sqlx::{AssertSqlSafe, Executor, PgConnection, PgPool, Postgres};

use super::filter::{Conditions, paths_and_prefixes, tags_named};
use super::named::Named;
use crate::model::error::Result;
use crate::model::filter::TagFilter;
use crate::model::id::NodeId;
use crate::model::ontology::names::Names;
use crate::model::ontology::{
    CoOccurrence, LoggedChange, OriginCount, SimilarTag, Synonym, TagUse, TaggedNode,
};

/// The tags with their counts of the nodes that pass; `below`: only that one and those below it.
pub(crate) async fn uses(
    pool: &PgPool,
    namespace: &str,
    below: Option<&str>,
    conditions: Option<&Conditions>,
) -> Result<Vec<TagUse>> {
    // The nodes of a root are counted in memory.
    let begin = "begin read only; set local statement_timeout = 0; set local work_mem = '32MB'";
    let mut tx = pool.begin_with(begin).await?;
    let statement = counting(include_str!("sql/tag_uses.sql"), conditions)?;
    let statement = statement.bind("namespace", namespace)?.bind("below", below)?;
    let uses = statement.fetch_all(&mut tx).await?;
    tx.rollback().await?;
    Ok(uses)
}

/// A statement that counts the nodes that pass. Without conditions these are all but the forgotten ones, which are fewer.
fn counting(sql: &str, conditions: Option<&Conditions>) -> Result<Named> {
    let (nodes, not) = match conditions {
        None => {
            ("select id from htm.nodes where namespace = :namespace and deleted_at is not null".into(), "not")
        }
        Some(conditions) => (format!("select m.id from htm.nodes m where {}", conditions.nodes()), ""),
    };
    let statement = Named::new(&sql.replace("{{nodes}}", &nodes).replace("{{not}}", not));
    match conditions {
        None => Ok(statement),
        Some(conditions) => conditions.bind(statement),
    }
}

/// What every name means, all of one moment.
pub(crate) async fn names_at_once(pool: &PgPool, namespace: &str) -> Result<Names> {
    let mut tx = pool.begin_with("begin isolation level repeatable read, read only").await?;
    let names = super::tag_changes::names(&mut tx, namespace).await?;
    tx.rollback().await?;
    Ok(names)
}

/// The tag that is written so, else the one that is stored so or has that other name.
pub(crate) async fn resolve(
    connection: &mut PgConnection,
    namespace: &str,
    written: &str,
    stored: Option<&str>,
) -> Result<Option<String>> {
    Ok(sqlx::query_scalar(
        "select t.path
           from unnest(array[$2, $3, htm.tag_meant($1, $3)]) with ordinality n(path, ord)
           join htm.tags t on t.namespace = $1 and t.path = n.path
          order by n.ord limit 1",
    )
    .bind(namespace)
    .bind(written)
    .bind(stored)
    .fetch_optional(connection)
    .await?)
}

/// The names that stand directly below a tag, or the roots.
pub(crate) async fn children(pool: &PgPool, namespace: &str, parent: Option<&str>) -> Result<Vec<String>> {
    Ok(sqlx::query_scalar(
        "select path from htm.tags
          where namespace = $1 and ($2::text is null or (path > $2 || ':' and path < $2 || ';'))
            and cardinality(string_to_array(path, ':')) = 1 + cardinality(string_to_array(coalesce($2, ''), ':'))
          order by path",
    )
    .bind(namespace)
    .bind(parent)
    .fetch_all(pool)
    .await?)
}

/// The places of filters that no tag matches.
pub(crate) async fn unmatched(
    connection: &mut PgConnection,
    namespace: &str,
    filters: &[TagFilter],
) -> Result<Vec<usize>> {
    let (paths, prefixes) = paths_and_prefixes(filters);
    let sql = format!(
        "select f.ord from unnest($2::text[]) with ordinality f(path, ord)
          where f.ord not in (select named.ord from ({}) named) order by f.ord",
        tags_named("array[$1::text]", "$2", "$3")
    );
    let places: Vec<i64> = sqlx::query_scalar(AssertSqlSafe(sql))
        .bind(namespace)
        .bind(paths)
        .bind(prefixes)
        .fetch_all(connection)
        .await?;
    Ok(places.into_iter().map(|place| place as usize - 1).collect())
}

/// Tags that are written nearly so.
pub(crate) async fn similar(
    connection: &mut PgConnection,
    namespace: &str,
    text: &str,
    limit: u32,
) -> Result<Vec<SimilarTag>> {
    Ok(sqlx::query_as(include_str!("sql/similar_tags.sql"))
        .bind(namespace)
        .bind(text)
        .bind(i64::from(limit))
        .fetch_all(connection)
        .await?)
}

/// Which pairs of tags are asked for.
pub(crate) struct Pairs<'a> {
    /// Only pairs with this tag.
    pub(crate) tag: Option<&'a str>,
    /// The least number of common nodes.
    pub(crate) min_nodes: u32,
    /// The least share of common nodes.
    pub(crate) min_jaccard: Option<f32>,
    pub(crate) limit: u32,
}

/// Pairs of tags with common nodes, of the nodes that pass.
pub(crate) async fn cooccurring(
    pool: &PgPool,
    namespace: &str,
    pairs: Pairs<'_>,
    conditions: Option<&Conditions>,
) -> Result<Vec<CoOccurrence>> {
    let mut tx = pool.begin_with("begin; set local statement_timeout = 0").await?;
    let statement = counting(include_str!("sql/cooccurring_tags.sql"), conditions)?
        .bind("namespace", namespace)?
        .bind("tag", pairs.tag)?
        .bind("min_nodes", i64::from(pairs.min_nodes))?
        .bind("min_jaccard", pairs.min_jaccard)?
        .bind("limit", i64::from(pairs.limit))?;
    let found = statement.fetch_all(&mut tx).await?;
    tx.rollback().await?;
    Ok(found)
}

/// Pairs whose last levels are written alike, from this similarity.
pub(crate) async fn alike(
    pool: &PgPool,
    namespace: &str,
    least: f32,
    limit: u32,
) -> Result<Vec<(String, String, f32)>> {
    let mut tx = pool.begin_with("begin; set local statement_timeout = 0").await?;
    sqlx::query("select set_config('pg_trgm.similarity_threshold', $1, true)")
        .bind(least.to_string())
        .execute(&mut *tx)
        .await?;
    let pairs = sqlx::query_as(include_str!("sql/alike_tags.sql"))
        .bind(namespace)
        .bind(i64::from(limit))
        .fetch_all(&mut *tx)
        .await?;
    tx.rollback().await?;
    Ok(pairs)
}

/// Live nodes that have a tag or one below it, the newest first. Of every tag only as many are read as are wanted.
pub(crate) async fn nodes_below(
    pool: &PgPool,
    namespace: &str,
    tag: &str,
    before: Option<NodeId>,
    limit: u32,
) -> Result<Vec<TaggedNode>> {
    Ok(sqlx::query_as(include_str!("sql/nodes_below.sql"))
        .bind(namespace)
        .bind(tag)
        .bind(before.map_or(i64::MAX, |node| node.0))
        .bind(i64::from(limit))
        .fetch_all(pool)
        .await?)
}

/// By whom a tag was assigned to live nodes.
pub(crate) async fn origins(pool: &PgPool, namespace: &str, tag: &str) -> Result<Vec<OriginCount>> {
    Ok(sqlx::query_as(
        "select a.origin, a.model, a.prompt_version, count(*) as nodes, avg(a.confidence)::real as mean_confidence
           from htm.tags t
           join htm.node_tags a on a.tag_id = t.id
           join htm.nodes n on n.id = a.node_id and n.deleted_at is null
          where t.namespace = $1 and t.path = $2
          group by 1, 2, 3 order by nodes desc, 1, 2, 3",
    )
    .bind(namespace)
    .bind(tag)
    .fetch_all(pool)
    .await?)
}

/// The other names of tags; `tag`: of that one.
pub(crate) async fn synonyms<'a>(
    executor: impl Executor<'a, Database = Postgres>,
    namespace: &str,
    tag: Option<&str>,
) -> Result<Vec<Synonym>> {
    Ok(sqlx::query_as(
        "select s.path as name, t.path as tag from htm.tag_synonyms s join htm.tags t on t.id = s.tag_id
          where s.namespace = $1 and ($2::text is null or t.path = $2) order by t.path, s.path",
    )
    .bind(namespace)
    .bind(tag)
    .fetch_all(executor)
    .await?)
}

/// The last changes, the newest first.
pub(crate) async fn log(pool: &PgPool, namespace: &str, limit: u32) -> Result<Vec<LoggedChange>> {
    Ok(sqlx::query_as(
        "select c.id as change, c.kind, c.details, c.made_by, c.made_at, c.nodes, c.reverted_by,
                (select count(*) from htm.tag_change_names n where n.change_id = c.id) as names
           from htm.tag_changes c where c.namespace = $1 order by c.id desc limit $2",
    )
    .bind(namespace)
    .bind(i64::from(limit))
    .fetch_all(pool)
    .await?)
}

/// What became of a split: tags with how many nodes, as split_outcome.sql has them. None when there is no such split.
pub(crate) async fn split_outcome(
    pool: &PgPool,
    namespace: &str,
    change: i64,
) -> Result<Vec<(Option<String>, i64)>> {
    Ok(sqlx::query_as::<_, (i64, Option<String>, i64)>(include_str!("sql/split_outcome.sql"))
        .bind(namespace)
        .bind(change)
        .fetch_all(pool)
        .await?
        .into_iter()
        .map(|(_, tag, nodes)| (tag, nodes))
        .collect())
}
