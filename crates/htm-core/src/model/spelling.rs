//! Spell correction: unknown words, and the known words that were meant.

mod ordinary;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use deunicode::deunicode_char;
pub(crate) use ordinary::is_ordinary;
use unicode_normalization::char::is_combining_mark;

use crate::model::words::is_unspaced;

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
    /// Its [variants], each with its stem.
    pub(crate) variants: Vec<(String, String)>,
}

impl Typed {
    /// A word with its stems, and its variants with theirs. Words that a language drops have none.
    pub(crate) fn new(
        word: String,
        stems: Vec<String>,
        variants: impl Iterator<Item = (String, Vec<String>)>,
    ) -> Self {
        let stemmed = |(variant, stems): (String, Vec<String>)| {
            stems.into_iter().map(move |stem| (variant.clone(), stem))
        };
        Self { word, stems, variants: variants.flat_map(stemmed).collect() }
    }

    /// Whether a stem is one edit from one of the word.
    fn is_near(&self, lexeme: &str) -> bool {
        self.stems.iter().any(|stem| edits(stem, lexeme) <= 1)
    }

    /// The stems and the word itself, each with its number of letters and the most edits to a neighbour: two for a long
    /// word, one for a word beyond ASCII, of which no variants are made. With none, a neighbour differs in accents
    /// only: a language may stem `kathe` to `kath`, and leave `käthe` as it is. An ordinary word is no other one, even
    /// if no node contains it: `spend` is not `speed`, but `conference` may be `conférence`.
    fn stems_with_neighbours(&self) -> impl Iterator<Item = (&str, usize, usize)> {
        let is_long = self.word.chars().count() >= TWO_EDITS;
        let is_ordinary = is_ordinary(&self.word);
        let most = move |letters: usize| match is_long && letters >= LONG_STEM {
            _ if is_ordinary => 0,
            true => 2,
            false => usize::from(!is_varied(&self.word)),
        };
        let stems = self.stems.iter().map(move |stem| {
            let letters = stem.chars().count();
            (stem.as_str(), letters, most(letters))
        });
        stems.chain([(self.word.as_str(), self.word.chars().count(), 0)])
    }
}

/// The number of edits between two words. Accents are often not typed, so they are none.
fn edits(one: &str, other: &str) -> usize {
    strsim::osa_distance(&unaccented(one), &unaccented(other))
}

/// A word with the letters of Latin without their accents.
fn unaccented(word: &str) -> Cow<'_, str> {
    if word.is_ascii() {
        return word.into();
    }
    let plain = |letter: char| match letter {
        '\u{c0}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}' => {
            let mut letters = deunicode_char(letter).unwrap_or_default().chars();
            letters.next().filter(|_| letters.next().is_none()).unwrap_or(letter)
        }
        _ => letter,
    };
    word.chars().map(plain).collect()
}

/// The variants' stems, each once.
pub(crate) fn stems_of_variants(typed: &[Typed]) -> Vec<&str> {
    let stems = typed.iter().flat_map(|typed| &typed.variants).map(|(_, stem)| stem.as_str());
    let mut stems: Vec<&str> = stems.collect();
    stems.sort_unstable();
    stems.dedup();
    stems
}

/// The first letters of the lexemes that are near the stems of unknown words, each with the fewest and the most letters of
/// these.
pub(crate) fn lengths_of_neighbours(typed: &[Typed]) -> BTreeMap<char, (usize, usize)> {
    let stems = typed.iter().flat_map(Typed::stems_with_neighbours);
    lengths_around(stems.map(|(stem, _, most)| (stem, most)))
}

/// The first letters of the lexemes that unknown words may mean, each with the fewest and the most letters of these.
pub(crate) fn lengths(typed: &[Typed]) -> BTreeMap<char, (usize, usize)> {
    lengths_around(typed.iter().flat_map(|typed| {
        let stems = typed.stems.iter().map(|stem| (stem.as_str(), 2));
        let variants = typed.variants.iter().map(|(_, stem)| (stem.as_str(), 0));
        stems.chain(variants).chain([(typed.word.as_str(), 0)])
    }))
}

