//! A recall that is refined, from the command line.

use htm_core::{Memory, Stage};
use htm_tests::{Sandbox, TestDatabase, drain};

const FAKES: [&str; 4] = ["--set", "rerank.provider=fake", "--set", "expansion.provider=fake"];

async fn filled(db: &TestDatabase) -> Sandbox {
    let htm = db.htm();
    for (key, text) in [
        ("a", "The staging database moved to port 5433"),
        ("b", "The staging database moved to port 5433!"),
        ("c", "Mara prefers tabs"),
    ] {
        htm.remember(Memory::new(text).key(key)).await.unwrap();
    }
    drain(db, Stage::Embed).await;
    Sandbox::new(db)
}

#[tokio::test]
async fn a_re_ranker_is_asked_when_it_is_to_be() {
    let db = TestDatabase::new().await;
    let sandbox = filled(&db).await;
    let said = sandbox.htm(&[&FAKES[..], &["recall", "--rerank", "who", "prefers", "tabs"]].concat()).await;
    assert!(said.succeeds().contains("  re-ranked 0.6"), "{said:?}");
    assert!(said.stdout.contains("; re-ranking "), "{said:?}");
    let json = sandbox.htm(&[&FAKES[..], &["--json", "recall", "--rerank", "tabs"]].concat()).await.json();
    assert_eq!(json["hits"][0]["key"], "c");
    assert!(json["hits"][0]["scores"]["reranked"].is_f64() && json["rerank_ms"].is_f64(), "{json}");
}

#[tokio::test]
async fn a_step_that_did_not_run_is_told_with_the_command_that_mends_it() {
    let db = TestDatabase::new().await;
    let sandbox = filled(&db).await;
    let gone = ["--set", "rerank.provider=http", "--set", "rerank.url=http://127.0.0.1:9"];
    let command = [&gone[..], &["recall", "--rerank", "tabs"]].concat();
    let said = sandbox.htm(&command).await;
    assert!(said.succeeds().contains("\ndegraded: not re-ranked: "), "{said:?}");
    assert!(said.stdout.contains("`htm doctor`"), "{said:?}");
    let json = sandbox.htm(&[&["--json"], &command[..]].concat()).await.json();
    let degraded = &json["degraded"][0];
    assert_eq!((&degraded["step"], &degraded["code"]), (&"rerank".into(), &"provider_unreachable".into()));
    assert!(degraded["hint"].as_str().unwrap().contains("`htm doctor`"), "{degraded}");
}

#[tokio::test]
async fn what_is_not_configured_or_cannot_work_is_told_with_the_next_step() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let error = sandbox.htm(&["--json", "recall", "--rerank", "tabs"]).await.json_error(1);
    assert_eq!(error["code"], "reranker_missing");
    assert!(error["hint"].as_str().unwrap().contains("rerank.provider"), "{error}");
    let error = sandbox.htm(&["--json", "recall", "--expand", "tabs"]).await.json_error(1);
    assert_eq!(error["code"], "expander_missing");
    let error = sandbox.htm(&["--json", "recall", "--diversity", "-1", "tabs"]).await.json_error(2);
    assert_eq!(error["code"], "diversity_out_of_range");
    let local = ["--set", "rerank.provider=local", "--set", "rerank.path=/nowhere/model"];
    let error = sandbox.htm(&[&local[..], &["--json", "recall", "--rerank", "tabs"]].concat()).await;
    let error = error.json_error(1);
    assert_eq!(error["code"], "provider_settings_value");
    assert!(error["message"].as_str().unwrap().contains("/nowhere/model/config.json is missing"), "{error}");
    let error = sandbox.htm(&["--set", "rerank.format=bing", "recall", "--rerank", "tabs"]).await;
    assert!(error.stderr.contains("\"cohere\", \"jina\", \"llama.cpp\", \"tei\""), "{error:?}");
}

#[tokio::test]
async fn near_duplicates_are_folded() {
    let db = TestDatabase::new().await;
    let sandbox = filled(&db).await;
    let json = sandbox.htm(&["--json", "recall", "--fold", "staging", "port"]).await.json();
    assert_eq!(json["hits"][0]["folded"].as_array().unwrap().len(), 1, "{json}");
    let said = sandbox.htm(&["recall", "--fold", "staging", "port"]).await;
    assert!(said.succeeds().contains("  folded "), "{said:?}");
}

#[tokio::test]
async fn hits_can_be_diverse() {
    let db = TestDatabase::new().await;
    let sandbox = filled(&db).await;
    let recall = ["--json", "recall", "--limit", "2", "staging", "database", "tabs"];
    let json = sandbox.htm(&[&recall[..], &["--diversity", "0.6"]].concat()).await.json();
    let keys: Vec<&str> = (0..2).map(|hit| json["hits"][hit]["key"].as_str().unwrap()).collect();
    assert!(keys.contains(&"c"), "{keys:?}");
}

#[tokio::test]
async fn other_phrasings_are_searched_for_and_told() {
    let db = TestDatabase::new().await;
    let sandbox = filled(&db).await;
    let said = sandbox.htm(&[&FAKES[..], &["recall", "--expand", "staging", "prefers"]].concat()).await;
    assert!(said.succeeds().contains("\nalso searched for `prefers`, `staging` ("), "{said:?}");
    let json =
        sandbox.htm(&[&FAKES[..], &["--json", "recall", "--expand", "staging prefers"]].concat()).await;
    assert_eq!(json.json()["expansions"], serde_json::json!(["prefers", "staging"]));
}

#[tokio::test]
async fn the_doctor_looks_at_what_is_configured() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let said = sandbox.htm(&[&FAKES[..], &["doctor"]].concat()).await;
    assert!(said.stdout.contains("fake/shared-words re-ranks"), "{said:?}");
    assert!(said.stdout.contains("fake/long-words rephrases queries"), "{said:?}");
    let unreachable = ["--set", "rerank.provider=http", "--set", "rerank.url=http://127.0.0.1:1", "doctor"];
    let said = sandbox.htm(&unreachable).await;
    assert!(said.stdout.contains("the re-ranker: http/tei: cannot connect"), "{said:?}");
}
