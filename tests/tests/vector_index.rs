//! The kinds of a vector index: each finds what a comparison of all vectors finds, under the same filters.

use htm_core::models::{ModelState, VectorIndex};
use htm_core::provider::ModelName;
use htm_core::{
    Filter, Htm, Leg, NodeId, RecallQuery, RecallSettings, Settings, Strategy, TagFilter, TagPath,
    VectorSearch,
};
use htm_runtime::paths::Paths;
use htm_tests::{OwnServer, Sandbox, TestDatabase};
use pgvector::HalfVector;
use sqlx::{AssertSqlSafe, PgPool};

const MODEL: &str = "caller/mine";

/// 3,000 nodes with vectors of 128 dimensions in 300 clusters. A twentieth of the nodes is in a namespace of its own. Of the
/// others, a hundredth has one tag: all of three clusters. A twentieth has another: one of each cluster.
const FILL: &str = "
    select setseed(0.5), htm.register_embedding_model('caller', 'mine', 128);
    insert into htm.robots (namespace, name) values ('default', 'most'), ('default', 'half'), ('small', 'most');
    insert into htm.nodes (namespace, robot_id, content, content_hash, token_count, token_encoding)
    select case when i % 20 = 7 then 'small' else 'default' end,
           case when i % 20 = 7 then 3 when i / 10 % 2 = 0 then 2 else 1 end,
           'node', sha256(i::text::bytea), 1, 'none'
      from generate_series(1, 3000) i;
    insert into htm.tags (namespace, path) values ('default', 'together'), ('default', 'scattered');
    insert into htm.node_tags (namespace, node_id, tag_id, origin)
    select n.namespace, n.id, t.id, 'manual'
      from htm.nodes n join htm.tags t on t.namespace = n.namespace
     where case t.path when 'together' then n.id % 100 = 1 else n.id / 300 = 3 end;
    create temporary table centre as
    select c, array(select random() - 0.5 from generate_series(1, 128) where c is not null) as v
      from generate_series(0, 299) c;
    insert into htm.embeddings_1 (node_id, namespace, created_at, revision, embedding)
    select n.id, n.namespace, n.created_at, 1,
           array(select x + (random() - 0.5) * 0.5 from unnest(e.v) x where n.id is not null)::real[]::halfvec
      from htm.nodes n join centre e on e.c = n.id * 7919 % 300;
    analyze htm.nodes; analyze htm.node_tags; analyze htm.embeddings_1";

/// The database with its nodes, and a handle to search it.
async fn filled(pool: &PgPool) -> Htm {
    let mut connection = pool.acquire().await.unwrap();
    sqlx::raw_sql(FILL).execute(&mut *connection).await.unwrap();
    // 750 are compared one by one: more is what an index is for.
    let recall = RecallSettings { exact_scope: 750, ..RecallSettings::default() };
    let settings =
        Settings { embedding_model: ModelName::new("caller", "mine"), recall, ..Settings::default() };
    Htm::with_pool(pool.clone(), settings, None)
}

/// The indexes of the vectors by name, without the tables' keys and scopes.
async fn indexes(pool: &PgPool) -> Vec<String> {
    let sql = "select indexrelname::text from pg_stat_all_indexes
                where schemaname = 'htm' and relname = 'embeddings_1' and indexrelname !~ '_(pk|scope_idx)$'
                order by 1";
    sqlx::query_scalar(sql).fetch_all(pool).await.unwrap()
}

async fn scans(pool: &PgPool, kind: VectorIndex) -> i64 {
    let sql = "select coalesce(pg_stat_get_numscans(to_regclass($1)), 0)";
    sqlx::query_scalar(sql).bind(format!("htm.embeddings_1_{kind}_idx")).fetch_one(pool).await.unwrap()
}

fn floats(vector: &HalfVector) -> Vec<f32> {
    vector.to_vec().iter().map(|x| x.to_f32()).collect()
}

