//! The private PostgreSQL: the embedded default when no `database.url` is set.
//!
//! It listens on a unix socket only, in a directory that nobody else may enter, and lets in who the kernel says is
//! its user or root. Root runs it as `postgres`, and trusts nothing in the directories that `postgres` owns. It is started by the first
//! process that uses it and stopped by the last one that lets go, unless it was told to stay:
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use htm_runtime::{paths::Paths, private_pg::PrivatePg};
//!
//! let server = PrivatePg::locate(&Paths::from_env()?)?.start().await?;
//! println!("{}", server.url());
//! server.release().await?;
//! # Ok(())
//! # }
//! ```
//!
//! Two locks keep this right, and the kernel frees both with their process, even after `kill -9`: each user
//! shares `lock/users.lock` for as long as it uses the server; whoever starts, stops or counts holds
//! `lock/server.lock` meanwhile. A user that lets go and gets `users.lock` for itself was the last.

mod cluster;
mod error;
mod install;
mod lock;
mod owned_dir;
mod server_user;
mod settings;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use htm_core::Result;

use crate::paths::Paths;
use cluster::{Cluster, ServerState, create_private_dir, remove_dir};
use error::IoContext as _;
use install::Installation;
use lock::Held;
use server_user::ServerUser;

/// A private PostgreSQL that may run or not.
#[derive(Clone, Debug)]
pub struct PrivatePg {
    paths: Paths,
    cluster: Cluster,
}

/// What [`PrivatePg::status`] tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerStatus {
    /// Whether it is ready for connections.
    pub running: bool,
    /// The process id of its postmaster, when it runs.
    pub pid: Option<i32>,
    /// The version of the programs found, as `18.6`.
    pub version: String,
    /// The directory of these programs.
    pub bin_dir: PathBuf,
    /// The cluster.
    pub data_dir: PathBuf,
    /// The directory of its socket.
    pub socket_dir: PathBuf,
    /// How to connect, whether it runs or not.
    pub url: String,
    /// Whether it stays when its last user leaves.
    pub stay: bool,
    /// Whether a process uses it; unknown while another one is starting or stopping it.
    pub in_use: Option<bool>,
}

/// What became of the server when a user let go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Released {
    /// It was the last user: the server is stopped.
    Stopped,
    /// Others still use it.
    InUse,
    /// It is to stay.
    Stays,
}

impl PrivatePg {
    /// Finds PostgreSQL's programs: in `HTM_POSTGRES_HOME/bin`, below `paths` where `./justw setup` puts them,
    /// or by `pg_config` on the PATH if that installation has the extensions. Starts nothing.
    ///
    /// # Errors
    /// `private_pg_no_binaries`, `private_pg_bad_installation`, `private_pg_no_server_user`,
    /// `private_pg_unsafe_path`.
    pub fn locate(paths: &Paths) -> Result<Self> {
        let user = ServerUser::choose()?;
        user.check_is_roots(paths.state())?;
        let installation = Installation::locate(paths, &user)?;
        let cluster = Cluster::new(installation, user, paths);
        Ok(Self { paths: paths.clone(), cluster })
    }

    /// How to connect, for sqlx and for psql; the same whether it runs or not.
    pub fn url(&self) -> String {
        self.cluster.url()
    }

    /// Starts the server unless it runs, and keeps it for this caller until the guard is released. The first
    /// start makes the cluster and its database. Once this has returned, connections succeed.
    ///
    /// # Errors
    /// Any of the `private_pg_…` [`codes`](crate::codes); a user that had it running already is not disturbed.
    pub async fn start(&self) -> Result<ServerUse> {
        self.blocking(|pg| {
            let _server = pg.lock_server()?;
            let users = Held::shared(&pg.users_lock())?;
            pg.cluster.ensure_running()?;
            Ok(ServerUse { pg: pg.clone(), users: Some(users) })
        })
        .await
    }

    /// Starts the server unless it runs, and lets it stay when its last user leaves.
    ///
    /// # Errors
    /// As [`start`](Self::start).
    pub async fn up(&self) -> Result<()> {
        self.blocking(|pg| {
            let _server = pg.lock_server()?;
            pg.cluster.ensure_running()?;
            let mark = pg.stay_mark();
            fs::write(&mark, "`htm db down` removes this and stops the server\n").or_io("write", &mark)
        })
        .await
    }

    /// Stops the server, whoever uses it, and lets it stay no longer. Connections are ended, nothing is lost.
    ///
    /// # Errors
    /// `private_pg_busy`, `private_pg_program_failed`, `private_pg_io`.
    pub async fn down(&self) -> Result<()> {
        self.blocking(|pg| {
            let _server = pg.lock_server()?;
            pg.stop_for_good()
        })
        .await
    }

    /// As [`down`](Self::down), but only when no process of HTM uses the server.
    ///
    /// # Errors
    /// As [`down`](Self::down).
    pub async fn down_unless_used(&self) -> Result<Released> {
        self.blocking(|pg| {
            let _server = pg.lock_server()?;
            let Some(_nobody) = Held::try_exclusive(&pg.users_lock())? else { return Ok(Released::InUse) };
            pg.stop_for_good()?;
            Ok(Released::Stopped)
        })
        .await
    }

