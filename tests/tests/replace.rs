//! Conversations that are replaced as a whole.

use std::time::Duration;

use htm_core::{
    Caller, Confirmation, Conversation, Error, Htm, Memory, NodeId, Operation, Quota, RecallQuery, Receipt,
    Replacement, Result, Settings,
};
use htm_tests::{TestDatabase, wait_until};
use serde_json::json;

const DOCUMENT: &str = "manual.md";

fn document() -> Replacement {
    let conversations = vec![Conversation { namespace: None, session: DOCUMENT.into(), expected: None }];
    Replacement { conversations, ..Replacement::default() }
}

fn part(text: &str) -> Memory {
    Memory { session: Some(DOCUMENT.into()), ..Memory::new(text) }
}

fn parts(texts: &[&str]) -> Vec<Memory> {
    texts.iter().map(|text| part(text)).collect()
}

fn nodes(receipts: &[Receipt]) -> Vec<NodeId> {
    receipts.iter().map(|receipt| receipt.node).collect()
}

fn code<T: std::fmt::Debug>(result: Result<T>) -> &'static str {
    result.err().as_ref().map_or("ok", Error::code)
}

/// The texts that are found.
async fn found(htm: &Htm) -> Vec<String> {
    let recalled = htm.recall(&RecallQuery::new("manual")).await.unwrap();
    let mut texts: Vec<String> = recalled.hits.into_iter().map(|hit| hit.node.content).collect();
    texts.sort();
    texts
}

#[tokio::test]
async fn what_was_there_is_forgotten_with_the_write() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let first = htm.replace(&document(), &parts(&["manual one", "manual two"])).await.unwrap();
    htm.remember(Memory { session: Some("other.md".into()), ..Memory::new("manual of another") })
        .await
        .unwrap();
    let second = htm.replace(&document(), &parts(&["manual three"])).await.unwrap();
    assert_eq!(found(&htm).await, ["manual of another", "manual three"]);
    let (was, is) = (htm.get(nodes(&first)[0]).await, htm.get(nodes(&second)[0]).await.unwrap());
    assert_eq!(code(was), "node_not_found");
    assert!(is.created_at < is.first_remembered, "the time stays that of the first");
    assert!(htm.replace(&document(), &[]).await.unwrap().is_empty());
    assert_eq!(found(&htm).await, ["manual of another"]);
    htm.restore(nodes(&second)[0], &Caller::Handle).await.unwrap();
    assert_eq!(found(&htm).await, ["manual of another", "manual three"]);
}

#[tokio::test]
async fn of_writers_that_read_the_same_one_replaces_it() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let expecting = |nodes: &[NodeId]| {
        let mut replacement = document();
        replacement.conversations[0].expected = Some(nodes.to_vec());
        replacement
    };
    let first = nodes(&htm.replace(&expecting(&[]), &parts(&["manual one", "manual two"])).await.unwrap());
    assert_eq!(code(htm.replace(&expecting(&[]), &parts(&["manual three"])).await), "revision_conflict");
    let reversed: Vec<NodeId> = first.iter().rev().copied().collect();
    let writes = (0..8).map(|n| {
        let (htm, replacement) = (htm.clone(), expecting(&reversed));
        async move { htm.replace(&replacement, &[part(&format!("manual of {n}"))]).await }
    });
    let written = futures::future::join_all(writes).await;
    let (won, lost): (Vec<_>, Vec<_>) = written.into_iter().partition(Result::is_ok);
    assert_eq!((won.len(), lost.len()), (1, 7));
    assert!(lost.into_iter().all(|it| code(it) == "revision_conflict"));
    assert_eq!(found(&htm).await.len(), 1);
}

#[tokio::test]
async fn memories_that_continue_a_conversation_at_once_share_no_place() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let first = Memory { seq: Some(6), ..part("manual") };
    htm.remember(first).await.unwrap();
    let continued = Replacement { continues: true, ..Replacement::default() };
    let writes = (0..8).map(|n| {
        let (htm, continued) = (htm.clone(), continued.clone());
        let texts = ["one", "two"].map(|text| part(&format!("manual {text} of {n}")));
        async move { htm.replace(&continued, &texts).await.unwrap() }
    });
    let written = futures::future::join_all(writes).await;
    let mut places: Vec<[i32; 2]> =
        written.iter().map(|receipts| [receipts[0].seq.unwrap(), receipts[1].seq.unwrap()]).collect();
    places.sort_unstable();
    assert_eq!(places.as_flattened(), (7..23).collect::<Vec<_>>());
    // What has a place keeps it, and what replaces a conversation begins it.
    let placed = [Memory { seq: Some(3), ..part("manual of old") }, part("manual of new")];
    let receipts = htm.replace(&continued, &placed).await.unwrap();
    assert_eq!(receipts.iter().map(|receipt| receipt.seq).collect::<Vec<_>>(), [None, Some(23)]);
    let anew = Replacement { continues: true, caller: Caller::AnyRobot, ..document() };
    assert_eq!(htm.replace(&anew, &parts(&["manual again"])).await.unwrap()[0].seq, Some(0));
}

