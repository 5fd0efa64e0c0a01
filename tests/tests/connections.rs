//! The connections of an application's pool: what a call takes of them, and those whose server has gone silent.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::time::Duration;

use htm_core::{
    Caller, Conversation, Edit, Htm, Memory, NodeId, Operation, Quota, RecallQuery, Replacement, pool_options,
};
use htm_documents::{Cutting, read};
use htm_tests::{Proxy, Sandbox, TestDatabase, wait_until};
use serde_json::json;
use sqlx::PgPool;
use sqlx::postgres::PgPoolOptions;

/// More memories than a write of a few.
const MANY: usize = 60;

fn of_one_connection(db: &TestDatabase) -> PgPool {
    let options = pool_options().max_connections(1).acquire_timeout(Duration::from_secs(2));
    options.connect_lazy_with(db.options())
}

fn many(session: &str) -> Vec<Memory> {
    let part = |number| Memory { session: Some(session.into()), ..Memory::new(format!("part {number}")) };
    (0..MANY).map(part).collect()
}

/// A caller that holds a connection and waits for another one waits for ever if all others do so too.
#[tokio::test]
async fn a_write_takes_one_connection_at_a_time() {
    let db = TestDatabase::new().await;
    let pool = of_one_connection(&db);
    // Nothing is in the caches of a new handle.
    let new = || db.htm_on(pool.clone());
    new().set_quota(None, Quota { max_memories: Some(10_000), ..Quota::default() }).await.unwrap();
    let node = new().remember(Memory::new("one")).await.unwrap().node;
    new().edit(node, &Edit::new().content("one, and more")).await.unwrap();
    new().remember_many(&many("a")).await.unwrap();
    let operation = Operation::new("test", "many", b"x").unwrap();
    new().remember_once(&operation, &many("b"), |results| json!(results.len())).await.unwrap();
    let conversations = vec![Conversation { namespace: None, session: "a".into(), expected: None }];
    let replacement = Replacement { conversations, ..Replacement::default() };
    assert_eq!(new().replace(&replacement, &many("a")).await.unwrap().len(), MANY);
    for text in
        ["# Airships\n\nAn airship floats.\n\n## Masts\n\nA mast holds it.", "# Airships\n\nNone flies."]
    {
        let cut = read("guide.md", text.as_bytes(), &Cutting { size: 300, overlap: 0, least: 0 }).unwrap();
        let (document, _) = cut.document("guide.md", text.len() as u64, &Default::default(), &[]);
        new().load_document(&document, &Caller::Handle).await.unwrap();
    }
    let htm = new();
    let files = htm.files(None, Caller::Handle).unwrap();
    files.create("/memories/a.md", "text").await.unwrap();
    files.rename("/memories/a.md", "/memories/b.md").await.unwrap();
    files.delete("/memories/b.md").await.unwrap();

    let mut tx = pool.begin().await.unwrap();
    let receipt = new().remember_in_tx(&mut tx, Memory::new("within")).await.unwrap();
    tx.commit().await.unwrap();
    receipt.notify();
}

/// The version of the schema is read on the connection that the command goes on with.
#[tokio::test]
async fn a_command_opens_one_connection() {
    let db = TestDatabase::new().await;
    let proxy = Proxy::start(db.options()).await;
    let opened = Arc::new(AtomicUsize::new(0));
    let counted = opened.clone();
    proxy.silence(move |message| {
        let is_first = message.windows(16).any(|part| part == b"application_name");
        counted.fetch_add(is_first.into(), Ordering::SeqCst);
        false
    });
    let sandbox = Sandbox::on(&proxy.url());
    sandbox.htm(&["remember", "The mast holds the airship."]).await.exits(0);
    for arguments in [&["timeline"][..], &["recall", "mast"], &["get", "1"]] {
        // On a busy machine, another one looks into a first connection that is not there soon.
        wait_until(|| async {
            opened.store(0, Ordering::SeqCst);
            sandbox.htm(arguments).await.exits(0);
            opened.load(Ordering::SeqCst) == 1
        })
        .await;
    }
}

#[tokio::test]
async fn a_silent_server_does_not_keep_the_places_in_the_pool() {
    let db = TestDatabase::new().await;
    let proxy = Proxy::start(db.options()).await;
    let options = pool_options().max_connections(1).acquire_timeout(Duration::from_secs(2));
    let pool = options.connect(&proxy.url()).await.unwrap();
    sqlx::query("select 1").execute(&pool).await.unwrap();
    // Its machine has lost its power: nothing answers, and nothing refuses.
    proxy.silence(|_| true);
    let asked =
        tokio::time::timeout(Duration::from_millis(500), sqlx::query("select 2").execute(&pool)).await;
    assert!(asked.is_err(), "the caller goes away");
    proxy.silence(|_| false);
    wait_until(|| async { sqlx::query("select 3").execute(&pool).await.is_ok() }).await;
    assert_eq!(proxy.silent(), 1);
}

