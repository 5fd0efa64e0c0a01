//! `/v1/export`: the stream, its parameters, and clients that leave or do not read.

use std::time::Duration;

use htm_core::Memory;
use htm_server::Limits;
use htm_tests::{long_text, wait_until};
use reqwest::Method;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::Served;

/// Connections that read a snapshot.
const SNAPSHOTS: &str = "select count(*) from pg_stat_activity
    where datname = current_database() and state in ('active', 'idle in transaction') and pid <> pg_backend_pid()
      and backend_xmin is not null";

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A client that asks for an export and reads its first bytes only.
async fn reads_a_little(served: &Served) -> TcpStream {
    let mut client = TcpStream::connect(served.base.strip_prefix("http://").unwrap()).await.unwrap();
    client.write_all(b"GET /v1/export HTTP/1.1\r\nhost: localhost\r\n\r\n").await.unwrap();
    let mut begin = [0; 400];
    client.read_exact(&mut begin).await.unwrap();
    assert!(String::from_utf8_lossy(&begin).contains("\"kind\":\"header\""));
    client
}

/// More texts than fit into the buffers of a connection.
async fn remember_much(served: &Served) {
    let memories: Vec<Memory> = (0..40).map(|n| Memory::new(long_text(n)).namespace("long")).collect();
    served.db.htm().remember_many(&memories).await.unwrap();
}

#[tokio::test]
async fn an_export_is_a_stream_that_an_import_restores() {
    let (from, to) = (Served::new().await, Served::new().await);
    from.remember("one").await;
    for namespace in ["atlas", "home", "other"] {
        let memory = Memory::new("two").namespace(namespace).tag("a:b".parse().unwrap());
        from.db.htm().remember(memory).await.unwrap();
    }
    let reply = from.get("/v1/export").await;
    assert_eq!((reply.status, reply.header("content-type")), (200, "application/x-ndjson"));
    let all = lines(&reply.text);
    assert_eq!(all.last().unwrap()["lines"]["memory"], 4);
    let chosen = from.get("/v1/export?namespace=atlas&namespace=home&vectors=true&forgotten=false").await;
    assert_eq!(lines(&chosen.text)[0]["namespaces"], serde_json::json!(["atlas", "home"]));
    assert_eq!(lines(&chosen.text).last().unwrap()["lines"]["memory"], 2);

    for outcome in ["written", "existing"] {
        let request = to.request(Method::POST, "/v1/import").header("content-type", "application/x-ndjson");
        let reply = to.send(request.body(reply.text.clone())).await;
        let results = lines(&reply.text);
        assert_eq!(results.len(), all.len() - 2);
        assert!(results.iter().all(|it| it["outcome"] == outcome), "{}", reply.text);
    }
    let request = to.request(Method::POST, "/v1/import").header("content-type", "application/x-ndjson");
    let cut = to.send(request.body(reply.text[..reply.text.len() / 2].to_owned())).await;
    let last = lines(&cut.text).pop().unwrap();
    assert_eq!(last["problem"]["code"], "export_incomplete");

    for (query, code) in [
        ("color=red", "query_invalid"),
        ("vectors=perhaps", "query_invalid"),
        ("namespace=a//b", "namespace_invalid"),
    ] {
        let reply = from.get(&format!("/v1/export?{query}")).await;
        assert_eq!(reply.problem().1, code, "{query}");
    }
}

#[tokio::test]
async fn a_client_that_leaves_ends_its_export() {
    let served = Served::new().await;
    remember_much(&served).await;
    let clients = [reads_a_little(&served).await, reads_a_little(&served).await];
    assert_eq!(served.db.count(SNAPSHOTS).await, 2);
    assert_eq!(served.get("/v1/export").await.problem(), (429, "too_busy"));
    drop(clients);
    wait_until(|| async { served.db.count(SNAPSHOTS).await == 0 }).await;
    let reply = served.get("/v1/export").await;
    assert_eq!(lines(&reply.text).last().unwrap()["lines"]["memory"], 40);
}

#[tokio::test]
async fn a_client_that_does_not_read_is_left() {
    let served =
        Served::with(Limits { stall_time: Duration::from_millis(300), connections: 2, ..Limits::default() })
            .await;
    remember_much(&served).await;
    let mut clients = [reads_a_little(&served).await, reads_a_little(&served).await];
    wait_until(|| async { served.db.count(SNAPSHOTS).await == 0 }).await;
    // Their connections are free again.
    served.get("/v1/robots").await.is(200);
    for client in &mut clients {
        let mut rest = Vec::new();
        client.read_to_end(&mut rest).await.unwrap_or_default();
        assert!(!rest.ends_with(b"0\r\n\r\n"), "the body has no end");
    }
}

#[tokio::test]
async fn the_stop_of_the_server_cuts_an_export_visibly() {
    let served = Served::new().await;
    remember_much(&served).await;
    let mut client = reads_a_little(&served).await;
    served.stop.cancel();
    let mut rest = Vec::new();
    client.read_to_end(&mut rest).await.unwrap_or_default();
    assert!(!rest.ends_with(b"0\r\n\r\n"), "the body has no end");
    served.serving.await.unwrap();
}
