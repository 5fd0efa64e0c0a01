//! The life of a job: claims, leases, acks, failures, rescues.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use htm_core::provider::{Calls, ModelName, ProviderError, ProviderErrorKind};
use htm_core::worker::jobs::{self, Claimed, Embedded, Failed, Lease, RescueWait, Verdict};
use htm_core::worker::{embeddings, queues, workers};
use htm_core::{Caller, Confirmation, Edit, Memory, NodeId, RecallQuery, Stage, StageState, Strategy};
use htm_providers::fake::{self, FakeSettings};
use htm_tests::{TestDatabase, drain, wait_until, worker_options};
use htm_worker::{Handler, Item, Kind, Subjects, Text, WorkError, texts};
use sqlx::postgres::PgPoolOptions;
use sqlx::{PgPool, Row};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

#[path = "jobs/claims.rs"]
mod claims;
#[path = "jobs/governor.rs"]
mod governor;
#[path = "jobs/learning.rs"]
mod learning;
#[path = "jobs/locks.rs"]
mod locks;
#[path = "jobs/put_off.rs"]
mod put_off;
#[path = "jobs/refused.rs"]
mod refused;
#[path = "jobs/rejected.rs"]
mod rejected;
#[path = "jobs/restored.rs"]
mod restored;
#[path = "jobs/stopped.rs"]
mod stopped;
#[path = "jobs/together.rs"]
mod together;
#[path = "jobs/young.rs"]
mod young;

/// Embeds each text as one fixed vector, after what a test wants to happen.
struct Scripted {
    model: embeddings::RegisteredModel,
    behaviour: Behaviour,
    calls: Arc<AtomicUsize>,
    /// A call waits for a permit; a test that wants no waiting gives plenty.
    gate: Arc<Semaphore>,
}

