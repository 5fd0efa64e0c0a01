//! The export of Claude: `conversations.json` and `memories.json`, in the archive or the folder that it was unpacked to. Its
//! projects and its users are not read.
//!
//! A conversation has the messages of all its branches: an edited question or a second answer begins one. The branch with the
//! newest message is what the user saw last. Its messages come.

use std::collections::{HashMap, HashSet};

use chrono::{DateTime, Utc};
use htm_core::{MAX_CONTENT_BYTES, Result};
use serde_json::{Map, Value};

use crate::export::{Export, Kind};
use crate::foreign::{Foreign, Item, Left, Why};
use crate::{Counts, files, json};

const KIND: Kind = Kind { subject: "conversation", lists: &["conversations"], read };

pub(crate) fn open(location: &str) -> Result<Export> {
    let wanted =
        |name: &str| name == "memories.json" || name.starts_with("conversations") && name.ends_with(".json");
    Ok(Export::new(KIND, files::parts(location, "file conversations.json", wanted)?))
}

/// Reads a conversation, or what Claude remembers of an account.
fn read(conversation: &Value, counts: &mut Counts) -> std::result::Result<Vec<Item>, String> {
    if ["conversations_memory", "project_memories"].iter().any(|it| conversation.get(it).is_some()) {
        return Ok(remembered(conversation, counts));
    }
    let Some(messages) = conversation.get("chat_messages").and_then(Value::as_array) else {
        return Err(format!("has no list `chat_messages`, but {}", json::fields(conversation)));
    };
    let Some(id) = json::text(conversation, "uuid") else {
        return Err(format!("has no `uuid`, but {}", json::fields(conversation)));
    };
    let at = json::time(conversation, "created_at");
    let shared = Shared { id, at, name: conversation.get("name"), others: other_branches(messages) };
    *counts.entry("conversation").or_default() += 1;
    *counts.entry("message").or_default() += messages.len() as u64;
    Ok((0..).zip(messages).flat_map(|(seq, message)| shared.items(message, seq)).collect())
}

/// Claude's memory of an account, and of each of its projects.
fn remembered(account: &Value, counts: &mut Counts) -> Vec<Item> {
    let id = json::text(account, "account_uuid").unwrap_or("account");
    let memory = |id: String, text: &str, project: Option<&str>| {
        let project = project.map(Value::from);
        let mut metadata = Map::new();
        json::keep(&mut metadata, "project", project.as_ref());
        let (robot, kind) = (Some("claude".into()), Some("profile".into()));
        Item::Memory(Box::new(Foreign { id, text: text.into(), robot, kind, metadata, ..Foreign::default() }))
    };
    let mut items = Vec::new();
    if let Some(text) = json::text(account, "conversations_memory") {
        items.push(memory(format!("memory/{id}"), text, None));
    }
    for (project, text) in account.get("project_memories").and_then(Value::as_object).into_iter().flatten() {
        if let Some(text) = text.as_str().filter(|it| !it.trim().is_empty()) {
            items.push(memory(format!("memory/{id}/{project}"), text, Some(project)));
        }
    }
    *counts.entry("memory").or_default() += items.len() as u64;
    items
}

/// The messages of branches that the conversation left: those that part from the way to its newest message.
fn other_branches(messages: &[Value]) -> HashSet<&str> {
    let id = |message| json::text(message, "uuid");
    let parent = |message| json::text(message, "parent_message_uuid");
    let parents: HashMap<&str, &str> =
        messages.iter().filter_map(|message| Some((id(message)?, parent(message)?))).collect();
    let inner: HashSet<&str> = parents.values().copied().collect();
    let leaves = messages.iter().filter(|message| id(message).is_some_and(|id| !inner.contains(id)));
    let newest = leaves.max_by_key(|message| json::time(message, "created_at")).and_then(id);
    let mut shown = HashSet::new();
    let mut next = newest;
    // A damaged tree may go round in a circle.
    while let Some(message) = next.filter(|message| shown.insert(*message)) {
        next = parents.get(message).copied();
    }
    let parts = |message: &&str| {
        let mut seen = HashSet::new();
        let mut next = Some(*message);
        while let Some(message) = next.filter(|message| seen.insert(*message)) {
            if shown.contains(message) {
                return true;
            }
            next = parents.get(message).copied();
        }
        false
    };
    messages.iter().filter_map(id).filter(|id| !shown.contains(id)).filter(parts).collect()
}

/// The fields that the messages of a conversation share.
struct Shared<'a> {
    id: &'a str,
    at: Option<DateTime<Utc>>,
    name: Option<&'a Value>,
    /// The messages of other branches.
    others: HashSet<&'a str>,
}

