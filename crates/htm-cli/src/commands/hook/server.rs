//! A running HTM server, asked over HTTP.

use std::time::Duration;

use htm_core::{Memory, Node};
use htm_runtime::config::Config;
use reqwest::{Client, redirect};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::relevance::Found;
use crate::codes;
use crate::error::CliError;

/// The time limit of a request, so that storing still has time to ask the database.
const TIMEOUT: Duration = Duration::from_secs(20);

/// The server at `server.listen`.
pub(super) struct Server {
    client: Client,
    base: String,
    namespace: String,
}

impl Server {
    /// The server of the configuration. None without an address.
    pub(super) fn of(config: &Config) -> Option<Self> {
        let address = config.server.address().filter(|address| address.port() != 0)?;
        // No proxy and no redirect: the texts stay on this machine. No roots: they take milliseconds to load.
        let client = Client::builder().no_proxy().redirect(redirect::Policy::none());
        let client = client.tls_built_in_root_certs(false).timeout(TIMEOUT).build().ok()?;
        Some(Self { client, base: format!("http://{address}"), namespace: config.memory.namespace.clone() })
    }

    pub(super) async fn recall(&self, query: &str, limit: usize) -> Result<Vec<Found>, CliError> {
        #[derive(Deserialize)]
        struct Answer {
            hits: Vec<Found>,
        }
        let body = json!({
            "query": query, "filter": { "namespaces": [self.namespace] },
            "limit": limit, "count_accesses": false,
        });
        Ok(self.post::<Answer>("/v1/recall", &body).await?.hits)
    }

    pub(super) async fn latest(
        &self,
        min_importance: Option<f32>,
        metadata: &Map<String, Value>,
        limit: usize,
    ) -> Result<Vec<Node>, CliError> {
        #[derive(Deserialize)]
        struct Answer {
            entries: Vec<Node>,
        }
        let mut filter = json!({ "namespaces": [self.namespace], "metadata": metadata });
        if let Some(least) = min_importance {
            filter["min_importance"] = least.into();
        }
        let body = json!({ "filter": filter, "limit": limit });
        Ok(self.post::<Answer>("/v1/timeline", &body).await?.entries)
    }

    pub(super) async fn store(&self, memories: &[Memory]) -> Result<(), CliError> {
        #[derive(Deserialize)]
        struct Answer {
            results: Vec<Result>,
        }
        /// A receipt, or a problem with its code.
        #[derive(Deserialize)]
        struct Result {
            code: Option<String>,
        }
        let memories: Vec<Value> = memories.iter().map(described).collect();
        let answer: Answer = self.post("/v1/memories/batch", &json!({ "memories": memories })).await?;
        match answer.results.into_iter().find_map(|result| result.code) {
            None => Ok(()),
            Some(code) => Err(unusable(format!("it refused a memory: {code}"))),
        }
    }

    async fn post<A: DeserializeOwned>(&self, path: &str, body: &Value) -> Result<A, CliError> {
        let sent = self.client.post(format!("{}{path}", self.base)).json(body).send().await;
        let response = sent.map_err(|error| unusable(htm_runtime::chain(&error)))?;
        match response.status().as_u16() {
            200..=299 => response.json().await.map_err(unreadable),
            // Its details could repeat a memory.
            status => Err(unusable(format!("it answered {path} with status {status}"))),
        }
    }
}

/// A memory, as the server takes it.
fn described(memory: &Memory) -> Value {
    json!({
        "content": memory.content, "namespace": memory.namespace, "robot": memory.robot, "key": memory.key,
        "source": memory.source, "speaker": memory.speaker, "session": memory.session, "seq": memory.seq,
        "metadata": memory.metadata, "created_at": memory.at,
    })
}

fn unusable(reason: String) -> CliError {
    CliError::new(codes::SERVER_UNUSABLE, format!("the HTTP server cannot be used: {reason}"))
}

/// The error of an answer of an unknown form. Its text would repeat the answer.
pub(super) fn unreadable<E>(_error: E) -> CliError {
    unusable("its answer has another form".into())
}
