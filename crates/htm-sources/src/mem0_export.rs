//! The memories that mem0's REST API returns (`GET /memories`, or `get_all` of its clients), saved as a file of JSON: a
//! list, or an object with the list `results`.
//!
//! A memory may have its `history`, as `GET /memories/ID/history` returns it: its former texts come.

use htm_core::Result;
use serde_json::{Map, Value};

use crate::export::{Export, Kind};
use crate::foreign::{Foreign, Former, Item, Left, Why};
use crate::postgres::name_of;
use crate::{Counts, files, json, mem0};

const KIND: Kind = Kind { subject: "memory", lists: &["results", "memories"], read };

pub(crate) fn open(location: &str) -> Result<Export> {
    let wanted = |name: &str| name.ends_with(".json");
    Ok(Export::new(KIND, files::parts(location, "file of JSON", wanted)?))
}

/// Reads a memory.
fn read(memory: &Value, counts: &mut Counts) -> std::result::Result<Vec<Item>, String> {
    let Some(text) = memory.get("memory").and_then(Value::as_str) else {
        return Err(format!("has no text `memory`, but {}", json::fields(memory)));
    };
    let Some(id) = json::text(memory, "id") else {
        return Err(format!("has no `id`, but {}", json::fields(memory)));
    };
    *counts.entry("memory").or_default() += 1;
    if text.trim().is_empty() {
        return Ok(vec![Item::Left(Left::new("memory", id, Why::Empty))]);
    }
    let expires_at = mem0::expiry(memory);
    if mem0::has_expired(expires_at) {
        return Ok(vec![Item::Left(Left::new("memory", id, Why::Expired))]);
    }
    let whose = match mem0::Whose::of(memory) {
        Ok(whose) => whose,
        Err(what) => {
            return Ok(vec![Item::Left(Left::new("memory", id, Why::Unreadable).detail(what))]);
        }
    };
    let mut metadata: Map<String, Value> =
        memory.get("metadata").and_then(Value::as_object).cloned().unwrap_or_default();
    // Fields of mem0's platform.
    json::keep(&mut metadata, "app_id", memory.get("app_id"));
    let name = |field: &str| memory.get(field).and_then(name_of);
    let speaker = name("actor_id").or_else(|| name("role"));
    let role = memory.get("role").filter(|role| role.as_str() != speaker.as_deref());
    json::keep(&mut metadata, "role", role);
    let (at, updated_at) = (json::time(memory, "created_at"), json::time(memory, "updated_at"));
    let mut tags = mem0::categories(memory);
    // The server of mem0 returns them with the rest of the payload.
    let own = memory.get("metadata").map(mem0::categories).unwrap_or_default();
    if !own.is_empty() {
        metadata.remove("categories");
        tags.extend(own);
    }
    let found = Foreign {
        id: id.into(),
        text: text.into(),
        owner: whose.user.into_iter().collect(),
        robot: whose.agent,
        speaker,
        session: whose.run,
        tags,
        metadata,
        at,
        updated_at,
        expires_at,
        former: former(memory, text),
        ..Foreign::default()
    };
    Ok(vec![Item::Memory(Box::new(found.keeping_times(memory, mem0::TIMES)))])
}

