//! mem0's store of pgvector: a table with the columns `id`, `vector` and `payload`.
//!
//! The payload has the text as `data`, whose it is, and the user's own metadata beside them. What mem0 derives from the text
//! (`hash`, `text_lemmatized`) does not come, nor do its tables of entities and its history, which is a file of SQLite.

use htm_core::Result;

use crate::foreign::{Foreign, Item, Left, Why};
use crate::postgres::{Database, Row, name_of, quoted};
use crate::tables::{Part, Tables, Vectors};
use crate::{SourceOptions, json, mem0};

/// The table of mem0's default collection.
const TABLE: &str = "mem0";
const COLUMNS: &[&str] = &["id", "vector", "payload"];
/// Fields of the payload that are none of the user's metadata.
const OWN: &[&str] = &[
    "data",
    "hash",
    "text_lemmatized",
    "user_id",
    "agent_id",
    "run_id",
    "created_at",
    "updated_at",
    "expiration_date",
];

pub(crate) async fn open(url: &str, options: &SourceOptions) -> Result<Tables<()>> {
    let mut database = Database::open(url).await?;
    let table = options.table.as_deref().unwrap_or(TABLE);
    database.expect("mem0", table, COLUMNS).await.map_err(|error| match options.table {
        Some(_) => error,
        None => error.with_hint("name the table of the collection with --table"),
    })?;
    let table = quoted(table);
    let dimensions =
        format!("select vector_dims(vector)::bigint from {table} where vector is not null limit 1");
    let vectors = Vectors::of(database.number(&dimensions).await?, options.model.as_ref())?;
    let sql = format!(
        "select (to_jsonb(t) - 'vector')::text, null::text, {}
           from {table} t order by t.payload->>'created_at', t.id",
        vectors.column("t.vector")
    );
    let part = Part { subject: "memory", sql, items: |(), row| vec![item(row)] };
    Ok(Tables::new(database, vec![part], (), vectors))
}

fn item(row: &Row) -> Item {
    let id = row.name("id").unwrap_or_default();
    let payload = row.field("payload");
    let left = |why| Item::Left(Left::new("memory", id.as_str(), why));
    let Some(text) = json::text(payload, "data") else { return left(Why::Empty) };
    let expires_at = mem0::expiry(payload);
    if mem0::has_expired(expires_at) {
        return left(Why::Expired);
    }
    let whose = match mem0::Whose::of(payload) {
        Ok(whose) => whose,
        Err(what) => return Item::Left(Left::new("memory", id, Why::Unreadable).detail(what)),
    };
    let name = |field: &str| payload.get(field).and_then(name_of);
    let speaker = name("actor_id").or_else(|| name("role"));
    let mut memory = Foreign {
        id: id.clone(),
        text: text.into(),
        owner: whose.user.into_iter().collect(),
        robot: whose.agent,
        session: whose.run,
        tags: mem0::categories(payload),
        at: json::time(payload, "created_at"),
        updated_at: json::time(payload, "updated_at"),
        expires_at,
        vector: row.vector.clone(),
        ..Foreign::default()
    }
    .keeping_times(payload, mem0::TIMES);
    let fields = payload.as_object().into_iter().flatten();
    for (field, value) in fields.filter(|(field, _)| !OWN.contains(&field.as_str())) {
        let is_elsewhere = match field.as_str() {
            "actor_id" | "role" => value.as_str() == speaker.as_deref(),
            "categories" => !memory.tags.is_empty(),
            _ => false,
        };
        json::keep(&mut memory.metadata, field, Some(value).filter(|_| !is_elsewhere));
    }
    memory.speaker = speaker;
    Item::Memory(Box::new(memory))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn row(payload: Value) -> Row {
        Row { fields: Some(json!({"id": "7", "payload": payload})), exact: None, vector: Some(vec![0.5]) }
    }

    #[test]
    fn a_payload_keeps_whose_it_is_and_the_users_metadata() {
        let payload = json!({
            "data": "Mara prefers tabs.", "hash": "a9", "text_lemmatized": "mara prefer tab", "user_id": "mara",
            "agent_id": "ada", "run_id": 7, "actor_id": "Mara", "role": "user", "category": "style", "none": null,
            "categories": ["Editors"],
            "created_at": "2026-03-01T12:00:00.5+00:00", "updated_at": "2026-03-02T12:00:00+00:00",
        });
        let Item::Memory(memory) = item(&row(payload)) else { panic!("it comes") };
        assert_eq!(
            (memory.text.as_str(), &memory.owner[..]),
            ("Mara prefers tabs.", &["mara".to_owned()][..])
        );
        assert_eq!((memory.robot.as_deref(), memory.session.as_deref()), (Some("ada"), Some("7")));
        assert_eq!(memory.speaker.as_deref(), Some("Mara"));
        assert_eq!(Value::Object(memory.metadata), json!({"category": "style", "role": "user"}));
        assert!(memory.at < memory.updated_at && memory.vector.is_some());
        assert_eq!(memory.tags, ["Editors"]);
        let Item::Memory(memory) = item(&row(json!({"data": "t", "created_at": "01/02/2025 10:00"}))) else {
            panic!("it comes")
        };
        assert_eq!((memory.at, &memory.metadata["created_at"]), (None, &json!("01/02/2025 10:00")));
        // A field of the user's own with this name.
        let Item::Memory(memory) = item(&row(json!({"data": "t", "categories": {"a": 1}}))) else {
            panic!("it comes")
        };
        assert_eq!((memory.tags.len(), Value::Object(memory.metadata)), (0, json!({"categories": {"a": 1}})));
    }

    #[test]
    fn what_does_not_come_has_a_reason() {
        let why = |payload| match item(&row(payload)) {
            Item::Left(left) => left.why,
            Item::Memory(memory) => panic!("{memory:?}"),
        };
        assert_eq!(why(json!({"data": "t", "user_id": ["mara"]})), Why::Unreadable);
        for empty in [json!({}), json!({"data": " "}), json!({"data": 7}), json!([]), Value::Null] {
            assert_eq!(why(empty), Why::Empty);
        }
        assert_eq!(why(json!({"data": "t", "expiration_date": "2020-01-01"})), Why::Expired);
        let ahead = json!({"data": "t", "expiration_date": "2999-12-31"});
        assert!(matches!(item(&row(ahead)), Item::Memory(it) if it.expires_at.is_some()));
    }
}
