//! How fast memories are found, by strategy and filter, against the bare statements of each leg in the same run.
//!
//! `./justw bench-recall`; `-- --nodes 10000,100000,1000000` for a million (half an hour, 8 GB of disk). The nodes are
//! synthetic: words by Zipf's law over 50,000, lengths as people write, half of the nodes turns of conversations, vectors
//! of 384 dimensions in 1,000 clusters. Times are the database's with both ways, without the query's embedding. `--walled`
//! asks through a handle within the namespaces, whose connections row-level security restricts.

#[path = "recall/corpus.rs"]
mod corpus;
#[path = "recall/learnt.rs"]
mod learnt;

use std::sync::Arc;
use std::time::{Duration, Instant};

use htm_core::{Filter, Htm, RecallQuery, Settings, Strategy, TagFilter, TimeExpression};
use htm_tests::TestDatabase;
use htm_tests::measure::{Table, argument, flag, load, percentile_ms};
use pgvector::HalfVector;
use sqlx::PgPool;
use sqlx::postgres::PgPoolOptions;

use corpus::Corpus;

/// Rounds that are not counted: caches warm up.
const WARM: usize = 10;

const CLIENTS: usize = 16;
/// So long they ask.
const FOR: Duration = Duration::from_secs(5);

const RAW_VECTOR: &str =
    "select node_id from htm.embeddings_1 where namespace = 'default' order by embedding <=> $1 limit $2";
const RAW_TEXT: &str = "select n.id from htm.nodes n, (select string_agg('''' || w || '''', ' | ')::tsquery as q
                                                     from unnest(tsvector_to_array(to_tsvector('english', $1))) w) q
    where n.namespace = 'default' and n.deleted_at is null and n.tsv @@ q.q order by ts_rank(n.tsv, q.q) desc limit 100";

#[tokio::main]
async fn main() {
    let sizes: String = argument("--nodes", "10000,100000".into());
    let rounds: usize = argument("--rounds", 200);
    // A part of a filter's name, as `--filter all`; nothing is every filter.
    let only: String = argument("--filter", String::new());
    println!("{}, {rounds} questions each", load());
    let mut hybrid = Vec::new();
    for size in sizes.split(',') {
        let size: usize = size.trim().parse().expect("--nodes takes numbers, as 10000,100000");
        // As a server's request: a task of its own, which runs where its connection is polled.
        let only = only.clone();
        let asked = tokio::spawn(async move { run(size, rounds, &only).await });
        hybrid.push((size, asked.await.expect("asked")));
    }
    if let [(small, first), .., (large, last)] = hybrid[..] {
        println!("\nhybrid's p95 at {large} ÷ at {small}: {:.2}", last / first);
    }
}

/// Fills a database, asks it, and gives hybrid's p95 without a filter, in milliseconds.
async fn run(size: usize, rounds: usize, only: &str) -> f64 {
    let db = TestDatabase::new().await;
    let started = Instant::now();
    let corpus = Arc::new(Corpus::fill(&db.pool, size).await);
    println!("\n{size} nodes, filled in {:.0} s", started.elapsed().as_secs_f64());
    sizes(&db.pool).await;
    let settings = Settings { embedding_model: corpus.model().clone(), ..db.htm().settings().clone() };
    let htm = Htm::with_pool(db.pool.clone(), settings, Some(corpus.clone()));
    let htm = match flag("--walled") {
        true => {
            let tenants = htm_core::pool_options().max_connections(CLIENTS as u32);
            let tenants = tenants.connect_lazy_with(htm_core::tenant_options(db.options()));
            htm.with_tenants(tenants).within(["default", "small", "tenant"]).expect("namespaces")
        }
        false => htm,
    };
    let raw_few = raw(&db.pool, &corpus, rounds, Leg::Vector { rows: 10 }).await;
    let raw_vector = raw(&db.pool, &corpus, rounds, Leg::Vector { rows: 100 }).await;
    let raw_text = raw(&db.pool, &corpus, rounds, Leg::Text).await;
    let table = Table::new(&[("what", 32), ("p50 ms", 8), ("p95 ms", 8), ("÷ bare", 7), ("rows", 5)]);
    for (what, times) in [
        ("bare vectors, 10 rows", &raw_few),
        ("bare vectors, 100 rows", &raw_vector),
        ("bare text, 100 rows", &raw_text),
    ] {
        table.row([what.into(), ms(times, 0.5), ms(times, 0.95), String::new(), String::new()]);
    }
    let floor = |strategy| match strategy {
        Strategy::Vector => percentile_ms(&raw_few, 0.5),
        Strategy::Fulltext => percentile_ms(&raw_text, 0.5),
        _ => percentile_ms(&raw_vector, 0.5) + percentile_ms(&raw_text, 0.5),
    };
    let mut unfiltered = 0.0;
    for strategy in [Strategy::Vector, Strategy::Fulltext, Strategy::Hybrid] {
        for (filter, narrowed) in filters().into_iter().filter(|(filter, _)| filter.contains(only)) {
            let mut times = Vec::new();
            let mut rows = 0;
            for round in 0..WARM + rounds {
                let query = narrowed(RecallQuery::new(corpus.question(round)).strategy(strategy).limit(10));
                let recalled = htm.recall(&query).await.expect("recalled");
                if round >= WARM {
                    times.push(Duration::from_secs_f64(recalled.search_ms / 1_000.0));
                    rows += recalled.hits.len();
                }
            }
            if strategy == Strategy::Hybrid && filter == "all" {
                unfiltered = percentile_ms(&times, 0.95);
            }
            let ratio = percentile_ms(&times, 0.5) / floor(strategy);
            table.row([
                format!("{strategy}, {filter}"),
                ms(&times, 0.5),
                ms(&times, 0.95),
                format!("{ratio:.2}"),
                format!("{:.1}", rows as f64 / rounds as f64),
            ]);
        }
    }
    // The plans of these connections are older than what has been written since: how often memories were recalled.
    htm.flush().await;
    let mut again = Vec::new();
    for round in 0..rounds {
        again.push(hybrid(&htm, &corpus, round).await);
    }
    let (mut first, mut next) = (Vec::new(), Vec::new());
    for round in 0..rounds.min(20) {
        let pool =
            PgPoolOptions::new().max_connections(1).connect_with(db.options()).await.expect("connects");
        let htm = Htm::with_pool(pool.clone(), htm.settings().clone(), Some(corpus.clone()));
        first.push(hybrid(&htm, &corpus, round).await);
        htm.flush().await;
        pool.acquire().await.expect("the connection").close().await.expect("closes");
        drop(pool.acquire().await.expect("another connection"));
        next.push(hybrid(&htm, &corpus, rounds + round).await);
        htm.flush().await;
        pool.close().await;
    }
    for (what, times) in [
        ("hybrid, all, after the others", &again),
        ("hybrid, first call of a process", &first),
        ("hybrid, of another connection", &next),
    ] {
        table.row([what.into(), ms(times, 0.5), ms(times, 0.95), String::new(), String::new()]);
    }
    // A walled handle may not choose a ranking for all.
    if !flag("--walled") {
        for (what, times) in
            learnt::WAYS.into_iter().zip(learnt::times(&db.pool, &htm, &corpus, rounds).await)
        {
            table.row([what.into(), ms(&times, 0.5), ms(&times, 0.95), String::new(), String::new()]);
        }
    }
    println!("{:.0} hybrid recalls a second, {CLIENTS} clients", throughput(&htm, &corpus).await);
    unfiltered
}

