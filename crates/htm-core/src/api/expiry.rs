//! Expiry and retention: memories with a time to live, and policies of namespaces. Nothing is forgotten by itself: sweeps
//! of workers forget what has expired, and report it.

use std::time::Duration;

use chrono::{DateTime, Utc};
use serde_json::json;

use crate::api::htm::Htm;
use crate::model::caller::{Confirmation, Owner, refuse_others};
use crate::model::error::Result;
use crate::model::expiry::Expiry;
use crate::model::id::NodeId;
use crate::model::retention::{Retention, RetentionPlan, Swept};
use crate::store::connections::{Db, Held};
use crate::store::{expiry as store, learning, nodes, operations, purge};

impl Htm {
    /// The database's time, if one of these expiries has to be compared with it: a time, not a time to live.
    pub(crate) async fn time_for(
        &self,
        held: &mut Held<'_>,
        expiries: &[Option<Expiry>],
    ) -> Result<Option<DateTime<Utc>>> {
        match expiries.iter().flatten().any(|expiry| expiry.at().is_some()) {
            true => purge::now(Db::held_or(held, self.pool())).await.map(Some),
            false => Ok(None),
        }
    }

    /// Refuses an expiry that has passed: the next sweep would forget the memory.
    pub(crate) async fn admit_expiry(&self, held: &mut Held<'_>, expiry: Option<Expiry>) -> Result<()> {
        let now = self.time_for(held, &[expiry]).await?;
        expiry.zip(now).map_or(Ok(()), |(expiry, now)| expiry.validate_at(now))
    }

    /// Starts the times to live of nodes again. Nodes without a time to live and forgotten nodes are left, and so are
    /// those of others on a handle that is restricted to a robot. Returns the number of refreshed nodes.
    ///
    /// # Errors
    /// `node_not_found` on a handle that does not see the namespace of one of them, or a database error.
    pub async fn refresh(&self, nodes: &[NodeId]) -> Result<u64> {
        self.admit_nodes(nodes).await?;
        store::refresh(self.pool(), nodes, self.bound_robot()).await
    }

    /// As [`refresh`](Self::refresh), for one node. Returns whether it has a time to live.
    ///
    /// # Errors
    /// `node_not_found`, also for a node that was forgotten; `not_owner` on a handle that is restricted to another robot; or a
    /// database error.
    pub async fn refresh_one(&self, node: NodeId) -> Result<bool> {
        if self.refresh(&[node]).await? > 0 {
            return Ok(true);
        }
        let found = nodes::get(self.pool(), None, node).await?;
        let owner = Owner { namespace: &found.namespace, robot: &found.robot };
        refuse_others(self.bound_robot().map(|robot| Owner { robot, ..owner }), node, owner)?;
        Ok(false)
    }

    /// Forgets what has expired, carries out the retention policies, and deletes the answers of old operations and
    /// old recalls now.
    /// Workers do the first twice a minute and the others every ten minutes. [`restore`](Self::restore) brings a
    /// forgotten memory back, without its expiry.
    ///
    /// # Errors
    /// `namespace_forbidden` on a handle with a wall, `robot_forbidden` on one that is restricted to a robot, or a database
    /// error; earlier transactions stay.
    pub async fn sweep(&self) -> Result<Swept> {
        self.admit_all()?;
        self.admit_any_robot()?;
        operations::sweep(self.pool()).await?;
        learning::sweep(self.pool()).await?;
        let mut swept = Swept::default();
        let expired = store::sweep_expired(self.pool(), &mut swept).await;
        let retained = store::sweep_retention(self.pool(), Duration::ZERO, &mut swept).await;
        self.rooms().forget_all();
        if let Err(error) = expired.and(retained) {
            // Nothing is forgotten without a word.
            tracing::info!(?swept, "a sweep failed, and has done this before");
            return Err(error);
        }
        Ok(swept)
    }

    /// The retention policy of a namespace (default: the handle's).
    ///
    /// # Errors
    /// `namespace_invalid`, `namespace_forbidden`, or a database error.
    pub async fn retention(&self, namespace: Option<&str>) -> Result<Retention> {
        store::retention(self.pool(), self.namespace_or_own(namespace)?).await
    }

    /// Counts what the next sweep would forget and purge by a new policy, and not by the present one. Sets nothing.
    ///
    /// # Errors
    /// `expiry_out_of_range`, `namespace_invalid`, `namespace_forbidden`, or a database error.
    pub async fn plan_retention(&self, namespace: Option<&str>, policy: Retention) -> Result<RetentionPlan> {
        policy.validate()?;
        let namespace = self.written_or_own(namespace)?;
        let present = store::retention(self.pool(), namespace).await?;
        store::plan_retention(self.pool(), namespace, policy.stricter_than(present)).await
    }

    /// Sets the retention policy of a namespace (default: the handle's). The empty policy keeps everything. The next
    /// sweep takes the namespace, also if the policy is the same.
    ///
    /// # Errors
    /// As [`plan_retention`](Self::plan_retention); `robot_forbidden` on a handle that is restricted to a robot;
    /// `not_confirmed` if the plan is not empty and the call is not confirmed. Nothing is set then.
    pub async fn set_retention(
        &self,
        namespace: Option<&str>,
        policy: Retention,
        confirmation: Confirmation,
    ) -> Result<RetentionPlan> {
        self.change_retention(namespace, |_| policy, confirmation).await.map(|(_, plan)| plan)
    }

    /// As [`set_retention`](Self::set_retention), with a policy made of the present one, which no other call changes meanwhile.
    /// Returns the new one, and what it removes.
    ///
    /// # Errors
    /// As [`set_retention`](Self::set_retention).
    pub async fn change_retention(
        &self,
        namespace: Option<&str>,
        change: impl FnOnce(Retention) -> Retention + Send,
        confirmation: Confirmation,
    ) -> Result<(Retention, RetentionPlan)> {
        let namespace = self.written_or_own(namespace)?;
        self.admit_any_robot()?;
        let mut tx = self.pool().begin().await?;
        let present = store::hold_retention_in_tx(&mut tx, namespace).await?;
        let policy = change(present);
        policy.validate()?;
        let plan = store::plan_retention(&mut tx, namespace, policy.stricter_than(present)).await?;
        if plan != RetentionPlan::default() {
            let RetentionPlan { to_forget, to_purge } = plan;
            confirmation.require(|| {
                format!("a policy by which the next sweep forgets {to_forget} and purges {to_purge} memories of `{namespace}`")
            })?;
        }
        let details = json!({
            "forget_after_seconds": policy.forget_after_seconds, "purge_after_seconds": policy.purge_after_seconds,
        });
        store::set_retention(&mut tx, namespace, policy).await?;
        self.record_in_tx(&mut tx, self.done("retention.set", Some(namespace), None, details)).await?;
        tx.commit().await?;
        Ok((policy, plan))
    }
}
