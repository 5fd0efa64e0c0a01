//! The tools of operators: jobs, queues, workers, providers.

use htm_core::NodeId;
use htm_core::job::JobState;
use htm_core::jobs::{JobFilter, Selection};
use serde::Serialize;
use serde_json::json;

use super::{Answer, Effect, ToolSpec};
use crate::McpServer;
use crate::arguments::{Arguments, ID, Kind, MAX_TOKENS, argument};
use crate::codes;
use crate::error::ToolError;
use crate::text::{compact, count, rows};

const STATE: crate::arguments::Argument =
    argument("state", Kind::Choice(&["due", "waiting", "parked", "running", "done", "dead"]));

pub(super) const NODE_STATUS: ToolSpec = ToolSpec {
    name: "node_status",
    about: "Whether a memory is embedded and tagged, and why not.",
    arguments: &[ID.required()],
    effect: Effect::Reads,
    call: |server, arguments| Box::pin(node_status(server, arguments)),
};

/// The tools of what is of all namespaces.
pub(super) const TOOLS: &[ToolSpec] = &[
    ToolSpec {
        name: "list_jobs",
        about: "Embedding and tagging jobs: dead, parked and failed ones first. Done ones only by state.",
        arguments: &[
            STATE,
            argument("queue", Kind::Text),
            argument("id", Kind::Whole(1, i64::MAX, None)).about("A memory's id"),
            argument("limit", Kind::Whole(1, 1_000, Some(20))),
            MAX_TOKENS,
        ],
        effect: Effect::Reads,
        call: |server, arguments| Box::pin(list_jobs(server, arguments)),
    },
    ToolSpec {
        name: "retry_jobs",
        about: "Retry jobs by their ids, or all dead ones of a queue (default: of every queue), after the cause is fixed.",
        arguments: &[argument("jobs", Kind::Texts).about("Ids of jobs"), argument("queue", Kind::Text)],
        effect: Effect::Sets,
        call: |server, arguments| Box::pin(retry_jobs(server, arguments)),
    },
    ToolSpec {
        name: "list_queues",
        about: "The queues of jobs with their counts, pauses and live workers.",
        arguments: &[],
        effect: Effect::Reads,
        call: |server, _| Box::pin(list_queues(server)),
    },
    ToolSpec {
        name: "list_workers",
        about: "The workers, those alive first.",
        arguments: &[],
        effect: Effect::Reads,
        call: |server, _| Box::pin(list_workers(server)),
    },
    ToolSpec {
        name: "list_providers",
        about: "The providers of models that have limits or failed, with the state of their breakers.",
        arguments: &[],
        effect: Effect::Reads,
        call: |server, _| Box::pin(list_providers(server)),
    },
];

/// The tokens of a list without an argument for them.
const LIST_TOKENS: usize = 4_000;

/// A line of JSON for each row.
fn list<T: Serialize>(server: &McpServer, what: &str, all: &[T], max_tokens: usize) -> Answer {
    let values: Vec<_> = all.iter().map(compact).collect();
    let header = format!("{}.", count(all.len(), what));
    let encoding = server.htm().settings().token_encoding;
    let (text, shown) = rows(&header, values.iter().map(ToString::to_string), max_tokens, encoding);
    Answer::new(text, json!({ format!("{what}s"): &values[..shown], "left_out": values.len() - shown }))
}

async fn node_status(server: McpServer, arguments: Arguments) -> Result<Answer, ToolError> {
    let node = NodeId(arguments.whole("id").unwrap_or_default());
    let status = compact(server.htm().status(node).await?);
    Ok(Answer::new(status.to_string(), json!({ "status": status })))
}

async fn list_jobs(server: McpServer, arguments: Arguments) -> Result<Answer, ToolError> {
    let filter = JobFilter {
        queue: arguments.owned("queue"),
        state: arguments.text("state").and_then(|state| state.parse::<JobState>().ok()),
        node: arguments.whole("id").map(NodeId),
        ..JobFilter::default()
    };
    let jobs = server.htm().jobs()?.list(&filter, None, arguments.size("limit") as u32).await?;
    Ok(list(&server, "job", &jobs, arguments.size("max_tokens")))
}

async fn retry_jobs(server: McpServer, arguments: Arguments) -> Result<Answer, ToolError> {
    let selection = match (arguments.has("jobs"), arguments.owned("queue")) {
        // An empty list is no job, not all of them.
        (true, None) => Selection::Ids(arguments.texts("jobs")),
        (false, queue) => Selection::Filter(JobFilter { queue, ..JobFilter::default() }),
        _ => return Err(ToolError::new(codes::ARGUMENTS_CONFLICT, "give either jobs or queue")),
    };
    let retried = server.htm().jobs()?.retry(&selection).await?;
    let text = format!(
        "{} due again; {} outdated and left as they are.",
        count(retried.retried, "job"),
        retried.outdated
    );
    Ok(Answer::new(text, compact(retried)))
}

async fn list_queues(server: McpServer) -> Result<Answer, ToolError> {
    let queues = server.htm().jobs()?.queues().await?;
    Ok(list(&server, "queue", &queues, LIST_TOKENS))
}

async fn list_workers(server: McpServer) -> Result<Answer, ToolError> {
    let workers = server.htm().jobs()?.workers().await?;
    Ok(list(&server, "worker", &workers, LIST_TOKENS))
}

async fn list_providers(server: McpServer) -> Result<Answer, ToolError> {
    let providers = server.htm().providers()?.list().await?;
    Ok(list(&server, "provider", &providers, LIST_TOKENS))
}
