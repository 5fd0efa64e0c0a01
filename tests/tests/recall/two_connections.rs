//! Two connections that read one snapshot find what one connection finds.

use std::collections::HashSet;
use std::future::poll_fn;
use std::task::Poll;

use futures::future::join_all;
use htm_core::{RecallQuery, Strategy, pool_options};
use htm_tests::{TestDatabase, wait_until};
use sqlx::PgPool;

use crate::small_scope::{filled, handle_on, told};

/// A pool of so many connections, all of them idle.
async fn idle(db: &TestDatabase, connections: u32) -> PgPool {
    let options = db.options().application_name(&format!("asker of {connections}"));
    let pool = pool_options().max_connections(connections).connect_with(options).await.unwrap();
    drop(join_all((0..connections).map(|_| pool.acquire())).await);
    wait_until(|| async { pool.num_idle() == connections as usize }).await;
    pool
}

fn query(text: &str) -> RecallQuery {
    let query = RecallQuery::new(text).strategy(Strategy::Hybrid).limit(30);
    RecallQuery { explain: true, count_accesses: false, ..query }
}

#[tokio::test]
async fn the_answers_are_those_of_one() {
    let db = TestDatabase::new().await;
    filled(&db).await;
    let (one, two) = (idle(&db, 1).await, idle(&db, 2).await);
    let mut found = 0;
    for is_small in [true, false] {
        let (by_one, by_two) = (handle_on(&db, one.clone(), is_small), handle_on(&db, two.clone(), is_small));
        for text in ["who lit the candle at night?", "copper mirror", "glasier", "zebra"] {
            let (one, two) =
                (by_one.recall(&query(text)).await.unwrap(), by_two.recall(&query(text)).await.unwrap());
            assert_eq!(told(&one.hits), told(&two.hits), "{text}");
            assert_eq!((one.corrected, one.legs), (two.corrected, two.legs), "{text}");
            assert_eq!(one.unembedded, two.unembedded, "{text}");
            found += one.hits.len();
        }
    }
    assert!(found > 100, "{found}");
}

/// PostgreSQL cannot tell that one of the connections waits, behind a change of a table, for the other. So neither waits for
/// long: the search begins again on one.
#[tokio::test]
async fn a_table_that_is_locked_is_waited_for_by_one() {
    let db = TestDatabase::new().await;
    filled(&db).await;
    let before = handle_on(&db, db.pool.clone(), false).recall(&query("copper mirror")).await.unwrap();
    let htm = handle_on(&db, idle(&db, 2).await, false);
    let mut lock = db.pool.begin().await.unwrap();
    sqlx::raw_sql("lock table htm.lexeme_statistics in access exclusive mode")
        .execute(&mut *lock)
        .await
        .unwrap();
    let asked = tokio::spawn(async move { htm.recall(&query("copper mirror")).await });
    // Both have read, and one waits for longer than they did.
    let waits = "select count(*) from pg_stat_activity a
                  where application_name = 'asker of 2' and datname = current_database()
                    and case when query = 'ROLLBACK' then state = 'idle'
                             else exists (select from pg_locks l where l.pid = a.pid and waitstart < now() - interval '0.4 s') end";
    wait_until(|| async { db.count(waits).await == 2 }).await;
    lock.rollback().await.unwrap();
    assert_eq!(told(&asked.await.unwrap().unwrap().hits), told(&before.hits));
}

/// A begin that is dropped leaves a transaction on the connection: the recall is dropped at each of its waits.
#[tokio::test]
async fn a_transaction_that_was_cut_off_as_it_was_begun_is_met_by_nobody() {
    let db = TestDatabase::new().await;
    filled(&db).await;
    let pool = idle(&db, 1).await;
    let htm = handle_on(&db, pool.clone(), false);
    let query = query("copper mirror");
    // Until the connection of such a begin was closed: the server may be so quick that it is not cut off.
    let mut backends = HashSet::new();
    while backends.len() < 2 {
        for waits in 1.. {
            let mut recall = Box::pin(htm.recall(&query));
            let mut polls = 0;
            let within = poll_fn(|context| {
                polls += 1;
                if polls > waits { Poll::Ready(None) } else { recall.as_mut().poll(context).map(Some) }
            });
            let recalled = within.await;
            drop(recall);
            let asked = sqlx::query_as("select pg_backend_pid(), current_setting('transaction_read_only')");
            let (backend, read_only): (i32, String) = asked.fetch_one(&pool).await.unwrap();
            assert_eq!(read_only, "off", "after {waits} waits");
            backends.insert(backend);
            if recalled.is_some() {
                break;
            }
        }
    }
}
