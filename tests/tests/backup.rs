//! `htm db backup` and `htm db restore`: everything comes back, a damaged backup is noticed, and a base backup with archived
//! WAL goes back to a moment.

use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use htm_core::{Memory, RecallQuery};
use htm_runtime::paths::Paths;
use htm_tests::{OwnServer, Replica, Sandbox, TestDatabase, drain, every_row, wait_until};
use nix::sys::signal::Signal;
use serde_json::Value;
use sqlx::PgPool;

/// The programs on a database, with those of the tests' PostgreSQL.
fn sandbox(db: &TestDatabase) -> Sandbox {
    let home = Paths::from_env().unwrap().home().display().to_string();
    Sandbox::new(db).set("HTM_HOME", &home)
}

/// A database with memories of two namespaces, embedded, tagged, edited, forgotten, and a dead letter.
async fn filled() -> TestDatabase {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    for (namespace, text) in [("atlas", "A lighthouse keeper."), ("other", "A lighthouse of others.")] {
        htm.remember(Memory::new(text).namespace(namespace)).await.unwrap();
    }
    let sandbox = Sandbox::new(&db);
    let forgotten = sandbox.remember(&["--tag", "a:b", "A memory to forget."]).await;
    sandbox.htm(&["forget", &forgotten, "--yes"]).await.succeeds();
    drain(&db, htm_core::Stage::Embed).await;
    drain(&db, htm_core::Stage::Tag).await;
    sandbox.remember(&["This one waits for the workers."]).await;
    db
}

/// The catalogue of tables, indexes, constraints, policies, functions and rights.
async fn catalogue(pool: &PgPool) -> Vec<String> {
    sqlx::query_scalar(
        "select indexdef from pg_indexes where schemaname in ('htm', 'apalis')
         union all select conrelid::regclass || ' ' || pg_get_constraintdef(oid) from pg_constraint
                    where connamespace::regnamespace::text in ('htm', 'apalis')
         union all select concat_ws(' ', tablename, policyname, permissive, roles, qual, with_check) from pg_policies
         union all select pg_get_functiondef(oid) from pg_proc
                    where pronamespace::regnamespace::text in ('htm', 'apalis') and prokind = 'f'
         union all select pg_get_triggerdef(oid) from pg_trigger where not tgisinternal
         union all select concat_ws(' ', oid::regclass, relrowsecurity, relacl::text) from pg_class
                    where relnamespace::regnamespace::text in ('htm', 'apalis')
         union all select extname from pg_extension
         order by 1",
    )
    .fetch_all(pool)
    .await
    .unwrap()
}

#[tokio::test]
async fn a_backup_that_is_interrupted_leaves_nothing() {
    let db = filled().await;
    let sandbox = sandbox(&db);
    let place = Path::new(&sandbox.write("name", "")).with_file_name("backup");
    let mut lock = db.pool.begin().await.unwrap();
    sqlx::query("lock table htm.nodes in access exclusive mode").execute(&mut *lock).await.unwrap();
    let mut backup = sandbox.start("htm", &["db", "backup", &place.display().to_string()]);
    let parts = || {
        let names = place.parent().unwrap().read_dir().unwrap().map(|it| it.unwrap().file_name());
        names.filter(|name| name.to_string_lossy().starts_with("backup")).count()
    };
    wait_until(|| async { parts() == 1 }).await;
    backup.signal(Signal::SIGINT);
    assert_eq!(backup.end().await.code(), Some(130), "{}", backup.log());
    assert_eq!(parts(), 0);
}

