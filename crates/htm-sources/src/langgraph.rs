//! The store of LangGraph in PostgreSQL: the tables `store` and `store_vectors`.
//!
//! An item becomes what the store of `clients/python/htm_memory/langgraph.py` writes, which finds it by its key and by its
//! vectors: a memory with the item's first indexed text, its value in the metadata, and the item's key as its conversation,
//! and one more memory for each further vector. An item without vectors has the text of its field `text`, `content` or
//! `memory`, or else its JSON.

mod paths;

use chrono::Utc;
use htm_core::Result;
use serde_json::{Map, Value, json};

use crate::foreign::{Foreign, Item, Left, Model, Why};
use crate::line::sha256;
use crate::postgres::{Database, Row};
use crate::tables::{Part, Tables, Vectors};
use crate::{SourceOptions, json};

/// The kinds of the memories of an item, and the field of their metadata, as in the client.
const HEAD: &str = "langgraph_item";
const PART: &str = "langgraph_part";
const NOTE: &str = "langgraph";
/// The largest note with the value, and the largest fields in it. The text of a larger item is its JSON.
const MAX_NOTE: usize = 60 << 10;
const MAX_FIELDS: usize = 32 << 10;
/// The longest text and the largest number that the server compares as the client does.
const MAX_TEXT: usize = 256;
const MAX_WHOLE: f64 = 9_007_199_254_740_992.0;
/// The longest key that stays as it is.
const MAX_KEY: usize = 500;

pub(crate) async fn open(url: &str, options: &SourceOptions) -> Result<Tables<()>> {
    let mut database = Database::open(url).await?;
    database
        .expect("LangGraph's store", "store", &["prefix", "key", "value", "created_at", "updated_at"])
        .await?;
    let (mut of_model, mut vectors) = (Vectors::default(), "'[]'::jsonb");
    if database.has("store_vectors").await? {
        let table = "LangGraph's store";
        database.expect(table, "store_vectors", &["prefix", "key", "field_name", "embedding"]).await?;
        let dimensions = database
            .number("select vector_dims(embedding)::bigint from store_vectors where embedding is not null limit 1")
            .await?;
        // The name that the client's store gives the model of its vectors.
        let named = |dimensions: usize| Model {
            provider: htm_core::provider::CALLER.into(),
            name: format!("langgraph-{dimensions}"),
            dimensions,
        };
        let found = dimensions.and_then(|it| usize::try_from(it).ok());
        let named = options.model.clone().or_else(|| found.map(named));
        of_model = Vectors::of(dimensions, named.as_ref())?;
        vectors = "(select coalesce(jsonb_agg(jsonb_build_object('field', v.field_name, 'vector', v.embedding::real[])
                                              order by v.field_name), '[]')
                      from store_vectors v where v.prefix = s.prefix and v.key = s.key and v.embedding is not null)";
    }
    let sql = format!(
        "select (to_jsonb(s) - 'value' || jsonb_build_object('vectors', {vectors}))::text, s.value::text, null::real[]
           from store s order by s.created_at, s.prefix, s.key"
    );
    let part = Part { subject: "item", sql, items: |(), row| items(row) };
    Ok(Tables::new(database, vec![part], (), of_model))
}

