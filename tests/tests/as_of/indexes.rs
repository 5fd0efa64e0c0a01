//! Reads as of an earlier time find rows by indexes, by the statistics of PostgreSQL. Only a timeline reads all memories of its
//! namespace.

use std::collections::BTreeMap;

use htm_core::{Filter, Memory, NodeId, RecallQuery, Stage, Strategy};
use htm_tests::{TestDatabase, drain};
use sqlx::PgPool;

use super::clock;

/// The number of times that each table of memories was read as a whole.
async fn whole_reads(pool: &PgPool) -> BTreeMap<String, i64> {
    sqlx::query("select pg_stat_force_next_flush()").execute(pool).await.unwrap();
    let sql = "select relname::text, seq_scan from pg_stat_user_tables where schemaname = 'htm'
                  and relname in ('nodes', 'node_revisions', 'node_absences', 'node_tags', 'relations')";
    sqlx::query_as(sql).fetch_all(pool).await.unwrap().into_iter().collect()
}

#[tokio::test]
async fn no_table_is_read_as_a_whole() {
    let db = TestDatabase::new().await;
    let tagged = Memory::new("a zeppelin").namespace("atlas").tag("vehicle:airship".parse().unwrap());
    db.htm().remember(tagged).await.unwrap();
    drain(&db, Stage::Embed).await;
    // Ten namespaces of 3,000 nodes each. One node in 20 has another text since. One in seven was away for a while, and
    // supersedes another one.
    let filling = "insert into htm.nodes (namespace, robot_id, content, content_hash, token_count, token_encoding, session, seq,
                                         revision, created_at, remembered_at, updated_at)
         select case when i % 10 = 0 then 'atlas' else 'tenant-' || i % 10 end, (select min(id) from htm.robots),
                'word' || i || ' of ' || i % 100, sha256(i::text::bytea), 1, 'estimate', 'flight' || i / 100, i % 100,
                case when i % 20 = 0 then 2 else 1 end, t.at, t.at,
                case when i % 20 = 0 then clock_timestamp() else t.at end
           from generate_series(1, 30000) i, lateral (select now() - interval '2 days' + i * interval '1 second' as at) t;
         insert into htm.node_revisions (namespace, node_id, revision, content, author, written_at)
         select namespace, id, 1, 'former ' || content, 'ada', created_at from htm.nodes where revision = 2;
         insert into htm.node_absences (namespace, node_id, forgotten_at, restored_at)
         select namespace, id, created_at, created_at + interval '1 hour' from htm.nodes where id % 7 = 0 and id > 100;
         insert into htm.node_tags (namespace, node_id, tag_id, origin)
         select n.namespace, n.id, t.id, 'manual' from htm.nodes n, htm.tags t where n.namespace = 'atlas' and t.path = 'vehicle'
         on conflict do nothing;
         insert into htm.relations (namespace, from_node, kind, to_node, robot, made_at)
         select namespace, id, 'supersedes', id - 10, 'ada', created_at from htm.nodes where id % 7 = 0 and id > 100";
    sqlx::raw_sql(filling).execute(&db.pool).await.unwrap();
    sqlx::raw_sql("vacuum analyze").execute(&db.pool).await.unwrap();
    // One connection, so that its counts are flushed with the next statement of it.
    let pool = htm_core::pool_options().max_connections(1).connect_with(db.options()).await.unwrap();
    let htm = db.htm_on(pool.clone());
    let at = clock(&db).await - chrono::TimeDelta::hours(20);
    let rewritten: i64 =
        sqlx::query_scalar("select max(id) from htm.nodes where revision = 2 and namespace = 'atlas'")
            .fetch_one(&pool)
            .await
            .unwrap();
    let query = |text: &str, strategy| {
        RecallQuery::new(text).strategy(strategy).filter(Filter::default().namespace("atlas")).limit(10)
    };
    let mut whole = BTreeMap::<&str, Vec<String>>::new();
    let mut last = whole_reads(&pool).await;
    macro_rules! watch {
        ($name:literal, $work:expr) => {{
            let done = $work.await.unwrap();
            let now = whole_reads(&pool).await;
            let read: Vec<String> =
                now.iter().filter(|it| last[it.0] != *it.1).map(|it| it.0.clone()).collect();
            if !read.is_empty() {
                whole.insert($name, read);
            }
            last = now;
            done
        }};
    }
    // Six times a statement is planned for its values, then once for all.
    for _ in 0..7 {
        let found = watch!("get", htm.get_as_of(NodeId(rewritten), at));
        assert!(found.content.starts_with("former "));
        let found = watch!("fulltext", htm.recall(&query("former word7100", Strategy::Fulltext).as_of(at)));
        assert_eq!(found.hits[0].node.content, "former word7100 of 0");
        watch!("hybrid", htm.recall(&query("word5020", Strategy::Hybrid).as_of(at)));
        let beside = RecallQuery { neighbours: 2, ..query("word5020", Strategy::Fulltext) };
        let found = watch!("neighbours", htm.recall(&beside));
        assert_eq!((found.hits[0].before.len(), found.hits[0].after.len()), (2, 2));
    }
    assert_eq!(whole, BTreeMap::new());
}
