//! What the commands that change memories take: edit, forget, restore, purge.

use clap::Args;
use htm_core::{Caller, NodeId};

/// Who asks.
#[derive(Args)]
pub(crate) struct CallerArgs {
    /// Who asks; a robot has a say over what it remembered itself
    #[arg(long, value_name = "R")]
    robot: Option<String>,
    /// The robot's namespace, and where to look
    #[arg(long, value_name = "N")]
    pub(crate) namespace: Option<String>,
    /// Whichever robot remembered it
    #[arg(long, conflicts_with = "robot")]
    any_robot: bool,
}

impl CallerArgs {
    /// The robot that is named.
    pub(crate) fn named_robot(&self) -> Option<&str> {
        self.robot.as_deref()
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

#[derive(Args)]
#[command(
    override_usage = "htm edit [OPTIONS] <ID> [TEXT]\n       htm edit [OPTIONS] --key <K> [TEXT]",
    after_help = "What is not named stays. Another text is a new revision: it is embedded and tagged anew, and found by \
its old embedding until then.

Examples:
  htm edit 7 \"We chose PostgreSQL 18 for the ledger.\"
  htm edit 7 --importance 9 --tag decision --untag draft
  htm edit --key adr-7 --expect 1 - < adr-7.md"
)]
pub(crate) struct EditArgs {
    /// The node's id, unless --key names it; then the new text, `-` reads standard input
    #[arg(value_name = "ID|TEXT", num_args = 0..=2, required_unless_present = "key")]
    pub(crate) words: Vec<String>,
    /// The node's key
    #[arg(long, value_name = "K")]
    pub(crate) key: Option<String>,
    /// 1 to 10; 1–3 is transient, 7–10 a decision or a preference
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub(crate) importance: Option<f32>,
    /// A tag to give it (may be repeated)
    #[arg(long = "tag", value_name = "T")]
    pub(crate) tags: Vec<String>,
    /// A tag to take away (may be repeated)
    #[arg(long = "untag", value_name = "T")]
    pub(crate) untags: Vec<String>,
    /// Another key; empty for none
    #[arg(long, value_name = "K")]
    pub(crate) new_key: Option<String>,
    /// Where it comes from; empty for nowhere
    #[arg(long, value_name = "S")]
    pub(crate) source: Option<String>,
    /// What it is, as fact or decision; empty for nothing
    #[arg(long = "type", value_name = "T")]
    pub(crate) kind: Option<String>,
    /// Entries of its metadata to set, as {"ticket": 7}; null removes one
    #[arg(long, value_name = "JSON")]
    pub(crate) metadata: Option<String>,
    /// Only if it is still at this revision
    #[arg(long, value_name = "REVISION")]
    pub(crate) expect: Option<i32>,
    #[command(flatten)]
    pub(crate) caller: CallerArgs,
}

#[derive(Args)]
#[command(
    override_usage = "htm forget [OPTIONS] <NODE>\n       htm forget [OPTIONS] --matching <TEXT>",
    after_help = "A forgotten memory is found by nothing from that moment on; `htm forgotten` lists it, `htm restore` \
brings it back, and `htm purge` removes it for good.

Examples:
  htm forget 7 --yes
  htm forget --matching \"staging password\" --dry-run
  htm forget --matching \"staging password\" --plan 0f3a55c2d9e81b47 --yes"
)]
pub(crate) struct ForgetArgs {
    /// The node's id
    #[arg(required_unless_present = "matching", conflicts_with = "matching")]
    pub(crate) node: Option<NodeId>,
    /// Every node whose text has this in it, letter by letter, upper or lower case
    #[arg(long, value_name = "TEXT")]
    pub(crate) matching: Option<String>,
    /// Show what would be forgotten, and the plan's number
    #[arg(long, conflicts_with = "yes")]
    pub(crate) dry_run: bool,
    /// Only if that is still exactly what --dry-run showed with this number
    #[arg(long, value_name = "PLAN")]
    pub(crate) plan: Option<String>,
    /// Yes, forget it; what matches a text wants --plan too
    #[arg(long)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) caller: CallerArgs,
}

#[derive(Args)]
pub(crate) struct ForgottenArgs {
    /// Only in this namespace
    #[arg(long, value_name = "N")]
    pub(crate) namespace: Option<String>,
    /// How many, the last forgotten first; 1 to 10000
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub(crate) limit: usize,
}

#[derive(Args)]
pub(crate) struct RestoreArgs {
    /// The node's id, as `htm forgotten` lists it
    pub(crate) node: NodeId,
    #[command(flatten)]
    pub(crate) caller: CallerArgs,
}

#[derive(Args)]
#[command(
    after_help = "Nothing brings back what was purged. Only what this robot remembered in its namespace goes, \
unless told otherwise.

Examples:
  htm purge --before 2026-03-01 --dry-run
  htm purge --before \"3 months ago\" --dry-run
  htm purge --before 2026-03-01 --yes
  htm purge --before 2026-03-01 --namespace scratch --any-robot --yes
  htm purge --before 2026-03-01 --all-namespaces --any-robot --dry-run"
)]
pub(crate) struct PurgeArgs {
    /// What was forgotten before this began: a date, an RFC 3339 time, or words (3 months ago, last year); of time.zone
    #[arg(long, value_name = "TIME")]
    pub(crate) before: String,
    /// In every namespace
    #[arg(long, requires = "any_robot", conflicts_with = "namespace")]
    pub(crate) all_namespaces: bool,
    /// Count what would be removed
    #[arg(long, conflicts_with = "yes")]
    pub(crate) dry_run: bool,
    /// Yes, remove it for good
    #[arg(long)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) caller: CallerArgs,
}
