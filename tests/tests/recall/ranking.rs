//! What hybrid recall ranks by beside both scores.

use chrono::{DateTime, Utc};
use htm_core::worker::statistics;
use htm_core::{
    Caller, Confirmation, Filter, Fusion, Htm, MatchedBy, Memory, RecallQuery, Recalled, Settings, Stage,
    Strategy, TagFilter, TimeExpression,
};
use htm_tests::{TestDatabase, drain};

/// A turn of a conversation; at its `n`th minute.
fn turn(session: &str, n: i32, content: &str) -> Memory {
    let start: DateTime<Utc> = "2026-03-01T12:00:00Z".parse().unwrap();
    let mut memory = Memory::new(content).key(format!("{session}{n}"));
    memory.at = Some(start + chrono::TimeDelta::minutes(n.into()));
    memory.session = Some(session.into());
    memory.seq = Some(n);
    memory
}

/// Only the third says what it is about. With places, and without.
fn talk(session: &str, has_places: bool) -> Vec<Memory> {
    [
        "Good morning",
        "Did you sleep well",
        "The zeppelin is late",
        "Nobody told me",
        "When will it come",
        "At noon",
        "Fine",
    ]
    .into_iter()
    .zip(1..)
    .map(|(content, n)| {
        let mut memory = turn(session, n, &format!("{content}, {session}"));
        if !has_places {
            memory.seq = None;
        }
        memory
    })
    .collect()
}

/// Recall without vectors: only words choose candidates.
fn by_words(db: &TestDatabase) -> Htm {
    Htm::with_pool(db.pool.clone(), db.htm().settings().clone(), None)
}

fn with(db: &TestDatabase, change: impl FnOnce(&mut Settings)) -> Htm {
    let mut settings = db.htm().settings().clone();
    change(&mut settings);
    Htm::with_pool(
        db.pool.clone(),
        settings,
        Some(htm_providers::fake::embedder(Default::default()).unwrap()),
    )
}

fn keys(recalled: &Recalled) -> Vec<&str> {
    recalled.hits.iter().map(|hit| hit.node.key.as_deref().unwrap()).collect()
}

async fn found(htm: &Htm, query: RecallQuery) -> Vec<String> {
    let recalled = htm.recall(&query).await.unwrap();
    keys(&recalled).into_iter().map(Into::into).collect()
}

#[tokio::test]
async fn bm25_is_the_same_with_statistics_and_without() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    for (n, content) in
        ["the zeppelin left", "a zeppelin and a balloon", "bread", "bread and butter"].iter().enumerate()
    {
        htm.remember(Memory::new(*content).key(n.to_string())).await.unwrap();
    }
    let query = RecallQuery::new("zeppelin balloon bread").strategy(Strategy::Fulltext);
    let scores = || async {
        let recalled = htm.recall(&query).await.unwrap();
        recalled.hits.iter().map(|hit| (hit.node.key.clone(), hit.scores.score)).collect::<Vec<_>>()
    };
    let before = scores().await;
    assert_eq!(before.len(), 4);
    statistics::refresh(&db.pool, "default").await.unwrap();
    for ((key, score), (key_before, score_before)) in scores().await.into_iter().zip(before) {
        assert_eq!(key, key_before);
        assert!((score - score_before).abs() < 1e-6, "{score} was {score_before}");
    }
    // What came since is counted live.
    htm.remember(Memory::new("a submarine").key("new")).await.unwrap();
    assert_eq!(found(&htm, RecallQuery::new("submarine").strategy(Strategy::Fulltext)).await, ["new"]);
}

#[tokio::test]
async fn turns_beside_a_hit_are_brought_and_say_so() {
    let db = TestDatabase::new().await;
    let htm = by_words(&db);
    for (session, has_places) in [("placed", true), ("timed", false)] {
        for memory in talk(session, has_places) {
            htm.remember(memory.namespace(session)).await.unwrap();
        }
        let query = RecallQuery::new("zeppelin").namespace(session);
        let recalled = htm.recall(&query).await.unwrap();
        let near = [2, 4, 1, 5].map(|n| format!("{session}{n}"));
        assert_eq!(keys(&recalled)[0], format!("{session}3"));
        let mut beside: Vec<&str> = keys(&recalled)[1..3].to_vec();
        beside.sort_unstable();
        assert_eq!(beside, near[..2], "the turns next to it come first");
        let mut further: Vec<&str> = keys(&recalled)[3..].to_vec();
        further.sort_unstable();
        assert_eq!(further, near[2..], "then those one further, and nothing else");
        let by: Vec<MatchedBy> = recalled.hits.iter().map(|hit| hit.matched_by).collect();
        assert_eq!(by[0], MatchedBy::Text);
        assert!(by[1..].iter().all(|by| *by == MatchedBy::Neighbour), "{by:?}");
        assert_eq!((recalled.hits[1].scores.vector_rank, recalled.hits[1].scores.text_rank), (None, None));
        // Who asks for words alone gets what has them.
        assert_eq!(found(&htm, query.strategy(Strategy::Fulltext)).await, [format!("{session}3")]);
    }
}

