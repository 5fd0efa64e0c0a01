//! Conversations that are replaced as a whole.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

use chrono::{DateTime, Utc};
use serde_json::Value;
use sqlx::PgConnection;

use crate::api::htm::Htm;
use crate::api::remember::noted;
use crate::api::rooms::{Leaving, Taken};
use crate::model::caller::{Caller, Owner, refuse_others};
use crate::model::error::Result;
use crate::model::forget::ForgetReason;
use crate::model::id::NodeId;
use crate::model::memory::{Memory, filled};
use crate::model::operations::Operation;
use crate::model::remember::{Outcome, Receipt};
use crate::model::replace::Replacement;
use crate::store::{forget, operations, replace as store, statistics};

/// A replacement that is yet to be committed.
struct Replaced {
    receipts: Vec<Receipt>,
    /// The room of the forgotten nodes: others may take it after the commit.
    leaving: Vec<Leaving>,
    /// The room of the memories, until the commit.
    _taken: Vec<Taken>,
}

impl Replaced {
    /// The receipts, after the commit.
    fn committed(self) -> Vec<Receipt> {
        self.leaving.into_iter().for_each(Leaving::give);
        self.receipts
    }
}

impl Htm {
    /// Remembers memories in the place of conversations: what these have is forgotten in the same transaction. All is
    /// done, or nothing. A memory without a time gets that of the first memory of its conversation. Replacements of one
    /// conversation at the same time are done one after the other, and so are memories that continue one. Without memories,
    /// the conversations are forgotten; without conversations, nothing is replaced.
    ///
    /// ```no_run
    /// # async fn example(htm: htm_core::Htm) -> htm_core::Result<()> {
    /// use htm_core::{Conversation, Memory, Replacement};
    /// let manual = Conversation { namespace: None, session: "manual.md".into(), expected: None };
    /// let part = |text| Memory { session: Some("manual.md".into()), ..Memory::new(text) };
    /// let parts = ["Install it.", "Run it."].map(part);
    /// let replacement = Replacement { conversations: vec![manual], ..Replacement::default() };
    /// htm.replace(&replacement, &parts).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `not_owner`, `revision_conflict` (a conversation has other memories than expected), and those of
    /// [`remember`](Self::remember) for any of the memories.
    pub async fn replace(&self, replacement: &Replacement, memories: &[Memory]) -> Result<Vec<Receipt>> {
        let replaced = self.with_rooms_of(replacement, memories, async {
            let mut tx = self.pool().begin().await?;
            let replaced = self.replace_in_tx(&mut tx, replacement, memories).await?;
            tx.commit().await?;
            Ok(replaced.committed())
        });
        let receipts = replaced.await?;
        self.pinger().ping();
        Ok(receipts)
    }

    /// As [`replace`](Self::replace), once for an operation: see [`remember_once`](Self::remember_once).
    ///
    /// # Errors
    /// As [`replace`](Self::replace), and `operation_differs`, `operation_open`.
    pub async fn replace_once(
        &self,
        operation: &Operation,
        replacement: &Replacement,
        memories: &[Memory],
        describe: impl FnOnce(Vec<Receipt>) -> Value,
    ) -> Result<Value> {
        let replaced = self.with_rooms_of(replacement, memories, async {
            let mut tx = self.pool().begin().await?;
            if let Some(answer) = operations::claim(&mut tx, operation, Duration::ZERO).await? {
                return Ok(answer);
            }
            let replaced = self.replace_in_tx(&mut tx, replacement, memories).await?;
            let answer = describe(replaced.receipts.clone());
            operations::answer(&mut tx, operation, &answer).await?;
            tx.commit().await?;
            replaced.committed();
            Ok(answer)
        });
        let answer = replaced.await?;
        self.pinger().ping();
        Ok(answer)
    }

    /// Replaces, and counts the namespaces anew after an error: nothing has gone then, and nothing has come.
    async fn with_rooms_of<T>(
        &self,
        replacement: &Replacement,
        memories: &[Memory],
        replaced: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        let result = replaced.await;
        if result.is_err() {
            let of_conversations = replacement.conversations.iter().map(|it| it.namespace.as_deref());
            let named = of_conversations.chain(memories.iter().map(|it| it.namespace.as_deref()));
            let own = self.settings().namespace.as_str();
            for namespace in BTreeSet::from_iter(named.map(|it| it.unwrap_or(own))) {
                self.rooms().forget(namespace).await;
            }
        }
        result
    }

