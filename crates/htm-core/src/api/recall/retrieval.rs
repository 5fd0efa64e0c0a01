//! Retrieval: the candidates of a search, with their features for the ranking.

use std::collections::HashMap;

use super::candidates::Candidates;
use super::search::Search;
use super::small_scope::{MOST_NODES, ScopeTexts, SmallScope, is_small};
use super::text::Text;
use crate::model::error::Result;
use crate::model::id::NodeId;
use crate::model::rank::{Link, Member, TermCounter};
use crate::model::recall::{Correction, Leg, Strategy, VectorSearch};
use crate::store::filter::Conditions;
use crate::store::recall::{Features, Reader, Readers, Size, Vectors};

/// The candidates, with the links to their neighbouring turns.
#[derive(Default)]
pub(super) struct Retrieved {
    pub(super) members: Vec<Member>,
    pub(super) links: Vec<Link>,
    pub(super) legs: Vec<Leg>,
    pub(super) vector_search: Option<VectorSearch>,
    pub(super) corrected: Vec<Correction>,
}

/// The candidates of each leg, the best first, and the corrections of the words.
struct Legs {
    by_vector: Option<(VectorSearch, Vec<(NodeId, f64)>)>,
    by_text: Option<(Leg, Vec<NodeId>)>,
    corrected: Vec<Correction>,
}

