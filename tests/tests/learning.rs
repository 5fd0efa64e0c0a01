//! Learning: recalls that are kept, feedback, signals, rankings and their choice.

#[path = "learning/authors.rs"]
mod authors;
#[path = "learning/meanwhile.rs"]
mod meanwhile;
#[path = "learning/superseded.rs"]
mod superseded;

use std::time::Duration;

use htm_core::ranking::{FEATURE_COUNT, FEATURE_VERSION, Learnt};
use htm_core::worker::learning::{self, LearntRanking};
use htm_core::{
    Caller, Confirmation, Edit, Erase, Feedback, Htm, LearningProblem, LearningSettings, Memory, NodeId,
    Purge, RankingFigures, RecallQuery, Recalled, Signal, Strategy, Trial, TrialKind,
};
use htm_tests::{Sandbox, TestDatabase, drain, wait_until, worker_options};
use learn_worker::LearnHandler;
use tokio_util::sync::CancellationToken;

/// A database with memories about disks that are embedded, and learning on.
async fn with_learning(settings: LearningSettings) -> (TestDatabase, Htm) {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    for place in 0..12 {
        htm.remember(Memory::new(format!("The disk of host {place} was full on day {}.", 12 - place)))
            .await
            .unwrap();
    }
    drain(&db, htm_core::Stage::Embed).await;
    htm.set_learning(None, &settings).await.unwrap();
    (db, htm)
}

fn on() -> LearningSettings {
    LearningSettings { is_on: true, least: 20, ..LearningSettings::default() }
}

async fn recall(htm: &Htm) -> Recalled {
    htm.recall(&RecallQuery::new("which disk was full on host 3").limit(5)).await.unwrap()
}

fn nodes(recalled: &Recalled) -> Vec<NodeId> {
    recalled.hits.iter().map(|hit| hit.node.id).collect()
}

async fn judge(
    htm: &Htm,
    recall: &Recalled,
    used: &[NodeId],
    useless: &[NodeId],
) -> htm_core::FeedbackReceipt {
    let feedback = Feedback { used: used.into(), useless: useless.into() };
    htm.feedback(recall.recall_id.as_ref().unwrap(), &feedback).await.unwrap()
}

/// A ranking that prefers the oldest.
fn by_age() -> Learnt {
    let mut ranking = Learnt::default_ranking();
    let age = htm_core::ranking::FEATURES.iter().position(|(name, _)| *name == "age").unwrap();
    ranking.weights.fill(0.0);
    ranking.weights[age] = 1.0;
    ranking
}

/// Writes a ranking as a worker does.
async fn learnt(db: &TestDatabase, ranking: Learnt, adopted: bool) {
    sqlx::query(
        "insert into htm.rankings (namespace, version, learnt, figures, adopted, reason)
         select 'default', coalesce(max(version), 0) + 1, $1, $2, $3, 'made by a test' from htm.rankings",
    )
    .bind(sqlx::types::Json(ranking))
    .bind(sqlx::types::Json(RankingFigures::default()))
    .bind(adopted)
    .execute(&db.pool)
    .await
    .unwrap();
}

