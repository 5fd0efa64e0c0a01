//! The tools: a table of each subject, and which of them a set offers.

mod chatgpt;
mod context;
mod feedback;
mod forget;
mod groups;
mod memories;
mod operate;
mod recall;
mod relations;
mod remember;
mod robots;
mod stats;
mod tags;
mod timeline;

use std::pin::Pin;
use std::sync::Arc;

use htm_core::{Caller, Role};
use rmcp::model::{CallToolResult, ContentBlock, Tool, ToolAnnotations};
use serde_json::Value;

pub(crate) use self::groups::Memberships;
pub(crate) use self::memories::{answer_hits, answer_nodes};
pub(crate) use self::tags::all_tags;
use crate::arguments::{Argument, Arguments, schema};
use crate::error::ToolError;
use crate::text::plain_json;
use crate::{McpOptions, McpServer, ToolSet};

/// The effect of a tool on the memory, for clients that ask people before a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// It changes no memory.
    Reads,
    /// It reads, and what it found enters the working memory of a caller that may write.
    Recalls,
    /// It adds, and takes nothing away. A second call may add again.
    Adds,
    /// It changes to a state; a second call changes nothing more, and nothing is lost.
    Sets,
    /// It takes something away.
    Removes,
}

type Answering = Pin<Box<dyn Future<Output = Result<Answer, ToolError>> + Send>>;

/// A tool.
pub(crate) struct ToolSpec {
    pub(crate) name: &'static str,
    /// When to call it, and what it answers.
    about: &'static str,
    pub(crate) arguments: &'static [Argument],
    effect: Effect,
    pub(crate) call: fn(McpServer, Arguments) -> Answering,
}

impl ToolSpec {
    /// The tool as a client lists it. Hints that are the protocol's defaults are left out: every conversation pays for
    /// the list.
    pub(crate) fn described(&self, role: Role) -> Tool {
        let annotations = ToolAnnotations::new().open_world(false);
        let annotations = match self.effect {
            Effect::Reads => annotations.read_only(true),
            Effect::Recalls if role < Role::Writer => annotations.read_only(true),
            Effect::Recalls | Effect::Adds => annotations.destructive(false),
            Effect::Sets => annotations.destructive(false).idempotent(true),
            Effect::Removes => annotations.destructive(true).idempotent(true),
        };
        Tool::new(self.name, self.about, Arc::new(schema(self.arguments))).with_annotations(annotations)
    }
}

/// The offered tools, in the order in which they are listed. `sees_all`: the caller sees all namespaces.
pub(crate) fn of(options: &McpOptions, sees_all: bool) -> Vec<&'static ToolSpec> {
    let mut tools = of_set(options, sees_all);
    if options.role < Role::Writer {
        tools.retain(|tool| matches!(tool.effect, Effect::Reads | Effect::Recalls));
    }
    tools
}

fn of_set(options: &McpOptions, sees_all: bool) -> Vec<&'static ToolSpec> {
    let &McpOptions { tools: set, has_one_client, role, .. } = options;
    let mut tools: Vec<&ToolSpec> = match set {
        ToolSet::Chatgpt => return chatgpt::TOOLS.iter().collect(),
        _ => vec![
            &remember::REMEMBER,
            &recall::RECALL,
            &context::CONTEXT,
            &forget::FORGET,
            &forget::RESTORE,
            &timeline::TIMELINE,
            &tags::TAGS,
            &stats::STATS,
            &feedback::FEEDBACK,
        ],
    };
    if set == ToolSet::All {
        tools.extend(robots::TOOLS.iter().filter(|_| has_one_client));
        tools.extend([
            &robots::GET_WORKING_MEMORY,
            &tags::LIST_TAGS,
            &tags::SEARCH_TAGS,
            &timeline::FIND_BY_TOPIC,
            &relations::RELATE,
            &relations::RELATED,
        ]);
        tools.extend(groups::TOOLS);
    }
    if matches!(set, ToolSet::All | ToolSet::Ops) && role == Role::Admin {
        tools.push(&operate::NODE_STATUS);
        // Jobs, workers and providers are of all namespaces.
        tools.extend(operate::TOOLS.iter().filter(|_| sees_all));
    }
    tools
}

/// Whether a tool changes the session: whose calls the later ones are, and the groups that it is a member of.
pub(crate) fn changes_session(tool: &str) -> bool {
    matches!(tool, "set_robot" | "create_group" | "join_group" | "leave_group" | "shutdown_group")
}

/// The answer of a tool: a text for the model, and the same facts for programs.
pub(crate) struct Answer {
    pub(crate) text: String,
    pub(crate) facts: Value,
}

impl Answer {
    pub(crate) fn new(text: impl Into<String>, facts: Value) -> Self {
        Self { text: text.into(), facts: plain_json(facts) }
    }

    pub(crate) fn into_result(self) -> CallToolResult {
        let mut result = CallToolResult::success(vec![ContentBlock::text(self.text)]);
        result.structured_content = Some(self.facts);
        result
    }
}

/// The namespace and the robot of a call.
pub(crate) struct Who {
    pub(crate) namespace: String,
    pub(crate) robot: String,
}

impl Who {
    pub(crate) fn of(server: &McpServer, arguments: &Arguments) -> Self {
        Self {
            namespace: arguments.owned("namespace").unwrap_or_else(|| server.default_namespace()),
            robot: arguments.owned("robot").unwrap_or_else(|| server.default_robot()),
        }
    }

    /// The caller of a change.
    pub(crate) fn caller(&self, arguments: &Arguments) -> Caller {
        match arguments.flag("any_robot") {
            true => Caller::AnyRobot,
            false => Caller::In { namespace: self.namespace.clone(), robot: Some(self.robot.clone()) },
        }
    }
}

#[cfg(test)]
mod tests;
