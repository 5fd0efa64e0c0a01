//! Arguments of `htm groups`.

use clap::{Args, Subcommand};
use htm_core::NodeId;

use super::robots::ScopeArgs;

#[derive(Subcommand)]
pub(crate) enum GroupsCommand {
    /// Show every group and its members
    List(ScopeArgs),
    /// Show a group: members, and use of its working memory
    Show(GroupArgs),
    /// Join a group as a robot, until standard input ends or Ctrl-C
    Join(JoinArgs),
    /// End a robot's membership, also of a dead process
    Leave(LeaveArgs),
    /// Make a member active: it writes
    Promote(MemberArgs),
    /// Make a member passive: it follows
    Demote(MemberArgs),
    /// Move nodes from a group's working memory to another group's, or to a robot's
    Transfer(TransferArgs),
    /// Close a group and end all memberships
    Shutdown(ShutdownArgs),
}

#[derive(Args)]
pub(crate) struct GroupArgs {
    /// Its name
    pub(crate) group: String,
    /// Its namespace
    #[arg(long, value_name = "N")]
    pub(crate) namespace: Option<String>,
}

#[derive(Args)]
pub(crate) struct MemberArgs {
    #[command(flatten)]
    pub(crate) group: GroupArgs,
    /// The member, a robot's name
    pub(crate) robot: String,
}

#[derive(Args)]
#[command(
    after_help = "It creates the group if needed, with a budget of groups.max_tokens that stays. It prints the group's \
events, with --json as one JSON object a line. It reads standard input. A line is remembered and enters the shared \
working memory. A line that starts with / is a command: /recall QUERY, /add NODE, /remove NODE, /touch NODE, \
/memory, /context TOKENS, /members, /sync.

Examples:
  htm groups join on-call --robot ada
  htm groups join on-call --robot bob --passive     takes over if ada is gone
  tail -f notes.txt | htm groups join on-call --robot ada --json"
)]
pub(crate) struct JoinArgs {
    #[command(flatten)]
    pub(crate) group: GroupArgs,
    /// The robot. Default: memory.robot
    #[arg(long, value_name = "R")]
    pub(crate) robot: Option<String>,
    /// Join as an active member, which writes. Default: active if no other active member is alive
    #[arg(long, conflicts_with = "passive")]
    pub(crate) active: bool,
    /// Join as a passive member, which takes over when no active member is left or comes within the lease
    #[arg(long)]
    pub(crate) passive: bool,
}

#[derive(Args)]
#[command(
    after_help = "A running process is told that it was replaced, and ends. Its memories stay in the working memory.

Example:
  htm groups leave on-call --robot ada"
)]
pub(crate) struct LeaveArgs {
    #[command(flatten)]
    pub(crate) group: GroupArgs,
    /// The member, a robot's name
    #[arg(long, value_name = "R")]
    pub(crate) robot: String,
}

#[derive(Args)]
#[command(after_help = "Examples:
  htm groups transfer on-call --all --to-group night-shift
  htm groups transfer on-call --node 17 --node 20 --to-robot ada")]
pub(crate) struct TransferArgs {
    #[command(flatten)]
    pub(crate) group: GroupArgs,
    /// A node (may be repeated)
    #[arg(long = "node", value_name = "NODE", required_unless_present = "all")]
    pub(crate) nodes: Vec<NodeId>,
    /// All nodes of its working memory
    #[arg(long, conflicts_with = "nodes")]
    pub(crate) all: bool,
    /// To this group
    #[arg(long, value_name = "GROUP", required_unless_present = "to_robot")]
    pub(crate) to_group: Option<String>,
    /// To this robot, when it is opened next
    #[arg(long, value_name = "R", conflicts_with = "to_group")]
    pub(crate) to_robot: Option<String>,
}

#[derive(Args)]
pub(crate) struct ShutdownArgs {
    #[command(flatten)]
    pub(crate) group: GroupArgs,
    /// Also empty its working memory; the nodes stay in long-term memory
    #[arg(long)]
    pub(crate) clear: bool,
    /// Yes, shut it down
    #[arg(long)]
    pub(crate) yes: bool,
}
