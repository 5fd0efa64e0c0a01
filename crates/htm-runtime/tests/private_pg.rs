//! The private PostgreSQL, with real programs. Where there are none (`./justw setup` was not run), each test says
//! so and passes.

#![allow(clippy::unwrap_used)] // helpers of tests too

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, lchown, symlink};
use std::os::unix::net::UnixListener;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use htm_runtime::codes;
use htm_runtime::paths::Paths;
use htm_runtime::private_pg::{PrivatePg, Released};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use sqlx::{Connection as _, PgConnection};
use tempfile::TempDir;

/// Set for the process that [`a_killed_user_does_not_count`] kills: the state directory.
const HOLD: &str = "HTM_TEST_HOLD";

/// A user who has nothing to do with the server.
const NOBODY: u32 = 65_534;

/// A server of its own, and the directory that it lives in.
fn server() -> Option<(PrivatePg, TempDir)> {
    let dir = tempfile::Builder::new().prefix("htm").tempdir_in("/tmp").unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
    Some((located(&Paths::new(Paths::from_env().unwrap().home(), dir.path()))?, dir))
}

fn located(paths: &Paths) -> Option<PrivatePg> {
    match PrivatePg::locate(paths) {
        Ok(pg) => Some(pg),
        Err(error) if error.is(codes::PRIVATE_PG_NO_BINARIES) => {
            println!("skipped: {error}; {}", error.hint());
            None
        }
        Err(error) => panic!("{error}"),
    }
}

async fn setting(url: &str, name: &str) -> String {
    let mut connection = PgConnection::connect(url).await.unwrap();
    let value =
        sqlx::query_scalar("select current_setting($1)").bind(name).fetch_one(&mut connection).await.unwrap();
    connection.close().await.unwrap();
    value
}

/// Whether this process is root's: attacks by the server's user, and by others, take another user.
fn is_root() -> bool {
    let root = nix::unistd::geteuid().is_root();
    if !root {
        println!("skipped: not root");
    }
    root
}

/// Writes a file as the server's user does.
fn plant(data: &Path, name: &str, text: &str) {
    let meta = fs::metadata(data).unwrap();
    fs::write(data.join(name), text).unwrap();
    chown(data.join(name), Some(meta.uid()), Some(meta.gid())).unwrap();
}

/// Puts a link in the place of a file, as the server's user can.
fn plant_link(data: &Path, name: &str, to: &Path) {
    let meta = fs::metadata(data).unwrap();
    let _ = fs::remove_file(data.join(name));
    symlink(to, data.join(name)).unwrap();
    lchown(data.join(name), Some(meta.uid()), Some(meta.gid())).unwrap();
}

#[tokio::test]
async fn the_last_of_two_users_stops_it() {
    let Some((pg, _dir)) = server() else { return };
    let one = pg.start().await.unwrap();
    let pid = pg.status().await.unwrap().pid.unwrap();
    let two = pg.start().await.unwrap();
    let status = pg.status().await.unwrap();
    assert_eq!((status.pid, status.in_use, status.stay), (Some(pid), Some(true), false));

    assert_eq!(one.release().await.unwrap(), Released::InUse);
    assert_eq!(setting(&two.url(), "fsync").await, "on");
    // A child that lives on inherits no lock.
    let mut child = Command::new("sleep").arg("60").spawn().unwrap();
    assert_eq!(two.release().await.unwrap(), Released::Stopped);
    child.kill().unwrap();
    child.wait().unwrap();
    let status = pg.status().await.unwrap();
    assert_eq!((status.running, status.in_use), (false, Some(false)));
}

