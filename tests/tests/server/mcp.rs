//! MCP over HTTP: both generations of the protocol, without sessions.

use htm_core::{NewApiKey, Role};
use reqwest::Method;
use serde_json::{Value, json};

use super::{Reply, Served};

async fn call(served: &Served, path: &str, message: Value) -> Reply {
    let request = served.request(Method::POST, path).header("accept", "application/json, text/event-stream");
    served.send(request.json(&message)).await
}

/// A call of a client of an older protocol.
async fn tool(served: &Served, path: &str, name: &str, arguments: Value) -> Value {
    let params = json!({"name": name, "arguments": arguments});
    let message = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params});
    call(served, path, message).await.is(200)["result"].clone()
}

fn tools(reply: &Value) -> Vec<&str> {
    reply["result"]["tools"].as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn an_older_client_initializes_and_calls_tools() {
    let served = Served::new().await;
    let client = json!({"name": "test", "version": "1"});
    let params = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client});
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params});
    let hello = call(&served, "/mcp", hello).await.is(200);
    assert_eq!(hello["result"]["protocolVersion"], "2025-06-18", "{hello}");
    let noted = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    assert_eq!(call(&served, "/mcp", noted).await.status, 202);
    let list = |path: &'static str| {
        let message = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"});
        call(&served, path, message)
    };
    let listed = list("/mcp").await.is(200);
    let default =
        ["remember", "recall", "context", "forget", "restore", "timeline", "tags", "stats", "feedback"];
    assert_eq!(tools(&listed), default);
    assert_eq!(tools(&list("/mcp?tools=chatgpt").await.is(200)), ["search", "fetch"]);
    assert_eq!(list("/mcp?tools=every").await.problem(), (400, "query_invalid"));
    let written = tool(&served, "/mcp", "remember", json!({"text": "Mara prefers tabs."})).await;
    assert_eq!(written["isError"], false, "{written}");
    let found = tool(&served, "/mcp", "recall", json!({"query": "tabs or spaces?"})).await;
    assert!(found["content"][0]["text"].as_str().unwrap().contains("Mara prefers tabs."), "{found}");
}

#[tokio::test]
async fn a_path_with_a_namespace_is_a_wall() {
    let served = Served::new().await;
    tool(&served, "/mcp/tenant/a", "remember", json!({"text": "The secret of a."})).await;
    let found = tool(&served, "/mcp/tenant/a", "recall", json!({"query": "secret"})).await;
    assert!(found["content"][0]["text"].as_str().unwrap().contains("The secret of a."), "{found}");
    let found = tool(&served, "/mcp/tenant/b", "recall", json!({"query": "secret"})).await;
    assert!(!found.to_string().contains("secret of a"), "{found}");
    let other = json!({"query": "secret", "namespace": "tenant/a"});
    let refused = tool(&served, "/mcp/tenant/b", "recall", other).await;
    assert_eq!(refused["isError"], true);
    assert!(refused.to_string().contains("namespace_forbidden"), "{refused}");
    assert_eq!(served.db.count("select count(*) from htm.nodes where namespace = 'tenant/a'").await, 1);
}

#[tokio::test]
async fn a_key_of_a_robot_acts_for_it_alone() {
    let mut served = Served::new().await;
    let of_bea = json!({"content": "Bea counts trains.", "robot": "bea"});
    let of_bea = served.post("/v1/memories", of_bea).await.is(201)["node"].as_i64().unwrap();
    served.use_key(&NewApiKey::new(Role::Admin).robot("ada")).await;
    let written = tool(&served, "/mcp", "remember", json!({"text": "Ada counts ships."})).await;
    let own = written["structuredContent"]["node"].as_i64().unwrap();
    assert_eq!(served.get(&format!("/v1/memories/{own}")).await.is(200)["robot"], "ada");
    for (name, arguments, code) in [
        ("remember", json!({"text": "x", "robot": "bea"}), "robot_forbidden"),
        ("forget", json!({"id": of_bea, "confirm": true}), "not_owner"),
    ] {
        let refused = tool(&served, "/mcp", name, arguments).await;
        assert_eq!(refused["isError"], true, "{name}: {refused}");
        assert!(refused.to_string().contains(code), "{name}: {refused}");
    }
    let found = tool(&served, "/mcp", "recall", json!({"query": "trains"})).await;
    assert!(found["content"][0]["text"].as_str().unwrap().contains("Bea counts trains."), "{found}");
    let forgotten = tool(&served, "/mcp", "forget", json!({"id": own, "confirm": true})).await;
    assert_eq!(forgotten["isError"], false, "{forgotten}");
    assert_eq!(served.db.count("select count(*) from htm.nodes where deleted_at is null").await, 1);
}