enum Behaviour {
    Succeed,
    Fail(ProviderErrorKind),
    RefuseTextWith(&'static str),
    /// Fails as a whole if it gets such a text.
    FailOn(&'static str),
    PanicOn(&'static str),
    /// Makes vectors that the database refuses.
    SpoilTextWith(&'static str),
}

impl Scripted {
    async fn new(db: &TestDatabase, behaviour: Behaviour) -> Self {
        let model =
            embeddings::register_model(&db.pool, &ModelName::new("fake", "scripted"), 4).await.unwrap();
        let gate = Arc::new(Semaphore::new(1_000_000));
        Self { model, behaviour, calls: Arc::default(), gate }
    }
}

#[async_trait]
impl Handler for Scripted {
    type Subject = Text;
    type Output = Vec<f32>;

    fn kind(&self) -> Kind {
        Kind::Stage(Stage::Embed)
    }

    fn model(&self) -> Option<String> {
        Some(self.model.name.to_string())
    }

    async fn read(&self, pool: &PgPool, jobs: &[Claimed]) -> htm_core::Result<Subjects<Text>> {
        texts(pool, jobs).await
    }

    async fn work(&self, items: &[Item], _calls: &dyn Calls) -> Result<Vec<Vec<f32>>, WorkError> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        self.gate.acquire().await.unwrap().forget();
        let has = |word| items.iter().any(|item| item.subject.content.contains(word));
        let fail = |kind| Err(ProviderError::new(&self.model.name, kind, "scripted").into());
        match self.behaviour {
            Behaviour::Fail(kind) => fail(kind),
            Behaviour::RefuseTextWith(word) if has(word) => fail(ProviderErrorKind::BadInput),
            Behaviour::FailOn(word) if has(word) => fail(ProviderErrorKind::Server),
            Behaviour::PanicOn(word) if has(word) => panic!("scripted"),
            Behaviour::SpoilTextWith(word) => Ok(items
                .iter()
                .map(
                    |item| if item.subject.content.contains(word) { vec![f32::NAN; 4] } else { vec![0.5; 4] },
                )
                .collect()),
            _ => Ok(vec![vec![1.0, 0.0, 0.0, 0.0]; items.len()]),
        }
    }

    async fn ack(
        &self,
        pool: &PgPool,
        lease: &Lease,
        results: &[(Item, Vec<f32>)],
    ) -> htm_core::Result<usize> {
        let results: Vec<Embedded> = results
            .iter()
            .map(|(item, embedding)| Embedded {
                job: item.job.clone(),
                node: item.subject.node,
                revision: item.subject.revision,
                embedding: embedding.clone(),
                parts: 1,
            })
            .collect();
        jobs::ack_embedded(pool, lease, &self.model, &results).await
    }
}

const AT_ONCE: RescueWait = RescueWait { base: Duration::ZERO, cap: Duration::ZERO };

/// Claims as a worker of this name would.
async fn claim_as(db: &TestDatabase, worker: &str) -> (Lease, Vec<jobs::Claimed>) {
    workers::register(&db.pool, Stage::Embed.queue(), worker, "test", 30_000).await.unwrap();
    jobs::claim(&db.pool, Stage::Embed.queue(), "fake/scripted", worker, 100)
        .await
        .unwrap()
        .expect("a job is due")
}

fn embedded(job: &jobs::Claimed, node: NodeId) -> Embedded {
    Embedded { job: job.id.clone(), node, revision: 1, embedding: vec![0.5; 4], parts: 1 }
}

async fn register(db: &TestDatabase) -> embeddings::RegisteredModel {
    embeddings::register_model(&db.pool, &ModelName::new("fake", "scripted"), 4).await.unwrap()
}

#[tokio::test]
async fn each_kind_of_worker_has_a_queue_that_can_be_held_on_a_full_disk() {
    let db = TestDatabase::new().await;
    let mut expected = Vec::new();
    for kind in Stage::ALL.map(Kind::Stage).into_iter().chain([Kind::Learn]) {
        assert_eq!(Kind::of_queue(kind.queue()), kind);
        expected.push(kind.queue());
    }
    expected.sort();
    assert_eq!(queues::names(&db.pool).await.unwrap(), expected);
    // No row can be added then.
    let rows = "select queue from htm.held_queues order by queue";
    let rows: Vec<String> = sqlx::query_scalar(rows).fetch_all(&db.pool).await.unwrap();
    assert_eq!(rows, expected);
}

#[tokio::test]
async fn both_stages_end_done_with_the_models_names() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let node = htm.remember(Memory::new("postgres postgres postgres index")).await.unwrap().node;
    for stage in Stage::ALL {
        assert_eq!(drain(&db, stage).await.done, 1);
    }
    let status = htm.status(node).await.unwrap();
    for stage in Stage::ALL {
        let StageState::Done { model, after_ms, attempt, .. } = status.stage(stage) else {
            panic!("{status:?}")
        };
        assert!(model.starts_with("fake/"));
        assert!(*after_ms > 0.0);
        assert_eq!(*attempt, 1);
    }
    assert!(!htm.get(node).await.unwrap().tags.is_empty());
    assert_eq!(queues::count_stranded(&db.pool).await.unwrap(), 0);
    // The workers have left the list.
    assert!(workers::list(&db.pool).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_job_that_runs_twice_leaves_the_same_rows() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    htm.remember(Memory::new("twice told").tag("manual:tag".parse().unwrap())).await.unwrap();
    let snapshot = "select md5(string_agg(t::text, '|' order by t::text)) from (
        select node_id::text || tag_id || origin as t from htm.node_tags
        union all select node_id::text || embedding::text from htm.embeddings_1
        union all select node_id::text || revision || stage || model || outcome from htm.completions) t";
    let mut seen = Vec::new();
    for _ in 0..2 {
        sqlx::query("update apalis.jobs set status = 'Pending', attempts = 0, done_at = null")
            .execute(&db.pool)
            .await
            .unwrap();
        for stage in Stage::ALL {
            drain(&db, stage).await;
        }
        seen.push(sqlx::query_scalar::<_, String>(snapshot).fetch_one(&db.pool).await.unwrap());
    }
    assert_eq!(seen[0], seen[1]);
}

#[tokio::test]
async fn a_stale_holder_changes_nothing() {
    let db = TestDatabase::new().await;
    let node = db.htm().remember(Memory::new("fenced")).await.unwrap().node;
    let model = register(&db).await;
    let (stale, stale_jobs) = claim_as(&db, "first").await;
    // The first worker is not seen for longer than its lease; a second one takes over.
    sqlx::query("update apalis.workers set last_seen = now() - interval '1 hour'")
        .execute(&db.pool)
        .await
        .unwrap();
    let lost = workers::unseen(&db.pool).await.unwrap();
    assert_eq!(jobs::rescue(&db.pool, &lost, AT_ONCE).await.unwrap(), 1);
    let (lease, claimed) = claim_as(&db, "second").await;
    assert_eq!(claimed[0].attempt, 2);
    // Also under its own name again: the instant of the claim differs.
    for old in [stale.clone(), Lease { worker: "second".into(), ..stale }] {
        let results = [embedded(&stale_jobs[0], node)];
        assert_eq!(jobs::ack_embedded(&db.pool, &old, &model, &results).await.unwrap(), 0);
        let failed =
            [Failed { job: stale_jobs[0].id.clone(), reason: "late".into(), verdict: Verdict::Dead }];
        assert_eq!(jobs::fail(&db.pool, &old, &failed, Duration::MAX).await.unwrap().len(), 0);
    }
    assert_eq!(db.count("select count(*) from htm.embeddings_1").await, 0);
    assert_eq!(
        jobs::ack_embedded(&db.pool, &lease, &model, &[embedded(&claimed[0], node)]).await.unwrap(),
        1
    );
    assert_eq!(db.count("select count(*) from htm.embeddings_1").await, 1);
    // The end is written once.
    assert_eq!(
        jobs::ack_embedded(&db.pool, &lease, &model, &[embedded(&claimed[0], node)]).await.unwrap(),
        0
    );
}

#[tokio::test]
async fn an_edit_and_a_forget_during_embedding_win() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let edited = htm.remember(Memory::new("first text")).await.unwrap().node;
    let forgotten = htm.remember(Memory::new("a secret")).await.unwrap().node;
    let model = register(&db).await;
    let (lease, claimed) = claim_as(&db, "worker").await;
    htm.edit(edited, &Edit::new().content("second text")).await.unwrap();
    htm.forget(forgotten, &Caller::Handle, Confirmation::Confirmed).await.unwrap();
    let results: Vec<Embedded> =
        claimed.iter().zip([edited, forgotten]).map(|(job, node)| embedded(job, node)).collect();
    assert_eq!(jobs::ack_embedded(&db.pool, &lease, &model, &results).await.unwrap(), 2);
    assert_eq!(db.count("select count(*) from htm.embeddings_1").await, 0);
    assert_eq!(db.count("select count(*) from htm.completions").await, 0);
    assert_eq!(db.count("select count(*) from apalis.jobs where status = 'Running'").await, 0);
}

#[tokio::test]
async fn a_failing_provider_is_retried_with_backoff_until_a_dead_letter_says_why() {
    let db = TestDatabase::new().await;
    let mut settings = db.htm().settings().clone();
    settings.max_attempts = 3;
    let htm = htm_core::Htm::with_pool(db.pool.clone(), settings, None);
    let node = htm.remember(Memory::new("unlucky")).await.unwrap().node;
    let handler = Scripted::new(&db, Behaviour::Fail(ProviderErrorKind::Server)).await;
    let calls = handler.calls.clone();
    let report = htm_worker::run(db.pool.clone(), handler, worker_options(true), CancellationToken::new())
        .await
        .unwrap();
    assert_eq!((calls.load(Ordering::SeqCst), report.failed), (3, 3));
    let status = htm.status(node).await.unwrap();
    let StageState::Dead { attempts, error } = status.stage(Stage::Embed) else { panic!("{status:?}") };
    assert_eq!(*attempts, 3);
    assert!(error.contains("provider_server_error"), "{error}");
    let waited = htm.wait_for(node, Stage::Embed, Duration::from_secs(5)).await.unwrap_err();
    assert_eq!(waited.code(), "stage_dead");
    assert_eq!(queues::count_stranded(&db.pool).await.unwrap(), 0);
    // Dead or not, full text finds it.
    let query = RecallQuery::new("unlucky").strategy(Strategy::Fulltext);
    assert_eq!(htm.recall(&query).await.unwrap().hits.len(), 1);
}

#[tokio::test]
async fn what_is_not_the_jobs_fault_burns_no_attempt() {
    for kind in [ProviderErrorKind::RateLimited { retry_after: None }, ProviderErrorKind::Unauthorized] {
        let db = TestDatabase::new().await;
        let htm = db.htm();
        let node = htm.remember(Memory::new("innocent")).await.unwrap().node;
        let handler = Scripted::new(&db, Behaviour::Fail(kind)).await;
        let calls = handler.calls.clone();
        let stop = CancellationToken::new();
        let worker =
            tokio::spawn(htm_worker::run(db.pool.clone(), handler, worker_options(false), stop.clone()));
        wait_until(|| async { calls.load(Ordering::SeqCst) >= 3 }).await;
        stop.cancel();
        worker.await.unwrap().unwrap();
        let status = htm.status(node).await.unwrap();
        let StageState::Pending { attempts, last_error, .. } = status.stage(Stage::Embed) else {
            panic!("{status:?}")
        };
        assert_eq!(*attempts, 0, "{kind:?}");
        assert!(last_error.as_deref().unwrap().contains("provider_"));
    }
}

#[tokio::test]
async fn one_bad_text_fails_alone() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let mut memories: Vec<Memory> = (0..40).map(|n| Memory::new(format!("good {n}"))).collect();
    memories[17] = Memory::new("poison");
    let nodes: Vec<NodeId> = htm
        .remember_many(&memories)
        .await
        .unwrap()
        .into_iter()
        .map(|receipt| receipt.unwrap().node)
        .collect();
    let handler = Scripted::new(&db, Behaviour::RefuseTextWith("poison")).await;
    let report = htm_worker::run(db.pool.clone(), handler, worker_options(true), CancellationToken::new())
        .await
        .unwrap();
    assert_eq!((report.done, report.failed), (39, 1));
    assert_eq!(htm.status(nodes[17]).await.unwrap().stage(Stage::Embed).name(), "dead");
    assert_eq!(htm.status(nodes[16]).await.unwrap().stage(Stage::Embed).name(), "done");
}

