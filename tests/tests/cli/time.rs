//! Timeframes in words, timelines, neighbours.

use htm_tests::{Sandbox, TestDatabase};
use serde_json::{Value, json};

use crate::filtered;

/// A conversation over midnight, and a note of none.
async fn told(sandbox: &Sandbox) -> Vec<String> {
    let lines = sandbox.write(
        "talk.jsonl",
        [
            r#"{"id": "a1", "ns": "atlas", "text": "Shall we move billing to Postgres?", "speaker": "Mara", "session": "standup-1", "seq": 1, "created_at": "2026-03-01T22:00:00Z"}"#,
            r#"{"id": "b1", "ns": "atlas", "text": "The picnic is at noon.", "speaker": "Ben", "session": "picnic", "created_at": "2026-03-01T22:30:00Z"}"#,
            r#"{"id": "a2", "ns": "atlas", "text": "Billing moves on Monday.", "speaker": "Konstantin", "session": "standup-1", "seq": 2, "created_at": "2026-03-01T23:30:00Z"}"#,
            r#"{"id": "c1", "ns": "atlas", "text": "Billing has a new invoice layout.", "created_at": "2026-03-02T08:00:00Z"}"#,
        ]
        .join("\n"),
    );
    sandbox.htm(&["import", &lines]).await.succeeds();
    let mut ids = Vec::new();
    for key in ["a1", "b1", "a2", "c1"] {
        let node = sandbox.htm(&["get", "--key", key, "--namespace", "atlas", "--json"]).await.json();
        ids.push(node["id"].to_string());
    }
    ids
}

/// The text that people read, without the nodes' ids: those of an import come in any order.
fn shown(text: &str, ids: &[String]) -> String {
    ids.iter().fold(filtered(text), |text, id| text.replace(&format!("node {id}"), "node [id]"))
}

fn keys(nodes: &Value) -> Vec<&str> {
    nodes.as_array().unwrap().iter().map(|node| node["key"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_timeline_for_people() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let ids = told(&sandbox).await;
    let by_day = sandbox.htm(&["timeline", "--namespace", "atlas", "--timeframe", "March 2026"]).await;
    insta::assert_snapshot!("timeline_by_day", shown(by_day.succeeds(), &ids));
    let zone = ["--set", "time.zone=Europe/Berlin"];
    let by_session = [&["timeline", "--namespace", "atlas", "--by", "session"], &zone[..]].concat();
    insta::assert_snapshot!("timeline_by_session", shown(sandbox.htm(&by_session).await.succeeds(), &ids));
    let about = [
        &["timeline", "--namespace", "atlas", "--strategy", "fulltext", "--timeframe", "auto"][..],
        &["billing", "on 2 March 2026"][..],
        &zone[..],
    ]
    .concat();
    insta::assert_snapshot!("timeline_of_a_phrase", shown(sandbox.htm(&about).await.succeeds(), &ids));
    let nothing = sandbox.htm(&["timeline", "--timeframe", "yesterday"]).await;
    assert!(nothing.succeeds().starts_with("nothing found\n0 memories\ntime: 20"), "{nothing:?}");
}

#[tokio::test]
async fn a_timeline_for_programs() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    told(&sandbox).await;
    let answer = sandbox
        .htm(&[
            "timeline",
            "--json",
            "--namespace",
            "atlas",
            "--timeframe",
            "2026-03-01, 2026-03-02",
            "--limit",
            "3",
        ])
        .await
        .json();
    let groups = answer["groups"].as_array().unwrap();
    let names: Vec<&Value> = groups.iter().map(|group| &group["name"]).collect();
    assert_eq!(names, ["2026-03-01", "2026-03-02"]);
    assert_eq!((keys(&groups[0]["entries"]), keys(&groups[1]["entries"])), (vec!["b1", "a2"], vec!["c1"]));
    assert_eq!(groups[0]["first_at"], "2026-03-01T22:30:00Z");
    assert_eq!(answer["notes"], json!(["these are the 3 latest; there may be more: `--limit`"]));
    let one = sandbox.htm(&["timeline", "--json", "--namespace", "atlas", "--limit", "1"]).await.json();
    assert_eq!(one["notes"], json!(["this is the latest; there may be more: `--limit`"]));
    assert_eq!(
        answer["timeframe"],
        json!([{ "from": "2026-03-01T00:00:00Z", "until": "2026-03-03T00:00:00Z" }])
    );
    assert_eq!((&answer["time_phrase"], &answer["degraded"]), (&Value::Null, &json!([])));
    let session = ["timeline", "--json", "--namespace", "atlas", "--session", "standup-1", "--by", "session"];
    let answer = sandbox.htm(&session).await.json();
    assert_eq!(keys(&answer["groups"][0]["entries"]), ["a1", "a2"]);
    assert_eq!(answer["notes"], json!([]));
    assert_eq!((&answer["groups"][0]["name"], &answer["timeframe"]), (&json!("standup-1"), &json!([])));
}

#[tokio::test]
async fn neighbours_for_people_and_programs() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let ids = told(&sandbox).await;
    let answer = sandbox.htm(&["neighbours", &ids[2]]).await;
    insta::assert_snapshot!("neighbours", shown(answer.succeeds(), &ids));
    let answer =
        sandbox.htm(&["neighbours", "--json", &ids[3], "--before", "2", "--after", "2"]).await.json();
    assert_eq!((keys(&answer["before"]), &answer["node"]["key"]), (vec!["b1", "a2"], &json!("c1")));
    assert_eq!(answer["after"], json!([]));
}

