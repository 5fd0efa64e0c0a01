//! Events: none is skipped, whatever commits late, and each handle sees its own.

use std::cell::RefCell;

use futures::future::join_all;
use htm_core::{Caller, Event, EventCursor, EventKind, Htm, JoinOptions, Memory, RelationKind, Stage};
use htm_tests::{Plans, TestDatabase, drain, explained, wait_until};
use sqlx::AssertSqlSafe;

async fn after(htm: &Htm, cursor: &EventCursor) -> (Vec<Event>, EventCursor) {
    let page = htm.events(cursor, &[]).await.unwrap();
    assert!(!page.more);
    (page.events, page.next)
}

fn kinds(events: &[Event]) -> Vec<String> {
    let mut kinds: Vec<String> =
        events.iter().map(|event| format!("{} {}", event.namespace, event.kind)).collect();
    kinds.sort();
    kinds
}

/// Events until there are as many as wanted. Transactions of other tests of this server hold them up.
async fn wait_for(htm: &Htm, from: &EventCursor, wanted: usize) -> Vec<Event> {
    let found = RefCell::new(Vec::new());
    wait_until(async || {
        let events = htm.events(from, &[]).await.unwrap().events;
        found.replace(events);
        found.borrow().len() >= wanted
    })
    .await;
    found.into_inner()
}

#[tokio::test]
async fn what_workers_and_people_do_is_told() {
    let db = TestDatabase::new().await;
    let all = db.htm();
    let from = all.events_from_now().await.unwrap();
    assert!(after(&all, &from).await.0.is_empty());
    for namespace in ["atlas", "secret"] {
        all.remember(Memory::new("A zeppelin is due.").namespace(namespace)).await.unwrap();
    }
    assert!(after(&all, &from).await.0.is_empty(), "what was remembered is no event");
    drain(&db, Stage::Embed).await;
    sqlx::raw_sql(
        "update apalis.jobs set status = 'Killed', done_at = now(), last_result = '{\"Err\": \"it is too long\"}'
          where job_type = 'htm.tag'",
    )
    .execute(&db.pool)
    .await
    .unwrap();
    let ontology = all.ontology(Some("atlas")).unwrap();
    ontology.add_synonym("ship", "vehicle:zeppelin").await.unwrap_err();
    let group = all.group("crew").namespace("atlas");
    let member = group.join("ada", JoinOptions::default()).await.unwrap();
    let node = all.remember(Memory::new("A group has it.").namespace("atlas")).await.unwrap().node;
    member.add(node).await.unwrap();

    let events = wait_for(&all, &from, 5).await;
    let expected = [
        "atlas group.changed",
        "atlas job.dead",
        "atlas memory.embedded",
        "secret job.dead",
        "secret memory.embedded",
    ];
    assert_eq!(kinds(&events), expected);
    let embedded = events.iter().find(|event| event.kind == EventKind::MemoryEmbedded).unwrap();
    assert_eq!((embedded.revision, embedded.node.is_some(), embedded.model.is_some()), (Some(1), true, true));
    let dead = events.iter().find(|event| event.kind == EventKind::JobDead).unwrap();
    assert_eq!((dead.error.as_deref(), dead.queue.as_deref()), (Some("it is too long"), Some("htm.tag")));
    assert!(dead.job.is_some());

    // Each cursor goes on where it is, also as text.
    for (at, event) in events.iter().enumerate() {
        let cursor: EventCursor = event.cursor.to_string().parse().unwrap();
        let rest = after(&all, &cursor).await.0;
        let cursors = |events: &[Event]| events.iter().map(|it| it.cursor.to_string()).collect::<Vec<_>>();
        assert_eq!(cursors(&rest), cursors(&events[at + 1..]));
    }
    let tenant = all.within(["atlas"]).unwrap();
    assert_eq!(kinds(&after(&tenant, &from).await.0), expected[..3]);
    let chosen = all.events(&from, &["secret".into()]).await.unwrap().events;
    assert_eq!(kinds(&chosen), expected[3..]);
    assert_eq!(tenant.events(&from, &["secret".into()]).await.unwrap_err().code(), "namespace_forbidden");
    member.leave().await.unwrap();
}

#[tokio::test]
async fn a_change_of_tags_is_told() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let tag = "vehicle:airship".parse().unwrap();
    htm.remember(Memory::new("a zeppelin").tag(tag)).await.unwrap();
    let from = htm.events_from_now().await.unwrap();
    let change = htm.ontology(None).unwrap().rename("vehicle:airship", "vehicle:blimp").await.unwrap().change;
    let events = wait_for(&htm, &from, 1).await;
    assert_eq!(kinds(&events), ["default ontology.changed"]);
    assert_eq!((events[0].change, events[0].action.as_deref()), (change, Some("rename")));
}

#[tokio::test]
async fn a_relation_is_told() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let nodes = htm.remember_many(&[Memory::new("port 5432"), Memory::new("port 5433")]).await.unwrap();
    let [old, new] = [0, 1].map(|at: usize| nodes[at].as_ref().unwrap().node);
    let from = htm.events_from_now().await.unwrap();
    htm.relate(new, RelationKind::Supersedes, old, None, &Caller::Handle).await.unwrap();
    let events = wait_for(&htm, &from, 1).await;
    assert_eq!(kinds(&events), ["default relation.set"]);
    let event = &events[0];
    assert_eq!(
        (event.node, event.relation, event.to),
        (Some(new), Some(RelationKind::Supersedes), Some(old))
    );
    assert!(after(&htm, &event.cursor.to_string().parse().unwrap()).await.0.is_empty());
    let other = htm.within(["other"]).unwrap();
    assert!(after(&other, &from).await.0.is_empty());
}

