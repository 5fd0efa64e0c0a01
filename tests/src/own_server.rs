//! A PostgreSQL server for one test, which the test may crash.

use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
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
        let dir = crate::cluster_dir();
        let home = crate::server::paths().home().to_owned();
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
        let status = self.server.status().await.expect("its status");
        self.crash().await;
        let hba = self.dir.path().join("open_hba.conf");
        std::fs::write(&hba, format!("local all all trust\nhost all all {from} trust\n"))
            .expect("a pg_hba.conf");
        let options = format!(
            "-c config_file={}/conf/postgresql.conf -c hba_file={} -c unix_socket_directories={} \
             -c listen_addresses={address}",
            self.dir.path().display(),
            hba.display(),
            status.socket_dir.display()
        );
        let owner = std::fs::metadata(&status.data_dir).expect("the cluster's directory");
        let started = Command::new(status.bin_dir.join("pg_ctl"))
            .args(["start", "--wait", "--silent", "--log", "/dev/null", "--options", &options, "--pgdata"])
            .arg(&status.data_dir)
            .uid(owner.uid())
            .gid(owner.gid())
            .current_dir("/")
            .status();
        assert!(started.expect("pg_ctl runs").success(), "it starts");
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

impl Drop for OwnServer {
    fn drop(&mut self) {
        let pid_file = self.dir.path().join("data/postmaster.pid");
        let pid = std::fs::read_to_string(pid_file).ok().and_then(|text| text.lines().next()?.parse().ok());
        if let Some(pid) = pid {
            // An error means that it is gone already.
            let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
        }
    }
}
