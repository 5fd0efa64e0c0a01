//! Key phrases: candidates for a new tag of a text without a near term.
//!
//! Candidates are the words between stop words and punctuation, as in RAKE (Rose et al. 2010, "Automatic Keyword
//! Extraction from Individual Documents"). The key phrase is the candidate whose embedding is nearest to the text's, as
//! in KeyBERT. A phrase has one or two words, because longer phrases of short texts rarely recur, and a tag should
//! recur. The crates `rake`, `keyphrases` and `keyword_extraction` rank by frequency alone, which means little in one
//! to three sentences. The last one is under the LGPL.

use std::collections::HashSet;
use std::sync::LazyLock;

use htm_core::tag::{TagPath, TagRules};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// The most candidates per text. Each costs an embedding of about four tokens.
const MAX_PHRASES: usize = 8;
/// A text with fewer naming words is small talk.
const MIN_WORDS: usize = 3;
/// The least number of letters that two forms of a word share.
const MIN_STEM: usize = 3;
/// The most letters of an ending.
const MAX_ENDING: usize = 4;
/// The most characters of a word in a script without spaces.
const MAX_UNSPACED: usize = 8;

/// The most bytes of a text whose words are compared with tags. A run without spaces may have several words a character.
const MAX_TEXT: usize = 8 << 10;

/// The words of a text's beginning as tags write them.
pub(super) struct Words {
    all: HashSet<String>,
    /// Without stop words.
    naming: HashSet<String>,
    /// The possible words of runs without spaces. A tag has several syllables for each: `hui-yi`.
    unspaced: HashSet<String>,
}

impl Words {
    pub(super) fn of(text: &str, rules: &TagRules) -> Self {
        let text = text[..text.floor_char_boundary(MAX_TEXT)].nfc().collect::<String>().to_lowercase();
        let (mut all, mut naming, mut unspaced) = (HashSet::new(), HashSet::new(), HashSet::new());
        for run in parts(&text).flat_map(runs).collect::<HashSet<_>>() {
            if run.chars().all(is_unspaced) {
                unspaced.extend(unspaced_words(run));
                continue;
            }
            let Ok(path) = rules.normalise(run) else { continue };
            let written = || parts(path.as_str()).map(str::to_owned);
            all.extend(written());
            if !STOP_WORDS.contains(run) {
                naming.extend(written());
            }
        }
        let unspaced = unspaced.into_iter().filter_map(|word| rules.normalise(word).ok());
        Self { all, naming, unspaced: unspaced.map(String::from).collect() }
    }

    /// Whether a word of a tag is among them, also with another ending. Stop words count if the tag has no others. A
    /// single syllable of a script without spaces means too much: there a whole level counts.
    pub(super) fn name(&self, tag: &TagPath) -> bool {
        if tag.levels().any(|level| self.unspaced.contains(level)) {
            return true;
        }
        let mut words = parts(tag.as_str()).filter(|word| !STOP_WORDS.contains(*word)).peekable();
        match words.peek() {
            Some(_) => words.any(|word| self.naming.iter().any(|other| are_forms(word, other))),
            None => parts(tag.as_str()).any(|word| self.all.contains(word)),
        }
    }
}

/// The parts of a word that are written with and without spaces: `API` and `会議` of `API会議`.
fn runs(word: &str) -> impl Iterator<Item = &str> {
    let mut rest = word;
    std::iter::from_fn(move || {
        let kind = is_unspaced(rest.chars().next()?);
        let end = rest.find(|c: char| is_unspaced(c) != kind).unwrap_or(rest.len());
        let (run, after) = rest.split_at(end);
        rest = after;
        Some(run)
    })
}

/// The words that a run without spaces may consist of: itself, and whatever is in it. Other than itself none of one
/// character, because dozens of them have the same syllable.
fn unspaced_words(run: &str) -> impl Iterator<Item = &str> {
    let within = run.char_indices().flat_map(move |(start, _)| {
        let rest = &run[start..];
        let ends = rest.char_indices().map(|(at, c)| at + c.len_utf8());
        ends.take(MAX_UNSPACED).skip(1).map(move |end| &rest[..end])
    });
    within.chain([run])
}

