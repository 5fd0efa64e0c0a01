//! A recall that is refined: re-ranked, expanded, folded, diverse.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use htm_core::provider::{
    Embedder, Embedding, ModelName, ProviderError, ProviderErrorKind, Purpose, QueryExpander, Reranker,
};
use htm_core::{
    Caller, Htm, Memory, NodeId, RecallQuery, RecallSettings, Recalled, RefineSettings, RelationKind,
    Settings, Stage, Step,
};
use htm_providers::fake::{FakeExpander, FakeReranker};
use htm_tests::{TestDatabase, drain, wait_until};

use super::keys;

/// Memories by key and text, embedded.
async fn filled(db: &TestDatabase, memories: &[(&str, &str)]) -> Htm {
    let htm = db.htm();
    for (key, text) in memories {
        htm.remember(Memory::new(*text).key(*key)).await.unwrap();
    }
    drain(db, Stage::Embed).await;
    htm
}

/// The same memories by a handle with other settings of refinement.
fn with_refine(htm: &Htm, refine: RefineSettings) -> Htm {
    let recall = RecallSettings { refine, ..htm.settings().recall.clone() };
    Htm::with_pool(htm.database_pool().unwrap().clone(), Settings { recall, ..htm.settings().clone() }, None)
}

const TABS: [(&str, &str); 4] = [
    ("long", "tabs tabs tabs and more tabs were sold in the shop of office supplies by the river"),
    ("short", "Mara prefers tabs"),
    ("spaces", "Jonas prefers spaces"),
    ("sea", "the sea is cold"),
];