#[tokio::test]
async fn it_is_a_durable_unicode_database_on_a_socket_that_others_cannot_reach() {
    let Some((pg, _dir)) = server() else { return };
    let server = pg.start().await.unwrap();
    let url = server.url();
    for (name, value) in [
        ("fsync", "on"),
        ("synchronous_commit", "on"),
        ("full_page_writes", "on"),
        ("server_encoding", "UTF8"),
        ("listen_addresses", ""),
        ("max_connections", "200"),
        ("TimeZone", "UTC"),
    ] {
        assert_eq!(setting(&url, name).await, value, "{name}");
    }
    let mut connection = PgConnection::connect(&url).await.unwrap();
    for extension in ["vector", "pg_trgm", "hstore"] {
        sqlx::raw_sql(sqlx::AssertSqlSafe(format!("create extension {extension}")))
            .execute(&mut connection)
            .await
            .unwrap();
    }
    // Letters beyond ASCII have two cases too, in comparisons and in full text.
    let folded: bool = sqlx::query_scalar(
        "select lower('ÄRGER') = 'ärger' and to_tsvector('german', 'ÄRGER') = to_tsvector('german', 'ärger')",
    )
    .fetch_one(&mut connection)
    .await
    .unwrap();
    assert!(folded);
    connection.close().await.unwrap();
    let meta = fs::metadata(pg.status().await.unwrap().socket_dir).unwrap();
    assert_eq!(meta.mode() & 0o777, 0o700);
    server.release().await.unwrap();
}

#[tokio::test]
async fn nothing_opens_a_port_or_lets_others_in() {
    let Some((pg, dir)) = server() else { return };
    let server = pg.start().await.unwrap();
    let status = pg.status().await.unwrap();
    let mut connection = PgConnection::connect(&server.url()).await.unwrap();
    // By its own superuser, and by who removes the files.
    sqlx::raw_sql("alter system set listen_addresses = '*'").execute(&mut connection).await.unwrap();
    sqlx::raw_sql("alter system set unix_socket_permissions = '0777'")
        .execute(&mut connection)
        .await
        .unwrap();
    connection.close().await.unwrap();
    server.release().await.unwrap();
    fs::remove_dir_all(dir.path().join("conf")).unwrap();
    fs::remove_file(status.data_dir.join("pg_hba.conf")).unwrap();
    fs::remove_file(status.data_dir.join("postgresql.conf")).unwrap();

    let server = pg.start().await.unwrap();
    for (name, value) in [
        ("listen_addresses", ""),
        ("unix_socket_permissions", "0700"),
        ("max_connections", "200"),
        ("hba_file", &dir.path().join("conf/pg_hba.conf").display().to_string()),
    ] {
        assert_eq!(setting(&server.url(), name).await, value, "{name}");
    }
    let mut connection = PgConnection::connect(&server.url()).await.unwrap();
    let rules: Vec<String> =
        sqlx::query_scalar("select type || ' ' || auth_method from pg_hba_file_rules where error is null")
            .fetch_all(&mut connection)
            .await
            .unwrap();
    assert_eq!(rules, ["local peer"]);
    connection.close().await.unwrap();
    server.release().await.unwrap();
}

#[tokio::test]
async fn a_cluster_that_is_started_by_hand_trusts_nobody() {
    let Some((pg, _dir)) = server() else { return };
    pg.start().await.unwrap().release().await.unwrap();
    let hba = fs::read_to_string(pg.status().await.unwrap().data_dir.join("pg_hba.conf")).unwrap();
    let rules: Vec<_> = hba.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    assert!(!rules.is_empty(), "{hba}");
    for rule in rules {
        assert!(rule.ends_with(" peer") || rule.ends_with(" reject"), "{rule}");
    }
}

#[tokio::test]
async fn another_user_who_reaches_the_socket_is_refused() {
    let Some((pg, _dir)) = server() else { return };
    if !is_root() {
        return;
    }
    let server = pg.start().await.unwrap();
    let status = pg.status().await.unwrap();
    let mode = |mode| fs::set_permissions(&status.socket_dir, fs::Permissions::from_mode(mode)).unwrap();
    mode(0o755);
    let socket = status.socket_dir.join(".s.PGSQL.5432");
    fs::set_permissions(&socket, fs::Permissions::from_mode(0o777)).unwrap();
    let ask = |uid: u32, role: &str| {
        Command::new(status.bin_dir.join("psql"))
            .args([
                "--no-psqlrc",
                "--tuples-only",
                "--command",
                "select 1",
                "--username",
                role,
                "--dbname",
                "htm",
            ])
            .arg("--host")
            .arg(&status.socket_dir)
            .uid(uid)
            .current_dir("/")
            .output()
            .unwrap()
    };
    let refused = ask(NOBODY, "postgres");
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success() && said.contains("Peer authentication failed"), "{said}");
    assert!(ask(0, "postgres").status.success());
    mode(0o700);
    server.release().await.unwrap();
}

