//! The conversion of database errors to errors of the library.

use std::sync::Arc;

use sqlx::postgres::PgDatabaseError;

use crate::model::error::{DatabaseError, Error, ErrorKind, chain, codes};
use crate::model::fault::Fault;
use crate::model::memory::language_unknown;
use crate::store::connections::NotATenant;
use crate::store::losses;

impl From<sqlx::Error> for Error {
    fn from(error: sqlx::Error) -> Self {
        use sqlx::Error as E;
        match &error {
            E::PoolClosed => {
                Error::new(codes::HANDLE_CLOSED, "this handle of the database is closed").caused_by(error)
            }
            E::Io(_) | E::Tls(_) | E::PoolTimedOut | E::WorkerCrashed | E::BeginFailed => unreachable(error),
            E::Database(database) => match database.code().as_deref() {
                Some("08P01") if database.message().contains("startup parameter") => {
                    let message = "the server takes no settings at the start of a connection: it is a pooler";
                    Error::new(codes::DATABASE_POOLED, message).caused_by(error)
                }
                // Connection exceptions and shutdowns: https://www.postgresql.org/docs/current/errcodes-appendix.html
                Some(code) if code.starts_with("08") || code.starts_with("57P") || code == "53300" => {
                    unreachable(error)
                }
                // The server only replays what another one writes: it was demoted, or is no primary yet.
                Some("25006") => unreachable(error),
                // The lock table has a fixed size: the same transaction would fail again.
                Some("53200") if lacks_locks(database.as_ref()) => locks(error),
                Some(code) if code.starts_with("53") || code.starts_with("58") => exhausted(error),
                // A wrong password, a missing database, missing privileges.
                Some(code) if code.starts_with("28") || code == "3D000" || code == "42501" => denied(error),
                // A text that was only looked up, such as the name of a robot, is not checked before.
                Some("22021") => Error::new(codes::NUL_BYTE, "a text has a NUL byte, so nothing can have it")
                    .caused_by(error),
                // The error of a cast from a name to regconfig, with the name in quotes.
                Some("42704") if database.message().contains("text search configuration") => {
                    language_unknown(database.message().split('"').nth(1).unwrap_or_default())
                }
                // A serialization failure, a deadlock, a timeout of a lock or of a statement: they pass.
                Some("40001" | "40P01" | "55P03" | "57014") => {
                    refused().caused_by(error).with_fault(Fault::Transient)
                }
                _ => refused().caused_by(error),
            },
            E::Configuration(source) if source.is::<NotATenant>() => {
                let message = "the role of tenants does not reach PostgreSQL: a pooler is between";
                Error::new(codes::DATABASE_POOLED, message).caused_by(error)
            }
            E::Configuration(_) => {
                Error::new(codes::DATABASE_URL_INVALID, "the database's URL cannot be read").caused_by(error)
            }
            E::ColumnDecode { .. } | E::Decode(_) => unreadable().with_source(error),
            _ => refused().caused_by(error),
        }
    }
}

impl From<sea_orm::DbErr> for Error {
    fn from(error: sea_orm::DbErr) -> Self {
        use sea_orm::{DbErr, RuntimeErr};
        match error {
            DbErr::Conn(RuntimeErr::SqlxError(error))
            | DbErr::Exec(RuntimeErr::SqlxError(error))
            | DbErr::Query(RuntimeErr::SqlxError(error)) => match Arc::try_unwrap(error) {
                Ok(error) => error.into(),
                Err(shared) => refused().with_source(shared),
            },
            error @ (DbErr::Type(_) | DbErr::Json(_)) => unreadable().with_source(error),
            other => refused().with_source(other),
        }
    }
}

fn unreachable(error: sqlx::Error) -> Error {
    losses::note();
    // Not values of the error: those are for its reader, who may be a client of a server.
    let hint = busy_hint(&error)
        .or_else(|| unproven_hint(&error))
        .or_else(|| missing_file_hint(&error))
        .or_else(|| read_only_hint(&error));
    let message = match &error {
        _ if is_read_only(&error) => "the database takes no writes",
        sqlx::Error::PoolTimedOut => "no connection to the database was free in time",
        _ => "the database cannot be reached",
    };
    let failed = Error::new(codes::DATABASE_UNREACHABLE, message).caused_by(error);
    match hint {
        Some(hint) => failed.with_hint(hint),
        None => failed,
    }
}

/// The hint for a pool that had no connection: it does not say whether the server answers.
fn busy_hint(error: &sqlx::Error) -> Option<&'static str> {
    matches!(error, sqlx::Error::PoolTimedOut).then_some(
        "check that the server runs; if it does, all connections are in use: allow more of them (max_connections), or make \
         fewer calls at once",
    )
}

/// Whether no connection of a pool was free in time.
pub(crate) fn had_to_wait(error: &Error) -> bool {
    let driver = error.database().map(|it| &it.driver);
    driver.and_then(|it| it.downcast_ref()).is_some_and(|it| matches!(it, sqlx::Error::PoolTimedOut))
}

fn exhausted(error: sqlx::Error) -> Error {
    let message = "the database has run out of room or cannot read or write its files";
    Error::new(codes::DATABASE_EXHAUSTED, message).caused_by(error)
}

