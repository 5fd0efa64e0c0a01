//! Namespaces: paths of labels, listed by prefix, suffix and depth.

use futures::future::join_all;
use htm_core::provider::{CALLER, ModelName};
use htm_core::{
    Caller, Confirmation, Erase, ExportOptions, Htm, JoinOptions, LearningSettings, Memory, NamespaceQuery,
    NodeId, Outcome, Quota, Receipt, Retention,
};
use htm_tests::{Plans, TestDatabase, explained, wait_until};

async fn filled(htm: &Htm) {
    let names = [
        "acme",
        "acme!",
        "acme-corp/notes",
        "acme/agents/ada/notes",
        "acme/agents/bob",
        "acme/notes",
        "default",
        "users/1/notes",
        "users/2/notes",
        "users/2/tasks",
    ];
    for name in names {
        htm.remember(Memory::new("text").namespace(name)).await.unwrap();
    }
}

#[tokio::test]
async fn they_are_listed_by_whole_labels() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    filled(&htm).await;
    let all = NamespaceQuery::new;
    for (query, expected) in [
        (all().prefix("acme"), "acme acme/agents/ada/notes acme/agents/bob acme/notes"),
        (all().suffix("notes").prefix("users"), "users/1/notes users/2/notes"),
        (all().prefix("users/*/notes"), "users/1/notes users/2/notes"),
        (all().prefix("*/agents"), "acme/agents/ada/notes acme/agents/bob"),
        (all().depth(1), "acme acme! acme-corp default users"),
        (all().depth(2).prefix("acme"), "acme acme/agents acme/notes"),
        // The namespace `acme` itself does not end in notes, but those below it do.
        (all().depth(1).suffix("notes"), "acme-corp acme users"),
        (all().prefix("nothing"), ""),
        (all().after("users/1/notes"), "users/2/notes users/2/tasks"),
        (all().limit(2), "acme acme!"),
    ] {
        let listed = htm.list_namespaces(&query).await.unwrap();
        assert_eq!(listed.join(" "), expected, "{query:?}");
    }
    let bad = htm.list_namespaces(&all().prefix("a//b")).await.unwrap_err();
    assert_eq!(bad.code(), "namespace_invalid");
}

#[tokio::test]
async fn pages_lose_nothing_and_repeat_nothing() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    filled(&htm).await;
    for query in [
        NamespaceQuery::new(),
        NamespaceQuery::new().depth(1),
        NamespaceQuery::new().depth(2),
        NamespaceQuery::new().depth(1).suffix("notes"),
        NamespaceQuery::new().prefix("acme").depth(3),
    ] {
        let whole = htm.list_namespaces(&query).await.unwrap();
        for limit in 1..4 {
            let mut paged: Vec<String> = Vec::new();
            loop {
                let next = NamespaceQuery { after: paged.last().cloned(), ..query.clone() }.limit(limit);
                let page = htm.list_namespaces(&next).await.unwrap();
                if page.is_empty() {
                    break;
                }
                paged.extend(page);
            }
            assert_eq!(paged, whole, "{query:?}, {limit} a page");
        }
    }
}

#[tokio::test]
async fn more_than_a_page_of_the_database_is_listed() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let memories: Vec<Memory> =
        (0..2_500).map(|n| Memory::new("text").namespace(format!("n{:04}/a", n * 7 % 2_500))).collect();
    // Statistics choose the plan, also those of when there were few. None may change the order in which a page ends.
    let mut written = 0;
    for part in [&memories[..20], &memories[20..]] {
        htm.remember_many(part).await.unwrap();
        written += part.len();
        for statement in ["select", "analyze htm.nodes"] {
            sqlx::query(statement).execute(&db.pool).await.unwrap();
            let listed = htm.list_namespaces(&NamespaceQuery::new().limit(10_000).depth(1)).await.unwrap();
            assert_eq!(listed.len(), written, "after {statement}");
            assert!(listed.is_sorted(), "after {statement}");
        }
    }
}

