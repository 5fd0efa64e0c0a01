//! What can go wrong before the library is reached.

use std::io;
use std::net::SocketAddr;

use htm_core::fault::Fault;
use htm_migration::MigrationError;
use htm_providers::SettingsError;

use crate::config::ConfigError;
use crate::paths::PathsError;
use crate::private_pg::PrivatePgError;
use crate::telemetry::TelemetryError;

/// Why a process could not start its work. Like [`htm_core::Error`], each has a code, a hint and a fault.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum RuntimeError {
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Paths(#[from] PathsError),
    #[error(transparent)]
    Telemetry(#[from] TelemetryError),
    #[error(transparent)]
    PrivatePg(#[from] PrivatePgError),
    #[error(transparent)]
    Migration(MigrationError),
    #[error(transparent)]
    Provider(#[from] SettingsError),
    #[error("{address} cannot be listened on")]
    Listen { address: SocketAddr, source: io::Error },
    #[error("the worker ended by itself")]
    Worker(#[source] Box<dyn std::error::Error + Send + Sync>),
    #[error(transparent)]
    Htm(#[from] htm_core::Error),
}

impl RuntimeError {
    /// A stable code for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Config(error) => error.code(),
            Self::Paths(error) => error.code(),
            Self::Telemetry(error) => error.code(),
            Self::PrivatePg(error) => error.code(),
            Self::Migration(error) => error.code(),
            Self::Provider(error) => error.code(),
            Self::Listen { source, .. } if source.kind() == io::ErrorKind::AddrInUse => "address_in_use",
            Self::Listen { .. } => "address_unusable",
            Self::Worker(_) => "worker_ended",
            Self::Htm(error) => error.code(),
        }
    }

    /// What to do next.
    pub fn hint(&self) -> String {
        match self {
            Self::Config(error) => error.hint(),
            Self::Paths(error) => error.hint().into(),
            Self::Telemetry(error) => error.hint().into(),
            Self::PrivatePg(error) => error.hint(),
            Self::Migration(error) => error.hint(),
            Self::Provider(error) => error.hint().into(),
            Self::Listen { source, .. } if source.kind() == io::ErrorKind::AddrInUse => {
                "another process has the port, maybe another worker: give each its own with `--listen` (port 0: any \
                 that is free)"
                    .into()
            }
            Self::Listen { .. } => {
                "give `--listen` an address of this machine, and a port that this user may take (1024 or higher)".into()
            }
            Self::Worker(_) => {
                "start it again, as systemd or Kubernetes does; others take back what it held. If it ends again, ask `htm doctor`"
                    .into()
            }
            Self::Htm(error) => error.hint(),
        }
    }

    /// Who has to act.
    pub fn fault(&self) -> Fault {
        match self {
            Self::Config(error) => error.fault(),
            Self::Paths(error) => error.fault(),
            Self::Telemetry(error) => error.fault(),
            Self::PrivatePg(error) => error.fault(),
            Self::Migration(_) | Self::Provider(_) | Self::Listen { .. } => Fault::Permanent,
            Self::Worker(_) => Fault::Bug,
            Self::Htm(error) => error.fault(),
        }
    }
}

impl From<MigrationError> for RuntimeError {
    fn from(error: MigrationError) -> Self {
        match error {
            // A server that cannot be reached is no fault of the migration.
            MigrationError::Database(error) => error.into(),
            error => Self::Migration(error),
        }
    }
}

impl From<sqlx::Error> for RuntimeError {
    fn from(error: sqlx::Error) -> Self {
        Self::Htm(error.into())
    }
}

/// An error and its causes on one line; a cause that says the same again is left out.
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
