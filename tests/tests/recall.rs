//! Recall on nodes that real workers have embedded with the fake provider.

#[path = "recall/exactness.rs"]
mod exactness;
#[path = "recall/explained.rs"]
mod explained;
#[path = "recall/filters.rs"]
mod filters;
#[path = "recall/forms.rs"]
mod forms;
#[path = "recall/ranking.rs"]
mod ranking;
#[path = "recall/refining.rs"]
mod refining;
#[path = "recall/scripts.rs"]
mod scripts;
#[path = "recall/several.rs"]
mod several;
#[path = "recall/small_scope.rs"]
mod small_scope;
#[path = "recall/spelling.rs"]
mod spelling;
#[path = "recall/two_connections.rs"]
mod two_connections;
#[path = "recall/words.rs"]
mod words;

use std::time::Duration;

use htm_core::{
    Filter, Htm, MatchedBy, Memory, RecallQuery, RelevanceWeights, Stage, Step, Strategy, TagFilter,
    TimeExpression, TimeFilter, TimelineQuery,
};
use htm_tests::{TestDatabase, drain, wait_until};

/// Three namespaces, dated, some tagged, all embedded and tagged.
async fn filled(db: &TestDatabase) -> Htm {
    let htm = db.htm();
    let day = |day: u32| format!("2026-03-{day:02}T12:00:00Z").parse().unwrap();
    let memories = [
        Memory::new("The database migration to PostgreSQL 17.2 failed at night").key("pg").at(day(1)),
        Memory::new("The database backup runs every evening").key("backup").at(day(10)),
        Memory::new("Bananas and bread for the picnic").key("picnic").at(day(20)),
        Memory::new("Database of birds seen in the garden").key("birds").namespace("home").at(day(5)),
    ];
    for mut memory in memories {
        let tag = if memory.content.contains("Postgre") { "data:postgres" } else { "database" };
        memory.tags.push(tag.parse().unwrap());
        memory.robot = Some(if memory.content.contains("night") { "owl" } else { "lark" }.into());
        htm.remember(memory).await.unwrap();
    }
    drain(db, Stage::Embed).await;
    htm
}

fn keys(recalled: &htm_core::Recalled) -> Vec<&str> {
    recalled.hits.iter().map(|hit| hit.node.key.as_deref().unwrap()).collect()
}

#[tokio::test]
async fn every_strategy_finds_and_says_how() {
    let db = TestDatabase::new().await;
    let htm = filled(&db).await;
    for strategy in Strategy::ALL {
        let recalled = htm.recall(&RecallQuery::new("database migration").strategy(strategy)).await.unwrap();
        assert_eq!(keys(&recalled)[0], "pg", "{strategy}");
        assert!(recalled.degraded.is_empty());
        assert_eq!(recalled.unembedded, 0);
        let first = &recalled.hits[0];
        let scores = first.scores;
        match strategy {
            Strategy::Vector => {
                assert_eq!(first.matched_by, MatchedBy::Vector);
                assert_eq!(Some(scores.score), scores.similarity);
                assert_eq!((scores.vector_rank, scores.text_rank, scores.text), (Some(1), None, None));
            }
            Strategy::Fulltext => {
                assert_eq!(first.matched_by, MatchedBy::Text);
                assert_eq!(Some(scores.score), scores.text_share);
                assert_eq!((scores.vector_rank, scores.similarity), (None, None));
            }
            Strategy::Hybrid => {
                assert_eq!(first.matched_by, MatchedBy::Both);
                assert!((0.0..=1.0).contains(&scores.score));
                assert!(scores.similarity.is_some() && scores.text.is_some());
                assert_eq!((scores.vector_rank, scores.text_rank), (Some(1), Some(1)));
            }
            Strategy::Auto => unreachable!("it is one of the others"),
        }
        let order: Vec<f64> = recalled.hits.iter().map(|hit| hit.scores.score).collect();
        assert!(order.is_sorted_by(|a, b| a >= b), "{strategy}: {order:?}");
        assert!(order.iter().all(|score| (0.0..=1.0).contains(score)), "{strategy}: {order:?}");
    }
}

#[tokio::test]
async fn a_lone_hit_has_the_score_of_its_answer() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    htm.remember(Memory::new("We pin PostgreSQL 17.2.")).await.unwrap();
    drain(&db, Stage::Embed).await;
    for strategy in Strategy::ALL {
        let recalled = htm.recall(&RecallQuery::new("pin PostgreSQL").strategy(strategy)).await.unwrap();
        let scores: Vec<f64> = recalled.hits.iter().map(|hit| hit.scores.score).collect();
        assert!(scores.len() == 1 && scores[0] > 0.0 && scores[0] <= 1.0, "{strategy}: {scores:?}");
    }
}