/// The writer with the smaller id commits last, also when it writes within a savepoint.
#[tokio::test]
async fn a_late_commit_is_not_skipped_and_nothing_comes_twice() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let nodes = htm.remember_many(&[Memory::new("one"), Memory::new("two")]).await.unwrap();
    let nodes: Vec<_> = nodes.into_iter().map(|it| it.unwrap().node).collect();
    let from = htm.events_from_now().await.unwrap();
    let end = |node: htm_core::NodeId| {
        AssertSqlSafe(format!(
            "update apalis.jobs set status = 'Done', done_at = now(), last_result = '{{\"Ok\": \"embedded\"}}'
              where job_type = 'htm.embed' and metadata -> 'node' = '{node}'"
        ))
    };
    let mut late = db.pool.begin().await.unwrap();
    sqlx::raw_sql("select pg_current_xact_id(); savepoint s").execute(&mut *late).await.unwrap();
    sqlx::raw_sql(end(nodes[0])).execute(&mut *late).await.unwrap();
    sqlx::raw_sql(end(nodes[1])).execute(&db.pool).await.unwrap();
    let (early, cursor) = after(&htm, &from).await;
    assert!(early.is_empty(), "the second waits for the first: {early:?}");
    sqlx::raw_sql("release savepoint s").execute(&mut *late).await.unwrap();
    late.commit().await.unwrap();
    let events = wait_for(&htm, &cursor, 2).await;
    assert_eq!(events.iter().map(|event| event.node.unwrap()).collect::<Vec<_>>(), nodes);
    let (again, _) = after(&htm, &events[1].cursor).await;
    assert!(again.is_empty(), "{again:?}");
}

/// A transaction of another database of the server is open all the while, and others end.
#[tokio::test]
async fn what_ended_while_an_older_transaction_was_open_is_told_when_that_ends() {
    let (db, other) = (TestDatabase::new().await, TestDatabase::new().await);
    let htm = db.htm();
    let mut old = other.pool.begin().await.unwrap();
    sqlx::raw_sql("select pg_current_xact_id()").execute(&mut *old).await.unwrap();
    let node = htm.remember(Memory::new("one")).await.unwrap().node;
    drain(&db, Stage::Embed).await;
    // The cursor of a client that comes now, which is before the event: its transaction is younger than the open one.
    let cursor = htm.events_from_now().await.unwrap();
    let (none, cursor) = after(&htm, &cursor).await;
    assert!(none.is_empty(), "{none:?}");
    old.rollback().await.unwrap();
    let events = wait_for(&htm, &cursor, 1).await;
    assert_eq!(events.iter().map(|event| event.node).collect::<Vec<_>>(), [Some(node)]);
}

/// Pages of more events than one answer has.
#[tokio::test]
async fn a_long_list_comes_in_pages() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let from = htm.events_from_now().await.unwrap();
    sqlx::raw_sql(
        "insert into apalis.jobs (id, job_type, job, status, max_attempts, run_at, priority, done_at, last_result, metadata)
         select 'j' || i, 'htm.tag', '{}', 'Done', 5, now(), 0, now(), '{\"Ok\": \"tagged\"}',
                hstore(array['namespace', 'default', 'node', i::text, 'revision', '1'])
           from generate_series(1, 2500) i",
    )
    .execute(&db.pool)
    .await
    .unwrap();
    wait_for(&htm, &from, 1_000).await;
    let (mut cursor, mut nodes) = (from, Vec::new());
    loop {
        let page = htm.events(&cursor, &[]).await.unwrap();
        nodes.extend(page.events.iter().map(|event| event.node.unwrap().0));
        cursor = page.next;
        if !page.more {
            break;
        }
    }
    nodes.sort_unstable();
    assert_eq!(nodes, (1..=2500).collect::<Vec<_>>());
}

/// Streams of the same namespaces that have seen all are at the same cursor.
#[tokio::test]
async fn those_who_ask_for_the_same_share_the_answer() {
    let mut db = TestDatabase::new().await;
    db.pool =
        htm_core::pool_options().max_connections(10).connect_with(explained(db.options())).await.unwrap();
    let htm = db.htm();
    let nodes = htm.remember_many(&[Memory::new("port 5432"), Memory::new("port 5433")]).await.unwrap();
    let [old, new] = [0, 1].map(|at: usize| nodes[at].as_ref().unwrap().node);
    let from = htm.events_from_now().await.unwrap();
    htm.relate(new, RelationKind::Supersedes, old, None, &Caller::Handle).await.unwrap();
    wait_for(&htm, &from, 1).await;
    // A handle that has looked for nothing yet.
    let htm = db.htm();
    let plans = Plans::collect();
    let pages = join_all((0..8).map(|_| htm.events(&from, &[]))).await;
    let seen = plans.take();
    let reads = |part: &str| seen.iter().filter(|plan| plan.sql.contains(part)).count();
    assert_eq!((reads("pg_current_snapshot()"), reads("htm.tag_changes")), (1, 1));
    for page in pages {
        let page = page.unwrap();
        assert_eq!(kinds(&page.events), ["default relation.set"]);
        // Where it goes on, another program may have looked since.
        let other = db.htm();
        assert!(after(&other, &page.next).await.0.is_empty());
        assert!(after(&htm, &other.events_from_now().await.unwrap()).await.0.is_empty());
    }
}
