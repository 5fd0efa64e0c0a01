//! BM25 by an index of pg_textsearch, where the operator has made one: it finds what HTM's own search finds.

use std::collections::BTreeMap;

use htm_core::{
    Caller, Confirmation, Filter, Htm, Leg, Memory, RecallQuery, Settings, Strategy, TimeExpression,
    connect_options, pool_options, tenant_options,
};
use htm_tests::OwnServer;
use sqlx::PgPool;

/// 6,000 nodes of eight words each, of which some are in many nodes and most in few. A twentieth of the nodes is in a namespace
/// of its own.
const FILL: &str = "
    select setseed(0.5);
    insert into htm.robots (namespace, name) values ('default', 'most'), ('default', 'few'), ('small', 'most');
    insert into htm.nodes (namespace, robot_id, content, content_hash, token_count, token_encoding, created_at)
    select case when i % 20 = 7 then 'small' else 'default' end,
           case when i % 20 = 7 then 3 when i % 50 = 0 then 2 else 1 end,
           (select string_agg('w' || floor(exp(random() * ln(2000)))::int || 'x', ' ') from generate_series(1, 8) where i > 0),
           sha256(i::text::bytea), 1, 'none', now() - i * interval '1 minute'
      from generate_series(1, 6000) i;
    select htm.refresh_statistics('default'), htm.refresh_statistics('small');
    analyze htm.nodes";

const INDEX: &str = "create extension pg_textsearch;
    create index nodes_bm25_idx on htm.nodes using bm25 (content) with (text_config = 'english')";

fn handle(pool: &PgPool) -> Htm {
    Htm::with_pool(pool.clone(), Settings::default(), None)
}

fn words(text: &str) -> RecallQuery {
    RecallQuery::new(text).strategy(Strategy::Fulltext).limit(10)
}

/// Texts of nodes, of which every second has a word with a typing error.
async fn questions(pool: &PgPool) -> Vec<String> {
    let sql = "select content from htm.nodes where namespace = 'default' and id % 101 = 0 order by id";
    let texts: Vec<String> = sqlx::query_scalar(sql).fetch_all(pool).await.unwrap();
    texts.iter().map(|text| text.split(' ').take(4).collect::<Vec<_>>().join(" ")).collect()
}

/// The texts of the hits with their BM25, by the search that it names.
async fn found(htm: &Htm, query: &RecallQuery) -> (Vec<Leg>, Vec<(String, f64)>) {
    let recalled = htm.recall(query).await.unwrap();
    let hit = |hit: htm_core::Hit| (hit.node.content, hit.scores.text.unwrap_or_default());
    (recalled.legs, recalled.hits.into_iter().map(hit).collect())
}

#[tokio::test]
async fn it_finds_what_the_own_search_finds() {
    let Some(server) = OwnServer::start_extended().await else { return };
    server.preload("pg_textsearch").await;
    let pool = &server.pool;
    sqlx::raw_sql(FILL).execute(pool).await.unwrap();
    let questions = questions(pool).await;
    let first = questions[0].as_str();
    let base = || words(first);
    let last_2_hours: TimeExpression = "last 2 hours".parse().unwrap();
    let narrow: BTreeMap<&str, RecallQuery> = [
        ("a small namespace", base().namespace("small")),
        ("a robot", base().filter(Filter::default().robot("few"))),
        ("a time", base().timeframe(last_2_hours)),
        ("a phrase", words(&format!("\"{}\"", first.split_once(' ').unwrap().0))),
        ("a script without spaces", words("東京 w1x")),
    ]
    .into();
    let own = handle(pool);
    let mut by_own = Vec::new();
    for question in &questions {
        by_own.push(found(&own, &words(question)).await);
    }
    let mut narrow_by_own = Vec::new();
    for query in narrow.values() {
        narrow_by_own.push(found(&own, query).await);
    }

    sqlx::raw_sql(INDEX).execute(pool).await.unwrap();
    let htm = handle(pool);
    for (question, (_, own)) in questions.iter().zip(by_own) {
        let (legs, found) = found(&htm, &words(question)).await;
        assert_eq!(legs, [Leg::Bm25], "{question}");
        // Never less: it chooses candidates by BM25, the own search by the rarity of their words.
        let sum = |hits: &[(String, f64)]| hits.iter().map(|hit| hit.1).sum::<f64>();
        assert_eq!(found.len(), own.len(), "{question}");
        assert!(sum(&found) >= 0.999 * sum(&own), "{question}: {found:?} {own:?}");
    }
    // Whatever the index does not know is searched as without it.
    for ((name, query), own) in narrow.iter().zip(narrow_by_own) {
        assert!(!own.0.contains(&Leg::Bm25), "{name}");
        assert_eq!(found(&htm, query).await, own, "{name}");
    }
}

#[tokio::test]
async fn it_follows_writes_walls_and_languages() {
    let Some(server) = OwnServer::start_extended().await else { return };
    server.preload("pg_textsearch").await;
    let pool = &server.pool;
    sqlx::raw_sql(FILL).execute(pool).await.unwrap();
    sqlx::raw_sql(INDEX).execute(pool).await.unwrap();
    let htm = handle(pool);
    let texts = async |htm: &Htm, query: &str| {
        let (legs, hits) = found(htm, &words(query)).await;
        (legs, hits.into_iter().map(|hit| hit.0).collect::<Vec<_>>())
    };
    let bm25 = || vec![Leg::Bm25];
    let node = htm.remember(Memory::new("a zeppelin over w1x")).await.unwrap().node;
    assert_eq!(texts(&htm, "zeppelins").await, (bm25(), vec!["a zeppelin over w1x".to_owned()]));
    htm.edit(node, &htm_core::Edit::new().content("an airship over w1x")).await.unwrap();
    assert_eq!(texts(&htm, "airship").await, (bm25(), vec!["an airship over w1x".to_owned()]));
    htm.forget(node, &Caller::AnyRobot, Confirmation::Confirmed).await.unwrap();
    assert_eq!(texts(&htm, "airship").await.1, Vec::<String>::new());

    for number in 0..3 {
        htm.remember(Memory::new(format!("dirigible {number}"))).await.unwrap();
    }
    sqlx::query("select htm.refresh_statistics('default')").execute(pool).await.unwrap();
    let (legs, corrected) = texts(&htm, "dirigibel").await;
    assert_eq!((legs, corrected.len()), (bm25(), 3));

    let tenants = pool_options().connect_lazy_with(tenant_options(connect_options(&server.url()).unwrap()));
    let walled = htm.clone().with_tenants(tenants).within(["default"]).unwrap();
    let (legs, hits) = found(&walled, &words("w1x w2x w3x")).await;
    assert_eq!((legs, hits.len()), (bm25(), 10));
    let small = sqlx::query_scalar::<_, String>("select content from htm.nodes where namespace = 'small'");
    let small = small.fetch_all(pool).await.unwrap();
    assert!(hits.iter().all(|hit| !small.contains(&hit.0)));

    // A node in another language has other words than the index.
    htm.remember(Memory { language: Some("german".into()), ..Memory::new("die Häuser") }).await.unwrap();
    assert_eq!(texts(&handle(pool), "w1x w2x").await.0, [Leg::Text]);
    sqlx::raw_sql("delete from htm.nodes where language = 'german'; drop index htm.nodes_bm25_idx")
        .execute(pool)
        .await
        .unwrap();
    assert_eq!(texts(&handle(pool), "w1x w2x").await.0, [Leg::Text]);
}
