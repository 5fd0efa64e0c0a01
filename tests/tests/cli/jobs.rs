//! `htm jobs list`, `show`, `retry`, `cancel`.

use htm_core::worker::jobs::{self, Claimed, Embedded, Lease};
use htm_core::worker::{embeddings, workers};
use htm_core::{NodeId, Stage, provider::ModelName};
use htm_tests::{Answer, Sandbox, TestDatabase, drain, wait_until};
use serde_json::{Value, json};
use sqlx::AssertSqlSafe;

use crate::filtered;

/// Runs an SQL statement.
async fn sql(db: &TestDatabase, statement: &str) {
    sqlx::raw_sql(AssertSqlSafe(statement.to_owned())).execute(&db.pool).await.unwrap();
}

/// The id of a node's job of a queue.
async fn job_of(db: &TestDatabase, node: &str, queue: &str) -> String {
    sqlx::query_scalar("select id from apalis.jobs where metadata -> 'node' = $1 and job_type = $2")
        .bind(node)
        .bind(queue)
        .fetch_one(&db.pool)
        .await
        .unwrap()
}

/// The answer of `htm jobs show` about one job.
async fn show(sandbox: &Sandbox, id: &str) -> Value {
    sandbox.htm(&["jobs", "show", id, "--json"]).await.json()[0].take()
}

/// A worker that holds everything that is due for embedding.
async fn hold(db: &TestDatabase) -> (Lease, Vec<Claimed>) {
    workers::register(&db.pool, "htm.embed", "holder", "embed-worker 0.1.0 fake/fake-64", 60_000)
        .await
        .unwrap();
    jobs::claim(&db.pool, "htm.embed", "fake/fake-64", "holder", 100).await.unwrap().unwrap()
}

/// A job in each state; returns the nodes, in the states' order: dead, parked, waiting, running, due, done.
async fn one_of_each(db: &TestDatabase, sandbox: &Sandbox) -> Vec<String> {
    let mut nodes = Vec::new();
    for text in ["dead", "parked", "waiting", "running", "due", "done"] {
        nodes.push(sandbox.remember(&["--namespace", "atlas", text]).await);
    }
    sql(db, "delete from apalis.jobs where job_type = 'htm.tag'").await;
    let only = |node: &str| format!("where job_type = 'htm.embed' and metadata -> 'node' = '{node}'");
    let [dead, parked, waiting, running, due, done] = &nodes[..] else { unreachable!() };
    sql(db, &format!("update apalis.jobs set run_at = now() + interval '90 minutes' where metadata -> 'node' <> '{running}'")).await;
    hold(db).await;
    sql(
        db,
        &format!(
            r#"update apalis.jobs set status = 'Killed', attempts = 3, done_at = now(),
                      last_result = '{{"Err": "the text is longer than the Context Length"}}' {};
               update apalis.jobs set metadata = metadata || hstore('parked', 'budget') {};
               update apalis.jobs set attempts = 1, last_result = '{{"Err": "\u001b[31mno answer\nfor 30 s"}}' {};
               update apalis.jobs set run_at = now() {};
               update apalis.jobs set status = 'Done', done_at = now(), last_result = '{{"Ok": "embedded"}}' {};"#,
            only(dead),
            only(parked),
            only(waiting),
            only(due),
            only(done),
        ),
    )
    .await;
    nodes
}

