//! `htm db backup` and `htm db restore`: everything comes back, a damaged backup is noticed, and a base backup with archived
//! WAL goes back to a moment.

use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use htm_core::{Memory, RecallQuery};
use htm_runtime::paths::Paths;
use htm_tests::{OwnServer, Replica, Running, Sandbox, TestDatabase, drain, every_row, wait_until};
use nix::sys::signal::Signal;
use serde_json::{Value, json};
use sqlx::pool::PoolConnection;
use sqlx::{Connection as _, PgPool, Postgres};

/// The programs on a database, with those of the tests' PostgreSQL.
fn sandbox(db: &TestDatabase) -> Sandbox {
    let home = Paths::from_env().unwrap().home().display().to_string();
    Sandbox::new(db).set("HTM_HOME", &home)
}

/// Asserts that a command has given an answer.
#[track_caller]
fn has_said(command: &Running, answer: Value) {
    assert!(command.log().contains(&answer.to_string()), "{answer}: {}", command.log());
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
         union all select concat_ws(' ', oid::regprocedure, proacl::text) from pg_proc
                    where pronamespace::regnamespace::text in ('htm', 'apalis')
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
    assert!(backup.log().contains("nothing was saved"), "{}", backup.log());
    assert_eq!(parts(), 0);
    lock.rollback().await.unwrap();

    // While pg_dump waits, here for the definition of a view: its session ends with it.
    let waiting = "select count(*) from pg_stat_activity
                    where datname = current_database() and application_name = 'htm' and wait_event_type = 'Lock'";
    wait_until(|| async { db.count(waiting).await == 0 }).await;
    let mut lock = db.pool.begin().await.unwrap();
    sqlx::query("alter view htm.stranded rename to held").execute(&mut *lock).await.unwrap();
    let mut backup = sandbox.start("htm", &["--json", "db", "backup", &place.display().to_string()]);
    wait_until(|| async { db.count(waiting).await > 0 }).await;
    backup.signal(Signal::SIGTERM);
    assert_eq!(backup.end().await.code(), Some(130), "{}", backup.log());
    has_said(&backup, json!({ "stopped": true, "saved": false }));
    assert_eq!(parts(), 0);
    wait_until(|| async { db.count(waiting).await == 0 }).await;
}

/// The indexes of a database wait for as long as the gate is closed. The rows are there then, and with them the version of the
/// schema.
async fn close_gate(other: &TestDatabase) -> PoolConnection<Postgres> {
    sqlx::raw_sql(
        "create function public.gate() returns event_trigger language plpgsql
             as $$ begin perform pg_catalog.pg_advisory_xact_lock_shared(1); end $$;
         create event trigger gate on ddl_command_start when tag in ('CREATE INDEX') execute function public.gate()",
    )
    .execute(&other.pool)
    .await
    .unwrap();
    let mut gate = other.pool.acquire().await.unwrap();
    sqlx::query("select pg_advisory_lock(1)").execute(&mut *gate).await.unwrap();
    gate
}

/// The sessions of a restore that load rows and make indexes.
const LOADING: &str = "select count(*) from pg_stat_activity
                        where datname = current_database() and application_name = 'htm_restoring'";

