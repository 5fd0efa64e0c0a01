//! `htm db upgrade` brings a private PostgreSQL of version 16 to the version that `./justw setup` installs.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use htm_runtime::paths::Paths;
use htm_tests::{Answer, Sandbox, cluster_dir, every_row, kill_server, postgres_16, wait_until};
use nix::sys::signal::Signal;
use serde_json::{Value, json};
use sqlx::{Connection, PgConnection, PgPool};
use tempfile::TempDir;

/// An `HTM_HOME` with a cluster of PostgreSQL 16.
struct Home {
    dir: TempDir,
    old: PathBuf,
    sandbox: Sandbox,
}

/// The newest PostgreSQL that `./justw setup` has installed.
fn newest() -> PathBuf {
    let found = fs::read_dir(Paths::from_env().unwrap().postgres_dir()).unwrap();
    let found = found.map(|entry| entry.unwrap().path()).filter(|path| path.join("bin/pg_upgrade").is_file());
    found.max().expect("run `./justw setup`")
}

impl Home {
    /// Makes it with memories, one of which waits for the workers, a setting, and a role and a table of somebody else.
    /// Its server runs. None, with a message, if there is no PostgreSQL 16.
    async fn new() -> Option<Self> {
        let (old, dir) = (postgres_16()?, cluster_dir());
        let sandbox = Sandbox::on("").set("HTM_HOME", &dir.path().display().to_string());
        let home = Self { dir, old, sandbox };
        fs::create_dir(home.dir.path().join("postgres")).unwrap();
        home.install(&home.old);
        home.htm(&["db", "up"]).await.succeeds();
        home.sandbox.remember(&["--tag", "sea:light", "A lighthouse keeper counts ships."]).await;
        let forgotten = home.sandbox.remember(&["A memory to forget, of ÄRGER."]).await;
        home.htm(&["forget", &forgotten, "--yes"]).await.succeeds();
        for worker in ["embed-worker", "tag-worker"] {
            home.sandbox.run(worker, &["--drain"], b"").await.succeeds();
        }
        home.sandbox.remember(&["This lighthouse waits for the workers."]).await;
        home.sql(
            "alter system set work_mem = '7MB'; create role app login; create table mine as select 42 as answer;
             create database another",
        )
        .await;
        assert_eq!(home.version(), "16");
        Some(home)
    }

    /// Makes a PostgreSQL one that is found.
    fn install(&self, place: &Path) {
        let name = place.file_name().unwrap();
        symlink(place, self.dir.path().join("postgres").join(name)).unwrap();
    }

    /// As [`install`](Self::install), for the newest one of this machine.
    fn install_new(&self) {
        self.install(&newest());
    }

