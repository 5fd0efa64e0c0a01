//! ChatGPT: the archive as it is downloaded, the folder, the file.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::Import;

fn message(id: &str, role: &str, content: Value) -> Value {
    json!({"id": id, "author": {"role": role}, "create_time": 1_748_772_000.25, "recipient": "all",
           "content": content, "metadata": {"model_slug": "gpt-4o"}})
}

fn text(text: &str) -> Value {
    json!({"content_type": "text", "parts": [text]})
}

/// A conversation of `nodes`, each below the one before it.
fn conversation(id: &str, nodes: Vec<Value>) -> Value {
    let last = nodes.last().map(|it| it["id"].clone());
    let mut parent = Value::Null;
    let mut mapping = serde_json::Map::new();
    for message in nodes {
        let id = message["id"].as_str().unwrap().to_owned();
        mapping.insert(id.clone(), json!({"id": id, "parent": parent, "message": message}));
        parent = json!(id);
    }
    json!({"conversation_id": id, "title": "Staging", "create_time": 1_748_771_000.0, "current_node": last,
           "mapping": mapping})
}

/// Two conversations: one with a system message, an edited question, a tool, a picture and an empty answer.
fn export() -> Value {
    let mut first = conversation(
        "c1",
        vec![
            message("s", "system", text("")),
            message("q", "user", text("Which port is staging on?")),
            message("t", "tool", json!({"content_type": "execution_output", "text": "5433"})),
            message("a", "assistant", text("Staging is on port 5433.")),
            message(
                "p",
                "user",
                json!({"content_type": "multimodal_text", "parts": [{"content_type": "image_asset_pointer"}, "And this?"]}),
            ),
            message("e", "assistant", text("")),
        ],
    );
    first["mapping"]["q0"] = json!({"parent": "s", "message": message("q0", "user", text("Which port?"))});
    let second = conversation("c2", vec![message("q2", "user", text("Mara prefers tabs."))]);
    json!([first, second])
}

fn written(dir: &TempDir, name: &str, export: &Value) -> PathBuf {
    let path = dir.path().join(name);
    fs::write(&path, export.to_string()).unwrap();
    path
}

#[tokio::test]
async fn the_conversations_come_once() {
    let dir = TempDir::new().unwrap();
    let import = Import::of("chatgpt", &written(&dir, "conversations.json", &export())).await;
    import.twice(4).await;
    let memory = import.memory("chatgpt", "chatgpt:c1/a").await;
    let expected = json!({
        "content": "Staging is on port 5433.", "robot": "chatgpt", "speaker": "assistant", "session": "c1", "seq": 4,
        "type": "message", "source": "https://chatgpt.com/c/c1", "created_at": "2025-06-01T10:00:00.250Z",
        "metadata": {"title": "Staging", "model": "gpt-4o"},
    });
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(&memory[name], value, "{name}");
    }
}

#[tokio::test]
async fn people_read_what_comes_and_what_does_not() {
    let dir = TempDir::new().unwrap();
    let import = Import::of("chatgpt", &written(&dir, "conversations.json", &export())).await;
    insta::assert_snapshot!("dry_run", import.said(&["--dry-run"]).await);
    insta::assert_snapshot!("import", import.said(&["--namespace", "old/chats"]).await);
    import.memory("old/chats", "chatgpt:c1/a").await;
}

