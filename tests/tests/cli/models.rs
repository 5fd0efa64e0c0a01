//! `htm models` and `htm backfill`.

use htm_tests::{Sandbox, TestDatabase};
use nix::sys::signal::Signal;
use serde_json::{Value, json};
use wiremock::matchers::any;
use wiremock::{Mock, MockServer, Request, ResponseTemplate};

/// Memories that the configured model, fake/fake-64, has embedded.
async fn filled(db: &TestDatabase) -> Sandbox {
    let sandbox = Sandbox::new(db);
    let lines: String = (0..40)
        .map(|n| {
            format!(
                "{{\"id\":\"k{n}\",\"ns\":\"default\",\"text\":\"Note {n} is about subject {}.\"}}\n",
                n % 7
            )
        })
        .collect();
    let file = sandbox.write("memories.jsonl", lines);
    sandbox.htm(&["import", &file]).await.succeeds();
    sandbox.run("embed-worker", &["--drain"], b"").await.succeeds();
    sandbox
}

async fn models(sandbox: &Sandbox) -> Vec<Value> {
    sandbox.htm(&["models", "list", "--json"]).await.json().as_array().unwrap().clone()
}

/// Fields of a model, as `htm models list` has them.
async fn fields(sandbox: &Sandbox, label: &str, names: &[&str]) -> Vec<Value> {
    let models = models(sandbox).await;
    let model = models.iter().find(|model| model["label"] == label).unwrap();
    names.iter().map(|name| model[name].clone()).collect()
}

async fn asked(sandbox: &Sandbox) -> Value {
    let recalled = sandbox.htm(&["recall", "--json", "subject 3"]).await.json();
    assert_eq!(recalled["degraded"], json!([]));
    recalled["models"][0].clone()
}

#[tokio::test]
async fn a_model_of_callers_waits_for_vectors_and_for_no_queue() {
    let db = TestDatabase::new().await;
    let sandbox = filled(&db).await;
    sandbox.htm(&["models", "add", "caller/mine", "--dimensions", "3"]).await.succeeds();
    let refused = sandbox.htm(&["models", "activate", "caller/mine"]).await;
    let said = refused.fails(75, "model_incomplete");
    assert!(said.contains("bring the missing vectors") && !said.contains("queue"), "{said}");
    assert!(said.contains("`htm models activate caller/mine --force`"), "{said}");
}

