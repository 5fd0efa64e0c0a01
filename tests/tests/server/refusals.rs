//! The requests that the server refuses, with the number or the name that was wrong.

use std::time::Duration;

use htm_server::{Limits, Server};
use htm_tests::TestDatabase;
use reqwest::Method;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::Served;

#[tokio::test]
async fn bad_requests_say_what_is_wrong() {
    let served = Served::new().await;
    let json = |body: Vec<u8>| {
        let request = served.request(Method::POST, "/v1/memories").header("content-type", "application/json");
        served.send(request.body(body))
    };
    for body in ["", "{", "[]", "{\"content\": 1}", "{\"contents\": \"x\"}", "{\"content\": \"x\"} y"] {
        assert_eq!(json(body.into()).await.problem(), (400, "body_invalid"), "{body}");
    }
    assert_eq!(json(b"{\"content\": \"\xff\"}".to_vec()).await.problem(), (400, "body_invalid"));
    let deep =
        format!("{{\"content\": \"x\", \"metadata\": {}1{}}}", "{\"a\":".repeat(5_000), "}".repeat(5_000));
    assert_eq!(json(deep.into()).await.problem(), (400, "body_invalid"));
    let both = "{\"content\": \"x\", \"ttl_seconds\": 1, \"expires_at\": \"2030-01-01T00:00:00Z\"}";
    assert_eq!(json(both.into()).await.problem(), (400, "body_invalid"));
    let unknown = json(b"{\"contents\": \"x\"}".to_vec()).await;
    assert!(unknown.body["detail"].as_str().unwrap().contains("`contents`"), "{}", unknown.text);
    let text = served.request(Method::POST, "/v1/memories").body("x");
    assert_eq!(served.send(text).await.problem(), (415, "media_type_unfit"));
    let packed = served.request(Method::POST, "/v1/memories").header("content-encoding", "gzip");
    assert_eq!(served.send(packed.json(&json!({"content": "x"}))).await.problem(), (415, "media_type_unfit"));
    let heavy = json!({"messages": vec![json!({"role": "user", "content": "x"}); 1_000],
        "metadata": {"a": "x".repeat(2_000)}});
    let heavy = served.post("/v1/conversations", heavy).await;
    assert_eq!(heavy.problem(), (413, "batch_too_large"));
    assert!(heavy.body["detail"].as_str().unwrap().contains("more than 1048576"), "{}", heavy.text);
    assert_eq!(served.get("/v1/memories/x").await.problem(), (400, "path_invalid"));
    assert_eq!(served.get("/v1/memories/99").await.problem(), (404, "node_not_found"));
    assert_eq!(served.get("/v1/recall").await.problem(), (400, "query_invalid"));
    assert_eq!(served.get("/v1/recall?q=x&lmit=3").await.problem(), (400, "query_invalid"));
    for (field, value, problem) in [
        ("max_tokens", json!(0), (422, "budget_out_of_range")),
        ("max_tokens", json!(1_000_001), (422, "budget_out_of_range")),
        ("separator", json!("-".repeat(1_025)), (400, "body_invalid")),
    ] {
        let refused = served.post("/v1/context", json!({"robot": "ada", field: value})).await;
        assert_eq!(refused.problem(), problem);
        assert!(refused.body["detail"].as_str().unwrap().starts_with(field), "{}", refused.text);
    }
    // A mistyped `dry_run` makes no change.
    for (path, body) in [
        ("add", json!({"tags": []})),
        ("remove", json!({"tag": "a"})),
        ("rename", json!({"tag": "a", "to": "b"})),
        ("merge", json!({"from": ["a"], "into": "b"})),
        ("split", json!({"tag": "a", "into": []})),
        ("synonyms/add", json!({"name": "a", "tag": "b"})),
        ("synonyms/remove", json!({"name": "a"})),
        ("distinct/add", json!({"tag": "a", "other": "b"})),
        ("import", json!({"document": {"version": 1, "tags": []}})),
        ("revert", json!({"id": 1})),
    ] {
        let mut body = body;
        body["dryRun"] = true.into();
        let refused = served.post(&format!("/v1/tags/{path}"), body).await;
        assert_eq!(refused.problem(), (400, "body_invalid"), "{path}");
        assert!(refused.body["detail"].as_str().unwrap().contains("`dryRun`"), "{}", refused.text);
    }
    assert_eq!(served.get("/v1/jobs?limit=0").await.problem(), (422, "limit_out_of_range"));
    assert_eq!(served.get("/v2/recall").await.problem(), (404, "route_unknown"));
    let wrong = served.put("/v1/recall", json!({})).await;
    assert_eq!(wrong.problem(), (405, "method_unknown"));
    assert_eq!(wrong.header("allow"), "POST,GET,HEAD");
    assert_eq!(served.db.count("select count(*) from htm.nodes").await, 0);
}

