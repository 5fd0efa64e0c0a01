//! Who is a member, in which role; and what is refused.

use std::time::Duration;

use htm_core::groups::AfterShutdown;
use htm_core::{GroupEvent, GroupMember, GroupRole, Htm, JoinOptions, Memory, NodeId, Scope};
use htm_tests::{TestDatabase, wait_until};

use super::{GROUP, held, join, options};

async fn roles(htm: &Htm) -> Vec<(String, &'static str)> {
    let members = htm.group(GROUP).info().await.unwrap().members;
    members.into_iter().map(|it| (it.robot, <&str>::from(it.role))).collect()
}

async fn until_role(member: &GroupMember, role: GroupRole) {
    wait_until(|| async { member.role() == role }).await;
}

#[tokio::test]
async fn a_passive_member_follows_and_does_not_write() {
    let db = TestDatabase::new().await;
    let ada = join(&db.htm(), "ada", GroupRole::Active).await;
    let node = ada.remember(Memory::new("one")).await.unwrap().node;
    let bob = join(&db.htm(), "bob", GroupRole::Passive).await;
    let before = db.count("select count(*) from htm.nodes").await;
    for error in [
        bob.remember(Memory::new("two")).await.unwrap_err(),
        bob.add(node).await.unwrap_err(),
        bob.remove(node).await.unwrap_err(),
        bob.touch(node).await.unwrap_err(),
    ] {
        assert_eq!(error.code(), "group_member_passive");
        let hint = htm_runtime::commands::hint(&error);
        assert!(hint.contains("htm groups promote crew bob"), "{hint}");
    }
    assert_eq!(bob.shutdown(AfterShutdown::Clear).await.unwrap_err().code(), "group_member_passive");
    assert_eq!(db.count("select count(*) from htm.nodes").await, before);
    assert_eq!(held(&ada).await, [node]);
}

#[tokio::test]
async fn bad_input_has_a_code_each() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let ada = join(&htm, "ada", GroupRole::Active).await;
    let lease = |lease| JoinOptions { lease, ..JoinOptions::default() };
    let group = htm.group(GROUP);
    let elsewhere = htm.remember(Memory::new("x").namespace("atlas")).await.unwrap().node;
    for (code, error) in [
        ("group_invalid", htm.group(" ").join("ada", JoinOptions::default()).await.unwrap_err()),
        ("robot_invalid", group.join("a\nb", JoinOptions::default()).await.unwrap_err()),
        ("namespace_invalid", htm.group("g").namespace("").info().await.unwrap_err()),
        (
            "group_setting_out_of_range",
            group.join("ada", lease(Duration::from_millis(99))).await.unwrap_err(),
        ),
        ("group_setting_out_of_range", group.join("ada", lease(Duration::MAX)).await.unwrap_err()),
        ("group_setting_out_of_range", group.join("ada", options(None, 0)).await.unwrap_err()),
        ("group_unknown", htm.group("nowhere").info().await.unwrap_err()),
        ("group_unknown", htm.group("nowhere").promote("ada").await.unwrap_err()),
        ("group_unknown", htm.group(GROUP).namespace("atlas").info().await.unwrap_err()),
        ("group_unknown", htm.group("nowhere").shutdown(AfterShutdown::Keep).await.unwrap_err()),
        ("group_member_unknown", group.promote("bob").await.unwrap_err()),
        ("group_member_unknown", group.demote("bob").await.unwrap_err()),
        ("group_last_active", group.demote("ada").await.unwrap_err()),
        ("group_elsewhere", ada.remember(Memory::new("x").namespace("atlas")).await.unwrap_err()),
        ("content_empty", ada.remember(Memory::new(" ")).await.unwrap_err()),
        ("node_not_found", ada.add(NodeId(0)).await.unwrap_err()),
        ("node_not_found", ada.add(elsewhere).await.unwrap_err()),
    ] {
        assert_eq!(error.code(), code, "{error}");
        assert!(!error.hint().is_empty());
        assert_eq!(error.fault().exit_code(), 2, "{code}");
    }
    assert_eq!(roles(&htm).await, [("ada".to_owned(), "active")]);
}

