//! Errors of migrations and of the schema's version.

use htm_core::Error;
use htm_migration::{INDEX_EXTENSIONS, MigrationError};
use sqlx::postgres::PgConnectOptions;

use crate::codes;
use crate::place::place_of;

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
        MigrationError::ExtensionElsewhere { name, .. } => {
            Error::new(codes::EXTENSION_MISSING, message).with_hint(format!(
                "move it, as its owner or a superuser: `alter extension {name} set schema public`; then run `htm db migrate`"
            ))
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
        MigrationError::InUse { .. } | MigrationError::Locked => {
            Error::new(codes::DATABASE_NOT_EMPTY, message)
        }
        MigrationError::ServerTooOld { .. } => Error::new(codes::SERVER_TOO_OLD, message),
        MigrationError::Apalis(error) => Error::new(codes::MIGRATION_FAILED, message).with_source(error),
        MigrationError::Htm(error) => Error::new(codes::MIGRATION_FAILED, message).with_source(error),
    }
}

/// The error of a restore that does not begin. It names the database.
pub(crate) fn of_restoration(error: MigrationError, options: &PgConnectOptions) -> Error {
    let place = place_of(options);
    match error {
        MigrationError::InUse { why } => {
            Error::new(codes::DATABASE_NOT_EMPTY, format!("the {place} is in use: {why}")).with_hint(format!(
                "stop its workers and other programs, and delete everything in the {place}: `htm db reset --yes`; or \
                 restore into another database"
            ))
        }
        MigrationError::Locked => {
            let message = format!("the {place} is in use: another connection has locks on its tables");
            Error::new(codes::DATABASE_NOT_EMPTY, message)
                .with_hint("end the programs that use it, and restore again; or restore into another database")
        }
        error => of_migration(error),
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
