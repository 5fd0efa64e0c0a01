//! What is told of tags.

use htm_core::Filter;
use htm_core::ontology::{ChangeKind, Suggestion};

use super::*;

async fn filled(db: &TestDatabase) -> Htm {
    let htm = db.htm();
    remember(&htm, 4, "one", &["database:postgresql", "work:meeting"]).await;
    remember(&htm, 3, "two", &["database:postgresql:index", "database"]).await;
    remember(&htm, 2, "three", &["databank", "postgresql-index", "conference"]).await;
    remember(&htm, 3, "four", &["conference", "gathering"]).await;
    remember(&htm, 1, "five", &["db"]).await;
    let gone = remember(&htm, 1, "forgotten", &["database"]).await[0];
    let caller = htm_core::Caller::AnyRobot;
    htm.forget(gone, &caller, htm_core::Confirmation::Confirmed).await.unwrap();
    htm
}

#[tokio::test]
async fn counts_are_of_live_nodes_own_and_below() {
    let db = TestDatabase::new().await;
    let htm = filled(&db).await;
    let ontology = htm.ontology(None).unwrap();
    let counts = |tags: &[htm_core::ontology::TagUse]| {
        tags.iter().map(|it| format!("{} {} {}", it.tag, it.nodes, it.total)).collect::<Vec<_>>()
    };
    let below = ontology.list(Some("Databases")).await.unwrap();
    // A tag comes before those below it, whatever character follows.
    assert_eq!(counts(&below), ["database 3 7", "database:postgresql 4 7", "database:postgresql:index 3 3"]);
    assert_eq!(ontology.list(None).await.unwrap().len(), 10);
    assert_eq!(
        counts(&ontology.popular(&Filter::default(), 2).await.unwrap()),
        ["conference 5 5", "database:postgresql 4 4"]
            .map(|it| { it.replace("postgresql 4 4", "postgresql 4 7") })
    );
    add(&htm, "database:postgresql", "The ledger's").await;
    ontology.add_synonym("pg", "database:postgresql").await.unwrap();
    add(&htm, "database:sqlite", "").await;
    let shown = ontology.show("pg").await.unwrap();
    assert_eq!((shown.tag.description.as_deref(), shown.synonyms.len()), (Some("The ledger's"), 1));
    assert_eq!((shown.parents[0].as_str(), shown.siblings[0].as_str()), ("database", "database:sqlite"));
    assert_eq!((shown.children[0].tag.leaf(), shown.children[0].total), ("index", 3));
    assert_eq!(
        (shown.origins[0].origin.as_ref(), shown.origins[0].nodes, shown.newest.len()),
        ("manual", 4, 5)
    );
    // A page at a time; a prefix stops at `:`.
    let first = ontology.nodes("database", None, 4).await.unwrap();
    let rest = ontology.nodes("database", first.last().map(|it| it.node), 10).await.unwrap();
    assert_eq!((first.len(), rest.len()), (4, 3));
    assert_eq!(ontology.nodes("data", None, 4).await.unwrap_err().code(), "tag_unknown");
}

#[tokio::test]
async fn tags_that_somebody_told_apart_are_not_suggested() {
    let db = TestDatabase::new().await;
    let htm = filled(&db).await;
    let ontology = htm.ontology(None).unwrap();
    let pairs = async || {
        let suggested = htm.ontology(None).unwrap().suggest(None, 100).await.unwrap();
        suggested.iter().map(|it| format!("{} {}", it.from, it.into)).collect::<Vec<_>>()
    };
    let distinct = async || {
        let pairs = htm.ontology(None).unwrap().distinct().await.unwrap();
        pairs.iter().map(|it| format!("{} {}", it.tag, it.other)).collect::<Vec<_>>()
    };
    let suggestion = "gathering conference".to_owned();
    assert!(pairs().await.contains(&suggestion));
    let rehearsed = htm.ontology(None).unwrap().dry_run().mark_distinct("gathering", "conference").await;
    assert_eq!(rehearsed.unwrap().change, None);
    assert_eq!(distinct().await, Vec::<String>::new());

    let marked = ontology.mark_distinct("Gathering", "conference").await.unwrap();
    assert_eq!(
        (marked.kind, marked.described),
        (ChangeKind::MarkDistinct, vec!["conference".to_owned(), "gathering".to_owned()])
    );
    assert!(!pairs().await.contains(&suggestion));
    assert_eq!(distinct().await, ["conference gathering"]);
    assert_eq!(ontology.mark_distinct("conference", "gathering").await.unwrap().change, None);
    // A new name changes nothing.
    let renamed = ontology.rename("conference", "talk").await.unwrap();
    assert!(!pairs().await.contains(&"gathering talk".into()));
    assert_eq!(distinct().await, ["gathering talk"]);
    ontology.revert(renamed.change.unwrap()).await.unwrap();
    ontology.unmark_distinct("conference", "gathering").await.unwrap();
    assert!(pairs().await.contains(&suggestion));
    let error = ontology.mark_distinct("gathering", "nowhere").await.unwrap_err();
    assert_eq!((error.code(), error.value("tag")), ("tag_unknown", Some("nowhere")));
    // The mark is undone by the log as every change.
    let marked = ontology.mark_distinct("gathering", "conference").await.unwrap();
    ontology.revert(marked.change.unwrap()).await.unwrap();
    assert!(pairs().await.contains(&suggestion) && distinct().await.is_empty());
}

