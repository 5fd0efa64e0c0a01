//! Failures that a model can correct.

use rmcp::model::CallToolRequestParams;
use serde_json::json;

use super::Client;

#[tokio::test]
async fn a_failure_says_what_was_wrong_and_what_is_next() {
    let client = Client::start(&["--no-workers"]).await;
    let id = client.remember("A first text.").await;
    client.succeeds("remember", json!({ "text": "Of ada.", "robot": "ada", "key": "taken" })).await;
    for (tool, arguments, code, said) in [
        (
            "recall",
            json!({ "query": "a", "qurey": "b" }),
            "argument_unknown",
            "no argument `qurey`\nnext: its arguments are: query, limit",
        ),
        ("recall", json!({}), "argument_missing", "the argument `query` is missing"),
        (
            "recall",
            json!({ "query": "a", "limit": 0 }),
            "argument_invalid",
            "`limit` is 0, not a whole number from 1 to 200",
        ),
        (
            "recall",
            json!({ "query": "a", "robot": "nobody" }),
            "robot_unknown",
            "a robot is known after its first memory",
        ),
        ("recall", json!({ "query": " " }), "content_empty", "the query is empty"),
        ("recall", json!({ "query": "\"\"" }), "content_empty", "the query is empty"),
        (
            "recall",
            json!({ "query": "a", "timeframe": "last blue moon" }),
            "timeframe_invalid",
            "`last blue moon`",
        ),
        ("recall", json!({ "query": "a", "namespace": "a\nb" }), "namespace_invalid", "control character"),
        ("remember", json!({ "text": "" }), "content_empty", "the text is empty"),
        ("remember", json!({ "text": "a", "time": "soonish" }), "timeframe_invalid", "`soonish`"),
        (
            "remember",
            json!({ "text": "a", "time": "before 2020" }),
            "time_without_beginning",
            "has no beginning",
        ),
        ("remember", json!({ "text": "a", "expires": "0s" }), "expiry_out_of_range", "1 second to 100 years"),
        ("remember", json!({ "text": "a", "expires": "yesterday" }), "expiry_passed", "give a future time"),
        ("remember", json!({ "text": "a", "tags": ["::"] }), "tag_invalid", "`::`"),
        (
            "remember",
            json!({ "text": "another", "key": "taken" }),
            "key_taken",
            "next: leave key out, or use another one; to correct the memory that the message names, also give its id",
        ),
        ("forget", json!({}), "arguments_conflict", "give either id or text"),
        (
            "forget",
            json!({ "id": 999_999, "confirm": true }),
            "node_not_found",
            "no node 999999\nnext: look for it with recall",
        ),
        ("forget", json!({ "id": id, "robot": "ada", "confirm": true }), "not_owner", "any_robot: true"),
        ("restore", json!({ "id": 999_999 }), "node_not_found", "no node 999999"),
        ("timeline", json!({ "around": 999_999 }), "node_not_found", "no node 999999"),
        (
            "timeline",
            json!({ "around": id, "as_of": "2026-03-01" }),
            "arguments_conflict",
            "around cannot be combined with as_of",
        ),
        (
            "timeline",
            json!({ "around": id, "tags": ["a"] }),
            "arguments_conflict",
            "around cannot be combined with tags",
        ),
        (
            "timeline",
            json!({ "around": id, "namespace": "home" }),
            "arguments_conflict",
            "is of namespace default, not of home\nnext: leave out namespace, or give default",
        ),
        ("tags", json!({ "search": "a", "below": "b" }), "arguments_conflict", "either search or below"),
        (
            "forget",
            json!({ "id": id, "confirm": true, "plan": "x" }),
            "arguments_conflict",
            "a plan is for text: an id needs none\nnext: leave out plan",
        ),
        ("tags", json!({ "below": "nothing" }), "tag_unknown", "nothing"),
        (
            "feedback",
            json!({ "recall": "latest", "used": [id] }),
            "recall_unknown",
            "if answers name none, learning is off: send no feedback",
        ),
    ] {
        let (text, found) = client.fails(tool, arguments.clone()).await;
        assert_eq!(found, code, "{tool} {arguments}: {text}");
        assert!(
            text.starts_with(&format!("error[{code}]: ")) && text.contains(said),
            "{tool} {arguments}: {text}"
        );
        assert!(text.contains("\nnext: ") && !text.contains("Jobs::") && !text.contains("Htm::"), "{text}");
    }
}

