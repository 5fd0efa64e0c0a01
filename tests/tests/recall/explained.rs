//! What an answer says of itself: the chosen strategy, thresholds, snippets, explanations.

use htm_core::{
    ChosenFor, Filter, Fusion, Htm, Leg, MatchedBy, Memory, RecallQuery, RelevanceWeights, Settings, Stage,
    Strategy, TagFilter,
};
use htm_tests::{TestDatabase, drain};

/// A conversation, and texts of their own.
async fn filled(db: &TestDatabase) -> Htm {
    let htm = db.htm();
    for (n, content) in [
        "Good morning, Bob",
        "The zeppelin of PostgreSQL 17.2 is late",
        "Nobody told me of the zeppelin",
        "The night watch saw a zeppelin <b>& fled</b>",
        "Bread for the picnic",
    ]
    .iter()
    .enumerate()
    {
        let at = format!("2026-03-0{}T12:00:00Z", n + 1).parse().unwrap();
        let mut memory = Memory::new(*content).key(n.to_string()).at(at);
        if n < 3 {
            (memory.session, memory.seq) = (Some("talk".into()), Some(n as i32));
            memory.speaker = Some("Bob".into());
        }
        htm.remember(memory).await.unwrap();
    }
    drain(db, Stage::Embed).await;
    htm
}

fn with(db: &TestDatabase, change: impl FnOnce(&mut Settings)) -> Htm {
    let mut settings = db.htm().settings().clone();
    change(&mut settings);
    let embedder = htm_providers::fake::embedder(Default::default()).unwrap();
    Htm::with_pool(db.pool.clone(), settings, Some(embedder))
}

const QUERIES: [&str; 6] = [
    "what did Bob say of the zeppelin in March 2026?",
    "PostgreSQL 17.2",
    "zepp* \"night watch\"",
    "who saw the \"night watch\"?",
    "zeppelin -bread",
    "xylophone",
];

/// The number that a hit is ordered by.
fn sum(hit: &htm_core::Hit) -> f64 {
    hit.explanation.as_ref().unwrap().sum()
}

#[tokio::test]
async fn scores_are_in_proportion_to_the_sum_of_the_parts() {
    let db = TestDatabase::new().await;
    filled(&db).await;
    let mut seen = std::collections::BTreeSet::new();
    for fusion in [Fusion::Convex, Fusion::Rrf] {
        let htm = with(&db, |settings| settings.recall.fusion = fusion);
        for strategy in Strategy::ALL.into_iter().chain([Strategy::Auto]) {
            for text in QUERIES {
                let query = RecallQuery { explain: true, ..RecallQuery::new(text).strategy(strategy) };
                let recalled = htm.recall(&query).await.unwrap();
                let best = recalled.hits.first().map(|hit| (hit.scores.score, sum(hit)));
                for hit in &recalled.hits {
                    let explanation = hit.explanation.as_ref().unwrap();
                    let (best_score, best_sum) = best.unwrap();
                    let score = (best_score * sum(hit) / best_sum).clamp(0.0, 1.0);
                    assert!(
                        (hit.scores.score - score).abs() < 1e-9,
                        "{strategy} {text}: {explanation:?} is {score}, not {}",
                        hit.scores.score
                    );
                    seen.extend(explanation.parts.iter().map(|part| part.name.to_string()));
                    if let Some(share) = hit.scores.text_share {
                        assert!((0.0..=1.0).contains(&share), "{share}");
                    }
                }
                let plain = htm.recall(&RecallQuery { explain: false, ..query }).await.unwrap();
                assert!(plain.hits.iter().all(|hit| hit.explanation.is_none()));
                let ids = |recalled: &htm_core::Recalled| {
                    recalled.hits.iter().map(|hit| hit.node.id).collect::<Vec<_>>()
                };
                assert_eq!(ids(&plain), ids(&recalled));
            }
        }
    }
    let all = ["exact", "neighbours", "speaker", "time", "together", "vector", "words"];
    assert_eq!(Vec::from_iter(seen), all, "each part is met");
}

#[tokio::test]
async fn the_parts_are_of_what_orders_the_hits() {
    let db = TestDatabase::new().await;
    let expander = std::sync::Arc::new(htm_providers::fake::FakeExpander::default());
    let htm = filled(&db).await.with_expander(expander);
    let explained = || RecallQuery { explain: true, ..RecallQuery::new("the zeppelin of Bob") };
    let by_age: RelevanceWeights = "recency=0.9,similarity=0.1".parse().unwrap();
    let boosted = explained().boost(TagFilter::Prefix("travel".parse().unwrap()));
    for (query, names) in [
        (RecallQuery { order_by: Some(by_age), ..explained() }, &["similarity", "recency"][..]),
        (boosted, &["similarity", "tags", "recency", "access"]),
        (RecallQuery { expand: true, ..explained() }, &["query", "phrasing"]),
    ] {
        let recalled = htm.recall(&query).await.unwrap();
        let sums: Vec<f64> = recalled.hits.iter().map(sum).collect();
        assert!(sums.len() > 1 && sums.is_sorted_by(|a, b| a >= b), "{names:?}: {sums:?}");
        for hit in &recalled.hits {
            let parts = &hit.explanation.as_ref().unwrap().parts;
            let is_named = |name: &str| names.contains(&name.split(' ').next().unwrap());
            assert!(parts.iter().all(|part| is_named(&part.name)), "{names:?}: {parts:?}");
            let relevance = hit.scores.relevance.unwrap_or(sum(hit));
            assert!((relevance - sum(hit)).abs() < 1e-9, "{names:?}: {parts:?}");
        }
    }
}

