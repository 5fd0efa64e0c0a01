//! Options that choose memories, for every command that reads them.

use clap::Args;
use serde::{Deserialize, Serialize};

/// The namespaces and the memories of them.
#[derive(Args, Clone, Default, Serialize, Deserialize)]
#[command(next_help_heading = "Filters")]
pub(crate) struct FilterArgs {
    /// Search this namespace (may be repeated). Default: memory.namespace
    #[arg(long = "namespace", value_name = "N")]
    pub(crate) namespaces: Vec<String>,
    #[command(flatten)]
    pub(crate) which: WhichArgs,
}

/// The memories of a namespace that is named elsewhere.
#[derive(Args, Clone, Default, Serialize, Deserialize)]
#[command(next_help_heading = "Filters")]
pub(crate) struct WhichArgs {
    /// A day (2026-03-01), a range (2026-03-01..2026-04-01 excludes its end, `from A to B` and `between A and B` include
    /// it), words (yesterday, last week, past 2 hours, since Monday), a list (A, B or C), or auto (the time in the query)
    #[arg(long, value_name = "T")]
    pub(crate) timeframe: Option<String>,
    /// Only memories with this tag or one below it (may be repeated: all are required)
    #[arg(long = "tag", value_name = "PREFIX")]
    pub(crate) tags: Vec<String>,
    /// Only memories with exactly this tag (may be repeated)
    #[arg(long = "exact-tag", value_name = "TAG")]
    pub(crate) exact_tags: Vec<String>,
    /// Require any of the tags, not all
    #[arg(long)]
    pub(crate) any_tag: bool,
    /// Only memories of this robot (may be repeated: any of them)
    #[arg(long = "robot", value_name = "R")]
    pub(crate) robots: Vec<String>,
    /// Only memories of this conversation
    #[arg(long, value_name = "S")]
    pub(crate) session: Option<String>,
    /// Only memories from this source (may be repeated: any of them)
    #[arg(long = "source", value_name = "S")]
    pub(crate) sources: Vec<String>,
    /// Only memories of this kind, for example decision (may be repeated: any of them)
    #[arg(long = "type", value_name = "T")]
    pub(crate) kinds: Vec<String>,
    /// Only memories of at least this importance, 1 to 10
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub(crate) min_importance: Option<f32>,
    /// Only memories whose metadata contains this, for example {"ticket": 7}
    #[arg(long, value_name = "JSON")]
    pub(crate) metadata: Option<String>,
}
