//! Timeframes of several ranges, in words, and found in the query; timelines; what was said around a memory.

use chrono::{DateTime, TimeDelta, Utc};
use htm_core::{
    Caller, Confirmation, CountBy, Filter, Grouping, Htm, Memory, NodeId, RecallQuery, Settings, Stage,
    Strategy, TimeExpression, TimeFilter, TimeStep, Timeframe, TimelineQuery,
};
use htm_tests::{TestDatabase, drain};

fn said(text: &str) -> TimeExpression {
    text.parse().unwrap()
}

/// A handle as `htm`, with other settings.
fn with_settings(htm: &Htm, change: impl FnOnce(&mut Settings)) -> Htm {
    let mut settings = htm.settings().clone();
    change(&mut settings);
    let embedder = htm_providers::fake::embedder(Default::default()).unwrap();
    Htm::with_pool(htm.database_pool().unwrap().clone(), settings, Some(embedder))
}

fn in_zone(htm: &Htm, zone: &str) -> Htm {
    with_settings(htm, |settings| settings.time.zone = zone.parse().unwrap())
}

fn instant(text: &str) -> DateTime<Utc> {
    text.parse().unwrap()
}

/// A note for each noon of March 2026, and one at the same time in another namespace.
async fn march(db: &TestDatabase) -> Htm {
    let htm = db.htm();
    let noon = |day: u32| instant(&format!("2026-03-{day:02}T12:00:00Z"));
    let note = |day: u32| {
        Memory::new(format!("note about the harvest, number {day}")).key(day.to_string()).at(noon(day))
    };
    let memories: Vec<_> =
        (1..=31).map(note).chain((1..=31).map(|day| note(day).namespace("other"))).collect();
    htm.remember_many(&memories).await.unwrap();
    drain(db, Stage::Embed).await;
    htm
}

async fn days(htm: &Htm, query: &RecallQuery) -> Vec<u32> {
    let recalled = htm.recall(query).await.unwrap();
    let mut days: Vec<u32> =
        recalled.hits.iter().map(|hit| hit.node.key.as_deref().unwrap().parse().unwrap()).collect();
    days.sort_unstable();
    days
}

#[tokio::test]
async fn several_ranges_are_searched_by_every_strategy_and_on_both_paths() {
    let db = TestDatabase::new().await;
    let htm = march(&db).await;
    // One that searches the scope exactly, one that walks the HNSW index for all but four nodes.
    let by_index = with_settings(&htm, |settings| settings.recall.exact_scope = 4);
    for htm in [&htm, &by_index] {
        for strategy in Strategy::ALL {
            let query = |text: &str| {
                RecallQuery::new("harvest note").strategy(strategy).limit(100).timeframe(said(text))
            };
            for (text, expected) in [
                ("2026-03-02, 2026-03-05", vec![2, 5]),
                ("2026-03-02..2026-03-05, 2026-03-04..2026-03-07 or 2026-03-30", vec![2, 3, 4, 5, 6, 30]),
                ("before 2026-03-03 or since 2026-03-29", vec![1, 2, 29, 30, 31]),
                ("2026-03-01..2026-03-02T12:00:00Z, 2025", vec![1]),
                ("2025, 2027", vec![]),
                ("before 2026-03-10 or since 2026-03-10", (1..=31).collect()),
                ("", (1..=31).collect()),
            ] {
                assert_eq!(days(htm, &query(text)).await, expected, "{strategy}: {text}");
            }
        }
    }
}

#[tokio::test]
async fn what_is_not_embedded_is_counted_within_the_ranges_only() {
    let db = TestDatabase::new().await;
    let htm = march(&db).await;
    for day in [3, 9, 20] {
        let at = instant(&format!("2026-03-{day:02}T13:00:00Z"));
        htm.remember(Memory::new("a late harvest").at(at)).await.unwrap();
    }
    for (text, count) in
        [("2026-03-03, 2026-03-20", 2), ("2026-03-01..2026-03-10", 2), ("2026-03-04, 2026-03-21", 0)]
    {
        let query = RecallQuery::new("harvest").timeframe(said(text));
        assert_eq!(htm.recall(&query).await.unwrap().unembedded, count, "{text}");
    }
}

