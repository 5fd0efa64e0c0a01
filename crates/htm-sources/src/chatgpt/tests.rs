//! The shape of the export is that of `conversations.json` as downloaded in 2025.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::testing::{is_read_or_refused, left, memories, read_all};

fn message(role: &str, content: Value, more: Value) -> Value {
    let mut message = json!({
        "id": format!("id-{role}"), "author": {"role": role, "name": null}, "create_time": 1_748_772_000.5,
        "content": content, "status": "finished_successfully", "recipient": "all", "metadata": {"model_slug": "gpt-4o"}
    });
    for (name, value) in more.as_object().into_iter().flatten() {
        message[name] = value.clone();
    }
    message
}

fn text(text: &str) -> Value {
    json!({"content_type": "text", "parts": [text]})
}

/// A conversation whose question was edited, with a picture, a tool and a hidden message.
fn export() -> Value {
    let node = |parent: Value, message: Value| json!({"parent": parent, "message": message, "children": []});
    json!([{
        "id": "c1", "conversation_id": "c1", "title": "Ports", "create_time": 1_748_771_000.0,
        "current_node": "f",
        "mapping": {
            "root": node(json!(null), json!(null)),
            "sys": node(json!("root"), message("system", text(""), json!({}))),
            "a": node(json!("sys"), message("user", text("Which port?"), json!({"id": "a"}))),
            "a2": node(json!("sys"), message("user", text("Which port is staging on?"), json!({"id": "a2"}))),
            "b": node(json!("a2"), message("assistant", json!({"content_type": "code", "text": "ports()"}),
                json!({"recipient": "python"}))),
            "c": node(json!("b"), message("tool", json!({"content_type": "execution_output", "text": "5433"}), json!({}))),
            "d": node(json!("c"), message("assistant", text("Port 5433."), json!({"id": "d", "create_time": null}))),
            "e": node(json!("d"), message("user", json!({"content_type": "multimodal_text", "parts": [
                {"content_type": "image_asset_pointer", "asset_pointer": "sediment://x"}, "And this one?"
            ]}), json!({"id": "e"}))),
            "f": node(json!("e"), message("assistant", text("\n"), json!({}))),
        }
    }])
}

async fn read_file(bytes: &[u8]) -> (Vec<Item>, Result<Counts>) {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), bytes).unwrap();
    read_all(&mut open(file.path().to_str().unwrap()).unwrap()).await
}

#[tokio::test]
async fn the_path_that_was_shown_comes() {
    let (items, counts) = read_file(export().to_string().as_bytes()).await;
    let found: Vec<_> =
        memories(&items).iter().map(|it| (it.id.as_str(), it.text.as_str(), it.seq.unwrap())).collect();
    assert_eq!(
        found,
        [("c1/a2", "Which port is staging on?", 2), ("c1/d", "Port 5433.", 5), ("c1/e", "And this one?", 6)]
    );
    let answer = memories(&items)[1];
    assert_eq!((answer.speaker.as_deref(), answer.session.as_deref()), (Some("assistant"), Some("c1")));
    assert_eq!(answer.metadata["title"], "Ports");
    // A message without a time has that of its conversation.
    assert_eq!(answer.at, Some("2025-06-01T09:43:20Z".parse().unwrap()));
    assert_eq!(
        left(&items),
        [
            ("attachment", "e", Why::NotText),
            ("message", "a", Why::OtherBranch),
            ("message", "b", Why::ToolMessage),
            ("message", "c", Why::ToolMessage),
            ("message", "f", Why::Empty),
            ("message", "sys", Why::SystemMessage),
        ]
    );
    let counts = counts.unwrap();
    assert_eq!((counts["conversation"], counts["message"]), (1, 8));
}

#[tokio::test]
async fn the_messages_of_a_later_branch_follow_those_of_the_former_one() {
    let mut export = export();
    let (before, _) = read_file(export.to_string().as_bytes()).await;
    // The question was edited: the conversation goes on from another one.
    let question = message("user", text("Which port has the ledger?"), json!({"create_time": 1_748_773_000}));
    let answer = message("assistant", text("Port 5434."), json!({"create_time": null}));
    let mapping = &mut export[0]["mapping"];
    mapping["A"] = json!({"parent": "sys", "message": question});
    mapping["B"] = json!({"parent": "A", "message": answer});
    export[0]["current_node"] = json!("B");
    let (after, _) = read_file(export.to_string().as_bytes()).await;
    let numbers = |items: &[Item]| memories(items).iter().map(|it| it.seq.unwrap()).collect::<Vec<_>>();
    assert_eq!((numbers(&before), numbers(&after)), (vec![2, 5, 6], vec![8, 9]));
}

#[tokio::test]
async fn a_time_that_cannot_be_read_is_kept() {
    let mut export = export();
    export[0]["mapping"]["d"]["message"]["create_time"] = json!("yesterday");
    let (items, _) = read_file(export.to_string().as_bytes()).await;
    let found = memories(&items)[1];
    assert_eq!((found.unread_times, &found.metadata["create_time"]), (1, &json!("yesterday")));
}

#[tokio::test]
async fn other_data_is_not_taken_for_conversations() {
    let (_, result) = read_file(br#"[{"uuid": "x", "chat_messages": []}]"#).await;
    let error = result.unwrap_err();
    assert_eq!(error.code(), "source_unrecognised");
    assert!(error.to_string().contains("the fields chat_messages, uuid"), "{error}");
    let text = export().to_string();
    let (items, result) = read_file(&text.as_bytes()[..text.len() - 1]).await;
    assert_eq!((result.unwrap_err().code(), memories(&items).len()), ("source_damaged", 3));
}

#[tokio::test]
async fn one_conversation_that_cannot_be_read_stops_nothing() {
    let mut list = export();
    let more =
        [json!(7), json!({"mapping": []}), json!({"mapping": {"a": {"parent": "a"}}}), export()[0].clone()];
    list.as_array_mut().unwrap().extend(more);
    let (items, _) = read_file(list.to_string().as_bytes()).await;
    assert_eq!(memories(&items).len(), 6);
    let unreadable = left(&items)
        .into_iter()
        .filter(|(subject, _, why)| (*subject, *why) == ("conversation", Why::Unreadable));
    assert_eq!(unreadable.count(), 3);
}

proptest! {
    #[test]
    fn a_broken_export_has_a_code(place in 0usize..120, kind in 0usize..6, cut in 0usize..4_000) {
        is_read_or_refused(|location| Ok(Box::new(open(location)?)), export(), place, kind, cut);
    }
}
