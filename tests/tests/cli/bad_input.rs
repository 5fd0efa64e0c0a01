//! What is refused: an error code and a hint each, exit code 2, and nothing half written.

use htm_tests::{Sandbox, TestDatabase};

/// Rows in any table that a refused write could have touched.
async fn rows(db: &TestDatabase) -> i64 {
    db.count(
        "select (select count(*) from htm.nodes) + (select count(*) from htm.robots)
              + (select count(*) from htm.tags) + (select count(*) from apalis.jobs)",
    )
    .await
}

#[tokio::test]
async fn a_bad_memory_is_refused_whole() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let long = "x".repeat(129);
    let (longer, longest) = ("x".repeat(513), "x".repeat(4_097));
    let metadata = format!(r#"{{"k": "{}"}}"#, "x".repeat(65_536));
    let deep = format!(r#"{{"k": {}{}}}"#, "[".repeat(64), "]".repeat(64));
    for (arguments, code) in [
        (&[""][..], "content_empty"),
        (&[" \n\t\u{a0} "], "content_empty"),
        (&["--tag", "c++", "text"], "tag_invalid"),
        (&["--tag", "a:b:c:d:e:f", "text"], "tag_invalid"),
        (&["--tag", "a:b:a", "--tag", "", "text"], "tag_invalid"),
        (&["--importance", "0.5", "text"], "importance_out_of_range"),
        (&["--importance", "10.5", "text"], "importance_out_of_range"),
        (&["--importance", "-1", "text"], "importance_out_of_range"),
        (&["--importance", "NaN", "text"], "importance_out_of_range"),
        (&["--namespace", "", "text"], "namespace_invalid"),
        (&["--namespace", &longer, "text"], "namespace_invalid"),
        (&["--robot", " ", "text"], "robot_invalid"),
        (&["--type", &long, "text"], "field_too_long"),
        (&["--speaker", &longer, "text"], "field_too_long"),
        (&["--session", &longer, "text"], "field_too_long"),
        (&["--source", &longest, "text"], "field_too_long"),
        (&["--metadata", &metadata, "text"], "field_too_long"),
        (&["--metadata", &deep, "text"], "metadata_too_deep"),
        (&["--key", "a\u{1b}[2Jb", "text"], "key_invalid"),
        (&["--metadata", "{", "text"], "usage"),
        (&["--metadata", "[7]", "text"], "metadata_not_object"),
        (&["--metadata", r#"{"a": "\u0000"}"#, "text"], "nul_byte"),
        (&["--at", "before yesterday", "text"], "time_without_beginning"),
        (&["--expires", "0s", "text"], "expiry_out_of_range"),
        (&["--expires", "soonish", "text"], "timeframe_invalid"),
        (&["--expires", "2020-01-01", "text"], "expiry_passed"),
        (&["--expires", "now", "--robot", "r", "--tag", "x", "text"], "expiry_passed"),
        (&["--namespace", "a//b", "text"], "namespace_invalid"),
        (&["--at", "soonish", "text"], "timeframe_invalid"),
        (&["--at", "2026-02-30", "text"], "timeframe_invalid"),
        (&["--at", "2011-12-30", "--set", "time.zone=Pacific/Apia", "text"], "timeframe_invalid"),
    ] {
        let arguments = [&["remember"], arguments].concat();
        let answer = sandbox.htm(&arguments).await;
        let said = answer.fails(2, code);
        assert!(!said.contains('\u{1b}'), "{said:?}");
        let with_json = [&["--json"], &arguments[..]].concat();
        let error = sandbox.htm(&with_json).await.json_error(2);
        assert_eq!(error["code"], code);
        assert!(
            !error["message"].as_str().unwrap().is_empty() && !error["hint"].as_str().unwrap().is_empty()
        );
    }
    let refused = sandbox.htm(&["remember", "--expires", "1.5h", "text"]).await;
    let said = refused.fails(2, "timeframe_invalid");
    assert!(said.contains("`1.5h` is no expiry") && said.contains("30m, 12h, 90d"), "{said}");
    for seq in ["third", "9999999999"] {
        assert!(sandbox.htm(&["remember", "--seq", seq, "text"]).await.exits(2).stderr.contains("--seq"));
    }
    assert_eq!(rows(&db).await, 0);
}

#[tokio::test]
async fn bad_standard_input_is_refused_whole() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let largest = "x".repeat(1024 * 1024);
    for (input, code) in [
        (&b""[..], "content_empty"),
        (b"  \n", "content_empty"),
        (format!("{largest}x").as_bytes(), "content_too_large"),
        (b"a\0b", "nul_byte"),
        (b"\xff\xfe", "io_error"),
    ] {
        sandbox.htm_reading(&["remember", "-"], input).await.fails(2, code);
    }
    assert_eq!(rows(&db).await, 0);
    sandbox.htm_reading(&["remember", "-"], format!("{largest}\r\n").as_bytes()).await.succeeds();
}

#[tokio::test]
async fn a_bad_query_is_refused() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let long = "backup ".repeat(32 * 1024 / 7 + 1);
    let session = "x".repeat(513);
    for (arguments, code) in [
        (&[""][..], "content_empty"),
        (&["  "], "content_empty"),
        (&["\"\""], "content_empty"),
        (&["“ ”"], "content_empty"),
        (&[&long], "field_too_long"),
        (&["--timeframe", "auto", &long], "field_too_long"),
        (&["--session", &session, "q"], "field_too_long"),
        (&["--session", "", "q"], "content_empty"),
        (&["--source", " ", "q"], "content_empty"),
        (&["--type", "", "q"], "content_empty"),
        (&["--strategy", "magic", "q"], "strategy_unknown"),
        (&["--limit", "0", "q"], "limit_out_of_range"),
        (&["--limit", "10001", "q"], "limit_out_of_range"),
        (&["--limit", "-1", "q"], "limit_out_of_range"),
        (&["--limit", "many", "q"], "limit_out_of_range"),
        (&["--min-similarity", "1.1", "q"], "min_similarity_out_of_range"),
        (&["--min-similarity", "-0.1", "q"], "min_similarity_out_of_range"),
        (&["--min-similarity", "NaN", "q"], "min_similarity_out_of_range"),
        (&["--min-similarity", "much", "q"], "min_similarity_out_of_range"),
        (&["--", "-mysql"], "query_only_negations"),
        (&["--timeframe", "2026-04-01..2026-03-01", "q"], "timeframe_reversed"),
        (&["--timeframe", "2026-04-01..2026-04-01", "q"], "timeframe_reversed"),
        (&["--timeframe", "some day", "q"], "timeframe_invalid"),
        (&["--timeframe", "", "q"], "timeframe_invalid"),
        (&["--tag", "c++", "q"], "tag_invalid"),
        (&["--exact-tag", "c++", "q"], "tag_invalid"),
        (&["--namespace", "", "q"], "namespace_invalid"),
    ] {
        let arguments = [&["recall"], arguments].concat();
        sandbox.htm(&arguments).await.fails(2, code);
        let with_json = [&["--json"], &arguments[..]].concat();
        assert_eq!(sandbox.htm(&with_json).await.json_error(2)["code"], code);
    }
    for limit in ["1", "10000"] {
        sandbox.htm(&["recall", "--limit", limit, "q"]).await.succeeds();
    }
    sandbox.htm(&["timeline", &long]).await.fails(2, "field_too_long");
    sandbox.htm(&["recall", "--timeframe", "auto", &long[..32 * 1024]]).await.succeeds();
}

#[tokio::test]
async fn an_unknown_namespace_is_empty_and_no_error() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    sandbox.htm(&["remember", "something"]).await.succeeds();
    for strategy in ["vector", "fulltext", "hybrid"] {
        let arguments = ["recall", "--json", "--namespace", "nowhere", "--strategy", strategy, "something"];
        let recalled = sandbox.htm(&arguments).await.json();
        assert_eq!(recalled["hits"].as_array().unwrap().len(), 0);
    }
}

