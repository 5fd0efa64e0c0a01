//! `htm mcp` with nothing configured: it starts a PostgreSQL of its own, and its workers embed with the local model.

use htm_tests::{Sandbox, wait_until};
use rmcp::ServiceExt;
use rmcp::model::CallToolRequestParams;
use serde_json::{Value, json};

use super::started;

#[tokio::test]
async fn it_remembers_and_recalls_by_meaning() {
    let Some(model) = htm_tests::local_model() else { return };
    let dir = htm_tests::cluster_dir();
    // The defaults, except for the places of what is installed.
    let home = model.ancestors().nth(2).unwrap().display().to_string();
    let sandbox = Sandbox::on("")
        .set("HTM_HOME", &home)
        .set("HTM_DATA_DIR", &dir.path().display().to_string())
        .set("HTM_EMBEDDING__PROVIDER", "local")
        .set("HTM_TAG__PROVIDER", "local");
    let command = sandbox.command_of("htm", &["mcp"]);
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