#[tokio::test]
async fn a_restore_that_is_interrupted_is_refused_until_it_is_repeated() {
    let db = filled().await;
    let saving = sandbox(&db);
    let place = Path::new(&saving.write("name", "")).with_file_name("backup").display().to_string();
    saving.htm(&["db", "backup", &place]).await.succeeds();

    let other = TestDatabase::empty().await;
    let at_other = sandbox(&other);
    let _gate = close_gate(&other).await;
    let begun = async |form: &[&str]| {
        let restore = [form, &["db", "restore", "--jobs", "1", &place]].concat();
        let restore = at_other.start("htm", &restore);
        let waiting = "select count(*) from pg_locks l join pg_database d on d.oid = l.database
                        where d.datname = current_database() and l.locktype = 'advisory' and not l.granted";
        wait_until(|| async { other.count(waiting).await > 0 }).await;
        let version = other.count("select count(*) from htm.seaql_migrations").await;
        assert_eq!(version, i64::from(htm_migration::LATEST));
        restore
    };
    let mut restore = begun(&[]).await;
    at_other.htm(&["recall", "lighthouse"]).await.fails(1, "restore_incomplete");
    for arguments in [&["db", "restore", &place][..], &["db", "reset", "--yes"]] {
        let answer = at_other.htm(arguments).await;
        let said = answer.fails(1, "restore_incomplete");
        assert!(said.contains("another process restores"), "{said}");
    }
    restore.signal(Signal::SIGINT);
    assert_eq!(restore.end().await.code(), Some(130), "{}", restore.log());
    assert!(restore.log().contains("run `htm db restore` again"), "{}", restore.log());
    wait_until(|| async { other.count(LOADING).await == 0 }).await;
    let mut restore = begun(&["--json"]).await;
    restore.signal(Signal::SIGTERM);
    assert_eq!(restore.end().await.code(), Some(130), "{}", restore.log());
    has_said(&restore, json!({ "stopped": true, "incomplete": true }));
    wait_until(|| async { other.count(LOADING).await == 0 }).await;

    for arguments in [
        &["recall", "lighthouse"][..],
        &["remember", "It would be lost."],
        &["db", "status"],
        &["db", "migrate"],
        &["db", "repartition", "--partitions", "2"],
        &["db", "backup", "another"],
    ] {
        let answer = at_other.htm(arguments).await;
        let said = answer.fails(1, "restore_incomplete");
        assert!(said.contains("htm db restore") && said.contains("htm db reset --yes"), "{said}");
    }
    let answer = at_other.htm(&["doctor"]).await;
    let said = &answer.exits(1).stdout;
    assert!(said.contains("[restore_incomplete]"), "{said}");

    // A program that was connected before does not look for the marker: what it has written would be dropped.
    let options = other.options().application_name("htm");
    let before = sqlx::PgConnection::connect_with(&options).await.unwrap();
    let answer = at_other.htm(&["db", "restore", &place]).await;
    assert!(answer.fails(2, "database_not_empty").contains("connections to it (1)"), "{answer:?}");
    before.close().await.unwrap();

    // One that is killed leaves a pg_restore that goes on. The next restore ends it.
    let mut restore = begun(&[]).await;
    restore.signal(Signal::SIGKILL);
    restore.end().await;
    at_other.htm(&["recall", "lighthouse"]).await.fails(1, "restore_incomplete");
    assert!(other.count(LOADING).await > 0);
    sqlx::raw_sql("drop event trigger gate").execute(&other.pool).await.unwrap();
    let restored = at_other.htm(&["--json", "db", "restore", &place]).await.json();
    assert_eq!(restored["stranded"], 0);
    wait_until(|| async { other.count(LOADING).await == 0 }).await;
    assert_eq!(every_row(&other.pool).await, every_row(&db.pool).await);
    assert_eq!(catalogue(&other.pool).await, catalogue(&db.pool).await);
    at_other.htm(&["recall", "--strategy", "fulltext", "lighthouse"]).await.succeeds();
}

