//! Robots: what they have in mind outlives their process, and follows what becomes of the nodes.

use std::time::Duration;

use chrono::DateTime;
use htm_core::working_memory::Entry;
use htm_core::{
    Caller, Confirmation, ContextOptions, ContextOrder, Deduplicate, Filter, Htm, LeftOutReason, Memory,
    NodeId, RecallQuery, Robot, Settings, Strategy, TimeFilter, TokenEncoding,
};
use htm_tests::{OwnServer, Sandbox, TestDatabase, wait_until};
use sqlx::PgPool;
use sqlx::postgres::PgPoolOptions;

/// A process of its own, as far as the database can tell; its working memories hold `max_tokens`.
fn process(pool: &PgPool, max_tokens: usize) -> Htm {
    let settings = Settings { working_memory_tokens: max_tokens, ..Settings::default() };
    Htm::with_pool(pool.clone(), settings, None)
}

async fn say(robot: &Robot, text: &str, importance: f32) -> NodeId {
    let memory = Memory::new(text).importance(importance).source("chat");
    robot.remember(memory).await.unwrap().receipt.node
}

fn by_words(text: &str) -> RecallQuery {
    RecallQuery::new(text).strategy(Strategy::Fulltext)
}

fn in_mind(robot: &Robot) -> Vec<i64> {
    let mut nodes: Vec<i64> = robot.working_memory().iter().map(|entry| entry.node.0).collect();
    nodes.sort();
    nodes
}

/// All that is known of what is in mind. Until it is read from its row, a new node is taken to have happened when the
/// robot had the answer, a moment after its row's time.
fn everything_in_mind(robot: &Robot) -> Vec<Entry> {
    let without_time = |entry| Entry { happened_at: DateTime::UNIX_EPOCH, ..entry };
    robot.working_memory().into_iter().map(without_time).collect()
}

async fn rows(pool: &PgPool) -> i64 {
    sqlx::query_scalar("select count(*) from htm.working_memory").fetch_one(pool).await.unwrap()
}

#[tokio::test]
async fn a_robot_goes_on_where_it_was() {
    let db = TestDatabase::new().await;
    let robot = process(&db.pool, 1_000).robot("architect").await.unwrap();
    assert!(robot.working_memory().is_empty());
    let first = say(&robot, "We chose PostgreSQL for the ledger.", 8.0).await;
    say(&robot, "Mara prefers tabs.", 3.0).await;
    let third = say(&robot, "The review is on Friday.", 5.0).await;
    assert!(robot.touch(first) && robot.touch(first) && !robot.touch(NodeId(0)));
    assert!(robot.remove(third) && !robot.remove(third));
    let before = everything_in_mind(&robot);
    let frequent = ContextOptions::new(100).order(ContextOrder::Frequent);
    let context = robot.context(&frequent).await;
    assert_eq!(context.context.text, "We chose PostgreSQL for the ledger.\n\nMara prefers tabs.");
    assert_eq!(context.unverified, None);
    robot.close().await.unwrap();

    let again = process(&db.pool, 1_000).robot("architect").await.unwrap();
    assert_eq!(everything_in_mind(&again), before);
    assert_eq!(again.context(&frequent).await.context, context.context);

    // With a smaller budget, what is least important has no room, and leaves when something else comes in.
    let tokens = before.iter().map(|entry| entry.tokens).max().unwrap();
    let smaller = process(&db.pool, tokens).robot("architect").await.unwrap();
    assert_eq!(in_mind(&smaller), [first.0]);
    assert_eq!(rows(&db.pool).await, 2);
    smaller.add(&[first]).await.unwrap();
    smaller.close().await.unwrap();
    assert_eq!(rows(&db.pool).await, 1);

    // Another robot, and one of the same name elsewhere, have minds of their own.
    assert!(process(&db.pool, 1_000).robot("reviewer").await.unwrap().working_memory().is_empty());
    let elsewhere = process(&db.pool, 1_000).robot_in("atlas", "architect").await.unwrap();
    assert!(elsewhere.working_memory().is_empty());
    assert_ne!(elsewhere.id(), again.id());
}

