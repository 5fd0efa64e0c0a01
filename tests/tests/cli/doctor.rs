//! `htm doctor`: what is wrong, and what mends it.

use htm_core::Stage;
use htm_core::worker::workers;
use htm_tests::{Sandbox, TestDatabase, drain, wait_until};
use serde_json::Value;

fn found<'a>(findings: &'a Value, state: &str) -> Vec<&'a str> {
    let all = findings.as_array().unwrap().iter();
    all.filter(|finding| finding["state"] == state).map(|finding| finding["what"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn nothing_to_do_and_nobody_there_is_healthy() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let findings = sandbox.htm(&["doctor", "--json"]).await.json();
    assert_eq!(found(&findings, "error"), Vec::<&str>::new());
    assert!(
        found(&findings, "ok").iter().any(|what| what.contains("fake/fake-64 answers with 64 dimensions"))
    );
    sandbox.htm(&["remember", "done"]).await.succeeds();
    for stage in Stage::ALL {
        drain(&db, stage).await;
    }
    let answer = sandbox.htm(&["doctor"]).await;
    let said = answer.succeeds();
    assert!(said.contains("htm.tag: 0 waiting, 0 running, 1 done"), "{said}");
    assert!(said.contains("no node is stranded"), "{said}");
}

#[tokio::test]
async fn a_local_model_is_told_with_what_was_read_of_it() {
    let db = TestDatabase::new().await;
    let model = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/htm-providers/tests/data/xlm-roberta");
    let sandbox = Sandbox::new(&db)
        .set("HTM_EMBEDDING__PROVIDER", "local")
        .set("HTM_EMBEDDING__MODEL", "xlm-roberta")
        .set("HTM_LOCAL__MODEL_DIR", model);
    let findings = sandbox.htm(&["doctor", "--json"]).await.json();
    let facts = "local/xlm-roberta: RoBERTa, 2 layers, 24 dimensions, 64 tokens at once, pooling mean, before documents \
                 \"passage: \", before queries \"query: \"";
    assert!(found(&findings, "ok").contains(&facts), "{findings}");

    let sandbox = sandbox.set("HTM_EMBEDDING__QUERY_PREFIX", "ask: ");
    let findings = sandbox.htm(&["doctor", "--json"]).await.json();
    assert!(
        found(&findings, "ok").iter().any(|what| what.ends_with("before queries \"ask: \"")),
        "{findings}"
    );

    let other = sandbox.write("config.json", r#"{"model_type": "t5"}"#);
    let dir = std::path::Path::new(&other).parent().unwrap().to_str().unwrap().to_owned();
    let sandbox = sandbox.set("HTM_LOCAL__MODEL_DIR", &dir);
    let answer = sandbox.htm(&["doctor", "--json"]).await;
    let findings: Value = serde_json::from_str(&answer.exits(1).stdout).unwrap();
    let errors = found(&findings, "error").concat();
    assert!(errors.contains("model_type `t5` is not supported; supported are bert, distilbert"), "{errors}");
}

#[tokio::test]
async fn jobs_that_nobody_works_on_are_an_error_until_somebody_does() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    // A job that is not due for long keeps the queue from being empty while its worker lives.
    sandbox.htm(&["remember", "waiting"]).await.succeeds();
    sqlx::query("update apalis.jobs set run_at = now() + interval '1 day'").execute(&db.pool).await.unwrap();
    let answer = sandbox.htm(&["doctor", "--json"]).await;
    let findings: Value = serde_json::from_str(&answer.exits(1).stdout).unwrap();
    let errors = found(&findings, "error");
    assert_eq!(errors.len(), 2, "{errors:?}");
    for (error, stage) in errors.iter().zip(Stage::ALL) {
        assert!(error.starts_with(&format!("{}: 1 waiting", stage.queue())), "{error}");
        assert!(error.ends_with("no worker serves it"), "{error}");
    }
    let help = findings.as_array().unwrap().iter().filter(|finding| finding["state"] == "error");
    assert!(help.into_iter().all(|finding| finding["help"].as_str().unwrap().contains("htm up")));

    let _workers = [sandbox.start("embed-worker", &[]), sandbox.start("tag-worker", &[])];
    wait_until(|| async { workers::list(&db.pool).await.unwrap().len() == 2 }).await;
    let findings = sandbox.htm(&["doctor", "--json"]).await.json();
    assert!(found(&findings, "ok").iter().any(|what| what.ends_with("; 1 worker")), "{findings}");
}

#[tokio::test]
async fn dead_letters_stranded_nodes_and_old_workers_are_told() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    workers::register(&db.pool, Stage::Embed.queue(), "old", "embed-worker 0.0.1 fake", 30_000)
        .await
        .unwrap();
    for text in ["dead", "lost"] {
        sandbox.htm(&["remember", text]).await.succeeds();
    }
    sqlx::query("update apalis.jobs set status = 'Killed', done_at = now()").execute(&db.pool).await.unwrap();
    let findings = sandbox.htm(&["doctor", "--json"]).await.json();
    let warnings = found(&findings, "warning");
    assert!(warnings.iter().any(|what| what.contains("2 dead letters")), "{warnings:?}");
    assert!(warnings.iter().any(|what| what.contains("worker old has version 0.0.1")), "{warnings:?}");
    sqlx::query("delete from apalis.jobs where job_type = 'htm.tag'").execute(&db.pool).await.unwrap();
    let answer = sandbox.htm(&["doctor"]).await;
    let said = &answer.exits(1).stdout;
    assert!(said.contains("2 stages of nodes without a result, a job or a dead letter"), "{said}");
    assert!(said.contains("list them with `htm jobs audit`"), "{said}");
}

