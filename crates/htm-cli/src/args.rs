//! The arguments of the command line.

mod capacity;
mod context;
#[cfg(test)]
mod documented;
mod documents;
mod erase;
mod filter;
mod groups;
mod hook;
mod import;
mod jobs;
mod keys;
mod learning;
mod mcp;
mod memories;
mod models;
mod namespaces;
mod ontology;
mod packaging;
mod providers;
mod refine;
mod relations;
mod robots;
mod server;
mod tags;
mod time;
mod way;
mod words;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use htm_core::{NodeId, Stage, Strategy, TagPath, TagRules};
use htm_worker::arguments::parse_override;
use serde::{Deserialize, Serialize};
use strum::VariantNames;

pub(crate) use self::capacity::CapacityArgs;
pub(crate) use self::context::{ContextArgs, MemoryCommand, NodesArgs, WhoseArgs};
pub(crate) use self::documents::{DocumentsArgs, LoadArgs, UnloadArgs};
pub(crate) use self::erase::{EraseArgs, EraseCommand, ListErasuresArgs, VerifyArgs};
pub(crate) use self::filter::{FilterArgs, WhichArgs};
pub(crate) use self::groups::{GroupArgs, GroupsCommand, JoinArgs, ShutdownArgs, TransferArgs};
pub(crate) use self::hook::{ContextHookArgs, HookArgs, HookCommand, PromptHookArgs, StopHookArgs};
pub(crate) use self::import::ImportArgs;
pub(crate) use self::jobs::{CancelArgs, JobFilterArgs, JobsCommand, ListArgs, PruneArgs, RetryArgs};
pub(crate) use self::keys::{AuditArgs, CreateKeyArgs, KeysCommand};
pub(crate) use self::learning::{
    FeedbackArgs, LearningCommand, LearningOnArgs, RankingCommand, ShowRankingArgs, TryRankingArgs,
};
pub(crate) use self::mcp::{
    Client, ClientPlaceArgs, ClientScope, InstallArgs, McpArgs, McpCommand, McpServerArgs, UninstallArgs,
};
pub(crate) use self::memories::{
    EditArgs, ExportAllArgs, ForgetArgs, ForgottenArgs, PlanArgs, PurgeArgs, RestoreArgs,
};
pub(crate) use self::models::{
    ActivateArgs, AddArgs, BackfillArgs, BackfillOptions, CompareArgs, IndexArgs, ListModelsArgs,
    ModelBackfillArgs, ModelsCommand, PullArgs, RetireArgs,
};
pub(crate) use self::namespaces::{NamespaceListArgs, NamespacesCommand, QuotaArgs, RetentionArgs};
pub(crate) use self::ontology::{DocumentFormat, ExportArgs, ImportTagsArgs, LayArgs, TreeArgs, TreeFormat};
pub(crate) use self::packaging::{CompletionsArgs, ManArgs, Program};
pub(crate) use self::providers::{Limit, ProvidersArgs, ProvidersCommand, SetArgs};
pub(crate) use self::refine::RefineArgs;
pub(crate) use self::relations::{RelateArgs, RelatedArgs, RelationArgs, UnrelateArgs};
pub(crate) use self::robots::{AddRobotArgs, MergeArgs, RobotsCommand, SetRobotArgs, StatsArgs};
pub(crate) use self::server::{ListeningArgs, ServeArgs, UpArgs};
pub(crate) use self::tags::{
    Consent, DistinctCommand, InNamespace, SplitTagArgs, SynonymsCommand, TagsCommand,
};
pub(crate) use self::time::{NeighboursArgs, TimelineArgs};
pub(crate) use self::way::WayArgs;
use self::words::{Words, stage};

