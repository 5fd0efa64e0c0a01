//! The manifest of a backup.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;

use htm_core::{Error, Result};
use serde::{Deserialize, Serialize};
use sqlx::PgConnection;

use super::error::io;
use super::files::SavedFile;
use crate::codes;

const FILE: &str = "manifest.json";

/// The version of the manifest.
const FORMAT: u32 = 1;

/// The manifest of a backup: when it was made, by what, and its rows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// The version of the manifest: 1.
    pub format: u32,
    /// The database's time of the snapshot, in UTC.
    pub made_at: String,
    /// The version of HTM that made the backup.
    pub htm: String,
    /// The version of the server, such as `18.6`.
    pub postgres: String,
    /// The version of HTM's schema.
    pub schema_version: u32,
    /// The extensions that its vector indexes need beside pgvector.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub index_extensions: Vec<String>,
    /// The rows of each table.
    pub tables: BTreeMap<String, u64>,
    /// The files of the dump, by their names. A backup of an older program has none here.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, SavedFile>,
}

impl Manifest {
    pub(super) async fn now(
        connection: &mut PgConnection,
        schema_version: u32,
        tables: BTreeMap<String, u64>,
    ) -> Result<Self> {
        let (made_at, postgres) = sqlx::query_as(
            "select to_char(now() at time zone 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"'), current_setting('server_version')",
        )
        .fetch_one(&mut *connection)
        .await?;
        let index_extensions = sqlx::query_scalar(
            "select distinct e.extname::text from pg_class c join pg_namespace n on n.oid = c.relnamespace
               join pg_depend d on d.classid = 'pg_am'::regclass and d.objid = c.relam
               join pg_extension e on d.refclassid = 'pg_extension'::regclass and e.oid = d.refobjid
              where n.nspname = 'htm' and c.relkind = 'i' and e.extname = any ($1) order by 1",
        )
        .bind(htm_migration::INDEX_EXTENSIONS)
        .fetch_all(connection)
        .await?;
        let htm = env!("CARGO_PKG_VERSION").to_owned();
        let (format, files) = (FORMAT, BTreeMap::new());
        Ok(Self { format, made_at, htm, postgres, schema_version, index_extensions, tables, files })
    }

    /// The number of memories, forgotten ones included.
    pub fn memories(&self) -> u64 {
        self.tables.get("htm.nodes").copied().unwrap_or_default()
    }

    /// The number of rows of all tables.
    pub fn rows(&self) -> u64 {
        // Saturating: a damaged manifest may state any numbers.
        self.tables.values().fold(0, |sum, rows| sum.saturating_add(*rows))
    }

    /// Writes the manifest. It is on the disk when this returns.
    pub(super) fn write(&self, to: &Path) -> Result<()> {
        let text = serde_json::to_string_pretty(self).expect("a manifest is JSON");
        let path = to.join(FILE);
        let written = File::create(&path).and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            file.sync_all()
        });
        written.map_err(io(format!("{} cannot be written", path.display())))
    }

    /// Reads the manifest of a backup.
    ///
    /// # Errors
    /// `backup_invalid`, or `schema_version` for a backup of a newer program.
    pub fn read(from: &Path) -> Result<Self> {
        let invalid = |why: String| {
            Error::new(codes::BACKUP_INVALID, format!("{} is no whole backup: {why}", from.display()))
        };
        let text = fs::read(from.join(FILE)).map_err(|error| invalid(format!("{FILE}: {error}")))?;
        let manifest: Self =
            serde_json::from_slice(&text).map_err(|error| invalid(format!("{FILE}: {error}")))?;
        if manifest.format != FORMAT {
            let format = manifest.format;
            return Err(invalid(format!("its manifest has format {format}, this program knows {FORMAT}")));
        }
        let (found, known) = (manifest.schema_version, htm_migration::LATEST);
        if found > known {
            let message = format!("the backup has schema version {found}, this program knows up to {known}");
            return Err(Error::new(codes::SCHEMA_VERSION, message)
                .with_hint("upgrade this program: the backup was made by a newer one"));
        }
        Ok(manifest)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_backup_of_a_newer_schema_is_refused() {
        let manifest = json!({
            "format": FORMAT, "made_at": "2026-03-01T09:00:00Z", "htm": "9.0.0", "postgres": "18.1",
            "schema_version": htm_migration::LATEST + 1, "tables": {},
        });
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join(FILE), manifest.to_string()).unwrap();
        let refused = Manifest::read(dir.path()).unwrap_err();
        assert_eq!(refused.code(), "schema_version");
        assert!(refused.to_string().starts_with("the backup has schema version"), "{refused}");
    }

    #[test]
    fn rows_beyond_all_numbers_are_counted() {
        let manifest = json!({
            "format": FORMAT, "made_at": "2026-03-01T09:00:00Z", "htm": "1.0.0", "postgres": "18.1",
            "schema_version": 1, "tables": { "htm.nodes": u64::MAX, "htm.tags": 7 },
        });
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join(FILE), manifest.to_string()).unwrap();
        let manifest = Manifest::read(dir.path()).unwrap();
        assert_eq!((manifest.memories(), manifest.rows()), (u64::MAX, u64::MAX));
    }
}
