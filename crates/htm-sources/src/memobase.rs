//! memobase's database: profiles, events and blobs of users.
//!
//! A profile has a topic and a sub-topic, without which its text says little. An event has its gists, each with a vector; one
//! without gists has its tip. Of blobs, which memobase deletes once it has read them unless it is told to keep them, those
//! with a text come.

use chrono::{DateTime, Utc};
use htm_core::Result;
use serde_json::Value;

use crate::foreign::{Foreign, Item, Left, Why};
use crate::postgres::{Database, Row, name_of};
use crate::tables::{Part, Tables, Vectors};
use crate::{SourceOptions, json};

/// The project of a server that separates none.
const ROOT: &str = "__root__";

pub(crate) async fn open(url: &str, options: &SourceOptions) -> Result<Tables<()>> {
    let mut database = Database::open(url).await?;
    let what = "memobase";
    database.expect(what, "user_profiles", &["id", "user_id", "content", "attributes", "created_at"]).await?;
    database.expect(what, "user_events", &["id", "user_id", "event_data", "created_at"]).await?;
    database
        .expect(what, "general_blobs", &["id", "user_id", "blob_type", "blob_data", "created_at"])
        .await?;
    let has_gists = database.has("user_event_gists").await?;
    let mut dimensions = None;
    for table in ["user_events", "user_event_gists"] {
        if dimensions.is_none() && database.columns(table).await?.iter().any(|column| column == "embedding") {
            let found = format!(
                "select vector_dims(embedding)::bigint from {table} where embedding is not null limit 1"
            );
            dimensions = database.number(&found).await?;
        }
    }
    let vectors = Vectors::of(dimensions, options.model.as_ref())?;
    // The oldest servers have no vectors.
    let vector = if dimensions.is_some() { vectors.column("t.embedding") } else { "null::real[]".into() };
    let rows = |table: &str, vector: &str, whose: &str| {
        format!(
            "select (to_jsonb(t) - 'embedding')::text, null::text, {vector} from {table} t {whose}
              order by t.created_at, t.id"
        )
    };
    let without_gists = match has_gists {
        true => "where not exists (select from user_event_gists g where g.event_id = t.id)",
        false => "",
    };
    let mut parts = vec![
        Part {
            subject: "profile",
            sql: rows("user_profiles", "null::real[]", ""),
            items: |(), row| vec![profile(row)],
        },
        Part {
            subject: "event",
            sql: rows("user_events", &vector, without_gists),
            items: |(), row| vec![event(row)],
        },
    ];
    if has_gists {
        parts.push(Part {
            subject: "gist",
            sql: rows("user_event_gists", &vector, ""),
            items: |(), row| vec![gist(row)],
        });
    }
    parts.push(Part {
        subject: "blob",
        sql: rows("general_blobs", "null::real[]", ""),
        items: |(), row| blob(row),
    });
    Ok(Tables::new(database, parts, (), vectors))
}

fn profile(row: &Row) -> Item {
    let Some(content) = row.text("content") else { return left("profile", row, Why::Empty) };
    let attributes = row.field("attributes");
    let names: Vec<&str> =
        ["topic", "sub_topic"].iter().filter_map(|name| json::text(attributes, name)).collect();
    let text = if names.is_empty() { content.into() } else { format!("{}: {content}", names.join(", ")) };
    let mut memory = common("profile", row, text);
    memory.tags = if names.is_empty() { Vec::new() } else { vec![names.join(":")] };
    memory.metadata.extend(attributes.as_object().cloned().unwrap_or_default());
    Item::Memory(Box::new(memory))
}

fn event(row: &Row) -> Item {
    let data = row.field("event_data");
    let Some(tip) = json::text(data, "event_tip") else { return left("event", row, Why::Empty) };
    let mut memory = Foreign { vector: row.vector.clone(), ..common("event", row, tip.into()) };
    json::keep(&mut memory.metadata, "event_tags", data.get("event_tags"));
    Item::Memory(Box::new(memory))
}

fn gist(row: &Row) -> Item {
    let content = json::text(row.field("gist_data"), "content");
    // A gist is a line of the event's list.
    let text = content.map(|it| it.trim().trim_start_matches("- ").trim()).filter(|it| !it.is_empty());
    let Some(text) = text else { return left("gist", row, Why::Empty) };
    let session = row.name("event_id");
    Item::Memory(Box::new(Foreign {
        session,
        vector: row.vector.clone(),
        ..common("gist", row, text.into())
    }))
}

fn blob(row: &Row) -> Vec<Item> {
    let data = row.field("blob_data");
    let kind = row.text("blob_type").unwrap_or_default();
    let whole = |field: &str| match json::text(data, field) {
        Some(text) => vec![Item::Memory(Box::new(Foreign {
            kind: Some(kind.into()),
            ..common("blob", row, text.into())
        }))],
        None => vec![left("blob", row, Why::Empty)],
    };
    match kind {
        "chat" => said(row, json::list(data, "messages"), &["alias", "role"]),
        "transcript" => said(row, json::list(data, "transcripts"), &["speaker"]),
        "doc" | "code" => whole("content"),
        "summary" => whole("summary"),
        _ => vec![left("blob", row, Why::NotText)],
    }
}