impl Search<'_> {
    /// The candidates of all legs. `boosted` are the ids of preferred tags.
    pub(super) async fn retrieve(
        &self,
        readers: &mut Readers<'_>,
        size: &Size,
        text: &mut Text<'_>,
        conditions: &Conditions,
        vectors: Option<&Vectors>,
        boosted: &[i64],
    ) -> Result<Retrieved> {
        let small = self.small_scope(readers, size, text, conditions, vectors).await?;
        let (small, legs) = match small {
            Some((scope, corrected)) => {
                let legs = self.legs_of_scope(&scope, text, vectors.is_some(), corrected);
                (Some(scope), legs)
            }
            None => (None, self.legs(readers, size, text, conditions, vectors, boosted).await?),
        };
        let mut candidates = Candidates::default();
        let mut retrieved = Retrieved { corrected: legs.corrected, ..Retrieved::default() };
        if let Some((search, leg)) = legs.by_vector {
            retrieved.vector_search = (!leg.is_empty()).then_some(search);
            retrieved.legs.push(match (search, conditions.is_narrow()) {
                (VectorSearch::Approximate, _) => Leg::Index,
                (VectorSearch::Exact, true) => Leg::Narrow,
                (VectorSearch::Exact, false) => Leg::Exact,
            });
            candidates.by_vector(leg, self.least_similarity());
        }
        if let Some((leg, found)) = legs.by_text {
            candidates.by_text(found);
            retrieved.legs.push(leg);
        }
        if !boosted.is_empty() {
            let tagged = readers.main().tagged(vectors, conditions, boosted, self.leg_limit()).await?;
            candidates.by_tag(tagged);
        }

        let is_filtered = conditions.is_filtered();
        retrieved.links = match &small {
            _ if !self.has_neighbours() => Vec::new(),
            // A turn that the filter leaves out counts as a step between turns.
            Some(scope) if !is_filtered => scope.links(&candidates.first_of_legs()),
            _ => readers.main().links(conditions, &candidates.first_of_legs(), is_filtered).await?,
        };
        // A search by vectors alone needs no further features.
        if self.by_text || !boosted.is_empty() {
            let nodes = candidates.with(retrieved.links.iter().map(|link| link.other));
            let features = match small {
                Some(scope) => scope.features(&nodes),
                None => self.features(readers, text, &candidates, &nodes, vectors).await?,
            };
            let sought = text.sought(readers.main(), &nodes).await?;
            candidates.have(features, sought, &text.mentions);
        }
        retrieved.members = candidates.into_members();
        Ok(retrieved)
    }

    /// Reads all nodes in scope, and weighs the words; none if they are many, or if the query needs statements of its own.
    async fn small_scope(
        &self,
        readers: &mut Readers<'_>,
        size: &Size,
        text: &mut Text<'_>,
        conditions: &Conditions,
        vectors: Option<&Vectors>,
    ) -> Result<Option<(SmallScope, Vec<Correction>)>> {
        let most = MOST_NODES.min(self.settings.recall.exact_scope);
        // Signs are searched by statements of their own.
        if !is_small(size, most) || !self.by_text || !self.words.signs.is_empty() || self.then.is_past() {
            return Ok(None);
        }
        // A filter leaves out texts of the namespaces.
        let is_whole = conditions.is_wide();
        let texts = async |reader: &mut Reader| reader.small_scope(conditions, most).await;
        let beside = async |reader: &mut Reader| {
            let lexemes = self.lexemes(reader, size, is_whole).await?;
            let similarities = match vectors {
                Some(vectors) => reader.similarities_of_scope(vectors, conditions).await?,
                None => HashMap::new(),
            };
            Ok((lexemes, similarities))
        };
        let (rows, (lexemes, similarities)) = match size.is_counted {
            true => readers.both(texts, beside).await?,
            // There may be many more nodes.
            false => match texts(readers.main()).await? {
                None => return Ok(None),
                found => (found, beside(readers.main()).await?),
            },
        };
        let Some(rows) = rows else { return Ok(None) };
        let texts = ScopeTexts { rows };
        let counted = is_whole.then_some(&texts);
        let corrected = self.weigh(text, lexemes, counted, readers.main(), size).await?;
        Ok(Some((texts.with_features(&text.asked, &similarities), corrected)))
    }

    /// The legs of a scope whose nodes were all read.
    fn legs_of_scope(
        &self,
        scope: &SmallScope,
        text: &Text<'_>,
        by_vector: bool,
        corrected: Vec<Correction>,
    ) -> Legs {
        let pool = self.leg_limit();
        Legs {
            by_vector: by_vector.then(|| (VectorSearch::Exact, scope.by_vector(pool))),
            by_text: text.can_choose().then(|| (Leg::Text, scope.by_text(&text.asked, pool))),
            corrected,
        }
    }

    /// Searches by vectors and by words.
    async fn legs(
        &self,
        readers: &mut Readers<'_>,
        size: &Size,
        text: &mut Text<'_>,
        conditions: &Conditions,
        vectors: Option<&Vectors>,
        boosted: &[i64],
    ) -> Result<Legs> {
        let pool = self.leg_limit();
        let by_vector = async |reader: &mut Reader| match vectors {
            None => Ok(None),
            Some(vectors) => {
                let wanted = if self.is_by_distance(boosted) { self.query.limit } else { pool };
                self.vector_leg(reader, vectors, conditions, size, wanted).await.map(Some)
            }
        };
        let by_text = async |reader: &mut Reader| {
            if !self.by_text {
                return Ok((None, Vec::new()));
            }
            let lexemes = self.lexemes(reader, size, false).await?;
            let corrected = self.weigh(text, lexemes, None, reader, size).await?;
            let leg = match text.can_choose() {
                true => Some(text_leg(reader, text, conditions, size, pool).await?),
                false => None,
            };
            Ok((leg, corrected))
        };
        let (by_vector, (by_text, corrected)) = readers.both(by_vector, by_text).await?;
        Ok(Legs { by_vector, by_text, corrected })
    }

    /// The features of candidates and of the turns beside them.
    async fn features(
        &self,
        readers: &mut Readers<'_>,
        text: &Text<'_>,
        candidates: &Candidates,
        nodes: &[NodeId],
        vectors: Option<&Vectors>,
    ) -> Result<Vec<Features>> {
        let counter = TermCounter::new(&text.asked);
        let uncompared = candidates.uncompared(nodes);
        let texts = async |reader: &mut Reader| reader.features(nodes, &counter).await;
        let compared = async |reader: &mut Reader| match vectors {
            Some(vectors) => reader.similarities_of(vectors, &uncompared).await,
            None => Ok(HashMap::new()),
        };
        let (mut features, similarities) = readers.both(texts, compared).await?;
        for node in &mut features {
            node.similarity = similarities.get(&node.node).copied();
        }
        Ok(features)
    }

    /// The number of candidates of each leg.
    pub(super) fn leg_limit(&self) -> usize {
        self.settings.recall.pool.max(self.query.limit)
    }

    /// Whether the nearest nodes are the hits, because nothing else orders them.
    fn is_by_distance(&self, boosted: &[i64]) -> bool {
        !self.by_text && boosted.is_empty() && !self.has_neighbours() && self.relevance.is_none()
    }

    fn has_neighbours(&self) -> bool {
        // Also when the vectors of a hybrid query are missing. The turns beside one are those of now.
        matches!(self.strategy, Strategy::Hybrid | Strategy::Auto) && !self.then.is_past()
    }

    /// The nearest nodes, `wanted` or more if there are so many: by comparing all nodes in scope if they are few enough,
    /// otherwise by the index.
    async fn vector_leg(
        &self,
        reader: &mut Reader,
        vectors: &Vectors,
        conditions: &Conditions,
        size: &Size,
        wanted: usize,
    ) -> Result<(VectorSearch, Vec<(NodeId, f64)>)> {
        let few = self.settings.recall.exact_scope;
        let counted = (size.is_counted && !conditions.is_of_a_time()).then_some(size.by_now);
        let certain = counted.filter(|nodes| !(few as f64 / CERTAIN..few as f64 * CERTAIN).contains(nodes));
        let in_scope = match certain {
            Some(nodes) => nodes,
            None => reader.scope_size(vectors, conditions, few).await? as f64,
        };
        // All vectors of a small scope are compared sooner than the nodes that pass a filter are found.
        if conditions.is_narrow()
            && in_scope > MOST_NODES.min(few) as f64
            && let Some(leg) = reader.vectors_of_few(vectors, conditions, few, wanted).await?
        {
            return Ok((VectorSearch::Exact, leg));
        }
        let is_exact = in_scope <= few as f64 || !vectors.has_index();
        let search = if is_exact { VectorSearch::Exact } else { VectorSearch::Approximate };
        // An index gives its first candidates in order, and further ones without order. It needs further ones where many are
        // out of scope.
        let is_most = !conditions.is_filtered() && in_scope * 2.0 >= size.all_nodes.max(1.0);
        let are_first = is_most && vectors.are_in_order(self.leg_limit(), reader.ef_search);
        let pool = if is_exact || are_first { wanted } else { self.leg_limit() };
        Ok((search, reader.vector_leg(vectors, conditions, is_exact, pool).await?))
    }
}

/// The candidates of the text leg, by the fastest statement.
async fn text_leg(
    reader: &mut Reader,
    text: &Text<'_>,
    conditions: &Conditions,
    size: &Size,
    pool: usize,
) -> Result<(Leg, Vec<NodeId>)> {
    if let Some((index, spoken)) = text.by_bm25(size, conditions) {
        return Ok((Leg::Bm25, reader.text_leg_by_bm25(conditions, index, spoken, pool).await?));
    }
    if let Some((word, most)) = text.frequent(size, conditions, pool)
        && let Some(leg) = reader.newest_with(conditions, word, most, pool).await?
    {
        return Ok((Leg::Text, leg));
    }
    let found = reader.text_leg(conditions, &text.choosing, text.search(size, conditions), pool).await?;
    Ok((Leg::Text, found))
}

/// The factor by which recent statistics may differ from the actual numbers.
const CERTAIN: f64 = 1.1;
