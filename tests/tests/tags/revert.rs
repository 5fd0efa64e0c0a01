//! Changes undone.

use super::*;

async fn revert(htm: &Htm, change: Changed) -> Changed {
    htm.ontology(None).unwrap().revert(change.change.unwrap()).await.unwrap()
}

/// Two trees whose nodes have tags by hand, by a model, and by both.
async fn filled(db: &TestDatabase) -> Htm {
    let htm = db.htm();
    remember(&htm, 200, "one", &["db:index"]).await;
    remember(&htm, 200, "two", &["database", "psql"]).await;
    let says = |node: NodeId| {
        let sure = (node.0 % 7) as f32 / 10.0;
        vec![
            ("db".to_owned(), sure),
            ("db:index:btree".to_owned(), 0.1),
            ("database".to_owned(), sure + 0.05),
        ]
    };
    assert_eq!(Says::llm("v7").of(db, "w", says).await, 400);
    add(&htm, "db", "short").await;
    htm
}

#[tokio::test]
async fn what_was_changed_is_as_it_was_after_the_revert_and_again_after_the_reverts_revert() {
    let db = TestDatabase::new().await;
    let htm = filled(&db).await;
    let ontology = htm.ontology(None).unwrap();
    let before = (names(&db).await, assignments(&db).await);
    for step in 0..5 {
        let change = match step {
            0 => merge(&htm, &["db", "psql"], "database").await,
            1 => ontology.rename("db", "store:db").await.unwrap(),
            2 => remove(&htm, "db").await,
            3 => ontology.split("db", &[term("v", "the one"), term("w", "")], Leftover::Keep).await.unwrap(),
            _ => ontology.add_synonym("data", "database").await.unwrap(),
        };
        let after = (names(&db).await, assignments(&db).await);
        assert_ne!(after, before);
        let back = revert(&htm, change).await;
        let kept = names(&db).await;
        // Those above a new name were registered by the change, and go with it.
        assert_eq!((kept, assignments(&db).await), before, "step {step}");
        revert(&htm, back).await;
        assert_eq!((names(&db).await, assignments(&db).await), after, "step {step}");
        let last = ontology.log(None, 1).await.unwrap()[0].change;
        ontology.revert(last).await.unwrap();
        assert_eq!((names(&db).await, assignments(&db).await), before, "step {step}");
        assert_eq!(db.count("select count(*) from apalis.jobs where priority < 0").await, 0);
    }
    let described: Option<String> = sqlx::query_scalar("select description from htm.tags where path = 'db'")
        .fetch_one(&db.pool)
        .await
        .unwrap();
    assert_eq!(described.as_deref(), Some("short"));
}

#[tokio::test]
async fn what_came_since_stays() {
    let db = TestDatabase::new().await;
    let htm = filled(&db).await;
    let merged = merge(&htm, &["db"], "database").await;
    // Tagged since by the other name, made a manual one since, tagged again since; a new tag below.
    let new = remember(&htm, 1, "new", &["db:index:gin"]).await[0];
    let (manual, again) = (NodeId(1), NodeId(2));
    let edit = htm_core::Edit::new().tag("database".parse().unwrap());
    htm.edit(manual, &edit).await.unwrap();
    htm.edit(again, &htm_core::Edit::new().content("another text")).await.unwrap();
    Says::llm("v8").of(&db, "w", |_| vec![("database:fresh".into(), 0.5)]).await;
    assert_eq!(tags_of(&db, again).await, ["database:fresh llm", "database:index manual"]);
    let back = revert(&htm, merged).await;
    assert!(back.kept.is_empty());
    assert!(tags_of(&db, new).await.contains(&"db:index:gin manual".into()));
    let tags = tags_of(&db, manual).await;
    assert!(tags.contains(&"database manual".into()) && tags.contains(&"db llm".into()), "{tags:?}");
    assert_eq!(tags_of(&db, again).await, ["database:fresh llm", "db:index manual"]);
    // A tag that a change made and that is used by now stays.
    let added = add(&htm, "soon:used", "").await;
    remember(&htm, 1, "uses it", &["soon:used"]).await;
    assert_eq!(revert(&htm, added).await.kept, ["soon", "soon:used"]);
}

