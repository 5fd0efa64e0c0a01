//! `Idempotency-Key`: a retry gets the first answer.

use reqwest::Method;
use serde_json::{Value, json};

use super::{Reply, Served};

async fn post(served: &Served, key: &str, path: &str, body: &Value) -> Reply {
    served.send(served.request(Method::POST, path).header("idempotency-key", key).json(body)).await
}

const NODES: &str = "select count(*) from htm.nodes";

#[tokio::test]
async fn a_retried_memory_is_written_once() {
    let served = Served::new().await;
    // In a conversation the same text is another memory.
    let body = json!({"content": "one", "session": "s"});
    let first = post(&served, "a", "/v1/memories", &body).await;
    let again = post(&served, "a", "/v1/memories", &body).await;
    assert_eq!((first.status, &first.body), (again.status, &again.body));
    assert_eq!(first.header("location"), again.header("location"));
    assert_eq!((first.header("idempotency-replayed"), again.header("idempotency-replayed")), ("", "true"));
    let other = json!({"content": "two", "session": "s"});
    assert_eq!(post(&served, "a", "/v1/memories", &other).await.problem(), (422, "operation_differs"));
    assert_eq!(
        post(&served, "two words", "/v1/memories", &other).await.problem(),
        (400, "operation_invalid")
    );
    assert_eq!(served.db.count(NODES).await, 1);
    let batch = json!({"memories": [body, {"content": " "}]});
    let first = post(&served, "b", "/v1/memories/batch", &batch).await;
    assert_eq!(post(&served, "b", "/v1/memories/batch", &batch).await.body, first.body);
    let talk = json!({"session": "t", "messages": [{"role": "user", "content": "hello"}]});
    let first = post(&served, "c", "/v1/conversations", &talk).await;
    assert_eq!(post(&served, "c", "/v1/conversations", &talk).await.body, first.body);
    let new = json!({"messages": [{"role": "user", "content": "a new session"}]});
    let first = post(&served, "n", "/v1/conversations", &new).await;
    let again = post(&served, "n", "/v1/conversations", &new).await;
    assert_eq!((again.header("idempotency-replayed"), &again.body), ("true", &first.body));
    let replacing = json!({"memories": [{"content": "bye", "session": "t"}], "replaces": [{"session": "t"}]});
    let first = post(&served, "d", "/v1/memories/batch", &replacing).await;
    assert_eq!(post(&served, "d", "/v1/memories/batch", &replacing).await.body, first.body);
    let there = served.post("/v1/timeline", json!({"filter": {"session": "t"}})).await.is(200);
    assert_eq!(there["entries"][0]["content"], "bye");
    assert_eq!((served.db.count(NODES).await, there["entries"].as_array().unwrap().len()), (5, 1));
}

#[tokio::test]
async fn a_refused_write_can_be_mended_under_its_key() {
    let served = Served::new().await;
    let refused = post(&served, "a", "/v1/memories", &json!({"content": " "})).await;
    assert_eq!(refused.problem(), (422, "content_empty"));
    post(&served, "a", "/v1/memories", &json!({"content": "mended"})).await.is(201);
}

#[tokio::test]
async fn concurrent_retries_write_once() {
    let served = Served::new().await;
    let body = json!({"content": "one", "session": "s"});
    let retries = (0..16).map(|_| post(&served, "a", "/v1/memories", &body));
    let replies = futures::future::join_all(retries).await;
    assert!(replies.iter().all(|reply| reply.status == 201 && reply.body == replies[0].body), "{replies:?}");
    assert_eq!(served.db.count(NODES).await, 1);
}