#[tokio::test]
async fn two_programs_of_a_robot_save_in_one_order() {
    let db = TestDatabase::new().await;
    // PostgreSQL ends no deadlock in the time of the test, and a save that meets one is not repeated.
    let patient = "do $$ begin execute format('alter database %I set deadlock_timeout = ''10min''', current_database()); end $$";
    sqlx::raw_sql(patient).execute(&db.pool).await.unwrap();
    let pool = PgPool::connect_with(db.options()).await.unwrap();
    let one = process(&pool, 1_000).robot("ada").await.unwrap();
    let mut nodes = Vec::new();
    for text in ["Mara prefers tabs.", "The review is on Friday.", "Backups run at two."] {
        nodes.push(say(&one, text, 5.0).await);
    }
    one.flush().await.unwrap();
    let other = process(&pool, 1_000).robot("ada").await.unwrap();
    // Both wait for the last node, and each removes the one that the other uses.
    let mut holder = db.pool.begin().await.unwrap();
    sqlx::query("select from htm.working_memory where node_id = $1 for update")
        .bind(nodes[2])
        .execute(&mut *holder)
        .await
        .unwrap();
    for (robot, used, removed) in [(&one, nodes[1], nodes[0]), (&other, nodes[0], nodes[1])] {
        assert!(robot.touch(used) && robot.touch(nodes[2]) && robot.remove(removed));
    }
    let saves = [one, other].map(|robot| tokio::spawn(async move { robot.flush().await }));
    let waiting = "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()";
    wait_until(|| async { db.count(waiting).await == 2 }).await;
    holder.rollback().await.unwrap();
    for save in saves {
        save.await.unwrap().unwrap();
    }
    assert_eq!(rows(&db.pool).await, 2);
}

#[tokio::test]
async fn a_smaller_budget_evicts_when_it_is_set() {
    let db = TestDatabase::new().await;
    let htm = process(&db.pool, 1_000);
    let robot = htm.robot("ada").await.unwrap();
    let kept = say(&robot, "We chose PostgreSQL for the ledger.", 8.0).await;
    for text in ["Mara prefers tabs.", "The review is on Friday."] {
        say(&robot, text, 3.0).await;
    }
    robot.flush().await.unwrap();
    let tokens = robot.working_memory().iter().find(|entry| entry.node == kept).unwrap().tokens;
    htm.set_robot_budget(None, "ada", Some(tokens)).await.unwrap();
    let info = htm.robot_info(None, "ada").await.unwrap();
    assert_eq!((info.in_working_memory, info.working_memory_tokens), (1, tokens as i64));
    // A program that has it open goes on with what it holds, and saves what it uses.
    assert_eq!(robot.working_memory().len(), 3);
    assert!(robot.touch(kept));
    robot.close().await.unwrap();
    let again = process(&db.pool, 1_000).robot("ada").await.unwrap();
    assert_eq!((in_mind(&again), again.left_behind().len()), (vec![kept.0], 0));
    // Another robot gets no more by a merge.
    htm.register_robot(None, Some("bob"), Default::default()).await.unwrap();
    htm.merge_robots(None, &["ada"], "bob").await.unwrap();
    assert_eq!(in_mind(&process(&db.pool, 1_000).robot("bob").await.unwrap()), [kept.0]);
    assert_eq!(htm.set_robot_budget(None, "cyd", Some(9)).await.unwrap_err().code(), "robot_unknown");
}