#[tokio::test]
async fn a_key_is_free_for_the_successor() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    for text in ["manual one", "manual two"] {
        htm.replace(&document(), &[part(text).key("head")]).await.unwrap();
    }
    assert_eq!(htm.get_by_key(None, "head").await.unwrap().unwrap().content, "manual two");
}

#[tokio::test]
async fn a_named_robot_replaces_what_it_has_in_several_namespaces() {
    let db = TestDatabase::new().await;
    let htm = db.htm().acting_as("ada").unwrap();
    let caller = Caller::In { namespace: "a".into(), robot: Some("ada".into()) };
    let conversations = ["a", "b"].map(|namespace| Conversation {
        namespace: Some(namespace.into()),
        session: "manual.md".into(),
        expected: None,
    });
    let both = Replacement { conversations: conversations.to_vec(), caller, continues: false };
    let of = |text: &str, robot: &str| {
        ["a", "b"].map(|namespace| Memory {
            namespace: Some(namespace.into()),
            robot: Some(robot.into()),
            ..part(text)
        })
    };
    for text in ["manual one", "manual two"] {
        htm.replace(&both, &of(text, "ada")).await.unwrap();
    }
    assert_eq!(db.count("select count(*) from htm.nodes where deleted_at is null").await, 2);
    // What another robot has there is not its own.
    db.htm().remember_many(&of("manual of ben", "ben")).await.unwrap();
    assert_eq!(code(htm.replace(&both, &[]).await), "not_owner");
}

#[tokio::test]
async fn a_refusal_changes_nothing() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    htm.replace(&document(), &parts(&["manual one"])).await.unwrap();
    htm.remember(Memory::new("manual of another").key("taken")).await.unwrap();
    assert_eq!(code(htm.replace(&document(), &parts(&["manual two", " "])).await), "content_empty");
    let taken = part("manual three").key("taken");
    assert_eq!(
        code(htm.replace(&document(), &[parts(&["manual two"]), vec![taken]].concat()).await),
        "key_taken"
    );
    let stranger = Replacement { caller: Caller::Robot("ben".into()), ..document() };
    assert_eq!(code(htm.replace(&stranger, &parts(&["manual two"])).await), "not_owner");
    assert_eq!(found(&htm).await, ["manual of another", "manual one"]);
    let anyone = Replacement { caller: Caller::AnyRobot, ..document() };
    htm.replace(&anyone, &parts(&["manual two"])).await.unwrap();
    assert_eq!(found(&htm).await, ["manual of another", "manual two"]);
}

#[tokio::test]
async fn of_replacements_at_the_same_time_one_is_there() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    for _ in 0..3 {
        let texts: Vec<[String; 3]> =
            (0..8).map(|n| [0, 1, 2].map(|part| format!("manual {n} {part}"))).collect();
        let htm = &htm;
        let writes = texts.iter().map(|texts| async move {
            let memories: Vec<Memory> = texts.iter().map(|text| part(text)).collect();
            htm.replace(&document(), &memories).await.unwrap()
        });
        futures::future::join_all(writes).await;
        let there = found(htm).await;
        assert!(texts.iter().any(|texts| texts[..] == there[..]), "{there:?}");
    }
}

#[tokio::test]
async fn a_retry_replaces_nothing_again() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let operation = Operation::new("ada", "a", b"x").unwrap();
    let replace = async || {
        let describe = |receipts: Vec<Receipt>| json!(receipts);
        htm.replace_once(&operation, &document(), &parts(&["manual one"]), describe).await.unwrap()
    };
    let first = replace().await;
    htm.replace(&document(), &parts(&["manual two"])).await.unwrap();
    assert_eq!(replace().await, first);
    assert_eq!(found(&htm).await, ["manual two"]);
}

#[tokio::test]
async fn a_handle_replaces_only_what_it_sees() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    htm.replace(&document(), &parts(&["manual one"])).await.unwrap();
    let within = htm.within(["elsewhere"]).unwrap();
    let namespace = Some(Settings::default().namespace);
    let conversations = vec![Conversation { namespace, session: DOCUMENT.into(), expected: None }];
    let replacement = Replacement { conversations, caller: Caller::AnyRobot, continues: false };
    let refused = within.replace(&replacement, &[]).await;
    assert_eq!(code(refused), "namespace_forbidden");
    assert_eq!(found(&htm).await, ["manual one"]);
}

