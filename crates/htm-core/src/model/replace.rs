//! Conversations that are replaced as a whole, such as a document in parts.

use crate::model::caller::Caller;
use crate::model::error::Result;
use crate::model::memory::{MAX_KEY_BYTES, validate_text};

/// The conversations that memories take the place of.
#[derive(Clone, Debug, Default)]
pub struct Replacement {
    /// The conversations. One that does not exist has nothing to replace.
    pub conversations: Vec<Conversation>,
    /// Who replaces.
    pub caller: Caller,
}

/// A conversation of a namespace.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Conversation {
    /// The namespace; none: the handle's.
    pub namespace: Option<String>,
    /// The `session` of its memories.
    pub session: String,
}

impl Conversation {
    pub(crate) fn validate(&self) -> Result<()> {
        validate_text("session", &self.session, MAX_KEY_BYTES)
    }
}