#[tokio::test]
async fn a_new_client_discovers_and_bad_requests_are_refused() {
    let served = Served::new().await;
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {"_meta": meta}});
    let request =
        served.request(Method::POST, "/mcp").header("accept", "application/json, text/event-stream");
    let request =
        request.header("mcp-protocol-version", "2026-07-28").header("mcp-method", "server/discover");
    let found = served.send(request.json(&message)).await.is(200);
    assert!(found["result"]["supportedVersions"].to_string().contains("2026-07-28"), "{found}");
    let evil = served.request(Method::POST, "/mcp").header("origin", "https://evil.example");
    assert_eq!(served.send(evil.json(&message)).await.problem(), (403, "host_forbidden"));
    assert_eq!(served.get("/mcp").await.status, 405, "there is no stream to listen to");
    // Clients probe for the metadata of an authorization server, which there is not.
    assert_eq!(served.get("/.well-known/oauth-protected-resource").await.problem(), (404, "route_unknown"));
}

#[tokio::test]
async fn a_message_that_cannot_be_read_is_answered_with_its_id_and_the_reason() {
    let served = Served::new().await;
    let deep = format!("{}1{}", "[".repeat(200), "]".repeat(200));
    for (value, said) in [(r#""\ud83d""#.to_owned(), "half of a surrogate pair"), (deep, "recursion limit")] {
        let send = async |id: &str| {
            let body = format!(r#"{{"jsonrpc": "2.0", {id}"method": "ping", "params": {{"a": {value}}}}}"#);
            let request =
                served.request(Method::POST, "/mcp").header("accept", "application/json, text/event-stream");
            served.send(request.header("content-type", "application/json").body(body)).await
        };
        let answer = send(r#""id": 7, "#).await.is(200);
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(7), &json!(-32_700)), "{answer}");
        assert!(answer["error"]["message"].as_str().unwrap().contains(said), "{answer}");
        let unnamed = send("").await;
        assert_eq!(unnamed.problem(), (400, "body_invalid"));
        assert!(unnamed.body["detail"].as_str().unwrap().contains(said), "{:?}", unnamed.body);
    }
}

#[tokio::test]
async fn parameters_that_are_not_a_methods_are_invalid() {
    let served = Served::new().await;
    for (method, params, said) in [
        ("tools/call", json!({}), "missing field `name`"),
        ("tools/call", json!({"name": "stats", "arguments": [1]}), "`arguments` is no object"),
        ("tools/call", json!([1]), "`params` is no object"),
        ("resources/read", json!({}), "missing field `uri`"),
        ("prompts/get", json!({"name": "what_do_we_know", "arguments": {"topic": 5}}), "`topic` is no text"),
    ] {
        let message = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params});
        let answer = call(&served, "/mcp", message).await.is(200);
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(7), &json!(-32_602)), "{answer}");
        assert!(answer["error"]["message"].as_str().unwrap().contains(said), "{answer}");
    }
    let other = json!({"jsonrpc": "2.0", "id": 7, "method": "nothing/there"});
    assert_eq!(call(&served, "/mcp", other).await.is(200)["error"]["code"], -32_601);
}