#[tokio::test]
async fn a_full_namespace_takes_a_conversation_in_the_place_of_its_former_text() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    htm.set_quota(None, Quota { max_memories: Some(3), ..Quota::default() }).await.unwrap();
    for round in ["one", "two", "three"] {
        let texts = ["a", "b", "c"].map(|part| format!("manual {round} {part}"));
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        htm.replace(&document(), &parts(&texts)).await.unwrap();
    }
    // One that fails makes no room, and takes none.
    for _ in 0..2 {
        let too_many = parts(&["manual 1", "manual 2", "manual 3", "manual 4"]);
        assert_eq!(code(htm.replace(&document(), &too_many).await), "quota_exceeded");
        assert_eq!(code(htm.remember(Memory::new("another")).await), "quota_exceeded");
    }
    htm.replace(&document(), &parts(&["manual four a", "manual four b"])).await.unwrap();
    htm.remember(Memory::new("another")).await.unwrap();
}

/// A handle that has counted nothing yet counts before it forgets.
#[tokio::test]
async fn a_replacement_by_a_new_handle_makes_no_room_twice() {
    let db = TestDatabase::new().await;
    let quota = Quota { max_memories: Some(3), ..Quota::default() };
    db.htm().set_quota(None, quota).await.unwrap();
    for round in ["one", "two"] {
        let htm = db.htm();
        let texts = ["a", "b", "c"].map(|part| format!("manual {round} {part}"));
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        htm.replace(&document(), &parts(&texts)).await.unwrap();
        assert_eq!(code(htm.remember(Memory::new("another")).await), "quota_exceeded", "{round}");
    }
}

#[tokio::test]
async fn a_full_namespace_takes_a_conversation_while_another_writer_is_refused() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    htm.set_quota(None, Quota { max_memories: Some(3), ..Quota::default() }).await.unwrap();
    let replace = async |round: usize| {
        let texts = ["a", "b", "c"].map(|part| format!("manual {round} {part}"));
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        htm.replace(&document(), &parts(&texts)).await.unwrap();
    };
    replace(0).await;
    let (mut rounds, mut refused) = (1, 0);
    while rounds < 20 || refused < 20 {
        let replacing = replace(rounds);
        tokio::pin!(replacing);
        loop {
            tokio::select! {
                () = &mut replacing => break,
                written = htm.remember(Memory::new("another")) => {
                    assert_eq!(code(written), "quota_exceeded");
                    refused += 1;
                }
            }
        }
        rounds += 1;
    }
    assert_eq!(db.count("select count(*) from htm.nodes where deleted_at is null").await, 3);
}

#[tokio::test]
async fn who_forgets_in_the_namespace_does_not_wait_for_a_replacement() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    htm.replace(&document(), &parts(&["manual one"])).await.unwrap();
    let other = htm.remember(Memory::new("other")).await.unwrap().node;
    // Somebody writes a memory with the key, so that the replacement stands half-way.
    let mut holder = db.pool.begin().await.unwrap();
    drop(htm.remember_in_tx(&mut holder, Memory::new("held").key("taken")).await.unwrap());
    let replacing = {
        let htm = htm.clone();
        tokio::spawn(async move { htm.replace(&document(), &[part("manual two").key("taken")]).await })
    };
    let waits = "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()";
    wait_until(|| async { db.count(waits).await > 0 }).await;
    let forget = htm.forget(other, &Caller::Handle, Confirmation::Confirmed);
    tokio::time::timeout(Duration::from_secs(4), forget).await.expect("it waits for no replacement").unwrap();
    holder.rollback().await.unwrap();
    assert_eq!(replacing.await.unwrap().unwrap().len(), 1);
    let noted =
        db.count("select unseen_count from htm.namespace_statistics where namespace = 'default'").await;
    assert_eq!(noted, 2, "the one that was forgotten, and the one that was replaced");
}

/// Both would be found as of a time between.
#[tokio::test]
async fn a_text_goes_at_the_moment_at_which_its_successor_comes() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    htm.replace(&document(), &parts(&["manual one"])).await.unwrap();
    htm.replace(&document(), &parts(&["manual two"])).await.unwrap();
    let meet =
        "select count(*) from htm.nodes former join htm.nodes now on now.remembered_at = former.deleted_at";
    assert_eq!(db.count(meet).await, 1);
}