fn items(row: &Row) -> Vec<Item> {
    let field = |name: &str| row.field(name).as_str().unwrap_or_default();
    let (prefix, key) = (field("prefix"), field("key"));
    let left = |why| vec![Item::Left(Left::new("item", format!("{prefix} {key}"), why))];
    let exact = row.exact.as_deref().unwrap_or_default();
    let Ok(value) = serde_json::from_str::<Value>(exact) else { return left(Why::Unreadable) };
    let Some(object) = value.as_object() else { return left(Why::Unreadable) };
    let expires_at = row.time("expires_at");
    if expires_at.is_some_and(|end| end <= Utc::now()) {
        return left(Why::Expired);
    }
    let fields = fields(object);
    if fields.to_string().len() > MAX_FIELDS {
        return left(Why::TooLarge);
    }
    let texts = texts(&value, row);
    let in_htm = key_of(key);
    let mut note = json!({"key": json!(key).to_string(), "parts": texts.len().saturating_sub(1), "fields": fields,
                          "value": exact});
    let is_large = note.to_string().len() > MAX_NOTE;
    if let Some(note) = note.as_object_mut().filter(|_| is_large) {
        note.remove("value");
    }
    let ttl = row.number("ttl_minutes").filter(|minutes| *minutes > 0 && expires_at.is_some());
    let memory = |text: &str| Foreign {
        text: if text.trim().is_empty() { exact.into() } else { text.into() },
        owner: prefix.split('.').map(str::to_owned).collect(),
        session: Some(in_htm.clone()),
        metadata: Map::from_iter([(NOTE.to_owned(), note.clone())]),
        at: row.time("created_at"),
        updated_at: row.time("updated_at"),
        // The time of the last put is that of an item.
        remembered_at: row.time("updated_at"),
        expires_at,
        ttl_seconds: ttl.map(|minutes| minutes * 60),
        ..Foreign::default()
    };
    let memory = |text: &str| memory(text).keeping_times(row.object(), &["created_at", "updated_at"]);
    let (first, further) = match texts.split_first() {
        Some((first, further)) => (Some(first), further),
        None => (None, &[][..]),
    };
    let said = first.map(|it| it.text.as_str()).or_else(|| said(&value)).filter(|_| !is_large);
    let head = Foreign {
        key: Some(in_htm.clone()),
        id: key.into(),
        kind: Some(HEAD.into()),
        vector: first.map(|it| it.vector.clone()),
        ..memory(said.unwrap_or(exact))
    };
    let part = |it: &Indexed| Foreign {
        id: format!("part:{}", sha256(&format!("{key}\0{}", it.field))),
        kind: Some(PART.into()),
        vector: Some(it.vector.clone()),
        ..memory(&it.text)
    };
    let memories = std::iter::once(head).chain(further.iter().map(part));
    memories.map(|it| Item::Memory(Box::new(it))).collect()
}

/// A text of an item with its vector.
struct Indexed {
    field: String,
    text: String,
    vector: Vec<f32>,
}

/// The texts that have a vector, each once. A vector of zeros is near to nothing, and one of a former value has no text.
fn texts(value: &Value, row: &Row) -> Vec<Indexed> {
    let mut texts: Vec<Indexed> = Vec::new();
    for saved in row.field("vectors").as_array().into_iter().flatten() {
        let Some(field) = saved.get("field").and_then(Value::as_str) else { continue };
        let numbers = json::list(saved, "vector").iter().filter_map(Value::as_f64);
        let vector: Vec<f32> = numbers.map(|it| it as f32).collect();
        let Some(text) = paths::text_of(value, field) else { continue };
        if vector.iter().any(|it| *it != 0.0) && !texts.iter().any(|it| it.text == text) {
            texts.push(Indexed { field: field.into(), text, vector });
        }
    }
    texts
}

/// The text of an item that nobody chose one of.
fn said(value: &Value) -> Option<&str> {
    ["text", "content", "memory"].iter().find_map(|name| json::text(value, name))
}

/// The key in HTM: one sign and the key, or the hash of one that is no key there.
fn key_of(key: &str) -> String {
    match key.len() <= MAX_KEY && key.chars().all(is_printable) {
        true => format!("={key}"),
        false => format!("#{}", sha256(key)),
    }
}

/// Whether Python prints a character as it is. So does Rust, but for quotes and backslashes.
fn is_printable(c: char) -> bool {
    // After a letter, a combining character is no exception.
    !c.is_control() && !format!("a{c}").escape_debug().to_string().starts_with("a\\u{")
}