/// Durable memory for LLM agents
#[derive(Parser)]
#[command(
    name = "htm",
    version,
    max_term_width = 110,
    after_help = "Examples:
  htm remember --tag database:postgresql \"We chose PostgreSQL 17.2.\"
  htm recall \"which database did we choose?\"
  htm context --budget 4000 \"which database did we choose?\" > prompt.txt
  htm up                       the private PostgreSQL, the workers and HTTP, until Ctrl-C
  htm doctor                   problems and their fixes"
)]
pub(crate) struct Arguments {
    /// Print JSON, for programs
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Set a configuration value: `--set recall.limit=5` (may be repeated)
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
    /// Print a robot's working memory as text for a prompt
    Context(ContextArgs),
    /// Show and change a robot's working memory
    #[command(subcommand)]
    Memory(MemoryCommand),
    /// List memories by time
    Timeline(TimelineArgs),
    /// Show the memories before and after a memory
    Neighbours(NeighboursArgs),
    /// Show a memory
    Get(GetArgs),
    /// Change a memory
    Edit(EditArgs),
    /// Record that a memory supersedes or contradicts another one
    Relate(RelateArgs),
    /// Remove a relation between two memories
    Unrelate(UnrelateArgs),
    /// Show the relations of a memory
    Related(RelatedArgs),
    /// Judge the hits of a recall: used or useless
    Feedback(FeedbackArgs),
    /// Keep recalls for feedback, so that a ranking is learnt
    #[command(subcommand)]
    Learning(LearningCommand),
    /// Show and choose the learnt rankings
    #[command(subcommand)]
    Ranking(RankingCommand),
    /// Forget a memory, or all memories that match a text
    Forget(ForgetArgs),
    /// List forgotten memories
    Forgotten(ForgottenArgs),
    /// Restore a forgotten memory
    Restore(RestoreArgs),
    /// Delete memories forgotten before a time
    Purge(PurgeArgs),
    /// Erase memories, or a namespace, with every trace
    Erase(EraseArgs),
    /// Forget expired memories and carry out the retention policies now, as workers do
    Sweep,
    /// List namespaces, and set their retention policies and quotas
    #[command(subcommand)]
    Namespaces(NamespacesCommand),
    /// Show a memory's progress: written, embedded, tagged
    Status(StatusArgs),
    /// List, add, rename and merge robots
    #[command(subcommand)]
    Robots(RobotsCommand),
    /// Manage groups: robots with a shared working memory
    #[command(subcommand)]
    Groups(GroupsCommand),
    /// Manage the ontology: tags, descriptions, synonyms, changes
    #[command(subcommand)]
    Tags(TagsCommand),
    /// Show counts by robot, type and tag, progress, ages and sizes
    Stats(StatsArgs),
    /// Export all primary data as JSON Lines
    Export(ExportAllArgs),
    /// Import memories from a JSON Lines file, an export, or another system
    Import(ImportArgs),
    /// Load files and directories as passages that recall finds
    Load(LoadArgs),
    /// Forget the passages of loaded documents
    Unload(UnloadArgs),
    /// List the loaded documents
    Documents(DocumentsArgs),
    /// Manage embedding models: several side by side, one active
    #[command(subcommand)]
    Models(ModelsCommand),
    /// Embed or tag existing memories
    Backfill(BackfillArgs),
    /// Run the private PostgreSQL, the workers and the HTTP server until Ctrl-C
    Up(UpArgs),
    /// Serve HTTP until Ctrl-C
    Serve(ServeArgs),
    /// Create, list and revoke keys of the HTTP server
    #[command(subcommand)]
    Keys(KeysCommand),
    /// Show who changed keys, limits, policies, robots, models or the ontology, or deleted
    Audit(AuditArgs),
    /// Serve the memory to an agent over MCP, on standard input and output
    Mcp(McpArgs),
    /// Run a hook of Claude Code: JSON on standard input and output
    Hook(HookArgs),
    /// Run HTM end to end on sample memories
    Demo(DemoArgs),
    /// List, retry, pause and audit the embedding and tagging jobs
    #[command(subcommand)]
    Jobs(JobsCommand),
    /// List the workers
    Workers,
    /// Show providers, and set limits and budgets
    Providers(ProvidersArgs),
    /// Plan capacity: the disk, memory, workers, calls and hosts that memories need
    Capacity(CapacityArgs),
    /// Manage the database
    #[command(subcommand)]
    Db(DbCommand),
    /// Show, explain and trust the configuration
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Report problems and their fixes
    Doctor,
    /// Print the completions of a shell
    Completions(CompletionsArgs),
    /// Print the man page, or write those of every command
    Man(ManArgs),
}

#[derive(Args, Clone, Serialize, Deserialize)]
#[command(
    after_help = "A text without a key, time, speaker or conversation is stored once (memory.deduplicate). Remembering it \
again is counted and adds its tags; importance, source and metadata stay. With a key, the same \
text again writes nothing (`htm edit` changes the memory), and another text is refused.

