//! What a load writes, and what it leaves as it is.

use std::time::Duration;

use htm_core::worker::priorities;
use htm_core::{
    Caller, Confirmation, Edit, Error, ForgetReason, LoadOutcome, Memory, Quota, RecallQuery, Stage,
};
use htm_tests::{TestDatabase, drain, wait_until};

use super::{GUIDE, counts, document, load, passages, texts};

#[tokio::test]
async fn a_document_is_its_passages() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let loaded = load(&htm, "docs/guide.md", GUIDE).await;
    assert_eq!((loaded.outcome, loaded.passages), (LoadOutcome::Loaded, 3));
    let nodes = passages(&htm, "docs/guide.md").await;
    assert_eq!(
        texts(&nodes),
        ["An airship floats.", "A mast holds the zeppelin.", "Hydrogen burns, helium does not."]
    );
    let mooring = &nodes[1];
    assert_eq!(mooring.content, "The guide › Airships › Mooring\n\nA mast holds the zeppelin.");
    assert_eq!((mooring.kind.as_deref(), mooring.seq), (Some("passage"), Some(1)));
    assert_eq!(mooring.session.as_deref(), Some("docs/guide.md"));
    assert_eq!(mooring.source.as_deref(), Some("docs/guide.md#mooring"));
    assert_eq!(mooring.tags.iter().map(|tag| tag.as_str()).collect::<Vec<_>>(), ["manual"]);
    let place = mooring.passage().unwrap();
    assert_eq!(place.to_string(), "docs/guide.md:9 › The guide › Airships › Mooring");
    let listed = htm.documents(None, None, None, 10).await.unwrap();
    assert_eq!((listed.len(), listed[0].passages, listed[0].title.as_deref()), (1, 3, Some("The guide")));
    let neighbours = htm.neighbours(mooring.id, 1, 1).await.unwrap();
    assert_eq!((neighbours.before[0].id, neighbours.after[0].id), (nodes[0].id, nodes[2].id));
}

#[tokio::test]
async fn the_same_file_is_not_written_again() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    load(&htm, "a.md", GUIDE).await;
    let before = htm_tests::every_row(&db.pool).await;
    let again = load(&htm, "a.md", GUIDE).await;
    assert_eq!((again.outcome, counts(&again)), (LoadOutcome::Unchanged, (0, 3, 0)));
    assert_eq!(htm_tests::every_row(&db.pool).await, before);
    let planned = htm.plan_document(&document("a.md", "# Other\n\nText.\n"), &Caller::Handle).await.unwrap();
    assert_eq!((planned.outcome, counts(&planned)), (LoadOutcome::Changed, (1, 0, 3)));
    assert_eq!(htm_tests::every_row(&db.pool).await, before);
}

#[tokio::test]
async fn only_what_changed_is_written() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    load(&htm, "a.md", GUIDE).await;
    drain(&db, Stage::Embed).await;
    drain(&db, Stage::Tag).await;
    let before = passages(&htm, "a.md").await;
    let changed = GUIDE
        .replace("A mast holds", "A hook holds")
        .replace("# Airships", "# Airships\n\nNew words.\n\n## First");
    let loaded = load(&htm, "a.md", &changed).await;
    // The words below the new heading are another passage, and the fuel has moved.
    assert_eq!((loaded.outcome, counts(&loaded)), (LoadOutcome::Changed, (3, 1, 2)));
    let after = passages(&htm, "a.md").await;
    assert_eq!(after.iter().map(|node| node.seq).collect::<Vec<_>>(), [0, 1, 2, 3].map(Some));
    assert_eq!((after[3].id, after[3].revision), (before[2].id, 1));
    assert_eq!(after[3].metadata["line"], 17);
    let jobs = db.count("select count(*) from apalis.jobs where status = 'Pending'").await;
    assert_eq!(jobs, 3 * 2, "only new passages are embedded and tagged");
    assert_eq!(db.count("select count(*) from htm.nodes where deleted_at is not null").await, 2);
}

#[tokio::test]
async fn tags_follow_the_front_matter_and_leave_others() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    load(&htm, "a.md", GUIDE).await;
    let first = passages(&htm, "a.md").await[0].id;
    htm.edit(first, &Edit::new().tag("own".parse().unwrap())).await.unwrap();
    let loaded = load(&htm, "a.md", &GUIDE.replace("[manual]", "[handbook, ship]")).await;
    assert_eq!(counts(&loaded), (0, 3, 0));
    let nodes = passages(&htm, "a.md").await;
    let tags = |at: usize| nodes[at].tags.iter().map(|tag| tag.as_str()).collect::<Vec<_>>();
    assert_eq!((tags(0), tags(1)), (vec!["handbook", "own", "ship"], vec!["handbook", "ship"]));
}

