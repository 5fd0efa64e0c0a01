//! The server as a process: `htm serve`, its stop, its death, and the database's.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use htm_core::{Htm, NewApiKey, Role, Settings};
use htm_server::{Limits, Server};
use htm_tests::{OwnServer, Running, Sandbox, TestDatabase, wait_until};
use nix::sys::signal::Signal;
use serde_json::{Value, json};
use sqlx::postgres::PgPoolOptions;
use tokio_util::sync::CancellationToken;

use super::Served;

/// Where `htm serve` listens.
fn base(process: &Running) -> Option<String> {
    let log = process.log();
    let after = log.split("HTM serves ").nth(1)?;
    Some(after.split(';').next()?.to_owned())
}

async fn start(sandbox: &Sandbox) -> (Running, String) {
    let process = sandbox.start("htm", &["serve"]);
    wait_until(|| async { base(&process).is_some() }).await;
    let base = base(&process).unwrap();
    (process, base)
}

async fn remember(base: &str, key: usize) -> Option<Value> {
    let body = json!({"content": format!("memory {key}"), "session": "s"});
    let request =
        reqwest::Client::new().post(format!("{base}/v1/memories")).header("idempotency-key", key.to_string());
    let response = request.json(&body).send().await.ok()?;
    if response.status() == 201 { response.json().await.ok() } else { None }
}

#[tokio::test]
async fn what_was_acknowledged_survives_a_kill() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let (mut process, first) = start(&sandbox).await;
    let writes: Vec<_> = (0..4)
        .map(|writer| {
            let base = first.clone();
            tokio::spawn(async move {
                let mut acknowledged = Vec::new();
                for key in (writer..4_000).step_by(4) {
                    let Some(receipt) = remember(&base, key).await else { break };
                    acknowledged.push((key, receipt));
                }
                acknowledged
            })
        })
        .collect();
    wait_until(|| async { db.count("select count(*) from htm.nodes").await > 100 }).await;
    process.signal(Signal::SIGKILL);
    process.end().await;
    let mut acknowledged = Vec::new();
    for write in writes {
        acknowledged.extend(write.await.unwrap());
    }
    assert!(acknowledged.len() > 90 && acknowledged.len() < 4_000, "{}", acknowledged.len());
    let (_process, second) = start(&sandbox).await;
    for (key, receipt) in &acknowledged {
        let again = remember(&second, *key).await;
        assert_eq!(again.as_ref(), Some(receipt), "a retry has the first answer");
    }
    let largest = acknowledged.iter().map(|(key, _)| *key).max().unwrap();
    // What was in hand at the kill was written or was not; its retry settles it.
    for key in 0..=largest + 4 {
        remember(&second, key).await.unwrap();
    }
    assert_eq!(db.count("select count(*) from htm.nodes").await, largest as i64 + 5);
}

