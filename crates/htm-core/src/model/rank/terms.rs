//! The words of a query in a text.

use std::collections::HashMap;

use super::text_vector::{Occurrence, TextVector};
use super::{Asked, Pair};

/// The additional frequency of a word in a long text's opening.
const OPENING: f64 = 2.0;

/// The lexemes above which a text is long.
const LONG: u32 = 40;

/// The words of a query in a text.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Terms {
    /// The number of distinct lexemes of the text.
    pub(crate) lexemes: u32,
    /// The number of its words that full-text search keeps.
    pub(crate) length: f64,
    /// The frequency of each word of [`Asked::words`].
    pub(crate) frequencies: Vec<f64>,
    /// The indexes of the [`Asked::pairs`] that are together in it.
    pub(crate) together: Vec<usize>,
}

/// Counts a query's words in texts.
pub(crate) struct TermCounter<'a> {
    pairs: &'a [Pair],
    words: HashMap<&'a [u8], usize>,
}

impl<'a> TermCounter<'a> {
    pub(crate) fn new(asked: &'a Asked) -> Self {
        let words = asked.words.iter().enumerate().map(|(at, word)| (word.lexeme.as_bytes(), at)).collect();
        Self { pairs: &asked.pairs, words }
    }

    /// Counts the words in one text.
    pub(crate) fn count(&self, text: TextVector<'_>) -> Terms {
        let mut frequencies = vec![0.0; self.words.len()];
        let mut occurrences: Vec<Vec<Occurrence>> = vec![Vec::new(); self.words.len()];
        let mut length = 0;
        for entry in text.entries() {
            length += entry.frequency();
            if let Some(&at) = self.words.get(entry.lexeme) {
                frequencies[at] = entry.frequency() as f64;
                occurrences[at].extend(entry.occurrences());
                if text.count() > LONG && occurrences[at].iter().any(|occurrence| occurrence.is_opening) {
                    frequencies[at] += OPENING;
                }
            }
        }
        let is_together = |pair: &Pair| {
            occurrences[pair.first].iter().any(|first| {
                occurrences[pair.second]
                    .iter()
                    .any(|second| first.position + pair.distance == second.position)
            })
        };
        let pairs = self.pairs.iter().enumerate();
        let together = pairs.filter(|(_, pair)| is_together(pair)).map(|(at, _)| at).collect();
        Terms { lexemes: text.count(), length: length as f64, frequencies, together }
    }
}

#[cfg(test)]
mod tests {
    use super::super::text_vector::sent;
    use super::super::{Corpus, Lexeme};
    use super::*;

    fn at(positions: &[u16]) -> Vec<Occurrence> {
        positions.iter().map(|&position| Occurrence { position, is_opening: position < 4 }).collect()
    }

    #[test]
    fn words_are_counted_and_pairs_are_found() {
        let lexeme = |(at, lexeme): (usize, &str)| Lexeme {
            lexeme: lexeme.into(),
            nodes: 1.0 + at as f64,
            places: vec![(1, 1 + at as i32)],
            ..Lexeme::default()
        };
        let lexemes = ["disk", "full", "today"].into_iter().enumerate().map(lexeme).collect();
        let asked = Asked::new(Corpus { nodes: 9.0, average_lexemes: 9.0 }, lexemes);
        let counter = TermCounter::new(&asked);

        let text = sent(&[("disk", &at(&[2, 9])), ("full", &at(&[10])), ("we", &[])]);
        let terms = counter.count(TextVector::new(&text).unwrap());
        assert_eq!(terms.frequencies, [2.0, 1.0, 0.0]);
        let pairs: Vec<(usize, usize, u16)> = terms
            .together
            .iter()
            .map(|&at| (asked.pairs[at].first, asked.pairs[at].second, asked.pairs[at].distance))
            .collect();
        assert_eq!(pairs, [(0, 1, 1)]);
        assert_eq!((terms.lexemes, terms.length), (3, 4.0));
    }

    #[test]
    fn the_opening_of_a_long_text_counts_more() {
        let lexeme = Lexeme { lexeme: "disk".into(), nodes: 1.0, ..Lexeme::default() };
        let asked = Asked::new(Corpus { nodes: 9.0, average_lexemes: 9.0 }, vec![lexeme]);
        let others: Vec<String> = (0..50).map(|at| format!("w{at}")).collect();
        let (opening, later) = (at(&[3, 80]), at(&[80, 90]));
        let frequency = |occurrences: &[Occurrence], others: &[String]| {
            let mut text = vec![("disk", occurrences)];
            text.extend(others.iter().map(|other| (other.as_str(), &[][..])));
            TermCounter::new(&asked).count(TextVector::new(&sent(&text)).unwrap()).frequencies[0]
        };
        assert_eq!(frequency(&opening, &others), 4.0);
        assert_eq!(frequency(&later, &others), 2.0);
        assert_eq!(frequency(&opening, &others[..9]), 2.0);
    }
}
