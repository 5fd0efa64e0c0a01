//! What the command line takes.

mod context;
#[cfg(test)]
mod documented;
mod groups;
mod jobs;
mod memories;
mod models;
mod ontology;
mod providers;
mod refine;
mod robots;
mod tags;
mod time;

use std::path::PathBuf;

use chrono::{DateTime, NaiveDate, Utc};
use clap::{Args, Parser, Subcommand, value_parser};
use htm_core::{NodeId, Stage, TagPath, TagRules};
use htm_worker::arguments::parse_override;
use htm_worker::service::ServiceArgs;

pub(crate) use self::context::{ContextArgs, MemoryCommand, NodesArgs, WhoseArgs};
pub(crate) use self::groups::{GroupArgs, GroupsCommand, JoinArgs, ShutdownArgs, TransferArgs};
pub(crate) use self::jobs::{CancelArgs, FilterArgs, JobsCommand, ListArgs, PruneArgs, RetryArgs};
pub(crate) use self::memories::{EditArgs, ForgetArgs, ForgottenArgs, PurgeArgs, RestoreArgs};
pub(crate) use self::models::{
    ActivateArgs, AddArgs, BackfillArgs, BackfillOptions, CompareArgs, ModelBackfillArgs, ModelsCommand,
    RetireArgs,
};
pub(crate) use self::ontology::{DocumentFormat, ExportArgs, ImportTagsArgs, LayArgs, TreeArgs, TreeFormat};
pub(crate) use self::providers::{Limit, ProvidersArgs, ProvidersCommand, SetArgs};
pub(crate) use self::refine::RefineArgs;
pub(crate) use self::robots::{AddRobotArgs, MergeArgs, RobotsCommand, SetRobotArgs, StatsArgs};
pub(crate) use self::tags::{Consent, InNamespace, SplitTagArgs, SynonymsCommand, TagsCommand};
pub(crate) use self::time::{NeighboursArgs, TimelineArgs};

/// The memory that agents keep
#[derive(Parser)]
#[command(
    name = "htm",
    version,
    max_term_width = 110,
    after_help = "Examples:
  htm remember --tag database:postgresql \"We chose PostgreSQL 17.2 for the ledger.\"
  htm recall \"which database did we choose?\"
  htm context --budget 4000 \"which database did we choose?\" > prompt.txt
  htm up                       the private PostgreSQL and both workers, until Ctrl-C
  htm doctor                   what is wrong, and what mends it"
)]
pub(crate) struct Arguments {
    /// Print JSON, for programs
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Set a configuration value, as `--set recall.limit=5` (may be repeated)
    #[arg(long = "set", global = true, value_name = "SECTION.KEY=VALUE", value_parser = parse_override)]
    pub(crate) overrides: Vec<(String, String)>,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Remember a text
    Remember(RememberArgs),
    /// Find memories
    Recall(RecallArgs),
    /// Make a text for a prompt of what a robot recalls and has in mind
    Context(ContextArgs),
    /// What a robot has in mind: its working memory
    #[command(subcommand)]
    Memory(MemoryCommand),
    /// Show what happened, in the order of time
    Timeline(TimelineArgs),
    /// Show what was said around a memory
    Neighbours(NeighboursArgs),
    /// Show a node
    Get(GetArgs),
    /// Change a node
    Edit(EditArgs),
    /// Forget a node, or what matches a text
    Forget(ForgetArgs),
    /// List what is forgotten and can be restored
    Forgotten(ForgottenArgs),
    /// Bring a forgotten node back
    Restore(RestoreArgs),
    /// Remove for good what was forgotten before a time
    Purge(PurgeArgs),
    /// Show how far a node is: written, embedded, tagged
    Status(StatusArgs),
    /// Who remembers: list, add, rename and merge robots
    #[command(subcommand)]
    Robots(RobotsCommand),
    /// Groups of robots that share a working memory
    #[command(subcommand)]
    Groups(GroupsCommand),
    /// The tags: what they mean, how they are called, what was changed of them
    #[command(subcommand)]
    Tags(TagsCommand),
    /// Show the memory in numbers: by robot, type and tag, how far, how old, how large
    Stats(StatsArgs),
    /// Remember every line of a JSON Lines file
    Import(ImportArgs),
    /// The embedding models: several side by side, one of them asked by recall
    #[command(subcommand)]
    Models(ModelsCommand),
    /// Embed or tag what was remembered before
    Backfill(BackfillArgs),
    /// Run the private PostgreSQL and the workers until Ctrl-C
    #[command(
        after_help = "It opens no port, whatever worker.listen says: /livez, /readyz and /metrics are answered by \
the processes embed-worker and tag-worker."
    )]
    Up(ServiceArgs),
    /// Show the whole of HTM at work on a collection of memories
    Demo(DemoArgs),
    /// The jobs that embed and tag: look at them, do them again, pause them, audit them
    #[command(subcommand)]
    Jobs(JobsCommand),
    /// List the workers
    Workers,
    /// The models that are asked: their limits, how they do, and what namespaces may spend
    Providers(ProvidersArgs),
    /// The database
    #[command(subcommand)]
    Db(DbCommand),
    /// The configuration
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Look for what is wrong
    Doctor,
}

