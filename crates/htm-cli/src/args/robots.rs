//! Arguments of `htm robots` and `htm stats`.

use clap::{Args, Subcommand, value_parser};
use htm_core::Scope;

#[derive(Subcommand)]
pub(crate) enum RobotsCommand {
    /// List robots with memory counts and times
    List(ScopeArgs),
    /// Show a robot
    Show(RobotArgs),
    /// Register a robot before its first memory
    Add(AddRobotArgs),
    /// Replace a robot's metadata
    Describe(DescribeArgs),
    /// Set the token budget of a robot's working memory
    Set(SetRobotArgs),
    /// Rename a robot
    Rename(RenameArgs),
    /// Merge robots into one
    Merge(MergeArgs),
}

#[derive(Args)]
pub(crate) struct ScopeArgs {
    /// The namespace. Default: memory.namespace
    #[arg(long, value_name = "N", conflicts_with = "all")]
    pub(crate) namespace: Option<String>,
    /// All namespaces
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
    /// The robot's name
    pub(crate) name: String,
    /// Its namespace
    #[arg(long, value_name = "N")]
    pub(crate) namespace: Option<String>,
}

#[derive(Args)]
#[command(after_help = "Examples:
  htm robots add architect --metadata '{\"model\": \"gpt-5\"}'
  htm robots add                      a generated name, for example quiet-heron-417")]
pub(crate) struct AddRobotArgs {
    /// The robot's name, unique in its namespace. Default: a generated name
    pub(crate) name: Option<String>,
    /// Its namespace
    #[arg(long, value_name = "N")]
    pub(crate) namespace: Option<String>,
    /// Its metadata, a JSON object
    #[arg(long, value_name = "JSON")]
    pub(crate) metadata: Option<String>,
}

#[derive(Args)]
#[command(after_help = "Examples:
  htm robots describe architect '{\"model\": \"gpt-5\", \"team\": \"billing\"}'
  htm robots describe architect '{}'      no metadata")]
pub(crate) struct DescribeArgs {
    /// The robot's name
    pub(crate) name: String,
    /// Its new metadata, a JSON object
    #[arg(value_name = "JSON")]
    pub(crate) metadata: String,
    /// Its namespace
    #[arg(long, value_name = "N")]
    pub(crate) namespace: Option<String>,
}

#[derive(Args)]
#[command(after_help = "Memories that no longer fit are evicted. They stay in long-term memory.

Examples:
  htm robots set architect --max-tokens 32000
  htm robots set architect --max-tokens default      the value of working_memory.max_tokens")]
pub(crate) struct SetRobotArgs {
    /// The robot's name
    pub(crate) name: String,
    /// The token budget of its working memory, or `default`
    #[arg(long, value_name = "TOKENS", allow_negative_numbers = true)]
    pub(crate) max_tokens: String,
    /// Its namespace
    #[arg(long, value_name = "N")]
    pub(crate) namespace: Option<String>,
}

#[derive(Args)]
#[command(after_help = "The robot keeps its memories. A later use of the old name registers a new robot.")]
pub(crate) struct RenameArgs {
    /// The robot's name
    pub(crate) old: String,
    /// Its new name
    pub(crate) new: String,
    /// Its namespace
    #[arg(long, value_name = "N")]
    pub(crate) namespace: Option<String>,
}

#[derive(Args)]
#[command(
    after_help = "Moves memories and working memory of FROM to INTO, deletes FROM and ends their group memberships. It is \
one transaction and cannot be undone.

Examples:
  htm robots merge architect-old architect-2 architect --dry-run
  htm robots merge architect-old architect-2 architect --yes"
)]
pub(crate) struct MergeArgs {
    /// The robots to merge and delete
    #[arg(required = true)]
    pub(crate) from: Vec<String>,
    /// The robot to keep
    pub(crate) into: String,
    /// Their namespace
    #[arg(long, value_name = "N")]
    pub(crate) namespace: Option<String>,
    /// Only show what would move
    #[arg(long, conflicts_with = "yes")]
    pub(crate) dry_run: bool,
    /// Confirm the merge
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
    /// The length of each list, 1 to 1000
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = value_parser!(u32).range(1..=1_000))]
    pub(crate) top: u32,
}
