//! Namespaces, robots and groups.

use serde_json::{Value, json};

use super::Client;
use super::connection::Raw;

#[tokio::test]
async fn namespace_and_robot_come_from_the_call_or_the_command_line() {
    let client = Client::start(&["--no-workers", "--namespace", "atlas", "--robot", "architect"]).await;
    let (_, facts) = client.succeeds("remember", json!({ "text": "We chose PostgreSQL." })).await;
    assert_eq!((&facts["namespace"], &facts["robot"]), (&json!("atlas"), &json!("architect")));
    let elsewhere = json!({ "text": "We chose SQLite.", "namespace": "home", "robot": "ada" });
    let (_, facts) = client.succeeds("remember", elsewhere).await;
    assert_eq!((&facts["namespace"], &facts["robot"]), (&json!("home"), &json!("ada")));
    let (text, _) = client.succeeds("recall", json!({ "query": "chose" })).await;
    assert!(text.contains(" | architect | ") && !text.contains("SQLite"), "{text}");
    let (text, _) = client.succeeds("recall", json!({ "query": "chose", "namespace": "home" })).await;
    assert!(text.contains(" | ada | ") && !text.contains("PostgreSQL"), "{text}");
}

#[tokio::test]
async fn a_robot_is_set_for_later_calls() {
    let client = Client::start(&["--no-workers", "--tools", "all"]).await;
    assert_eq!(client.succeeds("get_robot", json!({})).await.0, "The robot is htm; it has no memories yet.");
    let (text, facts) = client.succeeds("get_working_memory", json!({})).await;
    assert!(text.starts_with("The working memory of htm: 0 memories, 0 of "), "{text}");
    assert_eq!(facts["memories"], json!([]));
    let (_, code) = client.fails("get_working_memory", json!({ "robot": "nobody" })).await;
    assert_eq!(code, "robot_unknown");
    let (text, _) = client.succeeds("set_robot", json!({ "name": "ada" })).await;
    assert_eq!(text, "The robot is ada; its working memory has 0 memories.");
    client.remember("Ada likes tabs.").await;
    let (text, _) = client.succeeds("get_robot", json!({})).await;
    assert_eq!(text, "The robot is ada of namespace default: 1 memory, 1 in its working memory.");
    let (text, facts) = client.succeeds("get_working_memory", json!({})).await;
    assert!(text.ends_with("\"Ada likes tabs.\""), "{text}");
    assert_eq!(facts["memories"][0]["content"], "Ada likes tabs.");
    let (_, code) = client.fails("set_robot", json!({ "name": "a\nb" })).await;
    assert_eq!(code, "robot_invalid");
    let (text, _) = client.succeeds("set_robot", json!({ "name": "ada", "namespace": "home" })).await;
    assert!(text.ends_with("That is in namespace home; calls that name none use default."), "{text}");
}

fn called(id: u32, tool: &str, arguments: Value) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": tool, "arguments": arguments } })
        .to_string()
}

#[tokio::test]
async fn calls_that_are_sent_together_have_the_robot_of_their_place() {
    let mut raw = Raw::start(&["--no-workers", "--tools", "all"]).await;
    raw.initialize("2025-06-18").await;
    let mut former = "htm".to_owned();
    for round in 0..20 {
        let robot = format!("bot{round}");
        let lines = [
            called(1, "remember", json!({ "text": format!("Before change {round}.") })),
            called(2, "set_robot", json!({ "name": robot })),
            called(3, "remember", json!({ "text": format!("After change {round}.") })),
            called(4, "get_robot", json!({})),
        ];
        raw.send_line(lines.join("\n").as_bytes()).await;
        for _ in lines {
            let answer = raw.receive().await;
            let result = &answer["result"];
            let (said, facts) = (&result["content"][0]["text"], &result["structuredContent"]);
            let said = said.as_str().unwrap();
            let (found, expected) = match answer["id"].as_u64() {
                Some(1) => (&facts["robot"], &former),
                Some(4) => (&facts["robot"]["name"], &robot),
                _ => (&facts["robot"], &robot),
            };
            assert_eq!(found, expected, "{answer}");
            if answer["id"] == 3 {
                assert!(said.ends_with(&format!(" The robot is {robot}.")), "{said}");
            }
        }
        former = robot;
    }
}

#[tokio::test]
async fn a_cancelled_change_of_the_robot_holds_up_nothing() {
    let mut raw = Raw::start(&["--no-workers", "--tools", "all"]).await;
    raw.initialize("2025-06-18").await;
    let mut lock = raw.db.pool.begin().await.unwrap();
    sqlx::query("lock table htm.robots in access exclusive mode").execute(&mut *lock).await.unwrap();
    let lines = [called(1, "set_robot", json!({ "name": "ada" })), called(2, "get_robot", json!({}))];
    raw.send_line(lines.join("\n").as_bytes()).await;
    let answer = raw.ask(json!({ "jsonrpc": "2.0", "id": 3, "method": "ping" })).await;
    assert_eq!(answer["id"], 3, "{answer}");
    raw.send(json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } }))
        .await;
    let answer = raw.ask(json!({ "jsonrpc": "2.0", "id": 4, "method": "ping" })).await;
    assert_eq!(answer["id"], 4, "{answer}");
    lock.rollback().await.unwrap();
    let answer = raw.receive().await;
    let said = answer["result"]["content"][0]["text"].as_str().unwrap();
    assert!(answer["id"] == 2 && said.starts_with("The robot is htm"), "{answer}");
}

