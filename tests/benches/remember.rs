//! How fast a memory is written, against floors measured in the same run.
//!
//! `./justw bench-rust --bench remember -- --nodes 100000`. The database is a
//! scratch one of the test server: fsync and synchronous_commit as that server has them, shown at the top.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use htm_core::{Htm, Memory, Settings, TokenEncoding};
use htm_tests::TestDatabase;
use sqlx::PgPool;

/// The bare row, with its indexes, in autocommit: what a write costs before HTM adds anything.
const NODE: &str =
    "insert into htm.nodes (namespace, robot_id, content, content_hash, token_count, token_encoding)
    values ('default', 1, $1, sha256($1::bytea), 10, 'estimate')";

/// Node and two jobs in one statement, nothing else: the least that an atomic enqueue costs.
const NODE_AND_JOBS: &str = "with node as (
        insert into htm.nodes (namespace, robot_id, content, content_hash, token_count, token_encoding)
        values ('default', 1, $1, sha256($1::bytea), 10, 'estimate') returning id)
    insert into apalis.jobs (id, job_type, job, status, attempts, max_attempts, run_at, priority, metadata, idempotency_key)
    select gen_random_uuid()::text, q, convert_to('{\"v\":1,\"node\":' || id || ',\"revision\":1}', 'UTF8'), 'Pending',
           0, 10, now(), 0, hstore(array['namespace', 'default', 'node', id::text, 'revision', '1']), id::text || q
      from node cross join (values ('htm.embed'), ('htm.tag')) v(q)";

const ROUNDS: usize = 400;

#[tokio::main]
async fn main() {
    let nodes = argument("--nodes").unwrap_or(100_000);
    let db = TestDatabase::new().await;
    // Tokens are counted as in use.
    let settings = Settings { token_encoding: TokenEncoding::default(), ..db.htm().settings().clone() };
    let htm = Htm::with_pool(db.pool.clone(), settings, None);
    htm.remember(Memory::new("warm")).await.expect("written");
    let settings: Vec<(String, String)> =
        sqlx::query_as("select name, setting from pg_settings where name in ('fsync', 'synchronous_commit', 'server_version')")
            .fetch_all(&db.pool)
            .await
            .expect("settings");
    println!("{settings:?}");
    println!(
        "{:>9} {:>8} {:<26} {:>9} {:>9} {:>10} {:>7}",
        "nodes", "clients", "what", "p50 ms", "p99 ms", "per s", "ratio"
    );
    for size in [0, nodes] {
        fill(&htm, size).await;
        for clients in [1, 16] {
            let node = measure(clients, |n| bare(db.pool.clone(), NODE, n)).await;
            let jobs = measure(clients, |n| bare(db.pool.clone(), NODE_AND_JOBS, n)).await;
            let remember = measure(clients, |n| {
                let htm = htm.clone();
                async move {
                    htm.remember(Memory::new(text(n))).await.expect("written");
                }
            })
            .await;
            for (what, figures) in
                [("bare node", &node), ("bare node and two jobs", &jobs), ("remember", &remember)]
            {
                let ratio = figures.per_second / node.per_second;
                println!(
                    "{size:>9} {clients:>8} {what:<26} {:>9.3} {:>9.3} {:>10.0} {ratio:>7.2}",
                    figures.p50, figures.p99, figures.per_second
                );
            }
        }
    }
    let many: Vec<Memory> = (0..5_000).map(|n| Memory::new(text(n))).collect();
    let started = Instant::now();
    htm.remember_many(&many).await.expect("written");
    let ours = started.elapsed();
    let started = Instant::now();
    sqlx::query(
        &*NODE_AND_JOBS
            .replace(
                "values ('default', 1, $1, sha256($1::bytea), 10, 'estimate')",
                "select 'default', 1, c, sha256(c::bytea), 10, 'estimate' from unnest($1::text[]) c",
            )
            .leak(),
    )
    .bind(many.iter().map(|memory| memory.content.clone()).collect::<Vec<_>>())
    .execute(&db.pool)
    .await
    .expect("written");
    let floor = started.elapsed();
    println!(
        "remember_many of {}: {:.0} a second; the same rows and jobs raw {:.0}; ratio {:.2}",
        many.len(),
        many.len() as f64 / ours.as_secs_f64(),
        many.len() as f64 / floor.as_secs_f64(),
        floor.as_secs_f64() / ours.as_secs_f64()
    );
}

struct Figures {
    p50: f64,
    p99: f64,
    per_second: f64,
}

/// Runs `ROUNDS` writes a client, all clients at once.
async fn measure<F, Fut>(clients: usize, write: F) -> Figures
where
    F: Fn(usize) -> Fut,
    Fut: Future<Output = ()> + Send + 'static,
{
    let started = Instant::now();
    let mut tasks = tokio::task::JoinSet::new();
    for client in 0..clients {
        let writes: Vec<_> = (0..ROUNDS).map(|round| write(client * ROUNDS + round)).collect();
        tasks.spawn(async move {
            let mut times = Vec::with_capacity(ROUNDS);
            for write in writes {
                let started = Instant::now();
                write.await;
                times.push(started.elapsed());
            }
            times
        });
    }
    let mut times: Vec<Duration> = tasks.join_all().await.into_iter().flatten().collect();
    let elapsed = started.elapsed();
    times.sort();
    let at = |share: f64| times[(times.len() as f64 * share) as usize].as_secs_f64() * 1_000.0;
    Figures { p50: at(0.5), p99: at(0.99), per_second: times.len() as f64 / elapsed.as_secs_f64() }
}

async fn bare(pool: PgPool, sql: &'static str, n: usize) {
    sqlx::query(sql).bind(text(n)).execute(&pool).await.expect("written");
}

/// No two are the same: another memory of the same text would not be a node.
fn text(n: usize) -> String {
    static TEXTS: AtomicUsize = AtomicUsize::new(0);
    let number = TEXTS.fetch_add(1, Ordering::Relaxed);
    format!(
        "Note {number}: the deployment of service {} waited for review {} until evening.",
        n % 97,
        n % 1009
    )
}

async fn fill(htm: &Htm, nodes: usize) {
    for chunk in (0..nodes).collect::<Vec<_>>().chunks(5_000) {
        let memories: Vec<Memory> = chunk.iter().map(|&n| Memory::new(text(n))).collect();
        htm.remember_many(&memories).await.expect("written");
    }
}

fn argument(name: &str) -> Option<usize> {
    let mut arguments = std::env::args().skip_while(|argument| argument != name).skip(1);
    arguments.next()?.parse().ok()
}
