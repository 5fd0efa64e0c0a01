//! A PostgreSQL of the test's own, to be crashed.

use std::os::unix::fs::PermissionsExt;
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

    /// Listens on `address` too, for clients of the network `from` (as `10.0.0.0/24`); it restarts for it.
    pub async fn listen(&self, address: &str, from: &str) {
        let hba = self.dir.path().join("data/pg_hba.conf");
        let mut text = std::fs::read_to_string(&hba).expect("its pg_hba.conf");
        text.push_str(&format!("host all all {from} trust\n"));
        // In place, not renamed: the file is the server user's.
        std::fs::write(&hba, text).expect("its pg_hba.conf is written");
        sqlx::raw_sql(sqlx::AssertSqlSafe(format!("alter system set listen_addresses = '{address}'")))
            .execute(&self.pool)
            .await
            .expect("a setting");
        self.crash().await;
        self.restart().await;
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
