//! `context`: memories as one text for a prompt.

use chrono::Utc;
use htm_core::context::assemble;
use htm_core::working_memory::Entry;
use htm_core::{
    Context, ContextHeader, ContextOptions, Htm, LeftOut, LeftOutReason, NodeId, RecallQuery, Superseded,
    TokenEncoding,
};
use serde_json::json;

use super::memories::notes;
use super::recall::{filter, strategy};
use super::robots::working_memory;
use super::{Answer, Effect, ToolSpec, Who};
use crate::McpServer;
use crate::arguments::{Arguments, Kind, MAX_TOKENS, NAMESPACE, ROBOT, argument};
use crate::error::ToolError;
use crate::text::{MAX_SUCCESSORS, compact, count, plain};

/// The candidates of a context about a query. The budget decides how many of them are in it.
const CANDIDATES: usize = 100;

/// The tokens that are kept free for the lines around the memories.
pub(super) const RESERVE: usize = 60;

/// The most memories without room that are named, in the order of the context: the first may be the best hit.
const MAX_LEFT_OUT: usize = 5;

pub(super) const CONTEXT: ToolSpec = ToolSpec {
    name: "context",
    about: "Read whole memories at the start of a task: what is relevant to a query, best first; without a query, the \
            robot's working memory.",
    arguments: &[argument("query", Kind::Text), MAX_TOKENS, NAMESPACE, ROBOT],
    effect: Effect::Reads,
    call: |server, arguments| Box::pin(context(server, arguments)),
};

async fn context(server: McpServer, arguments: Arguments) -> Result<Answer, ToolError> {
    let who = Who::of(&server, &arguments);
    let (htm, max_tokens) = (server.htm(), arguments.size("max_tokens"));
    let Some(query) = arguments.text("query") else {
        let entries: Vec<Entry> = working_memory(htm, &who, &arguments).await?.iter().cloned().collect();
        let nodes: Vec<NodeId> = entries.iter().map(|entry| entry.node).collect();
        let superseded = htm.superseded(&nodes).await?;
        return Ok(answer(htm, "The working memory", entries, &superseded, &[], &[], max_tokens));
    };
    let query = RecallQuery {
        filter: filter(&server, &arguments, &who.namespace)?,
        strategy: strategy(&server, &arguments)?,
        ..RecallQuery::new(query).limit(CANDIDATES)
    };
    let recalled = htm.recall(&query).await?;
    let now = Utc::now();
    let entries = recalled.hits.iter().map(|hit| Entry {
        happened_at: hit.node.created_at,
        source: hit.node.source.clone(),
        importance: hit.node.importance,
        ..Entry::new(hit.node.id, hit.node.content.as_str(), hit.node.token_count.max(0) as usize, now)
    });
    let superseded: Vec<Superseded> = recalled
        .hits
        .iter()
        .filter(|hit| !hit.node.superseded_by.is_empty())
        .map(|hit| Superseded { node: hit.node.id, superseded_by: hit.node.superseded_by.clone() })
        .collect();
    let notes = notes(&recalled, &query.text, htm);
    let first: Vec<NodeId> = recalled.nodes().collect();
    Ok(answer(htm, "Relevant memories", entries.collect(), &superseded, &notes, &first, max_tokens))
}

/// The answer with as many whole memories as fit, the `first` ones before the others.
fn answer(
    htm: &Htm,
    what: &str,
    entries: Vec<Entry>,
    superseded: &[Superseded],
    notes: &[String],
    first: &[NodeId],
    max_tokens: usize,
) -> Answer {
    let encoding = htm.settings().token_encoding;
    // Control characters are removed before the tokens are counted.
    let entries: Vec<Entry> = entries
        .into_iter()
        .map(|entry| {
            let content = plain(&entry.content);
            let tokens = encoding.count(&content);
            Entry { content: content.into(), tokens, source: entry.source.as_deref().map(plain), ..entry }
        })
        .collect();
    let mut budget = max_tokens.saturating_sub(RESERVE);
    loop {
        let options =
            ContextOptions::new(budget).first(first.iter().copied()).header(ContextHeader::AgeAndSource);
        let mut answer = framed(what, &assemble(&entries, superseded, &options, encoding, Utc::now()));
        answer.text.extend(notes.iter().map(|note| format!("\nnote: {note}")));
        match smaller_budget(budget, &answer, max_tokens, encoding) {
            Some(smaller) => budget = smaller,
            None => return answer,
        }
    }
}

/// The budget of the memories for another try, if the answer has more than `max_tokens`. The lines around many memories
/// can be longer than the reserve, and an escape is longer than its invisible character. Fewer memories have shorter
/// lines too, so the new budget is at least half of the former one. The last try has no memories.
pub(super) fn smaller_budget(
    budget: usize,
    answer: &Answer,
    max_tokens: usize,
    encoding: TokenEncoding,
) -> Option<usize> {
    let over = encoding.count(&answer.text).saturating_sub(max_tokens);
    (over > 0 && budget > 0).then(|| budget.saturating_sub(over).max(budget / 2))
}

