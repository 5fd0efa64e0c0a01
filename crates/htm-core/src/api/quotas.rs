//! Quotas of namespaces: how many memories, how many bytes of text, and how many requests a minute.
//!
//! A namespace without a quota costs nothing. One with a quota is counted again every few seconds, and each handle adds
//! its own writes in between, and takes away what it forgets. So a namespace can exceed its quota by the writes of other
//! processes in that time. Before a refusal, it is counted again: others may have forgotten something or changed the quota,
//! and a write that was counted may have been dropped or undone. A write within a transaction is counted on its connection:
//! it is never refused for what the transaction itself has written or deleted, but may exceed the quota by what others are
//! writing.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use sqlx::PgConnection;

use crate::api::htm::Htm;
use crate::api::rooms::{Leaving, Seen, Taken};
use crate::model::error::{Result, codes};
use crate::model::quotas::{Quota, QuotaUse, counting};
use crate::model::wall::above;
use crate::store::connections::{Connections, Db, Held};
use crate::store::forget::Locked;
use crate::store::nodes::{self, DuplicateScope, Unique};
use crate::store::quotas as store;

impl Htm {
    /// The quota of a namespace (default: the handle's).
    ///
    /// # Errors
    /// `namespace_invalid`, `namespace_forbidden`, or a database error.
    pub async fn quota(&self, namespace: Option<&str>) -> Result<Quota> {
        store::get(self.pool(), self.namespace_or_own(namespace)?).await
    }

    /// Counts what a namespace (default: the handle's) uses of its quota. Reads all of its nodes. None for a pattern such as
    /// `tenant-7/*`: its quota is of requests alone.
    ///
    /// # Errors
    /// `namespace_invalid`, `namespace_forbidden`, or a database error.
    pub async fn quota_use(&self, namespace: Option<&str>) -> Result<Option<QuotaUse>> {
        let namespace = self.namespace_or_own(namespace)?;
        match above(namespace) {
            Some(_) => Ok(None),
            None => store::used(self.pool(), namespace).await.map(Some),
        }
    }

    /// Sets the quota of a namespace (default: the handle's). The empty quota limits nothing. A namespace that has more
    /// keeps it, and gets no more. Other processes notice within 5 seconds. The same quota is not set again.
    ///
    /// # Errors
    /// `limit_out_of_range`, `namespace_invalid`, `namespace_forbidden`, or a database error.
    pub async fn set_quota(&self, namespace: Option<&str>, quota: Quota) -> Result<()> {
        self.change_quota(namespace, |_| quota).await.map(drop)
    }

    /// As [`set_quota`](Self::set_quota), with a quota made of the present one, which no other call changes meanwhile. Returns the
    /// new one.
    ///
    /// # Errors
    /// As [`set_quota`](Self::set_quota).
    pub async fn change_quota(
        &self,
        namespace: Option<&str>,
        change: impl FnOnce(Quota) -> Quota + Send,
    ) -> Result<Quota> {
        let namespace = self.namespace_or_own(namespace)?;
        let mut tx = self.pool().begin().await?;
        let present = store::hold_in_tx(&mut tx, namespace).await?;
        let quota = change(present);
        quota.validate(namespace)?;
        if quota != present {
            let details = serde_json::to_value(quota).unwrap_or_default();
            store::set_in_tx(&mut tx, namespace, quota).await?;
            self.record_in_tx(&mut tx, self.done("quota.set", Some(namespace), None, details)).await?;
        }
        tx.commit().await?;
        self.rooms().forget(namespace).await;
        Ok(quota)
    }

    /// Whether a namespace has a quota, to within a few seconds.
    pub(crate) async fn is_limited(&self, held: &mut Held<'_>, namespace: &str) -> Result<bool> {
        self.rooms().is_limited(Db::held_or(held, self.pool()), namespace).await
    }

    /// The quotas of requests that count a caller that sees these namespaces (`tenant-7/*` for all below `tenant-7`): those
    /// of each, and those of the patterns that it is below. With the most requests a minute of each. While the primary is
    /// away, a fresh replica is asked.
    ///
    /// # Errors
    /// A database error.
    pub async fn request_quotas(&self, namespaces: &[String]) -> Result<Vec<(String, i32)>> {
        let counting = &counting(namespaces);
        let at_replica =
            |replica: Arc<dyn Connections>| async move { store::of_requests(&*replica, counting).await };
        self.at_primary_or_replica(store::of_requests(self.shared_pool(), counting), at_replica, |_| true)
            .await
    }