#[tokio::test]
async fn a_request_has_a_small_head() {
    let served = Served::new().await;
    let long = served.get(&format!("/v1/recall?q={}", "x".repeat(20_000))).await;
    assert_eq!(long.problem(), (414, "uri_too_long"));
    assert!(long.text.contains("16384"), "{}", long.text);
    let request = || served.request(Method::GET, "/v1/stats");
    let many = (0..70).fold(request(), |request, at| request.header(format!("x-{at}"), "1"));
    let large = request().header("cookie", "x".repeat(70_000));
    for (request, number) in [(many, "of 64 and"), (large, "65536 at most")] {
        let refused = served.send(request).await;
        assert_eq!(refused.problem(), (431, "headers_too_large"));
        assert!(refused.text.contains(number), "{}", refused.text);
    }
    served.get("/v1/recall?q=short").await.is(200);
}

#[tokio::test]
async fn a_nul_byte_is_refused_wherever_it_is_looked_up() {
    let served = Served::new().await;
    for (path, body) in [
        ("/v1/context", json!({"robot": "a\0"})),
        ("/v1/robots", json!({"name": "a\0"})),
        ("/v1/robots/merge", json!({"from": ["a\0"], "into": "b"})),
        ("/v1/recall", json!({"query": "a\0"})),
        ("/v1/recall", json!({"query": "a", "filter": {"sources": ["a\0"]}})),
        ("/v1/jobs/retry", json!({"ids": ["a\0"]})),
        ("/v1/jobs/retry", json!({"error": "a\0"})),
        ("/v1/tags/rename", json!({"tag": "a\0", "to": "b"})),
        ("/v1/models/activate", json!({"label": "a\0"})),
        ("/v1/providers/reset", json!({"model": "a\0"})),
        ("/v1/groups/a%00/promote", json!({"robot": "b"})),
        ("/v1/queues/a%00/pause", json!({"reason": "b"})),
    ] {
        let status = served.post(path, body.clone()).await.problem().0;
        assert!(matches!(status, 404 | 422), "{status} for {path} {body}");
    }
    for path in [
        "/v1/memories/by-key/a%00",
        "/v1/robots/a%00",
        "/v1/jobs?namespace=a%00",
        "/v1/tags?below=a%00",
        "/v1/namespaces?prefix=a%00",
        "/v1/groups/a%00",
        "/v1/jobs/a%00",
    ] {
        let status = served.get(path).await.problem().0;
        assert!(matches!(status, 404 | 422), "{status} for {path}");
    }
}

