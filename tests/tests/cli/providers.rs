//! `htm workers`, `htm providers …`.

use htm_core::Stage;
use htm_core::worker::{jobs, queues, workers};
use htm_tests::{Sandbox, TestDatabase, drain, wait_until};
use serde_json::{Value, json};

use crate::filtered;

async fn run(db: &TestDatabase, statement: &'static str) {
    sqlx::raw_sql(statement).execute(&db.pool).await.unwrap();
}

#[tokio::test]
async fn workers_are_listed_with_what_they_hold() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let said = sandbox.htm(&["workers"]).await;
    assert!(said.succeeds().starts_with("no workers; start some"), "{said:?}");
    sandbox.remember(&["held"]).await;
    for (queue, worker, detail) in [
        ("htm.embed", "worker-1", "embed-worker 0.1.0 fake/fake-64"),
        ("htm.tag", "worker-2", "tag-worker 0.1.0 fake/tags"),
    ] {
        workers::register(&db.pool, queue, worker, detail, 30_000).await.unwrap();
    }
    jobs::claim(&db.pool, "htm.embed", "fake/fake-64", "worker-1", 10).await.unwrap().unwrap();
    run(&db, "update apalis.workers set last_seen = now() - interval '5 minutes' where id = 'worker-2'")
        .await;
    insta::assert_snapshot!(filtered(sandbox.htm(&["workers"]).await.succeeds()));
    let listed = sandbox.htm(&["workers", "--json"]).await.json();
    let brief: Vec<(&Value, &Value, &Value)> =
        listed.as_array().unwrap().iter().map(|it| (&it["id"], &it["alive"], &it["jobs"])).collect();
    let (first, second) = (json!("worker-1"), json!("worker-2"));
    assert_eq!(brief, [(&first, &json!(true), &json!(1)), (&second, &json!(false), &json!(0))]);
    assert!(listed[0]["started_at"].is_string() && listed[1]["unseen_ms"].as_i64().unwrap() >= 300_000);
}

#[tokio::test]
async fn limits_are_set_changed_and_taken_away() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    assert_eq!(sandbox.htm(&["providers"]).await.succeeds(), "no model has limits or failures\n");
    let set = async |arguments: &[&str]| {
        let answer = sandbox.htm(&[&["providers", "set", "--json"], arguments].concat()).await.json();
        let limits = ["requests_per_minute", "tokens_per_minute", "concurrent_calls"];
        (limits.map(|name| answer["provider"][name].as_i64()), answer["known"].as_bool().unwrap())
    };
    let model = "fake/fake-64";
    let all = ["--requests-per-minute", "60", "--tokens-per-minute", "1000", "--concurrent", "2"];
    assert_eq!(set(&[&[model], &all[..]].concat()).await, ([Some(60), Some(1000), Some(2)], true));
    run(&db, "update htm.providers set levels_at = now()").await;
    assert_eq!(set(&[model, "--tokens-per-minute", "none"]).await, ([Some(60), None, Some(2)], true));
    assert_eq!(db.count("select count(*) from htm.providers where levels_at is null").await, 1);
    assert_eq!(set(&[model, "--concurrent", "5"]).await, ([Some(60), None, Some(5)], true));
    assert_eq!(set(&["fake/typo", "--concurrent", "1"]).await, ([None, None, Some(1)], false));
    // One that learns has no model.
    workers::register(&db.pool, "htm.learn", "learner", "learn-worker 0.1.0 ", 30_000).await.unwrap();
    let said = sandbox.htm(&["providers", "set", "fake/typo", "--concurrent", "2"]).await;
    assert!(said.succeeds().contains("note: the limits wait for a model of this label"), "{said:?}");
    assert!(said.stdout.contains("known labels: fake/fake, fake/fake-64\n"), "{said:?}");
    // Without a limit nothing is left of it.
    let said = sandbox.htm(&["providers", "set", "fake/typo", "--concurrent", "none"]).await;
    assert_eq!(said.succeeds(), "fake/typo has no limits\n");
    assert_eq!(db.count("select count(*) from htm.providers where model = 'fake/typo'").await, 0);
    for limit in ["0", "-1", "many", "2147483648", ""] {
        let answer =
            sandbox.htm(&["--json", "providers", "set", model, &format!("--concurrent={limit}")]).await;
        assert_eq!(answer.json_error(2)["code"], "usage", "{limit}");
    }
    assert_eq!(sandbox.htm(&["--json", "providers", "set", model]).await.json_error(2)["code"], "usage");
}

