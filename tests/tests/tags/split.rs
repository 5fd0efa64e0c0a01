//! What a split makes of nodes that fit the tags in its place, and of those that fit none.

use htm_core::ontology::{SplitOutcome, TagCount};

use super::*;

fn outcome(waiting: i64, into: &[(&str, i64)], kept: i64) -> SplitOutcome {
    let count = |(tag, nodes): &(&str, i64)| TagCount { tag: (*tag).into(), nodes: *nodes };
    SplitOutcome { waiting, into: into.iter().map(count).collect(), kept }
}

/// Nine nodes of a tag, of which the tagger then finds something for six; and what the split makes of them.
async fn split(leftover: Leftover) -> (TestDatabase, Vec<NodeId>, i64) {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let nodes = remember(&htm, 9, "text", &[]).await;
    Says::llm("1").of(&db, "w", |_| vec![("work".into(), 0.5), ("other".into(), 0.4)]).await;
    let ontology = htm.ontology(None).unwrap();
    let into = [term("work:meeting", "What was said"), term("task", "What is to be done")];
    let change = ontology.split("work", &into, leftover).await.unwrap().change.unwrap();
    let waiting = outcome(9, &[("work:meeting", 0), ("task", 0)], 0);
    assert_eq!(ontology.split_outcome(change).await.unwrap(), waiting);
    let says = |node: NodeId| match node.0 % 3 {
        0 => vec![],
        1 => vec![("task:small".to_owned(), 0.5)],
        _ => vec![("work:meeting".to_owned(), 0.5), ("new".to_owned(), 0.5)],
    };
    assert_eq!(Says::llm("1").of(&db, "w", says).await, 9);
    (db, nodes, change)
}

#[tokio::test]
async fn what_fits_none_of_the_new_tags_keeps_the_old_one_and_is_counted() {
    let (db, nodes, change) = split(Leftover::Keep).await;
    for node in &nodes {
        let expected: &[&str] = match node.0 % 3 {
            0 => &["other llm", "work llm"],
            1 => &["other llm", "task:small llm"],
            _ => &["new llm", "other llm", "work:meeting llm"],
        };
        assert_eq!(tags_of(&db, *node).await, expected, "its other tags stay");
    }
    let htm = db.htm();
    let ontology = htm.ontology(None).unwrap();
    let told = outcome(0, &[("work:meeting", 3), ("task", 3)], 3);
    assert_eq!(ontology.split_outcome(change).await.unwrap(), told);
    assert_eq!(ontology.split_outcome(change + 1).await.unwrap_err().code(), "change_unknown");
    // A tagger that chooses by itself is told of it: it is what the rest gets.
    let shown = htm_core::worker::tags::in_use_or_split(&db.pool, "default", 100).await.unwrap();
    assert!(shown.iter().any(|tag| tag.path.as_str() == "work"));
    let former = htm_core::worker::tags::former(&db.pool, "default").await.unwrap();
    assert!(former.split["work"].has(&"task:small".parse().unwrap()));
    // Tagged once more it stays so; of another text it is gone.
    let third = *nodes.iter().find(|node| node.0 % 3 == 0).unwrap();
    htm.edit(third, &htm_core::Edit::new().importance(7.0)).await.unwrap();
    let again = htm_core::BackfillRequest { forced: true, ..htm_core::BackfillRequest::new(Stage::Tag) };
    let mut backfill = htm.start_backfill(&again).await.unwrap();
    while backfill.step().await.unwrap() != htm_core::BackfillStep::Finished {}
    assert_eq!(Says::llm("1").of(&db, "w", |_| vec![]).await, 9);
    assert_eq!(tags_of(&db, third).await, ["work llm"]);
    htm.edit(third, &htm_core::Edit::new().content("another text")).await.unwrap();
    assert_eq!(Says::llm("1").of(&db, "w", |_| vec![]).await, 1);
    assert!(tags_of(&db, third).await.is_empty());
}