#[tokio::test]
async fn a_split_that_is_reverted_gives_the_tag_back() {
    let db = TestDatabase::new().await;
    let htm = filled(&db).await;
    let before = assignments(&db).await;
    let ontology = htm.ontology(None).unwrap();
    let split = ontology.split("db", &[term("v", ""), term("w", "")], Leftover::Keep).await.unwrap();
    assert_eq!(split.jobs, 400);
    Says::llm("v8").of(&db, "w", |node| vec![(if node.0 % 2 == 0 { "v" } else { "w" }.into(), 0.5)]).await;
    let back = revert(&htm, split).await;
    assert_eq!(back.kept, ["v", "w"]);
    let now = assignments(&db).await;
    assert_eq!(before.iter().filter(|row| row.contains(" db llm")).count(), 400);
    assert!(before.is_subset(&now), "its other tags, too");
    assert_eq!(db.count("select count(*) from htm.tags where split_into is not null").await, 0);
}

#[tokio::test]
async fn what_cannot_be_undone_says_why() {
    let db = TestDatabase::new().await;
    let htm = filled(&db).await;
    let ontology = htm.ontology(None).unwrap();
    let first = ontology.rename("db", "store").await.unwrap().change.unwrap();
    let second = ontology.rename("store", "storage").await.unwrap().change.unwrap();
    let state = (names(&db).await, assignments(&db).await);
    let refused = ontology.revert(first).await.unwrap_err();
    assert_eq!(refused.code(), "changed_since");
    let hint = htm_runtime::commands::hint(&refused);
    assert!(hint.contains(&format!("htm tags revert {second}")), "{hint}");
    assert_eq!(ontology.revert(999).await.unwrap_err().code(), "change_unknown");
    let elsewhere = htm.ontology(Some("elsewhere")).unwrap();
    assert_eq!(elsewhere.revert(first).await.unwrap_err().code(), "change_unknown");
    assert_eq!((names(&db).await, assignments(&db).await), state);
    ontology.revert(second).await.unwrap();
    assert_eq!(ontology.revert(second).await.unwrap_err().code(), "change_reverted");
    let would = ontology.clone().dry_run().revert(first).await.unwrap();
    assert_eq!((would.change, would.nodes), (None, 400));
    ontology.revert(first).await.unwrap();
    assert!(names(&db).await.contains(&"db:index:btree".into()));
}

#[tokio::test]
async fn a_name_that_a_later_change_took_is_not_mixed_with_what_comes_back() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let ontology = htm.ontology(None).unwrap();
    add(&htm, "pg", "postgres").await;
    add(&htm, "x", "paying guests").await;
    let removed = ontology.remove("pg", Removal::Assigned).await.unwrap().change.unwrap();
    let renamed = ontology.rename("x", "pg").await.unwrap().change.unwrap();
    let error = ontology.revert(removed).await.unwrap_err();
    assert_eq!(
        (error.code(), error.hint().contains(&format!("revert change {renamed} first"))),
        ("changed_since", true),
        "{error}; {}",
        error.hint()
    );
    ontology.revert(renamed).await.unwrap();
    ontology.revert(removed).await.unwrap();
    assert_eq!(names(&db).await, ["pg", "x"]);
}

#[tokio::test]
async fn the_way_back_to_a_name_that_somebody_uses_is_refused_with_its_name() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let ontology = htm.ontology(None).unwrap();
    remember(&htm, 1, "one", &["pg:k"]).await;
    let renamed = ontology.rename("pg", "db:pg").await.unwrap().change.unwrap();
    let back = ontology.revert(renamed).await.unwrap().change.unwrap();
    remember(&htm, 1, "two", &["db:pg:k"]).await;
    let before = names(&db).await;
    let error = ontology.revert(back).await.unwrap_err();
    assert_eq!((error.code(), error.to_string().contains("db:pg")), ("changed_since", true));
    assert_eq!(names(&db).await, before);
}

#[tokio::test]
async fn what_stands_above_comes_back_with_what_was_below() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let ontology = htm.ontology(None).unwrap();
    add(&htm, "a:b", "below").await;
    let child = ontology.remove("a:b", Removal::Assigned).await.unwrap().change.unwrap();
    ontology.remove("a", Removal::Assigned).await.unwrap();
    ontology.revert(child).await.unwrap();
    assert_eq!(names(&db).await, ["a", "a:b"]);
}

#[tokio::test]
async fn a_tag_is_not_split_into_what_was_split_from_it() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let ontology = htm.ontology(None).unwrap();
    let term = |tag: &str| Term { tag: tag.into(), description: None, synonyms: Vec::new() };
    add(&htm, "x", "all").await;
    ontology.split("x", &[term("x:one"), term("x:two")], Leftover::Keep).await.unwrap();
    let error = ontology.split("x:one", &[term("x"), term("x:three")], Leftover::Keep).await.unwrap_err();
    assert_eq!(error.code(), "tag_into_itself");
    // What is removed takes nobody's place, so that an export can be read again.
    ontology.remove("x:two", Removal::Assigned).await.unwrap();
    let left: Vec<String> = sqlx::query_scalar("select unnest(split_into) from htm.tags where path = 'x'")
        .fetch_all(&db.pool)
        .await
        .unwrap();
    assert_eq!(left, ["x:one"]);
}

