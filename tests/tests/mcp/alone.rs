//! `htm mcp` and `htm up` with nothing configured: a PostgreSQL of their own, and workers that embed with the local model.

use std::path::Path;

use htm_tests::{Sandbox, fetched_sdk, wait_until};
use rmcp::ServiceExt;
use rmcp::model::CallToolRequestParams;
use serde_json::{Value, json};

use super::started;

/// A sandbox with the defaults, except for the places of what is installed.
fn with_defaults(data_dir: &Path) -> Option<Sandbox> {
    let model = htm_tests::local_model()?;
    let home = model.ancestors().nth(2).unwrap().display().to_string();
    let sandbox = Sandbox::on("")
        .set("HTM_HOME", &home)
        .set("HTM_DATA_DIR", &data_dir.display().to_string())
        .set("HTM_EMBEDDING__PROVIDER", "local")
        .set("HTM_TAG__PROVIDER", "local");
    Some(sandbox)
}

/// The arguments of `htm` in the first MCP configuration of a document.
fn configured(document: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(document);
    let text = std::fs::read_to_string(path).unwrap();
    let line = text.lines().find(|line| line.starts_with("{\"mcpServers\"")).expect("a configuration");
    let configuration: Value = serde_json::from_str(line).unwrap();
    let server = &configuration["mcpServers"]["htm"];
    assert_eq!(server["command"], "htm");
    serde_json::from_value(server["args"].clone()).unwrap()
}

#[tokio::test]
async fn it_remembers_and_recalls_by_meaning() {
    let dir = htm_tests::cluster_dir();
    let Some(sandbox) = with_defaults(dir.path()) else { return };
    let arguments = configured("README.md");
    assert_eq!(configured("docs/mcp.md"), arguments);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let command = sandbox.command_of("htm", &arguments);
    let client = ().serve(started(&sandbox, command)).await.expect("it answers");
    let call = async |tool: &'static str, arguments: Value| {
        let request =
            CallToolRequestParams::new(tool).with_arguments(arguments.as_object().cloned().unwrap());
        let result = client.call_tool(request).await.expect("an answer");
        assert_ne!(result.is_error, Some(true), "{result:?}");
        result.structured_content.expect("facts")
    };
    call("remember", json!({ "text": "We pin PostgreSQL 17.2 for the ledger." })).await;
    wait_until(async || {
        // None of its words is in the memory.
        let found = call("recall", json!({ "query": "which database do they run?" })).await;
        found["hits"][0]["matched_by"] == "vector"
    })
    .await;
    client.cancel().await.unwrap();
    // A client may kill its server before that has stopped PostgreSQL.
    sandbox.htm(&["db", "down", "--force"]).await.succeeds();
}

#[tokio::test]
async fn a_strangers_client_needs_only_the_address_of_up() {
    let Some(place) = fetched_sdk(env!("CARGO_TARGET_TMPDIR"), "python") else { return };
    let dir = htm_tests::cluster_dir();
    let Some(sandbox) = with_defaults(dir.path()) else { return };
    let mut up = sandbox.start("htm", &["--json", "up", "--listen", "127.0.0.1:0"]);
    let url = || {
        let log = up.log();
        let first = log.lines().find(|line| line.starts_with("{\"url\""))?;
        Some(serde_json::from_str::<Value>(first).unwrap()["url"].as_str().unwrap().to_owned())
    };
    wait_until(async || url().is_some()).await;
    let client = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/mcp/client.py");
    let (python, url) = (place.join("bin/python"), url().unwrap());
    let line = format!("'{}' '{}' auto {url}/mcp", python.display(), client.display());
    let seen = sandbox.suite(&line).await.json();
    assert!(seen["recalled"].as_str().unwrap().contains("The ledger runs on PostgreSQL 17.2."), "{seen}");
    up.signal(nix::sys::signal::Signal::SIGTERM);
    assert_eq!(up.end().await.code(), Some(0));
    sandbox.htm(&["db", "down", "--force"]).await.succeeds();
}
