//! A whole namespace: all of it, in bounded transactions, and on after an interruption.

use htm_core::{Caller, Confirmation, Erase, Htm, JoinOptions, Memory, Quota, Retention, Stage, TagFilter};
use htm_tests::{TestDatabase, drain};

use super::tables_with;

use Confirmation::Confirmed;

/// The namespace that is erased: its name is in no other row.
const DOOMED: &str = "tenants/zeppelin";

/// Fills a namespace with some of everything.
async fn fill(htm: &Htm) {
    let memory = Memory::new("A memory.").namespace(DOOMED).robot("ada");
    let node = htm.remember(memory.clone().tag("ship:large".parse().unwrap())).await.unwrap().node;
    htm.remember(memory.robot("bea")).await.unwrap();
    let robot = htm.robot_in(DOOMED, "ada").await.unwrap();
    robot.add(&[node]).await.unwrap();
    robot.close().await.unwrap();
    htm.merge_robots(Some(DOOMED), &["bea"], "ada").await.unwrap();
    let member = htm.group("crew").namespace(DOOMED).join("ada", JoinOptions::default()).await.unwrap();
    member.add(node).await.unwrap();
    member.leave().await.unwrap();
    let ontology = htm.ontology(Some(DOOMED)).unwrap();
    ontology.rename("ship", "vessel").await.unwrap();
    let read = htm_documents::read("a.md", b"# A", &Default::default()).unwrap();
    let (mut document, _) = read.document("a.md", 3, htm.tag_rules(), &[]);
    document.namespace = Some(DOOMED.into());
    htm.load_document(&document, &Caller::AnyRobot).await.unwrap();
    htm.set_quota(Some(DOOMED), Quota { max_memories: Some(1_000_000), ..Quota::default() }).await.unwrap();
    let retention = Retention { forget_after_seconds: Some(86_400_000), purge_after_seconds: None };
    htm.set_retention(Some(DOOMED), retention, Confirmed).await.unwrap();
    htm.providers().unwrap().set_budget(DOOMED, Some(1_000_000)).await.unwrap();
}

#[tokio::test]
async fn all_of_a_namespace_is_erased_and_nothing_of_another() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let kept = htm
        .remember(Memory::new("kept").namespace("tenants/zeppelin/notes").tag("a".parse().unwrap()))
        .await
        .unwrap()
        .node;
    fill(&htm).await;
    for stage in Stage::ALL {
        drain(&db, stage).await;
    }
    htm_core::worker::statistics::refresh(&db.pool, DOOMED).await.unwrap();
    let forgotten = htm.remember(Memory::new("forgotten").namespace(DOOMED)).await.unwrap().node;
    htm.forget(forgotten, &Caller::AnyRobot, Confirmed).await.unwrap();
    let erased = htm.erase(&Erase::Namespace(DOOMED.into()), None, Confirmed).await.unwrap();
    for table in [
        "htm.budgets",
        "htm.documents",
        "htm.lexeme_statistics",
        "htm.merged_robots",
        "htm.namespace_statistics",
        "htm.quotas",
        "htm.retention",
        "htm.robot_groups",
        "htm.robots",
        "htm.tag_change_names",
        "htm.tag_changes",
        "htm.tag_synonyms",
        "htm.tags",
    ] {
        assert!(erased.removed.contains_key(table), "{table}: {erased:?}");
    }
    let verified = htm.verify_erasure(erased.id, None).await.unwrap();
    assert!(verified.is_clean, "{verified:?}");
    htm.get(kept).await.unwrap();
    let of_kept = "select count(*) from htm.tags t join htm.robots r using (namespace) where t.path = 'a'";
    assert_eq!(db.count(of_kept).await, 1);
    // Its name is in the receipt and in the log, beside the namespaces below it.
    let doomed = "select count(*) from htm.nodes where namespace = 'tenants/zeppelin'";
    assert_eq!(db.count(doomed).await, 0);
    sqlx::query("delete from htm.audit_log").execute(&db.pool).await.unwrap();
    let others: Vec<String> = tables_with(&db, "\"tenants/zeppelin\"").await;
    assert_eq!(others, ["htm.erasures"]);

    // The name can be used again, and what is new is no trace.
    let fresh =
        htm.remember(Memory::new("fresh").namespace(DOOMED).tag("b".parse().unwrap())).await.unwrap().node;
    let verified = htm.verify_erasure(erased.id, None).await.unwrap();
    assert!(verified.is_clean, "{verified:?}");
    htm.resume_erasure(erased.id, |_| {}).await.unwrap();
    htm.get(fresh).await.unwrap();
    let tag = TagFilter::Exact("b".parse().unwrap());
    let query =
        htm_core::RecallQuery::new("fresh").filter(htm_core::Filter::default().namespace(DOOMED).tag(tag));
    assert_eq!(htm.recall(&query).await.unwrap().hits.len(), 1);
}

async fn many(htm: &Htm, count: usize) {
    let memories: Vec<Memory> =
        (0..count).map(|n| Memory::new(format!("zeppelin {n}")).namespace(DOOMED)).collect();
    for some in memories.chunks(1_000) {
        for result in htm.remember_many(some).await.unwrap() {
            result.unwrap();
        }
    }
}

