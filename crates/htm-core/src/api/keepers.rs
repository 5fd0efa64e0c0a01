//! Who keeps a memory: who made it, who said it again, who has it in mind.

use chrono::{DateTime, Utc};

use crate::api::htm::Htm;
use crate::model::error::Result;
use crate::model::id::NodeId;
use crate::store::nodes;

/// Who keeps a memory.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Keepers {
    /// The robots, by name.
    pub robots: Vec<KeptBy>,
    /// The groups that have it in mind, by name.
    pub groups: Vec<String>,
}

/// A robot that keeps a memory.
#[derive(Clone, Debug, PartialEq, serde::Serialize, sqlx::FromRow)]
pub struct KeptBy {
    /// Its namespace; a robot may have a memory of another one in mind.
    pub namespace: String,
    /// Its name.
    pub robot: String,
    /// Whether it made the memory.
    pub made: bool,
    /// How often it remembered it: once by making it, and each time that it said it again.
    pub remember_count: i64,
    /// When it said it again first; none when it did not.
    pub first_repeat: Option<DateTime<Utc>>,
    /// When it said it again last.
    pub last_repeat: Option<DateTime<Utc>>,
    /// Whether it has it in its working memory, as that was written last.
    pub in_working_memory: bool,
}

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