#[tokio::test]
async fn the_archive_and_its_folder_are_read_too() {
    let dir = TempDir::new().unwrap();
    written(&dir, "conversations-000.json", &json!([export()[0]]));
    written(&dir, "conversations-001.json", &json!([export()[1]]));
    written(&dir, "user.json", &json!({"id": "user-1"}));
    let folder = Import::of("chatgpt", dir.path()).await;
    assert_eq!(folder.report(&["--dry-run"]).await["memories"], 4);
    let archive = dir.path().join("export.zip");
    let zip = format!("cd {} && python3 -m zipfile -c export.zip *.json", dir.path().display());
    folder.sandbox.shell(&zip).await.succeeds();
    let archive = Import::of("chatgpt", &archive).await;
    archive.twice(4).await;
    // An archive of something else, and one that is cut.
    let zip = format!(
        "cd {} && python3 -m zipfile -c other.zip user.json && head -c 300 export.zip > cut.zip",
        dir.path().display()
    );
    folder.sandbox.shell(&zip).await.succeeds();
    for (name, code) in [("other.zip", "source_unrecognised"), ("cut.zip", "source_damaged")] {
        let import = Import::of("chatgpt", &dir.path().join(name)).await;
        let answer = import.run(&["--dry-run"]).await;
        assert!(answer.fails(2, code).contains(name));
    }
}

#[tokio::test]
async fn what_was_read_of_a_cut_file_is_written_and_the_rest_follows() {
    let dir = TempDir::new().unwrap();
    let whole = export().to_string();
    let path = written(&dir, "conversations.json", &export());
    fs::write(&path, &whole[..whole.len() - 10]).unwrap();
    let import = Import::of("chatgpt", &path).await;
    let answer = import.run(&[]).await;
    let said = &answer.exits(2).stderr;
    assert!(said.contains("error[source_damaged]") && said.contains("conversations.json"), "{said}");
    assert!(answer.stdout.contains("3 written"), "{}", answer.stdout);
    fs::write(&path, whole).unwrap();
    let report = import.report(&[]).await;
    assert_eq!((&report["written"], &report["existing"]), (&json!(1), &json!(3)));
}

#[tokio::test]
async fn an_import_that_was_killed_is_resumed() {
    let dir = TempDir::new().unwrap();
    let messages = |from: usize| {
        (from..from + 100).map(|n| message(&format!("m{n}"), "user", text(&format!("Number {n}")))).collect()
    };
    let list: Vec<Value> = (0..30).map(|n| conversation(&format!("c{n}"), messages(n * 100))).collect();
    Import::of("chatgpt", &written(&dir, "conversations.json", &json!(list))).await.resumes(3_000).await;
}

#[tokio::test]
async fn a_memory_that_was_changed_here_stays() {
    let dir = TempDir::new().unwrap();
    let import = Import::of("chatgpt", &written(&dir, "conversations.json", &export())).await;
    import.report(&[]).await;
    let edit = [
        "edit",
        "--key",
        "chatgpt:c1/a",
        "--namespace",
        "chatgpt",
        "--any-robot",
        "Staging is on port 5434.",
    ];
    import.sandbox.htm(&edit).await.succeeds();
    let report = import.report(&[]).await;
    assert_eq!((&report["existing"], &report["changed_count"]), (&json!(3), &json!(1)), "{report}");
    assert_eq!(report["changed"], json!(["chatgpt:c1/a"]));
    assert_eq!(import.memory("chatgpt", "chatgpt:c1/a").await["content"], "Staging is on port 5434.");
}

#[tokio::test]
async fn what_htm_cannot_hold_is_named_and_the_rest_comes() {
    let dir = TempDir::new().unwrap();
    let long = "long ".repeat(300_000);
    let export = json!([conversation(
        "c",
        vec![message("a", "user", text(&long)), message("b", "user", text("short"))]
    )]);
    let import = Import::of("chatgpt", &written(&dir, "conversations.json", &export)).await;
    for options in [&["--dry-run", "--json"][..], &["--json"]] {
        let answer = import.run(options).await;
        let report: Value = serde_json::from_str(&answer.exits(2).stdout).unwrap();
        assert_eq!((&report["memories"], &report["refused_count"]), (&json!(1), &json!(1)));
        assert_eq!(
            (&report["refused"][0]["memory"], &report["refused"][0]["code"]),
            (&json!("c/a"), &json!("content_too_large"))
        );
    }
    assert_eq!(import.memories().await, 1);
}