#[tokio::test]
async fn filters_narrow_every_strategy() {
    let db = TestDatabase::new().await;
    let htm = filled(&db).await;
    let march = |text: &str| text.parse::<TimeExpression>().unwrap();
    for strategy in Strategy::ALL {
        let base = RecallQuery::new("database").strategy(strategy);
        let found = |query: RecallQuery| {
            let htm = htm.clone();
            async move {
                let recalled = htm.recall(&query).await.unwrap();
                let mut keys: Vec<String> = keys(&recalled).into_iter().map(Into::into).collect();
                keys.retain(|key| key != "picnic");
                keys.sort();
                keys
            }
        };
        assert_eq!(found(base.clone()).await, ["backup", "pg"], "{strategy}");
        assert_eq!(found(base.clone().namespace("home")).await, ["birds"], "{strategy}");
        assert!(found(base.clone().namespace("nowhere")).await.is_empty(), "{strategy}");
        assert_eq!(
            found(base.clone().timeframe(march("2026-03-01..2026-03-10"))).await,
            ["pg"],
            "{strategy}"
        );
        assert_eq!(found(base.clone().timeframe(march("2026-03-10"))).await, ["backup"], "{strategy}");
        assert!(found(base.clone().timeframe(march("2027-01-01.."))).await.is_empty(), "{strategy}");
        // A prefix stops at the colon.
        let data = || "data".parse().unwrap();
        assert_eq!(found(base.clone().tag(TagFilter::Prefix(data()))).await, ["pg"], "{strategy}");
        assert!(found(base.clone().tag(TagFilter::Exact(data()))).await.is_empty(), "{strategy}");
        let exact = TagFilter::Exact("data:postgres".parse().unwrap());
        assert_eq!(found(base.clone().tag(exact.clone())).await, ["pg"], "{strategy}");
        let database = TagFilter::Exact("database".parse().unwrap());
        assert!(found(base.clone().tag(exact.clone()).tag(database.clone())).await.is_empty(), "{strategy}");
        let mut any = base.clone().tag(exact).tag(database);
        any.filter.any_tag = true;
        assert_eq!(found(any).await, ["backup", "pg"], "{strategy}");
        let owl = base.clone().filter(Filter::default().robot("owl"));
        assert_eq!(found(owl).await, ["pg"], "{strategy}");
        assert_eq!(htm.recall(&base.limit(1)).await.unwrap().hits.len(), 1, "{strategy}");
    }
}

#[tokio::test]
async fn bad_queries_have_a_code_each() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    for (code, query) in [
        ("content_empty", RecallQuery::new("  ")),
        ("content_empty", RecallQuery::new("\"\"")),
        ("nul_byte", RecallQuery::new("a\0")),
        ("limit_out_of_range", RecallQuery::new("a").limit(0)),
        ("limit_out_of_range", RecallQuery::new("a").limit(10_001)),
        ("namespace_invalid", RecallQuery::new("a").namespace("")),
    ] {
        let error = htm.recall(&query).await.unwrap_err();
        assert_eq!(error.code(), code);
        assert!(!error.hint().is_empty());
    }
    assert_eq!("nearest".parse::<Strategy>().unwrap_err().code(), "strategy_unknown");
}

#[tokio::test]
async fn a_fresh_write_is_found_by_text_and_counted_as_unembedded() {
    let db = TestDatabase::new().await;
    let htm = filled(&db).await;
    htm.remember(Memory::new("A zeppelin crossed the harbour").key("new")).await.unwrap();
    let recalled = htm.recall(&RecallQuery::new("zeppelin")).await.unwrap();
    assert_eq!(keys(&recalled)[0], "new");
    assert_eq!(recalled.hits[0].matched_by, MatchedBy::Text);
    assert_eq!(recalled.hits[0].scores.similarity, None);
    assert_eq!(recalled.unembedded, 1);
    // Not within a timeframe that it is outside of.
    let query = RecallQuery::new("zeppelin").timeframe("2026-03-01".parse::<TimeExpression>().unwrap());
    assert_eq!(htm.recall(&query).await.unwrap().unembedded, 0);
}