#[tokio::test]
async fn everything_comes_back() {
    let db = filled().await;
    let sandbox = sandbox(&db);
    let place = sandbox.write("name", "");
    let place = Path::new(&place).with_file_name("backup").display().to_string();
    let saved = sandbox.htm(&["--json", "db", "backup", &place]).await.json();
    assert_eq!(saved["manifest"]["tables"]["htm.nodes"], 4, "{saved}");
    assert!(saved["bytes"].as_u64().unwrap() > 10_000, "{saved}");
    let again = sandbox.htm(&["db", "backup", &place]).await;
    again.exits(2);
    assert!(again.stderr.contains("backup_exists"), "{}", again.stderr);

    let other = TestDatabase::empty().await;
    let at_other = self::sandbox(&other);
    let restored = at_other.htm(&["--json", "db", "restore", &place]).await.json();
    assert_eq!(restored["stranded"], 0);
    assert_eq!(every_row(&other.pool).await, every_row(&db.pool).await);
    assert_eq!(catalogue(&other.pool).await, catalogue(&db.pool).await);

    // It goes on where it was: the jobs run, new memories get new numbers, tenants are kept apart.
    let htm = other.htm();
    let new =
        htm.remember(Memory::new("A lighthouse after the restoration.").namespace("atlas")).await.unwrap();
    assert_eq!(other.count("select count(*) from htm.nodes").await, 5);
    assert_eq!(new.node, htm.get(new.node).await.unwrap().id);
    drain(&other, htm_core::Stage::Embed).await;
    drain(&other, htm_core::Stage::Tag).await;
    let waiting = other.count("select count(*) from apalis.jobs where status = 'Pending'").await;
    assert_eq!(waiting, 0);
    let tenant = htm.within(["atlas"]).unwrap();
    assert_eq!(tenant.recall(&RecallQuery::new("lighthouse")).await.unwrap().hits.len(), 2);

    let full = at_other.htm(&["db", "restore", &place]).await;
    full.exits(2);
    assert!(full.stderr.contains("database_not_empty"), "{}", full.stderr);
}

#[tokio::test]
async fn writes_go_on_meanwhile_and_one_moment_comes_back() {
    let db = TestDatabase::new().await;
    let sandbox = sandbox(&db);
    let place = Path::new(&sandbox.write("name", "")).with_file_name("backup").display().to_string();
    let htm = db.htm();
    let written = AtomicU64::new(0);
    let writes = async {
        loop {
            let number = written.load(Relaxed);
            htm.remember(Memory::new(format!("memory {number}"))).await.unwrap();
            written.store(number + 1, Relaxed);
        }
    };
    let backup = async {
        wait_until(|| async { written.load(Relaxed) > 0 }).await;
        let before = written.load(Relaxed);
        let saved = sandbox.htm(&["--json", "db", "backup", &place]).await.json();
        (before, saved["manifest"]["tables"]["htm.nodes"].as_u64().unwrap(), written.load(Relaxed))
    };
    let (before, saved, after) = tokio::select! {
        saved = backup => saved,
        () = writes => unreachable!(),
    };
    assert!(before <= saved && saved <= after + 1 && before < after, "{before} {saved} {after}");
    let other = TestDatabase::empty().await;
    let restored = self::sandbox(&other).htm(&["--json", "db", "restore", &place]).await.json();
    assert_eq!(restored["stranded"], 0);
    assert_eq!(other.count("select count(*) from htm.nodes").await as u64, saved);
}

#[tokio::test]
async fn a_private_server_is_saved_and_comes_back_in_another_place() {
    let (one, other) = (htm_tests::cluster_dir(), htm_tests::cluster_dir());
    let home = Paths::from_env().unwrap().home().display().to_string();
    let private =
        |dir: &Path| Sandbox::on("").set("HTM_HOME", &home).set("HTM_DATA_DIR", &dir.display().to_string());
    let (one, other) = (private(one.path()), private(other.path()));
    one.htm(&["db", "up"]).await.succeeds();
    one.htm(&["db", "migrate"]).await.succeeds();
    let node = one.remember(&["A lighthouse keeper."]).await;
    let place = Path::new(&one.write("name", "")).with_file_name("backup").display().to_string();
    one.htm(&["db", "backup", &place]).await.succeeds();
    one.htm(&["db", "down"]).await.succeeds();
    other.htm(&["db", "up"]).await.succeeds();
    other.htm(&["db", "restore", &place]).await.succeeds();
    let hits = other.htm(&["--json", "recall", "--strategy", "fulltext", "lighthouse"]).await.json();
    assert_eq!(hits["hits"][0]["id"].to_string(), node, "{hits}");
    other.htm(&["db", "down"]).await.succeeds();
}