#[tokio::test]
async fn a_list_shows_the_worst_first_and_filters() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    assert_eq!(sandbox.htm(&["jobs", "list"]).await.succeeds(), "no open or dead jobs\n");
    let nodes = one_of_each(&db, &sandbox).await;
    insta::assert_snapshot!(filtered(sandbox.htm(&["jobs", "list"]).await.succeeds()));

    for (place, state) in ["dead", "parked", "waiting", "running", "due", "done"].into_iter().enumerate() {
        let listed = sandbox.htm(&["jobs", "list", "--json", "--state", state]).await.json();
        let listed = listed.as_array().unwrap();
        assert_eq!(listed.len(), 1, "{state}: {listed:?}");
        assert_eq!(
            (&listed[0]["state"], listed[0]["node"].to_string()),
            (&json!(state), nodes[place].clone())
        );
    }
    let count = async |arguments: &[&str]| {
        let listed = sandbox.htm(&[&["jobs", "list", "--json"], arguments].concat()).await.json();
        listed.as_array().unwrap().len()
    };
    assert_eq!(count(&[]).await, 5);
    assert_eq!(count(&["--limit", "2"]).await, 2);
    assert_eq!(count(&["--error", "context length"]).await, 1);
    assert_eq!(count(&["--error", "%"]).await, 0);
    assert_eq!(count(&["--node", &nodes[3]]).await, 1);
    assert_eq!(count(&["--namespace", "atlas", "--queue", "htm.embed"]).await, 5);
    assert_eq!(count(&["--namespace", "elsewhere"]).await, 0);
    assert_eq!(count(&["--queue", "htm.tag"]).await, 0);

    // The end of a list is told from its limit.
    let said = sandbox.htm(&["jobs", "list", "--limit", "2"]).await;
    assert!(said.succeeds().contains("\nthe first 2; there are more: --limit"), "{said:?}");
    let said = sandbox.htm(&["jobs", "list", "--limit", "5"]).await;
    assert!(!said.succeeds().contains("there are more"), "{said:?}");
    for limit in ["0", "10001"] {
        sandbox.htm(&["jobs", "list", "--limit", limit]).await.fails(2, "limit_out_of_range");
    }
    for verb in ["list", "retry", "cancel"] {
        let answer = sandbox.htm(&["jobs", verb, "--queue", "htm.nope"]).await;
        assert!(answer.fails(2, "queue_unknown").contains("htm.embed, htm.learn, htm.tag"), "{answer:?}");
    }
}

#[tokio::test]
async fn everything_about_a_job_is_shown() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let nodes = one_of_each(&db, &sandbox).await;
    let mut ids = Vec::new();
    for node in &nodes {
        ids.push(job_of(&db, node, "htm.embed").await);
    }
    let all: Vec<&str> = ["jobs", "show"].into_iter().chain(ids.iter().map(String::as_str)).collect();
    insta::assert_snapshot!(filtered(sandbox.htm(&all).await.succeeds()));

    let mut running = show(&sandbox, &ids[3]).await;
    assert_eq!(running["payload"], json!({ "v": 1, "node": running["node"], "revision": 1 }));
    for name in ["id", "due_at", "held_since", "read_at"] {
        assert!(running[name].take().is_string(), "{name}");
    }
    insta::assert_json_snapshot!(running);
    // A payload that nobody can read is shown all the same.
    sql(&db, "update apalis.jobs set job = '\\xff1b5b'").await;
    assert_eq!(show(&sandbox, &ids[0]).await["payload"], "\\xff\\x1b[");
    let answer = sandbox.htm(&["jobs", "show", &ids[0]]).await;
    assert!(answer.succeeds().contains("\\xff\\x1b[ (the payload cannot be read"), "{answer:?}");
}

#[tokio::test]
async fn a_retried_job_is_as_new() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let nodes = one_of_each(&db, &sandbox).await;
    let dead = job_of(&db, &nodes[0], "htm.embed").await;
    let parked = job_of(&db, &nodes[1], "htm.embed").await;
    let said = sandbox.htm(&["jobs", "retry", &dead, &parked]).await;
    assert_eq!(said.succeeds(), "2 jobs due again\n");
    for id in [dead, parked] {
        let job = show(&sandbox, &id).await;
        assert_eq!((&job["state"], &job["attempts"]), (&json!("due"), &json!(0)), "{job}");
        for gone in ["parked", "ended_at", "last_error"] {
            assert_eq!(job[gone], Value::Null, "{job}");
        }
    }
    let answer = sandbox.htm(&["jobs", "retry", "--state", "waiting", "--json"]).await.json();
    assert_eq!(answer, json!({ "retried": 1, "outdated": 0, "over_budget": 0 }));
    sql(
        &db,
        "update apalis.jobs set status = 'Pending', lock_by = null, lock_at = null where status = 'Running'",
    )
    .await;
    drain(&db, Stage::Embed).await;
    let status = sandbox.htm(&["status", &nodes[0], "--json"]).await.json();
    assert_eq!(status["stages"][0]["state"], "done");
}

