//! Written, read, found, forgotten.

use htm_core::Stage;
use htm_tests::{Sandbox, TestDatabase, drain, wait_until};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;

#[tokio::test]
async fn a_memory_goes_round_for_programs() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let remembered = sandbox
        .htm(&[
            "--json",
            "remember",
            "--namespace",
            "atlas",
            "--robot",
            "architect",
            "--key",
            "adr-7",
            "--importance",
            "8",
            "--source",
            "meeting",
            "--type",
            "decision",
            "--metadata",
            r#"{"ticket": 7}"#,
            "--session",
            "standup-12",
            "--speaker",
            "Mara",
            "--seq",
            "3",
            "--tag",
            "database:postgresql",
            "--at",
            "2026-03-01",
            "We chose PostgreSQL for the ledger",
        ])
        .await
        .json();
    assert_eq!(remembered["outcome"], "written");
    assert!(remembered["ms"].is_f64());
    let node = remembered["node"].to_string();

    let got = sandbox.htm(&["get", &node, "--json"]).await.json();
    let expected = json!({
        "namespace": "atlas", "robot": "architect", "key": "adr-7", "importance": 8.0, "source": "meeting",
        "content": "We chose PostgreSQL for the ledger", "tags": ["database:postgresql"], "revision": 1,
        "created_at": "2026-03-01T00:00:00Z", "type": "decision", "metadata": {"ticket": 7},
        "session": "standup-12", "speaker": "Mara", "seq": 3,
    });
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(&got[name], value, "{name}");
    }
    let by_key = sandbox.htm(&["get", "--key", "adr-7", "--namespace", "atlas", "--json"]).await.json();
    assert_eq!(by_key, got);

    let status = sandbox.htm(&["status", &node, "--json"]).await.json();
    assert_eq!(states(&status), ["pending", "pending"]);
    for program in ["embed-worker", "tag-worker"] {
        sandbox.run(program, &["--drain"], b"").await.succeeds();
    }
    let status = sandbox.htm(&["status", &node, "--json"]).await.json();
    assert_eq!(states(&status), ["done", "done"]);

    for strategy in ["vector", "fulltext", "hybrid"] {
        let recalled = sandbox
            .htm(&["recall", "--json", "--namespace", "atlas", "--strategy", strategy, "postgresql ledger"])
            .await
            .json();
        assert_eq!((&recalled["strategy"], &recalled["degraded"]), (&json!(strategy), &json!([])));
        let hit = &recalled["hits"][0];
        assert_eq!(hit["id"].to_string(), node, "{strategy}");
        assert_eq!((&hit["key"], &hit["content"]), (&got["key"], &got["content"]));
        assert_eq!(hit["created_at"], got["created_at"]);
        assert!(hit["tags"].as_array().unwrap().contains(&json!("database:postgresql")));
        assert!(hit["scores"]["score"].is_f64(), "{hit}");
        assert!(["vector", "text", "both"].contains(&hit["matched_by"].as_str().unwrap()), "{hit}");
    }

    let asked = ["forget", &node, "--robot", "architect", "--namespace", "atlas", "--yes", "--json"];
    let forgotten = sandbox.htm(&asked).await.json();
    assert_eq!(forgotten["forgotten"][0].to_string(), node);
    assert_eq!(sandbox.htm(&["get", &node, "--json"]).await.json_error(2)["code"], "node_not_found");
    assert_eq!(sandbox.htm(&asked).await.json_error(2)["code"], "node_not_found");
    let recalled =
        sandbox.htm(&["recall", "--json", "--namespace", "atlas", "postgresql ledger"]).await.json();
    assert_eq!(recalled["hits"], json!([]));
}

