//! Arguments of the commands that change memories: edit, forget, restore, purge.

use std::path::PathBuf;

use clap::Args;
use htm_core::{Caller, NodeId};
use htm_runtime::commands::{in_namespace, quoted};

/// The asking robot.
#[derive(Args, Clone)]
pub(crate) struct CallerArgs {
    /// Act as this robot; it may change its own memories
    #[arg(long, value_name = "R")]
    robot: Option<String>,
    /// The namespace of the robot and of the memories
    #[arg(long, value_name = "N")]
    pub(crate) namespace: Option<String>,
    /// Also change memories of other robots
    #[arg(long, conflicts_with = "robot")]
    any_robot: bool,
}

impl CallerArgs {
    /// The value of `--robot`.
    pub(crate) fn named_robot(&self) -> Option<&str> {
        self.robot.as_deref()
    }

    /// These options as they are typed behind another command of the same caller, with a space before each.
    pub(crate) fn typed(&self) -> String {
        let robot = self.robot.as_deref().map(|name| format!(" --robot {}", quoted(name)));
        let any_robot = self.any_robot.then(|| " --any-robot".to_owned());
        let options = [Some(in_namespace(self.namespace.as_deref())), robot, any_robot];
        options.into_iter().flatten().collect()
    }
}

impl From<CallerArgs> for Caller {
    fn from(args: CallerArgs) -> Self {
        match args {
            CallerArgs { any_robot: true, .. } => Self::AnyRobot,
            CallerArgs { namespace: Some(namespace), robot, .. } => Self::In { namespace, robot },
            CallerArgs { robot: Some(robot), .. } => Self::Robot(robot),
            CallerArgs { robot: None, .. } => Self::Handle,
        }
    }
}

/// Confirmation of what takes memories away, by a plan if they are found by their text.
#[derive(Args)]
pub(crate) struct PlanArgs {
    /// Show the memories and the plan's number; change nothing
    #[arg(long, conflicts_with = "yes")]
    pub(crate) dry_run: bool,
    /// The number of the --dry-run's plan; refused if the memories have changed
    #[arg(long, value_name = "PLAN")]
    pub(crate) plan: Option<String>,
    /// Confirm; --matching needs --plan too
    #[arg(long)]
    pub(crate) yes: bool,
}

#[derive(Args)]
#[command(
    override_usage = "htm edit [OPTIONS] <ID> [TEXT]\n       htm edit [OPTIONS] --key <K> [TEXT]",
    after_help = "Only the named fields change. A new text is a new revision: it is embedded and tagged again, and \
found by its old embedding until the new one is ready.

Examples:
  htm edit 7 \"We chose PostgreSQL 18 for the ledger.\"
  htm edit 7 --importance 9 --tag decision --untag draft
  htm edit --key adr-7 --robot architect --expect 1 - < adr-7.md"
)]
pub(crate) struct EditArgs {
    /// The node's id (unless --key is given), then the new text; `-` reads standard input, without its last
    /// line break
    #[arg(value_name = "ID|TEXT", num_args = 0..=2, required_unless_present = "key")]
    pub(crate) words: Vec<String>,
    /// The memory's key
    #[arg(long, value_name = "K")]
    pub(crate) key: Option<String>,
    /// Its importance, 1 to 10: 1–3 for transient facts, 7–10 for decisions and preferences
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub(crate) importance: Option<f32>,
    /// A tag to add (may be repeated)
    #[arg(long = "tag", value_name = "T")]
    pub(crate) tags: Vec<String>,
    /// A tag to remove (may be repeated)
    #[arg(long = "untag", value_name = "T")]
    pub(crate) untags: Vec<String>,
    /// A new key; empty for none
    #[arg(long, value_name = "K")]
    pub(crate) new_key: Option<String>,
    /// Its source; empty for none
    #[arg(long, value_name = "S")]
    pub(crate) source: Option<String>,
    /// Its type, for example fact or decision; empty for none
    #[arg(long = "type", value_name = "T")]
    pub(crate) kind: Option<String>,
    /// Metadata entries to set, for example {"ticket": 7}; null removes one
    #[arg(long, value_name = "JSON")]
    pub(crate) metadata: Option<String>,
    /// Its expiry: a time to live (30m, 12h, 90d, 2w, 1y), or a future date or time; empty for never
    #[arg(long, value_name = "TIME")]
    pub(crate) expires: Option<String>,
    /// Edit only if the text is still at this revision (other fields have no revision)
    #[arg(long, value_name = "REVISION")]
    pub(crate) expect: Option<i32>,
    #[command(flatten)]
    pub(crate) caller: CallerArgs,
}

