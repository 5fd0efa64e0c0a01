//! The rows of hits.

use chrono::{DateTime, Utc};

use super::node_row::{NodeRow, node_columns};
use super::reader::{Reader, Vectors, ids, store};
use crate::model::error::Result;
use crate::model::id::NodeId;
use crate::store::filter::{Conditions, placed};
use crate::store::named::Named;

/// A hit's row.
#[derive(sqlx::FromRow)]
pub(crate) struct HitRow {
    #[sqlx(flatten)]
    pub(crate) node: NodeRow,
    /// The cosine similarity to the query, if vectors found the hit with this statement.
    pub(crate) similarity: Option<f64>,
    pub(crate) snippet: Option<String>,
    pub(crate) tag_share: Option<f64>,
    /// Whether its embedding is of a former text.
    pub(crate) stale: bool,
    pub(crate) access_count: Option<i64>,
    pub(crate) last_accessed: Option<DateTime<Utc>>,
    pub(crate) hours: f64,
}

impl Reader {
    /// The hits, in any order. `shown` are the terms that snippets mark; none: no snippets. `boosts` are the tags of the hits'
    /// `tag_share`.
    pub(crate) async fn hits(
        &mut self,
        nodes: &[NodeId],
        vectors: Option<&Vectors>,
        shown: Option<&str>,
        boosts: &[Vec<i64>],
    ) -> Result<Vec<HitRow>> {
        let tag_share = match boosts.is_empty() {
            true => "null::float8",
            false => {
                "(select count(distinct b.ord) from htm.node_tags nt
                    join unnest(:boosts::bigint[], :places::int[]) b(id, ord) on b.id = nt.tag_id
                   where nt.node_id = m.id and nt.namespace = m.namespace)::float8 / :count"
            }
        };
        let given = "select id, null::float8 as similarity from unnest(:nodes::bigint[]) u(id)";
        let sql = self.hits_among(given, vectors, shown).replace("{{tag_share}}", tag_share);
        let (boosted, places) = placed(boosts);
        let statement = Named::new(&self.then.statement(&sql))
            .bind("nodes", ids(nodes))?
            .bind("shown", shown)?
            .bind("boosts", boosted)?
            .bind("places", places)?
            .bind("count", boosts.len() as f64)?
            .bind("only_namespace", &self.namespace)?;
        self.then.bind(statement)?.fetch_all(self.once().await?).await
    }

    /// The nearest nodes as hits, in any order.
    pub(crate) async fn nearest_hits(
        &mut self,
        vectors: &Vectors,
        conditions: &Conditions,
        shown: Option<&str>,
        count: usize,
    ) -> Result<Vec<HitRow>> {
        let near = format!("\n{}", self.nearest(vectors, conditions, true));
        let sql = self.hits_among(&near, Some(vectors), shown).replace("{{tag_share}}", "null::float8");
        let statement = Named::new(&conditions.then().statement(&sql))
            .bind("vector", &vectors.vector)?
            .bind("pool", count as i64)?
            .bind("shown", shown)?;
        conditions.bind(statement)?.fetch_all(self.once().await?).await
    }

    /// The statement of the hits among some nodes `(id, similarity)`.
    fn hits_among(&self, nodes: &str, vectors: Option<&Vectors>, shown: Option<&str>) -> String {
        // "<" is replaced: text that looks like a tag would be left out.
        let snippet = match shown {
            None => "null::text",
            Some(_) => {
                "ts_headline(m.language::regconfig, translate(left(m.content, 100000), E'<\\x02\\x03\\x04', E'\\x04'), :shown::tsquery,
                             E'StartSel=\"\\x02\", StopSel=\"\\x03\", MaxWords=35, MinWords=15')"
            }
        };
        include_str!("../sql/recall/hits.sql")
            .replace("{{node}}", &node_columns())
            .replace("{{snippet}}", snippet)
            .replace("{{store}}", store(vectors))
            .replace("{{of_n}}", self.of_namespace("n"))
            .replace("{{nodes}}", nodes)
    }
}
