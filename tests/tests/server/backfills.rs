//! Backfills: started over HTTP, they go on in the background, once, whatever happens to a server.

use htm_core::{BackfillRequest, Memory, Stage};
use htm_server::Limits;
use htm_tests::{TestDatabase, wait_until};
use serde_json::{Value, json};

use super::Served;

/// Memories whose jobs are gone.
async fn without_jobs(db: &TestDatabase, number: usize) {
    let memories: Vec<Memory> = (0..number).map(|n| Memory::new(format!("memory {n}"))).collect();
    db.htm().remember_many(&memories).await.unwrap();
    sqlx::query("delete from apalis.jobs").execute(&db.pool).await.unwrap();
}

async fn is_finished(db: &TestDatabase) -> bool {
    db.count("select count(*) from htm.backfills where finished_at is null").await == 0
}

async fn has_full_queue(db: &TestDatabase) -> bool {
    db.count("select count(*) from apalis.jobs").await == 10
}

#[tokio::test]
async fn a_backfill_goes_on_in_the_background() {
    let served = Served::new().await;
    without_jobs(&served.db, 5).await;
    let tags = |dry_run: bool| json!({"stage": "tag", "dry_run": dry_run});
    assert_eq!(served.post("/v1/backfills", tags(true)).await.is(200), json!({"would_enqueue": 5}));
    assert_eq!(served.get("/v1/backfills").await.is(200), json!({"backfills": [], "next": null}));
    let reply = served.post("/v1/backfills", tags(false)).await;
    let location = reply.header("location").to_owned();
    let run = reply.is(202);
    assert_eq!((location, &run["stage"]), (format!("/v1/backfills/{}", run["id"]), &json!("tag")));
    wait_until(|| is_finished(&served.db)).await;
    let shown = served.get(&format!("/v1/backfills/{}", run["id"])).await.is(200);
    assert_eq!((&shown["enqueued"], &shown["jobs"]["open"]), (&json!(5), &json!(5)));
    assert_eq!((&shown["examined"], &shown["cancelled"]), (&shown["last"], &json!(false)));
    // Nothing is missing any more.
    served.post("/v1/backfills", tags(false)).await.is(202);
    wait_until(|| is_finished(&served.db)).await;
    let listed = served.get("/v1/backfills?limit=1").await.is(200);
    assert_eq!((&listed["backfills"][0]["enqueued"], listed["backfills"][1].is_null()), (&json!(0), true));

    assert_eq!(served.get("/v1/backfills/99").await.problem(), (404, "backfill_unknown"));
    let none = json!({"stage": "tag", "max_queued": 0});
    assert_eq!(served.post("/v1/backfills", none).await.problem(), (400, "body_invalid"));
    let embed = json!({"stage": "embed", "prompt_version": "7"});
    assert_eq!(served.post("/v1/backfills", embed).await.problem().1, "version_unfit");
    assert_eq!(served.post("/v1/backfills", json!({"stage": "embed"})).await.problem().1, "model_not_ready");
}

#[tokio::test]
async fn servers_share_a_backfill_and_one_goes_on_where_another_stopped() {
    let served = Served::new().await;
    without_jobs(&served.db, 60).await;
    let run =
        served.post("/v1/backfills", json!({"stage": "tag", "max_queued": 10})).await.is(202)["id"].clone();
    wait_until(|| has_full_queue(&served.db)).await;
    let db = served.db.clone();
    served.stop.cancel();
    served.serving.await.unwrap();
    let free = "select count(*) from htm.backfills where finished_at is null and served_until is null";
    assert_eq!(db.count(free).await, 1, "the stop leaves it to others");

    // A server that was killed has it until its lease ends.
    let gone = "update htm.backfills set server = 'gone', served_until = now() + interval '1 hour'";
    sqlx::query(gone).execute(&db.pool).await.unwrap();
    let htm = db.htm();
    let lease = std::time::Duration::from_secs(60);
    assert!(htm.claim_backfills("another", lease).await.unwrap().is_empty());
    let ended = "update htm.backfills set served_until = now() - interval '1 second', max_queued = 1000";
    sqlx::query(ended).execute(&db.pool).await.unwrap();
    let one = Served::over(db.clone(), Limits::default()).await;
    let _other = one.beside().await;
    wait_until(|| is_finished(&db)).await;
    let shown = one.get(&format!("/v1/backfills/{run}")).await.is(200);
    assert_eq!((&shown["enqueued"], &shown["jobs"]["open"]), (&json!(60), &json!(60)));
    let nodes = "select count(distinct metadata -> 'node') from apalis.jobs";
    assert_eq!(db.count(nodes).await, 60, "each once");
}

#[tokio::test]
async fn a_cancelled_backfill_ends_where_it_is_and_a_commands_run_is_left_to_it() {
    let served = Served::new().await;
    without_jobs(&served.db, 60).await;
    let htm = served.db.htm();
    let plain = BackfillRequest { max_queued: 10, ..BackfillRequest::new(Stage::Tag) };
    let by_command = BackfillRequest { prompt_version: Some("7".into()), ..plain.clone() };
    let own = htm.start_backfill(&by_command).await.unwrap().run();
    let body = json!({"stage": "tag", "max_queued": 10});
    let run = served.post("/v1/backfills", body.clone()).await.is(202)["id"].clone();
    wait_until(|| has_full_queue(&served.db)).await;
    let again = served.post("/v1/backfills", body).await.is(202);
    assert_eq!(again["id"], run, "the same request is the same run");
    let cancelled = served.post(&format!("/v1/backfills/{run}/cancel"), json!({})).await.is(200);
    assert_eq!((&cancelled["cancelled"], &cancelled["enqueued"]), (&json!(true), &json!(10)));
    let once_more = served.post(&format!("/v1/backfills/{run}/cancel"), json!({})).await.is(200);
    assert_eq!(once_more, cancelled);
    let lease = std::time::Duration::from_secs(60);
    assert!(htm.claim_backfills("another", lease).await.unwrap().is_empty(), "nobody goes on with it");
    let shown = served.get(&format!("/v1/backfills/{own}")).await.is(200);
    assert_eq!((&shown["max_queued"], &shown["prompt_version"]), (&Value::Null, &json!("7")));
    assert_eq!((&shown["model"], &shown["finished_at"]), (&again["model"], &Value::Null));
}
