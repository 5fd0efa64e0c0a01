//! Settings and members in an export: whose are exported, and what an import leaves as it is.

use htm_core::providers::LimitChanges;
use htm_core::{Caller, FieldChange, GroupRole, Htm, JoinOptions, LearningSettings, Memory, Quota};
use htm_tests::TestDatabase;
use serde_json::Value;

use super::{ALL, counts, export, filled, import, of_kind};

#[tokio::test]
async fn a_namespaces_export_has_its_own_settings_and_no_limits() {
    let db = filled().await;
    let htm = db.htm();
    let atlas = htm.within(["atlas"]).unwrap();
    for lines in [export(&htm, &["atlas"], "").await, export(&atlas, ALL, "").await] {
        assert!(of_kind(&lines, "limits").is_empty());
        for kind in ["budget", "quota", "change", "name"] {
            assert!(!of_kind(&lines, kind).is_empty(), "no {kind}");
            assert!(of_kind(&lines, kind).iter().all(|line| line["ns"] == "atlas"), "{kind}");
        }
        assert!(of_kind(&lines, "retention").is_empty());
    }
    let home = export(&htm, &["home"], "").await;
    for kind in ["budget", "quota", "change", "name"] {
        assert!(of_kind(&home, kind).is_empty(), "{kind}");
    }
    // A restricted handle sets its quota, and not what is an operator's.
    let to = TestDatabase::new().await;
    let everything = export(&htm, ALL, "").await;
    import(&to.htm().within(["atlas"]).unwrap(), &everything).await;
    assert_eq!(to.count("select count(*) from htm.quotas").await, 1);
    assert_eq!(to.count("select count(*) from htm.budgets").await, 0);
    assert_eq!(to.count("select count(*) from htm.providers").await, 0);
    assert_eq!(to.count("select count(*) from htm.tag_changes where namespace <> 'atlas'").await, 0);
}

#[tokio::test]
async fn settings_that_are_there_stay_and_a_quota_comes_after_its_memories() {
    let from = filled().await;
    let three = Quota { max_memories: Some(3), max_bytes: None, ..Quota::default() };
    from.htm().set_quota(Some("atlas"), three).await.unwrap();
    let exported = export(&from.htm(), ALL, "").await;
    let to = TestDatabase::new().await;
    let htm = to.htm();
    let own = Quota { max_memories: None, max_bytes: Some(1_000_000), ..Quota::default() };
    htm.set_quota(Some("atlas"), own).await.unwrap();
    let providers = htm.providers().unwrap();
    providers.set_budget("atlas", Some(7)).await.unwrap();
    let model = "openai/text-embedding-3-small";
    let limits = LimitChanges { concurrent_calls: FieldChange::Set(2), ..LimitChanges::default() };
    providers.set_limits(model, limits).await.unwrap();
    import(&htm, &exported).await;
    assert_eq!(htm.quota(Some("atlas")).await.unwrap(), own);
    assert_eq!(providers.budgets().await.unwrap()[0].tokens_per_day, 7);
    let limited = providers.list().await.unwrap();
    assert_eq!((limited[0].concurrent_calls, limited[0].tokens_per_minute), (Some(2), None));

    // The namespace has four memories and a quota of three.
    let to = TestDatabase::new().await;
    let results = import(&to.htm(), &exported).await;
    assert!(results.iter().all(Result::is_ok), "{results:?}");
    assert_eq!(to.htm().quota(Some("atlas")).await.unwrap(), three);
    // What is here needs no room.
    let again = import(&to.htm(), &exported).await;
    assert!(again.iter().all(Result::is_ok), "{again:?}");
    let fewer = Quota { max_memories: Some(2), max_bytes: None, ..Quota::default() };
    let to = TestDatabase::new().await;
    to.htm().set_quota(Some("atlas"), fewer).await.unwrap();
    let results = import(&to.htm(), &exported).await;
    assert_eq!(results.iter().filter(|it| **it == Err("quota_exceeded")).count(), 3);
    assert_eq!(to.count("select count(*) from htm.nodes where namespace = 'atlas'").await, 2);
    // Nor does a text that was remembered here by itself.
    let one = Quota { max_memories: Some(1), max_bytes: None, ..Quota::default() };
    let to = TestDatabase::new().await;
    let htm = to.htm();
    htm.remember(Memory::new("Mara prefers tabs.").namespace("atlas")).await.unwrap();
    htm.set_quota(Some("atlas"), one).await.unwrap();
    let results = import(&htm, &exported).await;
    assert_eq!(results.iter().filter(|it| **it == Err("quota_exceeded")).count(), 4);
}