#[tokio::test]
async fn a_taken_key_keeps_its_content() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let first = ["remember", "--key", "k", "the first"];
    let node = sandbox.htm(&[&["--json"], &first[..]].concat()).await.json()["node"].to_string();
    let before = rows(&db).await;
    let answer = sandbox.htm(&["remember", "--key", "k", "--tag", "x", "--robot", "r", "the second"]).await;
    let said = answer.fails(2, "key_taken");
    assert!(said.contains(&format!("htm get {node}")), "{said}");
    assert_eq!(rows(&db).await, before);
    // Elsewhere the key is free, and the same content under it is the same node.
    sandbox.htm(&["remember", "--key", "k", "--namespace", "other", "the second"]).await.succeeds();
    let again = sandbox.htm(&[&["--json"], &first[..]].concat()).await.json();
    assert_eq!((again["node"].to_string(), again["outcome"].as_str()), (node, Some("existing")));
}

#[tokio::test]
async fn forgetting_wants_a_yes() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let node = sandbox.remember(&["precious"]).await;
    let answer = sandbox.htm(&["forget", &node]).await;
    let said = answer.fails(2, "not_confirmed");
    assert!(said.contains(&format!("`htm forget {node} --dry-run`, then confirm with `--yes`")), "{said}");
    sandbox.htm(&["get", &node]).await.succeeds();
}

#[tokio::test]
async fn a_secret_that_was_typed_wrongly_is_not_shown() {
    let sandbox = Sandbox::on("");
    let url = "postgres://u:secret@h/d?sslmode=disable";
    for typed in [
        &["--set", "database.url postgres://u:secret@h/d"][..],
        &["--set", "database.url", url],
        &["--set", url],
        &["--set=openai.api_key:secret"],
    ] {
        for (program, before, after) in [
            ("htm", &[][..], &["config", "show"][..]),
            ("htm", &["config", "show"], &[]),
            ("htm", &["--json"], &["config", "show"]),
            ("embed-worker", &[], &[]),
            ("tag-worker", &["--drain"], &[]),
            ("learn-worker", &["--drain"], &[]),
        ] {
            let answer = sandbox.run(program, &[before, typed, after].concat(), b"").await;
            let said = &answer.exits(2).stderr;
            assert!(!said.contains("secret") && said.contains("--set "), "{program}: {said}");
        }
    }
}

#[tokio::test]
async fn arguments_that_make_no_sense_are_refused_with_a_way_on() {
    let sandbox = Sandbox::on("");
    for arguments in [
        &["recall"][..],
        &["remember"],
        &["get"],
        &["get", "x"],
        &["get", "1", "--key", "k"],
        &["status", "1", "--wait", "later"],
        &["remember", "--importance", "high", "text"],
        &["remembr", "text"],
        &["--set", "recall.limit", "config", "show"],
        &["import", "--chunk", "0", "-"],
        &["import", "--chunk", "10001", "-"],
    ] {
        let answer = sandbox.htm(arguments).await;
        let said = &answer.exits(2).stderr;
        assert!(said.starts_with("error: ") && said.contains("For more information, try '--help'"), "{said}");
        let answer = sandbox.htm(&[&["--json"], arguments].concat()).await;
        let error = answer.json_error(2);
        assert_eq!(error["code"], "usage");
        assert!(!error["hint"].as_str().unwrap().is_empty(), "{error}");
    }
}
