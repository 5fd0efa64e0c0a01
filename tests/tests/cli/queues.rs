//! `htm jobs stats`, `pause`, `resume`, `prune`.

use htm_core::Stage;
use htm_core::worker::{queues, workers};
use htm_tests::{Sandbox, TestDatabase, drain, wait_until};
use serde_json::{Value, json};

use crate::filtered;

async fn run(db: &TestDatabase, statement: &'static str) {
    sqlx::raw_sql(statement).execute(&db.pool).await.unwrap();
}

#[tokio::test]
async fn stats_tell_what_each_queue_holds_and_what_holds_it_back() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    insta::assert_snapshot!("stats_of_nothing", filtered(sandbox.htm(&["jobs", "stats"]).await.succeeds()));
    for text in ["first", "second", "third", "fourth"] {
        sandbox.remember(&[text]).await;
    }
    drain(&db, Stage::Embed).await;
    workers::register(&db.pool, "htm.tag", "tagger", "tag-worker 0.1.0 fake/tags", 60_000).await.unwrap();
    run(
        &db,
        "with numbered as (select id, row_number() over (order by id) as n from apalis.jobs where job_type = 'htm.tag')
         update apalis.jobs j
            set metadata = case when n = 1 then metadata || hstore('parked', 'age') else metadata end,
                run_at = case when n < 3 then now() + interval '1 day' else now() - interval '150 minutes' end,
                priority = case when n = 3 then -10 else 0 end,
                status = case when n = 4 then 'Killed' else 'Pending' end,
                done_at = case when n = 4 then now() end
           from numbered where numbered.id = j.id;
         insert into htm.providers (model, breaker, reason, retry_at)
         values ('fake/tags', 'open', 'the key was refused', now() + interval '1 minute')",
    )
    .await;
    insta::assert_snapshot!("stats_of_each_kind", filtered(sandbox.htm(&["jobs", "stats"]).await.succeeds()));
    sandbox.htm(&["jobs", "pause", "htm.embed", "--reason", "moving the\nprovider"]).await.succeeds();
    let mut stats = sandbox.htm(&["jobs", "stats", "--json"]).await.json();
    for (queue, time) in [(0, "paused_at"), (2, "held_until")] {
        assert!(stats[queue][time].take().is_string());
    }
    assert!(stats[2]["oldest_due_ms"].take().as_i64().unwrap() >= 9_000_000);
    insta::assert_json_snapshot!("stats_for_programs", stats);
}

#[tokio::test]
async fn a_paused_queue_is_not_claimed_from_and_goes_on_at_once() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db).set("HTM_JOBS__POLL_MS", "60000");
    let said = sandbox.htm(&["jobs", "pause", "htm.embed", "--reason", "a move"]).await;
    assert!(said.succeeds().contains("no more claims"), "{said:?}");
    let _workers = [sandbox.start("embed-worker", &[]), sandbox.start("tag-worker", &[])];
    wait_until(|| async { workers::list(&db.pool).await.unwrap().len() == 2 }).await;
    sandbox.remember(&["waits for one stage only"]).await;
    let depth = async |stage: Stage| queues::depth(&db.pool, stage.queue()).await.unwrap();
    wait_until(|| async { depth(Stage::Tag).await.done == 1 }).await;
    assert_eq!(depth(Stage::Embed).await.pending, 1);
    let stats = sandbox.htm(&["jobs", "stats", "--json"]).await.json();
    assert_eq!((&stats[0]["paused"], &stats[2]["paused"]), (&json!("a move"), &Value::Null));

    // Well before the poll: the resume wakes the worker.
    let started = std::time::Instant::now();
    assert_eq!(sandbox.htm(&["jobs", "resume", "htm.embed"]).await.succeeds(), "htm.embed is resumed\n");
    wait_until(|| async { depth(Stage::Embed).await.done == 1 }).await;
    assert!(started.elapsed().as_secs() < 30);
    assert_eq!(sandbox.htm(&["jobs", "resume", "htm.embed"]).await.succeeds(), "htm.embed was not paused\n");
}