#[tokio::test]
async fn what_fits_none_of_them_goes_to_the_first_when_asked() {
    let (db, nodes, change) = split(Leftover::First).await;
    for node in &nodes {
        let expected: &[&str] = match node.0 % 3 {
            0 => &["other llm", "work:meeting llm"],
            1 => &["other llm", "task:small llm"],
            _ => &["new llm", "other llm", "work:meeting llm"],
        };
        assert_eq!(tags_of(&db, *node).await, expected);
    }
    let htm = db.htm();
    let ontology = htm.ontology(None).unwrap();
    let told = outcome(0, &[("work:meeting", 6), ("task", 3)], 0);
    assert_eq!(ontology.split_outcome(change).await.unwrap(), told);
    // What was chosen goes where the ontology goes, and back.
    let document = ontology.export().await.unwrap();
    let there = htm.ontology(Some("there")).unwrap();
    there.import(ChangeKind::Import, "a test", &document, Default::default()).await.unwrap();
    assert_eq!(there.export().await.unwrap(), document);
    assert!(document.tags.iter().any(|tag| tag.leftover == Leftover::First));
    ontology.revert(change).await.unwrap();
    assert!(ontology.export().await.unwrap().tags.iter().all(|tag| tag.split_into.is_empty()));
    assert!(tags_of(&db, nodes[0]).await.contains(&"work llm".into()));
}

#[tokio::test]
async fn who_asks_for_all_tags_anew_gets_them_also_while_a_split_waits() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let nodes = remember(&htm, 3, "text", &[]).await;
    Says::llm("1").of(&db, "w", |_| vec![("work".into(), 0.5), ("other".into(), 0.4)]).await;
    let into = [term("work:meeting", ""), term("task", "")];
    assert_eq!(htm.ontology(None).unwrap().split("work", &into, Leftover::Keep).await.unwrap().jobs, 3);
    let again = htm_core::BackfillRequest { forced: true, ..htm_core::BackfillRequest::new(Stage::Tag) };
    let mut backfill = htm.start_backfill(&again).await.unwrap();
    while backfill.step().await.unwrap() != htm_core::BackfillStep::Finished {}
    // Both jobs of a node are claimed at once.
    assert_eq!(Says::llm("2").of(&db, "w", |_| vec![("task".into(), 0.5)]).await, 6);
    for node in nodes {
        assert_eq!(tags_of(&db, node).await, ["task llm"]);
    }
}

#[tokio::test]
async fn a_new_text_gets_all_its_tags_from_the_job_of_a_split_too() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let node = remember(&htm, 1, "text", &[]).await[0];
    Says::llm("1").of(&db, "w", |_| vec![("work".into(), 0.5), ("other".into(), 0.4)]).await;
    htm.edit(node, &htm_core::Edit::new().content("another text")).await.unwrap();
    // The job of the new text is lost; that of the split is the only one.
    sqlx::query("delete from apalis.jobs where status = 'Pending'").execute(&db.pool).await.unwrap();
    let into = [term("work:meeting", ""), term("task", "")];
    assert_eq!(htm.ontology(None).unwrap().split("work", &into, Leftover::Keep).await.unwrap().jobs, 1);
    assert_eq!(Says::llm("1").of(&db, "w", |_| vec![("task".into(), 0.5)]).await, 1);
    assert_eq!(tags_of(&db, node).await, ["task llm"]);
}

#[tokio::test]
async fn a_split_goes_on_after_another_one_of_the_same_nodes_is_reverted() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let node = remember(&htm, 1, "text", &[]).await[0];
    Says::llm("1").of(&db, "w", |_| vec![("work".into(), 0.5), ("home".into(), 0.4)]).await;
    let ontology = htm.ontology(None).unwrap();
    let work = [term("work:meeting", ""), term("task", "")];
    let work = ontology.split("work", &work, Leftover::Keep).await.unwrap();
    let home = [term("home:kitchen", ""), term("home:garden", "")];
    assert_eq!(ontology.clone().dry_run().split("home", &home, Leftover::Keep).await.unwrap().jobs, 1);
    let home = ontology.split("home", &home, Leftover::Keep).await.unwrap();
    assert_eq!((work.jobs, home.jobs), (1, 1));
    ontology.revert(work.change.unwrap()).await.unwrap();
    assert_eq!(Says::llm("1").of(&db, "w", |_| vec![("home:garden".into(), 0.5)]).await, 1);
    assert_eq!(tags_of(&db, node).await, ["home:garden llm", "work llm"]);
}

