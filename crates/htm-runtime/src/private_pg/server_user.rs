//! As whom PostgreSQL runs: it refuses to run as root.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use nix::unistd::{User, geteuid};

use super::error::{IoContext as _, PrivatePgError};

/// The user of the server's processes and files.
#[derive(Clone, Debug)]
pub(super) enum ServerUser {
    /// The one that this process runs as.
    Same,
    /// This process is root's; the server is run as this user.
    Other(User),
}

impl ServerUser {
    /// For root `postgres`, else `nobody`; for others themselves.
    pub(super) fn choose() -> Result<Self, PrivatePgError> {
        if !geteuid().is_root() {
            return Ok(Self::Same);
        }
        ["postgres", "nobody"]
            .into_iter()
            .find_map(|name| User::from_name(name).ok().flatten())
            .map(Self::Other)
            .ok_or(PrivatePgError::NoServerUser)
    }

    /// Makes `command` run as this user, with none of root's groups.
    pub(super) fn run_as<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        match self {
            Self::Same => command,
            Self::Other(user) => command.uid(user.uid.as_raw()).gid(user.gid.as_raw()),
        }
    }

    /// Gives `path` to this user.
    pub(super) fn own(&self, path: &Path) -> Result<(), PrivatePgError> {
        match self {
            Self::Same => Ok(()),
            Self::Other(user) => chown(path, Some(user.uid.as_raw()), Some(user.gid.as_raw()))
                .or_io("change the owner of", path),
        }
    }

    /// The user id of the server's files.
    pub(super) fn uid(&self) -> u32 {
        match self {
            Self::Same => geteuid().as_raw(),
            Self::Other(user) => user.uid.as_raw(),
        }
    }

    /// Checks that this user may enter the directory `path` and each one above it.
    pub(super) fn check_reaches(&self, path: &Path) -> Result<(), PrivatePgError> {
        let Self::Other(user) = self else { return Ok(()) };
        for dir in path.ancestors().collect::<Vec<_>>().into_iter().rev() {
            let meta = fs::metadata(dir).or_io("look at", dir)?;
            let enter = if meta.uid() == user.uid.as_raw() {
                0o100
            } else if meta.gid() == user.gid.as_raw() {
                0o010
            } else {
                0o001
            };
            if meta.mode() & enter == 0 {
                return Err(PrivatePgError::Unreachable {
                    path: path.to_path_buf(),
                    closed: dir.to_path_buf(),
                    user: user.name.clone(),
                });
            }
        }
        Ok(())
    }
}
