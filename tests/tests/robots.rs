//! Robots: registered, seen, renamed, merged, counted.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use htm_core::{Deduplicate, Htm, Memory, NodeId, RecallQuery, Scope, Settings, Strategy};
use htm_tests::{TestDatabase, wait_until};
use serde_json::{Map, json};

async fn remember(htm: &Htm, robot: &str, text: &str) -> NodeId {
    htm.remember(Memory::new(text).robot(robot)).await.unwrap().node
}

async fn names(htm: &Htm, scope: &Scope) -> Vec<String> {
    htm.robots(scope).await.unwrap().into_iter().map(|it| it.robot.name).collect()
}

#[tokio::test]
async fn a_robot_is_registered_by_its_first_memory_or_by_hand() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    remember(&htm, "ada", "one").await;
    let metadata = json!({"model": "m"}).as_object().unwrap().clone();
    let bob = htm.register_robot(None, Some("bob"), metadata.clone()).await.unwrap();
    assert_eq!((bob.name.as_str(), bob.namespace.as_str()), ("bob", "default"));
    assert_eq!(bob.metadata, json!({"model": "m"}));
    assert_eq!(bob.last_active, None);
    let generated = htm.register_robot(Some("other"), None, Map::new()).await.unwrap();
    assert_eq!(generated.name.split('-').count(), 3, "{}", generated.name);
    assert_eq!(names(&htm, &Scope::Own).await, ["ada", "bob"]);
    assert_eq!(names(&htm, &Scope::All).await, ["ada", "bob", &generated.name]);
    assert_eq!(names(&htm, &Scope::Namespace("other".into())).await, [generated.name]);
    let ada = htm.robot_info(None, "ada").await.unwrap();
    assert!(ada.robot.last_active.is_some());
    assert_ne!(ada.robot.uuid, bob.uuid);
    let changed = htm.set_robot_metadata(None, "bob", Map::new()).await.unwrap();
    assert_eq!((changed.metadata, changed.uuid), (json!({}), bob.uuid));
}

#[tokio::test]
async fn what_cannot_be_done_has_a_code_each() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    for name in ["ada", "bob"] {
        htm.register_robot(None, Some(name), Map::new()).await.unwrap();
    }
    htm.register_robot(Some("other"), Some("far"), Map::new()).await.unwrap();
    let nul = json!({"a": "\0"}).as_object().unwrap().clone();
    for (code, error) in [
        ("robot_unknown", htm.robot_info(None, "nobody").await.unwrap_err()),
        ("robot_unknown", htm.robot_info(None, "far").await.unwrap_err()),
        ("robot_unknown", htm.rename_robot(None, "nobody", "x").await.unwrap_err()),
        ("robot_unknown", htm.set_robot_metadata(None, "nobody", Map::new()).await.unwrap_err()),
        ("robot_unknown", htm.merge_robots(None, &["nobody"], "ada").await.unwrap_err()),
        ("robot_unknown", htm.merge_robots(None, &["ada"], "nobody").await.unwrap_err()),
        // Of another namespace.
        ("robot_unknown", htm.merge_robots(None, &["ada"], "far").await.unwrap_err()),
        ("robot_unknown", htm.merge_robots(Some("other"), &["ada"], "far").await.unwrap_err()),
        ("robot_taken", htm.rename_robot(None, "ada", "bob").await.unwrap_err()),
        ("robot_taken", htm.register_robot(None, Some("ada"), Map::new()).await.unwrap_err()),
        ("robot_invalid", htm.register_robot(None, Some(" "), Map::new()).await.unwrap_err()),
        ("robot_invalid", htm.rename_robot(None, "ada", "a\nb").await.unwrap_err()),
        ("nul_byte", htm.register_robot(None, Some("cyd"), nul.clone()).await.unwrap_err()),
        ("nul_byte", htm.set_robot_metadata(None, "ada", nul).await.unwrap_err()),
        ("merge_into_itself", htm.merge_robots(None, &["bob", "ada"], "ada").await.unwrap_err()),
        ("nothing_to_merge", htm.merge_robots(None, &[], "ada").await.unwrap_err()),
        ("namespace_invalid", htm.robots(&Scope::Namespace(String::new())).await.unwrap_err()),
        ("namespace_invalid", htm.robot_info(Some(""), "ada").await.unwrap_err()),
    ] {
        assert_eq!(error.code(), code);
        assert!(!error.hint().is_empty());
        assert_eq!(error.fault().exit_code(), 2, "{code}");
    }
    assert_eq!(db.count("select count(*) from htm.robots").await, 3);
}