Examples:
  htm remember \"Mara prefers tabs.\"
  htm remember --robot architect --key adr-7 --importance 8 --tag decision - < adr-7.md
  htm remember --at 2026-03-01 \"The migration ran for four hours.\"
  htm remember --expires 12h \"The staging server is down for the night.\"
  htm remember --type decision --metadata '{\"ticket\": 7}' \"Billing moves.\"
  htm remember --session standup-12 --seq 3 --speaker Mara \"Billing moves.\""
)]
pub(crate) struct RememberArgs {
    /// The text; `-` reads standard input, without its last line break
    pub(crate) text: String,
    /// Its namespace. Default: memory.namespace
    #[arg(long, value_name = "N")]
    pub(crate) namespace: Option<String>,
    /// Remember as this robot; the text enters its working memory
    #[arg(long, value_name = "R")]
    pub(crate) robot: Option<String>,
    /// Its key, unique in its namespace
    #[arg(long, value_name = "K")]
    pub(crate) key: Option<String>,
    /// Its importance, 1 to 10: 1–3 for transient facts, 7–10 for decisions and preferences
    #[arg(long, value_name = "X", default_value_t = 1.0, allow_negative_numbers = true)]
    pub(crate) importance: f32,
    /// Its source
    #[arg(long, value_name = "S")]
    pub(crate) source: Option<String>,
    /// Its type, for example fact or decision
    #[arg(long = "type", value_name = "T")]
    pub(crate) kind: Option<String>,
    /// Its metadata, for example {"ticket": 7}
    #[arg(long, value_name = "JSON")]
    pub(crate) metadata: Option<String>,
    /// Its conversation
    #[arg(long, value_name = "S")]
    pub(crate) session: Option<String>,
    /// Its speaker
    #[arg(long, value_name = "WHO")]
    pub(crate) speaker: Option<String>,
    /// Its position in the conversation
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) seq: Option<i32>,
    /// A tag, for example database:postgresql (may be repeated)
    #[arg(long = "tag", value_name = "T")]
    pub(crate) tags: Vec<String>,
    /// Its time: a date (midnight in time.zone), an RFC 3339 time, or words (yesterday, 2 hours ago). Default: now
    #[arg(long, value_name = "TIME")]
    pub(crate) at: Option<String>,
    /// Its expiry: a time to live (30m, 12h, 90d, 2w, 1y), or a future date or time. Default: never
    #[arg(long, value_name = "TIME")]
    pub(crate) expires: Option<String>,
    /// Wait for embedding and tagging, at most SECONDS (60 if not given)
    // With `=` alone: a text may follow it.
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, require_equals = true, default_missing_value = "60")]
    pub(crate) wait: Option<u64>,
    #[command(flatten)]
    pub(crate) way: WayArgs,
}

#[derive(Args, Serialize, Deserialize)]
#[command(after_help = "Examples:
  htm recall \"which database did we choose?\"
  htm recall --namespace atlas --timeframe 2026-03-01..2026-04-01 --tag database migration
  htm recall --namespace atlas --namespace home --robot ada \"what is left?\"
  htm recall --as ada \"what is left to do?\"              the hits enter ada's working memory
  htm recall --type decision --min-importance 7 \"which database did we choose?\"
  htm recall --boost-tag database --facets \"what slows us down?\"
  htm recall --timeframe \"last 3 days\" migration
  htm recall --order-by similarity=0.6,recency=0.4 \"what did Mara say?\"
  htm recall --timeframe auto \"what did we decide last week about billing\"
  htm recall --rerank --fold --diversity 0.3 \"what did the outage teach us?\"
  htm recall --strategy fulltext --limit 5 --json \"PostgreSQL 17.2\"
  htm recall --as-of 2026-03-01 \"which database did we choose?\"
  htm recall --strategy auto --snippets '\"night watch\" castle* -draft'
  htm recall --explain --min-similarity 0.4 \"what slows us down?\"
  htm recall --batch queries.jsonl --limit 20 > run.jsonl")]
