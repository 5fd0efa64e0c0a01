//! What recall reads, a small statement each, all in one snapshot.

use chrono::{DateTime, Utc};
use pgvector::HalfVector;
use sqlx::types::Json;
use sqlx::{AssertSqlSafe, PgPool, Postgres, Transaction};

use super::node_row::{NodeRow, node_columns};
use crate::model::error::Result;
use crate::model::id::NodeId;
use crate::model::rank::{self, Corpus, Lexeme, Link, Member};
use crate::model::spelling::{Known, Typed};
use crate::model::words::Sign;
use crate::store::embeddings::RegisteredModel;
use crate::store::filter::Filter;
use crate::store::named::Named;

/// A query's embedding, and whose vectors it is compared with.
#[derive(Clone, Debug)]
pub(crate) struct Vectors {
    store: String,
    vector: HalfVector,
}

impl Vectors {
    pub(crate) fn new(model: &RegisteredModel, vector: &[f32]) -> Self {
        Self { store: model.store(), vector: HalfVector::from_f32_slice(vector) }
    }
}

/// A snapshot of the database.
pub(crate) struct Reader {
    tx: Transaction<'static, Postgres>,
}

/// The namespaces that are searched.
#[derive(Clone, Debug, sqlx::FromRow)]
pub(crate) struct Size {
    pub(crate) nodes: f64,
    pub(crate) average_length: f64,
    /// By their statistics; else a part of them was counted.
    pub(crate) is_counted: bool,
    /// The text search configurations that their nodes have.
    pub(crate) languages: Vec<String>,
    /// Of the whole database, about.
    pub(crate) all_nodes: f64,
}

impl Size {
    pub(crate) fn corpus(&self) -> Corpus {
        Corpus { nodes: self.nodes, average_length: self.average_length }
    }
}

/// A sign of the query, as full text takes it.
#[derive(Clone, Debug, sqlx::FromRow)]
pub(crate) struct Lexed {
    /// As a `tsquery`; none of what has no lexeme.
    pub(crate) query: Option<String>,
    /// Some language leaves out all of it.
    pub(crate) is_short: bool,
    pub(crate) lexemes: Vec<String>,
    /// How many nodes have words that begin so.
    pub(crate) nodes: f64,
}

/// A word by which the text leg looks for candidates.
#[derive(Clone, Debug)]
pub(crate) struct Choosing {
    pub(crate) query: String,
    pub(crate) weight: f64,
    /// What has it comes before all that has not.
    pub(crate) is_exact: bool,
}

/// How the text leg finds its candidates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextSearch {
    /// By the index of words.
    Index,
    /// Each node in scope is read.
    Scope,
}

/// What the text of a query asks of each candidate.
#[derive(Clone, Debug, Default)]
pub(crate) struct Asking {
    pub(crate) words: Vec<String>,
    pub(crate) openings: Vec<String>,
    pub(crate) pairs: Vec<String>,
}

/// What is known of a node beside its text's words.
#[derive(Clone, Debug)]
pub(crate) struct Features {
    pub(crate) member: Member,
    /// In small letters.
    pub(crate) speaker: Option<String>,
    pub(crate) created_at: DateTime<Utc>,
}

/// A hit's row.
#[derive(sqlx::FromRow)]
pub(crate) struct HitRow {
    #[sqlx(flatten)]
    pub(crate) node: NodeRow,
    pub(crate) snippet: Option<String>,
    pub(crate) tag_share: Option<f64>,
    /// Its embedding is that of a former text.
    pub(crate) stale: bool,
    pub(crate) access_count: Option<i64>,
    pub(crate) last_accessed: Option<DateTime<Utc>>,
    pub(crate) hours: f64,
}

impl Reader {
    /// Opens a snapshot. `is_narrow` says that a filter leaves few nodes of many, perhaps: how to find those depends on which.
    ///
    /// # Errors
    /// A database error.
    pub(crate) async fn open(pool: &PgPool, ef_search: u32, is_narrow: bool) -> Result<Self> {
        // A plan that is made once serves any query without a filter: to plan these statements takes as long as to run them.
        let plans = if is_narrow { "force_custom_plan" } else { "force_generic_plan" };
        // Whole tables are never read, and without sorting only the HNSW index is in order of distance. No parallel workers: to
        // start them takes longer than what they would do.
        let begin = format!(
            "begin isolation level repeatable read, read only; set local jit = off; set local plan_cache_mode = {plans};
             set local enable_seqscan = off; set local enable_sort = off; set local max_parallel_workers_per_gather = 0;
             set local hnsw.iterative_scan = relaxed_order; set local hnsw.max_scan_tuples = 200000;
             set local hnsw.ef_search = {}",
            ef_search.clamp(1, 1_000)
        );
        Ok(Self { tx: pool.begin_with(AssertSqlSafe(begin)).await? })
    }