#[tokio::test]
async fn a_renamed_robot_keeps_its_memories_and_the_old_name_is_a_new_robot() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let first = remember(&htm, "ada", "one").await;
    let renamed = htm.rename_robot(None, "ada", "ada lovelace").await.unwrap();
    assert_eq!(htm.get(first).await.unwrap().robot, "ada lovelace");
    let second = remember(&htm, "ada", "two").await;
    assert_eq!(htm.get(second).await.unwrap().robot, "ada");
    assert_ne!(htm.robot_info(None, "ada").await.unwrap().robot.uuid, renamed.uuid);
}

#[tokio::test]
async fn statistics_count_what_a_robot_did() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let at = |day: &str| format!("2026-03-{day}T00:00:00Z").parse().unwrap();
    let mut nodes = Vec::new();
    for day in ["03", "01", "02"] {
        let memory = Memory::new(format!("on day {day} it rained")).robot("ada").at(at(day));
        nodes.push(htm.remember(memory).await.unwrap().node);
    }
    remember(&htm, "bob", "another's").await;
    htm.forget(nodes[0], &htm_core::Caller::AnyRobot, htm_core::Confirmation::Confirmed).await.unwrap();
    sqlx::query(
        "insert into htm.working_memory (robot_id, namespace, node_id)
         select r.id, r.namespace, n from htm.robots r, unnest($1::bigint[]) n where r.name = 'ada'",
    )
    .bind(&nodes)
    .execute(&db.pool)
    .await
    .unwrap();
    let ada = htm.robot_info(None, "ada").await.unwrap();
    assert_eq!((ada.nodes, ada.forgotten, ada.in_working_memory), (2, 1, 2));
    assert_eq!((ada.first_memory, ada.last_memory), (Some(at("01")), Some(at("02"))));
    let tokens: i64 = htm.get(nodes[1]).await.unwrap().token_count.into();
    assert_eq!((ada.tokens, ada.working_memory_tokens), (2 * tokens, 2 * tokens));
    let bob = htm.robot_info(None, "bob").await.unwrap();
    assert_eq!((bob.nodes, bob.in_working_memory, bob.repeats), (1, 0, 0));
}

/// The rows of the robots change with what is written about them; how often, `pg_stat` counts too late to be asked.
async fn row_versions(db: &TestDatabase) -> Vec<String> {
    sqlx::query_scalar("select xmin::text from htm.robots order by name").fetch_all(&db.pool).await.unwrap()
}

#[tokio::test]
async fn last_active_is_written_behind_and_in_one_statement() {
    let db = TestDatabase::new().await;
    let htm = Htm::connect(&db.url(), Default::default(), None).await.unwrap();
    for robot in ["ada", "bob", "cyd"] {
        remember(&htm, robot, "one").await;
    }
    let registered = row_versions(&db).await;
    // No call writes it: what is fresh stays as it is, also when it is written behind.
    for n in 0..20 {
        remember(&htm, "ada", &format!("more {n}")).await;
    }
    htm.close().await;
    assert_eq!(row_versions(&db).await, registered);
}