#[tokio::test]
async fn a_body_has_a_largest_size() {
    let served = Served::new().await;
    let large = json!({"content": "x".repeat(1 << 20)});
    served.post("/v1/memories", large).await.is(201);
    let too_large = json!({"content": "x".repeat((1 << 20) + 1)});
    assert_eq!(served.post("/v1/memories", too_large).await.problem(), (413, "content_too_large"));
    let huge = vec![b' '; 100 << 20];
    let request = served.request(Method::POST, "/v1/memories").header("content-type", "application/json");
    // The server answers before it has read all, and may close the connection on the rest.
    if let Ok(response) = request.body(huge).send().await {
        assert_eq!(response.status(), 413);
        assert!(response.text().await.unwrap().contains("16777216 bytes"));
    }
    // Without a length, it is counted while it is read.
    let chunks = futures::stream::iter((0..40).map(|_| Ok::<_, std::io::Error>(vec![b' '; 1 << 20])));
    let request = served.request(Method::POST, "/v1/memories").header("content-type", "application/json");
    if let Ok(response) = request.body(reqwest::Body::wrap_stream(chunks)).send().await {
        assert_eq!(response.status(), 413);
    }
    served.remember("well").await;
}

/// Sends bytes as they are, and returns what comes back within a time.
async fn raw(served: &Served, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(served.base.strip_prefix("http://").unwrap()).await.unwrap();
    stream.write_all(bytes).await.unwrap();
    answer_of(stream).await
}

/// Sends bytes as they are and ends this side of the connection.
async fn half_closed(served: &Served, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(served.base.strip_prefix("http://").unwrap()).await.unwrap();
    stream.write_all(bytes).await.unwrap();
    stream.shutdown().await.unwrap();
    answer_of(stream).await
}

async fn answer_of(mut stream: TcpStream) -> String {
    let mut answer = Vec::new();
    tokio::time::timeout(Duration::from_secs(20), stream.read_to_end(&mut answer)).await.ok();
    String::from_utf8_lossy(&answer).into_owned()
}