    /// Ends it.
    ///
    /// # Errors
    /// A database error.
    pub(crate) async fn close(self) -> Result<()> {
        Ok(self.tx.commit().await?)
    }

    pub(crate) fn connection(&mut self) -> &mut sqlx::PgConnection {
        &mut self.tx
    }

    pub(crate) async fn size(&mut self, namespaces: &[&str], language: &str) -> Result<Size> {
        Named::new(include_str!("../sql/recall/corpus.sql"))
            .bind("namespaces", namespaces)?
            .bind("language", language)?
            .fetch_one(&mut self.tx)
            .await
    }

    /// The lexemes of a text, and of words that full text would not see in it.
    pub(crate) async fn lexemes(
        &mut self,
        namespaces: &[&str],
        languages: &[String],
        text: &str,
        parts: &[&str],
    ) -> Result<Vec<Lexeme>> {
        let rows: Vec<LexemeRow> = Named::new(include_str!("../sql/recall/words.sql"))
            .bind("namespaces", namespaces)?
            .bind("languages", languages)?
            .bind("text", text)?
            .bind("parts", parts)?
            .fetch_all(&mut self.tx)
            .await?;
        Ok(rows.into_iter().map(LexemeRow::lexeme).collect())
    }

    /// Words, with their stems and those of what they are with two letters swapped; without those that a language leaves out.
    pub(crate) async fn typed(
        &mut self,
        languages: &[String],
        words: Vec<(String, Vec<String>)>,
    ) -> Result<Vec<Typed>> {
        let all: Vec<&str> = words
            .iter()
            .flat_map(|(word, swaps)| std::iter::once(word).chain(swaps))
            .map(String::as_str)
            .collect();
        let rows: Vec<(String, Vec<String>)> = Named::new(include_str!("../sql/recall/stems.sql"))
            .bind("words", all)?
            .bind("languages", languages)?
            .fetch_all(&mut self.tx)
            .await?;
        let stems: std::collections::HashMap<String, Vec<String>> = rows.into_iter().collect();
        let swapped = |swaps: Vec<String>| {
            let stems = &stems;
            swaps
                .into_iter()
                .flat_map(|swap| {
                    stems.get(&swap).into_iter().flatten().map(move |stem| (swap.clone(), stem.clone()))
                })
                .collect()
        };
        Ok(words
            .into_iter()
            .filter_map(|(word, swaps)| {
                Some(Typed { stems: stems.get(&word)?.clone(), swapped: swapped(swaps), word })
            })
            .collect())
    }

    /// The lexemes that some words may have been meant to be.
    pub(crate) async fn vocabulary(&mut self, namespaces: &[&str], typed: &[Typed]) -> Result<Vec<Known>> {
        let named: Vec<&str> =
            typed.iter().flat_map(|typed| &typed.swapped).map(|(_, stem)| stem.as_str()).collect();
        let mut firsts = Vec::new();
        let (mut shortest, mut longest) = (Vec::new(), Vec::new());
        for stem in typed.iter().flat_map(|typed| &typed.stems) {
            let letters = stem.chars().count() as i32;
            firsts.extend(stem.chars().next().map(String::from));
            shortest.push(letters - 2);
            longest.push(letters + 2);
        }
        let rows: Vec<(String, f64)> = Named::new(include_str!("../sql/recall/vocabulary.sql"))
            .bind("namespaces", namespaces)?
            .bind("named", named)?
            .bind("firsts", firsts)?
            .bind("shortest", shortest)?
            .bind("longest", longest)?
            .fetch_all(&mut self.tx)
            .await?;
        Ok(rows.into_iter().map(|(lexeme, nodes)| Known { lexeme, nodes }).collect())
    }

