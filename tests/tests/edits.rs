//! Editing: a new text, or what stands beside it; who may, and what two editors do to each other.

use htm_core::worker::{queues, statistics};
use htm_core::{
    Caller, Confirmation, Edit, FieldChange, Htm, Memory, NodeId, Operation, Quota, RecallQuery, Stage,
    Strategy,
};
use htm_tests::{TestDatabase, drain, wait_until};
use serde_json::{Value, json};

/// A node that is embedded and tagged, with a tag by hand.
async fn enriched(db: &TestDatabase) -> (Htm, NodeId) {
    let htm = db.htm();
    let memory = Memory::new("postgres postgres postgres index").key("k").tag("by:hand".parse().unwrap());
    let node = htm.remember(memory).await.unwrap().node;
    for stage in Stage::ALL {
        drain(db, stage).await;
    }
    assert!(htm.get(node).await.unwrap().tags.len() > 1);
    (htm, node)
}

fn paths(node: &htm_core::Node) -> Vec<String> {
    node.tags.iter().map(ToString::to_string).collect()
}

#[tokio::test]
async fn a_new_text_is_a_new_revision_and_the_old_embedding_stands_in_for_it() {
    let db = TestDatabase::new().await;
    let (htm, node) = enriched(&db).await;
    let before = htm.get(node).await.unwrap();
    let new = "bananas and bread for the picnic in the park";
    let edited = htm.edit(node, &Edit::new().content(new).importance(7.0)).await.unwrap();
    assert_eq!((edited.revision, edited.changed), (2, vec!["content", "importance"]));
    assert_eq!((edited.jobs, edited.superseded), (2, 0));

    let after = htm.get(node).await.unwrap();
    assert_eq!((after.content.as_str(), after.revision, after.importance), (new, 2, 7.0));
    assert!(after.token_count > before.token_count && after.updated_at > before.updated_at);
    assert_eq!((after.created_at, after.first_remembered), (before.created_at, before.first_remembered));
    assert_eq!(after.tags, before.tags, "until it is tagged anew");
    let hash = "select count(*) from htm.nodes where content_hash = sha256(content::bytea)";
    assert_eq!(db.count(hash).await, 1);

    // Words find the new text, vectors the old one, and say so.
    let fulltext = |text: &str| RecallQuery::new(text).strategy(Strategy::Fulltext);
    assert_eq!(htm.recall(&fulltext("picnic")).await.unwrap().hits.len(), 1);
    assert!(htm.recall(&fulltext("postgres")).await.unwrap().hits.is_empty());
    let vector = RecallQuery::new("postgres index").strategy(Strategy::Vector);
    let recalled = htm.recall(&vector).await.unwrap();
    let scores = recalled.hits[0].scores;
    assert!(scores.stale && scores.similarity.unwrap() > 0.5, "{scores:?}");
    assert_eq!(recalled.unembedded, 1);
    let status = htm.status(node).await.unwrap();
    for stage in &status.stages {
        assert_eq!((stage.stale, stage.state.name()), (Some(1), "pending"));
    }

    for stage in Stage::ALL {
        drain(&db, stage).await;
    }
    let recalled = htm.recall(&RecallQuery::new("picnic").strategy(Strategy::Vector)).await.unwrap();
    assert!(!recalled.hits[0].scores.stale);
    let status = htm.status(node).await.unwrap();
    assert!(status.stages.iter().all(|stage| stage.stale.is_none() && stage.state.name() == "done"));
    assert_eq!(db.count("select revision::bigint from htm.embeddings_1").await, 2);
    let tags = paths(&htm.get(node).await.unwrap());
    assert!(tags.contains(&"by:hand".into()), "{tags:?}");
    assert!(!tags.iter().any(|tag| tag != "by:hand" && paths(&before).contains(tag)), "{tags:?}");
    assert_eq!(queues::count_stranded(&db.pool).await.unwrap(), 0);
}

#[tokio::test]
async fn a_tag_of_the_former_text_goes_whoever_found_it() {
    let db = TestDatabase::new().await;
    let (htm, node) = enriched(&db).await;
    // As if another kind of tagger had been configured then.
    sqlx::query("update htm.node_tags set origin = 'local' where origin <> 'manual'")
        .execute(&db.pool)
        .await
        .unwrap();
    htm.edit(node, &Edit::new().content("bananas bananas bananas bread")).await.unwrap();
    drain(&db, Stage::Tag).await;
    assert_eq!(db.count("select count(*) from htm.node_tags where origin = 'local'").await, 0);
    assert_eq!(db.count("select count(*) from htm.node_tags where origin = 'manual'").await, 1);
}