#[tokio::test]
async fn it_is_written_behind_the_calls_and_when_the_robot_is_dropped() {
    let db = TestDatabase::new().await;
    let robot = process(&db.pool, 1_000).robot("architect").await.unwrap();
    say(&robot, "We chose PostgreSQL for the ledger.", 8.0).await;
    wait_until(|| async { rows(&db.pool).await == 1 }).await;
    let other = say(&robot, "Mara prefers tabs.", 3.0).await;
    drop(robot);
    wait_until(|| async { rows(&db.pool).await == 2 }).await;
    let robot = process(&db.pool, 1_000).robot("architect").await.unwrap();
    robot.remove(other);
    wait_until(|| async { rows(&db.pool).await == 1 }).await;
    assert_eq!(robot.clear(), 1);
    robot.flush().await.unwrap();
    assert_eq!(rows(&db.pool).await, 0);
    assert_eq!(db.count("select count(*) from htm.nodes where deleted_at is null").await, 2);
}

#[tokio::test]
async fn a_robot_that_is_dropped_during_a_save_is_saved_again() {
    let db = TestDatabase::new().await;
    let robot = process(&db.pool, 1_000).robot("architect").await.unwrap();
    let mut lock = db.pool.begin().await.unwrap();
    sqlx::query("lock table htm.working_memory in access exclusive mode").execute(&mut *lock).await.unwrap();
    say(&robot, "We chose PostgreSQL for the ledger.", 8.0).await;
    let waiting = "select count(*) from pg_locks l join pg_database d on d.oid = l.database
                    where d.datname = current_database() and not l.granted
                      and l.relation = 'htm.working_memory'::regclass";
    wait_until(|| async { db.count(waiting).await == 1 }).await;
    say(&robot, "Mara prefers tabs.", 3.0).await;
    drop(robot);
    lock.rollback().await.unwrap();
    wait_until(|| async { rows(&db.pool).await == 2 }).await;
}

#[tokio::test]
async fn recall_takes_its_hits_into_mind() {
    let db = TestDatabase::new().await;
    let htm = process(&db.pool, 40);
    for number in 0..6 {
        let text = format!("The ledger's balance number {number} was migrated on Friday evening.");
        htm.remember(Memory::new(text)).await.unwrap();
    }
    let large = htm.remember(Memory::new("The ledger. ".repeat(40))).await.unwrap().node;
    let robot = htm.robot("architect").await.unwrap();
    let own = say(&robot, "Remember this above all.", 10.0).await;
    let answer = robot.recall(&by_words("ledger balance")).await.unwrap();
    assert_eq!(answer.recalled.hits.len(), 7);
    let oversized: Vec<NodeId> = answer.intake.oversized.iter().map(|it| it.node).collect();
    assert_eq!(oversized, [large]);
    assert!(answer.intake.oversized[0].tokens > 40);
    assert!(!answer.intake.evicted.is_empty());
    let stats = robot.working_memory_stats();
    assert!(stats.tokens <= 40, "{stats:?}");
    assert!(in_mind(&robot).contains(&own.0));
    // The best hit came last: it is the most recent one.
    let recent = robot.context(&ContextOptions::new(40).order(ContextOrder::Recent)).await.context;
    let fitting = answer.recalled.hits.iter().find(|hit| hit.node.id != large).unwrap();
    assert_eq!(recent.included[0], fitting.node.id);

    // A hit that is in mind already counts as accessed.
    let accesses = |robot: &Robot| -> u64 { robot.working_memory().iter().map(|entry| entry.accesses).sum() };
    assert_eq!(accesses(&robot), 0);
    robot.recall(&by_words("remember above all")).await.unwrap();
    assert_eq!(accesses(&robot), 1);
}

#[tokio::test]
async fn the_hits_of_a_query_come_first_in_its_context() {
    let db = TestDatabase::new().await;
    let htm = process(&db.pool, 1_000);
    let robot = htm.robot("architect").await.unwrap();
    let gate = say(&robot, "The gate at the airport is B23.", 1.0).await;
    for number in 0..12 {
        say(&robot, &format!("Mara prefers colour {number}."), 9.0).await;
    }
    let found = robot.recall(&by_words("airport gate")).await.unwrap();
    assert_eq!(found.recalled.nodes().collect::<Vec<_>>(), [gate]);
    for order in ContextOrder::ALL {
        let options = ContextOptions::new(20).order(order).first(found.recalled.nodes());
        let context = robot.context(&options).await.context;
        assert_eq!(context.included[0], gate, "{order}");
        assert!(!context.left_out.is_empty(), "{order}");
    }
}