#[tokio::test]
async fn a_robot_that_was_away_is_seen_again() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    for robot in ["ada", "htm", "cyd"] {
        remember(&htm, robot, "one").await;
    }
    // It would write as well.
    drop(htm);
    sqlx::query("update htm.robots set last_active = '2020-01-01'").execute(&db.pool).await.unwrap();
    let again = db.htm();
    remember(&again, "ada", "two").await;
    // The handle's own robot recalls.
    again.recall(&RecallQuery::new("one").strategy(Strategy::Fulltext)).await.unwrap();
    let seen = "select count(*) from htm.robots where last_active > now() - interval '1 minute'";
    wait_until(|| async { db.count(seen).await == 2 }).await;
    let written: i64 =
        sqlx::query_scalar("select count(distinct xmin::text) from htm.robots where name in ('ada', 'htm')")
            .fetch_one(&db.pool)
            .await
            .unwrap();
    assert_eq!(written, 1, "both in one statement");
    let cyd = again.robot_info(None, "cyd").await.unwrap();
    assert_eq!(cyd.robot.last_active, Some("2020-01-01T00:00:00Z".parse().unwrap()));
}

#[tokio::test]
async fn a_merge_moves_all_that_the_robots_have() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let mut nodes = Vec::new();
    for (robot, text) in [("old", "a"), ("old", "b"), ("older", "c"), ("new", "d"), ("else", "e")] {
        nodes.push(remember(&htm, robot, text).await);
    }
    htm.forget(nodes[1], &htm_core::Caller::AnyRobot, htm_core::Confirmation::Confirmed).await.unwrap();
    sqlx::raw_sql(
        "insert into htm.repeats (namespace, node_id, robot_id, count, first_at, last_at)
         select n.namespace, n.id, r.id, 2, timestamptz '2026-01-01' + r.id * interval '1 day', timestamptz '2026-02-01' + r.id * interval '1 day'
           from htm.nodes n, htm.robots r where n.content = 'e' and r.name in ('old', 'older', 'new');
         insert into htm.working_memory (robot_id, namespace, node_id, accesses)
         select r.id, n.namespace, n.id, 1 from htm.nodes n, htm.robots r
          where (r.name, n.content) in (('old', 'a'), ('older', 'a'), ('older', 'c'), ('new', 'c'));
         insert into htm.robot_groups (namespace, name, max_tokens) values ('default', 'g', 100), ('default', 'h', 100);
         insert into htm.group_members (group_id, robot_id, role, membership, lease_ms)
         select g.id, r.id, case r.name when 'older' then 'active' else 'passive' end, gen_random_uuid(), 60000
           from htm.robot_groups g, htm.robots r
          where (g.name, r.name) in (('g', 'old'), ('g', 'older'), ('h', 'old'), ('h', 'new'));
         insert into htm.group_memory (group_id, namespace, node_id, version, robot_id)
         select g.id, n.namespace, n.id, 1, r.id from htm.robot_groups g, htm.nodes n, htm.robots r
          where g.name = 'g' and n.content = 'a' and r.name = 'old'",
    )
    .execute(&db.pool)
    .await
    .unwrap();
    let receipt = htm.merge_robots(None, &["older", "old", "old"], "new").await.unwrap();
    assert_eq!((receipt.from, receipt.into.as_str()), (vec!["old".to_owned(), "older".into()], "new"));
    assert_eq!((receipt.nodes, receipt.repeats, receipt.working_memory, receipt.memberships), (3, 1, 1, 3));
    assert_eq!(names(&htm, &Scope::All).await, ["else", "new"]);
    let new = htm.robot_info(None, "new").await.unwrap();
    assert_eq!((new.nodes, new.forgotten, new.repeats, new.in_working_memory), (3, 1, 6, 2));
    assert_eq!(new.groups, ["h"]);
    for (node, robot) in [(nodes[0], "new"), (nodes[2], "new"), (nodes[3], "new"), (nodes[4], "else")] {
        assert_eq!(htm.get(node).await.unwrap().robot, robot);
    }
    assert_eq!(
        db.count(
            "select count(*) from htm.group_members m join htm.robot_groups g on g.id = m.group_id
              where (g.name, m.role) in (('h', 'active'))"
        )
        .await,
        1,
        "one is active"
    );
    assert_eq!(db.count("select count(*) from htm.group_memory where robot_id is null").await, 0);
    assert_eq!(db.count("select count(*) from htm.repeats").await, 1);
}

