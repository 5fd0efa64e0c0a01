//! What members have in mind.

use std::task::Poll;

use htm_core::groups::{AfterShutdown, TransferTarget, Transferred};
use htm_core::{
    Caller, Confirmation, ContextOptions, GroupEvent, GroupRole, Htm, Memory, NodeId, Quota, RecallQuery,
    Settings, Strategy, TokenEncoding,
};
use htm_tests::{TestDatabase, wait_until};

use super::{GROUP, held, join, options, until_held};

/// A text of so many tokens, and a number.
fn text(number: usize, tokens: usize) -> String {
    format!("{number:04}").repeat(tokens)
}

async fn remember(htm: &Htm, text: &str) -> NodeId {
    htm.remember(Memory::new(text)).await.unwrap().node
}

#[tokio::test]
async fn what_one_has_in_mind_all_have_in_mind() {
    let db = TestDatabase::new().await;
    // Two processes would have two handles.
    let (ada, bob) =
        (join(&db.htm(), "ada", GroupRole::Active).await, join(&db.htm(), "bob", GroupRole::Passive).await);
    let mut events = bob.events();
    let first = ada.remember(Memory::new("The disk of db-3 is full.").importance(7.0)).await.unwrap().node;
    let other = remember(&db.htm(), "Backups run at two.").await;
    assert!(ada.add(other).await.unwrap().is_empty());
    until_held(&bob, &[first, other]).await;
    assert!(matches!(events.recv().await.unwrap(), GroupEvent::Synced { added, .. } if added == [first]));
    assert_eq!(held(&ada).await, [first, other]);
    assert_eq!(db.htm().get(first).await.unwrap().robot, "ada");
    assert_eq!(db.count("select count(*) from apalis.jobs").await, 4, "its jobs as well");

    let context = bob.context(&ContextOptions::new(100)).await.unwrap();
    assert_eq!(context.text, "The disk of db-3 is full.\n\nBackups run at two.");
    assert!(ada.remove(first).await.unwrap());
    assert!(!ada.remove(first).await.unwrap());
    until_held(&bob, &[other]).await;
    // Who joins later has it too, and what is added again is there again.
    ada.add(first).await.unwrap();
    let cyd = join(&db.htm(), "cyd", GroupRole::Passive).await;
    assert_eq!(held(&cyd).await, [first, other]);
    until_held(&bob, &[first, other]).await;
    let stats = bob.stats().await.unwrap();
    assert_eq!((stats.nodes, stats.max_tokens), (2, 1_000));
}

#[tokio::test]
async fn uses_reach_the_others() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let short = |role| htm_core::JoinOptions {
        lease: std::time::Duration::from_millis(300),
        ..options(Some(role), 100)
    };
    let ada = htm.group(GROUP).join("ada", short(GroupRole::Active)).await.unwrap();
    let bob = htm.group(GROUP).join("bob", short(GroupRole::Passive)).await.unwrap();
    let node = ada.remember(Memory::new("one")).await.unwrap().node;
    for _ in 0..5 {
        assert!(ada.touch(node).await.unwrap());
    }
    assert!(!ada.touch(NodeId(999)).await.unwrap());
    wait_until(|| async { bob.entries().await.first().is_some_and(|entry| entry.accesses == 5) }).await;
    assert_eq!(ada.entries().await[0].accesses, 5);
}

#[tokio::test]
async fn uses_of_a_node_that_is_added_again_are_kept() {
    let db = TestDatabase::new().await;
    let ada = join(&db.htm(), "ada", GroupRole::Active).await;
    let node = ada.remember(Memory::new("one")).await.unwrap().node;
    for _ in 0..5 {
        assert!(ada.touch(node).await.unwrap());
    }
    ada.add(node).await.unwrap();
    assert_eq!(ada.entries().await[0].accesses, 6);
    let bob = join(&db.htm(), "bob", GroupRole::Passive).await;
    assert_eq!(bob.entries().await[0].accesses, 6);
}