#[tokio::test]
async fn a_text_is_in_a_context_once() {
    let db = TestDatabase::new().await;
    let htm = process(&db.pool, 1_000);
    let robot = htm.robot("architect").await.unwrap();
    let mut turns = Vec::new();
    for turn in 0..5 {
        let session = Some("bedroom".into());
        let memory = Memory { session, seq: Some(turn), ..Memory::new("Alarm set for 6:30.") };
        turns.push(robot.remember(memory).await.unwrap().receipt.node);
    }
    let context = robot.context(&ContextOptions::new(100)).await.context;
    assert_eq!((context.text.as_str(), context.included), ("Alarm set for 6:30.", vec![turns[4]]));
    let left: Vec<_> = context.left_out.iter().map(|left| (left.node, left.reason)).collect();
    let others = turns[..4].iter().rev().map(|turn| (*turn, LeftOutReason::Duplicate));
    assert_eq!(left, others.collect::<Vec<_>>());
}

#[tokio::test]
async fn a_text_too_large_for_the_mind_is_remembered_all_the_same() {
    let db = TestDatabase::new().await;
    let htm = process(&db.pool, 10);
    let robot = htm.robot("architect").await.unwrap();
    let answer = robot.remember(Memory::new("a long text ".repeat(10))).await.unwrap();
    assert_eq!(answer.intake.oversized.len(), 1);
    assert!(robot.working_memory().is_empty());
    assert_eq!(htm.get(answer.receipt.node).await.unwrap().robot, "architect");
}

#[tokio::test]
async fn what_another_robot_forgets_or_edits_is_so_in_mind() {
    let db = TestDatabase::new().await;
    let htm = process(&db.pool, 1_000);
    let (robot, other) = (htm.robot("architect").await.unwrap(), htm.robot("reviewer").await.unwrap());
    let kept = say(&robot, "We chose PostgreSQL for the ledger.", 8.0).await;
    let forgotten = say(&robot, "The password is swordfish.", 9.0).await;
    let edited = say(&robot, "The review is on Friday.", 5.0).await;
    other.recall(&by_words("password review postgresql")).await.unwrap();
    robot.flush().await.unwrap();
    htm.forget(forgotten, &Caller::AnyRobot, Confirmation::Confirmed).await.unwrap();
    sqlx::query(
        "update htm.nodes set content = 'The review is on Monday at ten.', revision = revision + 1,
                token_count = 8, importance = 10 where id = $1",
    )
    .bind(edited)
    .execute(&db.pool)
    .await
    .unwrap();

    let options = ContextOptions::new(100).order(ContextOrder::Important);
    for robot in [&robot, &other] {
        let answer = robot.context(&options).await;
        assert_eq!(
            answer.context.text,
            "The review is on Monday at ten.\n\nWe chose PostgreSQL for the ledger."
        );
        let left: Vec<_> = answer.context.left_out.iter().map(|left| (left.node, left.reason)).collect();
        assert_eq!(left, [(forgotten, LeftOutReason::Forgotten)]);
        assert_eq!(in_mind(robot), [kept.0, edited.0]);
        // It is told once: it is out of mind now.
        assert_eq!(robot.context(&options).await.context.left_out, []);
    }
    // A robot that was not there meanwhile.
    let again = process(&db.pool, 1_000).robot("architect").await.unwrap();
    assert_eq!(in_mind(&again), [kept.0, edited.0]);
    assert_eq!(
        again.working_memory()[0].tokens,
        TokenEncoding::O200kBase.count("We chose PostgreSQL for the ledger.")
    );
}