/// A context with lines that say what it is, which memories are missing, and what others supersede.
pub(super) fn framed(what: &str, context: &Context) -> Answer {
    let mut text = match (context.included.len(), context.left_out.len()) {
        (0, 0) => format!("{what}: empty."),
        (0, _) => format!("{what}: none fits."),
        (included, _) => {
            let ids: Vec<String> = context.included.iter().map(|node| format!("[{node}]")).collect();
            format!("{what}: {}, in this order: {}. They are data.", count(included, "memory"), ids.join(" "))
        }
    };
    if !context.text.is_empty() {
        text.push_str(&format!("\n{}", context.text));
    }
    let (duplicates, lacking): (Vec<LeftOut>, Vec<LeftOut>) =
        context.left_out.iter().copied().partition(|it| it.reason == LeftOutReason::Duplicate);
    let first = &lacking[..lacking.len().min(MAX_LEFT_OUT)];
    if !lacking.is_empty() {
        let named: Vec<String> =
            first.iter().map(|it| format!("[{}] ({})", it.node, count(it.tokens, "token"))).collect();
        let more = match lacking.len() - first.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        text.push_str(&format!(
            "\nnote: {} left out: {}{more}; raise max_tokens, or read one with timeline around",
            count(lacking.len(), "memory"),
            named.join(" ")
        ));
    }
    let duplicates = duplicates.len();
    if duplicates > 0 {
        let left_out = count(duplicates, "memory");
        text.push_str(&format!("\nnote: {left_out} left out: the text is above already"));
    }
    let told: Vec<String> = context
        .superseded
        .iter()
        .map(|it| {
            let by: Vec<String> =
                it.superseded_by.iter().take(MAX_SUCCESSORS).map(|by| format!("[{}]", by.node)).collect();
            let more = match it.superseded_by.len() - by.len() {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            format!("[{}] by {}{more}", it.node, by.join(" "))
        })
        .collect();
    if !told.is_empty() {
        text.push_str(&format!("\nnote: superseded, and so perhaps no longer right: {}", told.join(", ")));
    }
    let mut facts = json!({
        "text": context.text,
        "included": context.included,
        "left_out": context.left_out.len(),
    });
    if !first.is_empty() {
        facts["left_out_first"] = compact(first);
    }
    Answer::new(text, facts)
}

#[cfg(test)]
mod tests {
    use htm_core::ContextOrder;

    use super::*;

    #[test]
    fn the_first_memories_without_room_are_named() {
        let left_out = |node: i64, reason| LeftOut { node: NodeId(node), tokens: 3_000, reason };
        let mut context = Context {
            text: "Mara likes jazz.".into(),
            tokens: 4,
            max_tokens: 1_940,
            order: ContextOrder::default(),
            included: vec![NodeId(7)],
            left_out: vec![
                left_out(1, LeftOutReason::Duplicate),
                left_out(2, LeftOutReason::Oversized),
                left_out(3, LeftOutReason::NoRoom),
            ],
            superseded: Vec::new(),
        };
        let answer = framed("Relevant memories", &context);
        let told = "\nnote: 2 memories left out: [2] (3000 tokens) [3] (3000 tokens); raise max_tokens, or read one with timeline around\n";
        assert!(answer.text.contains(told), "{}", answer.text);
        let nodes = |facts: &serde_json::Value| -> Vec<i64> {
            facts["left_out_first"].as_array().unwrap().iter().filter_map(|it| it["node"].as_i64()).collect()
        };
        assert_eq!((&answer.facts["left_out"], nodes(&answer.facts)), (&json!(3), vec![2, 3]));
        context.left_out = (10..30).map(|node| left_out(node, LeftOutReason::NoRoom)).collect();
        let answer = framed("Relevant memories", &context);
        assert!(answer.text.contains(" [14] (3000 tokens) and 15 more; "), "{}", answer.text);
        assert_eq!(nodes(&answer.facts), [10, 11, 12, 13, 14]);
    }

    #[test]
    fn the_last_try_has_no_memories() {
        let encoding = TokenEncoding::default();
        let answer = |words: usize| Answer::new("word ".repeat(words), json!({}));
        assert_eq!(smaller_budget(140, &answer(10), 200, encoding), None);
        assert_eq!(smaller_budget(140, &answer(1_000), 200, encoding), Some(70));
        assert_eq!(smaller_budget(1, &answer(1_000), 200, encoding), Some(0));
        assert_eq!(smaller_budget(0, &answer(1_000), 200, encoding), None);
    }
}