    /// The signs as full text takes them, each in its place.
    pub(crate) async fn signs(
        &mut self,
        namespaces: &[&str],
        languages: &[String],
        signs: &[Sign],
    ) -> Result<Vec<Lexed>> {
        Named::new(include_str!("../sql/recall/signs.sql"))
            .bind("namespaces", namespaces)?
            .bind("languages", languages)?
            .bind("signs", Json(signs))?
            .fetch_all(&mut self.tx)
            .await
    }

    /// The candidates of the text leg, the best first. Without any word to choose by, those that the filter requires.
    pub(crate) async fn text_leg(
        &mut self,
        filter: &Filter,
        choosing: &[Choosing],
        search: TextSearch,
        pool: usize,
    ) -> Result<Vec<NodeId>> {
        let sql = match search {
            TextSearch::Index => include_str!("../sql/recall/text.sql"),
            TextSearch::Scope => include_str!("../sql/recall/text_of_scope.sql"),
        };
        let words: Vec<&str> = choosing.iter().map(|word| word.query.as_str()).collect();
        // What has to be there chooses by itself.
        let any = (!filter.required().has_phrase())
            .then(|| words.iter().map(|word| format!("({word})")).collect::<Vec<_>>().join(" | "));
        let statement = Named::new(&sql.replace("{{conditions}}", &filter.nodes()))
            .bind("words", &words)?
            .bind("weights", choosing.iter().map(|word| word.weight).collect::<Vec<_>>())?
            .bind("exact", choosing.iter().map(|word| word.is_exact).collect::<Vec<_>>())?
            .bind("any", any)?
            .bind("pool", pool as i64)?;
        let rows: Vec<(NodeId,)> = filter.bind(statement)?.fetch_all(&mut self.tx).await?;
        Ok(rows.into_iter().map(|(node,)| node).collect())
    }

    /// The nearest of what passes the filter, each with its similarity; none when more than `few` pass.
    pub(crate) async fn vectors_of_few(
        &mut self,
        vectors: &Vectors,
        filter: &Filter,
        few: usize,
        pool: usize,
    ) -> Result<Option<Vec<(NodeId, f64)>>> {
        let sql = include_str!("../sql/recall/vectors_of_few.sql")
            .replace("{{store}}", &vectors.store)
            .replace("{{conditions}}", &filter.nodes());
        let statement = Named::new(&sql)
            .bind("vector", &vectors.vector)?
            .bind("few", few as i64)?
            .bind("pool", pool as i64)?;
        let (are_few, nodes, similarities): (bool, Vec<i64>, Vec<f64>) =
            filter.bind(statement)?.fetch_one(&mut self.tx).await?;
        Ok(are_few.then(|| nodes.into_iter().map(NodeId).zip(similarities).collect()))
    }

    /// How many vectors are in the filter's namespaces and time, counted to `few` and one more.
    pub(crate) async fn scope_size(
        &mut self,
        vectors: &Vectors,
        filter: &Filter,
        few: usize,
    ) -> Result<usize> {
        let sql = include_str!("../sql/recall/scope_size.sql")
            .replace("{{store}}", &vectors.store)
            .replace("{{scope}}", &filter.scope("e"));
        let statement = filter.bind(Named::new(&sql).bind("few", few as i64)?)?;
        let (count,): (i64,) = statement.fetch_one(&mut self.tx).await?;
        Ok(count as usize)
    }

    /// The candidates of the vector leg, the nearest first, each with its similarity.
    pub(crate) async fn vector_leg(
        &mut self,
        vectors: &Vectors,
        filter: &Filter,
        is_exact: bool,
        pool: usize,
    ) -> Result<Vec<(NodeId, f64)>> {
        // "+ 0" keeps the planner from the index.
        let (order, scope, scope_after) = match is_exact {
            true => ("(e.embedding <=> :vector) + 0", filter.scope("e"), "true".to_owned()),
            false => ("e.embedding <=> :vector", "true".to_owned(), filter.scope("near")),
        };
        let sql = include_str!("../sql/recall/vectors.sql")
            .replace("{{store}}", &vectors.store)
            .replace("{{order}}", order)
            .replace("{{scope_after}}", &scope_after)
            .replace("{{scope}}", &scope)
            .replace("{{conditions}}", &filter.nodes_in_scope());
        let statement = Named::new(&sql).bind("vector", &vectors.vector)?.bind("pool", pool as i64)?;
        filter.bind(statement)?.fetch_all(&mut self.tx).await
    }

