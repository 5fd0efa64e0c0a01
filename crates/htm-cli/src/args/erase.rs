//! Arguments of `htm erase`.

use clap::{Args, Subcommand};
use htm_core::NodeId;

use super::memories::PlanArgs;

#[derive(Args)]
#[command(
    args_conflicts_with_subcommands = true,
    override_usage = "htm erase [OPTIONS] <NODE>...\n       htm erase [OPTIONS] --matching <TEXT>\n       \
htm erase [OPTIONS] --robot <R>\n       htm erase [OPTIONS] --namespace <N>\n       htm erase <COMMAND>",
    after_help = "Erased memories are gone at once, for all robots, with every trace: former texts, vectors, tags, working \
memories, jobs and their errors, counts, kept answers. They cannot be restored. Forgotten memories can be erased too. A \
receipt is printed; `htm erase verify` looks for traces.

Examples:
  htm erase 7 --yes
  htm erase --matching \"staging password\" --dry-run
  htm erase --matching \"staging password\" --plan 0f3a55c2d9e81b47 --yes
  htm erase --robot ada --namespace atlas --yes
  htm erase --namespace tenants/7 --yes          all of it: robots, tags, groups and policies too
  htm erase verify 3"
)]
pub(crate) struct EraseArgs {
    #[command(subcommand)]
    pub(crate) command: Option<EraseCommand>,
    /// The nodes' ids
    #[arg(value_name = "NODE", conflicts_with_all = ["matching", "robot", "namespace"])]
    pub(crate) nodes: Vec<NodeId>,
    /// All memories whose text, or a former text, contains this, ignoring case
    #[arg(long, value_name = "TEXT", conflicts_with = "robot")]
    pub(crate) matching: Option<String>,
    /// All memories of this robot
    #[arg(long, value_name = "R")]
    pub(crate) robot: Option<String>,
    /// The namespace of --matching or --robot. Alone: all of this namespace
    #[arg(long, value_name = "N")]
    pub(crate) namespace: Option<String>,
    #[command(flatten)]
    pub(crate) consent: PlanArgs,
}

#[derive(Subcommand)]
pub(crate) enum EraseCommand {
    /// Look for traces of an erasure in every table
    Verify(VerifyArgs),
    /// Go on with an interrupted erasure
    Resume(ResumeArgs),
    /// List the receipts of erasures
    List(ListErasuresArgs),
}

#[derive(Args)]
#[command(after_help = "It fails if a trace is found. `htm erase resume` removes what came back.

Examples:
  htm erase verify 3
  htm erase verify 3 --text \"staging password\"")]
pub(crate) struct VerifyArgs {
    /// The receipt's number, see `htm erase list`
    pub(crate) receipt: Option<i64>,
    /// Also look for this text, in every column of every table; it is kept nowhere
    #[arg(long, value_name = "TEXT")]
    pub(crate) text: Option<String>,
}

#[derive(Args)]
pub(crate) struct ResumeArgs {
    /// The receipt's number, see `htm erase list`
    pub(crate) receipt: Option<i64>,
}

#[derive(Args)]
pub(crate) struct ListErasuresArgs {
    /// The number of receipts, the last one first; 1 to 10000
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub(crate) limit: usize,
}