#[tokio::test]
async fn waiting_jobs_and_dead_letters_of_the_former_text_end_with_it() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let node = htm.remember(Memory::new("first")).await.unwrap().node;
    sqlx::query("update apalis.jobs set status = 'Killed', done_at = now() where job_type = 'htm.tag'")
        .execute(&db.pool)
        .await
        .unwrap();
    let edited = htm.edit(node, &Edit::new().content("second")).await.unwrap();
    assert_eq!((edited.jobs, edited.superseded), (2, 2));
    let jobs: Vec<(String, String, Option<Value>)> = sqlx::query_as(
        "select metadata -> 'revision', status, last_result from apalis.jobs order by 1, job_type",
    )
    .fetch_all(&db.pool)
    .await
    .unwrap();
    let superseded = || ("1".to_owned(), "Done".to_owned(), Some(json!({"Ok": "superseded"})));
    let pending = || ("2".to_owned(), "Pending".to_owned(), None);
    assert_eq!(jobs, [superseded(), superseded(), pending(), pending()]);
    for stage in Stage::ALL {
        assert_eq!(drain(&db, stage).await.done, 1);
    }
    assert_eq!(queues::count_stranded(&db.pool).await.unwrap(), 0);
}

#[tokio::test]
async fn every_model_in_use_gets_the_new_text() {
    let db = TestDatabase::new().await;
    let (htm, node) = enriched(&db).await;
    let other = htm_core::provider::ModelName::new("fake", "newer");
    htm_core::worker::embeddings::register_model(&db.pool, &other, 8).await.unwrap();
    assert_eq!(htm.edit(node, &Edit::new().content("for three queues")).await.unwrap().jobs, 3);
    let queues = "select count(distinct job_type) from apalis.jobs where status = 'Pending'";
    assert_eq!(db.count(queues).await, 3);
}

#[tokio::test]
async fn details_change_in_place() {
    let db = TestDatabase::new().await;
    let (htm, node) = enriched(&db).await;
    htm.edit(node, &Edit::new().metadata("a", 1).metadata("b", 2)).await.unwrap();
    let before = htm.get(node).await.unwrap();
    let edit = Edit { kind: FieldChange::Set("decision".into()), ..Edit::new() }
        .importance(9.0)
        .key("another")
        .source("meeting")
        .metadata("a", Value::Null)
        .metadata("c", json!([3]))
        .tag("new:tag".parse().unwrap())
        .untag("by:hand".parse().unwrap());
    let edited = htm.edit(node, &edit).await.unwrap();
    assert_eq!(edited.changed, ["importance", "key", "source", "type", "metadata", "tags"]);
    assert_eq!((edited.revision, edited.jobs, edited.superseded), (1, 0, 0));
    let after = htm.get_by_key(None, "another").await.unwrap().unwrap();
    assert_eq!((after.source.as_deref(), after.kind.as_deref()), (Some("meeting"), Some("decision")));
    assert_eq!(after.metadata, json!({"b": 2, "c": [3]}));
    assert_eq!(after.updated_at, before.updated_at, "its text is as old as it was");
    let tags = paths(&after);
    assert!(tags.contains(&"new:tag".into()) && !tags.contains(&"by:hand".into()), "{tags:?}");
    assert_eq!(htm.get_by_key(None, "k").await.unwrap(), None);
    // An empty text is none.
    let empty = Edit { kind: FieldChange::Set(" ".into()), ..Edit::new() }.source("");
    assert_eq!(htm.edit(node, &empty).await.unwrap().changed, ["source", "type"]);
    let cleared = htm.get(node).await.unwrap();
    assert_eq!((cleared.source, cleared.kind), (None, None));
    let filled = Edit { kind: FieldChange::Set("decision".into()), ..Edit::new() }.source("meeting");
    htm.edit(node, &filled).await.unwrap();
    // And away again.
    let edit =
        Edit { key: FieldChange::Clear, source: FieldChange::Clear, kind: FieldChange::Clear, ..Edit::new() };
    assert_eq!(htm.edit(node, &edit).await.unwrap().changed, ["key", "source", "type"]);
    assert_eq!(htm.get(node).await.unwrap().key, None);
}

#[tokio::test]
async fn a_tag_that_a_model_found_becomes_a_manual_one_and_stays() {
    let db = TestDatabase::new().await;
    let (htm, node) = enriched(&db).await;
    let found = htm.get(node).await.unwrap().tags.into_iter().find(|tag| tag.as_str() != "by:hand").unwrap();
    assert_eq!(htm.edit(node, &Edit::new().tag(found.clone())).await.unwrap().changed, ["tags"]);
    assert!(htm.edit(node, &Edit::new().tag(found.clone())).await.unwrap().changed.is_empty());
    htm.edit(node, &Edit::new().content("bananas bananas bananas")).await.unwrap();
    drain(&db, Stage::Tag).await;
    assert!(htm.get(node).await.unwrap().tags.contains(&found));
}

