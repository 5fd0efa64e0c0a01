//! The database of HTM in Ruby (the gem `htm`), of release 0.0.1 and of the later ones.
//!
//! A node belonged to one robot first. Later, several robots remembered it, each with a count: the first one has the memory,
//! and the counts are its repeats. Rows are read whole, so that a column that a release lacks is as good as null.

use htm_core::Result;
use serde_json::{Value, json};

use crate::foreign::{Contradiction, Foreign, Item, Left, Model, Recalls, Repeat, Why};
use crate::postgres::{Database, Row, name_of, unpadded};
use crate::tables::{Part, Tables, Vectors};
use crate::{SourceOptions, json};

/// The fields that all nodes share.
pub(crate) struct Context {
    /// The model of the vectors, which the database does not name.
    model: Option<Model>,
}

pub(crate) async fn open(url: &str, options: &SourceOptions) -> Result<Tables<Context>> {
    let mut database = Database::open(url).await?;
    let what = "HTM in Ruby";
    database.expect(what, "nodes", &["id", "created_at", "embedding"]).await?;
    database.expect(what, "robots", &["id", "name"]).await?;
    database.expect(what, "tags", &["id"]).await?;
    // Vectors are padded to 2,000 numbers with zeros: the last other number shows their length.
    let last = "select max(place)::bigint
                  from (select embedding from nodes where embedding is not null limit 100) first_ones,
                       unnest(first_ones.embedding::real[]) with ordinality as numbers(value, place)
                 where value <> 0 having max(place) is not null";
    let vectors = Vectors::of(database.number(last).await?, options.model.as_ref())?;
    let sql = format!(
        "select (to_jsonb(n) - 'embedding' || jsonb_build_object('robots', {}, 'tags', {}, 'file', {}, 'relations', {}, 'contradicted', {}))::text,
                null::text, {}
           from nodes n order by n.created_at, n.id",
        robots(&mut database).await?,
        tags(&mut database).await?,
        match database.has("file_sources").await? {
            true => "(select f.file_path from file_sources f where f.id = n.source_id)",
            false => "null::text",
        },
        match database.has("node_relationships").await? {
            // The others are made from tags that two nodes share.
            true => "(select jsonb_agg(jsonb_build_object('type', e.rel_type, 'to', e.target_id, 'weight', e.weight,
                                                          'at', to_jsonb(e)->'created_at') order by e.id)
                        from node_relationships e where e.source_id = n.id and e.origin = 'explicit')",
            false => "null::jsonb",
        },
        match database.has("node_relationships").await? {
            true => "exists (select from node_relationships e
                              where e.target_id = n.id and e.rel_type = 'contradicts' and e.origin = 'explicit')",
            false => "false",
        },
        vectors.column("n.embedding"),
    );
    let part = Part { subject: "node", sql, items: |context, row| vec![item(context, row)] };
    Ok(Tables::new(database, vec![part], Context { model: vectors.model.clone() }, vectors))
}

/// The robots of a node, the first one first.
async fn robots(database: &mut Database) -> Result<&'static str> {
    Ok(match database.has("robot_nodes").await? {
        true => {
            "(select jsonb_agg(to_jsonb(l) || jsonb_build_object('name', r.name) order by l.first_remembered_at, l.id)
                from robot_nodes l join robots r on r.id = l.robot_id where l.node_id = n.id)"
        }
        false => "(select jsonb_agg(jsonb_build_object('name', r.name, 'robot_id', r.id)) from robots r where r.id = n.robot_id)",
    })
}

async fn tags(database: &mut Database) -> Result<String> {
    // Before the first release a tag was a row of its node.
    if database.columns("tags").await?.iter().any(|column| column == "node_id") {
        return Ok("(select jsonb_agg(t.tag order by t.id) from tags t where t.node_id = n.id)".into());
    }
    let join = if database.has("node_tags").await? { "node_tags" } else { "nodes_tags" };
    Ok(format!(
        "(select jsonb_agg(t.name order by a.id) from {join} a join tags t on t.id = a.tag_id
           where a.node_id = n.id and to_jsonb(a)->>'deleted_at' is null and to_jsonb(t)->>'deleted_at' is null)"
    ))
}