#[tokio::test]
async fn neighbours_come_beside_the_candidates_of_both_legs() {
    let db = TestDatabase::new().await;
    for fusion in [Fusion::Convex, Fusion::Rrf] {
        let htm = with(&db, |settings| {
            settings.recall.pool = 4;
            settings.recall.fusion = fusion;
        });
        if fusion == Fusion::Convex {
            htm.remember_many(&talk("a", true)).await.unwrap();
            let others: Vec<Memory> =
                (0..40).map(|n| Memory::new(format!("zeppelins {n}")).key(format!("o{n}"))).collect();
            htm.remember_many(&others).await.unwrap();
            drain(&db, Stage::Embed).await;
        }
        let recalled = htm.recall(&RecallQuery::new("The zeppelin is late").limit(4)).await.unwrap();
        assert_eq!(keys(&recalled)[0], "a3", "{fusion:?}");
        assert_eq!(recalled.hits[0].matched_by, MatchedBy::Both);
        let beside: Vec<&str> = recalled
            .hits
            .iter()
            .filter(|hit| hit.matched_by == MatchedBy::Neighbour)
            .map(|hit| hit.node.key.as_deref().unwrap())
            .collect();
        assert!(beside.iter().all(|key| key.starts_with('a')), "{fusion:?}: {:?}", keys(&recalled));
        // By ranks, a share of one is less than the last candidate has.
        assert_eq!(beside.is_empty(), fusion == Fusion::Rrf, "{fusion:?}: {:?}", keys(&recalled));
        let order: Vec<f64> = recalled.hits.iter().map(|hit| hit.scores.score).collect();
        assert!(order.is_sorted_by(|a, b| a >= b), "{order:?}");
    }
}

#[tokio::test]
async fn to_be_in_a_conversation_is_no_merit() {
    let db = TestDatabase::new().await;
    let htm = by_words(&db);
    let turns: Vec<Memory> = (0..6).map(|n| turn("a", n, &format!("zeppelin {n}"))).collect();
    let notes: Vec<Memory> =
        (0..14).map(|n| Memory::new(format!("zeppelin note{n}")).key(format!("n{n}"))).collect();
    htm.remember_many(&turns).await.unwrap();
    htm.remember_many(&notes).await.unwrap();
    let recalled = htm.recall(&RecallQuery::new("zeppelin").limit(20)).await.unwrap();
    let best_of = |start: char| {
        let is_one = |hit: &&htm_core::Hit| hit.node.key.as_deref().unwrap().starts_with(start);
        recalled.hits.iter().find(is_one).unwrap().scores.score
    };
    let (turn, note) = (best_of('a'), best_of('n'));
    assert!((turn / note - 1.0).abs() < 0.15, "all say the same: {turn}, {note}");
}

#[tokio::test]
async fn what_length_alone_brings_is_no_merit() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let said = ["zeppelin", "balloon", "harbour"];
    let short = (0..30).map(|n| Memory::new(format!("the {} of {n}", said[n % 3])).key(format!("s{n}")));
    let long = (0..30).map(|n| {
        let words: String = (0..150).map(|w| format!("word{} ", n * 10 + w)).collect();
        Memory::new(format!("{words} zeppelin {words} balloon harbour")).key(format!("l{n}"))
    });
    htm.remember_many(&short.chain(long).collect::<Vec<_>>()).await.unwrap();
    drain(&db, Stage::Embed).await;
    let query = RecallQuery { explain: true, ..RecallQuery::new("a harbour for a zeppelin or a balloon") };
    let hits = htm.recall(&query.limit(60)).await.unwrap().hits;
    let best = hits.iter().filter_map(|hit| hit.scores.text).fold(0.0, f64::max);
    assert_eq!(hits.len(), 60);
    for hit in hits {
        let by_words = 0.5 * hit.scores.text.unwrap() / best;
        let parts = hit.explanation.unwrap().parts;
        let counted: f64 = parts
            .iter()
            .filter(|part| ["words", "together"].contains(&&*part.name))
            .map(|part| part.score)
            .sum();
        match hit.node.key.unwrap().starts_with('s') {
            true => assert!((counted - by_words).abs() < 1e-9, "{counted} of {by_words}"),
            false => assert!(counted < 0.9 * by_words, "{counted} of {by_words}"),
        }
    }
}

