//! Writers over HTTP, whose acknowledged writes must survive a fail-over.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use sqlx::PgPool;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// The number of writers.
pub(super) const WRITERS: usize = 4;

/// The nodes of acknowledged memories, by their keys.
type Acknowledged = Arc<Mutex<BTreeMap<usize, i64>>>;

/// Writers that remember until they are ended.
pub(super) struct Writers {
    ended: CancellationToken,
    acknowledged: Acknowledged,
    tasks: Vec<JoinHandle<()>>,
}

impl Writers {
    /// Starts them at the server `base`. A write that is answered with one of these statuses is tried again.
    pub(super) fn start(base: &str, passing: &'static [u16]) -> Self {
        let (ended, acknowledged) = (CancellationToken::new(), Acknowledged::default());
        let tasks = (0..WRITERS)
            .map(|writer| {
                let keys = (writer..).step_by(WRITERS);
                tokio::spawn(write(base.to_owned(), keys, passing, ended.clone(), acknowledged.clone()))
            })
            .collect();
        Self { ended, acknowledged, tasks }
    }

    /// The number of acknowledged memories so far.
    pub(super) fn number(&self) -> usize {
        self.acknowledged.lock().unwrap().len()
    }

    /// Ends them. Returns the texts of the acknowledged memories, by their nodes.
    pub(super) async fn end(self) -> BTreeMap<i64, String> {
        self.ended.cancel();
        for task in self.tasks {
            task.await.unwrap();
        }
        let acknowledged = std::mem::take(&mut *self.acknowledged.lock().unwrap());
        acknowledged.into_iter().map(|(key, node)| (node, text(key))).collect()
    }
}

fn text(key: usize) -> String {
    format!("memory {key}")
}

/// Remembers memories, each until it is acknowledged.
async fn write(
    base: String,
    keys: impl Iterator<Item = usize>,
    passing: &[u16],
    ended: CancellationToken,
    acknowledged: Acknowledged,
) {
    // More than a server's own limit.
    let http = reqwest::Client::builder().timeout(Duration::from_secs(100)).build().unwrap();
    for key in keys {
        loop {
            if ended.is_cancelled() {
                return;
            }
            let request = http.post(format!("{base}/v1/memories")).header("idempotency-key", key.to_string());
            let response = request.json(&json!({"content": text(key)})).send().await;
            match response {
                Ok(response) if response.status() == 201 => {
                    let receipt: Value = response.json().await.unwrap();
                    acknowledged.lock().unwrap().insert(key, receipt["node"].as_i64().unwrap());
                    break;
                }
                Ok(response) => {
                    let (status, problem) = (response.status(), response.text().await.unwrap());
                    assert!(passing.contains(&status.as_u16()), "{status} {problem}");
                }
                Err(error) => panic!("the server answers: {error}"),
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

/// Asserts that these memories are there.
pub(super) async fn assert_kept(pool: &PgPool, acknowledged: &BTreeMap<i64, String>) {
    for (node, text) in acknowledged {
        let content = sqlx::query_scalar::<_, String>("select content from htm.nodes where id = $1");
        let content = content.bind(node).fetch_optional(pool).await.unwrap();
        assert_eq!(content.as_deref(), Some(&**text), "an acknowledged write is there");
    }
}

/// Counts the rows of a table or a query.
pub(super) async fn count(pool: &PgPool, what: &str) -> i64 {
    let count = sqlx::AssertSqlSafe(format!("select count(*) from {what}"));
    sqlx::query_scalar(count).fetch_one(pool).await.unwrap()
}
