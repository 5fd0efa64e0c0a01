//! The clients of the official SDKs, of both generations, over stdio and HTTP, and the inspector. `scripts/sdk_clients.py`
//! fetches them; without its registry a test is skipped.

use std::path::{Path, PathBuf};

use htm_tests::{Running, Sandbox, TestDatabase, fetched_sdk, free_port, wait_until};
use serde_json::{Value, json};

fn program(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data/mcp").join(name)
}

const TOOLS: [&str; 9] =
    ["remember", "recall", "context", "forget", "restore", "timeline", "tags", "stats", "feedback"];

/// The modes of a client of both generations, with the versions that it agrees upon.
const BOTH: [(&str, &str); 2] = [("legacy", "2025-11-25"), ("auto", "2026-07-28")];

/// A server of HTTP, and its URL for MCP.
async fn serving(sandbox: &Sandbox) -> (Running, String) {
    let address = format!("127.0.0.1:{}", free_port());
    let server = sandbox.start("htm", &["serve", "--listen", &address]);
    wait_until(async || tokio::net::TcpStream::connect(&address).await.is_ok()).await;
    (server, format!("http://{address}/mcp"))
}

/// Runs a client in each of its modes and over each transport, and checks what it saw.
async fn check(interpreter: &str, client: &Path, modes: &[(&str, &str)]) {
    for (mode, version) in modes {
        for is_http in [false, true] {
            let db = TestDatabase::new().await;
            let sandbox = Sandbox::new(&db);
            let mut running = None;
            let server = match is_http {
                true => {
                    let (server, url) = serving(&sandbox).await;
                    running = Some(server);
                    url
                }
                false => "htm mcp --no-workers".to_owned(),
            };
            let line = format!("'{interpreter}' '{}' '{mode}' {server}", client.display());
            let seen: Value = sandbox.shell(&line).await.json();
            assert_eq!(seen["version"], *version, "{seen}");
            assert_eq!(seen["tools"], json!(TOOLS), "{seen}");
            let id = seen["remembered"]["node"].as_i64().unwrap();
            let said = |name: &str| seen[name].as_str().unwrap().to_owned();
            for text in [said("recalled"), said("prompt")] {
                assert!(text.contains(&format!("\n[{id}] ")), "{seen}");
                assert!(text.contains("\"The ledger runs on PostgreSQL 17.2.\""), "{seen}");
            }
            assert_eq!(seen["refused"][0], true, "{seen}");
            assert!(seen["refused"][1].as_str().unwrap().starts_with("error[argument_unknown]: "), "{seen}");
            assert_eq!(seen["resource"][0]["id"], id, "{seen}");
            drop(running);
        }
    }
}

#[tokio::test]
#[ignore = "packages of another language; `./justw test-frameworks`"]
async fn of_python_in_both_generations_of_the_protocol() {
    let Some(place) = fetched_sdk(env!("CARGO_TARGET_TMPDIR"), "python") else { return };
    let python = place.join("bin/python");
    check(&python.display().to_string(), &program("client.py"), &BOTH).await;
}

#[tokio::test]
#[ignore = "packages of another language; `./justw test-frameworks`"]
async fn of_python_before() {
    let Some(place) = fetched_sdk(env!("CARGO_TARGET_TMPDIR"), "python-1") else { return };
    let python = place.join("bin/python");
    check(&python.display().to_string(), &program("client_1.py"), &[("", "2025-11-25")]).await;
}

/// A client beside its packages, where node looks for them.
fn beside(place: &Path, name: &str) -> PathBuf {
    let client = place.join(name);
    std::fs::copy(program(name), &client).unwrap();
    client
}

#[tokio::test]
#[ignore = "packages of another language; `./justw test-frameworks`"]
async fn of_javascript_in_both_generations_of_the_protocol() {
    let Some(place) = fetched_sdk(env!("CARGO_TARGET_TMPDIR"), "javascript") else { return };
    check("node", &beside(&place, "client.mjs"), &BOTH).await;
}

#[tokio::test]
#[ignore = "packages of another language; `./justw test-frameworks`"]
async fn of_javascript_before() {
    let Some(place) = fetched_sdk(env!("CARGO_TARGET_TMPDIR"), "javascript-1") else { return };
    check("node", &beside(&place, "client_1.mjs"), &[("", "2025-11-25")]).await;
}

#[tokio::test]
#[ignore = "packages of another language; `./justw test-frameworks`"]
async fn of_the_inspector() {
    let Some(place) = fetched_sdk(env!("CARGO_TARGET_TMPDIR"), "inspector") else { return };
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let (_server, url) = serving(&sandbox).await;
    let inspector = place.join("node_modules/.bin/mcp-inspector");
    for server in [format!("'{url}' --transport http"), "htm mcp --no-workers".to_owned()] {
        let line = format!("'{}' --cli {server} --method tools/list", inspector.display());
        let listed = sandbox.shell(&line).await.json();
        let names: Vec<&str> =
            listed["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
        assert_eq!(names, TOOLS, "{server}");
    }
}