#[tokio::test]
async fn words_are_measured_by_the_databases_clock() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    htm.remember(Memory::new("the harvest is now").key("1")).await.unwrap();
    let now: DateTime<Utc> = sqlx::query_scalar("select now()").fetch_one(&db.pool).await.unwrap();
    let back = |key: &str, back: TimeDelta| Memory::new("the harvest was").key(key).at(now - back);
    htm.remember(back("2", TimeDelta::hours(2))).await.unwrap();
    htm.remember(back("3", TimeDelta::days(8))).await.unwrap();
    for (text, expected) in [
        ("last 5 minutes", vec![1]),
        ("past 3 hours", vec![1, 2]),
        ("last 2 weeks", vec![1, 2, 3]),
        ("before last 3 days", vec![3]),
        ("recently", vec![1, 2]),
    ] {
        let query = RecallQuery::new("harvest").strategy(Strategy::Fulltext).timeframe(said(text));
        assert_eq!(days(&htm, &query).await, expected, "{text}");
    }
    let recalled = htm.recall(&RecallQuery::new("harvest").timeframe(said("past hour"))).await.unwrap();
    let [range] = recalled.timeframe.ranges() else { panic!("{}", recalled.timeframe) };
    assert_eq!(range.until().unwrap() - range.from().unwrap(), TimeDelta::hours(1));
    assert!(range.until().unwrap() - now < TimeDelta::minutes(1));
}

#[tokio::test]
async fn the_zone_says_which_day_it_was() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    htm.remember(Memory::new("harvest").key("1").at(instant("2026-03-01T02:00:00Z"))).await.unwrap();
    let on = |text: &str| RecallQuery::new("harvest").strategy(Strategy::Fulltext).timeframe(said(text));
    let new_york = in_zone(&htm, "America/New_York");
    assert_eq!(days(&htm, &on("2026-03-01")).await, [1]);
    assert!(days(&new_york, &on("2026-03-01")).await.is_empty());
    assert_eq!(days(&new_york, &on("28 February 2026")).await, [1]);
}

#[tokio::test]
async fn the_phrase_in_the_query_is_the_filter_and_is_not_searched_for() {
    let db = TestDatabase::new().await;
    let htm = march(&db).await;
    let auto = |text: &str| {
        RecallQuery::new(text).strategy(Strategy::Fulltext).timeframe(TimeFilter::Auto).limit(100)
    };
    let recalled = htm.recall(&auto("the harvest between March 3 and March 5, 2026?")).await.unwrap();
    let taken = recalled.time_phrase.as_ref().unwrap();
    assert_eq!(
        (taken.phrase.as_str(), taken.query.as_str()),
        ("between March 3 and March 5, 2026", "the harvest?")
    );
    assert_eq!(recalled.timeframe.to_string(), "2026-03-03T00:00:00Z..2026-03-06T00:00:00Z");
    assert_eq!(days(&htm, &auto("the harvest between March 3 and March 5, 2026?")).await, [3, 4, 5]);
    // The words of the phrase would have found this one.
    htm.remember(Memory::new("we march").key("90").at(instant("2026-03-04T00:00:00Z"))).await.unwrap();
    assert_eq!(days(&htm, &auto("the harvest between March 3 and March 5, 2026?")).await, [3, 4, 5]);
    // Without a phrase there is no filter; so without one whose time has begun.
    for text in [
        "the harvest",
        "what did \"last week\" mean for the harvest?",
        "the harvest tomorrow",
        "the harvest one year ago today",
        "the harvest two days before last Monday",
        "the least recently used harvest",
        "the harvest between 1000 and 2000",
        "the harvest before 3000",
    ] {
        let recalled = htm.recall(&auto(text)).await.unwrap();
        assert_eq!((recalled.time_phrase, recalled.timeframe), (None, Timeframe::ALL), "{text}");
        assert_eq!(recalled.hits.len(), 31, "{text}");
    }
}

#[tokio::test]
async fn a_timeframe_that_cannot_be_has_a_code() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    for (text, code) in [
        ("from 2026-03-05 to 2026-03-01", "timeframe_reversed"),
        ("last 99999999 years", "timeframe_invalid"),
        ("since last 9000 years", "time_out_of_range"),
    ] {
        let error = htm.recall(&RecallQuery::new("x").timeframe(said(text))).await.unwrap_err();
        assert_eq!(error.code(), code, "{text}");
    }
    let nul = RecallQuery::new("x").filter(Filter::default().session("a\0"));
    assert_eq!(htm.recall(&nul).await.unwrap_err().code(), "nul_byte");
}

