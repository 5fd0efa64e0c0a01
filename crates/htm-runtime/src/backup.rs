//! Backups by PostgreSQL's `pg_dump` and `pg_restore`: the schemas of HTM and of apalis, with a manifest that says how many
//! rows each table has, and what is in each file.
//!
//! A backup is a directory with the dump (pg_dump's directory format, in `dump`) and `manifest.json`. Its files are checked
//! before a restore begins. The counts are of the snapshot that was dumped, so a restored database is compared with them
//! exactly. Until then a marker keeps programs from it.

mod error;
mod files;
mod manifest;
mod messages;
mod part;
mod programs;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use htm_core::{Error, Result};
use htm_migration::{Restoration, SCHEMAS, tables};
use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, Connection, PgConnection};
use tokio_util::sync::CancellationToken;

pub use self::files::SavedFile;
pub use self::manifest::Manifest;
use self::part::Part;
pub(crate) use self::programs::Programs;
use crate::codes;
use crate::config::Config;
use crate::error::{of_migration, of_restoration, schema_version};
use crate::paths::Paths;
use crate::runtime::on_database;

/// Entries of a dump that are made anew: rights and policies name roles, which belong to the server.
const MADE_ANEW: [&str; 4] = [" ACL ", " DEFAULT ACL ", " POLICY ", " ROW SECURITY "];

/// The first version of a server that knows everything that pg_restore sets.
const KNOWS_ALL_SETTINGS: u32 = 170_000;

/// How far a backup or a restoration is: tables done, of all.
pub type OnTable<'a> = &'a mut dyn FnMut(usize, usize);

/// The end of a restore.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Restored {
    /// The database has what the manifest says.
    Whole(Manifest),
    /// It was stopped before it changed anything.
    Untouched,
    /// It was stopped. The database has a part of the backup, and programs refuse it (`restore_incomplete`).
    Incomplete,
}

/// Writes a backup into a new directory, with `jobs` connections at a time. Writes to the database go on meanwhile; what is
/// committed after the start is not in it. The backup is on the disk when this returns. None if it was stopped: then there is
/// no directory.
///
/// # Errors
/// `backup_exists`, `backup_programs_missing`, `backup_failed`, `backup_io`, `schema_version` for a database without HTM's
/// schema, `restore_incomplete`, `private_pg_unsafe_path`, or a database error.
pub async fn back_up(
    config: &Config,
    to: &Path,
    jobs: u16,
    stop: &CancellationToken,
    on_table: OnTable<'_>,
) -> Result<Option<Manifest>> {
    // Without a slash at the end.
    let to = &to.components().collect::<PathBuf>();
    if fs::symlink_metadata(to).is_ok() {
        let message = format!("{} is there already", to.display());
        return Err(Error::new(codes::BACKUP_EXISTS, message));
    }
    let parent = part::parent(to);
    if !parent.is_dir() {
        let message = format!("there is no directory {}", parent.display());
        return Err(Error::new(codes::BACKUP_IO, message)
            .with_hint("make it first, or name a directory in another one"));
    }
    let programs = Programs::find(&Paths::from_env()?, config.database.url.expose())?;
    on_database(config, async |options| {
        let part = Part::beside(to)?;
        let dumping = async {
            let manifest = dump(&programs, &options, part.path(), jobs, on_table).await?;
            Ok::<_, Error>(Manifest { files: files::of_dump(part.path()).await?, ..manifest })
        };
        let dumped = stop.run_until_cancelled(dumping).await;
        let Some(manifest) = dumped.transpose()? else {
            part.discard()?;
            return Ok(None);
        };
        // Not stopped any more: a caller that is told so has no backup.
        manifest.write(part.path())?;
        part.publish(to)?;
        Ok(Some(manifest))
    })
    .await
}

