//! Spell correction: unknown words, and the known words that were meant.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use crate::model::tokens::TokenEncoding;

/// The fewest letters of a corrected word. In a shorter one, a letter more or less makes another word.
pub(crate) const SHORTEST: usize = 5;
/// The fewest letters of a meaningful part of a name.
const PART: usize = 4;
/// The most letters of a word.
pub(crate) const LONGEST: usize = 40;
/// The fewest letters of a word that may be two edits away …
const TWO_EDITS: usize = 9;
/// … unless its stem has fewer letters than this: then it would be another word.
const LONG_STEM: usize = 8;
/// The number of nodes of the corpus per additional node that a replacement must be in.
const NODES: f64 = 5_000.0;

/// A word as it was typed, and its stems in each language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Typed {
    pub(crate) word: String,
    pub(crate) stems: Vec<String>,
    /// Its variants with two letters swapped, each with its stem.
    pub(crate) swapped: Vec<(String, String)>,
}

impl Typed {
    /// The lexemes of its variants with two letters swapped.
    pub(crate) fn swapped_stems(&self) -> impl Iterator<Item = &str> {
        self.swapped.iter().map(|(_, stem)| stem.as_str())
    }
}

/// Known lexemes, each with the number of nodes that contain it.
pub(crate) type Words = HashMap<String, f64>;

/// Known lexemes by their first letter.
pub(crate) type Vocabulary = HashMap<char, Arc<Words>>;

/// Words by their first letter.
pub(crate) fn by_first_letter(words: Words) -> Vocabulary {
    let mut letters: HashMap<char, Words> = HashMap::new();
    for (lexeme, nodes) in words {
        if let Some(first) = first_letter(&lexeme) {
            letters.entry(first).or_default().insert(lexeme, nodes);
        }
    }
    letters.into_iter().map(|(first, words)| (first, Arc::new(words))).collect()
}

/// The correction of a word.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Meant {
    /// The replacement that is reported.
    pub(crate) used: String,
    pub(crate) lexeme: String,
    /// The number of nodes that contain the lexeme.
    pub(crate) nodes: f64,
}

/// The words of a text that could be misspelled, each once, in lower case. Ordinary words are excluded, even if no node
/// contains them: `spend` is not `speed`.
pub(crate) fn words(text: &str) -> Vec<String> {
    let mut seen = HashSet::new();
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| {
            (SHORTEST..=LONGEST).contains(&word.chars().count()) && word.chars().all(char::is_alphabetic)
        })
        .map(str::to_lowercase)
        .filter(|word| seen.insert(word.clone()) && !TokenEncoding::is_ordinary(word))
        .collect()
}

/// The words within compound names, by name in lower case: `TRPML2` and `TRPML` in `hTRPML2`, `IFIT` in `IFIT1`.
/// Full-text search treats each name as one word.
pub(crate) fn compounds(text: &str) -> Vec<(String, Vec<String>)> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|name| name.chars().count() <= LONGEST)
        .filter_map(|name| {
            let humps = split(name, |a, b| a.is_lowercase() && b.is_uppercase());
            let runs =
                humps.iter().flat_map(|hump| split(hump, |a, b| a.is_alphabetic() != b.is_alphabetic()));
            let parts: BTreeSet<&str> = humps.iter().copied().chain(runs).collect();
            let is_word =
                |part: &str| part != name && part.chars().filter(|c| c.is_alphabetic()).count() >= PART;
            let parts: Vec<String> =
                parts.into_iter().filter(|part| is_word(part)).map(str::to_lowercase).collect();
            (!parts.is_empty()).then(|| (name.to_lowercase(), parts))
        })
        .collect()
}

/// Splits a name between adjacent characters for which `are_apart` holds.
fn split(name: &str, are_apart: impl Fn(char, char) -> bool) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut start = 0;
    for ((_, before), (at, after)) in name.char_indices().zip(name.char_indices().skip(1)) {
        if are_apart(before, after) {
            pieces.push(&name[start..at]);
            start = at;
        }
    }
    pieces.push(&name[start..]);
    pieces
}

/// The variants of a word with two adjacent letters swapped. The first letter stays.
pub(crate) fn swaps(word: &str) -> Vec<String> {
    let letters: Vec<char> = word.chars().collect();
    (1..letters.len().saturating_sub(1))
        .filter(|&at| letters[at] != letters[at + 1])
        .map(|at| {
            let mut letters = letters.clone();
            letters.swap(at, at + 1);
            letters.into_iter().collect()
        })
        .collect()
}

/// The first letter of a lexeme.
pub(crate) fn first_letter(lexeme: &str) -> Option<char> {
    lexeme.chars().next()
}