    /// As [`install_new`](Self::install_new), with another `pg_upgrade`, which finds the real one in `$real`.
    fn install_new_with(&self, pg_upgrade: &str) {
        let bin = self.path("postgres/98.0/bin");
        fs::create_dir_all(&bin).unwrap();
        let real = newest().join("bin").canonicalize().unwrap();
        for program in fs::read_dir(&real).unwrap() {
            let program = program.unwrap();
            symlink(program.path(), bin.join(program.file_name())).unwrap();
        }
        fs::remove_file(bin.join("pg_upgrade")).unwrap();
        let script = format!("#!/bin/sh\nreal='{}'\n{pg_upgrade}\n", real.display());
        fs::write(bin.join("pg_upgrade"), script).unwrap();
        fs::set_permissions(bin.join("pg_upgrade"), fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// An upgrade copies whole clusters, so it gets more time than another command.
    async fn htm(&self, arguments: &[&str]) -> Answer {
        self.sandbox.htm_patiently(arguments).await
    }

    async fn url(&self) -> String {
        self.htm(&["--json", "db", "url"]).await.json()["url"].as_str().unwrap().to_owned()
    }

    async fn sql(&self, statements: &'static str) {
        let mut connection = PgConnection::connect(&self.url().await).await.unwrap();
        for statement in statements.split(';') {
            sqlx::raw_sql(statement).execute(&mut connection).await.unwrap();
        }
        connection.close().await.unwrap();
    }

    /// A value of the running server.
    async fn value(&self, sql: &'static str) -> String {
        let mut connection = PgConnection::connect(&self.url().await).await.unwrap();
        let value = sqlx::query_scalar(sql).fetch_one(&mut connection).await.unwrap();
        connection.close().await.unwrap();
        value
    }

    /// Every row of the running server.
    async fn rows(&self) -> Vec<(String, String)> {
        let pool = PgPool::connect(&self.url().await).await.unwrap();
        let mut rows = every_row(&pool).await;
        pool.close().await;
        // Each program that connects leaves traces in these.
        rows.retain(|(table, _)| table != "apalis.workers" && table != "htm.statistics_watermark");
        rows
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// The major version of the cluster.
    fn version(&self) -> String {
        fs::read_to_string(self.path("data/PG_VERSION")).unwrap().trim().to_owned()
    }

    /// Checks that the old cluster is in its place, and complete.
    async fn is_as_before(&self, rows: &[(String, String)]) {
        assert_eq!(self.version(), "16");
        self.htm(&["db", "up"]).await.succeeds();
        assert_eq!(self.rows().await, rows);
        self.htm(&["db", "down"]).await.succeeds();
    }

    /// Checks that everything that HTM stores works.
    async fn works(&self) {
        for worker in ["embed-worker", "tag-worker"] {
            self.sandbox.run(worker, &["--drain"], b"").await.succeeds();
        }
        self.htm(&["jobs", "audit"]).await.succeeds();
        for strategy in ["vector", "fulltext"] {
            let found = self.htm(&["--json", "recall", "--strategy", strategy, "lighthouse"]).await.json();
            assert_eq!(found["hits"].as_array().unwrap().len(), 2, "{strategy}: {found}");
        }
        self.sandbox.remember(&["A new memory, after the upgrade."]).await;
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        for cluster in ["data", "upgrade/new"] {
            kill_server(&self.path(cluster), Signal::SIGKILL);
        }
    }
}

#[tokio::test]
async fn pg_upgrade_brings_everything_and_the_way_back_is_open() {
    let Some(home) = Home::new().await else { return };
    let alone = home.htm(&["--json", "db", "upgrade"]).await.json();
    assert_eq!(alone["upgraded"], false, "{alone}");

    home.install_new();
    let planned = home.htm(&["--json", "db", "upgrade", "--dry-run"]).await.json();
    assert_eq!((&planned["upgraded"], &planned["plan"]["method"]), (&false.into(), &"pg_upgrade".into()));
    assert!(planned["plan"]["from"].as_str().unwrap().starts_with("16."), "{planned}");
    assert!(planned["plan"]["bytes_needed"].as_u64().unwrap() > 10_000_000, "{planned}");
    let connection = PgConnection::connect(&home.url().await).await.unwrap();
    home.htm(&["db", "upgrade"]).await.fails(2, "database_in_use");
    connection.close().await.unwrap();
    let rows = home.rows().await;
    assert_eq!((home.version().as_str(), rows.len() > 20), ("16", true), "{rows:?}");

    let answer = home.htm(&["--json", "db", "upgrade"]).await.json();
    assert_eq!((&answer["upgraded"], &answer["running"]), (&true.into(), &true.into()), "{answer}");
    assert_eq!(answer["result"]["left_behind"], Value::Array(Vec::new()));
    let vector = answer["result"]["extensions"].as_array().unwrap().iter().find(|it| it["name"] == "vector");
    let vector = vector.expect("another version of pgvector")["to"].as_str().unwrap().to_owned();
    assert_eq!(home.value("select extversion from pg_extension where extname = 'vector'").await, vector);
    assert_eq!(home.version(), answer["plan"]["to"].as_str().unwrap().split('.').next().unwrap());
    assert_eq!(home.rows().await, rows);
    assert!(!home.path("upgrade").exists());
    // What is not HTM's has come too.
    assert_eq!(home.value("show work_mem").await, "7MB");
    assert_eq!(home.value("select answer::text from mine").await, "42");
    assert_eq!(home.value("select rolname::text from pg_roles where rolname = 'app'").await, "app");
    assert_eq!(
        home.value("select datname::text from pg_database where datname = 'another'").await,
        "another"
    );
    let analysed = "select (count(*) > 0)::text from pg_stats where schemaname = 'htm'";
    assert_eq!(home.value(analysed).await, "true");
    home.works().await;
    let again = home.htm(&["--json", "db", "upgrade"]).await.json();
    assert_eq!(again["upgraded"], false, "{again}");

    home.sandbox.shell(answer["to_go_back"].as_str().unwrap()).await.succeeds();
    assert_eq!((home.version().as_str(), home.rows().await == rows), ("16", true));
    home.works().await;
    home.htm(&["db", "down"]).await.succeeds();
}

#[tokio::test]
async fn a_dump_brings_what_is_htms_and_names_the_rest() {
    let Some(home) = Home::new().await else { return };
    home.htm(&["db", "down"]).await.succeeds();
    home.install_new();
    let answer = home.htm(&["--json", "db", "upgrade", "--dump"]).await.json();
    assert_eq!((&answer["plan"]["method"], &answer["running"]), (&"dump".into(), &false.into()), "{answer}");
    let left = ["the database another", "the relation mine", "the role app"];
    assert_eq!(answer["result"]["left_behind"], serde_json::json!(left));
    assert_eq!(fs::read_to_string(home.path("data.postgresql-16/PG_VERSION")).unwrap(), "16\n");
    home.htm(&["db", "up"]).await.succeeds();
    assert_eq!(home.value("show work_mem").await, "7MB");
    // The built-in locale, as in a cluster that is new.
    assert_eq!(home.value("select datlocale from pg_database where datname = 'htm'").await, "C.UTF-8");
    home.works().await;
    home.htm(&["db", "down"]).await.succeeds();
    home.sandbox.shell(answer["to_remove_the_old"].as_str().unwrap()).await.succeeds();
    assert!(!home.path("data.postgresql-16").exists());
}

#[tokio::test]
async fn a_new_version_without_pg_upgrade_is_planned_by_a_dump() {
    let Some(home) = Home::new().await else { return };
    home.install_new_with("");
    fs::remove_file(home.path("postgres/98.0/bin/pg_upgrade")).unwrap();
    let planned = home.htm(&["--json", "db", "upgrade", "--dry-run"]).await.json();
    let plan = &planned["plan"];
    assert_eq!((&planned["upgraded"], &plan["method"]), (&false.into(), &"dump".into()), "{planned}");
    // The dump, and what is made of it.
    assert_eq!(plan["bytes_needed"].as_u64().unwrap(), 2 * plan["bytes"].as_u64().unwrap());
    let said = home.htm(&["db", "upgrade", "--dry-run"]).await;
    assert!(said.succeeds().contains("by a dump of HTM's schemas"), "{said:?}");
    assert_eq!(home.version(), "16");
    home.htm(&["db", "down"]).await.succeeds();
}

#[tokio::test]
async fn what_goes_wrong_leaves_the_old_cluster_in_its_place() {
    let Some(home) = Home::new().await else { return };
    let rows = home.rows().await;
    home.htm(&["db", "down"]).await.succeeds();
    let refused = async |arguments: &[&str], code: &str| {
        home.htm(&[&["db", "upgrade"], arguments].concat()).await.fails(1, code).to_owned()
    };
    // The programs of the old version are gone, as after a new version of a package.
    home.install_new();
    let old = home.path("postgres").join(home.old.file_name().unwrap());
    fs::remove_file(&old).unwrap();
    let up = home.htm(&["db", "up"]).await;
    assert!(up.fails(1, "private_pg_other_major").contains("`htm db upgrade`"), "{up:?}");
    refused(&[], "private_pg_no_old_programs").await;
    let other = newest().display().to_string();
    refused(&["--old-home", &other], "private_pg_no_old_programs").await;
    let named = home.old.display().to_string();
    let planned = home.htm(&["--json", "db", "upgrade", "--dry-run", "--old-home", &named]).await.json();
    assert_eq!(planned["plan"]["method"], "pg_upgrade");
    fs::remove_file(home.path("postgres").join(newest().file_name().unwrap())).unwrap();
    symlink(&home.old, old).unwrap();

    home.install_new_with("echo 'the reason is this'; exit 1");
    let said = refused(&[], "private_pg_upgrade_failed").await;
    assert!(said.contains("the reason is this"), "{said}");
    home.is_as_before(&rows).await;
    fs::remove_dir_all(home.path("postgres/98.0")).unwrap();

    home.install_new_with(
        r#""$real/pg_upgrade" "$@" || exit 1
while [ $# -gt 1 ]; do [ "$1" = --new-datadir ] && new="$2"; shift; done
echo "delete from apalis.jobs where status = 'Pending'" | "$real/postgres" --single -D "$new" htm"#,
    );
    let said = refused(&[], "private_pg_upgrade_differs").await;
    assert!(said.contains("apalis.jobs"), "{said}");
    home.is_as_before(&rows).await;
}

#[tokio::test]
async fn a_signal_ends_the_programs_of_an_upgrade_and_brings_the_old_server_back() {
    let Some(home) = Home::new().await else { return };
    let rows = home.rows().await;
    home.install_new_with("sleep 300 & echo $! >inner; echo $$ >pid; wait");
    let pid = || fs::read_to_string(home.path("upgrade/work/pid")).unwrap_or_default();
    let mut upgrade = home.sandbox.start("htm", &["--json", "db", "upgrade"]);
    wait_until(|| async { pid().ends_with('\n') }).await;
    let pids = [pid(), fs::read_to_string(home.path("upgrade/work/inner")).unwrap()];
    upgrade.signal(Signal::SIGINT);
    assert_eq!(upgrade.end().await.code(), Some(130), "{}", upgrade.log());
    let said = json!({ "stopped": true, "upgraded": false, "running": true }).to_string();
    assert!(upgrade.log().contains(&said), "{}", upgrade.log());
    for pid in pids {
        // The inner one may have become an orphan that nobody reaps.
        let status = fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
        assert!(status.is_empty() || status.contains(") Z "), "{status}");
    }
    assert!(!home.path("upgrade/new").exists() && !home.path("data.upgraded").exists());
    let status = home.htm(&["--json", "db", "status"]).await.json();
    assert_eq!((&status["running"], &status["stays"]), (&true.into(), &true.into()), "{status}");
    assert_eq!(home.rows().await, rows);
    home.htm(&["db", "down"]).await.succeeds();
}

#[tokio::test]
async fn an_interrupted_upgrade_leaves_one_whole_cluster_and_can_be_repeated() {
    let Some(home) = Home::new().await else { return };
    let rows = home.rows().await;
    home.htm(&["db", "down"]).await.succeeds();

    // Killed while `pg_upgrade` has the old cluster's server, which lives on and takes nobody else's connections.
    home.install_new_with("exec sleep 3");
    let mut killed = home.sandbox.start("htm", &["db", "upgrade"]);
    wait_until(|| async { home.path("upgrade/new/PG_VERSION").exists() }).await;
    killed.signal(Signal::SIGKILL);
    killed.end().await;
    let owner = fs::metadata(home.path("data")).unwrap();
    let (log, sockets) = (home.path("data/server.log"), cluster_dir());
    chown(sockets.path(), Some(owner.uid()), Some(owner.gid())).unwrap();
    let options = format!("-b -c listen_addresses= -k {} -p 50432", sockets.path().display());
    let started = Command::new(home.old.join("bin/pg_ctl"))
        .args(["start", "--wait", "--silent", "--options", &options, "--log"])
        .arg(log)
        .arg("--pgdata")
        .arg(home.path("data"))
        .uid(owner.uid())
        .gid(owner.gid())
        .current_dir("/")
        .status();
    assert!(started.unwrap().success());
    let started = tokio::time::timeout(Duration::from_secs(30), home.is_as_before(&rows)).await;
    started.expect("it does not wait for the server that is left");

    // Interrupted before the moves: the old one has been used since, so a new one is made.
    fs::remove_dir_all(home.path("postgres/98.0")).unwrap();
    home.install_new();
    fs::create_dir(home.path("data.upgraded")).unwrap();
    fs::write(home.path("data.upgraded/PG_VERSION"), "18\n").unwrap();
    home.sandbox.remember(&["Written after the interruption."]).await;
    let answer = home.htm(&["--json", "db", "upgrade"]).await.json();
    assert_eq!(answer["upgraded"], true, "{answer}");
    assert!(!home.path("upgrade").exists() && !home.path("data.upgraded").exists());

    // Interrupted between the two moves: the next command ends it.
    let new = home.version();
    for command in [&["db", "up"][..], &["db", "upgrade"]] {
        fs::rename(home.path("data"), home.path("data.upgraded")).unwrap();
        home.htm(command).await.succeeds();
        assert_eq!((home.version(), home.path("data.upgraded").exists()), (new.clone(), false));
        home.htm(&["db", "up"]).await.succeeds();
        assert_eq!(home.value("select count(*)::text from htm.nodes").await, "4");
        home.htm(&["db", "down"]).await.succeeds();
    }
}