#[tokio::test]
async fn an_edit_that_changes_nothing_writes_nothing() {
    let db = TestDatabase::new().await;
    let (htm, node) = enriched(&db).await;
    let row = || async {
        let row: (String, i64, i64) = sqlx::query_as(
            "select n.xmin::text, (select count(*) from apalis.jobs), (select sum(unseen_count)::bigint from htm.namespace_statistics)
               from htm.nodes n",
        )
        .fetch_one(&db.pool)
        .await
        .unwrap();
        row
    };
    statistics::refresh_due(&db.pool).await.unwrap();
    let before = row().await;
    let same = Edit { source: FieldChange::Clear, ..Edit::new() }
        .content("postgres postgres postgres index")
        .importance(1.0)
        .key("k")
        .metadata("absent", Value::Null)
        .tag("by:hand".parse().unwrap())
        .untag("not:there".parse().unwrap())
        .expected_revision(1);
    for edit in [Edit::new(), same] {
        let edited = htm.edit(node, &edit).await.unwrap();
        assert_eq!((edited.revision, edited.changed, edited.jobs), (1, vec![], 0));
    }
    assert_eq!(row().await, before);
}

#[tokio::test]
async fn what_is_refused_changes_nothing() {
    let db = TestDatabase::new().await;
    let (htm, node) = enriched(&db).await;
    let plain = htm.remember(Memory::new("said once")).await.unwrap().node;
    let other = htm.remember(Memory::new("said otherwise")).await.unwrap().node;
    let theirs = htm.remember(Memory::new("of another").robot("ada")).await.unwrap().node;
    let forgotten = htm.remember(Memory::new("gone")).await.unwrap().node;
    htm.forget(forgotten, &Caller::Handle, Confirmation::Confirmed).await.unwrap();
    let before = db.count("select sum(revision) + count(key) from htm.nodes").await;
    let tagged = |edit: Edit| edit.tag("never:assigned".parse().unwrap());
    for (code, node, edit, said) in [
        ("node_not_found", NodeId(999), Edit::new().content("x"), "999"),
        ("node_not_found", forgotten, Edit::new().content("x"), ""),
        (
            "not_owner",
            theirs,
            Edit::new().content("x"),
            "robot `ada` of namespace `default`, not by `htm` of `default`",
        ),
        ("not_owner", node, Edit::new().content("x").caller(Caller::Robot("bob".into())), "`bob`"),
        ("revision_conflict", node, Edit::new().content("x").expected_revision(7), "at revision 1, not 7"),
        ("key_taken", plain, Edit::new().content("x").key("k"), &format!("by node {node}")),
        ("content_taken", plain, Edit::new().content("said otherwise"), &format!("node {other} has")),
        ("content_empty", node, Edit::new().content(" "), ""),
        ("importance_out_of_range", node, Edit::new().importance(11.0), "11"),
        ("key_invalid", node, Edit::new().key("a\nb"), ""),
    ] {
        let error = htm.edit(node, &tagged(edit)).await.unwrap_err();
        assert_eq!(error.code(), code);
        assert!(error.to_string().contains(said), "{error}");
        assert!(!error.hint().is_empty());
        assert_eq!(error.fault().exit_code(), 2, "{code}");
    }
    assert_eq!(db.count("select sum(revision) + count(key) from htm.nodes").await, before);
    assert_eq!(db.count("select count(*) from htm.tags where path = 'never:assigned'").await, 0);
    // Whoever may, may.
    let edit = Edit::new().content("corrected");
    htm.edit(theirs, &edit.clone().caller(Caller::Robot("ada".into()))).await.unwrap();
    htm.edit(theirs, &edit.content("again").caller(Caller::AnyRobot)).await.unwrap();
}