#[tokio::test]
async fn roles_change_by_word_and_somebody_is_always_active() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let auto = |robot: &'static str| {
        let group = htm.group(GROUP);
        async move { group.join(robot, options(None, 1_000)).await.unwrap() }
    };
    let (ada, bob, cyd) = (auto("ada").await, auto("bob").await, auto("cyd").await);
    assert_eq!([ada.role(), bob.role(), cyd.role()].map(<&str>::from), ["active", "passive", "passive"]);
    ada.promote("cyd").await.unwrap();
    until_role(&cyd, GroupRole::Active).await;
    ada.demote("ada").await.unwrap();
    assert_eq!(ada.role(), GroupRole::Passive);
    assert_eq!(ada.remember(Memory::new("x")).await.unwrap_err().code(), "group_member_passive");
    // Of the passive ones the one that joined first takes over.
    cyd.leave().await.unwrap();
    until_role(&ada, GroupRole::Active).await;
    assert_eq!(bob.role(), GroupRole::Passive);
    // The last active one is not demoted to nothing: another one takes over.
    bob.demote("ada").await.unwrap();
    until_role(&bob, GroupRole::Active).await;
    assert_eq!(roles(&htm).await, [("bob".to_owned(), "active"), ("ada".into(), "passive")]);
    bob.remember(Memory::new("x")).await.unwrap();
    // Who is passive leaves without a word to the others.
    ada.leave().await.unwrap();
    assert_eq!(roles(&htm).await, [("bob".to_owned(), "active")]);
    assert_eq!(htm.groups(&Scope::Own).await.unwrap().len(), 1);
    assert_eq!(htm.robot_info(None, "bob").await.unwrap().groups, [GROUP]);
}

#[tokio::test]
async fn one_process_speaks_for_a_robot() {
    let db = TestDatabase::new().await;
    let first = join(&db.htm(), "ada", GroupRole::Active).await;
    let mut events = first.events();
    let node = first.remember(Memory::new("one")).await.unwrap().node;
    let second = join(&db.htm(), "ada", GroupRole::Active).await;
    // Told or not: what it still writes is refused.
    let error = first.remember(Memory::new("late")).await.unwrap_err();
    assert_eq!((error.code(), error.fault().exit_code()), ("group_member_replaced", 1));
    assert_eq!(first.remove(node).await.unwrap_err().code(), "group_member_replaced");
    assert_eq!(first.touch(node).await.unwrap_err().code(), "group_member_replaced");
    assert_eq!(first.sync().await.unwrap_err().code(), "group_member_replaced");
    while events.recv().await.unwrap() != GroupEvent::Replaced {}
    // It does not take the other one's membership with it.
    first.leave().await.unwrap();
    assert_eq!(held(&second).await, [node]);
    second.remember(Memory::new("two")).await.unwrap();
    assert_eq!(db.count("select count(*) from htm.nodes").await, 2);
}

#[tokio::test]
async fn a_member_that_was_merged_away_is_replaced() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let ada = join(&htm, "ada", GroupRole::Active).await;
    let node = ada.remember(Memory::new("one")).await.unwrap().node;
    htm.register_robot(None, Some("bob"), Default::default()).await.unwrap();
    let receipt = htm.merge_robots(None, &["ada"], "bob").await.unwrap();
    assert_eq!((receipt.nodes, receipt.memberships), (1, 1));
    assert_eq!(ada.remember(Memory::new("late")).await.unwrap_err().code(), "group_member_replaced");
    let bob = join(&htm, "bob", GroupRole::Active).await;
    assert_eq!(held(&bob).await, [node]);
}

#[tokio::test]
async fn a_merge_of_robots_hands_over_and_waits_for_who_writes() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let ada = join(&htm, "ada", GroupRole::Active).await;
    let bob = join(&htm, "bob", GroupRole::Passive).await;
    let cyd = join(&htm, "cyd", GroupRole::Passive).await;
    let mut events = ada.events();
    // Somebody writes in the group.
    let mut tx = db.pool.begin().await.unwrap();
    sqlx::query("select from htm.robot_groups for no key update").execute(&mut *tx).await.unwrap();
    let merge = tokio::spawn({
        let htm = htm.clone();
        async move { htm.merge_robots(None, &["ada"], "cyd").await }
    });
    let waiting = "select count(*) from pg_stat_activity where datname = current_database()
                      and wait_event_type = 'Lock' and query like '%robot_groups%'";
    wait_until(|| async { db.count(waiting).await == 1 }).await;
    assert_eq!(roles(&htm).await.len(), 3);
    tx.commit().await.unwrap();
    assert_eq!(merge.await.unwrap().unwrap().memberships, 1);
    assert_eq!(roles(&htm).await, [("bob".to_owned(), "active"), ("cyd".into(), "passive")]);
    // All are told, long before their next heartbeat.
    until_role(&bob, GroupRole::Active).await;
    while events.recv().await.unwrap() != GroupEvent::Replaced {}
    assert_eq!(cyd.role(), GroupRole::Passive);
}

