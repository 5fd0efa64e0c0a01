//! The weighed words of a query. Rare words decide.

use std::collections::{BTreeMap, BTreeSet};

use super::bm25::idf;
use super::terms::Terms;
use crate::model::lexeme::quoted;

/// The most words of a query. Of a long text, the rarest words are used.
const MOST_WORDS: usize = 64;

/// The weight of a part of an exact term, as a share of its weight as a word of its own.
const PART: f64 = 0.5;

/// The last position in the query at which words are together.
const LAST_POSITION: i32 = 256;

/// Words in more than this share of the nodes choose no candidates, unless they are among the three rarest …
const FREQUENT_SHARE: f64 = 0.02;
/// … or in no more nodes than this.
const FREQUENT: f64 = 500.0;
/// The most nodes that are ranked, unless the rarest word alone has more.
const MOST_CANDIDATES: f64 = 5_000.0;
const RAREST: usize = 3;

/// The namespaces that are searched.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Corpus {
    /// The number of nodes.
    pub(crate) nodes: f64,
    /// The average number of distinct lexemes of a node.
    pub(crate) average_lexemes: f64,
}

/// A lexeme of the query, as the database returns it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Lexeme {
    pub(crate) lexeme: String,
    /// The number of nodes that have it.
    pub(crate) nodes: f64,
    /// Whether it is only a part of an exact term.
    pub(crate) is_part: bool,
    /// Its positions in the query, each with the index of its language.
    pub(crate) places: Vec<(usize, i32)>,
}

/// A word that some node has.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Word {
    pub(crate) lexeme: String,
    pub(crate) nodes: f64,
    /// Its weight.
    pub(crate) idf: f64,
}

impl Word {
    /// The word as a `tsquery`.
    pub(crate) fn query(&self) -> String {
        quoted(&self.lexeme)
    }
}

/// Two words that are together in the query.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Pair {
    /// The indexes of both in [`Asked::words`].
    pub(crate) first: usize,
    pub(crate) second: usize,
    /// The distance from the first to the second: 1 or 2.
    pub(crate) distance: u16,
    /// The weight of the rarer of both.
    pub(crate) idf: f64,
}

/// An exact term as written, or a prefix.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sought {
    pub(crate) is_prefix: bool,
    pub(crate) idf: f64,
}

/// A weighed query.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Asked {
    pub(crate) corpus: Corpus,
    /// The words, the rarest first.
    pub(crate) words: Vec<Word>,
    pub(crate) pairs: Vec<Pair>,
    pub(crate) sought: Vec<Sought>,
    /// Whether a phrase is required.
    pub(crate) has_phrase: bool,
}

impl Asked {
    /// Weighs the lexemes that nodes have. Of a lexeme that is listed twice, the larger number of nodes counts.
    pub(crate) fn new(corpus: Corpus, lexemes: Vec<Lexeme>) -> Self {
        let mut meant: BTreeMap<String, Lexeme> = BTreeMap::new();
        for lexeme in lexemes.into_iter().filter(|lexeme| lexeme.nodes > 0.0) {
            match meant.get_mut(&lexeme.lexeme) {
                Some(known) => {
                    known.nodes = known.nodes.max(lexeme.nodes);
                    known.is_part &= lexeme.is_part;
                    known.places.extend(lexeme.places);
                }
                None => drop(meant.insert(lexeme.lexeme.clone(), lexeme)),
            }
        }
        let mut lexemes: Vec<Lexeme> = meant.into_values().collect();
        lexemes.sort_by(|a, b| a.nodes.total_cmp(&b.nodes));
        lexemes.truncate(MOST_WORDS);
        let word = |lexeme: &Lexeme| Word {
            lexeme: lexeme.lexeme.clone(),
            nodes: lexeme.nodes,
            idf: idf(corpus.nodes, lexeme.nodes) * if lexeme.is_part { PART } else { 1.0 },
        };
        let words: Vec<Word> = lexemes.iter().map(word).collect();
        Self { corpus, pairs: pairs(&lexemes, &words), words, sought: Vec::new(), has_phrase: false }
    }

    /// The words that choose candidates.
    pub(crate) fn choosing(&self) -> &[Word] {
        let mut together = 0.0;
        let rarity = self.words.iter().take_while(|word| {
            let is_rarest = together == 0.0;
            together += word.nodes;
            is_rarest || together <= MOST_CANDIDATES
        });
        let within = rarity.count();
        let frequent = (FREQUENT_SHARE * self.corpus.nodes).max(FREQUENT);
        let rare = self.words.iter().take_while(|word| word.nodes <= frequent).count();
        &self.words[..within.min(rare.max(RAREST))]
    }

    /// The summed weight of the choosing words that a text has; none when it has none of them.
    pub(crate) fn weight_in(&self, terms: &Terms) -> Option<f64> {
        let words = self.choosing().iter().zip(&terms.frequencies);
        words
            .filter(|(_, frequency)| **frequency > 0.0)
            .map(|(word, _)| word.idf)
            .reduce(|sum, idf| sum + idf)
    }

