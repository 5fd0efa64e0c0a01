//! English plurals. A word becomes singular only if that gives a known word: two tags can be merged, but a name that
//! lost its last letter cannot be repaired.

use std::collections::HashSet;
use std::sync::LazyLock;

/// The known words, in the singular.
static NOUNS: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    let lines = include_str!("nouns.txt").lines().filter(|line| !line.starts_with('#'));
    lines.flat_map(str::split_whitespace).collect()
});

/// Endings of nouns that no name has. All words with them are known.
const NOUN_ENDINGS: &[&str] = &["tion", "sion", "ity", "ship", "ism", "ist", "ology"];

/// Irregular plurals, and plurals of two words, one of which is rarer.
const IRREGULAR: &[(&str, &str)] = &[
    ("alumni", "alumnus"),
    ("analyses", "analysis"),
    ("axes", "axis"),
    ("children", "child"),
    ("crises", "crisis"),
    ("criteria", "criterion"),
    ("diagnoses", "diagnosis"),
    ("feet", "foot"),
    ("geese", "goose"),
    ("hypotheses", "hypothesis"),
    ("indices", "index"),
    ("leaves", "leaf"),
    ("matrices", "matrix"),
    ("men", "man"),
    ("mice", "mouse"),
    ("parentheses", "parenthesis"),
    ("phenomena", "phenomenon"),
    ("quizzes", "quiz"),
    ("syntheses", "synthesis"),
    ("teeth", "tooth"),
    ("theses", "thesis"),
    ("vertices", "vertex"),
    ("women", "woman"),
];

/// Plurals of known words that mean something else: a product, a department, a country.
const UNCHANGED: &[&str] = &["pandas", "rails", "sales", "states", "times", "windows"];

/// The fewest letters of a possible plural of a word that only a namespace knows: `ios` is no plural of `io`.
const LEAST_LETTERS: usize = 5;

/// The singular of a word in lower case if it is a known word, otherwise the word itself.
pub(super) fn of(word: &str) -> String {
    if let Ok(at) = IRREGULAR.binary_search_by_key(&word, |(plural, _)| plural) {
        return IRREGULAR[at].1.to_owned();
    }
    if UNCHANGED.contains(&word) {
        return word.to_owned();
    }
    candidates(word).into_iter().find(|one| is_known(one)).unwrap_or_else(|| word.to_owned())
}

/// The possible singulars of a word, for a caller that knows more words.
pub(super) fn guesses(word: &str) -> Vec<String> {
    let is_none = word.len() < LEAST_LETTERS || word.ends_with("ss") || UNCHANGED.contains(&word);
    if is_none { Vec::new() } else { candidates(word) }
}

/// The possible singulars by the ending alone, the more usual first.
fn candidates(word: &str) -> Vec<String> {
    let Some(stem) = word.strip_suffix('s').filter(|stem| stem.len() > 1) else { return Vec::new() };
    let mut candidates = vec![stem.to_owned()];
    let hisses = |stem: &&str| ["s", "x", "z", "ch", "sh", "o"].iter().any(|ending| stem.ends_with(ending));
    candidates.extend(stem.strip_suffix('e').filter(hisses).map(str::to_owned));
    candidates.extend(stem.strip_suffix("ie").map(|stem| format!("{stem}y")));
    if let Some(stem) = stem.strip_suffix("ve") {
        candidates.extend([format!("{stem}f"), format!("{stem}fe")]);
    }
    candidates
}

fn is_known(word: &str) -> bool {
    NOUNS.contains(word) || NOUN_ENDINGS.iter().any(|ending| word.ends_with(ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_are_sorted_and_say_nothing_twice() {
        assert!(IRREGULAR.is_sorted_by_key(|(plural, _)| plural));
        let lines = include_str!("nouns.txt").lines().filter(|line| !line.starts_with('#'));
        let nouns: Vec<&str> = lines.flat_map(str::split_whitespace).collect();
        assert!(nouns.is_sorted() && nouns.len() == NOUNS.len());
        for word in UNCHANGED {
            assert!(candidates(word).iter().any(|one| is_known(one)), "{word} stays anyway");
        }
    }

    #[test]
    fn plurals() {
        for (word, singular) in [
            ("databases", "database"),
            ("indexes", "index"),
            ("indices", "index"),
            ("queries", "query"),
            ("batches", "batch"),
            ("classes", "class"),
            ("caches", "cache"),
            ("tomatoes", "tomato"),
            ("photos", "photo"),
            ("houses", "house"),
            ("sizes", "size"),
            ("recipes", "recipe"),
            ("movies", "movie"),
            ("viruses", "virus"),
            ("statuses", "status"),
            ("ties", "tie"),
            ("keys", "key"),
            ("metrics", "metric"),
            ("schemas", "schema"),
            ("replicas", "replica"),
            ("ideas", "idea"),
            ("menus", "menu"),
            ("knives", "knife"),
            ("shelves", "shelf"),
            ("gloves", "glove"),
            ("shoes", "shoe"),
            ("apis", "api"),
            ("migrations", "migration"),
            ("vulnerabilities", "vulnerability"),
        ] {
            assert_eq!(of(word), singular);
        }
    }

    #[test]
    fn what_is_no_plural_stays() {
        for word in [
            "kubernetes",
            "postgres",
            "redis",
            "aws",
            "css",
            "status",
            "business",
            "analysis",
            "physics",
            "news",
            "ios",
            "devops",
            "windows",
            "data",
            "media",
            "k8s",
            "nextjs",
            "dns",
            "series",
            "pandas",
            "sales",
            "s",
            "",
        ] {
            assert_eq!(of(word), word);
        }
    }

    /// Names of people and places, and words that sound like names.
    #[test]
    fn names_stay() {
        for name in "ines james lukas lucas thomas jonas agnes iris doris louis alexis dennis chris marcus klaus hans
                     lars jens nils mats andreas elias tobias matthias silas jules giles miles charles gladys frances
                     luis carlos jesus moses hermes zeus adams adonis barnes clements davis evans holmes hopkins
                     hughes jacobs jones marks matthews rogers sanders stevens williams alps amiens andes athens
                     barbados brussels cannes dallas honduras kansas naples nantes orleans paris texas thames vegas
                     versailles wales airbus atlas canvas jenkins keras mercedes pegasus donnees vacances leyes"
            .split_whitespace()
        {
            assert_eq!(of(name), name);
        }
    }

    #[test]
    fn a_singular_is_its_own() {
        for word in IRREGULAR.iter().map(|(_, one)| *one).chain(NOUNS.iter().copied()) {
            assert_eq!(of(word), word);
        }
    }

    #[test]
    fn a_guess_is_made_of_what_is_long_enough() {
        assert_eq!(guesses("widgets"), ["widget"]);
        assert_eq!(guesses("wugoxes"), ["wugoxe", "wugox"]);
        assert_eq!(guesses("gizmies"), ["gizmie", "gizmy"]);
        for word in ["ios", "css", "redis2", "glass", "windows", "widget", ""] {
            assert!(guesses(word).is_empty(), "{word}");
        }
    }
}