#[tokio::test]
async fn filters_hold_for_neighbours_too() {
    let db = TestDatabase::new().await;
    let htm = by_words(&db);
    let mut nodes = Vec::new();
    for mut memory in talk("a", true) {
        let n = memory.seq.unwrap();
        memory.robot = (n == 2).then(|| "owl".into());
        if n != 4 {
            memory.tags.push("travel:air".parse().unwrap());
        }
        nodes.push(htm.remember(memory).await.unwrap().node);
    }
    let query = || RecallQuery::new("zeppelin");
    let sorted = |query: RecallQuery| {
        let htm = htm.clone();
        async move {
            let mut keys = found(&htm, query).await;
            keys.sort();
            keys
        }
    };
    assert_eq!(sorted(query()).await, ["a1", "a2", "a3", "a4", "a5"]);
    let own = query().filter(Filter::default().robot("htm"));
    assert_eq!(sorted(own).await, ["a1", "a3", "a4", "a5"]);
    assert_eq!(
        sorted(query().tag(TagFilter::Prefix("travel".parse().unwrap()))).await,
        ["a1", "a2", "a3", "a5"]
    );
    let until: TimeExpression = "2026-03-01T12:02:30Z..2026-03-01T12:04:30Z".parse().unwrap();
    assert_eq!(sorted(query().timeframe(until)).await, ["a3", "a4"]);
    let here = query().filter(Filter::default().session("a"));
    assert_eq!(sorted(here).await.len(), 5);
    let elsewhere = query().filter(Filter::default().session("b"));
    assert!(sorted(elsewhere).await.is_empty());
    htm.forget(nodes[3], &Caller::Handle, Confirmation::Confirmed).await.unwrap();
    assert_eq!(sorted(query()).await, ["a1", "a2", "a3", "a5"], "the forgotten one is gone");
}

#[tokio::test]
async fn a_timeframe_that_is_open_at_both_ends_holds_for_neighbours_too() {
    let db = TestDatabase::new().await;
    let htm = by_words(&db);
    let turns = [
        (1, "2026-03-09", "we run PostgreSQL 17.2"),
        (2, "2026-03-10", "since when"),
        (3, "2026-03-11", "for a year"),
    ];
    for (n, day, content) in turns {
        let at = format!("{day}T12:00:00Z").parse().unwrap();
        htm.remember(turn("a", n, content).at(at)).await.unwrap();
    }
    let apart: TimeExpression = "before 2026-03-10 or since 2026-03-11".parse().unwrap();
    let hits = found(&htm, RecallQuery::new("PostgreSQL 17.2").timeframe(apart)).await;
    assert_eq!(hits, ["a1", "a3"], "the turn between them is out of time");
}

#[tokio::test]
async fn any_place_and_any_year_can_be_asked_for() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    for (n, seq) in [i32::MIN, -1, 0, i32::MAX].into_iter().enumerate() {
        let mut memory = turn("a", n as i32, &format!("zeppelin {n}"));
        memory.seq = Some(seq);
        htm.remember(memory).await.unwrap();
    }
    for year in ["0001", "0002", "9999"] {
        let at: DateTime<Utc> = format!("{year}-01-03T00:00:00Z").parse().unwrap();
        htm.remember(Memory::new(format!("zeppelin of {year}")).key(year).at(at)).await.unwrap();
    }
    drain(&db, Stage::Embed).await;
    for text in ["zeppelin in January", "zeppelin in December 0001", "zeppelin in December 9999"] {
        assert_eq!(htm.recall(&RecallQuery::new(text)).await.unwrap().hits.len(), 7, "{text}");
    }
    // A long text is a query as well.
    let long: String = (0..1_500).map(|n| format!("word{n} zepelin{n} ")).collect();
    htm.recall(&RecallQuery::new(format!("{long} zeppelin"))).await.unwrap();
}

