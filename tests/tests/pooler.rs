//! PgBouncer between the programs and PostgreSQL is refused at the start: it loses the settings of connections, on which
//! the restriction of tenants rests.

use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command};

use htm_tests::{OwnServer, Sandbox, cluster_dir, wait_until};
use tempfile::TempDir;

/// PgBouncer in front of a server.
struct Pooler {
    process: Child,
    dir: TempDir,
}

impl Pooler {
    /// Starts it, with more settings. None, with a message, if there is none.
    async fn start(server: &OwnServer, settings: &str) -> Option<Self> {
        let installed = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer", "/usr/local/bin/pgbouncer"];
        let mut command = match installed.into_iter().find(|path| Path::new(path).exists()) {
            Some(path) => Command::new(path),
            None => htm_tests::pgbouncer()?,
        };
        let files = server.files().await;
        let (dir, owner) = (cluster_dir(), std::fs::metadata(&files.data).unwrap());
        let config = dir.path().join("pgbouncer.ini");
        let text = format!(
            "[databases]\n* = host={}\n[pgbouncer]\nlisten_addr =\nunix_socket_dir = {place}\nauth_type = trust\n\
             auth_file = {place}/users\npool_mode = transaction\n{settings}",
            files.socket.display(),
            place = dir.path().display()
        );
        std::fs::write(&config, text).unwrap();
        std::fs::write(dir.path().join("users"), "\"postgres\" \"\"\n").unwrap();
        chown(dir.path(), Some(owner.uid()), Some(owner.gid())).unwrap();
        let process = command.arg("-q").arg(&config).uid(owner.uid()).gid(owner.gid()).spawn().unwrap();
        let pooler = Self { process, dir };
        wait_until(|| async { pooler.dir.path().join(".s.PGSQL.6432").exists() }).await;
        Some(pooler)
    }

    fn url(&self) -> String {
        let socket = self.dir.path().display().to_string().replace('/', "%2F");
        format!("postgres://postgres@{socket}:6432/htm?sslmode=disable")
    }
}

impl Drop for Pooler {
    fn drop(&mut self) {
        // An error means that it has ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[tokio::test]
async fn a_pooler_is_refused_with_what_to_set() {
    let server = OwnServer::start().await;
    server.serve_replicas().await;
    for settings in ["", "ignore_startup_parameters = extra_float_digits, options\n"] {
        let Some(pooler) = Pooler::start(&server, settings).await else { return };
        let sandbox = Sandbox::on(&pooler.url());
        for program in [
            &["htm", "remember", "--direct", "text"][..],
            &["htm", "serve"],
            &["htm", "db", "migrate"],
            &["htm", "up"],
            &["htm", "mcp"],
            &["embed-worker", "--drain"],
            &["tag-worker", "--drain"],
            &["learn-worker", "--drain"],
        ] {
            let answer = sandbox.run(program[0], &program[1..], b"").await;
            answer.exits(1);
            assert!(answer.stderr.contains("database_pooled"), "{settings}{program:?}: {}", answer.stderr);
            assert!(answer.stderr.contains("PostgreSQL's own host and port"), "{}", answer.stderr);
        }
    }
}
