//! Queries of a namespace's tags and of their changes.

use sqlx::PgConnection;

use super::connections::{Connections, Db};
use super::filter::{Conditions, paths_and_prefixes, tags_named};
use super::named::{Named, sql};
use crate::model::error::Result;
use crate::model::filter::TagFilter;
use crate::model::id::NodeId;
use crate::model::ontology::names::Names;
use crate::model::ontology::{
    CoOccurrence, LoggedChange, OriginCount, SimilarTag, Synonym, TagUse, TaggedNode,
};

/// The tags with the counts of their nodes that pass the conditions. `below` limits them to that tag and those below
/// it.
pub(crate) async fn uses(
    pool: &dyn Connections,
    namespace: &str,
    below: Option<&str>,
    conditions: Option<&Conditions>,
) -> Result<Vec<TagUse>> {
    // The nodes of a root tag are counted in memory.
    let begin = "begin read only; set local statement_timeout = 0; set local work_mem = '32MB'";
    let mut tx = pool.begin_with(begin).await?;
    let statement = counting(include_str!("sql/tag_uses.sql"), conditions)?;
    let statement = statement.bind("namespace", namespace)?.bind("below", below)?;
    let uses = statement.fetch_all(&mut tx).await?;
    tx.rollback().await?;
    Ok(uses)
}

/// A statement that counts the nodes that pass. Without conditions, it excludes the forgotten nodes, which are fewer.
fn counting(sql: &str, conditions: Option<&Conditions>) -> Result<Named> {
    let (nodes, not) = match conditions {
        None => {
            ("select id from htm.nodes where namespace = :namespace and deleted_at is not null".into(), "not")
        }
        Some(conditions) => {
            let conditions = conditions.nodes();
            (format!("select m.id from htm.visible_nodes m where {conditions}"), "")
        }
    };
    let statement = Named::new(&sql.replace("{{nodes}}", &nodes).replace("{{not}}", not));
    match conditions {
        None => Ok(statement),
        Some(conditions) => conditions.bind(statement),
    }
}

/// The meaning of every name, in one snapshot.
pub(crate) async fn names_at_once(pool: &dyn Connections, namespace: &str) -> Result<Names> {
    let mut tx = pool.begin_with("begin isolation level repeatable read, read only").await?;
    let names = super::tag_changes::names(&mut tx, namespace).await?;
    tx.rollback().await?;
    Ok(names)
}

/// The tag with the path `written`, or else the one with the path or the synonym `stored`.
pub(crate) async fn resolve(
    connection: &mut PgConnection,
    namespace: &str,
    written: &str,
    stored: Option<&str>,
) -> Result<Option<String>> {
    sql!(
        "select t.path
           from unnest(array[:written, :stored, htm.tag_meant(:namespace, :stored)]) with ordinality n(path, ord)
           join htm.tags t on t.namespace = :namespace and t.path = n.path
          order by n.ord limit 1"
    )
    .bind("namespace", namespace)?
    .bind("written", written)?
    .bind("stored", stored)?
    .fetch_optional_scalar(connection)
    .await
}

/// The names directly below a tag, or the roots.
pub(crate) async fn children(
    pool: &dyn Connections,
    namespace: &str,
    parent: Option<&str>,
) -> Result<Vec<String>> {
    sql!(
        "select path from htm.tags
          where namespace = :namespace and (:parent::text is null or (path > :parent || ':' and path < :parent || ';'))
            and cardinality(string_to_array(path, ':'))
                = 1 + cardinality(string_to_array(coalesce(:parent, ''), ':'))
          order by path"
    )
    .bind("namespace", namespace)?
    .bind("parent", parent)?
    .fetch_scalars(pool)
    .await
}

/// The indexes of the filters that match no tag.
pub(crate) async fn unmatched(
    connection: &mut PgConnection,
    namespace: &str,
    filters: &[TagFilter],
) -> Result<Vec<usize>> {
    let (paths, prefixes) = paths_and_prefixes(filters);
    let sql = format!(
        "select f.ord from unnest(:paths::text[]) with ordinality f(path, ord)
          where f.ord not in (select named.ord from ({}) named) order by f.ord",
        tags_named("array[:namespace::text]", ":paths", ":prefixes")
    );
    let places: Vec<i64> = Named::new(&sql)
        .bind("namespace", namespace)?
        .bind("paths", paths)?
        .bind("prefixes", prefixes)?
        .fetch_scalars(connection)
        .await?;
    Ok(places.into_iter().map(|place| place as usize - 1).collect())
}

/// The most tags that are compared letter by letter.
const COMPARED: i64 = 50_000;

/// The tags with a similar spelling. Swapped letters leave few trigrams in common: if there are fewer than `limit`, all tags
/// are compared letter by letter too.
pub(crate) async fn similar(
    connection: &mut PgConnection,
    namespace: &str,
    text: &str,
    limit: u32,
) -> Result<Vec<SimilarTag>> {
    let mut found: Vec<SimilarTag> = sql!(include_str!("sql/similar_tags.sql"))
        .bind("namespace", namespace)?
        .bind("text", text)?
        .bind("limit", i64::from(limit))?
        .fetch_all(&mut *connection)
        .await?;
    if found.len() < limit as usize {
        let tags: Vec<String> =
            sql!("select path from htm.tags where namespace = :namespace order by path limit :most")
                .bind("namespace", namespace)?
                .bind("most", COMPARED)?
                .fetch_scalars(connection)
                .await?;
        let mistyped = tags.iter().filter(|tag| !found.iter().any(|it| it.tag == **tag));
        let mistyped: Vec<_> = mistyped.filter_map(|tag| SimilarTag::mistyped(text, tag)).collect();
        found.extend(mistyped);
        found.sort_by(|a, b| b.similarity.total_cmp(&a.similarity).then_with(|| a.tag.cmp(&b.tag)));
        found.truncate(limit as usize);
    }
    Ok(found)
}