#[tokio::test]
async fn what_is_alike_is_found_and_suggested_as_a_merge() {
    let db = TestDatabase::new().await;
    let htm = filled(&db).await;
    let ontology = htm.ontology(None).unwrap();
    let similar = ontology.similar("databse", 3).await.unwrap();
    assert_eq!(similar[0].tag, "database");
    assert!(similar[0].similarity >= 0.3 && similar.len() > 1, "{similar:?}");
    assert!(ontology.similar("zzz", 3).await.unwrap().is_empty());
    // Swapped letters leave too few trigrams.
    assert_eq!(ontology.similar("wrok", 3).await.unwrap()[0].tag, "work");
    let pairs = ontology.cooccurring(None, &Filter::default(), 2, 10).await.unwrap();
    let of: Vec<String> = pairs.iter().map(|it| format!("{} {} {}", it.tag, it.other, it.nodes)).collect();
    assert_eq!(of[0], "database:postgresql work:meeting 4");
    assert!(of.contains(&"conference gathering 3".into()), "{of:?}");
    assert!(!of.iter().any(|it| it.starts_with("database database:")), "a tag and its child are no pair");
    let beside = ontology.cooccurring(Some("gathering"), &Filter::default(), 2, 10).await.unwrap();
    assert_eq!((beside.len(), beside[0].other.as_str()), (1, "conference"));

    let suggested = ontology.suggest(None, 10).await.unwrap();
    let find = |from: &str| -> Option<&Suggestion> { suggested.iter().find(|it| it.from.as_str() == from) };
    let meeting = find("work:meeting").unwrap();
    assert_eq!((meeting.into.as_str(), meeting.nodes), ("database:postgresql", Some(4.0 / 4.0)));
    assert_eq!(find("gathering").unwrap().into.as_str(), "conference");
    let index = suggested.iter().find(|it| it.from.as_str() == "postgresql-index").unwrap();
    assert!(index.name.is_some_and(|it| it >= 0.5), "{suggested:?}");
    assert!(suggested.windows(2).all(|two| two[0].score() >= two[1].score()));
    let embedder = htm_providers::fake::embedder(Default::default()).unwrap();
    let with_meaning = ontology.suggest(Some(embedder.as_ref()), 100).await.unwrap();
    assert!(with_meaning.len() >= suggested.len());

    let orphans = ontology.orphans(1).await.unwrap();
    assert_eq!(orphans.iter().map(|it| it.tag.tag.as_str()).collect::<Vec<_>>(), ["db"]);
    let few = ontology.orphans(2).await.unwrap();
    let index = few.iter().find(|it| it.tag.tag.as_str() == "postgresql-index").unwrap();
    assert!(index.merge_into.as_ref().is_some_and(|it| it.as_str().contains("postgresql")), "{few:?}");
}

#[tokio::test]
async fn filters_that_no_tag_matches_are_named_with_what_is_near() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    remember(&htm, 1, "text", &["database:postgresql", "food"]).await;
    merge(&htm, &["food"], "database").await;
    let ontology = htm.ontology(None).unwrap();
    let exact = |path: &str| htm_core::TagFilter::Exact(path.parse().unwrap());
    let prefix = |path: &str| htm_core::TagFilter::Prefix(path.parse().unwrap());
    let asked = [
        exact("databse"),
        prefix("database"),
        exact("food:postgresql"),
        prefix("data"),
        exact("database:postgresql"),
        prefix("zzz"),
    ];
    let unmatched = ontology.unmatched(&asked).await.unwrap();
    let found: Vec<&str> = unmatched.iter().map(|it| it.tag.as_str()).collect();
    assert_eq!(found, ["databse", "data", "zzz"]);
    assert_eq!(unmatched[0].nearest[0], "database");
    assert!(unmatched[2].nearest.is_empty());
    assert!(ontology.unmatched(&[]).await.unwrap().is_empty());
    assert_eq!(htm.ontology(Some("other")).unwrap().unmatched(&asked).await.unwrap().len(), 6);
}
