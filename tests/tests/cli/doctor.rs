//! `htm doctor`: what is wrong, and what mends it.

use htm_core::provider::ModelName;
use htm_core::worker::workers;
use htm_core::{Confirmation, Erase, NodeId, Stage};
use htm_tests::{Sandbox, TestDatabase, drain, wait_until};
use serde_json::{Value, json};
use wiremock::matchers::any;
use wiremock::{Mock, MockServer, Request, ResponseTemplate};

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
    assert!(said.contains("htm.tag: 0 due, 0 waiting, 0 running, 1 done"), "{said}");
    assert!(said.contains("no node is stranded"), "{said}");
}

/// As on a disk that is full: everything can be read, and no table can be extended.
#[tokio::test]
async fn a_full_disk_is_an_error_although_everything_can_be_read() {
    let db = TestDatabase::new().await;
    sqlx::raw_sql(
        "create function public.refuse() returns event_trigger language plpgsql as $$ begin
             raise 'could not extend file \"base/5/16384\": No space left on device' using errcode = 'disk_full';
         end $$;
         create event trigger refuse on ddl_command_start when tag in ('CREATE TABLE AS')
             execute function public.refuse()",
    )
    .execute(&db.pool)
    .await
    .unwrap();
    let answer = Sandbox::new(&db).htm(&["doctor", "--json"]).await;
    let findings: Value = serde_json::from_str(&answer.exits(1).stdout).unwrap();
    let errors = found(&findings, "error").concat();
    assert!(errors.contains("database_exhausted") && errors.contains("No space left"), "{findings}");
    // What only reads is looked at all the same.
    assert!(found(&findings, "ok").iter().any(|what| what.contains("no node is stranded")), "{findings}");
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
        assert!(error.starts_with(&format!("{}: 0 due, 1 waiting", stage.queue())), "{error}");
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
         update apalis.jobs set metadata = metadata || hstore('parked', 'budget'), run_at = now() + interval '1 day'
          where job_type = 'htm.tag';
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

/// The programs ask OpenAI's API at this URL.
fn asking_openai(db: &TestDatabase, url: &str) -> Sandbox {
    Sandbox::new(db)
        .set("HTM_EMBEDDING__PROVIDER", "openai")
        .set("HTM_EMBEDDING__MODEL", "mock")
        .set("HTM_OPENAI__BASE_URL", &format!("{url}/v1"))
}

#[tokio::test]
async fn each_provider_is_asked_whatever_is_configured() {
    let db = TestDatabase::new().await;
    let sandbox = asking_openai(&db, "http://127.0.0.1:1")
        .set("HTM_EMBEDDING__DIMENSIONS", "8")
        .set("HTM_TAG__PROVIDER", "openai")
        .set("HTM_EXPANSION__PROVIDER", "openai");
    let answer = sandbox.htm(&["doctor"]).await;
    let said = &answer.exits(1).stdout;
    for part in [
        "error    the embedding provider: openai/mock: cannot connect",
        "error    the tag provider: openai/gpt-4o-mini: cannot connect",
        "error    query expansion: openai/gpt-4o-mini: cannot connect",
        "help: check that the provider runs at its base URL",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert!(!said.contains("answers with") && !said.contains("htm doctor"), "{said}");
}

/// The answer of OpenAI: a vector of nine numbers for each text. It has no model for tags.
fn nine_numbers(request: &Request) -> ResponseTemplate {
    if !request.url.path().ends_with("/embeddings") {
        return ResponseTemplate::new(404);
    }
    let asked: Value = request.body_json().unwrap();
    let texts = asked["input"].as_array().unwrap().len();
    let data: Vec<Value> =
        (0..texts).map(|index| json!({ "index": index, "embedding": vec![0.5; 9] })).collect();
    ResponseTemplate::new(200).set_body_json(json!({ "data": data }))
}

#[tokio::test]
async fn a_provider_that_serves_another_model_than_the_registered_one_is_told() {
    let db = TestDatabase::new().await;
    let provider = MockServer::start().await;
    Mock::given(any()).respond_with(nine_numbers).mount(&provider).await;
    db.htm().models().unwrap().add(&ModelName::new("openai", "mock"), 8).await.unwrap();
    let sandbox = asking_openai(&db, &provider.uri()).set("HTM_TAG__PROVIDER", "openai");
    let answer = sandbox.htm(&["doctor"]).await;
    let said = &answer.exits(1).stdout;
    for part in [
        "openai/mock: it gives vectors of 9 dimensions, not 8 [provider_other_dimensions]",
        "[provider_model_not_found]\n         help: check the model's name, and that the base URL",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert!(!said.contains("ollama pull"), "{said}");
    // Another model on purpose is not the one that recall asks.
    let sandbox = sandbox.set("HTM_EMBEDDING__DIMENSIONS", "9").set("HTM_TAG__PROVIDER", "fake");
    let answer = sandbox.htm(&["doctor"]).await;
    let said = answer.succeeds();
    for part in [
        "openai/mock answers with 9 dimensions",
        "fake/fake tags in this process",
        "recall uses openai/mock, the active model; the configured one, openai/mock@9, is not registered",
        "stay with openai/mock: set embedding.dimensions = 8; or switch to openai/mock@9: `htm models add openai/mock \
         --dimensions 9`",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
}

#[tokio::test]
async fn a_finding_is_told_before_a_silent_provider_answers() {
    let db = TestDatabase::new().await;
    let silent = MockServer::start().await;
    let never = ResponseTemplate::new(200).set_delay(std::time::Duration::from_secs(3_600));
    Mock::given(any()).respond_with(never).mount(&silent).await;
    let sandbox = asking_openai(&db, &silent.uri()).set("HTM_EMBEDDING__TIMEOUT_MS", "3600000");
    let doctor = sandbox.start("htm", &["doctor"]);
    wait_until(|| async { doctor.log().contains("the configuration is valid") }).await;
    wait_until(|| async { !silent.received_requests().await.unwrap().is_empty() }).await;
    assert!(doctor.log().contains("schema version"), "{}", doctor.log());
}

#[tokio::test]
async fn work_that_was_interrupted_is_named_with_the_command_that_goes_on() {
    let db = TestDatabase::in_one_table().await;
    let sandbox = Sandbox::new(&db);
    let status = async || sandbox.htm(&["db", "status"]).await.succeeds().to_owned();
    assert!(status().await.trim().ends_with("; one table"), "{}", status().await);
    let node: i64 = sandbox.remember(&["to be erased"]).await.parse().unwrap();
    for stage in Stage::ALL {
        drain(&db, stage).await;
    }
    let what = Erase::Memories(vec![NodeId(node)]);
    db.htm().begin_erasure(&what, None, Confirmation::Confirmed).await.unwrap();
    sqlx::raw_sql("select htm.begin_layout(4)").execute(&db.pool).await.unwrap();
    let answer = sandbox.htm(&["doctor"]).await;
    let said = answer.succeeds();
    for part in [
        "a change to 4 partitions was interrupted: writes go to both, and backups are refused",
        "help: go on with it: `htm db repartition --partitions 4`; or end it: `htm db repartition --abandon`",
        "erasure 1 has not ended: 0 of 1 memory erased",
        "go on: `htm erase resume 1`",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert!(status().await.contains("; one table; a change to 4 partitions was interrupted"));
    let json = sandbox.htm(&["db", "status", "--json"]).await.json();
    assert_eq!(json["partitions"], json!(0));
    assert_eq!(json["change"], json!({ "partitions": 4, "running": false }));
    sandbox.htm(&["db", "repartition", "--partitions", "4"]).await.succeeds();
    sandbox.htm(&["erase", "resume", "1"]).await.succeeds();
    let said = sandbox.htm(&["doctor"]).await;
    assert!(!said.succeeds().contains("interrupted") && !said.stdout.contains("erasure"), "{said:?}");
    assert!(status().await.trim().ends_with("; 4 partitions"), "{}", status().await);
}