#[tokio::test]
async fn a_corrected_date_is_the_time_of_all_passages_and_their_vectors() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    load(&htm, "a.md", GUIDE).await;
    drain(&db, Stage::Embed).await;
    let before = passages(&htm, "a.md").await;
    let dated = |date: &str| GUIDE.replace("tags:", &format!("date: {date}\ntags:"));
    let with_vectors = "select count(*) from htm.nodes n join htm.embeddings_1 e
                          on e.node_id = n.id and e.namespace = n.namespace and e.created_at = n.created_at";
    for (text, time) in [
        (dated("2026-03-02"), Some("2026-03-02T00:00:00Z")),
        (dated("2026-03-01 12:00:00 +0100"), Some("2026-03-01T11:00:00Z")),
        (GUIDE.to_owned(), None),
    ] {
        assert_eq!(counts(&load(&htm, "a.md", &text).await), (0, 3, 0));
        let after = passages(&htm, "a.md").await;
        for (former, now) in before.iter().zip(&after) {
            assert_eq!((now.id, now.updated_at), (former.id, former.updated_at));
            assert_eq!(now.created_at, time.map_or(former.created_at, |it| it.parse().unwrap()), "{text}");
        }
        assert_eq!(db.count(with_vectors).await, 3, "{text}");
    }
}

#[tokio::test]
async fn what_was_lost_comes_back_and_an_edit_stays() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    load(&htm, "a.md", GUIDE).await;
    let nodes = passages(&htm, "a.md").await;
    htm.edit(nodes[0].id, &Edit::new().content("An airship floats, they say.")).await.unwrap();
    htm.forget(nodes[1].id, &Caller::Handle, htm_core::Confirmation::Confirmed).await.unwrap();
    let loaded = load(&htm, "a.md", GUIDE).await;
    assert_eq!(counts(&loaded), (1, 2, 0));
    let after = passages(&htm, "a.md").await;
    assert_eq!(
        texts(&after),
        ["An airship floats, they say.", "A mast holds the zeppelin.", "Hydrogen burns, helium does not."]
    );
}

#[tokio::test]
async fn an_unloaded_document_gets_its_passages_back_as_they_were() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    load(&htm, "a.md", GUIDE).await;
    let nodes = passages(&htm, "a.md").await;
    let corrected =
        Edit::new().content("An airship floats, they say.").importance(9.0).tag("checked".parse().unwrap());
    htm.edit(nodes[0].id, &corrected).await.unwrap();
    // What a person has forgotten stays forgotten.
    htm.forget(nodes[1].id, &Caller::Handle, Confirmation::Confirmed).await.unwrap();
    let before = htm.get(nodes[0].id).await.unwrap();
    htm.unload_documents(None, "a.md", &Caller::Handle).await.unwrap();
    let planned = htm.plan_document(&document("a.md", GUIDE), &Caller::Handle).await.unwrap();
    let loaded = load(&htm, "a.md", GUIDE).await;
    assert_eq!((loaded.outcome, counts(&loaded)), (LoadOutcome::Loaded, (1, 2, 0)));
    assert_eq!(planned, loaded);
    let after = passages(&htm, "a.md").await;
    let ids: Vec<_> = after.iter().map(|node| node.id).collect();
    assert_eq!((ids[0], ids[2]), (nodes[0].id, nodes[2].id));
    assert_ne!(ids[1], nodes[1].id);
    let back = htm.get(nodes[0].id).await.unwrap();
    assert_eq!((&back.content, back.importance), (&before.content, 9.0));
    assert_eq!(back.tags, before.tags);
    // Another robot has passages of its own.
    htm.unload_documents(None, "a.md", &Caller::Handle).await.unwrap();
    let other = Caller::Robot("other".into());
    let loaded = htm.load_document(&document("a.md", GUIDE), &other).await.unwrap();
    assert_eq!(counts(&loaded), (3, 0, 0));
}

