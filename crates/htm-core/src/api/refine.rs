//! The optional steps of a recall beside its search, in this order:
//!
//! 0. the vectors of several models are searched, and the lists are fused by rank (`models.rs`);
//! 1. other phrasings of the query are searched too, and the lists are fused by rank, with the most weight on the
//!    query's own (`model/refine/fuse.rs`);
//! 2. superseded memories are followed, or put behind those that supersede them, so that the current one of two
//!    near-duplicates stays (`model/recall/succession.rs`); the order is restored after each later step that changes it;
//! 3. near-duplicates are folded into the best of them (`model/refine/diversity.rs`), and so are passages of one document;
//! 4. the first candidates are ordered by a re-ranker; the rest stays behind them in its order;
//! 5. hits are chosen that differ from one another (`model/refine/diversity.rs`).
//!
//! A failure of step 1 or 4 costs only its own effect: the order stays, and [`Recalled::degraded`](crate::Recalled)
//! says why.

mod models;

use std::collections::HashMap;
use std::future::Future;
use std::time::{Duration, Instant};

use crate::api::htm::Htm;
use crate::model::error::chain;
use crate::model::error::{Error, Result, codes};
use crate::model::filter::MAX_LIMIT;
use crate::model::id::NodeId;
use crate::model::models::ModelState;
use crate::model::recall::{Degraded, Explanation, Hit, RecallQuery, Recalled, Step, facets};
use crate::model::refine::diversity::{self, Candidate};
use crate::model::refine::fuse;
use crate::model::words::{Sign, Words};
use crate::provider::{ModelName, ProviderError, ProviderErrorKind};
use crate::store::candidates;
use crate::store::embeddings::by_label;

/// The weight of the query's own list against that of another phrasing, which is a guess at the meaning.
const WEIGHT_OF_THE_QUERY: f64 = 2.0;
/// The most candidates that are compared with one another; the others keep their order behind them.
const MAX_COMPARED: usize = 500;

impl Htm {
    /// Recalls a valid query with refinements.
    pub(crate) async fn recall_refined(&self, query: &RecallQuery) -> Result<Recalled> {
        if query.rerank && self.reranker().is_none() {
            let message = "re-ranking needs a re-ranker, and none is configured";
            return Err(Error::new(codes::RERANKER_MISSING, message));
        }
        if query.expand && self.expander().is_none() {
            let message = "expanding the query needs a language model, and none is configured";
            return Err(Error::new(codes::EXPANDER_MISSING, message));
        }
        let search = RecallQuery { limit: self.candidates(query), ..query.clone() };
        let mut recalled = self.search_models(&search, &[]).await?;
        // A query that is only a time has no words. Without a vector, it asks for the latest memories: there is nothing to
        // compare them with.
        let has_words = recalled.time_phrase.as_ref().is_none_or(|taken| !taken.query.is_empty());
        let is_search = has_words || query.vector.is_some();
        if query.expand && has_words {
            self.expand(&search, &mut recalled).await;
        }
        self.heed_relations(query, &mut recalled).await?;
        let compares = query.fold || (query.diversity.is_some() && is_search);
        let vectors = if compares { self.vectors_of(&recalled).await? } else { HashMap::new() };
        if query.fold {
            fold(&mut recalled.hits, &vectors);
        }
        if query.fold_documents {
            fold_documents(&mut recalled.hits);
        }
        if query.rerank && has_words {
            self.rerank(&Words::parse(&query.text).plain, &mut recalled).await;
            self.put_in_order(query, &mut recalled.hits).await?;
        }
        if let Some(novelty) = query.diversity.filter(|_| is_search) {
            diversify(&mut recalled, &vectors, novelty, query.limit);
            self.put_in_order(query, &mut recalled.hits).await?;
        }
        recalled.hits.truncate(query.limit);
        recalled.facets = facets(&recalled.hits);
        Ok(recalled)
    }

    /// The number of candidates to search for.
    fn candidates(&self, query: &RecallQuery) -> usize {
        let settings = &self.settings().recall;
        let reranked = if query.rerank { settings.refine.rerank_top } else { 0 };
        let compared = match query.fold || query.fold_documents || query.expand || query.diversity.is_some() {
            true => settings.pool,
            false => 0,
        };
        query.limit.max(reranked).max(compared).min(MAX_LIMIT)
    }

