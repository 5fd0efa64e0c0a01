//! A directory that belongs to the server's user. That user can replace any file in it by a link, a pipe or another
//! user's file, and this process may run as root. It therefore opens the directory once, opens each file relative to it
//! without following links, and reads only regular files of the server's user.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use htm_core::Result;
use nix::errno::Errno;
use nix::fcntl::{OFlag, open, openat, renameat};
use nix::sys::stat::Mode;
use nix::unistd::{UnlinkatFlags, unlinkat};

use super::error::{IoContext as _, unsafe_path};
use super::server_user::ServerUser;

/// The most bytes of a file that is read whole. `postmaster.pid` and `PG_VERSION` are much shorter.
const MOST: u64 = 64 * 1024;

pub(super) struct OwnedDir {
    dir: File,
    path: PathBuf,
    uid: u32,
}

impl OwnedDir {
    /// Opens a directory; `None` if it does not exist.
    pub(super) fn open(path: &Path, user: &ServerUser) -> Result<Option<Self>> {
        let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        let dir = match open(path, flags, Mode::empty()) {
            Ok(dir) => File::from(dir),
            Err(Errno::ENOENT) => return Ok(None),
            Err(Errno::ELOOP | Errno::ENOTDIR) => {
                return Err(unsafe_path(path, "it is a link, or no directory"));
            }
            Err(error) => return Err(io::Error::from(error)).or_io("open", path),
        };
        let owner = dir.metadata().or_io("look at", path)?.uid();
        // A directory of root's is trusted too.
        if owner != user.uid() && owner != 0 {
            return Err(unsafe_path(path, &format!("it belongs to the user with the id {owner}")));
        }
        Ok(Some(Self { dir, path: path.to_path_buf(), uid: user.uid() }))
    }

    /// As [`open`](Self::open), for a directory that only the server's user may enter.
    pub(super) fn open_private(path: &Path, user: &ServerUser) -> Result<Option<Self>> {
        let Some(dir) = Self::open(path, user)? else { return Ok(None) };
        let meta = dir.dir.metadata().or_io("look at", path)?;
        if meta.uid() != user.uid() || meta.mode() & 0o077 != 0 {
            return Err(unsafe_path(path, "others may enter it"));
        }
        Ok(Some(dir))
    }

    /// The text of the file `name`; `None` if there is no such file.
    pub(super) fn read(&self, name: &str) -> Result<Option<String>> {
        let path = self.path.join(name);
        let Some(file) = self.file(name)? else { return Ok(None) };
        let mut text = String::new();
        file.take(MOST).read_to_string(&mut text).or_io("read", &path)?;
        Ok(Some(text))
    }

    /// The end of the file `name` from `offset` on, at most `most` bytes. Empty if it cannot be read.
    pub(super) fn end_of(&self, name: &str, offset: u64, most: u64) -> Vec<u8> {
        let read = || -> Result<Vec<u8>, io::Error> {
            let Ok(Some(mut file)) = self.file(name) else { return Ok(Vec::new()) };
            let end = file.metadata()?.len();
            file.seek(SeekFrom::Start(offset.max(end.saturating_sub(most))))?;
            let mut text = Vec::new();
            file.take(most).read_to_end(&mut text)?;
            Ok(text)
        };
        read().unwrap_or_default()
    }

    /// The length of the file `name` in bytes. 0 if it cannot be read.
    pub(super) fn length_of(&self, name: &str) -> u64 {
        self.file(name).ok().flatten().and_then(|file| file.metadata().ok()).map_or(0, |meta| meta.len())
    }

    /// Removes `name`, if it exists. A link is removed, never its target.
    pub(super) fn remove(&self, name: &str) -> Result<()> {
        match unlinkat(&self.dir, name, UnlinkatFlags::NoRemoveDir) {
            Ok(()) | Err(Errno::ENOENT) => Ok(()),
            Err(error) => Err(io::Error::from(error)).or_io("remove", &self.path.join(name)),
        }
    }

    /// Renames `from` to `to`, and replaces `to`.
    pub(super) fn rename(&self, from: &str, to: &str) -> Result<()> {
        renameat(&self.dir, from, &self.dir, to)
            .map_err(io::Error::from)
            .or_io("rename", &self.path.join(from))
    }

    fn file(&self, name: &str) -> Result<Option<File>> {
        let path = self.path.join(name);
        // Without O_NONBLOCK, opening a pipe would wait for a writer.
        let flags = OFlag::O_RDONLY | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC;
        let file = match openat(&self.dir, name, flags, Mode::empty()) {
            Ok(file) => File::from(file),
            Err(Errno::ENOENT) => return Ok(None),
            Err(Errno::ELOOP) => return Err(unsafe_path(&path, "it is a link")),
            Err(error) => return Err(io::Error::from(error)).or_io("open", &path),
        };
        let meta = file.metadata().or_io("look at", &path)?;
        if !meta.is_file() {
            return Err(unsafe_path(&path, "it is no regular file"));
        }
        // It may be a hard link to a file that the server's user may not read.
        if meta.uid() != self.uid {
            return Err(unsafe_path(&path, &format!("it belongs to the user with the id {}", meta.uid())));
        }
        Ok(Some(file))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_pipes_and_directories_are_not_read() {
        let dir = tempfile::tempdir().unwrap();
        let inside = dir.path().join("inside");
        fs::create_dir(&inside).unwrap();
        fs::write(dir.path().join("secret"), "do not tell").unwrap();
        symlink(dir.path().join("secret"), inside.join("link")).unwrap();
        nix::unistd::mkfifo(&inside.join("pipe"), Mode::S_IRWXU).unwrap();
        fs::create_dir(inside.join("directory")).unwrap();
        fs::write(inside.join("file"), "kept").unwrap();

        let owned = OwnedDir::open(&inside, &ServerUser::Same).unwrap().unwrap();
        for name in ["link", "pipe", "directory"] {
            assert_eq!(owned.read(name).unwrap_err().code(), "private_pg_unsafe_path", "{name}");
            assert!(owned.end_of(name, 0, 100).is_empty());
        }
        assert_eq!(owned.read("file").unwrap().unwrap(), "kept");
        assert_eq!(owned.end_of("file", 1, 2), b"pt");
        assert!(owned.read("nothing").unwrap().is_none());
        owned.remove("link").unwrap();
        owned.remove("link").unwrap();
        assert!(dir.path().join("secret").exists());

        symlink(&inside, dir.path().join("alias")).unwrap();
        let alias = OwnedDir::open(&dir.path().join("alias"), &ServerUser::Same);
        assert_eq!(alias.err().unwrap().code(), "private_pg_unsafe_path");
        assert!(OwnedDir::open(&dir.path().join("none"), &ServerUser::Same).unwrap().is_none());
    }
}
