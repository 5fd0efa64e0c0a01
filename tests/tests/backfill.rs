//! Backfills: resumed, repeated, held back, behind live work.

use htm_core::provider::ModelName;
use htm_core::worker::{embeddings, queues};
use htm_core::{
    Backfill, BackfillRequest, BackfillStep, Htm, Memory, NodeId, RecallQuery, Settings, Stage, pool_options,
};
use htm_providers::fake::{self, FakeSettings};
use htm_tests::{TestDatabase, drain, wait_until, worker_options};
use tokio_util::sync::CancellationToken;

/// Nodes that the active model has embedded, and a model beside it that came later.
async fn filled(db: &TestDatabase, nodes: usize) -> (Htm, embeddings::RegisteredModel) {
    let htm = db.htm();
    drain(db, Stage::Embed).await;
    let memories: Vec<Memory> = (0..nodes)
        .map(|n| Memory::new(format!("note {n}")).namespace(if n % 5 == 0 { "fifth" } else { "default" }))
        .collect();
    htm.remember_many(&memories).await.unwrap();
    drain(db, Stage::Embed).await;
    (htm, db.htm().models().unwrap().add(&ModelName::new("fake", "later"), 16).await.unwrap())
}

fn for_model(model: &embeddings::RegisteredModel) -> BackfillRequest {
    BackfillRequest { model: Some(model.label.clone()), ..BackfillRequest::new(Stage::Embed) }
}

async fn to_the_end(backfill: &mut Backfill) -> u64 {
    loop {
        match backfill.step().await.unwrap() {
            BackfillStep::Enqueued => {}
            BackfillStep::QueueFull => panic!("nobody empties the queue"),
            BackfillStep::Finished => return backfill.enqueued(),
        }
    }
}

async fn open(db: &TestDatabase, model: &embeddings::RegisteredModel) -> i64 {
    queues::depth(&db.pool, model.queue.as_deref().unwrap()).await.unwrap().open()
}

async fn drain_later(db: &TestDatabase) {
    let settings = FakeSettings { model: "later".into(), dimensions: 16, ..Default::default() };
    let handler =
        embed_worker::EmbedHandler::register(&db.pool, fake::embedder(settings).unwrap()).await.unwrap();
    htm_worker::run(db.pool.clone(), handler, worker_options(true), CancellationToken::new()).await.unwrap();
}

#[tokio::test]
async fn a_run_that_was_interrupted_goes_on_and_loses_and_doubles_nothing() {
    let db = TestDatabase::new().await;
    let (htm, model) = filled(&db, 950).await;
    let request = BackfillRequest { max_queued: 1_000, ..for_model(&model) };
    let mut first = htm.start_backfill(&request).await.unwrap();
    for _ in 0..3 {
        assert_eq!(first.step().await.unwrap(), BackfillStep::Enqueued);
    }
    assert_eq!((first.enqueued(), open(&db, &model).await), (300, 300));
    // A chunk whose transaction ends half way leaves nothing behind: neither jobs nor a cursor that has moved.
    let lock =
        "create function pg_temp.boom() returns trigger language plpgsql as $$ begin raise 'boom'; end $$;
                create trigger boom before update on htm.backfills execute function pg_temp.boom()";
    let mut connection = db.pool.acquire().await.unwrap();
    sqlx::raw_sql(lock).execute(&mut *connection).await.unwrap();
    assert!(first.step().await.is_err());
    sqlx::raw_sql("drop trigger boom on htm.backfills").execute(&mut *connection).await.unwrap();
    drop(connection);
    assert_eq!(open(&db, &model).await, 300);
    let run = first.run();
    drop(first);

    // Two processes go on at once; with room for all, whoever comes last finds the run finished.
    let request = BackfillRequest { max_queued: 2_000, ..request };
    let mut second = htm.start_backfill(&request).await.unwrap();
    let mut third = htm.start_backfill(&request).await.unwrap();
    assert!(second.is_resumed() && second.run() == run && third.run() == run);
    let (enqueued, _) = tokio::join!(to_the_end(&mut second), to_the_end(&mut third));
    assert_eq!(enqueued, 950);
    let doubled = db
        .count(
            "select count(*) from (select metadata -> 'node' from apalis.jobs where job_type = 'htm.embed.2'
                                       group by 1 having count(*) > 1) doubled",
        )
        .await;
    assert_eq!((open(&db, &model).await, doubled), (950, 0));
    // What is enqueued is not enqueued again, done or not.
    for _ in 0..2 {
        let mut again = htm.start_backfill(&for_model(&model)).await.unwrap();
        assert!(!again.is_resumed());
        assert_eq!(to_the_end(&mut again).await, 0);
        drain_later(&db).await;
    }
    assert_eq!(db.htm().models().unwrap().overview(&model).await.unwrap().embedded, 950);
}

