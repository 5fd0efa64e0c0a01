//! Backups by PostgreSQL's `pg_dump` and `pg_restore`: the schemas of HTM and of apalis, with a manifest that says how many
//! rows each table has.
//!
//! A backup is a directory with the dump (pg_dump's directory format, in `dump`) and `manifest.json`. The counts are of the
//! snapshot that was dumped, so a restored database is compared with them exactly.

mod error;
mod manifest;
mod programs;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use htm_core::{Error, Result};
use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, Connection, PgConnection};

pub use self::manifest::Manifest;
pub(crate) use self::programs::Programs;
use crate::codes;
use crate::config::Config;
use crate::error::{of_migration, schema_version};
use crate::paths::Paths;
use crate::session::on_database;

/// The schemas of a backup.
const SCHEMAS: [&str; 2] = ["htm", "apalis"];

/// Entries of a dump that are made anew: rights and policies name roles, which belong to the server.
const MADE_ANEW: [&str; 4] = [" ACL ", " DEFAULT ACL ", " POLICY ", " ROW SECURITY "];

/// The tables that have rows in a database that nobody has used.
const FILLED: [&str; 5] = [
    "apalis._sqlx_migrations",
    "htm.compatibility",
    "htm.held_queues",
    "htm.seaql_migrations",
    "htm.statistics_watermark",
];

/// How far a backup or a restoration is: tables done, of all.
pub type OnTable<'a> = &'a mut dyn FnMut(usize, usize);

