//! What can go wrong between a robot and its group.

use crate::model::fault::Fault;

/// Why a call about a group did nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GroupError {
    /// No group of that name.
    #[error("namespace `{namespace}` has no group `{group}`")]
    Unknown {
        /// The name given.
        group: String,
        /// Where it was looked for.
        namespace: String,
    },
    /// The robot is no member of the group.
    #[error("robot `{robot}` is no member of group `{group}`")]
    NotMember {
        /// The robot.
        robot: String,
        /// The group.
        group: String,
    },
    /// A passive member follows; it does not write.
    #[error("robot `{robot}` is a passive member of group `{group}`: it follows, and does not write")]
    Passive {
        /// The robot.
        robot: String,
        /// The group.
        group: String,
    },
    /// The member was not seen for its lease and another one took over, or another process speaks for its robot now.
    #[error(
        "robot `{robot}` of group `{group}` was replaced: another took over, or another process speaks for it now"
    )]
    Replaced {
        /// The robot.
        robot: String,
        /// The group.
        group: String,
    },
    /// The group was shut down.
    #[error("group `{group}` was shut down")]
    Closed {
        /// The group.
        group: String,
    },
    /// The member was not seen for its lease: it cannot become active.
    #[error("robot `{robot}` of group `{group}` was not seen for its lease")]
    MemberLost {
        /// The robot.
        robot: String,
        /// The group.
        group: String,
    },
    /// Nobody could take over from the only active member.
    #[error("robot `{robot}` is the only active member of group `{group}`, and no passive one is alive")]
    LastActive {
        /// The robot.
        robot: String,
        /// The group.
        group: String,
    },
    /// A group shares memories of its own namespace.
    #[error("group `{group}` is of namespace `{namespace}`, the memory of `{other}`")]
    Elsewhere {
        /// The group.
        group: String,
        /// Its namespace.
        namespace: String,
        /// The memory's.
        other: String,
    },
    /// A transfer from a group to itself.
    #[error("group `{group}` cannot be transferred to itself")]
    TransferToItself {
        /// The group.
        group: String,
    },
    /// A text that is larger than all that the group may have in mind.
    #[error(
        "the text has {tokens} tokens, more than the {max_tokens} that the working memory of group `{group}` holds"
    )]
    Oversized {
        /// The group.
        group: String,
        /// Its tokens.
        tokens: usize,
        /// The most.
        max_tokens: usize,
    },
    /// A setting of a membership that cannot work.
    #[error("{what} {value} is outside {allowed}")]
    OutOfRange {
        /// Which, with its unit.
        what: &'static str,
        /// The value given.
        value: u64,
        /// What it may be.
        allowed: &'static str,
    },
}

impl GroupError {
    /// A stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unknown { .. } => "group_unknown",
            Self::NotMember { .. } => "group_member_unknown",
            Self::Passive { .. } => "group_member_passive",
            Self::Replaced { .. } => "group_member_replaced",
            Self::Closed { .. } => "group_closed",
            Self::MemberLost { .. } => "group_member_lost",
            Self::LastActive { .. } => "group_last_active",
            Self::Elsewhere { .. } => "group_elsewhere",
            Self::TransferToItself { .. } => "group_transfer_to_itself",
            Self::Oversized { .. } => "node_oversized",
            Self::OutOfRange { .. } => "group_setting_out_of_range",
        }
    }

    /// What to do next.
    pub fn hint(&self) -> String {
        match self {
            Self::Unknown { group, .. } => {
                format!("see those that there are: `htm groups list --all`; the first to join makes one: `htm groups join {group}`")
            }
            Self::NotMember { group, .. } => format!("see its members: `htm groups show {group}`"),
            Self::Passive { robot, group } => {
                format!("let an active member write, or make this one active: `htm groups promote {group} {robot}`")
            }
            Self::Replaced { .. } => {
                "nothing of this write was kept; join again to go on, passive as long as another member is active".into()
            }
            Self::Closed { group } => format!("to open it again, join it: `htm groups join {group}`"),
            Self::MemberLost { robot, group } => {
                format!("start its process again: `htm groups join {group} --robot {robot}`")
            }
            Self::LastActive { .. } => "let another robot join first, or shut the group down: `htm groups shutdown`".into(),
            Self::Elsewhere { namespace, .. } => format!("remember it in namespace `{namespace}`, or without one"),
            Self::TransferToItself { .. } => "name another group, or a robot".into(),
            Self::Oversized { .. } => {
                "nothing was written; split the text, or remember it without the group: `htm remember`".into()
            }
            Self::OutOfRange { allowed, .. } => format!("give a value of {allowed}"),
        }
    }

    pub(crate) fn fault(&self) -> Fault {
        match self {
            Self::MemberLost { .. } => Fault::Transient,
            Self::Replaced { .. } => Fault::Permanent,
            _ => Fault::User,
        }
    }
}
