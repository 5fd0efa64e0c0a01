//! The memories in partitions by namespace: the change of the layout beside writes, and searches that read one partition.

#[path = "partitions/recall.rs"]
mod recall;
#[path = "partitions/statements.rs"]
mod statements;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use htm_core::{Caller, Confirmation, Edit, Htm, Memory, NodeId, RecallQuery, Settings, Stage};
use htm_migration::{LayoutStep, MigrationError};
use htm_tests::{Sandbox, TestDatabase, drain, every_row, wait_until};
use nix::sys::signal::Signal;
use sqlx::PgPool;

async fn repartition(db: &TestDatabase, partitions: u32) -> bool {
    htm_migration::repartition(&db.options(), partitions, &mut |_| {}).await.unwrap()
}

async fn partitions(pool: &PgPool) -> i32 {
    sqlx::query_scalar("select htm.partitions()").fetch_one(pool).await.unwrap()
}

/// The names and definitions of all that belongs to the tables, without the partitions' own and how they are attached.
async fn shape(pool: &PgPool) -> BTreeSet<String> {
    let sql = "
        select replace(pg_get_indexdef(i.indexrelid), ' ON ONLY ', ' ON ') from pg_index i
          join pg_class c on c.oid = i.indexrelid
         where c.relnamespace = 'htm'::regnamespace and not c.relispartition and i.indisvalid
        union all
        select format('%s %s %s %s', conrelid::regclass, conname, pg_get_constraintdef(c.oid), convalidated)
          from pg_constraint c where connamespace = 'htm'::regnamespace and conparentid = 0 and contype <> 'n'
           and not exists (select from pg_class t where t.oid = c.conrelid and t.relispartition)
        union all
        select format('%s %s', c.oid::regclass, regexp_replace(pg_get_viewdef(c.oid), ' AS [a-z]+', '', 'g')) from pg_class c
         where c.relnamespace = 'htm'::regnamespace and c.relkind = 'v'
        union all
        select format('%s %s %s', attrelid::regclass, attname, col_description(attrelid, attnum)) from pg_attribute
         where attrelid in ('htm.nodes'::regclass, 'htm.node_tags'::regclass, 'htm.completions'::regclass) and attnum > 0
        union all
        select format('%s %s %s', c.oid::regclass, g.grantee::regrole, g.privilege_type)
          from pg_class c cross join aclexplode(c.relacl) g
         where c.relnamespace = 'htm'::regnamespace and not c.relispartition and c.relkind in ('r', 'p', 'v', 'S')
        union all
        select format('%s %s %s', tablename, policyname, qual) from pg_policies where schemaname = 'htm'
        union all
        select format('%s triggers: %s', tgrelid::regclass, tgname) from pg_trigger
         where not tgisinternal and tgrelid in (select oid from pg_class where relnamespace = 'htm'::regnamespace)
        union all
        select nspname from pg_namespace where nspname like 'htm%'";
    sqlx::query_scalar(sql).fetch_all(pool).await.unwrap().into_iter().collect()
}

fn assert_same(one: &BTreeSet<String>, other: &BTreeSet<String>) {
    assert_eq!(one.symmetric_difference(other).collect::<Vec<_>>(), Vec::<&String>::new());
}

/// The rows of all tables by the name of the table, whatever partition they are in.
async fn rows(pool: &PgPool) -> BTreeMap<String, Vec<String>> {
    let mut tables = BTreeMap::<String, Vec<String>>::new();
    for (table, row) in every_row(pool).await {
        let name = match table.rsplit_once("_p") {
            Some((name, part)) if part.bytes().all(|byte| byte.is_ascii_digit()) => name.to_owned(),
            _ => table,
        };
        tables.entry(name).or_default().push(row);
    }
    tables.values_mut().for_each(|rows| {
        rows.sort();
        rows.dedup(); // a partitioned table shows the rows of its partitions once more
    });
    tables
}

