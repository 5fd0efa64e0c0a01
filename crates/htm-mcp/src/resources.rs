//! The resources: what people attach to a conversation.

use htm_core::{Filter, NodeId, Scope, StatsQuery};
use rmcp::model::{ErrorData, ReadResourceResult, Resource, ResourceContents, ResourceTemplate};
use serde::Serialize;

use crate::McpServer;
use crate::error::ToolError;
use crate::text::compact;
use crate::tools;

const STATISTICS: &str = "htm://statistics";
const TAGS: &str = "htm://tags/hierarchy";
const RECENT: &str = "htm://memories/recent";
const GROUPS: &str = "htm://groups";
const MEMORIES: &str = "htm://memories/";

/// The memories of [`RECENT`].
const RECENT_LIMIT: usize = 20;

/// The tokens of [`TAGS`].
const TAGS_TOKENS: usize = 20_000;

const JSON: &str = "application/json";
const TEXT: &str = "text/plain";

/// The resources, in a stable order.
pub(crate) fn list() -> Vec<Resource> {
    let resource = |uri: &str, name: &str, about: &str, mime: &str| {
        Resource::new(uri, name).with_description(about).with_mime_type(mime)
    };
    vec![
        resource(STATISTICS, "statistics", "Counts by robot, type, tag and age, progress and sizes", JSON),
        resource(TAGS, "tags", "All tags, with the number of memories", TEXT),
        resource(RECENT, "recent memories", "The latest 20 memories", JSON),
        resource(GROUPS, "groups", "The groups of robots and their members", JSON),
    ]
}

/// The templates of resources.
pub(crate) fn templates() -> Vec<ResourceTemplate> {
    let memory = ResourceTemplate::new("htm://memories/{id}", "memory");
    vec![memory.with_description("A memory by its id").with_mime_type(JSON)]
}

/// Reads a resource of the server's namespace.
pub(crate) async fn read(server: &McpServer, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let htm = server.htm();
    let namespace = server.default_namespace();
    let scope = Scope::Namespace(namespace.clone());
    let content = match uri {
        STATISTICS => {
            let query = StatsQuery { scope, ..StatsQuery::default() };
            json(uri, &htm.memory_stats(&query).await.map_err(failed)?)
        }
        TAGS => {
            let all = htm.ontology(Some(&namespace)).map_err(failed)?.list(None).await.map_err(failed)?;
            let encoding = htm.settings().token_encoding;
            ResourceContents::text(tools::all_tags(&all, TAGS_TOKENS, encoding), uri).with_mime_type(TEXT)
        }
        RECENT => {
            let filter = Filter::default().namespace(&namespace);
            json(uri, &htm.latest(&filter, RECENT_LIMIT).await.map_err(failed)?)
        }
        GROUPS => json(uri, &htm.groups(&scope).await.map_err(failed)?),
        _ => match uri.strip_prefix(MEMORIES).and_then(|id| id.parse::<NodeId>().ok()) {
            Some(node) => json(uri, &htm.get(node).await.map_err(failed)?),
            None => {
                let known = [STATISTICS, TAGS, RECENT, GROUPS, "htm://memories/{id}"].join(", ");
                let uri: String = uri.chars().take(100).collect();
                let message = format!("there is no resource `{uri}`; the resources are: {known}");
                return Err(ErrorData::resource_not_found(message, None));
            }
        },
    };
    Ok(ReadResourceResult::new(vec![content]))
}

fn json(uri: &str, value: &impl Serialize) -> ResourceContents {
    ResourceContents::text(compact(value).to_string(), uri).with_mime_type(JSON)
}

fn failed(error: htm_core::Error) -> ErrorData {
    match error.code() {
        "node_not_found" => ErrorData::resource_not_found(ToolError::from(error).text(), None),
        _ => ErrorData::internal_error(ToolError::from(error).text(), None),
    }
}
