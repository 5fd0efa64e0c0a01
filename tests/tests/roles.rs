//! The role of applications and workers: it reads and writes, owns nothing, and cannot change the schema.

use htm_tests::{OwnServer, Sandbox, TestDatabase};

/// One role for all tests of a server; what it may do is granted a database.
const ROLE: &str = "htm_tests_application";

/// Programs that are the role from the first statement on.
async fn application(db: &TestDatabase) -> Sandbox {
    sqlx::raw_sql(
        "do $$ begin create role htm_tests_application; exception when duplicate_object or unique_violation then null; end $$",
    )
    .execute(&db.pool)
    .await
    .unwrap();
    let url = db.url();
    let and = if url.contains('?') { '&' } else { '?' };
    Sandbox::on(&format!("{url}{and}options[role]={ROLE}"))
}

#[tokio::test]
async fn applications_and_workers_own_nothing_and_do_all_their_work() {
    let db = TestDatabase::empty().await;
    let application = application(&db).await;
    let owner = Sandbox::new(&db);
    owner.htm(&["db", "migrate", "--application-role", ROLE]).await.succeeds();
    // Again, as with each new version.
    owner.htm(&["db", "migrate", "--application-role", ROLE]).await.succeeds();

    let node = application
        .remember(&["--robot", "ada", "--tag", "database:postgresql", "PostgreSQL is chosen"])
        .await;
    // It registers the model, whose table the owner makes.
    application.run("embed-worker", &["--drain"], b"").await.succeeds();
    application.run("tag-worker", &["--drain"], b"").await.succeeds();
    let other = application.remember(&["a second memory"]).await;
    application.run("embed-worker", &["--drain"], b"").await.succeeds();
    application.run("tag-worker", &["--drain"], b"").await.succeeds();
    for arguments in [
        &["recall", "which database?"][..],
        &["edit", &node, "--robot", "ada", "PostgreSQL 18 is chosen"],
        &["context", "--as", "ada", "database"],
        &["tags", "rename", "database", "db", "--yes"],
        &["backfill", "embed", "--force", "--no-wait"],
        &["jobs", "stats"],
        &["jobs", "pause", "htm.embed", "--reason", "a test"],
        &["jobs", "resume", "htm.embed"],
        &["providers", "set", "fake/fake-64", "--requests-per-minute", "1000"],
        &["providers", "budget", "default", "--tokens-per-day", "1000000"],
        &["stats"],
        &["robots", "list"],
        &["forget", &other, "--yes"],
    ] {
        application.htm(arguments).await.succeeds();
    }
    application.run("embed-worker", &["--drain"], b"").await.succeeds();
    application.htm(&["purge", "--before", "2020-01-01", "--yes"]).await.succeeds();
    let erased = application.htm(&["--json", "erase", &other, "--yes"]).await.json();
    let vacuum = &erased["vacuum"];
    assert!(vacuum["tables"].as_array().unwrap().is_empty(), "{erased}");
    assert!(vacuum["not_permitted"].as_array().unwrap().contains(&"htm.nodes".into()), "{erased}");
    assert!(vacuum["older_transactions"].is_null(), "{erased}");
    application.htm(&["erase", "verify", "1"]).await.succeeds();
    assert!(application.htm(&["jobs", "audit"]).await.exits(0).stdout.starts_with("0 stranded"));

    assert_eq!(
        db.count("select count(*) from pg_class where relowner = 'htm_tests_application'::regrole").await,
        0
    );
    assert_eq!(
        db.count("select count(*) from pg_proc where proowner = 'htm_tests_application'::regrole").await,
        0
    );
}

/// Of a table with policies, PostgreSQL shows the planner's samples to its owner alone.
#[tokio::test]
async fn an_application_s_proof_of_an_erasure_sees_the_planner_s_samples() {
    let db = TestDatabase::empty().await;
    let (application, owner) = (application(&db).await, Sandbox::new(&db));
    owner.htm(&["db", "migrate", "--application-role", ROLE]).await.succeeds();
    db.without_autovacuum().await;
    let node = application.remember(&["--tag", "ship:zeppelin", "The zeppelin lands."]).await;
    for text in ["The ledger is full.", "The mast is up."] {
        application.remember(&["--tag", "book:ledger", text]).await;
    }
    sqlx::query("analyze").execute(&db.pool).await.unwrap();
    let shown = "select count(*) from pg_stats where schemaname = 'htm' and tablename like 'nodes%'";
    let mut role = db.pool.acquire().await.unwrap();
    sqlx::raw_sql("set role htm_tests_application").execute(&mut *role).await.unwrap();
    let policies: bool =
        sqlx::query_scalar("select row_security_active('htm.nodes')").fetch_one(&mut *role).await.unwrap();
    sqlx::raw_sql("reset role").execute(&mut *role).await.unwrap();
    assert!(policies && db.count(shown).await > 0);

    application.htm(&["erase", &node, "--yes"]).await.succeeds();
    let verify = &["--json", "erase", "verify", "1", "--text", "zeppelin"];
    let left = application.htm(verify).await;
    let left: serde_json::Value = serde_json::from_str(&left.exits(1).stdout).unwrap();
    let samples = left["places"].as_array().unwrap().last().unwrap();
    assert_eq!((&samples["table"], &left["is_clean"]), (&"pg_catalog.pg_statistic".into(), &false.into()));
    assert!(samples["traces"].as_u64() > Some(0) && samples["mentions"].as_u64() > Some(0), "{samples}");
    // Those of an index's expression are under the name of the index.
    owner.htm(&["erase", "resume", "1"]).await.succeeds();
    application.htm(verify).await.succeeds();
}

