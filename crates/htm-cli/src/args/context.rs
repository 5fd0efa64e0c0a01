//! `htm context` and `htm memory`: what a robot has in mind.

use clap::{Args, Subcommand};
use htm_core::NodeId;

#[derive(Args)]
#[command(after_help = "The context goes to standard output, what was left out of it to standard error.

Examples:
  htm context --budget 4000 \"which database did we choose?\"
  htm context --robot architect --strategy recent --header > prompt.txt
  htm context --separator '\\n---\\n' --limit 50 \"the billing migration\" | wl-copy")]
pub(crate) struct ContextArgs {
    /// What to recall first; left out: only what is in mind already
    #[arg(num_args = 0..)]
    pub(crate) query: Vec<String>,
    /// Where the robot belongs, and where to look
    #[arg(long, value_name = "N")]
    pub(crate) namespace: Option<String>,
    /// Whose working memory
    #[arg(long, value_name = "R")]
    pub(crate) robot: Option<String>,
    /// The most tokens of the context
    #[arg(long, value_name = "TOKENS", default_value = "4000", allow_negative_numbers = true)]
    pub(crate) budget: String,
    /// What comes first: recent, important, frequent or balanced
    #[arg(long, value_name = "S", default_value = "balanced")]
    pub(crate) strategy: String,
    /// Delimit each memory, with its age and its source: <memory age="3 hours ago" source="chat">…</memory>
    #[arg(long)]
    pub(crate) header: bool,
    /// What stands between two memories; \n is a line break
    #[arg(long, value_name = "TEXT", default_value = "\\n\\n", allow_hyphen_values = true)]
    pub(crate) separator: String,
    /// How many hits to recall, 1 to 10000; left out: recall.limit
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) limit: Option<String>,
}

#[derive(Subcommand)]
pub(crate) enum MemoryCommand {
    /// Show what a robot has in mind, the next to leave first
    Show(WhoseArgs),
    /// Take nodes into a robot's mind
    Add(NodesArgs),
    /// Note that nodes in a robot's mind were used
    Touch(NodesArgs),
    /// Put nodes out of a robot's mind; they stay in long-term memory
    Remove(NodesArgs),
    /// Put everything out of a robot's mind; it stays in long-term memory
    Clear(WhoseArgs),
}

#[derive(Args)]
#[command(after_help = "A program that has the robot open does not see it before it opens the robot again.

Examples:
  htm memory add 17 20 --robot architect
  htm memory touch 17 --robot architect
  htm memory remove 17 --robot architect")]
pub(crate) struct NodesArgs {
    /// The nodes' ids
    #[arg(required = true)]
    pub(crate) nodes: Vec<NodeId>,
    #[command(flatten)]
    pub(crate) whose: WhoseArgs,
}

#[derive(Args)]
pub(crate) struct WhoseArgs {
    /// Where the robot belongs
    #[arg(long, value_name = "N")]
    pub(crate) namespace: Option<String>,
    /// Whose working memory
    #[arg(long, value_name = "R")]
    pub(crate) robot: Option<String>,
}