#[tokio::test]
async fn a_queue_that_is_none_is_refused_with_those_that_are() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    for verb in ["pause", "resume"] {
        let answer = sandbox.htm(&["jobs", verb, "embed"]).await;
        let said = answer.fails(2, "queue_unknown");
        assert!(said.contains("use one of: htm.embed, htm.learn, htm.tag"), "{said}");
        assert_eq!(sandbox.htm(&["--json", "jobs", verb, ""]).await.json_error(2)["code"], "queue_unknown");
    }
}

#[tokio::test]
async fn pruning_takes_rows_and_leaves_what_was_done() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let node = sandbox.remember(&["kept"]).await;
    for stage in Stage::ALL {
        drain(&db, stage).await;
    }
    workers::register(&db.pool, "htm.tag", "gone", "tag-worker 0.1.0 fake/tags", 1_000).await.unwrap();
    run(&db, "update apalis.workers set last_seen = now() - interval '2 days' where id = 'gone'").await;
    let prune = async |arguments: &[&str]| {
        sandbox.htm(&[&["jobs", "prune", "--json"], arguments].concat()).await.json()
    };
    assert_eq!(prune(&[]).await, json!({ "pruned": 0, "workers": 1 }));
    for time in ["1h", "200000000000000d"] {
        assert_eq!(prune(&["--older-than", time]).await["pruned"], 0);
    }
    run(&db, "update apalis.jobs set done_at = now() - interval '8 days' where job_type = 'htm.tag'").await;
    assert_eq!(prune(&[]).await, json!({ "pruned": 1, "workers": 0 }));
    let said = sandbox.htm(&["jobs", "prune", "--older-than", "0s"]).await;
    assert_eq!(said.succeeds(), "pruned 1 done job and 0 old workers\n");
    assert_eq!(db.count("select count(*) from apalis.jobs").await, 0);
    assert_eq!(db.count("select count(*) from htm.completions").await, 2);
    let status = sandbox.htm(&["status", &node, "--json"]).await.json();
    assert!(status["stages"].as_array().unwrap().iter().all(|stage| stage["state"] == "done"), "{status}");
    assert_eq!(sandbox.htm(&["jobs", "audit"]).await.succeeds(), "0 stranded\n");
}

#[tokio::test]
async fn the_sweep_prunes_no_more_than_it_is_told() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    for text in ["one", "two", "three"] {
        sandbox.remember(&[text]).await;
    }
    run(&db, "update apalis.jobs set status = 'Done', done_at = now() where job_type = 'htm.tag'").await;
    let none = std::time::Duration::ZERO;
    let mut pruned = Vec::new();
    for _ in 0..3 {
        pruned.push(queues::prune(&db.pool, none, 2).await.unwrap());
    }
    assert_eq!(pruned, [2, 1, 0]);
    assert_eq!(db.count("select count(*) from apalis.jobs").await, 3);
}

#[tokio::test]
async fn a_dead_letter_goes_when_told_and_when_nothing_hangs_on_it() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    for text in ["lacks its result", "edited since"] {
        sandbox.remember(&[text]).await;
    }
    run(
        &db,
        "delete from apalis.jobs where job_type = 'htm.tag';
         update apalis.jobs set status = 'Killed', done_at = now() - interval '40 days';
         update htm.nodes set revision = 2 where content = 'edited since'",
    )
    .await;
    let prune = ["jobs", "prune", "--dead", "--older-than", "30d"];
    let answer = sandbox.htm(&prune).await;
    let said = answer.fails(2, "not_confirmed");
    assert!(said.contains("--yes"), "{said}");
    let said = sandbox.htm(&[&prune[..], &["--yes"]].concat()).await;
    assert!(said.succeeds().starts_with("pruned 1 dead job and "), "{said:?}");
    let left = "select count(*) from apalis.jobs where status = 'Killed'";
    assert_eq!(db.count(left).await, 1);
    sandbox.htm(&["jobs", "prune", "--older-than", "0s"]).await.succeeds();
    assert_eq!(db.count(left).await, 1);
}