#[tokio::test]
async fn the_cause_of_a_databases_error_is_told() {
    let sandbox = Sandbox::on("postgres://ada:hunter2@127.0.0.1:1/memories")
        .set("HTM_DATABASE__CONNECT_TIMEOUT_MS", "200");
    let answer = sandbox.htm(&["doctor"]).await;
    assert!(answer.stdout.contains("database_unreachable"), "{answer:?}");
    assert!(answer.stdout.contains("Connection refused"), "{answer:?}");
    assert!(!answer.stdout.contains("hunter2"), "{answer:?}");
}

#[tokio::test]
async fn what_an_operator_or_a_breaker_holds_back_is_told_with_the_way_on() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let _workers = [sandbox.start("embed-worker", &[]), sandbox.start("tag-worker", &[])];
    wait_until(|| async { workers::list(&db.pool).await.unwrap().len() == 2 }).await;
    for queue in ["htm.embed", "htm.tag"] {
        sandbox.htm(&["jobs", "pause", queue, "--reason", "a move"]).await.succeeds();
    }
    sandbox.remember(&["held back"]).await;
    sqlx::raw_sql(
        "insert into htm.providers (model, breaker, reason, retry_at)
         values ('fake/fake-64', 'open', 'no answer', now() + interval '1 hour');
         update apalis.jobs set metadata = metadata || hstore('parked', 'budget') where job_type = 'htm.tag';
         update apalis.jobs set status = 'Killed', done_at = now() where job_type = 'htm.embed'",
    )
    .execute(&db.pool)
    .await
    .unwrap();
    let answer = sandbox.htm(&["doctor"]).await;
    let said = answer.succeeds();
    for part in [
        "htm.embed is paused: a move\n         help: resume it: `htm jobs resume htm.embed`",
        "htm.tag: 1 job parked",
        "help: see why: `htm jobs list --queue htm.tag --state parked`",
        "1 dead letter; 1 worker\n         help: see why: `htm jobs list --queue htm.embed --state dead`",
        "fake/fake-64 is not called at the moment: no answer",
        "`htm providers reset fake/fake-64`",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
}

#[tokio::test]
async fn a_provider_that_does_not_answer_is_named() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db)
        .set("HTM_EMBEDDING__PROVIDER", "ollama")
        .set("HTM_OLLAMA__BASE_URL", "http://127.0.0.1:1");
    let answer = sandbox.htm(&["doctor"]).await;
    let said = &answer.exits(1).stdout;
    assert!(said.contains("the embedding provider: ") && said.contains("[provider_"), "{said}");
}
