//! Reading one node, and forgetting it.

use crate::error::{Error, Result};
use crate::htm::Htm;
use crate::id::NodeId;
use crate::node::Node;
use crate::store::nodes;

/// Whether somebody has said that a memory is to be forgotten. Never forget unless told to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confirmation {
    /// Yes, forget it.
    Confirmed,
    /// Nobody has said so.
    Missing,
}

impl Htm {
    /// A node by its id.
    ///
    /// # Errors
    /// `node_not_found`, also for one that was forgotten, or a database error.
    pub async fn get(&self, node: NodeId) -> Result<Node> {
        nodes::get(self.pool(), node).await
    }

    /// The node that has a key in the namespace (the handle's if none is named), or none.
    ///
    /// # Errors
    /// A database error.
    pub async fn get_by_key(&self, namespace: Option<&str>, key: &str) -> Result<Option<Node>> {
        let namespace = namespace.unwrap_or(&self.settings().namespace);
        match nodes::id_by_key(self.pool(), namespace, key).await? {
            Some(id) => self.get(id).await.map(Some),
            None => Ok(None),
        }
    }

    /// Forgets a node: from this commit on no recall finds it, its key is free, its waiting jobs are gone, and a
    /// job that runs at this moment writes nothing.
    ///
    /// # Errors
    /// `not_confirmed` without [`Confirmation::Confirmed`], `node_not_found`, or a database error.
    pub async fn forget(&self, node: NodeId, confirmation: Confirmation) -> Result<()> {
        if confirmation == Confirmation::Missing {
            return Err(Error::NotConfirmed { node });
        }
        let mut tx = self.pool().begin().await?;
        let forgotten = nodes::forget_in_tx(&mut tx, node).await?;
        tx.commit().await?;
        if forgotten { Ok(()) } else { Err(Error::NodeNotFound { node }) }
    }
}