#[tokio::test]
async fn a_write_that_is_dropped_leaves_no_trace_in_mind() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let ada = htm.group(GROUP).join("ada", options(Some(GroupRole::Active), 3)).await.unwrap();
    let (first, other) = (remember(&htm, &text(1, 2)).await, remember(&htm, &text(2, 2)).await);
    ada.add(first).await.unwrap();
    let of_group = "select coalesce(array_agg(node_id order by node_id), '{}') from htm.group_memory where removed_at is null";
    for waits in 1.. {
        assert!(ada.touch(held(&ada).await[0]).await.unwrap());
        let mut adding = Box::pin(ada.add(other));
        let mut polls = 0;
        let added = std::future::poll_fn(|context| {
            polls += 1;
            if polls > waits { Poll::Ready(None) } else { adding.as_mut().poll(context).map(Some) }
        });
        let is_added = added.await.is_some();
        drop(adding);
        wait_until(|| async {
            let of_group: Vec<i64> = sqlx::query_scalar(of_group).fetch_one(&db.pool).await.unwrap();
            held(&ada).await == of_group.into_iter().map(NodeId).collect::<Vec<_>>()
        })
        .await;
        if is_added {
            break;
        }
    }
    assert_eq!(held(&ada).await, [other]);
}

#[tokio::test]
async fn the_writer_decides_what_leaves_and_all_agree() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let ada = htm.group(GROUP).join("ada", options(Some(GroupRole::Active), 100)).await.unwrap();
    let bob = htm.group(GROUP).join("bob", options(Some(GroupRole::Active), 5)).await.unwrap();
    assert_eq!(bob.stats().await.unwrap().max_tokens, 100, "the first member's");
    let mut nodes = Vec::new();
    for (number, importance) in [(0, 5.0), (1, 1.0), (2, 2.0), (3, 1.0)] {
        let memory = Memory::new(text(number, 30)).importance(importance);
        let tokens = htm.settings().token_encoding.count(&memory.content);
        assert_eq!(tokens, 30);
        nodes.push(ada.remember(memory).await.unwrap().node);
    }
    until_held(&bob, &[nodes[0], nodes[2], nodes[3]]).await;
    // The other writer goes on from what the first one left.
    let node = remember(&htm, &text(9, 40)).await;
    assert_eq!(bob.add(node).await.unwrap(), [nodes[3]]);
    until_held(&ada, &[nodes[0], nodes[2], node]).await;
    let big = remember(&htm, &text(5, 101)).await;
    let error = bob.add(big).await.unwrap_err();
    assert_eq!(error.code(), "node_oversized");
    let before = db.count("select count(*) from htm.nodes").await;
    let error = bob.remember(Memory::new(text(6, 101))).await.unwrap_err();
    assert_eq!((error.code(), error.fault().exit_code()), ("node_oversized", 2));
    assert!(error.hint().starts_with("nothing was written"), "{}", error.hint());
    assert_eq!(db.count("select count(*) from htm.nodes").await, before, "nothing is written");
    bob.sync().await.unwrap();
    assert_eq!(held(&bob).await, [nodes[0], nodes[2], node]);
}

#[tokio::test]
async fn a_memory_that_is_too_large_for_the_group_takes_no_room_of_the_quota() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    htm.set_quota(None, Quota { max_memories: Some(1), ..Quota::default() }).await.unwrap();
    let ada = htm.group(GROUP).join("ada", options(Some(GroupRole::Active), 100)).await.unwrap();
    let error = ada.remember(Memory::new(text(1, 101))).await.unwrap_err();
    assert_eq!(error.code(), "node_oversized");
    htm.remember(Memory::new("The disk of db-3 is full.")).await.unwrap();
}

#[tokio::test]
async fn what_was_edited_or_forgotten_is_seen_by_the_context() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let ada = join(&htm, "ada", GroupRole::Active).await;
    let mut nodes = Vec::new();
    for word in ["stays", "changes", "goes"] {
        nodes.push(ada.remember(Memory::new(word)).await.unwrap().node);
    }
    htm.forget(nodes[2], &Caller::AnyRobot, Confirmation::Confirmed).await.unwrap();
    sqlx::query("update htm.nodes set content = 'changed', revision = 2 where id = $1")
        .bind(nodes[1])
        .execute(&db.pool)
        .await
        .unwrap();
    let context = ada.context(&ContextOptions::new(100)).await.unwrap();
    assert!(!context.text.contains("goes") && !context.text.contains("changes"), "{}", context.text);
    assert!(context.text.contains("stays") && context.text.contains("changed"), "{}", context.text);
    assert_eq!(ada.add(nodes[2]).await.unwrap_err().code(), "node_not_found");
}