#[tokio::test]
async fn a_node_that_is_purged_before_it_is_written_holds_nothing_up() {
    let db = TestDatabase::new().await;
    let robot = process(&db.pool, 1_000).robot("architect").await.unwrap();
    let purged = say(&robot, "The password is swordfish.", 9.0).await;
    sqlx::query("delete from htm.nodes where id = $1").bind(purged).execute(&db.pool).await.unwrap();
    say(&robot, "Mara prefers tabs.", 3.0).await;
    robot.flush().await.unwrap();
    assert_eq!(rows(&db.pool).await, 1);
}

#[tokio::test]
async fn two_programs_may_speak_for_one_robot() {
    let db = TestDatabase::new().await;
    let (one, two) = (process(&db.pool, 100_000), process(&db.pool, 100_000));
    let robots = [one.robot("architect").await.unwrap(), two.robot("architect").await.unwrap()];
    assert_eq!(robots[0].id(), robots[1].id());
    let mut tasks = tokio::task::JoinSet::new();
    for (which, robot) in robots.iter().cloned().enumerate() {
        tasks.spawn(async move {
            for number in 0..40 {
                say(&robot, &format!("Note {number} of program {which}."), 1.0).await;
                robot.recall(&by_words("note")).await.unwrap();
                robot.flush().await.unwrap();
            }
        });
    }
    tasks.join_all().await;
    let restored = process(&db.pool, 100_000).robot("architect").await.unwrap();
    assert_eq!(restored.working_memory().len(), 80);
}

#[tokio::test]
async fn a_lost_database_delays_and_fails_no_call() {
    let server = OwnServer::start().await;
    let options: sqlx::postgres::PgConnectOptions = server.url().parse().unwrap();
    let pool = PgPoolOptions::new().acquire_timeout(Duration::from_millis(300)).connect_lazy_with(options);
    let htm = process(&pool, 1_000);
    let robot = htm.robot("architect").await.unwrap();
    let node = say(&robot, "We chose PostgreSQL for the ledger.", 8.0).await;
    robot.flush().await.unwrap();
    server.crash().await;
    // A backend may outlive its server by a moment.
    wait_until(|| async { sqlx::query("select 1").execute(&pool).await.is_err() }).await;

    assert!(robot.touch(node));
    let answer = robot.context(&ContextOptions::new(100)).await;
    assert_eq!(answer.context.text, "We chose PostgreSQL for the ledger.");
    assert_eq!(answer.unverified.unwrap().code, "database_unreachable");
    assert_eq!(robot.flush().await.unwrap_err().code(), "database_unreachable");

    server.restart().await;
    wait_until(|| async {
        let accesses = sqlx::query_scalar::<_, i64>("select accesses from htm.working_memory");
        accesses.fetch_one(&server.pool).await.is_ok_and(|accesses| accesses == 1)
    })
    .await;
    assert_eq!(robot.context(&ContextOptions::new(100)).await.unverified, None);
}

#[tokio::test]
async fn what_changed_in_a_long_outage_is_written_and_nothing_else() {
    let server = OwnServer::start().await;
    let options: sqlx::postgres::PgConnectOptions = server.url().parse().unwrap();
    let pool = PgPoolOptions::new().acquire_timeout(Duration::from_millis(300)).connect_lazy_with(options);
    let htm = process(&pool, 1_000_000);
    let robot = htm.robot("architect").await.unwrap();
    let memories: Vec<Memory> = (0..10_000).map(|number| Memory::new(format!("note {number}"))).collect();
    htm.remember_many(&memories).await.unwrap();
    let removed = say(&robot, "The review is on Friday.", 1.0).await;
    let kept = say(&robot, "We chose PostgreSQL for the ledger.", 1.0).await;
    robot.recall(&by_words("note").limit(10_000)).await.unwrap();
    robot.flush().await.unwrap();
    assert_eq!(rows(&server.pool).await, 10_002);
    let other = process(&server.pool, 1_000_000).robot("architect").await.unwrap();
    let theirs = say(&other, "Another session of the robot chose Rust.", 1.0).await;
    other.flush().await.unwrap();

    server.crash().await;
    for entry in robot.working_memory() {
        robot.touch(entry.node);
    }
    robot.remove(removed);
    server.restart().await;
    wait_until(|| async {
        let touched =
            sqlx::query_scalar::<_, i64>("select count(*) from htm.working_memory where accesses = 1");
        touched.fetch_one(&server.pool).await.is_ok_and(|touched| touched == 10_001)
    })
    .await;
    assert_eq!(rows(&server.pool).await, 10_002);
    let saved = in_mind(&process(&server.pool, 1_000_000).robot("architect").await.unwrap());
    assert!(saved.contains(&kept.0) && saved.contains(&theirs.0));
}

