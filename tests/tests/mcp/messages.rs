//! What a client may send beside the requests that the protocol has: each request gets an answer, with its id.

use serde_json::{Value, json};

use super::connection::Raw;

fn call(id: u32, tool: &str, arguments: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": tool, "arguments": arguments } })
}

#[tokio::test]
async fn parameters_that_are_not_a_methods_are_invalid_and_the_method_is_known() {
    let mut raw = Raw::start(&["--no-workers"]).await;
    raw.initialize("2025-06-18").await;
    for (method, params, said) in [
        ("tools/call", None, "missing field `name`"),
        ("tools/call", Some(json!({ "arguments": {} })), "missing field `name`"),
        ("tools/call", Some(json!({ "name": "stats", "arguments": [1] })), "`arguments` is no object"),
        ("tools/call", Some(json!([1])), "`params` is no object"),
        ("resources/read", Some(json!({})), "missing field `uri`"),
        ("prompts/get", Some(json!({})), "missing field `name`"),
        (
            "prompts/get",
            Some(json!({ "name": "what_do_we_know", "arguments": { "topic": 5 } })),
            "the argument `topic` is no text",
        ),
    ] {
        let mut request = json!({ "jsonrpc": "2.0", "id": "a", "method": method });
        if let Some(params) = params {
            request["params"] = params;
        }
        let answer = raw.ask(request.clone()).await;
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!("a"), &json!(-32_602)), "{answer}");
        assert!(answer["error"]["message"].as_str().unwrap().contains(said), "{request}: {answer}");
    }
    let answer = raw.ask(json!({ "jsonrpc": "2.0", "id": 1, "method": "nothing/there" })).await;
    assert_eq!(answer["error"]["code"], -32_601, "{answer}");
    assert!(answer["error"]["message"].as_str().unwrap().contains("no method `nothing/there`"), "{answer}");
    let argument = json!({ "name": "topic", "value": "a" });
    for (method, params) in [
        ("resources/subscribe", json!({ "uri": "htm://memories/1" })),
        (
            "completion/complete",
            json!({ "ref": { "type": "ref/prompt", "name": "a" }, "argument": argument }),
        ),
        ("logging/setLevel", json!({ "level": "info" })),
    ] {
        let answer = raw.ask(json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params })).await;
        let said = format!("there is no method `{method}`");
        assert_eq!((&answer["error"]["code"], &answer["error"]["message"]), (&json!(-32_601), &json!(said)));
    }
}

#[tokio::test]
async fn what_is_no_message_is_answered() {
    let mut raw = Raw::start(&["--no-workers"]).await;
    let lines: [(&[u8], Value, i32); 7] = [
        (b"{\"half\": ", Value::Null, -32_700),
        (b"\xff\xfe", Value::Null, -32_700),
        (b"[]", Value::Null, -32_600),
        (b"{\"jsonrpc\": \"1.0\", \"id\": 34, \"method\": \"ping\"}", json!(34), -32_600),
        (b"{\"jsonrpc\": \"2.0\", \"id\": 35}", json!(35), -32_600),
        (b"{\"jsonrpc\": \"2.0\", \"id\": 1.5, \"method\": \"ping\"}", Value::Null, -32_600),
        (b"{\"jsonrpc\": \"2.0\", \"id\": 36, \"method\": \"initialize\"}", json!(36), -32_602),
    ];
    for (line, id, code) in lines {
        raw.send_line(line).await;
        let answer = raw.receive().await;
        let line = String::from_utf8_lossy(line);
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&id, &json!(code)), "{line}: {answer}");
    }
    // Nobody waits for an answer to these.
    raw.initialize("2025-06-18").await;
    for line in ["", "{\"jsonrpc\": \"1.0\", \"method\": \"notifications/initialized\"}", "\u{feff}"] {
        raw.send_line(line.as_bytes()).await;
    }
    assert_eq!(raw.ask(json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" })).await["id"], 1);
}

#[tokio::test]
async fn a_request_that_cannot_be_read_is_answered_with_its_id() {
    let mut raw = Raw::start(&["--no-workers"]).await;
    raw.initialize("2025-06-18").await;
    let half = call(7, "remember", json!({ "text": "HALF" })).to_string().replace("HALF", "\\ud83d");
    let deep = format!("{}1{}", "[".repeat(200), "]".repeat(200));
    let deep = call(7, "remember", json!({ "text": "a", "metadata": "DEEP" }))
        .to_string()
        .replace("\"DEEP\"", &deep);
    for (line, said) in [(half, "half of a surrogate pair"), (deep, "recursion limit")] {
        raw.send_line(line.as_bytes()).await;
        let answer = raw.receive().await;
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(7), &json!(-32_700)), "{answer}");
        assert!(answer["error"]["message"].as_str().unwrap().contains(said), "{answer}");
    }
    let ping = |id: i64| json!({ "jsonrpc": "2.0", "id": id, "method": "ping", "params": { "a": "HALF" } });
    raw.send_line(json!([ping(91), ping(92)]).to_string().replace("HALF", "\\ud83d").as_bytes()).await;
    let answer = raw.receive().await;
    for (place, id) in [(0_usize, 91), (1, 92)] {
        let error = &answer[place];
        assert_eq!((&error["id"], &error["error"]["code"]), (&json!(id), &json!(-32_700)), "{answer}");
    }
}