#[tokio::test]
async fn what_leaves_is_decided_by_the_nodes_as_they_are() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let ada = htm.group(GROUP).join("ada", options(Some(GroupRole::Active), 100)).await.unwrap();
    let mut nodes = Vec::new();
    for number in 0..2 {
        nodes.push(ada.remember(Memory::new(text(number, 45))).await.unwrap().node);
    }
    // Room that a forgotten node leaves is there for another one.
    htm.forget(nodes[1], &Caller::AnyRobot, Confirmation::Confirmed).await.unwrap();
    let third = ada.remember(Memory::new(text(2, 45))).await.unwrap().node;
    assert_eq!(held(&ada).await, [nodes[0], third]);
    // A node that has become longer takes the room that it takes now.
    sqlx::query("update htm.nodes set content = $2, token_count = 90, revision = revision + 1 where id = $1")
        .bind(third)
        .bind(text(2, 90))
        .execute(&db.pool)
        .await
        .unwrap();
    let fourth = ada.remember(Memory::new(text(4, 10))).await.unwrap().node;
    assert_eq!(held(&ada).await, [third, fourth]);
    let stats = ada.stats().await.unwrap();
    assert_eq!((stats.nodes, stats.tokens), (2, 100));
}

#[tokio::test]
async fn all_agree_on_what_was_forgotten_and_restored() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let ada = join(&htm, "ada", GroupRole::Active).await;
    let bob = join(&htm, "bob", GroupRole::Passive).await;
    let mut nodes = Vec::new();
    for word in ["stays", "goes and comes"] {
        nodes.push(ada.remember(Memory::new(word)).await.unwrap().node);
    }
    until_held(&bob, &nodes).await;
    htm.forget(nodes[1], &Caller::AnyRobot, Confirmation::Confirmed).await.unwrap();
    ada.sync().await.unwrap();
    assert_eq!(held(&ada).await, nodes[..1]);
    htm.restore(nodes[1], &Caller::AnyRobot).await.unwrap();
    for member in [&ada, &bob] {
        let context = member.context(&ContextOptions::new(100)).await.unwrap();
        assert!(context.text.contains("comes"), "{}", context.text);
        assert_eq!(held(member).await, nodes);
    }
}

#[tokio::test]
async fn a_context_is_counted_by_the_readers_encoding() {
    let db = TestDatabase::new().await;
    let ada = join(&db.htm(), "ada", GroupRole::Active).await;
    ada.remember(Memory::new("The quick brown fox jumps over the lazy dog.")).await.unwrap();
    let settings = Settings { token_encoding: TokenEncoding::Cl100kBase, ..Settings::default() };
    let other = Htm::with_pool(db.pool.clone(), settings, None);
    let bob = join(&other, "bob", GroupRole::Passive).await;
    let context = bob.context(&ContextOptions::new(100)).await.unwrap();
    assert_eq!(context.tokens, TokenEncoding::Cl100kBase.count(&context.text));
}