#[tokio::test]
async fn nothing_is_kept_until_a_namespace_asks() {
    let (db, htm) = with_learning(LearningSettings::default()).await;
    let recalled = recall(&htm).await;
    assert_eq!((recalled.recall_id, recalled.ranking.version), (None, 0));
    htm.flush().await;
    assert_eq!(db.count("select count(*) from htm.recalls").await, 0);

    // The program that turns it on does not wait for its own news.
    htm.set_learning(None, &on()).await.unwrap();
    let recalled = recall(&htm).await;
    assert_eq!(recalled.recall_id.as_ref().unwrap().len(), 26);
    htm.flush().await;
    assert_eq!(db.count("select count(*) from htm.recalls where query is null").await, 1);
    // A row for all candidates, until somebody judges them.
    assert_eq!(db.count("select sum(cardinality(candidates)) from htm.recalls").await, 12);
    let hits = "select count(*) from htm.recalls r, unnest(r.candidates_shown) c(place) where place > 0";
    assert_eq!(db.count(hits).await, 5);
    let width =
        "select (octet_length(candidates_features) / cardinality(candidates))::bigint from htm.recalls";
    assert_eq!(db.count(width).await, 4 * FEATURE_COUNT as i64);
    judge(&htm, &recalled, &nodes(&recalled)[..1], &[]).await;
    assert_eq!(db.count("select count(*) from htm.recalls where candidates is null").await, 1);
    assert_eq!(db.count("select count(*) from htm.recall_candidates").await, 12);
    assert_eq!(db.count("select count(*) from htm.recall_candidates where shown is not null").await, 5);

    // What is no search of both kinds, or does not count, is not kept.
    let quiet = RecallQuery { count_accesses: false, ..RecallQuery::new("disk") };
    assert_eq!(htm.recall(&quiet).await.unwrap().recall_id, None);
    let words = RecallQuery::new("disk").strategy(Strategy::Fulltext);
    assert_eq!(htm.recall(&words).await.unwrap().recall_id, None);
    let other = RecallQuery::new("disk").namespace("other");
    assert_eq!(htm.recall(&other).await.unwrap().recall_id, None);

    let texts = LearningSettings { keeps_text: true, ..on() };
    htm.set_learning(None, &texts).await.unwrap();
    recall(&htm).await;
    htm.flush().await;
    assert_eq!(db.count("select count(*) from htm.recalls where query like 'which disk%'").await, 1);
    htm.set_learning(None, &on()).await.unwrap();
    assert_eq!(db.count("select count(*) from htm.recalls where query is not null").await, 0);
}

#[tokio::test]
async fn feedback_is_recorded_once_and_bounded() {
    let (db, htm) = with_learning(on()).await;
    let recalled = recall(&htm).await;
    let hits = nodes(&recalled);
    let receipt = judge(&htm, &recalled, &hits[..2], &hits[3..4]).await;
    assert_eq!((receipt.used, receipt.useless, receipt.judged), (2, 1, 1));
    // A later verdict replaces the earlier one, and the recall counts once.
    let receipt = judge(&htm, &recalled, &hits[3..4], &hits[..1]).await;
    assert_eq!((receipt.used, receipt.useless, receipt.judged), (1, 1, 1));
    assert_eq!(db.count("select count(*) from htm.feedback").await, 3);
    assert_eq!(db.count("select count(*) from htm.feedback where is_used").await, 2);
    // It is kept for the namespace's time now.
    assert_eq!(
        db.count("select count(*) from htm.recalls where keep_until > now() + interval '80 days'").await,
        1
    );

    let unknown = htm.remember(Memory::new("Something else.")).await.unwrap().node;
    let receipt = judge(&htm, &recalled, &[unknown], &[]).await;
    assert_eq!((receipt.used, receipt.not_considered), (0, vec![unknown]));

    let code = async |id: &str, feedback: Feedback| htm.feedback(id, &feedback).await.unwrap_err().code();
    let used = Feedback { used: hits[..1].into(), useless: vec![] };
    assert_eq!(code("01M8AGE71K3WB1C51X48ZE4G8H", used.clone()).await, "recall_unknown");
    assert_eq!(code("7", used.clone()).await, "recall_unknown");
    assert_eq!(code(recalled.recall_id.as_ref().unwrap(), Feedback::default()).await, "feedback_invalid");
    // The last recall of the same author needs no id.
    let later = recall(&htm).await;
    let receipt = htm.feedback("last", &used).await.unwrap();
    assert_eq!((Some(receipt.recall), receipt.judged), (later.recall_id, 2));
    let other = htm.clone().on_behalf_of("key 0f3a");
    assert_eq!(other.feedback("last", &used).await.unwrap_err().code(), "recall_unknown");
    // A full-text recall is not kept: its hits are none of the last one's.
    let words = RecallQuery::new("something else").strategy(Strategy::Fulltext);
    assert_eq!(htm.recall(&words).await.unwrap().recall_id, None);
    let of_words = Feedback { used: vec![unknown], useless: vec![] };
    assert_eq!(code("last", of_words).await, "feedback_invalid");
    // Another tenant does not find it.
    let walled = htm.within(["other"]).unwrap();
    let error = walled.feedback(recalled.recall_id.as_ref().unwrap(), &used).await.unwrap_err();
    assert_eq!(error.code(), "recall_unknown");
}

