//! Tags: hierarchical names such as `database:postgresql:indexes`.

use std::fmt;
use std::str::FromStr;

/// The most levels a tag may have.
pub const MAX_DEPTH: usize = 5;
/// The most bytes a tag may have.
pub const MAX_BYTES: usize = 255;

/// A tag's path: 1 to 5 levels joined by `:`, each of `a-z`, `0-9` and `-`, none empty, at most 255 bytes in all.
///
/// The table `htm.tags` has the same rule as a CHECK constraint (`tags_path_valid`).
///
/// ```
/// use htm_core::tag::TagPath;
/// let tag: TagPath = "database:postgresql".parse().unwrap();
/// assert_eq!(tag.depth(), 2);
/// assert!("Database".parse::<TagPath>().is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TagPath(String);

impl TagPath {
    /// The path as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// How many levels: `a:b` has 2.
    pub fn depth(&self) -> usize {
        self.0.split(':').count()
    }
}

impl fmt::Display for TagPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<TagPath> for String {
    fn from(tag: TagPath) -> Self {
        tag.0
    }
}

impl TryFrom<String> for TagPath {
    type Error = InvalidTag;

    fn try_from(path: String) -> Result<Self, InvalidTag> {
        let broken = |rule| Err(InvalidTag { tag: path.chars().take(80).collect(), rule });
        if path.is_empty() {
            return broken("it is empty");
        }
        if path.len() > MAX_BYTES {
            return broken("it is longer than 255 bytes");
        }
        if path.split(':').any(str::is_empty) {
            return broken("a level is empty");
        }
        if !path.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || b == b':') {
            return broken("only a-z, 0-9 and - may stand between the colons");
        }
        if path.split(':').count() > MAX_DEPTH {
            return broken("it has more than 5 levels");
        }
        Ok(Self(path))
    }
}

impl FromStr for TagPath {
    type Err = InvalidTag;

    fn from_str(path: &str) -> Result<Self, InvalidTag> {
        path.to_owned().try_into()
    }
}

/// A text that is not a tag, and the rule it breaks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{tag}` is not a tag: {rule}")]
pub struct InvalidTag {
    /// The text, cut after 80 characters.
    pub tag: String,
    /// The rule that it breaks.
    pub rule: &'static str,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn each_rule_is_named() {
        for (text, rule) in [
            ("", "empty"),
            ("a::b", "level is empty"),
            (":a", "level is empty"),
            ("Data base", "only a-z"),
            ("a:b:c:d:e:f", "more than 5"),
            ("tag🦀", "only a-z"),
        ] {
            let error = text.parse::<TagPath>().unwrap_err();
            assert!(error.rule.contains(rule), "{text}: {error}");
        }
        assert!("x".repeat(256).parse::<TagPath>().unwrap_err().rule.contains("255"));
    }

    proptest! {
        #[test]
        fn the_pattern_is_accepted_and_kept(path in "[a-z0-9-]{1,12}(:[a-z0-9-]{1,12}){0,4}") {
            let tag: TagPath = path.parse().unwrap();
            prop_assert_eq!(tag.as_str(), path.as_str());
            prop_assert!(tag.depth() <= MAX_DEPTH);
        }

        #[test]
        fn nothing_else_is(text in "\\PC{0,40}") {
            let pattern = text.split(':').count() <= MAX_DEPTH && !text.is_empty()
                && text.split(':').all(|level| !level.is_empty()
                    && level.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'));
            prop_assert_eq!(text.parse::<TagPath>().is_ok(), pattern);
        }
    }
}
