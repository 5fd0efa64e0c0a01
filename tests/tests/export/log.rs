//! The log of the ontology after an import: it reads the same, and its changes can be reverted.

use htm_core::ontology::{ChangeKind, LoggedChange, Removal, Term};
use htm_core::{Htm, Memory};
use htm_tests::TestDatabase;
use serde_json::{Value, json};

use super::{ALL, comparable, counts, export, import, of_kind, tag};

fn term(tag: &str) -> Term {
    Term { tag: tag.into(), description: Some(format!("About {tag}")), synonyms: Vec::new() }
}

/// Memories with tags, and changes of every kind that moves them. Returns the numbers of the changes.
async fn changed(htm: &Htm) -> Vec<i64> {
    for (text, tags) in [
        ("The ledger runs on PostgreSQL.", ["database", "ledger"]),
        ("The cache runs on Redis.", ["store", "cache"]),
        ("Mara prefers tabs.", ["editor:tabs", "mara"]),
        ("Minutes of Friday.", ["minutes", "nonsense"]),
    ] {
        htm.remember(Memory::new(text).tag(tag(tags[0])).tag(tag(tags[1]))).await.unwrap();
    }
    let ontology = htm.ontology(None).unwrap();
    let mut made = vec![
        ontology.define(ChangeKind::Add, &[term("database"), term("talk")]).await.unwrap(),
        ontology.rename("editor", "tool").await.unwrap(),
        ontology.merge(&["store"], "database").await.unwrap(),
        ontology.remove("nonsense", Removal::Assigned).await.unwrap(),
        ontology.add_synonym("notes", "minutes").await.unwrap(),
    ];
    let renamed = ontology.rename("mara", "person").await.unwrap();
    made.push(ontology.revert(renamed.change.unwrap()).await.unwrap());
    made.into_iter().filter_map(|it| it.change).collect()
}

/// The log without its numbers, the oldest first.
async fn log(htm: &Htm) -> Vec<Value> {
    let entries = htm.ontology(None).unwrap().log(None, 100).await.unwrap();
    let place = |number: i64| entries.iter().rev().position(|it| it.change == number);
    let entry = |it: &LoggedChange| {
        let mut entry = serde_json::to_value(it).unwrap();
        entry["change"] = Value::Null;
        entry["reverted_by"] = json!(it.reverted_by.and_then(place));
        if it.kind == ChangeKind::Revert {
            entry["details"]["change"] = json!(place(it.details["change"].as_i64().unwrap()));
        }
        entry
    };
    entries.iter().rev().map(entry).collect()
}

/// The tags and the assignments, as text.
async fn tags(db: &TestDatabase) -> Vec<String> {
    let texts = "select t.path || ' ' || coalesce(t.description, '') || ' ' || coalesce((
                            select string_agg(n.content, '|' order by n.content)
                              from htm.node_tags a join htm.nodes n on n.id = a.node_id where a.tag_id = t.id), '')
                   from htm.tags t
                 union all
                 select s.path || ' = ' || t.path from htm.tag_synonyms s join htm.tags t on t.id = s.tag_id
                 order by 1";
    sqlx::query_scalar(texts).fetch_all(&db.pool).await.unwrap()
}

#[tokio::test]
async fn every_change_is_reverted_after_an_import_as_before() {
    let (from, to) = (TestDatabase::new().await, TestDatabase::new().await);
    // Numbers differ.
    to.htm().ontology(Some("other")).unwrap().define(ChangeKind::Add, &[term("a")]).await.unwrap();
    let changes = changed(&from.htm()).await;
    let exported = export(&from.htm(), ALL, "").await;
    let results = import(&to.htm(), &exported).await;
    assert!(counts(&results).keys().all(|(_, outcome)| outcome == "Written"), "{results:?}");
    assert_eq!(log(&from.htm()).await, log(&to.htm()).await);
    assert_eq!(
        tags(&from).await,
        tags(&to).await.into_iter().filter(|it| it != "a About a ").collect::<Vec<_>>()
    );

    let again = counts(&import(&to.htm(), &exported).await);
    assert!(again.keys().all(|(_, outcome)| outcome == "Existing"), "{again:?}");
    assert_eq!(log(&from.htm()).await, log(&to.htm()).await);

    let here = to.htm().ontology(None).unwrap().log(None, 100).await.unwrap();
    let there = from.htm().ontology(None).unwrap().log(None, 100).await.unwrap();
    for change in changes.into_iter().rev() {
        let place = there.iter().position(|it| it.change == change).unwrap();
        let ontology = from.htm();
        let before = tags(&from).await;
        let expected = ontology.ontology(None).unwrap().revert(change).await.unwrap();
        assert_ne!(tags(&from).await, before, "the revert of {change} does something");
        let htm = to.htm();
        let found = htm.ontology(None).unwrap().revert(here[place].change).await.unwrap();
        assert_eq!((found.nodes, found.kept), (expected.nodes, expected.kept), "change {change}");
        let imported: Vec<String> = tags(&to).await.into_iter().filter(|it| it != "a About a ").collect();
        assert_eq!(tags(&from).await, imported, "after the revert of {change}");
    }
}