#[tokio::test]
async fn the_same_text_again_has_what_the_node_has() {
    let db = TestDatabase::new().await;
    let htm = process(&db.pool, 1_000);
    let robot = htm.robot("architect").await.unwrap();
    let memory = Memory::new("We chose PostgreSQL.").key("ledger");
    let node = htm.remember(memory.clone().importance(7.0)).await.unwrap().node;
    assert_eq!(robot.remember(memory).await.unwrap().receipt.node, node);
    let entry = &robot.working_memory()[0];
    assert_eq!((entry.node, entry.importance, entry.revision), (node, 7.0, 1));
}

#[tokio::test]
async fn bad_names_have_a_code_each() {
    let db = TestDatabase::new().await;
    let htm = process(&db.pool, 1_000);
    for (namespace, name, code) in [
        ("default", " ", "robot_invalid"),
        ("default", &"x".repeat(129)[..], "robot_invalid"),
        ("default", "a\nb", "robot_invalid"),
        ("", "architect", "namespace_invalid"),
    ] {
        assert_eq!(htm.robot_in(namespace, name).await.unwrap_err().code(), code);
    }
    assert_eq!(db.count("select count(*) from htm.robots").await, 0);
}

#[tokio::test]
async fn a_node_says_what_counted_its_tokens() {
    let db = TestDatabase::new().await;
    for (encoding, tokens) in
        [(TokenEncoding::O200kBase, 7), (TokenEncoding::Cl100kBase, 7), (TokenEncoding::Estimate, 3)]
    {
        let settings =
            Settings { token_encoding: encoding, deduplicate: Deduplicate::Off, ..Settings::default() };
        let htm = Htm::with_pool(db.pool.clone(), settings, None);
        let node = htm.remember(Memory::new("2 + 2 = 4")).await.unwrap().node;
        let node = htm.get(node).await.unwrap();
        assert_eq!((node.token_encoding.as_str(), node.token_count), (encoding.as_ref(), tokens));
    }
    // What another encoding counted is counted again before it comes to mind.
    let robot = process(&db.pool, 1_000).robot("architect").await.unwrap();
    robot.recall(&by_words("2")).await.unwrap();
    assert!(robot.working_memory().iter().all(|entry| entry.tokens == 7));
    assert_eq!(robot.working_memory().len(), 3);
}

#[tokio::test]
async fn the_example_goes_on_where_it_was() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let first = sandbox.run("examples/robot", &[], b"").await;
    assert!(first.succeeds().starts_with("Working memory from before: 0 memories"), "{first:?}");
    assert!(
        first
            .stdout
            .contains("<memory age=\"just now\" source=\"planning\">\nNext step: write the migration"),
        "{first:?}"
    );
    let second = sandbox.run("examples/robot", &[], b"").await;
    assert!(second.succeeds().starts_with("Working memory from before: 3 memories"), "{second:?}");
    let context = |text: &str| text.split_once("Context of").unwrap().1.to_owned();
    assert_eq!(context(&first.stdout), context(&second.stdout));
    assert_eq!(db.count("select count(*) from htm.nodes").await, 3);
    // What its recalls found is counted.
    let recalled = |said: &str| -> i64 {
        let said = said.split_once("Recalled: ").unwrap().1;
        said.split_once(' ').unwrap().0.parse().unwrap()
    };
    let counted = db.count("select sum(access_count)::bigint from htm.node_accesses").await;
    assert_eq!(counted, recalled(&first.stdout) + recalled(&second.stdout));
}

