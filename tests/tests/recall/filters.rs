//! One filter chooses the same memories wherever it is used.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use htm_core::{
    ContextOptions, CountBy, Filter, Htm, Memory, NodeId, RecallQuery, Receipt, Stage, Strategy, TagFilter,
    TagPath, TimeExpression, TimeStep, TimelineQuery,
};
use htm_tests::{TestDatabase, drain};

fn tag(path: &str) -> TagPath {
    path.parse().unwrap()
}

/// Memories in two namespaces, each with other values of what a filter asks for.
fn corpus() -> Vec<Memory> {
    let of = |names: &[&str], at: usize| names.get(at % (names.len() + 1)).map(|&name| name.to_owned());
    let memory = |at: usize| {
        let mut memory = Memory {
            namespace: Some(["default", "other"][at % 2].into()),
            robot: of(&["owl", "wren"], at / 2),
            session: of(&["standup", "retro"], at / 3),
            source: of(&["chat", "mail"], at / 5),
            kind: of(&["fact", "decision"], at / 7),
            ..Memory::new(format!("the zeppelin, number {at}"))
                .importance(1.0 + (at % 10) as f32)
                .at(format!("2026-03-{:02}T12:00:00Z", 1 + at % 28).parse().unwrap())
        };
        memory.tags.extend((at.is_multiple_of(3)).then(|| tag("craft:airship")));
        memory.tags.extend((at.is_multiple_of(4)).then(|| tag("craft")));
        memory.tags.extend((at.is_multiple_of(5)).then(|| tag("place")));
        if at.is_multiple_of(6) {
            memory = memory.metadata("ticket", at % 4);
        }
        memory
    };
    (0..120).map(memory).collect()
}

/// A filter, and which memories it is to choose.
type Case = (Filter, fn(&Memory) -> bool);

fn cases() -> Vec<Case> {
    let any = Filter::default;
    let days = |text: &str| text.parse::<TimeExpression>().unwrap();
    fn day(memory: &Memory) -> u32 {
        memory.at.unwrap().format("%d").to_string().parse().unwrap()
    }
    fn here(memory: &Memory) -> bool {
        memory.namespace.as_deref() == Some("default")
    }
    fn has(memory: &Memory, path: &str) -> bool {
        memory.tags.contains(&tag(path))
    }
    let exact = |path: &str| TagFilter::Exact(tag(path));
    let either = || Filter { any_tag: true, ..any().tag(exact("craft")).tag(exact("place")) };
    vec![
        (any(), here),
        (any().namespace("other"), |it| !here(it)),
        (any().namespace("other").namespace("default"), |_| true),
        (any().namespace("nowhere"), |_| false),
        (any().timeframe(days("2026-03-05..2026-03-11")), |it| here(it) && (5..11).contains(&day(it))),
        (any().timeframe(days("2026-03-02, 2026-03-20..")), |it| here(it) && (day(it) == 2 || day(it) >= 20)),
        (any().tag(TagFilter::Prefix(tag("craft"))), |it| {
            here(it) && (has(it, "craft") || has(it, "craft:airship"))
        }),
        (any().tag(exact("crafts")), |it| here(it) && has(it, "craft")),
        (any().tag(exact("craft")).tag(exact("place")), |it| {
            here(it) && has(it, "craft") && has(it, "place")
        }),
        (either(), |it| here(it) && (has(it, "craft") || has(it, "place"))),
        (any().tag(exact("unheard-of")), |_| false),
        (any().robot("owl"), |it| here(it) && it.robot.as_deref() == Some("owl")),
        (any().robot("owl").robot("wren"), |it| here(it) && it.robot.is_some()),
        (any().session("retro"), |it| here(it) && it.session.as_deref() == Some("retro")),
        (any().source("chat"), |it| here(it) && it.source.as_deref() == Some("chat")),
        (any().source("chat").source("mail"), |it| here(it) && it.source.is_some()),
        (any().kind("decision"), |it| here(it) && it.kind.as_deref() == Some("decision")),
        (any().kind("decision").kind("fact"), |it| here(it) && it.kind.is_some()),
        (any().min_importance(7.0), |it| here(it) && it.importance >= 7.0),
        (any().metadata("ticket", 2), |it| here(it) && it.metadata.get("ticket") == Some(&2.into())),
        (
            either().namespace("other").namespace("default").kind("fact").min_importance(3.0).robot("wren"),
            |it| {
                (has(it, "craft") || has(it, "place"))
                    && it.kind.as_deref() == Some("fact")
                    && it.importance >= 3.0
                    && it.robot.as_deref() == Some("wren")
            },
        ),
    ]
}

async fn by_recall(
    htm: &Htm,
    filter: &Filter,
    strategy: Strategy,
    as_of: Option<DateTime<Utc>>,
) -> BTreeSet<NodeId> {
    let query = RecallQuery::new("zeppelin").strategy(strategy).limit(1_000).filter(filter.clone());
    let query = RecallQuery { as_of, ..query };
    htm.recall(&query).await.unwrap().hits.into_iter().map(|hit| hit.node.id).collect()
}

