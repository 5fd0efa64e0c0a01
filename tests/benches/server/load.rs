//! Many clients at once.

use std::sync::Arc;
use std::time::{Duration, Instant};

use htm_core::worker::statistics;
use htm_tests::TestDatabase;
use htm_tests::measure::{Table, load, percentile_ms};
use serde_json::json;

use super::{Corpus, post, text};

/// The clients.
const CLIENTS: usize = 200;

/// Clients that each write a memory and recall another, in turn. Every answer has to be a success, and what was
/// acknowledged has to be there.
pub(crate) async fn run(
    http: &reqwest::Client,
    base: &str,
    db: &TestDatabase,
    corpus: &Arc<Corpus>,
    time: Duration,
) {
    let pool = db.pool.clone();
    // As a worker would.
    let refreshing = tokio::spawn(async move {
        loop {
            statistics::refresh_due(&pool).await.expect("refreshed");
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    });
    let started = Instant::now();
    let mut clients = tokio::task::JoinSet::new();
    for client in 0..CLIENTS {
        let (http, base, corpus) = (http.clone(), base.to_owned(), corpus.clone());
        clients.spawn(async move {
            let (mut nodes, mut writes, mut recalls) = (Vec::new(), Vec::new(), Vec::new());
            while started.elapsed() < time {
                let at = Instant::now();
                let written = post(&http, &format!("{base}/v1/memories"), &json!({"content": text()})).await;
                writes.push(at.elapsed());
                nodes.push(written["node"].as_i64().expect("a node"));
                let at = Instant::now();
                let question = corpus.question(client + CLIENTS * nodes.len());
                let body = json!({"query": question, "limit": 5, "strategy": "hybrid"});
                post(&http, &format!("{base}/v1/recall"), &body).await;
                recalls.push(at.elapsed());
            }
            (nodes, writes, recalls)
        });
    }
    let (mut nodes, mut writes, mut recalls) = (Vec::new(), Vec::new(), Vec::new());
    for of_client in clients.join_all().await {
        nodes.extend(of_client.0);
        writes.extend(of_client.1);
        recalls.extend(of_client.2);
    }
    let seconds = started.elapsed().as_secs_f64();
    refreshing.abort();
    let there: i64 =
        sqlx::query_scalar("select count(*) from htm.nodes where id = any ($1) and deleted_at is null")
            .bind(&nodes)
            .fetch_one(&db.pool)
            .await
            .expect("a count");
    println!(
        "\n{CLIENTS} clients for {seconds:.0} s, {}: {} acknowledged, {there} there, no error",
        load(),
        nodes.len()
    );
    let table = Table::new(&[("what", 10), ("a second", 8), ("p50 ms", 8), ("p99 ms", 8)]);
    for (what, times) in [("remember", writes), ("recall", recalls)] {
        let ms = |share| format!("{:.1}", percentile_ms(&times, share));
        table.row([what.into(), format!("{:.0}", times.len() as f64 / seconds), ms(0.5), ms(0.99)]);
    }
    assert_eq!(there as usize, nodes.len(), "acknowledged memories are lost");
}