impl Shared<'_> {
    /// The name of the conversation, or its id.
    fn title(&self) -> &str {
        self.name.and_then(Value::as_str).filter(|it| !it.is_empty()).unwrap_or(self.id)
    }

    /// The memory of a message, and what is left of it.
    fn items(&self, message: &Value, seq: i32) -> Vec<Item> {
        let number = || format!("{}, message {seq}", self.id);
        let left = |why, detail: String| Item::Left(Left::new("message", number(), why).detail(detail));
        let Some(id) = json::text(message, "uuid") else {
            return vec![left(Why::Unreadable, format!("it has no `uuid`, but {}", json::fields(message)))];
        };
        if self.others.contains(id) {
            return vec![Item::Left(Left::new("message", id, Why::OtherBranch).detail(self.title()))];
        }
        let speaker = match json::text(message, "sender") {
            Some("human") => "user",
            Some("assistant") => "assistant",
            Some(_) => {
                return vec![Item::Left(Left::new("message", id, Why::SystemMessage).detail(self.title()))];
            }
            None => return vec![left(Why::Unreadable, "it has no `sender`".into())],
        };
        let (text, left_out) = words(message);
        let mut items = Vec::new();
        if text.is_empty() {
            items.push(Item::Left(Left::new("message", id, why_no_words(message)).detail(self.title())));
        } else {
            let mut metadata = Map::new();
            json::keep(&mut metadata, "title", self.name);
            let memory = Foreign {
                id: format!("{}/{id}", self.id),
                text,
                robot: Some("claude".into()),
                speaker: Some(speaker.into()),
                session: Some(self.id.into()),
                seq: Some(seq),
                kind: Some("message".into()),
                source: Some(format!("https://claude.ai/chat/{}", self.id)),
                metadata,
                at: json::time(message, "created_at").or(self.at),
                ..Foreign::default()
            };
            items.push(Item::Memory(Box::new(memory.keeping_times(message, &["created_at"]))));
        }
        items.extend(left_out.into_iter().map(|(file, why)| {
            let name = json::text(file, "file_name").unwrap_or("without a name");
            Item::Left(Left::new("attachment", name, why).detail(self.title()))
        }));
        items
    }
}

fn files(message: &Value) -> impl Iterator<Item = &Value> {
    ["attachments", "files"].into_iter().flat_map(|name| json::list(message, name))
}

/// The text that the export has of a file.
fn extracted(file: &Value) -> Option<&str> {
    json::text(file, "extracted_content").map(str::trim).filter(|text| !text.is_empty())
}

/// The texts of a message's blocks (an older export has `text` instead), then those of the attachments that fit into a
/// memory. Also returns the attachments that are left out.
fn words(message: &Value) -> (String, Vec<(&Value, Why)>) {
    let blocks = json::list(message, "content");
    let texts: Vec<&str> = blocks
        .iter()
        .filter(|block| json::text(block, "type").is_none_or(|it| it == "text"))
        .filter_map(|block| json::text(block, "text"))
        .map(str::trim)
        .collect();
    let mut words = match blocks.is_empty() {
        true => json::text(message, "text").map_or(String::new(), |text| text.trim().into()),
        false => texts.join("\n\n"),
    };
    let mut left_out = Vec::new();
    for file in files(message) {
        let Some(text) = extracted(file) else {
            left_out.push((file, Why::NotText));
            continue;
        };
        let gap = if words.is_empty() { "" } else { "\n\n" };
        if words.len() + gap.len() + text.len() > MAX_CONTENT_BYTES {
            left_out.push((file, Why::TooLarge));
            continue;
        }
        words.push_str(gap);
        words.push_str(text);
    }
    (words, left_out)
}

