//! Two connections that read one snapshot find what one connection finds.

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
        // Each of them has read, and nothing came after it.
        wait_until(|| async {
            by_two.recall(&query("copper mirror")).await.unwrap();
            db.count("select count(*) from pg_stat_activity where application_name = 'asker of 2' and query = 'ROLLBACK'").await == 2
        })
        .await;
    }
    assert!(found > 100, "{found}");
}

/// PostgreSQL cannot tell that one of the connections waits, behind a change of a table, for the other. So neither waits for
/// long: the search begins again on one.
#[tokio::test]
async fn a_table_that_is_locked_is_waited_for_by_one() {
    let db = TestDatabase::new().await;
    filled(&db).await;
    let htm = handle_on(&db, idle(&db, 2).await, false);
    let before = htm.recall(&query("copper mirror")).await.unwrap();
    let mut lock = db.pool.begin().await.unwrap();
    sqlx::raw_sql("lock table htm.lexeme_statistics in access exclusive mode")
        .execute(&mut *lock)
        .await
        .unwrap();
    let asked = tokio::spawn(async move { htm.recall(&query("copper mirror")).await });
    wait_until(|| async {
        db.count("select count(*) from pg_locks where not granted and waitstart < now() - interval '0.4 s'")
            .await
            == 1
    })
    .await;
    lock.rollback().await.unwrap();
    assert_eq!(told(&asked.await.unwrap().unwrap().hits), told(&before.hits));
}
