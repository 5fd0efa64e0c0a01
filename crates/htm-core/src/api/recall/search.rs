//! A search from its words to its hits: what is read of the database, in which order, and what is made of it.

use std::cmp::Ordering;
use std::collections::HashMap;

use super::candidates::Candidates;
use crate::model::error::Result;
use crate::model::id::NodeId;
use crate::model::jobs::Stage;
use crate::model::rank::{self, Parts, Ranked, Ranking, TermCounter};
use crate::model::recall::{
    Correction, Explanation, Hit, Leg, MatchedBy, RecallQuery, RecallSettings, Scores, Snippet, Strategy,
    VectorSearch, score,
};
use crate::model::relevance::{RelevanceWeights, Signals};
use crate::model::timeframe::Timeframe;
use crate::model::words::{SignKind, Words};
use crate::store::embeddings::RegisteredModel;
use crate::store::filter::{self, Conditions};
use crate::store::recall::{HitRow, Reader, Size, Vectors};

/// What is searched for, and where.
#[derive(Clone, Copy)]
pub(crate) struct Search<'a> {
    /// Each once.
    pub(crate) namespaces: &'a [&'a str],
    pub(crate) query: &'a RecallQuery,
    /// What the query's filter means.
    pub(crate) timeframe: &'a Timeframe,
    /// The query's, or the one that was chosen for it.
    pub(crate) strategy: Strategy,
    /// What the query's text asks for.
    pub(crate) words: &'a Words,
    /// Whether full text runs.
    pub(crate) by_text: bool,
    /// None: no vectors.
    pub(crate) embedding: Option<(&'a RegisteredModel, &'a [f32])>,
    pub(crate) settings: &'a RecallSettings,
    /// What candidates are ordered anew by.
    pub(crate) relevance: Option<&'a RelevanceWeights>,
    pub(crate) language: &'a str,
}

/// Hits, and what is to be said of them.
#[derive(Default)]
pub(crate) struct Found {
    pub(crate) hits: Vec<Hit>,
    pub(crate) corrected: Vec<Correction>,
    pub(crate) legs: Vec<Leg>,
    /// Nodes in scope that the vectors cannot see yet.
    pub(crate) unembedded: i64,
    pub(crate) vector_search: Option<VectorSearch>,
}

