//! Texts that are not tags, and too many tags.

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

/// What a tag must be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TagRule {
    /// It has a name.
    #[error("it is empty")]
    Empty,
    /// It has at most [`MAX_BYTES`](crate::tag::MAX_BYTES).
    #[error("it has {bytes} bytes, 255 are the most")]
    TooLong {
        /// What it has.
        bytes: usize,
    },
    /// Each level has a name.
    #[error("a level is empty")]
    EmptyLevel,
    /// Of few characters.
    #[error("only a-z, 0-9 and - may stand between the colons, not `{found}`")]
    Character {
        /// The first that may not.
        found: char,
    },
    /// It has few levels.
    #[error("it has {levels} levels, {most} are the most")]
    TooDeep {
        /// What it has.
        levels: usize,
        /// What it may have.
        most: usize,
    },
    /// No level comes again below itself.
    #[error("the level `{level}` comes twice")]
    Repeated {
        /// The level.
        level: String,
    },
    /// It is written in the one form that is stored.
    #[error("it is written `{stored}`")]
    Written {
        /// That form.
        stored: String,
    },
}

impl From<InvalidTag> for Error {
    fn from(invalid: InvalidTag) -> Self {
        Self::new(codes::TAG_INVALID, invalid.to_string())
    }
}

/// A node was given more tags than it may be, those above them counted.
pub(crate) fn too_many_tags(count: usize, limit: usize) -> Error {
    let message = format!(
        "{count} tags, with those above them, are more than the {limit} that a node may be given at once"
    );
    Error::new(codes::TOO_MANY_TAGS, message)
}
