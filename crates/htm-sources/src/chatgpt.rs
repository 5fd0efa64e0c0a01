//! The export of ChatGPT: `conversations.json`, or in larger exports `conversations-000.json` and so on, in the archive or
//! the folder that it was unpacked to.
//!
//! A conversation is a tree of messages: an edited question or a second answer begins a branch. The path to `current_node`
//! is what the user saw last. Its messages come.

use std::collections::{HashMap, HashSet};

use chrono::{DateTime, Utc};
use htm_core::Result;
use serde_json::{Map, Value};

use crate::export::{Export, Kind};
use crate::foreign::{Foreign, Item, Left, Why};
use crate::{Counts, files, json};

const KIND: Kind = Kind { subject: "conversation", lists: &["conversations"], read };

pub(crate) fn open(location: &str) -> Result<Export> {
    let wanted = |name: &str| name.starts_with("conversations") && name.ends_with(".json");
    Ok(Export::new(KIND, files::parts(location, "file conversations.json", wanted)?))
}

/// Reads a conversation.
fn read(conversation: &Value, counts: &mut Counts) -> std::result::Result<Vec<Item>, String> {
    let Some(mapping) = conversation.get("mapping").and_then(Value::as_object) else {
        return Err(format!("has no `mapping` of messages, but {}", json::fields(conversation)));
    };
    let id = json::text(conversation, "conversation_id").or(json::text(conversation, "id"));
    let Some(id) = id else { return Err(format!("has no `id`, but {}", json::fields(conversation))) };
    let shared = Shared {
        id,
        at: json::time(conversation, "create_time"),
        title: conversation.get("title"),
        gizmo: conversation.get("gizmo_id"),
    };
    let parents: Parents<'_> =
        mapping.iter().filter_map(|(node, it)| Some((node.as_str(), json::text(it, "parent")?))).collect();
    let path = path(mapping, &parents, json::text(conversation, "current_node"));
    let on_path: HashSet<&str> = path.iter().copied().collect();
    let numbers = numbers(mapping, &parents);
    let mut items = Vec::new();
    for node in &path {
        let (Some(message), Some(seq)) = (message(mapping, node), numbers.get(node)) else { continue };
        items.extend(shared.items(node, message, *seq));
    }
    for node in mapping.keys().filter(|node| !on_path.contains(node.as_str())) {
        let Some(message) = message(mapping, node) else { continue };
        let why = match reason(message) {
            None if words(message).is_empty() => Why::Empty,
            None => Why::OtherBranch,
            Some(why) => why,
        };
        items.push(shared.left("message", node, why));
    }
    *counts.entry("conversation").or_default() += 1;
    *counts.entry("message").or_default() += numbers.len() as u64;
    Ok(items)
}

/// The parent of each node that has one.
type Parents<'a> = HashMap<&'a str, &'a str>;

fn message<'a>(mapping: &'a Map<String, Value>, node: &str) -> Option<&'a Value> {
    mapping.get(node)?.get("message").filter(|it| it.is_object())
}

fn time(mapping: &Map<String, Value>, node: &str) -> Option<DateTime<Utc>> {
    message(mapping, node).and_then(|it| json::time(it, "create_time"))
}

/// The numbers of the messages of all branches, in the order of their times, each after its parent. A later export may show
/// another branch: the numbers of its messages follow.
fn numbers<'a>(mapping: &'a Map<String, Value>, parents: &Parents<'a>) -> HashMap<&'a str, i32> {
    // Of each node: the latest time up to it, and its depth.
    let mut places: HashMap<&str, (Option<DateTime<Utc>>, usize)> = HashMap::new();
    for node in mapping.keys() {
        let mut branch = Vec::new();
        let mut next = Some(node.as_str());
        // A node without a place yet has this one, so that a circle ends.
        while let Some(node) = next.filter(|node| !places.contains_key(node)) {
            places.insert(node, (None, 0));
            branch.push(node);
            next = parents.get(node).copied();
        }
        let (mut latest, mut depth) = next.and_then(|node| places.get(node)).copied().unwrap_or_default();
        for node in branch.into_iter().rev() {
            latest = latest.max(time(mapping, node));
            depth += 1;
            places.insert(node, (latest, depth));
        }
    }
    let mut nodes: Vec<&str> =
        mapping.keys().map(String::as_str).filter(|node| message(mapping, node).is_some()).collect();
    nodes.sort_unstable_by_key(|node| (places.get(node), *node));
    nodes.into_iter().zip(0..).collect()
}