#[tokio::test]
async fn force_makes_all_again_and_leaves_the_same_rows() {
    let db = TestDatabase::new().await;
    let (htm, _) = filled(&db, 60).await;
    drain(&db, Stage::Tag).await;
    let rows = "select count(*) from htm.completions c where stage in ('embed', 'tag')";
    let (before, first) = (
        db.count(rows).await,
        db.count("select (extract(epoch from max(done_at)) * 1000000)::bigint from htm.completions").await,
    );
    for stage in Stage::ALL {
        let request = BackfillRequest { forced: true, ..BackfillRequest::new(stage) };
        assert_eq!(htm.count_backfill(&request).await.unwrap(), 60);
        assert_eq!(to_the_end(&mut htm.start_backfill(&request).await.unwrap()).await, 60);
        // Those that wait already are not enqueued twice.
        assert_eq!(to_the_end(&mut htm.start_backfill(&request).await.unwrap()).await, 0);
        // What is embedded again is found all the while.
        assert_eq!(htm.recall(&RecallQuery::new("note 7")).await.unwrap().unembedded, 0);
        assert_eq!(drain(&db, stage).await.done, 60);
        assert_eq!(to_the_end(&mut htm.start_backfill(&request).await.unwrap()).await, 60);
        assert_eq!(drain(&db, stage).await.done, 60);
    }
    assert_eq!(db.count(rows).await, before);
    let oldest =
        db.count("select (extract(epoch from min(done_at)) * 1000000)::bigint from htm.completions").await;
    assert!(oldest > first, "every completion is of the newest run");
    assert_eq!(db.count("select count(*) from htm.embeddings_1").await, 60);
}

#[tokio::test]
async fn the_queue_holds_no_more_than_it_may() {
    let db = TestDatabase::new().await;
    let (htm, model) = filled(&db, 40).await;
    for max_queued in [1, 25] {
        let request = BackfillRequest { max_queued, forced: true, ..for_model(&model) };
        let mut backfill = htm.start_backfill(&request).await.unwrap();
        loop {
            match backfill.step().await.unwrap() {
                BackfillStep::Enqueued => {}
                BackfillStep::QueueFull => {
                    // A live write is not held back, and does not count.
                    htm.remember(Memory::new(format!("live, {}", ulid::Ulid::new()))).await.unwrap();
                    assert!(open(&db, &model).await > 1);
                    drain_later(&db).await;
                }
                BackfillStep::Finished => break,
            }
            let queued = db
                .count(
                    "select count(*) from apalis.jobs where job_type = 'htm.embed.2' and priority < 0
                         and status = 'Pending'",
                )
                .await;
            assert!(queued as u64 <= max_queued, "{queued} > {max_queued}");
        }
        drain_later(&db).await;
        assert!(backfill.enqueued() >= 40);
    }
}

#[tokio::test]
async fn live_work_is_done_before_the_backlog() {
    let db = TestDatabase::new().await;
    let (htm, model) = filled(&db, 5_000).await;
    assert_eq!(to_the_end(&mut htm.start_backfill(&for_model(&model)).await.unwrap()).await, 5_000);
    let stop = CancellationToken::new();
    let settings = FakeSettings {
        model: "later".into(),
        dimensions: 16,
        latency: std::time::Duration::from_millis(20),
        window: None,
    };
    let handler =
        embed_worker::EmbedHandler::register(&db.pool, fake::embedder(settings).unwrap()).await.unwrap();
    let worker = tokio::spawn(htm_worker::run(db.pool.clone(), handler, worker_options(false), stop.clone()));
    wait_until(|| async { open(&db, &model).await < 4_800 }).await;
    let live = htm.remember(Memory::new("written amid the backlog")).await.unwrap().node;
    wait_until(|| async { is_done(&db, live, &model.label).await }).await;
    let left = open(&db, &model).await;
    assert!(left > 3_000, "only {left} of the backlog were left when the live job was done");
    stop.cancel();
    worker.await.unwrap().unwrap();
}

