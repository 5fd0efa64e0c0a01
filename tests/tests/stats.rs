//! The memory in numbers, compared with what was put in.

use htm_core::groups::AfterShutdown;
use htm_core::worker::statistics;
use htm_core::{Caller, Confirmation, GroupCount, GroupUse, JoinOptions, Memory, Scope, Stage, StatsQuery};
use htm_tests::{TestDatabase, drain};

fn named(namespace: &str, name: &str, nodes: i64, tokens: Option<i64>) -> GroupCount {
    GroupCount { namespace: Some(namespace.into()), name: Some(name.into()), nodes, tokens }
}

#[tokio::test]
async fn an_empty_memory_has_numbers_too() {
    let db = TestDatabase::new().await;
    let stats = db.htm().memory_stats(&StatsQuery::default()).await.unwrap();
    assert_eq!((stats.totals.nodes, stats.totals.tokens, stats.totals.oldest), (0, 0, None));
    assert_eq!(stats.robots.distinct + stats.tags.distinct + stats.types.distinct, 0);
    let stages: Vec<_> = stats.enrichment.iter().map(|it| (it.stage, it.done, it.pending)).collect();
    assert_eq!(stages, [(Stage::Embed, 0, 0), (Stage::Tag, 0, 0)]);
    let storage = stats.storage.unwrap();
    assert!(storage.database_bytes > 0 && storage.tables.len() > 10);
}

#[tokio::test]
async fn nodes_are_counted_by_everything() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let now = chrono::Utc::now();
    let mut nodes = Vec::new();
    for (namespace, robot, kind, days, tag) in [
        ("default", "ada", Some("fact"), 0, "db:pg"),
        ("default", "ada", Some("fact"), 3, "db:pg"),
        ("default", "ada", None, 10, "ops"),
        ("default", "bob", None, 100, "ops"),
        ("atlas", "ada", Some("decision"), 400, "db:pg"),
        ("atlas", "ada", Some("decision"), 1, "gone"),
    ] {
        let memory = Memory {
            kind: kind.map(Into::into),
            ..Memory::new("four tokens are here")
                .namespace(namespace)
                .robot(robot)
                .at(now - chrono::Duration::days(days))
                .tag(tag.parse().unwrap())
        };
        nodes.push(htm.remember(memory).await.unwrap().node);
    }
    let tokens: i64 = htm.get(nodes[0]).await.unwrap().token_count.into();
    htm.forget(nodes[5], &Caller::AnyRobot, Confirmation::Confirmed).await.unwrap();
    drain(&db, Stage::Embed).await;
    sqlx::raw_sql(
        "insert into htm.working_memory (robot_id, namespace, node_id)
         select robot_id, namespace, id from htm.nodes where namespace = 'default' and type is null;
         update apalis.jobs set status = 'Killed', done_at = now() where job_type = 'htm.tag'
            and metadata -> 'node' = (select min(id)::text from htm.nodes);
         update apalis.jobs set metadata = metadata || hstore('parked', 'age'), run_at = now() + interval '1 day' where job_type = 'htm.tag'
            and metadata -> 'node' = (select min(id + 1)::text from htm.nodes)",
    )
    .execute(&db.pool)
    .await
    .unwrap();

    let settings =
        htm_core::Settings { working_memory_tokens: 10 * tokens as usize, ..htm.settings().clone() };
    let htm = htm_core::Htm::with_pool(db.pool.clone(), settings, None);
    let own = htm.memory_stats(&StatsQuery::default()).await.unwrap();
    assert_eq!(own.namespace.as_deref(), Some("default"));
    assert_eq!((own.totals.nodes, own.totals.tokens, own.totals.forgotten), (4, 4 * tokens, 0));
    assert_eq!((own.ages.day, own.ages.week, own.ages.month, own.ages.older), (1, 1, 1, 1));
    assert_eq!(own.robots.distinct, 2);
    assert_eq!(
        own.robots.top,
        [named("default", "ada", 3, Some(3 * tokens)), named("default", "bob", 1, Some(tokens))]
    );
    let types: Vec<_> = own.types.top.iter().map(|it| (it.name.as_deref(), it.nodes)).collect();
    assert_eq!(types, [(Some("fact"), 2), (None, 2)]);
    assert_eq!(own.tags.top, [named("default", "db:pg", 2, None), named("default", "ops", 2, None)]);
    let [embed, tag] = &own.enrichment[..] else { panic!("{:?}", own.enrichment) };
    assert_eq!((embed.done, embed.pending, embed.model.as_deref()), (4, 0, Some("fake/bag-of-words")));
    assert_eq!((tag.done, tag.pending, tag.parked, tag.running, tag.dead), (0, 2, 1, 0, 1));
    let used: Vec<_> =
        own.working_memory.iter().map(|it| (it.robot.as_str(), it.nodes, it.utilisation)).collect();
    assert_eq!(used, [("ada", 1, 0.1), ("bob", 1, 0.1)]);

    let all = StatsQuery { scope: Scope::All, top: 1 };
    let all = htm.memory_stats(&all).await.unwrap();
    assert_eq!((all.totals.nodes, all.totals.forgotten), (5, 1));
    assert_eq!((all.namespaces.distinct, all.robots.distinct), (2, 3));
    assert_eq!(all.namespaces.top, [named("default", "default", 4, Some(4 * tokens))]);
    // The tag of what is forgotten has no node.
    assert_eq!((all.tags.distinct, all.tags.top.len()), (3, 1));
    assert_eq!((all.ages.day, all.ages.week, all.ages.month, all.ages.older), (1, 1, 1, 2));
    assert_eq!(all.totals.oldest.map(|at| (now - at).num_days()), Some(400));

    let atlas = StatsQuery { scope: Scope::Namespace("atlas".into()), ..StatsQuery::default() };
    let atlas = htm.memory_stats(&atlas).await.unwrap();
    assert_eq!((atlas.totals.nodes, atlas.totals.forgotten, atlas.tags.distinct), (1, 1, 1));
    assert_eq!((atlas.enrichment[0].done, atlas.enrichment[1].pending), (1, 1));
}

