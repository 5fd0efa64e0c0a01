//! The directories of HTM's files.

use std::env;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use htm_core::{Error, Result};
use serde::Serializer;

use crate::{codes, packages};

/// The directories of one HTM installation.
///
/// | directory | holds |
/// |---|---|
/// | `<home>/postgres/<version>/` | PostgreSQL's programs, installed by `./justw setup` |
/// | `<home>/models/<name>/` | a local model's weights |
/// | `<home>/cache/` | vectors of the ontology, by which the local tagger starts sooner |
/// | `<state>/data/` | the private PostgreSQL's cluster: the memories |
/// | `<state>/run/` | its unix socket |
/// | `<state>/conf/` | its settings, and who may connect |
/// | `<state>/upgrade/` | what `htm db upgrade` makes, until it is done |
/// | `<state>/lock/` | locks, and the marks of a server that stays up or down |
/// | `<state>/shell/` | the sockets on which servers take commands of the shell |
///
/// `state` is `home` unless `HTM_DATA_DIR` names another directory. Evaluations and tests use that for temporary
/// databases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paths {
    home: PathBuf,
    state: PathBuf,
}

impl Paths {
    /// Reads `HTM_HOME` and `HTM_DATA_DIR`. See [`home`](htm_providers::local::home) for a program without `HTM_HOME`.
    ///
    /// # Errors
    /// `paths_no_home` without `HTM_HOME` and without a home directory.
    pub fn from_env() -> Result<Self> {
        let message = "there is no home directory for HTM's files";
        let home = htm_providers::local::home().ok_or_else(|| Error::new(codes::PATHS_NO_HOME, message))?;
        let state = named("HTM_DATA_DIR").unwrap_or_else(|| home.clone());
        Ok(Self::new(home, state))
    }

    /// `home` is for installed files, `state` for the cluster. Relative paths start at the current directory.
    pub fn new(home: impl AsRef<Path>, state: impl AsRef<Path>) -> Self {
        Self { home: absolute(home.as_ref()), state: absolute(state.as_ref()) }
    }

    /// `HTM_HOME`.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// `HTM_DATA_DIR`.
    pub fn state(&self) -> &Path {
        &self.state
    }

    /// The directory with a subdirectory for each installed version of PostgreSQL.
    pub fn postgres_dir(&self) -> PathBuf {
        self.home.join("postgres")
    }

    /// The directory of the local model `name`, such as `all-MiniLM-L6-v2`.
    pub fn model_dir(&self, name: &str) -> PathBuf {
        self.home.join("models").join(name)
    }

    /// The directory where the local model `name` is: that below `HTM_HOME`, else that of a Python package that was
    /// installed with this program. Without either, the one below `HTM_HOME`.
    pub fn found_model_dir(&self, name: &str) -> PathBuf {
        let own = self.model_dir(name);
        if own.is_dir() { own } else { packages::model(name).unwrap_or(own) }
    }

    /// The private PostgreSQL's cluster.
    pub fn data_dir(&self) -> PathBuf {
        self.state.join("data")
    }

    /// The directory of its unix socket.
    pub fn run_dir(&self) -> PathBuf {
        self.state.join("run")
    }

    /// The directory of its settings.
    pub fn conf_dir(&self) -> PathBuf {
        self.state.join("conf")
    }

    /// The directory of an upgrade to a newer major version of PostgreSQL, while it is not done.
    pub fn upgrade_dir(&self) -> PathBuf {
        self.state.join("upgrade")
    }

    /// The directory of the locks.
    pub fn lock_dir(&self) -> PathBuf {
        self.state.join("lock")
    }

    /// The directory of the sockets for the shell.
    pub fn shell_dir(&self) -> PathBuf {
        self.state.join("shell")
    }
}

/// The bytes of the files below a directory. Unreadable entries are passed over.
pub fn size_of(directory: &Path) -> u64 {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.metadata() {
            Ok(metadata) if metadata.is_dir() => size_of(&entry.path()),
            Ok(metadata) => metadata.len(),
            Err(_) => 0,
        })
        .sum()
}

/// Brings the names in a directory to the disk. Some file systems cannot do it, and some directories cannot be read: PostgreSQL
/// goes on there too.
///
/// # Errors
/// Those of the disk. A file that was renamed has its new name all the same.
pub fn sync_names(directory: &Path) -> io::Result<()> {
    let opened = match File::open(directory) {
        Err(error) if error.kind() == ErrorKind::PermissionDenied => return Ok(()),
        opened => opened?,
    };
    match opened.sync_all() {
        Err(error) if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::Unsupported) => Ok(()),
        synced => synced,
    }
}

/// A path in an answer. One that is not UTF-8 is shown as well as it can be, rather than that there is no answer.
pub(crate) fn readable<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(&path.display())
}

/// The directory in an environment variable. None if it is unset or empty.
pub(crate) fn named(variable: &str) -> Option<PathBuf> {
    env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from)
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn state_moves_the_cluster_and_nothing_else() {
        let paths = Paths::new("/a", "/b");
        assert_eq!(paths.data_dir(), Path::new("/b/data"));
        assert_eq!(paths.model_dir("m"), Path::new("/a/models/m"));
        assert_eq!(paths.postgres_dir(), Path::new("/a/postgres"));
    }
}
