//! What `htm robots` and `htm stats` take.

use clap::{Args, Subcommand, value_parser};
use htm_core::Scope;

#[derive(Subcommand)]
pub(crate) enum RobotsCommand {
    /// Show every robot: what it has remembered, and when
    List(ScopeArgs),
    /// Show a robot
    Show(RobotArgs),
    /// Register a robot before its first memory
    Add(AddRobotArgs),
    /// Set what is noted about a robot, all of it
    Describe(DescribeArgs),
    /// Set how much a robot holds in mind
    Set(SetRobotArgs),
    /// Give a robot another name
    Rename(RenameArgs),
    /// Make one robot of several
    Merge(MergeArgs),
}

#[derive(Args)]
pub(crate) struct ScopeArgs {
    /// Where to look
    #[arg(long, value_name = "N", conflicts_with = "all")]
    pub(crate) namespace: Option<String>,
    /// In every namespace
    #[arg(long)]
    pub(crate) all: bool,
}

impl ScopeArgs {
    pub(crate) fn scope(self) -> Scope {
        match self {
            Self { all: true, .. } => Scope::All,
            Self { namespace: Some(namespace), .. } => Scope::Namespace(namespace),
            Self { namespace: None, .. } => Scope::Own,
        }
    }
}

#[derive(Args)]
pub(crate) struct RobotArgs {
    /// Its name
    pub(crate) name: String,
    /// Its namespace
    #[arg(long, value_name = "N")]
    pub(crate) namespace: Option<String>,
}

#[derive(Args)]
#[command(after_help = "Examples:
  htm robots add architect --metadata '{\"model\": \"gpt-5\"}'
  htm robots add                      a robot that is given a name, as quiet-heron-417")]
pub(crate) struct AddRobotArgs {
    /// Its name, unique in its namespace; a generated one if left out
    pub(crate) name: Option<String>,
    /// Its namespace
    #[arg(long, value_name = "N")]
    pub(crate) namespace: Option<String>,
    /// Anything about it, as a JSON object
    #[arg(long, value_name = "JSON")]
    pub(crate) metadata: Option<String>,
}

#[derive(Args)]
#[command(after_help = "Examples:
  htm robots describe architect '{\"model\": \"gpt-5\", \"team\": \"billing\"}'
  htm robots describe architect '{}'      nothing is noted any more")]
pub(crate) struct DescribeArgs {
    /// Its name
    pub(crate) name: String,
    /// Anything about it, as a JSON object, in place of what was there
    #[arg(value_name = "JSON")]
    pub(crate) metadata: String,
    /// Its namespace
    #[arg(long, value_name = "N")]
    pub(crate) namespace: Option<String>,
}

#[derive(Args)]
#[command(
    after_help = "What does not fit any more leaves its mind when it is opened next; it stays in long-term memory.

Examples:
  htm robots set architect --max-tokens 32000
  htm robots set architect --max-tokens default      as working_memory.max_tokens says"
)]
pub(crate) struct SetRobotArgs {
    /// Its name
    pub(crate) name: String,
    /// The most tokens that its working memory holds, or `default`
    #[arg(long, value_name = "TOKENS", allow_negative_numbers = true)]
    pub(crate) max_tokens: String,
    /// Its namespace
    #[arg(long, value_name = "N")]
    pub(crate) namespace: Option<String>,
}

#[derive(Args)]
#[command(
    after_help = "Its memories stay its own. Who remembers by the old name from then on is a new robot."
)]
pub(crate) struct RenameArgs {
    /// Its name
    pub(crate) old: String,
    /// Its name from now on
    pub(crate) new: String,
    /// Its namespace
    #[arg(long, value_name = "N")]
    pub(crate) namespace: Option<String>,
}

#[derive(Args)]
#[command(
    after_help = "All that FROM have goes to INTO: nodes, working memory. FROM are removed, and their memberships in \
groups end. In one transaction; it cannot be undone.

Examples:
  htm robots merge architect-old architect-2 architect --dry-run
  htm robots merge architect-old architect-2 architect --yes"
)]
pub(crate) struct MergeArgs {
    /// The robots that go
    #[arg(required = true)]
    pub(crate) from: Vec<String>,
    /// The robot that stays
    pub(crate) into: String,
    /// Their namespace
    #[arg(long, value_name = "N")]
    pub(crate) namespace: Option<String>,
    /// Only say what would go to INTO; write nothing
    #[arg(long, conflicts_with = "yes")]
    pub(crate) dry_run: bool,
    /// Yes, merge them
    #[arg(long)]
    pub(crate) yes: bool,
}

#[derive(Args)]
#[command(after_help = "Examples:
  htm stats
  htm stats --all --top 3
  htm stats --namespace atlas --json")]
pub(crate) struct StatsArgs {
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
    /// How many of each list, 1 to 1000
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = value_parser!(u32).range(1..=1_000))]
    pub(crate) top: u32,
}
