//! Claude: `conversations.json` of its export.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::Import;

fn message(id: &str, sender: &str, text: &str) -> Value {
    json!({"uuid": id, "sender": sender, "text": text, "content": [{"type": "text", "text": text}],
           "created_at": "2025-06-01T10:00:01.500000Z", "attachments": [], "files": []})
}

fn export(messages: Vec<Value>) -> Value {
    json!([{"uuid": "c1", "name": "Staging", "created_at": "2025-06-01T10:00:00Z", "chat_messages": messages}])
}

fn written(dir: &TempDir, export: &Value) -> PathBuf {
    let path = dir.path().join("conversations.json");
    fs::write(&path, export.to_string()).unwrap();
    path
}

#[tokio::test]
async fn the_conversations_come_once() {
    let dir = TempDir::new().unwrap();
    let mut question = message("m1", "human", "Which port is staging on?");
    question["attachments"] = json!([{"file_name": "ports.csv"}]);
    let mut tool = message("m2", "assistant", "");
    tool["content"] = json!([{"type": "tool_use", "name": "ports"}]);
    let answer = message("m3", "assistant", "Staging is on port 5433.");
    written(&dir, &export(vec![question, tool, answer]));
    let memories = json!([{"conversations_memory": "Mara prefers tabs.", "account_uuid": "u1"}]);
    fs::write(dir.path().join("memories.json"), memories.to_string()).unwrap();
    let import = Import::of("claude", dir.path()).await;
    let report = import.twice(3).await;
    assert_eq!(report["left_count"], 2);
    let profile = import.memory("claude", "claude:memory/u1").await;
    assert_eq!((&profile["type"], &profile["content"]), (&json!("profile"), &json!("Mara prefers tabs.")));
    let memory = import.memory("claude", "claude:c1/m3").await;
    let expected = json!({
        "content": "Staging is on port 5433.", "robot": "claude", "speaker": "assistant", "session": "c1", "seq": 2,
        "type": "message", "source": "https://claude.ai/chat/c1", "created_at": "2025-06-01T10:00:01.500Z",
        "metadata": {"title": "Staging"},
    });
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(&memory[name], value, "{name}");
    }
    insta::assert_snapshot!("dry_run", import.said(&["--dry-run"]).await);
}

#[tokio::test]
async fn the_export_of_chatgpt_is_not_taken_for_one_of_claude() {
    let dir = TempDir::new().unwrap();
    let import = Import::of("claude", &written(&dir, &json!([{"id": "c", "mapping": {}}]))).await;
    let answer = import.run(&[]).await;
    let said = answer.fails(2, "source_unrecognised");
    assert!(said.contains("has no list `chat_messages`, but the fields id, mapping"), "{said}");
}

#[tokio::test]
async fn an_import_that_was_killed_is_resumed() {
    let dir = TempDir::new().unwrap();
    let messages = (0..3_000).map(|n| message(&format!("m{n}"), "human", &format!("Number {n}"))).collect();
    Import::of("claude", &written(&dir, &export(messages))).await.resumes(3_000).await;
}
