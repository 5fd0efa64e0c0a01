//! Whoever locks several jobs locks them in the order of their ids, and so waits for the others instead of blocking them.

use chrono::Utc;
use htm_core::provider::ModelName;
use htm_core::worker::jobs;
use htm_core::{Caller, Confirmation, Edit, Memory, Purge, Stage};
use htm_tests::{TestDatabase, wait_until};

use crate::{claim_as, register};

/// Renames the two jobs of these queues. The one that a statement finds first, by an index or in the table, gets the later
/// id.
async fn rename(db: &TestDatabase, queues: &str) {
    let found: Vec<String> = sqlx::query_scalar(
        "select id from apalis.jobs where job_type like $1 order by job_type, (metadata -> 'node')::bigint",
    )
    .bind(queues)
    .fetch_all(&db.pool)
    .await
    .unwrap();
    assert_eq!(found.len(), 2);
    for (job, id) in found.iter().zip(["later", "earlier"]) {
        let renamed = "update apalis.jobs set id = $1 where id = $2";
        sqlx::query(renamed).bind(id).bind(job).execute(&db.pool).await.unwrap();
    }
}

/// Does something while an operator locks the two jobs by their ids.
async fn beside_an_operator<T: Send + 'static>(
    db: &TestDatabase,
    work: impl Future<Output = htm_core::Result<T>> + Send + 'static,
) -> T {
    let lock = "select from apalis.jobs where id = $1 for update nowait";
    let mut operator = db.pool.begin().await.unwrap();
    sqlx::query(lock).bind("earlier").execute(&mut *operator).await.unwrap();
    let working = tokio::spawn(work);
    let waiting = "select count(*) from pg_stat_activity
                    where datname = current_database() and wait_event_type = 'Lock'";
    wait_until(|| async { db.count(waiting).await == 1 }).await;
    sqlx::query(lock).bind("later").execute(&mut *operator).await.expect("the other job is free");
    operator.commit().await.unwrap();
    working.await.unwrap().unwrap()
}

#[tokio::test]
async fn a_forget_does_not_block_an_operator() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let node = htm.remember(Memory::new("forgotten")).await.unwrap().node;
    rename(&db, "htm.%").await;
    let forget = async move { htm.forget(node, &Caller::Handle, Confirmation::Confirmed).await };
    assert_eq!(beside_an_operator(&db, forget).await.removed.jobs, 2);
}

#[tokio::test]
async fn an_edit_does_not_block_an_operator() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let node = htm.remember(Memory::new("first text")).await.unwrap().node;
    rename(&db, "htm.%").await;
    let edit = async move { htm.edit(node, &Edit::new().content("second text")).await };
    assert_eq!(beside_an_operator(&db, edit).await.superseded, 2);
}

#[tokio::test]
async fn a_retirement_does_not_block_an_operator() {
    let db = TestDatabase::new().await;
    register(&db).await;
    let model = db.htm().models().unwrap().add(&ModelName::new("fake", "later"), 16).await.unwrap();
    let htm = db.htm();
    for text in ["one", "two"] {
        htm.remember(Memory::new(text)).await.unwrap();
    }
    let queue = model.queue.clone().unwrap();
    assert_ne!(queue, Stage::Embed.queue());
    rename(&db, &queue).await;
    let retire = async move { htm.models()?.retire(&model.label, false).await };
    assert_eq!(beside_an_operator(&db, retire).await, 2);
}

#[tokio::test]
async fn a_release_does_not_block_an_operator() {
    let db = TestDatabase::new().await;
    register(&db).await;
    for text in ["one", "two"] {
        db.htm().remember(Memory::new(text)).await.unwrap();
    }
    rename(&db, "htm.embed").await;
    let (lease, _) = claim_as(&db, "worker").await;
    let claims = ["later", "earlier"].map(|job| (job.to_owned(), lease.claimed_at));
    let pool = db.pool.clone();
    let release = async move { jobs::release(&pool, &lease.worker, &claims).await };
    assert_eq!(beside_an_operator(&db, release).await, 2);
}

#[tokio::test]
async fn a_reset_of_a_provider_does_not_block_an_operator() {
    let db = TestDatabase::new().await;
    register(&db).await;
    for text in ["one", "two"] {
        db.htm().remember(Memory::new(text)).await.unwrap();
    }
    rename(&db, "htm.embed").await;
    sqlx::raw_sql(
        "insert into htm.providers (model) values ('fake/scripted');
         update apalis.jobs set metadata = metadata || hstore('deferred_since', now()::text)
          where job_type = 'htm.embed'",
    )
    .execute(&db.pool)
    .await
    .unwrap();
    let htm = db.htm();
    let reset = async move { htm.providers()?.reset("fake/scripted").await };
    assert_eq!(beside_an_operator(&db, reset).await, 2);
}

#[tokio::test]
async fn a_purge_does_not_block_an_operator() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    htm.remember(Memory::new("gone")).await.unwrap();
    rename(&db, "htm.%").await;
    sqlx::raw_sql(
        "update apalis.jobs set status = 'Done', done_at = now();
         delete from htm.nodes",
    )
    .execute(&db.pool)
    .await
    .unwrap();
    let purge = Purge::before(Utc::now()).caller(Caller::AnyRobot);
    let purge = async move { htm.purge(&purge, Confirmation::Confirmed).await };
    assert_eq!(beside_an_operator(&db, purge).await.removed.jobs, 2);
}
