//! The clients of the official SDKs. `scripts/sdk_clients.py` fetches them; without its registry a test is skipped.

use std::path::{Path, PathBuf};

use htm_tests::{Sandbox, TestDatabase, fetched_sdk};
use serde_json::{Value, json};

fn program(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data/mcp").join(name)
}

/// Runs a client in each of its modes, and checks what it saw.
async fn check(interpreter: &str, client: &Path, modes: &[(&str, Option<&str>)]) {
    for (mode, version) in modes {
        let db = TestDatabase::new().await;
        let sandbox = Sandbox::new(&db);
        let line = format!("'{interpreter}' '{}' '{mode}' htm mcp --no-workers", client.display());
        let seen: Value = sandbox.shell(&line).await.json();
        if let Some(version) = version {
            assert_eq!(seen["version"], *version, "{seen}");
        }
        let tools =
            json!(["remember", "recall", "context", "forget", "restore", "timeline", "tags", "stats"]);
        assert_eq!(seen["tools"], tools, "{seen}");
        let id = seen["remembered"]["node"].as_i64().unwrap();
        let said = |name: &str| seen[name].as_str().unwrap().to_owned();
        for text in [said("recalled"), said("prompt")] {
            assert!(text.contains(&format!("\n[{id}] ")), "{seen}");
            assert!(text.contains("\"The ledger runs on PostgreSQL 17.2.\""), "{seen}");
        }
        assert_eq!(seen["refused"][0], true, "{seen}");
        assert!(seen["refused"][1].as_str().unwrap().starts_with("error[argument_unknown]: "), "{seen}");
        assert_eq!(seen["resource"][0]["id"], id, "{seen}");
    }
}

#[tokio::test]
async fn of_python_in_both_generations() {
    let Some(place) = fetched_sdk(env!("CARGO_TARGET_TMPDIR"), "python") else { return };
    let python = place.join("bin/python");
    let modes = [("legacy", Some("2025-11-25")), ("auto", Some("2026-07-28"))];
    check(&python.display().to_string(), &program("client.py"), &modes).await;
}

#[tokio::test]
async fn of_javascript() {
    let Some(place) = fetched_sdk(env!("CARGO_TARGET_TMPDIR"), "javascript") else { return };
    // Beside its packages, where node looks for them.
    let client = place.join("client.mjs");
    std::fs::copy(program("client.mjs"), &client).unwrap();
    check("node", &client, &[("", None)]).await;
}