#[tokio::test]
async fn slow_and_broken_clients_do_not_hold_the_server() {
    let limits = Limits {
        connections: 4,
        header_time: Duration::from_millis(300),
        request_time: Duration::from_millis(600),
        ..Limits::default()
    };
    let served = Served::with(limits).await;
    // Clients that say nothing take all connections, for the time of the headers.
    let address = served.base.strip_prefix("http://").unwrap().to_owned();
    let mut silent = Vec::new();
    for _ in 0..4 {
        silent.push(TcpStream::connect(&address).await.unwrap());
    }
    served.remember("after the silent ones").await;
    let head = "POST /v1/memories HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n";
    let late = raw(&served, format!("{head}{{\"content\":").as_bytes()).await;
    assert!(late.starts_with("HTTP/1.1 408") && late.contains("body_incomplete"), "{late}");
    assert!(late.contains("0.6 s"), "{late}");
    let sign_in = "POST /console/sign-in HTTP/1.1\r\nhost: localhost\r\norigin: http://localhost\r\n\
                   content-length: 100\r\n\r\n{";
    let port = address.rsplit(':').next().unwrap();
    let late = raw(&served, sign_in.replace("localhost", &format!("localhost:{port}")).as_bytes()).await;
    assert!(late.starts_with("HTTP/1.1 408") && late.contains("body_incomplete"), "{late}");
    // Any token may be sent as a method; no metric is kept of each.
    for method in ["AAAA1", "AAAA2"] {
        raw(
            &served,
            format!("{method} / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n").as_bytes(),
        )
        .await;
    }
    let metrics = served.get("/metrics").await.text;
    assert!(metrics.contains("method=\"other\"") && !metrics.contains("AAAA"), "{metrics}");
    assert!(raw(&served, b"GARBAGE\r\n\r\n").await.starts_with("HTTP/1.1 400"));
    // Half of a body, then no more: the client has gone.
    let half = half_closed(&served, format!("{head}{{\"content\": \"half").as_bytes()).await;
    assert!(half.starts_with("HTTP/1.1 400") && half.contains("body_incomplete"), "{half}");
    // A whole request, and no more.
    let whole = format!("{}{{\"content\": \"half closed\"}}", head.replace("100\r\n", "26\r\n"));
    let answer = half_closed(&served, whole.as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 201"), "{answer}");
    served.remember("well").await;
    assert_eq!(served.db.count("select count(*) from htm.nodes").await, 3);
}

#[tokio::test]
async fn other_hosts_and_pages_are_refused() {
    let served = Served::new().await;
    let with = |name: &'static str, value: &'static str| {
        served.send(served.request(Method::GET, "/v1/robots").header(name, value))
    };
    assert_eq!(with("host", "evil.example").await.problem(), (403, "host_forbidden"));
    assert_eq!(with("host", "evil.example:7480").await.problem(), (403, "host_forbidden"));
    assert_eq!(with("origin", "https://evil.example").await.problem(), (403, "host_forbidden"));
    assert_eq!(with("origin", "null").await.problem(), (403, "host_forbidden"));
    // A picture of another page has no origin.
    for path in ["/v1/robots", "/v1/export", "/mcp", "/metrics"] {
        for site in ["cross-site", "same-site"] {
            let request = served.request(Method::GET, path).header("sec-fetch-site", site);
            assert_eq!(served.send(request).await.problem(), (403, "host_forbidden"), "{path} {site}");
        }
    }
    for site in ["same-origin", "none"] {
        with("sec-fetch-site", site).await.is(200);
    }
    let link = served.request(Method::GET, "/console").header("sec-fetch-site", "cross-site");
    assert_eq!(served.send(link).await.status, 200);
    with("host", "localhost:9").await.is(200);
    with("host", "[::1]:9").await.is(200);
    let own = served.send(served.request(Method::GET, "/v1/robots").header("origin", &served.base)).await;
    assert_eq!(own.header("access-control-allow-origin"), "", "no other page reads an answer");
    own.is(200);
}

/// A page may send a plain text without asking first.
#[tokio::test]
async fn a_page_of_another_port_changes_nothing() {
    let served = Served::new().await;
    let memory = json!({"content": "one"});
    let secure = served.base.replace("http:", "https:");
    for origin in ["http://localhost:3000", "http://127.0.0.1:9999", "http://127.0.0.1", secure.as_str()] {
        for path in [
            "/v1/sweep",
            "/v1/jobs/repair",
            "/v1/queues/htm.tag/resume",
            "/v1/backfills/1/cancel",
            "/v1/memories/1/refresh",
        ] {
            let request = served.request(Method::POST, path).header("content-type", "text/plain");
            let refused = served.send(request.header("origin", origin)).await;
            assert_eq!(refused.problem(), (403, "host_forbidden"), "{origin} {path}");
        }
        let request = served.request(Method::POST, "/v1/memories").header("origin", origin).json(&memory);
        assert_eq!(served.send(request).await.problem(), (403, "host_forbidden"), "{origin}");
    }
    let request = served.request(Method::POST, "/v1/memories").header("origin", &served.base);
    served.send(request.json(&memory)).await.is(201);
}

#[tokio::test]
async fn a_request_says_once_whom_it_asks_and_who_asks() {
    let served = Served::new().await;
    let host = served.base.strip_prefix("http://").unwrap();
    let get = format!("GET /v1/robots HTTP/1.1\r\nhost: {host}\r\n");
    for (head, status, code) in [
        (format!("GET http://evil.com/v1/robots HTTP/1.1\r\nhost: {host}\r\n"), "403", "host_forbidden"),
        (format!("{get}host: evil.com\r\n"), "400", "header_invalid"),
        (format!("{get}origin: http://{host}\r\norigin: http://evil.com\r\n"), "400", "header_invalid"),
        (format!("{get}authorization: Bearer a\r\nauthorization: Bearer b\r\n"), "400", "header_invalid"),
        (format!("{get}idempotency-key: a\r\nidempotency-key: b\r\n"), "400", "header_invalid"),
        ("GET /v1/robots HTTP/1.1\r\n".into(), "400", "header_invalid"),
        (format!("GET /v1/robots HTTP/1.0\r\norigin: http://{host}\r\n"), "400", "header_invalid"),
        (format!("GET http://{host}/v1/robots HTTP/1.1\r\nhost: {host}\r\n"), "200", "robots"),
        ("GET /v1/robots HTTP/1.0\r\n".into(), "200", "robots"),
        (get.clone(), "200", "robots"),
    ] {
        let answer = raw(&served, format!("{head}connection: close\r\n\r\n").as_bytes()).await;
        assert_eq!(answer.split(' ').nth(1), Some(status), "{head}: {answer}");
        assert!(answer.contains(code), "{head}: {answer}");
    }
}

#[tokio::test]
async fn a_body_that_nobody_reads_is_refused() {
    let served = Served::new().await;
    let node = served.remember("one").await;
    let ask = async |method: Method, path: &str, body: &'static str| {
        let request = served.request(method, path).header("content-type", "application/json");
        served.send(request.body(body)).await
    };
    for (method, path) in [
        (Method::POST, "/v1/sweep"),
        (Method::POST, "/v1/jobs/repair"),
        (Method::DELETE, &*format!("/v1/memories/{node}?confirm=true")),
        (Method::GET, "/v1/robots"),
    ] {
        let refused = ask(method, path, "{\"dry_run\": true}").await;
        assert_eq!(refused.problem(), (400, "body_invalid"), "{path}");
    }
    for body in ["", "{}", " { }\n"] {
        ask(Method::POST, "/v1/sweep", body).await.is(200);
    }
    // A list is no object without fields, which would select everything.
    for (path, body) in [
        ("/v1/jobs/retry", "[]"),
        ("/v1/jobs/retry", "[[]]"),
        ("/v1/recall", "{\"query\": \"one\", \"filter\": []}"),
        ("/v1/conversations", "{\"messages\": [[\"user\", null, \"x\", null]]}"),
    ] {
        assert_eq!(ask(Method::POST, path, body).await.problem(), (400, "body_invalid"), "{path} {body}");
    }
    assert_eq!(served.db.count("select count(*) from htm.nodes where deleted_at is null").await, 1);
}

