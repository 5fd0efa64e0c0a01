//! Arguments of `htm jobs`.

use std::time::Duration;

use clap::builder::TypedValueParser;
use clap::{Args, Subcommand};
use htm_core::NodeId;
use htm_core::job::JobState;
use strum::VariantNames;

use super::words::Words;
use crate::duration::parse_duration;

#[derive(Subcommand)]
#[command(
    after_help = "Job states: due (can be claimed), waiting (for its next attempt), parked (for a budget or an \
operator), running, done, dead (a dead letter).

Examples:
  htm jobs stats
  htm jobs list --state dead
  htm jobs retry --all-dead
  htm jobs pause htm.embed --reason \"the provider is being moved\"
  htm jobs audit"
)]
pub(crate) enum JobsCommand {
    /// Show each queue's job counts and state
    Stats,
    /// List jobs: dead letters, then parked, then failed ones; newest first
    List(ListArgs),
    /// Show all details of jobs
    Show {
        /// The jobs' ids
        #[arg(value_name = "ID", required = true)]
        ids: Vec<String>,
    },
    /// Retry dead, parked or waiting jobs as if they were new
    Retry(RetryArgs),
    /// Turn pending or running jobs into dead letters; late results are rejected
    Cancel(CancelArgs),
    /// Pause a queue: no more claims; running jobs finish
    Pause {
        /// The queue, see `htm jobs stats`
        queue: String,
        /// The reason to show
        #[arg(long, value_name = "TEXT", default_value = "by an operator")]
        reason: String,
    },
    /// Resume a queue
    Resume {
        /// The queue
        queue: String,
    },
    /// Delete done jobs, and workers not seen for a day; results stay
    Prune(PruneArgs),
    /// Check that every memory has its result, a job or a dead letter; exit code 1 if not
    Audit {
        /// Enqueue the missing jobs
        #[arg(long)]
        repair: bool,
    },
}

/// Which jobs.
#[derive(Args)]
pub(crate) struct JobFilterArgs {
    /// Only jobs of this queue
    #[arg(long, value_name = "Q")]
    pub(crate) queue: Option<String>,
    /// Only jobs in this state: due, waiting, parked, running, done or dead
    #[arg(long, value_name = "S", hide_possible_values = true,
          value_parser = Words(JobState::VARIANTS).try_map(|text| text.parse::<JobState>()))]
    pub(crate) state: Option<JobState>,
    /// Only jobs of this namespace
    #[arg(long, value_name = "N")]
    pub(crate) namespace: Option<String>,
    /// Only jobs of this memory, by the node's id
    #[arg(long, value_name = "ID")]
    pub(crate) node: Option<NodeId>,
    /// Only jobs with this text in the last error, ignoring case
    #[arg(long, value_name = "TEXT")]
    pub(crate) error: Option<String>,
}

impl JobFilterArgs {
    /// Whether no filter is given.
    pub(crate) fn is_empty(&self) -> bool {
        let Self { queue, state, namespace, node, error } = self;
        queue.is_none() && state.is_none() && namespace.is_none() && node.is_none() && error.is_none()
    }
}

/// The filters' names. Jobs are named either by id or by filters.
const FILTERS: [&str; 5] = ["queue", "state", "namespace", "node", "error"];

#[derive(Args)]
#[command(after_help = "Done jobs are listed only with --state done.

Examples:
  htm jobs list
  htm jobs list --state dead --error \"context length\"
  htm jobs list --namespace atlas --json")]
pub(crate) struct ListArgs {
    #[command(flatten)]
    pub(crate) filter: JobFilterArgs,
    /// The number of jobs, 1 to 10000
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub(crate) limit: u32,
}

#[derive(Args)]
#[command(after_help = "Without --state, filters select dead letters.

Examples:
  htm jobs retry 01K5Z6J8Q3T9V7X2M4N6P8R0SA
  htm jobs retry --all-dead
  htm jobs retry --state parked --namespace atlas")]
pub(crate) struct RetryArgs {
    /// The jobs' ids
    #[arg(value_name = "ID", conflicts_with_all = FILTERS.iter().chain(&["all_dead"]))]
    pub(crate) ids: Vec<String>,
    /// Every dead letter
    #[arg(long, conflicts_with = "state")]
    pub(crate) all_dead: bool,
    #[command(flatten)]
    pub(crate) filter: JobFilterArgs,
}

#[derive(Args)]
#[command(after_help = "Examples:
  htm jobs cancel 01K5Z6J8Q3T9V7X2M4N6P8R0SA
  htm jobs cancel --namespace scratch --yes")]
pub(crate) struct CancelArgs {
    /// The jobs' ids
    #[arg(value_name = "ID", conflicts_with_all = FILTERS)]
    pub(crate) ids: Vec<String>,
    #[command(flatten)]
    pub(crate) filter: JobFilterArgs,
    /// Confirm; needed for more than one job
    #[arg(long)]
    pub(crate) yes: bool,
}

#[derive(Args)]
#[command(
    after_help = "Dead letters are deleted only if they are obsolete: the memory was forgotten or edited, or has its \
result from another job. Workers delete them after jobs.keep_done_ms; --dead deletes them now. A dead letter that explains a \
missing result stays.

Examples:
  htm jobs prune
  htm jobs prune --older-than 12h
  htm jobs prune --dead --older-than 30d --yes"
)]
pub(crate) struct PruneArgs {
    /// The minimum time since the end of jobs: 30s, 15m, 12h, 7d. Default: jobs.keep_done_ms
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub(crate) older_than: Option<Duration>,
    /// Delete obsolete dead letters instead of done jobs
    #[arg(long, requires = "older_than")]
    pub(crate) dead: bool,
    /// Confirm the deletion of dead letters
    #[arg(long)]
    pub(crate) yes: bool,
}
