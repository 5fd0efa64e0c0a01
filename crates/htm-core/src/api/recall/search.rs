//! A search from its words to its hits: the reads of the database, their order, and the hits made of them.

use std::cmp::Ordering;
use std::collections::HashMap;

use crate::api::sizes::Sizes;
use crate::api::vocabulary::KnownWords;
use crate::model::error::Result;
use crate::model::id::NodeId;
use crate::model::jobs::Stage;
use crate::model::kept_recalls::{KeptCandidate, KeptSearch, MOST_KEPT};
use crate::model::models::ModelState;
use crate::model::rank::{self, Ranked, Ranking};
use crate::model::rankings::{RankingUsed, TrialKind};
use crate::model::recall::{
    Correction, Explanation, Hit, Leg, MatchedBy, RecallQuery, Scores, Snippet, Strategy, VectorSearch, score,
};
use crate::model::relevance::{RelevanceWeights, Signals};
use crate::model::settings::Settings;
use crate::model::timeframe::Timeframe;
use crate::model::words::{Words, asked_runs};
use crate::store::embeddings::RegisteredModel;
use crate::store::filter::{self, Conditions, Scope};
use crate::store::rankings::ActiveRanking;
use crate::store::recall::{HitRow, Reader, Readers, Size, Vectors};
use crate::store::then::Then;

/// The first hits by which two rankings are compared.
const COMPARED: usize = 10;

/// The inputs of a search.
#[derive(Clone, Copy)]
pub(crate) struct Search<'a> {
    /// Without duplicates.
    pub(crate) namespaces: &'a [&'a str],
    pub(crate) query: &'a RecallQuery,
    /// The resolved timeframe of the query's filter.
    pub(crate) timeframe: &'a Timeframe,
    /// The query's strategy, or the one that was chosen for it.
    pub(crate) strategy: Strategy,
    /// The words and signs of the query's text.
    pub(crate) words: &'a Words,
    /// Whether full text runs.
    pub(crate) by_text: bool,
    /// The query's embedding, and its model; none: no vector search.
    pub(crate) embedding: Option<(&'a RegisteredModel, &'a [f32])>,
    pub(crate) settings: &'a Settings,
    /// The weights by which candidates are ordered anew; none: they are not.
    pub(crate) relevance: Option<&'a RelevanceWeights>,
    /// The time as of which it searches.
    pub(crate) then: Then,
    /// The ranking of its hits, and whether its candidates are kept for feedback.
    pub(crate) ranking: &'a ActiveRanking,
    /// The sizes that are known.
    pub(crate) sizes: &'a Sizes,
    /// The words that are known.
    pub(crate) known_words: &'a KnownWords,
}

/// Hits, and reports on the search.
#[derive(Default)]
pub(crate) struct Found {
    pub(crate) hits: Vec<Hit>,
    pub(crate) corrected: Vec<Correction>,
    pub(crate) legs: Vec<Leg>,
    /// The number of nodes in scope that the vectors cannot find yet.
    pub(crate) unembedded: i64,
    pub(crate) vector_search: Option<VectorSearch>,
    /// The number of nodes in scope that had another text as of the search's time.
    pub(crate) former_texts: i64,
    /// The candidates, if they are kept for feedback.
    pub(crate) kept: Option<KeptSearch>,
    pub(crate) ranking: RankingUsed,
}