#[derive(Args)]
#[command(
    after_help = "A text that is there already, and has no key, time, speaker or conversation of its own, is counted \
as remembered again (memory.deduplicate): its tags are added, its importance, source and metadata stay.

Examples:
  htm remember \"Mara prefers tabs.\"
  htm remember --robot architect --key adr-7 --importance 8 --tag decision - < adr-7.md
  htm remember --at 2026-03-01 \"The migration ran for four hours.\"
  htm remember --type decision --metadata '{\"ticket\": 7}' \"Billing moves to Postgres.\"
  htm remember --session standup-12 --seq 3 --speaker Mara \"Billing moves on Monday.\""
)]
pub(crate) struct RememberArgs {
    /// The text; `-` reads standard input
    pub(crate) text: String,
    /// Where it belongs
    #[arg(long, value_name = "N")]
    pub(crate) namespace: Option<String>,
    /// Who remembers, and has it in mind
    #[arg(long, value_name = "R")]
    pub(crate) robot: Option<String>,
    /// A name for it, unique in its namespace
    #[arg(long, value_name = "K")]
    pub(crate) key: Option<String>,
    /// 1 to 10; 1–3 is transient, 7–10 a decision or a preference
    #[arg(long, value_name = "X", default_value_t = 1.0, allow_negative_numbers = true)]
    pub(crate) importance: f32,
    /// Where it comes from
    #[arg(long, value_name = "S")]
    pub(crate) source: Option<String>,
    /// What it is, as fact or decision
    #[arg(long = "type", value_name = "T")]
    pub(crate) kind: Option<String>,
    /// Anything else, as {"ticket": 7}
    #[arg(long, value_name = "JSON")]
    pub(crate) metadata: Option<String>,
    /// The conversation that it was said in
    #[arg(long, value_name = "S")]
    pub(crate) session: Option<String>,
    /// Who said it
    #[arg(long, value_name = "WHO")]
    pub(crate) speaker: Option<String>,
    /// Its place in the conversation
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) seq: Option<i32>,
    /// A tag, as database:postgresql (may be repeated)
    #[arg(long = "tag", value_name = "T")]
    pub(crate) tags: Vec<String>,
    /// When it happened: a date, which begins at midnight of time.zone, or an RFC 3339 time; now if left out
    #[arg(long, value_name = "TIME")]
    pub(crate) at: Option<String>,
    /// Wait until it is embedded and tagged, at most this many seconds
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "60")]
    pub(crate) wait: Option<u64>,
}

#[derive(Args)]
#[command(after_help = "Examples:
  htm recall \"which database did we choose?\"
  htm recall --namespace atlas --timeframe 2026-03-01..2026-04-01 --tag database migration
  htm recall --namespace atlas --namespace home --robot architect --robot reviewer \"what is left to do?\"
  htm recall --as ada \"what is left to do?\"              what is found comes to ada's mind
  htm recall --boost-tag database --facets \"what slows us down?\"
  htm recall --timeframe \"last 3 days\" migration
  htm recall --rerank similarity=0.6,recency=0.4 \"what did Mara say?\"
  htm recall --timeframe auto \"what did we decide last week about billing\"
  htm recall --cross-encode --fold --diversity 0.3 \"what did we learn from the outage?\"
  htm recall --strategy fulltext --limit 5 --json \"PostgreSQL 17.2\"
  htm recall --strategy auto --snippets '\"night watch\" castle* -draft'
  htm recall --explain --min-similarity 0.4 \"what slows us down?\"
  htm recall --batch queries.jsonl --limit 20 > run.jsonl")]