#[tokio::test]
async fn a_lease_is_renewed_while_the_group_is_locked_and_the_pool_is_empty() {
    let db = TestDatabase::new().await;
    let pool = sqlx::postgres::PgPoolOptions::new()
        .max_connections(1)
        .connect_with(db.pool.connect_options().as_ref().clone())
        .await
        .unwrap();
    let htm = Htm::with_pool(pool.clone(), htm_core::Settings::default(), None);
    let short = |role| JoinOptions { lease: Duration::from_millis(150), ..options(Some(role), 1_000) };
    let _ada = htm.group(GROUP).join("ada", short(GroupRole::Active)).await.unwrap();
    let _busy = pool.acquire().await.unwrap();
    let _bob = db.htm().group(GROUP).join("bob", short(GroupRole::Active)).await.unwrap();
    let mut tx = db.pool.begin().await.unwrap();
    sqlx::query("select from htm.robot_groups for no key update").execute(&mut *tx).await.unwrap();
    // More heartbeats than there are from one look for old removals to the next.
    let seen = "select count(*) from htm.group_members where seen_at > joined_at + interval '2 seconds'";
    wait_until(|| async { db.count(seen).await == 2 }).await;
}

#[tokio::test]
async fn a_member_that_is_renamed_goes_on() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let ada = join(&htm, "ada", GroupRole::Active).await;
    let bob = join(&htm, "bob", GroupRole::Passive).await;
    db.htm().rename_robot(None, "ada", "eva").await.unwrap();
    let node = ada.remember(Memory::new("one")).await.unwrap().node;
    assert_eq!(htm.get(node).await.unwrap().robot, "eva");
    assert_eq!(db.count("select count(*) from htm.robots where name = 'ada'").await, 0, "no new robot");
    let to = htm_core::groups::TransferTarget::Robot("bob".into());
    let what = htm_core::groups::Transferred::All;
    assert_eq!(ada.transfer(&what, &to).await.unwrap().transferred, [node]);
    // Who joins by the old name is another robot, and this one leaves as itself.
    let other = join(&htm, "ada", GroupRole::Passive).await;
    ada.leave().await.unwrap();
    until_role(&bob, GroupRole::Active).await;
    assert_eq!(roles(&htm).await, [("bob".to_owned(), "active"), ("ada".into(), "passive")]);
    drop(other);
}

#[tokio::test]
async fn a_member_that_died_is_removed_by_another() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let group = htm.group(GROUP);
    let ada = join(&htm, "ada", GroupRole::Active).await;
    let bob = join(&htm, "bob", GroupRole::Passive).await;
    drop(join(&htm, "cyd", GroupRole::Passive).await);
    group.remove("cyd").await.unwrap();
    assert_eq!(group.remove("cyd").await.unwrap_err().code(), "group_member_unknown");
    assert_eq!(group.remove("nobody").await.unwrap_err().code(), "group_member_unknown");
    // One that goes on is told, and another one takes over.
    let mut events = ada.events();
    group.remove("ada").await.unwrap();
    while events.recv().await.unwrap() != GroupEvent::Replaced {}
    until_role(&bob, GroupRole::Active).await;
    assert_eq!(roles(&htm).await, [("bob".to_owned(), "active")]);
}

#[tokio::test]
async fn a_shutdown_tells_all_and_keeps_or_clears() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    for (after, kept) in [(AfterShutdown::Keep, 1), (AfterShutdown::Clear, 0)] {
        let ada = join(&htm, "ada", GroupRole::Active).await;
        let bob = join(&htm, "bob", GroupRole::Passive).await;
        let mut events = bob.events();
        if held(&ada).await.is_empty() {
            ada.remember(Memory::new("one")).await.unwrap();
        }
        assert_eq!(ada.shutdown(after).await.unwrap(), 2);
        while events.recv().await.unwrap() != GroupEvent::Closed {}
        assert_eq!(bob.sync().await.unwrap_err().code(), "group_closed");
        let info = htm.group(GROUP).info().await.unwrap();
        assert!(info.closed_at.is_some() && info.members.is_empty());
        assert_eq!(info.nodes, kept);
        assert_eq!(htm.group(GROUP).shutdown(after).await.unwrap_err().code(), "group_closed");
    }
    // Joining opens it again.
    let ada = join(&htm, "ada", GroupRole::Active).await;
    assert!(held(&ada).await.is_empty());
    ada.remember(Memory::new("two")).await.unwrap();
    assert_eq!(htm.group(GROUP).info().await.unwrap().closed_at, None);
}

