//! Plurals of words that only a namespace knows: `widgets` is another spelling of its tag `widget`.
//!
//! The result of [`TagRules::normalise`] is the same everywhere. If it is not a name of a namespace but its singular
//! is, level by level, the singular is meant.

use super::{TagRules, singular};

impl TagRules {
    /// The names to look up for [`as_in_use`](Self::as_in_use); none when no level may be a plural.
    pub(crate) fn names_in_question(&self, path: &str) -> Vec<String> {
        if path.split(':').all(|level| self.guesses(level).is_empty()) {
            return Vec::new();
        }
        let (mut names, mut above) = (Vec::new(), vec![String::new()]);
        for level in path.split(':') {
            let written = std::iter::once(level.to_owned()).chain(self.guesses(level));
            let written: Vec<String> = written.collect();
            above =
                above.iter().flat_map(|above| written.iter().map(move |level| below(above, level))).collect();
            names.extend_from_slice(&above);
        }
        names
    }

    /// The name in use for a path in its stored form. `is_name` tells whether a name exists.
    pub(crate) fn as_in_use(&self, path: &str, is_name: impl Fn(&str) -> bool) -> String {
        let mut called = String::new();
        for level in path.split(':') {
            let written = below(&called, level);
            let mut guesses = self.guesses(level).into_iter().map(|one| below(&called, &one));
            let known = if is_name(&written) { None } else { guesses.find(|name| is_name(name)) };
            called = known.unwrap_or(written);
        }
        let levels: Vec<&str> = called.split(':').collect();
        let repeats = (1..levels.len()).any(|at| levels[..at].contains(&levels[at]));
        if repeats { path.to_owned() } else { called }
    }

    /// A level with each possible singular of its last word.
    fn guesses(&self, level: &str) -> Vec<String> {
        let (before, word) = level.rsplit_once('-').map_or(("", level), |(before, word)| (before, word));
        if self.singular.contains_key(word) || self.singular.values().any(|one| one == word) {
            return Vec::new();
        }
        let joined = |one: String| if before.is_empty() { one } else { format!("{before}-{one}") };
        singular::guesses(word).into_iter().map(joined).collect()
    }
}

fn below(above: &str, level: &str) -> String {
    if above.is_empty() { level.to_owned() } else { format!("{above}:{level}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn called(path: &str, names: &[&str]) -> String {
        let rules = TagRules::default();
        let asked = rules.names_in_question(path);
        rules.as_in_use(path, |name| {
            assert!(asked.is_empty() || asked.iter().any(|it| it == name), "{name} was not looked for");
            names.contains(&name)
        })
    }

    #[test]
    fn a_plural_means_the_singular_that_is_in_use() {
        assert_eq!(called("widgets", &["widget"]), "widget");
        assert_eq!(called("gizmos:user-widgets:x", &["gizmo", "gizmo:user-widget"]), "gizmo:user-widget:x");
        assert_eq!(called("gizmos:widgets", &["gizmo", "widget"]), "gizmo:widgets", "of another branch");
        assert_eq!(called("wugoxes", &["wugox"]), "wugox");
    }

    #[test]
    fn what_is_a_name_itself_or_a_plural_of_none_stays() {
        assert_eq!(called("widgets", &["widget", "widgets"]), "widgets");
        assert_eq!(called("school:james", &["school"]), "school:james");
        assert_eq!(called("system:ios", &["system", "system:io"]), "system:ios");
        assert_eq!(called("widgets:widget:x", &["widget"]), "widgets:widget:x", "no level comes twice");
        assert!(TagRules::default().names_in_question("database:query-plan").is_empty());
    }

    #[test]
    fn a_word_of_ones_own_is_no_plural_of_another() {
        let rules = TagRules {
            singular: [("widgets".to_owned(), "widgets".to_owned())].into(),
            ..TagRules::default()
        };
        assert!(rules.names_in_question("widgets").is_empty());
    }
}