pub(crate) struct RecallArgs {
    /// What to look for: "a phrase" must be there (beside words it is preferred), -word must not (in sentences it is a
    /// word), word* is the beginning of words; 17.2, --flag, a::b come first where they are written so. Before a query
    /// with a dash: --
    #[arg(required_unless_present = "batch", num_args = 0..)]
    pub(crate) query: Vec<String>,
    /// Where to look (may be repeated: then in all of them)
    #[arg(long = "namespace", value_name = "N")]
    pub(crate) namespaces: Vec<String>,
    /// vector, fulltext, hybrid, or auto: what the query looks like
    #[arg(long, value_name = "S")]
    pub(crate) strategy: Option<String>,
    /// A day (2026-03-01), a range (2026-03-01..2026-04-01; the end is excluded, that of `between A and B` and of `from
    /// A to B` is not), words (yesterday, last week, past 2 hours, since Monday), several (A, B or C); or auto: what the
    /// query says
    #[arg(long, value_name = "T")]
    pub(crate) timeframe: Option<String>,
    /// Only nodes with this tag or one below it (may be repeated: then with all of them)
    #[arg(long = "tag", value_name = "PREFIX")]
    pub(crate) tags: Vec<String>,
    /// Only nodes with exactly this tag (may be repeated)
    #[arg(long = "exact-tag", value_name = "TAG")]
    pub(crate) exact_tags: Vec<String>,
    /// One of the tags is enough
    #[arg(long)]
    pub(crate) any_tag: bool,
    /// Prefer nodes with this tag or one below it, and order by relevance (may be repeated)
    #[arg(long = "boost-tag", value_name = "PREFIX")]
    pub(crate) boost_tags: Vec<String>,
    /// Order by relevance: `relevance` (the weights of the configuration), or signals with weights, as
    /// similarity=0.7,recency=0.3; of similarity, text, importance, recency, access, tags
    #[arg(long, value_name = "WEIGHTS")]
    pub(crate) rerank: Option<String>,
    /// Show the tags of the hits too
    #[arg(long)]
    pub(crate) facets: bool,
    /// Only what this robot remembered (may be repeated: then what any of them did)
    #[arg(long = "robot", value_name = "R")]
    pub(crate) robots: Vec<String>,
    /// Who asks: what is found comes to this robot's mind
    #[arg(long = "as", value_name = "R", conflicts_with = "batch")]
    pub(crate) asks: Option<String>,
    /// Search the vectors of this model, as `htm models list` names it (may be repeated: then the lists are fused by rank)
    #[arg(long = "model", value_name = "M")]
    pub(crate) models: Vec<String>,
    /// Only what was said in this conversation
    #[arg(long, value_name = "S")]
    pub(crate) session: Option<String>,
    /// Only nodes whose metadata contains this, as {"ticket": 7}
    #[arg(long, value_name = "JSON")]
    pub(crate) metadata: Option<String>,
    /// How many hits, 1 to 10000
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) limit: Option<String>,
    /// The least similarity, 0 to 1, that vectors may bring; what the words bring stays
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    pub(crate) min_similarity: Option<String>,
    /// Take every word as it is typed; unknown words are spell-corrected otherwise
    #[arg(long)]
    pub(crate) no_correct: bool,
    /// Show the passage of each hit that has most of the query, its words marked
    #[arg(long)]
    pub(crate) snippets: bool,
    /// Show what each score is made of, and what was searched
    #[arg(long)]
    pub(crate) explain: bool,
    /// Answer every line {"id", "ns", "text"} of a file with a line {"qid", "ids", "ms", "search_ms"}
    #[arg(long, value_name = "QUERIES.jsonl", conflicts_with_all = ["query", "namespaces"])]
    pub(crate) batch: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) refine: RefineArgs,
}

#[derive(Args)]
pub(crate) struct GetArgs {
    /// The node's id, or its key with --key
    #[arg(required_unless_present = "key", value_parser = node_or_hint)]
    pub(crate) node: Option<NodeId>,
    /// The node's key
    #[arg(long, value_name = "K", conflicts_with = "node")]
    pub(crate) key: Option<String>,
    /// The key's namespace
    #[arg(long, value_name = "N", requires = "key")]
    pub(crate) namespace: Option<String>,
    /// Show every text that it has had, too
    #[arg(long)]
    pub(crate) revisions: bool,
}

