//! What `htm groups` takes.

use clap::{Args, Subcommand};
use htm_core::NodeId;

use super::robots::ScopeArgs;

#[derive(Subcommand)]
pub(crate) enum GroupsCommand {
    /// Show every group and its members
    List(ScopeArgs),
    /// Show a group: its members, and how full its working memory is
    Show(GroupArgs),
    /// Be a robot in a group, until the end of standard input or Ctrl-C
    Join(JoinArgs),
    /// End a robot's membership, whether its process died or goes on
    Leave(LeaveArgs),
    /// Make a member active: it writes
    Promote(MemberArgs),
    /// Make a member passive: it follows
    Demote(MemberArgs),
    /// Move nodes from a group's working memory to another group's, or to a robot's
    Transfer(TransferArgs),
    /// Close a group: all members are told, and are members no more
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
    after_help = "It makes the group if it is not there, with a budget of groups.max_tokens, which it keeps, and says what happens in it, with --json as a JSON object a \
line. It reads standard input: a line is remembered and comes to all members' minds; a line that starts with / is one of \
/recall QUERY, /add NODE, /remove NODE, /touch NODE, /memory, /context TOKENS, /members, /sync.

Examples:
  htm groups join on-call --robot ada
  htm groups join on-call --robot bob --passive     takes over when ada is gone
  tail -f notes.txt | htm groups join on-call --robot ada --json"
)]
pub(crate) struct JoinArgs {
    #[command(flatten)]
    pub(crate) group: GroupArgs,
    /// As which robot; the configured one if left out
    #[arg(long, value_name = "R")]
    pub(crate) robot: Option<String>,
    /// Write, whoever else does; if left out, when no other active member is alive
    #[arg(long, conflicts_with = "passive")]
    pub(crate) active: bool,
    /// Only follow, and take over when no active member is left, or none comes within the lease
    #[arg(long)]
    pub(crate) passive: bool,
}

#[derive(Args)]
#[command(
    after_help = "A process that goes on is told that it was replaced, and ends. What it remembered stays in mind.

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
    /// All nodes that it has in mind
    #[arg(long, conflicts_with = "nodes")]
    pub(crate) all: bool,
    /// To this group
    #[arg(long, value_name = "GROUP", required_unless_present = "to_robot")]
    pub(crate) to_group: Option<String>,
    /// To this robot, which finds them when it starts next
    #[arg(long, value_name = "R", conflicts_with = "to_group")]
    pub(crate) to_robot: Option<String>,
}

#[derive(Args)]
pub(crate) struct ShutdownArgs {
    #[command(flatten)]
    pub(crate) group: GroupArgs,
    /// Put everything out of its mind as well; the nodes stay in long-term memory
    #[arg(long)]
    pub(crate) clear: bool,
    /// Yes, shut it down
    #[arg(long)]
    pub(crate) yes: bool,
}
