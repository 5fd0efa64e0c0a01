//! `htm mcp`, as MCP clients meet it: the real process, over its standard input and output.

#[path = "mcp/alone.rs"]
mod alone;
#[path = "mcp/connection.rs"]
mod connection;
#[path = "mcp/errors.rs"]
mod errors;
#[path = "mcp/install.rs"]
mod install;
#[path = "mcp/lists.rs"]
mod lists;
#[path = "mcp/memories.rs"]
mod memories;
#[path = "mcp/messages.rs"]
mod messages;
#[path = "mcp/protocol.rs"]
mod protocol;
#[path = "mcp/resources.rs"]
mod resources;
#[path = "mcp/restricted.rs"]
mod restricted;
#[path = "mcp/robots.rs"]
mod robots;
#[path = "mcp/sdks.rs"]
mod sdks;

use htm_tests::{Sandbox, TestDatabase};
use rmcp::ServiceExt;
use rmcp::model::{CallToolRequestParams, CallToolResult};
use rmcp::service::{RoleClient, RunningService};
use rmcp::transport::TokioChildProcess;
use serde_json::Value;

/// A client of a running `htm mcp`.
struct Client {
    service: RunningService<RoleClient, ()>,
    db: TestDatabase,
    _sandbox: Sandbox,
}

/// Starts a server whose log is kept.
fn started(sandbox: &Sandbox, command: tokio::process::Command) -> TokioChildProcess {
    let log = sandbox.log_of("htm-mcp");
    TokioChildProcess::builder(command).stderr(log).spawn().expect("it starts").0
}

impl Client {
    /// Starts `htm mcp` on a database of its own and connects to it.
    async fn start(arguments: &[&str]) -> Self {
        let db = TestDatabase::new().await;
        let sandbox = Sandbox::new(&db);
        let command = sandbox.command_of("htm", &[&["mcp"], arguments].concat());
        let service = ().serve(started(&sandbox, command)).await.expect("it answers");
        Self { service, db, _sandbox: sandbox }
    }

    /// Calls a tool.
    async fn call(&self, tool: &str, arguments: Value) -> CallToolResult {
        let request = CallToolRequestParams::new(tool.to_owned());
        let request = request.with_arguments(arguments.as_object().cloned().expect("an object"));
        self.service.call_tool(request).await.expect("an answer")
    }

    /// Calls a tool that succeeds. Returns its text and its facts.
    #[track_caller]
    fn succeeds(&self, tool: &str, arguments: Value) -> impl Future<Output = (String, Value)> {
        let caller = std::panic::Location::caller();
        let tool = tool.to_owned();
        async move {
            let result = self.call(&tool, arguments).await;
            assert_ne!(result.is_error, Some(true), "{caller}: {result:?}");
            (text_of(&result), result.structured_content.expect("facts"))
        }
    }

    /// Calls a tool that fails. Returns its text and the code.
    #[track_caller]
    fn fails(&self, tool: &str, arguments: Value) -> impl Future<Output = (String, String)> {
        let caller = std::panic::Location::caller();
        let tool = tool.to_owned();
        async move {
            let result = self.call(&tool, arguments).await;
            assert_eq!(result.is_error, Some(true), "{caller}: {result:?}");
            let facts = result.structured_content.clone().expect("facts");
            (text_of(&result), facts["error"]["code"].as_str().expect("a code").to_owned())
        }
    }

    /// Remembers a text. Returns its id.
    async fn remember(&self, text: &str) -> i64 {
        let (_, facts) = self.succeeds("remember", serde_json::json!({ "text": text })).await;
        facts["node"].as_i64().expect("an id")
    }
}

fn text_of(result: &CallToolResult) -> String {
    let [content] = &result.content[..] else { panic!("one text: {result:?}") };
    content.as_text().expect("a text").text.clone()
}
