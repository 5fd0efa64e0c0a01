//! mem0's table of pgvector.

use serde_json::json;

use super::{foreign, import_of, vectors, with_model};

const SQL: &str = include_str!("fixtures/mem0.sql");

#[tokio::test]
async fn users_agents_runs_and_metadata_come_once() {
    let mem0 = foreign(SQL).await;
    let import = import_of("mem0", &mem0).await;
    let report = import.twice(3).await;
    assert_eq!(report["read"], json!({"memory": 6}));
    assert_eq!(report["namespaces"], json!({"mem0/mara": 2, "mem0/tom%2F2": 1}));
    assert_eq!(report["left_count"], 3);
    let memory = import.memory("mem0/mara", "mem0:00000000-0000-0000-0000-000000000002").await;
    for (name, value) in [
        ("content", json!("Staging is on port 5433.")),
        ("speaker", json!("ada")),
        ("session", json!("run-7")),
        ("created_at", json!("2026-03-01T20:00:00Z")),
        ("metadata", json!({"role": "assistant"})),
    ] {
        assert_eq!(memory[name], value, "{name}");
    }
    let memory = import.memory("mem0/mara", "mem0:00000000-0000-0000-0000-000000000001").await;
    assert_eq!((&memory["robot"], &memory["speaker"]), (&json!("ada"), &json!("user")));
    assert_eq!(memory["metadata"], json!({"category": "style", "rank": 3}));
    insta::assert_snapshot!("dry_run", import.said(&["--dry-run"]).await);
}

#[tokio::test]
async fn vectors_of_a_model_that_the_user_names_are_taken() {
    let mem0 = foreign(SQL).await;
    let import = import_of("mem0", &mem0).await;
    let model = with_model(&import, "openai", "text-embedding-3-small").await;
    let named = ["--model", "openai/text-embedding-3-small"];
    let report = import.report(&named).await;
    assert_eq!((&report["written"], &report["vectors"]["taken"]), (&json!(3), &json!(3)), "{report}");
    let expected = [
        "Mara prefers tabs. [1,0,0,0]",
        "Staging is on port 5433. [0,1,0,0]",
        "The ledger closes at six. [0,0,1,0]",
    ];
    assert_eq!(vectors(&import, model).await, expected);
    // Only the other model has work.
    assert_eq!(import.db.count("select count(*) from apalis.jobs where job_type like 'htm.embed%'").await, 3);
    let again = import.report(&named).await;
    assert_eq!((&again["written"], &again["existing"]), (&json!(0), &json!(3)), "{again}");
    let other = import.run(&["--model", "fake/small"]).await;
    assert!(other.fails(2, "source_model_unfit").contains("4 numbers"), "{other:?}");
}

#[tokio::test]
async fn a_table_of_another_name_is_read() {
    let mem0 = foreign(SQL).await;
    sqlx::raw_sql("alter table mem0 rename to \"Team's memories\"").execute(&mem0.pool).await.unwrap();
    let import = import_of("mem0", &mem0).await;
    let answer = import.run(&["--dry-run"]).await;
    let said = answer.fails(2, "source_unrecognised");
    assert!(said.contains("--table") && said.contains("Team's memories"), "{said}");
    assert_eq!(import.report(&["--table", "Team's memories"]).await["written"], 3);
}

#[tokio::test]
async fn an_import_that_was_killed_is_resumed() {
    let mem0 = foreign(SQL).await;
    let many = "truncate mem0; insert into mem0 select gen_random_uuid(), null, jsonb_build_object('data', 'Number ' || n,
                    'user_id', 'mara', 'created_at', now()) from generate_series(1, 3000) n";
    sqlx::raw_sql(many).execute(&mem0.pool).await.unwrap();
    import_of("mem0", &mem0).await.resumes(3_000).await;
}