#[tokio::test]
async fn other_writes_answer_a_retry_as_the_first() {
    let served = Served::new().await;
    let node = served.remember("one").await;
    let forget = || {
        let path = format!("/v1/memories/{node}?confirm=true");
        served.send(served.request(Method::DELETE, &path).header("idempotency-key", "f"))
    };
    let first = forget().await.is(200);
    let again = forget().await;
    assert_eq!(again.header("idempotency-replayed"), "true");
    assert_eq!(again.is(200), first);
    // Without the key it is a second attempt.
    let path = format!("/v1/memories/{node}?confirm=true");
    assert_eq!(served.delete(&path).await.problem(), (404, "node_not_found"));
    let edit = |etag: &'static str| {
        let request = served.request(Method::PATCH, &format!("/v1/memories/{}", node + 1));
        let request = request.header("idempotency-key", "e").header("if-match", etag);
        served.send(request.json(&json!({"content": "two"})))
    };
    assert_eq!(served.remember("another").await, node + 1);
    let first = edit("\"1\"").await;
    let again = edit("\"1\"").await;
    assert_eq!((first.header("etag"), again.header("etag")), ("\"2\"", "\"2\""));
    assert_eq!(first.is(200), again.is(200));
    assert_eq!(
        edit("\"2\"").await.problem(),
        (422, "operation_differs"),
        "the header is part of the request"
    );
    assert_eq!(served.db.count("select count(*) from htm.node_revisions").await, 1);
}

#[tokio::test]
async fn a_failed_write_is_done_by_its_retry() {
    let served = Served::new().await;
    let body = json!({"from": ["a"], "into": "b"});
    assert_eq!(post(&served, "m", "/v1/tags/merge", &body).await.problem(), (404, "tag_unknown"));
    served.post("/v1/tags/add", json!({"tags": [{"tag": "a"}, {"tag": "b"}]})).await.is(200);
    assert_eq!(post(&served, "m", "/v1/tags/merge", &body).await.is(200)["moved"][0]["to"], "b");
}

/// As after an outage of the database that was shorter than the claim.
#[tokio::test]
async fn an_operation_that_the_database_could_not_end_is_ended_later() {
    let served = Served::new().await;
    let refuse = "create function refuse() returns trigger language plpgsql as $$ begin raise 'not now'; end $$;
        create trigger refuse before delete or update on htm.operations for each row execute function refuse()";
    sqlx::raw_sql(refuse).execute(&served.db.pool).await.unwrap();
    let (merge, add) = (json!({"from": ["a"], "into": "b"}), json!({"tags": [{"tag": "a"}, {"tag": "b"}]}));
    assert_eq!(post(&served, "m", "/v1/tags/merge", &merge).await.problem(), (404, "tag_unknown"));
    let added = post(&served, "t", "/v1/tags/add", &add).await.is(200);
    assert_eq!(post(&served, "m", "/v1/tags/merge", &merge).await.problem(), (409, "operation_open"));
    assert_eq!(post(&served, "t", "/v1/tags/add", &add).await.problem(), (409, "operation_open"));

    sqlx::raw_sql("drop trigger refuse on htm.operations").execute(&served.db.pool).await.unwrap();
    let open = "select count(*) from htm.operations where answer is null";
    htm_tests::wait_until(|| async { served.db.count(open).await == 0 }).await;
    let again = post(&served, "t", "/v1/tags/add", &add).await;
    assert_eq!((again.header("idempotency-replayed"), &again.body), ("true", &added));
    post(&served, "m", "/v1/tags/merge", &merge).await.is(200);
}

#[tokio::test]
async fn a_client_that_goes_away_finds_its_write_done() {
    let served = Served::new().await;
    let node = served.remember("one").await;
    let mut blocker = served.db.pool.begin().await.unwrap();
    sqlx::raw_sql("select from htm.nodes for update").execute(&mut *blocker).await.unwrap();
    let path = format!("/v1/memories/{node}?confirm=true");
    let forget = || served.request(Method::DELETE, &path).header("idempotency-key", "f");
    let waits = "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()";
    tokio::select! {
        reply = served.send(forget()) => panic!("{reply:?}"),
        () = htm_tests::wait_until(|| async { served.db.count(waits).await == 1 }) => {}
    }
    // The client has gone. While the write is in hand, a retry is told to come again.
    assert_eq!(served.send(forget()).await.problem(), (409, "operation_open"));
    blocker.rollback().await.unwrap();
    let kept = "select count(*) from htm.operations where answer is not null";
    htm_tests::wait_until(|| async { served.db.count(kept).await == 1 }).await;
    let again = served.send(forget()).await;
    assert_eq!(again.header("idempotency-replayed"), "true");
    assert_eq!(again.is(200)["forgotten"], json!([node]));
}

