//! Letta's database: blocks of core memory, archival passages with their vectors, and messages.
//!
//! Vectors are padded with zeros to 4,096 numbers, and each passage names its model.

mod messages;

use htm_core::Result;
use serde_json::Value;

use crate::foreign::{Foreign, Former, Item, Left, Model, Why};
use crate::postgres::{Database, Row, name_of, unpadded};
use crate::tables::{Part, Tables, Vectors};
use crate::{SourceOptions, json};

/// The fields that all rows share.
pub(crate) struct Context {
    /// The model of the vectors that are taken.
    model: Option<Model>,
    /// Whether the user named it: then the length of a vector decides.
    is_named: bool,
}

pub(crate) async fn open(url: &str, options: &SourceOptions) -> Result<Tables<Context>> {
    let mut database = Database::open(url).await?;
    let what = "Letta";
    for (table, columns) in [
        ("organizations", &["id", "name"][..]),
        ("agents", &["id", "name", "created_at"]),
        ("block", &["id", "label", "value", "organization_id", "created_at"]),
        ("blocks_agents", &["agent_id", "block_id"]),
        ("archival_passages", &["id", "text", "embedding", "embedding_config", "archive_id", "created_at"]),
        ("archives", &["id", "name"]),
        ("archives_agents", &["agent_id", "archive_id", "is_owner"]),
        ("messages", &["id", "role", "content", "agent_id", "sequence_id", "created_at"]),
    ] {
        database.expect(what, table, columns).await?;
    }
    let model = match &options.model {
        Some(model) => Some(model.clone()),
        None => usual_model(&mut database).await?,
    };
    let vector = if model.is_some() { "t.embedding::real[]" } else { "null::real[]" };
    let mut parts = vec![
        Part { subject: "block", sql: blocks(&mut database).await?, items: |_, row| vec![block(row)] },
        Part {
            subject: "passage",
            sql: passages(
                "archival_passages",
                "(select a.name from archives_agents l join agents a on a.id = l.agent_id
                   where l.archive_id = t.archive_id order by l.is_owner desc, a.created_at, a.id limit 1)",
                "(select a.name from archives a where a.id = t.archive_id)",
                vector,
            ),
            items: |context, row| vec![passage(context, row, "archival_passage")],
        },
    ];
    if database.has("source_passages").await? && database.has("sources_agents").await? {
        let sql = passages(
            "source_passages",
            "(select a.name from sources_agents l join agents a on a.id = l.agent_id
               where l.source_id = t.source_id order by a.created_at, a.id limit 1)",
            "null::text",
            vector,
        );
        parts.push(Part {
            subject: "passage of a file",
            sql,
            items: |context, row| vec![passage(context, row, "file_passage")],
        });
    }
    parts.push(Part {
        subject: "message",
        sql: messages::statement(&mut database).await?,
        items: |_, row| vec![messages::item(row)],
    });
    let context = Context { model: model.clone(), is_named: options.model.is_some() };
    Ok(Tables::new(database, parts, context, Vectors { model, unnamed: None }))
}

/// The model of most passages.
async fn usual_model(database: &mut Database) -> Result<Option<Model>> {
    let configs = "select embedding_config::jsonb::text from archival_passages
                    where embedding is not null and embedding_config is not null
                    group by 1 order by count(*) desc, 1 limit 1";
    let config = database.scalars(configs).await?.into_iter().next();
    Ok(config.and_then(|config| model_of(&serde_json::from_str(&config).ok()?)))
}

/// The model that an embedding configuration names.
fn model_of(config: &Value) -> Option<Model> {
    let dimensions = config.get("embedding_dim")?.as_u64().and_then(|it| usize::try_from(it).ok());
    Some(Model {
        provider: json::text(config, "embedding_endpoint_type")?.into(),
        name: json::text(config, "embedding_model")?.into(),
        dimensions: dimensions?,
    })
}

async fn blocks(database: &mut Database) -> Result<String> {
    let columns = database.columns("block").await?;
    // The entry of the present text is none of a former one, and those after it were undone.
    let history = match database.has("block_history").await? && columns.iter().any(|it| it == "current_history_entry_id") {
        true => {
            "(select jsonb_agg(jsonb_build_object('value', h.value, 'at', h.created_at) order by h.sequence_number)
                from block_history h left join block_history c on c.id = t.current_history_entry_id
               where h.block_id = t.id and (c.id is null or h.sequence_number < c.sequence_number))"
        }
        false => "null::jsonb",
    };
    Ok(format!(
        "select (to_jsonb(t) || jsonb_build_object('former', {history}, 'agents',
                    (select jsonb_agg(a.name order by a.created_at, a.id)
                       from blocks_agents l join agents a on a.id = l.agent_id where l.block_id = t.id)))::text,
                null::text, null::real[]
           from block t order by t.created_at, t.id"
    ))
}

fn passages(table: &str, robot: &str, archive: &str, vector: &str) -> String {
    format!(
        "select (to_jsonb(t) - 'embedding' || jsonb_build_object('agent', {robot}, 'archive', {archive}))::text,
                null::text, {vector}
           from {table} t order by t.created_at, t.id"
    )
}

