//! What `htm timeline` and `htm neighbours` take.

use clap::Args;
use htm_core::NodeId;

#[derive(Args)]
#[command(after_help = "Without a topic it shows the latest of all that happened.

Examples:
  htm timeline --timeframe yesterday
  htm timeline billing --timeframe \"last month\" --by session
  htm timeline --tag database:postgresql
  htm timeline --session standup-12 --limit 100
  htm timeline --timeframe auto \"the migration since Monday\" --json")]
pub(crate) struct TimelineArgs {
    /// What it is about
    pub(crate) topic: Vec<String>,
    /// When, as `htm recall` takes it
    #[arg(long, value_name = "T")]
    pub(crate) timeframe: Option<String>,
    /// Where to look (may be repeated: then in all of them)
    #[arg(long = "namespace", value_name = "N")]
    pub(crate) namespaces: Vec<String>,
    /// Only nodes with this tag or one below it (may be repeated: then with all of them)
    #[arg(long = "tag", value_name = "PREFIX")]
    pub(crate) tags: Vec<String>,
    /// Only nodes with exactly this tag (may be repeated)
    #[arg(long = "exact-tag", value_name = "TAG")]
    pub(crate) exact_tags: Vec<String>,
    /// One of the tags is enough
    #[arg(long)]
    pub(crate) any_tag: bool,
    /// Only what this robot remembered (may be repeated: then what any of them did)
    #[arg(long = "robot", value_name = "R")]
    pub(crate) robots: Vec<String>,
    /// Only what was said in this conversation
    #[arg(long, value_name = "S")]
    pub(crate) session: Option<String>,
    /// Only nodes whose metadata contains this, as {"ticket": 7}
    #[arg(long, value_name = "JSON")]
    pub(crate) metadata: Option<String>,
    /// What belongs together: day or session
    #[arg(long, value_name = "WHAT", default_value = "day")]
    pub(crate) by: String,
    /// How a topic is searched for: vector, fulltext or hybrid
    #[arg(long, value_name = "S")]
    pub(crate) strategy: Option<String>,
    /// How many memories, 1 to 10000: the most relevant to the topic, or the latest
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) limit: Option<String>,
}

#[derive(Args)]
#[command(
    after_help = "In a conversation by the place in it, else by time; a memory of no conversation stands among \
whatever was remembered in its namespace.

Examples:
  htm neighbours 42
  htm neighbours 42 --before 2 --after 10 --json"
)]
pub(crate) struct NeighboursArgs {
    /// The node's id
    pub(crate) node: NodeId,
    /// How many before it, at most 1000
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub(crate) before: usize,
    /// How many after it, at most 1000
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub(crate) after: usize,
}
