//! A small scope: all of its nodes are read at once. Words are counted and the candidates are selected in memory.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::model::id::NodeId;
use crate::model::rank::{self, Asked, Lexeme, Link, TermCounter, Terms, TextVector, Turn};
use crate::model::spelling::{self, Frequencies, Typed};
use crate::store::recall::{Features, ScopeRows, Size};

/// The most nodes of a small scope.
pub(super) const MOST_NODES: usize = 2_000;

/// The most lexemes of all nodes of a small scope: reading so many takes about as long as the legs.
const MOST_LEXEMES: f64 = 60_000.0;

/// The texts of all nodes in scope.
pub(super) struct ScopeTexts {
    pub(super) rows: ScopeRows,
}

/// All nodes in scope, with their features.
pub(super) struct SmallScope {
    nodes: Vec<Features>,
    turns: Vec<Turn>,
}

/// Whether namespaces of this size are read at once if they have at most `most` nodes.
pub(super) fn is_small(size: &Size, most: usize) -> bool {
    size.by_now <= most as f64 && size.by_now * size.average_lexemes <= MOST_LEXEMES
}

impl ScopeTexts {
    pub(super) fn count(&self) -> usize {
        self.rows.nodes.len()
    }

    fn texts(&self) -> impl Iterator<Item = TextVector<'_>> {
        self.rows.nodes.iter().filter_map(|node| self.rows.text(node))
    }

    /// Sets the numbers of nodes of different lexemes.
    pub(super) fn count_nodes(&self, lexemes: &mut [Lexeme]) {
        let named: Vec<&str> = lexemes.iter().map(|lexeme| lexeme.lexeme.as_str()).collect();
        let counts = rank::texts_with(&named, self.texts());
        lexemes.iter_mut().zip(counts).for_each(|(lexeme, count)| lexeme.nodes = f64::from(count));
    }

    /// The lexemes that unknown words may mean.
    pub(super) fn vocabulary(&self, typed: &[Typed]) -> Frequencies {
        let stems = spelling::stems_of_variants(typed);
        let counts = rank::texts_with(&stems, self.texts());
        let known = stems.iter().zip(counts).filter(|(_, count)| *count > 0);
        let mut words: Frequencies =
            known.map(|(stem, count)| ((*stem).to_owned(), f64::from(count))).collect();
        let lengths = spelling::lengths_of_neighbours(typed);
        if !lengths.is_empty() {
            words.extend(self.beginning_with(&lengths));
        }
        words
    }

    /// The lexemes with these first letters, each with its fewest and most letters.
    fn beginning_with(&self, lengths: &BTreeMap<char, (usize, usize)>) -> Frequencies {
        let firsts: Vec<u8> = lengths.keys().map(|first| first.to_string().as_bytes()[0]).collect();
        let mut counts: HashMap<&[u8], f64> = HashMap::new();
        for entry in self.texts().flat_map(TextVector::entries) {
            if entry.lexeme.first().is_some_and(|first| firsts.contains(first)) {
                *counts.entry(entry.lexeme).or_default() += 1.0;
            }
        }
        let word = |(lexeme, count): (&[u8], f64)| {
            let lexeme = std::str::from_utf8(lexeme).ok()?;
            let (fewest, most) = lengths.get(&lexeme.chars().next()?)?;
            (*fewest..=*most).contains(&lexeme.chars().count()).then(|| (lexeme.to_owned(), count))
        };
        counts.into_iter().filter_map(word).collect()
    }

    /// The nodes with the features for the words that are asked for, and with their similarities to the query.
    pub(super) fn with_features(self, asked: &Asked, similarities: &HashMap<NodeId, f64>) -> SmallScope {
        let counter = TermCounter::new(asked);
        let terms = |node| self.rows.text(node).map(|text| counter.count(text)).unwrap_or_default();
        let terms: Vec<Terms> = self.rows.nodes.iter().map(terms).collect();
        let mut scope = SmallScope { nodes: Vec::with_capacity(terms.len()), turns: Vec::new() };
        for (node, terms) in self.rows.nodes.into_iter().zip(terms) {
            let turn = node.turn.map(|(conversation, seq)| Turn {
                id: node.node,
                conversation,
                seq,
                created_at: node.created_at,
                lexemes: terms.lexemes,
            });
            scope.turns.extend(turn);
            scope.nodes.push(Features {
                node: node.node,
                terms,
                speaker: node.speaker,
                created_at: node.created_at,
                similarity: similarities.get(&node.node).copied(),
            });
        }
        scope
    }
}

impl SmallScope {
    /// The nearest nodes, each with its similarity.
    pub(super) fn by_vector(&self, pool: usize) -> Vec<(NodeId, f64)> {
        let near = self.nodes.iter().filter_map(|node| Some((node.node, node.similarity?)));
        best(near, pool).collect()
    }

    /// The nodes with most of the rare words, as in text.sql.
    pub(super) fn by_text(&self, asked: &Asked, pool: usize) -> Vec<NodeId> {
        let found = self.nodes.iter().filter_map(|node| Some((node.node, asked.weight_in(&node.terms)?)));
        best(found, pool).map(|(node, _)| node).collect()
    }

    /// The links of candidates to their neighbouring turns.
    pub(super) fn links(&self, candidates: &[NodeId]) -> Vec<Link> {
        rank::links(&self.turns, &candidates.iter().copied().collect())
    }

    /// The features of some nodes, for the ranking.
    pub(super) fn features(self, nodes: &[NodeId]) -> Vec<Features> {
        let nodes: HashSet<NodeId> = nodes.iter().copied().collect();
        self.nodes.into_iter().filter(|node| nodes.contains(&node.node)).collect()
    }
}

/// The entries with the greatest values; of equal ones, the newest nodes.
fn best(values: impl Iterator<Item = (NodeId, f64)>, count: usize) -> impl Iterator<Item = (NodeId, f64)> {
    let mut values: Vec<(NodeId, f64)> = values.collect();
    values.sort_by(|a, b| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0)));
    values.into_iter().take(count)
}
