//! Errors as the command line shows them.

use htm_core::fault::Fault;
use htm_runtime::RuntimeError;

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    /// What a process or the library says.
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
    /// A file or a stream.
    #[error("{what}")]
    Io {
        what: String,
        #[source]
        source: std::io::Error,
    },
    /// What only the command line can get wrong.
    #[error("{what}")]
    Usage { code: &'static str, what: String, hint: String },
    /// A process that the command started did not do its part.
    #[error("{what}")]
    Child { what: String, hint: String },
}

impl CliError {
    pub(crate) fn io(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let what = what.into();
        move |source| Self::Io { what, source }
    }

    pub(crate) fn code(&self) -> &'static str {
        match self {
            Self::Runtime(error) => error.code(),
            Self::Io { .. } => "io_error",
            Self::Usage { code, .. } => code,
            Self::Child { .. } => "process_failed",
        }
    }

    pub(crate) fn hint(&self) -> String {
        match self {
            Self::Runtime(error) => error.hint(),
            Self::Io { .. } => "check the path and its permissions".into(),
            Self::Usage { hint, .. } | Self::Child { hint, .. } => hint.clone(),
        }
    }

    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Runtime(error) => error.fault(),
            Self::Io { .. } | Self::Usage { .. } => Fault::User,
            Self::Child { .. } => Fault::Permanent,
        }
        .exit_code()
    }
}

/// Whatever a runtime error can be made of.
macro_rules! through_runtime {
    ($($source:ty),+) => {
        $(impl From<$source> for CliError {
            fn from(error: $source) -> Self {
                Self::Runtime(error.into())
            }
        })+
    };
}

through_runtime!(
    htm_core::Error,
    htm_runtime::config::ConfigError,
    htm_runtime::telemetry::TelemetryError,
    htm_runtime::private_pg::PrivatePgError,
    htm_runtime::paths::PathsError,
    sqlx::Error
);