#[tokio::test]
async fn groups_that_are_open_are_counted() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let options = JoinOptions { max_tokens: 100, ..JoinOptions::default() };
    let ada = htm.group("crew").join("ada", options).await.unwrap();
    let _bob = htm.group("crew").join("bob", options).await.unwrap();
    let node = ada.remember(Memory::new("The disk of db-3 is full.")).await.unwrap().node;
    let tokens = i64::from(htm.get(node).await.unwrap().token_count);
    let closed = htm.group("closed").join("ada", options).await.unwrap();
    closed.shutdown(AfterShutdown::Keep).await.unwrap();
    let _far = htm.group("far").namespace("atlas").join("ada", options).await.unwrap();
    let groups = htm.memory_stats(&StatsQuery::default()).await.unwrap().groups;
    let expected = GroupUse {
        namespace: "default".into(),
        group: "crew".into(),
        members: 2,
        active: 1,
        nodes: 1,
        tokens,
        max_tokens: 100,
        utilisation: tokens as f64 / 100.0,
    };
    assert_eq!(groups, [expected]);
    let all = StatsQuery { scope: Scope::All, top: 1 };
    assert_eq!(htm.memory_stats(&all).await.unwrap().groups.len(), 1);
}

#[tokio::test]
async fn sizes_are_of_every_table_and_index() {
    let db = TestDatabase::in_one_table().await;
    let htm = db.htm();
    let memories: Vec<Memory> = (0..200).map(|n| Memory::new(format!("memory {n}"))).collect();
    htm.remember_many(&memories).await.unwrap();
    sqlx::query("analyze htm.nodes").execute(&db.pool).await.unwrap();
    let storage = htm.memory_stats(&StatsQuery::default()).await.unwrap().storage.unwrap();
    let nodes = storage.tables.iter().find(|it| it.name == "htm.nodes").unwrap();
    assert_eq!(nodes.rows, Some(200));
    let total: i64 =
        sqlx::query_scalar("select pg_total_relation_size('htm.nodes')").fetch_one(&db.pool).await.unwrap();
    assert_eq!(nodes.table_bytes + nodes.index_bytes, total);
    let of_nodes = storage.indexes.iter().filter(|it| it.table == "htm.nodes");
    assert_eq!(of_nodes.map(|it| it.bytes).sum::<i64>(), nodes.index_bytes);
    assert!(storage.tables.iter().any(|it| it.name == "apalis.jobs"));
    assert!(
        storage.tables.iter().map(|it| it.table_bytes + it.index_bytes).sum::<i64>() < storage.database_bytes
    );
}

#[tokio::test]
async fn a_bad_namespace_is_refused() {
    let db = TestDatabase::new().await;
    let query = StatsQuery { scope: Scope::Namespace("a\nb".into()), ..StatsQuery::default() };
    assert_eq!(db.htm().memory_stats(&query).await.unwrap_err().code(), "namespace_invalid");
}

#[tokio::test]
async fn the_words_of_a_large_namespace_are_counted_in_short_transactions() {
    let db = TestDatabase::new().await;
    let memories: Vec<Memory> = (0..12_000)
        .map(|n| Memory::new(format!("shared word{n} pair{} seldom{}", n / 2, n % 7 / 6)))
        .collect();
    for some in memories.chunks(1_000) {
        db.htm().remember_many(some).await.unwrap();
    }
    sqlx::raw_sql("update htm.nodes set deleted_at = now() where id % 5 = 0")
        .execute(&db.pool)
        .await
        .unwrap();
    let counted = async || -> (String, Option<String>) {
        sqlx::query_as(
            "select (select row(node_count, average_lexemes)::text from htm.namespace_statistics),
                    (select md5(string_agg(lexeme || node_count, ',' order by lexeme)) from htm.lexeme_statistics)",
        )
        .fetch_one(&db.pool)
        .await
        .unwrap()
    };
    statistics::refresh(&db.pool, "default").await.unwrap();
    let in_pages = counted().await;
    let transactions = "select count(distinct xmin::text) from htm.lexeme_statistics";
    assert!(db.count(transactions).await >= 3);
    sqlx::raw_sql("select htm.refresh_statistics('default')").execute(&db.pool).await.unwrap();
    assert_eq!(in_pages, counted().await);
    // Words that are gone go, those that changed are counted anew, and nothing else is written.
    sqlx::raw_sql("update htm.nodes set deleted_at = now() where id % 2 = 0; analyze htm.nodes")
        .execute(&db.pool)
        .await
        .unwrap();
    statistics::refresh(&db.pool, "default").await.unwrap();
    let in_pages = counted().await;
    sqlx::raw_sql("select htm.refresh_statistics('default')").execute(&db.pool).await.unwrap();
    assert_eq!(in_pages, counted().await);
}
