//! A streaming replica of a test's server, which the test may delay, kill and promote.

use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::Path;
use std::time::Duration;

use nix::sys::signal::Signal;
use sqlx::PgPool;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use tempfile::TempDir;

use crate::own_server::{ServerFiles, kill_server, start_by_hand};
use crate::{OwnServer, wait_until};

/// A replica on a server of its own.
pub struct Replica {
    files: ServerFiles,
    // The server writes into it until it is killed in `drop`.
    _dir: TempDir,
    /// A pool on the replica.
    pub pool: PgPool,
}

/// The copied files of a primary, not started yet.
pub struct BaseBackup {
    files: ServerFiles,
    dir: TempDir,
}

impl BaseBackup {
    /// Starts it as of a moment, from the primary's archive of its write-ahead log.
    pub async fn at(self, archive: &Path, moment: &str) -> Replica {
        let settings = format!(
            "restore_command = 'cp {}/%f %p'\nrecovery_target_time = '{}'\nrecovery_target_action = 'promote'\n\
             archive_command = 'true'\n",
            archive.display(),
            moment
        );
        self.configure(&settings, "recovery.signal");
        let server = self.start().await;
        until_promoted(&server.pool).await;
        server
    }

    fn configure(&self, settings: &str, signal: &str) {
        let path = self.files.data.join("postgresql.auto.conf");
        let mut text = std::fs::read_to_string(&path).expect("its settings");
        text.push_str(settings);
        std::fs::write(&path, text).expect("its settings");
        let signal = self.files.data.join(signal);
        std::fs::write(&signal, "").expect("a signal");
        let owner = std::fs::metadata(&self.files.data).expect("its directory");
        chown(&signal, Some(owner.uid()), Some(owner.gid())).expect("an owner");
    }

    async fn start(self) -> Replica {
        // A replica needs as much room for connections as its primary.
        start_by_hand(&self.files, &[("listen_addresses", "''"), ("max_connections", "200")]);
        let options: PgConnectOptions = url_of(&self.files).parse().expect("its URL");
        let pool = PgPoolOptions::new().max_connections(4).acquire_timeout(Duration::from_secs(5));
        let pool = pool.connect_with(options).await.expect("it answers");
        Replica { files: self.files, _dir: self.dir, pool }
    }
}

impl Replica {
    /// Copies a primary that [serves replicas](OwnServer::serve_replicas), and streams from it under a name.
    pub async fn of(primary: &OwnServer, name: &str) -> Self {
        let copy = Self::copy(primary).await;
        let source =
            format!("host={} user=postgres application_name={name}", primary.files().await.socket.display());
        copy.configure(&format!("primary_conninfo = '{source}'\n"), "standby.signal");
        copy.start().await
    }

    /// Copies a primary that [serves replicas](OwnServer::serve_replicas) or [archives](OwnServer::archive).
    pub async fn copy(primary: &OwnServer) -> BaseBackup {
        let dir = crate::cluster_dir();
        let from = primary.files().await;
        let files =
            ServerFiles { data: dir.path().join("data"), socket: dir.path().join("run"), ..from.clone() };
        let owner = std::fs::metadata(&from.data).expect("the primary's directory");
        for place in [&files.data, &files.socket] {
            std::fs::create_dir(place).expect("a directory");
            std::fs::set_permissions(place, std::fs::Permissions::from_mode(0o700)).expect("permissions");
            chown(place, Some(owner.uid()), Some(owner.gid())).expect("an owner");
        }
        let source = format!("host={} user=postgres", from.socket.display());
        let copied = from
            .program("pg_basebackup", &from.data)
            .args(["--checkpoint=fast", "--no-sync", "--dbname", &source, "--pgdata"])
            .arg(&files.data)
            .output()
            .expect("pg_basebackup runs");
        assert!(copied.status.success(), "{}", String::from_utf8_lossy(&copied.stderr));
        std::fs::write(files.data.join("pg_hba.conf"), "local all,replication all trust\n")
            .expect("its rules");
        BaseBackup { files, dir }
    }

    /// The URL.
    pub fn url(&self) -> String {
        url_of(&self.files)
    }

    /// Stops replaying, or goes on.
    pub async fn pause(&self, paused: bool) {
        let function = if paused { "pg_wal_replay_pause" } else { "pg_wal_replay_resume" };
        sqlx::query(sqlx::AssertSqlSafe(format!("select {function}()")))
            .execute(&self.pool)
            .await
            .expect("it is a replica");
        let wanted = if paused { "paused" } else { "not paused" };
        wait_until(|| async {
            let state = sqlx::query_scalar::<_, String>("select pg_get_wal_replay_pause_state()");
            state.fetch_one(&self.pool).await.expect("its state") == wanted
        })
        .await;
    }

    /// Waits until everything that the primary has written until now is replayed.
    pub async fn catch_up(&self, primary: &PgPool) {
        let written: String = sqlx::query_scalar("select pg_current_wal_flush_lsn()::text")
            .fetch_one(primary)
            .await
            .expect("the primary's position");
        wait_until(|| async {
            let replayed = sqlx::query_scalar::<_, bool>("select pg_last_wal_replay_lsn() >= $1::pg_lsn");
            replayed.bind(&written).fetch_one(&self.pool).await.expect("its position")
        })
        .await;
    }

    /// Makes it a primary.
    pub async fn promote(&self) {
        // A statement that waits for it has a snapshot, for which replay may wait half a minute. Then it ends the statement.
        sqlx::query("select pg_promote(false)").execute(&self.pool).await.expect("it is a replica");
        until_promoted(&self.pool).await;
    }

    /// Kills its server at once.
    pub fn kill(&self) {
        kill_server(&self.files.data, Signal::SIGQUIT);
    }
}

impl Drop for Replica {
    fn drop(&mut self) {
        kill_server(&self.files.data, Signal::SIGKILL);
    }
}

async fn until_promoted(pool: &PgPool) {
    wait_until(|| async {
        let recovers = sqlx::query_scalar::<_, bool>("select pg_is_in_recovery()").fetch_one(pool).await;
        recovers.is_ok_and(|recovers| !recovers)
    })
    .await;
}

fn url_of(files: &ServerFiles) -> String {
    let socket = files.socket.display().to_string().replace('/', "%2F");
    format!("postgres://postgres@{socket}:5432/htm?sslmode=disable")
}