#[tokio::test]
async fn what_may_stand_once_a_robot_stands_once_after_a_merge() {
    let db = TestDatabase::new().await;
    let settings = Settings { deduplicate: Deduplicate::Robot, ..Settings::default() };
    let htm = Htm::with_pool(db.pool.clone(), settings, None);
    for robot in ["old", "older", "new"] {
        for text in ["all three have it", robot] {
            remember(&htm, robot, text).await;
        }
    }
    let receipt = htm.merge_robots(None, &["old", "older"], "new").await.unwrap();
    assert_eq!(receipt.nodes, 4);
    let scoped = "select count(*) from htm.nodes where duplicate_scope = robot_id";
    assert_eq!(db.count(scoped).await, 4);
    assert_eq!(db.count("select count(*) from htm.nodes where duplicate_scope is null").await, 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_memory_that_meets_a_merge_is_neither_refused_nor_lost() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    htm.register_robot(None, Some("into"), Map::new()).await.unwrap();
    let done = Arc::new(AtomicBool::new(false));
    let written = Arc::new(AtomicUsize::new(0));
    let writers = (0..4).map(|writer| {
        // Processes of their own: each with its own idea of which robots there are.
        let (htm, done, written) = (db.htm(), done.clone(), written.clone());
        tokio::spawn(async move {
            let mut nodes = Vec::new();
            for n in 0.. {
                if done.load(Ordering::Relaxed) {
                    break;
                }
                let memory = |k: usize| {
                    let memory = Memory::new(format!("writer {writer} says {n} {k}")).robot("busy");
                    if n % 3 == 0 { memory.tag("a:b".parse().unwrap()) } else { memory }
                };
                match n % 4 {
                    0 => {
                        let many = [memory(0), memory(1).robot("other"), memory(2)];
                        for result in htm.remember_many(&many).await.unwrap() {
                            nodes.push(result.unwrap().node);
                        }
                    }
                    1 => {
                        let mut tx = htm.database_pool().unwrap().begin().await.unwrap();
                        let pending = htm.remember_in_tx(&mut tx, memory(0)).await.unwrap();
                        tx.commit().await.unwrap();
                        nodes.push(pending.notify().node);
                    }
                    _ => nodes.push(htm.remember(memory(0)).await.unwrap().node),
                }
                written.fetch_add(1, Ordering::Relaxed);
            }
            nodes
        })
    });
    let writers: Vec<_> = writers.collect();
    let mut moved = 0;
    for round in 1..=20 {
        wait_until(|| async { written.load(Ordering::Relaxed) >= round * 10 }).await;
        for robot in ["busy", "other"] {
            match htm.merge_robots(None, &[robot], "into").await {
                Ok(receipt) => moved += receipt.nodes,
                Err(error) => assert_eq!(error.code(), "robot_unknown", "{error:?}"),
            }
        }
    }
    done.store(true, Ordering::Relaxed);
    let mut nodes = Vec::new();
    for writer in writers {
        nodes.extend(writer.await.unwrap());
    }
    assert!(moved > 50, "{moved}");
    assert_eq!(db.count("select count(*) from htm.nodes").await, nodes.len() as i64);
    for node in nodes {
        let robot = htm.get(node).await.unwrap().robot;
        assert!(["into", "busy", "other"].contains(&robot.as_str()), "{robot}");
    }
}

#[tokio::test]
async fn merges_of_the_same_robots_wait_for_one_another() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    for robot in ["a", "b", "c"] {
        remember(&htm, robot, robot).await;
    }
    let merge = async |from: &str, into: &str| htm.merge_robots(None, &[from], into).await;
    let results = futures::join!(merge("a", "b"), merge("b", "a"), merge("c", "a"), merge("c", "b"));
    let results = [results.0, results.1, results.2, results.3];
    assert!(results.iter().flatten().count() >= 1);
    for error in results.iter().flat_map(|result| result.as_ref().err()) {
        assert_eq!(error.code(), "robot_unknown");
    }
    assert_eq!(db.count("select count(*) from htm.nodes n join htm.robots r on r.id = n.robot_id").await, 3);
}