#[tokio::test]
async fn a_handle_lists_what_it_sees_and_what_is_alive() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    filled(&htm).await;
    let tenant = htm.within(["users/2/notes", "users/2/tasks", "users/3"]).unwrap();
    let listed = tenant.list_namespaces(&NamespaceQuery::new()).await.unwrap();
    assert_eq!(listed, ["users/2/notes", "users/2/tasks"]);
    assert_eq!(tenant.list_namespaces(&NamespaceQuery::new().depth(1)).await.unwrap(), ["users"]);
    let gone = htm.remember(Memory::new("gone").namespace("gone")).await.unwrap().node;
    htm.forget(gone, &Caller::AnyRobot, Confirmation::Confirmed).await.unwrap();
    assert!(!htm.list_namespaces(&NamespaceQuery::new()).await.unwrap().contains(&"gone".to_owned()));
}

#[tokio::test]
async fn the_longest_works_everywhere() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let long = format!("{}/{}", "a".repeat(255), "b".repeat(256));
    let node =
        htm.remember(Memory::new("a text").namespace(&long).tag("x:y".parse().unwrap())).await.unwrap().node;
    assert_eq!(htm.get(node).await.unwrap().namespace, long);
    let robot = htm.robot_in(&long, "ada").await.unwrap();
    robot.add(&[node]).await.unwrap();
    let query = htm_core::RecallQuery::new("text").namespace(&long).strategy(htm_core::Strategy::Fulltext);
    assert_eq!(htm.recall(&query).await.unwrap().hits.len(), 1);
}

#[tokio::test]
async fn memories_of_a_new_one_are_found_by_their_ids() {
    let mut db = TestDatabase::new().await;
    db.without_autovacuum().await;
    let htm = db.htm();
    htm.models().unwrap().add(&ModelName::new(CALLER, "mine"), 4).await.unwrap();
    let tagged = async |namespace: &str, robot: &str| {
        let memory = Memory::new(format!("of {robot}")).namespace(namespace).robot(robot);
        htm.remember(memory.tag("a:b".parse().unwrap())).await.unwrap();
    };
    tagged("large", "ada").await;
    let fill = async |namespace: &str, number: i64| {
        let nodes =
            "insert into htm.nodes (namespace, robot_id, content, content_hash, token_count, token_encoding)
                     select $1, r.id, 'text ' || i, sha256(($1 || i)::bytea), 1, 'estimate'
                       from generate_series(1, $2) i
                       join htm.robots r on r.namespace = $1 and r.name in ('ada', 'old')";
        sqlx::query(nodes).bind(namespace).bind(number).execute(&db.pool).await.unwrap();
        let tagged = "insert into htm.node_tags (namespace, node_id, tag_id, origin)
                      select n.namespace, n.id, t.id, 'manual' from htm.nodes n join htm.tags t on t.namespace = n.namespace
                       where n.namespace = $1 and t.path = 'a:b' and n.id % 10 = 0 on conflict do nothing";
        sqlx::query(tagged).bind(namespace).execute(&db.pool).await.unwrap();
        let vectors = "insert into htm.embeddings_1 (node_id, namespace, created_at, revision, embedding)
                       select id, namespace, created_at, 1, '[1,0,0,0]' from htm.nodes
                        where namespace = $1 and (namespace = 'second' or id % 10 = 0)";
        sqlx::query(vectors).bind(namespace).execute(&db.pool).await.unwrap();
    };
    fill("large", 20_000).await;
    sqlx::raw_sql("vacuum analyze").execute(&db.pool).await.unwrap();
    // The statistics know nothing of these: PostgreSQL expects one.
    tagged("second", "old").await;
    tagged("second", "new").await;
    fill("second", 1_000).await;
    let node: i64 = sqlx::query_scalar("select min(id) from htm.nodes where namespace = 'second'")
        .fetch_one(&db.pool)
        .await
        .unwrap();
    db.pool =
        htm_core::pool_options().max_connections(1).connect_with(explained(db.options())).await.unwrap();
    let htm = db.htm();
    let plans = Plans::collect();
    htm.ontology(Some("second")).unwrap().rename("a:b", "a:c").await.unwrap();
    htm.related(NodeId(node), None, 10).await.unwrap();
    let options =
        ExportOptions { namespaces: vec!["second".into()], vectors: true, ..ExportOptions::default() };
    let mut export = htm.export(options).await.unwrap();
    while export.next().await.unwrap().is_some() {}
    assert_eq!(export.memories(), 1_002);
    drop(export);
    htm.merge_robots(Some("second"), &["old"], "new").await.unwrap();
    let plans = plans.take();
    assert!(plans.len() > 20, "{}", plans.len());
    for plan in plans {
        // At most all 21,000 memories once: not each of a thousand with all of them.
        assert!(plan.most_rows() < 50_000.0, "{plan}");
    }
}

