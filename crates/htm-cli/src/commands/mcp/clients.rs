//! The files and the forms of clients' configurations.

use std::env;
use std::path::PathBuf;

use crate::args::{Client, ClientScope};
use crate::codes;
use crate::error::CliError;

/// The form of a configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// JSON. Some clients allow comments and trailing commas.
    Json,
    Toml,
}

/// The place of a server in a client's configuration.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ClientFile {
    pub(super) file: PathBuf,
    pub(super) form: Form,
    /// The section with the servers.
    pub(super) section: &'static str,
    /// Whether a server has its transport as `type`.
    pub(super) has_type: bool,
    /// Whether the client searches no PATH of a shell.
    pub(super) needs_full_path: bool,
    /// How the client notices the change.
    pub(super) then: &'static str,
}

impl ClientFile {
    pub(super) fn of(client: Client, scope: ClientScope) -> Result<Self, CliError> {
        let (home, here) = (Home::from_env()?, scope == ClientScope::Project);
        let file = match (client, here) {
            (Client::ClaudeCode, true) => ".mcp.json".into(),
            (Client::ClaudeCode, false) => home.or_named("CLAUDE_CONFIG_DIR", "").join(".claude.json"),
            (Client::ClaudeDesktop, true) => {
                let message = "claude-desktop has no configuration of a project";
                return Err(CliError::new(codes::USAGE, message).with_hint("leave out `--scope project`"));
            }
            (Client::ClaudeDesktop, false) => home.applications().join("Claude/claude_desktop_config.json"),
            (Client::Cursor, true) => ".cursor/mcp.json".into(),
            (Client::Cursor, false) => home.dir.join(".cursor/mcp.json"),
            (Client::Vscode, true) => ".vscode/mcp.json".into(),
            (Client::Vscode, false) => home.applications().join("Code/User/mcp.json"),
            (Client::Codex, true) => ".codex/config.toml".into(),
            (Client::Codex, false) => home.or_named("CODEX_HOME", ".codex").join("config.toml"),
            (Client::Gemini, true) => ".gemini/settings.json".into(),
            (Client::Gemini, false) => home.dir.join(".gemini/settings.json"),
        };
        Ok(Self {
            file,
            form: if client == Client::Codex { Form::Toml } else { Form::Json },
            section: match client {
                Client::Vscode => "servers",
                Client::Codex => "mcp_servers",
                _ => "mcpServers",
            },
            has_type: matches!(client, Client::Vscode | Client::ClaudeCode),
            needs_full_path: client == Client::ClaudeDesktop,
            then: match client {
                Client::ClaudeDesktop => "restart Claude Desktop to use it",
                Client::Cursor => "allow it in Cursor's settings, under MCP",
                Client::Vscode => "start it in VS Code: `MCP: List Servers`",
                Client::ClaudeCode => "new sessions of Claude Code have it; `/mcp` shows it",
                Client::Codex | Client::Gemini => "new sessions have it; `/mcp` shows it",
            },
        })
    }
}

/// The user's directories.
struct Home {
    dir: PathBuf,
}

impl Home {
    fn from_env() -> Result<Self, CliError> {
        let missing = |_| CliError::new(codes::IO_ERROR, "there is no home directory").with_hint("set HOME");
        Ok(Self { dir: etcetera::home_dir().map_err(missing)? })
    }

    /// The directory in a variable, or else the one in the home directory.
    fn or_named(&self, variable: &str, name: &str) -> PathBuf {
        match env::var_os(variable).filter(|value| !value.is_empty()) {
            Some(dir) => dir.into(),
            None => self.dir.join(name),
        }
    }

    /// The directory of applications' settings.
    fn applications(&self) -> PathBuf {
        match cfg!(target_os = "macos") {
            true => self.dir.join("Library/Application Support"),
            false => self.or_named("XDG_CONFIG_HOME", ".config"),
        }
    }
}
