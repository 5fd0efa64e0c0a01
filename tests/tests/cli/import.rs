//! `htm import`: good and bad lines, again, and after an interruption.

use htm_tests::{Proxy, Sandbox, TestDatabase, long_text, wait_until};
use nix::sys::signal::Signal;
use serde_json::json;
use tokio::io::AsyncWriteExt;

fn line(n: usize) -> String {
    format!("{}\n", json!({"id": format!("m{n}"), "ns": "log", "text": format!("entry number {n}")}))
}

#[tokio::test]
async fn bad_lines_are_reported_and_the_rest_goes_in() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    sandbox.htm(&["remember", "--namespace", "n", "--key", "taken", "this content"]).await.succeeds();
    let file = sandbox.write(
        "memories.jsonl",
        [
            r#"{"id":"a","ns":"n","text":"one","created_at":"2026-03-01T00:00:00Z","speaker":"Ada","session":3,"seq":4,"tags":["x:y"],"metadata":{"k":1},"robot":"r","importance":8,"source":"wiki","type":"decision"}"#,
            "no JSON",
            r#"{"id":"b","ns":"n"}"#,
            "",
            r#"{"id":"c","ns":"n","text":"  "}"#,
            r#"{"id":"d","ns":"n","text":"two","tags":["no tag!"]}"#,
            r#"{"id":"e","ns":"n","text":"NUL \u0000"}"#,
            r#"{"id":"f","ns":"","text":"two"}"#,
            r#"{"id":"g","ns":"n","text":"two","color":"red"}"#,
            r#"{"id":"taken","ns":"n","text":"other content"}"#,
            r#"{"id":"i","ns":"n","text":"two","importance":11}"#,
            r#"{"id":"j","ns":"n","text":"two","type":"a\u0000"}"#,
            r#"{"id":"h","ns":"n","text":"last, without a line break"}"#,
        ]
        .join("\n"),
    );
    let answer = sandbox.htm(&["import", &file, "--json"]).await;
    let report: serde_json::Value = serde_json::from_str(&answer.exits(2).stdout).unwrap();
    assert_eq!((&report["written"], &report["skipped"]), (&json!(2), &json!(0)));
    let refused: Vec<_> = report["refused"]
        .as_array()
        .unwrap()
        .iter()
        .map(|line| {
            assert!(!line["reason"].as_str().unwrap().is_empty());
            (line["line"].as_u64().unwrap(), line["code"].as_str().unwrap())
        })
        .collect();
    let expected = [
        (2, "line_invalid"),
        (3, "line_invalid"),
        (5, "content_empty"),
        (6, "tag_invalid"),
        (7, "nul_byte"),
        (8, "namespace_invalid"),
        (9, "line_invalid"),
        (10, "key_taken"),
        (11, "importance_out_of_range"),
        (12, "nul_byte"),
    ];
    assert_eq!(refused, expected);
    let got = sandbox.htm(&["get", "--key", "a", "--namespace", "n", "--json"]).await.json();
    let expected = json!({
        "speaker": "Ada", "session": "3", "seq": 4, "tags": ["x:y"], "metadata": {"k": 1}, "robot": "r",
        "importance": 8.0, "source": "wiki", "type": "decision", "created_at": "2026-03-01T00:00:00Z",
    });
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(&got[name], value, "{name}");
    }
    assert_eq!(db.count("select count(*) from htm.nodes").await, 3);

    // Again: nothing new, and people read the same.
    let answer = sandbox.htm(&["import", &file]).await;
    let said = &answer.exits(2).stdout;
    assert!(said.contains("line 10: key `taken` in namespace `n` is taken by node "), "{said}");
    assert!(said.contains("line 2: ") && said.contains("0 written, 2 skipped, 10 rejected"), "{said}");
    assert_eq!(db.count("select count(*) from htm.nodes").await, 3);
}

