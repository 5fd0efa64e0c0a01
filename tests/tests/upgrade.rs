//! A rolling upgrade: the database first, then the fleet, program by program. In `upgrade/` are the statements of the
//! version before, as its programs send them.

use htm_core::provider::ModelName;
use htm_core::store::{queues, workers};
use htm_core::{Htm, Memory, Settings, Stage};
use htm_migration as migration;
use htm_tests::{Sandbox, TestDatabase, wait_until};
use pgvector::HalfVector;
use sqlx::PgPool;
use sqlx::types::chrono::{DateTime, Utc};

const DIMENSIONS: usize = 64;

#[tokio::test]
async fn programs_of_both_versions_share_the_queues() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db).set("HTM_JOBS__POLL_MS", "50");
    let new = writer(&db.pool);
    // The robot is known to both.
    new.remember(Memory::new("the first of all")).await.unwrap();
    sandbox.run("embed-worker", &["--drain"], b"").await.succeeds();

    let old = PreviousWorker::start(&db.pool).await;
    let _new_workers =
        [sandbox.start("embed-worker", &["--batch", "4"]), sandbox.start("tag-worker", &["--batch", "4"])];
    for n in 0..100 {
        new.remember(Memory::new(format!("written by the new version {n}"))).await.unwrap();
        remember_as_before(&db.pool, &format!("written by the old version {n}")).await;
        // The old one works on whatever it gets, both kinds; so do the new ones.
        if n % 2 == 0 {
            old.embed_some().await;
        }
        old.tag_some().await;
    }
    for stage in Stage::ALL {
        wait_until(|| async { queues::depth(&db.pool, stage.queue()).await.unwrap().open() == 0 }).await;
    }
    let nodes = db.count("select count(*) from htm.nodes").await;
    assert_eq!(nodes, 201);
    assert_eq!(db.count("select count(*) from htm.embeddings_1").await, nodes);
    for stage in ["embed", "tag"] {
        let by: Vec<(String, i64)> = sqlx::query_as(
            "select case when worker = 'previous' then 'old' else 'new' end, count(*) from htm.completions
              where stage = $1 group by 1 order by 1",
        )
        .bind(stage)
        .fetch_all(&db.pool)
        .await
        .unwrap();
        assert_eq!(by.iter().map(|(_, count)| count).sum::<i64>(), nodes, "{stage}: {by:?}");
        assert_eq!(by.len(), 2, "{stage}: both work: {by:?}");
    }
    assert_eq!(queues::count_stranded(&db.pool).await.unwrap(), 0);
}

#[tokio::test]
async fn what_the_version_before_does_to_jobs_that_fail_is_understood() {
    let db = TestDatabase::new().await;
    let new = writer(&db.pool);
    for n in 0..3 {
        new.remember(Memory::new(format!("{n}"))).await.unwrap();
    }
    let old = PreviousWorker::start(&db.pool).await;
    // One waits, one is a dead letter, one is given back.
    let (claimed_at, jobs) = old.claim("htm.embed", 3).await.unwrap();
    let ids: Vec<&str> = jobs.iter().map(|job| job.id.as_str()).collect();
    let failed: Vec<(String, bool)> = sqlx::query_as(include_str!("upgrade/fail_jobs.sql"))
        .bind("previous")
        .bind(claimed_at)
        .bind(&ids[..2])
        .bind(vec![0_i64, 0])
        .bind(vec![false, true])
        .bind(vec![false, true])
        .bind(vec!["slow down", "no text"])
        .fetch_all(&db.pool)
        .await
        .unwrap();
    assert_eq!(failed.len(), 2);
    let released: Vec<(String,)> = sqlx::query_as(include_str!("upgrade/release_unheld.sql"))
        .bind("previous")
        .bind(Vec::<String>::new())
        .fetch_all(&db.pool)
        .await
        .unwrap();
    assert_eq!(released.len(), 1);
    // And it dies with a job in its hands.
    old.claim("htm.embed", 1).await.unwrap();
    sqlx::query("update apalis.workers set last_seen = now() - interval '1 hour'")
        .execute(&db.pool)
        .await
        .unwrap();
    let rescued: Vec<(String,)> =
        sqlx::query_as(include_str!("upgrade/rescue_jobs.sql")).fetch_all(&db.pool).await.unwrap();
    assert_eq!(rescued.len(), 1);
    Sandbox::new(&db).run("embed-worker", &["--drain"], b"").await.succeeds();
    let depth = queues::depth(&db.pool, "htm.embed").await.unwrap();
    assert_eq!((depth.done, depth.dead, depth.open()), (2, 1, 0));
}

