//! What is selected, who may erase, and what the receipt says.

use htm_core::{Caller, Confirmation, Edit, Erase, Erasure, ErasureKind, Htm, Memory, NodeId};
use htm_tests::TestDatabase;

use Confirmation::{Confirmed, Missing};

async fn remember(htm: &Htm, memory: Memory) -> NodeId {
    htm.remember(memory).await.unwrap().node
}

fn matching(text: &str, namespace: Option<&str>) -> Erase {
    Erase::Matching { text: text.into(), namespace: namespace.map(Into::into) }
}

async fn erase_matching(htm: &Htm, what: &Erase) -> Erasure {
    let plan = htm.plan_erase(what).await.unwrap().plan;
    htm.erase(what, Some(&plan), Confirmed).await.unwrap()
}

#[tokio::test]
async fn a_text_selects_former_texts_and_forgotten_memories_too() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let live = remember(&htm, Memory::new("The password is Hunter2.")).await;
    let edited = remember(&htm, Memory::new("hunter2 opens the door.")).await;
    htm.edit(edited, &Edit::new().content("A key opens the door.")).await.unwrap();
    let forgotten = remember(&htm, Memory::new("HUNTER2")).await;
    htm.forget(forgotten, &Caller::Handle, Confirmed).await.unwrap();
    let kept = remember(&htm, Memory::new("Nobody hunts.")).await;
    let elsewhere = remember(&htm, Memory::new("hunter2").namespace("other")).await;

    let what = matching("hunter2", None);
    assert_eq!(htm.erase(&what, None, Missing).await.unwrap_err().code(), "not_confirmed");
    let plan = htm.plan_erase(&what).await.unwrap();
    let nodes: Vec<NodeId> = plan.matches.iter().map(|found| found.node).collect();
    assert_eq!(nodes, [live, edited, forgotten]);
    htm.edit(live, &Edit::new().content("The password is Hunter2!")).await.unwrap();
    let changed = htm.erase(&what, Some(&plan.plan), Confirmed).await.unwrap_err();
    assert_eq!(changed.code(), "erase_plan_changed");
    assert_eq!(db.count("select count(*) from htm.erasures").await, 0);

    let plan = htm.plan_erase(&what).await.unwrap();
    let erased = htm.erase(&what, Some(&plan.plan), Confirmed).await.unwrap();
    assert_eq!((erased.memories, erased.erased, erased.kind), (3, 3, ErasureKind::Matching));
    assert_eq!(erased.removed["htm.node_revisions"], 2);
    for node in [kept, elsewhere] {
        htm.get(node).await.unwrap();
    }
    assert_eq!(htm.erase(&what, None, Confirmed).await.unwrap_err().code(), "plan_missing");
    let none = htm.plan_erase(&what).await.unwrap().plan;
    assert_eq!(htm.erase(&what, Some(&none), Confirmed).await.unwrap_err().code(), "nothing_to_erase");
    let receipt = format!(
        "{:?}",
        sqlx::query_scalar::<_, String>("select e::text from htm.erasures e")
            .fetch_all(&db.pool)
            .await
            .unwrap()
    );
    assert!(!receipt.to_lowercase().contains("hunter"), "{receipt}");
}

/// What recall finds in any form is forgotten and erased in any form.
#[tokio::test]
async fn a_text_selects_every_form_of_its_letters() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let (many, token) = ("好".repeat(300), "x".repeat(300));
    for (stored, text) in [
        (&*format!("{many}你好，世界…"), "你好，世界…"),
        (&*format!("{token} cafe\u{301}"), "café"),
        ("version 17.2¹ of ½ iOS™", "17.2¹ of ½ ios™"),
        ("a cre\u{300}me bru\u{302}le\u{301}e", "Crème brûlée"),
        ("they don’t say “wibble”", "don't say \"wibble\""),
        ("no\u{a0}break at db\u{2011}08", "no break at db-08"),
        ("the soft\u{ad}hyphen is ﬁne", "softhyphen is fine"),
        ("Ahmet Işık borçlu", "IŞIK"),
        ("IŞIK Ltd.", "ışık"),
        ("Ο ΝΊΚΟΣ ΕΦΥΓΕ", "Νίκος"),
        ("Ο Νίκος", "ΝΊΚΟΣ"),
        ("Hauptstraße ٥", "HAUPTSTRASSE 5"),
    ] {
        let node = remember(&htm, Memory::new(stored)).await;
        let plan = htm.plan_forget(text, None, &Caller::Handle).await.unwrap();
        assert_eq!(plan.matches.iter().map(|found| found.node).collect::<Vec<_>>(), [node], "{text}");
        let erased = erase_matching(&htm, &matching(text, None)).await;
        assert_eq!(erased.erased, 1, "{text}");
        assert_eq!(htm.get(node).await.unwrap_err().code(), "node_not_found");
    }
}

/// A name in capitals, as a document has it, is also looked for as memories have it.
#[tokio::test]
async fn a_verification_finds_a_text_in_every_case() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    for (erased, left, text) in [("IŞIK Ltd.", "Ahmet Işık borçlu", "IŞIK"), ("Ο Νίκος", "ΝΊΚΟΣ", "Νίκος")]
    {
        let node = remember(&htm, Memory::new(erased)).await;
        remember(&htm, Memory::new(left)).await;
        let erasure = htm.erase(&Erase::Memories(vec![node]), None, Confirmed).await.unwrap();
        let verified = htm.verify_erasure(erasure.id, Some(text)).await.unwrap();
        let nodes = verified.places.iter().find(|place| place.table == "htm.nodes").unwrap();
        assert_eq!((verified.is_clean, nodes.mentions), (false, Some(1)), "{text}");
        let verified = htm.verify_erasure(erasure.id, Some("ظاهر")).await.unwrap();
        assert!(verified.places.iter().all(|place| place.mentions.unwrap_or(0) == 0));
    }
}

