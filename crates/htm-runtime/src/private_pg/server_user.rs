//! The user that PostgreSQL runs as. It refuses to run as root.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, lchown};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use htm_core::{Error, Result};
use nix::unistd::{User, geteuid};

use super::error::{IoContext as _, unreachable, unsafe_path};
use crate::codes;

/// The user of the server's processes and files.
#[derive(Clone, Debug)]
pub(super) enum ServerUser {
    /// The user of this process.
    Same,
    /// Another user, because this process runs as root.
    Other(User),
}

impl ServerUser {
    /// For root it is `postgres`, for others themselves. `nobody` is not used, because other services run as `nobody`
    /// too and could read and change every memory.
    pub(super) fn choose() -> Result<Self> {
        Self::chosen(geteuid().is_root(), |name| User::from_name(name).ok().flatten())
    }

    fn chosen(is_root: bool, find: impl Fn(&str) -> Option<User>) -> Result<Self> {
        if !is_root {
            return Ok(Self::Same);
        }
        let user = find("postgres").filter(|user| !user.uid.is_root());
        user.map(Self::Other).ok_or_else(|| {
            let message = "PostgreSQL does not run as root, and there is no user `postgres` to run it as";
            Error::new(codes::PRIVATE_PG_NO_SERVER_USER, message)
        })
    }

    /// Makes `command` run as this user, with none of root's groups.
    pub(super) fn run_as<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        match self {
            Self::Same => command,
            Self::Other(user) => command.uid(user.uid.as_raw()).gid(user.gid.as_raw()),
        }
    }

    /// Makes this user the owner of `path`. Does not follow a link.
    pub(super) fn own(&self, path: &Path) -> Result<()> {
        match self {
            Self::Same => Ok(()),
            Self::Other(user) => lchown(path, Some(user.uid.as_raw()), Some(user.gid.as_raw()))
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

    /// The names of the users that may connect: this process's user and the server's.
    pub(super) fn names(&self) -> Result<Vec<String>> {
        let own = User::from_uid(geteuid()).ok().flatten().ok_or_else(|| {
            Error::new(codes::PRIVATE_PG_NO_USER_NAME, "the user id of this process has no name")
        });
        match self {
            Self::Same => Ok(vec![own?.name]),
            Self::Other(user) => Ok(vec![own?.name, user.name.clone()]),
        }
    }

    /// Checks that only root can replace `path` or its content. As root, this process creates, changes and removes
    /// files there. For other users the check is not needed.
    pub(super) fn check_is_roots(&self, path: &Path) -> Result<()> {
        const STICKY: u32 = 0o1000;
        let Self::Other(_) = self else { return Ok(()) };
        let Some(there) = path.ancestors().find(|dir| dir.exists()) else { return Ok(()) };
        let real = there.canonicalize().or_io("look at", there)?;
        for dir in real.ancestors() {
            let meta = fs::symlink_metadata(dir).or_io("look at", dir)?;
            let reason = if meta.uid() != 0 {
                format!("{} belongs to the user with the id {}", dir.display(), meta.uid())
            } else if meta.mode() & 0o022 != 0 && (meta.mode() & STICKY == 0 || there == path && dir == real)
            {
                format!("others may write to {}", dir.display())
            } else {
                continue;
            };
            return Err(unsafe_path(path, &reason));
        }
        Ok(())
    }

    /// Checks that this user may enter the directory `path` and each one above it.
    pub(super) fn check_reaches(&self, path: &Path) -> Result<()> {
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
                return Err(unreachable(path, dir, &user.name));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_without_a_user_for_the_server_is_refused() {
        let nobody =
            |name: &str| (name == "nobody").then(|| User::from_uid(geteuid()).ok().flatten()).flatten();
        let error = ServerUser::chosen(true, nobody).unwrap_err();
        assert_eq!(error.code(), "private_pg_no_server_user");
        assert!(error.hint().contains("useradd --system"), "{}", error.hint());
        assert!(matches!(ServerUser::chosen(false, nobody), Ok(ServerUser::Same)));
    }
}
