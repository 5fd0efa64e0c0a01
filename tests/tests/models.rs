//! The life of an embedding model, beside another one that recall asks all the while.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use embed_worker::EmbedHandler;
use htm_core::models::{ModelState, RegisteredModel};
use htm_core::provider::{Embedder, ModelName};
use htm_core::worker::{embeddings, queues};
use htm_core::{
    BackfillRequest, BackfillStep, Embedders, Htm, Memory, RecallQuery, Settings, Stage, Strategy,
};
use htm_providers::fake::{self, FakeSettings};
use htm_tests::{TestDatabase, drain, wait_until, worker_options};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

const NODES: usize = 600;

/// Has the embedder of every fake model.
struct Fakes;

#[async_trait]
impl Embedders for Fakes {
    async fn embedder(&self, model: &RegisteredModel) -> htm_core::Result<Option<Arc<dyn Embedder>>> {
        Ok(Some(embedder(model, Duration::ZERO)))
    }
}

fn embedder(model: &RegisteredModel, latency: Duration) -> Arc<dyn Embedder> {
    let settings =
        FakeSettings { model: model.name.name.clone(), dimensions: model.dimensions, latency, window: None };
    fake::embedder(settings).unwrap()
}

fn handle(db: &TestDatabase) -> Htm {
    Htm::with_embedders(db.pool.clone(), Settings::default(), Some(Arc::new(Fakes)))
}

async fn add(db: &TestDatabase, dimensions: usize) -> RegisteredModel {
    let name = ModelName::new("fake", format!("of-{dimensions}"));
    db.htm().models().unwrap().add(&name, dimensions).await.unwrap()
}

async fn state(db: &TestDatabase, label: &str) -> ModelState {
    let models = embeddings::models(&db.pool).await.unwrap();
    embeddings::by_label(&models, label).unwrap().state
}

/// A worker of a model; aborting it is as good as a crash, after which its lease ends soon.
fn work(
    db: &TestDatabase,
    model: &RegisteredModel,
    latency: Duration,
    stop: CancellationToken,
) -> JoinHandle<()> {
    let handler = EmbedHandler::new(embedder(model, latency), model.clone()).unwrap();
    let mut options = worker_options(false);
    (options.batch, options.concurrency, options.lease) = (16, 1, Duration::from_secs(1));
    let pool = db.pool.clone();
    tokio::spawn(async move {
        htm_worker::run(pool, handler, options, stop).await.unwrap();
    })
}

async fn done(db: &TestDatabase, model: &RegisteredModel) -> usize {
    let count: i64 = sqlx::query_scalar("select count(*) from htm.completions where model = $1")
        .bind(&model.label)
        .fetch_one(&db.pool)
        .await
        .unwrap();
    count as usize
}