#[tokio::test]
async fn undecodable_payloads_die_alone_and_newer_ones_wait() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    for text in ["one", "two", "three", "four"] {
        htm.remember(Memory::new(text)).await.unwrap();
    }
    let poison: [&[u8]; 3] = [b"\xff\x00", br#"{"v":1,"node":"x"}"#, br#"{"v":9,"node":1,"revision":1}"#];
    for (payload, offset) in poison.into_iter().zip(0i64..) {
        sqlx::query(
            "update apalis.jobs set job = $1 where id = (select id from apalis.jobs where job_type = 'htm.embed'
             order by (metadata -> 'node')::bigint offset $2 limit 1)",
        )
        .bind(payload)
        .bind(offset)
        .execute(&db.pool)
        .await
        .unwrap();
    }
    let stop = CancellationToken::new();
    let handler = Scripted::new(&db, Behaviour::Succeed).await;
    let worker = tokio::spawn(htm_worker::run(db.pool.clone(), handler, worker_options(false), stop.clone()));
    wait_until(|| async {
        let depth = queues::depth(&db.pool, Stage::Embed.queue()).await.unwrap();
        (depth.dead, depth.done) == (2, 1)
    })
    .await;
    stop.cancel();
    worker.await.unwrap().unwrap();
    let newer: (i32, String) = sqlx::query_as(
        "select attempts, status from apalis.jobs where job_type = 'htm.embed' and status not in ('Done', 'Killed')",
    )
    .fetch_one(&db.pool)
    .await
    .unwrap();
    assert_eq!(newer, (0, "Pending".into()));
}

