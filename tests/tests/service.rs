//! A worker as a service: its port, its signals, its exit code, and the files that deploy it.

#[path = "service/deploy.rs"]
mod deploy;
#[path = "service/exposition.rs"]
mod exposition;
#[path = "service/metrics.rs"]
mod metrics;
#[path = "service/port.rs"]
mod port;
#[path = "service/promql.rs"]
mod promql;
#[path = "service/signals.rs"]
mod signals;

use htm_core::Memory;
use htm_tests::{Running, Sandbox, TestDatabase, wait_until};
use sqlx::{AssertSqlSafe, Connection, PgConnection};

/// A worker process that answers on a port.
struct Served {
    process: Running,
    base: String,
}

impl Served {
    /// Starts it on a free port, and waits until it says which.
    async fn start(sandbox: &Sandbox, program: &str) -> Self {
        let process = sandbox.start(program, &["--listen", "127.0.0.1:0"]);
        wait_until(|| async { address(&process.log()).is_some() }).await;
        let base = format!("http://{}", address(&process.log()).unwrap());
        Self { process, base }
    }

    /// Starts it, and waits until it is ready.
    async fn ready(sandbox: &Sandbox, program: &str) -> Self {
        let served = Self::start(sandbox, program).await;
        wait_until(|| async { served.get("/readyz").await.0 == 200 }).await;
        served
    }

    /// The status, and what is said.
    async fn get(&self, path: &str) -> (u16, String) {
        let response = reqwest::get(format!("{}{path}", self.base)).await.expect("it answers");
        (response.status().as_u16(), response.text().await.expect("a text"))
    }
}

/// Where a worker listens, by its log.
fn address(log: &str) -> Option<String> {
    let lines = log.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let mut serving = lines.filter(|line| line["message"] == "serving /livez, /readyz and /metrics");
    Some(serving.next()?["address"].as_str()?.to_owned())
}

async fn remember(db: &TestDatabase, count: usize) {
    let memories: Vec<Memory> = (0..count).map(|n| Memory::new(format!("memory number {n}"))).collect();
    for receipt in db.htm().remember_many(&memories).await.unwrap() {
        receipt.unwrap();
    }
}

const HELD: &str = "select count(*) from apalis.jobs where status = 'Running'";

/// Lets a worker of embeddings hold some jobs until the connection says `rollback`, or ends.
async fn hold(db: &TestDatabase, jobs: usize) -> PgConnection {
    remember(db, jobs).await;
    let done = "select count(*) from apalis.jobs where status = 'Done' and job_type = 'htm.embed'";
    wait_until(|| async { db.count(done).await == jobs as i64 }).await;
    // Nodes cannot be read from now on: whoever claims a job cannot work on it.
    let mut blocker = PgConnection::connect_with(&db.options()).await.unwrap();
    sqlx::raw_sql("begin; lock table htm.nodes in access exclusive mode")
        .execute(&mut blocker)
        .await
        .unwrap();
    let again = "update apalis.jobs set status = 'Pending', done_at = null where job_type = 'htm.embed'";
    sqlx::raw_sql(again).execute(&db.pool).await.unwrap();
    wait_until(|| async { db.count(HELD).await == jobs as i64 }).await;
    blocker
}

/// PostgreSQL refuses this database, to everybody, until it is told otherwise.
async fn refuse(db: &TestDatabase) {
    admin(db, "alter database {} allow_connections false").await;
    admin(db, "select pg_terminate_backend(pid) from pg_stat_activity where datname = '{}'").await;
}

/// Ends what [`refuse`] began. The connections of the test's own pool were ended too, and a pool does not test one that
/// was in use a moment ago: those are dropped here.
async fn accept(db: &TestDatabase) {
    admin(db, "alter database {} allow_connections true").await;
    let idle: Vec<_> = std::iter::from_fn(|| db.pool.try_acquire()).collect();
    for mut connection in idle {
        if connection.ping().await.is_err() {
            drop(connection.detach());
        }
    }
}

/// Runs a statement about the database from another one; `{}` is its name.
async fn admin(db: &TestDatabase, statement: &str) {
    let options = db.options();
    let name = options.get_database().expect("a database of the test's own").to_owned();
    let mut connection = PgConnection::connect_with(&options.database("postgres")).await.unwrap();
    let statement = AssertSqlSafe(statement.replace("{}", &name));
    sqlx::raw_sql(statement).execute(&mut connection).await.unwrap();
}