/// A document is whole or as it was.
#[tokio::test]
async fn a_document_that_is_here_gets_no_passage_of_another_version() {
    let load = async |htm: &Htm, text: &str| {
        let read = htm_documents::read("a.md", text.as_bytes(), &Default::default()).unwrap();
        let (document, _) = read.document("a.md", text.len() as u64, htm.tag_rules(), &[]);
        htm.load_document(&document, &Caller::AnyRobot).await.unwrap();
    };
    let (from, to) = (TestDatabase::new().await, TestDatabase::new().await);
    load(&from.htm(), "# Ports\n\nStaging is on port 5433.\n").await;
    let exported = export(&from.htm(), ALL, "").await;
    let htm = to.htm();
    load(&htm, "# Ports\n\nStaging is on port 5500.\n").await;
    let before = htm.passages(None, "a.md", None, 10).await.unwrap();
    let results = import(&htm, &exported).await;
    assert_eq!(results.iter().filter(|it| **it == Err("line_invalid")).count(), 1, "{results:?}");
    assert_eq!(htm.passages(None, "a.md", None, 10).await.unwrap(), before);
    // Without the document, it comes, and comes once.
    htm.unload_documents(None, "a.md", &Caller::AnyRobot).await.unwrap();
    for _ in 0..2 {
        let results = import(&htm, &exported).await;
        assert!(results.iter().all(Result::is_ok), "{results:?}");
    }
    let after = htm.passages(None, "a.md", None, 10).await.unwrap();
    assert!(after.len() == 1 && after[0].content.contains("5433"), "{after:?}");
}

#[tokio::test]
async fn an_imported_member_is_lost_until_it_joins() {
    let from = filled().await;
    let exported = export(&from.htm(), ALL, "").await;
    let groups = of_kind(&exported, "group");
    let members: Vec<&Value> =
        groups[0]["members"].as_array().unwrap().iter().map(|it| &it["robot"]).collect();
    assert_eq!(members, ["bob"]);
    let to = TestDatabase::new().await;
    let htm = to.htm();
    import(&htm, &exported).await;
    let group = htm.group("duo").namespace("atlas");
    let member = group.info().await.unwrap().members.remove(0);
    assert_eq!((member.robot.as_str(), member.role, member.alive), ("bob", GroupRole::Active, false));
    // Another one becomes active at once, and the lost one passive.
    let ada = group.join("ada", JoinOptions::default()).await.unwrap();
    assert_eq!((ada.role(), ada.entries().await.len()), (GroupRole::Active, 1));
    let bob = group.join("bob", JoinOptions::default()).await.unwrap();
    assert_eq!(bob.role(), GroupRole::Passive);
}

#[tokio::test]
async fn the_home_of_a_ranking_comes_back_whichever_line_is_first() {
    let (from, to) = (TestDatabase::new().await, TestDatabase::new().await);
    let htm = from.htm();
    let on = LearningSettings { is_on: true, ..LearningSettings::default() };
    htm.set_learning(Some("hermes"), &LearningSettings { keeps_text: true, ..on.clone() }).await.unwrap();
    htm.set_learning(Some("atlas"), &LearningSettings { learns_with: Some("hermes".into()), ..on })
        .await
        .unwrap();
    let lines = export(&htm, ALL, "").await;
    import(&to.htm(), &lines).await;
    for namespace in ["atlas", "hermes"] {
        let before = htm.learning(Some(namespace)).await.unwrap().settings;
        assert_eq!(to.htm().learning(Some(namespace)).await.unwrap().settings, before, "{namespace}");
    }
    let again = counts(&import(&to.htm(), &lines).await);
    assert!(again.keys().all(|(_, outcome)| outcome == "Existing"), "{again:?}");
    // Where its home learns with another one, that is the home.
    let other = TestDatabase::new().await;
    let with =
        LearningSettings { learns_with: Some("zeus".into()), is_on: true, ..LearningSettings::default() };
    other.htm().set_learning(Some("hermes"), &with).await.unwrap();
    import(&other.htm(), &lines).await;
    let atlas = other.htm().learning(Some("atlas")).await.unwrap().settings;
    assert_eq!(atlas.learns_with.as_deref(), Some("zeus"));
}

#[tokio::test]
async fn the_reason_of_a_shared_ranking_is_exported_by_those_who_see_all_that_share_it() {
    let db = filled().await;
    let htm = db.htm();
    let with_atlas =
        LearningSettings { learns_with: Some("atlas".into()), is_on: true, ..LearningSettings::default() };
    htm.set_learning(Some("home"), &with_atlas).await.unwrap();
    let (one, both) = (htm.within(["atlas"]).unwrap(), htm.within(["atlas", "home"]).unwrap());
    for (handle, reason) in [(&htm, "it is better"), (&both, "it is better"), (&one, "")] {
        let lines = export(handle, &["atlas"], "").await;
        assert_eq!(of_kind(&lines, "ranking")[0]["reason"], reason);
    }
}
