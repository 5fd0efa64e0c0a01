//! Arguments of `htm mcp`.

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use htm_mcp::ToolSet;
use strum::VariantNames;

#[derive(Args)]
#[command(
    after_help = "A client starts it and speaks the Model Context Protocol over standard input and output. Logs go to \
standard error. It starts the private PostgreSQL and both workers, and ends when standard input closes.

A client's configuration: {\"mcpServers\": {\"htm\": {\"command\": \"htm\", \"args\": [\"mcp\"]}}}

Examples:
  htm mcp
  htm mcp --namespace atlas --robot architect
  htm mcp --tools all --no-workers"
)]
pub(crate) struct McpArgs {
    /// The namespace of calls that name none. Default: memory.namespace
    #[arg(long, value_name = "N")]
    pub(crate) namespace: Option<String>,
    /// The robot of calls that name none. Default: memory.robot
    #[arg(long, value_name = "R")]
    pub(crate) robot: Option<String>,
    /// The tools: default (eight), ops (and those of operators), all (and those of robots and groups), or chatgpt
    /// (search and fetch alone)
    #[arg(long, value_name = "SET", default_value_t, value_parser = tool_set(), hide_possible_values = true)]
    pub(crate) tools: ToolSet,
    /// Run no workers; others embed and tag what is remembered
    #[arg(long)]
    pub(crate) no_workers: bool,
}

fn tool_set() -> impl TypedValueParser<Value = ToolSet> {
    // No other name comes so far.
    PossibleValuesParser::new(ToolSet::VARIANTS).map(|name| name.parse().unwrap_or_default())
}