#[tokio::test]
async fn a_backup_that_is_not_whole_is_noticed() {
    let db = filled().await;
    let sandbox = sandbox(&db);
    let place = Path::new(&sandbox.write("name", "")).with_file_name("backup");
    let name = place.display().to_string();
    sandbox.htm(&["db", "backup", &name]).await.succeeds();
    let refused = async |code: &str| {
        let empty = TestDatabase::empty().await;
        let answer = self::sandbox(&empty).htm(&["db", "restore", &name]).await;
        assert!(answer.stderr.contains(code), "{code}: {}", answer.stderr);
    };
    let manifest = std::fs::read_to_string(place.join("manifest.json")).unwrap();
    let mut changed: Value = serde_json::from_str(&manifest).unwrap();
    changed["tables"]["htm.nodes"] = 5.into();
    std::fs::write(place.join("manifest.json"), changed.to_string()).unwrap();
    refused("backup_differs").await;
    changed["format"] = 2.into();
    std::fs::write(place.join("manifest.json"), changed.to_string()).unwrap();
    refused("backup_invalid").await;
    std::fs::write(place.join("manifest.json"), &manifest).unwrap();
    let mut of_tables = std::fs::read_dir(place.join("dump")).unwrap();
    let one = of_tables.find_map(|entry| {
        let path = entry.unwrap().path();
        path.extension().is_some_and(|extension| extension == "gz").then_some(path)
    });
    std::fs::remove_file(one.unwrap()).unwrap();
    refused("backup_failed").await;
    std::fs::remove_file(place.join("manifest.json")).unwrap();
    refused("backup_invalid").await;
}

#[tokio::test]
async fn what_somebody_else_has_is_not_dropped() {
    let db = TestDatabase::new().await;
    let saving = sandbox(&db);
    let name = Path::new(&saving.write("name", "")).with_file_name("backup").display().to_string();
    saving.htm(&["db", "backup", &name]).await.succeeds();
    let other = TestDatabase::empty().await;
    sqlx::raw_sql("create schema apalis; create table apalis.jobs (of_another_program int)")
        .execute(&other.pool)
        .await
        .unwrap();
    let refused = sandbox(&other).htm(&["db", "restore", &name]).await;
    refused.exits(2);
    assert!(refused.stderr.contains("it has a schema apalis"), "{}", refused.stderr);
    assert_eq!(other.count("select count(*) from apalis.jobs").await, 0);

    // A database that was migrated and not used is taken.
    let migrated = TestDatabase::new().await;
    sandbox(&migrated).htm(&["db", "restore", &name]).await.succeeds();
}

#[tokio::test]
async fn a_base_backup_with_archived_wal_goes_back_to_a_moment() {
    let primary = OwnServer::start().await;
    let archive = primary.archive().await;
    let htm = htm_core::Htm::with_pool(primary.pool.clone(), htm_core::Settings::default(), None);
    htm.remember(Memory::new("Before the base backup.")).await.unwrap();
    let base = Replica::copy(&primary).await;
    htm.remember(Memory::new("After it, and before the accident.")).await.unwrap();
    let moment: String =
        sqlx::query_scalar("select clock_timestamp()::text").fetch_one(&primary.pool).await.unwrap();
    sqlx::raw_sql("update htm.nodes set content = 'overwritten'").execute(&primary.pool).await.unwrap();
    let segment: String =
        sqlx::query_scalar("select pg_walfile_name(pg_switch_wal())").fetch_one(&primary.pool).await.unwrap();
    wait_until(|| async { archive.join(&segment).is_file() }).await;

    let then = base.at(&archive, &moment).await;
    let contents: Vec<String> =
        sqlx::query_scalar("select content from htm.nodes order by id").fetch_all(&then.pool).await.unwrap();
    assert_eq!(contents, ["Before the base backup.", "After it, and before the accident."]);
    Sandbox::on(&then.url()).htm(&["jobs", "audit"]).await.succeeds();
}
