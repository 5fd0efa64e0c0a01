//! Robots: who remembers. Each is registered by its first memory, or by hand.

use serde_json::{Map, Value};

use crate::api::htm::Htm;
use crate::model::error::{Error, Result, codes};
use crate::model::memory::{MAX_NAME_BYTES, validate_metadata, validate_name};
use crate::model::robots::{MAX_BUDGET, MergeReceipt, RobotInfo, RobotStatistics, name, taken, unknown};
use crate::model::scope::Scope;
use crate::store::robots;

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
            let message = format!("a working memory of {tokens} tokens is outside 1 to 1,000,000,000");
            return Err(Error::new(codes::BUDGET_OUT_OF_RANGE, message));
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
        return Err(Error::new(codes::NOTHING_TO_MERGE, "no robot to merge was named"));
    }
    if from.contains(&into) {
        let message = format!("robot `{into}` cannot be merged into itself");
        return Err(Error::new(codes::MERGE_INTO_ITSELF, message));
    }
    Ok(from)
}
