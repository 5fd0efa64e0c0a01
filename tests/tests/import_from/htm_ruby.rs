//! The database of HTM in Ruby.

use serde_json::json;

use super::{foreign, import_of, vectors, with_model};

const LATEST: &str = include_str!("fixtures/htm_ruby.sql");
const FIRST: &str = include_str!("fixtures/htm_ruby_first.sql");

#[tokio::test]
async fn nodes_robots_tags_and_repeats_come_once() {
    let ruby = foreign(LATEST).await;
    let import = import_of("htm-ruby", &ruby).await;
    let dry = import.said(&["--dry-run"]).await;
    let report = import.report(&[]).await;
    assert_eq!((&report["written"], &report["left"][0]["why"]), (&json!(2), &json!("deleted")), "{report}");
    let again = import.report(&[]).await;
    assert_eq!((&again["written"], &again["existing"]), (&json!(0), &json!(2)), "{again}");
    let node = import.memory("htm-ruby", "htm-ruby:1").await;
    for (name, value) in [
        ("content", json!("Mara prefers tabs.")),
        ("robot", json!("ada")),
        ("importance", json!(8.0)),
        ("tags", json!(["style", "style:editor"])),
        (
            "metadata",
            json!({"importance": 8, "relations": [{"to": "htm-ruby:2", "type": "supports", "weight": 0.5}]}),
        ),
    ] {
        assert_eq!(node[name], value, "{name}");
    }
    let node = import.memory("htm-ruby", "htm-ruby:2").await;
    assert_eq!(
        (&node["source"], &node["robot"], &node["tags"]),
        (&json!("/notes/ledger.md"), &json!("bob"), &json!([]))
    );
    // Ada remembered it twice more, and Bob once.
    assert_eq!(import.db.count("select sum(count)::bigint from htm.repeats").await, 3);
    insta::assert_snapshot!("dry_run", dry);
}

#[tokio::test]
async fn memories_that_contradict_each_other_are_related() {
    let ruby = foreign(LATEST).await;
    let import = import_of("htm-ruby", &ruby).await;
    let report = import.report(&[]).await;
    assert_eq!((&report["relations"], &report["other_relations"]), (&json!(1), &json!(1)), "{report}");
    let first = import.memory("htm-ruby", "htm-ruby:1").await["id"].clone();
    let second = import.memory("htm-ruby", "htm-ruby:2").await["id"].to_string();
    let arguments = ["related", &second, "--kind", "contradicts", "--json"];
    let related = import.sandbox.htm(&arguments).await.json();
    assert_eq!(related["related"][0]["node"], first, "{related}");
    let again = import.report(&[]).await;
    assert_eq!((&again["relations"], &again["existing"]), (&json!(0), &json!(2)), "{again}");
    // One that another one refers to, and that does not come again, breaks nothing.
    sqlx::query("update nodes set content = 'Mara prefers spaces.' where id = 1")
        .execute(&ruby.pool)
        .await
        .unwrap();
    let changed = import.report(&[]).await;
    assert_eq!((&changed["changed_count"], &changed["refused_count"]), (&json!(1), &json!(0)), "{changed}");
}

#[tokio::test]
async fn vectors_of_a_model_that_the_user_names_are_taken_without_their_padding() {
    let ruby = foreign(LATEST).await;
    let import = import_of("htm-ruby", &ruby).await;
    let model = with_model(&import, "ollama", "nomic-embed-text").await;
    let report = import.report(&["--model", "ollama/nomic-embed-text"]).await;
    assert_eq!((&report["written"], &report["vectors"]["taken"]), (&json!(2), &json!(2)), "{report}");
    let expected = ["Mara prefers tabs. [2,3,4,0.5]", "The ledger closes at six. [3,4,5,0.5]"];
    assert_eq!(vectors(&import, model).await, expected);
    let other = import.run(&["--model", "fake/small"]).await;
    assert!(other.fails(2, "source_model_unfit").contains("have 4 numbers"), "{other:?}");
}

#[tokio::test]
async fn a_database_of_the_first_release_is_read() {
    let ruby = foreign(FIRST).await;
    let import = import_of("htm-ruby", &ruby).await;
    import.twice(2).await;
    let node = import.memory("htm-ruby", "htm-ruby:1").await;
    assert_eq!(
        (&node["robot"], &node["source"], &node["tags"]),
        (&json!("ada"), &json!("user"), &json!(["style:editor"]))
    );
    let node = import.memory("htm-ruby", "htm-ruby:2").await;
    assert_eq!((&node["robot"], &node["created_at"]), (&json!("robot-2"), &json!("2025-11-01T13:00:00Z")));
}