async fn is_done(db: &TestDatabase, node: NodeId, model: &str) -> bool {
    sqlx::query_scalar("select exists (select from htm.completions where node_id = $1 and model = $2)")
        .bind(node)
        .bind(model)
        .fetch_one(&db.pool)
        .await
        .unwrap()
}

#[tokio::test]
async fn the_keys_of_a_run_are_its_own() {
    let db = TestDatabase::new().await;
    let (htm, model) = filled(&db, 1).await;
    // The second generation of the node's job, after a restore; its result is lost.
    sqlx::query(
        "insert into apalis.jobs (id, job_type, job, status, attempts, max_attempts, run_at, done_at, priority, metadata, idempotency_key)
         select apalis.generate_ulid(), $1, j.job, 'Done', 1, 1, now(), now(), 0, j.metadata,
                concat_ws('/', j.metadata -> 'node', j.metadata -> 'revision', generation, $2)
           from (select * from apalis.jobs where job_type = 'htm.embed' limit 1) j, generate_series(0, 1) generation",
    )
    .bind(model.queue.as_deref().unwrap())
    .bind(&model.label)
    .execute(&db.pool)
    .await
    .unwrap();
    let mut backfill = htm.start_backfill(&for_model(&model)).await.unwrap();
    assert_eq!(db.count("select max(id) from htm.backfills").await, 1);
    assert_eq!(to_the_end(&mut backfill).await, 1);
}

#[tokio::test]
async fn counting_writes_nothing_and_filters_narrow() {
    let db = TestDatabase::new().await;
    let (htm, model) = filled(&db, 100).await;
    let written = "select (select count(*) from apalis.jobs) + (select count(*) from htm.backfills)";
    let before = db.count(written).await;
    sqlx::query("update htm.nodes set created_at = '2020-01-01' where id % 2 = 0")
        .execute(&db.pool)
        .await
        .unwrap();
    let even_fifths =
        db.count("select count(*) from htm.nodes where namespace = 'fifth' and id % 2 = 0").await;
    let fifth = BackfillRequest { namespace: Some("fifth".into()), ..for_model(&model) };
    let recent = BackfillRequest { since: Some("2021-01-01T00:00:00Z".parse().unwrap()), ..fifth.clone() };
    assert_eq!(htm.count_backfill(&for_model(&model)).await.unwrap(), 100);
    assert_eq!(htm.count_backfill(&fifth).await.unwrap(), 20);
    assert_eq!(htm.count_backfill(&recent).await.unwrap() as i64, 20 - even_fifths);
    assert_eq!(htm.count_backfill(&BackfillRequest::new(Stage::Embed)).await.unwrap(), 0);
    let early = BackfillRequest { since: Some(chrono::DateTime::<chrono::Utc>::MIN_UTC), ..fifth };
    assert_eq!(htm.count_backfill(&early).await.unwrap_err().code(), "time_out_of_range");
    assert_eq!(db.count(written).await, before);
    assert_eq!(to_the_end(&mut htm.start_backfill(&recent).await.unwrap()).await as i64, 20 - even_fifths);
    assert_eq!(
        to_the_end(&mut htm.start_backfill(&for_model(&model)).await.unwrap()).await as i64,
        80 + even_fifths
    );
}

#[tokio::test]
async fn dead_letters_are_left_to_their_retry_and_a_lost_result_is_made_again() {
    let db = TestDatabase::new().await;
    let (htm, _) = filled(&db, 10).await;
    let request = BackfillRequest::new(Stage::Embed);
    sqlx::raw_sql(
        "with gone as (delete from htm.completions where stage = 'embed' and node_id in (select id from htm.nodes
                        order by id limit 4) returning node_id)
         delete from htm.embeddings_1 where node_id in (select node_id from gone);
         update apalis.jobs set status = 'Killed' where job_type = 'htm.embed'
            and (metadata -> 'node')::bigint = (select min(id) from htm.nodes)",
    )
    .execute(&db.pool)
    .await
    .unwrap();
    assert_eq!(queues::count_stranded(&db.pool).await.unwrap(), 3);
    // The ended jobs still have the keys.
    assert_eq!(to_the_end(&mut htm.start_backfill(&request).await.unwrap()).await, 3);
    assert_eq!(queues::count_stranded(&db.pool).await.unwrap(), 0);
    assert_eq!(drain(&db, Stage::Embed).await.done, 3);
    assert_eq!(db.count("select count(*) from htm.embeddings_1").await, 9);
}