/// Two conversations side by side, and a note of none.
async fn conversations(db: &TestDatabase) -> (Htm, Vec<NodeId>) {
    let htm = db.htm();
    let mut ids = Vec::new();
    for (session, seq, at, text) in [
        (Some("a"), Some(1), "2026-03-01T22:00:00Z", "shall we move billing to Postgres"),
        (Some("b"), None, "2026-03-01T22:30:00Z", "the picnic is at noon"),
        (Some("a"), Some(2), "2026-03-01T23:30:00Z", "billing moves on Monday"),
        (None, None, "2026-03-02T08:00:00Z", "billing has a new invoice layout"),
        (Some("b"), None, "2026-03-02T09:00:00Z", "the picnic has moved"),
        (Some("a"), Some(3), "2026-03-02T09:30:00Z", "billing has moved"),
    ] {
        let memory = Memory {
            session: session.map(Into::into),
            seq,
            robot: Some(if session == Some("b") { "bob" } else { "ada" }.into()),
            ..Memory::new(text).at(instant(at))
        };
        ids.push(htm.remember(memory).await.unwrap().node);
    }
    drain(db, Stage::Embed).await;
    (htm, ids)
}

#[tokio::test]
async fn a_timeline_is_in_the_order_of_time() {
    let db = TestDatabase::new().await;
    let (htm, ids) = conversations(&db).await;
    let at = |places: &[usize]| places.iter().map(|place| ids[*place]).collect::<Vec<_>>();
    let nodes = async |query: &TimelineQuery| {
        let timeline = htm.conversation_timeline(query).await.unwrap();
        timeline.entries.iter().map(|entry| entry.node.id).collect::<Vec<_>>()
    };
    // All of it, the latest of it, a part of it.
    assert_eq!(nodes(&TimelineQuery::everything()).await, ids);
    assert_eq!(nodes(&TimelineQuery::everything().limit(2)).await, at(&[4, 5]));
    let second = TimelineQuery::everything().timeframe(said("2026-03-02"));
    assert_eq!(nodes(&second).await, at(&[3, 4, 5]));
    let parts =
        TimelineQuery::everything().timeframe(said("..2026-03-01T22:10:00Z, since 2026-03-02T09:00:00Z"));
    assert_eq!(nodes(&parts).await, at(&[0, 4, 5]));
    assert_eq!(nodes(&TimelineQuery::everything().session("a")).await, at(&[0, 2, 5]));
    let bob = TimelineQuery::everything().filter(Filter::default().robot("bob"));
    assert_eq!(nodes(&bob).await, at(&[1, 4]));
    assert!(nodes(&TimelineQuery::everything().namespace("nowhere")).await.is_empty());
    // What a topic is about.
    let billing = TimelineQuery { strategy: Strategy::Fulltext, ..TimelineQuery::about("billing") };
    assert_eq!(nodes(&billing).await, at(&[0, 2, 3, 5]));
    assert_eq!(nodes(&billing.clone().session("a")).await, at(&[0, 2, 5]));
    assert_eq!(nodes(&billing.clone().session("a").timeframe(said("2026-03-02"))).await, at(&[5]));
    let hybrid = htm.conversation_timeline(&TimelineQuery::about("billing").limit(4)).await.unwrap();
    assert!(hybrid.entries.is_sorted_by_key(|entry| entry.node.created_at));
    assert!(hybrid.entries.iter().all(|entry| entry.score.is_some()));
    // By a phrase of the topic, and forgotten memories are not in it.
    let auto = TimelineQuery { topic: Some("billing on 1 March 2026".into()), ..billing.clone() }
        .timeframe(TimeFilter::Auto);
    assert_eq!(nodes(&auto).await, at(&[0, 2]));
    // One that is the whole topic asks for everything of that time.
    let only = TimelineQuery { topic: Some("on 1 March 2026".into()), ..auto.clone() };
    assert_eq!(nodes(&only).await, nodes(&TimelineQuery::everything().timeframe(said("1 March 2026"))).await);
    let timeline = htm.conversation_timeline(&only).await.unwrap();
    assert_eq!(timeline.time_phrase.unwrap().phrase, "on 1 March 2026");
    htm.forget(ids[2], &Caller::AnyRobot, Confirmation::Confirmed).await.unwrap();
    assert_eq!(nodes(&auto).await, at(&[0]));
    assert_eq!(nodes(&TimelineQuery::everything().session("a")).await, at(&[0, 5]));
}

