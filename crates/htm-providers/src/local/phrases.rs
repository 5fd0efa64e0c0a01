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

/// The most candidates per text. Each costs an embedding of about four tokens.
const MAX_PHRASES: usize = 8;
/// A text with fewer naming words is small talk.
const MIN_WORDS: usize = 3;
/// The least number of letters that two forms of a word share.
const MIN_STEM: usize = 3;

/// The words of a text as tags write them.
pub(super) struct Words {
    all: HashSet<String>,
    /// Without stop words.
    naming: HashSet<String>,
}

impl Words {
    pub(super) fn of(text: &str, rules: &TagRules) -> Self {
        let text = text.to_lowercase();
        let (mut all, mut naming) = (HashSet::new(), HashSet::new());
        for word in parts(&text).collect::<HashSet<_>>() {
            let Ok(path) = rules.normalise(word) else { continue };
            let written = || parts(path.as_str()).map(str::to_owned);
            all.extend(written());
            if !STOP_WORDS.contains(word) {
                naming.extend(written());
            }
        }
        Self { all, naming }
    }

    /// Whether a word of a tag is among them, also with another ending. Stop words count if the tag has no others.
    pub(super) fn name(&self, tag: &TagPath) -> bool {
        let mut words = parts(tag.as_str()).filter(|word| !STOP_WORDS.contains(*word)).peekable();
        match words.peek() {
            Some(_) => words.any(|word| self.naming.iter().any(|other| are_forms(word, other))),
            None => parts(tag.as_str()).any(|word| self.all.contains(word)),
        }
    }
}

fn parts(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty())
}

/// Whether two words are the same but for their endings: the shorter one differs in its last letter at most.
fn are_forms(a: &str, b: &str) -> bool {
    let shared = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
    a == b || (shared >= MIN_STEM && shared + 1 >= a.chars().count().min(b.chars().count()))
}

/// The distinct phrases of `text` in lower case, in order. None for small talk.
pub(super) fn candidates(text: &str) -> Vec<String> {
    let (mut phrases, mut words): (Vec<String>, usize) = (Vec::new(), 0);
    let mut run: Vec<String> = Vec::new();
    for piece in text.split_whitespace().flat_map(|word| word.split_inclusive(ends_phrase)) {
        let ends = piece.ends_with(ends_phrase);
        let word = piece.trim_matches(|c: char| ends_phrase(c) || c == '-').to_lowercase();
        let names = names_something(&word);
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

/// Whether `text` has no word that could name a topic.
pub(super) fn is_small_talk(text: &str) -> bool {
    let mut words = text.split(|c: char| !c.is_alphanumeric() && !matches!(c, '\'' | '’'));
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
    !c.is_alphanumeric() && !matches!(c, '-' | '\'' | '’' | '_' | '/')
}

/// Whether a word may be part of a name. English participles and adverbs are excluded by their endings. Words with
/// digits or marks are excluded too, because they are mostly identifiers of a single text.
fn names_something(word: &str) -> bool {
    word.chars().count() >= 3
        && word.len() <= 40
        && word.chars().all(|c| c.is_alphabetic() || c == '-')
        && !["ed", "ing", "ly"].iter().any(|ending| word.ends_with(ending))
        && !STOP_WORDS.contains(word)
}

static STOP_WORDS: LazyLock<HashSet<&str>> = LazyLock::new(|| STOP.split_whitespace().collect());

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
        ] {
            assert_eq!(names(text, tag), is, "{text} {tag}");
        }
    }

    proptest! {
        #[test]
        fn phrases_are_few_and_of_the_text(text in "\\PC{0,300}") {
            let phrases = candidates(&text);
            prop_assert!(phrases.len() <= MAX_PHRASES);
            let lower = text.to_lowercase();
            for phrase in phrases {
                prop_assert!(phrase.split(' ').count() <= 2);
                prop_assert!(phrase.split(' ').all(|word| lower.contains(word)), "{}", phrase);
            }
        }
    }
}