fn states(status: &Value) -> Vec<&str> {
    status["stages"].as_array().unwrap().iter().map(|stage| stage["state"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_memory_goes_round_for_people() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let said = sandbox.htm(&["remember", "--key", "tabs", "Mara prefers tabs."]).await;
    let node = said.succeeds().strip_prefix("remembered as node ").unwrap().split(' ').next().unwrap();
    let again = sandbox.htm(&["remember", "--key", "tabs", "Mara prefers tabs."]).await;
    assert!(again.succeeds().contains("already"), "{again:?}");
    let got = sandbox.htm(&["get", node]).await;
    assert!(got.succeeds().ends_with("\n\nMara prefers tabs.\n"), "{got:?}");
    assert!(got.stdout.contains("key         tabs\n"), "{got:?}");
    let status = sandbox.htm(&["status", node]).await;
    assert!(status.succeeds().contains("waits in its queue"), "{status:?}");
    for stage in Stage::ALL {
        drain(&db, stage).await;
    }
    let status = sandbox.htm(&["status", node, "--wait", "tag"]).await;
    assert!(status.succeeds().contains("after the write"), "{status:?}");
    let recalled = sandbox.htm(&["recall", "who", "prefers", "tabs"]).await;
    for part in ["  1. score ", "Mara prefers tabs.", &format!("node {node} (tabs)"), "1 hit by hybrid in "] {
        assert!(recalled.succeeds().contains(part), "{part}: {recalled:?}");
    }
    sandbox.htm(&["forget", node, "--yes"]).await.succeeds();
    let recalled = sandbox.htm(&["recall", "tabs"]).await;
    assert!(recalled.succeeds().starts_with("nothing found\n"), "{recalled:?}");
    sandbox.htm(&["get", node]).await.fails(2, "node_not_found");
    sandbox.htm(&["status", node]).await.fails(2, "node_not_found");
    sandbox.htm(&["get", "--key", "tabs"]).await.fails(2, "key_not_found");
}

#[tokio::test]
async fn a_text_can_come_from_standard_input() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let text = "first line\n\n\tsecond “line” 🐘";
    // The line break that a program ends its output with is none of the text.
    let input = format!("{text}\n");
    let read = sandbox.htm_reading(&["remember", "--json", "-"], input.as_bytes()).await.json();
    let node = read["node"].to_string();
    assert_eq!(sandbox.htm(&["get", &node, "--json"]).await.json()["content"], text);
    let again = sandbox.htm(&["remember", "--json", text]).await.json();
    assert_eq!((&again["node"], &again["outcome"]), (&read["node"], &json!("repeated")));
    sandbox.htm_reading(&["edit", &node, "-"], b"shorter\n\r\n").await.succeeds();
    assert_eq!(sandbox.htm(&["get", &node, "--json"]).await.json()["content"], "shorter\n");
}

#[tokio::test]
async fn a_time_is_a_day_or_an_instant_in_any_zone() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    for (at, stored) in [
        ("2026-03-01", "2026-03-01T00:00:00Z"),
        ("2026-03-01T12:00:00+02:00", "2026-03-01T10:00:00Z"),
        ("1969-07-20T20:17:40Z", "1969-07-20T20:17:40Z"),
    ] {
        let node = sandbox.remember(&["--at", at, "noon"]).await;
        assert_eq!(sandbox.htm(&["get", "--json", &node]).await.json()["created_at"], stored);
    }
    // A day begins where the configuration says: also one that has no midnight.
    for (zone, at, stored) in [
        ("Europe/Berlin", "2026-03-01", "2026-02-28T23:00:00Z"),
        ("America/Sao_Paulo", "2018-11-04", "2018-11-04T03:00:00Z"),
        ("Europe/Berlin", "2026-03-01T12:00:00Z", "2026-03-01T12:00:00Z"),
    ] {
        let zone = format!("time.zone={zone}");
        let node = sandbox.remember(&["--set", &zone, "--at", at, "midnight"]).await;
        assert_eq!(sandbox.htm(&["get", "--json", &node]).await.json()["created_at"], stored, "{zone}");
    }
    // Words, as a timeframe takes them: their beginning.
    let node = sandbox.remember(&["--set", "time.zone=UTC", "--at", "yesterday", "moon"]).await;
    let yesterday = (chrono::Utc::now() - chrono::Duration::days(1)).format("%Y-%m-%dT00:00:00Z").to_string();
    assert_eq!(sandbox.htm(&["get", "--json", &node]).await.json()["created_at"], yesterday.as_str());
    let answer = sandbox.htm(&["remember", "--at", "before 2020", "moon"]).await;
    assert!(answer.fails(2, "time_without_beginning").contains("has no beginning"), "{answer:?}");
    let within = |timeframe: &'static str| {
        let arguments = ["recall", "--json", "--strategy", "fulltext", "--timeframe", timeframe, "noon"];
        let sandbox = &sandbox;
        async move { sandbox.htm(&arguments).await.json()["hits"].as_array().unwrap().len() }
    };
    assert_eq!(within("2026-03-01").await, 2);
    assert_eq!(within("2026-03-01..2026-03-01T10:00:00Z").await, 1);
    assert_eq!(within("..1970-01-01").await, 1);
    assert_eq!(within("2026-03-02..").await, 0);
}

