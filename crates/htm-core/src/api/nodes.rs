//! Reading a node.

use crate::api::htm::Htm;
use crate::model::error::Result;
use crate::model::id::NodeId;
use crate::model::nodes::{Node, Revision};
use crate::store::nodes;

impl Htm {
    /// All texts of a node, the oldest first; the last is the current one.
    ///
    /// # Errors
    /// `node_not_found`, also for a node that was forgotten, or a database error.
    pub async fn revisions(&self, node: NodeId) -> Result<Vec<Revision>> {
        self.admit_nodes(&[node]).await?;
        nodes::revisions(self.pool(), node).await
    }

    /// A node by its id.
    ///
    /// # Errors
    /// `node_not_found`, also for one that was forgotten, or a database error.
    pub async fn get(&self, node: NodeId) -> Result<Node> {
        self.admit_nodes(&[node]).await?;
        nodes::get(self.pool(), node).await
    }

    /// The node with a key in a namespace (default: the handle's), or none.
    ///
    /// # Errors
    /// `namespace_invalid`, or a database error.
    pub async fn get_by_key(&self, namespace: Option<&str>, key: &str) -> Result<Option<Node>> {
        let namespace = self.namespace_or_own(namespace)?;
        match nodes::id_by_key(self.pool(), namespace, key).await? {
            Some(id) => self.get(id).await.map(Some),
            None => Ok(None),
        }
    }
}
