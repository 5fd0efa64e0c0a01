//! What the database says, as errors of the library.

use sqlx::postgres::PgDatabaseError;

use super::Error;

/// Serialisation failures, deadlocks and timeouts pass when the statement is sent again.
pub(super) fn is_transient(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(|database| database.code());
    matches!(code.as_deref(), Some("40001" | "40P01" | "55P03" | "57014"))
}

/// Of what has this code, memory that a query wants may be there in a moment. The hint names the setting in every language.
fn lacks_locks(error: &dyn sqlx::error::DatabaseError) -> bool {
    let hint = error.try_downcast_ref::<PgDatabaseError>().and_then(PgDatabaseError::hint);
    hint.is_some_and(|hint| hint.contains("max_locks_per_transaction"))
}

impl From<sqlx::Error> for Error {
    fn from(error: sqlx::Error) -> Self {
        use sqlx::Error as E;
        match &error {
            E::Io(_) | E::Tls(_) | E::PoolTimedOut | E::PoolClosed | E::WorkerCrashed | E::BeginFailed => {
                Self::DatabaseUnreachable(error)
            }
            E::Database(database) => match database.code().as_deref() {
                // Connection exceptions and shutdowns: https://www.postgresql.org/docs/current/errcodes-appendix.html
                Some(code) if code.starts_with("08") || code.starts_with("57P") || code == "53300" => {
                    Self::DatabaseUnreachable(error)
                }
                // The lock table is of a fixed size: the same transaction meets the same end.
                Some("53200") if lacks_locks(database.as_ref()) => Self::DatabaseLocks(error),
                Some(code) if code.starts_with("53") || code.starts_with("58") => {
                    Self::DatabaseExhausted(error)
                }
                // A wrong password, a missing database, missing privileges.
                Some(code) if code.starts_with("28") || code == "3D000" || code == "42501" => {
                    Self::DatabaseDenied(error)
                }
                // What the cast of a name to regconfig says, with the name in quotes.
                Some("42704") if database.message().contains("text search configuration") => {
                    let value = database.message().split('"').nth(1).unwrap_or_default();
                    Self::LanguageUnknown { value: value.into() }
                }
                _ => Self::Database(error),
            },
            E::Configuration(_) => Self::DatabaseDenied(error),
            _ => Self::Database(error),
        }
    }
}

impl From<sea_orm::DbErr> for Error {
    fn from(error: sea_orm::DbErr) -> Self {
        use sea_orm::{DbErr, RuntimeErr};
        match error {
            DbErr::Conn(RuntimeErr::SqlxError(error))
            | DbErr::Exec(RuntimeErr::SqlxError(error))
            | DbErr::Query(RuntimeErr::SqlxError(error)) => match std::sync::Arc::try_unwrap(error) {
                Ok(error) => error.into(),
                Err(shared) => Self::Corrupt { what: shared.to_string() },
            },
            other => Self::Corrupt { what: other.to_string() },
        }
    }
}