/// Searches under filters of each width, and compares with the nearest of all that pass.
async fn finds_what_there_is(pool: &PgPool, htm: &Htm, kind: VectorIndex) {
    let by_index = if kind == VectorIndex::None { VectorSearch::Exact } else { VectorSearch::Approximate };
    let base = RecallQuery::new("").strategy(Strategy::Vector).limit(10);
    let cases = [
        ("all", base.clone(), "n.namespace = 'default'", by_index),
        (
            "half, by a robot",
            base.clone().filter(Filter::default().robot("half")),
            "n.robot_id = 2",
            by_index,
        ),
        ("a namespace", base.clone().namespace("small"), "n.namespace = 'small'", VectorSearch::Exact),
    ];
    // Another process has changed the kind: this one sees it within a second.
    let any: HalfVector =
        sqlx::query_scalar("select embedding from htm.embeddings_1 limit 1").fetch_one(pool).await.unwrap();
    let asked = base.clone().vector(floats(&any));
    htm_tests::wait_until(|| async { htm.recall(&asked).await.unwrap().vector_search == Some(by_index) })
        .await;
    let before = scans(pool, kind).await;
    for (what, query, condition, search) in cases {
        let nearest = format!(
            "select n.id from htm.nodes n join htm.embeddings_1 e on e.node_id = n.id
              where {condition} and n.deleted_at is null order by (e.embedding <=> $1) + 0, n.id desc limit 10"
        );
        let mut found = 0;
        for call in 0..10 {
            let sql = "select embedding from htm.embeddings_1 where node_id >= $1 order by node_id limit 1";
            let vector: HalfVector =
                sqlx::query_scalar(sql).bind(1 + call * 277_i64).fetch_one(pool).await.unwrap();
            let query = query.clone().vector(floats(&vector));
            let recalled = htm.recall(&query).await.unwrap();
            assert_eq!(recalled.hits.len(), 10, "{kind}, {what}, call {call}");
            assert_eq!(recalled.vector_search, Some(search), "{kind}, {what}, call {call}");
            let nearest: Vec<NodeId> = sqlx::query_scalar(AssertSqlSafe(nearest.clone()))
                .bind(vector)
                .fetch_all(pool)
                .await
                .unwrap();
            found += recalled.hits.iter().filter(|hit| nearest.contains(&hit.node.id)).count();
        }
        eprintln!("{kind}, {what}: {found} of 100");
        assert!(found >= 97, "{kind}, {what}: {found} of 100");
    }
    if kind != VectorIndex::None {
        // The counts of a session are reported when it ends, or a second later.
        htm_tests::wait_until(|| async { scans(pool, kind).await > before }).await;
    }
}

/// Searches the index under filters that few nodes pass, but more than are compared one by one. Of those with the first tag
/// there are fewer than the index is asked for: it is read to its end.
async fn finds_those_with_a_tag(pool: &PgPool, htm: &Htm, kind: VectorIndex) {
    let recall = RecallSettings { exact_scope: 20, ..RecallSettings::default() };
    let htm = Htm::with_pool(pool.clone(), Settings { recall, ..htm.settings().clone() }, None);
    let before = scans(pool, kind).await;
    for tag in ["together", "scattered"] {
        let sql = "select count(*) from htm.nodes n
                     join htm.node_tags nt on nt.node_id = n.id and nt.namespace = n.namespace
                     join htm.tags t on t.id = nt.tag_id
                    where t.path = $1 and n.deleted_at is null";
        let there: i64 = sqlx::query_scalar(sql).bind(tag).fetch_one(pool).await.unwrap();
        assert!((20..=300).contains(&there), "{there} have the tag {tag}");
        for limit in [10, 100] {
            let query = RecallQuery::new("").strategy(Strategy::Vector).limit(limit);
            let query = query.tag(TagFilter::Exact(tag.parse().unwrap()));
            for call in 0..5 {
                let what = format!("{kind}, the tag {tag}, {limit} hits, call {call}");
                let sql =
                    "select embedding from htm.embeddings_1 where node_id >= $1 order by node_id limit 1";
                let vector: HalfVector =
                    sqlx::query_scalar(sql).bind(1 + call * 577_i64).fetch_one(pool).await.unwrap();
                let recalled = htm.recall(&query.clone().vector(floats(&vector))).await.unwrap();
                assert_eq!(recalled.legs, [Leg::Index], "{what}");
                assert_eq!(recalled.vector_search, Some(VectorSearch::Approximate), "{what}");
                let has_tag = |tags: &[TagPath]| tags.iter().any(|it| it.as_str() == tag);
                assert!(recalled.hits.iter().all(|hit| has_tag(&hit.node.tags)), "{what}");
                assert_eq!(recalled.hits.len(), limit.min(there as usize), "{what}");
            }
        }
    }
    // The counts of a session are reported when it ends, or a second later.
    htm_tests::wait_until(|| async { scans(pool, kind).await > before }).await;
}

#[tokio::test]
async fn the_kinds_of_pgvector_find_what_there_is() {
    let db = TestDatabase::in_one_table().await;
    let htm = filled(&db.pool).await;
    let sandbox = Sandbox::new(&db);
    finds_what_there_is(&db.pool, &htm, VectorIndex::Hnsw).await;
    for kind in [VectorIndex::HnswBinary, VectorIndex::None, VectorIndex::Hnsw] {
        let changed = sandbox.htm(&["models", "index", MODEL, "--kind", &kind.to_string()]).await;
        changed.succeeds();
        let expected: Vec<String> = match kind {
            VectorIndex::None => Vec::new(),
            _ => vec![format!("embeddings_1_{kind}_idx")],
        };
        assert_eq!(indexes(&db.pool).await, expected);
        finds_what_there_is(&db.pool, &htm, kind).await;
        if kind != VectorIndex::None {
            finds_those_with_a_tag(&db.pool, &htm, kind).await;
        }
    }
    let again = sandbox.htm(&["models", "index", MODEL, "--kind", "hnsw"]).await;
    assert!(again.succeeds().contains("was hnsw already"), "{again:?}");
}

