//! Robots: who remembers. Each is registered by its first memory, or by hand.

pub(crate) mod activity;
mod name;

use chrono::{DateTime, Utc};
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::api::htm::Htm;
use crate::api::scope::Scope;
use crate::model::error::{Error, Result};
use crate::model::fault::Fault;
use crate::model::id::RobotId;
use crate::model::memory::{MAX_NAME_BYTES, validate_metadata, validate_name};
use crate::store::robots;

/// A robot, as it is registered.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct RobotInfo {
    /// Its number, as rows refer to it.
    pub id: RobotId,
    /// Its identity, whatever it is called.
    pub uuid: Uuid,
    /// Its namespace.
    pub namespace: String,
    /// Its name, unique in its namespace.
    pub name: String,
    /// A JSON object.
    pub metadata: Value,
    /// When it was registered.
    pub created_at: DateTime<Utc>,
    /// When it remembered or recalled last, to the minute: it is written behind the calls.
    pub last_active: Option<DateTime<Utc>>,
    /// The most tokens that its working memory holds; none: what the program that opens it is set to
    /// ([`Settings::working_memory_tokens`](crate::Settings::working_memory_tokens)).
    pub max_tokens: Option<usize>,
}

/// The largest budget of a working memory, in tokens.
pub const MAX_BUDGET: usize = 1_000_000_000;

/// A robot with what it has done.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct RobotStatistics {
    /// The robot.
    #[serde(flatten)]
    pub robot: RobotInfo,
    /// Live nodes that it made.
    pub nodes: i64,
    /// Their tokens.
    pub tokens: i64,
    /// Nodes that it made and that are forgotten, not purged.
    pub forgotten: i64,
    /// How often it said again what was remembered already.
    pub repeats: i64,
    /// When its first live memory happened.
    pub first_memory: Option<DateTime<Utc>>,
    /// When its last live memory happened.
    pub last_memory: Option<DateTime<Utc>>,
    /// Live nodes in its working memory, as it was written last.
    pub in_working_memory: i64,
    /// Their tokens.
    pub working_memory_tokens: i64,
    /// The groups that it is a member of.
    pub groups: Vec<String>,
}

/// What a merge moved.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct MergeReceipt {
    /// The namespace.
    pub namespace: String,
    /// The robot that has it all now.
    pub into: String,
    /// The robots that are no more.
    pub from: Vec<String>,
    /// Nodes that changed hands, forgotten ones too.
    pub nodes: i64,
    /// Records of what was said again.
    pub repeats: i64,
    /// Nodes that came into its working memory.
    pub working_memory: i64,
    /// Memberships in groups that ended.
    pub memberships: i64,
}

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

impl Htm {
    /// The robots, by namespace and name, with what they have done. Reads all nodes of the namespaces: a second for a
    /// million.
    ///
    /// # Errors
    /// `namespace_invalid`, or a database error.
    pub async fn robots(&self, scope: &Scope) -> Result<Vec<RobotStatistics>> {
        robots::statistics(self.pool(), scope.namespace(self)?, None).await
    }

    /// A robot of a namespace (the handle's if none is named) with what it has done.
    ///
    /// # Errors
    /// `robot_unknown`, `namespace_invalid`, or a database error.
    pub async fn robot_info(&self, namespace: Option<&str>, name: &str) -> Result<RobotStatistics> {
        let namespace = self.namespace_or_own(namespace)?;
        let found = robots::statistics(self.pool(), Some(namespace), Some(name)).await?;
        found.into_iter().next().ok_or_else(|| unknown(namespace, name))
    }

    /// A robot of a namespace (the handle's if none is named) as it is registered: one row is read.
    ///
    /// # Errors
    /// `robot_unknown`, `namespace_invalid`, or a database error.
    pub async fn find_robot(&self, namespace: Option<&str>, name: &str) -> Result<RobotInfo> {
        let namespace = self.namespace_or_own(namespace)?;
        robots::get(self.pool(), namespace, name).await?.ok_or_else(|| unknown(namespace, name))
    }

    /// Registers a robot before its first memory; without a name it is given one, as `quiet-heron-7`.
    ///
    /// # Errors
    /// `robot_taken`, `robot_invalid`, `namespace_invalid`, `nul_byte` in the metadata, `field_too_long`, `metadata_too_deep`, or a database error.
    pub async fn register_robot(
        &self,
        namespace: Option<&str>,
        name: Option<&str>,
        metadata: Map<String, Value>,
    ) -> Result<RobotInfo> {
        let namespace = self.namespace_or_own(namespace)?;
        validate_metadata(&metadata)?;
        let metadata = Value::Object(metadata);
        if let Some(name) = name {
            validate_name("robot", name, MAX_NAME_BYTES)?;
            let registered = robots::insert(self.pool(), namespace, name, &metadata).await?;
            return registered.ok_or_else(|| taken(namespace, name));
        }
        loop {
            // One of a million names; when it is taken, another is drawn.
            let name = name::generate();
            if let Some(robot) = robots::insert(self.pool(), namespace, &name, &metadata).await? {
                return Ok(robot);
            }
        }
    }

