//! Reading as of an earlier time: the texts, the memories and the relations that there were.

#[path = "as_of/indexes.rs"]
mod indexes;

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use htm_core::{
    Caller, Confirmation, Edit, Filter, Htm, Memory, NodeId, RecallQuery, RelationKind, Stage, Strategy,
    TimelineQuery,
};
use htm_tests::measure::Random;
use htm_tests::{TestDatabase, drain, wait_until};

async fn clock(db: &TestDatabase) -> DateTime<Utc> {
    sqlx::query_scalar("select clock_timestamp()").fetch_one(&db.pool).await.unwrap()
}

async fn found(htm: &Htm, text: &str, strategy: Strategy, at: DateTime<Utc>) -> Vec<(NodeId, String)> {
    let query = RecallQuery::new(text).strategy(strategy).limit(1_000).as_of(at);
    let recalled = htm.recall(&query).await.unwrap();
    recalled.hits.into_iter().map(|hit| (hit.node.id, hit.node.content)).collect()
}

#[tokio::test]
async fn a_recall_answers_as_the_memory_stood() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let before = clock(&db).await;
    let kept = htm.remember(Memory::new("the kettle is in the kitchen")).await.unwrap().node;
    let edited = htm.remember(Memory::new("the kettle is red and loud")).await.unwrap().node;
    let gone = htm.remember(Memory::new("the kettle was a gift")).await.unwrap().node;
    drain(&db, Stage::Embed).await;
    let then = clock(&db).await;
    htm.edit(edited, &Edit::new().content("the teapot is blue")).await.unwrap();
    htm.forget(gone, &Caller::Handle, Confirmation::Confirmed).await.unwrap();
    drain(&db, Stage::Embed).await;
    let forgotten = clock(&db).await;
    htm.restore(gone, &Caller::Handle).await.unwrap();
    htm.remember(Memory::new("a new kettle")).await.unwrap();
    drain(&db, Stage::Embed).await;

    for strategy in [Strategy::Fulltext, Strategy::Hybrid] {
        assert_eq!(found(&htm, "kettle", strategy, before).await, []);
        let mut stood = found(&htm, "kettle", strategy, then).await;
        stood.sort();
        let texts = ["the kettle is in the kitchen", "the kettle is red and loud", "the kettle was a gift"];
        assert_eq!(stood, [kept, edited, gone].into_iter().zip(texts.map(String::from)).collect::<Vec<_>>());
        let stood = found(&htm, "kettle kitchen", strategy, forgotten).await;
        assert_eq!(stood[0].0, kept);
        assert!(stood.iter().all(|(node, _)| *node != gone), "it was forgotten then");
    }
    // Vectors are of current texts: they find what is unchanged.
    let near = found(&htm, "the kettle is red and loud", Strategy::Vector, then).await;
    let near: Vec<NodeId> = near.into_iter().map(|it| it.0).collect();
    assert!(near.contains(&kept) && !near.contains(&edited), "{near:?}");

    let before_all = "-9000-01-01T00:00:00Z".parse().unwrap();
    let refused = htm.recall(&RecallQuery::new("kettle").as_of(before_all)).await.unwrap_err();
    assert_eq!(refused.code(), "time_out_of_range");
    let recalled = htm.recall(&RecallQuery::new("kettle").as_of(then)).await.unwrap();
    let as_of = recalled.as_of.unwrap();
    assert_eq!((as_of.at, as_of.former_texts), (then, 1));
    assert!(
        as_of.warning.contains("purged or erased") && as_of.warning.contains("1 memory"),
        "{}",
        as_of.warning
    );
    assert!(!as_of.warning.contains("neighbours"), "{}", as_of.warning);
    let beside = RecallQuery { neighbours: 1, ..RecallQuery::new("kettle") }.as_of(then);
    let warning = htm.recall(&beside).await.unwrap().as_of.unwrap().warning;
    assert!(warning.ends_with("; the neighbours of hits are not shown"), "{warning}");
    let of_edited = recalled.hits.iter().find(|hit| hit.node.id == edited).unwrap();
    assert_eq!((of_edited.node.revision, of_edited.scores.similarity), (1, None));
    assert!(htm.recall(&RecallQuery::new("kettle")).await.unwrap().as_of.is_none());
    // It changes nothing, and counts nothing.
    htm.flush().await;
    assert_eq!(db.count("select count(*) from htm.node_accesses where access_count > 1").await, 0);

    let phrase = found(&htm, "\"red and loud\"", Strategy::Fulltext, then).await;
    assert_eq!(phrase, [(edited, "the kettle is red and loud".to_owned())]);
    // No current text has the word, and it is not taken for a misspelt one.
    assert_eq!(found(&htm, "loud", Strategy::Fulltext, then).await.len(), 1);
    assert_eq!(found(&htm, "kettle -gift", Strategy::Fulltext, then).await.len(), 2);
    let future = RecallQuery::new("kettle").as_of("2999-01-01T00:00:00Z".parse().unwrap());
    assert_eq!(htm.recall(&future).await.unwrap_err().code(), "time_in_future");
}

