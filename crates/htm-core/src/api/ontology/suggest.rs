//! Suggestions to merge tags that may mean the same, with the evidence.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::Ontology;
use crate::model::error::Result;
use crate::model::ontology::{DistinctTags, Orphan, Suggestion, TagUse};
use crate::provider::{Embedder, Purpose};
use crate::store::ontology::{self as store, Pairs};

/// The minimum trigram similarity of last levels with a similar spelling.
const ALIKE: f32 = 0.5;

/// The minimum share of common nodes.
const SAME_NODES: f32 = 0.5;

/// The minimum cosine of tags with the same meaning.
const SAME_MEANING: f32 = 0.85;

/// The most tags, the most used first, whose meanings are compared, each with every other.
const MAX_EMBEDDED: usize = 2_000;

/// The most pairs of one kind of evidence.
const MAX_PAIRS: u32 = 10_000;

/// The minimum number of common nodes that counts as evidence.
const MIN_SHARED: u32 = 2;

type Pair = (String, String);

impl Ontology<'_> {
    /// Suggested merges of tags that mean the same, the strongest evidence first. With an embedder, the meanings of
    /// tags and descriptions are compared too. Pairs declared distinct are left out.
    ///
    /// # Errors
    /// The embedder's error, or a database error.
    pub async fn suggest(&self, embedder: Option<&dyn Embedder>, limit: u32) -> Result<Vec<Suggestion>> {
        let (pool, namespace) = (self.htm.pool(), self.namespace);
        let uses = store::uses(pool, namespace, None, None).await?;
        let by_path: HashMap<&str, &TagUse> = uses.iter().map(|it| (it.tag.as_str(), it)).collect();
        let distinct = distinct(&uses);
        // Each pair is in the order of names, so that it has one entry.
        let mut evidence: BTreeMap<Pair, [Option<f32>; 3]> = BTreeMap::new();
        let mut note = |a: String, b: String, kind: usize, value: f32| {
            evidence.entry(if a < b { (a, b) } else { (b, a) }).or_default()[kind] = Some(value);
        };
        for (a, b, similarity) in store::alike(pool, namespace, ALIKE, MAX_PAIRS).await? {
            note(a, b, 0, similarity);
        }
        let pairs =
            Pairs { tag: None, min_nodes: MIN_SHARED, min_jaccard: Some(SAME_NODES), limit: MAX_PAIRS };
        for it in store::cooccurring(pool, namespace, pairs, None).await? {
            note(it.tag, it.other, 1, it.jaccard);
        }
        if let Some(embedder) = embedder {
            for (a, b, cosine) in same_meaning(embedder, &uses).await? {
                note(a, b, 2, cosine);
            }
        }
        let suggestion = |((a, b), [name, nodes, meaning]): (Pair, [Option<f32>; 3])| {
            if distinct.contains(&in_order(&a, &b)) {
                return None;
            }
            let (a, b) = (*by_path.get(a.as_str())?, *by_path.get(b.as_str())?);
            // The tag with more nodes stays; of two with as many, the one with more levels.
            let rank = |it: &TagUse| (it.total, it.tag.depth());
            let (from, into) = if rank(a) > rank(b) { (b, a) } else { (a, b) };
            let (from_nodes, into_nodes) = (from.total, into.total);
            Some(Suggestion {
                from: from.tag.clone(),
                into: into.tag.clone(),
                from_nodes,
                into_nodes,
                name,
                nodes,
                meaning,
            })
        };
        let mut suggestions: Vec<Suggestion> = evidence.into_iter().filter_map(suggestion).collect();
        suggestions.sort_by(|a, b| b.score().total_cmp(&a.score()).then_with(|| a.from.cmp(&b.from)));
        suggestions.truncate(limit as usize);
        Ok(suggestions)
    }

    /// The pairs of tags declared distinct, in the order of their names.
    ///
    /// # Errors
    /// A database error.
    pub async fn distinct(&self) -> Result<Vec<DistinctTags>> {
        let document = self.export().await?;
        let pairs = document.tags.into_iter().flat_map(|it| {
            let held = it.tag;
            it.distinct_from.into_iter().map(move |other| {
                let (tag, other) = if held < other { (held.clone(), other) } else { (other, held.clone()) };
                DistinctTags { tag, other }
            })
        });
        let mut pairs: Vec<DistinctTags> = pairs.collect();
        pairs.sort_by(|a, b| (&a.tag, &a.other).cmp(&(&b.tag, &b.other)));
        Ok(pairs)
    }

    /// Tags with at most `max_nodes` live nodes, including those below, each with a suggested merge.
    ///
    /// # Errors
    /// A database error.
    pub async fn orphans(&self, max_nodes: u32) -> Result<Vec<Orphan>> {
        let (pool, namespace) = (self.htm.pool(), self.namespace);
        let uses = store::uses(pool, namespace, None, None).await?;
        let mut nearest: HashMap<String, (f32, String)> = HashMap::new();
        for (a, b, similarity) in store::alike(pool, namespace, ALIKE, MAX_PAIRS).await? {
            for (tag, other) in [(a.clone(), b.clone()), (b, a)] {
                let is_nearer = nearest.get(&tag).is_none_or(|(known, _)| similarity > *known);
                if is_nearer {
                    nearest.insert(tag, (similarity, other));
                }
            }
        }
        let few = |it: &TagUse| it.total <= i64::from(max_nodes);
        let used: HashMap<&str, i64> = uses.iter().map(|it| (it.tag.as_str(), it.total)).collect();
        let orphan = |tag: &TagUse| {
            let alike = nearest.get(tag.tag.as_str()).map(|(_, other)| other);
            // Suggested in one direction only: the tag with more nodes stays.
            let alike = alike.filter(|other| {
                let theirs = used.get(other.as_str()).copied().unwrap_or(0);
                (theirs, other.as_str()) > (tag.total, tag.tag.as_str())
            });
            let merge_into = alike.and_then(|it| it.parse().ok()).or_else(|| tag.tag.parent());
            Orphan { tag: tag.clone(), merge_into }
        };
        Ok(uses.iter().filter(|it| few(it)).map(orphan).collect())
    }
}

