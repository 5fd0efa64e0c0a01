//! `htm recall`: what it says of its answer.

use htm_core::Stage;
use htm_tests::{Sandbox, TestDatabase, drain};
use serde_json::json;

async fn filled(db: &TestDatabase) -> Sandbox {
    let sandbox = Sandbox::new(db);
    for (key, content) in [
        ("watch", "The night watch saw a zeppelin <b>& fled</b>."),
        ("pin", "We pinned PostgreSQL 17.2."),
        ("port", "PostgreSQL listens on port 17."),
    ] {
        sandbox.htm(&["remember", "--key", key, "--at", "2026-03-01", content]).await.succeeds();
    }
    drain(db, Stage::Embed).await;
    sandbox
}

#[tokio::test]
async fn an_answer_says_what_was_done() {
    let db = TestDatabase::new().await;
    let sandbox = filled(&db).await;
    let arguments =
        ["recall", "--strategy", "auto", "--snippets", "--explain", "\"night watch\" zepp* -bread"];
    let said = sandbox.htm(&arguments).await;
    insta::with_settings!({
        filters => vec![(r"in \d+\.\d ms \(embedding the query \d+\.\d ms\)", "in [ms]")]
    }, {
        insta::assert_snapshot!("recall_explained", said.succeeds());
    });
    let said = sandbox.htm(&["recall", "--strategy", "fulltext", "zepeplin"]).await;
    let expected = "\nno memory has these words; searched for `zeppelin` instead of `zepeplin`\n";
    assert!(said.succeeds().ends_with(expected), "{said:?}");
    // Another memory has the phrase.
    let said = sandbox.htm(&["recall", "--strategy", "vector", "\"night watch\" -zeppelin"]).await;
    let expected = "\nno memory among those searched has the quoted phrase; searched for its words";
    assert!(said.succeeds().contains(expected), "{said:?}");
    let sentence = ["recall", "--strategy", "fulltext", "what did the watch see at night -zeppelin"];
    let said = sandbox.htm(&sentence).await;
    let expected = "\nnote: `-zeppelin` excluded nothing, because the query reads as a sentence; leave out full stops \
                    and question marks, and give at most four other words";
    assert!(said.succeeds().contains(expected), "{said:?}");
    // Before a query that begins with a dash.
    let recalled = sandbox.htm(&["recall", "--json", "--", "-night 17.2"]).await.json();
    let keys: Vec<_> = recalled["hits"].as_array().unwrap().iter().map(|hit| hit["key"].clone()).collect();
    assert_eq!(keys, ["pin", "port"]);
    let strict = ["recall", "--json", "--strategy", "vector", "--min-similarity", "0.99", "night"];
    assert_eq!(sandbox.htm(&strict).await.json()["hits"], json!([]));
}

#[tokio::test]
async fn json_has_what_was_asked_for() {
    let db = TestDatabase::new().await;
    let sandbox = filled(&db).await;
    let recalled = sandbox
        .htm(&["recall", "--json", "--snippets", "--explain", "--strategy", "auto", "17.2"])
        .await
        .json();
    let reason = json!({ "strategy": "fulltext", "reason": "exact_terms" });
    assert_eq!(
        (&recalled["strategy"], &recalled["chosen"], &recalled["corrected"]),
        (&json!("auto"), &reason, &json!([]))
    );
    assert_eq!(recalled["legs"], json!(["text"]));
    let ms = recalled["search_ms"].to_string();
    assert!(ms.split_once('.').is_some_and(|(_, decimals)| decimals.len() <= 3), "{ms}");
    let hit = &recalled["hits"][0];
    assert_eq!(hit["snippet"], "We pinned PostgreSQL <mark>17.2</mark>.");
    assert!(hit["scores"]["text_share"].as_f64().is_some_and(|share| share > 0.0 && share <= 1.0));
    let names: Vec<_> =
        hit["explanation"]["parts"].as_array().unwrap().iter().map(|part| part["name"].clone()).collect();
    assert_eq!(names, ["words", "exact"]);
    let plain = sandbox.htm(&["recall", "--json", "17.2"]).await.json();
    assert!(plain["hits"][0].get("snippet").is_none() && plain["hits"][0].get("explanation").is_none());
    assert_eq!(plain["chosen"], json!(null));
}

/// Counts are written behind the recalls; a command ends before that, and writes them as it closes.
#[tokio::test]
async fn what_commands_find_is_counted() {
    let db = TestDatabase::new().await;
    let sandbox = filled(&db).await;
    let asked = "select coalesce(sum(a.access_count), 0)::bigint from htm.node_accesses a
                   join htm.nodes n on n.id = a.node_id where n.key = 'watch'";
    let fulltext = ["recall", "--strategy", "fulltext", "night watch"];
    for (times, arguments) in [
        (1, &fulltext[..]),
        (2, &["recall", "--json", "night watch"]),
        (3, &["recall", "--fold", "night watch"]),
        (4, &["context", "--as", "ada", "night watch"]),
        (5, &["recall", "--timeframe", "auto", "2026-03-01"]),
    ] {
        sandbox.htm(arguments).await.succeeds();
        assert_eq!(db.count(asked).await, times, "{arguments:?}");
    }
    let recalled = sandbox.htm(&["--json", "recall", "--strategy", "fulltext", "night watch"]).await.json();
    assert_eq!(recalled["hits"][0]["access_count"], 5);
    // Questions that measure are not counted, nor is what was not asked for.
    let questions = sandbox.write("questions.jsonl", "{\"id\": \"q\", \"text\": \"night watch\"}\n");
    sandbox.htm(&["recall", "--batch", &questions]).await.succeeds();
    assert_eq!(db.count(asked).await, 6);
}
