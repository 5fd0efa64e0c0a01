//! The database, as an operator sees it: its versions and durability, and the progress over all memories.

use crate::api::htm::Htm;
use crate::model::error::Result;
pub use crate::store::server::{Progress, StageLatency, Versions};
use crate::store::{server, statistics};

/// The database. See [`Htm::database`].
#[derive(Clone, Copy, Debug)]
pub struct Database<'a> {
    htm: &'a Htm,
}

impl Htm {
    /// The database, for operators.
    ///
    /// # Errors
    /// `namespace_forbidden` for a handle [within a wall](Htm::within): the database has all namespaces.
    pub fn database(&self) -> Result<Database<'_>> {
        self.admit_all().map(|()| Database { htm: self })
    }
}

impl Database<'_> {
    /// The versions and the durability of the server.
    ///
    /// # Errors
    /// A database error.
    pub async fn versions(&self) -> Result<Versions> {
        server::versions(self.htm.shared_pool()).await
    }

    /// Tries to write a megabyte, and undoes it: a full disk fails writes, while everything can be read.
    ///
    /// # Errors
    /// `database_exhausted`; `database_denied` for a role that may not make temporary tables; or another database error.
    pub async fn try_write(&self) -> Result<()> {
        server::try_write(self.htm.shared_pool()).await
    }

    /// Counts the memories by stage; reads all of them.
    ///
    /// # Errors
    /// A database error.
    pub async fn progress(&self) -> Result<Progress> {
        server::progress(self.htm.shared_pool()).await
    }

    /// The latencies of both stages over all memories; reads all of them.
    ///
    /// # Errors
    /// A database error.
    pub async fn stage_latencies(&self) -> Result<Vec<StageLatency>> {
        server::stage_latencies(self.htm.shared_pool()).await
    }

    /// Refreshes the statistics of words where writes have made them old, as workers do in the background. Returns the
    /// number of namespaces.
    ///
    /// # Errors
    /// A database error.
    pub async fn refresh_statistics(&self) -> Result<usize> {
        statistics::refresh_due(self.htm.shared_pool()).await
    }
}
