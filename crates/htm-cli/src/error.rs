//! The errors of the command line.

use htm_core::Error;
use htm_core::error::Code;
use htm_core::fault::Fault;
use htm_runtime::{chain, commands};

use crate::codes;

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

    pub(crate) fn with_hint(self, hint: impl Into<String>) -> Self {
        Self { hint: hint.into(), ..self }
    }

    /// The error as programs read it.
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::json!({ "code": self.code, "message": self.message, "hint": self.hint })
    }

    /// The error of a file or a stream.
    pub(crate) fn io(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let what = what.into();
        move |source| Error::new(codes::IO_ERROR, what).with_source(source).into()
    }
}

impl From<Error> for CliError {
    fn from(error: Error) -> Self {
        Self {
            code: error.code(),
            message: chain(&error),
            hint: commands::hint(&error),
            fault: error.fault(),
        }
    }
}

impl From<sqlx::Error> for CliError {
    fn from(error: sqlx::Error) -> Self {
        Error::from(error).into()
    }
}
