//! LangGraph's store.

use htm_tests::TestDatabase;
use serde_json::{Value, json};

use super::{foreign, import_of, vectors, with_model};

const SQL: &str = include_str!("fixtures/langgraph.sql");

#[tokio::test]
async fn items_come_as_the_store_of_the_client_writes_them() {
    let langgraph = foreign(SQL).await;
    let import = import_of("langgraph", &langgraph).await;
    let model = with_model(&import, "openai", "another").await;
    // An item with three vectors is three memories.
    let report = import.twice(6).await;
    assert_eq!(
        report["namespaces"],
        json!({"langgraph/shared": 2, "langgraph/users/mara": 1, "langgraph/users/t%2Fm %25": 3})
    );
    assert_eq!((&report["read"], &report["left"][0]["why"]), (&json!({"item": 5}), &json!("expired")));
    assert_eq!(
        (&report["vectors"]["model"], &report["vectors"]["taken"]),
        (&json!("caller/langgraph-4"), &json!(4))
    );
    let expected =
        ["Mara prefers tabs. [1,0,0,0]", "Notes [0,0,0,1]", "ledger [0,0,1,0]", "night build [0,1,0,0]"];
    assert_eq!(vectors(&import, model + 1).await, expected);
    let item = import.memory("langgraph/users/mara", "=style").await;
    assert_eq!((&item["session"], &item["type"]), (&json!("=style"), &json!("langgraph_item")));
    assert_eq!(item["metadata"]["langgraph"]["fields"], json!({"rank": 3, "text": "Mara prefers tabs."}));
    let value: Value =
        serde_json::from_str(item["metadata"]["langgraph"]["value"].as_str().unwrap()).unwrap();
    assert_eq!(value, json!({"rank": 3, "text": "Mara prefers tabs."}));
    assert_eq!(
        (&item["created_at"], &item["first_remembered"]),
        (&json!("2026-03-01T12:00:00Z"), &json!("2026-03-02T12:00:00Z"))
    );
    let plain = import.memory("langgraph/shared", "=plain").await;
    assert_eq!(plain["content"], "Nothing looks for it.");
    let later = import.memory("langgraph/shared", "=later").await;
    assert_eq!(
        (&later["expires_at"], &later["ttl_seconds"]),
        (&json!("2999-03-01T15:00:00Z"), &json!(86_400))
    );
    insta::assert_snapshot!("dry_run", import.said(&["--dry-run"]).await);
}

#[tokio::test]
async fn a_value_that_changed_beside_its_text_counts_as_changed() {
    let langgraph = foreign(SQL).await;
    let import = import_of("langgraph", &langgraph).await;
    assert_eq!(import.report(&[]).await["written"], 6);
    let changed =
        "update store set value = value || '{\"rank\": 4}', updated_at = '2026-03-05Z' where key = 'style'";
    sqlx::raw_sql(changed).execute(&langgraph.pool).await.unwrap();
    let report = import.report(&[]).await;
    assert_eq!((&report["existing"], &report["changed"]), (&json!(5), &json!(["=style"])), "{report}");
}

#[tokio::test]
async fn its_model_does_not_become_the_first_of_htm() {
    let langgraph = foreign(SQL).await;
    let import = import_of("langgraph", &langgraph).await;
    let said = import.said(&["--dry-run"]).await;
    assert!(
        said.contains("caller/langgraph-4 (4 numbers): left out: HTM has no embedding model yet"),
        "{said}"
    );
    let report = import.twice(6).await;
    let expected = json!({"model": "caller/langgraph-4", "dimensions": 4, "is_in_use": false, "has_model": false,
                          "taken": 0});
    assert_eq!(report["vectors"], expected);
    assert_eq!(import.db.count("select count(*) from htm.embedding_models").await, 0);
}

#[tokio::test]
async fn a_store_without_an_index_is_read() {
    let langgraph: TestDatabase = foreign(SQL).await;
    sqlx::raw_sql("drop table store_vectors").execute(&langgraph.pool).await.unwrap();
    let import = import_of("langgraph", &langgraph).await;
    let report = import.report(&["--namespace", "old/graph"]).await;
    assert_eq!((&report["written"], &report["vectors"]), (&json!(4), &Value::Null), "{report}");
    let item = import.memory("old/graph/users/t%2Fm %25", "=both").await;
    assert_eq!(item["content"], r#"{"lines": ["night build", "ledger"], "title": "Notes"}"#);
}