    /// Searches for other phrasings of the query, too.
    async fn expand(&self, search: &RecallQuery, recalled: &mut Recalled) {
        let Some(expander) = self.expander() else { return };
        let settings = &self.settings().recall.refine;
        let words =
            Words::parse(recalled.time_phrase.as_ref().map_or(search.text.as_str(), |taken| &taken.query));
        let started = Instant::now();
        let asked = expander.expand(&words.plain, settings.expansions);
        let phrasings = within(settings.expand_timeout, expander.model(), asked).await;
        recalled.expand_ms = started.elapsed().as_micros() as f64 / 1_000.0;
        let phrasings = match phrasings {
            Ok(phrasings) => distinct(&words, phrasings, settings.expansions),
            Err(error) => return degrade(recalled, Step::Expansion, error.into()),
        };
        // The timeframe is known by now, whatever the phrasings say of it.
        let timeframe = recalled.timeframe.clone();
        let ask = |phrasing: &String| RecallQuery {
            text: phrasing.clone(),
            explain: false,
            ..search.clone().timeframe(timeframe.clone())
        };
        let queries: Vec<RecallQuery> = phrasings.iter().map(ask).collect();
        let words = if recalled.relaxed { words.relaxed() } else { words };
        let required: Vec<Sign> = words.required().cloned().collect();
        let searches = queries.iter().map(|query| self.search_models(query, &required));
        let answers = futures::future::join_all(searches).await;
        let mut lists = vec![("query".to_owned(), std::mem::take(&mut recalled.hits))];
        for (phrasing, answer) in phrasings.into_iter().zip(answers) {
            match answer {
                Ok(answer) => {
                    recalled.embed_ms += answer.embed_ms;
                    recalled.search_ms += answer.search_ms;
                    recalled.expansions.push(phrasing);
                    lists.push((format!("phrasing {}", recalled.expansions.len()), answer.hits));
                }
                Err(error) => degrade(recalled, Step::Expansion, error),
            }
        }
        recalled.hits = match lists.len() {
            // No other phrasing was searched.
            1 => lists.remove(0).1,
            _ => fused(WEIGHT_OF_THE_QUERY, lists, search.explain),
        };
    }

    /// Orders the first candidates by the scores of the re-ranker.
    async fn rerank(&self, query: &str, recalled: &mut Recalled) {
        let settings = &self.settings().recall.refine;
        let Some(reranker) = self.reranker() else { return };
        let top = recalled.hits.len().min(settings.rerank_top);
        if top == 0 {
            return;
        }
        let texts: Vec<String> = recalled.hits[..top].iter().map(|hit| hit.node.content.clone()).collect();
        let started = Instant::now();
        let scores = within(settings.rerank_timeout, reranker.model(), reranker.rerank(query, &texts)).await;
        recalled.rerank_ms = started.elapsed().as_micros() as f64 / 1_000.0;
        let checked =
            scores.and_then(|scores| match scores.len() == top && scores.iter().all(|it| it.is_finite()) {
                true => Ok(scores),
                false => {
                    let message =
                        format!("{} scores came for {top} texts, or one that is not finite", scores.len());
                    Err(ProviderError::new(reranker.model(), ProviderErrorKind::BadResponse, message))
                }
            });
        match checked {
            Ok(scores) => {
                for (hit, score) in recalled.hits.iter_mut().zip(scores) {
                    hit.scores.reranked = Some(score);
                    hit.explanation =
                        hit.explanation.is_some().then(|| Explanation::of(&[("re-ranker", score)]));
                }
                let score = |hit: &Hit| hit.scores.reranked.unwrap_or(f64::NEG_INFINITY);
                // Stable: hits with equal scores keep their order.
                recalled.hits[..top].sort_by(|a, b| score(b).total_cmp(&score(a)));
            }
            Err(error) => degrade(recalled, Step::Rerank, error.into()),
        }
    }