#[tokio::test]
async fn what_is_exported_cannot_deceive_the_reader_of_a_terminal() {
    let (db, htm) = with_learning(on()).await;
    let recalled = recall(&htm).await;
    htm.flush().await;
    let author = "key \u{202e}0f3a";
    judge(&htm.on_behalf_of(author), &recalled, &nodes(&recalled)[..1], &[]).await;
    let exported = Sandbox::new(&db).htm(&["learning", "export"]).await;
    assert_eq!(exported.json()["author"], author);
    assert!(!exported.stdout.contains('\u{202e}'), "{exported:?}");
}

#[tokio::test]
async fn an_author_judges_only_so_many_recalls_a_day() {
    let (db, htm) = with_learning(on()).await;
    let recalled = recall(&htm).await;
    htm.flush().await;
    sqlx::raw_sql(
        "with r as (insert into htm.recalls (id, namespace, author, features, version, shown, keep_until)
                    select lpad(i::text, 26, '0'), 'default', 'x', 1, 0, 1, now() + interval '1 day'
                      from generate_series(1, 2000) i returning number),
              c as (insert into htm.recall_candidates (namespace, recall, node_id, place, shown, features)
                    select 'default', number, 1, 1, 1, '' from r returning recall)
         select 1",
    )
    .execute(&db.pool)
    .await
    .unwrap();
    sqlx::query(
        "insert into htm.feedback (namespace, recall, node_id, author, signal, is_used)
         select 'default', recall, 1, $1, 'told', true from htm.recall_candidates where features = ''",
    )
    .bind(htm.actor())
    .execute(&db.pool)
    .await
    .unwrap();
    let feedback = Feedback { used: nodes(&recalled), useless: vec![] };
    let error = htm.feedback(recalled.recall_id.as_ref().unwrap(), &feedback).await.unwrap_err();
    assert_eq!(error.code(), "feedback_exceeded");
    let other = htm.clone().on_behalf_of("key 0f3a");
    assert_eq!(other.feedback(recalled.recall_id.as_ref().unwrap(), &feedback).await.unwrap().used, 5);
}

#[tokio::test]
async fn an_author_that_only_refuses_is_named_and_asks_for_nothing() {
    let (db, htm) = with_learning(on()).await;
    for _ in 0..21 {
        let recalled = recall(&htm).await;
        let receipt = judge(&htm, &recalled, &[], &nodes(&recalled)).await;
        assert_eq!((receipt.judged, receipt.learns), (0, false));
    }
    let state = htm.learning(None).await.unwrap();
    assert!(state.authors[0].only_refuses());
    let author = htm.actor().to_owned();
    let problem = LearningProblem::OnlyRefuses { namespace: "default".into(), author, recalls: 21 };
    assert_eq!(htm.learning_problems().await.unwrap(), [problem]);
    assert_eq!(learning::evidence(&db.pool, "default").await.unwrap().recalls.len(), 0);
}

#[tokio::test]
async fn signals_count_where_they_are_named() {
    let (db, htm) = with_learning(LearningSettings { signals: Signal::ALL.into(), ..on() }).await;
    let recalled = recall(&htm).await;
    let hits = nodes(&recalled);
    let verdicts = async || {
        let rows: Vec<(String, i64, bool)> =
            sqlx::query_as("select signal, node_id, is_used from htm.feedback order by given_at, node_id")
                .fetch_all(&db.pool)
                .await
                .unwrap();
        rows.into_iter().map(|(signal, node, used)| (signal, NodeId(node), used)).collect::<Vec<_>>()
    };
    htm.get(hits[1]).await.unwrap();
    htm.edit(hits[2], &Edit::default().importance(7.0)).await.unwrap();
    htm.forget(hits[3], &Caller::Handle, Confirmation::Confirmed).await.unwrap();
    let cited = htm.get(hits[0]).await.unwrap().content;
    htm.remember(Memory::new(format!("As I said: {cited} So we bought more."))).await.unwrap();
    let signal = |signal: &str, at: usize, used| (signal.to_owned(), hits[at], used);
    assert_eq!(
        verdicts().await,
        [
            signal("read", 1, true),
            signal("edited", 2, true),
            signal("forgotten", 3, false),
            signal("read", 0, true),
            signal("cited", 0, true),
        ]
    );
    // Another author's reading says nothing of this recall, nor does reading what was no hit.
    let other = htm.clone().on_behalf_of("key 0f3a");
    other.get(hits[4]).await.unwrap();
    let rest = (1..=12).map(NodeId).find(|node| !hits.contains(node)).unwrap();
    htm.get(rest).await.unwrap();
    assert_eq!(verdicts().await.len(), 5);

    // By its text as by its number.
    let plan = htm.plan_forget(&cited, None, &Caller::Handle).await.unwrap();
    htm.forget_planned(&plan, &Caller::Handle, Confirmation::Confirmed).await.unwrap();
    assert!(verdicts().await.contains(&signal("forgotten", 0, false)));

    let signals = verdicts().await;
    htm.set_learning(None, &on()).await.unwrap();
    htm.get(hits[4]).await.unwrap();
    assert_eq!(verdicts().await, signals, "no signal counts any more");
}

