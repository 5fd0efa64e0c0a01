//! A snapshot of the database, and its reads before and after the candidates.

use chrono::{DateTime, Utc};
use pgvector::HalfVector;

use super::node_row::{NodeRow, node_columns};
use crate::model::error::Result;
use crate::model::id::NodeId;
use crate::model::rank::Corpus;
use crate::model::vector_index::VectorIndex;
use crate::model::words::{letter, of_letters};
use crate::store::connections::{Connections, Tx};
use crate::store::embeddings::RegisteredModel;
use crate::store::filter::{Conditions, only, placed};
use crate::store::named::{Named, sql};
use crate::store::switches::answered;
use crate::store::then::Then;
use crate::store::vector_index;

/// A query's embedding, and the store of the vectors that it is compared with.
#[derive(Clone, Debug)]
pub(crate) struct Vectors {
    pub(super) store: String,
    pub(super) vector: HalfVector,
    index: VectorIndex,
    dimensions: usize,
}

impl Vectors {
    pub(crate) fn new(model: &RegisteredModel, vector: &[f32]) -> Self {
        Self {
            store: model.store(),
            vector: HalfVector::from_f32_slice(vector),
            index: model.vector_index,
            dimensions: model.dimensions,
        }
    }

    /// Whether there is an index to search.
    pub(crate) fn has_index(&self) -> bool {
        self.index != VectorIndex::None
    }

    /// Whether the first `count` candidates of a search in the index are the nearest that it finds.
    pub(crate) fn are_in_order(&self, count: usize, ef_search: u32) -> bool {
        self.candidates_each() == 1 && count <= ef_search as usize
    }

    /// The number of candidates to read from the index for each that is wanted.
    pub(super) fn candidates_each(&self) -> usize {
        vector_index::candidates_each(self.index)
    }

    /// The order of the index, as SQL; none: there is no index.
    pub(super) fn order(&self) -> Option<String> {
        vector_index::order(self.index, self.dimensions)
    }

    /// The settings of a search in the index, as SQL.
    pub(super) fn settings(&self, ef_search: u32) -> Option<String> {
        vector_index::settings(self.index, ef_search)
    }
}

/// How long one of two connections waits for a lock. A change of the schema may wait for a table that one of them reads, and
/// keep the other one from it: PostgreSQL does not know that they wait for each other.
const LOCK_TIMEOUT: &str = "200ms";

/// A snapshot of the database. It ends when this is dropped; nobody waits for its end.
pub(crate) struct Reader {
    tx: Tx,
    plans: Plans,
    pub(crate) ef_search: u32,
    /// The namespace that is searched; none if several are.
    pub(super) namespace: Option<String>,
    /// The time as of which the nodes are read.
    pub(super) then: Then,
}

/// A snapshot that another connection may read.
pub(super) struct Exported<'p> {
    pool: &'p dyn Connections,
    begin: String,
    ef_search: u32,
    namespace: Option<String>,
    then: Then,
}

impl Exported<'_> {
    /// Opens it on an idle connection; none if there is none by now, or if it does not answer.
    pub(super) async fn open(self) -> Option<Reader> {
        let Self { pool, begin, ef_search, namespace, then } = self;
        let tx = pool.begin_if_idle(&begin).await?;
        Some(Reader { tx, plans: Plans::Once, ef_search, namespace, then })
    }
}

/// When statements are planned. Planning one of these statements takes as long as running it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Plans {
    /// Once a connection: the best plan is the same for all values.
    Once,
    /// At each use: a filter may leave few nodes of many, and the best plan depends on its values.
    Anew,
}

impl Plans {
    /// For a statement with these conditions.
    pub(super) fn of(conditions: &Conditions) -> Self {
        if conditions.is_narrow() { Self::Anew } else { Self::Once }
    }
}