#[tokio::test]
async fn a_model_goes_from_its_registration_to_recall_and_back() {
    let db = TestDatabase::new().await;
    let sandbox = filled(&db).await;
    let added = sandbox.htm(&["models", "add", "fake/wide", "--dimensions", "768"]).await;
    let said = added.succeeds();
    assert!(said.starts_with("fake/wide: 768 dimensions, queue htm.embed.2, building\n"), "{said}");
    assert!(said.contains("embed-worker --queue htm.embed.2"), "{said}");
    let seen = ["state", "dimensions", "embedded", "percent", "open", "indexed"];
    assert_eq!(
        fields(&sandbox, "fake/wide", &seen).await,
        [json!("building"), json!(768), json!(0), json!(0.0), json!(0), json!(false)]
    );
    let refused = sandbox.htm(&["models", "activate", "fake/wide"]).await;
    let said = refused.fails(75, "model_incomplete");
    assert!(said.contains("of 40 nodes") && said.contains("htm models backfill fake/wide"), "{said}");

    let dry = sandbox.htm(&["models", "backfill", "fake/wide", "--dry-run", "--json"]).await.json();
    assert_eq!(dry, json!({ "would_enqueue": 40 }));
    let worker = sandbox.start("embed-worker", &["--queue", "htm.embed.2"]);
    let report = sandbox.htm(&["models", "backfill", "fake/wide", "--json"]).await.json();
    assert!(report["index_s"].is_number(), "the build of the index is told: {report}");
    for (name, value) in
        [("enqueued", json!(40)), ("done", json!(40)), ("open", json!(0)), ("finished", json!(true))]
    {
        assert_eq!(report[name], value, "{name}: {report}");
    }
    assert_eq!(
        fields(&sandbox, "fake/wide", &seen).await,
        [json!("building"), json!(768), json!(40), json!(100.0), json!(0), json!(true)]
    );
    let table = sandbox.htm(&["models", "list"]).await;
    assert!(table.succeeds().contains("fake/wide"), "{table:?}");
    assert!(table.stdout.contains("100.0 %") && table.stdout.contains("hnsw"), "{table:?}");

    assert_eq!(asked(&sandbox).await, "fake/fake-64");
    let activated = sandbox.htm(&["models", "activate", "fake/wide"]).await;
    assert!(
        activated.succeeds().starts_with("recall now uses fake/wide; fake/fake-64 is on standby"),
        "{activated:?}"
    );
    assert_eq!(asked(&sandbox).await, "fake/wide");
    // The configured model is on standby: its worker goes on, and says so.
    let standby = sandbox.run("embed-worker", &["--drain"], b"").await;
    standby.succeeds();
    let log = format!("{}{}", standby.stdout, standby.stderr);
    assert!(log.contains("recall asks another") && log.contains("fake/wide"), "{log}");
    sandbox.htm(&["models", "activate", "fake/fake-64"]).await.succeeds();
    assert_eq!(asked(&sandbox).await, "fake/fake-64");

    sandbox.htm(&["models", "retire", "fake/fake-64"]).await.fails(2, "model_active");
    sandbox.htm(&["models", "retire", "fake/wide", "--drop"]).await.fails(2, "not_confirmed");
    drop(worker);
    let retired = sandbox.htm(&["models", "retire", "fake/wide", "--drop", "--yes", "--json"]).await.json();
    assert_eq!((&retired["retired"], &retired["dropped"]), (&json!("fake/wide"), &json!(true)));
    assert_eq!(fields(&sandbox, "fake/wide", &["state", "bytes"]).await, [json!("retired"), json!(0)]);
    let kinds = sandbox.htm(&["models", "index", "--json"]).await.json().to_string();
    assert!(kinds.contains("fake/fake-64") && !kinds.contains("fake/wide"), "{kinds}");
    for arguments in [&["models", "activate", "fake/wide"][..], &["models", "backfill", "fake/wide"]] {
        sandbox.htm(arguments).await.fails(2, "model_retired");
    }
    sandbox.run("embed-worker", &["--queue", "htm.embed.2", "--drain"], b"").await.fails(2, "model_retired");
    // It comes back under its label.
    sandbox.htm(&["models", "add", "fake/wide", "--dimensions", "768"]).await.succeeds();
    assert_eq!(fields(&sandbox, "fake/wide", &["state"]).await, [json!("building")]);
    // A dead letter is no open job.
    sandbox.htm(&["models", "backfill", "fake/wide", "--no-wait", "--max-queued", "1"]).await.succeeds();
    sqlx::query(
        "update apalis.jobs set status = 'Killed', done_at = now() where job_type like 'htm.embed.%'",
    )
    .execute(&db.pool)
    .await
    .unwrap();
    let said = sandbox.htm(&["models", "retire", "fake/wide"]).await;
    let said = said.succeeds();
    assert!(
        said.starts_with("fake/wide is retired: ") && said.ends_with(" removed, its vectors stay\n"),
        "{said}"
    );
    assert!(!said.contains("open"), "{said}");
}

#[tokio::test]
async fn models_are_compared_by_what_they_find() {
    let db = TestDatabase::new().await;
    let sandbox = filled(&db).await;
    sandbox.htm(&["models", "add", "fake/wide", "--dimensions", "768"]).await.succeeds();
    sandbox.htm(&["models", "backfill", "fake/wide", "--no-wait"]).await.succeeds();
    sandbox.run("embed-worker", &["--queue", "htm.embed.2", "--drain"], b"").await.succeeds();
    let same = ["models", "compare", "fake/wide", "fake/wide", "--json", "subject 3", "note 7"];
    let report = sandbox.htm(&same).await.json();
    assert_eq!((&report["mean_overlap"], &report["sampled"]), (&json!(1.0), &json!(false)));
    assert_eq!(report["queries"][1], json!({ "query": "note 7", "shared": 10, "of": 10 }));
    let file = sandbox.write("queries.jsonl", "{\"id\":\"q\",\"ns\":\"default\",\"text\":\"subject 5\"}\n");
    let report = sandbox
        .htm(&["models", "compare", "fake/fake-64", "fake/wide", "--json", "--file", &file])
        .await
        .json();
    assert_eq!((report["queries"].as_array().unwrap().len(), &report["queries"][0]["of"]), (1, &json!(10)));
    let answer = sandbox.htm(&["models", "compare", "fake/fake-64", "fake/wide"]).await;
    let said = answer.succeeds();
    assert!(
        said.contains("of their first 10 hits, over 40 queries; the queries are first sentences of 40"),
        "{said}"
    );
    // Nothing has been retired or activated by it.
    assert_eq!(asked(&sandbox).await, "fake/fake-64");
}

