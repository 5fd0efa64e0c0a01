//! Unloaded, purged and erased documents.

use htm_core::{Caller, Confirmation, Erase, LoadOutcome, Memory, Purge};
use htm_tests::{TestDatabase, wait_until};

use super::{GUIDE, document, load, passages};

#[tokio::test]
async fn an_unloaded_document_is_forgotten() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    for path in ["docs/a.md", "docs/b/c.md", "docs2/a.md", "docs"] {
        load(&htm, path, GUIDE).await;
    }
    let node = passages(&htm, "docs/a.md").await[0].id;
    let unloaded = htm.unload_documents(None, "docs/", &Caller::Handle).await.unwrap();
    assert_eq!(
        (unloaded.documents, unloaded.forgotten),
        (vec!["docs".into(), "docs/a.md".into(), "docs/b/c.md".into()], 7)
    );
    let left: Vec<String> =
        htm.documents(None, None, None, 10).await.unwrap().into_iter().map(|it| it.path).collect();
    assert_eq!(left, ["docs2/a.md"]);
    let missing = htm.unload_documents(None, "docs", &Caller::Handle).await.unwrap_err();
    assert_eq!(missing.code(), "document_not_found");
    htm.restore(node, &Caller::Handle).await.unwrap();
    // The one that was restored is a part of it again, and the others come back with it.
    assert_eq!(load(&htm, "docs/a.md", GUIDE).await.kept, 3);
}

#[tokio::test]
async fn a_load_fails_whole_if_an_unloaded_passage_is_purged_or_its_key_taken_meanwhile() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    load(&htm, "a.md", GUIDE).await;
    let first = passages(&htm, "a.md").await.remove(0);
    let waits = "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
    for is_purged in [false, true] {
        htm.unload_documents(None, "a.md", &Caller::Handle).await.unwrap();
        let mut other = db.pool.begin().await.unwrap();
        if is_purged {
            let purge = "delete from htm.nodes where key = $1";
            sqlx::query(purge).bind(&first.key).execute(&mut *other).await.unwrap();
        } else {
            let taken = Memory {
                key: first.key.clone(),
                session: Some("a.md".into()),
                kind: Some("passage".into()),
                ..Memory::new("An airship rises.")
            };
            drop(htm.remember_in_tx(&mut other, taken).await.unwrap());
        }
        let loading = {
            let htm = htm.clone();
            tokio::spawn(async move { htm.load_document(&document("a.md", GUIDE), &Caller::Handle).await })
        };
        wait_until(|| async { db.count(waits).await > 0 }).await;
        other.commit().await.unwrap();
        assert_eq!(loading.await.unwrap().unwrap_err().code(), "contended", "{is_purged}");
        let again = load(&htm, "a.md", GUIDE).await;
        assert_eq!((again.written, again.kept), if is_purged { (1, 2) } else { (0, 3) });
        assert_eq!(passages(&htm, "a.md").await.len(), 3);
    }
}

#[tokio::test]
async fn an_erased_passage_leaves_no_hash_and_the_last_one_no_path() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    load(&htm, "secret/zeppelin.md", GUIDE).await;
    let nodes = passages(&htm, "secret/zeppelin.md").await;
    let one = Erase::Memories(vec![nodes[0].id]);
    htm.erase(&one, None, Confirmation::Confirmed).await.unwrap();
    assert_eq!(db.count("select count(*) from htm.documents where digest is null").await, 1);
    let rest = Erase::Memories(vec![nodes[1].id, nodes[2].id]);
    let erased = htm.erase(&rest, None, Confirmation::Confirmed).await.unwrap();
    assert_eq!(erased.removed["htm.documents"], 1);
    assert_eq!(db.count("select count(*) from htm.documents").await, 0);
    let verified = htm.verify_erasure(erased.id, Some("secret/zeppelin.md")).await.unwrap();
    assert!(verified.is_clean, "{verified:?}");
}

#[tokio::test]
async fn a_purge_of_former_passages_leaves_the_document_unchanged() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    load(&htm, "a.md", GUIDE).await;
    let changed = GUIDE.replace("floats", "rises");
    assert_eq!(load(&htm, "a.md", &changed).await.outcome, LoadOutcome::Changed);
    htm.purge(&Purge::before(chrono::Utc::now()), Confirmation::Confirmed).await.unwrap();
    assert_eq!(db.count("select count(*) from htm.nodes where deleted_at is not null").await, 0);
    assert_eq!(load(&htm, "a.md", &changed).await.outcome, LoadOutcome::Unchanged);
}

#[tokio::test]
async fn a_purge_waits_for_a_load_that_writes_new_passages() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    load(&htm, "a.md", GUIDE).await;
    for node in passages(&htm, "a.md").await {
        htm.forget(node.id, &Caller::Handle, Confirmation::Confirmed).await.unwrap();
    }
    // As a load does: the row, and a passage.
    let mut load = db.pool.begin().await.unwrap();
    let steps = "update htm.documents set changed_at = now();
                 insert into htm.nodes (namespace, robot_id, content, content_hash, token_count, token_encoding, language, session, seq, type, key)
                 select namespace, robot_id, 'new', sha256('new'), 1, token_encoding, language, session, 9, type, 'passage:new' from htm.nodes limit 1";
    sqlx::raw_sql(steps).execute(&mut *load).await.unwrap();
    let purge =
        tokio::spawn(
            async move { htm.purge(&Purge::before(chrono::Utc::now()), Confirmation::Confirmed).await },
        );
    wait_until(|| async {
        db.count("select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'").await == 1
    })
    .await;
    load.commit().await.unwrap();
    purge.await.unwrap().unwrap();
    assert_eq!(db.count("select count(*) from htm.documents").await, 1);
    assert_eq!(db.count("select count(*) from htm.nodes").await, 1);
}

#[tokio::test]
async fn a_purge_takes_the_row_of_a_document_without_passages() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    load(&htm, "a.md", GUIDE).await;
    for node in passages(&htm, "a.md").await {
        htm.forget(node.id, &Caller::Handle, Confirmation::Confirmed).await.unwrap();
    }
    assert_eq!(htm.document(None, "a.md").await.unwrap().passages, 0);
    htm.purge(&Purge::before(chrono::Utc::now()), Confirmation::Confirmed).await.unwrap();
    assert_eq!(db.count("select count(*) from htm.documents").await, 0);
}
