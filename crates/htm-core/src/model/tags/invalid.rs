//! Texts that are not tags, and too many tags.

use std::fmt;

use crate::model::error::{Error, codes};

/// A text that is not a tag, and the rule it breaks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{tag}` is not a tag: {rule}")]
pub struct InvalidTag {
    /// The text, cut after 80 characters, without control characters.
    pub tag: String,
    /// The rule that it breaks.
    pub rule: TagRule,
}

impl InvalidTag {
    pub(super) fn new(text: &str, rule: TagRule) -> Self {
        let tag = text.chars().take(80).map(|c| if c.is_control() { ' ' } else { c }).collect();
        Self { tag, rule }
    }
}

/// A character as it can be seen.
fn visible(c: &char) -> String {
    if c.is_control() { c.escape_unicode().to_string() } else { c.to_string() }
}

/// The rules of a tag.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TagRule {
    /// It has a name.
    #[error("it is empty")]
    Empty,
    /// It has at most [`MAX_BYTES`](crate::tag::MAX_BYTES).
    #[error("it has {bytes} bytes, 255 are the most")]
    TooLong {
        /// Its number of bytes.
        bytes: usize,
    },
    /// Each level has a name.
    #[error("a level is empty")]
    EmptyLevel,
    /// It has only allowed characters.
    #[error("only a-z, 0-9 and - may stand between the colons, not `{}`", visible(.found))]
    Character {
        /// The first character that is not allowed.
        found: char,
    },
    /// It has no more levels than allowed.
    #[error("it has {levels} levels, {most} are the most")]
    TooDeep {
        /// Its number of levels.
        levels: usize,
        /// The most levels.
        most: usize,
    },
    /// No level is repeated below itself.
    #[error("the level `{level}` comes twice")]
    Repeated {
        /// The level.
        level: String,
    },
    /// It is written in its stored form.
    #[error("it is written `{stored}`")]
    Written {
        /// The stored form.
        stored: String,
    },
}

impl From<InvalidTag> for Error {
    fn from(invalid: InvalidTag) -> Self {
        Self::new(codes::TAG_INVALID, invalid.to_string())
    }
}

/// A node was given too many tags at once. `counted` says how many, and of what.
pub(crate) fn too_many_tags(counted: impl fmt::Display, limit: usize) -> Error {
    let message = format!("{counted} are more than the {limit} that a node may be given at once");
    Error::new(codes::TOO_MANY_TAGS, message)
}
