//! Letta's database.

use serde_json::{Value, json};

use super::{foreign, import_of, vectors, with_model};

const SQL: &str = include_str!("fixtures/letta.sql");

#[tokio::test]
async fn blocks_passages_and_messages_come_once() {
    let letta = foreign(SQL).await;
    let import = import_of("letta", &letta).await;
    let report = import.twice(11).await;
    assert_eq!(report["read"], json!({"block": 4, "message": 8, "passage": 4, "passage of a file": 1}));
    assert_eq!(report["namespaces"], json!({"letta/org-1": 9, "letta/org-2": 2}));
    assert_eq!(report["vectors"]["is_in_use"], false);
    let block = import.memory("letta/org-1", "letta:block-1").await;
    assert_eq!((&block["content"], &block["revision"]), (&json!("Mara prefers tabs."), &json!(2)));
    assert_eq!(block["revisions"][0]["content"], "Mara.");
    assert_eq!(
        block["metadata"],
        json!({"agents": ["ada", "bob"], "description": "Who asks", "label": "human"})
    );
    let passage = import.memory("letta/org-1", "letta:passage-1").await;
    assert_eq!((&passage["robot"], &passage["tags"]), (&json!("ada"), &json!(["finance"])));
    assert_eq!(passage["metadata"], json!({"archive": "ada's archive", "rank": 3, "other_tags": ["c++"]}));
    let page = import.memory("letta/org-1", "letta:passage-5").await;
    assert_eq!((&page["robot"], &page["source"]), (&json!("bob"), &json!("manual.pdf")));
    let said = |it: &Value| json!([it["content"], it["speaker"], it["session"], it["seq"]]);
    let mut talk = Vec::new();
    for id in ["message-2", "message-3", "message-5", "message-6"] {
        talk.push(said(&import.memory("letta/org-1", &format!("letta:{id}")).await));
    }
    let expected = json!([
        ["Which port?", "user", "agent-1", 2],
        ["It is 5433.", "assistant", "agent-1", 3],
        ["Tabs?", "user", "conv-1", 1],
        ["Of four.", "assistant", "conv-1", 2],
    ]);
    assert_eq!(json!(talk), expected);
    insta::assert_snapshot!("dry_run", import.said(&["--dry-run"]).await);
    let renamed = "update organizations set name = 'moved'";
    sqlx::query(renamed).execute(&letta.pool).await.unwrap();
    let report = import.report(&[]).await;
    assert_eq!((&report["written"], &report["existing"]), (&json!(0), &json!(11)), "{report}");
}

#[tokio::test]
async fn vectors_of_a_model_that_htm_uses_are_taken_without_their_padding() {
    let letta = foreign(SQL).await;
    let import = import_of("letta", &letta).await;
    let model = with_model(&import, "openai", "text-embedding-3-small").await;
    let report = import.report(&[]).await;
    assert_eq!((&report["written"], &report["vectors"]["taken"]), (&json!(11), &json!(2)), "{report}");
    let expected = ["Release night is Tuesday. [0,1,0,0]", "The ledger closes at six. [1,0,0,0]"];
    assert_eq!(vectors(&import, model).await, expected);
}
