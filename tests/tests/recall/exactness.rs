//! What vectors find under filters of any width, compared with a search of everything.

use std::sync::Arc;

use async_trait::async_trait;
use htm_core::provider::{Embedder, Embedding, ModelName, ProviderError, Purpose};
use htm_core::{
    Filter, Htm, Memory, NodeId, RecallQuery, RecallSettings, Settings, Stage, Strategy, TagFilter,
    TimeExpression, VectorSearch,
};
use htm_tests::{TestDatabase, drain};
use sqlx::AssertSqlSafe;

/// Embeds the id of a node as that node's own vector, so that a query is one of what is stored.
struct Stored {
    model: ModelName,
    vectors: Vec<Vec<f32>>,
}

#[async_trait]
impl Embedder for Stored {
    fn model(&self) -> &ModelName {
        &self.model
    }

    async fn dimensions(&self) -> Result<usize, ProviderError> {
        Ok(32)
    }

    async fn embed(&self, texts: &[String], _: Purpose) -> Result<Vec<Embedding>, ProviderError> {
        let vector = |text: &String| self.vectors[text.parse::<usize>().unwrap()].clone();
        Ok(texts.iter().map(|text| Embedding { vector: vector(text), parts: 1 }).collect())
    }
}

/// 10,000 nodes in 250 clusters: 10 of them in a namespace of their own, 1,250 in another, the others with filters of each
/// width.
const FILL: &str = "
    select setseed(0.5), htm.register_embedding_model('test', 'stored', 32);
    drop index htm.nodes_tsv_idx, htm.embeddings_1_hnsw_idx;
    insert into htm.robots (namespace, name) values ('default', 'many'), ('default', 'tenth'), ('small', 'many'), ('eighth', 'many');
    insert into htm.nodes (namespace, robot_id, content, content_hash, token_count, token_encoding, metadata, session,
                           created_at)
    select case when i % 1000 = 999 then 'small' when i % 8 = 4 then 'eighth' else 'default' end,
           case when i % 1000 = 999 then 3 when i % 8 = 4 then 4 when i % 10 = 3 then 2 else 1 end,
           'node', sha256(i::text::bytea), 1, 'none',
           case when i % 1000 = 7 then '{\"rare\": true}' when i % 100 = 8 then '{\"some\": 1}' else '{}' end::jsonb,
           case when i % 1000 = 5 then 'standup' end, now() - i * interval '1 second'
      from generate_series(1, 10000) i;
    insert into htm.tags (namespace, path) values ('default', 'half'), ('default', 'hundredth');
    insert into htm.node_tags (namespace, node_id, tag_id, origin)
    select namespace, id, tag, 'manual' from htm.nodes, (values (1), (2)) t(tag)
     where namespace = 'default' and case tag when 1 then id / 500 % 2 = 0 else id % 100 = 1 end;
    create temporary table centre as
    select c, array(select random() - 0.5 from generate_series(1, 32) where c is not null) as v
      from generate_series(0, 249) c;
    insert into htm.embeddings_1 (node_id, namespace, created_at, revision, embedding)
    select n.id, n.namespace, n.created_at, 1,
           array(select x + (random() - 0.5) * 0.6 from unnest(e.v) x where n.id is not null)::real[]::halfvec
      from htm.nodes n join centre e on e.c = n.id * 7919 % 250;
    set maintenance_work_mem = '512MB';
    do $$ declare index text; begin for index in select htm.embedding_index(1, '') loop execute index; end loop; end $$;
    analyze htm.nodes; analyze htm.node_tags; analyze htm.embeddings_1";

/// A handle whose queries are numbers: each asks for what is near a node of the small part that it was drawn from.
async fn filled(db: &TestDatabase) -> (Htm, Arc<Stored>) {
    let mut connection = db.pool.acquire().await.unwrap();
    sqlx::raw_sql(FILL).execute(&mut *connection).await.unwrap();
    let rows: Vec<(pgvector::HalfVector,)> =
        sqlx::query_as("select embedding from htm.embeddings_1 where node_id % 401 = 0 order by node_id")
            .fetch_all(&mut *connection)
            .await
            .unwrap();
    let vectors = rows.into_iter().map(|(vector,)| vector.to_vec().iter().map(|x| x.to_f32()).collect());
    let stored = Arc::new(Stored { model: ModelName::new("test", "stored"), vectors: vectors.collect() });
    // As many as a tenth are compared, as of 100,000 with the default.
    let recall = RecallSettings { exact_scope: 1_000, ..RecallSettings::default() };
    let embedding_model = stored.model.clone();
    let settings = Settings { embedding_model, recall, ..db.htm().settings().clone() };
    (Htm::with_pool(db.pool.clone(), settings, Some(stored.clone())), stored)
}