#[tokio::test]
async fn an_open_robot_that_is_renamed_goes_on_under_its_new_name() {
    let db = TestDatabase::new().await;
    let (htm, other) = (db.htm(), db.htm());
    let robot = htm.robot("ada").await.unwrap();
    let first = robot.remember(Memory::new("one")).await.unwrap().receipt.node;
    other.rename_robot(None, "ada", "lovelace").await.unwrap();
    // Another one takes the name that is free.
    let stranger = remember(&other, "ada", "two").await;
    let tagged = Memory::new("four").tag("math:notes".parse().unwrap());
    let mut nodes = vec![first];
    for memory in [Memory::new("three"), tagged, Memory::new("three"), Memory::new("five").key("k")] {
        nodes.push(robot.remember(memory).await.unwrap().receipt.node);
    }
    assert_eq!(nodes[1], nodes[3], "said again");
    for node in nodes {
        assert_eq!(other.get(node).await.unwrap().robot, "lovelace");
    }
    assert_eq!(other.get(stranger).await.unwrap().robot, "ada");
    assert_eq!(robot.name(), "lovelace");
    robot.close().await.unwrap();
    let known = other.robot_info(None, "lovelace").await.unwrap();
    assert_eq!((known.nodes, known.repeats, known.in_working_memory), (4, 1, 4));
    assert_eq!(other.robot_info(None, "ada").await.unwrap().nodes, 1);
}

#[tokio::test]
async fn of_many_that_want_one_name_one_gets_it() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    for number in 0..8 {
        htm.register_robot(None, Some(&format!("r{number}")), Map::new()).await.unwrap();
    }
    let tasks = (0..16).map(|number| {
        let htm = htm.clone();
        tokio::spawn(async move {
            match number % 2 {
                0 => htm.rename_robot(None, &format!("r{}", number / 2), "the one").await,
                _ => htm.register_robot(None, Some("the one"), Map::new()).await,
            }
        })
    });
    let mut won = 0;
    for task in tasks.collect::<Vec<_>>() {
        match task.await.unwrap() {
            Ok(robot) => {
                assert_eq!(robot.name, "the one");
                won += 1;
            }
            Err(error) => assert_eq!(error.code(), "robot_taken"),
        }
    }
    assert_eq!(won, 1);
}

#[tokio::test]
async fn who_keeps_a_memory_is_told() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let ada = htm.robot("ada").await.unwrap();
    let node = ada.remember(Memory::new("one")).await.unwrap().receipt.node;
    ada.remember(Memory::new("one")).await.unwrap();
    ada.close().await.unwrap();
    remember(&htm, "bob", "one").await;
    let member = htm.group("crew").join("cyd", htm_core::JoinOptions::default()).await.unwrap();
    member.add(node).await.unwrap();
    let keepers = htm.keepers(node).await.unwrap();
    let robots: Vec<_> = keepers
        .robots
        .iter()
        .map(|it| (it.robot.as_str(), it.made, it.remember_count, it.in_working_memory))
        .collect();
    assert_eq!(robots, [("ada", true, 2, true), ("bob", false, 1, false)]);
    assert!(keepers.robots.iter().all(|it| it.first_repeat.is_some() && it.first_repeat <= it.last_repeat));
    assert_eq!(keepers.groups, ["crew"]);
    member.remove(node).await.unwrap();
    assert!(htm.keepers(node).await.unwrap().groups.is_empty());
    assert_eq!(htm.keepers(NodeId(0)).await.unwrap_err().code(), "node_not_found");
}