#[tokio::test]
async fn text_answers_when_the_query_cannot_be_embedded() {
    use htm_core::provider::{Embedder, ProviderErrorKind};
    let db = TestDatabase::new().await;
    let settings = filled(&db).await.settings().clone();
    let failing = htm_providers::fake::FakeEmbedder::failing(ProviderErrorKind::Unreachable);
    let settings = htm_core::Settings { embedding_model: failing.model().clone(), ..settings };
    let htm = Htm::with_pool(db.pool.clone(), settings.clone(), Some(std::sync::Arc::new(failing)));
    for strategy in [Strategy::Vector, Strategy::Hybrid] {
        let recalled = htm.recall(&RecallQuery::new("migration").strategy(strategy)).await.unwrap();
        assert_eq!(keys(&recalled), ["pg"]);
        assert_eq!(
            (recalled.degraded[0].step, recalled.degraded[0].code),
            (Step::Vector, "provider_unreachable")
        );
    }
    let none = Htm::with_pool(db.pool.clone(), settings, None);
    let vector = RecallQuery::new("migration").strategy(Strategy::Vector);
    assert_eq!(none.recall(&vector).await.unwrap_err().code(), "embedder_missing");
    assert_eq!(
        none.recall(&RecallQuery::new("migration")).await.unwrap().degraded[0].code,
        "embedder_missing"
    );
}

#[tokio::test]
async fn a_query_is_data() {
    let db = TestDatabase::new().await;
    let htm = filled(&db).await;
    for text in
        ["'; drop table htm.nodes; --", "a & | ! b:*", "\\", "'''", "<mark>", "%_", "the of and", "🦀 שלום"]
    {
        for strategy in Strategy::ALL {
            htm.recall(&RecallQuery::new(text).strategy(strategy)).await.unwrap();
        }
    }
    assert_eq!(db.count("select count(*) from htm.nodes").await, 4);
}

/// PostgreSQL turns a prepared statement to a generic plan at its sixth execution: the fiftieth must give the same.
#[tokio::test]
async fn a_narrow_namespace_keeps_its_rows_at_the_fiftieth_call() {
    let db = TestDatabase::new().await;
    let mut htm = db.htm();
    let mut memories = Vec::new();
    for n in 0..3_000 {
        let namespace = if n % 100 == 0 { "narrow" } else { "wide" };
        memories.push(Memory::new(format!("note {n} about subject {}", n % 7)).namespace(namespace));
    }
    htm.remember_many(&memories).await.unwrap();
    drain(&db, Stage::Embed).await;
    // Small enough that the wide namespace goes through the HNSW index.
    let mut settings = htm.settings().clone();
    settings.recall.exact_scope = 1_000;
    htm = Htm::with_pool(
        db.pool.clone(),
        settings,
        Some(htm_providers::fake::embedder(Default::default()).unwrap()),
    );
    for call in 1..=50 {
        for (namespace, rows) in [("narrow", 10), ("wide", 10)] {
            let query =
                RecallQuery::new("subject 3").namespace(namespace).strategy(Strategy::Vector).limit(10);
            assert_eq!(htm.recall(&query).await.unwrap().hits.len(), rows, "call {call}, {namespace}");
        }
    }
}

#[tokio::test]
async fn waiting_for_a_stage_ends_with_it_or_with_the_timeout() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let node = htm.remember(Memory::new("wait for me")).await.unwrap().node;
    let error = htm.wait_for(node, Stage::Embed, Duration::from_millis(30)).await.unwrap_err();
    assert_eq!(error.code(), "wait_timeout");
    let waiting = tokio::spawn({
        let htm = htm.clone();
        async move { htm.wait_for(node, Stage::Embed, Duration::from_secs(30)).await }
    });
    drain(&db, Stage::Embed).await;
    let status = waiting.await.unwrap().unwrap();
    assert_eq!(status.stage(Stage::Embed).name(), "done");
    assert_eq!(status.stage(Stage::Tag).name(), "pending");
}

#[tokio::test]
async fn a_model_that_is_not_complete_is_not_asked() {
    use htm_core::provider::Embedder;
    let db = TestDatabase::new().await;
    let settings = filled(&db).await.settings().clone();
    let fresh = htm_providers::fake::FakeEmbedder::new(htm_providers::fake::FakeSettings {
        model: "newer".into(),
        ..Default::default()
    })
    .unwrap();
    htm_core::worker::embeddings::register_model(&db.pool, fresh.model(), 64).await.unwrap();
    // A program that has the old model's embedder goes on as before.
    let recalled = db.htm().recall(&RecallQuery::new("database migration")).await.unwrap();
    assert_eq!((&recalled.models[..], recalled.unembedded), (&["fake/bag-of-words".to_owned()][..], 0));
    // One that has only the new one's answers by text, and says what to do.
    let htm = Htm::with_pool(db.pool.clone(), settings, Some(std::sync::Arc::new(fresh)));
    for strategy in [Strategy::Vector, Strategy::Hybrid] {
        let recalled = htm.recall(&RecallQuery::new("database migration").strategy(strategy)).await.unwrap();
        assert_eq!((recalled.models.len(), recalled.hits[0].matched_by), (0, MatchedBy::Text));
        let degraded = &recalled.degraded[0];
        assert_eq!((degraded.step, degraded.code), (Step::Vector, "embedder_other"));
        assert!(degraded.reason.contains("fake/bag-of-words") && degraded.hint.contains("Models::activate"));
    }
}

