//! One recall over several namespaces and robots.

use htm_core::worker::statistics;
use htm_core::{Hit, Htm, Memory, RecallQuery, Stage, Strategy, TagFilter, TimelineQuery};
use htm_tests::{TestDatabase, drain};

const TEXTS: [&str; 12] = [
    "The database migration to PostgreSQL 17.2 failed at night",
    "The database backup runs every evening",
    "Bananas and bread for the picnic",
    "A zeppelin over the castle",
    "Database of birds seen in the garden",
    "Mara wants bread for the picnic in the garden",
    "The night watch saw nothing",
    "A migration of birds over the castle at night",
    "PostgreSQL keeps the database of the castle",
    "The evening was quiet",
    "Bread, butter and bananas",
    "The watch was sold at the castle",
];

/// The same texts in one namespace, and by turns in two others; the two have conversations of their own.
async fn filled(db: &TestDatabase) -> Htm {
    let htm = db.htm();
    for (n, text) in TEXTS.iter().enumerate() {
        let part = if n % 2 == 0 { "left" } else { "right" };
        let at = format!("2026-03-{:02}T12:00:00Z", n + 1).parse().unwrap();
        let mut memory = Memory::new(*text).key(n.to_string()).at(at);
        memory.robot = Some(["owl", "lark", "wren"][n % 3].into());
        (memory.session, memory.seq) = (Some(part.into()), Some(n as i32));
        memory.tags.push(if n < 6 { "early" } else { "late" }.parse().unwrap());
        htm.remember(Memory { namespace: Some("whole".into()), ..memory.clone() }).await.unwrap();
        htm.remember(Memory { namespace: Some(part.into()), ..memory }).await.unwrap();
    }
    drain(db, Stage::Embed).await;
    htm
}

fn scored(hits: &[Hit]) -> Vec<(String, String)> {
    let scored = |hit: &Hit| (hit.node.key.clone().unwrap(), format!("{:.6}", hit.scores.score));
    let mut scored: Vec<_> = hits.iter().map(scored).collect();
    // Of equal scores the newer node comes first, which differs.
    scored.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    scored
}

fn within(namespace: &str, query: &RecallQuery) -> RecallQuery {
    let mut query = query.clone();
    query.filter.namespaces = vec![namespace.into()];
    query
}

fn either() -> [RecallQuery; 2] {
    let query = |text: &str| RecallQuery::new(text).namespace("left");
    // A name that is there twice counts once.
    [
        query("what about the database of the castle at night?").namespace("right").namespace("left"),
        query("databsae bread -zeppelin").namespace("right"),
    ]
}

#[tokio::test]
async fn two_namespaces_answer_as_one_that_has_the_memories_of_both() {
    let db = TestDatabase::new().await;
    let htm = filled(&db).await;
    for round in ["without statistics", "one has statistics", "with statistics"] {
        match round {
            "one has statistics" => statistics::refresh(&db.pool, "left").await.unwrap(),
            "with statistics" => {
                statistics::refresh(&db.pool, "right").await.unwrap();
                statistics::refresh(&db.pool, "whole").await.unwrap();
            }
            _ => {}
        }
        for query in either() {
            for strategy in Strategy::ALL {
                let several = query.clone().strategy(strategy);
                let one = within("whole", &several);
                let (several, one) = (htm.recall(&several).await.unwrap(), htm.recall(&one).await.unwrap());
                assert!(!one.hits.is_empty());
                assert_eq!(scored(&several.hits), scored(&one.hits), "{round} {strategy}");
                assert_eq!(several.corrected, one.corrected, "{round} {strategy}");
            }
        }
    }
}

#[tokio::test]
async fn filters_hold_in_each_of_the_namespaces() {
    let db = TestDatabase::new().await;
    let htm = filled(&db).await;
    let early = TagFilter::Exact("early".parse().unwrap());
    for strategy in Strategy::ALL {
        for query in either() {
            let mut query = query.strategy(strategy).tag(early.clone()).boost(early.clone());
            query.filter.robots = vec!["owl".into(), "wren".into()];
            let one = within("whole", &query);
            let (several, one) = (htm.recall(&query).await.unwrap(), htm.recall(&one).await.unwrap());
            assert_eq!(scored(&several.hits), scored(&one.hits), "{strategy}");
            assert!(!one.hits.is_empty(), "{strategy}");
            for hit in &several.hits {
                assert!(["owl", "wren"].contains(&&*hit.node.robot) && hit.node.namespace != "whole");
                assert_eq!(hit.node.tags, ["early".parse().unwrap()]);
            }
        }
    }
}

#[tokio::test]
async fn a_timeline_has_the_memories_of_all_in_the_order_of_time() {
    let db = TestDatabase::new().await;
    let htm = filled(&db).await;
    let keys = async |query: TimelineQuery| {
        let timeline = htm.conversation_timeline(&query).await.unwrap();
        timeline.entries.into_iter().map(|entry| entry.node.key.unwrap()).collect::<Vec<_>>()
    };
    let both = || TimelineQuery::everything().namespace("right").namespace("left");
    assert_eq!(keys(both().limit(5)).await, ["7", "8", "9", "10", "11"]);
    let mut birds = both().limit(3);
    birds.filter.robots = vec!["lark".into(), "wren".into()];
    assert_eq!(keys(birds).await, ["8", "10", "11"]);
    let topic = TimelineQuery { strategy: Strategy::Fulltext, ..TimelineQuery::about("picnic") };
    assert_eq!(keys(topic.namespace("left").namespace("right")).await, ["2", "5"]);
}
