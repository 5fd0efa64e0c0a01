//! Existing and unknown namespaces.

use super::connections::Connections;
use super::named::sql;
use crate::model::error::Result;
use crate::model::namespaces::UnknownNamespace;

/// The number of namespaces that one statement reads.
pub(crate) const PAGE: usize = 1_000;

/// A page of the namespaces with live nodes, in order: from `from` on, after `after`, and before `until`.
pub(crate) async fn page(
    pool: &dyn Connections,
    from: &str,
    after: &str,
    until: Option<&str>,
) -> Result<Vec<String>> {
    sql!(include_str!("sql/namespaces.sql"))
        .bind("from", from)?
        .bind("after", after)?
        .bind("until", until)?
        .bind("limit", PAGE as i64)?
        .fetch_scalars(pool)
        .await
}

/// The given ones of the namespaces that have live nodes, in order.
pub(crate) async fn living(pool: &dyn Connections, namespaces: &[String]) -> Result<Vec<String>> {
    sql!(
        "select s.namespace from (select distinct u.namespace from unnest(:namespaces::text[]) u(namespace)) s
          where exists (select from htm.nodes n where n.namespace = s.namespace and n.deleted_at is null)
          order by s.namespace collate \"C\""
    )
    .bind("namespaces", namespaces)?
    .fetch_scalars(pool)
    .await
}

/// The namespaces with `most` tags or more, in order.
pub(crate) async fn with_tags(pool: &dyn Connections, most: usize) -> Result<Vec<String>> {
    sql!(
        "select namespace from htm.tags group by namespace having count(*) >= :most
          order by namespace collate \"C\""
    )
    .bind("most", i64::try_from(most).unwrap_or(i64::MAX))?
    .fetch_scalars(pool)
    .await
}

/// The given namespaces without nodes, each with the nearest existing ones, only from `visible` if given.
pub(crate) async fn unknown(
    pool: &dyn Connections,
    namespaces: &[&str],
    visible: Option<&[String]>,
) -> Result<Vec<UnknownNamespace>> {
    let rows: Vec<(String, Vec<String>)> = sql!(include_str!("sql/unknown_namespaces.sql"))
        .bind("namespaces", namespaces)?
        .bind("visible", visible)?
        .fetch_all(pool)
        .await?;
    Ok(rows.into_iter().map(|(namespace, nearest)| UnknownNamespace { namespace, nearest }).collect())
}
