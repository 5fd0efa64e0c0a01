//! A file that a command writes whole or not at all.

use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

use htm_runtime::paths::sync_names;
use tempfile::NamedTempFile;

/// Replaces a file by a text. What was there stays if that fails. The file keeps its permissions and, where possible, its
/// owner. A new one is as readable as the umask lets it be.
pub(crate) fn replace(path: &Path, text: &str) -> io::Result<()> {
    let path = &followed(path);
    let there = path.metadata().ok().filter(Metadata::is_file);
    match replace_whole(path, text, there.as_ref()) {
        // Only the file itself can be written: its directory is another user's, say, or the file is mounted.
        Err(error) if there.is_some() && is_about_names(error.kind()) => fs::write(path, text),
        replaced => replaced,
    }
}

fn replace_whole(path: &Path, text: &str, there: Option<&Metadata>) -> io::Result<()> {
    let mut destination = Destination::open(path, if there.is_some() { 0o600 } else { 0o666 })?;
    if let (Destination::Part(part), Some(there)) = (&destination, there) {
        let file = part.as_file();
        fchown(file, Some(there.uid()), Some(there.gid())).ok();
        file.set_permissions(there.permissions())?;
    }
    destination.write_all(text.as_bytes())?;
    destination.finish(path)
}

/// Whether an error may be about a new name in a directory. A full disk is none: a write in place would lose what was there.
fn is_about_names(kind: ErrorKind) -> bool {
    use ErrorKind::{InvalidFilename, PermissionDenied, ReadOnlyFilesystem, ResourceBusy};
    matches!(kind, InvalidFilename | PermissionDenied | ReadOnlyFilesystem | ResourceBusy)
}

/// A path without links, if something is there: a link stays a link.
pub(crate) fn followed(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// The file of `--output`; none for standard output, which is called `-`.
pub(crate) fn file_of(output: Option<&Path>) -> Option<&Path> {
    output.filter(|path| path.as_os_str() != "-")
}

/// Whether a path is a device or a pipe, which is written to and stays what it is.
pub(crate) fn is_special(path: &Path) -> bool {
    path.metadata().is_ok_and(|it| !it.is_file())
}

/// The directory of a file.
fn directory(path: &Path) -> &Path {
    path.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The place that is written to.
pub(crate) enum Destination {
    Special(File),
    /// A file beside the one that is named, which it replaces once it is whole. Its own name keeps it apart from that of
    /// another process that writes the same file. Dropping it deletes it.
    Part(NamedTempFile),
}

impl Destination {
    /// Opens the place. `mode` has the permissions of a file, from which the umask takes some.
    pub(crate) fn open(path: &Path, mode: u32) -> io::Result<Self> {
        if is_special(path) {
            return Ok(Self::Special(OpenOptions::new().write(true).open(path)?));
        }
        // It would be written whole before its name is found to be none.
        if path.as_os_str().as_encoded_bytes().ends_with(b"/") {
            return Err(ErrorKind::IsADirectory.into());
        }
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(".");
        let mut part = tempfile::Builder::new();
        part.prefix(&name).suffix(".part").permissions(Permissions::from_mode(mode));
        Ok(Self::Part(part.tempfile_in(directory(path))?))
    }

    /// Gives a whole file its name. The disk has both when this returns.
    pub(crate) fn finish(self, path: &Path) -> io::Result<()> {
        let Self::Part(part) = self else { return Ok(()) };
        part.as_file().sync_all()?;
        part.persist(path)?;
        sync_names(directory(path))
    }
}

impl Write for Destination {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Special(file) => file.write(bytes),
            Self::Part(part) => part.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Special(file) => file.flush(),
            Self::Part(part) => part.flush(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn names(dir: &Path) -> Vec<String> {
        let names = dir.read_dir().unwrap().map(|it| it.unwrap().file_name().into_string().unwrap());
        names.collect()
    }

    #[test]
    fn two_that_write_one_file_do_not_mix() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("memories.jsonl");
        let open = || Destination::open(&path, 0o600).unwrap();
        let (mut one, mut other) = (open(), open());
        one.write_all(b"one ").unwrap();
        other.write_all(b"the other ").unwrap();
        one.write_all(b"is whole").unwrap();
        one.finish(&path).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "one is whole");
        other.write_all(b"is whole too").unwrap();
        other.finish(&path).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "the other is whole too");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(names(dir.path()), ["memories.jsonl"]);
    }

    #[test]
    fn what_is_not_whole_leaves_what_was_there() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("memories.jsonl");
        fs::write(&path, "the last one").unwrap();
        let mut half = Destination::open(&path, 0o600).unwrap();
        half.write_all(b"half of it").unwrap();
        assert_eq!(names(dir.path()).len(), 2);
        drop(half);
        assert_eq!(names(dir.path()), ["memories.jsonl"]);
        assert_eq!(fs::read_to_string(&path).unwrap(), "the last one");
    }

    #[test]
    fn a_device_is_written_to_and_a_bare_name_is_in_the_current_directory() {
        let device = Path::new("/dev/null");
        let mut destination = Destination::open(device, 0o600).unwrap();
        assert!(matches!(destination, Destination::Special(_)));
        destination.write_all(b"anything").unwrap();
        destination.finish(device).unwrap();
        assert!(is_special(device));
        assert_eq!(directory(Path::new("memories.jsonl")), Path::new("."));
        assert!(Destination::open(Path::new("not-there/"), 0o600).is_err());
    }

    #[test]
    fn a_file_keeps_its_permissions() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("tags.svg");
        for mode in [0o600, 0o646] {
            fs::write(&path, "what was there").unwrap();
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            replace(&path, "the new text").unwrap();
            assert_eq!(path.metadata().unwrap().mode() & 0o777, mode);
        }
    }

    #[test]
    fn a_file_is_written_in_place_where_no_other_can_be() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("tags.svg");
        // No name has room for more.
        let long = dir.path().join("a".repeat(255));
        for path in [&path, &long] {
            fs::write(path, "what was there").unwrap();
        }
        replace(&long, "the new text").unwrap();
        fs::set_permissions(dir.path(), Permissions::from_mode(0o500)).unwrap();
        let replaced = replace(&path, "the new text");
        fs::set_permissions(dir.path(), Permissions::from_mode(0o700)).unwrap();
        replaced.unwrap();
        for path in [&path, &long] {
            assert_eq!(fs::read_to_string(path).unwrap(), "the new text");
        }
    }

    #[test]
    fn a_link_to_a_file_leads_to_it() {
        let dir = tempfile::tempdir().unwrap();
        let (file, link) = (dir.path().join("tags.svg"), dir.path().join("link"));
        fs::write(&file, "what was there").unwrap();
        symlink(&file, &link).unwrap();
        replace(&link, "the new text").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "the new text");
        assert!(link.is_symlink());
    }
}
