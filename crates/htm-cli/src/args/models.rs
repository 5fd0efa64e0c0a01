//! What `htm models` and `htm backfill` take.

use std::path::PathBuf;

use chrono::{DateTime, Utc};
use clap::{Args, Subcommand, value_parser};
use htm_core::Stage;

use super::parse_time;

#[derive(Subcommand)]
pub(crate) enum ModelsCommand {
    /// Show every embedding model: what it is used for, and how complete it is
    List,
    /// Register a model beside the others; writes go to it from then on
    Add(AddArgs),
    /// Embed what was remembered before a model was added, and build its index
    Backfill(ModelBackfillArgs),
    /// Show how far two models agree: the overlap of their first 10 hits by vector
    Compare(CompareArgs),
    /// Let recall ask a model; the one before stays complete, and can be activated again
    Activate(ActivateArgs),
    /// Write no more to a model, and remove its open jobs
    Retire(RetireArgs),
}

#[derive(Args)]
#[command(after_help = "Examples:
  htm models add ollama/nomic-embed-text
  htm models add openai/text-embedding-3-large --dimensions 1024")]
pub(crate) struct AddArgs {
    /// Its provider (local, ollama, openai, fake) and name
    #[arg(value_name = "PROVIDER/NAME")]
    pub(crate) model: String,
    /// The length of its vectors, 1 to 4000; the provider is asked if left out
    #[arg(long, value_name = "D", value_parser = value_parser!(u16).range(1..=4_000))]
    pub(crate) dimensions: Option<u16>,
}

#[derive(Args)]
pub(crate) struct ModelBackfillArgs {
    /// The model, as `htm models list` calls it
    pub(crate) label: String,
    #[command(flatten)]
    pub(crate) options: BackfillOptions,
}

#[derive(Args)]
#[command(
    after_help = "A file has a query {\"id\", \"ns\", \"text\"} on each line, as `htm recall --batch` takes it. \
Without queries, the first sentences of 50 random memories are asked."
)]
pub(crate) struct CompareArgs {
    /// One model, as `htm models list` calls it
    pub(crate) a: String,
    /// The other
    pub(crate) b: String,
    /// What to ask both
    #[arg(value_name = "QUERY")]
    pub(crate) queries: Vec<String>,
    /// Ask every line of a file
    #[arg(long, value_name = "QUERIES.jsonl", conflicts_with = "queries")]
    pub(crate) file: Option<PathBuf>,
    /// Where to look
    #[arg(long, value_name = "N")]
    pub(crate) namespace: Option<String>,
}

#[derive(Args)]
pub(crate) struct ActivateArgs {
    /// The model, as `htm models list` calls it
    pub(crate) label: String,
    /// Even if vectors do not find some nodes then that they find now
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Args)]
pub(crate) struct RetireArgs {
    /// The model, as `htm models list` calls it
    pub(crate) label: String,
    /// Delete its vectors as well
    #[arg(long)]
    pub(crate) drop: bool,
    /// Yes, delete its vectors
    #[arg(long, requires = "drop")]
    pub(crate) yes: bool,
}

#[derive(Args)]
#[command(
    after_help = "A run that was interrupted goes on when it is started again. New memories are always served \
first.

Examples:
  htm backfill embed                           whatever the active model has not embedded
  htm backfill tag --prompt-version            tag again what another prompt, rules or model than the configured tagged
  htm backfill tag --force --since 2026-03-01  tag again, whoever tagged it
  htm backfill tag --dry-run                   how many there are"
)]
pub(crate) struct BackfillArgs {
    /// embed or tag
    pub(crate) stage: Stage,
    /// The embedding model, as `htm models list` calls it; the active one if left out
    #[arg(long, value_name = "LABEL")]
    pub(crate) model: Option<String>,
    /// Only what is tagged already, by another version than this one (that of the configured tagger if left out), or by
    /// another model; tags by hand stay
    #[arg(long, value_name = "V", num_args = 0..=1, conflicts_with = "force")]
    pub(crate) prompt_version: Option<Option<String>>,
    #[command(flatten)]
    pub(crate) options: BackfillOptions,
}

#[derive(Args)]
pub(crate) struct BackfillOptions {
    /// Only this namespace
    #[arg(long, value_name = "N")]
    pub(crate) namespace: Option<String>,
    /// Only memories of this time or later: a date or an RFC 3339 time
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub(crate) since: Option<DateTime<Utc>>,
    /// Also what is done already
    #[arg(long)]
    pub(crate) force: bool,
    /// Only count
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// How many of its jobs may wait in the queue at once
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = value_parser!(u64).range(1..))]
    pub(crate) max_queued: u64,
    /// Return when all is enqueued; else when all is done
    #[arg(long)]
    pub(crate) no_wait: bool,
}
