//! The normalisation of the tags that people and models write.

use std::collections::{BTreeMap, BTreeSet};

use unicode_normalization::char::is_combining_mark;

use super::{InvalidTag, MAX_DEPTH, TagLimits, TagPath, TagRule, former::lineage, singular, too_many_tags};
use crate::model::error::Error;

/// The rules for the spelling of tags, so that the same thing always has the same name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TagRules {
    /// The most levels, 1 to 5.
    pub max_depth: usize,
    /// Words and their singulars, in addition to the built-in ones, which they override: `octopodes` is an `octopus`. A
    /// word that is its own singular stays as it is.
    pub singular: BTreeMap<String, String>,
    /// The limits of their number.
    pub limits: TagLimits,
}

impl Default for TagRules {
    fn default() -> Self {
        Self { max_depth: MAX_DEPTH, singular: BTreeMap::new(), limits: TagLimits::default() }
    }
}

impl TagRules {
    /// The stored form: lower case, letters of other alphabets as ASCII, words joined by hyphens, the last word of each
    /// level in the singular if that is a known word (about 4,000 English nouns). A level that only repeats the one
    /// above it is left out.
    ///
    /// ```
    /// use htm_core::tag::TagRules;
    /// let tag = TagRules::default().normalise("Données:User_Interfaces:James").unwrap();
    /// assert_eq!(tag.as_str(), "donnees:user-interface:james");
    /// ```
    ///
    /// # Errors
    /// The rule that the text breaks, other than one of spelling: too deep, too long, an empty level, a level that is
    /// repeated further down, a character other than a letter, a digit, a space, `_`, `-`, `.` or `/`.
    pub fn normalise(&self, text: &str) -> Result<TagPath, InvalidTag> {
        let broken = |rule| InvalidTag::new(text, rule);
        if text.trim().is_empty() {
            return Err(broken(TagRule::Empty));
        }
        let mut levels: Vec<String> = Vec::new();
        for level in text.trim().split(':') {
            let level = self.level(level).map_err(broken)?;
            if levels.last() == Some(&level) {
                continue;
            }
            if levels.contains(&level) {
                return Err(broken(TagRule::Repeated { level }));
            }
            levels.push(level);
        }
        if levels.len() > self.max_depth {
            return Err(broken(TagRule::TooDeep { levels: levels.len(), most: self.max_depth }));
        }
        // Checks the other rules. The error has the text as it was written.
        levels.join(":").parse().map_err(|error: InvalidTag| broken(error.rule))
    }

    /// The stored forms of the tags of one memory.
    ///
    /// # Errors
    /// `tag_invalid`, `too_many_tags`.
    pub(crate) fn stored(&self, tags: &[TagPath]) -> Result<Vec<TagPath>, Error> {
        let stored = tags.iter().map(|tag| self.normalise(tag.as_str())).collect::<Result<Vec<_>, _>>()?;
        let mut all: BTreeSet<&str> = BTreeSet::new();
        stored.iter().for_each(|tag| all.extend(lineage(tag.as_str())));
        match (all.len(), self.limits.memory) {
            (count, limit) if count > limit => {
                Err(too_many_tags(format_args!("{count} tags, with those above them,"), limit))
            }
            _ => Ok(stored),
        }
    }

    /// Checks that a tag is in the form that these rules store.
    ///
    /// # Errors
    /// The rule that it breaks; [`TagRule::Written`] if only the spelling differs.
    pub fn check(&self, tag: &TagPath) -> Result<(), InvalidTag> {
        let stored = self.normalise(tag.as_str())?;
        match stored == *tag {
            true => Ok(()),
            false => Err(InvalidTag::new(tag.as_str(), TagRule::Written { stored: stored.into() })),
        }
    }

    fn level(&self, text: &str) -> Result<String, TagRule> {
        let mut ascii = String::with_capacity(text.len());
        for c in text.chars() {
            match c {
                'a'..='z' | '0'..='9' | '-' => ascii.push(c),
                'A'..='Z' => ascii.push(c.to_ascii_lowercase()),
                // The last one stands between syllables of Tibetan.
                '_' | '.' | '/' | '\u{f0b}' => ascii.push('-'),
                // The possessive: `user's` is `users`.
                '\'' | '’' => {}
                c if c.is_whitespace() => ascii.push('-'),
                // A sign of a letter that has no letters of its own, such as an accent or a virama, and what joins
                // letters or keeps them apart.
                c if is_combining_mark(c) && !c.is_alphabetic() => {}
                '\u{ad}' | '\u{200c}'..='\u{200f}' | '\u{2060}' | '\u{feff}' => {}
                // Not emoji: `deunicode` has names for them too, but nobody means those.
                c if c.is_alphanumeric() => {
                    let letters = deunicode::deunicode_char(c).ok_or(TagRule::Character { found: c })?;
                    ascii.extend(letters.chars().map(|letter| {
                        if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '-' }
                    }));
                }
                found => return Err(TagRule::Character { found }),
            }
        }
        let mut words: Vec<&str> = ascii.split('-').filter(|word| !word.is_empty()).collect();
        let last = words.pop().ok_or(TagRule::EmptyLevel)?;
        let last = match self.singular.get(last) {
            Some(singular) => singular.clone(),
            None => singular::of(last),
        };
        words.push(&last);
        Ok(words.join("-"))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn normal(text: &str) -> String {
        TagPath::normalise(text).unwrap().into()
    }