    /// What has any of these tags, the nearest first.
    pub(crate) async fn tagged(
        &mut self,
        vectors: Option<&Vectors>,
        filter: &Filter,
        tags: &[i64],
        pool: usize,
    ) -> Result<Vec<NodeId>> {
        let sql = include_str!("../sql/recall/tagged.sql")
            .replace("{{store}}", store(vectors))
            .replace("{{conditions}}", &filter.nodes());
        let statement = Named::new(&sql)
            .bind("boosts", tags)?
            .bind("vector", vectors.map(|vectors| &vectors.vector))?
            .bind("pool", pool as i64)?;
        let rows: Vec<(NodeId,)> = filter.bind(statement)?.fetch_all(&mut self.tx).await?;
        Ok(rows.into_iter().map(|(node,)| node).collect())
    }

    /// The turns beside candidates.
    pub(crate) async fn links(
        &mut self,
        filter: &Filter,
        candidates: &[NodeId],
        is_filtered: bool,
    ) -> Result<Vec<Link>> {
        // Turns beside one another are of one namespace.
        let condition = match is_filtered {
            false => String::new(),
            true => format!(
                " where l.other = any (:nodes) or exists (select from htm.nodes m where m.id = l.other and {})",
                filter.nodes()
            ),
        };
        let sql = include_str!("../sql/recall/links.sql").replace("{{where}}", &condition);
        let statement = Named::new(&sql).bind("nodes", ids(candidates))?;
        let rows: Vec<(NodeId, NodeId, i64)> = filter.bind(statement)?.fetch_all(&mut self.tx).await?;
        Ok(rows.into_iter().map(|(turn, other, steps)| Link { turn, other, steps }).collect())
    }

    /// What the ranking has to know of nodes.
    pub(crate) async fn features(
        &mut self,
        nodes: &[NodeId],
        vectors: Option<&Vectors>,
        asking: Option<&Asking>,
    ) -> Result<Vec<Features>> {
        let (length, document, words) = match asking {
            Some(_) => (
                "length(d.tsv)",
                "cross join lateral (select ts_delete(m.tsv, '') as tsv offset 0) d",
                include_str!("../sql/recall/features_words.sql"),
            ),
            None => ("0", "", "'{}'::real[] as ranks, '{}'::int[] as openings, '{}'::int[] as together"),
        };
        let (similarity, embedding) = match vectors {
            Some(vectors) => (
                "1 - (e.embedding <=> :vector) as similarity",
                format!(
                    "left join lateral (select s.embedding from {} s where s.node_id = m.id offset 0) e on true",
                    vectors.store
                ),
            ),
            None => ("null::float8 as similarity", String::new()),
        };
        let sql = include_str!("../sql/recall/features.sql")
            .replace("{{length}}", length)
            .replace("{{document}}", document)
            .replace("{{words}}", words)
            .replace("{{similarity}}", similarity)
            .replace("{{embedding}}", &embedding);
        let asking = asking.cloned().unwrap_or_default();
        let rows: Vec<FeatureRow> = Named::new(&sql)
            .bind("nodes", ids(nodes))?
            .bind("vector", vectors.map(|vectors| &vectors.vector))?
            .bind("words", asking.words)?
            .bind("openings", asking.openings)?
            .bind("pairs", asking.pairs)?
            .fetch_all(&mut self.tx)
            .await?;
        Ok(rows.into_iter().map(FeatureRow::features).collect())
    }

    /// Which nodes have which exact terms and beginnings of words, and how often.
    pub(crate) async fn sought(
        &mut self,
        nodes: &[NodeId],
        queries: &[Option<String>],
        patterns: &[&str],
        prefixes: &[bool],
    ) -> Result<Vec<(NodeId, usize, f64)>> {
        let rows: Vec<(NodeId, i64, f64)> = Named::new(include_str!("../sql/recall/sought.sql"))
            .bind("nodes", ids(nodes))?
            .bind("queries", queries)?
            .bind("patterns", patterns)?
            .bind("prefixes", prefixes)?
            .fetch_all(&mut self.tx)
            .await?;
        Ok(rows.into_iter().map(|(node, place, count)| (node, place as usize, count)).collect())
    }