#[tokio::test]
async fn nodes_are_transferred_within_the_targets_budget() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let ada = join(&htm, "ada", GroupRole::Active).await;
    let small = htm.group("small").join("bob", options(Some(GroupRole::Active), 60)).await.unwrap();
    let mut nodes = Vec::new();
    for (number, importance) in [(0, 1.0), (1, 3.0), (2, 2.0)] {
        nodes.push(ada.remember(Memory::new(text(number, 30)).importance(importance)).await.unwrap().node);
    }
    let there = small.remember(Memory::new(text(3, 30))).await.unwrap().node;
    let to = TransferTarget::Group("small".into());
    // Named twice, it is one node.
    let receipt = ada.transfer(&Transferred::Nodes(vec![nodes[0], nodes[0]]), &to).await.unwrap();
    assert_eq!((receipt.transferred, receipt.evicted), (vec![nodes[0]], vec![]));
    until_held(&small, &[nodes[0], there]).await;
    assert_eq!(held(&ada).await, nodes[1..]);
    let receipt = ada.transfer(&Transferred::All, &to).await.unwrap();
    assert_eq!((receipt.transferred.len(), receipt.evicted.len()), (2, 2));
    until_held(&small, &nodes[1..]).await;
    assert!(held(&ada).await.is_empty());

    let to = TransferTarget::Robot("cyd".into());
    assert_eq!(small.transfer(&Transferred::All, &to).await.unwrap_err().code(), "robot_unknown");
    htm.register_robot(None, Some("cyd"), Default::default()).await.unwrap();
    assert_eq!(small.transfer(&Transferred::All, &to).await.unwrap().transferred.len(), 2);
    assert_eq!(htm.robot_info(None, "cyd").await.unwrap().in_working_memory, 2);
    for (what, to, code) in [
        (Transferred::Nodes(vec![nodes[0]]), TransferTarget::Robot("cyd".into()), "node_not_found"),
        (Transferred::All, TransferTarget::Group("small".into()), "group_transfer_to_itself"),
        (Transferred::All, TransferTarget::Group("nowhere".into()), "group_unknown"),
    ] {
        assert_eq!(small.transfer(&what, &to).await.unwrap_err().code(), code);
    }
    let eve = htm.acting_as("eve").unwrap();
    let eve = eve.group("small").join("eve", options(Some(GroupRole::Active), 1)).await.unwrap();
    let error = eve.transfer(&Transferred::All, &TransferTarget::Robot("cyd".into())).await.unwrap_err();
    assert_eq!(error.code(), "robot_forbidden");
    let passive = htm.group("small").join("dan", options(Some(GroupRole::Passive), 1)).await.unwrap();
    let error = passive.transfer(&Transferred::All, &TransferTarget::Robot("cyd".into())).await.unwrap_err();
    assert_eq!(error.code(), "group_member_passive");
    ada.shutdown(AfterShutdown::Keep).await.unwrap();
    let error = small.transfer(&Transferred::All, &TransferTarget::Group(GROUP.into())).await.unwrap_err();
    assert_eq!(error.code(), "group_closed");
}

#[tokio::test]
async fn a_transfer_to_a_robot_is_within_its_budget() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let ada = join(&htm, "ada", GroupRole::Active).await;
    let cyd = htm.robot("cyd").await.unwrap();
    htm.set_robot_budget(None, "cyd", Some(100)).await.unwrap();
    let to = TransferTarget::Robot("cyd".into());
    let large = ada.remember(Memory::new(text(0, 150))).await.unwrap().node;
    let error = ada.transfer(&Transferred::Nodes(vec![large]), &to).await.unwrap_err();
    assert_eq!(error.code(), "node_oversized");
    assert_eq!(held(&ada).await, [large]);
    let mut own = Vec::new();
    for number in 1..3 {
        own.push(cyd.remember(Memory::new(text(number, 45))).await.unwrap().receipt.node);
    }
    cyd.close().await.unwrap();
    let mut nodes = Vec::new();
    for number in 3..6 {
        nodes.push(ada.remember(Memory::new(text(number, 30))).await.unwrap().node);
    }
    nodes.reverse();
    let receipt = ada.transfer(&Transferred::Nodes(nodes.clone()), &to).await.unwrap();
    assert_eq!((receipt.transferred, receipt.evicted), (nodes.clone(), own));
    assert_eq!(held(&ada).await, [large]);
    let cyd = htm.robot("cyd").await.unwrap();
    let in_order: Vec<NodeId> = cyd.working_memory().iter().map(|entry| entry.node).collect();
    assert_eq!((in_order, cyd.left_behind()), (nodes, &[][..]));
    // What does not fit stays with the group.
    let mut more = vec![large];
    for number in 6..9 {
        more.push(ada.remember(Memory::new(text(number, 40))).await.unwrap().node);
    }
    let receipt = ada.transfer(&Transferred::Nodes(more[1..].to_vec()), &to).await.unwrap();
    assert_eq!((receipt.transferred.len(), receipt.evicted.len()), (2, 3));
    assert_eq!(held(&ada).await, more[..2]);
    assert_eq!(htm.robot_info(None, "cyd").await.unwrap().in_working_memory, 2);
}