#[tokio::test]
async fn root_follows_no_link_that_the_servers_user_plants() {
    let Some((pg, dir)) = server() else { return };
    if !is_root() {
        return;
    }
    pg.start().await.unwrap().release().await.unwrap();
    let data = pg.status().await.unwrap().data_dir;
    let victim = dir.path().join("victim");
    fs::write(&victim, "18\nroot:secret-hash\n").unwrap();
    fs::set_permissions(&victim, fs::Permissions::from_mode(0o600)).unwrap();
    let untouched = || {
        let meta = fs::metadata(&victim).unwrap();
        assert_eq!((meta.uid(), meta.mode() & 0o777), (0, 0o600));
        assert_eq!(fs::read_to_string(&victim).unwrap(), "18\nroot:secret-hash\n");
    };

    // What root wrote and gave away at each start.
    plant_link(&data, "htm.conf", &victim);
    let server = pg.start().await.unwrap();
    untouched();
    server.release().await.unwrap();
    untouched();

    // What root reads, and tells.
    for name in ["PG_VERSION", "postmaster.pid", "server.log"] {
        let kept = fs::read_to_string(data.join(name)).ok();
        plant_link(&data, name, &victim);
        let error = pg.start().await.unwrap_err();
        let said = format!("{error} {} {error:?}", error.hint());
        assert!(!said.contains("secret-hash"), "{name}: {said}");
        if name != "server.log" {
            assert_eq!(error.code(), "private_pg_unsafe_path", "{name}");
        }
        untouched();
        fs::remove_file(data.join(name)).unwrap();
        if let Some(kept) = kept {
            plant(&data, name, &kept);
        }
    }

    // A second name of root's file is no link, and a pipe that nobody writes to would be waited for.
    fs::hard_link(&victim, data.join("postmaster.pid")).unwrap();
    assert_eq!(pg.status().await.unwrap_err().code(), "private_pg_unsafe_path");
    fs::remove_file(data.join("postmaster.pid")).unwrap();
    nix::unistd::mkfifo(&data.join("postmaster.pid"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    let status = tokio::time::timeout(Duration::from_secs(20), pg.status()).await.expect("it does not wait");
    assert_eq!(status.unwrap_err().code(), "private_pg_unsafe_path");
    fs::remove_file(data.join("postmaster.pid")).unwrap();
    untouched();

    assert_eq!(pg.start().await.unwrap().release().await.unwrap(), Released::Stopped);
}

#[tokio::test]
async fn root_uses_no_directory_that_others_may_change() {
    let Some((pg, dir)) = server() else { return };
    if !is_root() {
        return;
    }
    let refused = async |pg: &PrivatePg| {
        assert_eq!(pg.start().await.unwrap_err().code(), "private_pg_unsafe_path");
        let located = PrivatePg::locate(&Paths::new(Paths::from_env().unwrap().home(), dir.path()));
        assert_eq!(located.unwrap_err().code(), "private_pg_unsafe_path");
    };
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o777)).unwrap();
    refused(&pg).await;
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o1777)).unwrap();
    refused(&pg).await;
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
    chown(dir.path(), Some(NOBODY), None).unwrap();
    refused(&pg).await;
    let below = Paths::new(Paths::from_env().unwrap().home(), dir.path().join("of/root"));
    assert_eq!(PrivatePg::locate(&below).unwrap_err().code(), "private_pg_unsafe_path");
    assert!(!dir.path().join("of").exists());
    chown(dir.path(), Some(0), None).unwrap();
}

