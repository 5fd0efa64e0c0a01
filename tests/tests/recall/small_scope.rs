//! A scope of few nodes is read at once. It has the hits that the legs have.

use htm_core::{
    Caller, Confirmation, Filter, Hit, Htm, Memory, RecallQuery, Settings, Stage, Strategy, TimeExpression,
};
use htm_tests::{TestDatabase, drain};
use serde_json::{Value, json};
use sqlx::PgPool;

const WORDS: [&str; 24] = [
    "ledger", "harbour", "engine", "garden", "night", "invoice", "mirror", "copper", "winter", "letter",
    "piano", "river", "signal", "tunnel", "velvet", "window", "anchor", "basket", "candle", "desert",
    "ember", "falcon", "glacier", "hammer",
];

/// Conversations with numbered turns and without, some of them long, and notes, in two namespaces.
pub(super) async fn filled(db: &TestDatabase) {
    let memory = |n: usize| {
        let length = if n.is_multiple_of(17) { 90 } else { 3 + n % 9 };
        let words = (0..length).map(|at| match length {
            90 => format!("w{}", n * 100 + at),
            _ => WORDS[(n * n + at * at * 7 + at) % WORDS.len()].to_owned(),
        });
        let content = format!("{} in {n}, {}", WORDS[n % 24], words.collect::<Vec<_>>().join(" "));
        let at = chrono::DateTime::from_timestamp(1_770_000_000 + 600 * n as i64, 0).unwrap();
        let mut memory = Memory::new(content).at(at).robot(["ada", "bob"][n % 2]);
        if !n.is_multiple_of(3) {
            memory.session = Some(format!("talk {}", n / 12));
            memory.seq = (n / 12).is_multiple_of(2).then_some((n % 12) as i32);
            memory.speaker = Some(["Ada", "Bob"][n % 2].into());
            // A part of a document among them is no turn.
            memory.kind = n.is_multiple_of(5).then(|| "passage".into());
        }
        if n.is_multiple_of(8) { memory.namespace("home") } else { memory }
    };
    let htm = db.htm();
    let memories: Vec<Memory> = (0..240).map(memory).collect();
    let remembered = htm.remember_many(&memories).await.unwrap();
    drain(db, Stage::Embed).await;
    for receipt in remembered.into_iter().step_by(13) {
        let node = receipt.unwrap().node;
        htm.forget(node, &Caller::AnyRobot, Confirmation::Confirmed).await.unwrap();
    }
    sqlx::query("select htm.refresh_statistics(n) from unnest(array['default', 'home']) n")
        .execute(&db.pool)
        .await
        .unwrap();
}

/// By the legs, unless the scope is read at once.
fn handle(db: &TestDatabase, is_small: bool) -> Htm {
    handle_on(db, db.pool.clone(), is_small)
}

/// As [`handle`], with another pool.
pub(super) fn handle_on(db: &TestDatabase, pool: PgPool, is_small: bool) -> Htm {
    let mut settings: Settings = db.htm().settings().clone();
    if !is_small {
        settings.recall.exact_scope = 0;
    }
    let embedder = htm_providers::fake::embedder(Default::default()).unwrap();
    Htm::with_pool(pool, settings, Some(embedder))
}

pub(super) fn told(hits: &[Hit]) -> Vec<Value> {
    let hit = |hit: &Hit| json!([hit.node.content, hit.scores, hit.matched_by, hit.explanation]);
    hits.iter().map(hit).collect()
}

#[tokio::test]
async fn a_small_scope_has_the_hits_of_the_legs() {
    let db = TestDatabase::new().await;
    filled(&db).await;
    let (small, legs) = (handle(&db, true), handle(&db, false));
    let day: TimeExpression = "2026-02-02".parse().unwrap();
    let filters: [fn(RecallQuery) -> RecallQuery; 5] = [
        |query| query,
        |query| query.namespace("home"),
        |query| query.filter(Filter::default().namespace("home").namespace("default")),
        |query| query.filter(Filter::default().robot("ada")),
        |query| query.filter(Filter::default().session("talk 4")),
    ];
    let mut found = 0;
    for strategy in [Strategy::Hybrid, Strategy::Fulltext] {
        for text in
            ["who lit the candle at night?", "copper mirror", "what did Bob write in the letter", "zebra"]
        {
            let query = RecallQuery::new(text).strategy(strategy).limit(30);
            let query = RecallQuery { explain: true, count_accesses: false, ..query };
            let timed = query.clone().timeframe(day.clone());
            for query in filters.iter().map(|filter| filter(query.clone())).chain([timed]) {
                let [at_once, by_legs] = [&small, &legs].map(async |htm| htm.recall(&query).await.unwrap());
                let (at_once, by_legs) = (at_once.await, by_legs.await);
                assert_eq!(told(&at_once.hits), told(&by_legs.hits), "{strategy} {text} {:?}", query.filter);
                found += at_once.hits.len();
            }
        }
    }
    assert!(found > 500, "{found}");
}

/// The statistics know one memory of the zeppelin, and no submarine.
#[tokio::test]
async fn the_words_of_a_small_scope_are_counted_in_its_texts() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    htm.remember(Memory::new("the zeppelin landed")).await.unwrap();
    sqlx::query("select htm.refresh_statistics('default')").execute(&db.pool).await.unwrap();
    let landings = (0..30).map(|n| Memory::new(format!("the zeppelin landed in hall {n}")));
    htm.remember_many(&landings.collect::<Vec<_>>()).await.unwrap();
    htm.remember(Memory::new("a submarine below")).await.unwrap();
    let recall = async |text: &str| {
        let query = RecallQuery::new(text).strategy(Strategy::Fulltext).limit(50);
        htm.recall(&RecallQuery { explain: true, ..query }).await.unwrap()
    };
    let corrected = recall("zeppelin sumbarine").await;
    let used: Vec<&str> = corrected.corrected.iter().map(|it| it.used.as_str()).collect();
    assert_eq!(used, ["submarine"]);
    assert_eq!(corrected.hits.len(), 32);
    assert_eq!(corrected.hits[0].node.content, "a submarine below", "the rare word decides");
    assert!(corrected.hits.iter().all(|hit| (0.0..=1.0).contains(&hit.scores.score)));
    // A filter leaves out texts of the namespace, so its words are those of the statistics.
    let filtered = RecallQuery::new("sumbarine").filter(Filter::default().robot(&*htm.settings().robot));
    let filtered = htm.recall(&filtered.strategy(Strategy::Fulltext)).await.unwrap();
    assert!(filtered.corrected.is_empty() && filtered.hits.is_empty());
}

/// The statistics know one short memory. The texts that came since are too large to be read at once.
#[tokio::test]
async fn texts_that_are_larger_than_the_statistics_know_are_found() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    htm.remember(Memory::new("the zeppelin landed")).await.unwrap();
    sqlx::query("select htm.refresh_statistics('default')").execute(&db.pool).await.unwrap();
    for book in 0..6 {
        let words = (0..45_000).map(|at| format!("w{book}x{at}y"));
        let content = format!("book {book} {} zeppelin", words.collect::<Vec<_>>().join(" "));
        htm.remember(Memory::new(content)).await.unwrap();
    }
    for (text, count) in [("zeppelin", 7), ("w3x17y", 1)] {
        let query = RecallQuery::new(text).strategy(Strategy::Fulltext).limit(9);
        assert_eq!(htm.recall(&query).await.unwrap().hits.len(), count, "{text}");
    }
}