#[tokio::test]
async fn metadata_filters_every_strategy_and_the_timeline() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let nodes = htm
        .remember_many(&[
            Memory::new("database one")
                .metadata("ticket", 7)
                .metadata("who", serde_json::json!({"team": "a", "on": true})),
            Memory::new("database two").metadata("ticket", "7"),
            Memory::new("database three").metadata("who", serde_json::json!({"team": "b"})),
            Memory::new("database four"),
        ])
        .await
        .unwrap();
    let nodes: Vec<_> = nodes.into_iter().map(|receipt| receipt.unwrap().node).collect();
    drain(&db, Stage::Embed).await;
    for strategy in Strategy::ALL {
        let found = async |query: RecallQuery| {
            let recalled = htm.recall(&query.strategy(strategy)).await.unwrap();
            let mut found: Vec<_> = recalled.hits.iter().map(|hit| hit.node.id).collect();
            found.sort_unstable();
            found
        };
        let query = RecallQuery::new("database");
        let with = |name: &str, value: serde_json::Value| {
            query.clone().filter(Filter::default().metadata(name, value))
        };
        assert_eq!(found(query.clone()).await.len(), 4, "{strategy}");
        assert_eq!(found(with("ticket", 7.into())).await, [nodes[0]], "{strategy}");
        let team = serde_json::json!({"team": "b"});
        assert_eq!(found(with("who", team)).await, [nodes[2]], "{strategy}");
        let mut both = with("ticket", 7.into());
        both.filter.metadata.insert("who".into(), "a".into());
        assert!(found(both).await.is_empty(), "{strategy}");
    }
    let timeline = TimelineQuery::everything().filter(Filter::default().metadata("ticket", "7"));
    let shown = htm.conversation_timeline(&timeline).await.unwrap();
    assert_eq!(shown.entries.iter().map(|entry| entry.node.id).collect::<Vec<_>>(), [nodes[1]]);
    let nul = RecallQuery::new("database").filter(Filter::default().metadata("a", "\0"));
    assert_eq!(htm.recall(&nul).await.unwrap_err().code(), "nul_byte");
}

#[tokio::test]
async fn an_answer_has_a_limit_of_bytes() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let of = |namespace: &str| {
        let reports = (0..40).map(|day| Memory::new(format!("A long report of day {day}")));
        reports.map(|report| report.namespace(namespace)).collect::<Vec<_>>()
    };
    htm.remember_many(&[of("home"), of("work")].concat()).await.unwrap();
    let long = "update htm.nodes set content = content || ' ' || repeat('x', 1048000)";
    sqlx::query(long).execute(&db.pool).await.unwrap();
    let both = Filter::default().namespace("home").namespace("work");
    let query = RecallQuery::new("a long report").strategy(Strategy::Fulltext).filter(both.clone());
    let error = htm.recall(&query.clone().limit(80)).await.unwrap_err();
    let told = (error.code(), error.to_string());
    assert_eq!(told, ("answer_too_large", "the memories of the answer have more than 64 MiB".into()));
    assert_eq!(htm.recall(&query.limit(50)).await.unwrap().hits.len(), 50);

    // Each namespace is read by itself.
    assert_eq!(htm.latest(&both, 80).await.unwrap_err().code(), "answer_too_large");
    assert_eq!(htm.latest(&Filter::default().namespace("home"), 80).await.unwrap().len(), 40);
}

#[tokio::test]
async fn a_query_that_is_a_time_and_no_more_finds_what_is_of_it() {
    let db = TestDatabase::new().await;
    let htm = filled(&db).await;
    let auto = RecallQuery::new("on 10 March 2026").timeframe(TimeFilter::Auto);
    let recalled = htm.recall(&auto).await.unwrap();
    assert_eq!(keys(&recalled), ["backup"]);
    assert_eq!(recalled.hits[0].matched_by, MatchedBy::Time);
    assert_eq!(recalled.time_phrase.as_ref().unwrap().phrase, "on 10 March 2026");
    assert_eq!(recalled.facets.len(), 1);
    // Its filters hold.
    let mut owls = RecallQuery { text: "March 2026".into(), ..auto.clone() };
    owls.filter.robots = vec!["owl".into()];
    assert_eq!(keys(&htm.recall(&owls).await.unwrap()), ["pg"]);
    let none = RecallQuery { limit: 0, ..auto };
    assert_eq!(htm.recall(&none).await.unwrap_err().code(), "limit_out_of_range");
}