#[tokio::test]
async fn everything_is_there_in_any_number_of_partitions() {
    let db = TestDatabase::new().await;
    repartition(&db, 0).await;
    let htm = db.htm();
    for number in 0..40 {
        let memory = Memory::new(format!("memory {number} of a zeppelin"))
            .namespace(format!("tenant-{}", number % 7))
            .key(format!("k{number}"))
            .tag("travel:air".parse().unwrap());
        htm.remember(memory).await.unwrap();
    }
    drain(&db, Stage::Embed).await;
    let first = htm.remember(Memory::new("first")).await.unwrap().node;
    htm.edit(first, &Edit::new().content("second")).await.unwrap();
    let (before, of_rows) = (shape(&db.pool).await, rows(&db.pool).await);
    for number in [5, 2, 0] {
        assert!(repartition(&db, number).await);
        assert_eq!(partitions(&db.pool).await, number as i32);
        assert_same(&shape(&db.pool).await, &before);
        let now = rows(&db.pool).await;
        for (table, rows) in &of_rows {
            assert_eq!(Some(rows), now.get(table), "{table} in {number} partitions");
        }
        assert!(!repartition(&db, number).await, "nothing is left to do");
        let query = RecallQuery::new("second");
        assert_eq!(htm.recall(&query).await.unwrap().hits[0].node.id, first);
    }
    let next = htm.remember(Memory::new("third")).await.unwrap().node;
    assert_eq!(next, NodeId(first.0 + 1), "numbers go on");
}

/// A writer: remembers, edits, tags and forgets until it is told to stop. Returns the ids of the nodes and their texts; none
/// of a forgotten one.
async fn write(htm: Htm, namespace: String, stop: Arc<AtomicBool>) -> BTreeMap<NodeId, Option<String>> {
    let mut written = BTreeMap::new();
    let mut number = 0;
    while !stop.load(Ordering::Relaxed) {
        number += 1;
        let text = format!("text {number} of {namespace}");
        let memory = Memory::new(&text).namespace(&namespace).tag("a:b".parse().unwrap());
        let node = htm.remember(memory).await.unwrap().node;
        written.insert(node, Some(text));
        let other = written.keys().nth(number * 7 % written.len()).copied();
        match (number % 3, other) {
            (1, Some(other)) if written[&other].is_some() => {
                let text = format!("text {number} of {namespace}, corrected");
                htm.edit(other, &Edit::new().content(&text)).await.unwrap();
                written.insert(other, Some(text));
            }
            (2, Some(other)) if written[&other].is_some() => {
                htm.forget(other, &Caller::Handle, Confirmation::Confirmed).await.unwrap();
                written.insert(other, None);
            }
            _ => {}
        }
    }
    written
}

#[tokio::test]
async fn writes_go_on_meanwhile_and_none_is_lost() {
    let db = TestDatabase::new().await;
    repartition(&db, 0).await;
    let htm = db.htm();
    drain(&db, Stage::Embed).await;
    let stop = Arc::new(AtomicBool::new(false));
    let writers: Vec<_> = (0..4)
        .map(|place| {
            let namespace = format!("writer-{place}");
            let settings = Settings { namespace: namespace.clone(), ..htm.settings().clone() };
            let htm = Htm::with_pool(db.pool.clone(), settings, None);
            tokio::spawn(write(htm, namespace, stop.clone()))
        })
        .collect();
    let embedding = {
        let stop = stop.clone();
        let db = &db;
        async move {
            while !stop.load(Ordering::Relaxed) {
                drain(db, Stage::Embed).await;
            }
        }
    };
    let changing = async {
        for number in [4, 3, 0, 6] {
            let seen = db.count("select count(*) from htm.nodes").await;
            let more = async || db.count("select count(*) from htm.nodes").await > seen + 20;
            wait_until(more).await;
            repartition(&db, number).await;
        }
        stop.store(true, Ordering::Relaxed);
    };
    tokio::join!(embedding, changing);
    let mut written = BTreeMap::new();
    for writer in writers {
        written.extend(writer.await.unwrap());
    }
    assert!(written.len() > 80);
    let rows: Vec<(i64, Option<String>)> =
        sqlx::query_as("select id, case when deleted_at is null then content end from htm.nodes order by id")
            .fetch_all(&db.pool)
            .await
            .unwrap();
    let stored: BTreeMap<NodeId, Option<String>> =
        rows.into_iter().map(|(id, text)| (NodeId(id), text)).collect();
    assert_eq!(stored, written);
    drain(&db, Stage::Embed).await;
    assert_eq!(db.count("select count(*) from htm.stranded where stage = 'embed'").await, 0);
    let tagged = "select count(*) from htm.nodes n where not exists (
                      select from htm.node_tags t where t.node_id = n.id and t.namespace = n.namespace)";
    assert_eq!(db.count(tagged).await, 0);
    let vectors = "select count(*) from htm.embeddings_1 e join htm.nodes n on n.id = e.node_id and n.namespace = e.namespace
                    where n.deleted_at is null and e.revision = n.revision";
    let live = db.count("select count(*) from htm.nodes where deleted_at is null").await;
    assert_eq!(db.count(vectors).await, live);
}