#[tokio::test]
async fn filters_and_words_of_time_are_as_of_then() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let node = htm.remember(Memory::new("apples in the cellar")).await.unwrap().node;
    let untagged = clock(&db).await;
    htm.edit(node, &Edit::new().tag("food:fruit".parse().unwrap())).await.unwrap();
    let tagged = clock(&db).await;
    htm.edit(node, &Edit::new().content("pears in the cellar")).await.unwrap();
    let by_tag = |at| {
        let tag = htm_core::TagFilter::Prefix("food".parse().unwrap());
        RecallQuery::new("apples").strategy(Strategy::Fulltext).tag(tag).as_of(at)
    };
    assert!(htm.recall(&by_tag(untagged)).await.unwrap().hits.is_empty());
    let recalled = htm.recall(&by_tag(tagged)).await.unwrap();
    assert_eq!((recalled.hits.len(), recalled.hits[0].node.tags.len()), (1, 1));
    // A preferred tag counts from when it was given.
    for (at, share) in [(untagged, 0.0), (tagged, 1.0)] {
        let preferred =
            RecallQuery { filter: Filter::default(), boost_tags: by_tag(at).filter.tags, ..by_tag(at) };
        let recalled = htm.recall(&preferred).await.unwrap();
        assert_eq!(recalled.hits[0].scores.tags, Some(share));
    }
    assert_eq!(found(&htm, "appl* cellar", Strategy::Fulltext, tagged).await.len(), 1);
    assert!(htm.get_as_of(node, untagged).await.unwrap().tags.is_empty());
    let tag = htm_core::TagFilter::Prefix("food".parse().unwrap());
    let timeline = |at| TimelineQuery { as_of: Some(at), ..TimelineQuery::everything().tag(tag.clone()) };
    assert!(htm.conversation_timeline(&timeline(untagged)).await.unwrap().entries.is_empty());
    let then = htm.conversation_timeline(&timeline(tagged)).await.unwrap();
    assert_eq!(then.entries[0].node.content, "apples in the cellar");
    assert!(then.as_of.is_some());
    // "Yesterday" was another day.
    let yesterday: htm_core::TimeExpression = "yesterday".parse().unwrap();
    let query = RecallQuery::new("apples").strategy(Strategy::Fulltext).timeframe(yesterday).as_of(tagged);
    let timeframe = htm.recall(&query).await.unwrap().timeframe;
    assert!(timeframe.until().unwrap() <= tagged);
    // A short-lived handle sees its own namespace alone.
    let other = htm.within(["other"]).unwrap();
    assert_eq!(other.get_as_of(node, tagged).await.unwrap_err().code(), "node_not_found");
}

/// A node in the model in memory.
#[derive(Clone, Debug, PartialEq)]
struct Stood {
    text: String,
    is_forgotten: bool,
    superseded_by: Vec<NodeId>,
}

type State = BTreeMap<NodeId, Stood>;

/// Does one thing at random, and the same in the model.
async fn act(htm: &Htm, random: &mut Random, state: &mut State, number: usize) {
    let nodes: Vec<NodeId> = state.keys().copied().collect();
    let live: Vec<NodeId> = nodes.iter().copied().filter(|node| !state[node].is_forgotten).collect();
    let text = format!("common word{number}");
    match random.below(6) {
        0 | 1 => {
            let node = htm.remember(Memory::new(&text)).await.unwrap().node;
            state.insert(node, Stood { text, is_forgotten: false, superseded_by: Vec::new() });
        }
        2 if !live.is_empty() => {
            let node = live[random.below(live.len())];
            htm.edit(node, &Edit::new().content(&text)).await.unwrap();
            state.get_mut(&node).unwrap().text = text;
        }
        3 if !live.is_empty() => {
            let node = live[random.below(live.len())];
            htm.forget(node, &Caller::Handle, Confirmation::Confirmed).await.unwrap();
            state.get_mut(&node).unwrap().is_forgotten = true;
        }
        4 => {
            if let Some(node) = nodes.iter().find(|node| state[node].is_forgotten) {
                htm.restore(*node, &Caller::Handle).await.unwrap();
                state.get_mut(node).unwrap().is_forgotten = false;
            }
        }
        _ if live.len() > 1 => {
            // A later node supersedes an earlier one, so that there is no circle.
            let older = random.below(live.len() - 1);
            let (old, new) = (live[older], live[older + 1 + random.below(live.len() - older - 1)]);
            htm.relate(new, RelationKind::Supersedes, old, None, &Caller::Handle).await.unwrap();
            let by = &mut state.get_mut(&old).unwrap().superseded_by;
            if !by.contains(&new) {
                by.insert(0, new);
            }
        }
        _ => {}
    }
}