/// Bodies of the most bytes whose values are as small as can be: read, they take many times their bytes.
fn heavy_bodies() -> Vec<(&'static str, String)> {
    let objects = vec![r#"{"a":1}"#; (15 << 20) / 8].join(",");
    let numbers = vec!["1"; (15 << 20) / 2].join(",");
    let message = format!(
        r#"{{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {{"name": "recall", "arguments": {{"a": [{objects}]}}}}}}"#
    );
    vec![
        ("/v1/memories", format!(r#"{{"content": "x", "metadata": {{"a": [{objects}]}}}}"#)),
        ("/v1/recall", format!(r#"{{"query": "x", "filter": {{"metadata": {{"a": [{numbers}]}}}}}}"#)),
        ("/v1/robots", format!(r#"{{"name": "x", "metadata": {{"a": [{objects}]}}}}"#)),
        (
            "/v1/memories/batch",
            format!(r#"{{"memories": [{}]}}"#, vec![r#"{"content":""}"#; 1 << 20].join(",")),
        ),
        ("/mcp", message),
    ]
}

/// The most memory that a process has had, in KiB.
fn peak(pid: impl std::fmt::Display) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let peak = |line: &str| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?.parse().ok();
    status.lines().find_map(peak).unwrap()
}

#[tokio::test]
async fn heavy_bodies_are_refused_within_bounded_memory() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let (process, base) = start(&sandbox).await;
    let bodies = heavy_bodies();
    let http = reqwest::Client::new();
    let sent = (0..40).map(|client| {
        let (path, body) = bodies[client % bodies.len()].clone();
        let request = http.post(format!("{base}{path}")).header("content-type", "application/json");
        let request = request.header("accept", "application/json, text/event-stream").body(body);
        tokio::spawn(async move {
            let response = request.send().await.ok()?;
            let (status, problem) = (response.status().as_u16(), response.json::<Value>().await.ok()?);
            Some((path, status, problem["code"].as_str()?.to_owned()))
        })
    });
    let mut refused = 0;
    for answer in sent.collect::<Vec<_>>() {
        // A client that is still sending may see the closed connection instead of the answer.
        let Some((path, status, code)) = answer.await.unwrap() else { continue };
        let expected = [(413, "body_too_large"), (429, "too_busy")];
        assert!(expected.contains(&(status, code.as_str())), "{path}: {status} {code}");
        refused += u32::from(status == 413);
    }
    assert!(refused > 0, "one of them at least was read");
    let most = peak(process.pid);
    println!("{most} KiB at most");
    assert!(most < 768 << 10, "{most} KiB");
    assert_eq!(db.count("select count(*) from htm.nodes").await, 0);
}

/// Each message of a conversation has a copy of the conversation's fields.
#[tokio::test]
async fn a_large_field_of_many_messages_is_refused_within_bounded_memory() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let (process, base) = start(&sandbox).await;
    let messages = vec![json!({"role": "user", "content": "x"}); 1_000];
    for field in ["source", "session"] {
        let mut body = json!({"messages": messages});
        body[field] = json!("s".repeat(4 << 20));
        let request = reqwest::Client::new().post(format!("{base}/v1/conversations")).json(&body);
        assert_eq!(request.send().await.unwrap().status().as_u16(), 422, "{field}");
    }
    let most = peak(process.pid);
    assert!(most < 768 << 10, "{most} KiB");
}

#[tokio::test]
async fn a_stop_lets_requests_in_hand_end() {
    let served = Served::new().await;
    let mut blocker = served.db.pool.begin().await.unwrap();
    sqlx::raw_sql("lock table htm.robots in access exclusive mode").execute(&mut *blocker).await.unwrap();
    let in_hand = {
        let (http, url) = (served.http.clone(), format!("{}/v1/robots", served.base));
        tokio::spawn(async move { http.get(url).send().await.unwrap().status().as_u16() })
    };
    wait_until(|| async { served.get("/metrics").await.text.contains("htm_http_requests_in_flight 2") })
        .await;
    let called = {
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": "context", "arguments": {"robot": "ada"}}});
        let request = served.http.post(format!("{}/mcp", served.base)).json(&call);
        let request = request.header("accept", "application/json, text/event-stream");
        tokio::spawn(async move { request.send().await.unwrap().json::<Value>().await.unwrap() })
    };
    wait_until(|| async { served.get("/metrics").await.text.contains("htm_http_requests_in_flight 3") })
        .await;
    served.stop.cancel();
    let address = served.base.strip_prefix("http://").unwrap();
    wait_until(|| async { tokio::net::TcpStream::connect(address).await.is_err() }).await;
    blocker.rollback().await.unwrap();
    assert_eq!(in_hand.await.unwrap(), 200);
    let called = called.await.unwrap();
    assert!(called["result"].is_object(), "{called}");
    served.serving.await.unwrap();
}

#[tokio::test]
async fn the_log_has_the_ids_and_traces_of_requests() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db).set("HTM_LOG__LEVEL", "debug");
    let (process, base) = start(&sandbox).await;
    let request = reqwest::Client::new().get(format!("{base}/v1/memories/77"));
    let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    let request = request.header("traceparent", format!("00-{trace}-00f067aa0ba902b7-01"));
    assert_eq!(request.header("x-request-id", "mine").send().await.unwrap().status(), 404);
    let of_request = format!("request{{id=mine trace_id=\"{trace}\" method=\"GET\"");
    let is_logged = |line: &str| line.contains(&of_request) && line.contains("answered status=404");
    wait_until(|| async { process.log().lines().any(is_logged) }).await;
}

#[tokio::test]
async fn two_servers_over_one_database_are_one() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let ((_one, first), (_two, second)) = (start(&sandbox).await, start(&sandbox).await);
    let written = remember(&first, 1).await.unwrap();
    assert_eq!(remember(&second, 1).await.unwrap(), written);
    let read = reqwest::get(format!("{second}/v1/memories/{}", written["node"])).await.unwrap();
    assert_eq!(read.status(), 200);
}

#[tokio::test]
async fn the_metrics_are_shown_to_a_known_key_while_the_database_is_away() {
    let own = OwnServer::start().await;
    let pool = PgPoolOptions::new().acquire_timeout(Duration::from_secs(2));
    let htm = Htm::with_pool(pool.connect(&own.url()).await.unwrap(), Settings::default(), None);
    let created = htm.create_api_key(&NewApiKey::new(Role::Reader)).await.unwrap();
    // The server takes one request of it at a time from the database.
    let limited = NewApiKey { requests_per_minute: Some(39), ..NewApiKey::new(Role::Reader) };
    let limited = htm.create_api_key(&limited).await.unwrap();
    let listening = "127.0.0.1:0".parse::<std::net::SocketAddr>().unwrap();
    let server = Server::bind(listening, htm, Limits::default()).await.unwrap();
    let (base, stop) = (format!("http://{}", server.address()), CancellationToken::new());
    let serving = tokio::spawn(server.serve(stop.clone()));
    let http = reqwest::Client::new();
    let get = async |path: &str, key: &str| {
        let answer = http.get(format!("{base}{path}")).bearer_auth(key).send().await.unwrap();
        (answer.status().as_u16(), answer.text().await.unwrap())
    };
    let (known, unknown) = (created.secret.expose(), "htm_unknown");
    let limited = limited.secret.expose();
    for key in [known, limited] {
        assert_eq!(get("/metrics", key).await.0, 200);
    }
    own.crash().await;
    // A key is not looked up again for a moment.
    wait_until(async || get("/mcp", known).await.0 == 503).await;
    for key in [known, limited] {
        assert_eq!(get("/metrics", key).await.0, 200);
    }
    assert_ne!(get("/metrics", unknown).await.0, 200);
    assert_eq!(get("/v1/stats", limited).await.0, 503);
    let (status, problem) = get("/v1/stats", known).await;
    let problem: Value = serde_json::from_str(&problem).unwrap();
    assert_eq!((status, &problem["code"]), (503, &json!("database_unreachable")), "{problem}");
    assert!(problem.get("values").is_none(), "{problem}");
    stop.cancel();
    serving.await.unwrap();
}

#[tokio::test]
async fn the_metrics_of_an_open_server_are_shown_while_the_database_is_away() {
    let own = OwnServer::start().await;
    let pool = PgPoolOptions::new().acquire_timeout(Duration::from_secs(2));
    let htm = Htm::with_pool(pool.connect(&own.url()).await.unwrap(), Settings::default(), None);
    let listening = "127.0.0.1:0".parse::<std::net::SocketAddr>().unwrap();
    let server = Server::bind(listening, htm, Limits::default()).await.unwrap();
    let (base, stop) = (format!("http://{}", server.address()), CancellationToken::new());
    let serving = tokio::spawn(server.serve(stop.clone()));
    let get = async |path: &str| reqwest::get(format!("{base}{path}")).await.unwrap().status().as_u16();
    assert_eq!(get("/metrics").await, 200);
    own.crash().await;
    // That there is no key is not looked up again for a moment.
    wait_until(async || get("/mcp").await == 503).await;
    assert_eq!(get("/metrics").await, 200);
    stop.cancel();
    serving.await.unwrap();
}

#[tokio::test]
async fn a_database_that_restarts_under_load_is_said_and_comes_back() {
    let own = OwnServer::start().await;
    let pool = PgPoolOptions::new().max_connections(4).acquire_timeout(Duration::from_secs(2));
    let htm = Htm::with_pool(pool.connect(&own.url()).await.unwrap(), Settings::default(), None);
    let server = Server::bind("127.0.0.1:0".parse::<std::net::SocketAddr>().unwrap(), htm, Limits::default())
        .await
        .unwrap();
    let (base, stop) = (format!("http://{}", server.address()), CancellationToken::new());
    let serving = tokio::spawn(server.serve(stop.clone()));
    let ready = async || reqwest::get(format!("{base}/readyz")).await.unwrap().status().as_u16();
    assert_eq!(ready().await, 200);
    let (ended, acknowledged) = (CancellationToken::new(), Arc::new(Mutex::new(Vec::new())));
    let writers: Vec<_> = (0..4)
        .map(|writer| {
            let (base, ended, acknowledged) = (base.clone(), ended.clone(), acknowledged.clone());
            tokio::spawn(async move {
                let (http, mut refused) = (reqwest::Client::new(), 0);
                for n in (writer..).step_by(4) {
                    if ended.is_cancelled() {
                        break;
                    }
                    let request =
                        http.post(format!("{base}/v1/memories")).json(&json!({"content": format!("{n}")}));
                    let response = request.send().await.expect("the server answers");
                    match response.status().as_u16() {
                        201 => {
                            let body: Value = response.json().await.unwrap();
                            acknowledged.lock().unwrap().push(body["node"].as_i64().unwrap());
                        }
                        503 => {
                            assert_eq!(response.headers()["retry-after"], "1");
                            refused += 1;
                        }
                        other => panic!("{other}: {}", response.text().await.unwrap()),
                    }
                }
                refused
            })
        })
        .collect();
    let written = || acknowledged.lock().unwrap().len();
    wait_until(|| async { written() > 50 }).await;
    own.crash().await;
    assert_eq!(ready().await, 503);
    assert_eq!(reqwest::get(format!("{base}/livez")).await.unwrap().status(), 200);
    own.restart().await;
    let before = written();
    wait_until(|| async { written() > before + 50 }).await;
    ended.cancel();
    let mut refused = 0;
    for writer in writers {
        refused += writer.await.unwrap();
    }
    assert!(refused > 0, "the writers met the outage");
    let nodes = acknowledged.lock().unwrap().clone();
    let there: i64 = sqlx::query_scalar("select count(*) from htm.nodes where id = any ($1)")
        .bind(&nodes)
        .fetch_one(&own.pool)
        .await
        .unwrap();
    assert_eq!(there, nodes.len() as i64, "nothing acknowledged is lost");
    stop.cancel();
    serving.await.unwrap();
}

#[tokio::test]
async fn the_use_of_a_revoked_key_is_in_the_log_once() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let key = htm.create_api_key(&NewApiKey::new(Role::Reader).namespace("a")).await.unwrap();
    let sandbox = Sandbox::new(&db);
    let (process, base) = start(&sandbox).await;
    let ask = async |path: &str| {
        let request = reqwest::Client::new().get(format!("{base}{path}")).bearer_auth(key.secret.expose());
        request.send().await.unwrap().status().as_u16()
    };
    assert_eq!(ask("/v1/stats?namespace=b").await, 403);
    htm.revoke_api_key(&key.key.id).await.unwrap();
    wait_until(|| async { ask("/v1/stats").await == 401 }).await;
    assert_eq!(ask("/v1/stats").await, 401);
    let lines = |code: &str| {
        let log = process.log();
        log.lines().filter(|line| line.contains(code) && line.contains(&key.key.id)).count()
    };
    wait_until(|| async { lines("api_key_revoked") > 0 && lines("namespace_forbidden") > 0 }).await;
    assert_eq!((lines("api_key_revoked"), lines("namespace_forbidden")), (1, 1));
    assert!(!process.log().contains(&key.secret.expose()[20..]));
}
