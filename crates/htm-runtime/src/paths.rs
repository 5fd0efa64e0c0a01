//! Where HTM keeps its files.

use std::env;
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy as _;
use htm_core::{Error, Result};

use crate::codes;

/// The directories of one HTM installation.
///
/// | directory | holds |
/// |---|---|
/// | `<home>/postgres/<version>/` | PostgreSQL's programs, put there by `./justw setup` |
/// | `<home>/models/<name>/` | a local model's weights |
/// | `<state>/data/` | the private PostgreSQL's cluster: the memories |
/// | `<state>/run/` | its unix socket |
/// | `<state>/conf/` | its settings, and who may connect |
/// | `<state>/lock/` | locks, and the mark that it is to stay |
///
/// `state` is `home` unless `HTM_DATA_DIR` names another directory, as evaluations and tests do for a database
/// that they throw away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paths {
    home: PathBuf,
    state: PathBuf,
}

impl Paths {
    /// From `HTM_HOME` and `HTM_DATA_DIR`. Without `HTM_HOME`: `/var/lib/htm` for root, whose own home other
    /// users cannot reach; `$XDG_DATA_HOME/htm` (`~/.local/share/htm`) for everybody else.
    ///
    /// # Errors
    /// `paths_no_home` when there is neither `HTM_HOME` nor a home directory.
    pub fn from_env() -> Result<Self> {
        let home = match named("HTM_HOME") {
            Some(home) => home,
            None if nix::unistd::geteuid().is_root() => PathBuf::from("/var/lib/htm"),
            None => {
                let message = "there is no home directory to keep HTM's files in";
                let xdg = etcetera::base_strategy::Xdg::new();
                xdg.map_err(|_| Error::new(codes::PATHS_NO_HOME, message))?.data_dir().join("htm")
            }
        };
        let state = named("HTM_DATA_DIR").unwrap_or_else(|| home.clone());
        Ok(Self::new(home, state))
    }

    /// `home` for what is installed, `state` for the cluster. Relative ones are taken from the current directory.
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

    /// The weights of the local model `name`, as `all-MiniLM-L6-v2`.
    pub fn model_dir(&self, name: &str) -> PathBuf {
        self.home.join("models").join(name)
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

    /// The directory of the locks.
    pub fn lock_dir(&self) -> PathBuf {
        self.state.join("lock")
    }
}

/// An environment variable that names a directory; an empty one is none.
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