#[tokio::test]
async fn turns_of_one_time_are_in_their_order_in_several_namespaces() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    for namespace in ["one", "two"] {
        for seq in [3, 1, 2] {
            let turn =
                Memory { session: Some("s".into()), seq: Some(seq), ..Memory::new(format!("turn {seq}")) };
            htm.remember(turn.namespace(namespace).at(instant("2026-03-01T22:00:00Z"))).await.unwrap();
        }
    }
    let seqs = async |namespaces: &[&str], limit| {
        let query = namespaces.iter().fold(TimelineQuery::everything(), |query, it| query.namespace(*it));
        let timeline = htm.conversation_timeline(&query.limit(limit)).await.unwrap();
        timeline.entries.iter().map(|entry| entry.node.seq.unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(seqs(&["one"], 2).await, [2, 3]);
    assert_eq!(seqs(&["one", "two"], 2).await, [3, 3]);
    assert_eq!(seqs(&["one", "two"], 6).await, [1, 1, 2, 2, 3, 3]);
}

#[tokio::test]
async fn memories_are_counted_over_time_by_robot_and_by_tag() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let note = |day: u32, robot: &str, tags: &[&str]| {
        let at = instant(&format!("2026-03-{day:02}T12:00:00Z"));
        let note = Memory::new(format!("note {day} of {robot}")).at(at).robot(robot);
        tags.iter().fold(note, |note, tag| note.tag(tag.parse().unwrap()))
    };
    let memories = [
        note(1, "ada", &["food:bread", "food:tea"]),
        note(1, "bob", &["food:tea", "travel"]),
        note(2, "ada", &[]),
        note(30, "ada", &["travel:sea"]).namespace("other"),
    ];
    htm.remember_many(&memories).await.unwrap();
    let both = Filter::default().namespace("default").namespace("other");
    let counts = async |filter: &Filter, step, by| -> Vec<(String, Option<String>, i64)> {
        let counts = htm.count_over_time(filter, step, by, 100).await.unwrap();
        counts.into_iter().map(|it| (it.start.to_rfc3339()[5..10].into(), it.name, it.memories)).collect()
    };
    let row =
        |start: &str, name: Option<&str>, memories| (start.to_owned(), name.map(str::to_owned), memories);
    let own = Filter::default();
    let by_day = counts(&own, TimeStep::Day, CountBy::Time).await;
    assert_eq!(by_day, [row("03-01", None, 2), row("03-02", None, 1)]);
    assert_eq!(counts(&both, TimeStep::Month, CountBy::Time).await, [row("03-01", None, 4)]);
    // From Monday.
    let by_week = counts(&own, TimeStep::Week, CountBy::Robot).await;
    let weeks = [row("02-23", Some("ada"), 1), row("02-23", Some("bob"), 1), row("03-02", Some("ada"), 1)];
    assert_eq!(by_week, weeks);
    let by_tag = counts(&both, TimeStep::Year, CountBy::Tag).await;
    assert_eq!(by_tag, [row("01-01", Some("food"), 2), row("01-01", Some("travel"), 2)]);
    let of_ada = Filter::default().robot("ada");
    assert_eq!(counts(&of_ada, TimeStep::Year, CountBy::Time).await, [row("01-01", None, 2)]);
}

#[tokio::test]
async fn the_name_of_a_conversation_may_be_long() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    // As long as it may be.
    let name: String = (0..512_u32).map(|n| char::from(b'a' + (n * n * 7 / 11 % 26) as u8)).collect();
    let said = |text: &str| Memory { session: Some(name.clone()), ..Memory::new(text) };
    let first = htm.remember(said("one")).await.unwrap().node;
    let second = htm.remember(said("two")).await.unwrap().node;
    let found = htm.conversation_timeline(&TimelineQuery::everything().session(&name)).await.unwrap();
    assert_eq!(found.entries.len(), 2);
    assert_eq!(htm.neighbours(first, 1, 1).await.unwrap().after[0].id, second);
}