#[tokio::test]
async fn an_answer_says_which_legs_ran() {
    let db = TestDatabase::new().await;
    filled(&db).await;
    let memories: Vec<Memory> =
        (0..3_000).map(|n| Memory::new(format!("note {n} about subject {}", n % 700))).collect();
    db.htm().remember_many(&memories).await.unwrap();
    db.htm().remember(Memory::new("birds in the garden").namespace("home")).await.unwrap();
    drain(&db, Stage::Embed).await;
    sqlx::query("analyze").execute(&db.pool).await.unwrap();
    for (exact_scope, vectors) in [(10_000, Leg::Exact), (10, Leg::Index)] {
        let htm = with(&db, |settings| settings.recall.exact_scope = exact_scope);
        for (strategy, legs) in [
            (Strategy::Hybrid, &[vectors, Leg::Text][..]),
            (Strategy::Vector, &[vectors]),
            (Strategy::Fulltext, &[Leg::Text]),
        ] {
            let query = RecallQuery::new("zeppelin 17").strategy(strategy);
            assert_eq!(htm.recall(&query).await.unwrap().legs, legs);
            // A small namespace beside a large one, and what a filter leaves.
            let small = RecallQuery { text: "garden".into(), ..query.clone() }.namespace("home");
            let recalled = htm.recall(&small).await.unwrap();
            assert_eq!(recalled.hits[0].node.content, "birds in the garden");
            assert_eq!(recalled.legs.contains(&Leg::Exact), strategy != Strategy::Fulltext);
            let narrow = query.filter(Filter::default().session("talk"));
            let recalled = htm.recall(&narrow).await.unwrap();
            assert!(recalled.hits.iter().all(|hit| hit.node.session.as_deref() == Some("talk")));
            assert_eq!(recalled.legs.contains(&Leg::Narrow), strategy != Strategy::Fulltext);
        }
    }
}

#[tokio::test]
async fn a_threshold_bounds_what_vectors_bring() {
    let db = TestDatabase::new().await;
    let htm = filled(&db).await;
    let query = |least: f64| RecallQuery::new("zeppelin bread").min_similarity(least);
    let all = htm.recall(&query(0.0).strategy(Strategy::Vector)).await.unwrap();
    let some = htm.recall(&query(0.3).strategy(Strategy::Vector)).await.unwrap();
    assert!(!some.hits.is_empty() && some.hits.len() < all.hits.len());
    assert!(some.hits.iter().all(|hit| hit.scores.similarity.unwrap() >= 0.3));
    assert!(htm.recall(&query(1.0).strategy(Strategy::Vector)).await.unwrap().hits.is_empty());
    // What the words bring stays.
    let hybrid = htm.recall(&query(1.0)).await.unwrap();
    assert!(hybrid.hits.iter().any(|hit| hit.scores.text_rank.is_some()));
    assert!(hybrid.hits.iter().all(|hit| hit.scores.vector_rank.is_none()));
    // Nor do they bring turns that are neither near nor raised by the turns beside them.
    assert!(hybrid.hits.iter().all(|hit| hit.matched_by != MatchedBy::Neighbour || hit.scores.score > 0.0));
    // The handle's, unless the query has its own.
    let strict = with(&db, |settings| settings.recall.min_similarity = Some(1.0));
    let plain = RecallQuery::new("zeppelin bread").strategy(Strategy::Vector);
    assert!(strict.recall(&plain).await.unwrap().hits.is_empty());
    assert_eq!(strict.recall(&plain.min_similarity(0.0)).await.unwrap().hits.len(), all.hits.len());
    for least in [-0.1, 1.1, f64::NAN] {
        let error = htm.recall(&query(least)).await.unwrap_err();
        assert_eq!(error.code(), "min_similarity_out_of_range");
        assert!(error.hint().contains("0 to 1"));
    }
}

#[tokio::test]
async fn a_memory_with_the_words_is_first_before_it_is_embedded() {
    let db = TestDatabase::new().await;
    let htm = filled(&db).await;
    htm.remember(Memory::new("The chimney sweep smuggled pomegranates").key("new")).await.unwrap();
    let recalled = htm.recall(&RecallQuery::new("who smuggled the pomegranates?")).await.unwrap();
    let (first, others) = recalled.hits.split_first().unwrap();
    assert_eq!((first.node.key.as_deref(), first.matched_by), (Some("new"), MatchedBy::Text));
    let is_far = |hit: &htm_core::Hit| hit.scores.score < 0.8 * first.scores.score;
    assert!(!others.is_empty() && others.iter().all(is_far), "{first:?}: {others:?}");
}