#[tokio::test]
async fn a_socket_directory_of_somebody_else_is_not_used() {
    let Some((_, dir)) = server() else { return };
    if !is_root() {
        return;
    }
    let state = dir.path().join("x".repeat(120));
    let pg = located(&Paths::new(Paths::from_env().unwrap().home(), state)).unwrap();
    pg.start().await.unwrap().release().await.unwrap();
    let status = pg.status().await.unwrap();
    fs::remove_dir_all(&status.socket_dir).unwrap();

    // In /tmp, anybody can make it while there is none, and answer in the server's place.
    fs::create_dir(&status.socket_dir).unwrap();
    fs::set_permissions(&status.socket_dir, fs::Permissions::from_mode(0o700)).unwrap();
    let foreign = UnixListener::bind(status.socket_dir.join(".s.PGSQL.5432")).unwrap();
    chown(&status.socket_dir, Some(NOBODY), None).unwrap();
    assert_eq!(pg.start().await.unwrap_err().code(), "private_pg_socket_dir_taken");
    plant(&status.data_dir, "postmaster.pid", "1\n\n\n\n\n\n\nready\n");
    for _ in 0..2 {
        assert_eq!(pg.status().await.unwrap_err().code(), "private_pg_socket_dir_taken");
        assert_eq!(pg.start().await.unwrap_err().code(), "private_pg_socket_dir_taken");
    }
    foreign.set_nonblocking(true).unwrap();
    assert!(foreign.accept().is_err(), "nobody has connected to it");
    fs::remove_dir_all(&status.socket_dir).unwrap();
    fs::remove_file(status.data_dir.join("postmaster.pid")).unwrap();
}

#[tokio::test]
async fn it_starts_again_after_kill_9_with_what_was_committed() {
    let Some((pg, _dir)) = server() else { return };
    let before = pg.start().await.unwrap();
    let mut connection = PgConnection::connect(&before.url()).await.unwrap();
    sqlx::raw_sql("create table kept as select 42 as answer").execute(&mut connection).await.unwrap();
    let pid = pg.status().await.unwrap().pid.unwrap();
    kill(Pid::from_raw(pid), Signal::SIGKILL).unwrap();
    while pg.status().await.unwrap().running {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }

    let after = pg.start().await.unwrap();
    assert_ne!(pg.status().await.unwrap().pid, Some(pid));
    let mut connection = PgConnection::connect(&after.url()).await.unwrap();
    let answer: i32 = sqlx::query_scalar("select answer from kept").fetch_one(&mut connection).await.unwrap();
    assert_eq!(answer, 42);
    assert_eq!(before.release().await.unwrap(), Released::InUse);
    assert_eq!(after.release().await.unwrap(), Released::Stopped);
}

#[tokio::test]
async fn a_use_that_keeps_it_running_starts_it_again_unless_somebody_stopped_it_on_purpose() {
    let Some((pg, _dir)) = server() else { return };
    let server = pg.start().await.unwrap();
    server.keep_running();
    let pid = async || pg.status().await.unwrap().pid;
    let runs_again = async |ended: Option<i32>| {
        loop {
            match pid().await {
                Some(pid) if Some(pid) != ended => return,
                _ => tokio::time::sleep(Duration::from_millis(20)).await,
            }
        }
    };
    for signal in [Signal::SIGINT, Signal::SIGKILL] {
        let ended = pid().await;
        kill(Pid::from_raw(ended.unwrap()), signal).unwrap();
        runs_again(ended).await;
        assert_eq!(setting(&server.url(), "fsync").await, "on");
    }
    pg.down().await.unwrap();
    // Longer than until the next start.
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!(pid().await, None);

    let other = pg.start().await.unwrap();
    let ended = pid().await;
    kill(Pid::from_raw(ended.unwrap()), Signal::SIGINT).unwrap();
    runs_again(ended).await;
    assert_eq!(other.release().await.unwrap(), Released::InUse);
    assert_eq!(server.release().await.unwrap(), Released::Stopped);
    assert_eq!(pid().await, None);
}