/// Dumps a database into the directory `dump` of an existing one.
pub(crate) async fn dump(
    programs: &Programs,
    options: &PgConnectOptions,
    to: &Path,
    jobs: u16,
    on_table: OnTable<'_>,
) -> Result<Manifest> {
    let own = [("statement_timeout", "0"), ("idle_in_transaction_session_timeout", "0")];
    let mut connection = PgConnection::connect_with(&options.clone().options(own)).await?;
    let version = htm_migration::version(&mut connection).await.map_err(of_migration)?;
    if version == 0 {
        return Err(schema_version(0, htm_migration::LATEST));
    }
    // The transaction stays open until the dump has its snapshot, and so until its end.
    let mut tx = connection.begin_with("begin isolation level repeatable read read only").await?;
    let snapshot: String = sqlx::query_scalar("select pg_export_snapshot()").fetch_one(&mut *tx).await?;
    // Asked in the snapshot: a change that begins now would otherwise be in the dump by half.
    let is_changing: bool =
        sqlx::query_scalar("select exists (select from pg_namespace where nspname = 'htm_next')")
            .fetch_one(&mut *tx)
            .await?;
    if is_changing {
        return Err(Error::new(codes::LAYOUT_CHANGING, "the number of partitions is being changed"));
    }
    // pg_dump refuses to leave out rows that policies hide, and asks about each table.
    let has_policies: bool =
        sqlx::query_scalar("select row_security_active('htm.nodes')").fetch_one(&mut *tx).await?;
    if has_policies {
        let message = "row-level security is on for this role, and a backup has all rows";
        return Err(Error::new(htm_core::error::codes::DATABASE_DENIED, message)
            .with_hint("back up as the role that owns the schema, or as one with `bypassrls`"));
    }
    let tables = counts(&mut tx).await?;
    let manifest = Manifest::now(&mut tx, version, tables).await?;

    let dump = to.join("dump");
    let snapshot = format!("--snapshot={snapshot}");
    let jobs = format!("--jobs={jobs}");
    let schemas = SCHEMAS.map(|schema| format!("--schema={schema}"));
    let fixed = ["--format=directory", "--verbose", "--no-owner", "--no-password", &snapshot, &jobs];
    let mut arguments: Vec<&OsStr> = fixed.into_iter().map(OsStr::new).collect();
    arguments.extend(schemas.iter().map(OsStr::new));
    arguments.extend([OsStr::new("--file"), dump.as_os_str()]);
    let (total, mut done) = (manifest.tables.len(), 0);
    let on_line = |line: &str| {
        if line.contains("dumping contents of table") {
            done += 1;
            on_table(done.min(total), total);
        }
    };
    programs.run("pg_dump", &arguments, options, on_line).await?;
    tx.rollback().await?;
    connection.close().await?;
    Ok(manifest)
}

/// Reads the manifest of a backup, and compares its files with it. One of an older program has none.
///
/// # Errors
/// `backup_invalid`, `schema_version` for a backup of a newer program, or `backup_io`.
pub async fn check(from: &Path) -> Result<Manifest> {
    let manifest = Manifest::read(from)?;
    files::check(from, &manifest.files).await?;
    Ok(manifest)
}

/// Restores a backup into an empty database, migrates it to this program's schema, and compares it with the manifest. What an
/// interrupted restore has left is dropped first. One that is interrupted, or fails, leaves a database that programs refuse.
///
/// # Errors
/// `backup_invalid`, `backup_differs`, `backup_programs_missing`, `backup_failed`, `database_not_empty`, `schema_version`
/// for a backup of a newer program, `restore_incomplete` while another process restores, `private_pg_unsafe_path`, or a
/// database error.
pub async fn restore(
    config: &Config,
    from: &Path,
    jobs: u16,
    stop: &CancellationToken,
    on_table: OnTable<'_>,
) -> Result<Restored> {
    let manifest = Manifest::read(from)?;
    if stop.run_until_cancelled(files::check(from, &manifest.files)).await.transpose()?.is_none() {
        return Ok(Restored::Untouched);
    }
    let programs = Programs::find(&Paths::from_env()?, config.database.url.expose())?;
    on_database(config, async |options| {
        load(stop, &programs, &options, from, &manifest, jobs, on_table).await
    })
    .await
}

/// Restores the directory `dump` of a directory into an empty database, compares it with the manifest, and migrates it.
pub(crate) async fn load(
    stop: &CancellationToken,
    programs: &Programs,
    options: &PgConnectOptions,
    from: &Path,
    manifest: &Manifest,
    jobs: u16,
    on_table: OnTable<'_>,
) -> Result<Restored> {
    // Before anything is changed: a dump that cannot be read is no reason to.
    let list = wanted_entries(programs, from, options).await?;
    let begun = Restoration::begin(options, &manifest.index_extensions, stop.cancelled()).await;
    let begun = begun.map_err(|error| of_restoration(error, options))?;
    let Some(restoration) = begun else { return Ok(Restored::Untouched) };
    let filled =
        stop.run_until_cancelled(fill(programs, options, from, list.path(), manifest, jobs, on_table)).await;
    if filled.transpose()?.is_none() {
        return Ok(Restored::Incomplete);
    }
    restoration.finish(options).await.map_err(of_migration)?;
    Ok(Restored::Whole(manifest.clone()))
}