/// Changes the layout until a step; there the caller goes away. Returns the steps that it heard of.
async fn repartition_until(
    db: &TestDatabase,
    partitions: u32,
    is_last: fn(&[LayoutStep]) -> bool,
) -> Vec<LayoutStep> {
    let (left, mut leaves) = tokio::sync::mpsc::unbounded_channel();
    let mut steps = Vec::new();
    let mut tell = |step| {
        steps.push(step);
        if is_last(&steps) {
            left.send(()).ok();
        }
    };
    let options = db.options();
    tokio::select! {
        biased;
        _ = leaves.recv() => {}
        done = htm_migration::repartition(&options, partitions, &mut tell) => panic!("it came to the end: {done:?}"),
    }
    steps
}

/// The nodes that each transaction copied.
fn copied(steps: &[LayoutStep]) -> Vec<u64> {
    let of_nodes = steps.iter().filter_map(|step| match step {
        LayoutStep::Copy { table, rows, .. } if table == "nodes" => Some(*rows),
        _ => None,
    });
    of_nodes.collect()
}

#[tokio::test]
async fn a_change_goes_on_after_an_interruption_at_each_step() {
    let db = TestDatabase::new().await;
    repartition(&db, 0).await;
    db.htm().remember(Memory::new("a zeppelin")).await.unwrap();
    drain(&db, Stage::Embed).await;
    let filling =
        "insert into htm.nodes (namespace, robot_id, content, content_hash, token_count, token_encoding)
                   select 'tenant-' || i % 50, 1, 'memory ' || i, sha256(i::text::bytea), 1, 'estimate'
                     from generate_series(1, 12000) i";
    sqlx::raw_sql(filling).execute(&db.pool).await.unwrap();
    let (before, of_rows) = (shape(&db.pool).await, rows(&db.pool).await);

    let first = repartition_until(&db, 4, |steps| copied(steps).len() == 1).await;
    let second =
        repartition_until(&db, 4, |steps| matches!(steps.last(), Some(LayoutStep::Index { .. }))).await;
    // Some thousand rows a transaction, and none again.
    assert_eq!(copied(&first), [5_000]);
    let rest = copied(&second);
    assert!(
        rest.iter().all(|rows| *rows <= 5_000) && (2_001..=7_001).contains(&rest.iter().sum::<u64>()),
        "{rest:?}"
    );
    repartition_until(&db, 4, |steps| matches!(steps.last(), Some(LayoutStep::Swap))).await;
    repartition_until(&db, 4, |steps| matches!(steps.last(), Some(LayoutStep::CleanUp))).await;
    assert_eq!(partitions(&db.pool).await, 4);
    assert!(repartition(&db, 4).await);
    assert!(!repartition(&db, 4).await, "nothing is left to do");
    assert_eq!(rows(&db.pool).await, of_rows);
    assert_same(&shape(&db.pool).await, &before);
}

#[tokio::test]
async fn an_interrupted_change_goes_on_or_is_abandoned() {
    let db = TestDatabase::new().await;
    repartition(&db, 0).await;
    let htm = db.htm();
    for number in 0..3 {
        htm.remember(Memory::new(format!("memory {number}"))).await.unwrap();
    }
    let before = shape(&db.pool).await;
    // The caller goes away in the middle of the copies.
    let (copied, mut wait) = tokio::sync::mpsc::unbounded_channel();
    let (options, mut tell) = (db.options(), |step| {
        if matches!(step, LayoutStep::Copy { .. }) {
            copied.send(()).ok();
        }
    });
    tokio::select! {
        _ = htm_migration::repartition(&options, 4, &mut tell) => {}
        _ = wait.recv() => {}
    }
    // Its session may still hold the lock for a moment; the next call waits for it. It may also have come to the end.
    if partitions(&db.pool).await == 0 {
        let other = htm_migration::repartition(&db.options(), 8, &mut |_| {}).await;
        assert!(
            matches!(other, Err(MigrationError::LayoutChanging { partitions: 4 }))
                || partitions(&db.pool).await != 0,
            "{other:?}"
        );
    }
    htm.remember(Memory::new("memory 3")).await.unwrap();
    if htm_migration::abandon_repartition(&db.options(), &mut |_| {}).await.unwrap() {
        assert_same(&shape(&db.pool).await, &before);
    }
    repartition(&db, 4).await;
    assert_eq!(db.count("select count(*) from htm.nodes").await, 4);
    assert_same(&shape(&db.pool).await, &before);
    let too_many = htm_migration::repartition(&db.options(), 2_000, &mut |_| {}).await;
    assert!(matches!(too_many, Err(MigrationError::TooManyPartitions { partitions: 2_000 })));
}