/// Asserts that a change is not undone, because the change `by` has to be undone first.
async fn refused(htm: &Htm, change: &Changed, by: &Changed) {
    let ontology = htm.ontology(None).unwrap();
    let (change, by) = (change.change.unwrap(), by.change.unwrap());
    for ontology in [ontology.clone().dry_run(), ontology] {
        let error = ontology.revert(change).await.unwrap_err();
        assert_eq!((error.code(), error.value("by")), ("changed_since", Some(&*by.to_string())), "{error}");
        assert!(error.hint().contains(&format!("revert change {by} first")), "{}", error.hint());
    }
}

#[tokio::test]
async fn a_split_is_not_reverted_before_a_later_one_that_is_the_same() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    remember(&htm, 3, "text", &[]).await;
    Says::llm("1").of(&db, "w", |_| vec![("work".into(), 0.5)]).await;
    let ontology = htm.ontology(None).unwrap();
    let into = [term("work:meeting", ""), term("task", "")];
    let first = ontology.split("work", &into, Leftover::Keep).await.unwrap();
    let second = ontology.split("work", &into, Leftover::Keep).await.unwrap();
    // The second one relies on the jobs of the first.
    assert_eq!((first.jobs, second.jobs), (3, 0));
    let split = "select count(*) from htm.tags where split_into is not null";
    let jobs = "select count(*) from apalis.jobs where status = 'Pending' and priority < 0";
    refused(&htm, &first, &second).await;
    assert_eq!((db.count(split).await, db.count(jobs).await), (1, 3));
    // Nor after a revert that was itself reverted.
    let back = revert(&htm, second).await;
    let again = revert(&htm, back).await;
    refused(&htm, &first, &again).await;
    revert(&htm, again).await;
    assert_eq!((db.count(split).await, db.count(jobs).await), (1, 3));
    revert(&htm, first).await;
    assert_eq!((db.count(split).await, db.count(jobs).await), (0, 0));
}

#[tokio::test]
async fn a_name_that_means_the_same_again_by_later_changes_is_theirs() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let ontology = htm.ontology(None).unwrap();
    add(&htm, "work", "all").await;
    let split = async |a: &str, b: &str| {
        ontology.split("work", &[term(a, ""), term(b, "")], Leftover::Keep).await.unwrap()
    };
    let first = split("meeting", "task").await;
    let other = split("day", "night").await;
    let third = split("meeting", "task").await;
    refused(&htm, &first, &third).await;
    revert(&htm, third).await;
    revert(&htm, other).await;
    revert(&htm, first).await;
    let first = ontology.add_synonym("job", "work").await.unwrap();
    ontology.remove_synonym("job").await.unwrap();
    let second = ontology.add_synonym("job", "work").await.unwrap();
    refused(&htm, &first, &second).await;
    assert!(names(&db).await.contains(&"job=work".into()));
}

#[tokio::test]
async fn a_merge_is_reverted_after_later_ones_of_the_same_nodes_alone() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let both = remember(&htm, 1, "both", &["a", "b"]).await[0];
    let other = remember(&htm, 1, "other", &["c"]).await[0];
    add(&htm, "x", "all of them").await;
    let first = merge(&htm, &["a"], "x").await;
    let second = merge(&htm, &["b"], "x").await;
    merge(&htm, &["c"], "x").await;
    // The node has the tag by the first one, and the second one relies on it.
    refused(&htm, &first, &second).await;
    assert_eq!(tags_of(&db, both).await, ["x manual"]);
    revert(&htm, second).await;
    assert_eq!(tags_of(&db, both).await, ["b manual", "x manual"]);
    revert(&htm, first).await;
    assert_eq!(tags_of(&db, both).await, ["a manual", "b manual"]);
    assert_eq!(tags_of(&db, other).await, ["x manual"]);
}

#[tokio::test]
async fn a_tag_that_a_revert_gave_back_stays_where_a_later_merge_relies_on_it() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let both = remember(&htm, 1, "both", &["b", "x"]).await[0];
    let removed = remove(&htm, "x").await;
    assert_eq!(tags_of(&db, both).await, ["b manual"]);
    let given_back = revert(&htm, removed).await;
    let merged = merge(&htm, &["b"], "x").await;
    refused(&htm, &given_back, &merged).await;
    assert_eq!(tags_of(&db, both).await, ["x manual"]);
    revert(&htm, merged).await;
    revert(&htm, given_back).await;
    assert_eq!(tags_of(&db, both).await, ["b manual"]);
}
