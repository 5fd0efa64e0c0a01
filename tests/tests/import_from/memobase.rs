//! memobase's database.

use serde_json::json;

use super::{foreign, import_of, vectors, with_model};

const SQL: &str = include_str!("fixtures/memobase.sql");
const MARA: &str = "memobase/a0000000-0000-0000-0000-000000000001";

#[tokio::test]
async fn profiles_events_and_blobs_come_once() {
    let memobase = foreign(SQL).await;
    let import = import_of("memobase", &memobase).await;
    let report = import.twice(8).await;
    assert_eq!(report["read"], json!({"blob": 3, "event": 2, "gist": 2, "profile": 2}));
    let shop = "memobase/shop/a0000000-0000-0000-0000-000000000002";
    assert_eq!(report["namespaces"], json!({MARA: 7, shop: 1}));
    let profile = import.memory(MARA, "memobase:profile:b0000000-0000-0000-0000-000000000001").await;
    assert_eq!(
        (&profile["content"], &profile["tags"]),
        (&json!("basic_info, name: Mara"), &json!(["basic-info:name"]))
    );
    let gist = import.memory(MARA, "memobase:gist:d0000000-0000-0000-0000-000000000001").await;
    assert_eq!(
        (&gist["content"], &gist["session"]),
        (&json!("Mara moved."), &json!("c0000000-0000-0000-0000-000000000001"))
    );
    let event = import.memory(MARA, "memobase:event:c0000000-0000-0000-0000-000000000002").await;
    assert_eq!(event["metadata"], json!({"event_tags": [{"tag": "mood", "value": "glad"}]}));
    let first = import.memory(MARA, "memobase:blob:e0000000-0000-0000-0000-000000000001:0").await;
    assert_eq!(
        (&first["speaker"], &first["seq"], &first["created_at"]),
        (&json!("Mara"), &json!(0), &json!("2026-03-01T00:00:00Z"))
    );
    insta::assert_snapshot!("dry_run", import.said(&["--dry-run"]).await);
}

#[tokio::test]
async fn vectors_of_a_model_that_the_user_names_are_taken() {
    let memobase = foreign(SQL).await;
    let import = import_of("memobase", &memobase).await;
    let model = with_model(&import, "openai", "text-embedding-3-small").await;
    let report = import.report(&["--model", "openai/text-embedding-3-small"]).await;
    assert_eq!((&report["written"], &report["vectors"]["taken"]), (&json!(8), &json!(2)), "{report}");
    assert_eq!(vectors(&import, model).await, ["Mara moved. [0,0,1,0]", "Mara was glad. [0,1,0,0]"]);
}
