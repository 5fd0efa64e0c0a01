//! A search by the vectors of several models. Similarities of different models cannot be compared; the ranks can.

use futures::future::join_all;

use super::{Hit, RecallQuery, Recalled, Result, fused};
use crate::api::htm::Htm;
use crate::model::recall::VectorSearch;
use crate::model::words::Sign;

impl Htm {
    /// Searches for a valid query with each of its models. A model that cannot embed the query loses only its own list;
    /// if none can, full text answers.
    pub(super) async fn search_models(&self, query: &RecallQuery, required: &[Sign]) -> Result<Recalled> {
        let mut labels: Vec<&String> = Vec::new();
        for label in &query.models {
            if !labels.contains(&label) {
                labels.push(label);
            }
        }
        if labels.len() < 2 {
            return self.search(query, required).await;
        }
        let queries =
            labels.iter().map(|&label| RecallQuery { models: vec![label.clone()], ..query.clone() });
        let queries: Vec<RecallQuery> = queries.collect();
        let answers = join_all(queries.iter().map(|query| self.search(query, required))).await;
        let answers = answers.into_iter().collect::<Result<Vec<_>>>()?;
        // An answer without vectors has only what each model finds by text.
        let (mut searched, mut others): (Vec<_>, Vec<_>) =
            answers.into_iter().partition(|answer| !answer.models.is_empty());
        if searched.is_empty() {
            searched.push(others.remove(0));
        }
        let named = |answer: &mut Recalled| (answer.models.concat(), std::mem::take(&mut answer.hits));
        let mut lists: Vec<(String, Vec<Hit>)> = searched.iter_mut().map(named).collect();
        let hits = if lists.len() == 1 { lists.remove(0).1 } else { fused(1.0, lists, query.explain) };
        let mut all = searched.remove(0);
        searched.into_iter().chain(others).for_each(|other| take_in(&mut all, other));
        all.hits = hits;
        all.hits.truncate(query.limit);
        Ok(all)
    }
}

/// Adds the reports of another model's search, without its hits.
fn take_in(all: &mut Recalled, other: Recalled) {
    all.models.extend(other.models);
    all.unembedded = all.unembedded.max(other.unembedded);
    all.embed_ms = all.embed_ms.max(other.embed_ms);
    all.search_ms = all.search_ms.max(other.search_ms);
    if other.vector_search == Some(VectorSearch::Approximate) || all.vector_search.is_none() {
        all.vector_search = other.vector_search;
    }
    let new: Vec<_> = other.degraded.into_iter().filter(|it| !all.degraded.contains(it)).collect();
    all.degraded.extend(new);
    let new: Vec<_> = other.legs.into_iter().filter(|leg| !all.legs.contains(leg)).collect();
    all.legs.extend(new);
}
