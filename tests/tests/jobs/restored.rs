//! Jobs that end while their node is being restored: the restore has looked at the jobs, and has not committed yet.

use std::time::Duration;

use htm_core::job::Payload;
use htm_core::provider::{ModelName, TagOrigin};
use htm_core::worker::jobs::{self, Claimed, Superseded, SupersededAck, Tagged, TaggedBy};
use htm_core::worker::{nodes, queues, workers};
use htm_core::{Caller, Confirmation, Htm, Memory, NodeId, Restored, Stage};
use htm_tests::{TestDatabase, wait_until};
use sqlx::{Postgres, Transaction};
use tokio::task::JoinHandle;

use crate::{claim_as, embedded, register};

/// A restore that waits for a lock after its last look at the jobs.
struct Pending {
    lock: Transaction<'static, Postgres>,
    restore: JoinHandle<htm_core::Result<Restored>>,
}

impl Pending {
    async fn begin(db: &TestDatabase, htm: &Htm, node: NodeId) -> Self {
        let mut lock = db.pool.begin().await.unwrap();
        let sql = "lock table htm.namespace_statistics in access exclusive mode";
        sqlx::query(sql).execute(&mut *lock).await.unwrap();
        let htm = htm.clone();
        let restore = tokio::spawn(async move { htm.restore(node, &Caller::Handle).await });
        wait_until(|| async { waiting(db).await == 1 }).await;
        Self { lock, restore }
    }

    /// Lets it commit while `ack` is under way.
    async fn commit_during<T: Send + 'static>(
        self,
        db: &TestDatabase,
        ack: impl Future<Output = T> + Send + 'static,
    ) -> T {
        let ack = tokio::spawn(ack);
        wait_until(|| async { ack.is_finished() || waiting(db).await == 2 }).await;
        self.lock.rollback().await.unwrap();
        self.restore.await.unwrap().unwrap();
        ack.await.unwrap()
    }
}

/// How many connections wait for a lock.
async fn waiting(db: &TestDatabase) -> i64 {
    db.count(
        "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    )
    .await
}

async fn forget(htm: &Htm, node: NodeId) {
    htm.forget(node, &Caller::Handle, Confirmation::Confirmed).await.unwrap();
}

fn superseded(job: &Claimed) -> Superseded {
    let payload = Payload::decode(&job.payload).unwrap();
    Superseded { job: job.id.clone(), node: payload.node, revision: payload.revision }
}

#[tokio::test]
async fn a_job_whose_text_was_not_there_yet_waits_again() {
    // Its own job, given back by a rescue; or one that somebody enqueues beside the restore, which waits for its key.
    for beside in [false, true] {
        let db = TestDatabase::new().await;
        let htm = db.htm();
        register(&db).await;
        let node = htm.remember(Memory::new("back and forth")).await.unwrap().node;
        let mut enqueuing = db.pool.begin().await.unwrap();
        if beside {
            let copied = "create temporary table copied on commit drop as select * from apalis.jobs";
            sqlx::query(copied).execute(&mut *enqueuing).await.unwrap();
            forget(&htm, node).await;
            let again = "insert into apalis.jobs select * from copied where job_type = 'htm.embed'";
            sqlx::query(again).execute(&mut *enqueuing).await.unwrap();
        } else {
            claim_as(&db, "lost").await;
            forget(&htm, node).await;
            let sql = "update apalis.workers set last_seen = now() - interval '1 hour'";
            sqlx::query(sql).execute(&db.pool).await.unwrap();
            let lost = workers::unseen(&db.pool).await.unwrap();
            assert_eq!(jobs::rescue(&db.pool, &lost, crate::AT_ONCE).await.unwrap(), 1);
        }
        let pending = Pending::begin(&db, &htm, node).await;
        enqueuing.commit().await.unwrap();
        let (lease, claimed) = claim_due(&db).await;
        let job = superseded(&claimed[0]);
        let texts = nodes::contents(&db.pool, &[(node, job.revision, "default")]).await.unwrap();
        assert!(texts.is_empty(), "the restore has not committed");
        let pool = db.pool.clone();
        let acked = pending
            .commit_during(&db, async move { jobs::ack_superseded(&pool, &lease, &[job]).await.unwrap() })
            .await;
        assert_eq!(queues::count_stranded(&db.pool).await.unwrap(), 0, "beside: {beside}");
        assert_eq!(acked, SupersededAck { ended: 0, released: 1 });
        let (_, again) = claim_as(&db, "next").await;
        assert_eq!((&again[0].id, again[0].attempt), (&claimed[0].id, claimed[0].attempt), "without charge");
    }
}

/// Claims what is due, as soon as it is.
async fn claim_due(db: &TestDatabase) -> (jobs::Lease, Vec<Claimed>) {
    workers::register(&db.pool, Stage::Embed.queue(), "reader", "test", 30_000).await.unwrap();
    for _ in 0..600 {
        let claim = jobs::claim(&db.pool, Stage::Embed.queue(), "fake/scripted", "reader", 100);
        if let Some(claimed) = claim.await.unwrap() {
            return claimed;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("no job is due");
}

#[tokio::test]
async fn a_job_of_a_text_that_is_gone_ends() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let node = htm.remember(Memory::new("forgotten for good")).await.unwrap().node;
    let (lease, claimed) = claim_as(&db, "worker").await;
    forget(&htm, node).await;
    let jobs = [superseded(&claimed[0])];
    let ended = SupersededAck { ended: 1, released: 0 };
    assert_eq!(jobs::ack_superseded(&db.pool, &lease, &jobs).await.unwrap(), ended);
    // And is not held any more.
    let nothing = SupersededAck::default();
    assert_eq!(jobs::ack_superseded(&db.pool, &lease, &jobs).await.unwrap(), nothing);
}

#[tokio::test]
async fn results_of_a_node_that_is_being_restored_are_written() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let node = htm.remember(Memory::new("back and forth")).await.unwrap().node;
    let model = register(&db).await;
    for stage in Stage::ALL {
        workers::register(&db.pool, stage.queue(), "worker", "test", 30_000).await.unwrap();
        let claim = jobs::claim(&db.pool, stage.queue(), "fake/scripted", "worker", 100).await;
        let (lease, claimed) = claim.unwrap().expect("a job is due");
        forget(&htm, node).await;
        let pending = Pending::begin(&db, &htm, node).await;
        let (pool, model, job) = (db.pool.clone(), model.clone(), claimed[0].clone());
        let acked = pending.commit_during(&db, async move {
            match stage {
                Stage::Embed => jobs::ack_embedded(&pool, &lease, &model, &[embedded(&job, node)]).await,
                Stage::Tag => {
                    let name = ModelName::new("fake", "scripted");
                    let rules = &htm_core::TagRules::default();
                    let by = TaggedBy { model: &name, version: "1", origin: TagOrigin::Llm, rules };
                    let namespace = "default".into();
                    let tagged = Tagged { job: job.id, node, namespace, revision: 1, tags: Vec::new() };
                    jobs::ack_tagged(&pool, &lease, by, &[tagged]).await
                }
            }
            .unwrap()
        });
        assert_eq!(acked.await, 1);
        let status = htm.status(node).await.unwrap();
        assert_eq!(status.stage(stage).name(), "done", "{status:?}");
    }
    assert_eq!(queues::count_stranded(&db.pool).await.unwrap(), 0);
}
