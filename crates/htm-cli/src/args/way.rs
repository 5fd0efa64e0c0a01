//! The way of a command to the database.

use clap::Args;
use serde::{Deserialize, Serialize};

#[derive(Args, Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct WayArgs {
    /// Do not ask a running server (`htm up`, `htm serve`, `htm mcp`), which answers faster
    #[arg(long)]
    pub(crate) direct: bool,
    /// Say on standard error whether a server was asked
    #[arg(short, long)]
    pub(crate) verbose: bool,
}
