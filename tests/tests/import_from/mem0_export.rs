//! mem0: the answers of its REST API.

use std::fs;
use std::path::PathBuf;

use htm_core::{Caller, Confirmation, Edit, Memory, NodeId};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::Import;

fn memory(id: &str, text: &str) -> Value {
    json!({"id": id, "memory": text, "hash": "0", "metadata": {"ticket": 7}, "user_id": "mara/1", "agent_id": "planner",
           "run_id": "r1", "role": "user", "created_at": "2025-06-01T03:00:00-07:00",
           "updated_at": "2025-06-02T03:00:00-07:00", "categories": ["User Preferences", "C++"]})
}

fn written(dir: &TempDir, export: &Value) -> PathBuf {
    let path = dir.path().join("memories.json");
    fs::write(&path, export.to_string()).unwrap();
    path
}

#[tokio::test]
async fn users_agents_runs_and_former_texts_come_once() {
    let dir = TempDir::new().unwrap();
    let mut changed = memory("m1", "Mara prefers spaces.");
    changed["history"] = json!([
        {"old_memory": null, "new_memory": "Mara prefers tabs.", "event": "ADD", "created_at": "2025-06-01T03:00:00-07:00"},
        {"old_memory": "Mara prefers tabs.", "new_memory": "Mara prefers spaces.", "event": "UPDATE",
         "created_at": "2025-06-01T03:00:00-07:00", "updated_at": "2025-06-02T03:00:00-07:00"},
    ]);
    let without = json!({"id": "m3", "memory": "Nobody's."});
    let export = json!({"results": [changed, memory("m2", "The ledger needs 40 GB."), {"id": "m4", "memory": ""}, without]});
    let import = Import::of("mem0", &written(&dir, &export)).await;
    let report = import.twice(3).await;
    assert_eq!(report["namespaces"], json!({"mem0": 1, "mem0/mara%2F1": 2}));
    assert_eq!(report["former_texts"], 1);
    let changed = import.memory("mem0/mara%2F1", "mem0:m1").await;
    let expected = json!({
        "content": "Mara prefers spaces.", "robot": "planner", "speaker": "user", "session": "r1", "revision": 2,
        "created_at": "2025-06-01T10:00:00Z", "updated_at": "2025-06-02T10:00:00Z", "tags": ["user-preference"],
        "metadata": {"ticket": 7, "other_tags": ["C++"]},
    });
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(&changed[name], value, "{name}");
    }
    assert_eq!(changed["revisions"][0]["content"], "Mara prefers tabs.");
    let plain = import.memory("mem0/mara%2F1", "mem0:m2").await;
    assert_eq!(
        (&plain["robot"], &plain["revision"], &plain["tags"]),
        (&json!("planner"), &json!(1), &json!(["user-preference"]))
    );
    assert_eq!(
        (&plain["created_at"], &plain["updated_at"]),
        (&json!("2025-06-01T10:00:00Z"), &json!("2025-06-02T10:00:00Z"))
    );
    insta::assert_snapshot!("dry_run", import.said(&["--dry-run"]).await);
}

/// A memory with the texts that it has had, the last of which it has now.
fn with_history(id: &str, texts: &[&str]) -> Value {
    let change = |(place, text): (usize, &&str)| {
        let at = format!("2025-06-0{}T03:00:00-07:00", place + 1);
        json!({"new_memory": text, "event": "UPDATE", "created_at": at, "updated_at": at})
    };
    let mut changed = memory(id, texts.last().unwrap());
    changed["history"] = texts.iter().enumerate().map(change).collect();
    changed
}

#[tokio::test]
async fn a_memory_that_changed_there_counts_once_and_stays() {
    let dir = TempDir::new().unwrap();
    let tabs = ["Mara prefers tabs.", "Mara is undecided."];
    let before = json!([with_history("m1", &tabs), memory("m2", "The ledger needs 40 GB.")]);
    let import = Import::of("mem0", &written(&dir, &before)).await;
    assert_eq!(import.report(&[]).await["written"], 2);
    // One with former texts, and one that had none when it came.
    let changed = with_history("m1", &[&tabs[..], &["Mara prefers spaces."]].concat());
    let rewritten = with_history("m2", &["The ledger needs 40 GB.", "It needs 50 GB.", "It needs 60 GB."]);
    written(&dir, &json!([changed, rewritten, memory("m3", "A new one.")]));
    let report = import.report(&[]).await;
    let counts = ["written", "existing", "changed_count", "refused_count", "former_texts"];
    assert_eq!(counts.map(|name| report[name].as_u64().unwrap()), [1, 0, 2, 0, 0], "{report}");
    assert_eq!(report["changed"], json!(["mem0:m1", "mem0:m2"]));
    assert_eq!(import.memory("mem0/mara%2F1", "mem0:m1").await["content"], "Mara is undecided.");
    assert_eq!(import.memory("mem0/mara%2F1", "mem0:m2").await["content"], "The ledger needs 40 GB.");
}