#[tokio::test]
async fn flushing_the_handle_writes_what_its_robots_have_in_mind() {
    let db = TestDatabase::new().await;
    let htm = process(&db.pool, 1_000);
    let (ada, bob) = (htm.robot("ada").await.unwrap(), htm.robot("bob").await.unwrap());
    say(&ada, "said by ada", 5.0).await;
    say(&bob, "said by bob", 5.0).await;
    ada.recall(&by_words("said")).await.unwrap();
    htm.flush().await;
    assert_eq!(db.count("select count(*) from htm.working_memory").await, 3);
    assert_eq!(db.count("select count(*) from htm.node_accesses").await, 2);
    // One that is gone by then is no matter.
    drop(bob);
    htm.flush().await;
}

#[tokio::test]
async fn a_robot_that_is_merged_into_another_while_it_is_open_keeps_what_it_has_in_mind() {
    let db = TestDatabase::new().await;
    let htm = process(&db.pool, 1_000);
    let robot = htm.robot("old").await.unwrap();
    let first = say(&robot, "said before the merge", 5.0).await;
    robot.flush().await.unwrap();
    let merged_id = robot.id();
    htm.register_robot(None, Some("new"), Default::default()).await.unwrap();
    htm.merge_robots(None, &["old"], "new").await.unwrap();
    assert_eq!(in_mind(&process(&db.pool, 1_000).robot("new").await.unwrap()), [first.0]);
    // It goes on as the one that it was merged into, also when that is merged in its turn.
    let second = say(&robot, "said after the merge", 5.0).await;
    robot.flush().await.unwrap();
    assert_ne!(robot.id(), merged_id);
    assert_eq!(robot.name(), "new");
    htm.register_robot(None, Some("newest"), Default::default()).await.unwrap();
    htm.merge_robots(None, &["new"], "newest").await.unwrap();
    // A stranger takes the name that is free; nothing of it is touched.
    let stranger = process(&db.pool, 1_000).robot("new").await.unwrap();
    let others = say(&stranger, "said by a stranger", 5.0).await;
    stranger.close().await.unwrap();
    let third = say(&robot, "said after both", 5.0).await;
    robot.close().await.unwrap();
    let again = process(&db.pool, 1_000).robot("newest").await.unwrap();
    assert_eq!(in_mind(&again), [first.0, second.0, third.0]);
    assert_eq!(htm.get(third).await.unwrap().robot, "newest");
    assert_eq!(in_mind(&process(&db.pool, 1_000).robot("new").await.unwrap()), [others.0]);
    assert_eq!(db.count("select count(*) from htm.robots where name = 'old'").await, 0);
}

#[tokio::test]
async fn what_is_removed_after_a_merge_does_not_come_back_with_it() {
    let db = TestDatabase::new().await;
    let htm = process(&db.pool, 1_000);
    let robot = htm.robot("old").await.unwrap();
    let (kept, removed) = (say(&robot, "one", 5.0).await, say(&robot, "two", 5.0).await);
    robot.flush().await.unwrap();
    htm.register_robot(None, Some("new"), Default::default()).await.unwrap();
    htm.merge_robots(None, &["old"], "new").await.unwrap();
    assert!(robot.remove(removed));
    robot.flush().await.unwrap();
    assert_eq!(in_mind(&process(&db.pool, 1_000).robot("new").await.unwrap()), [kept.0]);
}