/// Whether it is Chinese or Japanese.
fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{3005}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{ff66}'..='\u{ff9f}' | '\u{20000}'..='\u{323af}')
}

fn parts(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !is_of_word(c)).filter(|part| !part.is_empty())
}

/// Whether it is a letter, a digit, or a mark of one, such as a virama or the tone of a letter of Thai.
fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || is_combining_mark(c)
}

/// Whether two words are the same but for their endings: the shorter one differs in its last letter at most, and the
/// longer one's ending is shorter than that word: `car` is no form of `carpet`.
fn are_forms(a: &str, b: &str) -> bool {
    let shared = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
    let (a_letters, b_letters) = (a.chars().count(), b.chars().count());
    let (shorter, longer) = (a_letters.min(b_letters), a_letters.max(b_letters));
    let ending = longer - shared;
    let is_stem = shared >= MIN_STEM && shared + 1 >= shorter;
    a == b || (is_stem && ending <= MAX_ENDING && ending < shorter)
}

/// The distinct phrases of `text` in lower case, in order. None for small talk.
pub(super) fn candidates(text: &str) -> Vec<String> {
    let (mut phrases, mut words): (Vec<String>, usize) = (Vec::new(), 0);
    let mut run: Vec<String> = Vec::new();
    let text: String = text.nfc().collect();
    let is_of_elsewhere = is_of_elsewhere(&text);
    for piece in text.split_whitespace().flat_map(|word| word.split_inclusive(ends_phrase)) {
        let ends = piece.ends_with(ends_phrase);
        let word = piece.trim_matches(|c: char| ends_phrase(c) || c == '-');
        let word = word.trim_start_matches(is_combining_mark).to_lowercase();
        let names = names_something(&word) && !(is_of_elsewhere && STOP_ELSEWHERE.contains(word.as_str()));
        if names {
            words += 1;
            run.push(word);
        }
        if ends || !names {
            take(&mut run, &mut phrases);
        }
        if phrases.len() >= MAX_PHRASES && words >= MIN_WORDS {
            break;
        }
    }
    take(&mut run, &mut phrases);
    if words < MIN_WORDS { Vec::new() } else { phrases }
}

/// Whether a text is of another language than English. One function word is not enough: `Red Hat`, `NAS`, `my son`.
fn is_of_elsewhere(text: &str) -> bool {
    let words = text.split_whitespace().map(|word| word.trim_matches(ends_phrase).to_lowercase());
    let words: HashSet<String> = words.collect();
    let is_english = ENGLISH.iter().any(|word| words.contains(*word));
    !is_english && words.iter().filter(|word| STOP_ELSEWHERE.contains(word.as_str())).count() > 1
}

/// Whether `text` has no word that could name a topic.
pub(super) fn is_small_talk(text: &str) -> bool {
    let text: String = text.nfc().collect();
    let mut words = text.split(|c: char| !is_of_word(c) && !matches!(c, '\'' | '’'));
    !words.any(|word| {
        let word = word.to_lowercase();
        let stem = word.split(['\'', '’']).next().unwrap_or_default();
        stem.chars().any(char::is_alphabetic) && !STOP_WORDS.contains(stem)
    })
}

/// Moves `run` to `phrases`: its only word, else each pair of adjacent words.
fn take(run: &mut Vec<String>, phrases: &mut Vec<String>) {
    let found: Vec<String> =
        if run.len() == 1 { run.clone() } else { run.windows(2).map(|two| two.join(" ")).collect() };
    for phrase in found {
        if phrases.len() < MAX_PHRASES && !phrases.contains(&phrase) {
            phrases.push(phrase);
        }
    }
    run.clear();
}

fn ends_phrase(c: char) -> bool {
    !is_of_word(c) && !matches!(c, '-' | '\'' | '’' | '_' | '/')
}

/// Whether a word may be part of a name. English participles and adverbs are excluded by their endings. Words with
/// digits or marks are excluded too, because they are mostly identifiers of a single text.
fn names_something(word: &str) -> bool {
    word.chars().count() >= 3
        && word.len() <= 40
        && word.chars().all(|c| c.is_alphabetic() || is_combining_mark(c) || c == '-')
        && !["ed", "ing", "ly"].iter().any(|ending| word.ends_with(ending))
        && !STOP_WORDS.contains(word)
}