#[tokio::test]
async fn a_speaker_or_a_month_that_is_named_comes_first() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let all = [("ann", "Ann Lee", "2026-06-20"), ("bob", "Bob", "2026-07-05"), ("eve", "eve", "2026-01-09")];
    for (key, speaker, day) in all {
        let mut memory =
            Memory::new("I painted a lake").key(key).at(format!("{day}T12:00:00Z").parse().unwrap());
        memory.speaker = Some(speaker.into());
        memory.robot = Some(key.into());
        htm.remember(memory).await.unwrap();
    }
    drain(&db, Stage::Embed).await;
    for (text, first) in [
        ("Who painted a lake? Ann?", "ann"),
        ("What did Bob paint", "bob"),
        ("what was painted by eve", "eve"),
        ("what was painted in January", "eve"),
        // Spoken of some days later.
        ("what was painted in December 2025", "eve"),
        ("what was painted on 12 January 2026", "eve"),
    ] {
        let hits = found(&htm, RecallQuery::new(text)).await;
        assert_eq!((hits[0].as_str(), hits.len()), (first, 3), "{text}");
    }
    // June is spoken of in July as well.
    let hits = found(&htm, RecallQuery::new("what was painted in June")).await;
    assert_eq!(hits[2], "eve");
    // Who asks without naming anybody finds all alike.
    let scores = htm.recall(&RecallQuery::new("what was painted")).await.unwrap();
    assert!(scores.hits.windows(2).all(|pair| pair[0].scores.score == pair[1].scores.score));
}

#[tokio::test]
async fn words_with_mistakes_are_found() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    for (key, content) in [
        ("ship", "the zeppelin landed at the harbour"),
        ("bread", "bread for the picnic"),
        ("form", "a form to fill"),
        ("from", "greetings from afar"),
    ] {
        htm.remember(Memory::new(content).key(key)).await.unwrap();
    }
    statistics::refresh(&db.pool, "default").await.unwrap();
    for (text, expected) in [
        ("zepeplin", &["ship"][..]),
        ("picinc", &["bread"]),
        // No swap: the word that is most like it.
        ("zeppellinn", &["ship"]),
        ("harbur", &["ship"]),
        // Nothing is like it.
        ("xylophone", &[]),
        ("xylophone picnic", &["bread"]),
        // A word that a node has means itself.
        ("form", &["form"]),
    ] {
        let query = RecallQuery::new(text).strategy(Strategy::Fulltext);
        assert_eq!(found(&htm, query).await, expected, "{text}");
    }
}

#[tokio::test]
async fn words_that_stand_together_count_more() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    for (key, content) in [
        ("apart", "night owls flew before the watch began"),
        ("together", "the night watch began before owls flew"),
        ("turned", "watch owls flew before night began"),
    ] {
        htm.remember(Memory::new(content).key(key)).await.unwrap();
    }
    let recalled = htm.recall(&RecallQuery::new("night watch").strategy(Strategy::Fulltext)).await.unwrap();
    assert_eq!(keys(&recalled)[0], "together");
    let scores: Vec<f64> = recalled.hits.iter().map(|hit| hit.scores.score).collect();
    assert!(scores[0] > scores[1] && scores[1] == scores[2], "{scores:?}");
}

#[tokio::test]
async fn words_of_the_opening_count_more_in_a_long_text() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let filler: String = (0..60).map(|n| format!("filler{n} ")).collect();
    htm.remember(Memory::new(format!("zeppelin {filler}")).key("opening")).await.unwrap();
    htm.remember(Memory::new(format!("{filler} zeppelin")).key("end")).await.unwrap();
    let recalled = htm.recall(&RecallQuery::new("zeppelin").strategy(Strategy::Fulltext)).await.unwrap();
    assert_eq!(keys(&recalled), ["opening", "end"]);
    assert!(recalled.hits[0].scores.score > recalled.hits[1].scores.score);
}

#[tokio::test]
async fn a_narrow_filter_keeps_its_rows_at_the_fiftieth_call() {
    let db = TestDatabase::new().await;
    // Small enough that the scope goes through the HNSW index.
    let htm = with(&db, |settings| settings.recall.exact_scope = 100);
    let memories: Vec<Memory> = (0..1_500)
        .map(|n| {
            let mut memory = turn("a", n, &format!("note {n} about subject {}", n % 7));
            memory.robot = Some(if n % 100 == 0 { "owl" } else { "lark" }.into());
            memory
        })
        .collect();
    htm.remember_many(&memories).await.unwrap();
    drain(&db, Stage::Embed).await;
    for call in 1..=50 {
        let query = RecallQuery::new("subject 3").limit(10).filter(Filter::default().robot("owl"));
        assert_eq!(htm.recall(&query).await.unwrap().hits.len(), 10, "call {call}");
    }
}