#[tokio::test]
async fn nodes_are_taken_into_mind_by_their_ids() {
    let db = TestDatabase::new().await;
    let htm = process(&db.pool, 12);
    let elsewhere = htm.remember(Memory::new("far away").namespace("atlas")).await.unwrap().node;
    let large = htm.remember(Memory::new("word ".repeat(40))).await.unwrap().node;
    let robot = htm.robot("ada").await.unwrap();
    let first = say(&robot, "one two three four five six seven eight", 1.0).await;
    let intake = robot.add(&[large, elsewhere]).await.unwrap();
    assert_eq!(intake.oversized.iter().map(|it| it.node).collect::<Vec<_>>(), [large]);
    assert!(intake.evicted.is_empty(), "{intake:?}");
    assert_eq!(robot.add(&[elsewhere, NodeId(0)]).await.unwrap_err().code(), "node_not_found");
    assert!(
        robot.working_memory().iter().any(|entry| entry.node == elsewhere && &*entry.content == "far away")
    );
    robot.close().await.unwrap();
    // Fewer tokens: what has no room is told, and out of mind when something comes in.
    let small = process(&db.pool, 4).robot("ada").await.unwrap();
    assert_eq!((small.left_behind(), small.working_memory().len()), (&[first][..], 1));
    small.close().await.unwrap();
    let robot = htm.robot("ada").await.unwrap();
    assert_eq!((robot.left_behind().len(), robot.working_memory().len()), (0, 2));
    robot.close().await.unwrap();
    let small = process(&db.pool, 4).robot("ada").await.unwrap();
    say(&small, "three", 1.0).await;
    small.close().await.unwrap();
    assert!(htm.robot("ada").await.unwrap().working_memory().iter().all(|entry| entry.node != first));
}

#[tokio::test]
async fn a_robot_that_is_opened_again_continues_with_what_is_not_saved_yet() {
    let db = TestDatabase::new().await;
    let htm = process(&db.pool, 1_000);
    let mut said = Vec::new();
    for number in 0..20 {
        let robot = htm.robot("ada").await.unwrap();
        assert_eq!(in_mind(&robot), said);
        said.push(say(&robot, &format!("memory {number}"), 5.0).await.0);
    }
    let (one, other) = (htm.robot("ada").await.unwrap(), htm.robot("ada").await.unwrap());
    said.push(say(&one, "said while both are open", 5.0).await.0);
    assert_eq!(in_mind(&other), said);
    assert!(other.remove(NodeId(said[0])));
    assert_eq!(in_mind(&one), said[1..]);
    // Behind a wall, the robot has a working memory of its own.
    let within = htm.within([htm.settings().namespace.clone()]).unwrap();
    assert_eq!(in_mind(&within.robot("ada").await.unwrap()), said[1..]);
}

#[tokio::test]
async fn a_context_has_the_time_of_the_recall_and_a_namespace_alone_limits_nothing() {
    let db = TestDatabase::new().await;
    let robot = process(&db.pool, 1_000).robot("ada").await.unwrap();
    let then = Memory::new("the ledger was on SQLite").at("2020-03-01T12:00:00Z".parse().unwrap());
    let then = robot.remember(then).await.unwrap().receipt.node;
    say(&robot, "the ledger is on PostgreSQL", 5.0).await;
    robot.remember(Memory::new("the ledger is sold").namespace("elsewhere")).await.unwrap();
    let (filter, options) = (Filter::default().namespace(robot.namespace()), ContextOptions::new(100));
    let whole = robot.context_after(None, &filter, &options).await.unwrap();
    assert_eq!(whole.context.included.len(), 3);
    let filter = filter.timeframe(TimeFilter::Auto);
    let query = RecallQuery { filter: filter.clone(), ..by_words("ledger in March 2020") };
    let recalled = robot.recall(&query).await.unwrap().recalled;
    let of_then = robot.context_after(Some(&recalled), &filter, &options).await.unwrap();
    assert_eq!(of_then.context.included, [then]);
}