/// The first letters of some stems, each with the fewest and the most letters of lexemes within these edits.
fn lengths_around<'t>(stems: impl Iterator<Item = (&'t str, usize)>) -> BTreeMap<char, (usize, usize)> {
    let mut lengths = BTreeMap::new();
    for (stem, edits) in stems {
        let (Some(first), letters) = (first_letter(stem), stem.chars().count()) else { continue };
        let (shortest, longest) = lengths.entry(first).or_insert((letters, letters));
        *shortest = letters.saturating_sub(edits).min(*shortest);
        *longest = (letters + edits).max(*longest);
    }
    lengths
}

/// Known lexemes, each with the number of nodes that contain it.
pub(crate) type Frequencies = HashMap<String, f64>;

/// Known lexemes by their first letter.
pub(crate) type Vocabulary = HashMap<char, Arc<Frequencies>>;

/// Words by their first letter.
pub(crate) fn by_first_letter(words: Frequencies) -> Vocabulary {
    let mut letters: HashMap<char, Frequencies> = HashMap::new();
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

/// Whether it is no part of a word. Letters of scripts without spaces are searched in pairs.
fn is_between(c: char) -> bool {
    !(is_letter(c) || c.is_numeric()) || is_unspaced(c)
}

/// Whether it is a letter or a mark of one, such as a virama.
fn is_letter(c: char) -> bool {
    c.is_alphabetic() || is_combining_mark(c)
}

/// The words of a text. Between letters of scripts without spaces, marks of these are left over.
fn words_of(text: &str) -> impl Iterator<Item = &str> {
    text.split(is_between).map(|word| word.trim_start_matches(is_combining_mark))
}

/// The words of a text that could be misspelled, each once, in lower case. The ordinary ones are last.
pub(crate) fn words(text: &str) -> Vec<String> {
    let mut seen = HashSet::new();
    let mut words: Vec<String> = words_of(text)
        .filter(|word| (SHORTEST..=LONGEST).contains(&word.chars().count()) && word.chars().all(is_letter))
        .map(str::to_lowercase)
        .filter(|word| seen.insert(word.clone()))
        .collect();
    words.sort_by_cached_key(|word| is_ordinary(word));
    words
}

/// The words within compound names, by name in lower case: `TRPML2` and `TRPML` in `hTRPML2`, `IFIT` in `IFIT1`.
/// Full-text search treats each name as one word.
pub(crate) fn compounds(text: &str) -> Vec<(String, Vec<String>)> {
    words_of(text)
        .filter(|name| name.chars().count() <= LONGEST)
        .filter_map(|name| {
            let humps = split(name, |a, b| a.is_lowercase() && b.is_uppercase());
            let runs = humps.iter().flat_map(|hump| split(hump, |a, b| is_letter(a) != is_letter(b)));
            let parts: BTreeSet<&str> = humps.iter().copied().chain(runs).collect();
            let is_word = |part: &str| part != name && part.chars().filter(|c| is_letter(*c)).count() >= PART;
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

/// The most letters of a word whose variants are all made: it has 1,000 of them.
const LONGEST_VARIED: usize = 20;

/// Whether all variants of a word are made.
fn is_varied(word: &str) -> bool {
    word.is_ascii() && word.len() <= LONGEST_VARIED
}

/// The variants of a word with two adjacent letters swapped, and, unless it has other letters than ASCII or is long, those with
/// one letter lost, mistaken or added. The first letter stays.
pub(crate) fn variants(word: &str) -> Vec<String> {
    let letters: Vec<char> = word.chars().collect();
    let with = |from: usize, to: usize, by: &[char]| -> String {
        letters[..from].iter().chain(by).chain(&letters[to..]).collect()
    };
    let swaps = (1..letters.len().saturating_sub(1)).filter(|&at| letters[at] != letters[at + 1]);
    let mut variants: Vec<String> =
        swaps.map(|at| with(at, at + 2, &[letters[at + 1], letters[at]])).collect();
    if is_varied(word) {
        // Of letters that are alike the first is lost, and another one is added before them: each variant is made once.
        for at in 1..letters.len() {
            if letters[at] != letters[at - 1] || at == 1 {
                variants.push(with(at, at + 1, &[]));
            }
            let others = ('a'..='z').filter(|letter| *letter != letters[at]);
            variants.extend(others.map(|letter| with(at, at + 1, &[letter])));
        }
        for at in 1..=letters.len() {
            let others = ('a'..='z').filter(|letter| *letter != letters[at - 1] || at == 1);
            variants.extend(others.map(|letter| with(at, at, &[letter])));
        }
    }
    variants
}

/// Whether a variant of a word has two of its letters swapped, which is two edits of single letters.
fn is_swapped(word: &str, variant: &str) -> bool {
    strsim::levenshtein(word, variant) == 2
}

/// The first letter of a lexeme.
pub(crate) fn first_letter(lexeme: &str) -> Option<char> {
    lexeme.chars().next()
}

/// The known word that was meant by an unknown one, in a corpus of `nodes` nodes: a variant with two letters swapped,
/// otherwise the nearest: another variant, or a stem within two edits of that of a long word. The nearest is not rare in the
/// corpus.
///
/// Variants are compared as words: `migraton` is one letter from `migration` and two from its stem, and `timing`, which is
/// three letters from `time`, one from its stem. A variant that is no ordinary word must be near by its stem too: `sendeds`
/// has the stem of `send`, and nobody who types `senders` means it.
pub(crate) fn meant(typed: &Typed, known: &Vocabulary, nodes: f64) -> Option<Meant> {
    let nodes_with = |stem: &str| known.get(&first_letter(stem)?)?.get(stem).copied();
    let variants: Vec<Meant> = typed
        .variants
        .iter()
        .filter_map(|(word, stem)| {
            Some(Meant { used: word.clone(), lexeme: stem.clone(), nodes: nodes_with(stem)? })
        })
        .collect();
    if let Some(swapped) = variants.iter().find(|it| is_swapped(&typed.word, &it.used)) {
        return Some(swapped.clone());
    }
    let least = 1.0 + (nodes / NODES).floor();
    let may_be_meant = |it: &Meant| it.nodes >= least && it.lexeme.chars().count() + 1 >= SHORTEST;
    let of_variants = variants.into_iter().filter_map(|it| {
        let is_ordinary = is_ordinary(&it.used);
        (is_ordinary || typed.is_near(&it.lexeme)).then_some((1, Shown::variant(is_ordinary), it))
    });
    of_variants
        .chain(near_stems(typed, known).into_iter().map(|(edits, it)| (edits, Shown::Stem, it)))
        .filter(|(_, _, it)| may_be_meant(it))
        .min_by(|(edits, shown, one), (other_edits, other_shown, other)| {
            let by_lexeme = edits.cmp(other_edits).then(other.nodes.total_cmp(&one.nodes));
            let by_word = shown.cmp(other_shown).then_with(|| one.used.cmp(&other.used));
            by_lexeme.then_with(|| one.lexeme.cmp(&other.lexeme)).then(by_word)
        })
        .map(|(_, _, it)| it)
}

/// The form of a lexeme that is reported, from the best.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Shown {
    OrdinaryWord,
    Variant,
    Stem,
}

impl Shown {
    fn variant(is_ordinary: bool) -> Self {
        if is_ordinary { Self::OrdinaryWord } else { Self::Variant }
    }
}

/// The known lexemes that are near the stems of a word, with their distances.
fn near_stems(typed: &Typed, known: &Vocabulary) -> Vec<(usize, Meant)> {
    let stems: Vec<(&str, usize, usize)> = typed.stems_with_neighbours().collect();
    let distance = |lexeme: &str| {
        let letters = lexeme.chars().count();
        let edits = stems.iter().filter_map(|(stem, stem_letters, most)| {
            let may_be_near =
                letters.abs_diff(*stem_letters) <= *most && first_letter(stem) == first_letter(lexeme);
            may_be_near.then(|| edits(stem, lexeme)).filter(|edits| edits <= most)
        });
        edits.min()
    };
    let firsts: BTreeSet<char> = stems.iter().filter_map(|(stem, ..)| first_letter(stem)).collect();
    firsts
        .iter()
        .filter_map(|first| known.get(first))
        .flat_map(|words| words.iter())
        .filter_map(|(lexeme, nodes)| {
            let edits = distance(lexeme)?;
            Some((edits, Meant { used: lexeme.clone(), lexeme: lexeme.clone(), nodes: *nodes }))
        })
        .collect()
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

    /// A word whose stem is itself, as are those of its variants.
    fn typed(word: &str) -> Typed {
        let variants = variants(word).into_iter().map(|variant| (variant.clone(), variant)).collect();
        Typed { word: word.into(), stems: vec![word.into()], variants }
    }

    /// A word whose variants have the stems of a list, if they are in it.
    fn stemmed(word: &str, stem: &str, stems: &[(&str, &str)]) -> Typed {
        let of = |variant: &str| -> Vec<String> {
            let found = stems.iter().filter(|(word, _)| *word == variant);
            found.map(|(_, stem)| (*stem).to_owned()).collect()
        };
        let variants = variants(word).into_iter().map(|variant| (variant.clone(), of(&variant)));
        Typed::new(word.into(), vec![stem.into()], variants)
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

    /// A virama is no letter by itself, and stands within words.
    #[test]
    fn words_keep_the_marks_of_their_letters() {
        assert_eq!(words("विद्यालाय, பள்ளிகூடம்!"), ["विद्यालाय", "பள்ளிகூடம்"]);
        assert!(compounds("विद्यालाय").is_empty());
        assert_eq!(words("ที่Zepeplin"), ["zepeplin"]);
        let known = known(&["विद्यालय"]);
        let meant = meant(&typed("विद्यालाय"), &known, 1_000.0);
        assert_eq!(meant.map(|it| it.used).as_deref(), Some("विद्यालय"));
    }

    #[test]
    fn the_letters_of_the_stem_count() {
        let remolding = Typed { stems: vec!["remold".into()], ..typed("remolding") };
        assert!(meant(&remolding, &known(&["record"]), 1_000.0).is_none());
    }

    #[test]
    fn inflected_words_are_compared_as_words() {
        let stems = [("migration", "migrat"), ("migrator", "migrat"), ("scanning", "scan"), ("time", "time")];
        let known = known(&["migrat", "scan", "time", "send"]);
        let used = |word: &str, stem: &str| {
            meant(&stemmed(word, stem, &stems), &known, 1_000.0).map(|meant| (meant.used, meant.lexeme))
        };
        let found = |used: &str, lexeme: &str| Some((used.to_owned(), lexeme.to_owned()));
        // Of two words with one stem, the ordinary one is said.
        assert_eq!(used("migraton", "migraton"), found("migration", "migrat"));
        assert_eq!(used("migratxon", "migratxon"), found("migration", "migrat"));
        assert_eq!(used("scannig", "scannig"), found("scanning", "scan"));
        // The stems are one letter apart, the words three.
        assert_eq!(used("timing", "tim"), None);
        // The variant is no word.
        let senders = stemmed("senders", "sender", &[("sendeds", "send")]);
        assert!(meant(&senders, &known, 1_000.0).is_none());
    }

    #[test]
    fn words_of_other_letters_are_compared_by_their_stems() {
        let known = known(&["größ", "städt"]);
        let meant = |word: &str, stem: &str| meant(&stemmed(word, stem, &[]), &known, 1_000.0);
        assert_eq!(meant("größxe", "größx").map(|it| it.used), Some("größ".to_owned()));
        assert_eq!(meant("grössxe", "grössx"), None);
    }

    #[test]
    fn accents_are_no_edits() {
        let known = known(&["käth", "piña", "zeppelin", "größ"]);
        let meant = |word: &str, stem: &str| {
            meant(&stemmed(word, stem, &[]), &known, 1_000.0).map(|meant| meant.used)
        };
        for (word, stem, used) in [
            ("kathe", "kath", "käth"),
            ("pinas", "pina", "piña"),
            ("zéppelin", "zéppelin", "zeppelin"),
            ("zéppelim", "zéppelim", "zeppelin"),
        ] {
            assert_eq!(meant(word, stem).as_deref(), Some(used), "{word}");
        }
        // A letter of its own, and another first letter.
        for (word, stem) in [("gross", "gross"), ("cathe", "cath"), ("katho", "katho")] {
            assert_eq!(meant(word, stem), None, "{word}");
        }
        assert_eq!(unaccented("Łódź-Ñandú größe ж"), "Lodz-Nandu große ж");
        assert_eq!(lengths_of_neighbours(&[stemmed("kathe", "kath", &[])]), BTreeMap::from([('k', (4, 5))]));
    }

    /// A mark may keep a language from cutting the end of a word.
    #[test]
    fn a_word_without_its_accents_is_compared_as_typed_too() {
        let known = known(&["käthe", "beyoncé"]);
        for (word, stem, used) in [
            ("kathe", "kath", Some("käthe")),
            ("beyonce", "beyonc", Some("beyoncé")),
            ("kathy", "kathi", None),
        ] {
            let typed = stemmed(word, stem, &[]);
            assert_eq!(meant(&typed, &known, 1_000.0).map(|it| it.used).as_deref(), used, "{word}");
        }
        let remolding = stemmed("remolding", "rem", &[]);
        assert_eq!(lengths(&[remolding]), BTreeMap::from([('r', (1, 9))]));
    }

    #[test]
    fn lexemes_are_asked_for_by_their_first_letters_and_lengths() {
        let typed = [
            stemmed("replicaton", "replicaton", &[("replication", "replic")]),
            stemmed("migraton", "migraton", &[("migration", "migrat")]),
        ];
        assert_eq!(lengths(&typed), BTreeMap::from([('m', (6, 10)), ('r', (6, 12))]));
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
        let text = "What cured it? Spend, matches: Zepeplin, harbuor at 10:30 o'clock";
        assert_eq!(words(text), ["zepeplin", "harbuor", "cured", "spend", "matches", "clock"]);
        let known = known(&["conférenc", "confers", "speed"]);
        let meant = |word: &str, stem: &str| meant(&stemmed(word, stem, &[]), &known, 1_000.0);
        assert_eq!(meant("conference", "conferenc").map(|it| it.used).as_deref(), Some("conférenc"));
        assert_eq!(meant("spend", "spend"), None);
        assert_eq!(meant("conferences", "confer"), None);
        assert_eq!(words("我们使用Zepeplin数据库"), ["zepeplin"]);
    }

    proptest! {
        #[test]
        fn variants_are_one_edit_away(word in "[a-eä]{5,9}") {
            let variants = variants(&word);
            let swapped = variants.iter().filter(|it| is_swapped(&word, it)).count();
            let letters: Vec<char> = word.chars().collect();
            prop_assert_eq!(swapped, letters[1..].windows(2).filter(|two| two[0] != two[1]).count());
            prop_assert!(word.is_ascii() || variants.len() == swapped);
            prop_assert_eq!(variants.iter().collect::<HashSet<_>>().len(), variants.len());
            for variant in &variants {
                prop_assert_eq!(first_letter(variant), first_letter(&word));
                prop_assert_eq!(strsim::osa_distance(&word, variant), 1);
            }
        }

        #[test]
        fn every_edit_of_an_ascii_word_is_a_variant(
            word in "[a-e]{5,9}",
            at in 1_usize..5,
            letter in b'a'..=b'z',
        ) {
            let letter = char::from(letter);
            let mut edited = [word.clone(), word.clone(), word.clone()];
            edited[0].remove(at);
            edited[1].insert(at, letter);
            edited[2].replace_range(at..=at, &letter.to_string());
            let variants = variants(&word);
            prop_assert!(edited.iter().all(|it| *it == word || variants.contains(it)));
        }
    }
}
