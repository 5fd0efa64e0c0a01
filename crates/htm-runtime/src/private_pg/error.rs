//! Why the private PostgreSQL does not run.

use std::io;
use std::path::PathBuf;

use htm_core::fault::Fault;

/// Why the private PostgreSQL could not be found, started or stopped.
#[derive(Debug, thiserror::Error)]
pub enum PrivatePgError {
    /// No installation has the programs and extensions that HTM needs.
    #[error("no PostgreSQL with pgvector was found (looked at {})", searched.join(", "))]
    NoBinaries {
        /// The places, with what was wrong with each.
        searched: Vec<String>,
    },
    /// The installation that was named, or found, cannot be used.
    #[error("the PostgreSQL in {} cannot be used: {reason}", dir.display())]
    BadInstallation {
        /// Where it is.
        dir: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// The cluster was made by another major version.
    #[error("{} was made by PostgreSQL {cluster}, but the PostgreSQL here is version {installed}", data_dir.display())]
    OtherMajor {
        /// The cluster.
        data_dir: PathBuf,
        /// Its major version, as in its `PG_VERSION`.
        cluster: String,
        /// The major version of the installation.
        installed: String,
    },
    /// The directory is there and is no cluster.
    #[error("{} is not empty and holds no PostgreSQL cluster", data_dir.display())]
    NotACluster {
        /// The directory.
        data_dir: PathBuf,
    },
    /// PostgreSQL refuses to run as root, and there is no other user to run it as.
    #[error("PostgreSQL does not run as root, and there is no user `postgres` to run it as")]
    NoServerUser,
    /// This process's user id has no name, by which the server would know it.
    #[error("the user id of this process has no name")]
    NoUserName,
    /// Somebody else could have put there what this process would act on.
    #[error("{} is not used: {reason}", path.display())]
    UnsafePath {
        /// What is not used.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// The user that PostgreSQL runs as cannot get to a directory.
    #[error("the user `{user}`, as whom PostgreSQL runs, cannot get to {} because of {}", path.display(), closed.display())]
    Unreachable {
        /// What it has to get to.
        path: PathBuf,
        /// The directory on the way that is closed to it.
        closed: PathBuf,
        /// Its name.
        user: String,
    },
    /// The socket's directory belongs to somebody else: what listens there need not be this server.
    #[error("{} is not the server's own, so no socket in it is used", path.display())]
    SocketDirTaken {
        /// The directory.
        path: PathBuf,
    },
    /// Another process has been starting or stopping the server for too long.
    #[error("another process has held {} for {waited_s} s", path.display())]
    Busy {
        /// The lock.
        path: PathBuf,
        /// How long this process waited, in seconds.
        waited_s: u64,
    },
    /// A program of PostgreSQL failed.
    #[error("`{program}` failed: {output}")]
    Program {
        /// As `initdb`, `pg_ctl start`.
        program: &'static str,
        /// The end of what it and the server's log said.
        output: String,
    },
    /// The file system refused something.
    #[error("could not {action} {}", path.display())]
    Io {
        /// As `create`, `lock`.
        action: &'static str,
        /// What.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

impl PrivatePgError {
    /// A stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoBinaries { .. } => "private_pg_no_binaries",
            Self::BadInstallation { .. } => "private_pg_bad_installation",
            Self::OtherMajor { .. } => "private_pg_other_major",
            Self::NotACluster { .. } => "private_pg_not_a_cluster",
            Self::NoServerUser => "private_pg_no_server_user",
            Self::NoUserName => "private_pg_no_user_name",
            Self::UnsafePath { .. } => "private_pg_unsafe_path",
            Self::Unreachable { .. } => "private_pg_unreachable",
            Self::SocketDirTaken { .. } => "private_pg_socket_dir_taken",
            Self::Busy { .. } => "private_pg_busy",
            Self::Program { .. } => "private_pg_program_failed",
            Self::Io { .. } => "private_pg_io",
        }
    }

    /// What to do next.
    pub fn hint(&self) -> String {
        match self {
            Self::NoBinaries { .. } => {
                "run `./justw setup`, or set database.url to a PostgreSQL that runs already".into()
            }
            Self::BadInstallation { .. } => {
                "run `./justw setup` and unset HTM_POSTGRES_HOME, or install what is missing".into()
            }
            Self::OtherMajor { cluster, .. } => format!(
                "set HTM_POSTGRES_HOME to a PostgreSQL {cluster}; or dump with it and load into a new cluster; or, \
                 to lose every memory in it, run `htm db reset`"
            ),
            Self::NotACluster { .. } => {
                "move its files elsewhere, or set HTM_DATA_DIR to another directory".into()
            }
            Self::NoServerUser => "create a user for it: `useradd --system --shell /usr/sbin/nologin postgres`; or \
                                   run htm as another user than root"
                .into(),
            Self::NoUserName => "give it a name in /etc/passwd, or run htm as another user".into(),
            Self::UnsafePath { .. } => {
                "find out who put it there, and remove it; as root, HTM_HOME and HTM_DATA_DIR must be directories \
                 that only root may write to, and so must be those above them"
                    .into()
            }
            Self::Unreachable { closed, .. } => format!(
                "set HTM_HOME to a directory that others can reach, such as /var/lib/htm, or run `chmod o+x {}`",
                closed.display()
            ),
            Self::SocketDirTaken { path } => format!(
                "find out whose {} is, and remove it; or set HTM_HOME, or HTM_DATA_DIR, to another path",
                path.display()
            ),
            Self::Busy { .. } => "try again; if it stays so, look for a hanging `htm` or `pg_ctl`".into(),
            Self::Program { .. } => {
                "read the server's log: server.log in the data directory of `htm db status`".into()
            }
            Self::Io { .. } => {
                "check that the directory may be written to and that the disk is not full".into()
            }
        }
    }

    /// Who has to act.
    pub fn fault(&self) -> Fault {
        match self {
            Self::Busy { .. } => Fault::Transient,
            _ => Fault::Permanent,
        }
    }
}

/// Names what was done to which path when the file system refuses.
pub(super) trait IoContext<T> {
    fn or_io(self, action: &'static str, path: &std::path::Path) -> Result<T, PrivatePgError>;
}

impl<T> IoContext<T> for io::Result<T> {
    fn or_io(self, action: &'static str, path: &std::path::Path) -> Result<T, PrivatePgError> {
        self.map_err(|source| PrivatePgError::Io { action, path: path.to_path_buf(), source })
    }
}