#[tokio::test]
async fn a_timeline_has_groups_by_day_and_by_session() {
    let db = TestDatabase::new().await;
    let (htm, ids) = conversations(&db).await;
    let groups = async |grouping, zone: &str| {
        let timeline = htm.conversation_timeline(&TimelineQuery::everything()).await.unwrap();
        let groups = timeline.into_groups(grouping, &zone.parse().unwrap());
        let group = |group: htm_core::TimelineGroup| {
            assert_eq!(group.first_at, group.entries[0].node.created_at);
            assert_eq!(group.last_at, group.entries.last().unwrap().node.created_at);
            let places =
                group.entries.iter().map(|entry| ids.iter().position(|id| *id == entry.node.id).unwrap());
            (group.name, places.collect::<Vec<_>>())
        };
        groups.into_iter().map(group).collect::<Vec<_>>()
    };
    let day = |day: &str| Some(day.to_owned());
    assert_eq!(
        groups(Grouping::Day, "UTC").await,
        [(day("2026-03-01"), vec![0, 1, 2]), (day("2026-03-02"), vec![3, 4, 5])]
    );
    assert_eq!(
        groups(Grouping::Day, "Europe/Berlin").await,
        [(day("2026-03-01"), vec![0, 1]), (day("2026-03-02"), vec![2, 3, 4, 5])]
    );
    assert_eq!(
        groups(Grouping::Session, "UTC").await,
        [(day("a"), vec![0, 2, 5]), (day("b"), vec![1, 4]), (None, vec![3])]
    );
    assert_eq!("week".parse::<Grouping>().unwrap_err().code(), "grouping_unknown");
    for (code, query) in [
        ("limit_out_of_range", TimelineQuery::everything().limit(0)),
        ("namespace_invalid", TimelineQuery::everything().namespace(" ")),
        ("nul_byte", TimelineQuery::everything().session("a\0")),
        ("content_empty", TimelineQuery::about(" ")),
        ("timeframe_reversed", TimelineQuery::everything().timeframe(said("2026-02..2026-01"))),
    ] {
        assert_eq!(htm.conversation_timeline(&query).await.unwrap_err().code(), code);
    }
}

#[tokio::test]
async fn neighbours_are_those_of_the_conversation_or_of_the_time() {
    let db = TestDatabase::new().await;
    let (htm, ids) = conversations(&db).await;
    let around = async |node: usize, before, after| {
        let found = htm.neighbours(ids[node], before, after).await.unwrap();
        assert_eq!(found.node.id, ids[node]);
        let places = |nodes: &[htm_core::Node]| {
            nodes.iter().map(|node| ids.iter().position(|id| *id == node.id).unwrap()).collect::<Vec<_>>()
        };
        (places(&found.before), places(&found.after))
    };
    // By place in a conversation, by time in one, by time alone.
    assert_eq!(around(2, 5, 5).await, (vec![0], vec![5]));
    assert_eq!(around(5, 1, 5).await, (vec![2], vec![]));
    assert_eq!(around(1, 5, 5).await, (vec![], vec![4]));
    assert_eq!(around(3, 2, 1).await, (vec![1, 2], vec![4]));
    assert_eq!(around(3, 0, 0).await, (vec![], vec![]));
    // The place counts, not the time.
    let late =
        Memory { session: Some("a".into()), seq: Some(0), ..Memory::new("what was said before all that") };
    let late = htm.remember(late).await.unwrap().node;
    let found = htm.neighbours(ids[0], 3, 1).await.unwrap();
    assert_eq!(found.before.iter().map(|node| node.id).collect::<Vec<_>>(), [late]);
    // Equal places and equal times are told apart by who was first.
    let same = async |text: &str| {
        let memory =
            Memory { session: Some("c".into()), ..Memory::new(text).at(instant("2026-03-05T00:00:00Z")) };
        htm.remember(memory).await.unwrap().node
    };
    let (first, second, third) = (same("one").await, same("two").await, same("three").await);
    let found = htm.neighbours(second, 9, 9).await.unwrap();
    assert_eq!((found.before[0].id, found.after[0].id), (first, third));
    // What is forgotten is nobody's neighbour, and has none.
    htm.forget(ids[2], &Caller::AnyRobot, Confirmation::Confirmed).await.unwrap();
    assert_eq!(around(0, 0, 5).await, (vec![], vec![5]));
    assert_eq!(htm.neighbours(ids[2], 1, 1).await.unwrap_err().code(), "node_not_found");
    let error = htm.neighbours(ids[0], 1_001, 0).await.unwrap_err();
    assert_eq!(error.code(), "limit_out_of_range");
    assert!(error.hint().contains("1000"));
}