#[tokio::test]
async fn what_the_database_refuses_fails_alone_and_ends() {
    let db = TestDatabase::new().await;
    let mut settings = db.htm().settings().clone();
    settings.max_attempts = 2;
    let htm = htm_core::Htm::with_pool(db.pool.clone(), settings, None);
    let mut memories: Vec<Memory> = (0..20).map(|n| Memory::new(format!("good {n}"))).collect();
    memories[7] = Memory::new("spoilt");
    let nodes = htm.remember_many(&memories).await.unwrap();
    let handler = Scripted::new(&db, Behaviour::SpoilTextWith("spoilt")).await;
    let report = htm_worker::run(db.pool.clone(), handler, worker_options(true), CancellationToken::new())
        .await
        .unwrap();
    assert_eq!((report.done, report.failed), (19, 2));
    let spoilt = htm.status(nodes[7].as_ref().unwrap().node).await.unwrap();
    assert!(matches!(spoilt.stage(Stage::Embed), StageState::Dead { attempts: 2, .. }), "{spoilt:?}");
}

#[tokio::test]
async fn a_worker_is_judged_by_its_own_lease() {
    let db = TestDatabase::new().await;
    for (text, lease_ms, rescued) in [("patient", 3_600_000, 0), ("impatient", 1_000, 1)] {
        db.htm().remember(Memory::new(text)).await.unwrap();
        workers::register(&db.pool, Stage::Embed.queue(), text, "test", lease_ms).await.unwrap();
        jobs::claim(&db.pool, Stage::Embed.queue(), "fake/scripted", text, 1)
            .await
            .unwrap()
            .expect("a job is due");
        sqlx::query("update apalis.workers set last_seen = now() - interval '10 minutes'")
            .execute(&db.pool)
            .await
            .unwrap();
        let lost = workers::unseen(&db.pool).await.unwrap();
        assert_eq!(jobs::rescue(&db.pool, &lost, AT_ONCE).await.unwrap(), rescued, "{text}");
    }
}

