//! Writing: a node, its tags and its jobs commit together or not at all.

use sqlx::{Connection, PgConnection, PgTransaction};

use crate::error::{Error, Result};
use crate::htm::Htm;
use crate::id::NodeId;
use crate::memory::Memory;
use crate::ping::Pinger;
use crate::store::jobs;
use crate::store::nodes::{self, Insertion, NewNode};
use crate::store::{robots, tags};

/// What a write returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Receipt {
    /// The node.
    pub node: NodeId,
    /// Whether this call wrote it, or its key and content were there already.
    pub outcome: Outcome,
}

/// What a write did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// A new node.
    Written,
    /// A node of the same key and the same content was there; nothing was written.
    Existing,
}

/// The receipt of a write that the caller has yet to commit.
#[derive(Debug)]
#[must_use = "call `notify` after the commit, or workers find the job only when they poll"]
pub struct PendingReceipt {
    receipt: Receipt,
    pinger: Pinger,
}

impl PendingReceipt {
    /// To be called after the caller's commit: wakes the workers.
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
    /// Remembers: the node, its tags and the jobs that will embed and tag it are committed when this returns.
    /// Recall finds the node by its text at once.
    ///
    /// # Errors
    /// What [`Memory::validate`] says, `key_taken`, `language_unknown`, or a database error. Nothing is written then.
    ///
    /// A key whose node has the same content is no error: the receipt says [`Outcome::Existing`].
    pub async fn remember(&self, memory: Memory) -> Result<Receipt> {
        let node = self.prepare(&memory)?;
        let receipt = self.write(std::slice::from_ref(&node)).await?.remove(0)?;
        self.pinger().ping();
        Ok(receipt)
    }