fn item(context: &Context, row: &Row) -> Item {
    let id = row.name("id").unwrap_or_default();
    let left = |why| Item::Left(Left::new("node", id.as_str(), why));
    if !row.field("deleted_at").is_null() {
        return left(Why::Deleted);
    }
    let Some(text) = row.text("content").or_else(|| row.text("value")) else { return left(Why::Empty) };
    let links: Vec<&Value> = row.field("robots").as_array().into_iter().flatten().collect();
    let kept = |link: &&&Value| link.get("deleted_at").is_none_or(Value::is_null);
    let links: Vec<&&Value> = links.iter().filter(kept).collect();
    let metadata = row.field("metadata").as_object().cloned().unwrap_or_default();
    let relations = || row.field("relations").as_array().into_iter().flatten();
    let is_contradiction = |saved: &&Value| saved["type"] == "contradicts";
    let contradicts: Vec<_> =
        relations().filter(is_contradiction).filter_map(|saved| contradiction(row, saved)).collect();
    let importance = row.field("importance").as_f64().or_else(|| metadata.get("importance")?.as_f64());
    let mut memory = Foreign {
        id: id.clone(),
        text: text.into(),
        robot: links.first().map(|link| robot(link)),
        speaker: row.name("speaker"),
        kind: row.name("type"),
        importance: importance.map(|it| it.clamp(1.0, 10.0) as f32),
        source: row.name("file").or_else(|| row.name("source")),
        tags: row.field("tags").as_array().into_iter().flatten().filter_map(name_of).collect(),
        metadata,
        at: row.time("created_at"),
        updated_at: row.time("updated_at"),
        repeats: links.iter().enumerate().filter_map(|(place, link)| repeat(place, link)).collect(),
        recalled: recalls(row),
        is_related: !contradicts.is_empty() || row.field("contradicted") == &json!(true),
        contradicts,
        other_relations: relations().filter(|saved| !is_contradiction(saved)).count() as u64,
        vector: vector(context, row),
        ..Foreign::default()
    }
    .keeping_times(row.object(), &["created_at", "updated_at"]);
    for column in ["key", "category", "chunk_position"] {
        json::keep(&mut memory.metadata, column, Some(row.field(column)));
    }
    let relations: Vec<Value> = relations().map(relation).collect();
    json::keep(&mut memory.metadata, "relations", Some(&Value::Array(relations)));
    Item::Memory(Box::new(memory))
}

fn robot(link: &Value) -> String {
    let named = link.get("name").and_then(name_of);
    let numbered = || format!("robot-{}", link.get("robot_id").and_then(name_of).unwrap_or_default());
    named.unwrap_or_else(numbered)
}

/// How often a robot remembered the node again. The first time of the first robot made it.
fn repeat(place: usize, link: &Value) -> Option<Repeat> {
    let count = link.get("remember_count")?.as_i64()? - i64::from(place == 0);
    let (first_at, last_at) =
        (json::time(link, "first_remembered_at")?, json::time(link, "last_remembered_at")?);
    (count > 0).then(|| Repeat { robot: robot(link), count, first_at, last_at: last_at.max(first_at) })
}

fn recalls(row: &Row) -> Option<Recalls> {
    let count = row.number("access_count").filter(|count| *count > 0)?;
    Some(Recalls { count, last_at: row.time("last_accessed")? })
}

/// The vector without the zeros that fill it up; none if its length is said to be another.
fn vector(context: &Context, row: &Row) -> Option<Vec<f32>> {
    let dimensions = context.model.as_ref()?.dimensions;
    let is_other =
        row.number("embedding_dimension").is_some_and(|said| usize::try_from(said) != Ok(dimensions));
    unpadded(row.vector.clone()?, dimensions).filter(|_| !is_other)
}

/// A relation with the key that the other node has here.
fn relation(saved: &Value) -> Value {
    let to = saved.get("to").and_then(name_of).unwrap_or_default();
    json!({"type": saved.get("type"), "to": format!("htm-ruby:{to}"), "weight": saved.get("weight")})
}