#[tokio::test]
async fn jobs_that_the_budget_parks_again_are_told() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    for namespace in ["atlas", "borealis"] {
        sandbox.remember(&["--namespace", namespace, "a text of some tokens"]).await;
    }
    sandbox.htm(&["providers", "budget", "atlas", "--tokens-per-day", "7"]).await.succeeds();
    // Some tokens are left, and too few.
    let park = "update htm.budgets set tokens_used = 6;
                update apalis.jobs set metadata = metadata || hstore('parked', 'budget'), run_at = now() + interval '1 day'";
    sql(&db, park).await;
    let retry = async || sandbox.htm(&["jobs", "retry", "--state", "parked"]).await.succeeds().to_owned();
    let said = retry().await;
    assert!(said.starts_with("4 jobs due again; 2 jobs over the budget of the namespace"), "{said}");
    assert!(said.contains("`htm providers budget`"), "{said}");
    // Yesterday's spending is not today's.
    sql(&db, park).await;
    sql(&db, "update htm.budgets set day = day - 1").await;
    assert_eq!(retry().await, "4 jobs due again\n");
}

#[tokio::test]
async fn dead_letters_are_retried_by_filter_unless_their_node_has_changed() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    for (namespace, text) in [("atlas", "one"), ("atlas", "two"), ("borealis", "three")] {
        sandbox.remember(&["--namespace", namespace, text]).await;
    }
    let kill = r#"update apalis.jobs set status = 'Killed', done_at = now(), attempts = 25, last_result = '{"Err": "no"}'"#;
    sql(&db, kill).await;
    sql(&db, "update htm.nodes set revision = 2 where id = (select min(id) from htm.nodes)").await;
    let retry = async |arguments: &[&str]| sandbox.htm(&[&["jobs", "retry"], arguments].concat()).await;
    assert_eq!(retry(&["--error", "nothing like it"]).await.succeeds(), "0 jobs due again\n");
    let said = retry(&["--namespace", "atlas"]).await;
    assert_eq!(said.succeeds(), "2 jobs due again; 2 jobs skipped: the node was forgotten or edited since\n");
    assert_eq!(
        retry(&["--queue", "htm.tag"]).await.succeeds(),
        "1 job due again; 1 job skipped: the node was forgotten or edited since\n"
    );
    let answer = retry(&["--all-dead", "--json"]).await.json();
    assert_eq!(answer, json!({ "retried": 1, "outdated": 2, "over_budget": 0 }));
    assert_eq!(
        db.count("select count(*) from apalis.jobs where status = 'Pending' and attempts = 0").await,
        4
    );
}

#[tokio::test]
async fn what_runs_or_is_done_is_not_retried_and_nothing_beside_it() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let nodes = one_of_each(&db, &sandbox).await;
    let mut ids = Vec::new();
    for node in &nodes {
        ids.push(job_of(&db, node, "htm.embed").await);
    }
    let [dead, _, _, running, _, done] = &ids[..] else { unreachable!() };
    let answer = sandbox.htm(&["jobs", "retry", dead, running]).await;
    let said = answer.fails(2, "job_state_unfit");
    assert!(
        said.contains("is running: it cannot be retried")
            && said.contains(&format!("htm jobs cancel {running}")),
        "{said}"
    );
    sandbox.htm(&["jobs", "retry", dead, done]).await.fails(2, "job_state_unfit");
    sandbox.htm(&["jobs", "cancel", done]).await.fails(2, "job_state_unfit");
    let answer = sandbox.htm(&["jobs", "cancel", dead]).await;
    let said = answer.fails(2, "job_state_unfit");
    assert!(said.contains(&format!("htm jobs retry {dead}")), "{said}");
    for (verb, state) in [("retry", "running"), ("retry", "done"), ("cancel", "dead"), ("cancel", "done")] {
        let answer = sandbox.htm(&["jobs", verb, "--state", state]).await;
        assert!(answer.fails(2, "job_state_unfit").contains("use one of: d"), "{answer:?}");
    }
    for verb in ["show", "retry", "cancel"] {
        sandbox.htm(&["jobs", verb, dead, "01NONE"]).await.fails(2, "job_not_found");
        assert_eq!(sandbox.htm(&["--json", "jobs", verb, "x"]).await.json_error(2)["code"], "job_not_found");
    }
    assert_eq!(show(&sandbox, dead).await["state"], "dead");
}