    /// Stops the server and deletes the cluster: **every memory in it is gone**. The caller has asked.
    ///
    /// # Errors
    /// As [`down`](Self::down).
    pub async fn reset(&self) -> Result<()> {
        self.blocking(|pg| {
            let _server = pg.lock_server()?;
            pg.stop_for_good()?;
            remove_dir(&pg.cluster.data)?;
            remove_dir(&pg.cluster.data.with_extension("new"))
        })
        .await
    }

    /// What the server does. Starts nothing and makes no directory.
    ///
    /// # Errors
    /// `private_pg_io`, `private_pg_unsafe_path`, `private_pg_socket_dir_taken`.
    pub async fn status(&self) -> Result<ServerStatus> {
        self.blocking(|pg| {
            let pid = match pg.cluster.state()? {
                ServerState::Ready(pid) => Some(pid),
                ServerState::Stopped | ServerState::Busy => None,
            };
            Ok(ServerStatus {
                running: pid.is_some(),
                pid,
                version: pg.cluster.installation.version.clone(),
                bin_dir: pg.cluster.installation.bin.clone(),
                data_dir: pg.cluster.data.clone(),
                socket_dir: pg.cluster.socket_dir.clone(),
                url: pg.url(),
                stay: pg.stay_mark().exists(),
                in_use: pg.in_use()?,
            })
        })
        .await
    }

    fn stop_for_good(&self) -> Result<()> {
        let mark = self.stay_mark();
        if mark.exists() {
            fs::remove_file(&mark).or_io("remove", &mark)?;
        }
        self.cluster.stop()
    }

    fn in_use(&self) -> Result<Option<bool>> {
        if !self.paths.lock_dir().is_dir() {
            return Ok(Some(false));
        }
        // Under the server's lock, so that this look is not taken for a user by one that lets go meanwhile.
        let Some(_server) = Held::try_exclusive(&self.server_lock())? else { return Ok(None) };
        Ok(Some(Held::try_exclusive(&self.users_lock())?.is_none()))
    }

    fn release(&self, users: Held) -> Result<Released> {
        let _server = self.lock_server()?;
        let Some(_last) = users.into_exclusive()? else { return Ok(Released::InUse) };
        if self.stay_mark().exists() {
            return Ok(Released::Stays);
        }
        self.cluster.stop()?;
        Ok(Released::Stopped)
    }

    fn lock_server(&self) -> Result<Held> {
        self.make_dirs()?;
        Held::exclusive(&self.server_lock())
    }

    fn make_dirs(&self) -> Result<()> {
        let state = self.paths.state();
        // It may have changed since it was located.
        self.cluster.user.check_is_roots(state)?;
        if !state.exists() {
            fs::create_dir_all(state).or_io("create", state)?;
            if let ServerUser::Other(_) = self.cluster.user {
                fs::set_permissions(state, fs::Permissions::from_mode(0o755)).or_io("create", state)?;
            }
        }
        create_private_dir(&self.paths.lock_dir(), &ServerUser::Same)?;
        self.cluster.user.check_reaches(state)?;
        self.cluster.user.check_reaches(&self.cluster.installation.bin)
    }

    fn server_lock(&self) -> PathBuf {
        self.paths.lock_dir().join("server.lock")
    }

    fn users_lock(&self) -> PathBuf {
        self.paths.lock_dir().join("users.lock")
    }

    fn stay_mark(&self) -> PathBuf {
        self.paths.lock_dir().join("stay")
    }

    /// Runs `work`, which waits for locks and processes, where it holds up no other task. A caller that is
    /// cancelled meanwhile leaves it to finish; a guard that nobody takes is released.
    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Self) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let pg = self.clone();
        match tokio::task::spawn_blocking(move || work(&pg)).await {
            Ok(result) => result,
            Err(error) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                // The runtime is shutting down.
                Err(error) => Err(std::io::Error::other(error)).or_io("wait for", self.paths.state()),
            },
        }
    }
}

/// One use of a running private PostgreSQL. Release it at the end; dropping it does the same, but blocks the
/// thread meanwhile (about 0.1 s when it stops the server) and only logs what goes wrong.
#[derive(Debug)]
#[must_use = "the server may stop when this is dropped"]
pub struct ServerUse {
    pg: PrivatePg,
    users: Option<Held>,
}

impl ServerUse {
    /// How to connect.
    pub fn url(&self) -> String {
        self.pg.url()
    }

    /// The server that is used.
    pub fn server(&self) -> &PrivatePg {
        &self.pg
    }

    /// Lets go. Close the pool first: the last user stops the server, which ends its connections.
    ///
    /// # Errors
    /// `private_pg_busy`, `private_pg_program_failed`, `private_pg_io`; the use is over anyway.
    pub async fn release(mut self) -> Result<Released> {
        let Some(users) = self.users.take() else { return Ok(Released::InUse) };
        self.pg.blocking(move |pg| pg.release(users)).await
    }
}

impl Drop for ServerUse {
    fn drop(&mut self) {
        if let Some(users) = self.users.take()
            && let Err(error) = self.pg.release(users)
        {
            tracing::warn!(code = error.code(), %error, "the private PostgreSQL was not stopped");
        }
    }
}