impl Search<'_> {
    /// Searches in one snapshot.
    ///
    /// # Errors
    /// A database error.
    pub(crate) async fn run(&self, mut readers: Readers<'_>) -> Result<Found> {
        let reader = readers.main();
        let size = self.size(reader).await?;
        let mut text = self.signs(reader, &size).await?;
        let vectors = self.embedding.as_ref().map(|(model, vector)| Vectors::new(model, vector));
        let rules = &self.settings.tag_rules;
        let conditions = Conditions::of(
            reader.connection().await?,
            Scope {
                filter: &self.query.filter,
                namespaces: self.namespaces,
                timeframe: self.timeframe,
                rules,
            },
            text.required.clone(),
        )
        .await?
        .at(self.then);
        let boosts =
            filter::tags(reader.connection().await?, rules, self.namespaces, &self.query.boost_tags).await?;
        let boosted = boosts.concat();
        let retrieved =
            self.retrieve(&mut readers, &size, &mut text, &conditions, vectors.as_ref(), &boosted).await?;
        let mut found = Found {
            corrected: retrieved.corrected,
            legs: retrieved.legs,
            vector_search: retrieved.vector_search,
            ..Found::default()
        };

        let mut ranking = Ranking::new(&self.settings.recall, self.by_text, vectors.is_some());
        // Without one of the legs, the default ranking stands in: what was learnt weighs both.
        let learns = ranking.is_sum() && self.relevance.is_none() && !self.then.is_past();
        if learns {
            ranking.learnt = self.ranking.learnt.clone();
            ranking.keeps_features = self.ranking.keeps || self.ranking.trial.is_some();
            found.ranking = self.ranking.used.clone();
            if let (true, Some(learnt)) = (self.query.explain, &ranking.learnt) {
                found.ranking.weights = learnt.described();
            }
        }
        let mut ranked = rank::rank(&text.asked, &ranking, retrieved.members, &retrieved.links);
        if self.least_similarity().is_some() {
            // A turn beside a candidate was compared with no least similarity.
            ranked.retain(|it| it.is_candidate() || it.parts.sum() > 0.0);
        }
        if learns && self.ranking.keeps {
            found.kept = Some(self.tried(&mut ranked, &mut found.ranking));
        }
        // A new order is made of the candidates of all legs.
        ranked.truncate(if self.relevance.is_some() { 3 * self.leg_limit() } else { self.query.limit });

        let shown = self.query.snippets.then(|| text.shown());
        let order: Vec<NodeId> = ranked.iter().map(|ranked| ranked.id).collect();
        let (rows, ()) = readers
            .both(
                async |reader| reader.hits(&order, vectors.as_ref(), shown.as_deref(), &boosts).await,
                async |reader| {
                    match self.then.is_past() {
                        true => found.former_texts = reader.rewritten(&conditions).await?,
                        false => found.unembedded = self.unembedded(reader, &conditions).await?,
                    }
                    Ok(())
                },
            )
            .await?;
        drop(readers);
        found.hits = self.hits(ranked, rows, shown.as_deref().unwrap_or_default())?;
        Ok(found)
    }

    /// Whether both vectors and words are searched.
    pub(crate) fn is_by_both(&self) -> bool {
        self.by_text && self.embedding.is_some()
    }

    /// The least similarity of candidates by vectors.
    pub(super) fn least_similarity(&self) -> Option<f64> {
        self.query.min_similarity.or(self.settings.recall.min_similarity)
    }

    async fn size(&self, reader: &mut Reader) -> Result<Size> {
        // Signs are read by the languages of the namespaces.
        let has_words = self.by_text || !self.words.signs.is_empty();
        let key = Sizes::key(self.namespaces, has_words);
        if let Some(size) = self.sizes.get(&key) {
            return Ok(size);
        }
        let size = match has_words {
            true => reader.size(self.namespaces, &self.settings.language).await?,
            false => reader.size_for_vectors(self.namespaces).await?,
        };
        self.sizes.keep(key, &size);
        Ok(size)
    }

    /// The candidates for feedback, after the ranking on trial was run on them: beside, or mixed into the list.
    fn tried(&self, ranked: &mut [Ranked], used: &mut RankingUsed) -> KeptSearch {
        let mut by_trial: HashMap<NodeId, bool> = HashMap::new();
        let mut differs = None;
        if let Some((trial, learnt)) = &self.ranking.trial {
            let shown: Vec<NodeId> = ranked.iter().take(self.query.limit).map(|it| it.id).collect();
            let other = rank::in_order_of(ranked, learnt.as_deref());
            match trial.kind {
                TrialKind::Shadow => {
                    let first = |order: &[NodeId]| order.iter().take(COMPARED).copied().collect::<Vec<_>>();
                    differs = Some(first(&shown) != first(&other));
                }
                TrialKind::Interleaved => {
                    let own: Vec<NodeId> = ranked.iter().map(|it| it.id).collect();
                    let drafted = rank::team_draft(&own, &other, self.query.limit, fastrand::bool);
                    let places: HashMap<NodeId, usize> =
                        drafted.iter().enumerate().map(|(at, (node, _))| (*node, at)).collect();
                    // Stable: the rest stays in its order behind them.
                    ranked.sort_by_key(|it| places.get(&it.id).copied().unwrap_or(usize::MAX));
                    by_trial = drafted.into_iter().collect();
                    used.interleaved_with = Some(trial.version);
                }
            }
        }
        let kept = ranked.iter().take(MOST_KEPT.max(self.query.limit.min(2 * MOST_KEPT)));
        let candidate = |it: &Ranked| {
            Some(KeptCandidate {
                node: it.id,
                by_trial: by_trial.get(&it.id).copied(),
                features: it.features?.to_vec(),
            })
        };
        KeptSearch {
            candidates: kept.filter_map(candidate).collect(),
            ranking: used.clone(),
            trial: self.ranking.trial.as_ref().map(|(trial, _)| *trial),
            differs,
            keeps_text: self.ranking.keeps_text,
        }
    }

    async fn unembedded(&self, reader: &mut Reader, conditions: &Conditions) -> Result<i64> {
        if !self.strategy.wants_vectors() {
            return Ok(0);
        }
        match self.embedding.as_ref().map(|(model, _)| *model) {
            None => reader.unembedded(conditions, Stage::Embed.queue(), None).await,
            Some(model) => {
                let queued = match &model.queue {
                    Some(queue) => reader.unembedded(conditions, queue, Some(&model.label)).await?,
                    None => 0,
                };
                // Older nodes have no job for a new model before its backfill.
                let awaited = match model.is_of_callers() || model.state == ModelState::Building {
                    true => reader.awaited(conditions, &model.label).await?,
                    false => 0,
                };
                Ok(queued.max(awaited))
            }
        }
    }

    fn hits(&self, ranked: Vec<Ranked>, rows: Vec<HitRow>, shown: &str) -> Result<Vec<Hit>> {
        let best = Best::of(&ranked, self.settings.recall.weight_vector);
        let mut by_id: HashMap<NodeId, Ranked> =
            ranked.into_iter().map(|ranked| (ranked.id, ranked)).collect();
        let (mut hits, runs) = (Vec::with_capacity(rows.len()), asked_runs(shown));
        for row in rows {
            if let Some(ranked) = by_id.remove(&row.node.id) {
                hits.push(self.hit(ranked, row, best, &runs)?);
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

    fn hit(&self, ranked: Ranked, row: HitRow, best: Best, runs: &[&str]) -> Result<Hit> {
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
            snippet: row
                .snippet
                .as_deref()
                .map(|marked| Snippet::read(marked, &node.content).with_runs(runs)),
            node,
            scores: Scores {
                score: score::in_proportion(best.degree, best.value, ranked.score.unwrap_or(0.0)),
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
            explanation: self.query.explain.then(|| match self.relevance {
                Some(weights) => Explanation::of(&weights.parts(&signals)),
                None => self.explained(&ranked),
            }),
            folded: Vec::new(),
            followed_from: None,
            before: Vec::new(),
            after: Vec::new(),
        })
    }
}

/// The reference values for the scores of hits.
#[derive(Clone, Copy)]
struct Best {
    /// The degree to which the best hit answers the query.
    degree: f64,
    /// The ranking value of the best hit.
    value: f64,
    /// The highest BM25 of any hit.
    text: f64,
}

impl Best {
    fn of(ranked: &[Ranked], weight_vector: f64) -> Self {
        // Of equal ones the first. It need not be the first hit of all: two rankings may be mixed.
        let value = |it: &&Ranked| it.score.unwrap_or(0.0);
        let best = ranked.iter().rev().max_by(|a, b| value(a).total_cmp(&value(b)));
        Self {
            degree: best.map_or(0.0, |best| score::degree(best.similarity, best.text_share, weight_vector)),
            value: best.as_ref().map_or(0.0, value),
            text: ranked.iter().filter_map(|ranked| ranked.text).fold(0.0, f64::max),
        }
    }
}

impl Search<'_> {
    fn explained(&self, ranked: &Ranked) -> Explanation {
        if let (Some(learnt), Some(features)) = (&self.ranking.learnt, &ranked.features) {
            return Explanation::of(&learnt.parts(features));
        }
        let parts = &ranked.parts;
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
}