#[tokio::test]
async fn a_refusal_names_the_value_and_what_is_expected() {
    let served = Served::new().await;
    let detail = |reply: super::Reply| reply.body["detail"].as_str().unwrap().to_owned();
    for (path, said) in [
        ("/v1/stats?top=abc", "`top` is not a whole number, 0 or more: `abc`"),
        ("/v1/stats?all=yes", "`all` is neither true nor false: `yes`"),
        ("/v1/stats?namespace=%ff", "`%ff` in the query is not UTF-8"),
        ("/v1/recall?q=a&strategy=luck", "`strategy` is not one of"),
        ("/v1/memories/abc", "`abc` in the path is not a whole number, or is too large"),
        ("/v1/memories/by-key/%ff", "`key` in the path is not UTF-8"),
    ] {
        let refused = served.get(path).await;
        assert_eq!(refused.problem().0, 400, "{path}");
        let detail = detail(refused);
        assert!(detail.starts_with(said), "{path}: {detail}");
    }
    for (body, said) in [
        (json!({"content": "x", "created_at": "2026-01-01T00:00:00"}), "such as 2026-01-01T00:00:00Z"),
        (json!({"content": "x", "tags": [1]}), "`tags[0]` of the body"),
        (json!(["x"]), "invalid type: list, expected an object"),
    ] {
        let refused = served.post("/v1/memories", body.clone()).await;
        assert_eq!(refused.problem(), (400, "body_invalid"), "{body}");
        let detail = detail(refused);
        assert!(detail.contains(said) && !detail.contains("struct"), "{body}: {detail}");
    }
    for path in ["/v1/queues/history?minutes=1441", "/v1/jobs?limit=0"] {
        let refused = served.get(path).await;
        assert_eq!(refused.problem(), (422, "limit_out_of_range"), "{path}");
        assert!(!refused.body["hint"].as_str().unwrap().contains("10000"), "{}", refused.text);
    }
    // Nothing has been made of a name that is none.
    assert_eq!(served.get("/v1/namespaces").await.is(200)["namespaces"], json!([]));
    let node = served.remember("one").await;
    let earlier = served.get(&format!("/v1/memories/{node}?as_of=2020-01-01")).await;
    assert_eq!(earlier.problem(), (404, "node_not_found"));
    assert!(earlier.body["detail"].as_str().unwrap().contains(" at 2020-01-01T"), "{}", earlier.text);
    assert!(earlier.body["hint"].as_str().unwrap().contains("later time"), "{}", earlier.text);
}

