//! OpenMemory: its SQLite database.

use std::path::PathBuf;

use rusqlite::Connection;
use serde_json::json;
use tempfile::TempDir;

use crate::Import;

/// The tables that its models declare; the file says where it was read.
const SCHEMA: &str = include_str!("../../../crates/htm-sources/src/openmemory/schema.sql");

/// A database with two users, an application each, a category, and memories with the states of the given numbers.
fn database(dir: &TempDir, memories: u32) -> PathBuf {
    let path = dir.path().join("openmemory.db");
    let database = Connection::open(&path).unwrap();
    database.execute_batch(SCHEMA).unwrap();
    let rows = format!(
        "insert into users (id, user_id) values (printf('%032x', 1), 'mara'), (printf('%032x', 2), 'ben');
         insert into apps (id, owner_id, name)
             values (printf('%032x', 1), printf('%032x', 1), 'cursor'), (printf('%032x', 2), printf('%032x', 2), 'claude');
         insert into categories (id, name) values (printf('%032x', 9), 'Work Habits');
         with recursive t(n) as (select 1 union all select n + 1 from t where n < {memories})
         insert into memories (id, user_id, app_id, content, metadata, state, created_at, updated_at)
         select printf('%032x', n), printf('%032x', 1 + n % 2), printf('%032x', 1 + n % 2), 'Memory number ' || n,
                '{{\"mcp_client\": \"x\"}}',
                case n when 2 then 'paused' when 3 then 'archived' when 4 then 'deleted' else 'active' end,
                '2025-06-01 10:00:00.250000', '2025-06-02 10:00:00.000000'
           from t;
         insert into memory_categories values (printf('%032x', 1), printf('%032x', 9));"
    );
    database.execute_batch(&rows).unwrap();
    path
}

#[tokio::test]
async fn active_memories_come_once() {
    let dir = TempDir::new().unwrap();
    let import = Import::of("openmemory", &database(&dir, 8)).await;
    let report = import.twice(5).await;
    assert_eq!(report["namespaces"], json!({"openmemory/ben": 3, "openmemory/mara": 2}));
    assert_eq!(report["left_count"], 3);
    let key = "openmemory:00000000-0000-0000-0000-000000000001";
    let memory = import.memory("openmemory/ben", key).await;
    let expected = json!({
        "content": "Memory number 1", "robot": "claude", "tags": ["work-habit"], "metadata": {"mcp_client": "x"},
        "created_at": "2025-06-01T10:00:00.250Z",
    });
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(&memory[name], value, "{name}");
    }
    insta::assert_snapshot!("dry_run", import.said(&["--dry-run"]).await);
}

#[tokio::test]
async fn a_database_of_something_else_is_refused_with_what_it_has() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("other.db");
    Connection::open(&path).unwrap().execute_batch("create table notes (id, text)").unwrap();
    let import = Import::of("openmemory", &path).await;
    let answer = import.run(&["--dry-run"]).await;
    let said = answer.fails(2, "source_unrecognised");
    assert!(said.contains("has no table `memories`, but the tables notes"), "{said}");
}

#[tokio::test]
async fn an_import_that_was_killed_is_resumed() {
    let dir = TempDir::new().unwrap();
    Import::of("openmemory", &database(&dir, 3_003)).await.resumes(3_000).await;
}
