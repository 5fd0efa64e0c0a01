//! A PostgreSQL of the test's own, to be crashed.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
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

/// A migrated database on a server that no other test uses.
pub struct OwnServer {
    // Dropped last: the server writes into it.
    server: PrivatePg,
    dir: TempDir,
    /// Connected to it; its connections survive a crash as an application's do.
    pub pool: PgPool,
}

impl OwnServer {
    /// Makes a cluster and starts it.
    pub async fn start() -> Self {
        let dir = tempfile::Builder::new().prefix("htm-own").tempdir().expect("a directory");
        // As root, the server runs as another user.
        std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o755)).expect("permissions");
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

    /// Its URL.
    pub fn url(&self) -> String {
        self.server.url()
    }

    /// Listens on `address` too, for clients of the network `from` (as `10.0.0.0/24`); it restarts for it, by hand:
    /// htm itself opens no port. Takes root.
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

    /// Stops it as a crash does (`immediate`): nothing is flushed, every connection breaks.
    pub async fn crash(&self) {
        let pid = self.server.status().await.expect("its status").pid.expect("it runs");
        kill(Pid::from_raw(pid as i32), Signal::SIGQUIT).expect("it is there");
        wait_until(|| async { !self.server.status().await.expect("its status").running }).await;
    }

    /// Starts it again: it recovers from its log.
    pub async fn restart(&self) {
        self.server.up().await.expect("it starts again");
    }
}

impl Drop for OwnServer {
    fn drop(&mut self) {
        let pid_file = self.dir.path().join("data/postmaster.pid");
        let pid = std::fs::read_to_string(pid_file).ok().and_then(|text| text.lines().next()?.parse().ok());
        if let Some(pid) = pid {
            // It is to go in any case; one that is gone already is as good.
            let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
        }
    }
}
