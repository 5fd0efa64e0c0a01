//! Who has to act.

use super::Error;
use crate::model::fault::Fault;

impl Error {
    /// Who has to act.
    pub fn fault(&self) -> Fault {
        match self {
            Self::Contended
            | Self::NotWritten { .. }
            | Self::WaitTimeout { .. }
            | Self::DatabaseUnreachable(_)
            | Self::DatabaseExhausted(_)
            | Self::ModelNotReady { .. }
            | Self::ModelIncomplete { .. }
            | Self::WriterOpen { .. } => Fault::Transient,
            Self::EmbedderMissing
            | Self::EmbedderOther { .. }
            | Self::EmbedderUnusable { .. }
            | Self::SchemaVersion { .. }
            | Self::StageDead { .. }
            | Self::DatabaseLocks(_)
            | Self::DatabaseDenied(_) => Fault::Permanent,
            Self::Group(error) => error.fault(),
            Self::Robot(error) => error.fault(),
            Self::Refine(error) => error.fault(),
            Self::Recall(error) => error.fault(),
            Self::Tag(error) => error.fault(),
            Self::Provider(error) => error.fault(),
            Self::Database(error) if error.is_transient() => Fault::Transient,
            Self::Database(_) | Self::Corrupt { .. } => Fault::Bug,
            _ => Fault::User,
        }
    }
}
