//! The plugin for Claude Code: its files have the documented form, and what they name exists.

use std::fs;
use std::path::{Path, PathBuf};

use rmcp::ServiceExt;
use rmcp::transport::TokioChildProcess;
use serde_json::Value;

use super::{Hooks, event};

fn plugin() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../integrations/claude-code")
}

fn read(file: &str) -> Value {
    let text = fs::read_to_string(plugin().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{file}: {error}"))
}

#[test]
fn the_manifests_name_the_plugin() {
    let (manifest, marketplace) =
        (read(".claude-plugin/plugin.json"), read(".claude-plugin/marketplace.json"));
    assert_eq!(manifest["name"], "htm");
    assert_eq!(manifest["version"], env!("CARGO_PKG_VERSION"));
    assert!(manifest["author"]["name"].is_string());
    // Both files are found by their place. Claude Code refuses a plugin that names them again.
    assert!(manifest.get("hooks").is_none() && manifest.get("mcpServers").is_none());
    assert!(marketplace["name"].is_string() && marketplace["owner"]["name"].is_string());
    let [listed] = &marketplace["plugins"].as_array().unwrap()[..] else { panic!("{marketplace}") };
    assert_eq!((&listed["name"], &listed["source"]), (&"htm".into(), &"./".into()));
}

#[tokio::test]
async fn each_hook_is_a_command_that_answers_its_event() {
    let hooks = Hooks::new().await;
    let declared = read("hooks/hooks.json")["hooks"].as_object().unwrap().clone();
    let events: Vec<&String> = declared.keys().collect();
    assert_eq!(events, ["SessionStart", "UserPromptSubmit", "Stop"]);
    for (name, groups) in &declared {
        let [group] = &groups.as_array().unwrap()[..] else { panic!("{groups}") };
        // The other events have no matcher.
        assert_eq!(group.get("matcher").is_some(), name == "SessionStart", "{group}");
        let [hook] = &group["hooks"].as_array().unwrap()[..] else { panic!("{group}") };
        assert_eq!(hook["type"], "command");
        assert!(hook["timeout"].as_u64().is_some_and(|seconds| (1..=60).contains(&seconds)), "{hook}");
        let command = hook["command"].as_str().unwrap();
        // As Claude Code runs it: by a shell, with JSON on standard input.
        let input = hooks.sandbox.write("event.json", event("which port is staging on?").to_string());
        let answer = hooks.sandbox.shell(&format!("{command} < '{input}'")).await;
        assert_eq!((answer.succeeds(), answer.stderr.as_str()), ("", ""));
    }
}

#[tokio::test]
async fn its_server_has_the_tools_and_serves_the_hooks() {
    let hooks = Hooks::new().await;
    let server = &read(".mcp.json")["mcpServers"]["htm"];
    assert_eq!((&server["type"], &server["command"]), (&"stdio".into(), &"htm".into()));
    let arguments: Vec<&str> =
        server["args"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
    let start = async || {
        let command = hooks.sandbox.command_of("htm", &arguments);
        let log = hooks.sandbox.log_of("htm-mcp");
        let (process, _) = TokioChildProcess::builder(command).stderr(log).spawn().expect("it starts");
        ().serve(process).await.expect("it answers")
    };
    let (first, second) = (start().await, start().await);
    assert_eq!(second.list_all_tools().await.unwrap().len(), 9);
    hooks.sandbox.remember(&["Staging is on port 5433."]).await;
    let is_served = async || {
        hooks.sandbox.htm(&["recall", "-v", "anything"]).await.stderr.starts_with("a running server answered")
    };
    htm_tests::wait_until(is_served).await;
    // The workers of the sessions embed it.
    htm_tests::wait_until(async || hooks.added_to("Staging is on port").await.is_some()).await;
    // The session that serves ends. Another takes over.
    first.cancel().await.unwrap();
    htm_tests::wait_until(is_served).await;
    assert!(hooks.added_to("Staging is on port").await.is_some());
    second.cancel().await.unwrap();
}