#[tokio::test]
async fn jobs_are_named_in_one_way_that_makes_sense() {
    let sandbox = Sandbox::on("");
    for arguments in [
        &["list", "--state", "lost"][..],
        &["list", "--node", "x"],
        &["list", "--limit", "-1"],
        &["show"],
        &["retry"],
        &["retry", "01X", "--all-dead"],
        &["retry", "01X", "--queue", "htm.tag"],
        &["retry", "--all-dead", "--state", "parked"],
        &["cancel"],
        &["cancel", "--yes"],
        &["cancel", "01X", "--namespace", "atlas"],
        &["pause"],
        &["prune", "--older-than", "soon"],
        &["prune", "--dead", "--yes"],
        &["frobnicate"],
    ] {
        let answer = sandbox.htm(&[&["--json", "jobs"], arguments].concat()).await;
        let error = answer.json_error(2);
        assert_eq!(error["code"], "usage", "{error}");
        assert!(!error["hint"].as_str().unwrap().is_empty(), "{error}");
    }
    let answer = sandbox.htm(&["jobs", "retry"]).await;
    assert!(answer.fails(2, "usage").contains("htm jobs retry --all-dead"), "{answer:?}");
    let answer = sandbox.htm(&["jobs", "cancel", "--yes"]).await;
    assert!(answer.fails(2, "usage").contains("--namespace"), "{answer:?}");
}

#[tokio::test]
async fn a_cancelled_job_is_out_of_its_holders_hands() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let model = embeddings::register_model(&db.pool, &ModelName::new("fake", "fake-64"), 64).await.unwrap();
    let node = sandbox.remember(&["precious"]).await;
    let (lease, claimed) = hold(&db).await;
    let id = &claimed[0].id;
    assert_eq!(sandbox.htm(&["jobs", "cancel", id]).await.succeeds(), "1 job cancelled\n");
    let job = show(&sandbox, id).await;
    assert_eq!((&job["state"], &job["last_error"]), (&json!("dead"), &json!("cancelled by an operator")));

    let late = Embedded {
        job: id.clone(),
        node: node.parse::<NodeId>().unwrap(),
        revision: 1,
        embedding: vec![0.125; 64],
        parts: 1,
    };
    assert_eq!(jobs::ack_embedded(&db.pool, &lease, &model, std::slice::from_ref(&late)).await.unwrap(), 0);
    // Nor does the holder come back by a retry: it is another claim's.
    assert_eq!(sandbox.htm(&["jobs", "retry", id]).await.succeeds(), "1 job due again\n");
    let (again, _) = hold(&db).await;
    assert_eq!(jobs::ack_embedded(&db.pool, &lease, &model, std::slice::from_ref(&late)).await.unwrap(), 0);
    assert_eq!(db.count("select count(*) from htm.completions").await, 0);
    assert_eq!(jobs::ack_embedded(&db.pool, &again, &model, &[late]).await.unwrap(), 1);
}

#[tokio::test]
async fn several_jobs_are_cancelled_with_a_yes_only() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let keep = sandbox.remember(&["--namespace", "keep", "kept"]).await;
    for text in ["one", "two"] {
        sandbox.remember(&["--namespace", "scratch", text]).await;
    }
    let open = "select count(*) from apalis.jobs where status = 'Pending'";
    let answer: Answer = sandbox.htm(&["jobs", "cancel", "--namespace", "scratch"]).await;
    let said = answer.fails(2, "not_confirmed");
    assert!(said.contains("cancelling 4 jobs") && said.contains("--yes"), "{said}");
    assert_eq!(db.count(open).await, 6);
    let answer = sandbox.htm(&["jobs", "cancel", "--namespace", "scratch", "--yes", "--json"]).await.json();
    assert_eq!(answer, json!({ "cancelled": 4 }));
    assert_eq!(db.count(open).await, 2);
    let only = ["jobs", "cancel", "--node", &keep, "--queue", "htm.tag"];
    assert_eq!(sandbox.htm(&only).await.succeeds(), "1 job cancelled\n");
    assert_eq!(sandbox.htm(&only).await.succeeds(), "0 jobs cancelled\n");
}

#[tokio::test]
async fn a_retry_wakes_a_worker_that_waits_for_its_poll() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db).set("HTM_JOBS__POLL_MS", "60000");
    sandbox.remember(&["tried in vain"]).await;
    sql(&db, "update apalis.jobs set status = 'Killed', done_at = now()").await;
    let _worker = sandbox.start("tag-worker", &[]);
    let listening = "select count(*) from pg_stat_activity
                      where datname = current_database() and query ilike 'listen %'";
    wait_until(|| async { db.count(listening).await == 1 }).await;
    let started = std::time::Instant::now();
    assert_eq!(sandbox.htm(&["jobs", "retry", "--queue", "htm.tag"]).await.succeeds(), "1 job due again\n");
    let done = "select count(*) from apalis.jobs where status = 'Done'";
    wait_until(|| async { db.count(done).await == 1 }).await;
    assert!(started.elapsed().as_secs() < 30);
}
