//! Recall: search by vector, by full text, or by both.

mod candidates;
mod kept;
mod retrieval;
mod search;
mod small_scope;
mod text;

use std::collections::BTreeSet;
use std::time::Instant;

use search::{Found, Search};

use crate::api::htm::Htm;
use crate::model::error::{Error, Result, codes};
use crate::model::id::NodeId;
use crate::model::recall::succession::Beyond;
use crate::model::recall::{
    AsOf, Chosen, ChosenFor, Hit, MatchedBy, RecallQuery, Recalled, Scores, Strategy, auto, facets,
    succession,
};
use crate::model::timeframe::Applied;
use crate::model::words::{Sign, SignKind, Words};
use crate::store::again::is_refused;
use crate::store::recall::{Reader, Readers};
use crate::store::then::Then;
use crate::store::{expiry, nodes, relations, timeline};

/// The most relations beyond the hits that decide their order.
const MOST_LINKS: usize = 10_000;

impl Htm {
    /// Finds memories.
    ///
    /// If the query cannot be embedded, full text answers, and [`Recalled::degraded`] says why.
    ///
    /// # Errors
    /// The errors of its filter ([`Filter`](crate::Filter#errors)) and of its times
    /// ([`TimeExpression::resolve`](crate::TimeExpression::resolve)), `content_empty` (a blank query), `field_too_long`,
    /// `nul_byte`, `query_only_negations`, `min_similarity_out_of_range`, `limit_out_of_range`, `model_unknown`,
    /// `namespace_forbidden`, `vector_unfit`, `model_retired`, `relevance_weights_invalid`, `time_in_future` (as of a time),
    /// `embedder_missing` (strategy `vector` without any embedder), `reranker_missing`, `expander_missing`,
    /// `diversity_out_of_range`, `answer_too_large`, or a database error.
    pub async fn recall(&self, query: &RecallQuery) -> Result<Recalled> {
        query.validate()?;
        // A look at an earlier time changes nothing.
        let past = RecallQuery { count_accesses: false, refresh: false, ..query.clone() };
        let query = if query.as_of.is_some() { &past } else { query };
        let mut recalled = self.reading(|htm| async move { Box::pin(htm.recall_here(query)).await }).await?;
        // After all reads, because a read that fails at a replica is repeated. Feedback judges what is seen, at the places
        // where it is seen.
        if query.count_accesses {
            self.count_accesses(recalled.hits.iter().map(|hit| &hit.node));
        }
        self.keep_recall(query, &mut recalled);
        if query.refresh {
            let hits: Vec<NodeId> = recalled.hits.iter().map(|hit| hit.node.id).collect();
            expiry::refresh(self.pool(), &hits, self.bound_robot()).await?;
        }
        self.observe(&recalled);
        Ok(recalled)
    }

    async fn recall_here(&self, query: &RecallQuery) -> Result<Recalled> {
        self.admit_as_of(query.as_of).await?;
        let mut recalled = match query.is_refined() {
            true => self.recall_refined(query).await?,
            false => {
                let mut recalled = self.search(query, &[]).await?;
                self.heed_relations(query, &mut recalled).await?;
                recalled
            }
        };
        if query.as_of.is_some() {
            recalled.hits.iter_mut().for_each(|hit| self.count_tokens_of(&mut hit.node));
        }
        match &mut recalled.as_of {
            _ if query.neighbours == 0 => {}
            Some(as_of) => as_of.lacks_neighbours(),
            None => self.add_neighbours(&mut recalled.hits, query.neighbours).await?,
        }
        Ok(recalled)
    }

    /// Adds what stands around each hit in its conversation or document.
    async fn add_neighbours(&self, hits: &mut [Hit], around: usize) -> Result<()> {
        let is_beside_others = |hit: &&Hit| hit.node.session.is_some();
        let beside = hits.iter().filter(is_beside_others).map(|hit| (hit.node.id, &*hit.node.namespace));
        let (nodes, namespaces): (Vec<NodeId>, BTreeSet<&str>) = beside.unzip();
        if !nodes.is_empty() {
            let namespaces = Vec::from_iter(namespaces);
            let mut found = timeline::neighbours(self.pool(), &nodes, &namespaces, around, around).await?;
            for hit in hits {
                (hit.before, hit.after) = found.remove(&hit.node.id).unwrap_or_default();
            }
        }
        Ok(())
    }