#[tokio::test]
async fn a_backfill_that_is_interrupted_says_how_to_go_on() {
    let db = TestDatabase::new().await;
    let sandbox = filled(&db).await;
    sandbox.htm(&["models", "add", "fake/wide", "--dimensions", "16"]).await.succeeds();
    let mut running =
        sandbox.start("htm", &["backfill", "embed", "--model", "fake/wide", "--max-queued", "10"]);
    let queued = "select count(*) from apalis.jobs where job_type = 'htm.embed.2'";
    htm_tests::wait_until(|| async { running.log().contains("no worker serves htm.embed.2") }).await;
    assert_eq!(db.count(queued).await, 10);
    running.signal(Signal::SIGINT);
    assert_eq!(running.end().await.code(), Some(130), "{}", running.log());
    assert!(running.log().contains("the next run continues from here"), "{}", running.log());
    // Without a wait, a full queue ends the command.
    let full = ["backfill", "embed", "--model", "fake/wide", "--max-queued", "10", "--no-wait", "--json"];
    let report = sandbox.htm(&full).await.json();
    assert_eq!((&report["queue_full"], &report["finished"]), (&json!(true), &json!(false)));
    let _worker = sandbox.start("embed-worker", &["--queue", "htm.embed.2"]);
    let again = ["backfill", "embed", "--model", "fake/wide", "--max-queued", "10", "--json"];
    let report = sandbox.htm(&again).await.json();
    assert_eq!((&report["resumed"], &report["enqueued"]), (&json!(true), &json!(40)));
    assert_eq!(db.count("select count(*) from htm.embeddings_2").await, 40);
}

#[tokio::test]
async fn a_backfill_of_a_paused_queue_says_that_it_is_paused() {
    let db = TestDatabase::new().await;
    let sandbox = filled(&db).await;
    sandbox.run("tag-worker", &["--drain", "--queue", "htm.tag"], b"").await.succeeds();
    sandbox.htm(&["jobs", "pause", "htm.tag"]).await.succeeds();
    let _worker = sandbox.start("tag-worker", &["--queue", "htm.tag"]);
    let mut running = sandbox.start("htm", &["backfill", "tag", "--force"]);
    let said = "htm.tag is paused (by an operator): `htm jobs resume htm.tag`";
    htm_tests::wait_until(|| async { running.log().contains(said) }).await;
    sandbox.htm(&["jobs", "resume", "htm.tag"]).await.succeeds();
    assert!(running.end().await.success(), "{}", running.log());
    assert_eq!(running.log().matches("is paused").count(), 1, "{}", running.log());
}

#[tokio::test]
async fn a_backfill_beside_open_jobs_of_others_does_not_say_that_nothing_is_missing() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    sandbox.htm(&["remember", "--namespace", "nm", "x"]).await.succeeds();
    sandbox.htm(&["jobs", "pause", "htm.tag"]).await.succeeds();
    let answer = sandbox.htm(&["backfill", "tag", "--namespace", "nm"]).await;
    assert!(answer.succeeds().ends_with(": no job enqueued\n"), "{answer:?}");
    let said = "htm.tag is paused (by an operator): `htm jobs resume htm.tag`";
    assert!(answer.stderr.contains(said), "{answer:?}");
}

#[tokio::test]
async fn a_change_of_an_index_that_is_stopped_says_how_to_go_on() {
    let db = TestDatabase::new().await;
    let sandbox = filled(&db).await;
    let mut held = db.pool.begin().await.unwrap();
    sqlx::query("lock table htm.embeddings_1 in share update exclusive mode")
        .execute(&mut *held)
        .await
        .unwrap();
    let waiting = "select count(*) from pg_stat_activity
                    where datname = current_database() and application_name = 'htm' and wait_event_type = 'Lock'";
    let change = ["models", "index", "fake/fake-64", "--kind", "hnsw_binary"];
    for form in [&[][..], &["--json"]] {
        let mut running = sandbox.start("htm", &[form, &change].concat());
        htm_tests::wait_until(|| async { db.count(waiting).await > 0 }).await;
        running.signal(Signal::SIGTERM);
        assert_eq!(running.end().await.code(), Some(130), "{}", running.log());
        let said = match form.is_empty() {
            true => "go on: `htm models index fake/fake-64 --kind hnsw_binary`",
            false => r#"{"stopped":true}"#,
        };
        assert!(running.log().contains(said), "{}", running.log());
        htm_tests::wait_until(|| async { db.count(waiting).await == 0 }).await;
    }
    held.rollback().await.unwrap();
    assert!(sandbox.htm(&change).await.succeeds().contains("the index is hnsw_binary now"));
}