/// Scores by a table of words: the first that a text has.
struct ByWord(Vec<(&'static str, f64)>, ModelName);

#[async_trait]
impl Reranker for ByWord {
    fn model(&self) -> &ModelName {
        &self.1
    }

    async fn rerank(&self, _: &str, texts: &[String]) -> Result<Vec<f64>, ProviderError> {
        let score =
            |text: &String| self.0.iter().find(|(word, _)| text.contains(word)).map(|(_, score)| *score);
        Ok(texts.iter().filter_map(score).collect())
    }
}

fn by_word(words: &[(&'static str, f64)]) -> Arc<dyn Reranker> {
    Arc::new(ByWord(words.to_vec(), ModelName::new("test", "words")))
}

/// Always the same phrasings.
struct Phrasings(Vec<&'static str>, ModelName);

#[async_trait]
impl QueryExpander for Phrasings {
    fn model(&self) -> &ModelName {
        &self.1
    }

    async fn expand(&self, _: &str, _: usize) -> Result<Vec<String>, ProviderError> {
        Ok(self.0.iter().map(|text| (*text).to_owned()).collect())
    }
}

fn phrasings(texts: &[&'static str]) -> Arc<dyn QueryExpander> {
    Arc::new(Phrasings(texts.to_vec(), ModelName::new("test", "phrasings")))
}

fn reranked(text: &str) -> RecallQuery {
    RecallQuery { rerank: true, ..RecallQuery::new(text) }
}

fn expanded(text: &str) -> RecallQuery {
    RecallQuery { expand: true, ..RecallQuery::new(text) }
}

#[tokio::test]
async fn the_re_ranker_orders_and_says_its_scores() {
    let db = TestDatabase::new().await;
    let htm = filled(&db, &TABS).await.with_reranker(by_word(&[
        ("sea", 9.0),
        ("Jonas", 2.0),
        ("Mara", -1.0),
        ("tabs", -1.0),
    ]));
    let recalled = htm.recall(&reranked("tabs")).await.unwrap();
    let plain = htm.recall(&RecallQuery::new("tabs")).await.unwrap();
    let order = keys(&recalled);
    assert_eq!(order[..2], ["sea", "spaces"]);
    // What is equal stays as it was found.
    let found: Vec<&str> = keys(&plain).into_iter().filter(|key| ["short", "long"].contains(key)).collect();
    assert_eq!(order[2..], found);
    assert_eq!(recalled.hits[0].scores.reranked, Some(9.0));
    assert!(recalled.rerank_ms > 0.0 && recalled.degraded.is_empty());
    assert!(plain.hits.iter().all(|hit| hit.scores.reranked.is_none()));
    // Candidates beyond the limit are seen by the re-ranker, and not shown.
    let one = htm.recall(&reranked("tabs").limit(1)).await.unwrap();
    assert_eq!(keys(&one), ["sea"]);
}

#[tokio::test]
async fn what_is_not_among_the_first_stays_behind_in_its_order() {
    let db = TestDatabase::new().await;
    let htm = filled(&db, &TABS).await;
    let plain = htm.recall(&RecallQuery::new("Mara prefers tabs")).await.unwrap();
    let htm = with_refine(&htm, RefineSettings { rerank_top: 2, ..RefineSettings::default() })
        .with_reranker(by_word(&[("sea", 9.0), ("Jonas", 5.0), ("Mara", 1.0), ("tabs", 2.0)]));
    let recalled = htm.recall(&reranked("Mara prefers tabs")).await.unwrap();
    let text_only = htm.recall(&RecallQuery::new("Mara prefers tabs")).await.unwrap();
    assert!(keys(&plain).len() >= keys(&recalled).len());
    let scored = recalled.hits.iter().filter(|hit| hit.scores.reranked.is_some()).count();
    assert_eq!((scored, &keys(&recalled)[2..]), (2, &keys(&text_only)[2..]));
}

#[tokio::test]
async fn a_re_ranker_that_fails_is_late_or_breaks_its_contract_leaves_the_order() {
    let db = TestDatabase::new().await;
    let htm = filled(&db, &TABS).await;
    let plain = keys(&htm.recall(&RecallQuery::new("tabs")).await.unwrap()).join(" ");
    let quick = RefineSettings { rerank_timeout: Duration::from_millis(20), ..RefineSettings::default() };
    let settings = Settings {
        recall: RecallSettings { refine: quick, ..htm.settings().recall.clone() },
        ..htm.settings().clone()
    };
    let slow = FakeReranker::default().with_latency(Duration::from_secs(60));
    let embedder: Arc<dyn htm_core::provider::Embedder> =
        Arc::new(htm_providers::fake::FakeEmbedder::default());
    let late = Htm::with_pool(htm.database_pool().unwrap().clone(), settings, Some(embedder))
        .with_reranker(Arc::new(slow));
    let failing = FakeReranker::failing(ProviderErrorKind::Server);
    for (htm, code) in [
        (htm.clone().with_reranker(Arc::new(failing)), "provider_server_error"),
        (htm.clone().with_reranker(by_word(&[("sea", f64::NAN), ("", 1.0)])), "provider_bad_response"),
        (htm.clone().with_reranker(by_word(&[("sea", 1.0)])), "provider_bad_response"),
        (late, "provider_timeout"),
    ] {
        let recalled = htm.recall(&reranked("tabs")).await.unwrap();
        assert_eq!(keys(&recalled).join(" "), plain, "{code}");
        assert_eq!((recalled.degraded[0].step, recalled.degraded[0].code), (Step::Rerank, code));
        assert!(recalled.hits.iter().all(|hit| hit.scores.reranked.is_none()), "{code}");
    }
}

#[tokio::test]
async fn what_is_asked_for_and_not_there_is_an_error() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let diverse = |diversity| RecallQuery { diversity: Some(diversity), ..RecallQuery::new("a") };
    for (code, query) in [
        ("reranker_missing", reranked("a")),
        ("expander_missing", expanded("a")),
        ("diversity_out_of_range", diverse(1.5)),
        ("diversity_out_of_range", diverse(f64::NAN)),
    ] {
        let error = htm.recall(&query).await.unwrap_err();
        assert_eq!(error.code(), code);
        assert!(!error.hint().is_empty());
    }
}

#[tokio::test]
async fn a_query_that_is_a_time_and_no_more_is_not_re_ranked() {
    let db = TestDatabase::new().await;
    let fake = Arc::new(FakeReranker::default());
    let htm = filled(&db, &TABS).await.with_reranker(fake.clone()).with_expander(phrasings(&["yesterday"]));
    let query = RecallQuery { expand: true, diversity: Some(0.5), ..reranked("today") };
    let recalled = htm.recall(&query.timeframe(htm_core::TimeFilter::Auto).limit(3)).await.unwrap();
    assert_eq!((recalled.hits.len(), fake.calls(), recalled.expansions.len()), (3, 0, 0));
}

#[tokio::test]
async fn a_query_that_is_a_time_of_no_memory_is_not_rephrased() {
    let db = TestDatabase::new().await;
    let fake = Arc::new(FakeExpander::default());
    let htm = filled(&db, &TABS).await.with_expander(fake.clone());
    let query = expanded("March 2020").timeframe(htm_core::TimeFilter::Auto);
    let recalled = htm.recall(&query).await.unwrap();
    assert_eq!((recalled.hits.len(), recalled.time_phrase.unwrap().query.as_str()), (0, ""));
    assert_eq!((fake.calls(), recalled.degraded.len()), (0, 0));
}

#[tokio::test]
async fn near_duplicates_are_one_hit_that_names_the_others() {
    let db = TestDatabase::new().await;
    let twins = [
        ("a", "The staging database moved to port 5433"),
        // The fake's vectors are of words, whatever stands between them.
        ("b", "The staging database moved to port 5433!"),
        ("c", "the staging database: moved to port 5433"),
        ("other", "The staging database is backed up every evening"),
        ("sea", "the sea is cold"),
    ];
    let htm = filled(&db, &twins).await;
    let query = RecallQuery { fold: true, ..RecallQuery::new("staging database port") };
    let recalled = htm.recall(&query).await.unwrap();
    let first = &recalled.hits[0];
    assert_eq!(first.folded.len(), 2, "{:?}", keys(&recalled));
    let folded: Vec<_> = first.folded.iter().filter(|node| **node != first.node.id).collect();
    assert_eq!(folded.len(), 2);
    let shown = keys(&recalled);
    assert_eq!(shown.iter().filter(|key| ["a", "b", "c"].contains(key)).count(), 1, "{shown:?}");
    assert!(shown.contains(&"other") && recalled.hits[1..].iter().all(|hit| hit.folded.is_empty()));
    // What is shown fills up with what is left.
    let two = htm.recall(&query.clone().limit(2)).await.unwrap();
    assert_eq!(keys(&two)[1], "other");
    let plain = htm.recall(&RecallQuery { fold: false, ..query }).await.unwrap();
    assert!(plain.hits.len() > recalled.hits.len() && plain.hits.iter().all(|hit| hit.folded.is_empty()));
}

#[tokio::test]
async fn the_same_text_is_folded_without_any_vector() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    for key in ["a", "b"] {
        htm.remember(Memory::new("A zeppelin crossed the harbour").key(key)).await.unwrap();
    }
    let query = RecallQuery { fold: true, ..RecallQuery::new("zeppelin") };
    let recalled = htm.recall(&query).await.unwrap();
    assert_eq!((recalled.hits.len(), recalled.hits[0].folded.len()), (1, 1));
}

#[tokio::test]
async fn diversity_brings_forward_what_is_not_a_twin() {
    let db = TestDatabase::new().await;
    let memories = [
        ("a", "The staging database moved to port 5433"),
        ("b", "The staging database moved to port 5433!"),
        ("other", "Which port the database of production has nobody knows"),
        ("sea", "the sea is cold"),
    ];
    let htm = filled(&db, &memories).await;
    let ask = async |diversity| {
        let query = RecallQuery { diversity, ..RecallQuery::new("staging database port").limit(2) };
        htm.recall(&query).await.unwrap()
    };
    let twins = |recalled: &Recalled| keys(recalled).iter().filter(|key| ["a", "b"].contains(key)).count();
    let (plain, relevant, diverse) = (ask(None).await, ask(Some(0.0)).await, ask(Some(0.5)).await);
    assert_eq!((twins(&plain), keys(&plain)), (2, keys(&relevant)));
    assert_eq!((twins(&diverse), keys(&diverse)[0]), (1, keys(&plain)[0]));
}

#[tokio::test]
async fn of_two_near_duplicates_the_current_one_is_shown() {
    let db = TestDatabase::new().await;
    let memories = [
        ("old", "The staging database moved to port 5433"),
        // The fake's vectors are of words, whatever stands between them.
        ("new", "The staging database moved to port 5433!"),
        ("other", "Which port the database of production has nobody knows"),
        ("sea", "the sea is cold"),
    ];
    let htm = filled(&db, &memories).await;
    let node = async |key: &str| htm.get_by_key(None, key).await.unwrap().unwrap().id;
    let (old, new) = (node("old").await, node("new").await);
    let ask = async |query: RecallQuery| htm.recall(&query).await.unwrap();
    let query = || RecallQuery::new("staging database port");
    // Whichever was found first, it is the outdated one.
    let found = ask(RecallQuery { fold: true, ..query() }).await;
    let (old, new) = if found.hits[0].node.id == old { (old, new) } else { (new, old) };
    assert_eq!((found.hits[0].node.id, &found.hits[0].folded[..]), (old, &[new][..]));
    htm.relate(new, RelationKind::Supersedes, old, None, &Caller::AnyRobot).await.unwrap();

    for (fold, diversity) in [(true, None), (true, Some(0.5)), (false, Some(0.5))] {
        let recalled = ask(RecallQuery { fold, diversity, ..query().limit(2) }).await;
        let shown: Vec<_> = recalled.hits.iter().map(|hit| hit.node.id).collect();
        assert!(shown[0] == new && !shown.contains(&old), "{fold} {diversity:?}: {:?}", keys(&recalled));
        let folded = if fold { vec![old] } else { Vec::new() };
        assert_eq!(recalled.hits[0].folded, folded, "{diversity:?}");
    }
    let followed = ask(RecallQuery { fold: true, follow: true, ..query() }).await;
    let first = &followed.hits[0];
    assert_eq!((first.node.id, first.followed_from.as_ref().map(|it| it.node)), (new, Some(old)));
    assert!(followed.hits.iter().all(|hit| !hit.folded.contains(&hit.node.id)));
}

#[tokio::test]
async fn other_phrasings_find_what_the_query_does_not() {
    let db = TestDatabase::new().await;
    let htm = filled(&db, &TABS).await;
    let text_only = with_refine(&htm, RefineSettings::default());
    let plain = text_only.recall(&RecallQuery::new("indentation tabs")).await.unwrap();
    assert!(!keys(&plain).contains(&"spaces"));
    let htm = text_only.with_expander(phrasings(&["spaces", "Indentation  tabs", "", "tabs"]));
    let recalled = htm.recall(&expanded("indentation tabs")).await.unwrap();
    assert_eq!(recalled.expansions, ["spaces", "tabs"]);
    assert!(keys(&recalled).contains(&"spaces"));
    assert_eq!(keys(&recalled)[0], keys(&plain)[0], "the query's own list weighs most");
    // A score means the same with other phrasings: the best that one of them gives.
    let mut best: HashMap<NodeId, f64> = HashMap::new();
    for phrasing in ["indentation tabs", "spaces", "tabs"] {
        for hit in htm.recall(&RecallQuery::new(phrasing).limit(100)).await.unwrap().hits {
            let score = best.entry(hit.node.id).or_default();
            *score = score.max(hit.scores.score);
        }
    }
    for hit in &recalled.hits {
        assert!((hit.scores.score - best[&hit.node.id]).abs() < 1e-9, "{best:?}: {:?}", hit.scores);
    }
    assert!(recalled.degraded.iter().all(|degraded| degraded.step != Step::Expansion));
}

#[tokio::test]
async fn an_expander_that_fails_leaves_the_query_to_answer() {
    let db = TestDatabase::new().await;
    let htm = filled(&db, &TABS).await;
    let plain = keys(&htm.recall(&RecallQuery::new("tabs")).await.unwrap()).join(" ");
    let failing = htm.with_expander(Arc::new(FakeExpander::failing(ProviderErrorKind::Unauthorized)));
    let recalled = failing.recall(&expanded("tabs")).await.unwrap();
    assert_eq!((keys(&recalled).join(" "), recalled.expansions.len()), (plain, 0));
    let degraded = &recalled.degraded[0];
    assert_eq!((degraded.step, degraded.code), (Step::Expansion, "provider_unauthorized"));
}

#[tokio::test]
async fn a_candidate_that_is_not_shown_was_not_recalled() {
    let db = TestDatabase::new().await;
    let htm = filled(&db, &TABS).await.with_reranker(Arc::new(FakeReranker::default()));
    let query = RecallQuery { fold: true, expand: true, ..reranked("tabs") }.limit(1);
    let htm = htm.with_expander(phrasings(&["spaces", "sea"]));
    assert_eq!(htm.recall(&query).await.unwrap().hits.len(), 1);
    // Written at once: what else was counted would come with it.
    let counted = "select coalesce(sum(access_count), 0)::bigint from htm.node_accesses";
    wait_until(|| async { db.count(counted).await > 0 }).await;
    assert_eq!(db.count(counted).await, 1);
}

#[tokio::test]
async fn other_phrasings_stay_within_the_namespace_and_the_time_that_was_meant() {
    let db = TestDatabase::new().await;
    let htm = filled(&db, &TABS).await;
    htm.remember(Memory::new("spaces elsewhere").key("elsewhere").namespace("other")).await.unwrap();
    htm.remember(Memory::new("spaces of old").key("old").at("2020-01-01T00:00:00Z".parse().unwrap()))
        .await
        .unwrap();
    let htm = with_refine(&htm, RefineSettings::default())
        .with_expander(phrasings(&["spaces last year", "spaces"]));
    let query = expanded("indentation today").timeframe(htm_core::TimeFilter::Auto);
    let recalled = htm.recall(&query).await.unwrap();
    assert_eq!(recalled.time_phrase.as_ref().unwrap().phrase, "today");
    assert_eq!(keys(&recalled), ["spaces"]);
}

#[tokio::test]
async fn what_the_query_shuts_out_no_phrasing_brings_back() {
    let db = TestDatabase::new().await;
    let htm = with_refine(&filled(&db, &TABS).await, RefineSettings::default());
    let htm = htm.with_expander(phrasings(&["spaces", "tabs"]));
    let recalled = htm.recall(&expanded("tabs -Mara")).await.unwrap();
    assert_eq!(recalled.expansions, ["spaces"]);
    let mut found = keys(&recalled);
    found.sort_unstable();
    assert_eq!(found, ["long", "spaces"]);
}

#[tokio::test]
async fn what_the_query_shuts_out_stays_out_if_its_phrase_is_relaxed() {
    let db = TestDatabase::new().await;
    let htm = with_refine(&filled(&db, &TABS).await, RefineSettings::default());
    let htm = htm.with_expander(phrasings(&["prefers"]));
    let recalled = htm.recall(&expanded("\"indentation tabs\" -Mara")).await.unwrap();
    assert!(recalled.relaxed);
    assert_eq!(recalled.expansions, ["prefers"]);
    let mut found = keys(&recalled);
    found.sort_unstable();
    assert_eq!(found, ["long", "spaces"]);
}

/// Gives vectors of what is no number, or no answer.
struct Broken {
    model: ModelName,
    answers: bool,
}

#[async_trait]
impl Embedder for Broken {
    fn model(&self) -> &ModelName {
        &self.model
    }

    async fn dimensions(&self) -> Result<usize, ProviderError> {
        Ok(64)
    }

    async fn embed(&self, texts: &[String], _: Purpose) -> Result<Vec<Embedding>, ProviderError> {
        if !self.answers {
            std::future::pending::<()>().await;
        }
        Ok(texts.iter().map(|_| Embedding { vector: vec![f32::NAN; 64], parts: 1 }).collect())
    }
}

#[tokio::test]
async fn an_embedder_that_is_late_or_gives_no_numbers_leaves_full_text() {
    let db = TestDatabase::new().await;
    let htm = filled(&db, &TABS).await;
    let quick = Duration::from_millis(20);
    let recall = RecallSettings { embed_timeout: quick, ..htm.settings().recall.clone() };
    let settings = Settings { recall, ..htm.settings().clone() };
    for (answers, code) in [(true, "provider_bad_response"), (false, "provider_timeout")] {
        let broken = Broken { model: settings.embedding_model.clone(), answers };
        let htm = Htm::with_pool(db.pool.clone(), settings.clone(), Some(Arc::new(broken)));
        // The second one would come from the cache.
        for _ in 0..2 {
            let recalled = htm.recall(&RecallQuery::new("Mara prefers tabs")).await.unwrap();
            assert_eq!((recalled.degraded[0].step, recalled.degraded[0].code), (Step::Vector, code));
            assert_eq!(keys(&recalled)[0], "short");
        }
    }
}
