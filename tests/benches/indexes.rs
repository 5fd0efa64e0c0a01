//! The kinds of a vector index beside one another: recall@10, latency, size, build time. Then full text by HTM's own search
//! and by an index of pg_textsearch.
//!
//! `./justw bench-indexes`; `--nodes 100000,1000000` for a million (two hours, of which DiskANN takes most, and 10 GB of
//! disk); `--kinds none` for full text alone. The nodes are those of the
//! benchmark of recall: vectors of 384 dimensions in 1,000 clusters. Recall by vectors asks for 10 of all nodes; a
//! comparison of all vectors says which they are. Latency is the database's, without the query's embedding. DiskANN
//! and pg_textsearch are left out where the extensions cannot be fetched.

#[path = "recall/corpus.rs"]
mod corpus;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use htm_core::models::VectorIndex;
use htm_core::{Htm, NodeId, RecallQuery, RecallSettings, Settings, Strategy};
use htm_tests::OwnServer;
use htm_tests::measure::{Table, argument, load, percentile_ms};

use corpus::Corpus;

/// Rounds that are not counted: caches warm up.
const WARM: usize = 10;

#[tokio::main]
async fn main() {
    let sizes: String = argument("--nodes", "100000".into());
    let rounds: usize = argument("--rounds", 200);
    let kinds: String = argument("--kinds", "hnsw,hnsw_binary,diskann".into());
    println!("{}, {rounds} questions each", load());
    for size in sizes.split(',') {
        let size: usize = size.trim().parse().expect("--nodes takes numbers, as 100000,1000000");
        let kinds = kinds.clone();
        // As a server's request: a task of its own, which runs where its connection is polled.
        tokio::spawn(async move { run(size, rounds, &kinds).await }).await.expect("asked");
    }
    println!("{}", load());
}

async fn run(size: usize, rounds: usize, wanted: &str) {
    let (server, mut kinds) = match OwnServer::start_extended().await {
        Some(server) => (server, vec![VectorIndex::Diskann]),
        None => (OwnServer::start().await, Vec::new()),
    };
    let has_extensions = !kinds.is_empty();
    kinds.splice(0..0, [VectorIndex::Hnsw, VectorIndex::HnswBinary]);
    kinds.retain(|kind| wanted.split(',').any(|wanted| wanted.trim() == kind.to_string()));
    let prepare = match has_extensions {
        true => {
            "create extension vectorscale; create extension pg_textsearch; alter database htm set maintenance_work_mem = '2GB'"
        }
        false => "alter database htm set maintenance_work_mem = '2GB'",
    };
    if has_extensions {
        server.preload("pg_textsearch").await;
    }
    sqlx::raw_sql(prepare).execute(&server.pool).await.expect("prepared");
    let started = Instant::now();
    let corpus = Arc::new(Corpus::fill(&server.pool, size).await);
    println!("\n{size} nodes, filled in {:.0} s", started.elapsed().as_secs_f64());
    let settings = Settings { embedding_model: corpus.model().clone(), ..Settings::default() };
    let htm = Htm::with_pool(server.pool.clone(), settings, Some(corpus.clone()));

    let table = Table::new(&[
        ("index", 12),
        ("build s", 8),
        ("MB", 8),
        ("recall@10", 9),
        ("rows", 5),
        ("p50 ms", 8),
        ("p95 ms", 8),
    ]);
    let label = corpus.model().to_string();
    change(&htm, &label, VectorIndex::None).await;
    let (nearest, times) = ask(&htm, &corpus, Strategy::Vector, rounds).await;
    let row =
        |kind: VectorIndex, build: Duration, bytes: i64, found: &[HashSet<NodeId>], times: &[Duration]| {
            let common: usize =
                found.iter().zip(&nearest).map(|(found, nearest)| found.intersection(nearest).count()).sum();
            let rows: usize = found.iter().map(HashSet::len).sum();
            table.row([
                kind.to_string(),
                format!("{:.0}", build.as_secs_f64()),
                format!("{:.0}", bytes as f64 / 1e6),
                format!("{:.3}", common as f64 / (10 * rounds) as f64),
                format!("{:.1}", rows as f64 / rounds as f64),
                format!("{:.2}", percentile_ms(times, 0.5)),
                format!("{:.2}", percentile_ms(times, 0.95)),
            ]);
        };
    row(VectorIndex::None, Duration::ZERO, 0, &nearest, &times);
    for kind in kinds {
        let build = change(&htm, &label, kind).await;
        let bytes: i64 = sqlx::query_scalar("select pg_relation_size(to_regclass($1))")
            .bind(format!("htm.embeddings_1_{kind}_idx"))
            .fetch_one(&server.pool)
            .await
            .expect("a size");
        let (found, times) = ask(&htm, &corpus, Strategy::Vector, rounds).await;
        row(kind, build, bytes, &found, &times);
    }
    if has_extensions {
        change(&htm, &label, VectorIndex::Hnsw).await;
        texts(&server, &htm, &corpus, rounds).await;
    }
}

