//! The export of traces, to what an OpenTelemetry collector receives.

use std::time::Duration;

use htm_tests::{Sandbox, TestDatabase, free_port, wait_until};
use nix::sys::signal::Signal;
use serde_json::json;
use wiremock::matchers::{basic_auth, method, path};
use wiremock::{Mock, MockServer, ResponseTemplate};

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

/// The bytes that a collector received.
async fn received(collector: &MockServer) -> Vec<u8> {
    collector.received_requests().await.expect("recorded").into_iter().flat_map(|it| it.body).collect()
}

fn has(body: &[u8], part: &[u8]) -> bool {
    body.windows(part.len()).any(|window| window == part)
}

fn bytes(hexadecimal: &str) -> Vec<u8> {
    let digits = |at: usize| u8::from_str_radix(&hexadecimal[at..at + 2], 16).expect("hexadecimal");
    (0..hexadecimal.len()).step_by(2).map(digits).collect()
}

async fn collector() -> MockServer {
    let collector = MockServer::start().await;
    let traces = Mock::given(method("POST")).and(path("/v1/traces"));
    traces.respond_with(ResponseTemplate::new(200)).mount(&collector).await;
    collector
}

#[tokio::test]
async fn a_request_and_a_batch_are_spans_without_texts() {
    let db = TestDatabase::new().await;
    let collector = collector().await;
    let sandbox = Sandbox::new(&db)
        .set("HTM_LOG__OTLP_ENDPOINT", &collector.uri())
        // The time between two exports, in milliseconds.
        .set("OTEL_BSP_SCHEDULE_DELAY", "100");
    let address = format!("127.0.0.1:{}", free_port());
    let mut server = sandbox.start("htm", &["serve", "--listen", &address]);
    let remember = || {
        reqwest::Client::new()
            .post(format!("http://{address}/v1/memories"))
            .header("traceparent", format!("00-{TRACE}-00f067aa0ba902b7-01"))
            .json(&json!({ "content": "Mara prefers tabs.", "metadata": { "token": "hunter2" } }))
            .send()
    };
    wait_until(async || remember().await.is_ok()).await;
    let answer = remember().await.unwrap();
    let answered = answer.headers()["traceparent"].to_str().unwrap().to_owned();
    let parts: Vec<&str> = answered.split('-').collect();
    assert_eq!((parts[1], parts[3]), (TRACE, "01"));

    wait_until(async || has(&received(&collector).await, &bytes(parts[2]))).await;
    let body = received(&collector).await;
    for part in [&bytes(TRACE)[..], &bytes("00f067aa0ba902b7"), b"POST /v1/memories", b"http.route", b"htm"] {
        assert!(has(&body, part), "{part:?}");
    }
    server.signal(Signal::SIGTERM);
    assert!(server.end().await.success());

    // A process that ends sends what it has.
    let sandbox = sandbox.set("OTEL_BSP_SCHEDULE_DELAY", "600000");
    sandbox.run("embed-worker", &["--drain"], b"").await.succeeds();
    let body = received(&collector).await;
    assert!(has(&body, b"batch") && has(&body, b"embed-worker"));
    for secret in [&b"Mara"[..], b"tabs", b"hunter2"] {
        assert!(!has(&body, secret), "{secret:?}");
    }
}

#[tokio::test]
async fn the_password_of_the_url_is_sent_and_a_refusal_is_logged_once() {
    let db = TestDatabase::new().await;
    let collector = MockServer::start().await;
    let traces = Mock::given(method("POST")).and(path("/v1/traces")).and(basic_auth("ada", "p@s"));
    traces.respond_with(ResponseTemplate::new(200)).mount(&collector).await;
    for (user, warnings) in [("ada:p%40s", 0), ("ada:hunter2", 1)] {
        let sandbox = Sandbox::new(&db)
            .set("HTM_LOG__OTLP_ENDPOINT", &collector.uri().replacen("//", &format!("//{user}@"), 1))
            // A collector on this machine is asked directly.
            .set("HTTP_PROXY", "http://127.0.0.1:1");
        sandbox.remember(&[&format!("Mara has {warnings} cats.")]).await;
        let asked = collector.received_requests().await.expect("recorded").len();
        let answer = sandbox.run("embed-worker", &["--drain"], b"").await;
        answer.succeeds();
        assert!(collector.received_requests().await.expect("recorded").len() > asked, "{}", answer.stderr);
        let said = &answer.stderr;
        assert_eq!(said.matches("traces are not exported").count(), warnings, "{said}");
        assert!(!said.contains("hunter2"), "{said}");
    }
}

#[tokio::test]
async fn a_collector_that_is_away_disturbs_nothing() {
    let db = TestDatabase::new().await;
    let nobody = format!("http://127.0.0.1:{}", free_port());
    let sandbox = Sandbox::new(&db).set("HTM_LOG__OTLP_ENDPOINT", &nobody);
    sandbox.remember(&["Mara prefers tabs."]).await;
    let drained =
        tokio::time::timeout(Duration::from_secs(30), sandbox.run("embed-worker", &["--drain"], b""));
    drained.await.expect("it ends in time").succeeds();
    sandbox.htm(&["recall", "tabs"]).await.succeeds();
}