/// A memory that the node contradicts; none if that is the node itself.
fn contradiction(row: &Row, saved: &Value) -> Option<Contradiction> {
    let to = saved.get("to").and_then(name_of).filter(|to| Some(to) != row.name("id").as_ref())?;
    Some(Contradiction { to, at: json::time(saved, "at").or_else(|| row.time("created_at"))? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(fields: Value) -> Row {
        Row { fields: Some(fields), exact: None, vector: Some(vec![0.5, 1.0, 0.0, 0.0]) }
    }

    fn context(dimensions: usize) -> Context {
        Context {
            model: Some(Model { provider: "ollama".into(), name: "nomic-embed-text".into(), dimensions }),
        }
    }

    fn memory(fields: Value) -> Foreign {
        match item(&context(2), &row(fields)) {
            Item::Memory(memory) => *memory,
            Item::Left(left) => panic!("{left:?}"),
        }
    }

    #[test]
    fn a_node_of_several_robots_is_one_memory_with_repeats() {
        let link = |name: &str, count: i64, deleted: Value| {
            json!({"robot_id": 1, "name": name, "remember_count": count, "deleted_at": deleted,
                   "first_remembered_at": "2026-03-01T12:00:00", "last_remembered_at": "2026-03-02T12:00:00"})
        };
        let robots = json!([
            link("gone", 5, json!("2026-03-03T12:00:00")),
            link("ada", 3, Value::Null),
            link("bob", 1, Value::Null)
        ]);
        let found =
            memory(json!({"id": 7, "content": "c", "robots": robots, "tags": ["a:b"], "file": "/notes.md",
            "chunk_position": 2, "metadata": {"importance": 12}, "access_count": 4,
            "last_accessed": "2026-03-04T00:00:00+00:00", "created_at": "2026-03-01T12:00:00+00:00",
            "relations": [{"type": "supports", "to": 9, "weight": 0.5}]}));
        assert_eq!(
            (found.robot.as_deref(), found.importance, found.source.as_deref()),
            (Some("ada"), Some(10.0), Some("/notes.md"))
        );
        let repeats: Vec<_> = found.repeats.iter().map(|it| (it.robot.as_str(), it.count)).collect();
        assert_eq!(repeats, [("ada", 2), ("bob", 1)]);
        assert_eq!(found.recalled.map(|it| it.count), Some(4));
        assert_eq!(found.metadata["relations"][0]["to"], "htm-ruby:9");
        assert_eq!((found.vector, &found.metadata["chunk_position"]), (Some(vec![0.5, 1.0]), &json!(2)));
    }

    #[test]
    fn a_contradiction_is_a_relation_and_the_others_are_counted() {
        let relations = json!([
            {"type": "contradicts", "to": 9, "weight": 1.0, "at": "2026-03-05T12:00:00+00:00"},
            {"type": "contradicts", "to": 7, "weight": 1.0},
            {"type": "derived_from", "to": 9, "weight": 1.0},
        ]);
        let found = memory(json!({"id": 7, "content": "c", "relations": relations}));
        let contradicts: Vec<_> =
            found.contradicts.iter().map(|it| (it.to.as_str(), it.at.to_rfc3339())).collect();
        assert_eq!(
            contradicts,
            [("9", "2026-03-05T12:00:00+00:00".to_owned())],
            "nothing contradicts itself"
        );
        assert_eq!((found.is_related, found.other_relations), (true, 1));
        assert_eq!(found.metadata["relations"].as_array().map(Vec::len), Some(3));
        assert!(memory(json!({"id": 9, "content": "c", "contradicted": true})).is_related);
        assert!(!memory(json!({"id": 9, "content": "c", "contradicted": false})).is_related);
    }

    #[test]
    fn a_time_that_is_none_of_a_calendar_is_kept() {
        let found = memory(json!({"id": 7, "content": "c", "created_at": "infinity", "updated_at": null}));
        assert_eq!((found.at, found.unread_times), (None, 1));
        assert_eq!(found.metadata["created_at"], "infinity");
    }

    #[test]
    fn a_node_of_the_first_release_has_the_robot_of_its_column() {
        let found = memory(
            json!({"id": 7, "value": "v", "key": "k", "speaker": "user", "type": "fact", "source": "chat",
                                  "robots": [{"name": null, "robot_id": 3}], "embedding_dimension": 2}),
        );
        assert_eq!((found.text.as_str(), found.robot.as_deref()), ("v", Some("robot-3")));
        assert_eq!(
            (found.speaker.as_deref(), found.kind.as_deref(), found.source.as_deref()),
            (Some("user"), Some("fact"), Some("chat"))
        );
        assert_eq!((&found.metadata["key"], found.vector.is_some()), (&json!("k"), true));
        assert!(found.repeats.is_empty() && found.recalled.is_none());
        assert_eq!(memory(json!({"id": 7, "content": "v", "embedding_dimension": 3})).vector, None);
        for (fields, expected) in [
            (json!({"id": 7}), Why::Empty),
            (json!({"content": "c", "deleted_at": "2026-03-03"}), Why::Deleted),
        ] {
            assert!(matches!(item(&context(2), &row(fields)), Item::Left(left) if left.why == expected));
        }
    }
}