/// Full text and hybrid by the candidates of each search for words. The first ten of full text are compared with those of
/// twenty times as many candidates.
async fn texts(server: &OwnServer, htm: &Htm, corpus: &Arc<Corpus>, rounds: usize) {
    let table = Table::new(&[
        ("words", 12),
        ("build s", 8),
        ("MB", 8),
        ("of the ten", 10),
        ("p50 ms", 8),
        ("p95 ms", 8),
        ("hybrid p50", 10),
        ("hybrid p95", 10),
    ]);
    let of = |pool: usize| {
        let settings = htm.settings().clone();
        let recall = RecallSettings { pool, ..settings.recall.clone() };
        Htm::with_pool(server.pool.clone(), Settings { recall, ..settings }, Some(corpus.clone()))
    };
    let (best, _) = ask(&of(20 * htm.settings().recall.pool), corpus, Strategy::Fulltext, rounds).await;
    let bm25 = "create index nodes_bm25_idx on htm.nodes using bm25 (content) with (text_config = 'english')";
    for (name, index, build) in [
        ("own", "htm.nodes_tsv_idx", "reindex index htm.nodes_tsv_idx"),
        ("bm25", "htm.nodes_bm25_idx", bm25),
    ] {
        let started = Instant::now();
        sqlx::raw_sql(build).execute(&server.pool).await.expect("built");
        let built = started.elapsed();
        let bytes: i64 = sqlx::query_scalar("select pg_relation_size(to_regclass($1))")
            .bind(index)
            .fetch_one(&server.pool)
            .await
            .expect("a size");
        // A handle of its own knows the indexes of now.
        let htm = of(htm.settings().recall.pool);
        let (found, times) = ask(&htm, corpus, Strategy::Fulltext, rounds).await;
        let (_, hybrid) = ask(&htm, corpus, Strategy::Hybrid, rounds).await;
        let common: usize = found.iter().zip(&best).map(|(one, other)| one.intersection(other).count()).sum();
        let all: usize = best.iter().map(HashSet::len).sum();
        table.row([
            name.to_string(),
            format!("{:.1}", built.as_secs_f64()),
            format!("{:.0}", bytes as f64 / 1e6),
            format!("{:.3}", common as f64 / all as f64),
            format!("{:.2}", percentile_ms(&times, 0.5)),
            format!("{:.2}", percentile_ms(&times, 0.95)),
            format!("{:.2}", percentile_ms(&hybrid, 0.5)),
            format!("{:.2}", percentile_ms(&hybrid, 0.95)),
        ]);
    }
}

/// Changes the kind of the index; returns the duration of its build.
async fn change(htm: &Htm, label: &str, kind: VectorIndex) -> Duration {
    let changed = htm.models().expect("no wall").change_index(label, kind).await;
    changed.expect("changed").unwrap_or_default()
}

/// The hits of each question, and how long it took.
async fn ask(
    htm: &Htm,
    corpus: &Corpus,
    strategy: Strategy,
    rounds: usize,
) -> (Vec<HashSet<NodeId>>, Vec<Duration>) {
    let (mut found, mut times) = (Vec::new(), Vec::new());
    for round in 0..WARM + rounds {
        let query = RecallQuery::new(corpus.question(round)).strategy(strategy).limit(10);
        let recalled = htm.recall(&query).await.expect("recalled");
        if round >= WARM {
            found.push(recalled.hits.iter().map(|hit| hit.node.id).collect());
            times.push(Duration::from_secs_f64(recalled.search_ms / 1_000.0));
        }
    }
    (found, times)
}
