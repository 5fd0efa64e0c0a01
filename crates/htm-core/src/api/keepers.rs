//! The keepers of a memory: its first robot, those that remembered it again, and the working memories that hold it.

use crate::api::htm::Htm;
use crate::model::error::Result;
use crate::model::id::NodeId;
use crate::model::keepers::Keepers;
use crate::store::nodes;

impl Htm {
    /// The keepers of a memory. A handle from [`within`](Self::within) shows only its own namespaces.
    ///
    /// # Errors
    /// `node_not_found`, or a database error.
    pub async fn keepers(&self, node: NodeId) -> Result<Keepers> {
        self.admit_nodes(&[node]).await?;
        nodes::keepers(self.pool(), node, self.namespaces()).await
    }
}
