//! Verdicts, erasures, purges and fits beside each other, and namespaces that join and part.

use htm_core::worker::learning::{self, LearntRanking};
use htm_core::{
    Caller, Confirmation, Erase, Feedback, LearningSettings, Memory, Purge, RankingFigures, RecallQuery,
    Signal, Trial, TrialKind,
};
use htm_tests::wait_until;

use super::{by_age, judge, learnt, nodes, on, recall, with_learning};

#[tokio::test]
async fn verdicts_beside_erasures_and_purges_fail_neither() {
    let (db, htm) = with_learning(LearningSettings { keeps_text: true, ..on() }).await;
    // With two nodes less each time: one is judged while the others are removed.
    for round in 0..4 {
        let recalled = recall(&htm).await;
        let hits = nodes(&recalled);
        htm.flush().await;
        htm.forget(hits[2], &Caller::Handle, Confirmation::Confirmed).await.unwrap();
        let erase = Erase::Memories(vec![hits[1]]);
        let (purge, feedback) =
            (Purge::before(chrono::Utc::now()), Feedback { used: vec![hits[0]], useless: vec![] });
        let (judged, erased, purged) = tokio::join!(
            htm.feedback(recalled.recall_id.as_ref().unwrap(), &feedback),
            htm.erase(&erase, None, Confirmation::Confirmed),
            htm.purge(&purge, Confirmation::Confirmed),
        );
        // The recall may be gone with one of its candidates.
        assert!(
            judged.as_ref().map_or_else(|error| error.code() == "recall_unknown", |it| it.used == 1),
            "{judged:?}"
        );
        assert_eq!(erased.unwrap().memories, 1, "round {round}");
        // A node that the verdict holds is left to the next one.
        purged.unwrap();
    }
    let gone = "select count(*) from htm.recall_candidates c where not exists (select from htm.nodes n where n.id = c.node_id)";
    assert_eq!(db.count(gone).await, 0);
}

#[tokio::test]
async fn a_query_is_not_kept_beside_the_erasure_of_what_it_may_quote() {
    let (db, htm) = with_learning(LearningSettings { keeps_text: true, ..on() }).await;
    let hits = nodes(&recall(&htm).await);
    htm.flush().await;
    // As an erasure by another program that is about to commit.
    let mut tx = db.pool.begin().await.unwrap();
    sqlx::raw_sql("select pg_advisory_xact_lock(hashtext('htm.recalls')); delete from htm.recalls")
        .execute(&mut *tx)
        .await
        .unwrap();
    sqlx::query("delete from htm.nodes where id = $1").bind(hits[0].0).execute(&mut *tx).await.unwrap();
    recall(&htm).await;
    let (flushed, committed) = tokio::join!(htm.flush(), tx.commit());
    committed.unwrap();
    let () = flushed;
    assert_eq!(db.count("select count(*) from htm.recalls").await, 1);
    assert_eq!(db.count("select count(*) from htm.recalls where query is not null").await, 0);
    assert_eq!(db.count("select sum(cardinality(candidates)) from htm.recalls").await, 11);
}

#[tokio::test]
async fn a_verdict_while_a_ranking_is_learnt_leaves_the_request_to_the_next() {
    let (db, htm) = with_learning(on()).await;
    let judged = async || {
        let recalled = recall(&htm).await;
        judge(&htm, &recalled, &nodes(&recalled)[..1], &[]).await
    };
    for _ in 0..19 {
        assert!(!judged().await.learns);
    }
    assert!(judged().await.learns);
    let queue = htm_core::job::LEARN_QUEUE;
    htm_core::worker::workers::register(&db.pool, queue, "worker", "test", 30_000).await.unwrap();
    let (lease, claimed) =
        htm_core::worker::jobs::claim(&db.pool, queue, "-", "worker", 10).await.unwrap().unwrap();
    for _ in 0..5 {
        assert!(!judged().await.learns);
    }
    assert!(learning::ack(&db.pool, &lease, &claimed[0].id, "default", None).await.unwrap());
    assert!(judged().await.learns);
    assert_eq!(
        db.count("select count(*) from apalis.jobs where job_type = 'htm.learn' and status = 'Pending'")
            .await,
        1
    );
}

#[tokio::test]
async fn what_learns_with_a_namespace_goes_with_it_to_another() {
    let (_db, htm) = with_learning(on()).await;
    let with = |home: &str| LearningSettings { learns_with: Some(home.into()), ..on() };
    htm.set_learning(Some("follower"), &with("default")).await.unwrap();
    htm.set_learning(None, &with("home")).await.unwrap();
    assert_eq!(htm.rankings(Some("follower")).await.unwrap().namespace, "home");
    let follower = htm.learning(Some("follower")).await.unwrap().settings;
    assert_eq!(follower.learns_with.as_deref(), Some("home"));
}

#[tokio::test]
async fn a_namespace_that_joins_beside_another_has_the_home_of_that_one() {
    let (db, htm) = with_learning(on()).await;
    // As another program that is about to let `middle` learn with `home`.
    let mut tx = db.pool.begin().await.unwrap();
    sqlx::raw_sql(
        "select pg_advisory_xact_lock(hashtext('htm.learning'));
         insert into htm.learning (namespace, learns_with, is_on)
         values ('home', 'home', true), ('middle', 'home', true)",
    )
    .execute(&mut *tx)
    .await
    .unwrap();
    let with_middle = LearningSettings { learns_with: Some("middle".into()), ..on() };
    let commit = async {
        let waiting = "select count(*) from pg_locks l join pg_database d on d.oid = l.database
                        where d.datname = current_database() and l.locktype = 'advisory' and not l.granted";
        wait_until(|| async { db.count(waiting).await == 1 }).await;
        tx.commit().await.unwrap();
    };
    let (joined, ()) = tokio::join!(htm.set_learning(Some("follower"), &with_middle), commit);
    assert_eq!(joined.unwrap().settings.learns_with.as_deref(), Some("home"));
    let chains =
        "select count(*) from htm.learning l join htm.learning home on home.namespace = l.learns_with
                   where home.learns_with <> home.namespace";
    assert_eq!(db.count(chains).await, 0);
}