#[tokio::test]
async fn diskann_finds_what_there_is_and_what_is_written_later() {
    let Some(server) = OwnServer::start_extended().await else { return };
    let htm = filled(&server.pool).await;
    let sandbox = Sandbox::on(&server.url());
    let refused = sandbox.htm(&["models", "index", MODEL, "--kind", "diskann"]).await;
    let hint = refused.fails(2, "vector_index_unavailable");
    assert!(hint.contains("create extension vectorscale"), "{hint}");
    assert_eq!(indexes(&server.pool).await, ["embeddings_1_hnsw_idx"]);
    // As with many vectors: then its parallel build is tried, which does not work beside writes.
    let prepare = "create extension vectorscale;
        alter database htm set diskann.min_vectors_for_parallel_build = 1000;
        alter database htm set diskann.parallel_initial_start_nodes_count = 100";
    sqlx::raw_sql(prepare).execute(&server.pool).await.unwrap();
    sandbox.htm(&["models", "index", MODEL, "--kind", "diskann"]).await.succeeds();
    assert_eq!(indexes(&server.pool).await, ["embeddings_1_diskann_idx"]);
    finds_what_there_is(&server.pool, &htm, VectorIndex::Diskann).await;
    finds_those_with_a_tag(&server.pool, &htm, VectorIndex::Diskann).await;
    // Vectors that are changed, and nodes that are forgotten.
    let later = "
        update htm.embeddings_1 set embedding = array(select -x from unnest(embedding::real[]) x)::real[]::halfvec where node_id % 9 = 1;
        update htm.nodes set deleted_at = now() where id % 7 = 2";
    sqlx::raw_sql(later).execute(&server.pool).await.unwrap();
    finds_what_there_is(&server.pool, &htm, VectorIndex::Diskann).await;
    finds_those_with_a_tag(&server.pool, &htm, VectorIndex::Diskann).await;

    // A backup is restored with the extension that its index needs.
    sqlx::raw_sql("create database back").execute(&server.pool).await.unwrap();
    let home = Paths::from_env().unwrap().home().display().to_string();
    let back = server.url().replace("/htm", "/back");
    let (from, to) = (sandbox.set("HTM_HOME", &home), Sandbox::on(&back).set("HTM_HOME", &home));
    let place = from.home().join("backup").display().to_string();
    from.htm(&["db", "backup", &place]).await.succeeds();
    // It finds that these nodes never had jobs.
    assert!(to.htm(&["db", "restore", &place]).await.exits(1).stdout.contains("3000 memories"));
    let pool = PgPool::connect(&back).await.unwrap();
    assert_eq!(indexes(&pool).await, ["embeddings_1_diskann_idx"]);
}

#[tokio::test]
async fn a_further_model_has_the_kind_of_the_active_one() {
    let db = TestDatabase::in_one_table().await;
    let htm = filled(&db.pool).await;
    let sandbox = Sandbox::new(&db);
    sandbox.htm(&["models", "index", MODEL, "--kind", "hnsw_binary"]).await.succeeds();
    sandbox.htm(&["models", "add", "caller/other", "--dimensions", "8"]).await.succeeds();
    let other = htm.models().unwrap().get("caller/other").await.unwrap();
    assert_eq!((other.state, other.vector_index), (ModelState::Building, VectorIndex::HnswBinary));
    // Its index is built when it is complete.
    let waits = sandbox.htm(&["models", "index", "caller/other", "--kind", "hnsw"]).await;
    assert!(waits.succeeds().contains("when the model is complete"), "{waits:?}");
    sandbox.htm(&["models", "activate", "caller/other", "--force"]).await.succeeds();
    let built = "select to_regclass('htm.embeddings_2_hnsw_idx') is not null";
    assert!(sqlx::query_scalar::<_, bool>(built).fetch_one(&db.pool).await.unwrap());
    // One that is not in use gets none.
    sandbox.htm(&["models", "retire", MODEL]).await.succeeds();
    sandbox.htm(&["models", "index", MODEL, "--kind", "hnsw"]).await.fails(2, "model_retired");
    assert_eq!(indexes(&db.pool).await, ["embeddings_1_hnsw_binary_idx"]);
}

#[tokio::test]
async fn an_unknown_kind_is_refused_with_the_kinds() {
    let db = TestDatabase::new().await;
    let answer = Sandbox::new(&db).htm(&["models", "index", MODEL, "--kind", "ivfflat"]).await;
    answer.exits(2);
    assert!(format!("{answer:?}").contains("hnsw, hnsw_binary, diskann, vchordrq, none"), "{answer:?}");
}