/// Policies restrict every role but the owner; `pg_dump` would say so in its own words.
#[tokio::test]
async fn a_backup_by_a_role_with_policies_is_refused() {
    let db = TestDatabase::empty().await;
    let home = htm_runtime::paths::Paths::from_env().unwrap().home().display().to_string();
    let application = application(&db).await.set("HTM_HOME", &home);
    Sandbox::new(&db).htm(&["db", "migrate", "--application-role", ROLE]).await.succeeds();
    let refused = application.htm(&["db", "backup", "saved"]).await;
    let said = refused.fails(1, "database_denied");
    assert!(said.contains("the role that owns the schema"), "{said}");
}

/// A role may have a path without `public`, where the extensions are.
#[tokio::test]
async fn settings_of_a_role_do_not_break_statements() {
    let db = TestDatabase::new().await;
    let url = db.url();
    let and = if url.contains('?') { '&' } else { '?' };
    let settings = "options[search_path]=pg_catalog&options[standard_conforming_strings]=off";
    let sandbox = Sandbox::on(&format!("{url}{and}{settings}"));
    sandbox.remember(&["--tag", "ship:zeppelin", "The zeppelin lands."]).await;
    let found = sandbox.htm(&["recall", "zeppelin", "--strategy", "fulltext"]).await;
    assert!(found.succeeds().contains("The zeppelin lands."), "{found:?}");
    sandbox.htm(&["timeline", "--json"]).await.succeeds();
}

/// Roles belong to a server, so this one has a server of its own.
#[tokio::test]
async fn the_guide_s_statements_turn_on_row_level_security_where_the_owner_may_not_create_roles() {
    let server = OwnServer::start().await;
    htm_migration::down(&server.url().parse().unwrap()).await.unwrap();
    sqlx::raw_sql(
        "create role htm_tests_owner;
         create role htm_tests_application;
         do $$ begin execute format('alter database %I owner to htm_tests_owner', current_database()); end $$",
    )
    .execute(&server.pool)
    .await
    .unwrap();
    let url = server.url();
    let and = if url.contains('?') { '&' } else { '?' };
    let of = |role: &str| Sandbox::on(&format!("{url}{and}options[role]={role}"));
    let (owner, application) = (of("htm_tests_owner"), of(ROLE));
    owner.htm(&["db", "migrate", "--application-role", ROLE]).await.succeeds();
    application.htm(&["keys", "create", "--namespace", "atlas", "--role", "reader"]).await.succeeds();
    let doctor = application.htm(&["doctor"]).await;
    let said = &doctor.stdout;
    assert!(said.contains("grant htm_tenant to OWNER with admin option"), "{doctor:?}");
    sqlx::raw_sql("grant htm_tenant to htm_tests_owner with admin option")
        .execute(&server.pool)
        .await
        .unwrap();
    owner.htm(&["db", "migrate", "--application-role", ROLE]).await.succeeds();
    let doctor = application.htm(&["doctor"]).await;
    assert!(doctor.stdout.contains("row-level security restricts keys with namespaces"), "{doctor:?}");
}

#[tokio::test]
async fn applications_and_workers_cannot_change_the_schema() {
    let db = TestDatabase::new().await;
    let application = application(&db).await;
    let refused = application.htm(&["remember", "before the grant"]).await;
    let said = refused.fails(1, "database_denied");
    assert!(said.contains("--application-role"), "{said}");
    Sandbox::new(&db).htm(&["db", "migrate", "--application-role", ROLE]).await.succeeds();
    application.run("embed-worker", &["--drain"], b"").await.succeeds();

    let mut role = db.pool.acquire().await.unwrap();
    sqlx::raw_sql("set role htm_tests_application").execute(&mut *role).await.unwrap();
    for statement in [
        "drop table htm.nodes",
        "alter table htm.nodes disable trigger all",
        "create table htm.mine ()",
        "create function htm.mine() returns int language sql as 'select 1'",
        "truncate htm.nodes",
        "update htm.compatibility set oldest_program = 9",
        "insert into htm.seaql_migrations (version, applied_at) values ('m29991231_next', 0)",
        "select htm.make_embedding_store(9, 8)",
        "select htm.drop_embedding_store(1)",
    ] {
        let error = sqlx::raw_sql(statement).execute(&mut *role).await.unwrap_err();
        let code = error.as_database_error().and_then(|error| error.code().map(|code| code.into_owned()));
        assert_eq!(code.as_deref(), Some("42501"), "{statement}: {error}");
    }
    sqlx::raw_sql("reset role").execute(&mut *role).await.unwrap();
    let refused = application.htm(&["db", "reset", "--yes"]).await;
    assert!(
        format!("{refused:?}").contains("database_denied") || format!("{refused:?}").contains("owner"),
        "{refused:?}"
    );
    assert_eq!(db.count("select count(*) from htm.embedding_models").await, 1);
}

#[tokio::test]
async fn a_role_that_is_not_there_is_named() {
    let db = TestDatabase::new().await;
    let answer = Sandbox::new(&db).htm(&["db", "migrate", "--application-role", "no'such\"role"]).await;
    assert!(answer.fails(1, "role_missing").contains("create role"), "{answer:?}");
}