#[tokio::test]
async fn recall_says_what_the_time_meant() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    told(&sandbox).await;
    let base = ["recall", "--namespace", "atlas", "--strategy", "fulltext"];
    let auto = [&base[..], &["--timeframe", "auto", "what was said on 1 March 2026 about billing?"]].concat();
    let answer = sandbox.htm(&auto).await;
    assert!(
        answer.succeeds().ends_with(
            "\ntime: `on 1 March 2026` is 2026-03-01 00:00 until 2026-03-02 00:00 (UTC); searched for `what was \
             said about billing?`\n"
        ),
        "{answer:?}"
    );
    let json = sandbox.htm(&[&auto[..], &["--json"]].concat()).await.json();
    assert_eq!(
        json["time_phrase"],
        json!({ "phrase": "on 1 March 2026", "query": "what was said about billing?" })
    );
    let mut found = keys(&json["hits"]);
    found.sort_unstable();
    assert_eq!(found, ["a1", "a2"]);
    let several =
        [&base[..], &["--timeframe", "2026-03-02 or 2026-03-01..2026-03-01T22:10:00Z", "billing"]].concat();
    let answer = sandbox.htm(&several).await;
    let meant =
        "time: 2026-03-01 00:00 until 2026-03-01 22:10, or 2026-03-02 00:00 until 2026-03-03 00:00 (UTC)\n";
    assert!(answer.succeeds().ends_with(meant), "{answer:?}");
    assert_eq!(
        sandbox.htm(&[&several[..], &["--json"]].concat()).await.json()["hits"].as_array().unwrap().len(),
        2
    );
    let session = [&base[..], &["--session", "picnic", "--json", "billing picnic"]].concat();
    assert_eq!(keys(&sandbox.htm(&session).await.json()["hits"]), ["b1"]);
    // A batch's queries each have their own phrase.
    let queries = sandbox.write(
        "queries.jsonl",
        "{\"id\": \"q1\", \"ns\": \"atlas\", \"text\": \"billing on 2 March 2026\"}\n\
         {\"id\": \"q2\", \"ns\": \"atlas\", \"text\": \"billing before 2026-03-01T23:00:00Z\"}\n",
    );
    let batch = ["recall", "--batch", &queries, "--timeframe", "auto", "--strategy", "fulltext"];
    let ids: Vec<Value> = sandbox
        .htm(&batch)
        .await
        .succeeds()
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["ids"].take())
        .collect();
    assert_eq!(ids, [json!(["c1"]), json!(["a1"])]);
}