#[tokio::test]
async fn an_unloaded_document_comes_back_without_the_tags_that_its_front_matter_has_lost() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    load(&htm, "a.md", &GUIDE.replace("[manual]", "[manual, draft]")).await;
    let first = passages(&htm, "a.md").await[0].id;
    htm.edit(first, &Edit::new().tag("own".parse().unwrap())).await.unwrap();
    htm.unload_documents(None, "a.md", &Caller::Handle).await.unwrap();
    assert_eq!(counts(&load(&htm, "a.md", GUIDE).await), (0, 3, 0));
    let nodes = passages(&htm, "a.md").await;
    let tags = |at: usize| nodes[at].tags.iter().map(|tag| tag.as_str()).collect::<Vec<_>>();
    assert_eq!((tags(0), tags(1)), (vec!["manual", "own"], vec!["manual"]));
}

#[tokio::test]
async fn a_passage_that_is_forgotten_after_the_unload_stays_forgotten_and_the_others_come_back() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    load(&htm, "a.md", GUIDE).await;
    let nodes = passages(&htm, "a.md").await;
    htm.edit(nodes[0].id, &Edit::new().content("An airship floats, they say.")).await.unwrap();
    htm.unload_documents(None, "a.md", &Caller::Handle).await.unwrap();
    htm.restore(nodes[1].id, &Caller::Handle).await.unwrap();
    htm.forget(nodes[1].id, &Caller::Handle, Confirmation::Confirmed).await.unwrap();
    let forgotten = htm.forgotten(None, None, 10).await.unwrap();
    let mut reasons: Vec<_> = forgotten.iter().map(|it| (it.node, it.reason)).collect();
    reasons.sort_by_key(|it| it.0);
    let (asked, unloaded) = (ForgetReason::Asked, ForgetReason::Unloaded);
    assert_eq!(reasons, [(nodes[0].id, unloaded), (nodes[1].id, asked), (nodes[2].id, unloaded)]);
    assert_eq!(counts(&load(&htm, "a.md", GUIDE).await), (1, 2, 0));
    let after = passages(&htm, "a.md").await;
    assert_eq!((after[0].id, after[0].revision), (nodes[0].id, 2));
    assert_ne!(after[1].id, nodes[1].id);
}

#[tokio::test]
async fn the_jobs_of_many_restored_passages_do_not_hold_up_others() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let parts: String = (0..60).map(|n| format!("## Part {n}\n\nWords of {n}.\n\n")).collect();
    let text = format!("# Parts\n\n{parts}");
    let many = load(&htm, "a.md", &text).await.passages;
    htm.unload_documents(None, "a.md", &Caller::Handle).await.unwrap();
    assert_eq!(db.count("select count(*) from apalis.jobs").await, 0);
    let open = "insert into apalis.jobs (id, job_type, job, status, attempts, max_attempts, run_at, priority, metadata)
                select 'job ' || g, 'htm.tag', '', 'Pending', 0, 1, now(), 0, hstore(array['namespace', 'default', 'node', '0'])
                  from generate_series(1, 1000) g";
    sqlx::query(open).execute(&db.pool).await.unwrap();
    assert_eq!(counts(&load(&htm, "a.md", &text).await), (0, many, 0));
    let behind = "select count(*) from apalis.jobs where metadata -> 'node' <> '0' and priority = $1";
    let behind: i64 = sqlx::query_scalar(behind).bind(priorities::BULK).fetch_one(&db.pool).await.unwrap();
    assert!(many > 50 && behind == 2 * many as i64, "{behind} of {many}");
}

#[tokio::test]
async fn a_document_is_whole_or_not_changed() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    load(&htm, "a.md", GUIDE).await;
    let state = async || (passages(&htm, "a.md").await, htm.documents(None, None, None, 10).await.unwrap());
    let before = state().await;
    let mut bad = document("a.md", &GUIDE.replace("floats", "flies"));
    bad.passages[2].content = "NUL \0".into();
    let code = |result: htm_core::Result<_>| result.err().as_ref().map_or("ok", Error::code);
    assert_eq!(code(htm.load_document(&bad, &Caller::Handle).await.map(drop)), "nul_byte");
    let other = Caller::Robot("other".into());
    let changed = document("a.md", &GUIDE.replace("floats", "flies"));
    assert_eq!(code(htm.load_document(&changed, &other).await.map(drop)), "not_owner");
    assert_eq!(code(htm.unload_documents(None, "a.md", &other).await.map(drop)), "not_owner");
    assert_eq!(state().await, before);
    htm.load_document(&changed, &Caller::AnyRobot).await.unwrap();
}