#[tokio::test]
async fn a_namespace_joins_beside_another_whose_recalls_are_counted() {
    let (db, htm) = with_learning(on()).await;
    let with_default = LearningSettings { learns_with: Some("default".into()), ..on() };
    let mut tx = db.pool.begin().await.unwrap();
    sqlx::query("lock table htm.recalls").execute(&mut *tx).await.unwrap();
    let look = async {
        let counting = "select count(*) from pg_locks l join pg_database d on d.oid = l.database
                         where d.datname = current_database() and l.relation = 'htm.recalls'::regclass
                           and not l.granted";
        wait_until(|| async { db.count(counting).await == 1 }).await;
        let free = "select pg_try_advisory_xact_lock(hashtext('htm.learning'))";
        let is_free: bool = sqlx::query_scalar(free).fetch_one(&mut *tx).await.unwrap();
        tx.commit().await.unwrap();
        is_free
    };
    let (joined, is_free) = tokio::join!(htm.set_learning(Some("follower"), &with_default), look);
    joined.unwrap();
    assert!(is_free);
}

#[tokio::test]
async fn a_citation_is_of_the_last_recall_also_if_several_are_written_at_once() {
    let (db, htm) = with_learning(LearningSettings { signals: Signal::ALL.into(), ..on() }).await;
    let hit = async |host: u32| {
        let query = RecallQuery::new(format!("which disk was full on host {host}")).limit(1);
        htm.recall(&query).await.unwrap().hits.remove(0).node
    };
    hit(3).await;
    let last = hit(7).await;
    htm.remember(Memory::new(format!("As I said: {} So we bought more.", last.content))).await.unwrap();
    let cited: Vec<i64> =
        sqlx::query_scalar("select node_id from htm.feedback").fetch_all(&db.pool).await.unwrap();
    assert_eq!(cited, [last.id.0]);
}

#[tokio::test]
async fn a_namespace_that_joins_brings_its_judgements_and_outlives_the_other() {
    let (db, htm) = with_learning(on()).await;
    for _ in 0..12 {
        let recalled = recall(&htm).await;
        judge(&htm, &recalled, &nodes(&recalled)[..1], &[]).await;
    }
    let alone = htm.learning(None).await.unwrap();
    assert_eq!((alone.judged, alone.learns_at), (12, 20));
    htm.remember(Memory::new("A note.").namespace("home")).await.unwrap();
    htm.set_learning(Some("home"), &on()).await.unwrap();
    let with = LearningSettings { learns_with: Some("home".into()), ..on() };
    htm.set_learning(None, &with).await.unwrap();
    let together = htm.learning(Some("home")).await.unwrap();
    assert_eq!((together.judged, together.learns_at), (12, 20));
    // Nothing was used: the recall is not kept longer.
    let recalled = recall(&htm).await;
    let unknown = htm.remember(Memory::new("Something else.").namespace("home")).await.unwrap().node;
    judge(&htm, &recalled, &[unknown], &[]).await;
    let kept = "select count(*) from htm.recalls where keep_until > now() + interval '2 days'";
    assert_eq!(db.count(kept).await, 12);
    // A shorter time applies to what is there.
    htm.set_learning(None, &LearningSettings { keep_days: 1, ..with }).await.unwrap();
    assert_eq!(db.count(kept).await, 0);

    htm.erase(&Erase::Namespace("home".into()), None, Confirmation::Confirmed).await.unwrap();
    let parted = htm.learning(None).await.unwrap();
    assert_eq!((parted.settings.is_on, parted.settings.learns_with, parted.judged), (true, None, 12));
    assert!(recall(&htm).await.recall_id.is_some());
}

#[tokio::test]
async fn a_new_ranking_leaves_a_trial_alone() {
    let (db, htm) = with_learning(on()).await;
    learnt(&db, by_age(), false).await;
    let trial = Trial { version: 1, kind: TrialKind::Interleaved };
    htm.try_ranking(None, Some(trial)).await.unwrap();
    htm_tests::enqueue_learning(&db, "default").await;
    let queue = htm_core::job::LEARN_QUEUE;
    htm_core::worker::workers::register(&db.pool, queue, "worker", "test", 30_000).await.unwrap();
    let (lease, claimed) =
        htm_core::worker::jobs::claim(&db.pool, queue, "-", "worker", 10).await.unwrap().unwrap();
    let better = LearntRanking {
        ranking: by_age(),
        figures: RankingFigures::default(),
        adopted: true,
        reason: "it is better".into(),
    };
    assert!(learning::ack(&db.pool, &lease, &claimed[0].id, "default", Some(&better)).await.unwrap());
    let rankings = htm.rankings(None).await.unwrap();
    assert_eq!((rankings.active, rankings.trial), (0, Some(trial)));
    let newest = &rankings.rankings[0];
    assert_eq!((newest.version, newest.was_adopted), (2, false));
    assert_eq!(newest.reason, "it is better; not used while version 1 is tried");
}
