//! Helpers of the integration tests: a real PostgreSQL with a database for each test, and the programs as processes.

mod certificate;
mod database;
mod logs;
pub mod measure;
mod own_server;
mod pdf;
mod plans;
mod process;
mod proxy;
mod replica;
mod server;
mod slow_provider;

pub use certificate::Certificate;
pub use database::{TestDatabase, every_row};
pub use own_server::{OwnServer, ServerFiles, kill_server};
pub use pdf::{inflating_pdf, torn_pdf};
pub use plans::{Plan, Plans, explained};
pub use process::{Answer, Running, Sandbox, binary};
pub use proxy::Proxy;
pub use replica::{BaseBackup, Replica};
pub use server::cluster_dir;
pub use slow_provider::SlowProvider;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use htm_core::Stage;
use htm_core::worker::governor::Breaker;
use htm_worker::{Backoff, Options, Report};
use tokio_util::sync::CancellationToken;

/// The options of a worker in a test, with short poll, sweep and backoff times.
pub fn worker_options(drain: bool) -> Options {
    Options {
        program: "test-worker".into(),
        batch: 64,
        batch_tokens: 100_000,
        call_deadline: Duration::from_secs(5),
        breaker: Breaker { failures: 5, open: Duration::from_millis(50), cap: Duration::from_millis(500) },
        concurrency: 2,
        lease: Duration::from_secs(30),
        poll: Duration::from_millis(50),
        sweep: Duration::from_millis(200),
        statement_timeout: Duration::from_secs(30),
        keep_done: Duration::from_secs(3600),
        backoff: Backoff { base: Duration::from_millis(10), cap: Duration::from_millis(100) },
        patience: Duration::from_secs(3600),
        grace: Duration::from_secs(5),
        drain,
        monitor: None,
    }
}

/// The files below a directory of the project that have an extension, sorted.
pub fn files(dir: &str, extension: &str) -> Vec<PathBuf> {
    fn walk(dir: &Path, extension: &str, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(dir).expect("a directory") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                walk(&path, extension, found);
            } else if path.extension().is_some_and(|it| it == extension) {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the project");
    walk(&root.join(dir), extension, &mut found);
    found.sort();
    found
}

/// Says that this test leaves something out. `scripts/test.sh` says it again at the end of a run.
pub fn skipped(why: &str) {
    eprintln!("skipped: {why}");
    logs::keep_skipped(why);
}

/// The directory of the local model. None, with a message, if it is not installed.
pub fn local_model() -> Option<PathBuf> {
    let model = htm_providers::local::default_model_dir();
    if model.join("model.safetensors").exists() {
        return Some(model);
    }
    skipped(&format!("no model at {}; `./justw setup` fetches it", model.display()));
    None
}

/// The directory of a PostgreSQL 16 with the extensions. None, with a message, if it cannot be fetched.
pub fn postgres_16() -> Option<PathBuf> {
    fetched("postgres16", "PostgreSQL 16")
}

/// Debian's PgBouncer with its libraries. None, with a message, if it cannot be fetched.
pub fn pgbouncer() -> Option<Command> {
    let root = fetched("pgbouncer", "PgBouncer")?;
    let mut command = Command::new(root.join("usr/sbin/pgbouncer"));
    command.env("LD_LIBRARY_PATH", root.join("libraries"));
    Some(command)
}

/// The directory of a part of `scripts/setup.py`, which is fetched if it is not there. None, with a message, if it cannot
/// be fetched.
pub(crate) fn fetched(part: &str, what: &str) -> Option<PathBuf> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts/setup.py");
    let reason = match Command::new("python3").arg(script).arg(part).output() {
        Ok(output) if output.status.success() => {
            // `PostgreSQL 16.14: there already, /var/lib/htm/test/postgres/16.14`
            let said = String::from_utf8_lossy(&output.stdout).trim().to_owned();
            return said.rsplit_once(", ").map(|(_, place)| place.into());
        }
        Ok(output) => String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        Err(error) => format!("python3: {error}"),
    };
    skipped(&format!("no {what}: {reason}"));
    None
}

/// The directory of an official SDK in the directory `tmp`, by its name in `scripts/sdk_clients.py`. None, with a
/// message, if it cannot be fetched.
pub fn fetched_sdk(tmp: &str, kind: &str) -> Option<PathBuf> {
    let place = Path::new(tmp).join(format!("sdk-{kind}"));
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts/sdk_clients.py");
    let reason = match Command::new("python3").arg(script).arg(kind).arg(&place).output() {
        Ok(output) if output.status.success() => return Some(place),
        Ok(output) => String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        Err(error) => format!("python3: {error}"),
    };
    skipped(&format!("the SDK of {kind} cannot be fetched: {reason}"));
    None
}

/// Runs a worker of a stage with the fake provider until its queue is empty.
pub async fn drain(db: &TestDatabase, stage: Stage) -> Report {
    let pool = db.pool.clone();
    let stop = CancellationToken::new();
    match stage {
        Stage::Embed => {
            let embedder = htm_providers::fake::embedder(Default::default()).expect("the fake embedder");
            let handler = embed_worker::EmbedHandler::register(&pool, embedder).await.expect("registered");
            htm_worker::run(pool, handler, worker_options(true), stop).await
        }
        Stage::Tag => {
            let tagger = htm_providers::fake::tagger(Default::default()).expect("the fake tagger");
            let handler = tag_worker::TagHandler::new(pool.clone(), tagger);
            htm_worker::run(pool, handler, worker_options(true), stop).await
        }
    }
    .expect("the worker stops cleanly")
}

/// Enqueues the job that learns for a namespace, with three attempts. One that has ended becomes due again.
pub async fn enqueue_learning(db: &TestDatabase, namespace: &str) {
    sqlx::query(
        "insert into apalis.jobs (id, job_type, job, status, attempts, max_attempts, run_at, priority, metadata,
                                  idempotency_key)
         values (apalis.generate_ulid(), 'htm.learn',
                 convert_to(json_build_object('v', 1, 'namespace', $1::text)::text, 'UTF8'), 'Pending', 0, 3, now(), 0,
                 hstore('namespace', $1), $1)
         on conflict (job_type, idempotency_key) do update
            set status = 'Pending', attempts = 0, run_at = now(), done_at = null, last_result = null,
                metadata = excluded.metadata
          where jobs.status in ('Done', 'Killed')",
    )
    .bind(namespace)
    .execute(&db.pool)
    .await
    .expect("enqueued");
}

/// A port that nobody listens on.
pub fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("an address").port()
}

/// Waits until a condition holds. Panics after two minutes: a busy machine is slow.
pub async fn wait_until<F, Fut>(mut condition: F)
where
    F: FnMut() -> Fut,
    Fut: Future<Output = bool>,
{
    let waited = tokio::time::timeout(Duration::from_secs(120), async {
        while !condition().await {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    });
    waited.await.expect("the condition holds within two minutes");
}

/// A text of 1 MB that begins with a number. It has one word that full text knows: that of a million takes longest to write.
pub fn long_text(number: usize) -> String {
    format!("{number}{}", format!(" {}", "0123456789".repeat(2_000)).repeat(50))
}