#[tokio::test]
async fn a_restore_that_waits_for_others_may_be_stopped() {
    let db = filled().await;
    let saving = sandbox(&db);
    let place = Path::new(&saving.write("name", "")).with_file_name("backup").display().to_string();
    saving.htm(&["db", "backup", &place]).await.succeeds();

    let other = TestDatabase::new().await;
    let at_other = sandbox(&other);
    let mut reading = other.pool.begin().await.unwrap();
    sqlx::query("select from htm.nodes").execute(&mut *reading).await.unwrap();
    let waiting = "select count(*) from pg_locks where relation = 'htm.nodes'::regclass and not granted";
    for form in [&[][..], &["--json"]] {
        let mut restore = at_other.start("htm", &[form, &["db", "restore", &place]].concat());
        wait_until(|| async { other.count(waiting).await > 0 }).await;
        restore.signal(Signal::SIGINT);
        assert_eq!(restore.end().await.code(), Some(130), "{}", restore.log());
        match form.is_empty() {
            true => assert!(restore.log().contains("the database is as it was"), "{}", restore.log()),
            false => has_said(&restore, json!({ "stopped": true, "incomplete": false })),
        }
        // Nothing of it waits any more, and another restore may begin.
        wait_until(|| async { other.count(waiting).await == 0 }).await;
    }
    reading.rollback().await.unwrap();
    at_other.htm(&["db", "restore", &place]).await.succeeds();
    assert_eq!(every_row(&other.pool).await, every_row(&db.pool).await);
}

#[tokio::test]
async fn what_an_interrupted_restore_has_left_may_be_deleted() {
    let db = filled().await;
    // As a restore leaves it whose machine has lost its power.
    sqlx::raw_sql("create schema htm_restoring").execute(&db.pool).await.unwrap();
    let sandbox = sandbox(&db);
    sandbox.htm(&["db", "migrate"]).await.fails(1, "restore_incomplete");
    sandbox.htm(&["db", "reset", "--yes"]).await.succeeds();
    sandbox.htm(&["db", "migrate"]).await.succeeds();
    sandbox.remember(&["It begins anew."]).await;
    assert_eq!(db.count("select count(*) from htm.nodes").await, 1);
}

#[tokio::test]
async fn what_is_committed_while_a_restore_begins_is_not_dropped() {
    let db = TestDatabase::new().await;
    let saving = sandbox(&db);
    let place = Path::new(&saving.write("name", "")).with_file_name("backup").display().to_string();
    saving.htm(&["db", "backup", &place]).await.succeeds();

    let other = TestDatabase::new().await;
    let at_other = sandbox(&other);
    let mut write = other.pool.begin().await.unwrap();
    sqlx::query("insert into htm.robots (namespace, name) values ('atlas', 'ada')")
        .execute(&mut *write)
        .await
        .unwrap();
    let mut restore = at_other.start("htm", &["db", "restore", &place]);
    let waiting = "select count(*) from pg_locks l join pg_database d on d.oid = l.database
                    where d.datname = current_database() and l.mode = 'AccessExclusiveLock' and not l.granted";
    wait_until(|| async { other.count(waiting).await > 0 }).await;
    write.commit().await.unwrap();
    assert_eq!(restore.end().await.code(), Some(2), "{}", restore.log());
    assert!(restore.log().contains("error[database_not_empty]"), "{}", restore.log());
    assert_eq!(other.count("select count(*) from htm.robots").await, 1);
    at_other.remember(&["It goes on."]).await;

    // A transaction that does not end is not waited for.
    let unused = TestDatabase::new().await;
    let mut read = unused.pool.begin().await.unwrap();
    sqlx::query("select from htm.nodes").execute(&mut *read).await.unwrap();
    let answer = sandbox(&unused).htm(&["db", "restore", &place]).await;
    let said = answer.fails(2, "database_not_empty");
    assert!(said.contains("has locks on its tables"), "{said}");
    read.rollback().await.unwrap();
    sandbox(&unused).htm(&["db", "restore", &place]).await.succeeds();
}