#[tokio::test]
async fn jobs_of_a_database_of_the_version_before_are_worked_off_after_its_migration() {
    let db = TestDatabase::empty().await;
    migration::up_to(&db.options(), 1).await.unwrap();
    // Two models had been used one after the other; the second one's jobs stood in the same queue.
    for name in ["fake-64", "another"] {
        sqlx::query("select htm.register_embedding_model('fake', $1, 64)")
            .bind(name)
            .execute(&db.pool)
            .await
            .unwrap();
    }
    sqlx::query("insert into htm.robots (namespace, name) values ('default', 'htm')")
        .execute(&db.pool)
        .await
        .unwrap();
    for n in 0..20 {
        remember_as_before(&db.pool, &format!("from before {n}")).await;
    }
    sqlx::query(
        "update apalis.jobs set idempotency_key = replace(idempotency_key, 'fake/fake-64', 'fake/another')
          where job_type = 'htm.embed' and (metadata -> 'node')::int > 15",
    )
    .execute(&db.pool)
    .await
    .unwrap();
    let sandbox = Sandbox::new(&db);
    let refused = sandbox.htm(&["recall", "x"]).await;
    assert!(refused.fails(1, "schema_version").contains("htm db migrate"), "{refused:?}");
    let refused = sandbox.run("embed-worker", &["--drain"], b"").await;
    assert!(refused.fails(1, "schema_version").contains("htm db migrate"), "{refused:?}");

    sandbox.htm(&["db", "migrate"]).await.succeeds();
    let queue_of = |queue: &'static str| queues::depth(&db.pool, queue);
    assert_eq!(queue_of("htm.embed").await.unwrap().pending, 15);
    assert_eq!(queue_of("htm.embed.2").await.unwrap().pending, 5);
    sandbox.run("embed-worker", &["--drain"], b"").await.succeeds();
    sandbox.run("tag-worker", &["--drain"], b"").await.succeeds();
    assert_eq!(db.count("select count(*) from htm.embeddings_1").await, 15);
    assert_eq!(queue_of("htm.tag").await.unwrap().done, 20);
    // What the other model had been meant to embed lacks its vector of the active one: seen, and mended.
    let audit = sandbox.htm(&["jobs", "audit"]).await;
    assert!(audit.exits(1).stdout.starts_with("5 stranded"), "{audit:?}");
    sandbox.htm(&["jobs", "audit", "--repair"]).await;
    sandbox.run("embed-worker", &["--drain"], b"").await.succeeds();
    assert!(sandbox.htm(&["jobs", "audit"]).await.succeeds().starts_with("0 stranded"));
}

#[tokio::test]
async fn a_program_works_on_a_schema_that_is_a_step_ahead_while_that_serves_it() {
    let db = TestDatabase::new().await;
    sqlx::query("insert into htm.seaql_migrations (version, applied_at) values ('m29991231_next', 0)")
        .execute(&db.pool)
        .await
        .unwrap();
    let sandbox = Sandbox::new(&db);
    sandbox.remember(&["still served"]).await;
    let answer = sandbox.run("embed-worker", &["--drain"], b"").await;
    answer.succeeds();
    assert!(format!("{answer:?}").contains("the database is ahead of this program"), "{answer:?}");
    sqlx::query("update htm.compatibility set oldest_program = $1")
        .bind(migration::LATEST as i32 + 1)
        .execute(&db.pool)
        .await
        .unwrap();
    for answer in [sandbox.run("embed-worker", &["--drain"], b"").await, sandbox.htm(&["recall", "x"]).await]
    {
        assert!(answer.fails(1, "schema_version").contains("upgrade this program"), "{answer:?}");
    }
}

fn writer(pool: &PgPool) -> Htm {
    let settings = Settings {
        embedding_model: ModelName::new("fake", "fake-64"),
        tag_model: ModelName::new("fake", "tags"),
        ..Settings::default()
    };
    Htm::with_pool(pool.clone(), settings, None)
}

