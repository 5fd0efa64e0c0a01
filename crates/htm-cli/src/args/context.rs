//! `htm context` and `htm memory`: a robot's working memory.

use clap::{Args, Subcommand};
use htm_core::{ContextOrder, NodeId, Strategy};
use serde::{Deserialize, Serialize};
use strum::VariantNames;

use super::words::Words;
use super::{FilterArgs, WayArgs};

#[derive(Args, Serialize, Deserialize)]
#[command(after_help = "The context goes to standard output. Omitted memories are listed on standard error.

Examples:
  htm context --budget 4000 \"which database did we choose?\"
  htm context --as architect --order recent --header > prompt.txt
  htm context --as architect --type decision --min-importance 7
  htm context --separator '\\n---\\n' --limit 50 \"the migration\" > prompt.txt")]
pub(crate) struct ContextArgs {
    /// A query to recall first: its hits come first. Filters limit both the recall and the context
    #[arg(num_args = 0..)]
    pub(crate) query: Vec<String>,
    /// The robot, in the first namespace. Default: memory.robot
    #[arg(long = "as", value_name = "R")]
    pub(crate) asks: Option<String>,
    /// The token budget of the context
    #[arg(long, value_name = "TOKENS", default_value = "4000", allow_negative_numbers = true)]
    pub(crate) budget: String,
    /// The order after the hits: recent, important, frequent or balanced
    #[arg(long, value_name = "O", default_value = "balanced",
          value_parser = Words(ContextOrder::VARIANTS), hide_possible_values = true)]
    pub(crate) order: String,
    /// The search strategy for the query: vector, fulltext, hybrid or auto. Default: recall.strategy
    #[arg(long, value_name = "S", value_parser = Words(Strategy::VARIANTS), hide_possible_values = true)]
    pub(crate) strategy: Option<String>,
    /// Do not spell-correct unknown words of the query
    #[arg(long)]
    pub(crate) no_correct: bool,
    /// Wrap each memory with its age, its source and what supersedes it: <memory age="3 hours ago" source="chat">…</memory>
    #[arg(long)]
    pub(crate) header: bool,
    /// The text between two memories; \n is a line break
    #[arg(long, value_name = "TEXT", default_value = "\\n\\n", allow_hyphen_values = true)]
    pub(crate) separator: String,
    /// The number of hits to recall, 1 to 10000. Default: recall.limit
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) limit: Option<String>,
    #[command(flatten)]
    pub(crate) way: WayArgs,
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
}

#[derive(Subcommand)]
pub(crate) enum MemoryCommand {
    /// List a robot's working memory, the next to be evicted first
    Show(WhoseArgs),
    /// Add memories to a robot's working memory
    Add(NodesArgs),
    /// Mark memories in a robot's working memory as used
    Touch(NodesArgs),
    /// Remove memories from a robot's working memory; they stay in long-term memory
    Remove(NodesArgs),
    /// Empty a robot's working memory; its memories stay in long-term memory
    Clear(WhoseArgs),
}

#[derive(Args)]
#[command(after_help = "Programs with the robot open see the change when they reopen it.

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
    /// The robot's namespace. Default: memory.namespace
    #[arg(long, value_name = "N")]
    pub(crate) namespace: Option<String>,
    /// The robot. Default: memory.robot
    #[arg(long, value_name = "R")]
    pub(crate) robot: Option<String>,
}