#[tokio::test]
async fn the_reasons_are_in_the_words_of_people() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let export = sandbox.htm(&["export"]).await.succeeds().to_owned();
    // The first line is whole, behind the mark of a program of Windows.
    let file = sandbox.write(
        "memories.jsonl",
        [
            "\u{feff}{\"id\":\"a\",\"ns\":\"n\",\"text\":\"one\"}",
            "[]",
            r#"{"created_at":"2026-03-01","id":"b","ns":"n","text":"two"}"#,
            r#"{"id":"c" "ns":"n"}"#,
            export.lines().next().unwrap(),
            r#"{"kind":"memory","id":"d","ns":"n","te"#,
        ]
        .join("\r\n"),
    );
    let answer = sandbox.htm(&["import", &file]).await;
    let said = &answer.exits(2).stdout;
    for part in [
        "line 2: a line is a JSON object, such as {",
        "line 3, column 26: `created_at` and `expires_at` are times such as 2026-03-01T09:00:00Z [line_invalid]",
        "line 4, column 11: expected `,` or `}` [line_invalid]",
        "line 6, column 38: the line is cut: it ends inside of its JSON object [line_invalid]",
        "line 7: the export has no end: its last line is line 6 [export_incomplete]",
        "1 written, 0 skipped, 5 rejected",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert!(!said.contains("line 1") && !said.contains("line 5"), "{said}");
}

#[tokio::test]
async fn a_line_that_is_too_long_is_refused_and_the_next_goes_in() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let long = json!({"id": "long", "ns": "log", "text": "x".repeat(9 << 20)});
    let file = sandbox.write("memories.jsonl", format!("{}{long}\n{}", line(1), line(2)));
    let answer = sandbox.htm(&["import", &file, "--json"]).await;
    let report: serde_json::Value = serde_json::from_str(&answer.exits(2).stdout).unwrap();
    assert_eq!(report["written"], 2);
    let refused = json!([{"line": 2, "code": "line_too_long", "reason": "it has more than 8388608 bytes"}]);
    assert_eq!(report["refused"], refused);
}

#[tokio::test]
async fn of_a_file_of_another_kind_the_first_refused_lines_are_listed() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let file = sandbox.write("memories.csv", format!("{}{}", "a,b,c\n".repeat(1_500), line(1)));
    let answer = sandbox.htm(&["import", &file, "--json"]).await;
    let report: serde_json::Value = serde_json::from_str(&answer.exits(2).stdout).unwrap();
    assert_eq!((&report["written"], &report["refused_count"]), (&json!(1), &json!(1_500)));
    let listed = report["refused"].as_array().unwrap();
    assert_eq!((listed.len(), &listed[999]["line"]), (1_000, &json!(1_000)));
    let answer = sandbox.htm(&["import", &file]).await;
    let said = &answer.exits(2).stdout;
    assert!(said.contains("… and 1480 more lines; --json lists the first 1000\n"), "{said}");
    assert!(said.contains("0 written, 1 skipped, 1500 rejected"), "{said}");
}

#[tokio::test]
async fn long_texts_are_a_transaction_of_fewer_lines() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let mut import = sandbox.start("htm", &["import", "-"]);
    let mut stdin = import.stdin();
    for n in 0..17 {
        let line = json!({"id": format!("m{n}"), "ns": "log", "text": long_text(n)});
        stdin.write_all(format!("{line}\n").as_bytes()).await.unwrap();
    }
    stdin.flush().await.unwrap();
    // 16 MiB of text are written before the thousandth line, and before the end.
    wait_until(|| async { db.count("select count(*) from htm.nodes").await == 17 }).await;
    drop(stdin);
    assert!(import.end().await.success());
}

#[tokio::test]
async fn of_lines_with_one_key_the_first_goes_in() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let file = sandbox.write(
        "memories.jsonl",
        r#"{"id":"a","ns":"n","text":"the first","robot":"r"}
{"id":"b","ns":"n","text":"another"}
{"id":"a","ns":"n","text":"the second"}
"#,
    );
    let answer = sandbox.htm(&["import", &file]).await;
    assert!(answer.exits(2).stdout.starts_with("line 3: key `a` "), "{answer:?}");
    let got = sandbox.htm(&["get", "--key", "a", "--namespace", "n", "--json"]).await.json();
    assert_eq!(got["content"], "the first");
}

#[tokio::test]
async fn an_import_run_again_skips_every_line() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let lines: String = (0..2_500).map(line).collect();
    let file = sandbox.write("memories.jsonl", lines);
    for (written, skipped) in [(2_500, 0), (0, 2_500)] {
        let report = sandbox.htm(&["import", &file, "--json"]).await.json();
        assert_eq!((&report["written"], &report["skipped"]), (&json!(written), &json!(skipped)));
        assert_eq!(db.count("select count(*) from htm.nodes").await, 2_500);
        assert_eq!(db.count("select count(*) from apalis.jobs").await, 5_000);
    }
}

