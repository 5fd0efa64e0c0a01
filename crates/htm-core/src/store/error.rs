//! What the database says, as errors of the library.

use sqlx::postgres::PgDatabaseError;

use crate::model::error::{DatabaseError, Error};

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
                Self::DatabaseUnreachable(error.into())
            }
            E::Database(database) => match database.code().as_deref() {
                // Connection exceptions and shutdowns: https://www.postgresql.org/docs/current/errcodes-appendix.html
                Some(code) if code.starts_with("08") || code.starts_with("57P") || code == "53300" => {
                    Self::DatabaseUnreachable(error.into())
                }
                // The lock table is of a fixed size: the same transaction meets the same end.
                Some("53200") if lacks_locks(database.as_ref()) => Self::DatabaseLocks(error.into()),
                Some(code) if code.starts_with("53") || code.starts_with("58") => {
                    Self::DatabaseExhausted(error.into())
                }
                // A wrong password, a missing database, missing privileges.
                Some(code) if code.starts_with("28") || code == "3D000" || code == "42501" => {
                    Self::DatabaseDenied(error.into())
                }
                // What the cast of a name to regconfig says, with the name in quotes.
                Some("42704") if database.message().contains("text search configuration") => {
                    let value = database.message().split('"').nth(1).unwrap_or_default();
                    Self::LanguageUnknown { value: value.into() }
                }
                _ => Self::Database(error.into()),
            },
            E::Configuration(_) => Self::DatabaseDenied(error.into()),
            _ => Self::Database(error.into()),
        }
    }
}

impl From<sqlx::Error> for DatabaseError {
    fn from(error: sqlx::Error) -> Self {
        let database = error.as_database_error();
        Self {
            sqlstate: database.and_then(|it| it.code()).map(Into::into),
            constraint: database.and_then(|it| it.constraint()).map(Into::into),
            is_unproven: is_unproven(&error),
            driver: Box::new(error),
        }
    }
}

/// A certificate that is refused comes as data that cannot be read.
fn is_unproven(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Tls(_) => true,
        sqlx::Error::Io(error) => error.kind() == std::io::ErrorKind::InvalidData,
        _ => false,
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