/// Writes a backup into a new directory, with `jobs` connections at a time. Writes to the database go on meanwhile; what is
/// committed after the start is not in it.
///
/// # Errors
/// `backup_exists`, `backup_programs_missing`, `backup_failed`, `backup_io`, `schema_version` for a database without HTM's
/// schema, or a database error.
pub async fn back_up(config: &Config, to: &Path, jobs: u16, on_table: OnTable<'_>) -> Result<Manifest> {
    // Without a slash at the end.
    let to = &to.components().collect::<PathBuf>();
    if fs::symlink_metadata(to).is_ok() {
        let message = format!("{} is there already", to.display());
        return Err(Error::new(codes::BACKUP_EXISTS, message));
    }
    let programs = Programs::find(&Paths::from_env()?, config.database.url.expose()).await;
    on_database(config, async |options| {
        let part = Part::beside(to)?;
        let manifest = dump(&programs, &options, &part.0, jobs, on_table).await?;
        manifest.write(&part.0)?;
        part.rename(to)?;
        Ok(manifest)
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
    let version = htm_migration::version(&mut connection).await?;
    if version == 0 {
        return Err(schema_version(0, htm_migration::LATEST));
    }
    let is_changing: bool = sqlx::query_scalar("select to_regnamespace('htm_next') is not null")
        .fetch_one(&mut connection)
        .await?;
    if is_changing {
        return Err(Error::new(codes::LAYOUT_CHANGING, "the number of partitions is being changed"));
    }
    // The transaction stays open until the dump has its snapshot, and so until its end.
    let mut tx = connection.begin_with("begin isolation level repeatable read read only").await?;
    let snapshot: String = sqlx::query_scalar("select pg_export_snapshot()").fetch_one(&mut *tx).await?;
    let tables = counts(&mut tx).await?;
    let manifest = Manifest::now(&mut tx, version, tables).await?;

    let dump = to.join("dump").display().to_string();
    let snapshot = format!("--snapshot={snapshot}");
    let jobs = format!("--jobs={jobs}");
    let schemas = SCHEMAS.map(|schema| format!("--schema={schema}"));
    let mut arguments =
        vec!["--format=directory", "--verbose", "--no-owner", &snapshot, &jobs, "--file", &dump];
    arguments.extend(schemas.iter().map(String::as_str));
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

/// Restores a backup into an empty database, migrates it to this program's schema, and compares it with the manifest.
///
/// # Errors
/// `backup_invalid`, `backup_differs`, `backup_programs_missing`, `backup_failed`, `database_not_empty`, `schema_version`
/// for a backup of a newer program, or a database error.
pub async fn restore(config: &Config, from: &Path, jobs: u16, on_table: OnTable<'_>) -> Result<Manifest> {
    let manifest = Manifest::read(from)?;
    if manifest.schema_version > htm_migration::LATEST {
        return Err(schema_version(manifest.schema_version, htm_migration::LATEST));
    }
    let programs = Programs::find(&Paths::from_env()?, config.database.url.expose()).await;
    on_database(config, async |options| load(&programs, &options, from, &manifest, jobs, on_table).await)
        .await?;
    Ok(manifest)
}

/// Restores the directory `dump` of a directory into an empty database, compares it with the manifest, and migrates it.
pub(crate) async fn load(
    programs: &Programs,
    options: &PgConnectOptions,
    from: &Path,
    manifest: &Manifest,
    jobs: u16,
    on_table: OnTable<'_>,
) -> Result<()> {
    empty(options).await?;
    htm_migration::create_extensions(options, &manifest.index_extensions).await.map_err(of_migration)?;
    let list = wanted_entries(programs, from, options).await?;
    let dump = from.join("dump").display().to_string();
    let (list, jobs) = (list.path().display().to_string(), format!("--jobs={jobs}"));
    let database = options.get_database().unwrap_or(options.get_username()).to_owned();
    let arguments = [
        "--exit-on-error",
        "--verbose",
        "--no-owner",
        "--no-privileges",
        "--use-list",
        &list,
        &jobs,
        "--dbname",
        &database,
        &dump,
    ];
    let (total, mut done) = (manifest.tables.len(), 0);
    let on_line = |line: &str| {
        if line.contains("processing data for table") {
            done += 1;
            on_table(done.min(total), total);
        }
    };
    programs.run("pg_restore", &arguments, options, on_line).await?;
    compare(options, manifest).await?;
    htm_migration::up(options).await.map_err(of_migration)
}

/// Makes sure that nothing of anybody is in the way, and drops an unused schema.
async fn empty(options: &PgConnectOptions) -> Result<()> {
    let in_use =
        |why: String| Err(Error::new(codes::DATABASE_NOT_EMPTY, format!("the database is in use: {why}")));
    let mut connection = PgConnection::connect_with(options).await?;
    if htm_migration::version(&mut connection).await? == 0 {
        // The schemas of another program, or the remains of a restoration.
        let found: Option<String> =
            sqlx::query_scalar("select nspname::text from pg_namespace where nspname = any ($1)")
                .bind(SCHEMAS)
                .fetch_optional(&mut connection)
                .await?;
        return found.map_or(Ok(()), |schema| in_use(format!("it has a schema {schema}")));
    }
    // Not counted: a large database would take long, and one row is enough.
    for table in tables(&mut connection).await?.iter().filter(|table| !FILLED.contains(&table.as_str())) {
        let exists = AssertSqlSafe(format!("select exists (select from {table})"));
        if sqlx::query_scalar(exists).fetch_one(&mut connection).await? {
            return in_use(format!("{table} has rows"));
        }
    }
    connection.close().await?;
    htm_migration::down(options).await.map_err(of_migration)
}

/// A file with the entries of a dump that are restored.
async fn wanted_entries(
    programs: &Programs,
    from: &Path,
    options: &PgConnectOptions,
) -> Result<tempfile::NamedTempFile> {
    let dump = from.join("dump").display().to_string();
    let list = programs.output("pg_restore", &["--list", &dump], options).await?;
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

/// The names of all tables, quoted.
async fn tables(connection: &mut PgConnection) -> Result<Vec<String>> {
    Ok(sqlx::query_scalar(
        "select format('%I.%I', n.nspname, c.relname)
           from pg_class c
           join pg_namespace n on n.oid = c.relnamespace
          where n.nspname = any ($1) and c.relkind in ('r', 'p') and not c.relispartition
          order by 1",
    )
    .bind(SCHEMAS)
    .fetch_all(connection)
    .await?)
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

/// A directory that is deleted unless it gets its name.
struct Part(PathBuf);

impl Part {
    fn beside(to: &Path) -> Result<Self> {
        let mut name = to.as_os_str().to_owned();
        name.push(format!(".part-{}", std::process::id()));
        let part = PathBuf::from(name);
        // Memories are private: only the owner may read them.
        let made = DirBuilder::new().mode(0o700).create(&part);
        made.map_err(error::io(format!("{} cannot be made", part.display())))?;
        Ok(Self(part))
    }

    fn rename(self, to: &Path) -> Result<()> {
        fs::rename(&self.0, to).map_err(error::io(format!("{} cannot be made", to.display())))
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        // Gone, if it was renamed.
        let _ = fs::remove_dir_all(&self.0);
    }
}