#[tokio::test]
async fn a_repeat_leaves_what_was_forgotten_here() {
    let dir = TempDir::new().unwrap();
    let export = json!([
        memory("m1", "Mara prefers tabs."),
        memory("m2", "The ledger needs 40 GB."),
        memory("m3", "x")
    ]);
    let import = Import::of("mem0", &written(&dir, &export)).await;
    assert_eq!(import.report(&[]).await["written"], 3);
    let htm = import.db.htm();
    let first = NodeId(import.db.count("select id from htm.nodes where key = 'mem0:m1'").await);
    let edited = NodeId(import.db.count("select id from htm.nodes where key = 'mem0:m2'").await);
    htm.edit(edited, &Edit::new().content("It needs 50 GB.").caller(Caller::AnyRobot)).await.unwrap();
    for node in [first, edited] {
        htm.forget(node, &Caller::AnyRobot, Confirmation::Confirmed).await.unwrap();
    }
    let report = import.report(&[]).await;
    assert_eq!((&report["written"], &report["existing"]), (&json!(0), &json!(3)), "{report}");
    assert_eq!(import.db.count("select count(*) from htm.nodes where deleted_at is null").await, 1);
}

#[tokio::test]
async fn what_was_forgotten_here_stays_whatever_it_became_there() {
    let dir = TempDir::new().unwrap();
    let texts = ["Mara prefers tabs.", "Mara is undecided."];
    let before = json!([
        memory("m1", texts[0]),
        memory("m2", "40 GB."),
        with_history("m3", &texts),
        memory("m4", "x")
    ]);
    let import = Import::of("mem0", &written(&dir, &before)).await;
    assert_eq!(import.report(&[]).await["written"], 4);
    let htm = import.db.htm();
    for key in ["mem0:m1", "mem0:m2", "mem0:m3"] {
        let node = htm.get_by_key(Some("mem0/mara%2F1"), key).await.unwrap().unwrap().id;
        htm.forget(node, &Caller::AnyRobot, Confirmation::Confirmed).await.unwrap();
    }
    // One has former texts now, one another text, and one more former texts.
    let longer = with_history("m3", &[&texts[..], &["Mara prefers spaces."]].concat());
    let after = json!([with_history("m1", &texts), memory("m2", "50 GB."), longer, memory("m4", "x")]);
    written(&dir, &after);
    let report = import.report(&[]).await;
    let counts = ["written", "existing", "changed_count", "refused_count", "former_texts"];
    assert_eq!(counts.map(|name| report[name].as_u64().unwrap()), [0, 4, 0, 0, 0], "{report}");
    assert_eq!(import.memories().await, 4);
    // Who has the key now is known by it.
    let again =
        htm.remember(Memory::new("60 GB.").namespace("mem0/mara%2F1").key("mem0:m2")).await.unwrap().node;
    let report = import.report(&[]).await;
    assert_eq!((&report["existing"], &report["changed"]), (&json!(3), &json!(["mem0:m2"])), "{report}");
    assert_eq!(htm.get(again).await.unwrap().content, "60 GB.");
}

#[tokio::test]
async fn other_json_is_not_taken_for_memories() {
    let dir = TempDir::new().unwrap();
    for (export, what) in [
        (json!({"message": "unauthorized"}), "nor an object with a list `results` or `memories`"),
        (json!([{"text": "x"}]), "the first memory has no text `memory`, but the fields text"),
    ] {
        let import = Import::of("mem0", &written(&dir, &export)).await;
        let answer = import.run(&[]).await;
        let said = answer.fails(2, "source_unrecognised");
        assert!(said.contains(what), "{said}");
    }
}

#[tokio::test]
async fn an_import_that_was_killed_is_resumed() {
    let dir = TempDir::new().unwrap();
    let list: Vec<Value> = (0..3_000).map(|n| memory(&format!("m{n}"), &format!("Number {n}"))).collect();
    Import::of("mem0", &written(&dir, &json!(list))).await.resumes(3_000).await;
}