static STOP_WORDS: LazyLock<HashSet<&str>> = LazyLock::new(|| STOP.split_whitespace().collect());

static STOP_ELSEWHERE: LazyLock<HashSet<&str>> = LazyLock::new(|| ELSEWHERE.split_whitespace().collect());

/// The words of which a text of English has one.
const ENGLISH: [&str; 8] = ["the", "of", "and", "to", "for", "with", "are", "that"];

/// Function words of German, French, Spanish, Italian and Portuguese. Some of them name something in English: `die`, `MIT`.
const ELSEWHERE: &str = "
    auf aus bei beim damit dass die durch gegen hat hatte ihre mit nach ohne seit sein seine unter vom war waren wird
    wurde wurden werden
    aux avec ces cette dans des elle est ils les leur mais ont par pas pour que qui ses son sont sur une
    como con del ella ellos esta este las los más muy para pero por porque sin sus una unas unos
    che dei della delle gli nel nella non per più sono uno
    com das dos foi nas nos não pelo são uma";

/// Words that name no topic: function words, common verbs and adverbs, small talk, times. Some are German,
/// without words that name something in English.
const STOP: &str = "
    a am an as at be by didn doesn don go hadn hasn haven hi ho i isn ll m ma me my no o of oh ok on s so t to up us
    ve wasn we weren won wouldn x y
    able about above across actually after afterwards again against ago ahead all almost alone along already also
    although always among and another any anybody anyone anything anyway are around ask asks away back bad be became
    because become been before began begin begins behind below best better between big both bought brought built but
    bye call calls came can cannot come comes could day days did different do does don done down during each early eat
    either else enough even ever every everybody everyone everything exactly except far felt few find finds fine fires
    first five for four from full gave get gets give given gives goes going gone good got great grew had haha half has
    have he heard held hello hey help helps her here hers high him his hit hmm hour hours how however i if in indeed
    inside instead into is it its just keep keeps kept knew know knows last late later least left less let lets like
    likes little lol long look looks lost lot low made make makes many may maybe me mean means met might mine minute
    minutes moment month months more most much must my near need needs neither never new next nine no nobody none nor
    not nothing now off often okay old on once one only onto open or other others our out over own part parts paid
    people per perfect perhaps place please possible put quite ran rather ready really right run runs said same sat saw
    say says second see seem seems seen sent set sets seven several shall she should show shows since six small so some
    somebody someone something sometimes soon stands start starts still stop stops stuff such sure take taken takes
    talk tell ten than thank thanks that the their them then there these they thing things think thinks this those
    though thought three through thus till time times to today together told tomorrow too took toward towards try turn
    turns twice two under until up upon us use user users uses very via want wants was way week weeks welcome well went
    were what whatever when where whether which while who whole whom whose why wide will with within without wonder
    won word work works worries worst would wrong wrote year years yeah yep yes yesterday yet you your yours
    abend aber alles auch bis bist bitte dank danke das dein deine dem der des dich dir du ein eine einen einer es euch
    für ganz geht genau gern gerne geschehen gestern gute guten guter hab habe haben hallo heute ich ihm ihn ihr im ist
    ja jetzt kann kein keine keinen klar können machen macht mal mein meine meinen mich mir morgen muss nacht nein nicht
    nichts noch nur oder schon schön schöne schönen sehr sie sind tschüs tschüss und uns viele vielen von vor wann warum
    weil wenn wer wie wieder wiedersehen wir wo zu zum zur über
    end ends january february march april june july august september october november december monday tuesday wednesday
    thursday friday saturday sunday morning evening afternoon night tonight";

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_stands_between_stop_words_is_a_phrase() {
        assert_eq!(
            candidates(
                "Varroa count was 3 mites per 100 bees, so I treat both hives with oxalic acid in December."
            ),
            ["varroa count", "mites", "bees", "treat", "hives", "oxalic acid"]
        );
        assert_eq!(
            candidates("Ham radio: made contact with a station."),
            ["ham radio", "contact", "station"]
        );
        // Three adjacent words are two phrases. A dash inside a word ends none.
        assert_eq!(
            candidates("the parish register book; a two-stroke engine"),
            ["parish register", "register book", "two-stroke engine"]
        );
    }

    #[test]
    fn a_word_has_its_marks() {
        assert_eq!(candidates("संस्कृत व्याकरण की पुस्तक"), ["संस्कृत व्याकरण", "पुस्तक"]);
        let decomposed: String = "Königsplatz: Bürgermeister Müller, Brücke".nfd().collect();
        assert_eq!(candidates(&decomposed), ["königsplatz", "bürgermeister müller", "brücke"]);
        let schoen: String = "Schönen Abend!".nfd().collect();
        assert!(is_small_talk(&schoen));
        let rules = TagRules::default();
        assert!(Words::of("यह व्याकरण है", &rules).name(&rules.normalise("व्याकरण").unwrap()));
        assert!(!Words::of("यह व्याकरण है", &rules).name(&rules.normalise("याकरण").unwrap()));
    }

    #[test]
    fn function_words_of_other_languages_name_nothing_in_these() {
        assert_eq!(candidates("Die Häuser am Fluss, mit Jürgen"), ["häuser", "fluss", "jürgen"]);
        assert_eq!(candidates("Les réunions dans les maisons, le lundi"), ["réunions", "maisons", "lundi"]);
        assert_eq!(candidates("The MIT license, a die cast"), ["mit license", "die cast"]);
        assert_eq!(candidates("Chess club: Red Hat"), ["chess club", "hat"]);
    }

    #[test]
    fn small_talk_names_nothing() {
        for text in [
            "",
            "Haha no way 😂",
            "Can you repeat that please?",
            "lol same here",
            "One moment please",
            "🦀 1 2 3",
        ] {
            assert!(candidates(text).is_empty(), "{text}");
        }
        for (text, is) in [
            ("No worries, see you!", true),
            ("That’s what I thought, don't you?", true),
            ("🦀 12:30!", true),
            ("", true),
            ("AI", false),
            ("昨日の会議", false),
            ("Deployed it.", false),
        ] {
            assert_eq!(is_small_talk(text), is, "{text}");
        }
    }

    #[test]
    fn german_small_talk_names_nothing_either() {
        for text in ["Danke dir!", "Guten Morgen", "Gern geschehen!", "Bis morgen, gute Nacht", "Vielen Dank"]
        {
            assert!(is_small_talk(text), "{text}");
        }
        assert!(!is_small_talk("Die Einkaufsliste machen"));
    }

    #[test]
    fn a_text_names_a_tag_by_a_word_of_it() {
        let rules = TagRules::default();
        let names = |text: &str, tag: &str| Words::of(text, &rules).name(&rules.normalise(tag).unwrap());
        for (text, tag, is) in [
            ("The bees in my second hive.", "hobby:bee-keeping", true),
            ("Two cities in a day", "travel:city", true),
            ("Postgres is slow.", "database:postgresql", true),
            ("How about a lentil curry?", "food:raku-tea", false),
            ("The theory of it", "thesis", false),
            ("Guten Morgen", "einkaufsliste-machen", false),
            ("Ich muss noch Tee machen.", "einkaufsliste-machen", false),
            ("Die Einkaufslisten von heute", "einkaufsliste-machen", true),
            ("Work starts at nine.", "work", true),
            ("Der Zähler steht bei 48213.", "zähler", true),
            ("昨日の会議", "会議", true),
            ("明天的会议在几点", "会议", true),
            ("打开API文档", "api", true),
            ("昨日の会議", "work:会議", true),
            ("我的意见", "会议", false),
            ("今天会下雨", "会议", false),
            ("我和他在家", "河", false),
            ("Hiking in the Alps", "hike", true),
            ("An artificial lake", "art", false),
            ("A new carpet", "car", false),
            ("The car is red.", "carpet", false),
        ] {
            assert_eq!(names(text, tag), is, "{text} {tag}");
        }
    }

    proptest! {
        #[test]
        fn phrases_are_few_and_of_the_text(text in "\\PC{0,300}") {
            let phrases = candidates(&text);
            prop_assert!(phrases.len() <= MAX_PHRASES);
            let lower = text.nfc().collect::<String>().to_lowercase();
            for phrase in phrases {
                prop_assert!(phrase.split(' ').count() <= 2);
                prop_assert!(phrase.split(' ').all(|word| lower.contains(word)), "{}", phrase);
            }
        }
    }
}