/// The nodes from the root to the node that was shown last, or without one to the newest leaf.
fn path<'a>(
    mapping: &'a Map<String, Value>,
    parents: &Parents<'a>,
    current: Option<&'a str>,
) -> Vec<&'a str> {
    let newest_leaf = || {
        let inner: HashSet<&str> = parents.values().copied().collect();
        let leaves = mapping.keys().map(String::as_str).filter(|node| !inner.contains(node));
        leaves.max_by_key(|node| (time(mapping, node), *node))
    };
    let mut path = Vec::new();
    let mut seen = HashSet::new();
    let mut next = current.filter(|node| mapping.contains_key(*node)).or_else(newest_leaf);
    // A damaged tree may go round in a circle.
    while let Some(node) = next.filter(|node| seen.insert(*node)) {
        path.push(node);
        next = parents.get(node).copied();
    }
    path.reverse();
    path
}

/// The fields that the messages of a conversation share.
struct Shared<'a> {
    id: &'a str,
    at: Option<DateTime<Utc>>,
    title: Option<&'a Value>,
    gizmo: Option<&'a Value>,
}

impl Shared<'_> {
    fn left(&self, subject: &'static str, node: &str, why: Why) -> Item {
        let title = self.title.and_then(Value::as_str).unwrap_or(self.id);
        Item::Left(Left::new(subject, node, why).detail(title))
    }

    /// The memory of a message, and what is left of it.
    fn items(&self, node: &str, message: &Value, seq: i32) -> Vec<Item> {
        if let Some(why) = reason(message) {
            return vec![self.left("message", node, why)];
        }
        let text = words(message);
        let mut items: Vec<Item> =
            files(message).map(|_| self.left("attachment", node, Why::NotText)).collect();
        if text.is_empty() {
            if items.is_empty() {
                items.push(self.left("message", node, Why::Empty));
            }
            return items;
        }
        let mut metadata = Map::new();
        json::keep(&mut metadata, "title", self.title);
        json::keep(&mut metadata, "gpt", self.gizmo);
        json::keep(&mut metadata, "model", message.pointer("/metadata/model_slug"));
        let memory = Foreign {
            // A conversation that was branched into a new one shares the ids of its messages with it.
            id: format!("{}/{node}", self.id),
            text,
            robot: Some("chatgpt".into()),
            speaker: role(message).map(Into::into),
            session: Some(self.id.into()),
            seq: Some(seq),
            kind: Some("message".into()),
            source: Some(format!("https://chatgpt.com/c/{}", self.id)),
            metadata,
            at: json::time(message, "create_time").or(self.at),
            ..Foreign::default()
        };
        items.insert(0, Item::Memory(Box::new(memory.keeping_times(message, &["create_time"]))));
        items
    }
}

fn role(message: &Value) -> Option<&str> {
    message.get("author").and_then(|author| json::text(author, "role"))
}

/// Why a message is not one that was said; none if it was.
fn reason(message: &Value) -> Option<Why> {
    let kind = message.get("content").and_then(|it| json::text(it, "content_type")).unwrap_or("text");
    let is_hidden =
        message.pointer("/metadata/is_visually_hidden_from_conversation") == Some(&Value::Bool(true));
    match (role(message), kind) {
        (Some("user" | "assistant"), _) if is_hidden => Some(Why::SystemMessage),
        (Some("user" | "assistant"), "user_editable_context" | "model_editable_context" | "system_error") => {
            Some(Why::SystemMessage)
        }
        (Some("user" | "assistant"), "thoughts" | "reasoning_recap") => Some(Why::Reasoning),
        (Some("user" | "assistant"), _) if json::text(message, "recipient").is_some_and(|it| it != "all") => {
            Some(Why::ToolMessage)
        }
        (Some("user" | "assistant"), _) => None,
        (Some("tool"), _) => Some(Why::ToolMessage),
        (Some("system"), _) => Some(Why::SystemMessage),
        _ => Some(Why::Unreadable),
    }
}

/// The text of a message: its parts, transcribed speech among them.
fn words(message: &Value) -> String {
    let Some(content) = message.get("content") else { return String::new() };
    let parts: Vec<&str> = match json::list(content, "parts") {
        [] => json::text(content, "text").into_iter().collect(),
        parts => parts.iter().filter_map(|part| part.as_str().or_else(|| json::text(part, "text"))).collect(),
    };
    parts.into_iter().map(str::trim).filter(|it| !it.is_empty()).collect::<Vec<_>>().join("\n\n")
}

/// The parts of a message that are no text: pictures, recordings, files.
fn files(message: &Value) -> impl Iterator<Item = &Value> {
    let parts = message.get("content").map_or(&[][..], |content| json::list(content, "parts"));
    parts.iter().filter(|part| part.is_object() && json::text(part, "text").is_none())
}

#[cfg(test)]
mod tests;