    /// The weight of a term of these lexemes: the sum of theirs, or the largest possible one if none is known.
    pub(crate) fn weight_of(&self, lexemes: &[String]) -> f64 {
        let known: Vec<f64> =
            self.words.iter().filter(|word| lexemes.contains(&word.lexeme)).map(|word| word.idf).collect();
        if known.is_empty() { self.corpus.nodes.ln_1p() } else { known.iter().sum() }
    }

    /// The share of the words' weight that a text has, 0 to 1.
    pub(super) fn coverage(&self, terms: &Terms) -> f64 {
        let all: f64 = self.words.iter().map(|word| word.idf).sum();
        let words = self.words.iter().zip(&terms.frequencies);
        let had: f64 = words.filter(|(_, frequency)| **frequency > 0.0).map(|(word, _)| word.idf).sum();
        if all > 0.0 { had / all } else { 0.0 }
    }

    /// The share of the bonus for exact terms of this weight: 1 from half of the query's weight on, hardly anything for
    /// one word of many.
    pub(super) fn exact_share(&self, exact: f64) -> f64 {
        let all: f64 = self.words.iter().map(|word| word.idf).sum::<f64>()
            + self.sought.iter().map(|sought| sought.idf).sum::<f64>();
        if all > 0.0 { (2.0 * exact / all).min(1.0).powi(2) } else { 0.0 }
    }
}

/// The pairs of words that are adjacent in the query, or have one word between them.
fn pairs(lexemes: &[Lexeme], words: &[Word]) -> Vec<Pair> {
    let mut places: BTreeMap<(usize, i32), Vec<usize>> = BTreeMap::new();
    for (at, lexeme) in lexemes.iter().enumerate() {
        for &place in lexeme.places.iter().filter(|(_, position)| *position <= LAST_POSITION) {
            places.entry(place).or_default().push(at);
        }
    }
    let mut seen = BTreeSet::new();
    let mut pairs = Vec::new();
    for (&(language, position), first) in &places {
        for distance in 1..=2 {
            for second in places.get(&(language, position + distance)).into_iter().flatten() {
                for first in first {
                    if seen.insert((*first, distance, *second)) {
                        let idf = words[*first].idf.min(words[*second].idf);
                        let distance = distance as u16;
                        pairs.push(Pair { first: *first, second: *second, distance, idf });
                    }
                }
            }
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(nodes: f64, words: &[(&str, f64)]) -> Asked {
        let lexeme =
            |&(lexeme, nodes): &(&str, f64)| Lexeme { lexeme: lexeme.into(), nodes, ..Lexeme::default() };
        Asked::new(Corpus { nodes, average_lexemes: 20.0 }, words.iter().map(lexeme).collect())
    }

    fn choosing(asked: &Asked) -> Vec<&str> {
        asked.choosing().iter().map(|word| word.lexeme.as_str()).collect()
    }

    #[test]
    fn rare_words_choose() {
        let small = asked(
            1_000.0,
            &[("common", 900.0), ("rare", 3.0), ("some", 400.0), ("few", 20.0), ("many", 700.0)],
        );
        assert_eq!(choosing(&small), ["rare", "few", "some"]);
        // The three rarest choose, even if they are frequent, up to 5,000 nodes together.
        let frequent = asked(100_000.0, &[("a", 2_100.0), ("b", 2_200.0), ("c", 2_300.0)]);
        assert_eq!(choosing(&frequent), ["a", "b"]);
        assert_eq!(choosing(&asked(100_000.0, &[("a", 30_000.0), ("b", 40_000.0)])), ["a"]);
        assert!(choosing(&asked(10.0, &[("nobody", 0.0)])).is_empty());
    }

    #[test]
    fn a_word_that_is_only_a_part_weighs_half() {
        let lexeme = |is_part| Lexeme { lexeme: "x".into(), nodes: 2.0, is_part, ..Lexeme::default() };
        let corpus = Corpus { nodes: 100.0, average_lexemes: 20.0 };
        let whole = Asked::new(corpus, vec![lexeme(false), lexeme(true)]).words[0].idf;
        assert_eq!(Asked::new(corpus, vec![lexeme(true)]).words[0].idf, whole / 2.0);
    }

    #[test]
    fn words_that_stand_together_are_pairs() {
        let lexeme = |lexeme: &str, places: &[i32]| Lexeme {
            lexeme: lexeme.into(),
            nodes: 1.0,
            places: places.iter().map(|place| (0, *place)).collect(),
            ..Lexeme::default()
        };
        let lexemes = vec![lexeme("night", &[1, 10]), lexeme("watch", &[2, 11]), lexeme("o'c", &[4])];
        let asked = Asked::new(Corpus { nodes: 10.0, average_lexemes: 5.0 }, lexemes);
        let word = |at: usize| asked.words[at].lexeme.as_str();
        let pairs: Vec<(&str, u16, &str)> =
            asked.pairs.iter().map(|pair| (word(pair.first), pair.distance, word(pair.second))).collect();
        assert_eq!(pairs, [("night", 1, "watch"), ("watch", 2, "o'c")]);
    }
}