/// An insertion that is done again would be there twice.
#[tokio::test]
async fn a_crash_after_a_file_was_written_does_not_write_it_twice() {
    let served = Served::new().await;
    // Nothing is kept after the commit of a command, as if the server had been killed there.
    sqlx::raw_sql(
        "create function died() returns trigger language plpgsql as $$ begin
             if exists (select from pg_locks where pid = pg_backend_pid() and mode = 'RowExclusiveLock'
                                               and relation = 'htm.nodes'::regclass) then
                 return new;
             end if;
             raise 'the server died';
         end $$;
         create trigger died before update on htm.operations for each row execute function died()",
    )
    .execute(&served.db.pool)
    .await
    .unwrap();
    for (key, command, body) in [
        ("c", "create", json!({"path": "/memories/a.md", "file_text": "one\n"})),
        ("i", "insert", json!({"path": "/memories/a.md", "insert_line": 1, "insert_text": "two\n"})),
        ("s", "str_replace", json!({"path": "/memories/a.md", "old_str": "two", "new_str": "two two"})),
        ("r", "rename", json!({"old_path": "/memories/a.md", "new_path": "/memories/b.md"})),
        ("d", "delete", json!({"path": "/memories/b.md"})),
    ] {
        let path = format!("/v1/files/{command}");
        let first = post(&served, key, &path, &body).await;
        let again = post(&served, key, &path, &body).await;
        assert_eq!(again.header("idempotency-replayed"), "true", "{command}");
        assert_eq!(again.is(200), first.is(200));
    }
    assert_eq!(served.db.count("select count(*) from htm.node_revisions").await, 2);
}

/// Of other writes, a second attempt says that there is nothing left to do.
#[tokio::test]
async fn a_crash_after_a_change_of_a_memory_leaves_its_answer() {
    let served = Served::new().await;
    // As if the server were killed before it keeps an answer by itself: only what commits with the write is there.
    let die = "create function die() returns trigger language plpgsql as $$ begin return null; end $$;
        create trigger die before update on htm.operations for each row
            when (old.answer is not null) execute function die()";
    sqlx::raw_sql(die).execute(&served.db.pool).await.unwrap();
    let node = served.remember("one").await;
    let path = format!("/v1/memories/{node}");
    let edit =
        || served.request(Method::PATCH, &path).header("if-match", "\"1\"").json(&json!({"content": "two"}));
    let forget =
        || served.request(Method::DELETE, &format!("{path}?confirm=true")).header("if-match", "\"2\"");
    let restore = || served.request(Method::POST, &format!("{path}/restore")).json(&json!({}));
    for (key, request) in [("e", &edit as &dyn Fn() -> _), ("f", &forget), ("r", &restore)] {
        let first = served.send(request().header("idempotency-key", key)).await;
        let kept: i64 =
            sqlx::query_scalar("select count(*) from htm.operations where id = $1 and answer is not null")
                .bind(key)
                .fetch_one(&served.db.pool)
                .await
                .unwrap();
        assert_eq!(kept, 1, "{key}");
        let again = served.send(request().header("idempotency-key", key)).await;
        assert_eq!(again.header("idempotency-replayed"), "true");
        assert_eq!((again.header("etag"), &again.text), (first.header("etag"), &first.text));
        first.is(200);
    }
    assert_eq!(served.db.count("select revision::bigint from htm.nodes where deleted_at is null").await, 2);
}

#[tokio::test]
async fn a_crash_after_another_write_lets_a_retry_do_it_again() {
    let served = Served::new().await;
    let register = || {
        served
            .request(Method::POST, "/v1/tags/add")
            .header("idempotency-key", "t")
            .json(&json!({"tags": [{"tag": "editor"}]}))
    };
    served.send(register()).await.is(200);
    sqlx::raw_sql("update htm.operations set answer = null, claimed_until = now() + interval '1 minute'")
        .execute(&served.db.pool)
        .await
        .unwrap();
    assert_eq!(served.send(register()).await.problem(), (409, "operation_open"));
    sqlx::raw_sql("update htm.operations set claimed_until = now()").execute(&served.db.pool).await.unwrap();
    served.send(register()).await.is(200);
    assert_eq!(served.db.count("select count(*) from htm.tags").await, 1);
}