#[tokio::test]
async fn nothing_is_written_to_a_pattern() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let pattern = Some("t9/*");
    let policy = Retention { forget_after_seconds: Some(60), ..Retention::default() };
    let mut refused = vec![
        htm.remember(Memory::new("text").namespace("t9/*")).await.err(),
        htm.set_retention(pattern, policy, Confirmation::Confirmed).await.err(),
        htm.plan_retention(pattern, policy).await.err(),
        htm.register_robot(pattern, Some("ada"), Default::default()).await.err(),
        htm.robot_in("t9/*", "ada").await.err(),
        htm.group("crew").namespace("t9/*").join("ada", JoinOptions::default()).await.err(),
        htm.set_learning(pattern, &LearningSettings::default()).await.err(),
    ];
    refused.push(htm.ontology(pattern).unwrap().rename("db", "database").await.err());
    for (place, error) in refused.into_iter().enumerate() {
        assert_eq!(error.unwrap().code(), "namespace_invalid", "{place}");
    }
    let left = "select (select count(*) from htm.robots) + (select count(*) from htm.robot_groups)";
    assert_eq!(db.count(left).await, 0);
}

#[tokio::test]
async fn what_is_restored_needs_room() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let remember = async |text| htm.remember(Memory::new(text)).await.unwrap().node;
    let forget = async |node| htm.forget(node, &Caller::AnyRobot, Confirmation::Confirmed).await.unwrap();
    let limit = async || {
        htm.set_quota(None, Quota { max_memories: Some(1), ..Quota::default() }).await.unwrap();
    };
    let first = remember("first").await;
    forget(first).await;
    limit().await;
    let second = remember("second").await;
    let refused = htm.restore(first, &Caller::AnyRobot).await.unwrap_err();
    assert_eq!(refused.code(), "quota_exceeded");
    forget(second).await;
    // It is counted anew.
    limit().await;
    htm.restore(first, &Caller::AnyRobot).await.unwrap();
    assert_eq!(db.count("select count(*) from htm.nodes where deleted_at is null").await, 1);
}

#[tokio::test]
async fn writers_that_wait_for_a_count_share_it_and_its_room() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    htm.remember(Memory::new("first")).await.unwrap();
    htm.set_quota(None, Quota { max_memories: Some(5), ..Quota::default() }).await.unwrap();
    let others = (0..8).map(|number| htm.remember(Memory::new(format!("another {number}"))));
    let written = join_all(others).await;
    let refused: Vec<&str> = written.iter().filter_map(|it| Some(it.as_ref().err()?.code())).collect();
    assert_eq!(refused, ["quota_exceeded"; 4]);
    assert_eq!(db.count("select count(*) from htm.nodes").await, 5);
}

