//! The errors of the command line.

use htm_core::Error;
use htm_core::error::Code;
use htm_core::fault::Fault;
use htm_runtime::{chain, commands};

use crate::{again, codes};

/// The error of a command, as it is shown.
#[derive(Debug)]
pub(crate) struct CliError {
    pub(crate) code: &'static str,
    /// The message with its causes, on one line.
    pub(crate) message: String,
    /// The next step.
    pub(crate) hint: String,
    pub(crate) fault: Fault,
}

impl CliError {
    /// An error of the command's own, with the hint of its code.
    pub(crate) fn new(code: &Code, message: impl Into<String>) -> Self {
        Self { code: code.name, message: message.into(), hint: code.hint.into(), fault: code.fault }
    }

    /// An act was not confirmed. The next step is the same command line.
    pub(crate) fn not_confirmed(what: impl Into<String>) -> Self {
        Self::new(codes::NOT_CONFIRMED, format!("{} was not confirmed", what.into()))
            .with_hint(again::confirm())
    }

    pub(crate) fn with_hint(self, hint: impl Into<String>) -> Self {
        Self { hint: hint.into(), ..self }
    }

    /// The error as programs read it.
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::json!({ "code": self.code, "message": self.message, "hint": self.hint })
    }

    /// Puts a step before the next one.
    pub(crate) fn after(self, step: &str) -> Self {
        let hint = format!("{step}, then {}", self.hint);
        self.with_hint(hint)
    }

    /// The error of a file or a stream.
    pub(crate) fn io(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let what = what.into();
        move |source| Error::new(codes::IO_ERROR, what).with_source(source).into()
    }
}

impl From<Error> for CliError {
    fn from(error: Error) -> Self {
        Self { code: error.code(), message: chain(&error), hint: hint(&error), fault: error.fault() }
    }
}

/// The next step after an error of the library, by a command about the namespace of this one.
pub(crate) fn hint(error: &Error) -> String {
    match error.is(codes::NOT_CONFIRMED) {
        true => again::confirm(),
        false => commands::hint_within(error, again::namespace().as_deref()),
    }
}

impl From<sqlx::Error> for CliError {
    fn from(error: sqlx::Error) -> Self {
        Error::from(error).into()
    }
}