#[tokio::test]
async fn the_name_of_a_backup_need_not_be_utf8() {
    let db = filled().await;
    let other = TestDatabase::empty().await;
    let name = r"$'caf\xe9'";
    let line = format!(
        "htm --json db backup {name} && HTM_DATABASE__URL='{}' htm --json db restore {name}",
        other.url()
    );
    let answer = sandbox(&db).shell(&line).await;
    let mut answers = answer.succeeds().lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let saved = answers.next().unwrap();
    assert_eq!(saved["directory"], "caf\u{fffd}");
    assert_eq!(answers.next().unwrap()["manifest"], saved["manifest"]);
    assert_eq!(every_row(&other.pool).await, every_row(&db.pool).await);
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
    let missing = sandbox.htm(&["db", "backup", "nowhere/backup"]).await;
    assert!(missing.fails(1, "backup_io").contains("there is no directory nowhere"), "{missing:?}");
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
    let said = full.fails(2, "database_not_empty");
    let name = other.options().get_database().unwrap().to_owned();
    assert!(said.contains(&format!("the database `{name}` on ")), "{said}");
    assert!(said.contains("stop its workers and other programs"), "{said}");
}

#[tokio::test]
async fn newer_programs_restore_into_an_older_server() {
    let Some(server) = OwnServer::start_16().await else { return };
    let home = Paths::from_env().unwrap().home().display().to_string();
    let from = Sandbox::on(&server.url()).set("HTM_HOME", &home);
    from.remember(&["--tag", "sea:light", "A lighthouse keeper."]).await;
    from.remember(&["This one waits for the workers."]).await;
    let place = from.home().join("backup").display().to_string();
    from.htm(&["db", "backup", &place]).await.succeeds();

    sqlx::raw_sql("create database other").execute(&server.pool).await.unwrap();
    let url = server.url().replace("/htm", "/other");
    let to = Sandbox::on(&url).set("HTM_HOME", &home);
    let other = PgPool::connect(&url).await.unwrap();
    // Its other errors count.
    sqlx::raw_sql(
        "create function public.refuse() returns event_trigger language plpgsql
             as $$ begin raise exception 'there are no indexes here'; end $$;
         create event trigger refuse on ddl_command_start when tag in ('CREATE INDEX') execute function public.refuse()",
    )
    .execute(&other)
    .await
    .unwrap();
    let refused = to.htm(&["db", "restore", "--jobs", "1", &place]).await;
    let said = refused.fails(1, "backup_failed");
    assert!(said.contains("there are no indexes here") && !said.contains("transaction_timeout"), "{said}");
    to.htm(&["recall", "lighthouse"]).await.fails(1, "restore_incomplete");

    sqlx::raw_sql("drop event trigger refuse").execute(&other).await.unwrap();
    let restored = to.htm(&["--json", "db", "restore", &place]).await.json();
    assert_eq!((&restored["stranded"], &restored["manifest"]["tables"]["htm.nodes"]), (&0.into(), &2.into()));
    assert_eq!(every_row(&other).await, every_row(&server.pool).await);
    assert_eq!(catalogue(&other).await, catalogue(&server.pool).await);
    other.close().await;
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
    let one = one.unwrap();
    let whole = std::fs::read(&one).unwrap();
    for damaged in [&whole[..whole.len() / 2], &[0].repeat(whole.len())[..]] {
        std::fs::write(&one, damaged).unwrap();
        let db = TestDatabase::new().await;
        let answer = self::sandbox(&db).htm(&["db", "restore", &name]).await;
        let said = answer.fails(2, "backup_invalid");
        assert!(said.contains("is damaged: dump/") && said.contains("the database is as it was"), "{said}");
        // It was found before the database was touched.
        self::sandbox(&db).remember(&["It is in use."]).await;
        Sandbox::on("").htm(&["db", "restore", &name, "--dry-run"]).await.fails(2, "backup_invalid");
    }
    std::fs::write(&one, whole).unwrap();
    let checked = Sandbox::on("").htm(&["db", "restore", &name, "--dry-run"]).await;
    assert!(checked.succeeds().contains("as they were saved; nothing is restored"), "{checked:?}");
    std::fs::remove_file(one).unwrap();
    refused("backup_invalid").await;
    // The manifest of an older program has no files.
    let mut older: Value = serde_json::from_str(&manifest).unwrap();
    older.as_object_mut().unwrap().remove("files");
    std::fs::write(place.join("manifest.json"), older.to_string()).unwrap();
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
