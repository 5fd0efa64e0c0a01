//! What requests share: nobody takes it without a key, and no tenant takes all of it.

use htm_core::{NewApiKey, Role};
use htm_server::Limits;
use htm_tests::wait_until;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::Served;

const LIMITS: fn() -> Limits = || Limits { requests: 8, ..Limits::default() };

/// Begins a request that has not come to its end.
async fn begun(served: &Served, path: &str, headers: &str) -> TcpStream {
    let address = served.base.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).await.unwrap();
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\n{headers}\r\n\r\n{{"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream
}

#[tokio::test]
async fn clients_without_a_key_take_nothing_that_keys_need() {
    let mut served = Served::with(LIMITS()).await;
    served.use_key(&NewApiKey::new(Role::Admin)).await;
    let origin = format!("origin: {}\r\n", served.base);
    let mut slow = Vec::new();
    for _ in 0..20 {
        slow.push(begun(&served, "/console/sign-in", &format!("{origin}content-length: 100")).await);
    }
    wait_until(|| async { served.get("/metrics").await.text.contains("htm_http_requests_in_flight 21\n") })
        .await;
    served.get("/v1/stats").await.is(200);
    served.remember("while others are slow").await;
    for (headers, status) in [(&*origin, "413"), ("", "403")] {
        for _ in 0..9 {
            let headers = format!("{headers}connection: close\r\ncontent-length: 16777206");
            let mut large = begun(&served, "/console/sign-in", &headers).await;
            let mut answer = [0; 12];
            large.read_exact(&mut answer).await.unwrap();
            assert_eq!(&answer[9..], status.as_bytes());
            slow.push(large);
        }
    }
    served.remember("while others declare much").await;
}

#[tokio::test]
async fn a_tenant_takes_half_and_leaves_some_to_the_operator() {
    let mut served = Served::with(LIMITS()).await;
    let key = async |role, namespace: &str| {
        served.db.htm().create_api_key(&NewApiKey::new(role).namespace(namespace)).await.unwrap()
    };
    let (a, b) = (key(Role::Reader, "a").await, key(Role::Writer, "b").await);
    served.use_key(&NewApiKey::new(Role::Admin)).await;
    let slow = format!("authorization: Bearer {}\r\ncontent-length: 100", a.secret.expose());
    let mut held = Vec::new();
    for _ in 0..12 {
        held.push(begun(&served, "/v1/recall", &slow).await);
    }
    let ask = async |secret: &str, path: &str, body: Value| {
        let request = served.http.post(format!("{}{path}", served.base)).bearer_auth(secret);
        served.send(request.json(&body)).await
    };
    let of_a = async || ask(a.secret.expose(), "/v1/recall", json!({"query": "x"})).await;
    // The first answer is a refusal: the others have all that a tenant gets.
    let answered = held.iter().map(|client| Box::pin(client.readable()));
    futures::future::select_all(answered).await.0.unwrap();
    let refused = of_a().await;
    assert_eq!(refused.problem(), (429, "too_busy"));
    assert!(
        refused.text.contains("4 requests are in hand for the namespaces of this key"),
        "{}",
        refused.text
    );
    ask(b.secret.expose(), "/v1/memories", json!({"content": "x"})).await.is(201);
    assert_eq!(served.get("/metrics").await.status, 200);
    served.delete(&format!("/v1/keys/{}", a.key.id)).await.is(200);
}