#[tokio::test]
async fn a_cut_log_is_completed_and_an_ontology_that_is_there_is_changed_visibly() {
    let (from, to) = (TestDatabase::new().await, TestDatabase::new().await);
    changed(&from.htm()).await;
    let exported = export(&from.htm(), ALL, "").await;
    for cut in 1..exported.len() {
        import(&to.htm(), &exported[..cut]).await;
    }
    import(&to.htm(), &exported).await;
    assert_eq!(log(&from.htm()).await, log(&to.htm()).await);
    assert_eq!(tags(&from).await, tags(&to).await);
    assert_eq!(comparable(&export(&to.htm(), ALL, "").await), comparable(&exported));

    // An ontology of its own gets the tags by a change, which can be reverted.
    let own = TestDatabase::new().await;
    let htm = own.htm();
    let ontology = htm.ontology(None).unwrap();
    ontology.define(ChangeKind::Add, &[term("own")]).await.unwrap();
    import(&htm, &exported).await;
    let log = ontology.log(None, 100).await.unwrap();
    let laid: Vec<&LoggedChange> = log.iter().filter(|it| it.details["source"] == "an export").collect();
    assert!(!laid.is_empty() && laid.iter().all(|it| it.kind == ChangeKind::Import), "{log:?}");
    for change in laid {
        ontology.revert(change.change).await.unwrap();
    }
    assert_eq!(own.count("select count(*) from htm.tags where path = 'talk'").await, 0, "no memory has it");
    assert_eq!(own.count("select count(*) from htm.tags where path = 'ledger'").await, 1);
}

#[tokio::test]
async fn an_export_of_version_1_is_imported_as_before() {
    let to = TestDatabase::new().await;
    let at = "2026-01-01T00:00:00Z";
    let lines = [
        json!({"kind": "header", "format": "htm-export", "version": 1, "program": "0.1.0", "made_at": at,
               "namespaces": null, "forgotten": false, "vectors": false, "memories": 1}),
        json!({"kind": "robot", "ns": "n", "name": "ada", "uuid": "8e03978e-40d5-43dd-bc93-6894a57f9324", "created_at": at}),
        json!({"kind": "group", "ns": "n", "name": "duo", "max_tokens": 1000, "created_at": at}),
        json!({"kind": "tag", "ns": "n", "tag": "ledger", "created_at": at}),
        json!({"kind": "tag", "ns": "n", "tag": "nonsense", "removed": true}),
        json!({"kind": "memory", "ns": "n", "text": "The ledger.", "created_at": at, "robot": "ada", "importance": 1.0,
               "node": 7, "language": "english", "remembered_at": at, "updated_at": at, "revision": 1,
               "tags": [{"tag": "ledger", "origin": "manual", "at": at}]}),
        json!({"kind": "end", "lines": {"robot": 1, "group": 1, "tag": 2, "memory": 1}}),
    ];
    let results = counts(&import(&to.htm(), &lines).await);
    assert!(results.keys().all(|(_, outcome)| outcome == "Written"), "{results:?}");
    let htm = to.htm();
    let log = htm.ontology(Some("n")).unwrap().log(None, 10).await.unwrap();
    let kinds: Vec<ChangeKind> = log.iter().map(|it| it.kind).collect();
    assert_eq!(kinds, [ChangeKind::Remove, ChangeKind::Import]);
    let again = export(&htm, ALL, "").await;
    assert_eq!((of_kind(&again, "change").len(), of_kind(&again, "tag").len()), (2, 1));
}

#[tokio::test]
async fn an_import_of_a_document_says_how_many_tags_it_changes() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let ontology = htm.ontology(None).unwrap();
    ontology.define(ChangeKind::Add, &[term("database"), term("talk")]).await.unwrap();
    ontology.add_synonym("store", "database").await.unwrap();
    let document = ontology.export().await.unwrap();
    ontology.remove_synonym("store").await.unwrap();
    ontology.import(ChangeKind::Import, "a test", &document, Default::default()).await.unwrap();
    assert_eq!(ontology.log(None, 100).await.unwrap()[0].details["tags"], 1);
}
