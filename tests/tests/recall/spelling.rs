//! Misspelled words of a query, and what was meant.

use htm_core::worker::statistics;
use htm_core::{Htm, MatchedBy, Memory, RecallQuery, Strategy};
use htm_tests::TestDatabase;

use crate::words::{filled, found};

#[tokio::test]
async fn words_that_were_replaced_are_said() {
    let db = TestDatabase::new().await;
    let htm = filled(&db, &["the zeppelin landed at the harbour", "bread for the picnic"]).await;
    let ship = "the zeppelin landed at the harbour";
    // As long as nobody has counted the words, and afterwards.
    for counted in [false, true] {
        if counted {
            statistics::refresh(&db.pool, "default").await.unwrap();
        }
        for (text, used) in [("zepeplin", "zeppelin"), ("zeppellinn", "zeppelin"), ("harbur", "harbour")] {
            let query = RecallQuery::new(text).strategy(Strategy::Fulltext);
            let recalled = htm.recall(&query).await.unwrap();
            assert_eq!(recalled.hits[0].node.content, ship, "{text}, counted {counted}");
            let corrected: Vec<_> =
                recalled.corrected.iter().map(|c| (c.asked.as_str(), c.used.as_str())).collect();
            assert_eq!(corrected, [(text, used)], "counted {counted}");
        }
        for text in ["zeppelin", "xylophone", "with the"] {
            let recalled = htm.recall(&RecallQuery::new(text)).await.unwrap();
            assert!(recalled.corrected.is_empty(), "{text}");
        }
        // Nothing is like any word: text finds nothing, vectors answer.
        assert!(found(&htm, "xylophone quux", Strategy::Fulltext).await.is_empty());
        let recalled = htm.recall(&RecallQuery::new("xylophone quux")).await.unwrap();
        assert!(recalled.hits.iter().all(|hit| hit.matched_by == MatchedBy::Vector));
    }
}

/// Their stems are further apart than the words.
#[tokio::test]
async fn a_letter_of_an_inflected_word_is_corrected() {
    let db = TestDatabase::new().await;
    let texts = [
        "the migration took an hour",
        "the retention of the backups",
        "replication was late",
        "scanning a partition",
        "it is time to send them",
    ];
    let htm = filled(&db, &texts).await;
    for counted in [false, true] {
        if counted {
            statistics::refresh(&db.pool, "default").await.unwrap();
        }
        for (asked, used, text) in [
            ("migraton", "migration", texts[0]),
            ("migratxon", "migration", texts[0]),
            ("migratoin", "migration", texts[0]),
            ("retenton", "retention", texts[1]),
            ("replicaton", "replication", texts[2]),
            ("scannig", "scanning", texts[3]),
            ("partitiom", "partition", texts[3]),
        ] {
            let recalled = htm.recall(&RecallQuery::new(asked).strategy(Strategy::Fulltext)).await.unwrap();
            let hits: Vec<_> = recalled.hits.iter().map(|hit| hit.node.content.as_str()).collect();
            assert_eq!(hits, [text], "{asked}, counted {counted}");
            let corrected: Vec<_> =
                recalled.corrected.iter().map(|it| (it.asked.as_str(), it.used.as_str())).collect();
            assert_eq!(corrected, [(asked, used)], "counted {counted}");
        }
        // Another first letter, another word, two edits.
        for other in ["nigration", "senders", "pratitoin"] {
            let recalled = htm.recall(&RecallQuery::new(other).strategy(Strategy::Fulltext)).await.unwrap();
            assert!(recalled.corrected.is_empty() && recalled.hits.is_empty(), "{other}, counted {counted}");
        }
    }
}

