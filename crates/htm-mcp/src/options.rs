//! The decisions of the program: defaults of calls, and the offered tools.

use htm_core::{Role, Strategy};

/// The offered tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[derive(strum::Display, strum::EnumString, strum::AsRefStr, strum::VariantNames)]
#[strum(serialize_all = "lowercase")]
pub enum ToolSet {
    /// The nine tools that agents need.
    #[default]
    Default,
    /// These, and those of operators: jobs, queues, workers, providers.
    Ops,
    /// These, and those of robots and groups.
    All,
    /// `search` and `fetch` alone, as ChatGPT's connectors expect them.
    Chatgpt,
}

/// The options of a server.
#[derive(Clone, Debug)]
pub struct McpOptions {
    /// The namespace of calls that name none; none: that of the handle.
    pub namespace: Option<String>,
    /// The robot of calls that name none; none: that of the handle.
    pub robot: Option<String>,
    /// The offered tools.
    pub tools: ToolSet,
    /// The role of the client. Tools that need a higher one are not offered.
    pub role: Role,
    /// The strategy of recalls that name none.
    pub strategy: Strategy,
    /// Whether the server has one client for its whole life, as over standard input and output. Only then can a client
    /// set the robot of its later calls.
    pub has_one_client: bool,
}

impl Default for McpOptions {
    /// The default tools for the highest role.
    fn default() -> Self {
        Self {
            namespace: None,
            robot: None,
            tools: ToolSet::default(),
            role: Role::Admin,
            strategy: Strategy::default(),
            has_one_client: false,
        }
    }
}