#[tokio::test]
async fn a_request_on_a_line_that_is_too_long_is_refused() {
    let mut raw = Raw::start(&["--no-workers"]).await;
    raw.initialize("2025-06-18").await;
    let request = call(7, "remember", json!({ "text": "x".repeat(16 << 20) }));
    let answer = raw.ask(request).await;
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(7), &json!(-32_600)), "{answer}");
    assert!(answer["error"]["message"].as_str().unwrap().contains("16777216 bytes"), "{answer}");
    let answer = raw.ask(call(8, "stats", json!({}))).await;
    assert_eq!((&answer["id"], &answer["result"]["isError"]), (&json!(8), &json!(false)), "{answer}");
}

#[tokio::test]
async fn a_batch_is_answered_by_a_list() {
    let mut raw = Raw::start(&["--no-workers"]).await;
    raw.initialize("2025-03-26").await;
    let batch = json!([
        call(1, "remember", json!({ "text": "The ledger is closed on Sundays." })),
        { "jsonrpc": "2.0", "method": "notifications/progress", "params": { "progressToken": 1, "progress": 1 } },
        { "jsonrpc": "2.0", "id": 2, "method": "ping" },
        { "jsonrpc": "2.0", "id": 3, "method": "tools/call" },
        5,
    ]);
    let answer = raw.ask(batch).await;
    let answers = answer.as_array().unwrap_or_else(|| panic!("a list: {answer}"));
    let of = |id: Value| answers.iter().find(|it| it["id"] == id).unwrap_or_else(|| panic!("{id}: {answer}"));
    assert_eq!(answers.len(), 4, "{answer}");
    assert_eq!(of(json!(1))["result"]["structuredContent"]["outcome"], "written", "{answer}");
    assert_eq!(of(json!(2))["result"], json!({}), "{answer}");
    assert_eq!(of(json!(3))["error"]["code"], -32_602, "{answer}");
    assert_eq!(of(Value::Null)["error"]["code"], -32_600, "{answer}");
    // Notifications alone get no answer, and a later request one of its own.
    raw.send(json!([{ "jsonrpc": "2.0", "method": "notifications/initialized" }])).await;
    assert_eq!(raw.ask(json!({ "jsonrpc": "2.0", "id": 4, "method": "ping" })).await["id"], 4);
}

#[tokio::test]
async fn a_batch_does_not_wait_for_a_request_that_is_cancelled() {
    let mut raw = Raw::start(&["--no-workers"]).await;
    raw.initialize("2025-03-26").await;
    let mut lock = raw.db.pool.begin().await.unwrap();
    sqlx::query("lock table htm.nodes in access exclusive mode").execute(&mut *lock).await.unwrap();
    let waits = call(1, "remember", json!({ "text": "This one waits for the table." }));
    raw.send(json!([waits, { "jsonrpc": "2.0", "id": 2, "method": "ping" }])).await;
    raw.send(json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } }))
        .await;
    let answer = raw.receive().await;
    assert_eq!(answer, json!([{ "jsonrpc": "2.0", "id": 2, "result": {} }]), "{answer}");
    lock.rollback().await.unwrap();
}