impl Search<'_> {
    /// Searches in one snapshot.
    ///
    /// # Errors
    /// A database error.
    pub(crate) async fn run(&self, mut reader: Reader) -> Result<Found> {
        let size = reader.size(self.namespaces, self.language).await?;
        let (text, corrected) = self.text(&mut reader, &size).await?;
        let mut found = Found { corrected, ..Found::default() };
        let vectors = self.embedding.as_ref().map(|(model, vector)| Vectors::new(model, vector));
        let conditions = Conditions::of(
            reader.connection(),
            &self.query.filter,
            self.namespaces,
            self.timeframe,
            text.required.clone(),
        )
        .await?;
        let boosts = filter::tags(reader.connection(), self.namespaces, &self.query.boost_tags).await?;
        let pool = self.settings.pool.max(self.query.limit);

        let mut candidates = Candidates::default();
        if let Some(vectors) = &vectors {
            let (search, leg) = self.vector_leg(&mut reader, vectors, &conditions, &size, pool).await?;
            found.vector_search = (!leg.is_empty()).then_some(search);
            found.legs.push(match (search, conditions.is_narrow()) {
                (VectorSearch::Approximate, _) => Leg::Hnsw,
                (VectorSearch::Exact, true) => Leg::Narrow,
                (VectorSearch::Exact, false) => Leg::Exact,
            });
            candidates.by_vector(leg, self.query.min_similarity.or(self.settings.min_similarity));
        }
        if self.by_text && (!text.choosing.is_empty() || text.required.has_phrase()) {
            let search = text.search(&size, &conditions);
            candidates.by_text(reader.text_leg(&conditions, &text.choosing, search, pool).await?);
            found.legs.push(Leg::Text);
        }
        let boosted = boosts.concat();
        if !boosted.is_empty() {
            candidates.by_tag(reader.tagged(vectors.as_ref(), &conditions, &boosted, pool).await?);
        }

        let ranking = Ranking::new(self.settings, self.by_text, vectors.is_some());
        let links = match self.has_neighbours() {
            true => {
                let is_filtered = conditions.is_narrow() || conditions.is_of_a_time() || text.words.filters();
                reader.links(&conditions, &candidates.of_a_leg(), is_filtered).await?
            }
            false => Vec::new(),
        };
        // Vectors alone have told all that there is to know.
        if self.by_text || !boosted.is_empty() {
            let nodes = candidates.with(links.iter().map(|link| link.other));
            let counter = TermCounter::new(&text.asked);
            let features = reader.features(&nodes, &counter, vectors.as_ref()).await?;
            let sought = text.sought(&mut reader, &nodes).await?;
            candidates.have(features, sought, &text.named);
        }
        let members = candidates.into_members();
        let mut ranked = rank::rank(&text.asked, &ranking, members, &links);
        // What is ordered anew is chosen from the candidates of all legs.
        ranked.truncate(if self.relevance.is_some() { 3 * pool } else { self.query.limit });

        let shown = self.query.snippets.then(|| text.shown());
        let order: Vec<NodeId> = ranked.iter().map(|ranked| ranked.id).collect();
        let rows = reader.hits(&order, vectors.as_ref(), shown.as_deref(), &boosts).await?;
        found.unembedded = self.unembedded(&mut reader, &conditions).await?;
        reader.close().await?;
        found.hits = self.hits(ranked, rows)?;
        Ok(found)
    }

    /// Whether a node has to be looked at before it is known to be in scope.
    pub(crate) fn is_narrow(&self) -> bool {
        self.query.filter.is_narrow() || self.words.has(SignKind::Phrase)
    }

    fn has_neighbours(&self) -> bool {
        // Also when the vectors of a hybrid query are missing.
        matches!(self.strategy, Strategy::Hybrid | Strategy::Auto)
    }

    /// The nearest nodes, by comparing all that are in scope where those are few enough, else by the index.
    async fn vector_leg(
        &self,
        reader: &mut Reader,
        vectors: &Vectors,
        conditions: &Conditions,
        size: &Size,
        pool: usize,
    ) -> Result<(VectorSearch, Vec<(NodeId, f64)>)> {
        let few = self.settings.exact_scope;
        if conditions.is_narrow()
            && let Some(leg) = reader.vectors_of_few(vectors, conditions, few, pool).await?
        {
            return Ok((VectorSearch::Exact, leg));
        }
        // What was counted lately is about what is there.
        let of_few = size.by_now / few.max(1) as f64;
        let is_exact = match size.is_counted && !conditions.is_of_a_time() {
            true if of_few > CERTAIN => false,
            true if of_few < 1.0 / CERTAIN => true,
            _ => reader.scope_size(vectors, conditions, few).await? <= few,
        };
        let search = if is_exact { VectorSearch::Exact } else { VectorSearch::Approximate };
        Ok((search, reader.vector_leg(vectors, conditions, is_exact, pool).await?))
    }

    async fn unembedded(&self, reader: &mut Reader, conditions: &Conditions) -> Result<i64> {
        if !self.strategy.wants_vectors() {
            return Ok(0);
        }
        let model = self.embedding.as_ref().map(|(model, _)| *model);
        let queue = model.map_or(Stage::Embed.queue(), |model| &model.queue);
        reader.unembedded(conditions, queue, model.map(|model| model.label.as_str())).await
    }

    fn hits(&self, ranked: Vec<Ranked>, rows: Vec<HitRow>) -> Result<Vec<Hit>> {
        let best = Best::of(&ranked, self.settings.weight_vector);
        let mut by_id: HashMap<NodeId, Ranked> =
            ranked.into_iter().map(|ranked| (ranked.id, ranked)).collect();
        let mut hits = Vec::with_capacity(rows.len());
        for row in rows {
            if let Some(ranked) = by_id.remove(&row.node.id) {
                hits.push(self.hit(ranked, row, best)?);
            }
        }
        if self.relevance.is_some() {
            // Stable: of equal relevance, the better score comes first.
            hits.sort_by(|a, b| {
                b.scores.relevance.partial_cmp(&a.scores.relevance).unwrap_or(Ordering::Equal)
            });
            hits.truncate(self.query.limit);
        }
        Ok(hits)
    }

    fn hit(&self, ranked: Ranked, row: HitRow, best: Best) -> Result<Hit> {
        let access_count = row.access_count.unwrap_or(0).max(0) as u64;
        let signals = Signals {
            similarity: ranked.similarity,
            tags: row.tag_share,
            hours: Some(row.hours),
            accesses: Some(access_count),
            importance: Some(row.node.importance.into()),
            text: ranked.text.map(|text| if best.text > 0.0 { text / best.text } else { 0.0 }),
        };
        let matched_by = match (ranked.vector_rank, ranked.text_rank) {
            (Some(_), Some(_)) => MatchedBy::Both,
            (None, Some(_)) => MatchedBy::Text,
            (Some(_), None) => MatchedBy::Vector,
            (None, None) if ranked.by_tag => MatchedBy::Tag,
            (None, None) => MatchedBy::Neighbour,
        };
        let node = row.node.into_node()?;
        Ok(Hit {
            snippet: row.snippet.as_deref().map(|marked| Snippet::read(marked, &node.content)),
            node,
            scores: Scores {
                score: score::in_proportion(best.answered, best.value, ranked.score.unwrap_or(0.0)),
                similarity: ranked.similarity,
                stale: row.stale,
                text: ranked.text,
                text_share: ranked.text_share,
                vector_rank: ranked.vector_rank,
                text_rank: ranked.text_rank,
                tags: row.tag_share,
                relevance: self.relevance.map(|weights| weights.relevance(&signals)),
                reranked: None,
            },
            access_count,
            last_accessed: row.last_accessed,
            matched_by,
            explanation: self.query.explain.then(|| explained(&ranked.parts)),
            folded: Vec::new(),
        })
    }
}

/// What hits are measured against.
#[derive(Clone, Copy)]
struct Best {
    /// How far the best hit answers the query.
    answered: f64,
    /// What it is ordered by.
    value: f64,
    /// The most BM25 of any hit.
    text: f64,
}

impl Best {
    fn of(ranked: &[Ranked], weight_vector: f64) -> Self {
        let first = ranked.first();
        Self {
            answered: first
                .map_or(0.0, |first| score::answered(first.similarity, first.text_share, weight_vector)),
            value: first.and_then(|first| first.score).unwrap_or(0.0),
            text: ranked.iter().filter_map(|ranked| ranked.text).fold(0.0, f64::max),
        }
    }
}

/// How far the statistics may be from what there is: so many times.
const CERTAIN: f64 = 1.1;

fn explained(parts: &Parts) -> Explanation {
    Explanation::of(&[
        ("vector", parts.vector),
        ("words", parts.words),
        ("together", parts.together),
        ("exact", parts.exact),
        ("neighbours", parts.neighbours),
        ("speaker", parts.speaker),
        ("time", parts.time),
    ])
}
