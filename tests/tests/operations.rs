//! Operations: a write with an id of its caller is done once, however often it is sent.

use std::time::Duration;

use htm_core::{Error, Expiry, Htm, Memory, Operation, Receipt, Result, error::codes};
use htm_tests::TestDatabase;
use serde_json::{Value, json};

const LEASE: Duration = Duration::from_secs(60);

fn operation(id: &str, request: &str) -> Operation {
    Operation::new("ada", id, request.as_bytes()).unwrap()
}

fn describe(results: Vec<Result<Receipt>>) -> Value {
    results
        .iter()
        .map(|result| result.as_ref().map_or_else(|error| json!(error.code()), |it| json!(it.node)))
        .collect()
}

async fn write(htm: &Htm, operation: &Operation, texts: &[&str]) -> Result<Value> {
    // In a session, a second write of a text is another node.
    let of_session = |text: &&str| Memory { session: Some("s".into()), ..Memory::new(*text) };
    let memories: Vec<Memory> = texts.iter().map(of_session).collect();
    htm.remember_once(operation, &memories, describe).await
}

fn code(result: Result<impl Sized>) -> &'static str {
    result.err().as_ref().map_or("ok", Error::code)
}

#[tokio::test]
async fn a_retry_gets_the_first_answer_and_writes_nothing() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let first = write(&htm, &operation("a", "x"), &["one", " ", "two"]).await.unwrap();
    assert_eq!(first[1], "content_empty");
    assert_eq!(write(&htm, &operation("a", "x"), &["one", " ", "two"]).await.unwrap(), first);
    assert_eq!(db.count("select count(*) from htm.nodes").await, 2);
    assert_eq!(code(write(&htm, &operation("a", "y"), &["three"]).await), "operation_differs");
    let of_another = Operation::new("ben", "a", b"y").unwrap();
    assert_ne!(write(&htm, &of_another, &["three"]).await.unwrap(), first);
    assert_eq!(db.count("select count(*) from htm.nodes").await, 3);
}

#[tokio::test]
async fn an_operation_that_wrote_nothing_is_not_kept() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    assert_eq!(write(&htm, &operation("a", "x"), &[" "]).await.unwrap(), json!(["content_empty"]));
    assert_eq!(db.count("select count(*) from htm.operations").await, 0);
    write(&htm, &operation("a", "y"), &["mended"]).await.unwrap();
}

#[tokio::test]
async fn of_concurrent_requests_one_writes_and_all_get_its_answer() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let writes = (0..8).map(|_| async { write(&htm, &operation("a", "x"), &["one"]).await.unwrap() });
    let answers = futures::future::join_all(writes).await;
    assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
    assert_eq!(db.count("select count(*) from htm.nodes").await, 1);
}

#[tokio::test]
async fn a_write_that_fails_keeps_nothing() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    sqlx::query("alter table htm.nodes add constraint no_two check (content <> 'two')")
        .execute(&db.pool)
        .await
        .unwrap();
    assert_eq!(code(write(&htm, &operation("a", "x"), &["one", "two"]).await), "database_error");
    assert_eq!(db.count("select count(*) from htm.nodes").await, 0);
    assert_eq!(db.count("select count(*) from htm.operations").await, 0);
}

#[tokio::test]
async fn other_acts_are_begun_and_ended() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let it = operation("a", "x");
    assert_eq!(htm.begin_operation(&it, LEASE).await.unwrap(), None);
    let again = htm.begin_operation(&it, LEASE).await.unwrap_err();
    assert!(again.is(codes::OPERATION_OPEN));
    assert_eq!(code(write(&htm, &it, &["one"]).await), "operation_open");
    htm.end_operation(&it, &json!({"n": 1})).await.unwrap();
    assert_eq!(htm.begin_operation(&it, LEASE).await.unwrap(), Some(json!({"n": 1})));
    htm.abandon_operation(&it).await.unwrap();
    assert_eq!(htm.begin_operation(&it, LEASE).await.unwrap(), Some(json!({"n": 1})), "an answer is kept");

    let given_up = operation("b", "x");
    htm.begin_operation(&given_up, LEASE).await.unwrap();
    htm.abandon_operation(&given_up).await.unwrap();
    assert_eq!(htm.begin_operation(&given_up, LEASE).await.unwrap(), None);

    // Its caller died: after the lease the same request does it.
    let dead = operation("c", "x");
    htm.begin_operation(&dead, Duration::ZERO).await.unwrap();
    assert_eq!(code(htm.begin_operation(&operation("c", "y"), LEASE).await), "operation_differs");
    assert_eq!(htm.begin_operation(&dead, LEASE).await.unwrap(), None);
}

#[tokio::test]
async fn answers_are_kept_as_long_as_asked() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let brief = operation("a", "x").keep(Duration::ZERO);
    write(&htm, &brief, &["one"]).await.unwrap();
    write(&htm, &operation("b", "x"), &["two"]).await.unwrap();
    // What has run out is as if it had never been, swept or not.
    write(&htm, &operation("a", "y").keep(Duration::ZERO), &["three"]).await.unwrap();
    htm.sweep().await.unwrap();
    assert_eq!(db.count("select count(*) from htm.operations").await, 1);
    assert_eq!(db.count("select count(*) from htm.nodes").await, 3);
}

#[tokio::test]
async fn a_repeat_within_an_operation_prolongs_the_memory() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let hour = Expiry::After(Duration::from_secs(3_600));
    let node = htm.remember(Memory::new("plain").expires(hour)).await.unwrap().node;
    let answer = htm.remember_once(&operation("a", "x"), &[Memory::new("plain")], describe).await.unwrap();
    assert_eq!(answer, json!([node]));
    assert_eq!(htm.get(node).await.unwrap().expires_at, None, "the latest wins, and none is the latest");
}