#[tokio::test]
async fn a_cancelled_resource_or_prompt_holds_up_no_change_of_the_robot() {
    let mut raw = Raw::start(&["--no-workers", "--tools", "all"]).await;
    raw.initialize("2025-06-18").await;
    let mut lock = raw.db.pool.begin().await.unwrap();
    sqlx::query("lock table htm.nodes in access exclusive mode").execute(&mut *lock).await.unwrap();
    let topic = json!({ "name": "what_do_we_know", "arguments": { "topic": "the ledger" } });
    for (id, method, params) in
        [(2, "resources/read", json!({ "uri": "htm://memories/recent" })), (4, "prompts/get", topic)]
    {
        raw.send(json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })).await;
        // Without its argument, so that it waits for its turn and for no table.
        raw.send_line(called(id + 1, "set_robot", json!({})).as_bytes()).await;
        let cancelled = json!({ "requestId": id });
        raw.send(json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled })).await;
        let answer = raw.receive().await;
        assert_eq!(answer["id"], id + 1, "{answer}");
    }
    lock.rollback().await.unwrap();
}

#[tokio::test]
async fn the_other_names_answer_too() {
    let client = Client::start(&["--no-workers", "--tools", "all"]).await;
    client
        .succeeds("remember", json!({ "text": "Vacuum runs at night.", "tags": ["database:postgresql"] }))
        .await;
    assert!(client.succeeds("list_tags", json!({})).await.0.contains("\ndatabase:postgresql 1/1"));
    assert!(
        client
            .succeeds("search_tags", json!({ "search": "postgres" }))
            .await
            .0
            .contains("database:postgresql")
    );
    let (text, _) = client.succeeds("find_by_topic", json!({ "topic": "database" })).await;
    assert!(text.starts_with("1 memory tagged database, latest first.\n["), "{text}");
    let (text, _) = client.succeeds("find_by_topic", json!({ "topic": "database", "exact": true })).await;
    assert!(text.starts_with("0 memories"), "{text}");
    let (text, _) = client.succeeds("find_by_topic", json!({ "topic": "databse" })).await;
    assert!(text.contains("note: no tag is databse"), "{text}");
}

#[tokio::test]
async fn robots_share_a_group() {
    let client = Client::start(&["--no-workers", "--tools", "all", "--robot", "ada"]).await;
    let (_, code) = client.fails("group_remember", json!({ "group": "on-call", "text": "a" })).await;
    assert_eq!(code, "group_not_joined");
    let (text, _) = client.succeeds("create_group", json!({ "group": "on-call", "budget": 5_000 })).await;
    assert_eq!(text, "ada is a member of on-call, active.");
    let (_, code) = client.fails("create_group", json!({ "group": "on-call", "robot": "bob" })).await;
    assert_eq!(code, "group_taken");
    let (text, code) = client.fails("join_group", json!({ "group": "on-cal", "robot": "bob" })).await;
    assert!(code == "group_unknown" && text.contains("create_group makes a new one"), "{text}");
    let (text, _) = client.succeeds("join_group", json!({ "group": "on-call", "robot": "bob" })).await;
    assert_eq!(text, "bob is a member of on-call, passive.");
    let (_, facts) = client
        .succeeds("group_remember", json!({ "group": "on-call", "text": "The disk of db-3 is full." }))
        .await;
    let id = facts["node"].clone();
    let (text, _) = client.succeeds("group_context", json!({ "group": "on-call", "robot": "bob" })).await;
    assert!(text.starts_with("The working memory of on-call: 1 memory, ") && text.contains("db-3"), "{text}");
    let (_, facts) = client.succeeds("group_recall", json!({ "group": "on-call", "query": "disk" })).await;
    assert_eq!((&facts["hits"][0]["id"], &facts["is_in_working_memory"]), (&id, &json!(true)));
    client.succeeds("promote_robot", json!({ "group": "on-call", "member": "bob" })).await;
    client.succeeds("demote_robot", json!({ "group": "on-call", "member": "ada" })).await;
    let (text, facts) = client.succeeds("get_group", json!({ "group": "on-call" })).await;
    assert!(text.contains("bob (active), ada (passive)") && text.contains("of 5000 tokens"), "{text}");
    assert_eq!(facts["group"]["name"], "on-call");
    let none = json!({ "group": "on-call", "ids": [], "to_robot": "ada" });
    assert_eq!(client.succeeds("transfer_group", none).await.0, "0 memories moved: ");
    let (text, _) = client.succeeds("transfer_group", json!({ "group": "on-call", "to_robot": "ada" })).await;
    assert_eq!(text, format!("1 memory moved: {id}"));
    client.succeeds("leave_group", json!({ "group": "on-call" })).await;
    let (text, _) = client.succeeds("shutdown_group", json!({ "group": "on-call" })).await;
    assert!(text.starts_with("Nothing is done yet"), "{text}");
    let (text, _) = client.succeeds("shutdown_group", json!({ "group": "on-call", "confirm": true })).await;
    assert_eq!(text, "on-call is closed; it had 1 member.");
    let (text, _) = client.succeeds("list_groups", json!({})).await;
    assert!(text.starts_with("1 group.\non-call | closed | "), "{text}");
}