    async fn replace_in_tx(
        &self,
        tx: &mut PgConnection,
        replacement: &Replacement,
        memories: &[Memory],
    ) -> Result<Replaced> {
        let Replacement { conversations, caller, continues } = replacement;
        self.admit_caller(caller)?;
        let mut named = BTreeMap::new();
        for conversation in conversations {
            conversation.validate()?;
            let namespace = self.namespace_or_own(conversation.namespace.as_deref())?;
            named.insert((namespace, conversation.session.as_str()), conversation);
        }
        let continued = if *continues { self.continued(memories)? } else { BTreeSet::new() };
        let held: BTreeSet<(&str, &str)> = named.keys().chain(&continued).copied().collect();
        let (namespaces, sessions): (Vec<&str>, Vec<&str>) = held.into_iter().unzip();
        store::hold_in_tx(tx, &namespaces, &sessions).await?;
        let (namespaces, sessions): (Vec<&str>, Vec<&str>) = named.keys().copied().unzip();
        let parts = store::parts(tx, &namespaces, &sessions).await?;
        for ((namespace, session), conversation) in named {
            let its = parts.iter().filter(|part| (&*part.namespace, &*part.session) == (namespace, session));
            conversation.admit(its.map(|part| part.node).collect())?;
        }
        // Robots before tags, tags before nodes, as everywhere.
        self.register_in_tx(tx, memories).await?;
        let nodes: Vec<NodeId> = parts.iter().map(|part| part.node).collect();
        let locked = forget::lock_in_tx(tx, &nodes).await?;
        for node in &locked {
            let (asks, owner) = (caller.owner(self.settings()), node.owner());
            // A robot that is named acts in the namespace of each conversation.
            let asks = match caller {
                Caller::In { robot: Some(_), .. } => {
                    asks.map(|asks| Owner { namespace: owner.namespace, ..asks })
                }
                _ => asks,
            };
            refuse_others(asks, node.id, owner)?;
        }
        let leaving = self.leaving(&mut *tx, &locked).await?;
        forget::forget_in_tx(tx, &locked, ForgetReason::Asked).await?;
        if memories.is_empty() {
            forget::note_in_tx(tx, &locked).await?;
            return Ok(Replaced { receipts: Vec::new(), leaving, _taken: Vec::new() });
        }
        let whole = self.with_times(memories, &parts);
        let whole = self.with_places(&mut *tx, whole, &continued).await?;
        let held = &mut Some(&mut *tx);
        let now = self.time_of(held, &whole).await?;
        let (results, mut accepted, taken) = self.sort(held, &whole, now).await?;
        in_place(results.into_iter().enumerate().filter_map(|(place, result)| Some((place, result?))))?;
        self.prioritise(held, &mut accepted).await?;
        // All are accepted: their places are those of the memories.
        let written = self.write_unnoted_in_tx(tx, &accepted).await?;
        let mut receipts = in_place(written.into_iter().enumerate())?;
        for ((receipt, asked), memory) in receipts.iter_mut().zip(memories).zip(whole.iter()) {
            let is_chosen = asked.seq.is_none() && receipt.outcome == Outcome::Written;
            receipt.seq = memory.seq.filter(|_| is_chosen);
        }
        let gone = locked.iter().map(|node| node.namespace.as_str());
        statistics::note_in_tx(tx, gone.chain(noted(&accepted))).await?;
        Ok(Replaced { receipts, leaving, _taken: taken })
    }

    /// The conversations of the memories without a place.
    fn continued<'a>(&'a self, memories: &'a [Memory]) -> Result<BTreeSet<(&'a str, &'a str)>> {
        let mut found = BTreeSet::new();
        for (place, memory) in memories.iter().enumerate() {
            let admitted = self.admit_memory(memory).map_err(|error| error.with_value("place", place));
            let (namespace, _) = admitted?;
            if let (None, Some(session)) = (memory.seq, filled(&memory.session)) {
                found.insert((namespace, session));
            }
        }
        Ok(found)
    }

    /// The memories, each without a place with the next one of its continued conversation, which is held.
    async fn with_places<'a>(
        &self,
        tx: &mut PgConnection,
        memories: Cow<'a, [Memory]>,
        continued: &BTreeSet<(&str, &str)>,
    ) -> Result<Cow<'a, [Memory]>> {
        if continued.is_empty() {
            return Ok(memories);
        }
        let (namespaces, sessions): (Vec<&str>, Vec<&str>) = continued.iter().copied().unzip();
        let last = store::last_places(tx, &namespaces, &sessions).await?;
        let after = |last: store::LastPlace| ((last.namespace, last.session), last.seq.saturating_add(1));
        let mut next: HashMap<(String, String), i32> = last.into_iter().map(after).collect();
        let own = &self.settings().namespace;
        let mut memories = memories.into_owned();
        for memory in memories.iter_mut().filter(|memory| memory.seq.is_none()) {
            let Some(session) = filled(&memory.session) else { continue };
            let namespace = memory.namespace.as_ref().unwrap_or(own);
            let place = next.entry((namespace.clone(), session.to_owned())).or_default();
            memory.seq = Some(*place);
            *place = place.saturating_add(1);
        }
        Ok(Cow::Owned(memories))
    }

    /// The memories, each that has no time with that of the first part of its conversation.
    fn with_times<'a>(&self, memories: &'a [Memory], parts: &[store::Part]) -> Cow<'a, [Memory]> {
        let mut firsts: BTreeMap<(&str, &str), DateTime<Utc>> = BTreeMap::new();
        for part in parts {
            let first = firsts.entry((&part.namespace, &part.session)).or_insert(part.created_at);
            *first = part.created_at.min(*first);
        }
        if firsts.is_empty() {
            return Cow::Borrowed(memories);
        }
        let own = &self.settings().namespace;
        let timed = memories.iter().map(|memory| {
            let namespace = memory.namespace.as_ref().unwrap_or(own);
            let session = memory.session.as_deref().unwrap_or_default();
            let first = firsts.get(&(namespace.as_str(), session)).copied();
            Memory { at: memory.at.or(first), ..memory.clone() }
        });
        Cow::Owned(timed.collect())
    }
}

/// The receipts, or the first error, with the place of its memory.
fn in_place(results: impl Iterator<Item = (usize, Result<Receipt>)>) -> Result<Vec<Receipt>> {
    results.map(|(place, result)| result.map_err(|error| error.with_value("place", place))).collect()
}
