//! The legs of a search: each returns candidates, the best first.

use sqlx::AssertSqlSafe;

use super::reader::{Plans, Reader, Vectors, store};
use crate::model::error::Result;
use crate::model::id::NodeId;
use crate::store::filter::Conditions;
use crate::store::named::Named;
use crate::store::switches::answered;

/// A word by which the text leg selects candidates.
#[derive(Clone, Debug)]
pub(crate) struct Choosing {
    pub(crate) query: String,
    pub(crate) weight: f64,
    /// Whether the nodes with it come before all others.
    pub(crate) is_exact: bool,
}

/// The method by which the text leg finds its candidates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextSearch {
    /// Searches the index of words, with that of the namespaces if these have few nodes.
    Index,
    /// Searches the index of words alone: nearly all nodes are in scope.
    Words,
    /// Reads each node in scope.
    Scope,
}

impl Reader {
    /// The candidates of the text leg, the best first. Without words, the nodes that have the required phrases.
    pub(crate) async fn text_leg(
        &mut self,
        conditions: &Conditions,
        choosing: &[Choosing],
        search: TextSearch,
        pool: usize,
    ) -> Result<Vec<NodeId>> {
        let sql = match search {
            TextSearch::Index | TextSearch::Words => include_str!("../sql/recall/text.sql"),
            TextSearch::Scope => include_str!("../sql/recall/text_of_scope.sql"),
        };
        let words: Vec<&str> = choosing.iter().map(|word| word.query.as_str()).collect();
        // A required phrase selects the nodes by itself.
        let any = (!conditions.required().has_phrase())
            .then(|| words.iter().map(|word| format!("({word})")).collect::<Vec<_>>().join(" | "));
        // Without sorting, only an index by time is in order of time: the planner cannot take one without the
        // namespace.
        let order = if conditions.required().has_phrase() { "" } else { "order by m.created_at" };
        let on_node = match search {
            TextSearch::Words => conditions.nodes_without_scope_index(),
            TextSearch::Index | TextSearch::Scope => conditions.nodes(),
        };
        let sql = sql.replace("{{conditions}}", &on_node).replace("{{order}}", order);
        let statement = Named::new(&conditions.then().statement(&sql))
            .bind("words", &words)?
            .bind("weights", choosing.iter().map(|word| word.weight).collect::<Vec<_>>())?
            .bind("exact", choosing.iter().map(|word| word.is_exact).collect::<Vec<_>>())?
            .bind("any", any)?
            .bind("pool", pool as i64)?;
        let plans = match search {
            // For any namespace, the index by namespace would be read for each word beside that of words: at 100,000
            // nodes, 12 ms for 4 by planning for this one, which takes 0.4 ms.
            TextSearch::Index => Plans::Anew,
            TextSearch::Words => Plans::Once,
            TextSearch::Scope => Plans::of(conditions),
        };
        let rows: Vec<(NodeId,)> = conditions.bind(statement)?.fetch_all(self.planned(plans).await?).await?;
        Ok(rows.into_iter().map(|(node,)| node).collect())
    }

    /// The candidates of the text leg by an index of pg_textsearch, the best first.
    pub(crate) async fn text_leg_by_bm25(
        &mut self,
        conditions: &Conditions,
        index: &str,
        text: &str,
        pool: usize,
    ) -> Result<Vec<NodeId>> {
        let sql =
            include_str!("../sql/recall/text_by_bm25.sql").replace("{{conditions}}", &conditions.nodes());
        let statement =
            Named::new(&sql).bind("text", text)?.bind("index", index)?.bind("pool", pool as i64)?;
        let rows: Vec<(NodeId,)> = conditions.bind(statement)?.fetch_all(self.once().await?).await?;
        Ok(rows.into_iter().map(|(node,)| node).collect())
    }

    /// The newest nodes with a word; none if fewer than `pool` of the `most` newest nodes have it.
    pub(crate) async fn newest_with(
        &mut self,
        conditions: &Conditions,
        word: &Choosing,
        most: usize,
        pool: usize,
    ) -> Result<Option<Vec<NodeId>>> {
        let sql =
            include_str!("../sql/recall/newest_with.sql").replace("{{conditions}}", &conditions.nodes());
        let statement = Named::new(&sql)
            .bind("word", &word.query)?
            .bind("most", most as i64)?
            .bind("pool", pool as i64)?;
        let rows: Vec<(NodeId,)> =
            conditions.bind(statement)?.fetch_all(self.planned(Plans::of(conditions)).await?).await?;
        Ok((rows.len() == pool).then(|| rows.into_iter().map(|(node,)| node).collect()))
    }

