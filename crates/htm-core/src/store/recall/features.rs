//! The features of candidates, and their neighbouring turns, for the ranking.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use sqlx::Row;
use sqlx::postgres::PgRow;

use super::reader::{Reader, Vectors, ids};
use crate::model::error::Result;
use crate::model::id::NodeId;
use crate::model::rank::{Conversation, Link, TermCounter, Terms, TextVector};
use crate::store::filter::Conditions;
use crate::store::named::Named;

/// The most bytes of the texts of a small scope: twice those of 60,000 lexemes.
const MOST_BYTES: usize = 2 << 20;

/// The features of a node's text, for the ranking.
#[derive(Clone, Debug)]
pub(crate) struct Features {
    pub(crate) node: NodeId,
    pub(crate) terms: Terms,
    /// In lower case.
    pub(crate) speaker: Option<String>,
    pub(crate) created_at: DateTime<Utc>,
    /// The cosine similarity to the query; none without an embedding or a query's vector.
    pub(crate) similarity: Option<f64>,
}

impl Features {
    /// Reads all but the similarity. The columns are read by place: a name is hashed for each column of each row.
    fn read(row: &PgRow, counter: &TermCounter<'_>) -> sqlx::Result<Self> {
        let text = row.try_get::<&[u8], _>(3)?;
        Ok(Self {
            node: row.try_get(0)?,
            terms: TextVector::new(text).map(|text| counter.count(text)).unwrap_or_default(),
            speaker: row.try_get::<Option<&str>, _>(1)?.map(str::to_lowercase),
            created_at: row.try_get(2)?,
            similarity: None,
        })
    }
}

/// All nodes in a small scope.
#[derive(Debug, Default)]
pub(crate) struct ScopeRows {
    pub(crate) nodes: Vec<ScopeNode>,
    /// The texts of the nodes, one after the other.
    texts: Vec<u8>,
}

/// A node of a small scope.
#[derive(Debug)]
pub(crate) struct ScopeNode {
    pub(crate) node: NodeId,
    pub(crate) created_at: DateTime<Utc>,
    /// In lower case.
    pub(crate) speaker: Option<String>,
    /// Its place among the texts.
    text: Range<usize>,
    /// The conversation and the number within it, if it is a turn.
    pub(crate) turn: Option<(Arc<Conversation>, Option<i32>)>,
}

impl ScopeRows {
    pub(crate) fn text(&self, node: &ScopeNode) -> Option<TextVector<'_>> {
        TextVector::new(self.texts.get(node.text.clone())?)
    }

    /// Reads the columns by place, as above: there may be thousands of rows. The turns of a conversation often follow one
    /// another.
    fn read(&mut self, row: &PgRow) -> sqlx::Result<ScopeNode> {
        let start = self.texts.len();
        self.texts.extend_from_slice(row.try_get(3)?);
        let (namespace, session): (Option<&str>, Option<&str>) = (row.try_get(4)?, row.try_get(5)?);
        let last =
            self.nodes.last().and_then(|last| last.turn.as_ref()).map(|(conversation, _)| conversation);
        let conversation = namespace.zip(session).map(|(namespace, session)| {
            let is_last = |last: &&Arc<Conversation>| last.namespace == namespace && last.session == session;
            last.filter(is_last).cloned().unwrap_or_else(|| {
                Arc::new(Conversation { namespace: namespace.to_owned(), session: session.to_owned() })
            })
        });
        let seq = row.try_get(6)?;
        Ok(ScopeNode {
            node: row.try_get(0)?,
            created_at: row.try_get(1)?,
            speaker: row.try_get::<Option<&str>, _>(2)?.map(str::to_lowercase),
            text: start..self.texts.len(),
            turn: conversation.map(|conversation| (conversation, seq)),
        })
    }
}