#[tokio::test]
async fn a_worker_whose_connections_are_all_in_use_is_seen_all_the_same() {
    let db = TestDatabase::new().await;
    let pool = PgPoolOptions::new().max_connections(1).connect_with(db.options()).await.unwrap();
    let handler = Scripted::new(&db, Behaviour::Succeed).await;
    let stop = CancellationToken::new();
    let options = htm_worker::Options { lease: Duration::from_millis(600), ..worker_options(false) };
    let worker = tokio::spawn(htm_worker::run(pool.clone(), handler, options, stop.clone()));
    wait_until(|| async { workers::list(&db.pool).await.unwrap().len() == 1 }).await;
    let busy = pool.acquire().await.unwrap();
    let seen = || async { workers::list(&db.pool).await.unwrap()[0].last_seen };
    for _ in 0..3 {
        let before = seen().await;
        wait_until(|| async { seen().await > before }).await;
    }
    drop(busy);
    stop.cancel();
    worker.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_panic_ends_in_a_dead_letter_and_not_the_worker() {
    let db = TestDatabase::new().await;
    let mut settings = db.htm().settings().clone();
    settings.max_attempts = 2;
    let htm = htm_core::Htm::with_pool(db.pool.clone(), settings, None);
    let bad = htm.remember(Memory::new("boom")).await.unwrap().node;
    let handler = Scripted::new(&db, Behaviour::PanicOn("boom")).await;
    let stop = CancellationToken::new();
    let worker = tokio::spawn(htm_worker::run(db.pool.clone(), handler, worker_options(false), stop.clone()));
    let error = htm.wait_for(bad, Stage::Embed, Duration::from_secs(30)).await.unwrap_err();
    assert_eq!(error.code(), "stage_dead");
    let good = htm.remember(Memory::new("fine")).await.unwrap().node;
    htm.wait_for(good, Stage::Embed, Duration::from_secs(30)).await.unwrap();
    stop.cancel();
    worker.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_claim_whose_answer_was_lost_is_given_back() {
    let db = TestDatabase::new().await;
    db.htm().remember(Memory::new("limbo")).await.unwrap();
    let (_, claimed) = claim_as(&db, "worker").await;
    let held = [claimed[0].id.clone()];
    assert_eq!(jobs::release_unheld(&db.pool, "worker", &held).await.unwrap(), 0);
    assert_eq!(jobs::release_unheld(&db.pool, "worker", &[]).await.unwrap(), 1);
    let (_, again) = claim_as(&db, "worker").await;
    assert_eq!(again[0].attempt, 1);
}

#[tokio::test]
async fn workers_share_a_queue_and_do_nothing_twice() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let memories: Vec<Memory> = (0..2_000).map(|n| Memory::new(format!("shared {n}"))).collect();
    htm.remember_many(&memories).await.unwrap();
    let reports = futures::future::join_all((0..4).map(|_| drain(&db, Stage::Embed))).await;
    assert_eq!(reports.iter().map(|report| report.done).sum::<u64>(), 2_000);
    assert_eq!(db.count("select count(*) from htm.completions where attempt = 1").await, 2_000);
}

#[tokio::test]
async fn two_tag_workers_create_a_new_tag_once() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let memories: Vec<Memory> = (0..200).map(|n| Memory::new(format!("zebra zebra zebra {n}"))).collect();
    htm.remember_many(&memories).await.unwrap();
    futures::future::join_all((0..3).map(|_| drain(&db, Stage::Tag))).await;
    let (tags, paths): (i64, i64) = sqlx::query_as("select count(*), count(distinct path) from htm.tags")
        .fetch_one(&db.pool)
        .await
        .unwrap();
    assert_eq!(tags, paths);
    assert_eq!(db.count("select count(distinct node_id) from htm.node_tags").await, 200);
}

