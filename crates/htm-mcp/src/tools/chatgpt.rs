//! `search` and `fetch`, in the shapes that ChatGPT's connectors expect: one text that is JSON.

use htm_core::{Filter, NodeId, RecallQuery};
use serde_json::{Value, json};

use super::{Answer, Effect, ToolSpec};
use crate::McpServer;
use crate::arguments::{Arguments, Kind, argument};
use crate::error::ToolError;
use crate::text::{compact, plain, plain_json};

/// The hits of a search.
const LIMIT: usize = 10;

/// The most characters of a title.
const TITLE: usize = 100;

pub(super) const TOOLS: &[ToolSpec] = &[
    ToolSpec {
        name: "search",
        about: "Search the memory by meaning and words. Answers ids and titles; fetch reads a whole memory.",
        arguments: &[argument("query", Kind::Text).required()],
        effect: Effect::Reads,
        call: |server, arguments| Box::pin(search(server, arguments)),
    },
    ToolSpec {
        name: "fetch",
        about: "Read a memory by its id.",
        arguments: &[argument("id", Kind::Text).required()],
        effect: Effect::Reads,
        call: |server, arguments| Box::pin(fetch(server, arguments)),
    },
];

async fn search(server: McpServer, arguments: Arguments) -> Result<Answer, ToolError> {
    let query = RecallQuery {
        filter: Filter::default().namespace(server.default_namespace()),
        strategy: server.options().strategy,
        ..RecallQuery::new(arguments.text("query").unwrap_or_default()).limit(LIMIT)
    };
    let recalled = server.htm().recall(&query).await?;
    let results = recalled.hits.iter().map(|hit| {
        let id = hit.node.id;
        json!({ "id": id.to_string(), "title": title(&hit.node.content), "url": url(id) })
    });
    Ok(as_json(json!({ "results": results.collect::<Vec<_>>() })))
}

async fn fetch(server: McpServer, arguments: Arguments) -> Result<Answer, ToolError> {
    let id = arguments.text("id").unwrap_or_default();
    let id: NodeId = id.trim().parse().map_err(|_| {
        let id: String = id.chars().take(60).collect();
        ToolError::new(
            crate::codes::ARGUMENT_INVALID,
            format!("`id` is \"{id}\", not an id of a result of search"),
        )
    })?;
    let node = server.htm().get(id).await?;
    let mut metadata = compact(&node);
    if let Some(fields) = metadata.as_object_mut() {
        fields.remove("content");
        fields.remove("id");
    }
    Ok(as_json(json!({
        "id": id.to_string(),
        "title": title(&node.content),
        "text": node.content,
        "url": url(id),
        "metadata": metadata,
    })))
}

fn as_json(value: Value) -> Answer {
    let value = plain_json(value);
    Answer::new(value.to_string(), value)
}

/// The address of a memory, which is also that of its resource.
fn url(id: NodeId) -> String {
    format!("htm://memories/{id}")
}

/// The first line of a text, cut.
fn title(text: &str) -> String {
    let line = plain(text.trim()).lines().next().unwrap_or_default().to_owned();
    match line.chars().count() > TITLE {
        true => line.chars().take(TITLE - 1).chain(['…']).collect(),
        false => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_the_first_line() {
        assert_eq!(title("\n  We pin 17.2.\nBecause …"), "We pin 17.2.");
        assert_eq!(title(&"long ".repeat(50)).chars().count(), TITLE);
    }
}