#[tokio::test]
async fn of_several_passive_members_exactly_one_takes_over() {
    let db = TestDatabase::new().await;
    let short = |role| JoinOptions { lease: Duration::from_millis(600), ..options(Some(role), 1_000) };
    let group = db.htm().group(GROUP);
    let ada = group.join("ada", short(GroupRole::Active)).await.unwrap();
    let node = ada.remember(Memory::new("one")).await.unwrap().node;
    let mut others = Vec::new();
    for robot in ["bob", "cyd", "dan", "eve"] {
        others.push(db.htm().group(GROUP).join(robot, short(GroupRole::Passive)).await.unwrap());
    }
    // As if its process died.
    drop(ada);
    until_role(&others[0], GroupRole::Active).await;
    let found = roles(&db.htm()).await;
    assert_eq!(found.iter().filter(|(_, role)| *role == "active").count(), 1, "{found:?}");
    assert_eq!(found[0].0, "bob");
    for other in &others {
        assert_eq!(held(other).await, [node]);
    }
    let error = group.promote("ada").await.unwrap_err();
    assert_eq!((error.code(), error.fault().exit_code()), ("group_member_lost", 75));
    // Back again, it is passive unless it is told otherwise.
    let ada = group.join("ada", JoinOptions { role: None, ..short(GroupRole::Active) }).await.unwrap();
    assert_eq!((ada.role(), held(&ada).await), (GroupRole::Passive, vec![node]));
}

#[tokio::test]
async fn a_group_whose_members_are_all_passive_gets_an_active_one() {
    let db = TestDatabase::new().await;
    let group = db.htm().group(GROUP);
    let short = |role| JoinOptions { lease: Duration::from_millis(600), ..options(Some(role), 1_000) };
    // Joined first, and alone.
    let bob = group.join("bob", short(GroupRole::Passive)).await.unwrap();
    assert_eq!(bob.role(), GroupRole::Passive);
    until_role(&bob, GroupRole::Active).await;
    // Active, and started again as a passive one within its lease: the other one takes over at once.
    let ada = group.join("ada", options(Some(GroupRole::Passive), 1_000)).await.unwrap();
    drop(bob);
    let bob = group.join("bob", options(Some(GroupRole::Passive), 1_000)).await.unwrap();
    assert_eq!(roles(&db.htm()).await, [("ada".to_owned(), "active"), ("bob".into(), "passive")]);
    until_role(&ada, GroupRole::Active).await;
    assert_eq!(bob.role(), GroupRole::Passive);
}

#[tokio::test]
async fn one_that_was_lost_when_the_active_one_left_takes_over_when_it_is_back() {
    let db = TestDatabase::new().await;
    let group = db.htm().group(GROUP);
    let short = |role| JoinOptions { lease: Duration::from_millis(600), ..options(Some(role), 1_000) };
    let ada = group.join("ada", short(GroupRole::Active)).await.unwrap();
    let bob = group.join("bob", short(GroupRole::Passive)).await.unwrap();
    // As it is when the active one leaves while the passive one is lost: nobody takes over, and nobody active is left.
    sqlx::query(
        "delete from htm.group_members m using htm.robots r where r.id = m.robot_id and r.name = 'ada'",
    )
    .execute(&db.pool)
    .await
    .unwrap();
    until_role(&bob, GroupRole::Active).await;
    assert_eq!(ada.sync().await.unwrap_err().code(), "group_member_replaced");
}

#[tokio::test]
async fn who_becomes_active_for_a_lost_one_is_the_only_one() {
    let db = TestDatabase::new().await;
    let group = db.htm().group(GROUP);
    // Stopped: it is not seen for its lease, and goes on later.
    let lose = async |robot: &str| {
        // A heartbeat of late: the first is at once, the next ones are 10 seconds apart.
        let is_due = "select seen_at <= joined_at or seen_at < now() - interval '5 seconds'
                        from htm.group_members m join htm.robots r on r.id = m.robot_id where r.name = $1";
        let due = || sqlx::query_scalar::<_, bool>(is_due).bind(robot).fetch_one(&db.pool);
        wait_until(|| async { !due().await.unwrap() }).await;
        sqlx::query(
            "update htm.group_members m set seen_at = now() - interval '1 hour'
               from htm.robots r where r.id = m.robot_id and r.name = $1",
        )
        .bind(robot)
        .execute(&db.pool)
        .await
        .unwrap();
    };
    let ada = join(&db.htm(), "ada", GroupRole::Active).await;
    lose("ada").await;
    let bob = group.join("bob", options(None, 1_000)).await.unwrap();
    assert_eq!(bob.role(), GroupRole::Active);
    assert_eq!(roles(&db.htm()).await, [("bob".to_owned(), "active"), ("ada".into(), "passive")]);
    let error = ada.remember(Memory::new("late")).await.unwrap_err();
    // Whether it was told of it before.
    assert!(["group_member_replaced", "group_member_passive"].contains(&error.code()), "{error}");
    until_role(&ada, GroupRole::Passive).await;
    // So it is when another one is made active by word.
    let _cyd = group.join("cyd", options(Some(GroupRole::Passive), 1_000)).await.unwrap();
    lose("bob").await;
    group.promote("cyd").await.unwrap();
    let found = roles(&db.htm()).await;
    assert_eq!(found.iter().filter(|(_, role)| *role == "active").count(), 1, "{found:?}");
}