#[tokio::test]
async fn what_exists_already_needs_no_room() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let fact = || Memory::new("Mara prefers tabs.");
    let line = || Memory::new("The ledger needs 40 GB.").key("note-1");
    let code = |result: htm_core::Result<Receipt>| result.err().map_or("ok", |error| error.code());
    let two = Quota { max_memories: Some(2), ..Quota::default() };
    htm.set_quota(None, two).await.unwrap();
    // A batch has both of them twice, and is written twice.
    let outcomes = async || -> Vec<Outcome> {
        let results = htm.remember_many(&[fact(), line(), fact(), line()]).await.unwrap();
        results.into_iter().map(|result| result.unwrap().outcome).collect()
    };
    let (written, repeated, existing) = (Outcome::Written, Outcome::Repeated, Outcome::Existing);
    assert_eq!(outcomes().await, [written, written, repeated, existing]);
    assert_eq!(outcomes().await, [repeated, existing, repeated, existing]);
    let bytes = db.count("select sum(octet_length(content))::bigint from htm.nodes").await;
    let within = htm.within([htm.settings().namespace.clone()]).unwrap();
    for quota in [two, Quota { max_bytes: Some(bytes), ..Quota::default() }] {
        htm.set_quota(None, quota).await.unwrap();
        for htm in [&htm, &within] {
            assert_eq!(code(htm.remember(fact().robot("zoe")).await), "ok");
            assert_eq!(code(htm.remember(fact().tag("style:tabs".parse().unwrap())).await), "ok");
            assert_eq!(code(htm.remember(line()).await), "ok");
            assert_eq!(code(htm.remember(Memory::new("another").key("note-1")).await), "key_taken");
            assert_eq!(code(htm.remember(Memory::new("another")).await), "quota_exceeded");
            // A speaker makes it an event of its own.
            let said = Memory { speaker: Some("Mara".into()), ..fact() };
            assert_eq!(code(htm.remember(said).await), "quota_exceeded");
        }
        let mut tx = db.pool.begin().await.unwrap();
        drop(htm.remember_in_tx(&mut tx, fact()).await.unwrap());
        tx.commit().await.unwrap();
    }
    // Nothing of it was counted.
    htm.set_quota(None, Quota { max_memories: Some(3), ..Quota::default() }).await.unwrap();
    for _ in 0..3 {
        assert_eq!(code(htm.remember(fact()).await), "ok");
    }
    let both = htm.remember_many(&[Memory::new("a third"), Memory::new("a fourth")]).await.unwrap();
    assert_eq!(both.into_iter().map(code).collect::<Vec<_>>(), ["ok", "quota_exceeded"]);
}

#[tokio::test]
async fn what_is_forgotten_makes_no_room_for_what_others_are_writing() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let remember = async |text: &str| htm.remember(Memory::new(text)).await;
    htm.set_quota(None, Quota { max_memories: Some(2), ..Quota::default() }).await.unwrap();
    let first = remember("first").await.unwrap().node;
    // A count would not see it.
    let mut tx = db.pool.begin().await.unwrap();
    let pending = htm.remember_in_tx(&mut tx, Memory::new("second")).await.unwrap();
    htm.forget(first, &Caller::AnyRobot, Confirmation::Confirmed).await.unwrap();
    remember("third").await.unwrap();
    assert_eq!(remember("fourth").await.unwrap_err().code(), "quota_exceeded");
    tx.commit().await.unwrap();
    pending.notify();
    assert_eq!(db.count("select count(*) from htm.nodes where deleted_at is null").await, 2);
}

#[tokio::test]
async fn a_transaction_with_several_memories_has_each_counted_once() {
    let db = TestDatabase::new().await;
    let (htm, other) = (db.htm(), db.htm());
    let code = |result: htm_core::Result<Receipt>| result.err().map_or("ok", |error| error.code());
    let remember = async |text: &str| code(htm.remember(Memory::new(text)).await);
    htm.set_quota(None, Quota { max_memories: Some(5), ..Quota::default() }).await.unwrap();
    assert_eq!(remember("first").await, "ok");
    let mut tx = db.pool.begin().await.unwrap();
    let mut pending = Vec::new();
    for text in ["second", "third"] {
        pending.push(htm.remember_in_tx(&mut tx, Memory::new(text)).await.unwrap());
    }
    let fourth = htm.remember(Memory::new("fourth")).await.unwrap().node;
    assert_eq!(remember("fifth").await, "ok");
    // It is counted again, without what the transaction writes.
    assert_eq!(remember("another").await, "quota_exceeded");
    other.forget(fourth, &Caller::AnyRobot, Confirmation::Confirmed).await.unwrap();
    pending.push(htm.remember_in_tx(&mut tx, Memory::new("sixth")).await.unwrap());
    let refused = htm.remember_in_tx(&mut tx, Memory::new("seventh")).await.unwrap_err();
    assert_eq!(refused.code(), "quota_exceeded");
    assert_eq!(remember("another").await, "quota_exceeded");
    tx.commit().await.unwrap();
    for pending in pending {
        pending.notify();
    }
    assert_eq!(remember("another").await, "quota_exceeded");
    assert_eq!(db.count("select count(*) from htm.nodes where deleted_at is null").await, 5);
}

