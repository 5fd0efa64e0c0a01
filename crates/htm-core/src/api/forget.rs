//! Forgetting and restoring. Forgetting marks a node: after the commit no search finds it, except as of an earlier time. It
//! stays until it is restored or [purged](crate::Htm::purge).

use std::collections::BTreeMap;

use serde_json::json;

use crate::api::htm::Htm;
use crate::model::caller::{Caller, Confirmation, refuse_others};
use crate::model::error::{Error, Result, codes};
use crate::model::filter::validate_limit;
use crate::model::forget::{ForgetPlan, ForgetReason, Forgotten, ForgottenNode, Match, Restored};
use crate::model::id::NodeId;
use crate::model::learning::Signal;
use crate::model::memory::{content_empty, refuse_nul};
use crate::model::nodes::{Node, expect_revision, key_taken_meanwhile, not_found};
use crate::model::operations::Kept;
use crate::model::timeline::TimeCursor;
use crate::model::words::folded;
use crate::store::connections::Tx;
use crate::store::forget as store;
use crate::store::{nodes, operations};

impl Htm {
    /// Forgets a node. After the commit no search finds it, except as of an earlier time; its key is free and its waiting
    /// jobs are deleted. A running job writes nothing.
    ///
    /// # Errors
    /// `not_confirmed` without [`Confirmation::Confirmed`], `node_not_found`, `not_owner`, `robot_forbidden`,
    /// `remembered_by_others` (another robot remembered the same text), or a database error.
    pub async fn forget(
        &self,
        node: NodeId,
        caller: &Caller,
        confirmation: Confirmation,
    ) -> Result<Forgotten> {
        self.forget_once(node, None, caller, confirmation, None).await
    }

    /// As [`forget`](Self::forget), if the text has the revision that the caller knows, and keeps the answer to an
    /// operation.
    ///
    /// # Errors
    /// As [`forget`](Self::forget), and `revision_conflict`: the text was edited meanwhile.
    pub async fn forget_once(
        &self,
        node: NodeId,
        expected: Option<i32>,
        caller: &Caller,
        confirmation: Confirmation,
        kept: Option<Kept<'_, Forgotten>>,
    ) -> Result<Forgotten> {
        let unconfirmed = |error: Error| error.with_value("node", node);
        confirmation.require(|| format!("forgetting node {node}")).map_err(unconfirmed)?;
        self.admit_caller(caller)?;
        self.admit_nodes(&[node]).await?;
        let mut tx = self.pool().begin().await?;
        let locked = store::lock_in_tx(&mut tx, &[node]).await?;
        let Some(found) = locked.first() else { return Err(nodes::missing(&mut *tx, node).await) };
        self.refuse_forgetting(caller, found)?;
        expect_revision(node, found.revision, expected)?;
        let removed = store::forget_in_tx(&mut tx, &locked, ForgetReason::Asked).await?;
        let forgotten = Forgotten { forgotten: vec![node], left: Vec::new(), removed };
        operations::keep_in_tx(&mut tx, kept, &forgotten).await?;
        store::note_in_tx(&mut tx, &locked).await?;
        tx.commit().await?;
        self.give_room_of(&locked).await;
        self.signal(&found.namespace, Signal::Forgotten, &[node]).await;
        Ok(forgotten)
    }

    /// Plans [`forget`](Self::forget) of a node; changes nothing.
    ///
    /// # Errors
    /// As [`forget`](Self::forget).
    pub async fn plan_forget_node(&self, node: NodeId, caller: &Caller) -> Result<ForgetPlan> {
        self.admit_caller(caller)?;
        self.admit_nodes(&[node]).await?;
        let mut tx = self.pool().begin().await?;
        let locked = store::lock_in_tx(&mut tx, &[node]).await?;
        tx.rollback().await?;
        let Some(found) = locked.first() else { return Err(nodes::missing(self.pool(), node).await) };
        self.refuse_forgetting(caller, found)?;
        let found = nodes::get(self.pool(), None, node).await?;
        let excerpt = found.content.chars().take(100).collect();
        let Node { revision, robot, created_at, .. } = found;
        let matches = vec![Match { node, revision, robot, created_at, excerpt }];
        Ok(ForgetPlan { matches, more: false, of_others: 0 })
    }

    /// Plans [`forget_planned`](Self::forget_planned): the nodes of a namespace (default: the handle's) whose text
    /// contains `text`, in upper or lower case. Reads every text of the namespace.
    ///
    /// # Errors
    /// `content_empty`, `nul_byte`, `namespace_invalid`, or a database error.
    pub async fn plan_forget(
        &self,
        text: &str,
        namespace: Option<&str>,
        caller: &Caller,
    ) -> Result<ForgetPlan> {
        if folded(text).trim().is_empty() {
            return Err(content_empty());
        }
        refuse_nul("text", text)?;
        self.admit_caller(caller)?;
        let namespace = self.namespace_or_own(namespace)?;
        store::matching(self.pool(), namespace, text, caller.owner(self.settings())).await
    }