#[tokio::test]
async fn waiting_ends_when_the_node_is_through_and_not_before() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    // Nobody works: the node is written, its number is told, and the wait is what fails.
    let answer = sandbox.htm(&["remember", "--wait=0", "patience"]).await;
    assert!(answer.exits(75).stdout.starts_with("remembered as node "), "{answer:?}");
    let node = answer.stdout["remembered as node ".len()..].split(' ').next().unwrap();
    let said = "error[wait_timeout]: the memory is stored and is being processed: ";
    assert!(answer.stderr.starts_with(said), "{answer:?}");
    assert!(answer.stderr.contains(&format!("`htm status {node}`")), "{answer:?}");
    // The number is there before the end.
    let waiting = sandbox.start("htm", &["remember", "--wait=60", "more patience"]);
    wait_until(|| async { waiting.log().starts_with("remembered as node ") }).await;
    let _workers = [sandbox.start("embed-worker", &[]), sandbox.start("tag-worker", &[])];
    // The text is not taken for the seconds.
    let node = sandbox.remember(&["--wait", "patience"]).await;
    let status = sandbox.htm(&["status", "--json", &node]).await.json();
    assert_eq!(states(&status), ["done", "done"]);
}

#[tokio::test]
async fn tags_and_robots_narrow_a_recall() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    for (robot, tag, text) in [
        ("ada", "database:postgresql", "an index on the ledger"),
        ("ada", "database", "the ledger has an index"),
        ("bob", "data", "no index, says the ledger"),
    ] {
        sandbox.htm(&["remember", "--robot", robot, "--tag", tag, text]).await.succeeds();
    }
    for (filter, hits) in [
        (&["--tag", "database"][..], 2),
        (&["--exact-tag", "database"], 1),
        (&["--tag", "database", "--tag", "data"], 0),
        (&["--tag", "database", "--tag", "data", "--any-tag"], 3),
        (&["--robot", "ada"], 2),
        (&["--robot", "nobody"], 0),
        (&["--limit", "1"], 1),
    ] {
        let arguments = [&["recall", "--json", "--strategy", "fulltext", "index ledger"], filter].concat();
        let recalled = sandbox.htm(&arguments).await.json();
        assert_eq!(recalled["hits"].as_array().unwrap().len(), hits, "{filter:?}");
    }
}

#[tokio::test]
async fn a_batch_answers_each_query_before_it_reads_the_next() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    sandbox.remember(&["--key", "k", "the index was rebuilt"]).await;
    let mut batch = sandbox.start("htm", &["recall", "--batch", "-", "--strategy", "fulltext"]);
    let mut stdin = batch.stdin();
    for n in 0..4 {
        if n == 2 {
            // A line that is no query has its answer too, however long it is.
            let long = format!("{{\"id\": \"long\", \"text\": \"{}\"}}\n", "x".repeat(1 << 20));
            stdin.write_all(long.as_bytes()).await.unwrap();
        }
        let query = format!("{{\"id\": \"q{n}\", \"text\": \"index\"}}\n");
        stdin.write_all(query.as_bytes()).await.unwrap();
        stdin.flush().await.unwrap();
        let answer = format!("\"qid\":\"q{n}\"");
        wait_until(|| async { batch.log().contains(&answer) }).await;
    }
    drop(stdin);
    assert_eq!(batch.end().await.code(), Some(2));
    let log = batch.log();
    assert!(log.contains("\"line\":3,"), "{log}");
    assert!(log.contains("line 3 of standard input is not a query: it has more than "), "{log}");
}