/// The texts that a memory had before the one that it has.
fn former(memory: &Value, text: &str) -> Vec<Former> {
    let changes = json::list(memory, "history").iter();
    let written = changes.filter_map(|change| {
        let text = json::text(change, "new_memory")?;
        let at = json::time(change, "updated_at").or(json::time(change, "created_at"))?;
        Some(Former { text: text.into(), at })
    });
    let mut texts: Vec<Former> = written.collect();
    texts.sort_by_key(|it| it.at);
    texts.dedup_by(|later, earlier| later.text == earlier.text);
    if texts.last().is_some_and(|last| last.text == text) {
        texts.pop();
    }
    texts
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::testing::{is_read_or_refused, left, memories, read_all};

    /// The fields are those of `Memory.get_all` and `Memory.history` in mem0/memory/main.py.
    fn export() -> Value {
        json!({"relations": [], "results": [
            {"id": "m1", "memory": "Mara prefers spaces.", "hash": "abc", "metadata": {"ticket": 7},
             "user_id": "mara", "agent_id": "planner", "run_id": "r1", "actor_id": null, "role": "user",
             "created_at": "2025-06-01T03:00:00-07:00", "updated_at": "2025-06-02T03:00:00-07:00",
             "categories": ["Editors"],
             "history": [
                {"memory_id": "m1", "old_memory": "Mara prefers tabs.", "new_memory": "Mara prefers spaces.",
                 "event": "UPDATE", "created_at": "2025-06-01T03:00:00-07:00", "updated_at": "2025-06-02T03:00:00-07:00"},
                {"memory_id": "m1", "old_memory": null, "new_memory": "Mara prefers tabs.", "event": "ADD",
                 "created_at": "2025-06-01T03:00:00-07:00", "updated_at": null}]},
            {"id": "m2", "memory": "No user.", "metadata": {"categories": ["Staff"]}, "actor_id": "ada",
             "expiration_date": "2999-12-31"},
            {"id": "m3", "memory": " "},
            {"id": 4, "memory": "A number."},
            {"id": "m5", "memory": "It was true for a while.", "expiration_date": "2020-01-01"},
        ]})
    }

    #[tokio::test]
    async fn users_agents_runs_and_former_texts_come() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), export().to_string()).unwrap();
        let (items, counts) = read_all(&mut open(file.path().to_str().unwrap()).unwrap()).await;
        assert_eq!(counts.unwrap()["memory"], 4);
        let [first, second] = memories(&items)[..] else { panic!("{items:?}") };
        assert_eq!((&first.owner[..], first.robot.as_deref()), (&["mara".to_owned()][..], Some("planner")));
        assert_eq!((first.session.as_deref(), first.speaker.as_deref()), (Some("r1"), Some("user")));
        assert_eq!(first.at, Some("2025-06-01T10:00:00Z".parse().unwrap()));
        let at = "2025-06-01T10:00:00Z".parse().unwrap();
        assert_eq!(first.former, [Former { text: "Mara prefers tabs.".into(), at }]);
        assert_eq!(first.metadata["ticket"], 7);
        assert!(second.owner.is_empty());
        assert_eq!(second.speaker.as_deref(), Some("ada"));
        assert_eq!(
            (&first.tags[..], &second.tags[..]),
            (&["Editors".to_owned()][..], &["Staff".to_owned()][..])
        );
        assert!(second.metadata.is_empty());
        assert_eq!(second.expires_at, Some("3000-01-01T00:00:00Z".parse().unwrap()));
        let expected = [
            ("memory", "m3", Why::Empty),
            ("memory", "m5", Why::Expired),
            ("memory", "number 4", Why::Unreadable),
        ];
        assert_eq!(left(&items), expected);
    }

    #[tokio::test]
    async fn numbers_of_users_agents_and_runs_hold_them_apart() {
        let export = json!([
            {"id": "m1", "memory": "t", "user_id": 42, "agent_id": 7, "run_id": 9},
            {"id": "m2", "memory": "t", "user_id": {"name": "mara"}},
        ]);
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), export.to_string()).unwrap();
        let (items, _) = read_all(&mut open(file.path().to_str().unwrap()).unwrap()).await;
        let [memory] = memories(&items)[..] else { panic!("{items:?}") };
        assert_eq!(memory.owner, ["42"]);
        assert_eq!((memory.robot.as_deref(), memory.session.as_deref()), (Some("7"), Some("9")));
        assert_eq!(left(&items), [("memory", "m2", Why::Unreadable)]);
    }

    #[tokio::test]
    async fn a_time_is_read_in_milliseconds_too_or_kept_as_it_is() {
        let export = json!([
            {"id": "m1", "memory": "t", "created_at": 1_735_689_600_000_i64},
            {"id": "m2", "memory": "t", "created_at": "01/02/2025 10:00", "updated_at": null, "expiration_date": ""},
        ]);
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), export.to_string()).unwrap();
        let (items, _) = read_all(&mut open(file.path().to_str().unwrap()).unwrap()).await;
        let [read, kept] = memories(&items)[..] else { panic!("{items:?}") };
        assert_eq!((read.at, read.unread_times), (Some("2025-01-01T00:00:00Z".parse().unwrap()), 0));
        assert_eq!((kept.at, kept.unread_times), (None, 1));
        assert_eq!(Value::Object(kept.metadata.clone()), json!({"created_at": "01/02/2025 10:00"}));
    }

    proptest! {
        #[test]
        fn a_broken_export_has_a_code(place in 0usize..60, kind in 0usize..6, cut in 0usize..2_000) {
            is_read_or_refused(|location| Ok(Box::new(open(location)?)), export(), place, kind, cut);
        }
    }
}
