//! What the tags of a namespace are, and what was changed of them.

use sqlx::{AssertSqlSafe, Executor, PgConnection, PgPool, Postgres};

use super::filter::{paths_and_prefixes, tags_named};

use crate::model::error::Result;
use crate::model::id::NodeId;
use crate::model::ontology::names::Names;
use crate::model::ontology::{
    CoOccurrence, LoggedChange, OriginCount, SimilarTag, Synonym, TagUse, TaggedNode,
};
use crate::model::recall::TagFilter;

/// The tags with their counts; `below`: only that one and those below it.
pub(crate) async fn uses(pool: &PgPool, namespace: &str, below: Option<&str>) -> Result<Vec<TagUse>> {
    // The nodes of a root are counted in memory.
    let begin = "begin read only; set local statement_timeout = 0; set local work_mem = '32MB'";
    let mut tx = pool.begin_with(begin).await?;
    let uses = sqlx::query_as(include_str!("sql/tag_uses.sql"))
        .bind(namespace)
        .bind(below)
        .fetch_all(&mut *tx)
        .await?;
    tx.rollback().await?;
    Ok(uses)
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

/// Pairs that stand on the same nodes.
pub(crate) async fn cooccurring(
    pool: &PgPool,
    namespace: &str,
    tag: Option<&str>,
    min_nodes: u32,
    min_jaccard: Option<f32>,
    limit: u32,
) -> Result<Vec<CoOccurrence>> {
    let mut tx = pool.begin_with("begin; set local statement_timeout = 0").await?;
    let pairs = sqlx::query_as(include_str!("sql/cooccurring_tags.sql"))
        .bind(namespace)
        .bind(tag)
        .bind(i64::from(min_nodes))
        .bind(i64::from(limit))
        .bind(min_jaccard)
        .fetch_all(&mut *tx)
        .await?;
    tx.rollback().await?;
    Ok(pairs)
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