#[tokio::test]
async fn an_interrupted_erasure_goes_on_where_it_stopped() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    many(&htm, 2_500).await;
    let begun = htm.begin_erasure(&Erase::Namespace(DOOMED.into()), None, Confirmed).await.unwrap();
    assert_eq!((begun.memories, begun.erased, begun.ended_at), (2_500, 0, None));
    // The process ends after its first transaction.
    let first = htm.clone();
    let (told, tell) = tokio::sync::oneshot::channel::<()>();
    let mut told = Some(told);
    let killed = tokio::spawn(async move {
        first
            .resume_erasure(begun.id, |_| {
                if let Some(told) = told.take() {
                    told.send(()).unwrap();
                }
            })
            .await
    });
    tell.await.unwrap();
    killed.abort();
    let _ = killed.await;
    let stopped = htm.erasure(begun.id).await.unwrap();
    assert!(stopped.erased >= 1_000, "{stopped:?}");
    // What is written meanwhile to the namespace is erased with it.
    if stopped.ended_at.is_none() {
        htm.remember(Memory::new("zeppelin, the last").namespace(DOOMED)).await.unwrap();
        assert!(!htm.verify_erasure(begun.id, None).await.unwrap().is_clean);
    }
    let ended = htm.resume_erasure(begun.id, |_| {}).await.unwrap();
    assert_eq!((ended.erased, ended.memories), (ended.removed["htm.nodes"], ended.removed["htm.nodes"]));
    assert!(ended.erased >= 2_500);
    assert_eq!(tables_with(&db, "zeppelin 1").await, [""; 0]);
    assert_eq!(db.count("select count(*) from htm.nodes").await, 0);
    htm.vacuum_erased(begun.id).await.unwrap();
    let verified = htm.verify_erasure(begun.id, None).await.unwrap();
    assert!(verified.is_clean || !crate::clears_samples(&db).await, "{verified:?}");
    // To do it again changes nothing.
    let again = htm.resume_erasure(begun.id, |_| {}).await.unwrap();
    assert_eq!((again.removed, again.ended_at), (ended.removed, ended.ended_at));
}

/// An erasure that stayed open would remove, when it is resumed, what was written since the namespace was erased.
#[tokio::test]
async fn an_interrupted_erasure_is_continued_when_the_namespace_is_erased_again() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    many(&htm, 3).await;
    let what = Erase::Namespace(DOOMED.into());
    let interrupted = htm.begin_erasure(&what, None, Confirmed).await.unwrap();
    htm.remember(Memory::new("zeppelin, the last").namespace(DOOMED)).await.unwrap();
    let plan = htm.plan_erase(&what).await.unwrap();
    assert_eq!(htm.erase(&what, Some("0"), Confirmed).await.unwrap_err().code(), "erase_plan_changed");
    let erased = htm.erase(&what, Some(&plan.plan), Confirmed).await.unwrap();
    assert_eq!((erased.id, erased.memories, erased.erased), (interrupted.id, 4, 4));
    assert_eq!(htm.erasures(None, 10).await.unwrap().len(), 1, "none is left open");
    let fresh = htm.remember(Memory::new("fresh").namespace(DOOMED)).await.unwrap().node;
    htm.resume_erasure(interrupted.id, |_| {}).await.unwrap();
    htm.get(fresh).await.unwrap();
    let again = htm.erase(&what, None, Confirmed).await.unwrap();
    assert_ne!(again.id, interrupted.id, "one that has ended is not continued");
}

#[tokio::test]
async fn two_who_erase_the_same_share_the_work() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    many(&htm, 3_000).await;
    let one = htm.begin_erasure(&Erase::Namespace(DOOMED.into()), None, Confirmed).await.unwrap().id;
    let matching = Erase::Matching { text: "zeppelin".into(), namespace: Some(DOOMED.into()) };
    let plan = htm.plan_erase(&matching).await.unwrap().plan;
    let other = htm.begin_erasure(&matching, Some(&plan), Confirmed).await.unwrap().id;
    let runs = [one, one, other].map(|erasure| {
        let htm = htm.clone();
        tokio::spawn(async move { htm.resume_erasure(erasure, |_| {}).await })
    });
    for run in runs {
        run.await.unwrap().unwrap();
    }
    let [one, other] = [htm.erasure(one).await.unwrap(), htm.erasure(other).await.unwrap()];
    let removed = |erasure: &htm_core::Erasure| erasure.removed.get("htm.nodes").copied().unwrap_or(0);
    assert_eq!(removed(&one) + removed(&other), 3_000, "each memory is counted once");
    let clears_samples = crate::clears_samples(&db).await;
    for erasure in [one.id, other.id] {
        htm.vacuum_erased(erasure).await.unwrap();
        let verified = htm.verify_erasure(erasure, None).await.unwrap();
        // Autovacuum may have sampled the table before it was empty.
        assert!(verified.is_clean || !clears_samples, "{verified:?}");
    }
}
