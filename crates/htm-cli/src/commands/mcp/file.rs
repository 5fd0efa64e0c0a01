//! A client's configuration file: read, compared, and replaced as a whole.

use std::fs::{self, File, Permissions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

use crate::codes;
use crate::error::CliError;

/// A file as it was read.
pub(super) struct ConfigFile {
    /// Its path, without symbolic links if it exists: a link stays a link.
    pub(super) path: PathBuf,
    /// Empty, if it does not exist.
    pub(super) text: String,
    exists: bool,
}

impl ConfigFile {
    pub(super) fn read(path: &Path) -> Result<Self, CliError> {
        let path = match fs::canonicalize(path) {
            Ok(path) => path,
            // A link to nothing is not replaced.
            Err(error) if error.kind() == ErrorKind::NotFound && fs::symlink_metadata(path).is_err() => {
                let path = std::path::absolute(path).map_err(io("found", path))?;
                return Ok(Self { path, text: String::new(), exists: false });
            }
            Err(error) => return Err(io("read", path)(error)),
        };
        let bytes = fs::read(&path).map_err(io("read", &path))?;
        let text = String::from_utf8(bytes).map_err(|_| {
            CliError::new(codes::CLIENT_CONFIG_INVALID, format!("{} is not UTF-8", path.display()))
        })?;
        Ok(Self { path, text, exists: true })
    }

    /// The changed lines: `-` as they are, `+` as they will be. Lines around them are not shown, because they may have the
    /// keys of other servers.
    pub(super) fn diff(&self, changed: &str) -> String {
        let (old, new): (Vec<&str>, Vec<&str>) = (self.text.lines().collect(), changed.lines().collect());
        let start = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
        let (old, new) = (&old[start..], &new[start..]);
        let end = old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count();
        let (old, new) = (&old[..old.len() - end], &new[..new.len() - end]);
        let mut text = format!("line {}:", start + 1);
        old.iter().for_each(|line| text.push_str(&format!("\n- {line}")));
        new.iter().for_each(|line| text.push_str(&format!("\n+ {line}")));
        text
    }

    /// Replaces the file in one step, and returns the copy of what was there. Its mode and its owner stay.
    pub(super) fn replace(&self, changed: &str) -> Result<Option<PathBuf>, CliError> {
        let dir = self.path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(dir).map_err(io("created", dir))?;
        // The umask of this process applies to a new file.
        let new = tempfile::Builder::new().permissions(Permissions::from_mode(0o666)).tempfile_in(dir);
        let mut new = new.map_err(io("written in", dir))?;
        let written = io("written", &self.path);
        let mut write = || {
            new.write_all(changed.as_bytes())?;
            if self.exists {
                self.keep_rights(new.as_file())?;
            }
            new.as_file().sync_all()
        };
        write().map_err(&written)?;
        let backup = self.exists.then(|| self.backup());
        if let Some(backup) = &backup {
            fs::copy(&self.path, backup).map_err(io("written", backup))?;
        }
        // Clients write these files too.
        if Self::read(&self.path)?.text != self.text {
            let message = format!("{} was changed by another program meanwhile", self.path.display());
            return Err(CliError::new(codes::CLIENT_CONFIG_CHANGED, message));
        }
        new.persist(&self.path).map_err(|error| written(error.error))?;
        Ok(backup)
    }

    fn keep_rights(&self, new: &File) -> std::io::Result<()> {
        let (old, own) = (fs::metadata(&self.path)?, new.metadata()?);
        if (old.uid(), old.gid()) != (own.uid(), own.gid()) {
            fchown(new, Some(old.uid()), Some(old.gid()))?;
        }
        new.set_permissions(old.permissions())
    }

    fn backup(&self) -> PathBuf {
        let mut name = self.path.clone().into_os_string();
        name.push(".htm-backup");
        name.into()
    }
}

fn io(what: &str, path: &Path) -> impl Fn(std::io::Error) -> CliError + use<> {
    let what = format!("{} cannot be {what}", path.display());
    move |error| CliError::io(what.clone())(error)
}
