//! Several exports in one stream, and exports that are broken off.

use futures::FutureExt;
use htm_core::{Caller, Confirmation, ExportOptions, Htm, Memory, NodeId, Purge, RelationKind};
use htm_tests::TestDatabase;
use serde_json::{Value, json};

use super::{ALL, export, import};

/// Two memories, the second of which supersedes the first.
async fn related(htm: &Htm, subject: &str) -> [NodeId; 2] {
    let old = htm.remember(Memory::new(format!("{subject} is blue"))).await.unwrap().node;
    let new = htm.remember(Memory::new(format!("{subject} is red"))).await.unwrap().node;
    htm.relate(new, RelationKind::Supersedes, old, None, &Caller::Handle).await.unwrap();
    [old, new]
}

fn place(lines: &[Value], kind: &str) -> usize {
    lines.iter().position(|line| line["kind"] == kind).unwrap()
}

#[tokio::test]
async fn each_export_has_its_own_numbers() {
    let (one, other, to) = (TestDatabase::new().await, TestDatabase::new().await, TestDatabase::new().await);
    let same = [related(&one.htm(), "the door").await, related(&other.htm(), "the roof").await];
    assert_eq!(same[0], same[1]);
    let (first, mut second) = (export(&one.htm(), ALL, "").await, export(&other.htm(), ALL, "").await);
    let refused = place(&second, "memory");
    second[refused]["language"] = json!("klingon");
    let results = import(&to.htm(), &[first, second].concat()).await;
    let refused: Vec<_> = results.iter().filter_map(|it| it.err()).collect();
    assert_eq!(refused, ["language_unknown", "line_invalid"]);
    assert_eq!(to.count("select count(*) from htm.relations").await, 1);
}

#[tokio::test]
async fn a_relation_of_a_memory_that_is_purged_meanwhile_is_refused_alone() {
    let (from, to) = (TestDatabase::new().await, TestDatabase::new().await);
    related(&from.htm(), "the door").await;
    let htm = to.htm();
    let lines = export(&from.htm(), ALL, "").await;
    let mut importer = htm.importer(1, 1 << 20);
    let mut results = Vec::new();
    for line in &lines[..place(&lines, "relation")] {
        results.extend(importer.line(line.to_string().as_bytes()).await.unwrap());
    }
    // Memories are written before another line.
    let robot = &lines[place(&lines, "robot")];
    results.extend(importer.line(robot.to_string().as_bytes()).await.unwrap());
    let memories: Vec<NodeId> = results.iter().filter_map(|(_, line)| line.as_ref().unwrap().node).collect();
    htm.forget(memories[0], &Caller::AnyRobot, Confirmation::Confirmed).await.unwrap();
    htm.purge(&Purge::before(chrono::Utc::now()), Confirmation::Confirmed).await.unwrap();
    let mut refused = Vec::new();
    for line in &lines[place(&lines, "relation")..] {
        refused.extend(importer.line(line.to_string().as_bytes()).await.unwrap());
    }
    refused.extend(importer.finish().await.unwrap());
    let refused: Vec<_> = refused.iter().filter_map(|(_, line)| Some(line.as_ref().err()?.code())).collect();
    // The robot that came twice is one line too many.
    assert_eq!(refused, ["line_invalid", "export_incomplete"]);
}

#[tokio::test]
async fn a_relation_that_closes_a_circle_is_refused_and_the_one_to_remove_is_named() {
    let (from, to) = (TestDatabase::new().await, TestDatabase::new().await);
    related(&from.htm(), "the door").await;
    let (htm, lines) = (to.htm(), export(&from.htm(), ALL, "").await);
    let all: Vec<NodeId> =
        import(&htm, &lines).await.iter().filter_map(|it| it.as_ref().ok()?.node).collect();
    let superseded = htm.superseded(&all).await.unwrap();
    let (old, new) = (superseded[0].node, superseded[0].superseded_by[0].node);
    htm.relate(old, RelationKind::Supersedes, new, None, &Caller::AnyRobot).await.unwrap();
    let mut importer = htm.importer(100, 1 << 20);
    let mut results = Vec::new();
    for line in &lines {
        results.extend(importer.line(line.to_string().as_bytes()).await.unwrap());
    }
    results.extend(importer.finish().await.unwrap());
    let refused: Vec<_> = results.iter().filter_map(|(_, line)| line.as_ref().err()).collect();
    let [error] = refused[..] else { panic!("{refused:?}") };
    assert_eq!(error.code(), "relation_cycle");
    // It is no other robot's, so asking for any robot would change nothing.
    assert!(error.hint().contains("`Htm::unrelate`") && error.value("robot").is_none(), "{error:?}");
    let last = (old.to_string(), new.to_string());
    assert_eq!(error.value("superseding").zip(error.value("superseded")), Some((&*last.0, &*last.1)));
}