#[tokio::test]
async fn the_configuration_says_when_a_day_and_a_week_begin() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    told(&sandbox).await;
    let first = ["timeline", "--json", "--namespace", "atlas", "--timeframe", "2026-03-01"];
    let count = |answer: Value| keys(&answer["groups"][0]["entries"]).len();
    assert_eq!(count(sandbox.htm(&first).await.json()), 3);
    let berlin = [&first[..], &["--set", "time.zone=Europe/Berlin"]].concat();
    assert_eq!(count(sandbox.htm(&berlin).await.json()), 2);
    let start = |week_start: &'static str| {
        let sandbox = &sandbox;
        async move {
            let set = format!("time.week_start={week_start}");
            let answer =
                sandbox.htm(&["timeline", "--json", "--timeframe", "this week", "--set", &set]).await.json();
            answer["timeframe"][0]["from"].as_str().unwrap()[..10].parse::<chrono::NaiveDate>().unwrap()
        }
    };
    use chrono::Datelike;
    assert_eq!(start("monday").await.weekday(), chrono::Weekday::Mon);
    assert_eq!(start("sunday").await.weekday(), chrono::Weekday::Sun);
    // The machine's own.
    let sandbox = sandbox.set("TZ", "America/New_York");
    let answer = sandbox.htm(&[&first[..], &["--set", "time.zone=system"]].concat()).await.json();
    assert_eq!(answer["timeframe"][0]["from"], "2026-03-01T05:00:00Z");
    let sandbox = sandbox.set("TZ", "Nope/X");
    let answer = sandbox.htm(&[&first[..], &["--set", "time.zone=system"]].concat()).await;
    let error = answer.json_error(2);
    assert_eq!(error["code"], "config_bad_value");
    let said = error["message"].as_str().unwrap();
    assert!(said.contains("the system's time zone cannot be read: TZ is `Nope/X`"), "{said}");
}

#[tokio::test]
async fn each_mistake_has_its_error() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    for (arguments, code) in [
        (&["timeline", "--timeframe", "some day"][..], "timeframe_invalid"),
        (&["timeline", "--timeframe", "2026-03-02..2026-03-01"], "timeframe_reversed"),
        (&["timeline", "--by", "week"], "grouping_unknown"),
        (&["timeline", "--limit", "0"], "limit_out_of_range"),
        (&["timeline", "--limit", "x"], "limit_out_of_range"),
        (&["timeline", "--namespace", ""], "namespace_invalid"),
        (&["timeline", "--strategy", "nearest", "x"], "strategy_unknown"),
        (&["timeline", " "], "content_empty"),
        (&["timeline", "--set", "time.zone=Berlin"], "config_bad_value"),
        (&["neighbours", "1"], "node_not_found"),
        (&["neighbours", "1", "--before", "1001"], "limit_out_of_range"),
        (&["recall", "--timeframe", "between Monday", "x"], "timeframe_invalid"),
    ] {
        sandbox.htm(arguments).await.fails(2, code);
        let with_json = [&["--json"], arguments].concat();
        assert_eq!(sandbox.htm(&with_json).await.json_error(2)["code"], code, "{arguments:?}");
    }
    let error = sandbox.htm(&["recall", "--timeframe", "last blue moon", "x"]).await;
    let said = error.fails(2, "timeframe_invalid");
    assert!(said.contains("`last blue moon` is not a timeframe: `blue` is not understood"), "{said}");
    assert!(said.contains("weekend before last"), "{said}");
}

