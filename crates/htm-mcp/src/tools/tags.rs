//! `tags`, `list_tags` and `search_tags`.

use htm_core::ontology::{SimilarTag, TagUse};
use serde_json::json;

use super::{Answer, Effect, ToolSpec, Who};
use crate::arguments::{Argument, Arguments, Kind, MAX_TOKENS, NAMESPACE, argument};
use crate::error::ToolError;
use crate::text::{compact, count, name, quoted, rows};
use crate::{McpServer, codes};

const LIMIT: Argument = argument("limit", Kind::Whole(1, 1_000, Some(100)));
const BELOW: Argument = argument("below", Kind::Text).about("Only this tag and those below it");

/// The tokens of a tool without an argument for them.
const LIST_TOKENS: usize = 2_000;

pub(super) const TAGS: ToolSpec = ToolSpec {
    name: "tags",
    about: "The tags in use with their counts, to choose tags for recall and remember.",
    arguments: &[argument("search", Kind::Text).about("Similar names"), BELOW, LIMIT, NAMESPACE],
    effect: Effect::Reads,
    call: |server, arguments| Box::pin(tags(server, arguments)),
};

pub(super) const LIST_TAGS: ToolSpec = ToolSpec {
    name: "list_tags",
    about: "The tags in use with their counts.",
    arguments: &[BELOW, LIMIT, MAX_TOKENS, NAMESPACE],
    effect: Effect::Reads,
    call: |server, arguments| Box::pin(tags(server, arguments)),
};

pub(super) const SEARCH_TAGS: ToolSpec = ToolSpec {
    name: "search_tags",
    about: "The tags whose names or synonyms are similar to a text.",
    arguments: &[argument("search", Kind::Text).required(), LIMIT, NAMESPACE],
    effect: Effect::Reads,
    call: |server, arguments| Box::pin(similar(server, arguments)),
};

async fn tags(server: McpServer, arguments: Arguments) -> Result<Answer, ToolError> {
    let below = arguments.filled("below");
    if arguments.is_filled("search") {
        return match below {
            Some(_) => Err(ToolError::new(codes::ARGUMENTS_CONFLICT, "give either search or below")),
            None => similar(server, arguments).await,
        };
    }
    let who = Who::of(&server, &arguments);
    let htm = server.htm();
    let all = htm.ontology(Some(&who.namespace))?.list(below).await?;
    let max_tokens = arguments.whole("max_tokens").map_or(LIST_TOKENS, |tokens| tokens as usize);
    Ok(answer(&all, arguments.size("limit"), max_tokens, htm.settings().token_encoding))
}

async fn similar(server: McpServer, arguments: Arguments) -> Result<Answer, ToolError> {
    let who = Who::of(&server, &arguments);
    let htm = server.htm();
    let text = arguments.text("search").unwrap_or_default();
    let limit = arguments.size("limit") as u32;
    let found = htm.ontology(Some(&who.namespace))?.similar(text, limit).await?;
    let header = format!("{} like {}.", count(found.len(), "tag"), name(text));
    let row = |it: &SimilarTag| format!("{} {:.2}", name(&it.tag), it.similarity);
    let encoding = htm.settings().token_encoding;
    let (text, shown) = rows(&header, found.iter().map(row), LIST_TOKENS, encoding);
    Ok(Answer::new(text, json!({ "tags": compact(&found[..shown]) })))
}

/// The tags in the order of the tree.
fn answer(all: &[TagUse], limit: usize, max_tokens: usize, encoding: htm_core::TokenEncoding) -> Answer {
    let listed = &all[..all.len().min(limit)];
    let header = match all.len() {
        0 => "No tags yet.".to_owned(),
        number if number > limit => format!(
            "{limit} of {}; raise limit or name one below. Memories with a tag, and with it or one below:",
            count(number, "tag")
        ),
        number => format!("{}. Memories with a tag, and with it or one below:", count(number, "tag")),
    };
    let row = |it: &TagUse| {
        let about = it.description.as_deref().map(|it| format!(" {}", quoted(it))).unwrap_or_default();
        format!("{} {}/{}{about}", name(it.tag.as_str()), it.nodes, it.total)
    };
    let (text, shown) = rows(&header, listed.iter().map(row), max_tokens, encoding);
    Answer::new(text, json!({ "tags": compact(&listed[..shown]), "left_out": all.len() - shown }))
}

/// All tags as a text.
pub(crate) fn all_tags(all: &[TagUse], max_tokens: usize, encoding: htm_core::TokenEncoding) -> String {
    answer(all, all.len(), max_tokens, encoding).text
}
