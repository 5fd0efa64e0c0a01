//! Workers that stop: what they finish, and what they give back.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use htm_core::{Memory, Stage, StageState};
use htm_tests::{TestDatabase, wait_until, worker_options};
use htm_worker::{Options, Report, WorkerError};
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::{Behaviour, Scripted};

/// A worker that holds one job, until its gate has a permit.
struct Held {
    worker: JoinHandle<Result<Report, WorkerError>>,
    stop: CancellationToken,
    gate: Arc<Semaphore>,
}

impl Held {
    async fn by_a_worker(db: &TestDatabase, options: Options) -> Self {
        let gate = Arc::new(Semaphore::new(0));
        let handler = Scripted { gate: gate.clone(), ..Scripted::new(db, Behaviour::Succeed).await };
        let calls = handler.calls.clone();
        let stop = CancellationToken::new();
        let worker = tokio::spawn(htm_worker::run(db.pool.clone(), handler, options, stop.clone()));
        wait_until(|| async { calls.load(Ordering::SeqCst) == 1 }).await;
        Self { worker, stop, gate }
    }
}

#[tokio::test]
async fn a_worker_that_stops_gives_back_what_it_holds_without_charge() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let node = htm.remember(Memory::new("interrupted")).await.unwrap().node;
    let grace = Duration::from_millis(10);
    let Held { worker, stop, .. } = Held::by_a_worker(&db, Options { grace, ..worker_options(false) }).await;
    assert_eq!(htm.status(node).await.unwrap().stage(Stage::Embed).name(), "running");
    stop.cancel();
    assert_ne!(worker.await.unwrap().unwrap().released, 0);
    let status = htm.status(node).await.unwrap();
    assert!(matches!(status.stage(Stage::Embed), StageState::Pending { attempts: 0, .. }), "{status:?}");
    let next = Scripted::new(&db, Behaviour::Succeed).await;
    let report = htm_worker::run(db.pool.clone(), next, worker_options(true), CancellationToken::new()).await;
    assert_eq!(report.unwrap().done, 1);
}

#[tokio::test]
async fn a_claim_that_commits_while_the_worker_leaves_is_given_back() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let node = htm.remember(Memory::new("claimed late")).await.unwrap().node;
    let grace = Duration::from_millis(10);
    let Held { worker, stop, .. } = Held::by_a_worker(&db, Options { grace, ..worker_options(false) }).await;
    // The first release leaves the job as a late claim does: running, in the worker's name.
    let late = "create table late as select 1 as claim;
        create function claim_late() returns trigger language plpgsql as $$ begin
            delete from late;
            return case when found then old else new end;
        end $$;
        create trigger late before update on apalis.jobs for each row
            when (old.status = 'Running' and new.status = 'Pending') execute function claim_late()";
    sqlx::raw_sql(late).execute(&db.pool).await.unwrap();
    stop.cancel();
    worker.await.unwrap().unwrap();
    let status = htm.status(node).await.unwrap();
    assert!(matches!(status.stage(Stage::Embed), StageState::Pending { attempts: 0, .. }), "{status:?}");
    let workers: i64 =
        sqlx::query_scalar("select count(*) from apalis.workers").fetch_one(&db.pool).await.unwrap();
    assert_eq!(workers, 0);
}

#[tokio::test]
async fn a_worker_that_stops_in_time_finishes_its_batch() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let node = htm.remember(Memory::new("finished")).await.unwrap().node;
    let Held { worker, stop, gate } = Held::by_a_worker(&db, worker_options(false)).await;
    stop.cancel();
    gate.add_permits(1);
    let report = worker.await.unwrap().unwrap();
    assert_eq!((report.done, report.released), (1, 0));
    assert_eq!(htm.status(node).await.unwrap().stage(Stage::Embed).name(), "done");
}