#[tokio::test]
async fn random_histories_are_read_as_they_were() {
    for seed in 1..=3 {
        let db = TestDatabase::new().await;
        let htm = db.htm();
        let (mut random, mut state) = (Random(seed), State::new());
        let mut history = Vec::new();
        for number in 0..24 {
            act(&htm, &mut random, &mut state, number).await;
            history.push((clock(&db).await, state.clone()));
        }
        drain(&db, Stage::Embed).await;
        let last = state;
        for (step, (at, stood)) in history.iter().enumerate() {
            let context = format!("seed {seed}, step {step}");
            let live: BTreeMap<NodeId, String> = stood
                .iter()
                .filter(|(_, it)| !it.is_forgotten)
                .map(|(node, it)| (*node, it.text.clone()))
                .collect();
            for node in last.keys() {
                match (htm.get_as_of(*node, *at).await, live.get(node)) {
                    (Ok(found), Some(text)) => {
                        assert_eq!(&found.content, text, "{context}");
                        let by: Vec<NodeId> = found.superseded_by.iter().map(|it| it.node).collect();
                        let was = stood[node].superseded_by.iter().filter(|it| live.contains_key(it));
                        assert_eq!(by, was.copied().collect::<Vec<_>>(), "{context}");
                    }
                    (Err(error), None) => assert_eq!(error.code(), "node_not_found", "{context}"),
                    (found, expected) => panic!("{context}: {found:?} instead of {expected:?}"),
                }
            }
            for strategy in [Strategy::Fulltext, Strategy::Hybrid] {
                let all: BTreeMap<NodeId, String> =
                    found(&htm, "common", strategy, *at).await.into_iter().collect();
                assert_eq!(all, live, "{context}, {strategy}");
            }
            let query = TimelineQuery { as_of: Some(*at), ..TimelineQuery::everything().limit(1_000) };
            let timeline = htm.conversation_timeline(&query).await.unwrap();
            let all: BTreeMap<NodeId, String> =
                timeline.entries.into_iter().map(|it| (it.node.id, it.node.content)).collect();
            assert_eq!(all, live, "{context}");
            if let Some((node, text)) = live.iter().next() {
                let word = text.split(' ').nth(1).unwrap();
                let one = found(&htm, word, Strategy::Fulltext, *at).await;
                assert_eq!(one, [(*node, text.clone())], "{context}");
            }
            let rewritten = live.iter().filter(|(node, text)| last[node].text != **text).count();
            let recalled = htm.recall(&RecallQuery::new("common").as_of(*at)).await.unwrap();
            assert_eq!(recalled.as_of.unwrap().former_texts, rewritten as i64, "{context}");
        }
    }
}

/// An earlier time would show a memory as forgotten that was edited after it.
#[tokio::test]
async fn a_memory_is_forgotten_when_it_was_and_not_when_the_wait_for_it_began() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let node = htm.remember(Memory::new("one")).await.unwrap().node;
    let mut edit = db.pool.begin().await.unwrap();
    sqlx::query("select from htm.nodes for update").execute(&mut *edit).await.unwrap();
    let forgetting =
        tokio::spawn(async move { htm.forget(node, &Caller::AnyRobot, Confirmation::Confirmed).await });
    let waiting = "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
    wait_until(|| async { db.count(waiting).await == 1 }).await;
    sqlx::query("update htm.nodes set updated_at = clock_timestamp()").execute(&mut *edit).await.unwrap();
    edit.commit().await.unwrap();
    forgetting.await.unwrap().unwrap();
    assert_eq!(db.count("select count(*) from htm.nodes where deleted_at >= updated_at").await, 1);
}