fn block(row: &Row) -> Item {
    let id = row.name("id").unwrap_or_default();
    let left = |why| Item::Left(Left::new("block", id.as_str(), why));
    if row.is("is_deleted") {
        return left(Why::Deleted);
    }
    if row.is("is_template") {
        return left(Why::Template);
    }
    let Some(text) = row.text("value") else { return left(Why::Empty) };
    let agents: Vec<String> =
        row.field("agents").as_array().into_iter().flatten().filter_map(name_of).collect();
    let mut memory =
        Foreign { kind: Some("block".into()), former: former(row, text), ..common(row, &id, text) };
    memory.robot = agents.first().cloned();
    for (name, value) in [("label", row.field("label")), ("description", row.field("description"))] {
        json::keep(&mut memory.metadata, name, Some(value));
    }
    if agents.len() > 1 {
        memory.metadata.insert("agents".into(), agents.into());
    }
    Item::Memory(Box::new(memory))
}

/// The former texts of a block, each once.
fn former(row: &Row, text: &str) -> Vec<Former> {
    let mut former: Vec<Former> = Vec::new();
    for entry in row.field("former").as_array().into_iter().flatten() {
        let (Some(text), Some(at)) = (json::text(entry, "value"), json::time(entry, "at")) else { continue };
        if former.last().is_none_or(|last| last.text != text) {
            former.push(Former { text: text.into(), at });
        }
    }
    if former.last().is_some_and(|last| last.text == text) {
        former.pop();
    }
    former
}

fn passage(context: &Context, row: &Row, kind: &str) -> Item {
    let id = row.name("id").unwrap_or_default();
    let left = |why| Item::Left(Left::new("passage", id.as_str(), why));
    if row.is("is_deleted") {
        return left(Why::Deleted);
    }
    let Some(text) = row.text("text") else { return left(Why::Empty) };
    let mut memory = Foreign {
        kind: Some(kind.into()),
        robot: row.name("agent"),
        source: row.name("file_name"),
        tags: row.field("tags").as_array().into_iter().flatten().filter_map(name_of).collect(),
        vector: vector(context, row),
        ..common(row, &id, text)
    };
    json::keep(&mut memory.metadata, "archive", Some(row.field("archive")));
    Item::Memory(Box::new(memory))
}

/// The vector without its padding, if it is of the model whose vectors are taken.
fn vector(context: &Context, row: &Row) -> Option<Vec<f32>> {
    let model = context.model.as_ref()?;
    let own = model_of(row.field("embedding_config"))?;
    let fits = own.dimensions == model.dimensions && (context.is_named || own == *model);
    unpadded(row.vector.clone()?, model.dimensions).filter(|_| fits)
}

/// The fields that all kinds of rows have.
fn common(row: &Row, id: &str, text: &str) -> Foreign {
    Foreign {
        id: id.into(),
        text: text.into(),
        // An organization may get another name.
        owner: row.name("organization_id").into_iter().collect(),
        metadata: row.field("metadata_").as_object().cloned().unwrap_or_default(),
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
        Row { fields: Some(fields), exact: None, vector: Some(vec![0.5, 1.0, 0.0, 0.0]) }
    }

    fn context(is_named: bool) -> Context {
        let model = Model { provider: "openai".into(), name: "small".into(), dimensions: 2 };
        Context { model: Some(model), is_named }
    }

    fn memory(item: Item) -> Foreign {
        match item {
            Item::Memory(memory) => *memory,
            Item::Left(left) => panic!("{left:?}"),
        }
    }

    #[test]
    fn a_vector_is_taken_if_it_is_of_the_model() {
        let config = |name: &str, dimensions: u64| json!({"embedding_endpoint_type": "openai", "embedding_model": name, "embedding_dim": dimensions});
        let found = |is_named, config| {
            let row = row(json!({"id": "passage-1", "text": "t", "embedding_config": config}));
            memory(passage(&context(is_named), &row, "passage")).vector
        };
        assert_eq!(found(false, config("small", 2)), Some(vec![0.5, 1.0]));
        assert_eq!(found(false, config("large", 2)), None);
        assert_eq!(found(true, config("large", 2)), Some(vec![0.5, 1.0]));
        assert_eq!(found(true, config("small", 3)), None);
        assert_eq!(found(true, Value::Null), None);
    }

    #[test]
    fn a_block_has_its_agents_and_former_texts() {
        let entry = |text: &str| json!({"value": text, "at": "2026-03-01T12:00:00+00:00"});
        let found = memory(block(&row(
            json!({"id": "block-1", "value": "now", "label": "human", "agents": ["ada", "bob"],
            "organization_id": "org-1", "former": [entry("a"), entry("a"), entry(" "), entry("b"), entry("now")]}),
        )));
        assert_eq!(found.former.iter().map(|it| it.text.as_str()).collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!((found.robot.as_deref(), &found.owner[..]), (Some("ada"), &["org-1".to_owned()][..]));
        assert_eq!(Value::Object(found.metadata), json!({"label": "human", "agents": ["ada", "bob"]}));
        for (fields, expected) in [
            (json!({"value": ""}), Why::Empty),
            (json!({"value": "t", "is_template": true}), Why::Template),
            (json!({"value": "t", "is_deleted": true}), Why::Deleted),
        ] {
            assert!(matches!(block(&row(fields)), Item::Left(left) if left.why == expected));
        }
    }
}