#[tokio::test]
async fn a_query_that_outlives_a_killed_server_does_not_keep_the_next_one_from_its_start() {
    let Some((pg, _dir)) = server() else { return };
    let before = pg.start().await.unwrap();
    let mut busy = PgConnection::connect(&before.url()).await.unwrap();
    let query = sqlx::raw_sql("do $$ begin loop null; end loop; end $$").execute(&mut busy);
    let killed = async {
        let mut watch = PgConnection::connect(&before.url()).await.unwrap();
        let running =
            "select exists (select from pg_stat_activity where state = 'active' and query like 'do %')";
        while !sqlx::query_scalar::<_, bool>(running).fetch_one(&mut watch).await.unwrap() {}
        let pid = pg.status().await.unwrap().pid.unwrap();
        kill(Pid::from_raw(pid), Signal::SIGKILL).unwrap();
        while pg.status().await.unwrap().running {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        pg.start().await.unwrap()
    };
    let (query, after) = tokio::join!(query, killed);
    assert!(query.is_err(), "the query was ended");
    assert_eq!(before.release().await.unwrap(), Released::InUse);
    assert_eq!(after.release().await.unwrap(), Released::Stopped);
}

#[tokio::test]
async fn a_stale_pid_file_with_the_number_of_another_process_is_no_server() {
    let Some((pg, _dir)) = server() else { return };
    pg.start().await.unwrap().release().await.unwrap();
    let status = pg.status().await.unwrap();
    let text = format!("{}\n{}\n0\n5432\n\n\n\nready\n", std::process::id(), status.data_dir.display());
    plant(&status.data_dir, "postmaster.pid", &text);
    fs::write(status.socket_dir.join(".s.PGSQL.5432.lock"), &text).unwrap();
    if cfg!(target_os = "linux") {
        assert!(!pg.status().await.unwrap().running);
        assert_eq!(pg.start().await.unwrap().release().await.unwrap(), Released::Stopped);
    }
}

#[tokio::test]
async fn a_lock_of_the_socket_alone_with_the_number_of_another_process_is_no_server() {
    let (Some((pg, _dir)), Some((another, _another_dir))) = (server(), server()) else { return };
    // PostgreSQL itself ignores the number of a process that starts it, or of another user's process. So this test takes
    // the number of another server of the same user.
    let alive = another.start().await.unwrap();
    let pid = another.status().await.unwrap().pid.unwrap();
    pg.start().await.unwrap().release().await.unwrap();
    let status = pg.status().await.unwrap();
    let text = format!("{pid}\n{}\n0\n5432\n", status.data_dir.display());
    fs::write(status.socket_dir.join(".s.PGSQL.5432.lock"), text).unwrap();
    assert_eq!(pg.start().await.unwrap().release().await.unwrap(), Released::Stopped);
    assert_eq!(alive.release().await.unwrap(), Released::Stopped);
}

#[tokio::test]
async fn the_mark_to_stay_outlives_its_users_until_down() {
    let Some((pg, _dir)) = server() else { return };
    pg.up().await.unwrap();
    assert_eq!(pg.start().await.unwrap().release().await.unwrap(), Released::Stays);
    let status = pg.status().await.unwrap();
    assert_eq!((status.running, status.stay, status.in_use), (true, true, Some(false)));
    pg.down().await.unwrap();
    let status = pg.status().await.unwrap();
    assert_eq!((status.running, status.stay), (false, false));
    pg.down().await.unwrap();
}

#[tokio::test]
async fn a_server_that_another_stops_at_the_same_moment_is_stopped() {
    let Some((pg, dir)) = server() else { return };
    pg.up().await.unwrap();
    // The same installation, but its `pg_ctl` comes late: somebody else has stopped the server.
    let bin = pg.status().await.unwrap().bin_dir;
    let late = dir.path().join("postgres/18.0/bin");
    fs::create_dir_all(&late).unwrap();
    for program in ["postgres", "initdb"] {
        symlink(bin.join(program), late.join(program)).unwrap();
    }
    let real = bin.join("pg_ctl").display().to_string();
    let script = format!("#!/bin/sh\n{real} \"$@\"\nexec {real} \"$@\"\n");
    fs::write(late.join("pg_ctl"), script).unwrap();
    fs::set_permissions(late.join("pg_ctl"), fs::Permissions::from_mode(0o755)).unwrap();
    let other = located(&Paths::new(dir.path(), dir.path())).unwrap();
    other.down().await.unwrap();
    assert!(!pg.status().await.unwrap().running);
}

#[tokio::test]
async fn a_dropped_use_stops_it_and_reset_deletes_the_cluster() {
    let Some((pg, _dir)) = server() else { return };
    drop(pg.start().await.unwrap());
    let status = pg.status().await.unwrap();
    assert!(!status.running && status.data_dir.join("PG_VERSION").exists());
    pg.reset().await.unwrap();
    assert!(!status.data_dir.exists());
    assert_eq!(pg.start().await.unwrap().release().await.unwrap(), Released::Stopped);
}

#[tokio::test]
async fn many_start_at_once_and_one_server_runs() {
    let Some((pg, _dir)) = server() else { return };
    let starts: Vec<_> = (0..6)
        .map(|_| {
            let pg = pg.clone();
            tokio::spawn(async move { pg.start().await.unwrap() })
        })
        .collect();
    let mut uses = Vec::new();
    for start in starts {
        uses.push(start.await.unwrap());
    }
    let mut released = Vec::new();
    for one in uses {
        released.push(one.release().await.unwrap());
    }
    assert_eq!(released.iter().filter(|one| **one == Released::Stopped).count(), 1, "{released:?}");
    assert_eq!(released.last(), Some(&Released::Stopped));
}

#[tokio::test]
async fn a_killed_user_does_not_count() {
    if let Some(state) = std::env::var_os(HOLD) {
        let pg = located(&Paths::new(Paths::from_env().unwrap().home(), state)).unwrap();
        let _server = pg.start().await.unwrap();
        println!("holding");
        tokio::time::sleep(Duration::from_secs(120)).await;
        return;
    }
    let Some((pg, dir)) = server() else { return };
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "a_killed_user_does_not_count", "--nocapture"])
        .env(HOLD, dir.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.map_while(Result::ok).any(|line| line.contains("holding")));
    assert_eq!(pg.status().await.unwrap().in_use, Some(true));
    child.kill().unwrap();
    child.wait().unwrap();

    let status = pg.status().await.unwrap();
    assert_eq!((status.running, status.in_use), (true, Some(false)));
    assert_eq!(pg.start().await.unwrap().release().await.unwrap(), Released::Stopped);
}

