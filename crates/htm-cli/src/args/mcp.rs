//! Arguments of `htm mcp`.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand, ValueEnum};
use htm_mcp::ToolSet;
use strum::VariantNames;

use super::Consent;

#[derive(Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "A client starts it and speaks the Model Context Protocol over standard input and output. Logs go to \
standard error. It starts the private PostgreSQL if no database is configured, and the workers. It ends when \
standard input closes.

A client's configuration: {\"mcpServers\": {\"htm\": {\"command\": \"htm\", \"args\": [\"mcp\"]}}}

Examples:
  htm mcp
  htm mcp --namespace atlas --robot architect
  htm mcp --tools all --no-workers
  htm mcp install cursor --dry-run"
)]
pub(crate) struct McpArgs {
    #[command(subcommand)]
    pub(crate) command: Option<McpCommand>,
    #[command(flatten)]
    pub(crate) server: McpServerArgs,
}

/// The options of the server.
#[derive(Args)]
pub(crate) struct McpServerArgs {
    /// The namespace of calls that name none. Default: memory.namespace
    #[arg(long, value_name = "N")]
    pub(crate) namespace: Option<String>,
    /// The robot of calls that name none. Default: memory.robot
    #[arg(long, value_name = "R")]
    pub(crate) robot: Option<String>,
    /// The tools: default (nine), ops (and those of operators), all (and those of robots and groups), or chatgpt
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

impl McpServerArgs {
    /// The arguments that start a server with these options.
    pub(crate) fn to_arguments(&self) -> Vec<String> {
        let mut arguments = vec!["mcp".to_owned()];
        let tools = (self.tools != ToolSet::default()).then(|| self.tools.to_string());
        for (name, value) in [("--namespace", &self.namespace), ("--robot", &self.robot), ("--tools", &tools)]
        {
            arguments.extend(value.iter().flat_map(|value| [name.to_owned(), value.clone()]));
        }
        arguments.extend(self.no_workers.then(|| "--no-workers".to_owned()));
        arguments
    }
}

#[derive(Subcommand)]
pub(crate) enum McpCommand {
    /// Add the server to a client's configuration
    Install(InstallArgs),
    /// Remove the server from a client's configuration
    Uninstall(UninstallArgs),
}

/// A client of MCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, strum::Display)]
#[strum(serialize_all = "kebab-case")]
pub(crate) enum Client {
    ClaudeCode,
    ClaudeDesktop,
    Cursor,
    Vscode,
    Codex,
    Gemini,
}

/// Clients make the names of tools of it.
fn server_name(text: &str) -> Result<String, String> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
    match (1..=64).contains(&text.len()) && text.chars().all(is_part) {
        true => Ok(text.to_owned()),
        false => Err("give 1 to 64 letters, digits, `_` and `-`".to_owned()),
    }
}

/// For which of a client's projects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ClientScope {
    /// Your projects on this machine
    User,
    /// The project in the current directory
    Project,
}

/// The place in a client's configuration.
#[derive(Args)]
pub(crate) struct ClientPlaceArgs {
    /// The client
    pub(crate) client: Client,
    /// The configuration to change
    #[arg(long, value_enum, default_value = "user")]
    pub(crate) scope: ClientScope,
    /// The server's name in the configuration
    #[arg(long, value_name = "NAME", default_value = "htm", value_parser = server_name)]
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) consent: Consent,
}

#[derive(Args)]
#[command(
    after_help = "It shows the changed lines and asks. Everything else in the file stays as it is. The file before \
the change is kept beside it, with the suffix .htm-backup.

Examples:
  htm mcp install claude-desktop
  htm mcp install vscode --scope project --yes
  htm mcp install codex --robot codex --dry-run"
)]
pub(crate) struct InstallArgs {
    #[command(flatten)]
    pub(crate) place: ClientPlaceArgs,
    #[command(flatten)]
    pub(crate) server: McpServerArgs,
}

#[derive(Args)]
#[command(after_help = "Example:
  htm mcp uninstall cursor --dry-run")]
pub(crate) struct UninstallArgs {
    #[command(flatten)]
    pub(crate) place: ClientPlaceArgs,
}
