//! The directory of a backup that is not whole yet.

use std::ffi::OsStr;
use std::fs::{self, File, Permissions, TryLockError};
use std::io::{self, ErrorKind};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use htm_core::Result;

use super::error;
use crate::paths::sync_names;

/// A directory that is deleted unless it gets its name. Until then it is locked, and the kernel unlocks that of a killed
/// process. On a file system without locks none is taken for remains.
pub(super) struct Part {
    path: PathBuf,
    _lock: File,
}

impl Part {
    /// Makes the directory, with a name of its own, and deletes the remains of killed processes beside it.
    pub(super) fn beside(to: &Path) -> Result<Self> {
        let mut prefix = to.file_name().unwrap_or_default().to_owned();
        prefix.push(".part-");
        delete_remains(parent(to), &prefix);
        loop {
            let made = Self::make(parent(to), &prefix);
            let what = format!("a directory beside {} cannot be made", to.display());
            if let Some(part) = made.map_err(error::io(what))? {
                return Ok(part);
            }
        }
    }

    /// None if another process took the directory for remains before it was locked.
    fn make(place: &Path, prefix: &OsStr) -> io::Result<Option<Self>> {
        // Memories are private: only the owner may read them.
        let private = Permissions::from_mode(0o700);
        let made = tempfile::Builder::new().prefix(prefix).permissions(private).tempdir_in(place)?;
        let lock = match File::open(made.path()) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            opened => opened?,
        };
        let is_taken = matches!(lock.try_lock(), Err(TryLockError::WouldBlock)) || !made.path().is_dir();
        Ok((!is_taken).then(|| Self { path: made.keep(), _lock: lock }))
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Gives the directory its name. Its files are on the disk before that, and the name is when this returns.
    pub(super) fn publish(self, to: &Path) -> Result<()> {
        sync(&self.path)?;
        fs::rename(&self.path, to).map_err(error::io(format!("{} cannot be made", to.display())))?;
        sync(parent(to))
    }

    /// Deletes the directory of a backup that was stopped.
    pub(super) fn discard(mut self) -> Result<()> {
        let part = std::mem::take(&mut self.path);
        let what =
            format!("the backup was stopped and is not saved, but {} cannot be deleted", part.display());
        remove(&part).map_err(error::io(what))
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        remove_or_warn(&self.path);
    }
}

/// Deletes the directories of backups that were killed.
fn delete_remains(place: &Path, prefix: &OsStr) {
    for entry in fs::read_dir(place).into_iter().flatten().flatten() {
        let is_part = entry.file_name().as_encoded_bytes().starts_with(prefix.as_encoded_bytes())
            && entry.file_type().is_ok_and(|file| file.is_dir());
        if !is_part {
            continue;
        }
        let path = entry.path();
        // Not before it is locked: its process may be about to fill it.
        if let Ok(lock) = File::open(&path)
            && lock.try_lock().is_ok()
            && has_no_more_than_a_dump(&path)
        {
            remove_or_warn(&path);
        }
    }
}

/// A whole backup, and what is not of HTM, are no remains whatever their names are.
fn has_no_more_than_a_dump(directory: &Path) -> bool {
    let is_dump = |entry: io::Result<fs::DirEntry>| entry.is_ok_and(|entry| entry.file_name() == "dump");
    directory.read_dir().is_ok_and(|mut entries| entries.all(is_dump))
}

/// The directory in which a path is.
pub(super) fn parent(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn remove_or_warn(directory: &Path) {
    if let Err(error) = remove(directory) {
        tracing::warn!(directory = %directory.display(), %error, "the remains of a backup cannot be deleted");
    }
}

/// Deletes a directory, if it is there: it is gone when it has got its name.
fn remove(directory: &Path) -> io::Result<()> {
    match fs::remove_dir_all(directory) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

fn sync(directory: &Path) -> Result<()> {
    let what = format!("{} cannot be synced to the disk", directory.display());
    sync_names(directory).map_err(error::io(what))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_gets_its_name_or_is_deleted() {
        let place = tempfile::tempdir().unwrap();
        let names = || {
            let names = place.path().read_dir().unwrap().map(|it| it.unwrap().file_name());
            names.map(|name| name.to_string_lossy().into_owned()).collect::<Vec<_>>()
        };
        let to = place.path().join("backup");
        drop(Part::beside(&to).unwrap());
        assert!(names().is_empty());
        let part = Part::beside(&to).unwrap();
        fs::write(part.path().join("file"), "").unwrap();
        part.discard().unwrap();
        assert!(names().is_empty());
        let part = Part::beside(&to).unwrap();
        fs::write(part.path().join("file"), "").unwrap();
        part.publish(&to).unwrap();
        assert_eq!(names(), ["backup"]);
        assert!(to.join("file").is_file());
    }

    #[test]
    fn what_killed_processes_have_left_is_deleted_and_nothing_else() {
        let place = tempfile::tempdir().unwrap();
        let made = |name: &str| {
            let path = place.path().join(name);
            fs::create_dir_all(&path).unwrap();
            path
        };
        let remains = [made("backup.part-1"), made("backup.part-Ab3dEf")];
        made("backup.part-Ab3dEf/dump");
        let others = [
            made("backup.part-whole/dump"),
            made("backup.part-mine/photos"),
            made("another.part-1/dump"),
            made("backup/dump"),
        ];
        fs::write(place.path().join("backup.part-whole/manifest.json"), "{}").unwrap();
        let to = place.path().join("backup");
        let running = Part::beside(&to).unwrap();
        fs::create_dir(running.path().join("dump")).unwrap();
        let starting = Part::beside(&to).unwrap();
        assert_ne!(running.path(), starting.path());
        let new = Part::beside(&to).unwrap();
        assert_eq!(fs::metadata(new.path()).unwrap().permissions().mode() & 0o777, 0o700);
        for path in
            [running.path(), starting.path(), new.path()].into_iter().chain(others.iter().map(|it| &**it))
        {
            assert!(path.is_dir(), "{}", path.display());
        }
        assert!(remains.iter().all(|path| !path.exists()));
    }
}