    /// Follows superseded hits to their successors, or puts them in order.
    pub(crate) async fn heed_relations(&self, query: &RecallQuery, recalled: &mut Recalled) -> Result<()> {
        match query.follow {
            true => self.follow(query, recalled).await,
            false => self.put_in_order(query, &mut recalled.hits).await,
        }
    }

    /// Moves superseding hits above the hits that they supersede, also through memories that are not hits.
    pub(crate) async fn put_in_order(&self, query: &RecallQuery, hits: &mut Vec<Hit>) -> Result<()> {
        let mut beyond = Beyond::new();
        let unknown = succession::unknown(hits);
        if !unknown.is_empty() {
            let then = Then::of(query.as_of);
            for (node, successor) in relations::successions(self.pool(), &unknown, MOST_LINKS, then).await? {
                beyond.entry(node).or_default().push(successor);
            }
        }
        succession::order(hits, &beyond);
        Ok(())
    }

    /// Gives the places of superseded hits to the memories that supersede them.
    async fn follow(&self, query: &RecallQuery, recalled: &mut Recalled) -> Result<()> {
        let successors = succession::successors(&recalled.hits);
        if !successors.is_empty() {
            let nodes = nodes::as_of(self.pool(), &successors, Then::of(query.as_of)).await?;
            let nodes = nodes.into_iter().map(|node| (node.id, node)).collect();
            recalled.hits = succession::follow(std::mem::take(&mut recalled.hits), &nodes);
            recalled.facets = facets(&recalled.hits);
        }
        Ok(())
    }

    /// Searches for a valid query with the first of its models, without refinements. The signs in `required` apply
    /// beside the query's own.
    pub(crate) async fn search(&self, query: &RecallQuery, required: &[Sign]) -> Result<Recalled> {
        let recalled = self.search_once(query, required).await?;
        let is_of_terms = recalled.chosen.as_ref().is_some_and(|it| it.reason == ChosenFor::ExactTerms);
        if !is_of_terms || !recalled.hits.is_empty() {
            return Ok(recalled);
        }
        // `db-08` is no word of `db-08.internal`, but its vector may be near.
        let hybrid = RecallQuery { strategy: Strategy::Hybrid, ..query.clone() };
        let found = self.search_once(&hybrid, required).await?;
        let chosen = Some(Chosen { strategy: Strategy::Hybrid, reason: ChosenFor::ExactTerms });
        // Both searches took their time.
        let embed_ms = recalled.embed_ms + found.embed_ms;
        let search_ms = recalled.search_ms + found.search_ms;
        Ok(Recalled { strategy: query.strategy, chosen, embed_ms, search_ms, ..found })
    }