#[tokio::test]
async fn a_backfill_of_tags_does_what_no_worker_has_done() {
    let db = TestDatabase::new().await;
    let sandbox = filled(&db).await;
    sandbox.run("tag-worker", &["--drain", "--queue", "htm.tag"], b"").await.succeeds();
    let count = async |more: &[&str]| {
        sandbox.htm(&[&["backfill", "tag", "--dry-run", "--json"], more].concat()).await.json()["would_enqueue"].clone()
    };
    assert_eq!(count(&[]).await, 0);
    assert_eq!(count(&["--force"]).await, 40);
    assert_eq!(count(&["--force", "--since", "2126-01-01"]).await, 0);
    assert_eq!(count(&["--force", "--namespace", "nowhere"]).await, 0);
    assert_eq!(count(&["--set", "tag.model=newer"]).await, 40);
    let report = sandbox.htm(&["backfill", "tag", "--force", "--no-wait", "--json"]).await.json();
    assert_eq!(
        (&report["queue"], &report["enqueued"], &report["open"]),
        (&json!("htm.tag"), &json!(40), &json!(40))
    );
    sandbox.run("tag-worker", &["--drain"], b"").await.succeeds();
    assert_eq!(db.count("select count(*) from htm.completions where stage = 'tag'").await, 40);
}

#[tokio::test]
async fn up_serves_every_model_that_is_in_use() {
    let db = TestDatabase::new().await;
    let sandbox = filled(&db).await;
    for label in ["fake/second", "fake/third", "fake/gone"] {
        sandbox.htm(&["models", "add", label, "--dimensions", "16"]).await.succeeds();
    }
    sandbox.htm(&["models", "retire", "fake/gone"]).await.succeeds();
    // Nobody here has this one: the others go on without it.
    sqlx::query("select htm.register_embedding_model('elsewhere', 'm', 8)").execute(&db.pool).await.unwrap();
    for label in ["fake/second", "fake/third"] {
        sandbox.htm(&["models", "backfill", label, "--no-wait"]).await.succeeds();
    }
    let mut up = sandbox.start("htm", &["up"]);
    let embedded = "select (select count(*) from htm.embeddings_2) + (select count(*) from htm.embeddings_3)";
    htm_tests::wait_until(|| async { db.count(embedded).await == 80 }).await;
    // One that is added meanwhile, too.
    sandbox.htm(&["models", "add", "fake/later", "--dimensions", "16"]).await.succeeds();
    sandbox.htm(&["models", "backfill", "fake/later"]).await.succeeds();
    assert_eq!(fields(&sandbox, "fake/later", &["embedded"]).await, [json!(40)]);
    // The worker of one that is retired ends, and it is served again when it is back.
    let queue = fields(&sandbox, "fake/later", &["queue"]).await.remove(0);
    let htm = db.htm();
    let serving = async || {
        let all = htm.jobs().unwrap().workers().await.unwrap();
        all.iter().filter(|worker| worker.alive && queue == worker.queue.as_str()).count()
    };
    assert_eq!(serving().await, 1);
    sandbox.htm(&["models", "retire", "fake/later"]).await.succeeds();
    htm_tests::wait_until(|| async { serving().await == 0 }).await;
    sandbox.htm(&["models", "add", "fake/later", "--dimensions", "16"]).await.succeeds();
    htm_tests::wait_until(|| async { serving().await == 1 }).await;
    up.signal(Signal::SIGTERM);
    assert_eq!(up.end().await.code(), Some(0), "{}", up.log());
    assert!(
        up.log().contains("no worker for this model yet") && up.log().contains("elsewhere/m"),
        "{}",
        up.log()
    );
}

/// The answer of Ollama: a vector for each text.
fn embedded(request: &Request) -> ResponseTemplate {
    let asked: Value = serde_json::from_slice(&request.body).unwrap();
    let vectors = vec![vec![0.25; 16]; asked["input"].as_array().map_or(1, Vec::len)];
    ResponseTemplate::new(200).set_body_json(json!({ "embeddings": vectors }))
}