#[tokio::test]
async fn filters_of_any_width_find_what_a_search_of_everything_finds() {
    let db = TestDatabase::new().await;
    let (htm, stored) = filled(&db).await;
    let base = RecallQuery::new("").strategy(Strategy::Vector).limit(10);
    let tag = |tag: &str| base.clone().tag(TagFilter::Exact(tag.parse().unwrap()));
    let robot = base.clone().filter(Filter::default().robot("tenth"));
    let session = base.clone().filter(Filter::default().session("standup"));
    let lately: TimeExpression = "last 17 minutes".parse().unwrap();
    let lately_sql = "n.created_at > now() - interval '17 minutes'";
    let (exact, approximate) = (VectorSearch::Exact, VectorSearch::Approximate);
    let cases = [
        ("all", base.clone(), "true", approximate),
        ("half, by a tag", tag("half"), "n.id / 500 % 2 = 0", approximate),
        ("a tenth, by a robot", robot, "n.robot_id = 2", exact),
        ("a hundredth, by a tag", tag("hundredth"), "n.id % 100 = 1", exact),
        (
            "a hundredth, by metadata",
            base.clone().filter(Filter::default().metadata("some", 1)),
            "n.metadata ? 'some'",
            exact,
        ),
        (
            "a thousandth, by metadata",
            base.clone().filter(Filter::default().metadata("rare", true)),
            "n.metadata ? 'rare'",
            exact,
        ),
        ("a thousandth, by a session", session, "n.session = 'standup'", exact),
        ("a hundredth, by time", base.clone().timeframe(lately), lately_sql, exact),
        ("a namespace of a thousandth", base.clone().namespace("small"), "true", exact),
        ("a namespace of an eighth", base.clone().namespace("eighth"), "true", approximate),
    ];
    for (what, query, condition, search) in cases {
        let namespace = query.filter.namespaces.first().cloned().unwrap_or("default".into());
        let nearest = format!(
            "select n.id from htm.nodes n join htm.embeddings_1 e on e.node_id = n.id
              where n.namespace = '{namespace}' and {condition} order by (e.embedding <=> $1) + 0, n.id desc limit 10"
        );
        let mut found = 0;
        // One statement for all: it was prepared long before the narrow filters come, and beyond its fifth execution it
        // might be planned for any parameters.
        for call in 0..12 {
            let text = (call % stored.vectors.len()).to_string();
            let recalled = htm.recall(&RecallQuery { text, ..query.clone() }).await.unwrap();
            assert_eq!(recalled.hits.len(), 10, "{what}, call {call}");
            assert_eq!(recalled.vector_search, Some(search), "{what}, call {call}");
            if call >= 2 {
                let vector =
                    pgvector::HalfVector::from_f32_slice(&stored.vectors[call % stored.vectors.len()]);
                let nearest: Vec<NodeId> = sqlx::query_scalar(AssertSqlSafe(nearest.clone()))
                    .bind(vector)
                    .fetch_all(&db.pool)
                    .await
                    .unwrap();
                found += recalled.hits.iter().filter(|hit| nearest.contains(&hit.node.id)).count();
            }
        }
        eprintln!("{what}: {found} of 100");
        assert!(found >= 97, "{what}: {found} of 100");
    }
}

#[tokio::test]
async fn the_nodes_of_a_robot_are_read_from_its_index_alone() {
    let db = TestDatabase::new().await;
    let (htm, stored) = filled(&db).await;
    sqlx::query("vacuum htm.nodes").execute(&db.pool).await.unwrap();
    // One connection, so that its counts are flushed with the next statement of it.
    let pool = htm_core::pool_options().max_connections(1).connect_with(db.options()).await.unwrap();
    let htm = Htm::with_pool(pool.clone(), htm.settings().clone(), Some(stored));
    let nodes_read = async || -> i64 {
        sqlx::query("select pg_stat_force_next_flush()").execute(&pool).await.unwrap();
        let sql =
            "select sum(idx_tup_fetch)::bigint from pg_stat_user_tables where relname ~ '^nodes(_p[0-9]+)?$'";
        sqlx::query_scalar(sql).fetch_one(&pool).await.unwrap()
    };
    let query = RecallQuery { count_accesses: false, ..RecallQuery::new("0") };
    let query = query.strategy(Strategy::Vector).filter(Filter::default().robot("tenth")).limit(10);
    let before = nodes_read().await;
    assert_eq!(htm.recall(&query).await.unwrap().hits.len(), 10);
    // The nearest of them and the hits, not all 1,000.
    let read = nodes_read().await - before;
    assert!(read < 250, "{read} nodes");
}

#[tokio::test]
async fn of_equally_near_nodes_the_newest_are_found() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let mut nodes = Vec::new();
    for place in 0..15 {
        let mut memory = Memory::new("the same text");
        (memory.session, memory.seq) = (Some("talk".into()), Some(place));
        nodes.push(htm.remember(memory).await.unwrap().node);
    }
    drain(&db, Stage::Embed).await;
    let query = RecallQuery::new("the same text").strategy(Strategy::Vector).limit(5);
    let found = htm.recall(&query).await.unwrap();
    assert_eq!(found.vector_search, Some(VectorSearch::Exact));
    let mut found: Vec<NodeId> = found.hits.iter().map(|hit| hit.node.id).collect();
    found.sort();
    assert_eq!(found, nodes[10..]);
}