#[tokio::test]
async fn an_export_that_was_dropped_within_a_call_does_not_end_as_if_it_were_whole() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    htm.remember(Memory::new("one")).await.unwrap();
    let mut exporter = htm.export(ExportOptions::default()).await.unwrap();
    assert!(exporter.next().now_or_never().is_none(), "it waits for the database");
    for _ in 0..2 {
        assert_eq!(exporter.next().await.unwrap_err().code(), "export_incomplete");
    }
}

/// Memories are refused as on a disk that is full.
const FULL: &str = "
    create function public.refuse() returns trigger language plpgsql as $$ begin
        raise 'No space left on device' using errcode = 'disk_full';
    end $$;
    create trigger refuse before insert on htm.nodes for each row execute function public.refuse()";

#[tokio::test]
async fn an_import_is_over_after_an_error_and_another_one_finds_what_was_written() {
    let from = TestDatabase::new().await;
    let source = from.htm();
    for text in ["one", "two", "three"] {
        source.remember(Memory::new(text)).await.unwrap();
    }
    let plain =
        |text: &str| json!({"id": text, "ns": "n", "text": text, "created_at": "2026-01-01T00:00:00Z"});
    for lines in [export(&source, ALL, "").await, ["one", "two", "three"].map(plain).to_vec()] {
        let to = TestDatabase::new().await;
        let htm = to.htm();
        let mut importer = htm.importer(1, 1 << 20);
        let second = lines.iter().position(|line| line["text"] == "two").unwrap();
        for line in &lines[..second] {
            importer.line(line.to_string().as_bytes()).await.unwrap();
        }
        assert_eq!(to.count("select count(*) from htm.nodes").await, 1);
        sqlx::raw_sql(FULL).execute(&to.pool).await.unwrap();
        let refused = importer.line(lines[second].to_string().as_bytes()).await.unwrap_err();
        assert_eq!(refused.code(), "database_exhausted", "{refused}");
        sqlx::raw_sql("drop trigger refuse on htm.nodes").execute(&to.pool).await.unwrap();
        // It may be written or not: it does not try again.
        let again = importer.line(lines[second + 1].to_string().as_bytes()).await.unwrap_err();
        assert_eq!(again.code(), "export_incomplete");
        assert_eq!(importer.write().await.unwrap_err().code(), "export_incomplete");
        assert_eq!(importer.first_unwritten(), second as u64 + 1);
        assert_eq!(importer.finish().await.unwrap_err().code(), "export_incomplete");
        assert_eq!(to.count("select count(*) from htm.nodes").await, 1);
        import(&htm, &lines).await;
        assert_eq!(to.count("select count(*) from htm.nodes").await, 3);
    }
}

#[tokio::test]
async fn an_import_is_over_after_a_call_that_was_dropped() {
    let db = TestDatabase::new().await;
    let mut importer = db.htm().importer(1, 1 << 20);
    let line = json!({"id": "a", "ns": "n", "text": "one", "created_at": "2026-01-01T00:00:00Z"}).to_string();
    assert!(importer.line(line.as_bytes()).now_or_never().is_none(), "it waits for the database");
    assert_eq!(importer.line(line.as_bytes()).await.unwrap_err().code(), "export_incomplete");
}

#[tokio::test]
async fn two_imports_of_the_same_memories_at_once_write_each_once() {
    let (from, to) = (TestDatabase::new().await, TestDatabase::new().await);
    from.htm().remember(Memory::new("Number 0")).await.unwrap();
    let line = export(&from.htm(), ALL, "").await.into_iter().find(|line| line["kind"] == "memory").unwrap();
    // Turns of a conversation, which no index holds apart.
    let turn = |seq: usize| {
        let mut line = line.clone();
        line.as_object_mut().unwrap().remove("unique_in");
        (line["node"], line["text"]) = (json!(seq), json!(format!("Number {seq}")));
        (line["session"], line["seq"]) = (json!("talk"), json!(seq));
        line
    };
    let lines: Vec<Value> = (1..=60).map(turn).collect();
    let (first, second) = (to.htm(), to.htm());
    let (one, other) = tokio::join!(import(&first, &lines), import(&second, &lines));
    assert!(one.iter().chain(&other).all(Result::is_ok), "{one:?} {other:?}");
    assert_eq!(to.count("select count(*) from htm.nodes").await, 60);
}
