//! The lists are an interface: a change to one shows in its snapshot.

use serde_json::{Value, json};

use super::Client;

async fn tools(set: &str) -> Vec<Value> {
    let client = Client::start(&["--no-workers", "--tools", set]).await;
    let tools = client.service.list_all_tools().await.unwrap();
    tools.iter().map(|tool| serde_json::to_value(tool).unwrap()).collect()
}

#[tokio::test]
async fn of_the_default_tools() {
    insta::assert_json_snapshot!("tools", tools("default").await);
}

#[tokio::test]
async fn of_all_tools() {
    insta::assert_json_snapshot!("all_tools", tools("all").await);
}

#[tokio::test]
async fn of_the_tools_of_chatgpt() {
    insta::assert_json_snapshot!("chatgpt_tools", tools("chatgpt").await);
}

#[tokio::test]
async fn of_chatgpt_and_its_answers() {
    let client = Client::start(&["--no-workers", "--tools", "chatgpt"]).await;
    let tools = client.service.list_all_tools().await.unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_ref()).collect();
    assert_eq!(names, ["search", "fetch"]);
    let node = client
        .db
        .htm()
        .remember(htm_core::Memory::new("The ledger runs on PostgreSQL 17.2.\nSince May."))
        .await;
    let id = node.unwrap().node.to_string();

    let (text, facts) = client.succeeds("search", json!({ "query": "which database has the ledger?" })).await;
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), facts);
    let url = format!("htm://memories/{id}");
    let title = "The ledger runs on PostgreSQL 17.2.";
    assert_eq!(facts, json!({ "results": [{ "id": id, "title": title, "url": url }] }));

    let (text, facts) = client.succeeds("fetch", json!({ "id": id })).await;
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), facts);
    assert_eq!((&facts["id"], &facts["title"], &facts["url"]), (&json!(id), &json!(title), &json!(url)));
    assert_eq!(
        (&facts["text"], &facts["metadata"]["robot"]),
        (&json!(format!("{title}\nSince May.")), &json!("htm"))
    );
    let (_, code) = client.fails("fetch", json!({ "id": "x" })).await;
    assert_eq!(code, "argument_invalid");
}

#[tokio::test]
async fn of_resources_and_prompts() {
    let client = Client::start(&["--no-workers"]).await;
    let resources = client.service.list_all_resources().await.unwrap();
    let templates = client.service.list_all_resource_templates().await.unwrap();
    let prompts = client.service.list_all_prompts().await.unwrap();
    insta::assert_json_snapshot!(
        "resources_and_prompts",
        json!({ "resources": resources, "templates": templates, "prompts": prompts })
    );
}

#[tokio::test]
async fn of_operators_are_filled() {
    let client = Client::start(&["--no-workers", "--tools", "ops"]).await;
    let id = client.remember("The backup takes an hour.").await;
    let (status, _) = client.succeeds("node_status", json!({ "id": id })).await;
    assert!(status.contains("\"pending\""), "{status}");
    let (_, facts) = client.succeeds("list_jobs", json!({ "id": id, "state": "due" })).await;
    assert_eq!(facts["jobs"].as_array().unwrap().len(), 2, "{facts}");
    let (text, facts) = client.succeeds("list_queues", json!({})).await;
    assert!(text.starts_with("3 queues.\n") && facts["queues"][0]["due"] == 1, "{text}");
    assert_eq!(client.succeeds("list_workers", json!({})).await.0, "0 workers.");
    assert_eq!(client.succeeds("list_providers", json!({})).await.0, "0 providers.");
    let (text, _) = client.succeeds("retry_jobs", json!({ "jobs": [] })).await;
    assert_eq!(text, "0 jobs due again; 0 outdated and left as they are.");
    let (text, _) = client.succeeds("retry_jobs", json!({})).await;
    assert_eq!(text, "0 jobs due again; 0 outdated and left as they are.");
}