/// The requested pairs of tags.
pub(crate) struct Pairs<'a> {
    /// Only pairs with this tag.
    pub(crate) tag: Option<&'a str>,
    /// The minimum number of common nodes.
    pub(crate) min_nodes: u32,
    /// The minimum share of common nodes.
    pub(crate) min_jaccard: Option<f32>,
    pub(crate) limit: u32,
}

/// The pairs of tags with common nodes, among the nodes that pass the conditions.
pub(crate) async fn cooccurring(
    pool: &dyn Connections,
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

/// The pairs of tags whose last levels have at least this similarity of spelling.
pub(crate) async fn alike(
    pool: &dyn Connections,
    namespace: &str,
    least: f32,
    limit: u32,
) -> Result<Vec<(String, String, f32)>> {
    let mut tx = pool.begin_with("begin; set local statement_timeout = 0").await?;
    sql!("select set_config('pg_trgm.similarity_threshold', :least, true)")
        .bind("least", least.to_string())?
        .execute(&mut tx)
        .await?;
    let pairs = sql!(include_str!("sql/alike_tags.sql"))
        .bind("namespace", namespace)?
        .bind("limit", i64::from(limit))?
        .fetch_all(&mut tx)
        .await?;
    tx.rollback().await?;
    Ok(pairs)
}

/// The live nodes with a tag or one below it, the newest first. At most `limit` nodes of each tag are read.
pub(crate) async fn nodes_below(
    pool: &dyn Connections,
    namespace: &str,
    tag: &str,
    before: Option<NodeId>,
    limit: u32,
) -> Result<Vec<TaggedNode>> {
    sql!(include_str!("sql/nodes_below.sql"))
        .bind("namespace", namespace)?
        .bind("tag", tag)?
        .bind("before", before.map_or(i64::MAX, |node| node.0))?
        .bind("limit", i64::from(limit))?
        .fetch_all(pool)
        .await
}

/// The origins of a tag's assignments to live nodes.
pub(crate) async fn origins(pool: &dyn Connections, namespace: &str, tag: &str) -> Result<Vec<OriginCount>> {
    sql!(
        "select a.origin, a.model, a.prompt_version, count(*) as nodes, avg(a.confidence)::real as mean_confidence
           from htm.tags t
           join htm.node_tags a on a.tag_id = t.id and a.namespace = :namespace
           join htm.nodes n on n.id = a.node_id and n.namespace = a.namespace and n.deleted_at is null
          where t.namespace = :namespace and t.path = :tag
          group by 1, 2, 3 order by nodes desc, 1, 2, 3"
    )
    .bind("namespace", namespace)?
    .bind("tag", tag)?
    .fetch_all(pool)
    .await
}

/// The synonyms of all tags, or of `tag`.
pub(crate) async fn synonyms(
    db: impl Into<Db<'_>>,
    namespace: &str,
    tag: Option<&str>,
) -> Result<Vec<Synonym>> {
    sql!(
        "select s.path as name, t.path as tag from htm.tag_synonyms s join htm.tags t on t.id = s.tag_id
          where s.namespace = :namespace and (:tag::text is null or t.path = :tag) order by t.path, s.path"
    )
    .bind("namespace", namespace)?
    .bind("tag", tag)?
    .fetch_all(db)
    .await
}

/// The last changes, the newest first.
pub(crate) async fn log(
    pool: &dyn Connections,
    namespace: &str,
    before: Option<i64>,
    limit: u32,
) -> Result<Vec<LoggedChange>> {
    sql!(
        "select c.id as change, c.kind, c.details, c.made_by, c.made_at, c.nodes, c.reverted_by,
                (select count(*) from htm.tag_change_names n where n.change_id = c.id) as names
           from htm.tag_changes c where c.namespace = :namespace and (:before::bigint is null or c.id < :before)
          order by c.id desc limit :limit"
    )
    .bind("namespace", namespace)?
    .bind("before", before)?
    .bind("limit", i64::from(limit))?
    .fetch_all(pool)
    .await
}

/// The outcome of a split: tags with their numbers of nodes, as defined in split_outcome.sql. Empty if there is no such
/// split.
pub(crate) async fn split_outcome(
    pool: &dyn Connections,
    namespace: &str,
    change: i64,
) -> Result<Vec<(Option<String>, i64)>> {
    let rows: Vec<(i64, Option<String>, i64)> = sql!(include_str!("sql/split_outcome.sql"))
        .bind("namespace", namespace)?
        .bind("change", change)?
        .fetch_all(pool)
        .await?;
    Ok(rows.into_iter().map(|(_, tag, nodes)| (tag, nodes)).collect())
}