#[tokio::test]
async fn what_a_question_names_and_is_not_there_is_told() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db).set("HTM_RECALL__STRATEGY", "fulltext");
    sandbox.remember(&["--tag", "database:postgresql", "the billing database"]).await;
    let filters = ["--robot", "typo", "--tag", "databse", "--tag", "database", "--timeframe", "auto"];
    for command in [&["recall", "billing"][..], &["timeline", "billing"]] {
        let said = sandbox.htm(&[command, &filters].concat()).await;
        let said = said.succeeds();
        for note in [
            "note: no time that has begun was recognised in the query; all times were searched",
            "note: namespace `default` has no robot `typo`; the nearest: htm",
            "note: no tag of namespace `default` is `databse`; the nearest: database",
        ] {
            assert!(said.contains(note), "{said}");
        }
        let json = sandbox.htm(&[command, &filters, &["--json"]].concat()).await.json();
        assert_eq!(json["notes"].as_array().unwrap().len(), 3, "{json}");
        let json =
            sandbox.htm(&[command, &["--tag", "database", "--robot", "htm", "--json"]].concat()).await.json();
        assert_eq!(json["notes"].as_array().unwrap().len(), 0, "{json}");
    }
}

#[tokio::test]
async fn wide_letters_take_two_columns() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let wide = sandbox.remember(&["--speaker", "山田太郎", "お茶"]).await;
    sandbox.remember(&["--speaker", "Mara", "Tea."]).await;
    for arguments in [&["timeline"][..], &["neighbours", &wide]] {
        let answer = sandbox.htm(arguments).await;
        let said = answer.succeeds();
        assert!(said.contains("  山田太郎  お茶  ") && said.contains("  Mara      Tea.  "), "{said}");
    }
}

#[tokio::test]
async fn people_read_times_in_their_zone_and_programs_in_utc() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db).set("HTM_TIME__ZONE", "Asia/Tokyo");
    let at = ["--at", "2020-11-26T20:00:00Z"];
    let turn = ["--session", "standup-12", "--seq", "3", "--speaker", "Mara", "--type", "decision"];
    let old = sandbox.remember(&[&at[..], &turn, &["Billing moves on Monday."]].concat()).await;
    let new = sandbox.remember(&[&at[..], &["Billing moves on Friday."]].concat()).await;
    sandbox.htm(&["relate", &new, "supersedes", &old]).await.succeeds();
    let got = sandbox.htm(&["get", &old]).await;
    let row = |name: &str, value: &str| format!("{name:10}  {value}\n");
    for said in [
        row("at", "2020-11-27T05:00:00+09:00"),
        row("session", "standup-12"),
        row("seq", "3"),
        row("speaker", "Mara"),
        row("type", "decision"),
        format!("by node {new}, 2020-11-27: "),
    ] {
        assert!(got.succeeds().contains(&said), "{said}: {got:?}");
    }
    assert_eq!(sandbox.htm(&["get", "--json", &old]).await.json()["created_at"], "2020-11-26T20:00:00Z");
    sandbox.htm(&["forget", &new, "--yes"]).await.succeeds();
    for (arguments, said) in [
        (&["robots", "list"][..], "2020-11-27T05:00:00+09:00"),
        (&["stats"], "from 2020-11-27T05:00:00+09:00 to"),
        (&["forget", &old, "--dry-run"], "2020-11-27T05:00:00+09:00"),
        (&["erase", &old, "--dry-run"], "2020-11-27T05:00:00+09:00"),
        (&["forgotten"], "+09:00"),
        (&["status", &old], "+09:00"),
    ] {
        let answer = sandbox.htm(arguments).await;
        assert!(answer.succeeds().contains(said), "{answer:?}");
    }
    for (arguments, said) in [
        (
            &["timeline", "--timeframe", "2026-03-02..2026-03-01"][..],
            "ends (2026-03-01T00:00:00+09:00) before it starts (2026-03-02T00:00:00+09:00)",
        ),
        (&["purge", "--before", "2099-01-01", "--dry-run"], "2099-01-01T00:00:00+09:00 is in the future"),
        (&["get", &old, "--as-of", "2099-01-01"], "as of 2099-01-01T00:00:00+09:00"),
    ] {
        let answer = sandbox.htm(arguments).await;
        assert!(answer.exits(2).stderr.contains(said), "{answer:?}");
    }
}