#[tokio::test]
async fn up_serves_a_model_whose_provider_was_away_at_first() {
    let db = TestDatabase::new().await;
    let ollama = MockServer::start().await;
    Mock::given(any()).respond_with(ResponseTemplate::new(500)).mount(&ollama).await;
    let sandbox = filled(&db).await.set("HTM_OLLAMA__BASE_URL", &ollama.uri());
    sandbox.htm(&["models", "add", "ollama/away", "--dimensions", "16"]).await.succeeds();
    sandbox.htm(&["models", "backfill", "ollama/away", "--no-wait"]).await.succeeds();
    let mut up = sandbox.start("htm", &["up"]);
    htm_tests::wait_until(|| async { up.log().contains("no worker for this model yet") }).await;
    // The operator sees why.
    let reason = async || {
        let providers = sandbox.htm(&["providers", "--json"]).await.json();
        let ours = providers.as_array().unwrap().iter().find(|it| it["model"] == "ollama/away").cloned();
        ours.map(|it| it["reason"].to_string()).unwrap_or_default()
    };
    assert!(reason().await.contains("provider_server_error"), "{}", reason().await);
    ollama.reset().await;
    Mock::given(any()).respond_with(embedded).mount(&ollama).await;
    htm_tests::wait_until(|| async { db.count("select count(*) from htm.embeddings_2").await == 40 }).await;
    up.signal(Signal::SIGTERM);
    assert_eq!(up.end().await.code(), Some(0), "{}", up.log());
}

#[tokio::test]
async fn up_serves_the_rest_while_the_provider_of_a_new_model_is_away() {
    let db = TestDatabase::new().await;
    let ollama = MockServer::start().await;
    Mock::given(any()).respond_with(ResponseTemplate::new(500)).mount(&ollama).await;
    let sandbox = Sandbox::new(&db)
        .set("HTM_EMBEDDING__PROVIDER", "ollama")
        .set("HTM_EMBEDDING__MODEL", "away")
        .set("HTM_OLLAMA__BASE_URL", &ollama.uri());
    let answer = sandbox.run("embed-worker", &["--drain"], b"").await;
    let said = answer.exits(75);
    assert!(
        said.stderr.contains("is asked for the dimensions") && said.stderr.contains("ollama/away"),
        "{said:?}"
    );
    sandbox.htm(&["up", "--drain"]).await.exits(75);
    let mut up = sandbox.start("htm", &["up"]);
    htm_tests::wait_until(|| async { up.log().contains("HTM serves") }).await;
    assert!(up.log().contains("no worker for the configured embedding model yet"), "{}", up.log());
    sandbox.remember(&["tagged at once, embedded later"]).await;
    let tagged = "select count(*) from htm.completions where stage = 'tag'";
    htm_tests::wait_until(|| async { db.count(tagged).await == 1 }).await;
    ollama.reset().await;
    Mock::given(any()).respond_with(embedded).mount(&ollama).await;
    let embedded = "select count(*) from htm.completions where stage = 'embed'";
    htm_tests::wait_until(|| async { db.count(embedded).await == 1 }).await;
    up.signal(Signal::SIGTERM);
    assert_eq!(up.end().await.code(), Some(0), "{}", up.log());
}