/// The known word that was meant by an unknown one, in a corpus of `nodes` nodes: one with two letters swapped,
/// otherwise the nearest within one edit, or two edits for a long word. The nearest has the same first letter and is
/// not rare in the corpus.
pub(crate) fn meant(typed: &Typed, known: &Vocabulary, nodes: f64) -> Option<Meant> {
    let swapped = typed.swapped.iter().find_map(|(word, stem)| {
        let nodes = *known.get(&first_letter(stem)?)?.get(stem)?;
        Some(Meant { used: word.clone(), lexeme: stem.clone(), nodes })
    });
    if swapped.is_some() {
        return swapped;
    }
    let is_long = typed.word.chars().count() >= TWO_EDITS;
    let least = 1.0 + (nodes / NODES).floor();
    let stems: Vec<(&str, usize)> =
        typed.stems.iter().map(|stem| (stem.as_str(), stem.chars().count())).collect();
    let distance = |lexeme: &str| {
        let letters = lexeme.chars().count();
        let edits = stems.iter().filter_map(|(stem, stem_letters)| {
            let most = if is_long && *stem_letters >= LONG_STEM { 2 } else { 1 };
            let may_be_near =
                letters.abs_diff(*stem_letters) <= most && first_letter(stem) == first_letter(lexeme);
            may_be_near.then(|| strsim::osa_distance(stem, lexeme)).filter(|distance| *distance <= most)
        });
        if letters + 1 >= SHORTEST { edits.min() } else { None }
    };
    let firsts: BTreeSet<char> = stems.iter().filter_map(|(stem, _)| first_letter(stem)).collect();
    firsts
        .iter()
        .filter_map(|first| known.get(first))
        .flat_map(|words| words.iter())
        .filter(|(_, nodes)| **nodes >= least)
        .filter_map(|(lexeme, nodes)| Some((distance(lexeme)?, lexeme, *nodes)))
        .min_by(|(a, one, in_one), (b, other, in_other)| {
            a.cmp(b).then(in_other.total_cmp(in_one)).then(one.cmp(other))
        })
        .map(|(_, lexeme, nodes)| Meant { used: lexeme.clone(), lexeme: lexeme.clone(), nodes })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn known(lexemes: &[&str]) -> Vocabulary {
        in_nodes(3.0, lexemes)
    }

    fn in_nodes(nodes: f64, lexemes: &[&str]) -> Vocabulary {
        by_first_letter(lexemes.iter().map(|lexeme| ((*lexeme).to_owned(), nodes)).collect())
    }

    fn typed(word: &str) -> Typed {
        let swapped = swaps(word).into_iter().map(|swap| (swap.clone(), swap)).collect();
        Typed { word: word.into(), stems: vec![word.into()], swapped }
    }

    #[test]
    fn letters_are_swapped_lost_doubled_and_mistaken() {
        let known = known(&["zeppelin", "harbour", "branch", "time", "sent", "hold"]);
        for (word, meant_word) in [
            ("zepeplin", Some("zeppelin")),
            ("zeppelim", Some("zeppelin")),
            ("zeppellinn", Some("zeppelin")),
            ("harbor", Some("harbour")),
            // One edit too far for its length, another first letter, or another word.
            ("harber", None),
            ("yeppelin", None),
            ("brakes", None),
            ("timescaledb", None),
            ("semant", None),
            ("holiday", None),
        ] {
            let found = meant(&typed(word), &known, 1_000.0);
            assert_eq!(found.as_ref().map(|meant| meant.used.as_str()), meant_word, "{word}");
        }
    }

    #[test]
    fn the_letters_of_the_stem_count() {
        let remolding = Typed { stems: vec!["remold".into()], ..typed("remolding") };
        assert!(meant(&remolding, &known(&["record"]), 1_000.0).is_none());
    }

    #[test]
    fn a_rarity_is_not_meant_unless_letters_were_swapped() {
        let known = in_nodes(2.0, &["harbour"]);
        assert!(meant(&typed("harbor"), &known, 5_000.0).is_some());
        assert!(meant(&typed("harbor"), &known, 100_000.0).is_none());
        assert!(meant(&typed("harobur"), &known, 100_000.0).is_some());
    }

    #[test]
    fn names_have_words_within() {
        let found = compounds("the hTRPML2 of IFIT1, TimescaleDB; LZ-0417 E18 McX HttpServerError ");
        let parts =
            |at: usize| (found[at].0.as_str(), found[at].1.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(parts(0), ("htrpml2", vec!["trpml", "trpml2"]));
        assert_eq!(parts(1), ("ifit1", vec!["ifit"]));
        assert_eq!(parts(2), ("timescaledb", vec!["timescale"]));
        assert_eq!(parts(3), ("httpservererror", vec!["error", "http", "server"]));
        assert_eq!(found.len(), 4);
    }

    #[test]
    fn ordinary_words_are_not_misspelled() {
        let text =
            "What cured it? Spend, phrase, tastes, lookup, matches: Zepeplin, harbuor at 10:30 o'clock";
        assert_eq!(words(text), ["zepeplin", "harbuor"]);
    }

    proptest! {
        #[test]
        fn a_word_is_one_of_its_swaps_swaps(word in "[a-e]{5,9}") {
            for swap in swaps(&word) {
                prop_assert_eq!(swap.chars().next(), word.chars().next());
                prop_assert!(swap != word && swaps(&swap).contains(&word));
            }
        }
    }
}
