//! Databases that the systems themselves wrote. Their packages are large.

use std::path::Path;

use htm_tests::{Sandbox, TestDatabase, fetched_sdk, wait_until};
use serde_json::{Value, json};

use super::{import_of, with_model};

/// A line that runs a script of `tests/data/import_from` with the packages of a kind. None without them.
fn script(kind: &str, name: &str) -> Option<String> {
    let place = fetched_sdk(env!("CARGO_TARGET_TMPDIR"), kind)?;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/import_from").join(name);
    let script = script.canonicalize().expect("the script");
    Some(format!("'{}/bin/python' -B -W ignore '{}'", place.display(), script.display()))
}

/// A database that a script wrote, and what the script said.
async fn written(kind: &str, name: &str, further: &str) -> Option<(TestDatabase, String)> {
    let line = script(kind, name)?;
    let foreign = TestDatabase::empty().await;
    let said = Sandbox::on("").suite(&format!("{line} '{}' {further}", foreign.url())).await;
    let said = said.succeeds().to_owned();
    Some((foreign, said))
}

#[tokio::test]
#[ignore = "a large package; `./justw test-frameworks`"]
async fn of_mem0() {
    let Some((mem0, said)) = written("source-mem0", "mem0_writes.py", "mem0").await else { return };
    let expected: Vec<Value> = serde_json::from_str(&said).unwrap();
    let import = import_of("mem0", &mem0).await;
    let htm = import.db.htm();
    let name = |provider, name| htm_core::provider::ModelName::new(provider, name);
    htm.models().unwrap().add(&name("fake", "small"), 8).await.unwrap();
    htm.models().unwrap().add(&name("openai", "text-embedding-3-small"), 16).await.unwrap();
    let report = import.report(&["--model", "openai/text-embedding-3-small"]).await;
    assert_eq!((&report["written"], &report["vectors"]["taken"]), (&json!(4), &json!(4)), "{report}");
    for theirs in &expected {
        let user = theirs["user_id"].as_str().unwrap().replace('/', "%2F");
        let key = format!("mem0:{}", theirs["id"].as_str().unwrap());
        let memory = import.memory(&format!("mem0/{user}"), &key).await;
        assert_eq!(memory["content"], theirs["memory"]);
        assert_eq!(memory["session"], theirs.get("run_id").cloned().unwrap_or_default());
        let time = |value: &Value| value.as_str().unwrap().parse::<chrono::DateTime<chrono::Utc>>().unwrap();
        assert_eq!(time(&memory["created_at"]), time(&theirs["created_at"]));
        assert_eq!(time(&memory["updated_at"]), time(&theirs["updated_at"]));
    }
    assert_eq!(import.report(&["--model", "openai/text-embedding-3-small"]).await["existing"], 4);
}

#[tokio::test]
#[ignore = "a large package; `./justw test-frameworks`"]
async fn of_langgraph() {
    let kind = "framework-langgraph";
    let Some((langgraph, said)) = written(kind, "langgraph_writes.py", "").await else { return };
    let items: Vec<Value> = serde_json::from_str(&said).unwrap();
    let import = import_of("langgraph", &langgraph).await;
    let up = import.sandbox.start("htm", &["--json", "up", "--listen", "127.0.0.1:0"]);
    let url = || {
        let told = |line: &str| serde_json::from_str::<Value>(line).ok()?["url"].as_str().map(str::to_owned);
        up.log().lines().find_map(told)
    };
    wait_until(async || url().is_some()).await;
    let has_model = async || import.db.count("select count(*) from htm.embedding_models").await > 0;
    wait_until(has_model).await;
    // One item has three texts.
    let report = import.report(&[]).await;
    assert_eq!(report["written"], json!(items.len() + 2), "{report}");
    let client = Path::new(env!("CARGO_MANIFEST_DIR")).join("../clients/python").canonicalize().unwrap();
    let line = script(kind, "langgraph_compares.py").expect("it was there");
    let url = url().expect("it is told");
    let line = format!("PYTHONPATH='{}' {line} {url} '{}'", client.display(), langgraph.url());
    assert_eq!(import.sandbox.suite(&line).await.succeeds().trim(), items.len().to_string());
}

#[tokio::test]
#[ignore = "a large package; `./justw test-frameworks`"]
async fn of_letta() {
    let Some((letta, _)) = written("source-letta", "letta_writes.py", "").await else { return };
    let import = import_of("letta", &letta).await;
    with_model(&import, "openai", "another").await;
    let small = htm_core::provider::ModelName::new("openai", "text-embedding-3-small");
    import.db.htm().models().unwrap().add(&small, 16).await.unwrap();
    let report = import.report(&[]).await;
    assert_eq!(report["read"], json!({"block": 4, "message": 9, "passage": 4}));
    // Two blocks, three passages, two of them with vectors, and two messages of each conversation.
    assert_eq!((&report["written"], &report["vectors"]["taken"]), (&json!(9), &json!(2)), "{report}");
    let block = import.memory("letta/org-1", "letta:block-1").await;
    assert_eq!((&block["content"], &block["revision"]), (&json!("Mara prefers tabs."), &json!(2)));
    let said = import.memory("letta/org-1", "letta:message-3").await;
    assert_eq!((&said["content"], &said["session"]), (&json!("Staging is on port 5433."), &json!("agent-1")));
    assert_eq!(import.report(&[]).await["existing"], 9);
}