/// The fields that the server can compare.
fn fields(value: &Map<String, Value>) -> Value {
    let is_short = |text: &str| text.chars().count() <= MAX_TEXT && !text.contains('\0');
    let is_plain = |value: &Value| match value {
        Value::Null | Value::Bool(_) => true,
        Value::Number(number) => number.as_f64().is_some_and(|it| it.abs() < MAX_WHOLE),
        Value::String(text) => is_short(text),
        Value::Array(_) | Value::Object(_) => false,
    };
    let plain = value.iter().filter(|(name, value)| is_short(name) && is_plain(value));
    Value::Object(plain.map(|(name, value)| (name.clone(), value.clone())).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(value: &str, fields: Value) -> Row {
        let mut row = json!({"prefix": "users.mara", "key": "style", "created_at": "2026-03-01T12:00:00+00:00",
                             "updated_at": "2026-03-02T12:00:00+00:00", "expires_at": null, "vectors": []});
        for (name, field) in fields.as_object().into_iter().flatten() {
            row[name] = field.clone();
        }
        Row { fields: Some(row), exact: Some(value.into()), vector: None }
    }

    fn memories(row: &Row) -> Vec<Foreign> {
        let memory = |item| match item {
            Item::Memory(memory) => *memory,
            Item::Left(left) => panic!("{left:?}"),
        };
        items(row).into_iter().map(memory).collect()
    }

    #[test]
    fn an_item_is_a_memory_for_each_vector() {
        let vectors = json!([
            {"field": "lines[*].0", "vector": [0.5, 0.25]}, {"field": "lines[*].1", "vector": [1, 0]},
            {"field": "title", "vector": [0.0, 0.0]}, {"field": "gone", "vector": [1, 1]},
        ]);
        let value = r#"{"title": "Notes", "lines": ["a", "b"], "rank": 10000000000000000000000}"#;
        let found = memories(&row(value, json!({"vectors": vectors})));
        let [head, part] = &found[..] else { panic!("{found:?}") };
        assert_eq!((head.text.as_str(), head.kind.as_deref()), ("a", Some(HEAD)));
        assert_eq!((part.text.as_str(), part.kind.as_deref()), ("b", Some(PART)));
        assert_eq!((head.key.as_deref(), head.session.as_deref()), (Some("=style"), Some("=style")));
        assert_eq!((part.key.as_deref(), part.session.as_deref()), (None, Some("=style")));
        assert_eq!(head.owner, ["users", "mara"]);
        assert_eq!((&head.vector, &part.vector), (&Some(vec![0.5, 0.25]), &Some(vec![1.0, 0.0])));
        let note = &head.metadata[NOTE];
        // The value is what the database has, to the digit.
        assert_eq!((&note["value"], &note["parts"]), (&json!(value), &json!(1)));
        assert_eq!(note["fields"], json!({"title": "Notes"}));
        assert!(head.at < head.remembered_at && head.remembered_at == head.updated_at);
    }

    #[test]
    fn an_item_without_vectors_has_the_text_of_a_field_or_its_json() {
        for (value, text) in [
            (r#"{"content": "c", "memory": "m"}"#, "c"),
            (r#"{"memory": "m", "text": " "}"#, "m"),
            (r#"{"text": 7}"#, r#"{"text": 7}"#),
            ("{}", "{}"),
        ] {
            assert_eq!(memories(&row(value, json!({})))[0].text, text);
        }
        let large = json!({"text": "t", "body": "x".repeat(MAX_NOTE)}).to_string();
        let found = memories(&row(&large, json!({})));
        assert_eq!(found[0].text, large);
        assert!(found[0].metadata[NOTE].get("value").is_none());
    }

    #[test]
    fn what_does_not_come_has_a_reason() {
        let why = |value: &str, fields| match &items(&row(value, fields))[..] {
            [Item::Left(left)] => left.why,
            other => panic!("{other:?}"),
        };
        assert_eq!(why("[]", json!({})), Why::Unreadable);
        assert_eq!(why("{\"a\": 1e999}", json!({})), Why::Unreadable);
        assert_eq!(
            why("{}", json!({"expires_at": "2020-01-01T00:00:00+00:00", "ttl_minutes": 1})),
            Why::Expired
        );
        let many: Map<String, Value> = (0..200).map(|n| (format!("f{n}"), json!("x".repeat(250)))).collect();
        assert_eq!(why(&Value::Object(many).to_string(), json!({})), Why::TooLarge);
    }

    #[test]
    fn a_key_is_that_of_the_client() {
        for plain in ["a b", "ß📝", "e\u{301}", "'\"\\", "=", ""] {
            assert_eq!(key_of(plain), format!("={plain}"));
        }
        for other in ["a\u{a0}b", "a\u{200b}", "\u{2028}", "\t", "\u{e000}", &"k".repeat(501)] {
            assert_eq!(key_of(other), format!("#{}", sha256(other)), "{other:?}");
        }
    }
}