    /// The vectors of the compared candidates, by the first model whose vectors were searched, else by the active one.
    async fn vectors_of(&self, recalled: &Recalled) -> Result<HashMap<NodeId, Vec<f32>>> {
        let models = self.recent_models().await?;
        let model = match recalled.models.first() {
            Some(label) => Some(by_label(&models, label)?),
            None => models.iter().find(|model| model.state == ModelState::Active),
        };
        let Some(model) = model else { return Ok(HashMap::new()) };
        let compared = recalled.hits.iter().take(MAX_COMPARED).map(|hit| &hit.node);
        let nodes: Vec<(NodeId, &str)> = compared.map(|node| (node.id, node.namespace.as_str())).collect();
        let vectors = candidates::vectors(self.pool(), model, &nodes).await?;
        let revisions: HashMap<NodeId, i32> =
            recalled.hits.iter().map(|hit| (hit.node.id, hit.node.revision)).collect();
        // As of an earlier time, a vector may be that of a later text.
        let is_of_its_text = |node: &NodeId, revision: i32| {
            recalled.as_of.is_none() || revisions.get(node).is_none_or(|shown| *shown == revision)
        };
        Ok(vectors
            .into_iter()
            .filter(|(node, (revision, _))| is_of_its_text(node, *revision))
            .map(|(node, (_, vector))| (node, vector))
            .collect())
    }
}

/// The answer of a provider, or an error after the deadline.
pub(crate) async fn within<T>(
    deadline: Duration,
    model: &ModelName,
    call: impl Future<Output = Result<T, ProviderError>>,
) -> Result<T, ProviderError> {
    let late = |_elapsed| {
        let message = format!("no answer within {} ms", deadline.as_millis());
        Err(ProviderError::new(model, ProviderErrorKind::Timeout, message))
    };
    tokio::time::timeout(deadline, call).await.unwrap_or_else(late)
}

fn degrade(recalled: &mut Recalled, step: Step, error: Error) {
    tracing::info!(%step, code = error.code(), error = %chain(&error), "recall without a step");
    let degraded = Degraded::new(step, error);
    if !recalled.degraded.contains(&degraded) {
        recalled.degraded.push(degraded);
    }
}

/// The phrasings to search for, without duplicates and without the query itself. Only the query has conditions: quotes
/// are removed from phrasings, and those that exclude something are left out.
fn distinct(query: &Words, phrasings: Vec<String>, count: usize) -> Vec<String> {
    let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    let mut known = vec![plain(&query.plain)];
    let is_new = |text: &String| {
        let text = plain(text);
        let is_new = !text.is_empty() && !text.contains('\0') && !known.contains(&text);
        known.push(text);
        is_new
    };
    let is_fit = |text: &String| !Words::parse(text).filters();
    let unquoted = |text: String| text.replace('"', " ").split_whitespace().collect::<Vec<_>>().join(" ");
    phrasings.into_iter().map(unquoted).filter(is_new).filter(is_fit).take(count).collect()
}

/// Fuses lists by rank: the first list has the weight `first`, each other one 1. A hit is taken from the first list
/// that has it, with the best score that a list gives it: a score from ranks would be nearly the same for all hits. Each
/// list has its name for explanations.
fn fused(first: f64, lists: Vec<(String, Vec<Hit>)>, explain: bool) -> Vec<Hit> {
    let weights = std::iter::once(first).chain(std::iter::repeat(1.0));
    let ranks: Vec<(f64, Vec<NodeId>)> = weights
        .zip(&lists)
        .map(|(weight, (_, list))| (weight, list.iter().map(|hit| hit.node.id).collect()))
        .collect();
    let (names, lists): (Vec<String>, Vec<Vec<Hit>>) = lists.into_iter().unzip();
    let mut hits: HashMap<NodeId, Hit> = HashMap::new();
    for hit in lists.into_iter().flatten() {
        let score = hit.scores.score;
        let best = &mut hits.entry(hit.node.id).or_insert(hit).scores.score;
        *best = best.max(score);
    }
    let shares = if explain { fuse::shares(&ranks) } else { Vec::new() };
    for (node, shares) in shares {
        let parts: Vec<(String, f64)> = names.iter().cloned().zip(shares).collect();
        if let Some(hit) = hits.get_mut(&node) {
            hit.explanation = Some(Explanation::of(&parts));
        }
    }
    fuse::reciprocal_rank(&ranks).into_iter().filter_map(|(node, _)| hits.remove(&node)).collect()
}

/// Folds near-duplicates into the best of them.
fn fold(hits: &mut Vec<Hit>, vectors: &HashMap<NodeId, Vec<f32>>) {
    let stands = {
        let compared = compared(hits, vectors);
        diversity::folded(compared.len(), |a, b| compared[a].is_near_duplicate(&compared[b]))
    };
    for (at, stand) in stands.iter().enumerate() {
        if let Some(stand) = stand {
            let node = hits[at].node.id;
            hits[*stand].folded.push(node);
        }
    }
    let mut at = 0;
    hits.retain(|_| {
        at += 1;
        stands.get(at - 1).copied().flatten().is_none()
    });
}