/// The size of the searched namespaces.
#[derive(Clone, Debug, sqlx::FromRow)]
pub(crate) struct Size {
    /// The number of nodes at the last count, which the counts of words refer to.
    pub(crate) nodes: f64,
    /// The number of nodes with those written since.
    pub(crate) by_now: f64,
    pub(crate) average_lexemes: f64,
    /// Whether all namespaces have statistics; at most 2,000 nodes of one without them are counted.
    pub(crate) is_counted: bool,
    /// The times of the last counts in the order of the namespaces, if all have statistics and words are searched.
    pub(crate) counted_at: Option<Vec<DateTime<Utc>>>,
    /// The text search configurations of their nodes.
    pub(crate) languages: Vec<String>,
    /// The approximate number of nodes in the whole database.
    pub(crate) all_nodes: f64,
    is_partitioned: bool,
    /// Whether the database has pg_textsearch.
    knows_bm25: bool,
    /// An index of pg_textsearch on the texts.
    #[sqlx(skip)]
    bm25: Option<Bm25Index>,
}

/// An index of pg_textsearch.
#[derive(Clone, Debug, sqlx::FromRow)]
struct Bm25Index {
    /// Qualified.
    name: String,
    /// Its text search configuration.
    language: String,
}

impl Size {
    /// Whether reading its nodes is faster than reading the nodes of all namespaces that have a word, of which nothing is
    /// known. A hybrid search of 900 among 10,000,000 nodes took 62 ms with that, one of vectors 8.
    pub(super) fn is_small_part(&self) -> bool {
        self.by_now <= 2_000.0 && self.by_now * 200.0 <= self.all_nodes
    }

    /// Whether four fifths of all nodes, or more, are in scope, and in one table. Then the index of words alone leads to them, and a
    /// statement can be planned once. Forgotten nodes are among all. The coordinator of Citus knows no number of all.
    pub(crate) fn is_nearly_all(&self) -> bool {
        !self.is_partitioned && self.all_nodes > 0.0 && self.by_now * 1.25 >= self.all_nodes
    }

    /// The index of pg_textsearch, if it has the language of all nodes in scope, and these are so large a part of all that
    /// few of its results are of others: it knows no namespaces.
    pub(crate) fn usable_bm25(&self) -> Option<&str> {
        let index = self.bm25.as_ref()?;
        let is_of_language = self.languages.iter().all(|language| index.language == *language);
        let is_large_part = self.by_now * 4.0 >= self.all_nodes;
        (is_of_language && is_large_part).then_some(&index.name)
    }

    pub(crate) fn corpus(&self) -> Corpus {
        Corpus { nodes: self.nodes, average_lexemes: self.average_lexemes }
    }
}

/// A hit's row.
#[derive(sqlx::FromRow)]
pub(crate) struct HitRow {
    #[sqlx(flatten)]
    pub(crate) node: NodeRow,
    pub(crate) snippet: Option<String>,
    pub(crate) tag_share: Option<f64>,
    /// Whether its embedding is of a former text.
    pub(crate) stale: bool,
    pub(crate) access_count: Option<i64>,
    pub(crate) last_accessed: Option<DateTime<Utc>>,
    pub(crate) hours: f64,
}

impl Reader {
    /// Opens a snapshot for a search of these namespaces.
    ///
    /// # Errors
    /// A database error.
    pub(crate) async fn open(
        pool: &dyn Connections,
        namespaces: &[&str],
        ef_search: u32,
        then: Then,
    ) -> Result<Self> {
        let tx = pool.begin_with(&begin(ef_search, "")).await?;
        let namespace = only(namespaces).map(Into::into);
        Ok(Self { tx, plans: Plans::Once, ef_search, namespace, then })
    }

