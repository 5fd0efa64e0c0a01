//! Many worker processes on one database: how fast they drain a queue, how long their claims take, how soon the first of
//! them works on a single memory, and how many connections they have.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use htm_core::provider::ModelName;
use htm_core::worker::queues;
use htm_core::{Htm, Memory, Settings, Stage, TokenEncoding};
use htm_tests::measure::{Table, percentile_ms};
use htm_tests::{OwnServer, Running, Sandbox, wait_until};

/// Memories that find all processes idle.
const SINGLES: usize = 100;

/// Connections for each process at most, and some for this one.
const CONNECTIONS_EACH: u32 = 6;

/// Longer than a worker holds back pings after one another.
const REST: Duration = Duration::from_millis(70);

/// Drains `jobs` with each number of processes. The provider is the fake one: it takes no time.
pub(crate) async fn measure(numbers: &[usize], jobs: usize, batch: usize) {
    let table = Table::new(&[
        ("processes", 9),
        ("jobs/s", 7),
        ("claims", 6),
        ("claim mean, ms", 8),
        ("claim p95 ≤, ms", 8),
        ("idle to done p50, ms", 8),
        ("p95, ms", 7),
        ("connections", 8),
        ("a process", 8),
        ("dead", 4),
    ]);
    for &processes in numbers {
        let fleet = Fleet::start(processes, batch).await;
        let (per_second, connections) = fleet.drain(jobs).await;
        let claims = fleet.claims().await;
        let singles = fleet.singles().await;
        table.row([
            processes.to_string(),
            format!("{per_second:.0}"),
            claims.number.to_string(),
            format!("{:.1}", claims.mean_ms),
            format!("{:.0}", claims.p95_ms),
            format!("{:.1}", percentile_ms(&singles, 0.5)),
            format!("{:.1}", percentile_ms(&singles, 0.95)),
            connections.to_string(),
            format!("{:.1}", connections as f64 / processes as f64),
            queues::depth(&fleet.server.pool, Stage::Embed.queue()).await.expect("a depth").dead.to_string(),
        ]);
    }
}

/// The durations of a fleet's claims. The percentile is the bound of the histogram's bucket.
struct Claims {
    number: u64,
    mean_ms: f64,
    p95_ms: f64,
}

/// Idle processes of embed-worker.
struct Fleet {
    // The processes end before their database goes.
    workers: Vec<Running>,
    _sandbox: Sandbox,
    server: OwnServer,
    htm: Htm,
}

impl Fleet {
    async fn start(processes: usize, batch: usize) -> Self {
        let server = OwnServer::start().await;
        server.allow_connections(20 + CONNECTIONS_EACH * processes as u32).await;
        let settings = Settings {
            embedding_model: ModelName::new("fake", "fake-64"),
            tag_model: ModelName::new("fake", "tags"),
            token_encoding: TokenEncoding::Estimate,
            ..Settings::default()
        };
        let htm = Htm::with_pool(server.pool.clone(), settings, None);
        let sandbox = Sandbox::on(&server.url()).set("HTM_DATABASE__MAX_CONNECTIONS", "1");
        let batch = batch.to_string();
        let options = ["--batch", &batch, "--concurrency", "1", "--listen", "127.0.0.1:0"];
        let workers = (0..processes).map(|_| sandbox.start("embed-worker", &options)).collect();
        let fleet = Self { workers, _sandbox: sandbox, server, htm };
        let listening = "select count(*) from pg_stat_activity
                          where datname = current_database() and query like 'LISTEN%' and state = 'idle'";
        wait_until(|| async { fleet.count(listening).await == processes as i64 }).await;
        fleet
    }

    async fn count(&self, sql: &'static str) -> i64 {
        sqlx::query_scalar(sql).fetch_one(&self.server.pool).await.expect("a count")
    }

    /// Jobs a second, and the most connections that were seen.
    async fn drain(&self, jobs: usize) -> (f64, i64) {
        let memories: Vec<Memory> = (0..jobs).map(|n| Memory::new(format!("memory number {n}"))).collect();
        // One commit: all of it is there when the clock starts, and none before.
        for receipt in self.htm.remember_many(&memories).await.expect("written") {
            receipt.expect("written");
        }
        let started = Instant::now();
        let mut most = 0;
        while !queues::is_drained(&self.server.pool, Stage::Embed.queue())
            .await
            .expect("the database answers")
        {
            let connected = "select count(*) from pg_stat_activity
                              where datname = current_database() and application_name = 'htm'";
            most = most.max(self.count(connected).await);
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        (jobs as f64 / started.elapsed().as_secs_f64(), most)
    }

    /// From the return of `remember` to the vector, each with all processes idle.
    async fn singles(&self) -> Vec<Duration> {
        let mut times = Vec::with_capacity(SINGLES);
        for number in 0..SINGLES {
            tokio::time::sleep(REST).await;
            let node =
                self.htm.remember(Memory::new(format!("single {number}"))).await.expect("written").node;
            let written = Instant::now();
            let done = "select exists (select from htm.embeddings_1 where node_id = $1)";
            while !sqlx::query_scalar::<_, bool>(done)
                .bind(node)
                .fetch_one(&self.server.pool)
                .await
                .expect("an answer")
            {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            times.push(written.elapsed());
        }
        times
    }

    /// The claims of all processes, by their counts.
    async fn claims(&self) -> Claims {
        let (mut sum, mut number) = (0.0, 0.0);
        let mut buckets = BTreeMap::<u64, f64>::new();
        for worker in &self.workers {
            let url = format!("http://{}/metrics", address(&worker.log()));
            let text = reqwest::get(url).await.expect("it answers").text().await.expect("a text");
            for (name, value) in text.lines().filter_map(|line| line.rsplit_once(' ')) {
                let Ok(value) = value.parse::<f64>() else { continue };
                if name.starts_with("htm_claim_seconds_sum") {
                    sum += value;
                } else if name.starts_with("htm_claim_seconds_count") {
                    number += value;
                } else if name.starts_with("htm_claim_seconds_bucket") {
                    let bound = name.split("le=\"").nth(1).and_then(|rest| rest.split('"').next());
                    let bound = bound.and_then(|bound| bound.parse::<f64>().ok()).unwrap_or(f64::INFINITY);
                    *buckets.entry((bound * 1e6) as u64).or_default() += value;
                }
            }
        }
        let within = buckets.iter().find(|(_, within)| **within >= 0.95 * number);
        Claims {
            number: number as u64,
            mean_ms: sum / number * 1_000.0,
            p95_ms: within.map_or(f64::INFINITY, |(&bound, _)| bound as f64 / 1_000.0),
        }
    }
}

/// The address that a worker serves its metrics at, by its log.
fn address(log: &str) -> String {
    log.lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .find_map(|line| Some(line.get("address")?.as_str()?.to_owned()))
        .expect("it listens")
}