#[tokio::test]
async fn hits_are_ordered_by_what_weighs() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let now = chrono::Utc::now();
    let day = |days: i64| now - chrono::Duration::days(days);
    for memory in [
        Memory::new("database database migration").key("near").at(day(400)),
        Memory::new("the database of birds, of beasts and of all other things").key("new").at(day(0)),
        Memory::new("a database, for all of the children of the village")
            .key("dear")
            .importance(10.0)
            .at(day(300)),
    ] {
        htm.remember(memory).await.unwrap();
    }
    drain(&db, Stage::Embed).await;
    let base = RecallQuery::new("database migration");
    let first = async |words: &str| {
        let recalled = htm.recall(&base.clone().order_by(words.parse().unwrap())).await.unwrap();
        let relevance: Vec<f64> = recalled.hits.iter().map(|hit| hit.scores.relevance.unwrap()).collect();
        assert!(relevance.is_sorted_by(|a, b| a >= b) && relevance[0] <= 1.0, "{words}: {relevance:?}");
        recalled.hits[0].node.key.clone().unwrap()
    };
    assert_eq!(first("similarity").await, "near");
    assert_eq!(first("text").await, "near");
    assert_eq!(first("recency").await, "new");
    assert_eq!(first("importance").await, "dear");
    assert_eq!(first("importance=0.6, recency=0.4").await, "dear");
    assert_eq!(htm.recall(&base).await.unwrap().hits[0].scores.relevance, None);
    let wrong = RelevanceWeights { text: 0.4, ..RelevanceWeights::NONE };
    assert_eq!(htm.recall(&base.order_by(wrong)).await.unwrap_err().code(), "relevance_weights_invalid");
}

#[tokio::test]
async fn accesses_are_counted_behind_the_recalls() {
    let db = TestDatabase::new().await;
    let htm = filled(&db).await;
    let query = RecallQuery::new("birds").namespace("home").strategy(Strategy::Fulltext);
    let updated = "select sum(n_tup_upd + n_tup_del)::bigint from pg_stat_user_tables where relid = 'htm.nodes'::regclass";
    let before = db.count(updated).await;
    for _ in 0..3 {
        assert_eq!(htm.recall(&query).await.unwrap().hits.len(), 1);
    }
    let unseen = RecallQuery { count_accesses: false, ..query.clone() };
    wait_until(|| async {
        db.count("select coalesce(sum(access_count), 0)::bigint from htm.node_accesses").await == 3
    })
    .await;
    let hit = htm.recall(&unseen).await.unwrap().hits.remove(0);
    assert_eq!(hit.access_count, 3);
    assert!(hit.last_accessed.is_some());
    assert_eq!(db.count(updated).await, before, "no row of a node is written");
    // Of another process; what is recalled last is written when it closes.
    let other = db.htm();
    other.recall(&query).await.unwrap();
    let pool = sqlx::PgPool::connect_with(db.options()).await.unwrap();
    let other_pool = htm_core::Htm::with_pool(pool, other.settings().clone(), None);
    other_pool.recall(&query).await.unwrap();
    other_pool.close().await;
    wait_until(|| async { htm.recall(&unseen).await.unwrap().hits[0].access_count == 5 }).await;
    // A node that goes takes its count along; one that is gone already holds nothing up.
    htm.recall(&query).await.unwrap();
    sqlx::raw_sql("delete from htm.nodes where namespace = 'home'").execute(&db.pool).await.unwrap();
    assert_eq!(db.count("select count(*) from htm.node_accesses").await, 0);
    let elsewhere = RecallQuery::new("picnic").strategy(Strategy::Fulltext);
    htm.recall(&elsewhere).await.unwrap();
    wait_until(|| async { db.count("select count(*) from htm.node_accesses").await == 1 }).await;
}

#[tokio::test]
async fn the_cache_of_query_embeddings_counts() {
    let db = TestDatabase::new().await;
    let htm = filled(&db).await;
    for text in ["database", "database", "birds", "database"] {
        htm.recall(&RecallQuery::new(text)).await.unwrap();
    }
    htm.recall(&RecallQuery::new("words").strategy(Strategy::Fulltext)).await.unwrap();
    let cache = htm.query_cache().unwrap();
    assert_eq!((cache.hits, cache.misses, cache.max_entries), (2, 2, 10_000));
}