pub(crate) struct RecallArgs {
    /// The query. A "quoted phrase" is required, or preferred beside other words. -word excludes a word, except in
    /// sentences. word* matches a prefix. Exact matches of terms such as 17.2, --flag and a::b rank first. Put -- before
    /// a query with a leading dash
    #[arg(required_unless_present = "batch", num_args = 0..)]
    pub(crate) query: Vec<String>,
    /// vector, fulltext, hybrid, or auto (chosen by the query). Default: recall.strategy
    #[arg(long, value_name = "S", value_parser = Words(Strategy::VARIANTS), hide_possible_values = true)]
    pub(crate) strategy: Option<String>,
    /// Prefer memories with this tag or one below it, and order by relevance (may be repeated)
    #[arg(long = "boost-tag", value_name = "PREFIX")]
    pub(crate) boost_tags: Vec<String>,
    /// Order by relevance: `relevance` for the default weights, or weights such as similarity=0.7,recency=0.3. Signals:
    /// similarity, text, importance, recency, access, tags
    #[arg(long, value_name = "WEIGHTS")]
    pub(crate) order_by: Option<String>,
    /// Show the tags of the hits, with counts
    #[arg(long)]
    pub(crate) facets: bool,
    /// Recall as this robot; the hits enter its working memory
    #[arg(long = "as", value_name = "R", conflicts_with = "batch")]
    pub(crate) asks: Option<String>,
    /// Search the vectors of this model, see `htm models list` (may be repeated: the lists are fused by rank)
    #[arg(long = "model", value_name = "M")]
    pub(crate) models: Vec<String>,
    /// The number of hits, 1 to 10000. Default: recall.limit
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) limit: Option<String>,
    /// The minimum similarity of vector hits, 0 to 1; text hits stay
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    pub(crate) min_similarity: Option<String>,
    /// Do not spell-correct unknown words
    #[arg(long)]
    pub(crate) no_correct: bool,
    /// Restart the times to live of the hits
    #[arg(long)]
    pub(crate) refresh: bool,
    /// Answer as the memory stood at this time: a date (midnight in time.zone), an RFC 3339 time, or words (last Monday)
    #[arg(long, value_name = "TIME", conflicts_with_all = ["asks", "refresh"])]
    pub(crate) as_of: Option<String>,
    /// Show the memory that supersedes a hit in its place
    #[arg(long)]
    pub(crate) follow: bool,
    /// Show the best excerpt of each hit, with the matched words marked
    #[arg(long)]
    pub(crate) snippets: bool,
    /// Show the parts of each score, and the searches that ran
    #[arg(long)]
    pub(crate) explain: bool,
    /// Answer each line {"id", "ns", "text"} of a file with a line {"qid", "ids", "ms", "search_ms"}, or {"qid", "line",
    /// "error"}; `-` reads standard input
    #[arg(long, value_name = "QUERIES.jsonl", conflicts_with_all = ["query", "namespaces"])]
    pub(crate) batch: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) way: WayArgs,
    #[command(flatten)]
    pub(crate) refine: RefineArgs,
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
}

#[derive(Args)]
pub(crate) struct GetArgs {
    /// The node's id, or its key with --key
    #[arg(required_unless_present = "key", value_parser = node_or_hint)]
    pub(crate) node: Option<NodeId>,
    /// The memory's key
    #[arg(long, value_name = "K", conflicts_with = "node")]
    pub(crate) key: Option<String>,
    /// The key's namespace
    #[arg(long, value_name = "N", requires = "key")]
    pub(crate) namespace: Option<String>,
    /// Also show every earlier text
    #[arg(long)]
    pub(crate) revisions: bool,
    /// Show it as it stood at this time: a date (midnight in time.zone), an RFC 3339 time, or words (last Monday)
    #[arg(long, value_name = "TIME", conflicts_with_all = ["key", "revisions"])]
    pub(crate) as_of: Option<String>,
}

#[derive(Args)]
pub(crate) struct StatusArgs {
    /// The node's id
    pub(crate) node: NodeId,
    /// Wait for this stage: embed or tag
    #[arg(long, value_name = "STAGE", value_parser = stage(), hide_possible_values = true)]
    pub(crate) wait: Option<Stage>,
    /// The longest wait, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60, requires = "wait")]
    pub(crate) timeout: u64,
}

#[derive(Args)]
pub(crate) struct DemoArgs {
    /// Keep the demo's database (`htm demo` prints its URL)
    #[arg(long)]
    pub(crate) keep: bool,
}

#[derive(Subcommand)]
pub(crate) enum DbCommand {
    /// Start the private PostgreSQL, keep it running, and migrate it
    Up,
    /// Stop the private PostgreSQL, unless it is in use
    Down {
        /// Stop it even if it is in use or hangs; open connections end
        #[arg(long)]
        force: bool,
    },
    /// Show the database's location and state
    Status,
    /// Print the database's URL
    Url,
    /// Bring the schema up to this program's version
    #[command(
        after_help = "The migrating role owns the tables. Applications and workers need only a role that reads and writes \
rows.

Examples:
  htm db migrate
  HTM_DATABASE__URL=postgres://owner@db.example.com/htm htm db migrate --application-role htm_app"
    )]
    Migrate {
        /// Also let this role read and write rows, for applications and workers
        #[arg(long, value_name = "ROLE")]
        application_role: Option<String>,
        /// Put the memories into this many partitions, by namespace; only while there are none
        #[arg(long, value_name = "N")]
        partitions: Option<u32>,
    },
    /// Change the number of partitions of the memories, while programs read and write
    #[command(
        after_help = "A partition has the memories of some namespaces, with their vectors, tags and completions. The rows are \
copied, and until the swap at the end each write costs about twice as much. The disk needs room for both copies. A call that \
was interrupted is repeated: it goes on.

