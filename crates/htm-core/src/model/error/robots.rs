//! What can go wrong with a call about robots.

use crate::model::fault::Fault;

/// What is wrong with a call about robots.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RobotError {
    /// No robot of that name is registered.
    #[error("namespace `{namespace}` has no robot `{name}`")]
    Unknown {
        /// The name given.
        name: String,
        /// Where it was looked for.
        namespace: String,
    },
    /// Another robot has that name.
    #[error("namespace `{namespace}` has a robot `{name}` already")]
    Taken {
        /// The name given.
        name: String,
        /// Where.
        namespace: String,
    },
    /// A robot was to be merged into itself.
    #[error("robot `{name}` cannot be merged into itself")]
    MergedIntoItself {
        /// Its name.
        name: String,
    },
    /// A working memory was to hold nothing, or more than a billion tokens.
    #[error("a working memory of {tokens} tokens is outside 1 to 1,000,000,000")]
    BudgetOutOfRange {
        /// As it was asked for.
        tokens: usize,
    },
    /// A merge of nothing.
    #[error("no robot to merge was named")]
    NothingToMerge,
}

impl RobotError {
    /// A stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unknown { .. } => "robot_unknown",
            Self::Taken { .. } => "robot_taken",
            Self::MergedIntoItself { .. } => "merge_into_itself",
            Self::NothingToMerge => "nothing_to_merge",
            Self::BudgetOutOfRange { .. } => "budget_out_of_range",
        }
    }

    /// What to do next.
    pub fn hint(&self) -> String {
        match self {
            Self::Unknown { .. } => {
                "see those that there are: `htm robots list --all`; a robot belongs to one namespace".into()
            }
            Self::Taken { name, .. } => {
                format!("use another name, or make one robot of both: `htm robots merge OTHER {name} --yes`")
            }
            Self::MergedIntoItself { .. } => "name another robot as the one that stays".into(),
            Self::NothingToMerge => "name at least one robot that is to go".into(),
            Self::BudgetOutOfRange { .. } => "give a number of tokens from 1 to 1000000000".into(),
        }
    }

    pub(crate) fn fault(&self) -> Fault {
        Fault::User
    }
}
