//! The files of a dump: their sizes and digests, by which a damaged backup is found before a database is touched.

use std::collections::BTreeMap;
use std::path::Path;

use htm_core::{Error, Result};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use tokio::fs::{self, File};
use tokio::io::AsyncReadExt as _;

use super::error::io;
use crate::codes;

/// A file of a dump.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedFile {
    /// Its size.
    pub bytes: u64,
    /// Its SHA-256, in hexadecimal.
    pub sha256: String,
}

/// The files of the dump in the directory `dump` of a backup, by their names.
pub(super) async fn of_dump(backup: &Path) -> Result<BTreeMap<String, SavedFile>> {
    let dump = backup.join("dump");
    let cannot_list = || io(format!("{} cannot be listed", dump.display()));
    let mut entries = fs::read_dir(&dump).await.map_err(cannot_list())?;
    let mut files = BTreeMap::new();
    while let Some(entry) = entries.next_entry().await.map_err(cannot_list())? {
        let name = entry.file_name().to_string_lossy().into_owned();
        files.insert(name, read(&entry.path()).await?);
    }
    Ok(files)
}

/// Compares the files of a dump with those that are saved: the sizes of all of them first.
///
/// # Errors
/// `backup_invalid` for one that is missing or differs, or `backup_io`.
pub(super) async fn check(backup: &Path, saved: &BTreeMap<String, SavedFile>) -> Result<()> {
    let damaged = |name: &str, what: String| {
        let message = format!("{} is damaged: dump/{name} {what}", backup.display());
        Error::new(codes::BACKUP_INVALID, message)
            .with_hint("restore another backup, or another copy of this one; the database is as it was")
    };
    let place = |name: &str| backup.join("dump").join(name);
    for (name, file) in saved {
        match fs::metadata(place(name)).await {
            Ok(found) if found.len() == file.bytes => {}
            Ok(found) => {
                return Err(damaged(name, format!("has {} bytes, of {}", found.len(), file.bytes)));
            }
            Err(error) => return Err(damaged(name, format!("cannot be read: {error}"))),
        }
    }
    for (name, file) in saved {
        if read(&place(name)).await?.sha256 != file.sha256 {
            return Err(damaged(name, "has another content than when it was saved".into()));
        }
    }
    Ok(())
}

/// Reads a file to its end. A caller that is stopped need not wait for that.
async fn read(path: &Path) -> Result<SavedFile> {
    let cannot_read = || io(format!("{} cannot be read", path.display()));
    let mut file = File::open(path).await.map_err(cannot_read())?;
    let (mut digest, mut bytes, mut buffer) = (Sha256::new(), 0, vec![0; 1 << 20]);
    loop {
        match file.read(&mut buffer).await.map_err(cannot_read())? {
            0 => return Ok(SavedFile { bytes, sha256: hex::encode(digest.finalize()) }),
            length => {
                digest.update(&buffer[..length]);
                bytes += length as u64;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_file_that_is_not_as_it_was_is_found() {
        let backup = tempfile::tempdir().unwrap();
        let dump = backup.path().join("dump");
        std::fs::create_dir(&dump).unwrap();
        let write = |name: &str, text: &str| std::fs::write(dump.join(name), text).unwrap();
        write("toc.dat", "hello");
        write("1.dat.gz", "hello");
        let saved = of_dump(backup.path()).await.unwrap();
        // `sha256sum` of these five bytes.
        let sha256 = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824".to_owned();
        assert_eq!(saved["toc.dat"], SavedFile { bytes: 5, sha256 });
        check(backup.path(), &saved).await.unwrap();
        for (text, what) in [("hell", "dump/1.dat.gz has 4 bytes, of 5"), ("hallo", "another content")] {
            write("1.dat.gz", text);
            let error = check(backup.path(), &saved).await.unwrap_err();
            assert_eq!(error.code(), "backup_invalid");
            assert!(error.to_string().contains(what), "{error}");
        }
        std::fs::remove_file(dump.join("1.dat.gz")).unwrap();
        let error = check(backup.path(), &saved).await.unwrap_err();
        assert!(error.to_string().contains("dump/1.dat.gz cannot be read"), "{error}");
    }
}