impl Reader {
    /// The links of candidates to their neighbouring turns.
    pub(crate) async fn links(
        &mut self,
        conditions: &Conditions,
        candidates: &[NodeId],
        is_filtered: bool,
    ) -> Result<Vec<Link>> {
        // Neighbouring turns are of one namespace.
        let passes = match is_filtered {
            false => String::new(),
            true => format!(
                " left join lateral (select true as is_found from htm.nodes m
                                      where m.id = l.other and {conditions} limit 1) passes on true
                 where l.other = any (:nodes) or passes.is_found",
                conditions = conditions.nodes()
            ),
        };
        let sql = include_str!("../sql/recall/links.sql")
            .replace("{{where}}", &passes)
            .replace("{{of_m}}", self.of_namespace("m"))
            .replace("{{of_n}}", self.of_namespace("n"));
        let statement = Named::new(&sql).bind("nodes", ids(candidates))?;
        let rows: Vec<(NodeId, NodeId, i64)> =
            conditions.bind(statement)?.fetch_all(self.once().await?).await?;
        Ok(rows.into_iter().map(|(turn, other, steps)| Link { turn, other, steps }).collect())
    }

    /// The occurrences of a query's words in the texts of nodes. Each text is read as it arrives: together they may be large.
    pub(crate) async fn features(
        &mut self,
        nodes: &[NodeId],
        counter: &TermCounter<'_>,
    ) -> Result<Vec<Features>> {
        let sql = include_str!("../sql/recall/texts.sql").replace("{{of_m}}", self.of_namespace("m"));
        let statement = Named::new(&self.then.statement(&sql))
            .bind("nodes", ids(nodes))?
            .bind("only_namespace", &self.namespace)?;
        let statement = self.then.bind(statement)?;
        statement.fetch_each(self.once().await?, |row| Features::read(row, counter)).await
    }

    /// The similarity to the query of each of some nodes that has a vector.
    pub(crate) async fn similarities_of(
        &mut self,
        vectors: &Vectors,
        nodes: &[NodeId],
    ) -> Result<HashMap<NodeId, f64>> {
        if nodes.is_empty() {
            return Ok(HashMap::new());
        }
        let mut scope = format!("e.node_id = any (:nodes){}", self.of_namespace("e"));
        if self.then.is_past() {
            scope += " and exists (select from htm.nodes m
                            where m.id = e.node_id and m.namespace = e.namespace and m.revision = e.revision)";
        }
        let statement = comparison(vectors, &self.then.statement(&scope))?
            .bind("nodes", ids(nodes))?
            .bind("only_namespace", &self.namespace)?;
        self.similarities(self.then.bind(statement)?).await
    }

    /// All nodes in scope. None if there are more than `most`, or if their texts are large: the statistics may be older.
    pub(crate) async fn small_scope(
        &mut self,
        conditions: &Conditions,
        most: usize,
    ) -> Result<Option<ScopeRows>> {
        let sql =
            include_str!("../sql/recall/small_scope.sql").replace("{{conditions}}", &conditions.nodes());
        let statement = Named::new(&sql).bind("most", most as i64)?;
        let mut scope = ScopeRows::default();
        let read = |row: &PgRow| {
            if scope.texts.len() <= MOST_BYTES {
                let node = scope.read(row)?;
                scope.nodes.push(node);
            }
            Ok(())
        };
        let rows = conditions.bind(statement)?.fetch_each(self.once().await?, read).await?.len();
        Ok((rows <= most && scope.texts.len() <= MOST_BYTES).then_some(scope))
    }

    /// The similarity to the query of each node of these namespaces that has a vector.
    pub(crate) async fn similarities_of_scope(
        &mut self,
        vectors: &Vectors,
        conditions: &Conditions,
    ) -> Result<HashMap<NodeId, f64>> {
        let statement = comparison(vectors, &conditions.of_namespaces("e"))?;
        self.similarities(conditions.bind(statement)?).await
    }

    async fn similarities(&mut self, comparison: Named) -> Result<HashMap<NodeId, f64>> {
        let (nodes, similarities): (Vec<NodeId>, Vec<f64>) = comparison.fetch_one(self.once().await?).await?;
        Ok(nodes.into_iter().zip(similarities).collect())
    }

    /// The occurrences of exact terms and prefixes in some nodes: the node, the index of the term, and the count (1 for
    /// an exact term).
    pub(crate) async fn sought(
        &mut self,
        nodes: &[NodeId],
        queries: &[Option<String>],
        patterns: &[&str],
        prefixes: &[bool],
    ) -> Result<Vec<(NodeId, usize, f64)>> {
        let sql = include_str!("../sql/recall/sought.sql").replace("{{of_n}}", self.of_namespace("n"));
        let statement = Named::new(&self.then.statement(&sql))
            .bind("nodes", ids(nodes))?
            .bind("only_namespace", &self.namespace)?
            .bind("queries", queries)?
            .bind("patterns", patterns)?
            .bind("prefixes", prefixes)?;
        let rows: Vec<(NodeId, i64, f64)> = self.then.bind(statement)?.fetch_all(self.once().await?).await?;
        Ok(rows.into_iter().map(|(node, place, count)| (node, place as usize, count)).collect())
    }
}

/// The statement that compares the vectors `e` in a scope with the query's.
fn comparison(vectors: &Vectors, scope: &str) -> Result<Named> {
    let sql = include_str!("../sql/recall/similarities.sql")
        .replace("{{store}}", &vectors.store)
        .replace("{{scope}}", scope);
    Named::new(&sql).bind("vector", &vectors.vector)
}