    /// Forgets the nodes of a plan, in one transaction. Nodes that have changed since the plan are left.
    ///
    /// # Errors
    /// `not_confirmed`, `not_owner` (the plan was made for another caller), `remembered_by_others`, or a database
    /// error. Nothing is forgotten then.
    pub async fn forget_planned(
        &self,
        plan: &ForgetPlan,
        caller: &Caller,
        confirmation: Confirmation,
    ) -> Result<Forgotten> {
        confirmation.require(|| format!("forgetting the nodes of the plan ({})", plan.matches.len()))?;
        self.admit_caller(caller)?;
        let ids: Vec<NodeId> = plan.matches.iter().map(|found| found.node).collect();
        self.admit_read_nodes(&ids).await?;
        let mut tx = self.pool().begin().await?;
        let mut locked = store::lock_in_tx(&mut tx, &ids).await?;
        locked.retain(|node| {
            plan.matches.iter().any(|found| (found.node, found.revision) == (node.id, node.revision))
        });
        for node in &locked {
            self.refuse_forgetting(caller, node)?;
        }
        let removed = store::forget_in_tx(&mut tx, &locked, ForgetReason::Asked).await?;
        store::note_in_tx(&mut tx, &locked).await?;
        let mut places: BTreeMap<&str, Vec<NodeId>> = BTreeMap::new();
        for node in &locked {
            places.entry(&*node.namespace).or_default().push(node.id);
        }
        if matches!(caller, Caller::AnyRobot) {
            for (namespace, nodes) in &places {
                let done = self.done("forget", Some(*namespace), None, json!({"memories": nodes.len()}));
                self.record_in_tx(&mut tx, done).await?;
            }
        }
        tx.commit().await?;
        self.give_room_of(&locked).await;
        for (namespace, nodes) in &places {
            self.signal(namespace, Signal::Forgotten, nodes).await;
        }
        let (forgotten, left) = ids.into_iter().partition(|id| locked.iter().any(|node| node.id == *id));
        Ok(Forgotten { forgotten, left, removed })
    }

    fn refuse_forgetting(&self, caller: &Caller, node: &store::Locked) -> Result<()> {
        let asks = caller.owner(self.settings());
        refuse_others(asks, node.id, node.owner())?;
        match (&node.other, asks) {
            (Some(other), Some(_)) => {
                let message = format!("robot `{other}` remembered node {} too", node.id);
                Err(Error::new(codes::REMEMBERED_BY_OTHERS, message))
            }
            _ => Ok(()),
        }
    }

    /// The forgotten nodes of a namespace (default: of all) before a cursor, the last forgotten first.
    ///
    /// # Errors
    /// `limit_out_of_range` (1 to 10,000), `namespace_invalid`, or a database error.
    pub async fn forgotten(
        &self,
        namespace: Option<&str>,
        before: Option<TimeCursor>,
        limit: usize,
    ) -> Result<Vec<ForgottenNode>> {
        validate_limit(limit)?;
        match namespace {
            Some(namespace) => drop(self.admit(namespace)?),
            None => self.admit_all()?,
        }
        store::forgotten(self.pool(), namespace, before, limit as i64).await
    }

    /// Restores a forgotten node with its embeddings and tags. Missing results are enqueued.
    ///
    /// # Errors
    /// `node_not_found` (never there, or purged), `not_forgotten`, `not_owner`, `quota_exceeded`, `key_taken` or
    /// `content_taken` (another node has its key, or it would be a duplicate), or a database error.
    pub async fn restore(&self, node: NodeId, caller: &Caller) -> Result<Restored> {
        self.restore_once(node, None, caller, None).await
    }

    /// As [`restore`](Self::restore), if the text has the revision that the caller knows, and keeps the answer to an
    /// operation.
    ///
    /// # Errors
    /// As [`restore`](Self::restore), and `revision_conflict`: the node was restored, edited and forgotten meanwhile.
    pub async fn restore_once(
        &self,
        node: NodeId,
        expected: Option<i32>,
        caller: &Caller,
        kept: Option<Kept<'_, Restored>>,
    ) -> Result<Restored> {
        self.admit_caller(caller)?;
        self.admit_nodes(&[node]).await?;
        let mut tx = self.pool().begin().await?;
        let found = store::lock_forgotten_in_tx(&mut tx, node).await?.ok_or_else(|| not_found(node))?;
        if !found.is_forgotten {
            return Err(Error::new(codes::NOT_FORGOTTEN, format!("node {node} is not forgotten"))
                .with_value("node", node));
        }
        refuse_others(caller.owner(self.settings()), node, found.owner())?;
        expect_revision(node, found.revision, expected)?;
        let namespace = &found.unique_keys.namespace;
        let _taken = self.make_room(&mut Some(&mut **tx), namespace, 1, found.bytes).await?;
        let restored = self.restore_in_tx(tx, node, &found.unique_keys, kept).await;
        match restored {
            Ok(_) => self.pinger().ping(),
            Err(_) => self.rooms().forget(namespace).await,
        }
        restored
    }

    async fn restore_in_tx(
        &self,
        mut tx: Tx,
        node: NodeId,
        keys: &nodes::UniqueKeys,
        kept: Option<Kept<'_, Restored>>,
    ) -> Result<Restored> {
        if let Err(error) = store::restore_in_tx(&mut tx, &keys.namespace, &[node]).await {
            tx.rollback().await?;
            let error = nodes::taken(self.pool(), node, keys, error).await;
            return Err(if error.is(codes::KEY_TAKEN) { key_taken_meanwhile(error, node) } else { error });
        }
        let jobs = self.enqueue_lacking_in_tx(&mut tx, &keys.namespace, &[node]).await?;
        let restored = Restored { node, jobs };
        operations::keep_in_tx(&mut tx, kept, &restored).await?;
        crate::store::statistics::note_changed_in_tx(&mut tx, &keys.namespace, 1).await?;
        tx.commit().await?;
        Ok(restored)
    }
}