#[tokio::test]
async fn of_two_who_edit_what_they_have_read_one_wins() {
    let db = TestDatabase::new().await;
    let (htm, node) = enriched(&db).await;
    let edits = (0..8).map(|n| {
        let htm = htm.clone();
        tokio::spawn(async move {
            htm.edit(node, &Edit::new().content(format!("version {n}")).expected_revision(1)).await
        })
    });
    let results: Vec<_> = futures::future::join_all(edits).await.into_iter().map(Result::unwrap).collect();
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
    for error in results.into_iter().filter_map(Result::err) {
        assert_eq!(error.code(), "revision_conflict");
        assert!(error.to_string().contains("at revision 2, not 1"), "{error}");
    }
    // Without a word about what they have read, each is a revision.
    let edits = (0..8).map(|n| {
        let htm = htm.clone();
        tokio::spawn(async move { htm.edit(node, &Edit::new().content(format!("draft {n}"))).await.unwrap() })
    });
    futures::future::join_all(edits).await;
    assert_eq!(htm.get(node).await.unwrap().revision, 10);
    let open = "select count(*) from apalis.jobs where status <> 'Done'";
    assert_eq!(db.count(open).await, 2, "those of the last one");
    drain(&db, Stage::Embed).await;
    assert_eq!(db.count("select revision::bigint from htm.embeddings_1").await, 10);
}

#[tokio::test]
async fn an_edit_that_brings_a_new_tag_and_whoever_tags_the_node_with_it_do_not_block_each_other() {
    let db = TestDatabase::new().await;
    let (htm, node) = enriched(&db).await;
    // A tag-worker writes: the tags, then the node.
    let mut tagging = db.pool.begin().await.unwrap();
    sqlx::query("insert into htm.tags (namespace, path) values ('default', 'new:tag')")
        .execute(&mut *tagging)
        .await
        .unwrap();
    let editor = htm.clone();
    let edit = Edit::new().content("another text").tag("new:tag".parse().unwrap());
    let editing = tokio::spawn(async move { editor.edit(node, &edit).await });
    let waiting = "select count(*) from pg_stat_activity
                    where datname = current_database() and cardinality(pg_blocking_pids(pid)) > 0";
    wait_until(|| async { db.count(waiting).await == 1 }).await;
    sqlx::query("select from htm.nodes where id = $1 for share nowait")
        .bind(node)
        .execute(&mut *tagging)
        .await
        .expect("the node is free");
    tagging.commit().await.unwrap();
    assert_eq!(editing.await.unwrap().unwrap().changed, ["content", "tags"]);
}

#[tokio::test]
async fn statistics_learn_of_edited_forgotten_and_restored_texts() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let node = htm.remember(Memory::new("zeppelin")).await.unwrap().node;
    htm.remember(Memory::new("harbour")).await.unwrap();
    // As if every statistic were old enough to be refreshed.
    let refreshed = || async {
        let old = "update htm.namespace_statistics set refreshed_at = now() - interval '1 hour'";
        sqlx::query(old).execute(&db.pool).await.unwrap();
        // What the first look finds to be new, the second one finds to be due.
        for _ in 0..2 {
            statistics::refresh_due(&db.pool).await.unwrap();
        }
        let lexemes: Vec<String> = sqlx::query_scalar("select lexeme from htm.lexeme_statistics order by 1")
            .fetch_all(&db.pool)
            .await
            .unwrap();
        assert_eq!(db.count("select sum(unseen_count)::bigint from htm.namespace_statistics").await, 0);
        (db.count("select node_count from htm.namespace_statistics").await, lexemes)
    };
    assert_eq!(refreshed().await, (2, vec!["harbour".into(), "zeppelin".into()]));
    htm.edit(node, &Edit::new().content("balloon")).await.unwrap();
    assert_eq!(refreshed().await, (2, vec!["balloon".into(), "harbour".into()]));
    htm.forget(node, &Caller::Handle, Confirmation::Confirmed).await.unwrap();
    assert_eq!(refreshed().await, (1, vec!["harbour".into()]));
    htm.restore(node, &Caller::Handle).await.unwrap();
    assert_eq!(refreshed().await, (2, vec!["balloon".into(), "harbour".into()]));
}

#[tokio::test]
async fn completions_of_former_texts_go_when_the_new_text_is_done() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let node = htm.remember(Memory::new("first text")).await.unwrap().node;
    for text in ["second text", "third text"] {
        drain(&db, Stage::Embed).await;
        drain(&db, Stage::Tag).await;
        htm.edit(node, &Edit::new().content(text)).await.unwrap();
    }
    let revisions = async || -> Vec<(String, i32)> {
        sqlx::query_as("select stage, revision from htm.completions order by 1, 2")
            .fetch_all(&db.pool)
            .await
            .unwrap()
    };
    assert_eq!(revisions().await, [("embed".into(), 2), ("tag".into(), 2)]);
    drain(&db, Stage::Embed).await;
    assert_eq!(revisions().await, [("embed".into(), 3), ("tag".into(), 2)]);
}