#[tokio::test]
async fn a_change_that_is_stopped_while_an_index_is_built_keeps_no_other_one_waiting() {
    let db = TestDatabase::new().await;
    repartition(&db, 0).await;
    db.htm().remember(Memory::new("a zeppelin")).await.unwrap();
    drain(&db, Stage::Embed).await;
    // The build of an index waits for it.
    let mut reading = db.pool.begin().await.unwrap();
    sqlx::raw_sql("set transaction isolation level repeatable read; select 1")
        .execute(&mut *reading)
        .await
        .unwrap();
    let building = "select count(*) from pg_stat_activity
                     where datname = current_database() and query like 'create index concurrently %'
                       and wait_event_type = 'Lock'";
    let sandbox = Sandbox::new(&db);
    let mut change = sandbox.start("htm", &["db", "repartition", "--partitions", "2"]);
    wait_until(|| async { db.count(building).await > 0 }).await;
    let mut abandon = sandbox.start("htm", &["db", "repartition", "--abandon"]);
    wait_until(|| async { abandon.log().contains("waiting for another process") }).await;
    change.signal(Signal::SIGINT);
    assert_eq!(change.end().await.code(), Some(130), "{}", change.log());
    assert!(change.log().contains("go on: `htm db repartition --partitions 2`"), "{}", change.log());
    assert_eq!(abandon.end().await.code(), Some(0), "{}", abandon.log());
    assert!(abandon.log().contains("the change has ended"), "{}", abandon.log());
    assert_eq!(partitions(&db.pool).await, 0);
    reading.rollback().await.unwrap();
}

#[tokio::test]
async fn the_command_changes_the_layout_and_says_so() {
    let db = TestDatabase::new().await;
    repartition(&db, 0).await;
    let sandbox = Sandbox::new(&db);
    assert_eq!(sandbox.htm(&["db", "migrate", "--partitions", "4"]).await.succeeds().lines().count(), 1);
    assert_eq!(partitions(&db.pool).await, 4);
    sandbox.remember(&["a zeppelin"]).await;
    let other = sandbox.htm(&["db", "migrate", "--partitions", "8"]).await;
    assert!(other.fails(2, "layout_other").contains("in 4 partitions, not in 8 partitions"), "{other:?}");
    let other = sandbox.htm(&["db", "migrate", "--partitions", "0"]).await;
    assert!(other.fails(2, "layout_other").contains("in 4 partitions, not in one table"), "{other:?}");
    sandbox.htm(&["db", "migrate", "--partitions", "4"]).await.succeeds();
    let answer = sandbox.htm(&["--json", "db", "repartition", "--partitions", "2"]).await.json();
    assert_eq!((&answer["changed"], &answer["partitions"]), (&true.into(), &2.into()));
    let said = sandbox.htm(&["db", "repartition", "--partitions", "2"]).await;
    assert_eq!(said.succeeds().trim(), "the memories are in 2 partitions already");
    sandbox.htm(&["db", "repartition", "--partitions", "5000"]).await.fails(2, "partitions_invalid");
    let said = sandbox.htm(&["db", "repartition", "--abandon"]).await;
    assert_eq!(said.succeeds().trim(), "no change was under way");
    sandbox.htm(&["db", "repartition"]).await.exits(2);
    assert!(sandbox.htm(&["recall", "zeppelin"]).await.succeeds().contains("a zeppelin"));
    // While a change is under way, no other one begins, and no backup.
    sqlx::raw_sql("select htm.begin_layout(4)").execute(&db.pool).await.unwrap();
    sandbox.htm(&["db", "repartition", "--partitions", "8"]).await.fails(2, "layout_changing");
    sandbox.htm(&["db", "backup", "saved"]).await.fails(2, "layout_changing");
    for partitions in ["4", "8"] {
        sandbox.htm(&["db", "migrate", "--partitions", partitions]).await.fails(2, "layout_changing");
    }
    let said = sandbox.htm(&["db", "repartition", "--abandon"]).await;
    assert_eq!(said.succeeds().trim(), "the change has ended; the memories are where they were");
}
