//! A PostgreSQL server for one test, which the test may crash.

use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use htm_runtime::paths::Paths;
use htm_runtime::private_pg::PrivatePg;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use sqlx::PgPool;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use tempfile::TempDir;

use crate::wait_until;

/// A migrated database on a server of its own.
pub struct OwnServer {
    server: PrivatePg,
    // The server writes into it until it is killed in `drop`.
    dir: TempDir,
    /// A pool on the database. It reconnects after a crash, as an application's pool does.
    pub pool: PgPool,
}

impl OwnServer {
    /// Creates a cluster and starts the server.
    pub async fn start() -> Self {
        Self::start_of(crate::server::paths().home()).await
    }

    /// As [`start`](Self::start), of a PostgreSQL that also has pgvectorscale and pg_textsearch. None, with a message, if it
    /// cannot be fetched.
    pub async fn start_extended() -> Option<Self> {
        let installed = crate::fetched("extensions", "PostgreSQL with pgvectorscale and pg_textsearch")?;
        Some(Self::start_installed(&installed).await)
    }

    /// As [`start`](Self::start), of PostgreSQL 16. None, with a message, if it cannot be fetched.
    pub async fn start_16() -> Option<Self> {
        Some(Self::start_installed(&crate::postgres_16()?).await)
    }

    async fn start_installed(installed: &Path) -> Self {
        Self::start_of(installed.ancestors().nth(2).expect("HOME/postgres/VERSION")).await
    }

    async fn start_of(home: &Path) -> Self {
        let dir = crate::cluster_dir();
        let server = PrivatePg::locate(&Paths::new(home, dir.path())).expect("run `./justw setup`");
        server.up().await.expect("it starts");
        let options: PgConnectOptions = server.url().parse().expect("its URL");
        htm_migration::up(&options).await.expect("it is migrated");
        let pool = PgPoolOptions::new()
            .max_connections(10)
            .acquire_timeout(Duration::from_secs(5))
            .connect_with(options)
            .await
            .expect("it answers");
        Self { server, dir, pool }
    }

    /// The URL.
    pub fn url(&self) -> String {
        self.server.url()
    }

    /// Restarts the server to listen also on `address`, for clients of the network `from` (such as `10.0.0.0/24`). It
    /// is started by hand, because htm opens no port. Needs root.
    pub async fn listen(&self, address: &str, from: &str) {
        let rules = format!("local all all trust\nhost all all {from} trust\n");
        self.restart_by_hand(&rules, &[("listen_addresses", address)]).await;
    }

    /// Restarts the server with room for this many connections.
    pub async fn allow_connections(&self, number: u32) {
        let settings = [("listen_addresses", "''"), ("max_connections", &*number.to_string())];
        self.restart_by_hand("local all all trust\n", &settings).await;
    }

    /// Restarts the server with a library that has to be there from its start.
    pub async fn preload(&self, library: &str) {
        let settings = [("listen_addresses", "''"), ("shared_preload_libraries", library)];
        self.restart_by_hand("local all all trust\n", &settings).await;
    }

    /// Restarts the server to let replicas stream from it.
    pub async fn serve_replicas(&self) {
        self.restart_by_hand("local all,replication all trust\n", &[("listen_addresses", "''")]).await;
    }

    /// Restarts the server to archive its write-ahead log, and lets it be copied. Returns the archive's directory.
    pub async fn archive(&self) -> PathBuf {
        let files = self.files().await;
        let archive = self.dir.path().join("archive");
        std::fs::create_dir(&archive).expect("a directory");
        let owner = std::fs::metadata(&files.data).expect("the cluster's directory");
        chown(&archive, Some(owner.uid()), Some(owner.gid())).expect("an owner");
        // Whole under its name at once.
        let command = format!(
            "alter system set archive_command = 'cp %p {place}/%f.part && mv {place}/%f.part {place}/%f'",
            place = archive.display()
        );
        sqlx::raw_sql(sqlx::AssertSqlSafe(command)).execute(&self.pool).await.expect("a setting");
        let settings = [("listen_addresses", "''"), ("archive_mode", "on")];
        self.restart_by_hand("local all,replication all trust\n", &settings).await;
        archive
    }

    async fn restart_by_hand(&self, rules: &str, settings: &[(&str, &str)]) {
        let files = self.files().await;
        // Not a crash: the processes of one may hold the cluster's memory for a moment.
        let stopped = files
            .program("pg_ctl", &files.data)
            .args(["stop", "--mode=fast", "--wait", "--silent", "--pgdata"])
            .arg(&files.data)
            .status();
        assert!(stopped.expect("pg_ctl runs").success(), "it stops");
        let hba = self.dir.path().join("open_hba.conf");
        std::fs::write(&hba, rules).expect("a pg_hba.conf");
        let config = self.dir.path().join("conf/postgresql.conf").display().to_string();
        let hba = hba.display().to_string();
        let settings = [&[("config_file", &*config), ("hba_file", &*hba)], settings].concat();
        start_by_hand(&files, &settings);
    }

    /// The files of the server.
    pub async fn files(&self) -> ServerFiles {
        let status = self.server.status().await.expect("its status");
        ServerFiles { programs: status.bin_dir, data: status.data_dir, socket: status.socket_dir }
    }

    /// Crashes the server (`immediate` shutdown): nothing is flushed, and every connection breaks.
    pub async fn crash(&self) {
        let pid = self.server.status().await.expect("its status").pid.expect("it runs");
        kill(Pid::from_raw(pid as i32), Signal::SIGQUIT).expect("it is there");
        wait_until(|| async { !self.server.status().await.expect("its status").running }).await;
    }

    /// Starts the server again. It recovers from its write-ahead log.
    pub async fn restart(&self) {
        self.server.up().await.expect("it starts again");
    }
}

/// The files of a server.
#[derive(Clone, Debug)]
pub struct ServerFiles {
    /// The directory of PostgreSQL's programs.
    pub programs: PathBuf,
    /// The cluster.
    pub data: PathBuf,
    /// The directory of its socket.
    pub socket: PathBuf,
}

impl ServerFiles {
    /// A program of PostgreSQL, as the owner of a directory.
    pub fn program(&self, name: &str, owned: &Path) -> Command {
        let owner = std::fs::metadata(owned).expect("a directory");
        let mut command = Command::new(self.programs.join(name));
        command.uid(owner.uid()).gid(owner.gid()).current_dir("/");
        command
    }
}

/// Starts a server with these settings, and waits until it answers.
pub(crate) fn start_by_hand(files: &ServerFiles, settings: &[(&str, &str)]) {
    let socket = files.socket.display().to_string();
    let mut options = format!("-c unix_socket_directories={socket}");
    for (name, value) in settings {
        options += &format!(" -c {name}={value}");
    }
    let started = files
        .program("pg_ctl", &files.data)
        .args(["start", "--wait", "--silent", "--log", "/dev/null", "--options", &options, "--pgdata"])
        .arg(&files.data)
        .status();
    assert!(started.expect("pg_ctl runs").success(), "it starts");
}

/// Kills the server of a data directory. The parts of a killed postmaster end by themselves.
pub fn kill_server(data: &Path, signal: Signal) {
    let pid_file = data.join("postmaster.pid");
    let pid = std::fs::read_to_string(pid_file).ok().and_then(|text| text.lines().next()?.parse().ok());
    if let Some(pid) = pid {
        // An error means that it is gone already.
        let _ = kill(Pid::from_raw(pid), signal);
    }
}

impl Drop for OwnServer {
    fn drop(&mut self) {
        kill_server(&self.dir.path().join("data"), Signal::SIGKILL);
    }
}