#[tokio::test]
async fn a_write_that_is_undone_or_dropped_keeps_no_room() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let remember = async |text: &str| htm.remember(Memory::new(text)).await;
    htm.set_quota(None, Quota { max_memories: Some(2), ..Quota::default() }).await.unwrap();
    let mut holder = db.pool.begin().await.unwrap();
    let held = htm.remember_in_tx(&mut holder, Memory::new("held").key("taken")).await.unwrap();
    let dropped = tokio::spawn({
        let (htm, tag) = (htm.clone(), "style:tabs".parse().unwrap());
        async move { htm.remember(Memory::new("dropped").key("taken").tag(tag)).await }
    });
    let waits = "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()";
    wait_until(|| async { db.count(waits).await > 0 }).await;
    dropped.abort();
    assert!(dropped.await.unwrap_err().is_cancelled());
    holder.rollback().await.unwrap();
    drop(held);
    remember("first").await.unwrap();
    remember("second").await.unwrap();
    assert_eq!(remember("third").await.unwrap_err().code(), "quota_exceeded");
    assert_eq!(db.count("select count(*) from htm.nodes").await, 2);
}

#[tokio::test]
async fn what_other_processes_forget_or_allow_counts_before_a_refusal() {
    let db = TestDatabase::new().await;
    let (one, other) = (db.htm(), db.htm());
    let allow = async |memories| {
        other.set_quota(None, Quota { max_memories: Some(memories), ..Quota::default() }).await.unwrap();
    };
    let remember = async |text: &str| one.remember(Memory::new(text)).await;
    allow(1).await;
    let first = remember("first").await.unwrap().node;
    allow(2).await;
    remember("second").await.unwrap();
    // A look is not repeated at once, so this is a handle that has not looked.
    let one = db.htm();
    let remember = async |text: &str| one.remember(Memory::new(text)).await;
    allow(3).await;
    let third = remember("third").await.unwrap().node;
    for node in [first, third] {
        other.forget(node, &Caller::AnyRobot, Confirmation::Confirmed).await.unwrap();
    }
    remember("fourth").await.unwrap();
    remember("fifth").await.unwrap();
    assert_eq!(remember("sixth").await.unwrap_err().code(), "quota_exceeded");
    assert_eq!(db.count("select count(*) from htm.nodes where deleted_at is null").await, 3);
}

#[tokio::test]
async fn what_is_forgotten_makes_room_at_once() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    htm.set_quota(None, Quota { max_memories: Some(1), ..Quota::default() }).await.unwrap();
    let files = htm.files(None, Caller::AnyRobot).unwrap();
    let mut node = htm.remember(Memory::new("a zeppelin")).await.unwrap().node;
    for number in 0..5 {
        let refused = htm.remember(Memory::new("another")).await.unwrap_err();
        assert_eq!(refused.code(), "quota_exceeded", "{number}");
        match number {
            0 => drop(htm.forget(node, &Caller::AnyRobot, Confirmation::Confirmed).await.unwrap()),
            1 => {
                let plan = htm.plan_forget("zeppelin", None, &Caller::AnyRobot).await.unwrap();
                htm.forget_planned(&plan, &Caller::AnyRobot, Confirmation::Confirmed).await.unwrap();
                files.create("/memories/due.md", "A zeppelin is due.").await.unwrap();
                continue;
            }
            2 => drop(files.delete("/memories/due.md").await.unwrap()),
            3 => {
                let expire =
                    "update htm.nodes set expires_at = now() - interval '1 second' where deleted_at is null";
                sqlx::query(expire).execute(&db.pool).await.unwrap();
                assert_eq!(htm.sweep().await.unwrap().namespaces[0].expired, 1);
            }
            _ => drop(htm.erase(&Erase::Memories(vec![node]), None, Confirmation::Confirmed).await.unwrap()),
        }
        node = htm.remember(Memory::new(format!("zeppelin {number}"))).await.unwrap().node;
    }
}