#[tokio::test]
async fn up_serves_the_active_model_when_the_configured_one_is_retired() {
    let db = TestDatabase::new().await;
    let sandbox = filled(&db).await;
    sandbox.htm(&["models", "add", "fake/wide", "--dimensions", "16"]).await.succeeds();
    sandbox.htm(&["models", "backfill", "fake/wide", "--no-wait"]).await.succeeds();
    sandbox.run("embed-worker", &["--queue", "htm.embed.2", "--drain"], b"").await.succeeds();
    sandbox.htm(&["models", "activate", "fake/wide"]).await.succeeds();
    let stay = "embedding.model = \"wide\"";
    let retired = sandbox.htm(&["models", "retire", "fake/fake-64"]).await;
    retired.succeeds();
    assert!(retired.stderr.contains("note: it is the configured model") && retired.stderr.contains(stay));
    // A worker of this model alone has nothing to do.
    let refused = sandbox.run("embed-worker", &["--drain"], b"").await;
    assert!(refused.fails(2, "model_retired").contains(stay), "{refused:?}");
    sandbox.remember(&["drained for the active model"]).await;
    let drained = sandbox.htm(&["up", "--drain"]).await;
    drained.succeeds();
    assert!(drained.stderr.contains("stay with fake/wide"), "{drained:?}");
    assert_eq!(db.count("select count(*) from htm.embeddings_2").await, 41);

    let mut up = sandbox.start("htm", &["--json", "up", "--set", "log.format=json"]);
    let url = || {
        let log = up.log();
        let serving: Value = serde_json::from_str(log.lines().find(|it| it.starts_with("{\"url\""))?).ok()?;
        Some(serving["url"].as_str()?.to_owned())
    };
    htm_tests::wait_until(|| async { url().is_some() }).await;
    let ready = reqwest::get(format!("{}/readyz", url().unwrap())).await.unwrap();
    assert_eq!(ready.status().as_u16(), 200);
    sandbox.remember(&["embedded by the active model"]).await;
    htm_tests::wait_until(|| async { db.count("select count(*) from htm.embeddings_2").await == 42 }).await;
    assert_eq!(db.count("select count(*) from htm.embeddings_1").await, 40);
    let warnings = up.log().matches("the configured embedding model is retired and has no worker").count();
    assert_eq!(warnings, 1, "{}", up.log());
    assert!(up.log().contains("stay with fake/wide"), "{}", up.log());
    up.signal(Signal::SIGTERM);
    assert_eq!(up.end().await.code(), Some(0), "{}", up.log());
}

#[tokio::test]
async fn what_cannot_be_is_refused_with_a_way_on() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let none = sandbox.htm(&["models", "list"]).await;
    assert!(none.succeeds().starts_with("no model is registered yet"), "{none:?}");
    sandbox.htm(&["backfill", "embed"]).await.fails(75, "model_not_ready");
    sandbox.htm(&["models", "activate", "fake/nobody"]).await.fails(2, "model_unknown");
    sandbox.run("embed-worker", &["--queue", "htm.embed", "--drain"], b"").await.fails(2, "queue_unknown");
    sandbox.run("embed-worker", &["--drain"], b"").await.succeeds();
    for (arguments, code) in [
        (&["models", "add", "wide"][..], "model_name_invalid"),
        (&["models", "add", "fake/"], "model_name_invalid"),
        (&["models", "add", "nobody/wide"], "provider_unknown"),
        (&["models", "compare", "fake/fake-64", "fake/nobody", "q"], "model_unknown"),
        (&["models", "compare", "fake/fake-64", "fake/fake-64"], "queries_missing"),
        (&["models", "compare", "fake/fake-64", "fake/fake-64", "--file", "nowhere.jsonl"], "io_error"),
        (&["models", "compare", "fake/fake-64", "fake/fake-64", " "], "content_empty"),
        (&["models", "backfill", "fake/nobody"], "model_unknown"),
        (&["models", "retire", "fake/nobody"], "model_unknown"),
        (&["models", "retire", "fake/fake-64"], "model_active"),
        (&["models", "retire", "fake/fake-64", "--yes"], "model_active"),
        (&["backfill", "embed", "--model", "fake/nobody"], "model_unknown"),
        (&["backfill", "tag", "--model", "fake/nobody"], "model_unknown"),
        (&["backfill", "tag", "--namespace", ""], "namespace_invalid"),
    ] {
        sandbox.htm(arguments).await.fails(2, code);
        let error = sandbox.htm(&[&["--json"], arguments].concat()).await.json_error(2);
        assert_eq!(error["code"], code);
    }
    for arguments in [
        &["models", "add", "fake/wide", "--dimensions", "0"][..],
        &["models", "add", "fake/wide", "--dimensions", "4001"],
        &["models", "add", "fake/wide", "--dimensions", "many"],
        &["backfill"],
        &["backfill", "everything"],
        &["backfill", "tag", "--max-queued", "0"],
    ] {
        assert_eq!(sandbox.htm(&[&["--json"], arguments].concat()).await.json_error(2)["code"], "usage");
    }
    let since = ["backfill", "tag", "--since", "before 2020"];
    sandbox.htm(&since).await.fails(2, "time_without_beginning");
    let answer = sandbox.run("embed-worker", &["--queue", "htm.embed.9", "--drain"], b"").await;
    let said = answer.fails(2, "queue_unknown");
    assert!(said.contains("htm.embed (fake/fake-64)"), "{said}");
    sandbox.run("tag-worker", &["--queue", "htm.embed"], b"").await.exits(2);
    assert_eq!(models(&sandbox).await.len(), 1);
    assert_eq!(db.count("select count(*) from htm.backfills").await, 0);
}
