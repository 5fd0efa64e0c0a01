//! The directory of a backup that is not whole yet.

use std::fs::{self, DirBuilder};
use std::io::{self, ErrorKind};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use htm_core::Result;

use super::error;
use crate::paths::sync_names;

/// A directory that is deleted unless it gets its name.
pub(super) struct Part(PathBuf);

impl Part {
    /// Makes the directory, with a name of its own.
    pub(super) fn beside(to: &Path) -> Result<Self> {
        let mut name = to.as_os_str().to_owned();
        name.push(format!(".part-{}", std::process::id()));
        let part = PathBuf::from(name);
        // Memories are private: only the owner may read them.
        let made = DirBuilder::new().mode(0o700).create(&part);
        made.map_err(error::io(format!("{} cannot be made", part.display())))?;
        Ok(Self(part))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    /// Gives the directory its name. Its files are on the disk before that, and the name is when this returns.
    pub(super) fn publish(self, to: &Path) -> Result<()> {
        sync(&self.0)?;
        fs::rename(&self.0, to).map_err(error::io(format!("{} cannot be made", to.display())))?;
        let parent = to.parent().filter(|parent| !parent.as_os_str().is_empty());
        sync(parent.unwrap_or(Path::new(".")))
    }

    /// Deletes the directory of a backup that was stopped.
    pub(super) fn discard(mut self) -> Result<()> {
        let part = std::mem::take(&mut self.0);
        let what =
            format!("the backup was stopped and is not saved, but {} cannot be deleted", part.display());
        remove(&part).map_err(error::io(what))
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        if let Err(error) = remove(&self.0) {
            tracing::warn!(directory = %self.0.display(), %error, "the remains of a backup cannot be deleted");
        }
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
}
