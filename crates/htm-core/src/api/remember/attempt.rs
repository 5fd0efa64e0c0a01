//! An attempt to write memories, in a part of a transaction of its own.

use std::collections::BTreeSet;

use sqlx::PgConnection;

use super::{existing, noted, written};
use crate::api::htm::Htm;
use crate::model::error::{Error, Result};
use crate::model::id::NodeId;
use crate::model::remember::{Outcome, Receipt};
use crate::model::tags::TagPath;
use crate::store::connections::Part;
use crate::store::nodes::{self, NewNode};
use crate::store::{robots, statistics, tags};

/// The outcome of an attempt to write.
enum Attempt {
    Wrote(Vec<Result<Receipt>>),
    /// All were there already, or are refused.
    WroteNothing(Vec<Result<Receipt>>),
    /// A namespace may have no further tag.
    IsFull(Error),
}

impl Htm {
    /// Attempts to write. If nothing was written, all is rolled back.
    pub(super) async fn attempt_in_tx(
        &self,
        connection: &mut PgConnection,
        nodes: &[NewNode<'_>],
        notes: bool,
    ) -> Result<Vec<Result<Receipt>>> {
        let mut part = Part::begin(&mut *connection).await?;
        let attempted = self.attempt(&mut part, nodes, notes).await;
        let results = match attempted {
            Ok(Attempt::Wrote(results)) => return part.end(Ok(results)).await,
            Ok(Attempt::WroteNothing(results)) => Some(results),
            Ok(Attempt::IsFull(full)) if nodes.len() == 1 => Some(vec![Err(full)]),
            Ok(Attempt::IsFull(_)) => None,
            Err(error) => return part.end(Err(error)).await,
        };
        part.rollback().await?;
        if let Some(results) = results {
            return Ok(results);
        }
        // The first ones get the remaining room. They are written together or not at all, as without a limit.
        let mut part = Part::begin(connection).await?;
        let written = self.attempt_each(&mut part, nodes, notes).await;
        part.end(written).await
    }

    /// Writes one by one.
    async fn attempt_each(
        &self,
        connection: &mut PgConnection,
        nodes: &[NewNode<'_>],
        notes: bool,
    ) -> Result<Vec<Result<Receipt>>> {
        // Before any node, as in each attempt.
        let robots: Vec<(&str, &str)> = nodes.iter().map(|node| (node.namespace, node.robot)).collect();
        robots::register_in_tx(&mut *connection, &robots).await?;
        let tagged = nodes.iter().filter(|node| !self.normalised_tags(node.memory).is_empty());
        let named: BTreeSet<&str> = tagged.map(|node| node.namespace).collect();
        let all_names = vec![None; named.len()];
        tags::hold_in_tx(&mut *connection, named.into_iter().collect(), all_names, self.tag_rules()).await?;
        let mut results = Vec::new();
        for node in nodes.chunks(1) {
            results.extend(Box::pin(self.attempt_in_tx(&mut *connection, node, notes)).await?);
        }
        Ok(results)
    }

    /// Registers robots and tags, inserts nodes, finds what prevented each item that was not inserted, and assigns tags.
    async fn attempt(&self, tx: &mut PgConnection, nodes: &[NewNode<'_>], notes: bool) -> Result<Attempt> {
        let robots: Vec<(&str, &str)> = nodes.iter().map(|node| (node.namespace, node.robot)).collect();
        robots::register_in_tx(&mut *tx, &robots).await?;
        // Tags are registered before any node is locked, as everywhere. Otherwise a writer that waits for a tag could
        // hold a node that the holder of the tag waits for.
        let stored_tags: Vec<Vec<TagPath>> =
            nodes.iter().map(|node| self.normalised_tags(node.memory)).collect();
        let paths: Vec<(&str, &str)> = nodes
            .iter()
            .zip(&stored_tags)
            .flat_map(|(node, tags)| tags.iter().map(|tag| (node.namespace, tag.as_str())))
            .collect();
        let names = tags::register_in_tx(&mut *tx, &paths, self.tag_rules()).await?;
        let full = (nodes.iter().zip(&stored_tags)).find_map(|(node, tags)| {
            tags.iter().find_map(|tag| names.of(node.namespace, tag.as_str()).err())
        });
        if let Some(full) = full {
            return Ok(Attempt::IsFull(full));
        }
        let mut results: Vec<Result<Receipt>> = nodes::insert_in_tx(&mut *tx, nodes, &self.insertion())
            .await?
            .into_iter()
            .map(|id| id.map(written).ok_or_else(Error::contended))
            .collect();
        existing::resolve_keys_in_tx(&mut *tx, nodes, &mut results).await?;
        existing::resolve_repeats_in_tx(&mut *tx, nodes, &mut results).await?;
        let has_prolonged = existing::prolong_in_tx(&mut *tx, nodes, &mut results).await?;
        let changed = |result: &&Result<Receipt>| {
            matches!(result, Ok(Receipt { outcome: Outcome::Written | Outcome::Repeated, .. }))
        };
        self.bring_vectors_in_tx(&mut *tx, nodes, &results).await?;
        let has_vectors = nodes.iter().any(|node| !node.memory.vectors.is_empty());
        if !has_vectors && !has_prolonged && !results.iter().any(|result| changed(&result)) {
            return Ok(Attempt::WroteNothing(results));
        }
        let tags: Vec<(NodeId, &str, &str)> = nodes
            .iter()
            .zip(&stored_tags)
            .zip(&results)
            .filter(|(_, result)| changed(result))
            .filter_map(|((node, tags), result)| Some((node.namespace, tags, result.as_ref().ok()?.node)))
            .flat_map(|(namespace, tags, id)| tags.iter().map(move |tag| (id, namespace, tag)))
            .map(|(id, namespace, tag)| Ok((id, namespace, names.of(namespace, tag.as_str())?)))
            .collect::<Result<_>>()?;
        if !tags.is_empty() {
            tags::assign_manual_in_tx(&mut *tx, &tags).await?;
        }
        if notes {
            statistics::note_in_tx(&mut *tx, noted(nodes)).await?;
        }
        Ok(Attempt::Wrote(results))
    }
}