/// What `remember` sent; the robot `htm` is there.
async fn remember_as_before(pool: &PgPool, text: &str) {
    let none = vec![None::<String>];
    let written: Vec<(i64, i64)> = sqlx::query_as(include_str!("upgrade/remember.sql"))
        .bind(vec!["default"])
        .bind(vec!["htm"])
        .bind(&none)
        .bind(vec![text])
        .bind(vec![vec![7_u8; 32]])
        .bind(&none)
        .bind(&none)
        .bind(vec![None::<i32>])
        .bind(&none)
        .bind(&none)
        .bind(vec![1.0_f32])
        .bind(vec![5_i32])
        .bind("estimate")
        .bind(vec!["english"])
        .bind(vec![serde_json::json!({})])
        .bind(vec![None::<DateTime<Utc>>])
        .bind(vec![ulid::Ulid::new().to_string()])
        .bind(vec![ulid::Ulid::new().to_string()])
        .bind("fake/fake-64")
        .bind("fake/tags")
        .bind(25_i32)
        .bind(0_i32)
        .fetch_all(pool)
        .await
        .unwrap();
    assert_eq!(written.len(), 1);
}

/// A worker of the version before: its statements, one at a time.
struct PreviousWorker {
    pool: PgPool,
}

impl PreviousWorker {
    async fn start(pool: &PgPool) -> Self {
        workers::register(pool, "htm.embed", "previous", "embed-worker 0.0.9 fake", 60_000).await.unwrap();
        Self { pool: pool.clone() }
    }

    async fn claim(&self, queue: &str, limit: i64) -> Option<(DateTime<Utc>, Vec<Claimed>)> {
        let rows: Vec<Claimed> = sqlx::query_as(include_str!("upgrade/claim_jobs.sql"))
            .bind(queue)
            .bind("previous")
            .bind(limit)
            .fetch_all(&self.pool)
            .await
            .unwrap();
        let claimed_at = rows.first()?.claimed_at;
        Some((claimed_at, rows))
    }

    async fn embed_some(&self) {
        let Some((claimed_at, jobs)) = self.claim("htm.embed", 3).await else { return };
        let nodes: Vec<i64> = jobs.iter().map(|job| node_of(&job.payload)).collect();
        let vector = HalfVector::from_f32_slice(&[0.125; DIMENSIONS]);
        let sql = include_str!("upgrade/ack_embed.sql").replace("{{store}}", "htm.embeddings_1");
        let acked: Vec<(String, bool)> = sqlx::query_as(sqlx::AssertSqlSafe(sql))
            .bind("previous")
            .bind(claimed_at)
            .bind(jobs.iter().map(|job| job.id.as_str()).collect::<Vec<_>>())
            .bind(&nodes)
            .bind(vec![1_i32; nodes.len()])
            .bind(vec![vector; nodes.len()])
            .bind("fake/fake-64")
            .fetch_all(&self.pool)
            .await
            .unwrap();
        assert_eq!(acked.len(), jobs.len());
    }

    async fn tag_some(&self) {
        let Some((claimed_at, jobs)) = self.claim("htm.tag", 2).await else { return };
        let nodes: Vec<i64> = jobs.iter().map(|job| node_of(&job.payload)).collect();
        let acked: Vec<(String, bool)> = sqlx::query_as(include_str!("upgrade/ack_tag.sql"))
            .bind("previous")
            .bind(claimed_at)
            .bind(jobs.iter().map(|job| job.id.as_str()).collect::<Vec<_>>())
            .bind(&nodes)
            .bind(vec![1_i32; nodes.len()])
            .bind("fake/tags")
            .bind("1")
            .bind("llm")
            .bind(Vec::<String>::new())
            .bind(Vec::<String>::new())
            .bind(Vec::<f32>::new())
            .fetch_all(&self.pool)
            .await
            .unwrap();
        assert_eq!(acked.len(), jobs.len());
    }
}

/// The version before read `{"v": 1, "node": …}`, and refuses what is newer.
fn node_of(payload: &[u8]) -> i64 {
    let payload: serde_json::Value = serde_json::from_slice(payload).unwrap();
    assert_eq!(payload["v"], 1);
    payload["node"].as_i64().unwrap()
}

/// A job as the version before claimed it.
#[derive(sqlx::FromRow)]
struct Claimed {
    id: String,
    payload: Vec<u8>,
    claimed_at: DateTime<Utc>,
}
