//! Writing: a node, its tags and its jobs commit together or not at all.

mod attempt;
mod existing;
mod parts;

use std::collections::HashSet;

use chrono::{DateTime, Utc};
use sqlx::{PgConnection, PgTransaction};

use crate::api::htm::Htm;
use crate::api::ping::Pinger;
use crate::api::rooms::Taken;
use crate::model::error::{Error, Result, codes};
use crate::model::expiry::Expiry;
use crate::model::id::{NodeId, RobotId};
use crate::model::memory::{Memory, filled, language_unknown};
use crate::model::remember::{Deduplicate, Outcome, Receipt};
use crate::model::tags::TagPath;
use crate::store::again::{ATTEMPTS, was_overtaken};
use crate::store::connections::{Db, Held, Part};
use crate::store::nodes::{self, DuplicateScope, Insertion, NewNode, Unique};
use crate::store::robots::{self, ROBOT_KEYS};
use crate::store::{priorities, tags};

/// The errors of some memories, at their places; the others, ready to be written; and the room that these have taken.
pub(crate) type Sorted<'a> = (Vec<Option<Result<Receipt>>>, Vec<NewNode<'a>>, Vec<Taken>);

/// The receipt of a write that the caller has yet to commit. It keeps the memory's room in the quota of its namespace:
/// keep it until the commit, and call [`notify`](Self::notify) soon after, because a count may have the memory twice until
/// then. If it is dropped before the commit, the room is given back, and others may take it.
#[derive(Debug)]
#[must_use = "call `notify` after the commit, or workers find the job only when they poll"]
pub struct PendingReceipt {
    receipt: Receipt,
    pinger: Pinger,
    _taken: Option<Taken>,
}

impl PendingReceipt {
    /// Wakes the workers; to be called soon after the caller's commit.
    pub fn notify(self) -> Receipt {
        self.pinger.ping();
        self.receipt
    }

    /// The receipt, valid once the caller has committed.
    pub fn receipt(&self) -> Receipt {
        self.receipt
    }
}

impl Htm {
    /// Remembers: the node, its tags and its jobs are committed when this returns. Full text finds the node at once.
    ///
    /// # Errors
    /// The errors of [`Memory::validate`], `namespace_forbidden`, `robot_forbidden`, `expiry_passed`, `key_taken`,
    /// `language_unknown`, `namespace_full` (no room for a new tag), `quota_exceeded`, `model_unknown` or `model_retired` (of a
    /// vector), `contended`, or a database error. Nothing is written then.
    ///
    /// A key whose node has the same content is no error: the receipt says [`Outcome::Existing`]. Nor is a content that
    /// exists already: [`Outcome::Repeated`].
    pub async fn remember(&self, memory: Memory) -> Result<Receipt> {
        let node = self.prepare(&memory)?;
        let taken = self.admit_one(&mut None, &node).await?;
        let receipt = self.write(std::slice::from_ref(&node)).await?.remove(0)?;
        drop(taken);
        self.pinger().ping();
        self.signal_citations(node.namespace, &memory.content, receipt.node).await;
        Ok(receipt)
    }

    /// As [`remember`](Self::remember), for the robot of the memory's namespace with this id, also after it was renamed
    /// or merged into another. Returns its current id, and sets its current name in the memory. A robot that no longer
    /// exists is registered again under the name in the memory.
    pub(crate) async fn remember_as(
        &self,
        robot: RobotId,
        memory: &mut Memory,
    ) -> Result<(Receipt, RobotId)> {
        let node = self.prepare(memory)?;
        let taken = self.admit_one(&mut None, &node).await?;
        if is_bare(&node) {
            let mut connection = self.pool().acquire().await?;
            let inserted = nodes::insert_one(&mut connection, &node, Some(robot), &self.insertion()).await;
            // Callers that hold one connection and wait for a second can deadlock.
            drop(connection);
            match inserted {
                Ok(Some(id)) => {
                    drop(taken);
                    self.pinger().ping();
                    self.signal_citations(node.namespace, &node.memory.content, id).await;
                    return Ok((written(id), robot));
                }
                Ok(None) => {}
                Err(error) if was_overtaken(&error, &ROBOT_KEYS) => {}
                Err(error) => return Err(error),
            }
        }
        let mut tx = self.pool().begin().await?;
        // The lock keeps the robot from being renamed before the commit.
        let now = robots::hold_name_in_tx(&mut tx, robot).await?;
        if let Some((_, name)) = &now {
            memory.robot = Some(name.clone());
        }
        let node = self.prepare(memory)?;
        let mut results = self.write_in_tx(&mut tx, std::slice::from_ref(&node)).await?;
        tx.commit().await?;
        drop(taken);
        let receipt = results.remove(0)?;
        self.pinger().ping();
        self.signal_citations(node.namespace, &node.memory.content, receipt.node).await;
        Ok((receipt, now.map_or(robot, |(id, _)| id)))
    }

