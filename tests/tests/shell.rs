//! Commands that a running server carries out: the same output and the same effect as without it.

use htm_tests::{Answer, Running, Sandbox, TestDatabase, wait_until};
use nix::sys::signal::Signal;

/// The lines of `-v` on standard error.
const BY_SERVER: &str = "a running server answered";
const BY_NOBODY: &str = "no server was asked";
const LOST: &str = "a running server did not answer";

/// Starts a server, and waits until it answers the shell.
async fn serve(sandbox: &Sandbox) -> Running {
    let server = sandbox.start("htm", &["serve"]);
    wait_until(async || asked(sandbox).await == BY_SERVER).await;
    server
}

/// Who answers a recall.
async fn asked(sandbox: &Sandbox) -> String {
    let answer = sandbox.htm(&["recall", "-v", "anything"]).await;
    answer.succeeds();
    answer.stderr.trim().to_owned()
}

/// The output without what differs from run to run.
fn stable(answer: &Answer) -> (String, String) {
    let lines = answer.stdout.lines().filter(|line| !line.contains(" ms"));
    (lines.collect::<Vec<_>>().join("\n"), answer.stderr.clone())
}

#[tokio::test]
async fn what_a_server_says_is_shown_as_it_comes() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let _server = serve(&sandbox).await;
    let mut waits = sandbox.start("htm", &["remember", "-v", "--wait=60", "Staging is on port 5433."]);
    wait_until(async || waits.log().contains("remembered as node")).await;
    assert!(!waits.log().contains(BY_SERVER), "it waits for the workers: {}", waits.log());
    for worker in ["embed-worker", "tag-worker"] {
        sandbox.run(worker, &["--drain"], b"").await.succeeds();
    }
    assert!(waits.end().await.success(), "{}", waits.log());
    assert!(waits.log().contains(BY_SERVER), "{}", waits.log());
    // The receipt is shown once.
    assert_eq!(waits.log().matches("remembered as node").count(), 1, "{}", waits.log());
}

#[tokio::test]
async fn a_receipt_is_shown_once_although_its_server_is_lost() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let mut server = serve(&sandbox).await;
    let mut waits = sandbox.start("htm", &["remember", "-v", "--wait=60", "Staging is on port 5433."]);
    wait_until(async || waits.log().contains("remembered as node")).await;
    server.signal(Signal::SIGKILL);
    server.end().await;
    wait_until(async || waits.log().contains(LOST)).await;
    for worker in ["embed-worker", "tag-worker"] {
        sandbox.run(worker, &["--drain"], b"").await.succeeds();
    }
    assert!(waits.end().await.success(), "{}", waits.log());
    assert_eq!(waits.log().matches("remembered as node").count(), 1, "{}", waits.log());
    assert_eq!(db.count("select count(*) from htm.nodes").await, 1);
}

#[tokio::test]
async fn a_stopped_command_names_what_its_server_has_stored() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let _server = serve(&sandbox).await;
    let mut waits = sandbox.start("htm", &["remember", "-v", "--wait=60", "Staging is on port 5433."]);
    wait_until(async || waits.log().contains("remembered as node")).await;
    waits.signal(Signal::SIGINT);
    assert_eq!(waits.end().await.code(), Some(130), "{}", waits.log());
    let node = db.count("select id from htm.nodes").await;
    let left = format!("the memory is stored as node {node}");
    assert!(waits.log().contains(&left), "{}", waits.log());
}

#[tokio::test]
async fn a_command_that_is_stopped_before_the_answer_does_not_know_what_is_stored() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let _server = serve(&sandbox).await;
    let mut held = db.pool.begin().await.unwrap();
    // Writers wait, and readers do not.
    sqlx::query("lock table htm.nodes in share mode").execute(&mut *held).await.unwrap();
    let waiting = "select count(*) from pg_stat_activity
                    where datname = current_database() and wait_event_type = 'Lock'";
    let mut waits = sandbox.start("htm", &["remember", "--json", "Staging is on port 5433."]);
    wait_until(async || db.count(waiting).await > 0).await;
    waits.signal(Signal::SIGINT);
    assert_eq!(waits.end().await.code(), Some(130), "{}", waits.log());
    assert!(waits.log().contains(r#"{"stopped":true,"stored":"unknown"}"#), "{}", waits.log());
    held.rollback().await.unwrap();
}

#[tokio::test]
async fn a_server_answers_as_the_command_itself() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    assert_eq!(asked(&sandbox).await, BY_NOBODY);
    let _server = serve(&sandbox).await;
    let written = sandbox.htm(&["remember", "-v", "--robot", "ada", "Staging is on port 5433."]).await;
    assert!(written.succeeds().contains("ada's working memory has it"), "{written:?}");
    assert_eq!(written.stderr.trim(), BY_SERVER);
    let piped = sandbox.htm_reading(&["remember", "-v", "-"], b"Mara prefers tabs.\n").await;
    assert_eq!((piped.succeeds().is_empty(), piped.stderr.trim()), (false, BY_SERVER));
    sandbox.run("embed-worker", &["--drain"], b"").await.succeeds();

    for arguments in [
        &["recall", "--as", "ada", "--explain", "--facets", "which port?"][..],
        &["recall", "--namespace", "nowhere", "anything"],
        &["recall", "--timeframe", "sometime", "anything"],
        &["recall", "--limit", "0", "anything"],
        &["--json", "recall", "--limit", "0", "anything"],
        &["context", "--as", "ada", "--header"],
        &["context", "--as", "nobody"],
        &["remember", "--importance", "11", "too important"],
        &["remember", " "],
    ] {
        let direct = sandbox.htm(&[arguments, &["--direct"]].concat()).await;
        let by_server = sandbox.htm(arguments).await;
        assert_eq!(stable(&by_server), stable(&direct), "{arguments:?}");
        let exit_codes = (format!("{by_server:?}"), format!("{direct:?}"));
        assert_eq!(
            exit_codes.0.contains("unix_wait_status(0)"),
            exit_codes.1.contains("unix_wait_status(0)")
        );
    }
    let (direct, by_server) =
        (sandbox.htm(&["--json", "recall", "--direct", "port"]), sandbox.htm(&["--json", "recall", "port"]));
    let (direct, by_server) = (direct.await.json(), by_server.await.json());
    assert_eq!(by_server["hits"][0]["content"], direct["hits"][0]["content"]);
}