#[tokio::test]
async fn a_cluster_of_another_major_version_is_left_alone() {
    let Some((pg, _dir)) = server() else { return };
    pg.start().await.unwrap().release().await.unwrap();
    let version = pg.status().await.unwrap().data_dir.join("PG_VERSION");
    fs::write(&version, "12\n").unwrap();
    let error = pg.start().await.unwrap_err();
    assert_eq!(error.code(), "private_pg_other_major");
    assert!(error.hint().contains("HTM_POSTGRES_HOME to a PostgreSQL 12"), "{}", error.hint());
    assert!(error.hint().contains("htm db upgrade"), "{}", error.hint());
}

#[tokio::test]
async fn foreign_files_are_no_cluster_and_stay() {
    let Some((pg, dir)) = server() else { return };
    let data = dir.path().join("data");
    fs::create_dir(&data).unwrap();
    fs::write(data.join("letter.txt"), "dear").unwrap();
    assert_eq!(pg.start().await.unwrap_err().code(), "private_pg_not_a_cluster");
    assert!(data.join("letter.txt").exists());
}

#[tokio::test]
async fn a_long_path_gets_a_short_socket_directory() {
    let Some((_, dir)) = server() else { return };
    let state = dir.path().join("x".repeat(120));
    let pg = located(&Paths::new(Paths::from_env().unwrap().home(), state)).unwrap();
    let server = pg.start().await.unwrap();
    assert_eq!(setting(&server.url(), "fsync").await, "on");
    let socket_dir = pg.status().await.unwrap().socket_dir;
    assert!(socket_dir.starts_with("/tmp"));
    assert_eq!(server.release().await.unwrap(), Released::Stopped);
    fs::remove_dir(socket_dir).unwrap();
}

#[tokio::test]
async fn root_runs_it_as_another_user_who_must_get_there() {
    if !nix::unistd::geteuid().is_root() {
        println!("skipped: not root");
        return;
    }
    let Some((pg, dir)) = server() else { return };
    let server = pg.start().await.unwrap();
    let pid = pg.status().await.unwrap().pid.unwrap();
    assert_ne!(fs::metadata(pg.status().await.unwrap().data_dir).unwrap().uid(), 0);
    if cfg!(target_os = "linux") {
        assert_ne!(fs::metadata(format!("/proc/{pid}")).unwrap().uid(), 0);
        // It has none of root's variables, among which a key may be.
        let variables = fs::read(format!("/proc/{pid}/environ")).unwrap();
        let variables = String::from_utf8_lossy(&variables);
        assert!(
            std::env::var_os("CARGO_MANIFEST_DIR").is_some() && !variables.contains("CARGO"),
            "{variables}"
        );
    }
    server.release().await.unwrap();

    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o700)).unwrap();
    let error = pg.start().await.unwrap_err();
    assert_eq!(error.code(), "private_pg_unreachable");
    assert!(error.hint().contains(&format!("chmod o+x {}", dir.path().display())), "{}", error.hint());
}