    /// The nearest nodes that pass the filter, each with its similarity; none if more than `few` pass.
    pub(crate) async fn vectors_of_few(
        &mut self,
        vectors: &Vectors,
        conditions: &Conditions,
        few: usize,
        pool: usize,
    ) -> Result<Option<Vec<(NodeId, f64)>>> {
        let sql = include_str!("../sql/recall/vectors_of_few.sql")
            .replace("{{store}}", &vectors.store)
            .replace("{{of_e}}", self.of_namespace("e"))
            .replace("{{conditions}}", &with_vector(conditions, vectors, conditions.nodes()));
        let statement = Named::new(&conditions.then().statement(&sql))
            .bind("vector", &vectors.vector)?
            .bind("few", few as i64)?
            .bind("pool", pool as i64)?;
        let rows: Vec<(bool, Option<NodeId>, Option<f64>)> =
            conditions.bind(statement)?.fetch_all(self.planned(Plans::of(conditions)).await?).await?;
        let are_few = rows.iter().all(|(are_few, ..)| *are_few);
        Ok(are_few.then(|| {
            rows.into_iter().filter_map(|(_, node, similarity)| Some((node?, similarity?))).collect()
        }))
    }

    /// The number of vectors in the filter's namespaces and time, counted up to `few` and one more.
    pub(crate) async fn scope_size(
        &mut self,
        vectors: &Vectors,
        conditions: &Conditions,
        few: usize,
    ) -> Result<usize> {
        let sql = include_str!("../sql/recall/scope_size.sql")
            .replace("{{store}}", &vectors.store)
            .replace("{{scope}}", &conditions.scope("e"));
        let statement = conditions.bind(Named::new(&sql).bind("few", few as i64)?)?;
        let (count,): (i64,) = statement.fetch_one(self.once().await?).await?;
        Ok(count as usize)
    }

    /// The candidates of the vector leg, the nearest first, each with its similarity.
    pub(crate) async fn vector_leg(
        &mut self,
        vectors: &Vectors,
        conditions: &Conditions,
        is_exact: bool,
        pool: usize,
    ) -> Result<Vec<(NodeId, f64)>> {
        let (order, scope, scope_after) = match vectors.order().filter(|_| !is_exact) {
            Some(order) => (order, self.index_scope().to_owned(), conditions.scope("near")),
            // "+ 0" keeps the planner from using the index. Of equal ones the newest come first.
            None => (
                "(e.embedding <=> :vector) + 0, e.node_id desc".to_owned(),
                conditions.scope("e"),
                "true".to_owned(),
            ),
        };
        let sql = include_str!("../sql/recall/vectors.sql")
            .replace("{{store}}", &vectors.store)
            .replace("{{order}}", &order)
            .replace("{{scope_after}}", &scope_after)
            .replace("{{scope}}", &scope)
            .replace("{{of_m}}", self.of_namespace("m"))
            .replace("{{conditions}}", &with_vector(conditions, vectors, conditions.nodes_in_scope()));
        let fetched = if is_exact { pool } else { pool * vectors.candidates_each() };
        let sql = conditions.then().statement(&sql);
        let statement = Named::new(&sql).bind("vector", &vectors.vector)?.bind("pool", fetched as i64)?;
        // The nearest vectors are read first in any case, and each node is looked up by its id.
        if !is_exact && let Some(settings) = vectors.settings(self.ef_search) {
            answered(sqlx::raw_sql(AssertSqlSafe(settings)).execute(&mut ***self.once().await?)).await?;
        }
        let mut near: Vec<(NodeId, f64)> = conditions.bind(statement)?.fetch_all(self.once().await?).await?;
        near.sort_by(|(_, one), (_, other)| other.total_cmp(one));
        near.truncate(pool);
        Ok(near)
    }

    /// The condition on a vector `e` that an index of vectors gives. It tells the partition, whose index alone is searched
    /// then.
    fn index_scope(&self) -> &'static str {
        if self.namespace.is_some() { "e.namespace = :only_namespace" } else { "true" }
    }

    /// The nodes with any of these tags, the nearest first.
    pub(crate) async fn tagged(
        &mut self,
        vectors: Option<&Vectors>,
        conditions: &Conditions,
        tags: &[i64],
        pool: usize,
    ) -> Result<Vec<NodeId>> {
        let sql = include_str!("../sql/recall/tagged.sql")
            .replace("{{store}}", store(vectors))
            .replace("{{of_n}}", self.of_namespace("n"))
            .replace("{{conditions}}", &conditions.nodes());
        let statement = Named::new(&conditions.then().statement(&sql))
            .bind("boosts", tags)?
            .bind("vector", vectors.map(|vectors| &vectors.vector))?
            .bind("pool", pool as i64)?;
        let rows: Vec<(NodeId,)> =
            conditions.bind(statement)?.fetch_all(self.planned(Plans::of(conditions)).await?).await?;
        Ok(rows.into_iter().map(|(node,)| node).collect())
    }
}

/// The conditions on a node that vectors find. As of an earlier time, its vector must be that of its text then.
fn with_vector(conditions: &Conditions, vectors: &Vectors, nodes: String) -> String {
    match conditions.then().is_past() {
        false => nodes,
        true => format!(
            "{nodes} and exists (select from {} v where v.node_id = m.id and v.namespace = m.namespace and v.revision = m.revision)",
            vectors.store
        ),
    }
}
