//! Arguments of `htm timeline` and `htm neighbours`.

use clap::Args;
use htm_core::{Grouping, NodeId};
use strum::VariantNames;

use super::FilterArgs;
use super::words::Words;

#[derive(Args)]
#[command(after_help = "Without a topic, lists the latest memories.

Examples:
  htm timeline --timeframe yesterday
  htm timeline billing --timeframe \"last month\" --by session
  htm timeline --tag database:postgresql
  htm timeline --type decision --min-importance 7
  htm timeline --as-of 2026-03-01 --limit 5
  htm timeline --session standup-12 --limit 100
  htm timeline --timeframe auto \"the migration since Monday\" --json")]
pub(crate) struct TimelineArgs {
    /// The topic
    pub(crate) topic: Vec<String>,
    /// Group by day or session
    #[arg(long, value_name = "WHAT", default_value = "day",
          value_parser = Words(Grouping::VARIANTS), hide_possible_values = true)]
    pub(crate) by: String,
    /// The search strategy for the topic: vector, fulltext or hybrid. Default: recall.strategy
    #[arg(long, value_name = "S",
          value_parser = Words(&["vector", "fulltext", "hybrid"]), hide_possible_values = true)]
    pub(crate) strategy: Option<String>,
    /// Do not spell-correct unknown words of the topic
    #[arg(long)]
    pub(crate) no_correct: bool,
    /// The number of memories, 1 to 10000: the most relevant to the topic, or the latest. Default: recall.limit
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) limit: Option<String>,
    /// As the memory stood at this time: a date (midnight in time.zone), an RFC 3339 time, or words (last Monday)
    #[arg(long, value_name = "TIME")]
    pub(crate) as_of: Option<String>,
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
}

#[derive(Args)]
#[command(
    after_help = "In a conversation, neighbours are found by position; otherwise by time, in the namespace.

Examples:
  htm neighbours 42
  htm neighbours 42 --before 2 --after 10 --json"
)]
pub(crate) struct NeighboursArgs {
    /// The node's id
    pub(crate) node: NodeId,
    /// The number of memories before it, at most 1000
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub(crate) before: usize,
    /// The number of memories after it, at most 1000
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub(crate) after: usize,
}