#[tokio::test]
async fn a_full_namespace_takes_a_document_in_the_place_of_its_former_text() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    load(&htm, "a.md", GUIDE).await;
    htm.set_quota(None, Quota { max_memories: Some(3), ..Quota::default() }).await.unwrap();
    let refused = htm.load_document(&document("b.md", "# B\n\nText.\n"), &Caller::Handle).await.unwrap_err();
    assert_eq!(refused.code(), "quota_exceeded");
    assert_eq!(counts(&load(&htm, "a.md", &GUIDE.replace("floats", "flies")).await), (1, 2, 1));
}

#[tokio::test]
async fn a_load_that_fails_makes_no_room() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let full = |passage: &str| format!("# Notes\n\n{}", passage.repeat(100));
    load(&htm, "notes.md", &full("gust ")).await;
    let used = db.count("select sum(octet_length(content))::bigint from htm.nodes").await;
    htm.set_quota(None, Quota { max_bytes: Some(used), ..Quota::default() }).await.unwrap();
    let larger = document("notes.md", &full("a longer passage "));
    let error = htm.load_document(&larger, &Caller::Handle).await.unwrap_err();
    assert_eq!(error.code(), "quota_exceeded");
    let error = htm.remember(Memory::new("The wind comes from the west.")).await.unwrap_err();
    assert_eq!(error.code(), "quota_exceeded");
}

#[tokio::test]
async fn others_conversations_and_namespaces_are_no_part_of_it() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let said = Memory { session: Some("a.md".into()), ..Memory::new("We talked about a.md.") };
    let said = htm.remember(said).await.unwrap().node;
    load(&htm, "a.md", GUIDE).await;
    let mut elsewhere = document("a.md", GUIDE);
    elsewhere.namespace = Some("elsewhere".into());
    htm.load_document(&elsewhere, &Caller::AnyRobot).await.unwrap();
    htm.unload_documents(None, "a.md", &Caller::Handle).await.unwrap();
    htm.get(said).await.unwrap();
    assert_eq!(htm.document(Some("elsewhere"), "a.md").await.unwrap().passages, 3);
    let tenant = htm.within(["elsewhere"]).unwrap();
    assert_eq!(tenant.documents(None, None, None, 10).await.unwrap().len(), 1);
    let forbidden = tenant.documents(Some("default"), None, None, 10).await.unwrap_err();
    assert_eq!(forbidden.code(), "namespace_forbidden");
    let found = htm.recall(&RecallQuery::new("zeppelin mast")).await.unwrap();
    assert!(found.hits.is_empty(), "{found:?}");
}

#[tokio::test]
async fn two_loads_at_the_same_time_are_one_after_the_other() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let texts: Vec<String> =
        (0..6).map(|number| GUIDE.replace("floats", &format!("floats {number} times"))).collect();
    let loads = texts.iter().map(|text| load(&htm, "a.md", text));
    futures::future::join_all(loads).await;
    let nodes = passages(&htm, "a.md").await;
    assert_eq!(nodes.iter().map(|node| node.seq).collect::<Vec<_>>(), [0, 1, 2].map(Some));
    assert_eq!(db.count("select count(*) from htm.documents").await, 1);
}

#[tokio::test]
async fn who_forgets_in_the_namespace_does_not_wait_for_a_load() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    load(&htm, "a.md", GUIDE).await;
    let other = htm.remember(Memory::new("other")).await.unwrap().node;
    // Somebody holds the row of the document, so that the load stands half-way.
    let mut holder = db.pool.begin().await.unwrap();
    sqlx::query("select from htm.documents where path = 'a.md' for update")
        .execute(&mut *holder)
        .await
        .unwrap();
    let parts: String = (0..60).map(|n| format!("## Part {n}\n\nWords of {n}.\n\n")).collect();
    let loading = {
        let (htm, text) = (htm.clone(), format!("# Parts\n\n{parts}"));
        tokio::spawn(async move { load(&htm, "a.md", &text).await })
    };
    let waits = "select count(*) from pg_stat_activity
                  where wait_event_type = 'Lock' and query ilike '%insert into%documents%' and datname = current_database()";
    wait_until(|| async { db.count(waits).await > 0 }).await;
    let forget = htm.forget(other, &Caller::Handle, Confirmation::Confirmed);
    tokio::time::timeout(Duration::from_secs(4), forget).await.expect("it waits for no load").unwrap();
    holder.rollback().await.unwrap();
    let loaded = loading.await.unwrap();
    assert!(loaded.forgotten == 3 && loaded.written > 50, "{loaded:?}");
    let noted =
        db.count("select unseen_count from htm.namespace_statistics where namespace = 'default'").await;
    assert_eq!(noted, 1 + loaded.forgotten as i64 + loaded.written as i64);
}