/// The language cuts the ends of the words that are typed, and not those of the words with accents.
#[tokio::test]
async fn accents_may_be_left_out() {
    let db = TestDatabase::new().await;
    let texts = ["We decided to hire Käthe", "the tickets for Beyoncé", "a summary of résumé formats"];
    let htm = filled(&db, &texts).await;
    for counted in [false, true] {
        if counted {
            statistics::refresh(&db.pool, "default").await.unwrap();
        }
        for (asked, used, text) in [("kathe", "käthe", texts[0]), ("beyonce", "beyoncé", texts[1])] {
            let recalled = htm.recall(&RecallQuery::new(asked).strategy(Strategy::Fulltext)).await.unwrap();
            let hits: Vec<_> = recalled.hits.iter().map(|hit| hit.node.content.as_str()).collect();
            assert_eq!(hits, [text], "{asked}, counted {counted}");
            let corrected: Vec<_> =
                recalled.corrected.iter().map(|it| (it.asked.as_str(), it.used.as_str())).collect();
            assert_eq!(corrected, [(asked, used)], "counted {counted}");
        }
        // An ordinary word of English may be that of another language.
        assert_eq!(found(&htm, "resume", Strategy::Fulltext).await, [texts[2]], "counted {counted}");
    }
}

/// A virama within a word is a mark of its letter.
#[tokio::test]
async fn words_with_marks_are_corrected() {
    let db = TestDatabase::new().await;
    let htm = filled(&db, &["विद्यालय में परीक्षा होगी", "कार्यालय मंगलवार खुलेगा"]).await;
    for counted in [false, true] {
        if counted {
            statistics::refresh(&db.pool, "default").await.unwrap();
        }
        let hits = found(&htm, "विद्यालाय", Strategy::Fulltext).await;
        assert_eq!(hits, ["विद्यालय में परीक्षा होगी"], "counted {counted}");
    }
}

/// Words are kept between two counts, unless all texts of a small namespace are read.
#[tokio::test]
async fn words_are_known_anew_when_they_are_counted_and_none_is_told_that_is_gone() {
    let db = TestDatabase::new().await;
    let mut settings = filled(&db, &["the zeppelin landed", "sandwiches"]).await.settings().clone();
    settings.recall.exact_scope = 0;
    let htm = Htm::with_pool(db.pool.clone(), settings, None);
    let corrected = async |text: &str| -> Vec<String> {
        let query = RecallQuery::new(text).strategy(Strategy::Fulltext);
        htm.recall(&query).await.unwrap().corrected.into_iter().map(|it| it.used).collect()
    };
    statistics::refresh(&db.pool, "default").await.unwrap();
    assert_eq!(corrected("zepeplin").await, ["zeppelin"]);
    assert!(corrected("sumbarine").await.is_empty());
    htm.remember(Memory::new("a submarine below")).await.unwrap();
    statistics::refresh(&db.pool, "default").await.unwrap();
    assert_eq!(corrected("sumbarine").await, ["submarine"]);
    assert_eq!(corrected("zepeplin").await, ["zeppelin"]);
    sqlx::query("delete from htm.lexeme_statistics where lexeme like 'zep%'")
        .execute(&db.pool)
        .await
        .unwrap();
    assert!(corrected("zepeplin").await.is_empty());
}

/// Ordinary words that a collection does not have are no misspelled ones.
#[tokio::test]
async fn no_word_of_the_demos_questions_is_replaced() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let lines = |text: &'static str| -> Vec<serde_json::Value> {
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let text = |value: &serde_json::Value, field: &str| value[field].as_str().unwrap().to_owned();
    let memories = lines(include_str!("../../../demo/memories.jsonl"));
    let memories = memories.iter().map(|line| Memory::new(text(line, "text")).namespace(text(line, "ns")));
    htm.remember_many(&memories.collect::<Vec<_>>()).await.unwrap();
    let questions = lines(include_str!("../../../demo/questions.jsonl"));
    assert_eq!(questions.len(), 32);
    let mut corrected = Vec::new();
    for counted in [false, true] {
        for question in &questions {
            let namespace = text(question, "ns");
            if counted {
                statistics::refresh(&db.pool, &namespace).await.unwrap();
            }
            let query = RecallQuery::new(text(question, "text")).namespace(namespace);
            corrected.extend(htm.recall(&query.strategy(Strategy::Fulltext)).await.unwrap().corrected);
        }
    }
    assert!(corrected.is_empty(), "{corrected:?}");
}
