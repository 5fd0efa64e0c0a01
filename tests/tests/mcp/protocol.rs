//! Both generations of the protocol: `initialize` of the older clients, and requests that stand alone since 2026-07-28.

use serde_json::{Value, json};

use super::connection::Raw;

/// A request of 2026-07-28, which says its version and its client itself.
fn alone(id: u32, method: &str, mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

#[tokio::test]
async fn older_clients_initialize() {
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut raw = Raw::start(&["--no-workers"]).await;
        let answer = raw.initialize(version).await;
        let result = &answer["result"];
        assert_eq!(result["protocolVersion"], version, "{answer}");
        assert_eq!(result["serverInfo"]["name"], "htm", "{answer}");
        assert!(
            result["instructions"].as_str().unwrap().starts_with("HTM is your long-term memory"),
            "{answer}"
        );
        for capability in ["tools", "resources", "prompts"] {
            assert!(result["capabilities"][capability].is_object(), "{answer}");
        }
        let answer = raw.ask(json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" })).await;
        assert_eq!(answer["result"]["tools"].as_array().unwrap().len(), 9, "{answer}");
        assert!(answer["result"].get("resultType").is_none(), "{answer}");
        let answer = raw.ask(json!({ "jsonrpc": "2.0", "id": 2, "method": "ping" })).await;
        assert_eq!(answer["result"], json!({}));
    }
}

#[tokio::test]
async fn newer_clients_discover_and_every_request_stands_alone() {
    let mut raw = Raw::start(&["--no-workers"]).await;
    let answer = raw.ask(alone(1, "server/discover", json!({}))).await;
    let result = &answer["result"];
    let versions = result["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&json!("2026-07-28")) && versions.contains(&json!("2025-06-18")), "{answer}");
    assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "htm", "{answer}");
    assert!(result["capabilities"]["tools"].is_object(), "{answer}");

    let answer = raw.ask(alone(2, "tools/list", json!({}))).await;
    let result = &answer["result"];
    assert_eq!(
        (&result["resultType"], &result["ttlMs"], &result["cacheScope"]),
        (&json!("complete"), &json!(3_600_000), &json!("private"))
    );
    let call = json!({ "name": "remember", "arguments": { "text": "The ledger is closed on Sundays." } });
    let answer = raw.ask(alone(3, "tools/call", call)).await;
    assert_eq!(
        (&answer["result"]["resultType"], &answer["result"]["isError"]),
        (&json!("complete"), &json!(false)),
        "{answer}"
    );
    let call = json!({ "name": "recall", "arguments": { "query": "when is the ledger closed?" } });
    let answer = raw.ask(alone(4, "tools/call", call)).await;
    assert!(
        answer["result"]["content"][0]["text"].as_str().unwrap().contains("closed on Sundays"),
        "{answer}"
    );
    let answer = raw.ask(alone(5, "resources/read", json!({ "uri": "htm://statistics" }))).await;
    assert_eq!(answer["result"]["contents"][0]["mimeType"], "application/json", "{answer}");
}

#[tokio::test]
async fn a_first_request_may_be_a_call() {
    let mut raw = Raw::start(&["--no-workers"]).await;
    let answer = raw.ask(alone(1, "tools/call", json!({ "name": "stats", "arguments": {} }))).await;
    assert!(
        answer["result"]["content"][0]["text"].as_str().unwrap().starts_with("Namespace default: 0 memories"),
        "{answer}"
    );
}

#[tokio::test]
async fn an_unknown_version_and_an_unknown_method_have_their_codes() {
    let mut raw = Raw::start(&["--no-workers"]).await;
    raw.ask(alone(1, "server/discover", json!({}))).await;
    let mut request = alone(2, "tools/list", json!({}));
    request["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2031-01-01".into();
    assert_eq!(raw.ask(request).await["error"]["code"], -32_022);
    assert_eq!(raw.ask(alone(3, "nothing/there", json!({}))).await["error"]["code"], -32_601);
    assert_eq!(raw.ask(alone(4, "tools/call", json!({ "name": "nothing" }))).await["error"]["code"], -32_602);
}