fn locks(error: sqlx::Error) -> Error {
    let message = "the database has no room for all the locks that this takes";
    Error::new(codes::DATABASE_LOCKS, message).caused_by(error)
}

fn denied(error: sqlx::Error) -> Error {
    let failed = Error::new(codes::DATABASE_DENIED, "the database refuses this program").caused_by(error);
    match failed.database().and_then(DatabaseError::sqlstate) {
        // insufficient_privilege
        Some("42501") => failed.with_hint(
            "the role in database.url may not do this: grant it the privilege, or use the role that owns the schema",
        ),
        _ => failed,
    }
}

fn refused() -> Error {
    Error::new(codes::DATABASE_ERROR, "the database refused a statement").with_kind(ErrorKind::Database)
}

fn unreadable() -> Error {
    Error::corrupt("a value of a row")
}

impl Error {
    fn caused_by(self, error: sqlx::Error) -> Self {
        self.with_kind(ErrorKind::Database).with_source(DatabaseError::from(error))
    }
}

impl From<sqlx::Error> for DatabaseError {
    fn from(error: sqlx::Error) -> Self {
        let database = error.as_database_error();
        Self {
            said: database.map(|it| it.message().to_owned()),
            sqlstate: database.and_then(|it| it.code()).map(Into::into),
            constraint: database.and_then(|it| it.constraint()).map(of_table),
            driver: Box::new(error),
        }
    }
}

/// Whether the lock table is full. Other errors with this code are about memory, which may be free again in a moment.
/// The hint names the setting in every language.
fn lacks_locks(error: &dyn sqlx::error::DatabaseError) -> bool {
    let hint = error.try_downcast_ref::<PgDatabaseError>().and_then(PgDatabaseError::hint);
    hint.is_some_and(|hint| hint.contains("max_locks_per_transaction"))
}

/// The hint for a file that cannot be opened: the driver does not say which one.
fn missing_file_hint(error: &sqlx::Error) -> Option<&'static str> {
    let sqlx::Error::Io(error) = error else { return None };
    matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::PermissionDenied).then_some(
        "start the server. If it runs, check the files that database.url names: the directory of the server's socket \
         (host), and sslrootcert, sslcert and sslkey",
    )
}

/// Whether a server takes no writes now.
fn is_read_only(error: &sqlx::Error) -> bool {
    error.as_database_error().is_some_and(|error| error.code().as_deref() == Some("25006"))
}

fn read_only_hint(error: &sqlx::Error) -> Option<&'static str> {
    is_read_only(error).then_some(
        "it is a replica: name the primary in database.url; or default_transaction_read_only is on for the server, the \
         database or the role: `show default_transaction_read_only`",
    )
}

/// The hint for a server that could not prove its identity. A refused certificate is reported as invalid data.
fn unproven_hint(error: &sqlx::Error) -> Option<&'static str> {
    let is_about_proof = match error {
        sqlx::Error::Tls(_) => true,
        sqlx::Error::Io(error) => error.kind() == std::io::ErrorKind::InvalidData,
        _ => false,
    };
    let said = chain(error);
    is_about_proof.then(|| match () {
        () if said.contains("does not support TLS") => {
            "turn TLS on at the server, or, in a network that you trust, do without (?sslmode=disable in database.url)"
        }
        () if said.contains("not valid for name") => {
            "the server's certificate is for another name: use that name in database.url, or check only who signed it \
             (?sslmode=verify-ca)"
        }
        () => {
            "the server has to prove who it is: name the authority that signed its certificate in database.url \
             (?sslrootcert=/path/ca.pem), or, in a network that you trust, encrypt without proof (?sslmode=require) \
             or not at all (?sslmode=disable)"
        }
    })
}

/// The name of a table's constraint, for that of a partition: `nodes_p3_duplicate_key` is `nodes_duplicate_key` there.
fn of_table(constraint: &str) -> String {
    let mut words: Vec<&str> = constraint.split('_').collect();
    let is_partition = |word: &&str| {
        word.strip_prefix('p')
            .is_some_and(|place| !place.is_empty() && place.bytes().all(|it| it.is_ascii_digit()))
    };
    if let Some(place) = words.iter().position(is_partition) {
        words.remove(place);
    }
    words.join("_")
}

#[cfg(test)]
mod tests {
    use sea_orm::{DbErr, RuntimeErr};

    use super::*;

    /// An error of the server, by its SQLSTATE.
    #[derive(Debug)]
    struct Answer(&'static str);

    impl std::fmt::Display for Answer {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str(self.0)
        }
    }

    impl std::error::Error for Answer {}

    impl sqlx::error::DatabaseError for Answer {
        fn message(&self) -> &str {
            "no"
        }

        fn code(&self) -> Option<std::borrow::Cow<'_, str>> {
            Some(self.0.into())
        }

        fn constraint(&self) -> Option<&str> {
            self.0.starts_with("23").then_some("robots_namespace_name_key")
        }

        fn as_error(&self) -> &(dyn std::error::Error + Send + Sync + 'static) {
            self
        }

