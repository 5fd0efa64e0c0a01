//! Arguments of `htm groups`.

use std::time::Duration;

use clap::{Args, Subcommand};
use htm_core::NodeId;

use super::robots::ScopeArgs;
use crate::duration::parse_duration;

#[derive(Subcommand)]
pub(crate) enum GroupsCommand {
    /// Show every group and its members
    List(ScopeArgs),
    /// Show a group's members and the use of its working memory
    Show(GroupArgs),
    /// Join a group as a robot, until standard input ends or Ctrl-C
    Join(JoinArgs),
    /// End a robot's membership, even if its process is dead
    Leave(LeaveArgs),
    /// Make a member active, with write access
    Promote(MemberArgs),
    /// Make a member passive, without write access
    Demote(MemberArgs),
    /// Move memories from a group's working memory to another group or to a robot
    Transfer(TransferArgs),
    /// Close a group and end all memberships
    Shutdown(ShutdownArgs),
}

#[derive(Args)]
pub(crate) struct GroupArgs {
    /// The group
    pub(crate) group: String,
    /// The group's namespace. Default: memory.namespace
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
#[command(after_help = "Creates the group if needed, with a fixed budget. Prints the group's events; with \
--json, one JSON object per line. Each line of standard input is remembered and enters the shared working memory. A line \
that starts with / is a command: /recall QUERY, /add NODE, /remove NODE, /touch NODE, \
/memory, /context TOKENS, /members, /sync.

Examples:
  htm groups join on-call --robot ada
  htm groups join on-call --robot bob --passive     takes over if ada is gone
  tail -f notes.txt | htm groups join on-call --robot ada --json")]
pub(crate) struct JoinArgs {
    #[command(flatten)]
    pub(crate) group: GroupArgs,
    /// The robot. Default: memory.robot
    #[arg(long, value_name = "R")]
    pub(crate) robot: Option<String>,
    /// Join as an active member, with write access. Default: active if no other active member is alive
    #[arg(long, conflicts_with = "passive")]
    pub(crate) active: bool,
    /// Join as a passive member. It takes over when no active member is left, or if none joins within the lease
    #[arg(long)]
    pub(crate) passive: bool,
    /// The lease, 1s to 1d. If the only active member is not seen for this long, a passive one takes over within the lease
    /// and a third of it
    #[arg(long, value_name = "TIME", value_parser = parse_duration, default_value = "3s")]
    pub(crate) lease: Duration,
    /// The token budget of the group's working memory, set by its first member. Default: 128000
    #[arg(long, value_name = "N")]
    pub(crate) max_tokens: Option<u64>,
}

#[derive(Args)]
#[command(
    after_help = "A running process of the member is notified and ends. Its memories stay in the working memory.

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
    /// A node's id (may be repeated)
    #[arg(long = "node", value_name = "NODE", required_unless_present = "all")]
    pub(crate) nodes: Vec<NodeId>,
    /// All memories of the group's working memory
    #[arg(long, conflicts_with = "nodes")]
    pub(crate) all: bool,
    /// Move them to this group
    #[arg(long, value_name = "GROUP", required_unless_present = "to_robot")]
    pub(crate) to_group: Option<String>,
    /// Move them to this robot, when it is next opened
    #[arg(long, value_name = "R", conflicts_with = "to_group")]
    pub(crate) to_robot: Option<String>,
}

#[derive(Args)]
#[command(
    after_help = "The next join opens the group again, with the same working memory unless --clear emptied it."
)]
pub(crate) struct ShutdownArgs {
    #[command(flatten)]
    pub(crate) group: GroupArgs,
    /// Also empty the working memory; the memories stay in long-term memory
    #[arg(long)]
    pub(crate) clear: bool,
    /// Confirm the shutdown
    #[arg(long)]
    pub(crate) yes: bool,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;
    use htm_core::DEFAULT_BUDGET;

    use crate::args::Arguments;

    #[test]
    fn the_help_has_the_default_budget() {
        let arguments = Arguments::command();
        let groups = arguments.find_subcommand("groups").unwrap();
        let join = groups.find_subcommand("join").unwrap();
        let budget = join.get_arguments().find(|it| it.get_long() == Some("max-tokens")).unwrap();
        let help = budget.get_help().unwrap().to_string();
        assert!(help.ends_with(&format!("Default: {DEFAULT_BUDGET}")), "{help}");
    }
}