    /// Remembers many memories, thousands a call, in one transaction. Returns one result for each, in their order. A
    /// refused memory does not hold back the others. If their tags are of more namespaces than PostgreSQL can lock at
    /// once (hundreds), it takes several transactions, one after the other; a namespace is written by one of them.
    ///
    /// # Errors
    /// The outer error is the database's: nothing is written then. The inner errors are those of
    /// [`remember`](Self::remember), and `not_written` for memories that were not written because a transaction failed.
    pub async fn remember_many(&self, memories: &[Memory]) -> Result<Vec<Result<Receipt>>> {
        let now = self.time_of(&mut None, memories).await?;
        self.remember_many_at(memories, now).await
    }

    /// As [`remember_many`](Self::remember_many), at this time of the database. Without one, expiries may have passed:
    /// an import brings back what was.
    pub(crate) async fn remember_many_at(
        &self,
        memories: &[Memory],
        now: Option<DateTime<Utc>>,
    ) -> Result<Vec<Result<Receipt>>> {
        let (mut results, mut accepted, _taken) = self.sort(&mut None, memories, now).await?;
        self.prioritise(&mut None, &mut accepted).await?;
        let written = self.write_in_parts(&accepted).await?;
        self.pinger().ping();
        Self::merge(&mut results, written);
        Ok(results.into_iter().flatten().collect())
    }

