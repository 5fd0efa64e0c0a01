//! `htm robots` and `htm stats`.

use htm_core::{JoinOptions, Stage};
use htm_tests::{Sandbox, TestDatabase, drain};
use serde_json::json;

use super::filtered;

async fn filled(db: &TestDatabase) -> Sandbox {
    let sandbox = Sandbox::new(db).set("HTM_TOKENS__ENCODING", "o200k_base");
    for (robot, text) in [
        ("ada", "The ledger is in PostgreSQL."),
        ("ada", "Backups run at two."),
        ("bob", "Mara prefers tabs."),
    ] {
        sandbox.remember(&["--robot", robot, "--tag", "notes:daily", text]).await;
    }
    sandbox
}

#[tokio::test]
async fn robots_are_listed_shown_added_renamed_and_merged() {
    let db = TestDatabase::new().await;
    let sandbox = filled(&db).await;
    insta::assert_snapshot!("list", filtered(sandbox.htm(&["robots", "list"]).await.succeeds()));
    let shown = sandbox.htm(&["robots", "show", "ada"]).await;
    let said = shown.succeeds();
    assert!(said.contains("ada") && said.contains("nodes           2 of"), "{said}");
    let added = sandbox.htm(&["robots", "add", "cyd", "--metadata", "{\"a\":1}", "--json"]).await.json();
    assert_eq!((&added["name"], &added["metadata"]), (&json!("cyd"), &json!({"a": 1})));
    let generated = sandbox.htm(&["robots", "add", "--namespace", "atlas", "--json"]).await.json();
    assert_eq!(generated["name"].as_str().unwrap().split('-').count(), 3);
    let renamed = sandbox.htm(&["robots", "rename", "bob", "robert"]).await;
    assert_eq!(renamed.succeeds(), "bob is now called robert\n");
    let dry = sandbox.htm(&["robots", "merge", "robert", "cyd", "ada", "--dry-run"]).await;
    assert_eq!(
        dry.succeeds(),
        "cyd, robert would be deleted; ada would get 1 node, 0 records of repeats, 1 node in working memory; 0 memberships in groups would end; nothing was written\n"
    );
    let would = sandbox.htm(&["robots", "merge", "robert", "cyd", "ada", "--dry-run", "--json"]).await.json();
    let merged = sandbox.htm(&["robots", "merge", "robert", "cyd", "ada", "--yes", "--json"]).await.json();
    assert_eq!(would, merged);
    let listed = sandbox.htm(&["robots", "list", "--all", "--json"]).await.json();
    let names: Vec<_> = listed.as_array().unwrap().iter().map(|it| it["name"].clone()).collect();
    assert_eq!(names, [generated["name"].clone(), json!("ada")]);
    assert_eq!(listed[1]["nodes"], 3);
}

#[tokio::test]
async fn what_cannot_be_done_to_a_robot_is_refused() {
    let db = TestDatabase::new().await;
    let sandbox = filled(&db).await;
    for (arguments, code) in [
        (&["show", "nobody"][..], "robot_unknown"),
        (&["show", "ada", "--namespace", "atlas"], "robot_unknown"),
        (&["list", "--namespace", ""], "namespace_invalid"),
        (&["add", "ada"], "robot_taken"),
        (&["add", ""], "robot_invalid"),
        (&["add", "cyd", "--metadata", "[1]"], "metadata_not_object"),
        (&["add", "cyd", "--metadata", "{"], "usage"),
        (&["describe", "ada", "[]"], "metadata_not_object"),
        (&["describe", "nobody", "{}"], "robot_unknown"),
        (&["rename", "ada", "bob"], "robot_taken"),
        (&["rename", "nobody", "x"], "robot_unknown"),
        (&["merge", "bob", "ada"], "not_confirmed"),
        (&["merge", "ada", "ada", "--yes"], "merge_into_itself"),
        (&["merge", "nobody", "ada", "--yes"], "robot_unknown"),
    ] {
        let arguments = [&["robots"], arguments].concat();
        sandbox.htm(&arguments).await.fails(2, code);
        let error = sandbox.htm(&[&["--json"], &arguments[..]].concat()).await.json_error(2);
        assert_eq!(error["code"], code);
    }
    for arguments in [
        &["robots", "merge", "ada", "--yes"][..],
        &["stats", "--top", "0"],
        &["stats", "--all", "--namespace", "a"],
    ] {
        assert_eq!(sandbox.htm(&[&["--json"], arguments].concat()).await.json_error(2)["code"], "usage");
    }
    assert_eq!(db.count("select count(*) from htm.robots").await, 2);
}

/// Sizes differ from one PostgreSQL to the next.
fn without_sizes(text: &str) -> String {
    let text = filtered(text);
    text.split("\nOn disk").next().unwrap_or_default().to_owned()
}

#[tokio::test]
async fn stats_for_people_and_for_programs() {
    let db = TestDatabase::new().await;
    let sandbox = filled(&db).await;
    drain(&db, Stage::Embed).await;
    let shown = sandbox.htm(&["stats"]).await;
    let said = shown.succeeds();
    assert!(said.contains("\nOn disk: ") && said.contains("htm.nodes"), "{said}");
    assert_stats("stats", said);
    let _crew = db.htm().group("crew").join("ada", JoinOptions::default()).await.unwrap();
    sandbox.remember(&["--namespace", "atlas", "--robot", "ada", "elsewhere"]).await;
    assert_stats("stats_all", sandbox.htm(&["stats", "--all", "--top", "2"]).await.succeeds());
    let json = sandbox.htm(&["stats", "--json", "--namespace", "atlas"]).await.json();
    assert_eq!((&json["namespace"], &json["totals"]["nodes"]), (&json!("atlas"), &json!(1)));
    assert_eq!(json["enrichment"][1]["stage"], "tag");
    assert!(json["storage"]["database_bytes"].as_i64().unwrap() > 0);
    let described = sandbox.htm(&["robots", "describe", "ada", r#"{"model": "m"}"#]).await;
    assert_eq!(described.succeeds(), "ada: {\"model\":\"m\"}\n");
    sandbox.htm(&["stats", "--namespace", ""]).await.fails(2, "namespace_invalid");
}

fn assert_stats(name: &str, said: &str) {
    insta::assert_snapshot!(name, without_sizes(said));
}
