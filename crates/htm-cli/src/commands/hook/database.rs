//! The questions and the writes of hooks.

use htm_core::{Filter, Htm, Memory, Node, RecallQuery, TimelineQuery};
use htm_runtime::Runtime;
use htm_runtime::config::Config;
use serde_json::{Map, Value};

use super::relevance::Found;
use crate::commands::runtime::with_one_connection;

/// The memories of the configured namespace.
fn filter(htm: &Htm) -> Filter {
    Filter::default().namespace(&htm.settings().namespace)
}

/// Recalls from the configured namespace. Hits do not count as accessed: most of them are not shown.
pub(super) async fn recall(htm: &Htm, query: &str, limit: usize) -> htm_core::Result<Vec<Found>> {
    let query =
        RecallQuery { filter: filter(htm), count_accesses: false, ..RecallQuery::new(query).limit(limit) };
    Ok(htm.recall(&query).await?.hits.into_iter().map(Found::from).collect())
}

/// The latest memories of the configured namespace, the earliest first.
pub(super) async fn latest(
    htm: &Htm,
    min_importance: Option<f32>,
    metadata: Map<String, Value>,
    limit: usize,
) -> htm_core::Result<Vec<Node>> {
    let query = TimelineQuery {
        filter: Filter { min_importance, metadata, ..filter(htm) },
        limit,
        ..TimelineQuery::everything()
    };
    let timeline = htm.conversation_timeline(&query).await?;
    Ok(timeline.entries.into_iter().map(|entry| entry.node).collect())
}

/// Stores memories, each with a key, so that a repeated hook stores nothing twice. It may start the private PostgreSQL:
/// otherwise they would be lost.
pub(super) async fn store(config: &Config, memories: &[Memory]) -> htm_core::Result<()> {
    if memories.is_empty() {
        return Ok(());
    }
    let runtime = Runtime::open(&with_one_connection(config)).await?;
    let stored = runtime.htm().remember_many(memories).await;
    runtime.close().await;
    stored?.into_iter().try_for_each(|result| result.map(drop))
}
