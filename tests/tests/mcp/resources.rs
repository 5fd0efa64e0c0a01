//! Resources and prompts.

use rmcp::model::{GetPromptRequestParams, ReadResourceRequestParams, ResourceContents};
use serde_json::{Value, json};

use super::Client;

impl Client {
    /// Reads a resource.
    async fn read(&self, uri: &str) -> String {
        let result =
            self.service.read_resource(ReadResourceRequestParams::new(uri)).await.expect("a resource");
        let [ResourceContents::TextResourceContents { text, uri: named, .. }] = &result.contents[..] else {
            panic!("one text: {result:?}")
        };
        assert_eq!(named, uri);
        text.clone()
    }
}

#[tokio::test]
async fn resources_are_read() {
    let client = Client::start(&["--no-workers", "--namespace", "atlas"]).await;
    let text = "The ledger runs on PostgreSQL.";
    let (_, facts) =
        client.succeeds("remember", json!({ "text": text, "tags": ["database:postgresql"] })).await;
    let id = &facts["node"];
    let json = |text: String| serde_json::from_str::<Value>(&text).unwrap();
    let statistics = json(client.read("htm://statistics").await);
    assert_eq!((&statistics["namespace"], &statistics["totals"]["nodes"]), (&json!("atlas"), &json!(1)));
    let tags = client.read("htm://tags/hierarchy").await;
    assert!(tags.ends_with("\ndatabase:postgresql 1/1"), "{tags}");
    let recent = json(client.read("htm://memories/recent").await);
    assert_eq!((&recent[0]["id"], &recent[0]["content"]), (id, &json!(text)));
    let memory = json(client.read(&format!("htm://memories/{id}")).await);
    assert_eq!((&memory["namespace"], &memory["content"]), (&json!("atlas"), &json!(text)));
    assert_eq!(json(client.read("htm://groups").await), json!([]));
}

#[tokio::test]
async fn prompts_bring_memories_with_them() {
    let client = Client::start(&["--no-workers"]).await;
    let id = client.remember("The ledger runs on PostgreSQL 17.2.").await;
    let arguments = json!({ "topic": "the ledger" }).as_object().cloned().unwrap();
    let request = GetPromptRequestParams::new("what_do_we_know").with_arguments(arguments);
    let prompt = client.service.get_prompt(request).await.unwrap();
    let text = prompt.messages[0].content.as_text().unwrap().text.clone();
    assert!(text.starts_with("What do we know about \"the ledger\"? Answer from these memories"), "{text}");
    assert!(
        text.contains(&format!("\n[{id}] ")) && text.contains("\"The ledger runs on PostgreSQL 17.2.\""),
        "{text}"
    );
    let prompt =
        client.service.get_prompt(GetPromptRequestParams::new("remember_conversation")).await.unwrap();
    assert!(prompt.messages[0].content.as_text().unwrap().text.contains("`remember`"));
}