#[tokio::test]
async fn a_batch_is_answered_by_a_list() {
    let served = Served::new().await;
    let ping = |id: u32| json!({"jsonrpc": "2.0", "id": id, "method": "ping"});
    let noted = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let remember = json!({"name": "remember", "arguments": {"text": "Mara prefers tabs."}});
    let remember = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": remember});
    let batch = json!([remember, noted, ping(2), {"jsonrpc": "2.0", "id": 3, "method": "tools/call"}, 5]);
    let answers = call(&served, "/mcp", batch).await.is(200);
    assert_eq!(answers.as_array().map(Vec::len), Some(4), "{answers}");
    assert_eq!(answers[0]["result"]["structuredContent"]["outcome"], "written", "{answers}");
    assert_eq!(answers[1], json!({"jsonrpc": "2.0", "id": 2, "result": {}}));
    assert_eq!((&answers[2]["id"], &answers[2]["error"]["code"]), (&json!(3), &json!(-32_602)));
    assert_eq!((&answers[3]["id"], &answers[3]["error"]["code"]), (&Value::Null, &json!(-32_600)));
    assert_eq!(call(&served, "/mcp", json!([noted])).await.status, 202);
    let many: Vec<Value> = (0..51).map(ping).collect();
    assert_eq!(call(&served, "/mcp", json!(many)).await.problem(), (413, "batch_too_large"));
    let other = served.request(Method::POST, "/mcp").header("accept", "text/html");
    assert_eq!(served.send(other.json(&json!([ping(1)]))).await.problem(), (406, "header_invalid"));
}

#[tokio::test]
async fn a_tenants_admin_is_offered_what_succeeds() {
    let mut served = Served::new().await;
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    let listed = call(&served, "/mcp?tools=ops", list.clone()).await.is(200);
    assert!(tools(&listed).contains(&"list_jobs"));
    let listed = call(&served, "/mcp/tenant-7?tools=ops", list.clone()).await.is(200);
    assert_eq!(tools(&listed)[9..], ["node_status"]);
    served.use_key(&NewApiKey::new(Role::Admin).namespace("tenant-7")).await;
    let listed = call(&served, "/mcp?tools=ops", list).await.is(200);
    assert_eq!(tools(&listed)[9..], ["node_status"]);
}

#[tokio::test]
async fn a_refusal_says_what_the_path_takes() {
    let served = Served::new().await;
    let refused = served.get("/mcp").await;
    assert_eq!((refused.problem(), refused.header("allow")), ((405, "method_unknown"), "POST"));
    assert!(refused.body["hint"].as_str().unwrap().contains("by POST"), "{:?}", refused.body);
    for path in ["/mcp?tools=every", "/mcp?tool=ops"] {
        let refused = call(&served, path, json!({})).await;
        assert_eq!(refused.problem(), (400, "query_invalid"), "{path}");
        assert!(refused.body["hint"].as_str().unwrap().contains("`tools`"), "{path}: {:?}", refused.body);
    }
    let refused = call(&served, "/mcp", json!({})).await;
    assert_eq!(refused.problem(), (400, "body_invalid"));
    assert!(!refused.body["hint"].as_str().unwrap().contains("openapi"), "{:?}", refused.body);
}

#[tokio::test]
async fn what_is_no_message_gets_a_problem() {
    let served = Served::new().await;
    let post = || {
        let request = served.request(Method::POST, "/mcp").header("content-type", "application/json");
        request.header("accept", "application/json, text/event-stream")
    };
    for body in ["", "{", "[]", "{}", "\"text\"", "{\"jsonrpc\": \"1.0\"}", "\u{0}"] {
        assert_eq!(served.send(post().body(body)).await.problem(), (400, "body_invalid"), "{body}");
    }
    assert_eq!(
        served.send(post().body(b"{\"a\": \"\xff\"}".to_vec())).await.problem(),
        (400, "body_invalid")
    );
    let deep = format!("{}1{}", "[".repeat(5_000), "]".repeat(5_000));
    assert_eq!(served.send(post().body(deep)).await.problem(), (400, "body_invalid"));
    let packed = served.request(Method::POST, "/mcp").header("content-encoding", "gzip");
    assert_eq!(served.send(packed.json(&json!({}))).await.problem(), (415, "media_type_unfit"));
    let text = served.request(Method::POST, "/mcp").header("content-type", "text/plain").body("{}");
    assert_eq!(served.send(text).await.problem(), (415, "media_type_unfit"));
    let other = served.request(Method::POST, "/mcp").header("accept", "text/html");
    assert_eq!(served.send(other.json(&json!({}))).await.problem(), (406, "header_invalid"));
    assert_eq!(served.get("/mcp").await.status, 405);
}