#[tokio::test]
async fn the_tokens_of_a_split_count_on_its_day_and_its_nodes_stay_of_their_prompt() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    remember(&htm, 3, "text", &[]).await;
    Says::llm("1").of(&db, "w", |_| vec![("work".into(), 0.5), ("other".into(), 0.4)]).await;
    sqlx::query("update htm.completions set done_at = done_at - interval '3 days'")
        .execute(&db.pool)
        .await
        .unwrap();
    let providers = htm.providers().unwrap();
    assert!(providers.usage(1).await.unwrap().is_empty());
    let before = providers.usage(30).await.unwrap();
    let into = [term("work:meeting", ""), term("task", "")];
    htm.ontology(None).unwrap().split("work", &into, Leftover::Keep).await.unwrap();
    assert_eq!(Says::llm("2").of(&db, "w", |_| vec![("task".into(), 0.5)]).await, 3);
    let today = providers.usage(1).await.unwrap();
    assert_eq!((today.len(), today[0].stage, today[0].jobs), (1, Stage::Tag, 3));
    assert_eq!((before.len(), before[0].tokens), (1, today[0].tokens));
    // Each memory counts on the day of its last result alone.
    assert_eq!(providers.usage(30).await.unwrap(), today);
    // A budget of today has been spent by them.
    providers.set_budget("default", Some(1_000_000)).await.unwrap();
    let budgets = providers.budgets().await.unwrap();
    assert_eq!(budgets.iter().map(|it| it.tokens_used).collect::<Vec<_>>(), [today[0].tokens]);
    // Another prompt has not tagged them: it would have replaced their other tags too.
    let of = "select count(*) from htm.completions where stage = 'tag' and version = '1' and done_at < now() - interval '2 days'";
    assert_eq!(db.count(of).await, 3);
    assert_eq!(htm_core::worker::queues::count_stranded(&db.pool).await.unwrap(), 0);
}

/// Makes dead letters of the tag jobs that wait.
async fn kill_tag_jobs(db: &TestDatabase) {
    let killed = "update apalis.jobs set status = 'Killed', attempts = 1, done_at = clock_timestamp()
                   where job_type = 'htm.tag' and status = 'Pending'";
    assert_eq!(sqlx::query(killed).execute(&db.pool).await.unwrap().rows_affected(), 1);
}

#[tokio::test]
async fn a_split_that_died_stays_to_be_seen_until_its_text_is_tagged_again() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let node = remember(&htm, 1, "text", &[]).await[0];
    Says::llm("1").of(&db, "w", |_| vec![("work".into(), 0.5)]).await;
    let into = [term("work:meeting", ""), term("task", "")];
    assert_eq!(htm.ontology(None).unwrap().split("work", &into, Leftover::Keep).await.unwrap().jobs, 1);
    kill_tag_jobs(&db).await;
    let prune = || htm_core::worker::queues::prune_dead(&db.pool, "htm.tag", std::time::Duration::ZERO);
    assert_eq!(prune().await.unwrap(), 0);
    let again = htm_core::BackfillRequest { forced: true, ..htm_core::BackfillRequest::new(Stage::Tag) };
    let mut backfill = htm.start_backfill(&again).await.unwrap();
    while backfill.step().await.unwrap() != htm_core::BackfillStep::Finished {}
    assert_eq!(Says::llm("1").of(&db, "w", |_| vec![("task".into(), 0.5)]).await, 1);
    assert_eq!(tags_of(&db, node).await, ["task llm"]);
    assert_eq!(prune().await.unwrap(), 1);
}

#[tokio::test]
async fn a_split_that_is_reverted_leaves_no_dead_letter() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    remember(&htm, 1, "text", &[]).await;
    Says::llm("1").of(&db, "w", |_| vec![("work".into(), 0.5)]).await;
    let ontology = htm.ontology(None).unwrap();
    let into = [term("work:meeting", ""), term("task", "")];
    let change = ontology.split("work", &into, Leftover::Keep).await.unwrap().change.unwrap();
    kill_tag_jobs(&db).await;
    ontology.revert(change).await.unwrap();
    assert_eq!(db.count("select count(*) from apalis.jobs where status = 'Killed'").await, 0);
}