Examples:
  htm db repartition --partitions 16
  htm db repartition --partitions 0     one table again
  htm db repartition --abandon"
    )]
    Repartition {
        /// The number of partitions; 0: none
        #[arg(long, value_name = "N", required_unless_present = "abandon")]
        partitions: Option<u32>,
        /// End a change that is not complete; the memories stay where they are
        #[arg(long, conflicts_with = "partitions")]
        abandon: bool,
    },
    /// Write a backup of everything into a new directory
    #[command(
        after_help = "Writes to the database go on meanwhile. `htm export` writes all primary data as JSON Lines.
The directory has pg_dump's directory format, and a manifest with the rows of each table and the sizes and hashes of the files.

Examples:
  htm db backup /backups/htm-2026-11-25
  htm db backup --jobs 4 /backups/htm-2026-11-25"
    )]
    Backup {
        /// The directory, which must not be there yet
        directory: PathBuf,
        /// The number of tables at a time
        #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..=64))]
        jobs: u16,
    },
    /// Restore a backup into an empty database, and check its rows and jobs
    #[command(
        after_help = "The files of the backup are checked before the database is touched. An older schema is migrated. \
Roles are not restored: grant again with `htm db migrate --application-role ROLE`.

Examples:
  htm db restore /backups/htm-2026-11-25
  htm db restore /backups/htm-2026-11-25 --dry-run
  HTM_DATABASE__URL=postgres://owner@db.example.com/htm htm db restore /backups/htm-2026-11-25"
    )]
    Restore {
        /// The directory of the backup
        directory: PathBuf,
        /// Only check the files of the backup; no database is needed
        #[arg(long)]
        dry_run: bool,
        /// The number of tables and indexes at a time
        #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..=64))]
        jobs: u16,
    },
    /// Bring the private PostgreSQL to the newest major version that is installed
    #[command(
        after_help = "The new cluster is compared with the old one before it takes its place. The old one stays beside it, \
and the answer says how to go back, and how to remove it. It needs the programs of the old version too.

Examples:
  htm db upgrade --dry-run
  htm db upgrade
  htm db upgrade --old-home /usr/lib/postgresql/16"
    )]
    Upgrade {
        /// Only report the plan
        #[arg(long)]
        dry_run: bool,
        /// The PostgreSQL of the old version, if HTM does not find it: the directory above its `bin`
        #[arg(long, value_name = "DIR")]
        old_home: Option<PathBuf>,
        /// Dump and restore HTM's schemas, even if pg_upgrade is there
        #[arg(long)]
        dump: bool,
    },
    /// Delete every memory and job: drop the schemas of HTM and apalis
    Reset {
        /// Confirm the deletion
        #[arg(long)]
        yes: bool,
    },
}

#[derive(Subcommand)]
pub(crate) enum ConfigCommand {
    /// Show every value and its source
    Show,
    /// Explain a key, or every key of a section
    #[command(after_help = "Examples:\n  htm config explain recall.limit\n  htm config explain jobs")]
    Explain {
        /// A key, for example recall.limit, or a section, for example recall
        #[arg(value_name = "KEY")]
        name: String,
    },
    /// Print a configuration file: every key with its effect and default
    #[command(after_help = "Example:\n  htm config default > config.toml")]
    Default,
    /// Trust the current content of htm.toml and htm.local.toml, here or in the nearest directory above
    #[command(
        after_help = "These files may come from others. Untrusted files cannot set URLs, keys, paths, ports or \
non-local providers, which decide where memories and keys go and which files are read. Trust covers the file's exact \
content; a changed file must be trusted again."
    )]
    Trust {
        /// Revoke the trust
        #[arg(long)]
        revoke: bool,
    },
}

/// Parses tags of the command line into their stored form. An invalid tag gives the library's error.
pub(crate) fn parse_tags(rules: &TagRules, tags: &[String]) -> Result<Vec<TagPath>, htm_core::Error> {
    tags.iter().map(|tag| Ok(rules.normalise(tag)?)).collect()
}

/// Parses a node's id. The error shows the command for a key.
fn node_or_hint(text: &str) -> Result<NodeId, String> {
    text.parse().map_err(|error| format!("{error}; for a key: `htm get --key {text}`"))
}
