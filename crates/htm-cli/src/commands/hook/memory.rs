//! The memory that a hook asks: a running server, which has its model loaded, or else the database.

use htm_core::{Memory, Node};
use htm_runtime::config::Config;
use serde_json::{Map, Value};

use super::database;
use super::relevance::Found;
use super::server::Server;
use crate::error::CliError;

/// The memory of the configuration.
pub(super) struct Memories<'a> {
    config: &'a Config,
    server: Option<Server>,
}

impl<'a> Memories<'a> {
    pub(super) fn new(config: &'a Config) -> Self {
        Self { config, server: Server::of(config) }
    }

    /// Recalls from the namespace of the configuration. Hits do not count as accessed: most of them are not shown.
    pub(super) async fn recall(&self, query: &str, limit: usize) -> Result<Vec<Found>, CliError> {
        match self.asked(async |server| server.recall(query, limit).await).await {
            Some(found) => Ok(found),
            None => database::recall(self.config, query, limit).await,
        }
    }

    /// The latest memories of the namespace of the configuration, the earliest first.
    pub(super) async fn latest(
        &self,
        min_importance: Option<f32>,
        metadata: Map<String, Value>,
        limit: usize,
    ) -> Result<Vec<Node>, CliError> {
        match self.asked(async |server| server.latest(min_importance, &metadata, limit).await).await {
            Some(nodes) => Ok(nodes),
            None => database::latest(self.config, min_importance, metadata, limit).await,
        }
    }

    /// Stores memories. Each has a key, so what the server may have stored already is not stored twice.
    pub(super) async fn store(&self, memories: &[Memory]) -> Result<(), CliError> {
        if memories.is_empty() {
            return Ok(());
        }
        match self.asked(async |server| server.store(memories).await).await {
            Some(()) => Ok(()),
            None => database::store(self.config, memories).await,
        }
    }

    /// The server's answer, if one answers.
    async fn asked<T>(&self, ask: impl AsyncFnOnce(&Server) -> Result<T, CliError>) -> Option<T> {
        match ask(self.server.as_ref()?).await {
            Ok(answer) => Some(answer),
            Err(error) => {
                tracing::debug!(code = error.code, error = error.message, "the database is asked instead");
                None
            }
        }
    }
}
