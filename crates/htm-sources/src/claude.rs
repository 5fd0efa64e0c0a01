//! The export of Claude: `conversations.json`, in the archive or the folder that it was unpacked to. Its projects and its
//! users are not read.

use chrono::{DateTime, Utc};
use htm_core::Result;
use serde_json::{Map, Value};

use crate::export::{Export, Kind};
use crate::foreign::{Foreign, Item, Left, Why};
use crate::{Counts, json, place};

const KIND: Kind = Kind { subject: "conversation", lists: &["conversations"], read };

pub(crate) fn open(location: &str) -> Result<Export> {
    let wanted = |name: &str| name.starts_with("conversations") && name.ends_with(".json");
    Ok(Export::new(KIND, place::parts(location, "file conversations.json", wanted)?))
}

/// Reads a conversation.
fn read(conversation: &Value, counts: &mut Counts) -> std::result::Result<Vec<Item>, String> {
    let Some(messages) = conversation.get("chat_messages").and_then(Value::as_array) else {
        return Err(format!("has no list `chat_messages`, but {}", json::fields(conversation)));
    };
    let Some(id) = json::text(conversation, "uuid") else {
        return Err(format!("has no `uuid`, but {}", json::fields(conversation)));
    };
    let at = json::time(conversation, "created_at");
    let shared = Shared { id, at, name: conversation.get("name") };
    *counts.entry("message").or_default() += messages.len() as u64;
    Ok((0..).zip(messages).flat_map(|(seq, message)| shared.items(message, seq)).collect())
}

/// What the messages of a conversation share.
struct Shared<'a> {
    id: &'a str,
    at: Option<DateTime<Utc>>,
    name: Option<&'a Value>,
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
        let speaker = match json::text(message, "sender") {
            Some("human") => "user",
            Some("assistant") => "assistant",
            Some(_) => return vec![Item::Left(Left::new("message", id, Why::SystemMessage).detail(self.title()))],
            None => return vec![left(Why::Unreadable, "it has no `sender`".into())],
        };
        let text = words(message);
        let mut items = Vec::new();
        if text.is_empty() {
            items.push(Item::Left(Left::new("message", id, why_no_words(message)).detail(self.title())));
        } else {
            let mut metadata = Map::new();
            json::keep(&mut metadata, "title", self.name);
            items.push(Item::Memory(Box::new(Foreign {
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
            })));
        }
        let files = ["attachments", "files"].into_iter().flat_map(|name| json::list(message, name));
        items.extend(files.map(|file| {
            let name = json::text(file, "file_name").unwrap_or("without a name");
            Item::Left(Left::new("attachment", name, Why::NotText).detail(self.title()))
        }));
        items
    }
}

/// The texts of a message's blocks; of an older export, which has none, its `text`.
fn words(message: &Value) -> String {
    let blocks = json::list(message, "content");
    let texts: Vec<&str> = blocks
        .iter()
        .filter(|block| json::text(block, "type").is_none_or(|it| it == "text"))
        .filter_map(|block| json::text(block, "text"))
        .map(str::trim)
        .collect();
    match blocks.is_empty() {
        true => json::text(message, "text").map_or(String::new(), |text| text.trim().into()),
        false => texts.join("\n\n"),
    }
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
        assert_eq!((counts["conversation"], counts["message"]), (3, 5));
        let [question, answer] = memories(&items)[..] else { panic!("{items:?}") };
        assert_eq!((question.text.as_str(), question.speaker.as_deref()), ("Which port?", Some("user")));
        assert_eq!((answer.text.as_str(), answer.seq), ("Port 5433.\n\nIt is free.", Some(1)));
        assert_eq!((&answer.session, &answer.metadata["title"]), (&Some("c1".into()), &json!("Ports")));
        assert_eq!(answer.at, Some("2025-06-01T10:00:02Z".parse().unwrap()));
        let expected = [
            ("attachment", "plan.png", Why::NotText),
            ("attachment", "ports.csv", Why::NotText),
            ("conversation", "number 2", Why::Unreadable),
            ("message", "c1, message 4", Why::Unreadable),
            ("message", "m3", Why::ToolMessage),
            ("message", "m4", Why::Empty),
        ];
        assert_eq!(left(&items), expected);
    }

    proptest! {
        #[test]
        fn a_broken_export_has_a_code(place in 0usize..90, kind in 0usize..6, cut in 0usize..2_000) {
            is_read_or_refused(|location| Ok(Box::new(open(location)?)), export(), place, kind, cut);
        }
    }
}