    /// The hits. `shown` is what snippets mark; none: there are none. `boosts` are the tags whose share each hit is to tell.
    pub(crate) async fn hits(
        &mut self,
        nodes: &[NodeId],
        vectors: Option<&Vectors>,
        shown: Option<&str>,
        boosts: &[Vec<i64>],
    ) -> Result<Vec<HitRow>> {
        // "<" is put aside: what looks like a tag would be left out.
        let snippet = match shown {
            None => "null::text",
            Some(_) => {
                "ts_headline(m.language::regconfig, translate(left(m.content, 100000), E'<\\x02\\x03\\x04', E'\\x04'), :shown::tsquery,
                             E'StartSel=\"\\x02\", StopSel=\"\\x03\", MaxWords=35, MinWords=15')"
            }
        };
        let tag_share = match boosts.is_empty() {
            true => "null::float8",
            false => {
                "(select count(distinct b.ord) from htm.node_tags nt
                    join unnest(:boosts::bigint[], :places::int[]) b(id, ord) on b.id = nt.tag_id
                   where nt.node_id = m.id)::float8 / :count"
            }
        };
        let sql = include_str!("../sql/recall/hits.sql")
            .replace("{{node}}", node_columns())
            .replace("{{snippet}}", snippet)
            .replace("{{tag_share}}", tag_share)
            .replace("{{store}}", store(vectors));
        let placed =
            boosts.iter().enumerate().flat_map(|(at, ids)| ids.iter().map(move |id| (*id, at as i32)));
        let (boosted, places): (Vec<i64>, Vec<i32>) = placed.unzip();
        Named::new(&sql)
            .bind("nodes", ids(nodes))?
            .bind("shown", shown)?
            .bind("boosts", boosted)?
            .bind("places", places)?
            .bind("count", boosts.len() as f64)?
            .fetch_all(&mut self.tx)
            .await
    }

    /// How many nodes in scope the vectors cannot see yet.
    pub(crate) async fn unembedded(
        &mut self,
        filter: &Filter,
        queue: &str,
        label: Option<&str>,
    ) -> Result<i64> {
        let sql = include_str!("../sql/recall/unembedded.sql").replace("{{scope}}", &filter.scope("n"));
        let statement = Named::new(&sql).bind("queue", queue)?.bind("label", label)?;
        let (count,): (i64,) = filter.bind(statement)?.fetch_one(&mut self.tx).await?;
        Ok(count)
    }
}

/// Without a model there is no store to read; an empty relation of its shape stands in.
fn store(vectors: Option<&Vectors>) -> &str {
    vectors.map_or(
        "(select 0::bigint as node_id, 0 as revision, null::halfvec as embedding where false)",
        |vectors| &vectors.store,
    )
}

fn ids(nodes: &[NodeId]) -> Vec<i64> {
    nodes.iter().map(|node| node.0).collect()
}

#[derive(sqlx::FromRow)]
struct LexemeRow {
    lexeme: String,
    is_part: bool,
    languages: Vec<i32>,
    places: Vec<i32>,
    nodes: f64,
}

impl LexemeRow {
    fn lexeme(self) -> Lexeme {
        let places = self.languages.into_iter().map(|language| language as usize).zip(self.places).collect();
        Lexeme { lexeme: self.lexeme, nodes: self.nodes, is_part: self.is_part, places }
    }
}

#[derive(sqlx::FromRow)]
struct FeatureRow {
    id: NodeId,
    speaker: Option<String>,
    created_at: DateTime<Utc>,
    length: i32,
    similarity: Option<f64>,
    ranks: Vec<f32>,
    openings: Vec<i32>,
    together: Vec<i32>,
}

/// A word in a long text's opening counts so many more.
const OPENING: f64 = 2.0;

impl FeatureRow {
    fn features(self) -> Features {
        let mut frequencies: Vec<f64> =
            self.ranks.iter().map(|rank| rank::frequency(f64::from(*rank))).collect();
        for at in self.openings {
            frequencies[at as usize - 1] += OPENING;
        }
        let together = self.together.into_iter().map(|at| at as usize - 1).collect();
        let (length, similarity) = (self.length, self.similarity);
        Features {
            member: Member { length, similarity, frequencies, together, ..Member::new(self.id) },
            speaker: self.speaker,
            created_at: self.created_at,
        }
    }
}