#[tokio::test]
async fn a_batch_answers_each_query_on_a_line() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    sandbox.htm(&["remember", "--namespace", "a", "--key", "k1", "elephants never forget"]).await.succeeds();
    let unnamed = sandbox.remember(&["--namespace", "b", "elephants remember"]).await;
    let queries = sandbox.write(
        "queries.jsonl",
        "{\"id\": \"q1\", \"ns\": \"a\", \"text\": \"elephants\"}\n\n\
         {\"id\": \"q2\", \"ns\": \"b\", \"text\": \"elephants\"}\n\
         {\"id\": \"q3\", \"ns\": \"c\", \"text\": \"elephants\"}\n",
    );
    let answer =
        sandbox.htm(&["recall", "--batch", &queries, "--limit", "20", "--strategy", "fulltext"]).await;
    let lines: Vec<Value> =
        answer.succeeds().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(lines.iter().all(|line| line["ms"].is_f64()), "{answer:?}");
    let told: Vec<_> = lines.iter().map(|line| (line["qid"].clone(), line["ids"].clone())).collect();
    assert_eq!(
        told,
        [(json!("q1"), json!(["k1"])), (json!("q2"), json!([unnamed])), (json!("q3"), json!([]))]
    );
    // A line without an answer has its error in the place.
    let queries = sandbox.write(
        "bad.jsonl",
        "\u{feff}{\"id\": \"q1\", \"text\": \"x\"}\n{\"id\": 2}\n{\"id\": \"q3\", \"text\": \" \"}\n\
         {\"id\": \"q4\", \"ns\": \"a\", \"text\": \"elephants\"}\n",
    );
    let answer = sandbox.htm(&["recall", "--batch", &queries, "--strategy", "fulltext"]).await;
    assert!(answer.exits(2).stderr.starts_with("error[line_invalid]: line 2 of "), "{answer:?}");
    assert!(answer.stderr.contains("; without an answer: 2 of 4 queries\n"), "{answer:?}");
    let lines: Vec<Value> = answer.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let told: Vec<_> = lines.iter().map(|it| (&it["qid"], &it["line"], &it["error"]["code"])).collect();
    let null = &Value::Null;
    assert_eq!(told[0], (&json!("q1"), null, null));
    assert_eq!(told[1], (null, &json!(2), &json!("line_invalid")));
    assert_eq!(told[2], (&json!("q3"), &json!(3), &json!("content_empty")));
    assert_eq!((told[3].0, &lines[3]["ids"]), (&json!("q4"), &json!(["k1"])));
    sandbox.htm(&["recall", "--batch", "nowhere.jsonl"]).await.fails(2, "io_error");
}

#[tokio::test]
async fn stored_text_cannot_drive_the_terminal() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let evil = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{1b}[31mred alert\u{9b}1m";
    let node = sandbox.remember(&["--source", evil, "--", evil]).await;
    for arguments in [&["get", &node][..], &["recall", "--strategy", "fulltext", "alert"], &["status", &node]]
    {
        let said = sandbox.htm(arguments).await;
        let raw = |character: char| character.is_control() && character != '\n';
        assert!(!said.succeeds().contains(raw), "{said:?}");
    }
    // Programs get what was stored, escaped as JSON does it.
    let answer = sandbox.htm(&["get", "--json", &node]).await;
    assert_eq!(answer.json()["content"], evil);
    assert!(!answer.stdout.contains('\u{1b}'));
}

#[tokio::test]
async fn a_reader_that_goes_away_is_no_error() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    // More than a pipe holds.
    let text = "many words ".repeat(50_000);
    let node =
        sandbox.htm_reading(&["--json", "remember", "-"], text.as_bytes()).await.json()["node"].to_string();
    for command in [format!("htm get {node}"), format!("htm get --json {node}")] {
        let answer = sandbox.shell(&format!("{command} | head -c 5 >/dev/null")).await;
        assert_eq!((answer.succeeds(), answer.stderr.as_str()), ("", ""), "{command}");
    }
}

#[tokio::test]
async fn a_long_memory_says_in_how_many_parts_it_was_embedded() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    sandbox.htm(&["remember", "--key", "long", &"One more sentence. ".repeat(100)]).await.succeeds();
    let window = ["--drain", "--set", "embedding.window=100"];
    sandbox.run("embed-worker", &window, b"").await.succeeds();
    let got = sandbox.htm(&["get", "--key", "long", "--json"]).await.json();
    let node = got["id"].to_string();
    let status = sandbox.htm(&["status", &node, "--json"]).await.json();
    for answer in [&got, &status] {
        assert_eq!(answer["stages"][0]["outcome"], "embedded in 6 parts", "{answer}");
        assert_eq!(answer["stages"][1]["state"], "pending", "{answer}");
    }
    for command in ["get", "status"] {
        let said = sandbox.htm(&[command, &node]).await;
        assert!(said.succeeds().contains("embedded in 6 parts by fake/"), "{said:?}");
    }
}