#[derive(Args)]
pub(crate) struct StatusArgs {
    /// The node's id
    pub(crate) node: NodeId,
    /// Wait until this stage (embed or tag) is done
    #[arg(long, value_name = "STAGE")]
    pub(crate) wait: Option<Stage>,
    /// How long to wait, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60, requires = "wait")]
    pub(crate) timeout: u64,
}

#[derive(Args)]
#[command(
    after_help = "A line is {\"id\", \"ns\", \"text\", \"created_at\"?, \"speaker\"?, \"session\"?, \"seq\"?, \
\"tags\"?, \"metadata\"?, \"robot\"?, \"importance\"?, \"source\"?, \"type\"?}: the id becomes the node's key, ns its namespace. A line that is there \
already is skipped, so an import that was interrupted is simply run again; a line that cannot go in is reported \
with its number, and the rest goes in.

Example:
  htm import memories.jsonl"
)]
pub(crate) struct ImportArgs {
    /// The file; `-` reads standard input
    pub(crate) file: PathBuf,
    /// Lines a transaction; fewer when their texts are long
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = value_parser!(u16).range(1..=10_000))]
    pub(crate) chunk: u16,
}

#[derive(Args)]
pub(crate) struct DemoArgs {
    /// Leave the demo's database in place, to look around in (`htm demo` tells its URL)
    #[arg(long)]
    pub(crate) keep: bool,
}

#[derive(Subcommand)]
pub(crate) enum DbCommand {
    /// Start the private PostgreSQL and let it stay; migrate it
    Up,
    /// Stop the private PostgreSQL, unless others use it
    Down {
        /// Whoever uses it: their connections are ended
        #[arg(long)]
        force: bool,
    },
    /// Show where the database is and how it does
    Status,
    /// Print the database's URL
    Url,
    /// Bring the schema up to this program's version
    #[command(
        after_help = "The role that migrates owns the tables. Applications and workers can do with less: a role that \
reads and writes rows, and owns nothing.

Examples:
  htm db migrate
  HTM_DATABASE__URL=postgres://owner@db.example.com/htm htm db migrate --application-role htm_app"
    )]
    Migrate {
        /// Let this role read and write, too: for applications and workers
        #[arg(long, value_name = "ROLE")]
        application_role: Option<String>,
    },
    /// Delete every memory: drop HTM's schema and apalis' (with every job in it)
    Reset {
        /// Yes, delete every memory
        #[arg(long)]
        yes: bool,
    },
}

#[derive(Subcommand)]
pub(crate) enum ConfigCommand {
    /// Show every value and where it came from
    Show,
    /// Say what a key does, or every key of a section
    #[command(after_help = "Examples:\n  htm config explain recall.limit\n  htm config explain jobs")]
    Explain {
        /// The key, as recall.limit, or the section, as recall
        #[arg(value_name = "KEY")]
        name: String,
    },
    /// Print every key with what it does and its default: a file to start from
    #[command(after_help = "Example:\n  htm config default > htm.toml")]
    Default,
    /// Trust htm.toml and htm.local.toml of this directory, or the nearest above it, as they are now
    #[command(
        after_help = "Such a file may be somebody else's. Without trust it cannot set what decides where memories and \
keys go, and which files are read: URLs, keys, paths, a provider that is not local, a port. Trust is in the content: a \
file that is changed has to be trusted again."
    )]
    Trust {
        /// Trust them no longer
        #[arg(long)]
        revoke: bool,
    },
}

/// Tags from the command line as they are stored, with the library's error for one that is none.
pub(crate) fn parse_tags(rules: &TagRules, tags: &[String]) -> Result<Vec<TagPath>, htm_core::Error> {
    tags.iter().map(|tag| Ok(rules.normalise(tag)?)).collect()
}

/// A node's id; who gives a key is told how.
fn node_or_hint(text: &str) -> Result<NodeId, String> {
    text.parse().map_err(|error| format!("{error}; by its key: `htm get --key {text}`"))
}

fn parse_time(text: &str) -> Result<DateTime<Utc>, String> {
    if let Ok(day) = text.parse::<NaiveDate>() {
        return Ok(day.and_time(chrono::NaiveTime::MIN).and_utc());
    }
    DateTime::parse_from_rfc3339(text)
        .map(|time| time.to_utc())
        .map_err(|_| "write a date (2026-03-01) or a time (2026-03-01T12:00:00Z)".into())
}