/// Folds the passages of a document into the best of them.
fn fold_documents(hits: &mut Vec<Hit>) {
    let mut best: HashMap<(String, String), usize> = HashMap::new();
    let mut kept: Vec<Hit> = Vec::new();
    for hit in std::mem::take(hits) {
        let document = hit.node.passage().map(|place| (hit.node.namespace.clone(), place.path));
        match document {
            None => kept.push(hit),
            Some(document) => match best.get(&document) {
                Some(first) => kept[*first].folded.extend(std::iter::once(hit.node.id).chain(hit.folded)),
                None => {
                    best.insert(document, kept.len());
                    kept.push(hit);
                }
            },
        }
    }
    *hits = kept;
}

/// Puts the hits to be shown first.
fn diversify(recalled: &mut Recalled, vectors: &HashMap<NodeId, Vec<f32>>, novelty: f64, limit: usize) {
    let is_fused = !recalled.expansions.is_empty() || recalled.models.len() > 1;
    let hits = &mut recalled.hits;
    let chosen = {
        let compared = compared(hits, vectors);
        let worth = worth(&hits[..compared.len()], is_fused);
        let similarity = |a: usize, b: usize| compared[a].similarity(&compared[b]);
        diversity::maximal_marginal_relevance(&worth, similarity, novelty, limit)
    };
    let mut rest: Vec<Option<Hit>> = std::mem::take(hits).into_iter().map(Some).collect();
    hits.extend(chosen.into_iter().filter_map(|at| rest[at].take()));
    hits.extend(rest.into_iter().flatten());
}

fn compared<'a>(hits: &'a [Hit], vectors: &'a HashMap<NodeId, Vec<f32>>) -> Vec<Candidate<'a>> {
    let candidate = |hit: &'a Hit| Candidate {
        text: &hit.node.content,
        vector: vectors.get(&hit.node.id).map(Vec::as_slice),
    };
    hits.iter().take(MAX_COMPARED).map(candidate).collect()
}

/// The values that the hits are ordered by, as 0 to 1. If some were re-ranked, the others are behind the last of them.
/// Fused lists are in the order of their ranks, whatever ordered each list. A hit that supersedes others is as relevant as
/// the best of them, which are behind it.
fn worth(hits: &[Hit], is_fused: bool) -> Vec<f64> {
    let reranked: Vec<f64> = hits.iter().map_while(|hit| hit.scores.reranked).collect();
    let mut worth = match reranked.is_empty() {
        true => {
            let of = |(place, hit): (usize, &Hit)| match is_fused {
                true => 1.0 / (fuse::DAMPING + place as f64),
                false => hit.scores.relevance.unwrap_or(hit.scores.score),
            };
            diversity::normalised(&hits.iter().enumerate().map(of).collect::<Vec<_>>())
        }
        false => diversity::normalised(&reranked),
    };
    worth.resize(hits.len(), 0.0);
    for at in (1..worth.len()).rev() {
        worth[at - 1] = worth[at - 1].max(worth[at]);
    }
    worth
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phrasings_are_new_and_can_be_searched_for() {
        let phrasings = ["Who  likes TABS", "", "tabs lover", "Tabs Lover", "a\0b", "indentation", "more"];
        let kept = distinct(&Words::parse("who likes tabs"), phrasings.map(str::to_owned).into(), 2);
        assert_eq!(kept, ["tabs lover", "indentation"]);
    }

    #[test]
    fn what_hits_must_have_is_for_the_query_to_say() {
        let query = Words::parse("\"hard tabs\" -vim -\"the editor wars\"");
        let phrasings = ["prefers \"tabs\"", "tabs -emacs", "indentation"].map(str::to_owned);
        assert_eq!(distinct(&query, phrasings.into(), 3), ["prefers tabs", "indentation"]);
        let required: Vec<Sign> = query.required().cloned().collect();
        assert_eq!(required.len(), 3);
        // The conditions hold for a sentence as well.
        let phrasing = Words::parse("She prefers hard tabs, whatever the editor.").and(&required);
        assert_eq!(phrasing.required().cloned().collect::<Vec<_>>(), required);
    }
}