#[tokio::test]
async fn a_lost_connection_costs_nothing_but_time() {
    let db = TestDatabase::new().await;
    let short = |role| htm_core::JoinOptions {
        lease: std::time::Duration::from_secs(3),
        ..options(Some(role), 1_000)
    };
    let ada = db.htm().group(GROUP).join("ada", short(GroupRole::Active)).await.unwrap();
    let bob = db.htm().group(GROUP).join("bob", short(GroupRole::Passive)).await.unwrap();
    let listeners = "select count(*) from pg_stat_activity
                      where datname = current_database() and query ilike 'listen%'";
    wait_until(|| async { db.count(listeners).await == 2 }).await;
    let mut nodes = vec![ada.remember(Memory::new("before")).await.unwrap().node];
    until_held(&bob, &nodes).await;
    for time in ["once", "twice"] {
        let ended = "select count(*) from (select pg_terminate_backend(pid) from pg_stat_activity
                      where datname = current_database() and query ilike 'listen%') ended";
        assert_eq!(db.count(ended).await, 2);
        nodes.push(ada.remember(Memory::new(format!("cut off {time}"))).await.unwrap().node);
        until_held(&bob, &nodes).await;
        wait_until(|| async { db.count(listeners).await == 2 }).await;
    }
}

#[tokio::test]
async fn removals_are_forgotten_when_all_have_seen_them() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let short = |role| htm_core::JoinOptions {
        lease: std::time::Duration::from_millis(150),
        ..options(Some(role), 20)
    };
    let ada = htm.group(GROUP).join("ada", short(GroupRole::Active)).await.unwrap();
    let bob = htm.group(GROUP).join("bob", short(GroupRole::Passive)).await.unwrap();
    let mut last = NodeId(0);
    for number in 0..10 {
        last = ada.remember(Memory::new(text(number, 15))).await.unwrap().node;
    }
    wait_until(|| async { db.count("select count(*) from htm.group_memory").await == 1 }).await;
    until_held(&bob, &[last]).await;
    assert!(db.count("select pruned_version from htm.robot_groups").await > 0);
}

#[tokio::test]
async fn who_was_away_for_too_long_reads_everything() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let ada = join(&htm, "ada", GroupRole::Active).await;
    let mut nodes = Vec::new();
    for number in 0..3 {
        nodes.push(ada.remember(Memory::new(text(number, 3))).await.unwrap().node);
    }
    // What was removed while it was away, and forgotten.
    sqlx::raw_sql(
        "delete from htm.group_memory where version = 2;
         update htm.robot_groups set version = 9, pruned_version = 8",
    )
    .execute(&db.pool)
    .await
    .unwrap();
    ada.sync().await.unwrap();
    assert_eq!(held(&ada).await, [nodes[0], nodes[2]]);
    let node = ada.remember(Memory::new("goes on")).await.unwrap().node;
    assert_eq!(held(&ada).await, [nodes[0], nodes[2], node]);
}

#[tokio::test]
async fn the_writers_own_events_say_what_came_and_what_left() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let ada = htm.group(GROUP).join("ada", options(Some(GroupRole::Active), 20)).await.unwrap();
    let mut events = ada.events();
    let mut synced = async || loop {
        if let GroupEvent::Synced { added, removed, .. } = events.recv().await.unwrap() {
            return (added, removed);
        }
    };
    let first = ada.remember(Memory::new(text(1, 15))).await.unwrap().node;
    assert_eq!(synced().await, (vec![first], vec![]));
    let second = ada.remember(Memory::new(text(2, 15))).await.unwrap().node;
    assert_eq!(synced().await, (vec![second], vec![first]));
    ada.remove(second).await.unwrap();
    assert_eq!(synced().await, (vec![], vec![second]));
}