#[tokio::test]
async fn the_text_score_is_comparable_between_queries() {
    let db = TestDatabase::new().await;
    let htm = filled(&db).await;
    let share = |text: &'static str| {
        let htm = htm.clone();
        async move {
            let recalled = htm.recall(&RecallQuery::new(text).strategy(Strategy::Fulltext)).await.unwrap();
            recalled.hits[0].scores.text_share.unwrap()
        }
    };
    // All of the query, or one word of four of it.
    let (whole, part) = (share("bread picnic").await, share("bread castle garden submarine").await);
    assert!(whole > 0.3 && part > 0.0 && whole <= 1.0, "{whole} {part}");
    let vectors = htm.recall(&RecallQuery::new("bread").strategy(Strategy::Vector)).await.unwrap();
    assert_eq!(vectors.hits[0].scores.text_share, None);
}

#[tokio::test]
async fn snippets_mark_the_best_passage() {
    let db = TestDatabase::new().await;
    let htm = filled(&db).await;
    let filler = |from: usize| (from..from + 300).map(|n| format!("filler{n} ")).collect::<String>();
    let long = format!("{}the submarine dives to the wreck {}", filler(0), filler(400));
    htm.remember(Memory::new(long).key("long")).await.unwrap();
    let ask =
        |text: &str, strategy| RecallQuery { snippets: true, ..RecallQuery::new(text).strategy(strategy) };
    let snippets = async |text: &str, strategy| {
        let recalled = htm.recall(&ask(text, strategy)).await.unwrap();
        recalled.hits.into_iter().map(|hit| (hit.node.key.unwrap(), hit.snippet.unwrap())).collect::<Vec<_>>()
    };
    let found = snippets("diving submarines", Strategy::Fulltext).await;
    let (key, snippet) = &found[0];
    assert_eq!(key, "long");
    assert!(snippet.html().contains("<mark>submarine</mark> <mark>dives</mark> to the wreck"), "{snippet:?}");
    assert!(snippet.text.chars().count() <= 600);
    // What is stored is no HTML.
    let found = snippets("\"night watch\"", Strategy::Hybrid).await;
    assert!(found[0].1.html().contains("<mark>night</mark> <mark>watch</mark>"), "{:?}", found[0]);
    assert!(found[0].1.html().contains("&amp;") && !found[0].1.html().contains("<b>"), "{:?}", found[0]);
    // Each hit has one, whatever brought it.
    let recalled = htm.recall(&ask("zeppelin", Strategy::Vector)).await.unwrap();
    assert!(recalled.hits.iter().all(|hit| hit.snippet.is_some()));
    let plain = htm.recall(&RecallQuery::new("zeppelin")).await.unwrap();
    assert!(plain.hits.iter().all(|hit| hit.snippet.is_none()));
}

#[tokio::test]
async fn auto_says_what_it_chose() {
    let db = TestDatabase::new().await;
    let htm = filled(&db).await;
    for (text, strategy, reason) in [
        ("PostgreSQL 17.2", Strategy::Fulltext, ChosenFor::ExactTerms),
        ("\"night watch\"", Strategy::Fulltext, ChosenFor::Phrase),
        ("zepp*", Strategy::Fulltext, ChosenFor::Prefix),
        ("who saw the zeppelin?", Strategy::Hybrid, ChosenFor::Question),
        ("zeppelin late", Strategy::Hybrid, ChosenFor::Words),
    ] {
        let auto = htm.recall(&RecallQuery::new(text).strategy(Strategy::Auto)).await.unwrap();
        let chosen = auto.chosen.as_ref().unwrap();
        assert_eq!(
            (auto.strategy, chosen.strategy, chosen.reason),
            (Strategy::Auto, strategy, reason),
            "{text}"
        );
        let direct = htm.recall(&RecallQuery::new(text).strategy(strategy)).await.unwrap();
        let ids =
            |recalled: &htm_core::Recalled| recalled.hits.iter().map(|hit| hit.node.id).collect::<Vec<_>>();
        assert_eq!(ids(&auto), ids(&direct), "{text}");
        assert_eq!((direct.chosen, auto.unembedded), (None, 0));
    }
    // Full text finds no part of a term.
    let auto = htm.recall(&RecallQuery::new("PICN-17").strategy(Strategy::Auto)).await.unwrap();
    let chosen = auto.chosen.unwrap();
    assert_eq!((chosen.strategy, chosen.reason), (Strategy::Hybrid, ChosenFor::ExactTerms));
    assert_eq!((auto.strategy, auto.hits.is_empty()), (Strategy::Auto, false));
    // Without an embedder auto answers by text and says so.
    let without = Htm::with_pool(db.pool.clone(), htm.settings().clone(), None);
    let recalled = without.recall(&RecallQuery::new("zeppelin").strategy(Strategy::Auto)).await.unwrap();
    assert_eq!((recalled.degraded[0].code, recalled.hits.is_empty()), ("embedder_missing", false));
    assert_eq!("auto".parse::<Strategy>().unwrap(), Strategy::Auto);
}
