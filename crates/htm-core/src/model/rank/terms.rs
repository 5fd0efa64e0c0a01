//! The words of a query in a text.

use super::text_vector::{Entry, TextVector};
use super::{Asked, Pair};

/// The additional frequency of a word in a long text's opening.
const OPENING_GAIN: f64 = 2.0;

/// The number of lexemes above which a text has an opening.
const OPENING_ABOVE: u32 = 40;

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

/// Different lexemes by which the entries of texts are looked up. Most entries are none of them: that is found by the first
/// letter and the length.
struct Wanted<'a> {
    /// In their order, each with its place among those that are wanted.
    lexemes: Vec<(&'a [u8], usize)>,
    /// The beginning and the end of the lexemes with each first letter.
    of_first: [(u32, u32); 256],
    /// Has a bit for each length.
    lengths: u64,
}

impl<'a> Wanted<'a> {
    fn new(lexemes: impl Iterator<Item = &'a [u8]>) -> Self {
        let places = lexemes.enumerate().map(|(at, lexeme)| (lexeme, at));
        let mut lexemes: Vec<(&[u8], usize)> = places.filter(|(lexeme, _)| !lexeme.is_empty()).collect();
        lexemes.sort_unstable();
        let (mut of_first, mut lengths) = ([(0, 0); 256], 0);
        for (at, (lexeme, _)) in (0..).zip(&lexemes) {
            let (start, end) = &mut of_first[usize::from(lexeme[0])];
            if start == end {
                *start = at;
            }
            *end = at + 1;
            lengths |= 1 << lexeme.len().min(63);
        }
        Self { lexemes, of_first, lengths }
    }

    fn place(&self, lexeme: &[u8]) -> Option<usize> {
        let (start, end) = self.of_first[usize::from(*lexeme.first()?)];
        if start == end || self.lengths & (1 << lexeme.len().min(63)) == 0 {
            return None;
        }
        let alike = &self.lexemes[start as usize..end as usize];
        alike.binary_search_by(|(wanted, _)| (*wanted).cmp(lexeme)).ok().map(|at| alike[at].1)
    }
}

/// The number of texts that have each of some different lexemes.
pub(crate) fn texts_with<'t>(lexemes: &[&str], texts: impl Iterator<Item = TextVector<'t>>) -> Vec<u32> {
    let wanted = Wanted::new(lexemes.iter().map(|lexeme| lexeme.as_bytes()));
    let mut counts = vec![0; lexemes.len()];
    for entry in texts.flat_map(TextVector::entries) {
        if let Some(at) = wanted.place(entry.lexeme) {
            counts[at] += 1;
        }
    }
    counts
}

/// Counts a query's words in texts.
pub(crate) struct TermCounter<'a> {
    pairs: &'a [Pair],
    words: Wanted<'a>,
    count: usize,
}

impl<'a> TermCounter<'a> {
    pub(crate) fn new(asked: &'a Asked) -> Self {
        let words = Wanted::new(asked.words.iter().map(|word| word.lexeme.as_bytes()));
        Self { pairs: &asked.pairs, words, count: asked.words.len() }
    }

    /// Counts the words in one text.
    pub(crate) fn count(&self, text: TextVector<'_>) -> Terms {
        let mut frequencies = vec![0.0; self.count];
        let mut found: Vec<Option<Entry<'_>>> = vec![None; self.count];
        let mut length = 0;
        for entry in text.entries() {
            length += entry.frequency();
            if let Some(at) = self.words.place(entry.lexeme) {
                frequencies[at] = entry.frequency() as f64;
                if text.count() > OPENING_ABOVE && entry.occurrences().any(|occurrence| occurrence.is_opening)
                {
                    frequencies[at] += OPENING_GAIN;
                }
                found[at] = Some(entry);
            }
        }
        let is_together = |pair: &Pair| {
            let both = found[pair.first].zip(found[pair.second]);
            both.is_some_and(|(first, second)| are_together(first, second, pair.distance))
        };
        let pairs = self.pairs.iter().enumerate();
        let together = pairs.filter(|(_, pair)| is_together(pair)).map(|(at, _)| at).collect();
        Terms { lexemes: text.count(), length: length as f64, frequencies, together }
    }
}

/// Whether the second lexeme is somewhere at this distance from the first. PostgreSQL sorts the occurrences by position.
fn are_together(first: Entry<'_>, second: Entry<'_>, distance: u16) -> bool {
    let mut seconds = second.occurrences().map(|occurrence| occurrence.position).peekable();
    first.occurrences().any(|occurrence| {
        let sought = occurrence.position + distance;
        while seconds.next_if(|position| *position < sought).is_some() {}
        seconds.peek() == Some(&sought)
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::super::text_vector::{Occurrence, sent};
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

    /// Compares each occurrence of the first lexeme with each one of the second.
    fn are_together_somewhere(first: Entry<'_>, second: Entry<'_>, distance: u16) -> bool {
        first
            .occurrences()
            .any(|first| second.occurrences().any(|second| first.position + distance == second.position))
    }

    proptest! {
        #[test]
        fn lexemes_are_together_if_any_of_their_occurrences_are(
            first in prop::collection::btree_set(1_u16..60, 0..12),
            second in prop::collection::btree_set(1_u16..60, 0..12),
            distance in 1_u16..3,
        ) {
            let occurrences = |positions: BTreeSet<u16>| at(&Vec::from_iter(positions));
            let (first, second) = (occurrences(first), occurrences(second));
            let text = sent(&[("a", &first), ("b", &second)]);
            let entries: Vec<Entry<'_>> = TextVector::new(&text).unwrap().entries().collect();
            prop_assert_eq!(
                are_together(entries[0], entries[1], distance),
                are_together_somewhere(entries[0], entries[1], distance)
            );
        }

        #[test]
        fn texts_with_lexemes_are_counted(
            texts in prop::collection::vec(prop::collection::btree_set("[a-c]{1,3}|é|[a-b]{63,65}", 0..6), 0..8),
            lexemes in prop::collection::btree_set("[a-c]{1,3}|é|[a-b]{63,65}", 0..6),
        ) {
            let sent: Vec<Vec<u8>> = texts
                .iter()
                .map(|text| sent(&text.iter().map(|lexeme| (lexeme.as_str(), &[][..])).collect::<Vec<_>>()))
                .collect();
            let lexemes: Vec<&str> = lexemes.iter().map(String::as_str).collect();
            let counts = texts_with(&lexemes, sent.iter().filter_map(|text| TextVector::new(text)));
            for (lexeme, count) in lexemes.iter().zip(counts) {
                prop_assert_eq!(count as usize, texts.iter().filter(|text| text.contains(*lexeme)).count());
            }
        }
    }
}
