//! The configuration explains itself and keeps secrets.

use htm_tests::{Sandbox, TestDatabase};
use serde_json::Value;
use wiremock::matchers::any;
use wiremock::{Mock, MockServer, ResponseTemplate};

const URL: &str = "postgres://ada:hunter2@127.0.0.1:1/memories";

fn entry<'a>(shown: &'a Value, key: &str) -> (&'a str, &'a str) {
    let entry = shown.as_array().unwrap().iter().find(|entry| entry["key"] == key).unwrap();
    (entry["value"].as_str().unwrap(), entry["source"].as_str().unwrap())
}

#[tokio::test]
async fn each_value_is_shown_with_its_source() {
    let sandbox = Sandbox::on(URL).set("HTM_OPENAI__API_KEY", "sk-secret").set("HTM_JOBS__LEASE_MS", "5000");
    let project = sandbox.write("htm.toml", "[recall]\nlimit = 7\nef_search = 50\n[jobs]\nlease_ms = 9000\n");
    let shown = sandbox.htm(&["config", "show", "--json", "--set", "recall.ef_search=60"]).await.json();
    assert_eq!(entry(&shown, "memory.namespace"), ("\"default\"", "default"));
    // Whatever the command's own needs are: this was not said by anybody.
    assert_eq!(entry(&shown, "log.level"), ("\"info\"", "default"));
    let (limit, source) = entry(&shown, "recall.limit");
    assert_eq!(
        (limit, std::fs::canonicalize(source).unwrap()),
        ("7", std::fs::canonicalize(project).unwrap())
    );
    assert_eq!(entry(&shown, "jobs.lease_ms"), ("5000", "HTM_JOBS__LEASE_MS"));
    assert_eq!(entry(&shown, "recall.ef_search"), ("60", "command line"));
    assert_eq!(entry(&shown, "openai.api_key"), ("\"***\"", "HTM_OPENAI__API_KEY"));
    assert_eq!(entry(&shown, "database.url").0, "\"postgres://ada:***@127.0.0.1:1/memories\"");
    let answer = sandbox.htm(&["config", "show"]).await;
    assert!(answer.succeeds().lines().any(|line| {
        line.split_whitespace().collect::<Vec<_>>() == ["jobs.lease_ms", "5000", "HTM_JOBS__LEASE_MS"]
    }));
}

#[tokio::test]
async fn secrets_are_in_no_output() {
    let sandbox = Sandbox::on(URL)
        .set("HTM_OPENAI__API_KEY", "sk-secret")
        .set("HTM_DATABASE__CONNECT_TIMEOUT_MS", "200")
        .set("RUST_LOG", "debug");
    for arguments in [
        &["config", "show"][..],
        &["config", "show", "--json"],
        &["doctor"],
        &["db", "status"],
        &["up"],
        &["recall", "x"],
    ] {
        let answer = sandbox.htm(arguments).await;
        let said = format!("{}{}", answer.stdout, answer.stderr);
        assert!(!said.contains("hunter2") && !said.contains("sk-secret"), "{said}");
    }
}

#[tokio::test]
async fn an_unknown_key_and_a_bad_value_are_named_with_their_source() {
    let unknown = Sandbox::on(URL).set("HTM_RECALL__LIMT", "7");
    let answer = unknown.htm(&["recall", "x"]).await;
    let said = answer.fails(2, "config_unknown_key");
    for part in ["`recall.limt`", "HTM_RECALL__LIMT", "did you mean `recall.limit`?"] {
        assert!(said.contains(part), "{said}");
    }
    let bad = Sandbox::on(URL).set("HTM_RECALL__LIMIT", "lots");
    let answer = bad.htm(&["config", "show", "--json"]).await;
    let error = answer.json_error(2);
    assert_eq!(error["code"], "config_bad_value");
    let message = error["message"].as_str().unwrap();
    for part in ["`recall.limit`", "lots", "HTM_RECALL__LIMIT", "from 1 to 10000"] {
        assert!(message.contains(part), "{message}");
    }
    let file = Sandbox::on(URL);
    file.write("htm.toml", "[recal]\nlimit = 7\n");
    let answer = file.htm(&["config", "show"]).await;
    let said = answer.fails(2, "config_unknown_key");
    assert!(said.contains("htm.toml"), "{said}");
    let answer = Sandbox::on(URL).htm(&["config", "show", "--set", "tag.threshold=2"]).await;
    let said = answer.fails(2, "config_bad_value");
    assert!(said.contains("--set tag.threshold"), "{said}");
}