/// Loads the listed entries of a dump, and compares the rows with the manifest.
async fn fill(
    programs: &Programs,
    options: &PgConnectOptions,
    from: &Path,
    list: &Path,
    manifest: &Manifest,
    jobs: u16,
    on_table: OnTable<'_>,
) -> Result<()> {
    let (dump, jobs) = (from.join("dump"), format!("--jobs={jobs}"));
    let database = options.get_database().unwrap_or(options.get_username());
    let connection = PgConnection::connect_with(options).await?;
    let version = connection.server_version_num();
    connection.close().await?;
    let fixed = ["--verbose", "--no-owner", "--no-privileges", "--no-password", &jobs];
    let mut arguments: Vec<&OsStr> = fixed.into_iter().map(OsStr::new).collect();
    // The first error of an older server would be that it does not know a setting.
    if version.is_none_or(|version| version >= KNOWS_ALL_SETTINGS) {
        arguments.push(OsStr::new("--exit-on-error"));
    }
    arguments.extend(["--dbname", database, "--use-list"].map(OsStr::new));
    arguments.extend([list.as_os_str(), dump.as_os_str()]);
    let (total, mut done) = (manifest.tables.len(), 0);
    let on_line = |line: &str| {
        if line.contains("processing data for table") {
            done += 1;
            on_table(done.min(total), total);
        }
    };
    programs.run("pg_restore", &arguments, options, on_line).await?;
    compare(options, manifest).await
}

/// A file with the entries of a dump that are restored.
async fn wanted_entries(
    programs: &Programs,
    from: &Path,
    options: &PgConnectOptions,
) -> Result<tempfile::NamedTempFile> {
    let dump = from.join("dump");
    let list = programs.output("pg_restore", &[OsStr::new("--list"), dump.as_os_str()], options).await?;
    let is_wanted = |line: &&str| !MADE_ANEW.iter().any(|kind| line.contains(kind));
    let wanted = list.lines().filter(is_wanted).collect::<Vec<_>>().join("\n");
    let file = tempfile::NamedTempFile::new().map_err(error::io("a temporary file cannot be made"))?;
    fs::write(file.path(), wanted).map_err(error::io("a temporary file cannot be written"))?;
    Ok(file)
}

/// Compares the rows with the manifest.
async fn compare(options: &PgConnectOptions, manifest: &Manifest) -> Result<()> {
    let own = options.clone().options([("statement_timeout", "0")]);
    let mut connection = PgConnection::connect_with(&own).await?;
    let found = counts(&mut connection).await?;
    connection.close().await?;
    let Some((name, wanted, found)) = difference(&manifest.tables, &found) else { return Ok(()) };
    let message = format!("{name} has {found} rows, of {wanted} in the backup");
    Err(Error::new(codes::BACKUP_DIFFERS, message))
}

/// The first table with other rows than wanted: its name, the wanted rows, and those found.
pub(crate) fn difference(
    wanted: &BTreeMap<String, u64>,
    found: &BTreeMap<String, u64>,
) -> Option<(String, u64, u64)> {
    let names: BTreeSet<&String> = wanted.keys().chain(found.keys()).collect();
    let name = names.into_iter().find(|name| wanted.get(*name) != found.get(*name))?;
    let rows = |tables: &BTreeMap<String, u64>| tables.get(name).copied().unwrap_or_default();
    Some((name.clone(), rows(wanted), rows(found)))
}

/// The number of rows of each table.
pub(crate) async fn counts(connection: &mut PgConnection) -> Result<BTreeMap<String, u64>> {
    let mut counts = BTreeMap::new();
    for name in tables(connection).await? {
        let count = AssertSqlSafe(format!("select count(*) from {name}"));
        let count: i64 = sqlx::query_scalar(count).fetch_one(&mut *connection).await?;
        counts.insert(name, count.unsigned_abs());
    }
    Ok(counts)
}
