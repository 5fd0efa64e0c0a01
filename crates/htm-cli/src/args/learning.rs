//! Arguments of `htm learning`, `htm feedback` and `htm ranking`.

use clap::builder::TypedValueParser;
use clap::{ArgGroup, Args, Subcommand};
use htm_core::{NodeId, Signal};

use super::words::Words;

#[derive(Args)]
#[command(
    group(ArgGroup::new("verdicts").required(true).multiple(true).args(["used", "useless"])),
    after_help = "Where learning is on, `htm recall` prints the recall's id. A later verdict replaces an earlier one.

Examples:
  htm feedback 01M8AGE71K3WB1C51X48ZE4G8H --used 42,17 --useless 9
  htm feedback last --used 42 --json"
)]
pub(crate) struct FeedbackArgs {
    /// The id of the recall, or `last`: the last one of this robot
    pub(crate) recall: String,
    /// The namespace of the recall; `last` is the last one in it. Default: any
    #[arg(long, value_name = "N")]
    pub(crate) namespace: Option<String>,
    /// The ids of the used memories
    #[arg(long, value_name = "NODE,…", value_delimiter = ',')]
    pub(crate) used: Vec<NodeId>,
    /// The ids of the useless memories
    #[arg(long, value_name = "NODE,…", value_delimiter = ',')]
    pub(crate) useless: Vec<NodeId>,
}

#[derive(Subcommand)]
pub(crate) enum LearningCommand {
    /// Show a namespace's settings for learning, its kept recalls and their judges
    Show(OfNamespace),
    /// Keep recalls for feedback, and learn a ranking from it
    On(LearningOnArgs),
    /// Print the judged recalls as JSON Lines, with the features of their candidates
    Export(OfNamespace),
    /// Keep no more recalls; the ranking in use stays
    Off(OfNamespace),
}

/// A namespace.
#[derive(Args)]
pub(crate) struct OfNamespace {
    /// The namespace. Default: memory.namespace
    #[arg(long)]
    pub(crate) namespace: Option<String>,
}

#[derive(Args)]
#[command(
    after_help = "A kept recall has its author, its time, up to 200 candidates with the numbers that rank them, and its \
feedback. An unjudged recall is kept for a day. A learn-worker (`htm up` has one) fits a ranking when enough \
recalls are judged. It is used only if it is better on recalls that it was not fitted to.

Settings that are not given stay as they are.

Examples:
  htm learning on --namespace atlas
  htm learning on --namespace atlas --signal read --signal cited --keep-days 30
  htm learning on --namespace hermes --with atlas"
)]
pub(crate) struct LearningOnArgs {
    #[command(flatten)]
    pub(crate) of: OfNamespace,
    /// Share the ranking of this namespace, and put the feedback of both together
    #[arg(long, value_name = "NAMESPACE")]
    pub(crate) with: Option<String>,
    /// Keep the texts of queries too
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub(crate) keep_text: Option<bool>,
    /// The days for which judged recalls are kept, 1 to 3650
    #[arg(long, value_name = "DAYS")]
    pub(crate) keep_days: Option<i32>,
    /// Learn a ranking from this number of recalls with a used memory, 20 to 100000
    #[arg(long, value_name = "N")]
    pub(crate) least: Option<i32>,
    /// An action that counts as feedback: read, edited, forgotten, cited, or none (may be repeated)
    #[arg(long = "signal", value_name = "SIGNAL", hide_possible_values = true,
          value_parser = Words(&["read", "edited", "forgotten", "cited", "none"]).try_map(|text| parse_signal(&text)))]
    pub(crate) signals: Vec<Option<Signal>>,
}

fn parse_signal(text: &str) -> Result<Option<Signal>, String> {
    match text {
        "none" => Ok(None),
        _ => text.parse().map(Some).map_err(|_| "write read, edited, forgotten, cited or none".into()),
    }
}

#[derive(Subcommand)]
pub(crate) enum RankingCommand {
    /// List the learnt rankings, and which one is used
    List(OfNamespace),
    /// Show a ranking's weights, its evidence and its confidence
    Show(ShowRankingArgs),
    /// Show the result of a trial on live recalls
    Compare(RankingVersionArgs),
    /// Use a version from now on; 0 is the default ranking
    #[command(after_help = "Example:\n  htm ranking activate 3 --namespace atlas")]
    Activate(RankingVersionArgs),
    /// Go back to the previous version
    Revert(OfNamespace),
    /// Try a version on live recalls: in the shadow, or interleaved
    Try(TryRankingArgs),
}

#[derive(Args)]
#[command(after_help = "Examples:
  htm ranking show
  htm ranking show 3 --namespace atlas --json")]
pub(crate) struct ShowRankingArgs {
    /// The version (default: the one in use, or else the newest)
    pub(crate) version: Option<i32>,
    #[command(flatten)]
    pub(crate) of: OfNamespace,
}

#[derive(Args)]
pub(crate) struct RankingVersionArgs {
    /// The version
    pub(crate) version: i32,
    #[command(flatten)]
    pub(crate) of: OfNamespace,
}

#[derive(Args)]
#[command(
    after_help = "In the shadow, hits stay as they are, and it is counted how often the version would have changed them. \
Interleaved, the hits of both versions are mixed, and feedback decides. Learning has to be on.

Examples:
  htm ranking try 3 --shadow
  htm ranking try 3 --interleaved
  htm ranking compare 3
  htm ranking try --end"
)]
pub(crate) struct TryRankingArgs {
    /// The version
    #[arg(required_unless_present = "end")]
    pub(crate) version: Option<i32>,
    /// Only count how often it would change the hits
    #[arg(long, conflicts_with_all = ["interleaved", "end"], required_unless_present_any = ["interleaved", "end"])]
    pub(crate) shadow: bool,
    /// Mix the hits of both versions
    #[arg(long, conflicts_with = "end", required_unless_present_any = ["shadow", "end"])]
    pub(crate) interleaved: bool,
    /// End the trial
    #[arg(long, conflicts_with = "version")]
    pub(crate) end: bool,
    #[command(flatten)]
    pub(crate) of: OfNamespace,
}