#[tokio::test]
async fn a_breaker_is_shown_and_closed_and_the_workers_go_on() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db).set("HTM_JOBS__POLL_MS", "60000");
    run(
        &db,
        "insert into htm.providers (model, breaker, failures, openings, reason, retry_at, concurrent_calls)
         values ('fake/fake-64', 'open', 5, 2, 'the provider does not answer', now() + interval '1 hour', 4),
                ('fake/trial', 'half_open', 7, 3, 'still nothing', now() + interval '1 minute', null);
         insert into htm.providers (model, reason, resume_at)
         values ('fake/limited', 'too many requests', now() + interval '1 minute');
         insert into htm.provider_calls (model, worker, expires_at)
         values ('fake/fake-64', 'a', now() + interval '1 minute'), ('fake/fake-64', 'b', now() - interval '1 minute');
         insert into htm.waiting_calls (model, worker, priority, tokens, expires_at)
         select 'fake/fake-64', 'c', 0, 10, now() + seconds * interval '1 second' from unnest(array[60, 60, -60]) seconds",
    )
    .await;
    let said = sandbox.htm(&["providers"]).await;
    assert_eq!(said.succeeds(), sandbox.htm(&["providers", "list"]).await.succeeds());
    insta::assert_snapshot!(filtered(&said.stdout));
    let listed = sandbox.htm(&["providers", "--json"]).await.json();
    assert_eq!((&listed[0]["calls"], &listed[0]["waiting"]), (&json!(1), &json!(2)));

    let _worker = sandbox.start("embed-worker", &[]);
    wait_until(|| async { workers::list(&db.pool).await.unwrap().len() == 1 }).await;
    sandbox.remember(&["waits for its provider"]).await;
    let stats = sandbox.htm(&["jobs", "stats", "--json"]).await.json();
    assert_eq!((&stats[0]["held"], &stats[0]["due"]), (&json!("the provider does not answer"), &json!(1)));
    let started = std::time::Instant::now();
    sandbox.htm(&["providers", "reset", "fake/fake-64"]).await.succeeds();
    let done = || async { queues::depth(&db.pool, Stage::Embed.queue()).await.unwrap().done == 1 };
    wait_until(done).await;
    assert!(started.elapsed().as_secs() < 30);
    let listed = sandbox.htm(&["providers", "--json"]).await.json();
    assert_eq!((&listed[0]["breaker"], &listed[0]["failures"]), (&json!("closed"), &json!(0)));
    // One that was put off until the limit ends does not wait for that any more.
    sandbox.remember(&["put off"]).await;
    run(
        &db,
        "update apalis.jobs set run_at = now() + interval '1 hour', metadata = metadata || hstore('deferred_since', now()::text)
          where job_type = 'htm.tag' and metadata -> 'node' = '2'",
    )
    .await;
    let answer = sandbox.htm(&["providers", "reset", "fake/limited", "--json"]).await.json();
    assert_eq!(answer, json!({ "model": "fake/limited", "breaker": "closed", "hastened": 1 }));
    assert_eq!(
        db.count("select count(*) from apalis.jobs where run_at > now() or metadata ? 'deferred_since'")
            .await,
        0
    );
    assert_eq!(db.count("select count(*) from htm.providers where resume_at is not null").await, 0);
    let answer = sandbox.htm(&["providers", "reset", "fake/nothing"]).await;
    let said = answer.fails(2, "provider_unknown");
    assert!(said.contains("use one of: fake/fake-64, fake/limited, fake/trial"), "{said}");
}

#[tokio::test]
async fn a_budget_that_is_raised_unparks_its_namespace() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    assert_eq!(sandbox.htm(&["providers", "budgets"]).await.succeeds(), "no namespace has a budget\n");
    for namespace in ["atlas", "borealis"] {
        sandbox.remember(&["--namespace", namespace, "text"]).await;
    }
    let budget = async |tokens: &str| {
        sandbox.htm(&["providers", "budget", "atlas", "--tokens-per-day", tokens]).await.succeeds().to_owned()
    };
    assert_eq!(budget("1000").await, "atlas may spend 1000 tokens per day\n");
    let park = "update htm.budgets set tokens_used = 990;
                update apalis.jobs set metadata = metadata || hstore('parked', 'budget'), run_at = now() + interval '1 day'";
    run(&db, park).await;
    insta::assert_snapshot!(sandbox.htm(&["providers", "budgets"]).await.succeeds());
    let due = "select count(*) from apalis.jobs where run_at <= now() and not metadata ? 'parked'";
    // A job that is due again would be parked at once: 990 tokens are spent.
    for tokens in ["900", "950", "990"] {
        let said = format!("atlas may spend {tokens} tokens per day; 990 tokens spent today already\n");
        assert_eq!(budget(tokens).await, said);
        assert_eq!(db.count(due).await, 0);
    }
    assert_eq!(budget("2000").await, "atlas may spend 2000 tokens per day; 2 parked jobs are due again\n");
    assert_eq!(db.count(due).await, 2);
    run(&db, park).await;
    // Yesterday's spending is not today's.
    run(&db, "update htm.budgets set day = day - 1").await;
    let listed = sandbox.htm(&["providers", "budgets", "--json"]).await.json();
    let expected = json!([{ "namespace": "atlas", "tokens_per_day": 2000, "tokens_used": 0, "parked": 2 }]);
    assert_eq!(listed, expected);
    assert_eq!(budget("none").await, "atlas may spend any number of tokens; 2 parked jobs are due again\n");
    assert_eq!(db.count("select count(*) from htm.budgets").await, 0);
    assert_eq!(budget("0").await, "atlas may spend 0 tokens per day\n");

    sandbox.htm(&["providers", "budget", " ", "--tokens-per-day", "1"]).await.fails(2, "namespace_invalid");
    for tokens in ["-1", "lots"] {
        let argument = format!("--tokens-per-day={tokens}");
        let answer = sandbox.htm(&["--json", "providers", "budget", "atlas", &argument]).await;
        assert_eq!(answer.json_error(2)["code"], "usage", "{tokens}");
    }
}

#[tokio::test]
async fn the_count_of_tokens_says_that_it_is_no_ledger() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let help = sandbox.htm(&["providers", "usage", "--help"]).await;
    let said = help.succeeds().split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("Not counted are memories that were purged or erased"), "{said}");
    let node = sandbox.remember(&["A lighthouse keeper."]).await;
    drain(&db, Stage::Embed).await;
    let counted = async || sandbox.htm(&["--json", "providers", "usage"]).await.json();
    assert_eq!(counted().await[0]["jobs"], 1);
    sandbox.htm(&["erase", &node, "--yes"]).await.succeeds();
    assert_eq!(counted().await, json!([]));
}