    /// Searches by the query's strategy, or by the one that is chosen for it.
    async fn search_once(&self, query: &RecallQuery, required: &[Sign]) -> Result<Recalled> {
        let weights =
            query.order_by.or((!query.boost_tags.is_empty()).then_some(self.settings().recall.relevance));
        weights.map_or(Ok(()), |weights| weights.validate())?;
        let namespaces = self.namespaces_or_own(&query.filter.namespaces)?;
        for namespace in &namespaces {
            self.saw_robot(namespace, &self.settings().robot);
        }
        let applied = self.apply_time_as_of(&query.filter.timeframe, &query.text, query.as_of).await?;
        let is_only_time = applied.is_only_time();
        if is_only_time && query.vector.is_none() {
            return self.recall_time(query, applied).await;
        }
        let Applied { timeframe, phrase } = applied;
        let words =
            Words::parse(phrase.as_ref().map_or(query.text.as_str(), |taken| &taken.query)).and(required);
        if words.plain.trim().is_empty() && words.filters() {
            let text: String = query.text.chars().take(80).collect();
            let message = format!("the query `{text}` names only words that hits must not contain");
            return Err(Error::new(codes::QUERY_ONLY_NEGATIONS, message));
        }
        let chosen = (query.strategy == Strategy::Auto && !is_only_time).then(|| auto::choose(&words));
        // Beside a time, the caller's vector alone says what is sought.
        let asked = if is_only_time { Strategy::Vector } else { query.strategy };
        let strategy = chosen.as_ref().map_or(asked, |chosen| chosen.strategy);
        let started = Instant::now();
        let (embedding, degraded) = match strategy.wants_vectors() {
            false => (None, Vec::new()),
            true => self.vector_or_reason(query, &words.plain).await?,
        };
        let instead_of = match &embedding {
            Some((model, _)) => self.instead_of(model, query).await?,
            None => None,
        };
        let embed_ms = started.elapsed().as_micros() as f64 / 1_000.0;
        let started = Instant::now();
        let then = Then::of(query.as_of);
        let ranking = self.ranking_of(&namespaces).await;
        let search = Search {
            namespaces: &namespaces,
            query,
            strategy,
            timeframe: &timeframe,
            words: &words,
            by_text: strategy != Strategy::Vector || embedding.is_none(),
            embedding: embedding.as_ref().map(|(model, vector)| (model, &vector[..])),
            settings: self.settings(),
            relevance: weights.as_ref(),
            then,
            ranking: &ranking,
            sizes: self.known_sizes(),
            known_words: self.known_words(),
        };
        let mut found = self.searched(&search).await?;
        let mut relaxed = false;
        if found.hits.is_empty() && required.is_empty() && words.has(SignKind::Phrase) {
            found = self.searched(&Search { words: &words.relaxed(), ..search }).await?;
            relaxed = !found.hits.is_empty();
        }
        let hits = found.hits;
        let embedded = embedding.is_some();
        Ok(Recalled {
            facets: facets(&hits),
            hits,
            chosen,
            corrected: found.corrected,
            relaxed,
            unembedded: found.unembedded,
            vector_search: found.vector_search,
            models: embedding.map(|(model, _)| model.label).into_iter().collect(),
            instead_of,
            degraded,
            embed_ms,
            search_ms: started.elapsed().as_micros() as f64 / 1_000.0,
            legs: found.legs,
            as_of: query.as_of.map(|at| AsOf::new(at, found.former_texts, embedded)),
            ranking: found.ranking,
            kept: found.kept,
            ..Recalled::empty(query, Applied { timeframe, phrase })
        })
    }
}

impl Htm {
    /// Searches in one snapshot: by two connections if both vectors and words are searched. If the database refuses them,
    /// for example because one would wait for a lock, the search runs again on one connection.
    async fn searched(&self, search: &Search<'_>) -> Result<Found> {
        let ef_search = self.settings().recall.ef_search;
        let open = || Reader::open(self.pool(), search.namespaces, ef_search, search.then);
        if search.is_by_both() {
            let found = search.run(Readers::two(open().await?, self.pool())).await;
            if !found.as_ref().is_err_and(is_refused) {
                return found;
            }
        }
        search.run(Readers::one(open().await?)).await
    }

    /// Answers a query that is only a time: the latest memories of that time.
    async fn recall_time(&self, query: &RecallQuery, applied: Applied) -> Result<Recalled> {
        let started = Instant::now();
        let nodes = self.latest_within(&applied.timeframe, &query.filter, query.limit, query.as_of).await?;
        let hits = nodes.into_iter().map(|node| Hit {
            node,
            scores: Scores::default(),
            access_count: 0,
            last_accessed: None,
            matched_by: MatchedBy::Time,
            snippet: None,
            explanation: None,
            folded: Vec::new(),
            followed_from: None,
            before: Vec::new(),
            after: Vec::new(),
        });
        let hits: Vec<Hit> = hits.collect();
        Ok(Recalled {
            facets: facets(&hits),
            hits,
            search_ms: started.elapsed().as_micros() as f64 / 1_000.0,
            ..Recalled::empty(query, applied)
        })
    }
}
