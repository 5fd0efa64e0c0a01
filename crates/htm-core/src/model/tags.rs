//! Tags: hierarchical names such as `database:postgresql:indexes`.

pub(crate) mod former;
mod invalid;
mod known;
mod limits;
mod origin;
mod plural;
mod rules;
mod singular;
mod tree;

use std::fmt;
use std::str::FromStr;

pub use former::{FormerNames, Leftover, SplitTag};
pub(crate) use invalid::too_many_tags;
pub use invalid::{InvalidTag, TagRule};
pub use known::{KnownTag, KnownTags};
pub use limits::TagLimits;
pub use origin::TagOrigin;
pub use rules::TagRules;
pub use tree::TagTree;

use crate::model::error::Error;

/// The most levels of a tag.
pub const MAX_DEPTH: usize = 5;

/// The most bytes of a tag.
pub const MAX_BYTES: usize = 255;

/// A tag's path: 1 to 5 levels joined by `:`, each of `a-z`, `0-9` and `-`, none empty, at most 255 bytes in all.
///
/// Parsing accepts only the stored form (`tags_path_valid` is the same rule as a CHECK constraint).
/// [`TagPath::normalise`] converts what people and models write to that form.
///
/// ```
/// use htm_core::tag::TagPath;
/// let tag: TagPath = "database:postgresql".parse().unwrap();
/// assert_eq!(tag.depth(), 2);
/// assert!("Database".parse::<TagPath>().is_err());
/// assert_eq!(TagPath::normalise("Databases: PostgreSQL").unwrap(), tag);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "String", into = "String")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TagPath(String);

impl TagPath {
    /// The stored form of a text, by the built-in rules; see [`TagRules::normalise`].
    ///
    /// # Errors
    /// The rule that it breaks.
    pub fn normalise(text: &str) -> Result<Self, InvalidTag> {
        TagRules::default().normalise(text)
    }

    /// The path as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The number of levels: `a:b` has 2.
    pub fn depth(&self) -> usize {
        self.levels().count()
    }

    /// Its levels, the root first.
    pub fn levels(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.0.split(':')
    }

    /// Its first level.
    pub fn root(&self) -> &str {
        self.0.split_once(':').map_or(&self.0, |(root, _)| root)
    }

    /// Its last level.
    pub fn leaf(&self) -> &str {
        self.0.rsplit_once(':').map_or(&self.0, |(_, leaf)| leaf)
    }

    /// Its parent; none for a root.
    pub fn parent(&self) -> Option<TagPath> {
        self.0.rsplit_once(':').map(|(parent, _)| TagPath(parent.to_owned()))
    }

    /// Its ancestors, the root first.
    pub fn ancestors(&self) -> Vec<TagPath> {
        self.0.match_indices(':').map(|(at, _)| TagPath(self.0[..at].to_owned())).collect()
    }

    /// Whether it is below `other`: `data:x` below `data`; neither `data` itself nor `database`.
    pub fn is_below(&self, other: &TagPath) -> bool {
        self.0.strip_prefix(other.as_str()).is_some_and(|rest| rest.starts_with(':'))
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
        let rule = if path.is_empty() {
            TagRule::Empty
        } else if path.len() > MAX_BYTES {
            TagRule::TooLong { bytes: path.len() }
        } else if path.split(':').any(str::is_empty) {
            TagRule::EmptyLevel
        } else if let Some(found) = path.chars().find(|c| !is_allowed(*c) && *c != ':') {
            TagRule::Character { found }
        } else if path.split(':').count() > MAX_DEPTH {
            TagRule::TooDeep { levels: path.split(':').count(), most: MAX_DEPTH }
        } else {
            return Ok(Self(path));
        };
        Err(InvalidTag::new(&path, rule))
    }
}

impl FromStr for TagPath {
    type Err = InvalidTag;

    fn from_str(path: &str) -> Result<Self, InvalidTag> {
        path.to_owned().try_into()
    }
}

fn is_allowed(c: char) -> bool {
    c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'
}

/// Reads a tag of the database. The table's CHECK is the same rule as the type's.
pub(crate) fn read_tag(path: String) -> Result<TagPath, Error> {
    path.try_into().map_err(|error: InvalidTag| Error::corrupt(error))
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
            ("a:b:c:d:e:f", "has 6 levels, 5 are"),
            ("tag🦀", "only a-z"),
        ] {
            let error = text.parse::<TagPath>().unwrap_err();
            assert!(error.rule.to_string().contains(rule), "{text}: {error}");
        }
        let error = "x".repeat(10_000).parse::<TagPath>().unwrap_err();
        assert_eq!((error.tag.len(), error.rule), (80, TagRule::TooLong { bytes: 10_000 }));
    }

    #[test]
    fn a_path_is_a_place_in_a_tree() {
        let tag: TagPath = "a:b:c".parse().unwrap();
        let path = |text: &str| text.parse::<TagPath>().unwrap();
        assert_eq!((tag.root(), tag.leaf(), tag.parent()), ("a", "c", Some(path("a:b"))));
        assert_eq!(tag.ancestors(), [path("a"), path("a:b")]);
        assert_eq!((path("a").parent(), path("a").ancestors()), (None, vec![]));
        assert!(tag.is_below(&path("a")) && tag.is_below(&path("a:b")));
        assert!(!tag.is_below(&tag) && !path("database").is_below(&path("data")));
    }

    proptest! {
        #[test]
        fn the_pattern_is_accepted_and_kept(path in "[a-z0-9-]{1,12}(:[a-z0-9-]{1,12}){0,4}") {
            let tag: TagPath = path.parse().unwrap();
            prop_assert_eq!(tag.as_str(), path.as_str());
            prop_assert!(tag.depth() <= MAX_DEPTH);
            prop_assert_eq!(tag.ancestors().len() + 1, tag.depth());
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
