//! Errors of migrations and of the schema's version.

use htm_core::Error;
use htm_migration::{INDEX_EXTENSIONS, MigrationError};

use crate::codes;

/// The error of a migration. An unreachable server has its own code, not the migration's.
pub(crate) fn of_migration(error: MigrationError) -> Error {
    let message = error.to_string();
    match error {
        MigrationError::Database(error) => error.into(),
        MigrationError::ExtensionMissing { name, .. } => {
            let hint = match name {
                "vector" => "install pgvector 0.8 or later on the server (for example `apt-get install \
                             postgresql-17-pgvector`), then run `htm db migrate`; or unset database.url to use HTM's \
                             private PostgreSQL"
                    .to_owned(),
                name if INDEX_EXTENSIONS.contains(&name) => {
                    format!("install it on the server: a vector index of the backup is of its kind (`{name}`)")
                }
                name => format!(
                    "install PostgreSQL's contrib package, which holds `{name}` (for example `apt-get install \
                     postgresql-contrib`), then run `htm db migrate`"
                ),
            };
            Error::new(codes::EXTENSION_MISSING, message).with_hint(hint)
        }
        MigrationError::RoleMissing { name } => Error::new(codes::ROLE_MISSING, message).with_hint(format!(
            "create it as a role that may do so (`create role {name} login password '…'`), then run `htm db migrate \
             --application-role {name}` again"
        )),
        MigrationError::TooManyPartitions { .. } => Error::new(codes::PARTITIONS_INVALID, message),
        MigrationError::LayoutChanging { partitions } => {
            Error::new(codes::LAYOUT_CHANGING, message).with_hint(format!(
                "go on with it: `htm db repartition --partitions {partitions}`; or end it: `htm db repartition --abandon`"
            ))
        }
        MigrationError::RestoreIncomplete => Error::new(codes::RESTORE_INCOMPLETE, message),
        MigrationError::Restoring => Error::new(codes::RESTORE_INCOMPLETE, message)
            .with_hint("wait until it has ended, or stop it"),
        MigrationError::InUse { .. } => Error::new(codes::DATABASE_NOT_EMPTY, message),
        MigrationError::Locked => Error::new(codes::DATABASE_NOT_EMPTY, message)
            .with_hint("end the programs that use the database, and restore again; or name another database"),
        MigrationError::ServerTooOld { .. } => Error::new(codes::SERVER_TOO_OLD, message),
        MigrationError::Apalis(error) => Error::new(codes::MIGRATION_FAILED, message).with_source(error),
        MigrationError::Htm(error) => Error::new(codes::MIGRATION_FAILED, message).with_source(error),
    }
}

/// The database has another schema version than this program needs.
pub(crate) fn schema_version(found: u32, wanted: u32) -> Error {
    let message = format!("the database has schema version {found}, this program wants {wanted}");
    let error = Error::new(codes::SCHEMA_VERSION, message);
    match found < wanted {
        true => error,
        false => error.with_hint("upgrade this program: the database was migrated by a newer one"),
    }
}