    /// Remembers within the caller's transaction: the caller's rows and the memory commit together.
    ///
    /// ```no_run
    /// # async fn example(htm: htm_core::Htm) -> Result<(), Box<dyn std::error::Error>> {
    /// let mut tx = htm.database_pool()?.begin().await?;
    /// sqlx::query("insert into tickets (title) values ('Disk full')").execute(&mut *tx).await?;
    /// let pending = htm.remember_in_tx(&mut tx, htm_core::Memory::new("Ticket: disk full")).await?;
    /// tx.commit().await?;
    /// pending.notify();
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`remember`](Self::remember); the transaction is then as it was before (the write has a savepoint).
    ///
    /// # Cancel safety
    /// If this is dropped before it returns, the transaction may have a part of the memory: roll it back.
    pub async fn remember_in_tx(&self, tx: &mut PgTransaction<'_>, memory: Memory) -> Result<PendingReceipt> {
        self.remember_within(tx, memory).await
    }

    /// As [`remember_in_tx`](Self::remember_in_tx), on a connection with an open transaction.
    pub(crate) async fn remember_within(
        &self,
        connection: &mut PgConnection,
        memory: Memory,
    ) -> Result<PendingReceipt> {
        let node = self.prepare(&memory)?;
        let mut part = Part::begin(connection).await?;
        let written = async {
            let taken = self.admit_one(&mut Some(&mut *part), &node).await?;
            let receipt = self.write_in_tx(&mut part, std::slice::from_ref(&node)).await?.remove(0)?;
            Ok((receipt, taken))
        };
        let written = written.await;
        let (receipt, taken) = part.end(written).await?;
        Ok(PendingReceipt { receipt, pinger: self.pinger().clone(), _taken: taken })
    }

    /// The database's time, if the expiry of a memory has to be compared with it.
    pub(crate) async fn time_of(
        &self,
        held: &mut Held<'_>,
        memories: &[Memory],
    ) -> Result<Option<DateTime<Utc>>> {
        let expiries: Vec<Option<Expiry>> = memories.iter().map(|memory| memory.expires).collect();
        self.time_for(held, &expiries).await
    }

    /// The errors of memories that cannot be written, at their places; the others, ready to be written; and their room. `now`
    /// is the [time](Self::time_of) at which no expiry may have passed.
    pub(crate) async fn sort<'a>(
        &'a self,
        held: &mut Held<'_>,
        memories: &'a [Memory],
        now: Option<DateTime<Utc>>,
    ) -> Result<Sorted<'a>> {
        // An unknown language would fail the statement for all of them.
        let valid = memories.iter().filter(|memory| memory.validate().is_ok());
        let languages = valid.map(|memory| filled(&memory.language).unwrap_or(&self.settings().language));
        let unknown = self.unknown_languages(held, languages).await?;
        let prepare = |memory: &'a Memory| match self.prepare(memory) {
            Ok(node) if unknown.contains(node.language) => Err(language_unknown(node.language)),
            Ok(node) => {
                let dated = memory.expires.zip(now);
                dated.map_or(Ok(()), |(expiry, now)| expiry.validate_at(now)).map(|()| node)
            }
            refused => refused,
        };
        let (mut results, mut fitting) = (Vec::new(), Vec::new());
        for memory in memories {
            let fit = match prepare(memory) {
                Ok(node) => self.admit_vectors(held, node.memory).await.map(|()| node),
                Err(error) => Err(error),
            };
            results.push(fit.map(|node| fitting.push(node)).err().map(Err));
        }
        let unique: Vec<Unique<'_>> = fitting.iter().map(NewNode::unique).collect();
        let rooms = self.make_rooms(held, &unique).await?;
        let (mut accepted, mut taken) = (Vec::new(), Vec::new());
        let places = results.iter_mut().filter(|result| result.is_none());
        for ((place, node), room) in places.zip(fitting).zip(rooms) {
            match room {
                Ok(room) => {
                    accepted.push(node);
                    taken.extend(room);
                }
                Err(error) => *place = Some(Err(error)),
            }
        }
        Ok((results, accepted, taken))
    }

    /// As [`admit_new`](Self::admit_new), and refuses a memory whose expiry has passed.
    async fn admit_one(&self, held: &mut Held<'_>, node: &NewNode<'_>) -> Result<Option<Taken>> {
        self.admit_expiry(held, node.memory.expires).await?;
        self.admit_new(held, node).await
    }

    /// Refuses a memory whose language PostgreSQL does not have, whose vectors do not fit, or for which there is no room.
    async fn admit_new(&self, held: &mut Held<'_>, node: &NewNode<'_>) -> Result<Option<Taken>> {
        if !self.unknown_languages(held, std::iter::once(node.language)).await?.is_empty() {
            return Err(language_unknown(node.language));
        }
        self.admit_vectors(held, node.memory).await?;
        self.make_rooms(held, &[node.unique()]).await?.remove(0)
    }

    /// Fills in the results of what was written, in their order.
    pub(crate) fn merge(results: &mut [Option<Result<Receipt>>], written: Vec<Result<Receipt>>) {
        let places = results.iter_mut().filter(|result| result.is_none());
        for (place, result) in places.zip(written) {
            *place = Some(result);
        }
    }

    /// Those of the languages that this PostgreSQL does not have.
    pub(crate) async fn unknown_languages<'a>(
        &self,
        held: &mut Held<'_>,
        languages: impl Iterator<Item = &'a str>,
    ) -> Result<HashSet<&'a str>> {
        let known = self.known_languages();
        let mut unknown: HashSet<&str> = languages.filter(|name| !known.contains_key(*name)).collect();
        if !unknown.is_empty() {
            let names: Vec<&str> = unknown.iter().copied().collect();
            for language in nodes::languages(Db::held_or(held, self.pool()), &names).await? {
                unknown.remove(language.as_str());
                known.insert(language, ());
            }
        }
        Ok(unknown)
    }

    /// Sets the priorities of many nodes that are written at once.
    pub(crate) async fn prioritise(&self, held: &mut Held<'_>, nodes: &mut [NewNode<'_>]) -> Result<()> {
        if nodes.len() <= nodes::MANY_AT_ONCE {
            return Ok(());
        }
        let db = Db::held_or(held, self.pool());
        let priorities = priorities::in_bulk(db, nodes.iter().map(|node| node.namespace)).await?;
        for node in nodes {
            node.priority = priorities[node.namespace];
        }
        Ok(())
    }

    /// The namespace and the robot of a memory, if it is valid and the handle may write it.
    pub(crate) fn admit_memory<'a>(&'a self, memory: &'a Memory) -> Result<(&'a str, &'a str)> {
        memory.validate()?;
        let settings = self.settings();
        settings.validate()?;
        settings.tag_rules.stored(&memory.tags)?;
        let namespace = self.written_or_own(memory.namespace.as_deref())?;
        let robot = memory.robot.as_deref().unwrap_or(&settings.robot);
        self.admit_robot(robot)?;
        Ok((namespace, robot))
    }

    /// Validates a memory and fills in the handle's defaults.
    fn prepare<'a>(&'a self, memory: &'a Memory) -> Result<NewNode<'a>> {
        let (namespace, robot) = self.admit_memory(memory)?;
        let settings = self.settings();
        self.saw_robot(namespace, robot);
        Ok(NewNode {
            memory,
            namespace,
            robot,
            language: filled(&memory.language).unwrap_or(&settings.language),
            content_hash: memory.content_hash(),
            token_count: i32::try_from(settings.token_encoding.count(&memory.content)).unwrap_or(i32::MAX),
            duplicate_scope: match settings.deduplicate {
                _ if !memory.is_plain() => None,
                Deduplicate::Off => None,
                Deduplicate::Robot => Some(DuplicateScope::Robot),
                Deduplicate::Namespace => Some(DuplicateScope::Namespace),
            },
            priority: priorities::LIVE,
        })
    }

    /// Registers the robots and the tags of memories before nodes are locked. Memories that cannot be written are left to
    /// the write, which says why.
    pub(crate) async fn register_in_tx(
        &self,
        connection: &mut PgConnection,
        memories: &[Memory],
    ) -> Result<()> {
        let nodes: Vec<NewNode<'_>> =
            memories.iter().filter_map(|memory| self.prepare(memory).ok()).collect();
        let robots: Vec<(&str, &str)> = nodes.iter().map(|node| (node.namespace, node.robot)).collect();
        robots::register_in_tx(&mut *connection, &robots).await?;
        let tags = nodes
            .iter()
            .flat_map(|node| self.normalised_tags(node.memory).into_iter().map(|tag| (node.namespace, tag)));
        let tags: Vec<(&str, TagPath)> = tags.collect();
        let paths: Vec<(&str, &str)> =
            tags.iter().map(|(namespace, tag)| (*namespace, tag.as_str())).collect();
        tags::register_in_tx(connection, &paths, self.tag_rules()).await?;
        Ok(())
    }

    /// The places of the nodes of each transaction that the locks of the tags need.
    pub(crate) fn parts_of(&self, nodes: &[NewNode<'_>]) -> Vec<Vec<usize>> {
        parts::parts(nodes.iter().map(|node| (node.namespace, self.normalised_tags(node.memory))))
    }

    /// Writes in as many transactions as the locks of the tags need. An error of the first one is returned for all.
    async fn write_in_parts(&self, nodes: &[NewNode<'_>]) -> Result<Vec<Result<Receipt>>> {
        let parts = self.parts_of(nodes);
        if parts.len() <= 1 {
            return self.write(nodes).await;
        }
        let mut results: Vec<Option<Result<Receipt>>> = nodes.iter().map(|_| None).collect();
        let mut cause = "";
        for (number, part) in parts.iter().enumerate() {
            let of_part: Vec<NewNode<'_>> = part.iter().map(|place| nodes[*place]).collect();
            match self.write(&of_part).await {
                Ok(written) => {
                    for (place, result) in part.iter().zip(written) {
                        results[*place] = Some(result);
                    }
                }
                Err(error) if number == 0 => return Err(error),
                Err(error) => {
                    cause = error.code();
                    for (place, error) in part.iter().zip([error]) {
                        results[*place] = Some(Err(error));
                    }
                    break;
                }
            }
        }
        let not_written = || {
            let message = format!("the database failed before this memory was written ({cause})");
            Err(Error::new(codes::NOT_WRITTEN, message))
        };
        Ok(results.into_iter().map(|result| result.unwrap_or_else(not_written)).collect())
    }

    /// Writes a node without tags and vectors of a known robot by one statement, which commits by itself; other nodes in a
    /// transaction.
    async fn write(&self, nodes: &[NewNode<'_>]) -> Result<Vec<Result<Receipt>>> {
        if let [node] = nodes
            && is_bare(node)
            && self.known_robots().contains_key(&robot_of(node))
        {
            let mut connection = self.pool().acquire().await?;
            match nodes::insert_one(&mut connection, node, None, &self.insertion()).await {
                Ok(Some(id)) => return Ok(vec![Ok(written(id))]),
                Ok(None) => {}
                Err(error) if was_overtaken(&error, &ROBOT_KEYS) => {}
                Err(error) => return Err(error),
            }
        }
        let mut tx = self.pool().begin().await?;
        let results = self.write_in_tx(&mut tx, nodes).await?;
        tx.commit().await?;
        for (node, _) in nodes.iter().zip(&results).filter(|(_, result)| result.is_ok()) {
            self.known_robots().insert(robot_of(node), ());
        }
        Ok(results)
    }

    /// Writes in a savepoint of the open transaction. Tries again if another transaction removed the robot
    /// or the node in the way meanwhile, and after a deadlock.
    pub(crate) async fn write_in_tx(
        &self,
        connection: &mut PgConnection,
        nodes: &[NewNode<'_>],
    ) -> Result<Vec<Result<Receipt>>> {
        self.write_and_note(connection, nodes, true).await
    }

    /// As [`write_in_tx`](Self::write_in_tx), in a transaction that goes on: at its end, the caller notes the [noted] ones.
    pub(crate) async fn write_unnoted_in_tx(
        &self,
        connection: &mut PgConnection,
        nodes: &[NewNode<'_>],
    ) -> Result<Vec<Result<Receipt>>> {
        self.write_and_note(connection, nodes, false).await
    }

    async fn write_and_note(
        &self,
        connection: &mut PgConnection,
        nodes: &[NewNode<'_>],
        notes: bool,
    ) -> Result<Vec<Result<Receipt>>> {
        let mut attempt = 1;
        let mut results = loop {
            match self.attempt_in_tx(connection, nodes, notes).await {
                Err(error) if attempt < ATTEMPTS && was_overtaken(&error, &ROBOT_KEYS) => attempt += 1,
                results => break results?,
            }
        };
        let contended =
            |result: &Result<Receipt>| result.as_ref().is_err_and(|error| error.is(codes::CONTENDED));
        let (places, again): (Vec<usize>, Vec<NewNode<'_>>) = nodes
            .iter()
            .enumerate()
            .filter(|(place, _)| contended(&results[*place]))
            .map(|(place, node)| (place, *node))
            .unzip();
        if !again.is_empty() {
            for (place, result) in
                places.into_iter().zip(self.attempt_in_tx(connection, &again, notes).await?)
            {
                results[place] = result;
            }
        }
        Ok(results)
    }

    /// The tags of a validated memory, in their stored form.
    fn normalised_tags(&self, memory: &Memory) -> Vec<TagPath> {
        let rules = &self.settings().tag_rules;
        memory.tags.iter().filter_map(|tag| rules.normalise(tag.as_str()).ok()).collect()
    }

    /// The values from the settings that an insertion needs.
    fn insertion(&self) -> Insertion {
        let settings = self.settings();
        Insertion {
            token_encoding: settings.token_encoding.into(),
            embedding_model: settings.embedding_model.to_string(),
            tag_model: settings.tag_model.to_string(),
            max_attempts: settings.max_attempts as i32,
        }
    }
}

/// The namespaces of many new nodes, one for each: few are found by their ids ([`note_in_tx`](crate::store::statistics::note_in_tx)).
pub(crate) fn noted<'a>(nodes: &'a [NewNode<'_>]) -> impl Iterator<Item = &'a str> {
    let is_bulk = nodes.len() > nodes::MANY_AT_ONCE;
    nodes.iter().filter(move |_| is_bulk).map(|node| node.namespace)
}

fn robot_of(node: &NewNode<'_>) -> (String, String) {
    (node.namespace.to_owned(), node.robot.to_owned())
}

/// Whether one statement writes the node: it has neither tags nor vectors.
fn is_bare(node: &NewNode<'_>) -> bool {
    node.memory.tags.is_empty() && node.memory.vectors.is_empty()
}

fn written(node: NodeId) -> Receipt {
    Receipt::of(node, Outcome::Written)
}
