//! A server over a handle that is restricted to a namespace, as a program serves it to several clients.

use htm_core::Memory;
use htm_mcp::{McpOptions, McpServer, ToolSet};
use htm_tests::TestDatabase;
use rmcp::ServiceExt;
use rmcp::model::{CallToolRequestParams, CallToolResult, ReadResourceRequestParams};
use rmcp::service::{RoleClient, RunningService};
use serde_json::{Value, json};

/// A client of a server in this process.
async fn connect(server: McpServer) -> RunningService<RoleClient, ()> {
    let (here, there) = tokio::io::duplex(64 * 1024);
    tokio::spawn(async move {
        let running = server.serve(here).await.expect("it serves");
        running.waiting().await.expect("it ends");
    });
    ().serve(there).await.expect("it answers")
}

async fn call(
    client: &RunningService<RoleClient, ()>,
    tool: &'static str,
    arguments: Value,
) -> CallToolResult {
    let request = CallToolRequestParams::new(tool).with_arguments(arguments.as_object().cloned().unwrap());
    client.call_tool(request).await.unwrap()
}

#[tokio::test]
async fn nothing_outside_of_the_namespace_is_reached() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let secret = htm.remember(Memory::new("The launch is on Friday.").namespace("home")).await.unwrap().node;
    let tools = McpOptions { tools: ToolSet::All, ..McpOptions::default() };
    let server = McpServer::new(htm.within(["atlas"]).unwrap(), tools);
    let client = connect(server).await;

    let result = call(&client, "remember", json!({ "text": "The ledger is closed." })).await;
    assert_eq!(result.structured_content.unwrap()["namespace"], "atlas");
    for (tool, arguments, code) in [
        ("recall", json!({ "query": "launch", "namespace": "home" }), "namespace_forbidden"),
        ("remember", json!({ "text": "a", "namespace": "home" }), "namespace_forbidden"),
        ("context", json!({ "namespace": "home" }), "namespace_forbidden"),
        ("timeline", json!({ "namespace": "home" }), "namespace_forbidden"),
        ("timeline", json!({ "around": secret }), "node_not_found"),
        ("forget", json!({ "id": secret, "any_robot": true, "confirm": true }), "node_not_found"),
        ("forget", json!({ "text": "launch", "namespace": "home" }), "namespace_forbidden"),
        ("restore", json!({ "id": secret, "any_robot": true }), "node_not_found"),
        ("tags", json!({ "namespace": "home" }), "namespace_forbidden"),
        ("stats", json!({ "namespace": "home" }), "namespace_forbidden"),
        ("get_working_memory", json!({ "namespace": "home" }), "namespace_forbidden"),
        ("list_groups", json!({ "namespace": "home" }), "namespace_forbidden"),
        ("join_group", json!({ "group": "a", "namespace": "home" }), "namespace_forbidden"),
        ("node_status", json!({ "id": secret }), "node_not_found"),
    ] {
        let result = call(&client, tool, arguments.clone()).await;
        assert_eq!(result.is_error, Some(true), "{tool} {arguments}: {result:?}");
        assert_eq!(result.structured_content.unwrap()["error"]["code"], code, "{tool} {arguments}");
    }
    let result = call(&client, "recall", json!({ "query": "launch" })).await;
    assert!(!format!("{result:?}").contains("Friday"), "{result:?}");
    let uri = format!("htm://memories/{secret}");
    assert!(client.read_resource(ReadResourceRequestParams::new(uri)).await.is_err());
    let tools = client.list_all_tools().await.unwrap();
    // A server of several clients does not keep a robot for one of them, and what is of all namespaces is not offered.
    for name in ["set_robot", "list_jobs", "retry_jobs", "list_queues", "list_workers", "list_providers"] {
        assert!(tools.iter().all(|tool| tool.name != name), "{name}");
    }
    assert!(tools.iter().any(|tool| tool.name == "node_status"));
}

#[tokio::test]
async fn two_clients_of_one_server_share_it() {
    let db = TestDatabase::new().await;
    let server = McpServer::new(db.htm(), McpOptions { tools: ToolSet::All, ..McpOptions::default() });
    let (ada, bob) = tokio::join!(connect(server.clone()), connect(server.clone()));
    call(&ada, "create_group", json!({ "group": "on-call", "robot": "ada" })).await;
    call(&bob, "join_group", json!({ "group": "on-call", "robot": "bob" })).await;
    let remember = json!({ "group": "on-call", "robot": "ada", "text": "The disk of db-3 is full." });
    assert_eq!(call(&ada, "group_remember", remember).await.is_error, Some(false));
    let result = call(&bob, "group_context", json!({ "group": "on-call", "robot": "bob" })).await;
    assert!(super::text_of(&result).contains("db-3"), "{result:?}");
    // At its end the server leaves the groups.
    server.close().await;
    let group = db.htm().group("on-call").info().await.unwrap();
    assert!(group.members.is_empty(), "{group:?}");
}