        fn as_error_mut(&mut self) -> &mut (dyn std::error::Error + Send + Sync + 'static) {
            self
        }

        fn into_error(self: Box<Self>) -> Box<dyn std::error::Error + Send + Sync + 'static> {
            self
        }

        fn kind(&self) -> sqlx::error::ErrorKind {
            sqlx::error::ErrorKind::Other
        }
    }

    #[test]
    fn an_error_of_sea_orm_is_that_of_the_driver() {
        let codes = [
            "08006", "23505", "28P01", "3D000", "40001", "40P01", "42501", "42601", "53100", "53300",
            "55P03", "57014", "57P01", "58030",
        ];
        let answers = codes.map(|code| move || sqlx::Error::Database(Box::new(Answer(code))));
        for answer in answers {
            assert_same(answer(), answer());
        }
        assert_same(sqlx::Error::PoolTimedOut, sqlx::Error::PoolTimedOut);
        let lost = || sqlx::Error::Io(std::io::ErrorKind::BrokenPipe.into());
        assert_same(lost(), lost());
        assert_same(sqlx::Error::RowNotFound, sqlx::Error::RowNotFound);
    }

    fn assert_same(error: sqlx::Error, again: sqlx::Error) {
        let direct = Error::from(error);
        let by_orm = Error::from(DbErr::Query(RuntimeErr::SqlxError(Arc::new(again))));
        let parts = |error: &Error| {
            let database = error.database();
            format!(
                "{chain} {} {:?} {:?} {} {:?} {:?}",
                error.code(),
                error.kind(),
                error.fault(),
                error.hint(),
                database.and_then(DatabaseError::sqlstate),
                database.and_then(DatabaseError::constraint),
                chain = chain(error),
            )
        };
        assert_eq!(parts(&direct), parts(&by_orm));
        assert!(direct.database().is_some());
    }

    #[test]
    fn a_cause_of_an_unreachable_database_is_in_the_hint_and_no_value() {
        use std::io::{Error as IoError, ErrorKind as Kind};
        let usual = codes::DATABASE_UNREACHABLE.hint;
        for (cause, has_own_hint) in [
            (IoError::from(Kind::NotFound), true),
            (IoError::new(Kind::InvalidData, "the certificate is not trusted"), true),
            (IoError::from(Kind::ConnectionRefused), false),
        ] {
            let error = Error::from(sqlx::Error::Io(cause));
            assert_eq!((error.code(), error.values().count()), (codes::DATABASE_UNREACHABLE.name, 0));
            assert_eq!(error.hint() != usual, has_own_hint, "{}", error.hint());
        }
    }

    #[test]
    fn a_server_that_takes_no_writes_is_told_from_one_that_is_away() {
        let error = Error::from(sqlx::Error::Database(Box::new(Answer("25006"))));
        assert_eq!((error.code(), error.fault()), (codes::DATABASE_UNREACHABLE.name, Fault::Transient));
        assert!(error.to_string().contains("takes no writes"), "{error}");
        assert!(error.hint().contains("default_transaction_read_only"), "{}", error.hint());
    }

    #[test]
    fn a_closed_pool_and_a_busy_one_say_what_they_are() {
        let closed = Error::from(sqlx::Error::PoolClosed);
        assert_eq!((closed.code(), closed.fault()), (codes::HANDLE_CLOSED.name, Fault::User));
        let busy = Error::from(sqlx::Error::PoolTimedOut);
        assert_eq!((busy.code(), busy.fault()), (codes::DATABASE_UNREACHABLE.name, Fault::Transient));
        assert!(busy.to_string().contains("was free in time"), "{busy}");
        assert!(busy.hint().contains("max_connections"), "{}", busy.hint());
    }

    #[test]
    fn the_message_of_the_server_is_without_the_line_of_its_source() {
        let error = Error::from(sqlx::Error::Database(Box::new(Answer("42P01"))));
        // The driver's would have what the answer displays, as PostgreSQL's has ` at line 1477`.
        assert_eq!(chain(&error), "the database refused a statement: error returned from database: no");
    }

    #[test]
    fn what_cannot_be_read_is_corrupt() {
        let unknown = || "`asleep` is no state".into();
        let column = sqlx::Error::ColumnDecode { index: "state".into(), source: unknown() };
        let by_driver = [column, sqlx::Error::Decode(unknown())].map(Error::from);
        let by_orm = [DbErr::Type("`asleep` is no state".into()), DbErr::Json("no".into())].map(Error::from);
        for error in by_driver.into_iter().chain(by_orm) {
            assert_eq!(error.code(), codes::CORRUPT.name, "{}", chain(&error));
        }
    }

    #[test]
    fn a_constraint_of_a_partition_is_that_of_its_table() {
        for (name, of_the_table) in [
            ("nodes_p3_duplicate_key", "nodes_duplicate_key"),
            ("embeddings_12_p63_pk", "embeddings_12_pk"),
            ("nodes_pk", "nodes_pk"),
            ("nodes_robot_fk", "nodes_robot_fk"),
        ] {
            assert_eq!(of_table(name), of_the_table);
        }
    }
}
