//! How the throughput grows with the worker processes, against one of them and against what the provider can give.
//!
//! `./justw bench-workers`. A provider of a fixed latency is asked by 1, 2, 4, 8 processes of embed-worker, one call
//! at a time each. Options, with their defaults:
//!
//! - `--latency 200`: of the provider, in milliseconds
//! - `--batch 32`: texts a call
//! - `--calls 40`: that each process has to make; the jobs are batch × calls × processes
//! - `--processes 1,2,4,8`
//! - `--kill`: of four processes one is killed with -9 in the midst, and what was asked for twice is counted
//! - `--fleet 50`: so many processes beside 1 and 8 with a provider that takes no time: the database is what is measured;
//!   `--jobs 50000` are drained, `--batch` at a time
//! - `--netns`: each process in a network namespace of its own, on a bridge with the database and the provider; takes
//!   root and iproute2, and says so where it cannot

#[path = "workers/fleet.rs"]
mod fleet;
#[path = "workers/networks.rs"]
mod networks;

use std::time::{Duration, Instant};

use htm_core::provider::ModelName;
use htm_core::worker::queues;
use htm_core::{Htm, Memory, Settings, Stage};
use htm_tests::measure::{Table, argument, flag, load};
use htm_tests::{OwnServer, Running, Sandbox, SlowProvider, TestDatabase, wait_until};
use nix::sys::signal::Signal;
use sqlx::PgPool;

use networks::Networks;

/// A killed process' jobs come back after it.
const LEASE: Duration = Duration::from_secs(2);

struct Arguments {
    latency: Duration,
    batch: usize,
    calls: usize,
    processes: Vec<usize>,
}

#[tokio::main]
async fn main() {
    let list: String = argument("--processes", "1,2,4,8".to_owned());
    let arguments = Arguments {
        latency: Duration::from_millis(argument("--latency", 200)),
        batch: argument("--batch", 32),
        calls: argument("--calls", 40),
        processes: list.split(',').map(|number| number.parse().expect("--processes 1,2,4,8")).collect(),
    };
    let largest: usize = argument("--fleet", 0);
    if largest > 0 {
        println!(
            "embed-worker processes, {} jobs a claim, no time in the provider; {}",
            arguments.batch,
            load()
        );
        fleet::measure(&[1, 8, largest], argument("--jobs", 50_000), arguments.batch).await;
        return println!("{}", load());
    }
    let networks = match flag("--netns").then(|| Networks::make(*arguments.processes.iter().max().unwrap())) {
        None => None,
        Some(Ok(networks)) => Some(networks),
        Some(Err(why)) => return println!("no network namespaces on this machine: {why}"),
    };
    println!(
        "embed-worker processes, {} texts a call, one call at a time, provider of {} ms{}; {}",
        arguments.batch,
        arguments.latency.as_millis(),
        if networks.is_some() { ", each process in a network namespace of its own" } else { "" },
        load()
    );
    let run = async {
        match flag("--kill") {
            true => kill(&arguments, networks.as_ref()).await,
            false => scale(&arguments, networks.as_ref()).await,
        }
    };
    // Interrupted, it still takes down what it has put up.
    tokio::select! {
        () = run => {}
        _ = tokio::signal::ctrl_c() => eprintln!("interrupted"),
    }
}

async fn scale(arguments: &Arguments, networks: Option<&Networks>) {
    let table = Table::new(&[
        ("processes", 9),
        ("jobs", 6),
        ("jobs/s", 7),
        ("× one process", 6),
        ("efficiency", 10),
        ("ideal/s", 7),
        ("of ideal", 8),
        ("duplicates", 10),
        ("dead", 4),
    ]);
    let mut one = None;
    for &processes in &arguments.processes {
        let stage = Stand::new(arguments, networks, processes).await;
        let started = stage.remember().await;
        stage.until_done().await;
        let per_second = stage.jobs as f64 / started.elapsed().as_secs_f64();
        let one = *one.get_or_insert(per_second / processes as f64);
        let ideal = (arguments.batch * processes) as f64 / arguments.latency.as_secs_f64();
        table.row([
            processes.to_string(),
            stage.jobs.to_string(),
            format!("{per_second:.0}"),
            format!("{:.2}", per_second / one),
            format!("{:.2}", per_second / one / processes as f64),
            format!("{ideal:.0}"),
            format!("{:.2}", per_second / ideal),
            stage.provider.duplicates().to_string(),
            stage.dead().await.to_string(),
        ]);
    }
    println!("efficiency: jobs/s ÷ (processes × jobs/s of one); target: at least 0.90");
}