#[tokio::test]
async fn a_log_filter_that_cannot_be_read_is_an_error() {
    let answer = Sandbox::on(URL).set("RUST_LOG", "htm=loud").htm(&["config", "show"]).await;
    answer.fails(2, "telemetry_bad_filter");
}

#[tokio::test]
async fn a_planted_project_file_gets_neither_the_key_nor_a_memory() {
    let db = TestDatabase::new().await;
    let mallory = MockServer::start().await;
    Mock::given(any()).respond_with(ResponseTemplate::new(500)).mount(&mallory).await;
    let asked = async || mallory.received_requests().await.unwrap();
    let sandbox = Sandbox::new(&db)
        .set("HTM_EMBEDDING__PROVIDER", "openai")
        .set("HTM_EMBEDDING__MODEL", "mock")
        .set("HTM_OPENAI__API_KEY", "sk-secret");
    let text = format!("[openai]\nbase_url = \"{}/v1\"\n", mallory.uri());
    sandbox.write("htm.toml", &text);
    for arguments in
        [&["doctor"][..], &["recall", "a secret"], &["remember", "a secret"], &["config", "show"]]
    {
        let answer = sandbox.htm(arguments).await;
        let said = answer.fails(2, "config_untrusted");
        assert!(said.contains("`openai.base_url`") && said.contains("htm config trust"), "{said}");
    }
    sandbox.run("embed-worker", &["--drain"], b"").await.fails(2, "config_untrusted");
    assert!(asked().await.is_empty());

    // Trusted, it still gets no key of the environment's.
    let files = sandbox.htm(&["config", "trust", "--json"]).await.json();
    assert_eq!((&files[0]["trusted"], &files[0]["guarded"][0][0]), (&true.into(), &"openai.base_url".into()));
    sandbox.htm(&["doctor"]).await.fails(2, "config_key_elsewhere");
    assert!(asked().await.is_empty());
    let sandbox = sandbox.set("HTM_OPENAI__API_KEY", "");
    sandbox.htm(&["doctor"]).await.exits(1);
    let requests = asked().await;
    assert!(!requests.is_empty());
    assert!(requests.iter().all(|request| !request.headers.contains_key("authorization")));

    // Another content is not trusted, nor is this one any longer.
    sandbox.write("htm.toml", format!("{text}# changed\n"));
    sandbox.htm(&["doctor"]).await.fails(2, "config_untrusted");
    sandbox.write("htm.toml", &text);
    let said = sandbox.htm(&["config", "trust", "--revoke"]).await;
    assert!(said.succeeds().contains("is not trusted to set"), "{said:?}");
    sandbox.htm(&["doctor"]).await.fails(2, "config_untrusted");
    assert_eq!(asked().await.len(), requests.len());
}

#[tokio::test]
async fn trust_without_a_project_says_so() {
    Sandbox::on(URL).htm(&["config", "trust"]).await.fails(2, "config_no_project");
}

#[tokio::test]
async fn a_secret_in_a_broken_file_or_a_strange_parameter_is_not_told() {
    let sandbox = Sandbox::on(URL);
    sandbox.write("htm.toml", "[openai]\napi_key = sk-secret\n");
    let answer = sandbox.htm(&["config", "show"]).await;
    let said = answer.fails(2, "config_unreadable");
    assert!(said.contains("line 2") && !said.contains("sk-secret"), "{said}");

    let sandbox = Sandbox::on("postgres://ada@127.0.0.1:1/memories?pass=hunter2")
        .set("HTM_DATABASE__CONNECT_TIMEOUT_MS", "200")
        .set("RUST_LOG", "debug");
    for arguments in [&["config", "show"][..], &["doctor"], &["recall", "x"], &["db", "status"]] {
        let answer = sandbox.htm(arguments).await;
        let said = format!("{}{}", answer.stdout, answer.stderr);
        assert!(!said.contains("hunter2"), "{said}");
    }
}
