//! Messages of Letta's agents, of both generations.
//!
//! The agents of the first generation packed what a user said into JSON, and answered by a call of `send_message`, beside
//! which their text is a thought.

use htm_core::Result;
use serde_json::{Value, json};

use super::common;
use crate::foreign::{Foreign, Item, Left, Why};
use crate::postgres::{Database, Row};

pub(super) async fn statement(database: &mut Database) -> Result<String> {
    // Conversations beside an agent's default one came late.
    let columns = database.columns("messages").await?;
    let session = match columns.iter().any(|column| column == "conversation_id") {
        true => "coalesce(t.conversation_id, t.agent_id)",
        false => "t.agent_id",
    };
    Ok(format!(
        "select (to_jsonb(t) || jsonb_build_object('session', {session}, 'agent', a.name,
                    'place', row_number() over (partition by {session} order by t.sequence_id)))::text,
                null::text, null::real[]
           from messages t left join agents a on a.id = t.agent_id order by t.sequence_id"
    ))
}

pub(super) fn item(row: &Row) -> Item {
    let id = row.name("id").unwrap_or_default();
    let left = |why| Item::Left(Left::new("message", id.as_str(), why));
    let role = row.text("role").unwrap_or_default();
    let said = match role {
        _ if row.is("is_deleted") => Err(Why::Deleted),
        "user" => user(row),
        "assistant" => assistant(row),
        "tool" | "function" | "approval" => Err(Why::ToolMessage),
        _ => Err(Why::SystemMessage),
    };
    let text = match said {
        Ok(text) => text,
        Err(why) => return left(why),
    };
    let mut memory = Foreign {
        kind: Some("message".into()),
        robot: row.name("agent"),
        speaker: Some(row.name("name").unwrap_or_else(|| role.into())),
        session: row.name("session"),
        seq: row.number("place").and_then(|place| i32::try_from(place).ok()),
        ..common(row, &id, &text)
    };
    if let Some(sender) = row.name("sender_id") {
        memory.metadata.insert("sender".into(), json!(sender));
    }
    Item::Memory(Box::new(memory))
}

/// The words of a user.
fn user(row: &Row) -> Result<String, Why> {
    let text = text(row)?;
    let Ok(Value::Object(packed)) = serde_json::from_str(&text) else { return Ok(text) };
    let field = |name: &str| packed.get(name).and_then(Value::as_str);
    match (field("type"), field("message")) {
        (Some("user_message"), Some(said)) if said.trim().is_empty() => Err(Why::Empty),
        (Some("user_message"), Some(said)) => Ok(said.into()),
        (Some("heartbeat" | "login" | "system_alert"), _) => Err(Why::SystemMessage),
        _ => Ok(text),
    }
}

/// The words of an agent to a user.
fn assistant(row: &Row) -> Result<String, Why> {
    let calls = row.field("tool_calls").as_array().into_iter().flatten();
    let function =
        |call: &Value, name: &str| call.pointer(&format!("/function/{name}"))?.as_str().map(str::to_owned);
    let sent: Vec<String> = calls
        .clone()
        .filter(|call| function(call, "name").as_deref() == Some("send_message"))
        .filter_map(|call| {
            serde_json::from_str::<Value>(&function(call, "arguments")?)
                .ok()?
                .get("message")?
                .as_str()
                .map(str::to_owned)
        })
        .filter(|said| !said.trim().is_empty())
        .collect();
    if !sent.is_empty() {
        return Ok(sent.join("\n"));
    }
    match text(row) {
        Err(Why::Empty) if calls.count() > 0 => Err(Why::ToolMessage),
        other => other,
    }
}

/// The texts of a message's content.
fn text(row: &Row) -> Result<String, Why> {
    let parts: Vec<&Value> = row.field("content").as_array().into_iter().flatten().collect();
    let of_type = |part: &&Value| part.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
    let texts =
        parts.iter().filter(|part| of_type(part) == "text").filter_map(|part| part.get("text")?.as_str());
    let mut text = texts.collect::<Vec<_>>().join("\n");
    if parts.is_empty() {
        text = row.text("text").unwrap_or_default().into();
    }
    let has = |types: &[&str]| parts.iter().any(|part| types.contains(&of_type(part).as_str()));
    match text.trim().is_empty() {
        false => Ok(text),
        true if has(&["image"]) => Err(Why::NotText),
        true if has(&["tool_call", "tool_return"]) => Err(Why::ToolMessage),
        true if !parts.is_empty() && !has(&["text"]) => Err(Why::Reasoning),
        true => Err(Why::Empty),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(fields: Value) -> Result<String, Why> {
        match item(&Row { fields: Some(fields), exact: None, vector: None }) {
            Item::Memory(memory) => Ok(memory.text),
            Item::Left(left) => Err(left.why),
        }
    }

    fn texts(texts: &[&str]) -> Value {
        texts.iter().map(|text| json!({"type": "text", "text": text})).collect()
    }

    #[test]
    fn what_people_and_agents_say_comes() {
        let packed = json!({"type": "user_message", "message": "Which port?", "time": "noon"}).to_string();
        let call =
            |tool: &str| json!([{"function": {"name": tool, "arguments": "{\"message\": \"5433.\"}"}}]);
        let beat = json!({"type": "heartbeat", "reason": "timer"}).to_string();
        for (fields, expected) in [
            (json!({"role": "user", "content": texts(&["a", "b"])}), Ok("a\nb")),
            (json!({"role": "user", "text": "old"}), Ok("old")),
            (json!({"role": "user", "content": texts(&[&packed])}), Ok("Which port?")),
            (json!({"role": "user", "content": texts(&["{\"a\": 1}"])}), Ok("{\"a\": 1}")),
            (json!({"role": "user", "content": texts(&[&beat])}), Err(Why::SystemMessage)),
            (json!({"role": "user", "content": [{"type": "image"}]}), Err(Why::NotText)),
            (json!({"role": "user"}), Err(Why::Empty)),
            (json!({"role": "user", "text": "t", "is_deleted": true}), Err(Why::Deleted)),
            (
                json!({"role": "assistant", "content": texts(&["thought"]), "tool_calls": call("send_message")}),
                Ok("5433."),
            ),
            (
                json!({"role": "assistant", "content": texts(&["said"]), "tool_calls": call("search")}),
                Ok("said"),
            ),
            (json!({"role": "assistant", "tool_calls": call("search")}), Err(Why::ToolMessage)),
            (json!({"role": "assistant", "content": [{"type": "reasoning"}]}), Err(Why::Reasoning)),
            (json!({"role": "tool", "content": texts(&["{}"])}), Err(Why::ToolMessage)),
            (json!({"role": "summary", "content": texts(&["s"])}), Err(Why::SystemMessage)),
            (json!({}), Err(Why::SystemMessage)),
        ] {
            assert_eq!(said(fields.clone()), expected.map(str::to_owned), "{fields}");
        }
    }
}