    /// Remembers many, thousands a call, in one transaction: one result an item, in their order. An item that is
    /// refused does not hold back the others.
    ///
    /// # Errors
    /// The outer error is the database's: nothing is written then. The inner ones are those of
    /// [`remember`](Self::remember).
    pub async fn remember_many(&self, memories: &[Memory]) -> Result<Vec<Result<Receipt>>> {
        let (mut results, accepted): (Vec<Option<Result<Receipt>>>, Vec<Option<NewNode<'_>>>) = memories
            .iter()
            .map(|memory| match self.prepare(memory) {
                Ok(node) => (None, Some(node)),
                Err(error) => (Some(Err(error)), None),
            })
            .unzip();
        let accepted: Vec<NewNode<'_>> = accepted.into_iter().flatten().collect();
        let mut written = self.write(&accepted).await?.into_iter();
        self.pinger().ping();
        for result in results.iter_mut().filter(|result| result.is_none()) {
            *result = written.next();
        }
        Ok(results.into_iter().flatten().collect())
    }

    /// Remembers within the caller's transaction: the caller's rows and the memory commit together.
    ///
    /// ```no_run
    /// # async fn example(htm: htm_core::Htm) -> Result<(), Box<dyn std::error::Error>> {
    /// let mut tx = htm.pool().begin().await?;
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
    pub async fn remember_in_tx(&self, tx: &mut PgTransaction<'_>, memory: Memory) -> Result<PendingReceipt> {
        let node = self.prepare(&memory)?;
        let receipt = self.write_in_tx(tx, std::slice::from_ref(&node)).await?.remove(0)?;
        Ok(PendingReceipt { receipt, pinger: self.pinger().clone() })
    }

    /// Validates a memory and fills in the handle's defaults.
    fn prepare<'a>(&'a self, memory: &'a Memory) -> Result<NewNode<'a>> {
        memory.validate()?;
        let settings = self.settings();
        let namespace = memory.namespace.as_deref().unwrap_or(&settings.namespace);
        let robot = memory.robot.as_deref().unwrap_or(&settings.robot);
        self.saw_robot(namespace, robot);
        Ok(NewNode {
            memory,
            namespace,
            robot,
            language: memory.language.as_deref().unwrap_or(&settings.language),
            content_hash: memory.content_hash(),
            token_count: i32::try_from(settings.token_encoding.count(&memory.content)).unwrap_or(i32::MAX),
        })
    }

    /// One statement, committed by itself, for a node without tags of a robot that is known; else a transaction.
    async fn write(&self, nodes: &[NewNode<'_>]) -> Result<Vec<Result<Receipt>>> {
        let mut connection = self.pool().acquire().await?;
        if let [node] = nodes
            && node.memory.tags.is_empty()
            && self.known_robots().contains_key(&robot_of(node))
            && let Some(id) = self.insert_alone(&mut connection, nodes).await?
        {
            return Ok(vec![Ok(written(id))]);
        }
        let results = self.write_in_tx(&mut connection, nodes).await?;
        for (node, _) in nodes.iter().zip(&results).filter(|(_, result)| result.is_ok()) {
            self.known_robots().insert(robot_of(node), ());
        }
        Ok(results)
    }

    /// In a transaction, or in a savepoint of the one that is open: registers robots, inserts, assigns tags, and says
    /// of each item that was not inserted why. When nothing was inserted, nothing stays.
    async fn write_in_tx(
        &self,
        connection: &mut PgConnection,
        nodes: &[NewNode<'_>],
    ) -> Result<Vec<Result<Receipt>>> {
        let mut tx = connection.begin().await?;
        let robots: Vec<(&str, &str)> = nodes.iter().map(|node| (node.namespace, node.robot)).collect();
        robots::register_in_tx(&mut tx, &robots).await?;
        let ids = self.insert(&mut tx, nodes).await?;
        let tags: Vec<(NodeId, &str, &str)> = nodes
            .iter()
            .zip(&ids)
            .filter_map(|(node, id)| Some((node, (*id)?)))
            .flat_map(|(node, id)| node.memory.tags.iter().map(move |tag| (id, node.namespace, tag.as_str())))
            .collect();
        if !tags.is_empty() {
            let paths: Vec<(&str, &str)> =
                tags.iter().map(|&(_, namespace, path)| (namespace, path)).collect();
            tags::register_in_tx(&mut tx, &paths).await?;
            tags::assign_manual_in_tx(&mut tx, &tags).await?;
        }
        let taken: Vec<(&str, &str)> = nodes
            .iter()
            .zip(&ids)
            .filter(|(_, id)| id.is_none())
            .filter_map(|(node, _)| Some((node.namespace, node.memory.key.as_deref()?)))
            .collect();
        let written_any = ids.iter().any(Option::is_some);
        let holders =
            if taken.is_empty() { Default::default() } else { nodes::by_keys(&mut tx, &taken).await? };
        if written_any {
            tx.commit().await?;
        } else {
            tx.rollback().await?;
        }
        let outcome = |(node, id): (&NewNode<'_>, Option<NodeId>)| match id {
            Some(id) => Ok(written(id)),
            None => {
                let place = (node.namespace.to_owned(), node.memory.key.clone().unwrap_or_default());
                let (id, hash) = holders.get(&place).ok_or(Error::Contended)?;
                existing(place, *id, *hash == node.content_hash)
            }
        };
        Ok(nodes.iter().zip(ids).map(outcome).collect())
    }

    /// Inserts outside of any transaction; none when the key is taken, or the robot is being removed: both are seen to
    /// where the robot is registered and held.
    async fn insert_alone(
        &self,
        connection: &mut PgConnection,
        nodes: &[NewNode<'_>],
    ) -> Result<Option<NodeId>> {
        match self.insert(connection, nodes).await {
            Ok(ids) => Ok(ids.first().copied().flatten()),
            Err(Error::Database(error)) if robots::is_about(&error, "nodes_robot_fk") => Ok(None),
            Err(error) => Err(error),
        }
    }

    async fn insert(
        &self,
        connection: &mut PgConnection,
        nodes: &[NewNode<'_>],
    ) -> Result<Vec<Option<NodeId>>> {
        let settings = self.settings();
        let insertion = Insertion {
            token_encoding: settings.token_encoding.as_str(),
            embedding_model: &settings.embedding_model.to_string(),
            tag_model: &settings.tag_model.to_string(),
            max_attempts: settings.max_attempts as i32,
            priority: jobs::LIVE,
        };
        Ok(nodes::insert_in_tx(connection, nodes, &insertion).await?)
    }
}

fn robot_of(node: &NewNode<'_>) -> (String, String) {
    (node.namespace.to_owned(), node.robot.to_owned())
}

fn written(node: NodeId) -> Receipt {
    Receipt { node, outcome: Outcome::Written }
}

/// What it means that a key is there already.
fn existing((namespace, key): (String, String), node: NodeId, same_content: bool) -> Result<Receipt> {
    match same_content {
        true => Ok(Receipt { node, outcome: Outcome::Existing }),
        false => Err(Error::KeyTaken { key, namespace, node }),
    }
}
