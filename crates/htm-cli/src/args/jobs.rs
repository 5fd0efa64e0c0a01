//! What `htm jobs` takes.

use std::time::Duration;

use clap::{Args, Subcommand};
use htm_core::NodeId;
use htm_core::job::JobState;

use crate::duration::parse_duration;

#[derive(Subcommand)]
#[command(
    after_help = "A job is due (it can be claimed), waiting (for its next attempt), parked (for a budget, or for \
somebody), running, done or dead (a dead letter).

Examples:
  htm jobs stats
  htm jobs list --state dead
  htm jobs retry --all-dead
  htm jobs pause htm.embed --reason \"the provider is being moved\"
  htm jobs audit"
)]
pub(crate) enum JobsCommand {
    /// Show what each queue holds, and what holds it back
    Stats,
    /// List jobs: dead letters first, then the parked and the failed; the newest of each first
    List(ListArgs),
    /// Show everything about jobs
    Show {
        /// The jobs' ids
        #[arg(value_name = "ID", required = true)]
        ids: Vec<String>,
    },
    /// Make jobs due again as if they were new: dead, parked or waiting ones
    Retry(RetryArgs),
    /// Make dead letters of jobs that wait or run; a result that comes late is refused
    Cancel(CancelArgs),
    /// Stop claiming from a queue; what runs goes on
    Pause {
        /// The queue, as `htm jobs stats` lists it
        queue: String,
        /// Why, for those who see it
        #[arg(long, value_name = "TEXT", default_value = "by an operator")]
        reason: String,
    },
    /// Go on claiming from a queue
    Resume {
        /// The queue
        queue: String,
    },
    /// Delete done jobs (what they did stays), and workers long gone
    Prune(PruneArgs),
    /// Look whether any node lacks a result that nothing will bring; exit code 1 if one does
    Audit {
        /// Enqueue the jobs that are missing
        #[arg(long)]
        repair: bool,
    },
}

/// Which jobs.
#[derive(Args)]
pub(crate) struct FilterArgs {
    /// Of this queue
    #[arg(long, value_name = "Q")]
    pub(crate) queue: Option<String>,
    /// In this state: due, waiting, parked, running, done or dead
    #[arg(long, value_name = "S")]
    pub(crate) state: Option<JobState>,
    /// Of this namespace
    #[arg(long, value_name = "N")]
    pub(crate) namespace: Option<String>,
    /// Of this node
    #[arg(long, value_name = "ID")]
    pub(crate) node: Option<NodeId>,
    /// Whose last error has this text in it, in whatever case
    #[arg(long, value_name = "TEXT")]
    pub(crate) error: Option<String>,
}

/// The filters, where jobs are named by id or by filters.
const FILTERS: [&str; 5] = ["queue", "state", "namespace", "node", "error"];

#[derive(Args)]
#[command(after_help = "Done jobs are listed with --state done only.

Examples:
  htm jobs list
  htm jobs list --state dead --error \"context length\"
  htm jobs list --namespace atlas --json")]
pub(crate) struct ListArgs {
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    /// How many
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub(crate) limit: u32,
}

#[derive(Args)]
#[command(after_help = "Filters without --state mean dead letters.

Examples:
  htm jobs retry 01K5Z6J8Q3T9V7X2M4N6P8R0SA
  htm jobs retry --all-dead
  htm jobs retry --state parked --namespace atlas")]
pub(crate) struct RetryArgs {
    /// The jobs' ids
    #[arg(value_name = "ID", required_unless_present_any = FILTERS.iter().chain(&["all_dead"]),
          conflicts_with_all = FILTERS.iter().chain(&["all_dead"]))]
    pub(crate) ids: Vec<String>,
    /// Every dead letter
    #[arg(long, conflicts_with = "state")]
    pub(crate) all_dead: bool,
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
}

#[derive(Args)]
#[command(after_help = "Examples:
  htm jobs cancel 01K5Z6J8Q3T9V7X2M4N6P8R0SA
  htm jobs cancel --namespace scratch --yes")]
pub(crate) struct CancelArgs {
    /// The jobs' ids
    #[arg(value_name = "ID", required_unless_present_any = FILTERS, conflicts_with_all = FILTERS)]
    pub(crate) ids: Vec<String>,
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    /// Yes, all of them: needed for more than one
    #[arg(long)]
    pub(crate) yes: bool,
}

#[derive(Args)]
#[command(
    after_help = "Dead letters never go by themselves. With --dead go those that nothing hangs on any more: the \
node was forgotten or edited, or has its result by another job. One that says why a node lacks its result stays.

Examples:
  htm jobs prune
  htm jobs prune --older-than 12h
  htm jobs prune --dead --older-than 30d --yes"
)]
pub(crate) struct PruneArgs {
    /// Those that ended longer ago than this, as 30s, 15m, 12h, 7d; jobs.keep_done_ms if left out
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub(crate) older_than: Option<Duration>,
    /// Dead letters instead of done jobs
    #[arg(long, requires = "older_than")]
    pub(crate) dead: bool,
    /// Yes, delete dead letters
    #[arg(long)]
    pub(crate) yes: bool,
}