#[derive(Args)]
#[command(
    override_usage = "htm forget [OPTIONS] <NODE>\n       htm forget [OPTIONS] --matching <TEXT>",
    after_help = "A forgotten memory is hidden at once from every search, except with --as-of a time before. `htm forgotten` \
lists it, `htm restore` brings it back, `htm purge` deletes it.

Examples:
  htm forget 7 --yes
  htm forget --matching \"staging password\" --dry-run
  htm forget --matching \"staging password\" --plan 0f3a55c2d9e81b47 --yes"
)]
pub(crate) struct ForgetArgs {
    /// The node's id
    #[arg(required_unless_present = "matching", conflicts_with = "matching")]
    pub(crate) node: Option<NodeId>,
    /// All memories whose text contains this, ignoring case
    #[arg(long, value_name = "TEXT")]
    pub(crate) matching: Option<String>,
    #[command(flatten)]
    pub(crate) consent: PlanArgs,
    #[command(flatten)]
    pub(crate) caller: CallerArgs,
}

#[derive(Args)]
pub(crate) struct ForgottenArgs {
    /// Only in this namespace
    #[arg(long, value_name = "N")]
    pub(crate) namespace: Option<String>,
    /// The number of memories, last forgotten first; 1 to 10000
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub(crate) limit: usize,
}

#[derive(Args)]
pub(crate) struct RestoreArgs {
    /// The node's id, see `htm forgotten`
    pub(crate) node: NodeId,
    #[command(flatten)]
    pub(crate) caller: CallerArgs,
}

#[derive(Args)]
#[command(
    after_help = "Purged memories cannot be restored. The default is this robot's memories in its namespace.

Examples:
  htm purge --before 2026-03-01 --dry-run
  htm purge --before \"3 months ago\" --dry-run
  htm purge --before 2026-03-01 --yes
  htm purge --before 2026-03-01 --namespace scratch --any-robot --yes
  htm purge --before 2026-03-01 --all-namespaces --any-robot --dry-run"
)]
pub(crate) struct PurgeArgs {
    /// Purge memories forgotten before this: a date, an RFC 3339 time, or words (3 months ago, last year), each taken at
    /// its start in time.zone
    #[arg(long, value_name = "TIME")]
    pub(crate) before: String,
    /// Purge every namespace
    #[arg(long, requires = "any_robot", conflicts_with = "namespace")]
    pub(crate) all_namespaces: bool,
    /// Only count the memories
    #[arg(long, conflicts_with = "yes")]
    pub(crate) dry_run: bool,
    /// Confirm the deletion
    #[arg(long)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) caller: CallerArgs,
}

#[derive(Args)]
#[command(
    after_help = "The export has all primary data: memories with former texts, tags, relations and counts; working \
memories; documents; the ontology; robots, groups; policies, quotas, budgets, limits, rankings. It is one snapshot. \
`htm import` restores it, into an empty database or beside other memories. Its first line lists its contents, its \
last line shows that it is complete.

Examples:
  htm export --output backup.jsonl
  htm export --namespace atlas --namespace home > both.jsonl
  htm export --vectors --forgotten | gzip > everything.jsonl.gz"
)]
pub(crate) struct ExportAllArgs {
    /// Export this namespace (may be repeated). Default: all
    #[arg(long = "namespace", value_name = "N")]
    pub(crate) namespaces: Vec<String>,
    /// Write this file, readable by its owner. Default: standard output, `-`
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Also export forgotten memories
    #[arg(long)]
    pub(crate) forgotten: bool,
    /// Also export the vectors of every embedding model, so that an import need not embed
    #[arg(long)]
    pub(crate) vectors: bool,
}