#[tokio::test]
async fn a_ranking_is_asked_for_when_enough_is_judged() {
    let (db, htm) = with_learning(on()).await;
    let mut asked = Vec::new();
    for number in 1..=26 {
        let recalled = recall(&htm).await;
        let receipt = judge(&htm, &recalled, &nodes(&recalled)[..1], &[]).await;
        assert_eq!(receipt.judged, number);
        if receipt.learns {
            asked.push(number);
        }
    }
    // At 20, and when a fifth more are there.
    assert_eq!(asked, [20, 24]);
    let jobs: Vec<(String, String)> = sqlx::query_as(
        "select convert_from(job, 'UTF8'), metadata -> 'namespace' from apalis.jobs where job_type = 'htm.learn'",
    )
    .fetch_all(&db.pool)
    .await
    .unwrap();
    assert_eq!(jobs.len(), 1, "each namespace has one job");
    assert_eq!(jobs[0], (r#"{"v" : 1, "namespace" : "default"}"#.into(), "default".into()));

    let evidence = learning::evidence(&db.pool, "default").await.unwrap();
    assert_eq!(evidence.recalls.len(), 26);
    let first = &evidence.recalls[0];
    assert_eq!((first.candidates.len(), first.candidates[0].shown), (12, Some(1)));
    assert_eq!((first.candidates[0].is_used, first.candidates[1].is_used), (Some(true), None));
    assert!(first.candidates[0].features.iter().any(|feature| *feature > 0.0));
    let state = htm.learning(None).await.unwrap();
    assert_eq!((state.judged, state.learns_at, state.authors[0].recalls), (26, 29, 26));
}

#[tokio::test]
async fn a_ranking_is_chosen_tried_and_reverted() {
    let (db, htm) = with_learning(on()).await;
    let before = nodes(&recall(&htm).await);
    learnt(&db, by_age(), false).await;
    let rankings = htm.activate_ranking(None, 1).await.unwrap();
    assert_eq!((rankings.active, rankings.rankings[0].is_active), (1, true));
    let explained =
        RecallQuery { explain: true, ..RecallQuery::new("which disk was full on host 3").limit(5) };
    let recalled = htm.recall(&explained).await.unwrap();
    assert_eq!(recalled.ranking.version, 1);
    assert_eq!(nodes(&recalled), [1, 2, 3, 4, 5].map(NodeId), "the oldest come first");
    let weights: Vec<_> = recalled.ranking.weights.iter().map(|it| (it.feature, it.weight)).collect();
    assert!(weights.contains(&("age", 1.0)) && weights.contains(&("words", 0.0)), "{weights:?}");
    let parts = &recalled.hits[0].explanation.as_ref().unwrap().parts;
    assert_eq!(parts.iter().map(|part| &*part.name).collect::<Vec<_>>(), ["age"]);

    // The default in the shadow: the order differs. Interleaved: hits of both.
    htm.try_ranking(None, Some(Trial { version: 0, kind: TrialKind::Shadow })).await.unwrap();
    recall(&htm).await;
    htm.flush().await;
    let compared = htm.compare_rankings(None, 0).await.unwrap();
    assert_eq!((compared.shadowed, compared.differing), (1, 1));
    htm.try_ranking(None, Some(Trial { version: 0, kind: TrialKind::Interleaved })).await.unwrap();
    for _ in 0..8 {
        let recalled = recall(&htm).await;
        assert_eq!(recalled.ranking.interleaved_with, Some(0));
        let hits = nodes(&recalled);
        assert!(hits[..2].contains(&before[0]), "the best of the default is among the first two");
        judge(&htm, &recalled, &before[..1], &[]).await;
    }
    let compared = htm.compare_rankings(None, 0).await.unwrap();
    assert_eq!((compared.interleaved, compared.wins, compared.losses), (8, 8, 0));
    assert!(compared.verdict.starts_with("version 0 is better"), "{}", compared.verdict);

    let reverted = htm.revert_ranking(None).await.unwrap();
    assert_eq!((reverted.active, reverted.trial), (0, None));
    assert_eq!(nodes(&recall(&htm).await), before);
    let choices: Vec<_> = reverted.choices.iter().map(|choice| (choice.former, choice.version)).collect();
    assert_eq!(choices, [(1, 0), (0, 1)]);
    let code = async |version| htm.activate_ranking(None, version).await.unwrap_err().code();
    assert_eq!(code(9).await, "ranking_unknown");
}

#[tokio::test]
async fn reverts_walk_back_through_the_choices() {
    let (db, htm) = with_learning(on()).await;
    let active = async || htm.revert_ranking(None).await.map(|it| it.active).map_err(|it| it.code());
    assert_eq!(active().await, Err("ranking_unknown"));
    for version in [1, 2] {
        learnt(&db, by_age(), false).await;
        htm.activate_ranking(None, version).await.unwrap();
    }
    assert_eq!((active().await, active().await), (Ok(1), Ok(0)));
    assert_eq!(active().await, Err("ranking_unknown"), "nothing is left to take back");
    htm.activate_ranking(None, 2).await.unwrap();
    assert_eq!((active().await, active().await), (Ok(0), Err("ranking_unknown")));
}

#[tokio::test]
async fn a_ranking_that_does_not_fit_falls_back() {
    let (db, htm) = with_learning(on()).await;
    let before = nodes(&recall(&htm).await);
    learnt(&db, Learnt { version: FEATURE_VERSION + 1, ..by_age() }, true).await;
    learnt(&db, Learnt { weights: vec![1.0; FEATURE_COUNT - 1], ..by_age() }, true).await;
    let error = htm.activate_ranking(None, 1).await.unwrap_err();
    assert_eq!(error.code(), "ranking_unusable");
    assert!(error.to_string().contains("version 2 of the features"), "{error}");
    // One that another program has chosen.
    for version in [1, 2] {
        sqlx::query("update htm.learning set version = $1").bind(version).execute(&db.pool).await.unwrap();
        let other = db.htm();
        let recalled = recall(&other).await;
        assert_eq!((recalled.ranking.version, nodes(&recalled)), (0, before.clone()));
        let why = recalled.ranking.fallback.unwrap();
        assert!(why.starts_with(&format!("version {version} is not used")), "{why}");
        let problems = other.learning_problems().await.unwrap();
        assert!(matches!(&problems[..], [LearningProblem::Unusable { version: it, .. }] if *it == version));
    }
}

#[tokio::test]
async fn namespaces_learn_apart_unless_they_are_grouped() {
    let (db, htm) = with_learning(on()).await;
    let other = LearningSettings { is_on: true, ..LearningSettings::default() };
    htm.set_learning(Some("other"), &other).await.unwrap();
    let recalled = recall(&htm).await;
    judge(&htm, &recalled, &nodes(&recalled)[..1], &[]).await;
    assert_eq!(learning::evidence(&db.pool, "other").await.unwrap().recalls.len(), 0);
    learnt(&db, by_age(), true).await;
    htm.activate_ranking(None, 1).await.unwrap();
    let version = async |namespace: &str| {
        let query = RecallQuery::new("disk").namespace(namespace);
        htm.recall(&query).await.unwrap().ranking.version
    };
    assert_eq!((version("default").await, version("other").await), (1, 0));

    let grouped = LearningSettings { learns_with: Some("default".into()), ..other };
    htm.set_learning(Some("other"), &grouped).await.unwrap();
    assert_eq!(version("other").await, 1);
    assert_eq!(htm.rankings(Some("other")).await.unwrap().namespace, "default");
    let walled = htm.within(["other"]).unwrap();
    let refused = walled.set_learning(Some("other"), &grouped).await.unwrap_err();
    assert_eq!(refused.code(), "namespace_forbidden");
    assert_eq!(walled.activate_ranking(None, 0).await.unwrap_err().code(), "namespace_forbidden");
    // Neither through one that learns with it.
    let walled = htm.within(["mine", "other"]).unwrap();
    let through = LearningSettings { learns_with: Some("other".into()), ..on() };
    let refused = walled.set_learning(Some("mine"), &through).await.unwrap_err();
    assert_eq!(refused.code(), "namespace_forbidden");
}

#[tokio::test]
async fn the_last_recall_is_one_that_the_handle_sees() {
    let (_db, htm) = with_learning(on()).await;
    htm.set_learning(Some("tenants/a"), &on()).await.unwrap();
    htm.remember(Memory::new("The disk was full.").namespace("tenants/a")).await.unwrap();
    let tenant = htm.within(["tenants/*"]).unwrap();
    let query = RecallQuery::new("disk").namespace("tenants/a");
    let recalled = tenant.recall(&query).await.unwrap();
    let later = recall(&htm).await;
    assert_ne!(later.recall_id, recalled.recall_id);
    let feedback = Feedback { used: nodes(&recalled), useless: vec![] };
    let judged = tenant.feedback("last", &feedback).await.unwrap();
    assert_eq!(Some(judged.recall), recalled.recall_id);
}

#[tokio::test]
async fn what_is_kept_ends_with_its_time_and_its_memories() {
    let (db, htm) = with_learning(LearningSettings { keeps_text: true, ..on() }).await;
    let recalled = recall(&htm).await;
    let hits = nodes(&recalled);
    judge(&htm, &recalled, &hits[..2], &[]).await;
    let erase = Erase::Memories(vec![hits[0]]);
    htm.erase(&erase, None, Confirmation::Confirmed).await.unwrap();
    assert_eq!(db.count("select count(*) from htm.recall_candidates").await, 11);
    assert_eq!(db.count("select count(*) from htm.feedback").await, 1);
    // The query may quote the memory.
    assert_eq!(db.count("select count(*) from htm.recalls where query is not null").await, 0);

    // One that nobody has judged goes with any of its candidates.
    for gone in [hits[1], hits[2]] {
        recall(&htm).await;
        htm.flush().await;
        assert_eq!(db.count("select count(*) from htm.recalls where not judged").await, 1);
        match gone == hits[1] {
            true => {
                let erase = Erase::Memories(vec![gone]);
                let receipt = htm.erase(&erase, None, Confirmation::Confirmed).await.unwrap();
                assert_eq!(receipt.removed["htm.recalls"], 1, "{receipt:?}");
            }
            false => {
                htm.forget(gone, &Caller::Handle, Confirmation::Confirmed).await.unwrap();
                htm.purge(&Purge::before(chrono::Utc::now()), Confirmation::Confirmed).await.unwrap();
            }
        }
        assert_eq!(db.count("select count(*) from htm.recalls where not judged").await, 0);
    }

    recall(&htm).await;
    htm.flush().await;
    sqlx::raw_sql("update htm.recalls set keep_until = now() - interval '1 second' where not judged")
        .execute(&db.pool)
        .await
        .unwrap();
    htm.sweep().await.unwrap();
    assert_eq!(db.count("select count(*) from htm.recalls").await, 1);
}

#[tokio::test]
async fn a_worker_writes_its_ranking_with_the_end_of_the_job() {
    let (db, htm) = with_learning(on()).await;
    for _ in 0..20 {
        let recalled = recall(&htm).await;
        judge(&htm, &recalled, &nodes(&recalled)[..1], &[]).await;
    }
    let queue = htm_core::job::LEARN_QUEUE;
    htm_core::worker::workers::register(&db.pool, queue, "worker", "test", 30_000).await.unwrap();
    let (lease, claimed) =
        htm_core::worker::jobs::claim(&db.pool, queue, "-", "worker", 10).await.unwrap().unwrap();
    assert_eq!(claimed.len(), 1);
    let learnt = LearntRanking {
        ranking: by_age(),
        figures: RankingFigures { judged: 20, ..RankingFigures::default() },
        adopted: true,
        reason: "it is better".into(),
    };
    let lost = htm_core::worker::jobs::Lease { worker: "another".into(), ..lease.clone() };
    assert!(!learning::ack(&db.pool, &lost, &claimed[0].id, "default", Some(&learnt)).await.unwrap());
    assert_eq!(htm.rankings(None).await.unwrap().rankings.len(), 0);
    assert!(learning::ack(&db.pool, &lease, &claimed[0].id, "default", Some(&learnt)).await.unwrap());
    assert!(!learning::ack(&db.pool, &lease, &claimed[0].id, "default", Some(&learnt)).await.unwrap());
    let rankings = htm.rankings(None).await.unwrap();
    assert_eq!((rankings.active, rankings.rankings.len()), (1, 1));
    assert_eq!(rankings.choices[0].chosen_by, "learn-worker");
    assert_eq!(
        db.count("select count(*) from apalis.jobs where job_type = 'htm.learn' and status = 'Done'").await,
        1
    );
}

/// Judges 120 recalls: of each, the oldest hit was used. The recalls are of different hours.
async fn prefer_the_oldest(db: &TestDatabase, htm: &Htm) {
    for number in 0..120 {
        let query = RecallQuery::new(format!("which disk was full on host {}", number % 12)).limit(10);
        let recalled = htm.recall(&query).await.unwrap();
        let oldest = nodes(&recalled).into_iter().min().unwrap();
        judge(htm, &recalled, &[oldest], &[]).await;
    }
    let spread = "update htm.recalls set made_at = now() - (10000 - number) * interval '1 hour'
                   where author <> 'key bad'";
    sqlx::raw_sql(spread).execute(&db.pool).await.unwrap();
}

async fn learn(db: &TestDatabase) {
    let handler = LearnHandler::new(learn_worker::fit, Duration::from_secs(300));
    let stop = CancellationToken::new();
    let report = htm_worker::run(db.pool.clone(), handler, worker_options(true), stop).await.unwrap();
    assert_eq!((report.done, report.failed), (1, 0));
}

#[tokio::test]
async fn what_was_used_is_learnt_and_orders_the_next_recall() {
    let (db, htm) = with_learning(on()).await;
    prefer_the_oldest(&db, &htm).await;
    learn(&db).await;
    let rankings = htm.rankings(None).await.unwrap();
    let ranking = &rankings.rankings[0];
    assert_eq!((rankings.active, ranking.was_adopted), (1, true), "{ranking:#?}");
    assert_eq!((ranking.figures.judged, ranking.figures.authors), (120, 1));
    assert!(ranking.figures.gain_low > 0.0 && ranking.figures.ndcg > ranking.figures.ndcg_default);
    assert!(ranking.weights.iter().any(|it| it.feature == "age" && it.weight > 0.1), "{:?}", ranking.weights);

    wait_until(|| async { recall(&htm).await.ranking.version == 1 }).await;
    let query = RecallQuery::new("a disk that was full").limit(5);
    let first = htm.recall(&query).await.unwrap().hits[0].node.id;
    assert!(first <= NodeId(3), "one of the oldest is first: {first}");
}

#[tokio::test]
async fn an_attacker_moves_nothing() {
    let (db, htm) = with_learning(on()).await;
    prefer_the_oldest(&db, &htm).await;
    learn(&db).await;
    let before = htm.ranking(None, 1).await.unwrap();
    // As many recalls by another key, which finds everything useless that the others use.
    let bad = htm.clone().on_behalf_of("key bad");
    for number in 0..120 {
        let query = RecallQuery::new(format!("which disk was full on host {}", number % 12)).limit(10);
        let recalled = bad.recall(&query).await.unwrap();
        let receipt = judge(&bad, &recalled, &[], &nodes(&recalled)).await;
        assert_eq!((receipt.judged, receipt.learns), (120, false));
    }
    htm_tests::enqueue_learning(&db, "default").await;
    learn(&db).await;
    let after = htm.ranking(None, 2).await.unwrap();
    assert_eq!((&before.weights, &before.figures), (&after.weights, &after.figures));
    assert!(after.was_adopted);
    let problems = htm.learning_problems().await.unwrap();
    assert!(matches!(&problems[..], [LearningProblem::OnlyRefuses { author, .. }] if author == "key bad"));
}