    /// Takes up to `wanted` of the requests that the quota of a namespace allows in this minute. Returns how many of them were
    /// left, and the seconds until the next minute. None: it does not limit requests. While the primary is away and a
    /// replica is fresh, nobody counts: all are granted, for a second.
    ///
    /// # Errors
    /// A database error.
    pub async fn take_requests_of(&self, namespace: &str, wanted: i32) -> Result<Option<(i32, f64)>> {
        let counted = store::take_requests(self.shared_pool(), namespace, wanted);
        self.at_primary_or_replica(counted, |_| async move { Ok(Some((wanted, 1.0))) }, |_| true).await
    }

    /// Counts nodes as gone whose forgetting is committed.
    pub(crate) async fn give_room_of(&self, forgotten: &[Locked]) {
        for (namespace, gone) in uses(forgotten) {
            self.rooms().give(namespace, gone).await;
        }
    }

    /// The room of nodes that a transaction is about to forget before it writes others.
    pub(crate) async fn leaving(
        &self,
        connection: &mut PgConnection,
        nodes: &[Locked],
    ) -> Result<Vec<Leaving>> {
        let mut leaving = Vec::new();
        for (namespace, gone) in uses(nodes) {
            leaving.push(self.rooms().leaving(Db::from(&mut *connection), namespace, gone).await?);
        }
        Ok(leaving)
    }

    /// Refuses those of some memories for which the quotas of their namespaces have no room, and counts the others. One
    /// that exists already adds nothing and needs no room, nor does one that is the same as another of them. One that is
    /// forgotten before it is written again is counted a few seconds later. The room is kept until the write ends.
    pub(crate) async fn make_rooms(
        &self,
        held: &mut Held<'_>,
        memories: &[Unique<'_>],
    ) -> Result<Vec<Result<Option<Taken>>>> {
        let mut limited = HashMap::new();
        for it in memories {
            if !limited.contains_key(it.namespace) {
                limited.insert(it.namespace, self.is_limited(held, it.namespace).await?);
            }
        }
        if limited.values().all(|limited| !limited) {
            return Ok(memories.iter().map(|_| Ok(None)).collect());
        }
        let keys: Vec<(&str, &str)> =
            memories.iter().filter_map(|it| Some((it.namespace, it.key?))).collect();
        let holders = nodes::by_keys(Db::held_or(held, self.pool()), &keys).await?;
        let same = nodes::same_content(Db::held_or(held, self.pool()), memories).await?;
        let mut counted = HashSet::new();
        let mut seen: HashMap<&str, Seen> = HashMap::new();
        let mut admitted = Vec::new();
        for (it, same) in memories.iter().zip(same) {
            let key = it.key.map(|key| (it.namespace, key, None));
            let content = it.scope.map(|scope| {
                let robot = if scope == DuplicateScope::Robot { it.robot } else { "" };
                (it.namespace, robot, Some(it.content_hash))
            });
            let marks = [key, content];
            let has_key =
                it.key.is_some_and(|key| holders.contains_key(&(it.namespace.to_owned(), key.to_owned())));
            let is_repeated = marks.iter().flatten().any(|mark| counted.contains(mark));
            if !limited[it.namespace] || has_key || same.is_some() || is_repeated {
                admitted.push(Ok(None));
                continue;
            }
            let more = QuotaUse { memories: 1, bytes: it.bytes as i64 };
            let db = Db::held_or(held, self.pool());
            match self.rooms().take(db, it.namespace, more, seen.entry(it.namespace).or_default()).await {
                Ok(taken) => {
                    counted.extend(marks.into_iter().flatten());
                    admitted.push(Ok(Some(taken)));
                }
                Err(error) if error.is(codes::QUOTA_EXCEEDED) => admitted.push(Err(error)),
                Err(error) => return Err(error),
            }
        }
        Ok(admitted)
    }

    /// Refuses a text for which the quota of its namespace has no room, and counts it otherwise.
    pub(crate) async fn make_room(
        &self,
        held: &mut Held<'_>,
        namespace: &str,
        memories: i64,
        bytes: usize,
    ) -> Result<Taken> {
        let more = QuotaUse { memories, bytes: bytes as i64 };
        self.rooms().take(Db::held_or(held, self.pool()), namespace, more, &mut Seen::default()).await
    }
}

/// The use of each namespace by nodes.
fn uses(nodes: &[Locked]) -> HashMap<&str, QuotaUse> {
    let mut uses: HashMap<&str, QuotaUse> = HashMap::new();
    for node in nodes {
        let of_namespace = uses.entry(&node.namespace).or_default();
        *of_namespace = of_namespace.plus(QuotaUse { memories: 1, bytes: node.bytes.into() });
    }
    uses
}
