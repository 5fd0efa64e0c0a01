//! The database, asked without a server.

use htm_core::{Filter, Memory, Node, RecallQuery, TimelineQuery};
use htm_runtime::Session;
use htm_runtime::config::Config;
use serde_json::{Map, Value};

use super::relevance::Found;
use super::server::unreadable;
use crate::error::CliError;

fn filter(config: &Config) -> Filter {
    Filter::default().namespace(&config.memory.namespace)
}

// The sessions of questions are not closed: there is nothing to save, and the process ends.

pub(super) async fn recall(config: &Config, query: &str, limit: usize) -> Result<Vec<Found>, CliError> {
    let session = Session::open_if_up(config).await?;
    let query =
        RecallQuery { filter: filter(config), count_accesses: false, ..RecallQuery::new(query).limit(limit) };
    let recalled = session.htm().recall(&query).await?;
    let hits = serde_json::to_value(&recalled.hits).map_err(unreadable)?;
    serde_json::from_value(hits).map_err(unreadable)
}

pub(super) async fn latest(
    config: &Config,
    min_importance: Option<f32>,
    metadata: Map<String, Value>,
    limit: usize,
) -> Result<Vec<Node>, CliError> {
    let session = Session::open_if_up(config).await?;
    let query = TimelineQuery {
        filter: Filter { min_importance, metadata, ..filter(config) },
        limit,
        ..TimelineQuery::everything()
    };
    let timeline = session.htm().conversation_timeline(&query).await?;
    Ok(timeline.entries.into_iter().map(|entry| entry.node).collect())
}

/// Stores memories. It may start the private PostgreSQL: otherwise they would be lost.
pub(super) async fn store(config: &Config, memories: &[Memory]) -> Result<(), CliError> {
    let session = Session::open(config).await?;
    let stored = session.htm().remember_many(memories).await;
    session.close().await;
    for result in stored? {
        result?;
    }
    Ok(())
}