    #[test]
    fn one_thing_is_written_one_way() {
        for (text, tag) in [
            (" Database:PostgreSQL ", "database:postgresql"),
            ("databases:Query Plans", "database:query-plan"),
            ("user_interfaces", "user-interface"),
            ("node.js:CI/CD", "node-js:ci-cd"),
            ("Größe:naïve café", "grosse:naive-cafe"),
            ("cafe\u{301}", "cafe"),
            ("हिन्दी:किताब", "hindii:kitaab"),
            ("தமிழ்:বিজ্ঞান", "tmilll:bijnyaan"),
            ("ភាសាខ្មែរ:การ์ตูน", "bhaasaakhmaer:kaartuun"),
            ("نیم\u{200c}فاصله:བོད་ཡིག", "nymfslh:bod-yig"),
            ("базы данных", "bazy-dannykh"),
            ("the user's  --  choices", "the-users-choice"),
            ("database:databases:index", "database:index"),
        ] {
            assert_eq!(normal(text), tag);
        }
    }

    #[test]
    fn what_cannot_be_mended_names_its_rule() {
        let rule = |text: &str| TagPath::normalise(text).unwrap_err().rule;
        assert_eq!(rule(" "), TagRule::Empty);
        assert_eq!(rule("a::b"), TagRule::EmptyLevel);
        assert_eq!(rule("a: - "), TagRule::EmptyLevel);
        assert_eq!(rule("🦀"), TagRule::Character { found: '🦀' });
        assert_eq!(rule("a:\u{94d}"), TagRule::EmptyLevel);
        assert_eq!(rule("c++"), TagRule::Character { found: '+' });
        assert!(rule("ta\x1bg").to_string().ends_with("not `\\u{1b}`"));
        assert_eq!(rule("a:b:A"), TagRule::Repeated { level: "a".into() });
        assert_eq!(rule("a:b:c:d:e:f"), TagRule::TooDeep { levels: 6, most: 5 });
        assert_eq!(rule(&"x".repeat(10_000)), TagRule::TooLong { bytes: 10_000 });
        let shallow = TagRules { max_depth: 2, ..TagRules::default() };
        assert_eq!(shallow.normalise("a:b:c").unwrap_err().rule, TagRule::TooDeep { levels: 3, most: 2 });
    }

    #[test]
    fn what_is_stored_is_in_its_own_form() {
        let rule = |path: &str| TagRules::default().check(&path.parse().unwrap()).map_err(|it| it.rule);
        assert_eq!(rule("database:index"), Ok(()));
        let written = |stored: &str| Err(TagRule::Written { stored: stored.into() });
        assert_eq!(rule("databases"), written("database"));
        assert_eq!((rule("--x"), rule("a:a")), (written("x"), written("a")));
        assert_eq!(rule("-"), Err(TagRule::EmptyLevel));
        assert_eq!(rule("a:b:a"), Err(TagRule::Repeated { level: "a".into() }));
    }

    #[test]
    fn words_of_ones_own_come_first() {
        let singular = [("octopodes", "octopus"), ("books", "books")];
        let singular = singular.map(|(plural, one)| (plural.to_owned(), one.to_owned())).into();
        let rules = TagRules { singular, ..TagRules::default() };
        assert_eq!(rules.normalise("Octopodes:books").unwrap().as_str(), "octopus:books");
    }

    proptest! {
        #[test]
        fn the_stored_form_is_its_own(text in "[A-Za-zé _.-]{1,14}(:[A-Za-z _]{1,14}){0,5}") {
            if let Ok(tag) = TagPath::normalise(&text) {
                prop_assert_eq!(TagPath::normalise(tag.as_str()).unwrap(), tag);
            }
        }

        #[test]
        fn no_text_is_too_much(text in "\\PC{0,300}") {
            if let Ok(tag) = TagPath::normalise(&text) {
                prop_assert!(tag.as_str().parse::<TagPath>().is_ok());
            }
        }
    }
}
