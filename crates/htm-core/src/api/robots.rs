//! Robots. Each is registered by its first memory, or explicitly.

use serde_json::{Map, Value, json};

use crate::api::htm::Htm;
use crate::model::error::{Error, Result, codes};
use crate::model::memory::{MAX_NAME_BYTES, validate_metadata, validate_name};
use crate::model::robots::{MAX_BUDGET, MergeReceipt, RobotInfo, RobotStatistics, name, taken, unknown};
use crate::model::scope::Scope;
use crate::store::robots;

impl Htm {
    /// The robots with their statistics, by namespace and name. Reads all nodes of the namespaces: a second for a
    /// million.
    ///
    /// # Errors
    /// `namespace_invalid`, or a database error.
    pub async fn robots(&self, scope: &Scope) -> Result<Vec<RobotStatistics>> {
        robots::statistics(self.pool(), scope.namespace(self)?, None).await
    }

    /// A robot of a namespace (default: the handle's) with its statistics.
    ///
    /// # Errors
    /// `robot_unknown`, `namespace_invalid`, or a database error.
    pub async fn robot_info(&self, namespace: Option<&str>, name: &str) -> Result<RobotStatistics> {
        let namespace = self.namespace_or_own(namespace)?;
        let found = robots::statistics(self.pool(), Some(namespace), Some(name)).await?;
        found.into_iter().next().ok_or_else(|| unknown(namespace, name))
    }

    /// A registered robot of a namespace (default: the handle's). Reads one row.
    ///
    /// # Errors
    /// `robot_unknown`, `namespace_invalid`, or a database error.
    pub async fn find_robot(&self, namespace: Option<&str>, name: &str) -> Result<RobotInfo> {
        let namespace = self.namespace_or_own(namespace)?;
        robots::get(self.pool(), namespace, name).await?.ok_or_else(|| unknown(namespace, name))
    }

    /// Registers a robot before its first memory. Without a name it gets one, such as `quiet-heron-7`.
    ///
    /// # Errors
    /// `robot_taken`, `robot_invalid`, `namespace_invalid`, `nul_byte` in the metadata, `field_too_long`,
    /// `metadata_too_deep`, or a database error.
    pub async fn register_robot(
        &self,
        namespace: Option<&str>,
        name: Option<&str>,
        metadata: Map<String, Value>,
    ) -> Result<RobotInfo> {
        let namespace = self.written_or_own(namespace)?;
        validate_metadata(&metadata)?;
        let metadata = Value::Object(metadata);
        if let Some(name) = name {
            validate_name("robot", name, MAX_NAME_BYTES)?;
            self.admit_robot(name)?;
            let registered = robots::insert(self.pool(), namespace, name, &metadata).await?;
            return registered.ok_or_else(|| taken(namespace, name));
        }
        self.admit_any_robot()?;
        loop {
            // One of a million names; when it is taken, another is drawn.
            let name = name::generate();
            if let Some(robot) = robots::insert(self.pool(), namespace, &name, &metadata).await? {
                return Ok(robot);
            }
        }
    }

    /// Renames a robot. Its memories stay its own. The old name then means a new robot.
    ///
    /// # Errors
    /// `robot_unknown`, `robot_taken`, `robot_forbidden`, `robot_invalid`, `namespace_invalid`, or a database error.
    pub async fn rename_robot(&self, namespace: Option<&str>, old: &str, new: &str) -> Result<RobotInfo> {
        let namespace = self.namespace_or_own(namespace)?;
        validate_name("robot", new, MAX_NAME_BYTES)?;
        // Its memories go with the name.
        self.admit_robot(old)?;
        self.admit_robot(new)?;
        let mut tx = self.pool().begin().await?;
        match robots::rename(&mut tx, namespace, old, new).await {
            Ok(Some(robot)) => {
                // Its id: an erasure of the namespace leaves no name of a robot.
                let id = robot.id.to_string();
                let done = self.done("robot.rename", Some(namespace), Some(&id), json!({}));
                self.record_in_tx(&mut tx, done).await?;
                tx.commit().await?;
                self.known_robots().invalidate(&(namespace.to_owned(), old.to_owned()));
                Ok(robot)
            }
            Ok(None) => Err(unknown(namespace, old)),
            Err(error) if error.violates("robots_namespace_name_key") => Err(taken(namespace, new)),
            Err(error) => Err(error),
        }
    }

    /// Replaces a robot's metadata.
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
        self.admit_robot(name)?;
        let robot = robots::set_metadata(self.pool(), namespace, name, &Value::Object(metadata)).await?;
        robot.ok_or_else(|| unknown(namespace, name))
    }

    /// Sets the token budget of a robot's working memory; none: the default of the program that opens it. What no longer
    /// fits is evicted. Programs that have the robot open keep the old budget, and what they hold, until they open it
    /// again; what they save beyond the new budget is evicted after that, when the next node is added.
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
        self.admit_robot(name)?;
        if let Some(tokens) = max_tokens.filter(|tokens| !(1..=MAX_BUDGET).contains(tokens)) {
            let message = format!("a working memory of {tokens} tokens is outside 1 to 1,000,000,000");
            return Err(Error::new(codes::BUDGET_OUT_OF_RANGE, message));
        }
        let robot =
            robots::set_budget(self.pool(), namespace, name, max_tokens.map(|tokens| tokens as i64)).await?;
        let robot = robot.ok_or_else(|| unknown(namespace, name))?;
        if let Some(max_tokens) = max_tokens {
            self.evict_saved(robot.id, max_tokens).await?;
        }
        Ok(robot)
    }

    /// Counts what [`merge_robots`](Self::merge_robots) would move now. Writes nothing.
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

    /// Merges robots in one transaction: nodes and working memories of `from` move to `into`, and `from` are deleted.
    /// Their group memberships end. `into` keeps its identity and metadata. Programs that have one of them open
    /// continue as `into`. A concurrent write under an old name moves along or registers that name again; it is never
    /// lost or rejected.
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
        // Both at once: a handle of one robot merges none.
        from.iter().chain([&into]).try_for_each(|robot| self.admit_robot(robot))?;
        let done = self.done("robot.merge", Some(namespace), None, json!({}));
        let receipt = robots::merge(self.pool(), namespace, &from, into, &done).await?;
        for name in from {
            self.known_robots().invalidate(&(namespace.to_owned(), name.to_owned()));
        }
        Ok(receipt)
    }
}

/// The robots to be removed, without duplicates.
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