#[tokio::test]
async fn metadata_that_grows_edit_by_edit_has_the_limit_of_a_memory() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let node = htm.remember(Memory::new("a note").metadata("a", "x".repeat(40_000))).await.unwrap().node;
    let part = |name: &str| {
        let metadata = [(name.to_owned(), json!("x".repeat(30_000)))];
        Edit { metadata: metadata.into_iter().collect(), ..Edit::new() }
    };
    let error = htm.edit(node, &part("b")).await.unwrap_err();
    assert_eq!(error.code(), "field_too_long");
    assert!(htm.get(node).await.unwrap().metadata.get("b").is_none());
    // In the place of what was there it fits.
    htm.edit(node, &part("a")).await.unwrap();
}

#[tokio::test]
async fn former_texts_stay_with_their_authors_and_times_until_the_purge() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let node = htm.remember(Memory::new("first").robot("ada")).await.unwrap().node;
    let ada = || Caller::Robot("ada".into());
    htm.edit(node, &Edit::new().content("second").caller(Caller::AnyRobot)).await.unwrap();
    htm.edit(node, &Edit::new().importance(5.0).caller(ada())).await.unwrap();
    htm.edit(node, &Edit::new().content("third").caller(ada())).await.unwrap();
    let texts = htm.revisions(node).await.unwrap();
    let own = htm.settings().robot.as_str();
    let told: Vec<_> =
        texts.iter().map(|it| (it.revision, it.content.as_str(), it.author.as_str())).collect();
    assert_eq!(told, [(1, "first", "ada"), (2, "second", own), (3, "third", "ada")]);
    assert!(texts.is_sorted_by(|one, next| one.written_at < next.written_at), "{texts:?}");
    assert_eq!(texts[2].written_at, htm.get(node).await.unwrap().updated_at);

    htm.forget(node, &ada(), Confirmation::Confirmed).await.unwrap();
    assert_eq!(htm.revisions(node).await.unwrap_err().code(), "node_not_found");
    assert_eq!(db.count("select count(*) from htm.node_revisions").await, 2);
    sqlx::query("delete from htm.nodes").execute(&db.pool).await.unwrap();
    assert_eq!(db.count("select count(*) from htm.node_revisions").await, 0);
}

#[tokio::test]
async fn many_new_nodes_count_also_if_later_ones_were_seen_before() {
    let db = TestDatabase::new().await;
    // A node of a transaction that ended before has a larger id.
    sqlx::query("update htm.statistics_watermark set node_id = 1000000").execute(&db.pool).await.unwrap();
    let memories: Vec<Memory> = (0..60).map(|number| Memory::new(format!("word{number}"))).collect();
    db.htm().remember_many(&memories).await.unwrap();
    assert_eq!(statistics::refresh_due(&db.pool).await.unwrap(), 1);
    assert_eq!(db.count("select node_count from htm.namespace_statistics").await, 60);
}

#[tokio::test]
async fn edits_that_fail_and_replays_take_no_room() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    htm.set_quota(None, Quota { max_bytes: Some(1_000), ..Quota::default() }).await.unwrap();
    let taken = "a".repeat(300);
    htm.remember(Memory::new(&taken)).await.unwrap();
    let node = htm.remember(Memory::new("short")).await.unwrap().node;
    for _ in 0..5 {
        let error = htm.edit(node, &Edit::new().content(&taken)).await.unwrap_err();
        assert_eq!(error.code(), "content_taken");
    }
    let operation = Operation::new("test", "once", b"").unwrap();
    for _ in 0..5 {
        let memories = [Memory::new("b".repeat(300))];
        htm.remember_once(&operation, &memories, |results| json!(results.len())).await.unwrap();
    }
    htm.remember(Memory::new("c".repeat(300))).await.unwrap();
    assert_eq!(htm.remember(Memory::new("d".repeat(300))).await.unwrap_err().code(), "quota_exceeded");
}

#[tokio::test]
async fn a_job_that_an_edit_ends_before_it_is_due_has_no_time() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let node = htm.remember(Memory::new("first text")).await.unwrap().node;
    let deferred = "update apalis.jobs set run_at = now() + interval '1 hour'";
    sqlx::query(deferred).execute(&db.pool).await.unwrap();
    htm.edit(node, &Edit::new().content("second text")).await.unwrap();
    let history = async || htm.jobs().unwrap().history(60).await.unwrap();
    let times: Vec<_> = history().await.iter().map(|it| (it.done, it.median_ms, it.p95_ms)).collect();
    assert_eq!(times, [(1, None, None), (1, None, None)]);
    drain(&db, Stage::Embed).await;
    assert!(history().await.iter().all(|it| it.median_ms.is_none_or(|median| median >= 0.0)));
}