    /// Gives a robot another name. Its memories stay its own; who remembers by the old name from here on is a new robot.
    ///
    /// # Errors
    /// `robot_unknown`, `robot_taken`, `robot_invalid`, `namespace_invalid`, or a database error.
    pub async fn rename_robot(&self, namespace: Option<&str>, old: &str, new: &str) -> Result<RobotInfo> {
        let namespace = self.namespace_or_own(namespace)?;
        validate_name("robot", new, MAX_NAME_BYTES)?;
        match robots::rename(self.pool(), namespace, old, new).await {
            Ok(Some(robot)) => {
                self.known_robots().invalidate(&(namespace.to_owned(), old.to_owned()));
                Ok(robot)
            }
            Ok(None) => Err(unknown(namespace, old)),
            Err(error) if robots::is_about(&error, "robots_namespace_name_key") => Err(taken(namespace, new)),
            Err(error) => Err(error.into()),
        }
    }

    /// Sets a robot's metadata, all of it.
    ///
    /// # Errors
    /// `robot_unknown`, `namespace_invalid`, `nul_byte`, `field_too_long`, `metadata_too_deep`, or a database error.
    pub async fn set_robot_metadata(
        &self,
        namespace: Option<&str>,
        name: &str,
        metadata: Map<String, Value>,
    ) -> Result<RobotInfo> {
        let namespace = self.namespace_or_own(namespace)?;
        validate_metadata(&metadata)?;
        let robot = robots::set_metadata(self.pool(), namespace, name, &Value::Object(metadata)).await?;
        robot.ok_or_else(|| unknown(namespace, name))
    }

    /// Sets how many tokens a robot's working memory holds; none: what the program that opens it is set to. A program that
    /// has the robot open keeps to the old budget until it opens it again.
    ///
    /// # Errors
    /// `budget_out_of_range`, `robot_unknown`, `namespace_invalid`, or a database error.
    pub async fn set_robot_budget(
        &self,
        namespace: Option<&str>,
        name: &str,
        max_tokens: Option<usize>,
    ) -> Result<RobotInfo> {
        let namespace = self.namespace_or_own(namespace)?;
        if let Some(tokens) = max_tokens.filter(|tokens| !(1..=MAX_BUDGET).contains(tokens)) {
            return Err(RobotError::BudgetOutOfRange { tokens }.into());
        }
        let robot =
            robots::set_budget(self.pool(), namespace, name, max_tokens.map(|tokens| tokens as i64)).await?;
        robot.ok_or_else(|| unknown(namespace, name))
    }

    /// What [`merge_robots`](Self::merge_robots) would move at this moment; nothing is written.
    ///
    /// # Errors
    /// As [`merge_robots`](Self::merge_robots).
    pub async fn would_merge_robots(
        &self,
        namespace: Option<&str>,
        from: &[&str],
        into: &str,
    ) -> Result<MergeReceipt> {
        let namespace = self.namespace_or_own(namespace)?;
        robots::would_merge(self.pool(), namespace, &to_merge(from, into)?, into).await
    }

    /// Makes one robot of several, in one transaction: all that the robots `from` have goes to `into`, and they are
    /// removed. Their memberships in groups end, as those of processes that left: a process that goes on joins as `into`.
    /// `into` keeps its identity and metadata, and a program that has one of them open goes on as `into`. A memory that is
    /// written by an old name at this moment goes along, or registers that name again; it is never lost or refused.
    ///
    /// # Errors
    /// `nothing_to_merge`, `merge_into_itself`, `robot_unknown`, `namespace_invalid`, or a database error. Nothing has
    /// changed then.
    pub async fn merge_robots(
        &self,
        namespace: Option<&str>,
        from: &[&str],
        into: &str,
    ) -> Result<MergeReceipt> {
        let namespace = self.namespace_or_own(namespace)?;
        let from = to_merge(from, into)?;
        let receipt = robots::merge(self.pool(), namespace, &from, into).await?;
        for name in from {
            self.known_robots().invalidate(&(namespace.to_owned(), name.to_owned()));
        }
        Ok(receipt)
    }
}

/// The robots that are to go, each once.
fn to_merge<'a>(from: &[&'a str], into: &str) -> Result<Vec<&'a str>> {
    let mut from = from.to_vec();
    from.sort_unstable();
    from.dedup();
    if from.is_empty() {
        return Err(RobotError::NothingToMerge.into());
    }
    if from.contains(&into) {
        return Err(RobotError::MergedIntoItself { name: into.into() }.into());
    }
    Ok(from)
}

pub(crate) fn unknown(namespace: &str, name: &str) -> Error {
    RobotError::Unknown { name: name.chars().take(128).collect(), namespace: namespace.into() }.into()
}

fn taken(namespace: &str, name: &str) -> Error {
    RobotError::Taken { name: name.into(), namespace: namespace.into() }.into()
}