#[tokio::test]
async fn an_interrupted_import_is_resumed() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let lines: Vec<String> = (0..30).map(line).collect();
    let mut import = sandbox.start("htm", &["import", "-", "--chunk", "10"]);
    let mut stdin = import.stdin();
    // Two chunks and half a third one, which is lost with the process.
    stdin.write_all(lines[..25].concat().as_bytes()).await.unwrap();
    stdin.flush().await.unwrap();
    let count = || db.count("select count(*) from htm.nodes");
    wait_until(|| async { count().await == 20 }).await;
    import.signal(Signal::SIGKILL);
    import.end().await;
    assert_eq!(count().await, 20);
    let answer = sandbox.htm_reading(&["import", "-", "--json"], lines.concat().as_bytes()).await;
    let report = answer.json();
    assert_eq!((&report["written"], &report["skipped"]), (&json!(10), &json!(20)));
    assert_eq!(count().await, 30);
}

#[tokio::test]
async fn an_import_that_is_stopped_says_how_far_it_came() {
    for form in [&[][..], &["--json"]] {
        let db = TestDatabase::new().await;
        let sandbox = Sandbox::new(&db);
        let mut import = sandbox.start("htm", &[form, &["import", "-", "--chunk", "10"]].concat());
        // It waits for more of its standard input.
        let mut stdin = import.stdin();
        stdin.write_all((0..25).map(line).collect::<String>().as_bytes()).await.unwrap();
        stdin.flush().await.unwrap();
        wait_until(|| async { db.count("select count(*) from htm.nodes").await == 20 }).await;
        import.signal(Signal::SIGTERM);
        assert_eq!(import.end().await.code(), Some(130), "{}", import.log());
        let said = match form.is_empty() {
            true => "0 skipped, 0 rejected until then; import it again: what is there is skipped",
            false => r#""stopped":true"#,
        };
        assert!(import.log().contains(said), "{}", import.log());
    }
}

#[tokio::test]
async fn an_import_that_loses_the_database_says_how_far_it_came() {
    let db = TestDatabase::new().await;
    let proxy = Proxy::start(db.options()).await;
    let sandbox = Sandbox::on(&proxy.url()).set("HTM_DATABASE__CONNECT_TIMEOUT_MS", "500");
    let mut import = sandbox.start("htm", &["import", "-", "--chunk", "10"]);
    let mut stdin = import.stdin();
    stdin.write_all((0..10).map(line).collect::<String>().as_bytes()).await.unwrap();
    stdin.flush().await.unwrap();
    wait_until(|| async { db.count("select count(*) from htm.nodes").await == 10 }).await;
    drop(proxy);
    stdin.write_all((10..20).map(line).collect::<String>().as_bytes()).await.unwrap();
    drop(stdin);
    assert_eq!(import.end().await.code(), Some(75), "{}", import.log());
    let log = import.log();
    assert!(log.contains("error[database_unreachable]") && log.contains("0 rejected until then"), "{log}");
    assert!(log.contains("import it again: what is there is skipped"), "{log}");
}

#[tokio::test]
async fn rejected_lines_count_as_read() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let answer = sandbox.htm_reading(&["import", "-"], "no JSON\n".repeat(2_000).as_bytes()).await;
    let said = &answer.exits(2).stdout;
    assert!(said.contains("2000 rejected") && !said.contains("(0.0 lines/s)"), "{said}");
}

#[tokio::test]
async fn a_file_that_is_not_there_is_named() {
    let db = TestDatabase::new().await;
    let answer = Sandbox::new(&db).htm(&["import", "nowhere.jsonl"]).await;
    let said = answer.fails(2, "io_error");
    assert!(said.contains("nowhere.jsonl cannot be opened"), "{said}");
}

#[tokio::test]
async fn a_url_is_no_file_and_its_password_is_not_shown() {
    let db = TestDatabase::new().await;
    let answer = Sandbox::new(&db).htm(&["import", "postgres://ada:lantern@localhost/notes"]).await;
    assert!(!answer.fails(2, "usage").contains("lantern"), "{answer:?}");
}