/// Remembers now and then, until it is told to stop.
fn write(htm: Htm, stop: CancellationToken) -> JoinHandle<usize> {
    tokio::spawn(async move {
        let mut written = 0;
        while !stop.is_cancelled() {
            let text = format!("a live note {written} about subject {}", written % 7);
            htm.remember(Memory::new(text)).await.unwrap();
            written += 1;
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        written
    })
}

/// Recalls again and again: vectors always answer, and by a model that is expected at the time.
struct Asker {
    task: JoinHandle<()>,
    asked: Arc<AtomicU64>,
    may_be_new: Arc<AtomicBool>,
    stop: CancellationToken,
}

impl Asker {
    fn start(htm: Htm, old: &RegisteredModel) -> Self {
        let (asked, may_be_new) = (Arc::<AtomicU64>::default(), Arc::<AtomicBool>::default());
        let stop = CancellationToken::new();
        let task = tokio::spawn({
            let (asked, may_be_new, stop, old) =
                (asked.clone(), may_be_new.clone(), stop.clone(), old.label.clone());
            async move {
                while !stop.is_cancelled() {
                    let number = asked.fetch_add(1, Ordering::SeqCst);
                    let strategy = if number.is_multiple_of(2) { Strategy::Vector } else { Strategy::Hybrid };
                    let query =
                        RecallQuery::new(format!("subject {}", number % 7)).strategy(strategy).limit(10);
                    let recalled = htm.recall(&query).await.unwrap();
                    assert_eq!((recalled.hits.len(), recalled.degraded), (10, vec![]));
                    let model = recalled.models[0].clone();
                    assert!(model == old || may_be_new.load(Ordering::SeqCst), "{model} answered");
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
            }
        });
        Self { task, asked, may_be_new, stop }
    }

    async fn end(self) -> u64 {
        self.stop.cancel();
        self.task.await.unwrap();
        self.asked.load(Ordering::SeqCst)
    }
}

async fn answers_by(htm: &Htm, model: &RegisteredModel) {
    let query = RecallQuery::new("subject 3");
    wait_until(|| async { htm.recall(&query).await.unwrap().models == [model.label.clone()] }).await;
}

/// From 384 to so many dimensions, under live writes, with a worker that dies at 30 % and another at 70 %.
async fn whole_life(dimensions: usize) {
    let db = TestDatabase::new().await;
    let htm = handle(&db);
    let old = add(&db, 384).await;
    assert_eq!(old.state, ModelState::Active);
    let memories: Vec<Memory> =
        (0..NODES).map(|n| Memory::new(format!("note {n} about subject {}", n % 7))).collect();
    htm.remember_many(&memories).await.unwrap();
    let stop = CancellationToken::new();
    let mut workers = vec![work(&db, &old, Duration::ZERO, stop.clone())];
    wait_until(|| async { done(&db, &old).await == NODES }).await;
    let asker = Asker::start(htm.clone(), &old);
    let stop_writing = CancellationToken::new();
    let writer = write(htm.clone(), stop_writing.clone());

    let new = add(&db, dimensions).await;
    assert_eq!((new.state, new.dimensions), (ModelState::Building, dimensions));
    let request = BackfillRequest {
        model: Some(new.label.clone()),
        max_queued: 1_000,
        ..BackfillRequest::new(Stage::Embed)
    };
    // Interrupted while enqueueing, and again while working.
    let mut backfill = htm.start_backfill(&request).await.unwrap();
    for _ in 0..2 {
        assert_eq!(backfill.step().await.unwrap(), BackfillStep::Enqueued);
    }
    drop(backfill);
    let slow = Duration::from_millis(20);
    let dies = work(&db, &new, slow, CancellationToken::new());
    wait_until(|| async { done(&db, &new).await >= NODES * 30 / 100 }).await;
    dies.abort();
    let refused = db.htm().models().unwrap().activate(&new.label, false).await.unwrap_err();
    assert_eq!(refused.code(), "model_incomplete");
    assert_eq!((state(&db, &new.label).await, state(&db, &old.label).await), (new.state, old.state));

    let mut backfill = htm.start_backfill(&request).await.unwrap();
    assert!(backfill.is_resumed());
    while backfill.step().await.unwrap() != BackfillStep::Finished {}
    let dies = work(&db, &new, slow, CancellationToken::new());
    wait_until(|| async { done(&db, &new).await >= NODES * 70 / 100 }).await;
    dies.abort();
    let refused = db.htm().models().unwrap().activate(&new.label, false).await.unwrap_err();
    assert!(refused.hint().contains("open jobs"), "{}", refused.hint());

    workers.push(work(&db, &new, Duration::ZERO, stop.clone()));
    wait_until(|| async { backfill.progress().await.unwrap().open == 0 }).await;
    assert!(!db.htm().models().unwrap().overview(&new).await.unwrap().indexed);
    wait_until(|| async { asker.asked.load(Ordering::SeqCst) > 50 }).await;
    asker.may_be_new.store(true, Ordering::SeqCst);
    let activation = db.htm().models().unwrap().activate(&new.label, false).await.unwrap();
    assert_eq!((activation.standby.as_ref(), activation.lost), (Some(&old.label), 0));
    assert!(db.htm().models().unwrap().overview(&new).await.unwrap().indexed);
    answers_by(&htm, &new).await;
    // And back, and forth again: both get every write.
    db.htm().models().unwrap().activate(&old.label, false).await.unwrap();
    answers_by(&htm, &old).await;
    db.htm().models().unwrap().activate(&new.label, false).await.unwrap();
    answers_by(&htm, &new).await;

    stop_writing.cancel();
    let nodes = (NODES + writer.await.unwrap()) as i64;
    for model in [&old, &new] {
        wait_until(|| async { queues::is_drained(&db.pool, model.queue.as_deref().unwrap()).await.unwrap() })
            .await;
        let overview = db.htm().models().unwrap().overview(model).await.unwrap();
        assert_eq!((overview.nodes, overview.embedded), (nodes, nodes), "{}", model.label);
        assert_eq!((overview.open, overview.dead, overview.indexed), (0, 0, true), "{}", model.label);
    }
    assert_eq!(queues::count_stranded(&db.pool).await.unwrap(), 0);

    // The one that recall asks cannot be retired; the other can, while recall goes on.
    let refused = db.htm().models().unwrap().retire(&new.label, false).await.unwrap_err();
    assert_eq!(refused.code(), "model_active");
    db.htm().models().unwrap().retire(&old.label, true).await.unwrap();
    assert_eq!(db.htm().models().unwrap().overview(&old).await.unwrap().embedded, 0);
    let by_the_old = RecallQuery { models: vec![old.label.clone()], ..RecallQuery::new("note 3") };
    assert_eq!(db.htm().recall(&by_the_old).await.unwrap_err().code(), "model_retired");
    htm.remember(Memory::new("after the retirement")).await.unwrap();
    assert_eq!(queues::depth(&db.pool, old.queue.as_deref().unwrap()).await.unwrap().open(), 0);
    answers_by(&htm, &new).await;
    asker.end().await;
    stop.cancel();
    for worker in workers {
        worker.await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn from_384_to_768_dimensions() {
    whole_life(768).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn from_384_to_3072_dimensions() {
    whole_life(3_072).await;
}

#[tokio::test]
async fn a_forced_activation_says_what_vectors_lose_and_strands_nothing() {
    let db = TestDatabase::new().await;
    let htm = handle(&db);
    let old = add(&db, 8).await;
    htm.remember_many(&(0..10).map(|n| Memory::new(format!("note {n}"))).collect::<Vec<_>>()).await.unwrap();
    let stop = CancellationToken::new();
    let worker = work(&db, &old, Duration::ZERO, stop.clone());
    wait_until(|| async { done(&db, &old).await == 10 }).await;
    stop.cancel();
    worker.await.unwrap();
    let new = add(&db, 16).await;
    let activation = db.htm().models().unwrap().activate(&new.label, true).await.unwrap();
    assert_eq!((activation.enqueued, activation.lost), (10, 10));
    assert_eq!(db.count("select count(*) from htm.stranded").await, 0);
    let recalled = htm.recall(&RecallQuery::new("note 3")).await.unwrap();
    assert_eq!((recalled.models, recalled.unembedded), (vec![new.label], 10));
}

#[tokio::test]
async fn a_recall_by_a_new_model_counts_what_it_has_no_vectors_of() {
    let db = TestDatabase::new().await;
    let htm = handle(&db);
    let old = add(&db, 8).await;
    htm.remember_many(&(0..10).map(|n| Memory::new(format!("note {n}"))).collect::<Vec<_>>()).await.unwrap();
    let new = add(&db, 16).await;
    assert_eq!((old.state, new.state), (ModelState::Active, ModelState::Building));
    // There is no job yet.
    assert_eq!(queues::depth(&db.pool, new.queue.as_deref().unwrap()).await.unwrap().open(), 0);
    let unembedded = async |strategy: Strategy| {
        let query = RecallQuery::new("note 3").model(&new.label).strategy(strategy);
        htm.recall(&query).await.unwrap().unembedded
    };
    assert_eq!(unembedded(Strategy::Vector).await, 10);
    // The new one alone has a job.
    htm.remember(Memory::new("note 10")).await.unwrap();
    assert_eq!(unembedded(Strategy::Hybrid).await, 11);
}

#[tokio::test]
async fn a_forced_activation_enqueues_what_is_missing_chunk_by_chunk() {
    let db = TestDatabase::new().await;
    let htm = handle(&db);
    add(&db, 8).await;
    htm.remember_many(&(0..5_500).map(|n| Memory::new(format!("note {n}"))).collect::<Vec<_>>())
        .await
        .unwrap();
    let new = add(&db, 16).await;
    let activation = db.htm().models().unwrap().activate(&new.label, true).await.unwrap();
    assert_eq!((activation.enqueued, activation.lost), (5_500, 0));
    let transactions = "select count(distinct xmin::text) from apalis.jobs where job_type = 'htm.embed.2'";
    assert!(db.count(transactions).await >= 2);
    assert_eq!(state(&db, &new.label).await, ModelState::Active);
    assert_eq!(db.count("select count(*) from htm.stranded").await, 0);
    assert_eq!(db.count("select count(*) from htm.backfills where finished_at is null").await, 0);
}

#[tokio::test]
async fn a_node_that_was_written_a_moment_ago_holds_no_activation_back() {
    let db = TestDatabase::new().await;
    let htm = handle(&db);
    let old = add(&db, 8).await;
    let new = add(&db, 16).await;
    htm.remember(Memory::new("just now")).await.unwrap();
    let stop = CancellationToken::new();
    let worker = work(&db, &old, Duration::ZERO, stop.clone());
    wait_until(|| async { done(&db, &old).await == 1 }).await;
    stop.cancel();
    worker.await.unwrap();
    db.htm().models().unwrap().activate(&new.label, false).await.unwrap();
    db.htm().models().unwrap().activate(&old.label, false).await.unwrap();
    // Waiting for two minutes, it is not under way any more.
    sqlx::query("update apalis.jobs set run_at = now() - interval '2 minutes' where job_type = $1")
        .bind(&new.queue)
        .execute(&db.pool)
        .await
        .unwrap();
    let refused = db.htm().models().unwrap().activate(&new.label, false).await.unwrap_err();
    assert_eq!(refused.code(), "model_incomplete");
}

#[tokio::test]
async fn a_standby_answers_where_the_active_models_embedder_is_missing() {
    let db = TestDatabase::new().await;
    let old = add(&db, 8).await;
    let new = add(&db, 16).await;
    db.htm().models().unwrap().activate(&new.label, false).await.unwrap();
    let only_old = Htm::with_pool(db.pool.clone(), Settings::default(), Some(embedder(&old, Duration::ZERO)));
    let recalled = only_old.recall(&RecallQuery::new("anything")).await.unwrap();
    assert_eq!((recalled.models, recalled.degraded), (vec![old.label], vec![]));
    let both = handle(&db).recall(&RecallQuery::new("anything")).await.unwrap();
    assert_eq!(both.models, [new.label]);
}

#[tokio::test]
async fn several_models_are_asked_at_once_and_what_one_cannot_say_costs_its_own_list() {
    let db = TestDatabase::new().await;
    let htm = handle(&db);
    let (old, new) = (add(&db, 8).await, add(&db, 16).await);
    htm.remember_many(&(0..40).map(|n| Memory::new(format!("note {n}"))).collect::<Vec<_>>()).await.unwrap();
    let stop = CancellationToken::new();
    let workers = [&old, &new].map(|model| work(&db, model, Duration::ZERO, stop.clone()));
    wait_until(|| async { done(&db, &old).await == 40 && done(&db, &new).await == 40 }).await;
    stop.cancel();
    for worker in workers {
        worker.await.unwrap();
    }
    let query = |strategy| RecallQuery::new("note 3").strategy(strategy).model(&old.label).limit(5);
    for strategy in [Strategy::Vector, Strategy::Hybrid] {
        let both = htm.recall(&query(strategy).model(&new.label).model(&old.label)).await.unwrap();
        assert_eq!(both.models, [&old.label[..], &new.label], "{strategy}");
        assert_eq!((both.hits.len(), both.degraded.len()), (5, 0), "{strategy}");
        // What leads both lists leads them together.
        let one = htm.recall(&query(strategy)).await.unwrap();
        assert_eq!(one.models, [&old.label[..]]);
        assert_eq!(both.hits[0].node.content, "note 3", "{strategy}");
        assert_eq!(one.hits[0].node.id, both.hits[0].node.id, "{strategy}");
        // Each has the best score of the lists, and is ordered by its shares of both.
        let other = RecallQuery { models: vec![new.label.clone()], ..query(strategy) };
        let other = htm.recall(&other).await.unwrap();
        let explained = RecallQuery { explain: true, ..query(strategy).model(&new.label) };
        let explained = htm.recall(&explained).await.unwrap();
        for hit in &explained.hits {
            let lists = one.hits.iter().chain(&other.hits).filter(|it| it.node.id == hit.node.id);
            let best = lists.map(|it| it.scores.score).fold(0.0, f64::max);
            assert_eq!(hit.scores.score, best, "{strategy}");
            let parts = &hit.explanation.as_ref().unwrap().parts;
            assert!(parts.iter().all(|part| [&old.label, &new.label].contains(&&part.name.to_string())));
        }
        let sums = explained.hits.iter().map(|hit| hit.explanation.as_ref().unwrap().sum());
        assert!(sums.collect::<Vec<_>>().is_sorted_by(|a, b| a >= b), "{strategy}");
    }
    let by_text = htm.recall(&query(Strategy::Fulltext).model(&new.label)).await.unwrap();
    assert_eq!((by_text.models.len(), &by_text.hits[0].node.content[..]), (0, "note 3"));
    for unknown in
        [query(Strategy::Hybrid).model("nobody/knows"), RecallQuery::new("note").model("nobody/knows")]
    {
        assert_eq!(htm.recall(&unknown).await.unwrap_err().code(), "model_unknown");
    }

    // A program that has the embedder of one only.
    let some = Htm::with_pool(db.pool.clone(), Settings::default(), Some(embedder(&old, Duration::ZERO)));
    let half = some.recall(&query(Strategy::Vector).model(&new.label)).await.unwrap();
    assert_eq!((&half.models[..], half.hits.len()), (&[old.label.clone()][..], 5));
    assert_eq!((half.degraded.len(), half.degraded[0].code), (1, "embedder_other"));
}

#[tokio::test]
async fn an_index_that_was_left_half_built_is_built_again() {
    let db = TestDatabase::new().await;
    add(&db, 8).await;
    let new = add(&db, 16).await;
    let htm = db.htm();
    let models = htm.models().unwrap();
    let indexed = async || db.htm().models().unwrap().overview(&new).await.unwrap().indexed;
    assert!(!indexed().await);
    assert!(models.build_index(&new).await.unwrap());
    assert!(!models.build_index(&new).await.unwrap());
    sqlx::query(
        "update pg_index set indisvalid = false where indexrelid = 'htm.embeddings_2_hnsw_idx'::regclass",
    )
    .execute(&db.pool)
    .await
    .unwrap();
    assert!(!indexed().await);
    // Two that build at once do it once.
    let (one, two) = tokio::join!(models.build_index(&new), models.build_index(&new));
    assert!(one.unwrap() != two.unwrap());
    assert!(indexed().await);
}

#[tokio::test]
async fn a_retired_model_comes_back_empty_and_is_filled_again() {
    let db = TestDatabase::new().await;
    let htm = handle(&db);
    drain(&db, Stage::Embed).await; // registers the active one
    let model = add(&db, 16).await;
    htm.remember(Memory::new("one")).await.unwrap();
    let stop = CancellationToken::new();
    let worker = work(&db, &model, Duration::ZERO, stop.clone());
    wait_until(|| async { done(&db, &model).await == 1 }).await;
    stop.cancel();
    worker.await.unwrap();
    htm.remember(Memory::new("two")).await.unwrap();
    assert_eq!(db.htm().models().unwrap().retire(&model.label, true).await.unwrap(), 1);
    let request = BackfillRequest { model: Some(model.label.clone()), ..BackfillRequest::new(Stage::Embed) };
    assert_eq!(htm.start_backfill(&request).await.unwrap_err().code(), "model_retired");
    let error = db.htm().models().unwrap().activate(&model.label, true).await.unwrap_err();
    assert_eq!(error.code(), "model_retired");
    assert_eq!(
        EmbedHandler::new(embedder(&model, Duration::ZERO), retired(&model)).err().unwrap().code(),
        "model_retired"
    );

    // A new store wants a lock that an open write denies: it says so soon, and holds up nobody for long.
    let mut tx = db.pool.begin().await.unwrap();
    let _pending = htm.remember_in_tx(&mut tx, Memory::new("slow")).await.unwrap();
    let busy = db.htm().models().unwrap().add(&model.name, 16).await.unwrap_err();
    assert_eq!(busy.fault(), htm_core::fault::Fault::Transient);
    tx.rollback().await.unwrap();
    let again = add(&db, 16).await;
    assert_eq!((again.id, again.state), (model.id, ModelState::Building));
    let mut backfill = htm.start_backfill(&request).await.unwrap();
    assert_eq!(backfill.step().await.unwrap(), BackfillStep::Finished);
    assert_eq!(backfill.enqueued(), 2);
    let stop = CancellationToken::new();
    let worker = work(&db, &model, Duration::ZERO, stop.clone());
    wait_until(|| async { done(&db, &model).await == 2 }).await;
    stop.cancel();
    worker.await.unwrap();
    assert_eq!(db.htm().models().unwrap().overview(&model).await.unwrap().embedded, 2);
}

fn retired(model: &RegisteredModel) -> RegisteredModel {
    RegisteredModel { state: ModelState::Retired, ..model.clone() }
}

/// A transaction may have read the list of models long before it commits what it remembered.
#[tokio::test]
async fn a_memory_that_was_in_flight_when_a_model_came_back_is_backfilled() {
    let db = TestDatabase::new().await;
    let htm = handle(&db);
    add(&db, 8).await;
    let new = add(&db, 16).await;
    db.htm().models().unwrap().retire(&new.label, false).await.unwrap();
    let mut tx = db.pool.begin().await.unwrap();
    let _pending = htm.remember_in_tx(&mut tx, Memory::new("slow")).await.unwrap();
    assert_eq!(add(&db, 16).await.state, ModelState::Building);
    let request = BackfillRequest { model: Some(new.label.clone()), ..BackfillRequest::new(Stage::Embed) };
    let starting = tokio::spawn({
        let htm = htm.clone();
        async move { htm.start_backfill(&request).await.unwrap() }
    });
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert!(!starting.is_finished());
    tx.commit().await.unwrap();
    let mut backfill = starting.await.unwrap();
    assert_eq!(backfill.step().await.unwrap(), BackfillStep::Finished);
    assert_eq!(backfill.enqueued(), 1);
}