#[tokio::test]
async fn a_client_that_sends_all_before_it_reads_sees_its_refusal() {
    let served = Served::new().await;
    let body = vec![b' '; 17 << 20];
    for (path, status) in [("/v1/memories", "413"), ("/v1/nothing", "404")] {
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
             content-length: {}\r\nconnection: close\r\n\r\n",
            body.len()
        );
        let answer = raw(&served, &[head.as_bytes(), &body].concat()).await;
        assert_eq!(answer.split(' ').nth(1), Some(status), "{answer}");
    }
}

#[tokio::test]
async fn too_many_requests_are_told_to_come_again() {
    let served = Served::with(Limits { requests: 1, ..Limits::default() }).await;
    let mut blocker = served.db.pool.begin().await.unwrap();
    sqlx::raw_sql("lock table htm.robots in access exclusive mode").execute(&mut *blocker).await.unwrap();
    let slow = served.get("/v1/robots");
    let refused = async {
        let mut refused = served.get("/v1/workers").await;
        while refused.status != 429 {
            refused = served.get("/v1/workers").await;
        }
        blocker.rollback().await.unwrap();
        refused
    };
    let (slow, refused) = tokio::join!(slow, refused);
    assert_eq!(refused.problem(), (429, "too_busy"));
    assert_eq!(refused.header("retry-after"), "1");
    slow.is(200);
    assert_eq!(served.get("/livez").await.status, 200, "probes are not limited");
}

#[tokio::test]
async fn without_keys_only_this_machine_is_served() {
    let db = TestDatabase::new().await;
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:80"] {
        let refused =
            Server::bind(address.parse::<std::net::SocketAddr>().unwrap(), db.htm(), Limits::default())
                .await
                .err()
                .unwrap();
        assert_eq!(refused.code(), "listen_not_loopback", "{address}");
    }
    let first =
        Server::bind("127.0.0.1:0".parse::<std::net::SocketAddr>().unwrap(), db.htm(), Limits::default())
            .await
            .unwrap();
    let refused = Server::bind(first.address(), db.htm(), Limits::default()).await.err().unwrap();
    assert_eq!(refused.code(), "listen_unusable");
}

#[tokio::test]
async fn the_bodies_of_all_requests_have_a_largest_size() {
    let served = Served::with(Limits { request_time: Duration::from_secs(20), ..Limits::default() }).await;
    let head = "POST /v1/memories HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
                content-length: 16777216\r\n\r\n";
    let mut clients = Vec::new();
    for _ in 0..16 {
        let mut client = TcpStream::connect(served.base.strip_prefix("http://").unwrap()).await.unwrap();
        client.write_all(head.as_bytes()).await.unwrap();
        clients.push(client);
    }
    // The first answer is a refusal: the bodies of the others have all the memory.
    let answered = clients.iter().map(|client| Box::pin(client.readable()));
    futures::future::select_all(answered).await.0.unwrap();
    let body = json!({"content": "one"});
    assert_eq!(served.post("/v1/memories", body.clone()).await.status, 429);
    served.get("/v1/robots").await.is(200);
    drop(clients);
    htm_tests::wait_until(|| async { served.post("/v1/memories", body.clone()).await.status < 300 }).await;
    let in_hand = || async { served.get("/metrics").await.text.contains("htm_http_requests_in_flight 1\n") };
    htm_tests::wait_until(in_hand).await;
}