/// The messages of a blob, which is their conversation.
fn said(row: &Row, messages: &[Value], speakers: &[&str]) -> Vec<Item> {
    let id = row.name("id").unwrap_or_default();
    let message = |(place, message): (usize, &Value)| {
        let id = format!("{id}:{place}");
        let Some(text) = json::text(message, "content") else {
            return Item::Left(Left::new("message", id, Why::Empty));
        };
        let own: Option<DateTime<Utc>> = json::time(message, "created_at");
        let common = common("blob", row, text.into());
        let memory = Foreign {
            id: format!("{}:{place}", common.id),
            kind: Some("message".into()),
            speaker: speakers.iter().find_map(|name| message.get(name).and_then(name_of)),
            session: row.name("id"),
            seq: i32::try_from(place).ok(),
            at: own.or(common.at),
            ..common
        };
        Item::Memory(Box::new(memory.keeping_times(message, &["created_at"])))
    };
    if messages.is_empty() {
        return vec![left("blob", row, Why::Empty)];
    }
    messages.iter().enumerate().map(message).collect()
}

fn left(subject: &'static str, row: &Row, why: Why) -> Item {
    Item::Left(Left::new(subject, row.name("id").unwrap_or_default(), why))
}

/// The fields that all kinds of rows have. A table has ids of its own, so the key names it.
fn common(kind: &str, row: &Row, text: String) -> Foreign {
    let project = row.name("project_id").filter(|project| project != ROOT);
    Foreign {
        id: format!("{kind}:{}", row.name("id").unwrap_or_default()),
        text,
        owner: project.into_iter().chain(row.name("user_id")).collect(),
        kind: Some(kind.into()),
        at: row.time("created_at"),
        updated_at: row.time("updated_at"),
        ..Foreign::default()
    }
    .keeping_times(row.object(), &["created_at", "updated_at"])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn row(fields: Value) -> Row {
        let mut row = json!({"id": "7", "user_id": "mara", "project_id": ROOT, "created_at": "2026-03-01T12:00:00+00:00"});
        for (name, field) in fields.as_object().into_iter().flatten() {
            row[name] = field.clone();
        }
        Row { fields: Some(row), exact: None, vector: Some(vec![0.5]) }
    }

    fn memory(item: Item) -> Foreign {
        match item {
            Item::Memory(memory) => *memory,
            Item::Left(left) => panic!("{left:?}"),
        }
    }

    #[test]
    fn a_profile_says_what_it_is_about() {
        let attributes = json!({"topic": "basic_info", "sub_topic": "name"});
        let found =
            memory(profile(&row(json!({"content": "Mara", "attributes": attributes, "project_id": "p/1"}))));
        assert_eq!(
            (found.text.as_str(), &found.tags[..]),
            ("basic_info, name: Mara", &["basic_info:name".to_owned()][..])
        );
        assert_eq!(
            (found.id.as_str(), &found.owner[..]),
            ("profile:7", &["p/1".to_owned(), "mara".into()][..])
        );
        let found = memory(profile(&row(json!({"content": "Mara", "attributes": null}))));
        assert_eq!((found.text.as_str(), &found.owner[..]), ("Mara", &["mara".to_owned()][..]));
    }

    #[test]
    fn an_event_has_its_gists_or_its_tip() {
        let found = memory(gist(&row(json!({"event_id": "9", "gist_data": {"content": "- Mara moved. "}}))));
        assert_eq!((found.text.as_str(), found.session.as_deref()), ("Mara moved.", Some("9")));
        assert!(found.vector.is_some());
        let tags = json!([{"tag": "mood", "value": "glad"}]);
        let found =
            memory(event(&row(json!({"event_data": {"event_tip": "Mara moved.", "event_tags": tags}}))));
        assert_eq!((found.text.as_str(), &found.metadata["event_tags"]), ("Mara moved.", &tags));
        assert!(
            matches!(event(&row(json!({"event_data": {"event_tip": null}}))), Item::Left(it) if it.why == Why::Empty)
        );
    }

    #[test]
    fn the_messages_of_a_chat_are_a_conversation() {
        let messages = json!([{"role": "user", "alias": "Mara", "content": "Tabs?"}, {"role": "assistant", "content": ""},
                              {"role": "assistant", "content": "Yes.", "created_at": "2026-03-02"}]);
        let found = blob(&row(json!({"blob_type": "chat", "blob_data": {"messages": messages}})));
        let [Item::Memory(first), Item::Left(empty), Item::Memory(last)] = &found[..] else {
            panic!("{found:?}")
        };
        assert_eq!(
            (first.speaker.as_deref(), first.seq, first.id.as_str()),
            (Some("Mara"), Some(0), "blob:7:0")
        );
        assert_eq!((empty.why, empty.id.as_str()), (Why::Empty, "7:1"));
        assert_eq!((last.speaker.as_deref(), last.session.as_deref()), (Some("assistant"), Some("7")));
        assert!(first.at < last.at);
        for (fields, expected) in [
            (json!({"blob_type": "image", "blob_data": {"url": "u"}}), Why::NotText),
            (json!({"blob_type": "chat", "blob_data": {}}), Why::Empty),
            (json!({"blob_type": "doc", "blob_data": {}}), Why::Empty),
        ] {
            assert!(matches!(&blob(&row(fields))[..], [Item::Left(left)] if left.why == expected));
        }
        let code = blob(&row(json!({"blob_type": "code", "blob_data": {"content": "fn"}})));
        assert!(matches!(&code[..], [Item::Memory(it)] if it.kind.as_deref() == Some("code")));
    }

    #[test]
    fn a_time_of_a_message_and_of_its_chat_counts_once() {
        let messages = json!([{"role": "user", "content": "Tabs?", "created_at": "at noon"}]);
        let chat = json!({"blob_type": "chat", "blob_data": {"messages": messages}, "created_at": "in May"});
        let found = blob(&row(chat));
        let [Item::Memory(found)] = &found[..] else { panic!("{found:?}") };
        assert_eq!((found.unread_times, &found.metadata["created_at"]), (1, &json!("in May")));
    }
}
