//! The error type. A feature builds its errors beside its code, from the list of [`codes`].

#[macro_use]
mod code;
pub mod codes;
mod database;

use std::borrow::Cow;
use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;

pub use code::Code;
pub use database::DatabaseError;

use crate::model::fault::Fault;
use crate::model::id::NodeId;

/// The result of the library's calls.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The reason why a call did nothing. [`code`](Self::code) is stable, [`hint`](Self::hint) names the next step,
/// [`fault`](Self::fault) names the party that has to act. `Display` writes the message, without that of its source; `Debug` writes code, message, sources and hint, as
/// a program shows whose `main` returns an error.
///
/// ```
/// use htm_core::{Memory, error::codes, fault::Fault};
/// let error = Memory::new(" ").validate().unwrap_err();
/// assert_eq!((error.code(), error.fault()), ("content_empty", Fault::User));
/// assert!(error.is(codes::CONTENT_EMPTY));
/// ```
pub struct Error(Box<Parts>);

struct Parts {
    code: &'static Code,
    kind: ErrorKind,
    fault: Fault,
    message: Cow<'static, str>,
    hint: Cow<'static, str>,
    values: Vec<(&'static str, String)>,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

/// The kinds of errors that callers distinguish. For all others, there are the codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// There is no such node, or it was forgotten.
    NodeNotFound {
        /// The id asked for.
        node: NodeId,
    },
    /// Another node has the key.
    KeyTaken {
        /// The node that has it.
        node: NodeId,
    },
    /// Another node has the content, in a scope where it may exist only once.
    ContentTaken {
        /// The node that has it.
        node: NodeId,
    },
    /// The node was edited since the caller read it.
    RevisionConflict {
        /// The revision that it has.
        current: i32,
    },
    /// Others wrote the same rows at the same moment. The same call may succeed next time.
    Contended,
    /// A stage of a node was not done in time.
    WaitTimeout,
    /// The robot is not an active member of its group.
    NotActive,
    /// The database failed. [`Error::database`] has its error.
    Database,
    /// The provider of a model failed.
    Provider,
    /// Anything else.
    Other,
}

impl Error {
    /// An error with the fault and the hint of its code.
    pub fn new(code: &'static Code, message: impl Into<Cow<'static, str>>) -> Self {
        Self(Box::new(Parts {
            code,
            kind: ErrorKind::Other,
            fault: code.fault,
            message: message.into(),
            hint: code.hint.into(),
            values: Vec::new(),
            source: None,
        }))
    }

    /// Sets a hint that is more specific than that of the code.
    pub fn with_hint(mut self, hint: impl Into<Cow<'static, str>>) -> Self {
        self.0.hint = hint.into();
        self
    }

    /// Adds a value of the message, for programs.
    pub fn with_value(mut self, name: &'static str, value: impl fmt::Display) -> Self {
        self.0.values.push((name, value.to_string()));
        self
    }

    /// Sets the cause.
    pub fn with_source(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    pub(crate) fn with_kind(mut self, kind: ErrorKind) -> Self {
        self.0.kind = kind;
        self
    }

    pub(crate) fn with_fault(mut self, fault: Fault) -> Self {
        self.0.fault = fault;
        self
    }

    /// Others wrote the same rows at the same moment, in every attempt.
    pub(crate) fn contended() -> Self {
        Self::new(codes::CONTENDED, "others changed the same rows at the same moment, again and again")
            .with_kind(ErrorKind::Contended)
    }

    /// The database holds data that no version of this program writes.
    pub(crate) fn corrupt(what: impl fmt::Display) -> Self {
        Self::new(codes::CORRUPT, format!("the database holds what this program cannot read: {what}"))
    }

    /// For one of several callers that waited for the same work.
    pub(crate) fn of_all(shared: Arc<Self>) -> Self {
        let Parts { code, kind, fault, message, hint, values, source: _ } = &*shared.0;
        Self(Box::new(Parts {
            code,
            kind: *kind,
            fault: *fault,
            message: message.clone(),
            hint: hint.clone(),
            values: values.clone(),
            source: Some(Box::new(shared.clone())),
        }))
    }

    /// A stable code for programs, as `key_taken`.
    pub fn code(&self) -> &'static str {
        self.0.code.name
    }

    /// The meaning of the code, in one sentence.
    pub fn meaning(&self) -> &'static str {
        self.0.code.meaning
    }

    /// Whether it has this code.
    pub fn is(&self, code: &Code) -> bool {
        self.code() == code.name
    }

    /// The kind.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The fault: the party that has to act.
    pub fn fault(&self) -> Fault {
        self.0.fault
    }

    /// The next step.
    pub fn hint(&self) -> &str {
        &self.0.hint
    }

    /// A value of the message by its name, such as `node` of `key_taken`.
    pub fn value(&self, name: &str) -> Option<&str> {
        self.0.values.iter().find(|(it, _)| *it == name).map(|(_, value)| value.as_str())
    }

    /// The values of the message, by their names.
    pub fn values(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.0.values.iter().map(|(name, value)| (*name, value.as_str()))
    }

    /// The error of the database, if it is the cause.
    pub fn database(&self) -> Option<&DatabaseError> {
        let source = self.0.source.as_deref()?;
        source.downcast_ref().or_else(|| source.downcast_ref::<Arc<Self>>()?.database())
    }

    /// Whether the database refused a row because of this constraint.
    pub(crate) fn violates(&self, constraint: &str) -> bool {
        self.database().and_then(DatabaseError::constraint) == Some(constraint)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} ({})", self.code(), chain(self), self.hint())
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        Some(self.0.source.as_deref()?)
    }
}

/// An error and its causes on one line. A cause that the text already contains is left out.
pub fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text.push_str(": ");
            text.push_str(&cause_text);
        }
        source = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_main_returns_is_one_readable_line() {
        let cause = std::io::Error::other("the disk is gone");
        let error =
            Error::new(codes::CONTENT_EMPTY, "the text is empty").with_hint("give one").with_source(cause);
        assert_eq!(format!("{error:?}"), "content_empty: the text is empty: the disk is gone (give one)");
        assert_eq!(format!("{error:#?}"), format!("{error:?}"));
    }
}
