//! Memories that were not inserted, because others have their keys or the same content.

use sqlx::PgConnection;

use crate::model::error::{Error, Result};
use crate::model::nodes::key_taken;
use crate::model::remember::{Outcome, Receipt};
use crate::store::expiry::{self, Wanted};
use crate::store::nodes::{self, NewNode};

/// Prolongs nodes that existed and expire, and holds them: none is forgotten before the commit. One that was forgotten
/// meanwhile is contended, so that it is written anew. Returns whether any was prolonged.
pub(super) async fn prolong_in_tx(
    connection: &mut PgConnection,
    nodes: &[NewNode<'_>],
    results: &mut [Result<Receipt>],
) -> Result<bool> {
    let existed = |receipt: &&Receipt| receipt.outcome != Outcome::Written;
    let wanted: Vec<Wanted<'_>> = nodes
        .iter()
        .zip(&*results)
        .filter_map(|(node, result)| Some((node, result.as_ref().ok().filter(existed)?)))
        .map(|(node, receipt)| Wanted {
            namespace: node.namespace,
            node: receipt.node,
            expiry: node.memory.expires,
        })
        .collect();
    if wanted.is_empty() {
        return Ok(false);
    }
    let prolonged = expiry::prolong_in_tx(connection, &wanted).await?;
    for result in &mut *results {
        if result.as_ref().is_ok_and(|receipt| prolonged.gone.contains(&receipt.node)) {
            *result = Err(Error::contended());
        }
    }
    Ok(prolonged.any)
}

/// Sets the results of items with a key that were not inserted, by the node that has the key.
pub(super) async fn resolve_keys_in_tx(
    connection: &mut PgConnection,
    nodes: &[NewNode<'_>],
    results: &mut [Result<Receipt>],
) -> Result<()> {
    let taken: Vec<(usize, (&str, &str))> = nodes
        .iter()
        .enumerate()
        .filter(|(place, _)| results[*place].is_err())
        .filter_map(|(place, node)| Some((place, (node.namespace, node.memory.key.as_deref()?))))
        .collect();
    if taken.is_empty() {
        return Ok(());
    }
    let keys: Vec<(&str, &str)> = taken.iter().map(|(_, key)| *key).collect();
    let holders = nodes::by_keys(connection, &keys).await?;
    for (place, (namespace, key)) in taken {
        let Some(holder) = holders.get(&(namespace.to_owned(), key.to_owned())) else { continue };
        results[place] = match holder.content_hash == nodes[place].content_hash {
            true => Ok(Receipt::of(holder.node, Outcome::Existing)),
            false => Err(key_taken(key, namespace, holder.node).with_value("revision", holder.revision)),
        };
    }
    Ok(())
}

/// Counts items whose content exists already as repeats.
pub(super) async fn resolve_repeats_in_tx(
    connection: &mut PgConnection,
    nodes: &[NewNode<'_>],
    results: &mut [Result<Receipt>],
) -> Result<()> {
    let (places, repeated): (Vec<usize>, Vec<NewNode<'_>>) = nodes
        .iter()
        .enumerate()
        .filter(|(place, node)| results[*place].is_err() && node.duplicate_scope.is_some())
        .map(|(place, node)| (place, *node))
        .unzip();
    if repeated.is_empty() {
        return Ok(());
    }
    for (place, node) in places.into_iter().zip(nodes::repeat_in_tx(connection, &repeated).await?) {
        if let Some(node) = node {
            results[place] = Ok(Receipt::of(node, Outcome::Repeated));
        }
    }
    Ok(())
}