/// Why a message without words has none: what its first block is.
fn why_no_words(message: &Value) -> Why {
    let first = json::list(message, "content").iter().find_map(|block| json::text(block, "type"));
    match first {
        Some("thinking") => Why::Reasoning,
        Some("tool_use" | "tool_result") => Why::ToolMessage,
        _ => Why::Empty,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::testing::{is_read_or_refused, left, memories, read_all};

    /// The shape of the export is that of `conversations.json` as downloaded in 2025. Exports before 2025 have a `text`
    /// alone.
    fn export() -> Value {
        json!([{
            "uuid": "c1", "name": "Ports", "created_at": "2025-06-01T10:00:00.000000Z",
            "account": {"uuid": "u1"},
            "chat_messages": [
                {"uuid": "m1", "sender": "human", "text": "Which port?", "content": [],
                 "created_at": "2025-06-01T10:00:01Z", "attachments": [{"file_name": "ports.csv", "extracted_content": "5433"}],
                 "files": [{"file_name": "plan.png"}]},
                {"uuid": "m2", "sender": "assistant", "text": "", "created_at": "2025-06-01T10:00:02Z", "content": [
                    {"type": "thinking", "thinking": "Let me see"}, {"type": "text", "text": "Port 5433."},
                    {"type": "tool_use", "name": "ports"}, {"type": "text", "text": "It is free."}]},
                {"uuid": "m3", "sender": "assistant", "content": [{"type": "tool_result", "content": []}]},
                {"uuid": "m4", "sender": "human", "text": " ", "content": []},
                {"uuid": "m5", "sender": "human", "content": [], "attachments": [
                    {"file_name": "log.txt", "extracted_content": " It is taken.\n"}, {"file_name": "a.bin"}]},
                {"sender": "human", "text": "?"},
            ]
        }, {"uuid": "c2", "chat_messages": {}}, {"uuid": "c3", "name": "", "chat_messages": []}])
    }

    #[tokio::test]
    async fn the_words_of_a_conversation_come() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), export().to_string()).unwrap();
        let (items, counts) = read_all(&mut open(file.path().to_str().unwrap()).unwrap()).await;
        let counts = counts.unwrap();
        assert_eq!((counts["conversation"], counts["message"]), (2, 6));
        let [question, answer, attached] = memories(&items)[..] else { panic!("{items:?}") };
        assert_eq!(
            (question.text.as_str(), question.speaker.as_deref()),
            ("Which port?\n\n5433", Some("user"))
        );
        assert_eq!((attached.text.as_str(), attached.seq), ("It is taken.", Some(4)));
        assert_eq!((answer.text.as_str(), answer.seq), ("Port 5433.\n\nIt is free.", Some(1)));
        assert_eq!((&answer.session, &answer.metadata["title"]), (&Some("c1".into()), &json!("Ports")));
        assert_eq!(answer.at, Some("2025-06-01T10:00:02Z".parse().unwrap()));
        let expected = [
            ("attachment", "a.bin", Why::NotText),
            ("attachment", "plan.png", Why::NotText),
            ("conversation", "number 2", Why::Unreadable),
            ("message", "c1, message 5", Why::Unreadable),
            ("message", "m3", Why::ToolMessage),
            ("message", "m4", Why::Empty),
        ];
        assert_eq!(left(&items), expected);
    }

    #[tokio::test]
    async fn attachments_come_as_far_as_a_memory_has_room() {
        let file =
            |name: &str, bytes: usize| json!({"file_name": name, "extracted_content": "x".repeat(bytes)});
        let message = |id: &str, text: &str, files: Value| json!({"uuid": id, "sender": "human", "text": text, "content": [], "attachments": files});
        // The first one fits exactly.
        let room = MAX_CONTENT_BYTES - "Which port?\n\n".len();
        let export = json!([{"uuid": "c1", "name": "Ports", "chat_messages": [
            message("m1", "Which port?", json!([file("larger.txt", room + 1), file("log.txt", room), file("b.txt", 1)])),
            message("m2", "", json!([file("large.txt", MAX_CONTENT_BYTES + 1)])),
        ]}]);
        let place = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(place.path(), export.to_string()).unwrap();
        let (items, _) = read_all(&mut open(place.path().to_str().unwrap()).unwrap()).await;
        let [question] = memories(&items)[..] else { panic!("{} items", items.len()) };
        assert_eq!(question.text.len(), MAX_CONTENT_BYTES);
        let expected = [
            ("attachment", "b.txt", Why::TooLarge),
            ("attachment", "large.txt", Why::TooLarge),
            ("attachment", "larger.txt", Why::TooLarge),
            ("message", "m2", Why::Empty),
        ];
        assert_eq!(left(&items), expected);
    }

    #[test]
    fn the_branch_with_the_newest_message_comes() {
        let message = |id: &str, parent: &str, at: u32| {
            json!({"uuid": id, "parent_message_uuid": parent, "sender": "human", "text": id, "content": [],
                   "created_at": format!("2025-06-01T10:00:{at:02}Z")})
        };
        let root = "00000000-0000-4000-8000-000000000000";
        // The first question was edited, and the answer to it made again. One message lost its place.
        let messages = [
            message("a", root, 1),
            message("a1", "a", 2),
            message("b", root, 3),
            message("b1", "b", 4),
            message("b2", "b", 5),
            message("c", "b2", 6),
            message("lost", "gone", 3),
        ];
        assert_eq!(other_branches(&messages), HashSet::from(["a", "a1", "b1"]));
        let circle = [message("a", "b", 1), message("b", "a", 2), message("c", "c", 3)];
        assert!(other_branches(&circle).is_empty());
        let without = [json!({"uuid": "a"}), json!({"uuid": "b"})];
        assert!(other_branches(&without).is_empty());
    }

    #[tokio::test]
    async fn what_claude_remembers_comes() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("conversations.json"), "[]").unwrap();
        let memories_json = json!([{"conversations_memory": "Mara prefers tabs.", "account_uuid": "u1",
                                    "project_memories": {"p1": "The ledger is in Rust.", "p2": " "}}]);
        std::fs::write(folder.path().join("memories.json"), memories_json.to_string()).unwrap();
        let (items, counts) = read_all(&mut open(folder.path().to_str().unwrap()).unwrap()).await;
        assert_eq!(counts.unwrap()["memory"], 2);
        let found: Vec<_> = memories(&items).iter().map(|it| (it.id.as_str(), it.text.as_str())).collect();
        let expected = [("memory/u1", "Mara prefers tabs."), ("memory/u1/p1", "The ledger is in Rust.")];
        assert_eq!(found, expected);
        assert_eq!(memories(&items)[1].metadata["project"], "p1");
    }

    proptest! {
        #[test]
        fn a_broken_export_has_a_code(place in 0usize..90, kind in 0usize..6, cut in 0usize..2_000) {
            is_read_or_refused(|location| Ok(Box::new(open(location)?)), export(), place, kind, cut);
        }
    }
}