#[tokio::test]
async fn a_robot_s_memories_are_those_that_it_remembered() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let of_ada = remember(&htm, Memory::new("of ada").robot("ada")).await;
    let of_bea = remember(&htm, Memory::new("of bea").robot("bea")).await;
    let namesake = remember(&htm, Memory::new("of another ada").robot("ada").namespace("other")).await;
    let what = Erase::Robot { robot: "ada".into(), namespace: None };
    let erased = htm.erase(&what, None, Confirmed).await.unwrap();
    assert_eq!((erased.erased, erased.robot.as_deref()), (1, Some("ada")));
    assert_eq!(erased.namespaces, ["default"]);
    assert_eq!(htm.get(of_ada).await.unwrap_err().code(), "node_not_found");
    for node in [of_bea, namesake] {
        htm.get(node).await.unwrap();
    }
    htm.find_robot(None, "ada").await.unwrap();
    assert_eq!(htm.erase(&what, None, Confirmed).await.unwrap_err().code(), "nothing_to_erase");
    let nobody = Erase::Robot { robot: "carl".into(), namespace: None };
    assert_eq!(htm.erase(&nobody, None, Confirmed).await.unwrap_err().code(), "robot_unknown");
}

#[tokio::test]
async fn a_selection_of_nothing_or_of_everything_is_refused() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    remember(&htm, Memory::new("kept")).await;
    for (what, code) in [
        (Erase::Memories(Vec::new()), "nothing_to_erase"),
        (Erase::Memories(vec![NodeId(99)]), "node_not_found"),
        (matching("", None), "content_empty"),
        (matching(" \n", None), "content_empty"),
        (matching("\u{feff}", None), "content_empty"),
        (matching("a\0b", None), "nul_byte"),
        (matching("a", Some("a//b")), "namespace_invalid"),
        (Erase::Namespace(" ".into()), "namespace_invalid"),
        (Erase::Robot { robot: String::new(), namespace: None }, "robot_invalid"),
    ] {
        assert_eq!(htm.plan_erase(&what).await.unwrap_err().code(), code, "{what:?}");
        assert_eq!(htm.erase(&what, None, Confirmed).await.unwrap_err().code(), code, "{what:?}");
    }
    assert_eq!(db.count("select count(*) from htm.nodes").await, 1);
    assert_eq!(htm.resume_erasure(99, |_| {}).await.unwrap_err().code(), "erasure_unknown");
    assert_eq!(htm.verify_erasure(99, None).await.unwrap_err().code(), "erasure_unknown");
    assert_eq!(htm.erasures(None, 0).await.unwrap_err().code(), "limit_out_of_range");
}

#[tokio::test]
async fn a_handle_within_namespaces_erases_only_there() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let own = remember(&htm, Memory::new("zeppelin").namespace("atlas")).await;
    let other = remember(&htm, Memory::new("zeppelin").namespace("home")).await;
    let of_other = erase_matching(&htm, &matching("zeppelin", Some("home"))).await.id;
    let other_again = remember(&htm, Memory::new("zeppelin").namespace("home")).await;
    assert_ne!(other, other_again, "a number is never used again");
    let tenant = htm.within(["atlas"]).unwrap();
    for (what, code) in [
        (Erase::Memories(vec![own, other_again]), "node_not_found"),
        (matching("zeppelin", Some("home")), "namespace_forbidden"),
        (Erase::Robot { robot: "htm".into(), namespace: Some("home".into()) }, "namespace_forbidden"),
        (Erase::Namespace("home".into()), "namespace_forbidden"),
    ] {
        assert_eq!(tenant.erase(&what, None, Confirmed).await.unwrap_err().code(), code, "{what:?}");
    }
    for error in [
        tenant.erasure(of_other).await.unwrap_err(),
        tenant.resume_erasure(of_other, |_| {}).await.unwrap_err(),
        tenant.vacuum_erased(of_other).await.unwrap_err(),
        tenant.verify_erasure(of_other, None).await.unwrap_err(),
    ] {
        assert_eq!(error.code(), "erasure_unknown");
    }
    let erased = erase_matching(&tenant, &matching("zeppelin", None)).await;
    assert_eq!((erased.erased, erased.namespaces.as_slice()), (1, &["atlas".to_owned()][..]));
    let seen: Vec<i64> = tenant.erasures(None, 10).await.unwrap().iter().map(|erasure| erasure.id).collect();
    assert_eq!(seen, [erased.id]);
    assert_eq!(htm.erasures(None, 10).await.unwrap().len(), 2);
    // A text is looked for in every namespace.
    let error = tenant.verify_erasure(erased.id, Some("zeppelin")).await.unwrap_err();
    assert_eq!(error.code(), "namespace_forbidden");
    htm.get(other_again).await.unwrap();
}

#[tokio::test]
async fn a_handle_that_acts_as_a_robot_erases_nothing() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let node = remember(&htm, Memory::new("of ada").robot("ada")).await;
    let ada = htm.acting_as("ada").unwrap();
    let error = ada.erase(&Erase::Memories(vec![node]), None, Confirmed).await.unwrap_err();
    assert_eq!(error.code(), "robot_forbidden");
}