fn distinct(uses: &[TagUse]) -> HashSet<(&str, &str)> {
    uses.iter().flat_map(|it| it.distinct_from.iter().map(|other| in_order(it.tag.as_str(), other))).collect()
}

fn in_order<'a>(a: &'a str, b: &'a str) -> (&'a str, &'a str) {
    if a < b { (a, b) } else { (b, a) }
}

async fn same_meaning(embedder: &dyn Embedder, uses: &[TagUse]) -> Result<Vec<(String, String, f32)>> {
    let mut tags: Vec<&TagUse> = uses.iter().collect();
    tags.sort_by_key(|it| std::cmp::Reverse(it.total));
    tags.truncate(MAX_EMBEDDED);
    let texts: Vec<String> = tags.iter().map(|it| in_words(it)).collect();
    let vectors = embedder.embed(&texts, Purpose::Document).await?;
    let mut pairs = Vec::new();
    for (n, (a, x)) in tags.iter().zip(&vectors).enumerate() {
        for (b, y) in tags.iter().zip(&vectors).skip(n + 1) {
            let cosine: f32 = x.vector.iter().zip(&y.vector).map(|(x, y)| x * y).sum();
            if cosine >= SAME_MEANING && !a.tag.is_below(&b.tag) && !b.tag.is_below(&a.tag) {
                pairs.push((a.tag.to_string(), b.tag.to_string(), cosine.min(1.0)));
            }
        }
    }
    Ok(pairs)
}

/// The text of a tag to embed: `database:query-plan` is `query plan (database)`, followed by its description.
fn in_words(tag: &TagUse) -> String {
    let words = |path: &str| path.replace('-', " ").replace(':', ", ");
    let above = tag.tag.parent().map(|it| format!(" ({})", words(it.as_str()))).unwrap_or_default();
    let about = tag.description.as_deref().map(|it| format!(": {it}")).unwrap_or_default();
    format!("{}{above}{about}", words(tag.tag.leaf()))
}
