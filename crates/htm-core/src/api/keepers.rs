//! Who keeps a memory: who made it, who said it again, who has it in mind.

use crate::api::htm::Htm;
use crate::model::error::Result;
use crate::model::id::NodeId;
use crate::model::keepers::Keepers;
use crate::store::nodes;

impl Htm {
    /// Who keeps a memory. A handle with a wall names the robots and groups of its namespaces alone.
    ///
    /// # Errors
    /// `node_not_found`, or a database error.
    pub async fn keepers(&self, node: NodeId) -> Result<Keepers> {
        self.admit_nodes(&[node]).await?;
        nodes::keepers(self.pool(), node, self.namespaces()).await
    }
}
