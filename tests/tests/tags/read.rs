//! Reading the tags in use.

use htm_core::worker::tags;
use htm_tests::TestDatabase;
use sqlx::postgres::PgPoolOptions;

#[tokio::test]
async fn reading_the_tags_in_use_does_not_read_every_assignment() {
    let db = TestDatabase::new().await;
    sqlx::raw_sql(
        "insert into htm.robots (namespace, name) values ('default', 'ada');
         insert into htm.tags (namespace, path) select 'default', 'tag-' || g from generate_series(1, 500) g;
         insert into htm.nodes (namespace, robot_id, content, content_hash, token_count, token_encoding)
         select 'default', r.id, 'text ' || g, sha256(g::text::bytea), 2, 'estimate'
           from htm.robots r, generate_series(1, 20000) g;
         insert into htm.node_tags (namespace, node_id, tag_id, origin)
         select n.namespace, n.id, t.id, 'llm'
           from htm.nodes n join htm.tags t on t.path in ('tag-' || n.id % 500 + 1, 'tag-' || (7 * n.id) % 500 + 1);
         analyze htm.nodes, htm.tags, htm.node_tags;
         select pg_stat_force_next_flush()",
    )
    .execute(&db.pool)
    .await
    .unwrap();
    let fetched = async || {
        let fetched = "select idx_tup_fetch from pg_stat_user_tables where relid = 'htm.nodes'::regclass";
        db.count(fetched).await
    };
    let before = fetched().await;
    let own = PgPoolOptions::new().max_connections(1).connect_with(db.options()).await.unwrap();
    assert_eq!(tags::in_use(&own, "default", 1_000).await.unwrap().len(), 500);
    sqlx::raw_sql("select pg_stat_force_next_flush()").execute(&own).await.unwrap();
    own.close().await;
    let read = fetched().await - before;
    assert!(read < 1_000, "{read} nodes are read for 500 tags");
}