#[tokio::test]
async fn the_next_step_of_a_taken_key_leads_on() {
    let client = Client::start(&["--no-workers"]).await;
    let slow = json!({ "text": "The API tests take 14 minutes.", "key": "ci-time" });
    let (_, facts) = client.succeeds("remember", slow.clone()).await;
    let first = facts["node"].clone();
    let fast = "The API tests take 6 minutes.";
    let (text, code) =
        client.fails("remember", json!({ "text": fast, "key": "ci-time", "supersedes": [first] })).await;
    assert!(code == "key_taken" && text.contains("\nnext: leave key out"), "{text}");
    client.succeeds("remember", json!({ "text": fast, "supersedes": [first] })).await;
    client.succeeds("forget", json!({ "id": first, "confirm": true })).await;
    let (_, facts) = client.succeeds("remember", slow).await;
    let second = facts["node"].clone();
    let (text, code) = client.fails("restore", json!({ "id": first })).await;
    assert!(code == "key_taken" && text.contains(&format!("is taken by node {second}\n")), "{text}");
    assert!(text.contains("forget the memory that the message names, then restore again"), "{text}");
    client.succeeds("forget", json!({ "id": second, "confirm": true })).await;
    client.succeeds("restore", json!({ "id": first })).await;
}

#[tokio::test]
async fn an_empty_argument_excludes_no_other() {
    let client = Client::start(&["--no-workers"]).await;
    let written = json!({ "text": "A first text.", "tags": ["database:postgresql"] });
    let (_, facts) = client.succeeds("remember", written).await;
    let id = &facts["node"];
    for (tool, arguments, said) in [
        (
            "timeline",
            json!({ "around": id, "topic": "", "timeframe": "", "tags": [], "session": "", "as_of": "", "namespace": "" }),
            "A first text.",
        ),
        ("tags", json!({ "search": "", "below": "" }), "database:postgresql"),
        ("tags", json!({ "search": "", "below": "database" }), "database:postgresql"),
        ("tags", json!({ "search": "database:postgres", "below": "" }), "tags like database:postgres"),
        (
            "forget",
            json!({ "text": "first", "confirm": true, "plan": "" }),
            "Nothing is forgotten yet. 1 memory",
        ),
        ("forget", json!({ "id": id, "text": "", "confirm": true, "plan": "" }), "Forgotten: ["),
    ] {
        let (text, _) = client.succeeds(tool, arguments.clone()).await;
        assert!(text.contains(said) && !text.contains("have changed"), "{tool} {arguments}: {text}");
    }
}

#[tokio::test]
async fn an_unknown_tool_is_refused_with_the_known_ones() {
    let client = Client::start(&["--no-workers"]).await;
    for tool in ["set_robot", "search", "nothing"] {
        let error = client.service.call_tool(CallToolRequestParams::new(tool)).await.unwrap_err().to_string();
        assert!(error.contains(&format!("no tool `{tool}`; the tools are: remember, recall")), "{error}");
    }
}

#[tokio::test]
async fn an_unknown_resource_or_prompt_is_refused() {
    use rmcp::model::{GetPromptRequestParams, ReadResourceRequestParams};
    let client = Client::start(&["--no-workers"]).await;
    for uri in ["htm://nothing", "htm://memories/999999", "htm://memories/x"] {
        let error = client.service.read_resource(ReadResourceRequestParams::new(uri)).await.unwrap_err();
        assert!(error.to_string().contains("there is no"), "{error}");
    }
    let ask = |name: &str| client.service.get_prompt(GetPromptRequestParams::new(name));
    assert!(ask("nothing").await.unwrap_err().to_string().contains("no prompt `nothing`"));
    assert!(ask("what_do_we_know").await.unwrap_err().to_string().contains("`topic` is missing"));
}

#[tokio::test]
async fn a_database_that_is_gone_is_told_and_comes_back() {
    let client = Client::start(&["--no-workers"]).await;
    client.remember("The ledger is closed on Sundays.").await;
    // Its connections are cut; the pool opens new ones.
    let cut = "select count(pg_terminate_backend(pid)) from pg_stat_activity \
               where datname = current_database() and pid <> pg_backend_pid()";
    client.db.count(cut).await;
    let mut recalled = client.call("recall", json!({ "query": "ledger" })).await;
    if recalled.is_error == Some(true) {
        recalled = client.call("recall", json!({ "query": "ledger" })).await;
    }
    assert!(super::text_of(&recalled).contains("closed on Sundays"), "{recalled:?}");
}

/// Its reader may be a client of a server.
#[tokio::test]
async fn a_failure_of_the_database_does_not_tell_its_causes() {
    let client = Client::start(&["--no-workers"]).await;
    client.succeeds("remember", json!({ "text": "one", "tags": ["a:b"] })).await;
    sqlx::raw_sql("alter table htm.node_tags rename to gone").execute(&client.db.pool).await.unwrap();
    let (said, code) = client.fails("tags", json!({})).await;
    assert_eq!(code, "database_error", "{said}");
    assert!(!said.contains("node_tags"), "{said}");
}