#[tokio::test]
async fn a_server_of_another_configuration_is_not_asked() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let _server = serve(&sandbox).await;
    for (setting, by) in [
        ("recall.limit=3", BY_NOBODY),
        ("openai.api_key=hunter2", BY_NOBODY),
        ("database.url=postgres://localhost:1/nothing", BY_NOBODY),
        ("log.level=error", BY_SERVER),
        ("server.listen=127.0.0.1:1", BY_SERVER),
    ] {
        let answer = sandbox.htm(&["--set", setting, "recall", "-v", "anything"]).await;
        assert!(answer.stderr.starts_with(by), "{answer:?}");
    }
    let answer = sandbox.htm(&["recall", "-v", "--direct", "anything"]).await;
    assert_eq!((answer.succeeds().is_empty(), answer.stderr.trim()), (false, BY_NOBODY));
}

/// With `time.zone = "system"`, the configurations are the same.
#[tokio::test]
async fn a_server_of_another_time_zone_is_not_asked() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db).set("HTM_TIME__ZONE", "system").set("TZ", "Europe/Berlin");
    let _server = serve(&sandbox).await;
    let elsewhere = sandbox.set("TZ", "America/New_York");
    assert_eq!(asked(&elsewhere).await, BY_NOBODY);
    let by_rule = elsewhere.set("TZ", "EST5EDT,M3.2.0,M11.1.0");
    assert_eq!(asked(&by_rule).await, BY_NOBODY);
    assert_eq!(asked(&by_rule.set("TZ", "Europe/Berlin")).await, BY_SERVER);
}

/// The environment completes the database's URL.
#[tokio::test]
async fn a_server_of_other_options_of_the_database_is_not_asked() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let _server = serve(&sandbox).await;
    let elsewhere = sandbox.set("PGOPTIONS", "-c jit=off");
    assert_eq!(asked(&elsewhere).await, BY_NOBODY);
    let same = elsewhere.set("PGOPTIONS", "").set("PGAPPNAME", "mine");
    assert_eq!(asked(&same).await, BY_NOBODY, "an empty variable is not an absent one");
}

/// The shell is of the same user, who could ask the database too.
#[tokio::test]
async fn keys_of_the_server_do_not_lock_out_the_shell() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    sandbox.htm(&["keys", "create", "--namespace", "other", "--role", "reader"]).await.succeeds();
    let _server = serve(&sandbox).await;
    assert_eq!(asked(&sandbox).await, BY_SERVER);
}

#[tokio::test]
async fn what_a_killed_server_leaves_is_taken_over() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let mut first = serve(&sandbox).await;
    let mut second = sandbox.start("htm", &["serve"]);
    first.signal(Signal::SIGKILL);
    first.end().await;
    // The second looks again after some seconds.
    wait_until(async || asked(&sandbox).await == BY_SERVER).await;
    second.signal(Signal::SIGTERM);
    assert!(second.end().await.success());
    assert_eq!(asked(&sandbox).await, BY_NOBODY);
}

/// A server that is stopped takes the command when it goes on: the command was carried out meanwhile, once.
#[tokio::test]
async fn a_memory_is_written_once_although_the_server_answers_late() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let server = serve(&sandbox).await;
    server.signal(Signal::SIGSTOP);
    // As part of a conversation it is never a duplicate.
    let arguments = &["remember", "-v", "--session", "s", "--seq", "1", "Said once."];
    let answer = sandbox.htm(arguments).await;
    assert!(answer.stderr.starts_with(LOST), "{answer:?}");
    assert!(answer.succeeds().contains("remembered as node"), "{answer:?}");
    server.signal(Signal::SIGCONT);
    wait_until(async || asked(&sandbox).await == BY_SERVER).await;
    // The server has answered later commands, so it has read that one too.
    let count = "select count(*) from htm.nodes where content = 'Said once.'";
    let written: i64 = sqlx::query_scalar(count).fetch_one(&db.pool).await.unwrap();
    assert_eq!(written, 1);
}