/// Polls a call until it has waited so often, and drops it. Whether it ended before.
async fn dropped_after(waits: usize, call: impl Future<Output = ()>) -> bool {
    let (mut call, mut waited) = (pin!(call), 0);
    poll_fn(|context| match call.as_mut().poll(context) {
        Poll::Ready(()) => Poll::Ready(true),
        Poll::Pending if waited == waits => Poll::Ready(false),
        Poll::Pending => {
            waited += 1;
            Poll::Pending
        }
    })
    .await
}

type Call = fn(&Htm, NodeId, usize) -> Pin<Box<dyn Future<Output = ()> + '_>>;

/// The calls that begin transactions. Each ends well if it is not dropped.
const CALLS: [(&str, Call); 5] = [
    ("remember", |htm, _, time| {
        let memory = Memory::new(format!("tagged {time}")).tag("a:b".parse().unwrap());
        Box::pin(async { _ = htm.remember(memory).await.unwrap() })
    }),
    ("remember_many", |htm, _, time| {
        Box::pin(async move { _ = htm.remember_many(&many(&format!("s{time}"))).await.unwrap() })
    }),
    ("robot", |htm, _, time| Box::pin(async move { _ = htm.robot(&format!("robot {time}")).await.unwrap() })),
    ("edit", |htm, node, time| {
        let edit = Edit::new().content(format!("text {time}"));
        Box::pin(async move { _ = htm.edit(node, &edit).await.unwrap() })
    }),
    ("recall", |htm, _, _| {
        Box::pin(async { _ = htm.recall(&RecallQuery::new("copper mirror")).await.unwrap() })
    }),
];

/// The connection of a pool may be in a transaction that nobody ends. The next write would be lost with it.
#[tokio::test]
async fn what_is_remembered_after_a_dropped_call_is_committed() {
    let db = TestDatabase::new().await;
    let options = PgPoolOptions::new().max_connections(1).acquire_timeout(Duration::from_secs(10));
    let pool = options.connect_with(db.options()).await.unwrap();
    let mut time = 0;
    for (name, call) in CALLS {
        for waits in 0.. {
            time += 1;
            // Its caches are empty.
            let htm = db.htm_on(pool.clone());
            let node = htm.remember(Memory::new(format!("before {time}"))).await.unwrap().node;
            let has_ended = dropped_after(waits, call(&htm, node, time)).await;
            let later = htm.remember(Memory::new(format!("after {time}"))).await.unwrap().node;
            let found: i64 = sqlx::query_scalar("select count(*) from htm.nodes where id = any($1)")
                .bind([node.0, later.0])
                .fetch_one(&db.pool)
                .await
                .unwrap();
            assert_eq!(found, 2, "{name}, dropped after {waits} waits");
            if has_ended {
                assert!(waits > 1, "{name} waits for statements");
                break;
            }
        }
    }
}

/// The caller may go on in its transaction, or undo it: it is whole.
#[tokio::test]
async fn a_callers_transaction_survives_a_dropped_write() {
    let db = TestDatabase::new().await;
    sqlx::raw_sql("create table tickets (id int not null)").execute(&db.pool).await.unwrap();
    let htm = db.htm();
    for waits in 0.. {
        let mut tx = db.pool.begin().await.unwrap();
        let insert = |id: i32| sqlx::query("insert into tickets values ($1)").bind(id);
        insert(waits as i32).execute(&mut *tx).await.unwrap();
        let memory = Memory::new(format!("ticket {waits}")).tag("a:b".parse().unwrap());
        let has_ended =
            dropped_after(waits, async { _ = htm.remember_in_tx(&mut tx, memory).await.unwrap() }).await;
        insert(waits as i32).execute(&mut *tx).await.unwrap();
        if has_ended {
            assert!(waits > 1);
            break;
        }
        if waits % 2 == 0 {
            tx.commit().await.unwrap();
            assert_eq!(db.count("select count(*) from tickets").await, 2);
        } else {
            tx.rollback().await.unwrap();
            assert_eq!(db.count("select count(*) from tickets").await, 0);
        }
        sqlx::raw_sql("truncate tickets").execute(&db.pool).await.unwrap();
    }
}