    /// Exports the snapshot for another connection; none if most connections of the pool are in use.
    ///
    /// # Errors
    /// A database error.
    pub(super) async fn export<'p>(&mut self, pool: &'p dyn Connections) -> Result<Option<Exported<'p>>> {
        if !pool.are_mostly_idle() {
            return Ok(None);
        }
        let export = sqlx::query_as("select pg_export_snapshot(), set_config('lock_timeout', $1, true)");
        let (id, _): (String, String) = answered(export.bind(LOCK_TIMEOUT).fetch_one(&mut **self.tx)).await?;
        let shared = format!("set transaction snapshot '{id}'; set local lock_timeout = '{LOCK_TIMEOUT}';");
        let begin = begin(self.ef_search, &shared);
        let (ef_search, namespace, then) = (self.ef_search, self.namespace.clone(), self.then);
        Ok(Some(Exported { pool, begin, ef_search, namespace, then }))
    }

    /// The condition that a row, which is known to be of the namespaces that are searched, is of the only one: it tells a
    /// partition. Several namespaces are not repeated, because a row would be looked up in each.
    pub(super) fn of_namespace(&self, row: &str) -> &'static str {
        match row {
            _ if self.namespace.is_none() => "",
            "c" => " and c.namespace = :only_namespace",
            "e" => " and e.namespace = :only_namespace",
            "m" => " and m.namespace = :only_namespace",
            _ => " and n.namespace = :only_namespace",
        }
    }

    /// The snapshot, for a statement that is planned so. Each statement names it: the setting holds until another one.
    pub(super) async fn planned(&mut self, plans: Plans) -> Result<&mut Tx> {
        if self.plans != plans {
            let mode = match plans {
                Plans::Once => "set local plan_cache_mode = force_generic_plan",
                Plans::Anew => "set local plan_cache_mode = force_custom_plan",
            };
            answered(sqlx::raw_sql(mode).execute(&mut **self.tx)).await?;
            self.plans = plans;
        }
        Ok(&mut self.tx)
    }

    pub(super) async fn once(&mut self) -> Result<&mut Tx> {
        self.planned(Plans::Once).await
    }

    /// The snapshot, for statements that find rows by a key.
    pub(crate) async fn connection(&mut self) -> Result<&mut sqlx::PgConnection> {
        Ok(self.once().await?)
    }

    pub(crate) async fn size(&mut self, namespaces: &[&str], language: &str) -> Result<Size> {
        let mut size: Size = sql!(include_str!("../sql/recall/corpus.sql"))
            .bind("namespaces", namespaces)?
            .bind("language", language)?
            .fetch_one(self.once().await?)
            .await?;
        // A statement of its own: a new connection plans it for as long as the rest of the size.
        if size.knows_bm25 {
            size.bm25 =
                sql!(include_str!("../sql/recall/bm25_index.sql")).fetch_optional(self.once().await?).await?;
        }
        Ok(size)
    }

    /// The size as far as a search by vectors alone needs it, from the statistics.
    pub(crate) async fn size_for_vectors(&mut self, namespaces: &[&str]) -> Result<Size> {
        let (nodes, all_nodes): (Option<f64>, f64) = sql!(include_str!("../sql/recall/counted.sql"))
            .bind("namespaces", namespaces)?
            .fetch_one(self.once().await?)
            .await?;
        Ok(Size {
            nodes: nodes.unwrap_or(0.0),
            by_now: nodes.unwrap_or(0.0),
            average_lexemes: 1.0,
            is_counted: nodes.is_some(),
            counted_at: None,
            languages: Vec::new(),
            all_nodes,
            is_partitioned: true,
            knows_bm25: false,
            bm25: None,
        })
    }

    /// The hits. `shown` are the terms that snippets mark; none: no snippets. `boosts` are the tags of the hits'
    /// `tag_share`.
    pub(crate) async fn hits(
        &mut self,
        nodes: &[NodeId],
        vectors: Option<&Vectors>,
        shown: Option<&str>,
        boosts: &[Vec<i64>],
    ) -> Result<Vec<HitRow>> {
        // "<" is replaced: text that looks like a tag would be left out. Letters of scripts without spaces are parted: the
        // parser would take a sentence for a word.
        let snippet = match shown {
            None => "null::text",
            Some(_) => {
                "translate(ts_headline(m.language::regconfig,
                                       regexp_replace(htm.parted(translate(left(m.content, 100000), E'<\\x02\\x03\\x04\\x05', E'\\x04')),
                                                      :letter, E'\\x05\\\\1\\x05', 'g'),
                                       :shown::tsquery, E'StartSel=\"\\x02\", StopSel=\"\\x03\", MaxWords=35, MinWords=15'),
                           E'\\x05', '')"
            }
        };
        let tag_share = match boosts.is_empty() {
            true => "null::float8",
            false => {
                "(select count(distinct b.ord) from htm.node_tags nt
                    join unnest(:boosts::bigint[], :places::int[]) b(id, ord) on b.id = nt.tag_id
                   where nt.node_id = m.id and nt.namespace = m.namespace)::float8 / :count"
            }
        };
        let sql = include_str!("../sql/recall/hits.sql")
            .replace("{{node}}", &node_columns())
            .replace("{{snippet}}", snippet)
            .replace("{{tag_share}}", tag_share)
            .replace("{{store}}", store(vectors))
            .replace("{{of_n}}", self.of_namespace("n"));
        let (boosted, places) = placed(boosts);
        let statement = Named::new(&self.then.statement(&sql))
            .bind("nodes", ids(nodes))?
            .bind("shown", shown.map(of_letters))?
            .bind("letter", shown.is_some().then(letter))?
            .bind("boosts", boosted)?
            .bind("places", places)?
            .bind("count", boosts.len() as f64)?
            .bind("only_namespace", &self.namespace)?;
        self.then.bind(statement)?.fetch_answer(self.once().await?).await
    }

    /// The number of nodes in scope that the vectors cannot find yet.
    pub(crate) async fn unembedded(
        &mut self,
        conditions: &Conditions,
        queue: &str,
        label: Option<&str>,
    ) -> Result<i64> {
        let sql = include_str!("../sql/recall/unembedded.sql")
            .replace("{{scope}}", &conditions.scope("n"))
            .replace("{{of_c}}", self.of_namespace("c"));
        let statement = Named::new(&sql).bind("queue", queue)?.bind("label", label)?;
        let (count,): (i64,) = conditions.bind(statement)?.fetch_one(self.once().await?).await?;
        Ok(count)
    }

    /// The number of nodes in scope that had another text as of the reader's time.
    pub(crate) async fn rewritten(&mut self, conditions: &Conditions) -> Result<i64> {
        let sql = include_str!("../sql/recall/rewritten.sql").replace("{{scope}}", &conditions.scope("n"));
        let (count,): (i64,) = conditions.bind(Named::new(&sql))?.fetch_one(self.once().await?).await?;
        Ok(count)
    }

    /// The number of nodes in scope, among the latest, without a vector of a model, also without a job for one.
    pub(crate) async fn awaited(&mut self, conditions: &Conditions, label: &str) -> Result<i64> {
        let sql = include_str!("../sql/recall/awaited.sql")
            .replace("{{scope}}", &conditions.scope("n"))
            .replace("{{of_c}}", self.of_namespace("c"));
        let statement = Named::new(&sql).bind("label", label)?;
        let (count,): (i64,) = conditions.bind(statement)?.fetch_one(self.once().await?).await?;
        Ok(count)
    }
}

/// Begins a snapshot, with further settings.
fn begin(ef_search: u32, settings: &str) -> String {
    // Whole tables are never read, and without sorting only the vector index is in order of distance. No parallel workers:
    // starting them takes longer than their work.
    format!(
        "begin isolation level repeatable read, read only; {settings} set local jit = off;
         set local plan_cache_mode = force_generic_plan; set local enable_seqscan = off; set local enable_sort = off; set local max_parallel_workers_per_gather = 0;
         set local hnsw.iterative_scan = relaxed_order; set local hnsw.max_scan_tuples = 200000;
         set local hnsw.ef_search = {}",
        ef_search.clamp(1, 1_000)
    )
}

/// The store of the vectors; without a model, an empty relation of the same shape.
pub(super) fn store(vectors: Option<&Vectors>) -> &str {
    vectors.map_or(
        "(select 0::bigint as node_id, null::text as namespace, 0 as revision, null::halfvec as embedding where false)",
        |vectors| &vectors.store,
    )
}

pub(super) fn ids(nodes: &[NodeId]) -> Vec<i64> {
    nodes.iter().map(|node| node.0).collect()
}
