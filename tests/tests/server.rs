//! The HTTP server: what it answers, what it refuses, and how it stops.

#[path = "server/backfills.rs"]
mod backfills;
#[path = "server/console.rs"]
mod console;
#[path = "server/document.rs"]
mod document;
#[path = "server/documents.rs"]
mod documents;
#[path = "server/erase.rs"]
mod erase;
#[path = "server/events.rs"]
mod events;
#[path = "server/export.rs"]
mod export;
#[path = "server/files.rs"]
mod files;
#[path = "server/fuzz.rs"]
mod fuzz;
#[path = "server/idempotency.rs"]
mod idempotency;
#[path = "server/keys.rs"]
mod keys;
#[path = "server/learning.rs"]
mod learning;
#[path = "server/map.rs"]
mod map;
#[path = "server/mcp.rs"]
mod mcp;
#[path = "server/members.rs"]
mod members;
#[path = "server/memories.rs"]
mod memories;
#[path = "server/oauth.rs"]
mod oauth;
#[path = "server/process.rs"]
mod process;
#[path = "server/refusals.rs"]
mod refusals;
#[path = "server/relations.rs"]
mod relations;
#[path = "server/shares.rs"]
mod shares;
#[path = "server/subjects.rs"]
mod subjects;
#[path = "server/tenants.rs"]
mod tenants;
#[path = "server/vectors.rs"]
mod vectors;

use std::sync::Arc;

use htm_core::{ApiKey, NewApiKey};
use htm_server::{Limits, Listening, Server};
use htm_tests::TestDatabase;
use reqwest::Method;
use reqwest::header::{AUTHORIZATION, HeaderMap};
use serde_json::Value;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// A server in this process over a database of its own.
struct Served {
    db: Arc<TestDatabase>,
    base: String,
    http: reqwest::Client,
    stop: CancellationToken,
    serving: JoinHandle<()>,
}

/// An answer.
#[derive(Debug)]
struct Reply {
    status: u16,
    headers: HeaderMap,
    /// Null for an answer that is not JSON.
    body: Value,
    text: String,
}

impl Reply {
    fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// Its body, if it has this status.
    fn is(self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.text);
        self.body
    }

    /// The status and the code of a problem.
    fn problem(&self) -> (u16, &str) {
        assert_eq!(self.header("content-type"), "application/problem+json", "{}", self.text);
        assert_eq!(self.body["status"], self.status);
        assert!(
            ["title", "detail", "hint"]
                .iter()
                .all(|it| self.body[it].as_str().is_some_and(|it| !it.is_empty()))
        );
        (self.status, self.body["code"].as_str().unwrap())
    }
}

impl Served {
    async fn new() -> Self {
        Self::with(Limits::default()).await
    }

    async fn with(limits: Limits) -> Self {
        Self::over(TestDatabase::new().await.into(), limits).await
    }

    async fn over(db: Arc<TestDatabase>, limits: Limits) -> Self {
        Self::bound(db, "127.0.0.1:0".parse::<std::net::SocketAddr>().unwrap(), limits).await
    }

    async fn at(listening: impl Into<Listening>, limits: Limits) -> Self {
        Self::bound(TestDatabase::new().await.into(), listening, limits).await
    }

    async fn bound(db: Arc<TestDatabase>, listening: impl Into<Listening>, limits: Limits) -> Self {
        let server = Server::bind(listening, db.htm(), limits).await.unwrap();
        let (base, stop) = (format!("http://{}", server.address()), CancellationToken::new());
        let serving = tokio::spawn(server.serve(stop.clone()));
        Self { db, base, http: reqwest::Client::new(), stop, serving }
    }

    /// Another server over the same database.
    async fn beside(&self) -> Self {
        Self::over(self.db.clone(), Limits::default()).await
    }

    async fn send(&self, request: reqwest::RequestBuilder) -> Reply {
        let mut response = request.send().await.expect("it answers");
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let text = match response.url().path() {
            // It does not end.
            "/v1/events" if status == 200 => {
                let chunk = response.chunk().await.expect("a place").unwrap_or_default();
                String::from_utf8_lossy(&chunk).into_owned()
            }
            _ => response.text().await.expect("a text"),
        };
        let body = serde_json::from_str(&text).unwrap_or_default();
        Reply { status, headers, body, text }
    }

    fn request(&self, method: Method, path: &str) -> reqwest::RequestBuilder {
        self.http.request(method, format!("{}{path}", self.base))
    }

    async fn get(&self, path: &str) -> Reply {
        self.send(self.request(Method::GET, path)).await
    }

    async fn post(&self, path: &str, body: Value) -> Reply {
        self.send(self.request(Method::POST, path).json(&body)).await
    }

    async fn patch(&self, path: &str, body: Value) -> Reply {
        self.send(self.request(Method::PATCH, path).json(&body)).await
    }

    async fn put(&self, path: &str, body: Value) -> Reply {
        self.send(self.request(Method::PUT, path).json(&body)).await
    }

    async fn delete(&self, path: &str) -> Reply {
        self.send(self.request(Method::DELETE, path)).await
    }

    /// Sends later requests with a new key.
    async fn use_key(&mut self, key: &NewApiKey) -> ApiKey {
        let created = self.db.htm().create_api_key(key).await.unwrap();
        self.use_secret(created.secret.expose());
        created.key
    }

    fn use_secret(&mut self, secret: &str) {
        let mut headers = HeaderMap::new();
        headers.insert(AUTHORIZATION, format!("Bearer {secret}").parse().unwrap());
        self.http = reqwest::Client::builder().default_headers(headers).build().unwrap();
    }

    async fn remember(&self, text: &str) -> i64 {
        let body = self.post("/v1/memories", serde_json::json!({"content": text})).await.is(201);
        body["node"].as_i64().unwrap()
    }
}