#[tokio::test]
async fn an_idle_worker_is_woken_by_the_ping() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let handler = Scripted::new(&db, Behaviour::Succeed).await;
    let stop = CancellationToken::new();
    let options = htm_worker::Options { poll: Duration::from_secs(600), ..worker_options(false) };
    let worker = tokio::spawn(htm_worker::run(db.pool.clone(), handler, options, stop.clone()));
    // Only a ping can bring the second node within this test's time: the poll is ten minutes away.
    for text in ["first", "second"] {
        let node = htm.remember(Memory::new(text)).await.unwrap().node;
        htm.wait_for(node, Stage::Embed, Duration::from_secs(30)).await.unwrap();
    }
    stop.cancel();
    worker.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_long_text_says_in_how_many_parts_it_was_embedded() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let short = htm.remember(Memory::new("A short text.")).await.unwrap().node;
    let long = htm.remember(Memory::new("One more sentence. ".repeat(100))).await.unwrap().node;
    let settings = FakeSettings { window: Some(100), ..FakeSettings::default() };
    let embedder = fake::embedder(settings).unwrap();
    let handler = embed_worker::EmbedHandler::register(&db.pool, embedder).await.unwrap();
    htm_worker::run(db.pool.clone(), handler, worker_options(true), CancellationToken::new()).await.unwrap();
    for (node, expected) in [(short, "embedded"), (long, "embedded in 6 parts")] {
        let status = htm.status(node).await.unwrap();
        let StageState::Done { outcome, .. } = status.stage(Stage::Embed) else { panic!("{status:?}") };
        assert_eq!(outcome, expected);
    }
    // It is one vector all the same, and the text is found by it.
    assert_eq!(db.count("select count(*) from htm.embeddings_1").await, 2);
    let query = RecallQuery::new("one more sentence").strategy(Strategy::Vector);
    assert_eq!(htm.recall(&query).await.unwrap().hits[0].node.id, long);
}

#[tokio::test]
async fn a_claim_reads_no_more_of_the_table_than_it_takes() {
    let db = TestDatabase::new().await;
    let memories: Vec<Memory> = (0..5_000).map(|n| Memory::new(format!("memory {n}"))).collect();
    db.htm().remember_many(&memories).await.unwrap();
    sqlx::raw_sql("analyze apalis.jobs").execute(&db.pool).await.unwrap();
    let claim = claims::statement();
    let mut connection = db.pool.acquire().await.unwrap();
    // What a worker has planned once serves all of its claims: of any job, and of live ones.
    for (mode, priorities, since) in [
        ("force_custom_plan", "0,-1,-2,-10", "null,null,null,null"),
        ("force_generic_plan", "0,-1,-2,-10", "null,null,null,null"),
        ("auto", "0", "2026-01-01"),
    ] {
        let plan = format!(
            "set plan_cache_mode = {mode};
             prepare claim_{mode} (text, text, int, text, int[], timestamptz[], boolean) as {claim};
             explain execute claim_{mode}
                ('htm.embed', 'nobody', 64, 'fake/bag-of-words', '{{{priorities}}}', '{{{since}}}', true)"
        );
        let rows = sqlx::raw_sql(sqlx::AssertSqlSafe(plan)).fetch_all(&mut *connection).await.unwrap();
        let plan: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
        assert!(plan.iter().any(|line| line.contains("idx_apalis_jobs_fetch_partial")), "{plan:#?}");
        assert!(!plan.iter().any(|line| line.contains("Seq Scan on jobs")), "{plan:#?}");
    }
}

#[tokio::test]
async fn a_worker_prunes_dead_letters_that_nothing_hangs_on() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let [done, lacking] = [
        htm.remember(Memory::new("done since")).await.unwrap(),
        htm.remember(Memory::new("lacking")).await.unwrap(),
    ];
    drain(&db, Stage::Embed).await;
    sqlx::query(
        "update apalis.jobs set status = 'Killed', lock_by = null, lock_at = null, done_at = now() - interval '1 day'
          where job_type = 'htm.embed'",
    )
    .execute(&db.pool)
    .await
    .unwrap();
    sqlx::query("delete from htm.completions where node_id = $1")
        .bind(lacking.node)
        .execute(&db.pool)
        .await
        .unwrap();
    let handler = Scripted::new(&db, Behaviour::Succeed).await;
    let stop = CancellationToken::new();
    let worker = tokio::spawn(htm_worker::run(db.pool.clone(), handler, worker_options(false), stop.clone()));
    let dead = "select count(*) from apalis.jobs where job_type = 'htm.embed'";
    wait_until(|| async { db.count(dead).await == 1 }).await;
    assert_eq!(htm.status(lacking.node).await.unwrap().stage(Stage::Embed).name(), "dead");
    assert_eq!(htm.status(done.node).await.unwrap().stage(Stage::Embed).name(), "done");
    stop.cancel();
    worker.await.unwrap().unwrap();
}