async fn hybrid(htm: &Htm, corpus: &Corpus, round: usize) -> Duration {
    let query = RecallQuery::new(corpus.question(round)).strategy(Strategy::Hybrid).limit(10);
    let recalled = htm.recall(&query).await.expect("recalled");
    Duration::from_secs_f64(recalled.search_ms / 1_000.0)
}

/// Hybrid recalls a second.
async fn throughput(htm: &Htm, corpus: &Arc<Corpus>) -> f64 {
    let started = Instant::now();
    let mut clients = tokio::task::JoinSet::new();
    for client in 0..CLIENTS {
        let (htm, corpus) = (htm.clone(), corpus.clone());
        clients.spawn(async move {
            let mut count = 0;
            while started.elapsed() < FOR {
                hybrid(&htm, &corpus, client * 1_000 + count).await;
                count += 1;
            }
            count
        });
    }
    let count: usize = clients.join_all().await.into_iter().sum();
    count as f64 / started.elapsed().as_secs_f64()
}

type Narrowed = fn(RecallQuery) -> RecallQuery;

/// The filters. The name of each says what it leaves.
fn filters() -> [(&'static str, Narrowed); 7] {
    [
        ("all", |query| query),
        ("10 % by robot", |query| query.filter(Filter::default().robot("tenth"))),
        ("1 % by tag", |query| query.tag(TagFilter::Exact("hundredth".parse().expect("a tag")))),
        ("0.1 % by metadata", |query| query.filter(Filter::default().metadata("rare", true))),
        ("a tenth of the time", |query| {
            let expression: TimeExpression = "last 36 days".parse().expect("a time");
            query.timeframe(expression)
        }),
        ("a namespace of 100", |query| query.namespace("small")),
        ("a namespace of 1,000", |query| query.namespace("tenant")),
    ]
}

enum Leg {
    Vector { rows: i64 },
    Text,
}

/// The bare statement of a leg, as one who writes it by hand would.
async fn raw(pool: &PgPool, corpus: &Corpus, rounds: usize, leg: Leg) -> Vec<Duration> {
    let mut connection = pool.acquire().await.expect("a connection");
    sqlx::raw_sql("set hnsw.ef_search = 200; set jit = off").execute(&mut *connection).await.expect("set");
    let mut times = Vec::new();
    for round in 0..WARM + rounds {
        let question = corpus.question(round);
        let started = Instant::now();
        let rows: Vec<i64> = match leg {
            Leg::Vector { rows } => sqlx::query_scalar(RAW_VECTOR)
                .bind(HalfVector::from_f32_slice(&corpus.vector(&question)))
                .bind(rows),
            Leg::Text => sqlx::query_scalar(RAW_TEXT).bind(question),
        }
        .fetch_all(&mut *connection)
        .await
        .expect("rows");
        assert!(!rows.is_empty());
        if round >= WARM {
            times.push(started.elapsed());
        }
    }
    times
}

/// The sizes of the tables and the indexes that recall reads.
async fn sizes(pool: &PgPool) {
    let rows: Vec<(String, i64)> = sqlx::query_as(
        "select c.relname, pg_total_relation_size(c.oid) - case when c.relkind = 'r' then pg_indexes_size(c.oid) else 0 end
           from pg_class c join pg_namespace n on n.oid = c.relnamespace
          where n.nspname = 'htm' and c.relname in ('nodes', 'embeddings_1', 'nodes_tsv_idx', 'embeddings_1_hnsw_idx',
                                                    'embeddings_1_scope_idx', 'lexeme_statistics', 'lexeme_statistics_trigram_idx')
          order by 2 desc",
    )
    .fetch_all(pool)
    .await
    .expect("sizes");
    let sizes = rows.iter().map(|(name, bytes)| format!("{name} {:.0} MB", *bytes as f64 / 1e6));
    println!("{}", sizes.collect::<Vec<_>>().join(", "));
}

fn ms(times: &[Duration], share: f64) -> String {
    format!("{:.2}", percentile_ms(times, share))
}