#[tokio::test]
async fn another_tag_model_tags_all_and_what_cannot_be_is_refused() {
    let db = TestDatabase::new().await;
    let (htm, model) = filled(&db, 10).await;
    drain(&db, Stage::Tag).await;
    let settings = Settings { tag_model: ModelName::new("fake", "newer"), ..htm.settings().clone() };
    let newer = Htm::with_pool(db.pool.clone(), settings, None);
    assert_eq!(newer.count_backfill(&BackfillRequest::new(Stage::Tag)).await.unwrap(), 10);
    let code = async |request: BackfillRequest| htm.start_backfill(&request).await.unwrap_err().code();
    let named = |stage| BackfillRequest { model: Some("fake/nobody".into()), ..BackfillRequest::new(stage) };
    assert_eq!(code(named(Stage::Embed)).await, "model_unknown");
    assert_eq!(code(named(Stage::Tag)).await, "model_unknown");
    let nowhere = BackfillRequest { namespace: Some(String::new()), ..for_model(&model) };
    assert_eq!(code(nowhere).await, "namespace_invalid");
    assert_eq!(db.count("select count(*) from htm.backfills").await, 0);
}

/// A count of many memories takes longer than a statement may. This one waits for as long.
#[tokio::test]
async fn the_count_of_stranded_nodes_has_no_time_limit() {
    let db = TestDatabase::new().await;
    let options = db.options().options([("statement_timeout", "1000")]);
    let pool = pool_options().connect_with(options).await.unwrap();
    let mut gate = db.pool.begin().await.unwrap();
    sqlx::raw_sql("lock table htm.nodes").execute(&mut *gate).await.unwrap();
    let counted = tokio::spawn(async move { queues::count_stranded(&pool).await });
    let late = "select count(*) from pg_stat_activity
                 where datname = current_database() and wait_event_type = 'Lock'
                   and clock_timestamp() - query_start > interval '2 seconds'";
    wait_until(|| async { counted.is_finished() || db.count(late).await > 0 }).await;
    gate.rollback().await.unwrap();
    assert_eq!(counted.await.unwrap().unwrap(), 0);
}

#[tokio::test]
async fn a_stage_with_a_new_job_is_pending_whatever_died_before() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let node = htm.remember(Memory::new("text")).await.unwrap().node;
    let died =
        "update apalis.jobs set status = 'Killed', attempts = 1, done_at = now() where job_type = 'htm.tag'";
    sqlx::query(died).execute(&db.pool).await.unwrap();
    let state = async || htm.status(node).await.unwrap().stage(Stage::Tag).name();
    assert_eq!(state().await, "dead");
    let request = BackfillRequest { forced: true, ..BackfillRequest::new(Stage::Tag) };
    assert_eq!(to_the_end(&mut htm.start_backfill(&request).await.unwrap()).await, 1);
    assert_eq!(state().await, "pending");
    let patience = std::time::Duration::from_secs(60);
    let (waited, _) = tokio::join!(htm.wait_for(node, Stage::Tag, patience), drain(&db, Stage::Tag));
    waited.unwrap();
}

#[tokio::test]
async fn more_runs_than_a_server_goes_on_with_take_turns() {
    let db = TestDatabase::new().await;
    let (htm, model) = filled(&db, 1).await;
    for number in 0..16 {
        let namespace = Some(format!("tenant {number}"));
        let request = BackfillRequest { namespace, max_queued: 1, ..for_model(&model) };
        htm.submit_backfill(&request).await.unwrap();
    }
    let last = htm.submit_backfill(&BackfillRequest::new(Stage::Tag)).await.unwrap().id;
    let lease = std::time::Duration::from_secs(3_600);
    let claim = async |server: &str| -> Vec<i64> {
        htm.claim_backfills(server, lease).await.unwrap().iter().map(Backfill::run).collect()
    };
    let (first, second) = (claim("one").await, claim("one").await);
    assert_eq!((first.len(), second.len()), (16, 16));
    assert!(!first.contains(&last) && second.contains(&last));
    // The one that waits is not kept from another server, and comes back if there is none.
    let left: Vec<i64> = first.into_iter().filter(|run| !second.contains(run)).collect();
    assert_eq!(claim("other").await, left);
    htm.release_backfills("other").await.unwrap();
    assert!(claim("one").await.contains(&left[0]));
}