#[tokio::test]
async fn recall_takes_its_hits_into_the_groups_mind() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let ada = htm.group(GROUP).join("ada", options(Some(GroupRole::Active), 20)).await.unwrap();
    let bob = join(&htm, "bob", GroupRole::Passive).await;
    let small = remember(&htm, "the zeppelin is late").await;
    let large = remember(&htm, &format!("zeppelin {}", text(1, 40))).await;
    let elsewhere = htm.remember(Memory::new("a zeppelin elsewhere").namespace("atlas")).await.unwrap().node;
    let query = RecallQuery::new("zeppelin").strategy(Strategy::Fulltext);
    let found = bob.recall(&query).await.unwrap();
    assert_eq!((found.recalled.hits.len(), found.is_in_working_memory), (2, false));
    assert!(held(&bob).await.is_empty());
    let found = ada.recall(&query).await.unwrap();
    assert_eq!((found.recalled.hits.len(), found.is_in_working_memory, found.evicted.len()), (2, true, 0));
    assert!(found.recalled.hits.iter().any(|hit| hit.node.id == large));
    // One is larger than the budget, one of another namespace.
    let far = ada.recall(&query.clone().namespace("atlas")).await.unwrap();
    assert_eq!(far.recalled.hits[0].node.id, elsewhere);
    assert_eq!(held(&ada).await, [small]);
    until_held(&bob, &[small]).await;
    let nothing = ada.recall(&RecallQuery::new("balloon").strategy(Strategy::Fulltext)).await.unwrap();
    assert!(nothing.is_in_working_memory && nothing.recalled.hits.is_empty());
}

#[tokio::test]
async fn of_a_recall_that_exceeds_the_budget_the_best_hits_stay() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let ada = htm.group(GROUP).join("ada", options(Some(GroupRole::Active), 30)).await.unwrap();
    let mut nodes = Vec::new();
    for times in [9, 7, 5, 3, 1] {
        nodes.push(remember(&htm, &format!("{:0<40}", "owl ".repeat(times))).await);
    }
    let found = ada.recall(&RecallQuery::new("owl").strategy(Strategy::Fulltext)).await.unwrap();
    let hits: Vec<NodeId> = found.recalled.hits.iter().map(|hit| hit.node.id).collect();
    assert_eq!(hits, nodes, "the best first");
    assert_eq!(held(&ada).await, nodes[..3]);
    // What is added next takes the room of the worst.
    let next = remember(&htm, &text(1, 20)).await;
    assert_eq!(ada.add(next).await.unwrap(), [nodes[2], nodes[1]]);
    assert_eq!(held(&ada).await, [nodes[0], next]);
}

#[tokio::test]
async fn a_node_that_is_named_twice_is_added_once() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let (ada, _) = htm.group(GROUP).enter("ada", options(Some(GroupRole::Active), 100)).await.unwrap();
    let nodes = [remember(&htm, "one").await, remember(&htm, "two").await];
    assert!(ada.add(&[nodes[1], nodes[0], nodes[1]]).await.unwrap().is_empty());
    let news = ada.heartbeat(None).await.unwrap();
    let added: Vec<NodeId> = news.nodes.iter().map(|entry| entry.node).collect();
    assert_eq!(added, [nodes[1], nodes[0]]);
}

/// Otherwise each member would ask as fast as the database answers.
#[tokio::test]
async fn uses_that_cannot_be_written_are_tried_again_after_a_pause() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let member = join(&htm, "ada", GroupRole::Active).await;
    let node = member.remember(Memory::new("one")).await.unwrap().node;
    let refuse = "create sequence tries;
        create function refuse() returns trigger language plpgsql as
               $$ begin perform nextval('tries'); raise 'refused'; end $$;
        create trigger refuse before update on htm.group_memory for each row execute function refuse()";
    sqlx::raw_sql(refuse).execute(&db.pool).await.unwrap();
    let tries = "select case when is_called then last_value else 0 end from tries";
    assert!(member.touch(node).await.unwrap());
    member.sync().await.unwrap();
    wait_until(|| async { db.count(tries).await > 0 }).await;
    // A member without a pause would try dozens of times meanwhile. The pause is a second.
    let since = std::time::Instant::now();
    for _ in 0..500 {
        db.count(tries).await;
    }
    let tried = db.count(tries).await;
    assert!(tried <= 3 + since.elapsed().as_secs() as i64, "{tried} times in {:?}", since.elapsed());
}