async fn kill(arguments: &Arguments, networks: Option<&Networks>) {
    const PROCESSES: usize = 4;
    let mut stage = Stand::new(arguments, networks, PROCESSES).await;
    let started = stage.remember().await;
    let half = stage.jobs as i64 / 2;
    wait_until(|| async { stage.depth().await.done >= half }).await;
    let mut victim = stage.workers.swap_remove(0);
    victim.signal(Signal::SIGKILL);
    victim.end().await;
    let killed = Instant::now();
    let infix = format!("%-worker-{}-%", victim.pid);
    let held = async || -> i64 {
        sqlx::query_scalar("select count(*) from apalis.jobs where lock_by like $1")
            .bind(&infix)
            .fetch_one(stage.ground.pool())
            .await
            .expect("a count")
    };
    let in_flight = held().await;
    wait_until(async || held().await == 0).await;
    let back = killed.elapsed();
    stage.until_done().await;
    let table = Table::new(&[("one of 4 processes killed with -9", 44), ("", 8)]);
    table.row(["jobs".into(), stage.jobs.to_string()]);
    table.row([
        "jobs/s, all told".into(),
        format!("{:.0}", stage.jobs as f64 / started.elapsed().as_secs_f64()),
    ]);
    table.row(["its jobs in flight".into(), in_flight.to_string()]);
    table.row(["texts asked for more than once".into(), stage.provider.duplicates().to_string()]);
    table.row([
        format!("its jobs taken back after, ms (lease {} ms)", LEASE.as_millis()),
        back.as_millis().to_string(),
    ]);
    table.row(["dead letters".into(), stage.dead().await.to_string()]);
    table.row(["nodes without an embedding".into(), stage.unembedded().await.to_string()]);
}

/// Idle worker processes on an empty database, before a provider.
struct Stand {
    // The processes end before their database goes.
    workers: Vec<Running>,
    _sandbox: Sandbox,
    provider: SlowProvider,
    ground: Ground,
    jobs: usize,
}

/// Where the database is.
enum Ground {
    Shared(TestDatabase),
    Own(OwnServer),
}

impl Ground {
    fn pool(&self) -> &PgPool {
        match self {
            Self::Shared(db) => &db.pool,
            Self::Own(server) => &server.pool,
        }
    }
}

impl Stand {
    async fn new(arguments: &Arguments, networks: Option<&Networks>, processes: usize) -> Self {
        let host = networks.map_or("127.0.0.1", |_| networks::HOST);
        let provider = SlowProvider::start(host, arguments.latency).await;
        let (ground, url) = match networks {
            None => {
                let db = TestDatabase::new().await;
                let url = db.url();
                (Ground::Shared(db), url)
            }
            Some(_) => {
                let server = OwnServer::start().await;
                server.listen(networks::HOST, networks::NETWORK).await;
                let url = format!("postgres://postgres@{}:5432/htm?sslmode=disable", networks::HOST);
                (Ground::Own(server), url)
            }
        };
        let sandbox = provider
            .configure(Sandbox::on(&url))
            .set("HTM_JOBS__LEASE_MS", &LEASE.as_millis().to_string())
            // Of a worker's connections two or three are in use, and the server has 200.
            .set("HTM_DATABASE__MAX_CONNECTIONS", "5");
        let batch = arguments.batch.to_string();
        let options = ["--batch", &batch, "--concurrency", "1"];
        let start = |number: usize| match networks {
            None => sandbox.start("embed-worker", &options),
            Some(networks) => sandbox.start_in_netns(networks.name(number), "embed-worker", &options),
        };
        let workers: Vec<Running> = (0..processes).map(start).collect();
        let stage = Self {
            workers,
            _sandbox: sandbox,
            provider,
            ground,
            jobs: arguments.batch * arguments.calls * processes,
        };
        wait_until(|| async { stage.listening().await == processes as i64 }).await;
        stage
    }

    /// Writes what there is to do; returns when it was there.
    async fn remember(&self) -> Instant {
        let settings = Settings {
            embedding_model: ModelName::new("openai", "mock"),
            tag_model: ModelName::new("fake", "tags"),
            ..Settings::default()
        };
        let htm = Htm::with_pool(self.ground.pool().clone(), settings, None);
        let run = ulid::Ulid::new(); // another memory of the same text would not be a node
        let memories: Vec<Memory> =
            (0..self.jobs).map(|n| Memory::new(format!("memory number {n} of benchmark {run}"))).collect();
        // One commit: all of it is there when the clock starts, and none before.
        for receipt in htm.remember_many(&memories).await.expect("written") {
            receipt.expect("written");
        }
        Instant::now()
    }

    /// Idle workers wait for pings.
    async fn listening(&self) -> i64 {
        let sql = "select count(*) from pg_stat_activity
                    where datname = current_database() and query like 'LISTEN%' and state = 'idle'";
        sqlx::query_scalar(sql).fetch_one(self.ground.pool()).await.expect("a count")
    }

    async fn until_done(&self) {
        loop {
            let drained = queues::is_drained(self.ground.pool(), Stage::Embed.queue()).await;
            if drained.expect("the database answers") {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    async fn depth(&self) -> queues::QueueDepth {
        queues::depth(self.ground.pool(), Stage::Embed.queue()).await.expect("a depth")
    }

    async fn dead(&self) -> i64 {
        self.depth().await.dead
    }

    async fn unembedded(&self) -> i64 {
        let sql = "select count(*) from htm.nodes n left join htm.embeddings_1 e on e.node_id = n.id
                    where e.node_id is null";
        sqlx::query_scalar(sql).fetch_one(self.ground.pool()).await.expect("a count")
    }
}