#[tokio::test]
async fn recall_timeline_context_and_tags_agree() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let memories = corpus();
    let receipts = htm.remember_many(&memories).await.unwrap();
    let nodes: Vec<NodeId> =
        receipts.into_iter().map(|receipt: Result<Receipt, _>| receipt.unwrap().node).collect();
    drain(&db, Stage::Embed).await;
    let robot = htm.robot("keeper-of-all").await.unwrap();
    robot.add(&nodes).await.unwrap();
    let options = ContextOptions::new(100_000);
    let now: DateTime<Utc> =
        sqlx::query_scalar("select clock_timestamp()").fetch_one(&db.pool).await.unwrap();
    for (filter, passes) in cases() {
        let chosen = || nodes.iter().zip(&memories).filter(|(_, memory)| passes(memory));
        let expected: BTreeSet<NodeId> = chosen().map(|(node, _)| *node).collect();
        // Nothing has changed since, so what was stored then is what is stored now.
        for as_of in [None, Some(now)] {
            for strategy in Strategy::ALL {
                let found = by_recall(&htm, &filter, strategy, as_of).await;
                assert_eq!(found, expected, "{strategy}, as of {as_of:?}: {filter:?}");
            }
            let query = TimelineQuery::everything().limit(1_000).filter(filter.clone());
            let timeline = htm.conversation_timeline(&TimelineQuery { as_of, ..query }).await.unwrap();
            let found: BTreeSet<NodeId> = timeline.entries.iter().map(|entry| entry.node.id).collect();
            assert_eq!(found, expected, "timeline, as of {as_of:?}: {filter:?}");
        }
        let map = htm.map(&filter, 1_000).await.unwrap();
        assert_eq!(map.memories, expected.len() as i64, "map: {filter:?}");
        let counts = htm.count_over_time(&filter, TimeStep::Day, CountBy::Time, 1_000).await.unwrap();
        let counted: i64 = counts.iter().map(|it| it.memories).sum();
        assert_eq!(counted, expected.len() as i64, "counts: {filter:?}");
        let latest = htm.latest(&filter, 1_000).await.unwrap();
        assert!(latest.is_sorted_by(|a, b| a.created_at >= b.created_at), "{filter:?}");
        assert_eq!(
            latest.iter().map(|node| node.id).collect::<BTreeSet<_>>(),
            expected,
            "latest: {filter:?}"
        );
        let context = robot.context_of(&filter, &options).await.unwrap().context;
        assert_eq!(context.included.into_iter().collect::<BTreeSet<_>>(), expected, "context: {filter:?}");

        // The tags of one namespace are counted on the same nodes.
        if filter.namespaces.len() > 1 {
            continue;
        }
        let ontology = htm.ontology(filter.namespaces.first().map(String::as_str)).unwrap();
        let count = |paths: &[&str]| {
            let has = |memory: &Memory| paths.iter().all(|path| memory.tags.contains(&tag(path)));
            chosen().filter(|(_, memory)| has(memory)).count() as i64
        };
        let mut popular: Vec<(String, i64)> = ontology
            .popular(&filter, 100)
            .await
            .unwrap()
            .into_iter()
            .map(|it| (it.tag.to_string(), it.nodes))
            .collect();
        popular.sort();
        let mut counted =
            ["craft", "craft:airship", "place"].map(|path| (path.to_owned(), count(&[path]))).to_vec();
        counted.retain(|(_, nodes)| *nodes > 0);
        assert_eq!(popular, counted, "popular: {filter:?}");
        let pairs = ontology.cooccurring(None, &filter, 1, 100).await.unwrap();
        let mut pairs: Vec<(String, i64)> = pairs.into_iter().map(|it| (it.tag, it.nodes)).collect();
        pairs.sort();
        let mut counted =
            ["craft", "craft:airship"].map(|path| (path.to_owned(), count(&["place", path]))).to_vec();
        counted.retain(|(_, nodes)| *nodes > 0);
        assert_eq!(pairs, counted, "co-occurring: {filter:?}");
    }
    // The tags of a namespace are not counted on the nodes of another.
    let refused = htm.ontology(None).unwrap().popular(&Filter::default().namespace("other"), 10).await;
    assert_eq!(refused.unwrap_err().code(), "namespace_forbidden");
}

#[tokio::test]
async fn a_filter_that_cannot_be_is_refused_everywhere() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let robot = htm.robot("owl").await.unwrap();
    for (code, filter) in [
        ("namespace_invalid", Filter::default().namespace(" ")),
        ("robot_invalid", Filter::default().robot("a\nb")),
        ("nul_byte", Filter::default().kind("a\0")),
        ("field_too_long", Filter::default().source("x".repeat(5_000))),
        ("importance_out_of_range", Filter::default().min_importance(11.0)),
    ] {
        let errors = [
            htm.recall(&RecallQuery::new("x").filter(filter.clone())).await.unwrap_err(),
            htm.conversation_timeline(&TimelineQuery::everything().filter(filter.clone())).await.unwrap_err(),
            htm.latest(&filter, 10).await.unwrap_err(),
            robot.context_of(&filter, &ContextOptions::new(100)).await.unwrap_err(),
            htm.ontology(None).unwrap().popular(&filter, 10).await.unwrap_err(),
            htm.ontology(None).unwrap().cooccurring(None, &filter, 2, 10).await.unwrap_err(),
        ];
        for error in errors {
            assert_eq!(error.code(), code, "{error}");
        }
    }
}
