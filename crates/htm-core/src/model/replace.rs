//! Conversations that are replaced as a whole, such as a document in parts.

use crate::model::caller::Caller;
use crate::model::error::{Error, Result, codes};
use crate::model::id::NodeId;
use crate::model::memory::{MAX_KEY_BYTES, refuse_blank, validate_text};

/// The conversations that memories take the place of.
#[derive(Clone, Debug, Default)]
pub struct Replacement {
    /// The conversations. One that does not exist has nothing to replace.
    pub conversations: Vec<Conversation>,
    /// The robot that replaces.
    pub caller: Caller,
    /// Whether memories without a `seq` continue their conversations: the first takes the place after the last one, or 0.
    pub continues: bool,
}

/// A conversation of a namespace.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Conversation {
    /// The namespace; none: the handle's.
    pub namespace: Option<String>,
    /// The `session` of its memories.
    pub session: String,
    /// The memories that the caller has read; the replacement fails if the conversation has others by now. None: any.
    pub expected: Option<Vec<NodeId>>,
}

impl Conversation {
    pub(crate) fn validate(&self) -> Result<()> {
        validate_text("session", &self.session, MAX_KEY_BYTES)?;
        refuse_blank("session", &self.session)
    }

    /// Refuses a conversation that has other memories than its caller has read.
    pub(crate) fn admit(&self, mut current: Vec<NodeId>) -> Result<()> {
        let Some(mut expected) = self.expected.clone() else { return Ok(()) };
        current.sort_unstable();
        expected.sort_unstable();
        match current == expected {
            true => Ok(()),
            false => {
                let list = |nodes: &[NodeId]| match nodes {
                    [] => "no memories".to_owned(),
                    nodes => nodes.iter().map(NodeId::to_string).collect::<Vec<_>>().join(", "),
                };
                let (current, expected) = (list(&current), list(&expected));
                let message = format!("conversation `{}` has {current}, not {expected}", self.session);
                let hint = "read the conversation again, and expect the memories that it has now";
                Err(Error::new(codes::REVISION_CONFLICT, message)
                    .with_hint(hint)
                    .with_value("session", &self.session))
            }
        }
    }
}
