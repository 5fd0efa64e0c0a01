//! One thing, one tag: names that stay as they are, and plurals of words that only a namespace knows.

use htm_core::{Edit, RecallQuery, Strategy, TagFilter, TimelineQuery};

use super::*;

#[tokio::test]
async fn names_stay_as_they_are_written() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    for (written, stored) in [
        ("school:ines", "school:ines"),
        ("people:james", "people:james"),
        ("friends:lukas", "friend:lukas"),
        ("databases:indexes", "database:index"),
        ("trip:athens", "trip:athens"),
    ] {
        let node = remember(&htm, 1, written, &[written]).await[0];
        assert_eq!(tags_of(&db, node).await, [format!("{stored} manual")]);
    }
}

#[tokio::test]
async fn a_plural_means_the_singular_that_is_in_use_for_who_tags_and_for_who_asks() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let node = remember(&htm, 1, "one", &["zork:gizmo"]).await[0];
    let also = remember(&htm, 1, "two", &["zorks:gizmos", "zork:gizmos:new"]).await[0];
    assert_eq!(tags_of(&db, also).await, ["zork:gizmo manual", "zork:gizmo:new manual"]);
    // By a model, by its other name, elsewhere.
    htm.ontology(None).unwrap().add_synonym("frotz", "zork:gizmo").await.unwrap();
    let nodes = remember(&htm, 1, "three", &["frotzes:old"]).await;
    assert_eq!(tags_of(&db, nodes[0]).await, ["zork:gizmo:old manual"]);
    Says::llm("1")
        .of(&db, "w", |it| if it == node { vec![("zorks:gizmos".into(), 0.5)] } else { vec![] })
        .await;
    assert_eq!(tags_of(&db, node).await, ["zork:gizmo manual"]);
    let memory = Memory::new("elsewhere").namespace("elsewhere").tag("zorks".parse().unwrap());
    let elsewhere = htm.remember(memory).await.unwrap().node;
    assert_eq!(tags_of(&db, elsewhere).await, ["zorks manual"], "a word of another namespace");
    assert_eq!(names(&db).await.iter().filter(|name| name.contains("zorks")).count(), 1);

    let ontology = htm.ontology(None).unwrap();
    assert_eq!(ontology.resolve("Zorks:Gizmos").await.unwrap().as_str(), "zork:gizmo");
    let filter = || TagFilter::Prefix("zorks".parse().unwrap());
    let query = RecallQuery::new("one two").strategy(Strategy::Fulltext).tag(filter());
    assert_eq!(htm.recall(&query).await.unwrap().hits.len(), 2);
    let timeline = TimelineQuery::everything().tag(filter());
    assert_eq!(htm.conversation_timeline(&timeline).await.unwrap().entries.len(), 3);
    assert!(ontology.unmatched(&[filter()]).await.unwrap().is_empty());
    htm.edit(also, &Edit::new().untag("zorks:gizmos".parse().unwrap())).await.unwrap();
    assert_eq!(tags_of(&db, also).await, ["zork:gizmo:new manual"]);
    merge(&htm, &["zorks:gizmos"], "zork").await;
    // Who means the plural says so once.
    add(&htm, "zorks", "Several").await;
    let plural = remember(&htm, 1, "four", &["zorks"]).await[0];
    assert_eq!(tags_of(&db, plural).await, ["zorks manual"]);
    assert_eq!(tags_of(&db, node).await, ["zork manual"]);
}

#[tokio::test]
async fn a_plural_is_looked_up_in_each_namespace_by_its_own_name() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    for (namespace, tag) in [("one", "zork"), ("several", "zorks"), ("both", "zorks"), ("both", "zork")] {
        let memory = Memory::new(format!("a {tag} of {namespace}")).namespace(namespace);
        htm.remember(memory.tag(tag.parse().unwrap())).await.unwrap();
    }
    let filter = TagFilter::Exact("zorks".parse().unwrap());
    let found = async |namespaces: &[&str]| {
        let query = RecallQuery::new("zork zorks").strategy(Strategy::Fulltext).tag(filter.clone());
        let query = namespaces.iter().fold(query, |query, it| query.namespace(*it));
        let mut texts: Vec<String> =
            htm.recall(&query).await.unwrap().hits.into_iter().map(|hit| hit.node.content).collect();
        texts.sort();
        texts
    };
    assert_eq!(found(&["several", "one"]).await, ["a zork of one", "a zorks of several"]);
    assert_eq!(found(&["both", "one"]).await, ["a zork of one", "a zorks of both"]);
}

#[tokio::test]
async fn a_merge_into_what_is_not_there_says_how_to_rename() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    remember(&htm, 1, "text", &["pg", "psql"]).await;
    let ontology = htm.ontology(None).unwrap();
    let error = ontology.merge(&["pg", "psql"], "database:postgresql").await.unwrap_err();
    assert_eq!(error.code(), "tag_unknown");
    assert!(error.to_string().contains("no tag `database:postgresql` to merge into"), "{error}");
    let hint = htm_runtime::commands::hint(&error);
    assert!(hint.contains("`htm tags rename pg database:postgresql --namespace default --yes`"), "{hint}");
    assert!(hint.contains("`htm tags merge psql database:postgresql --namespace default --yes`"), "{hint}");
    assert_eq!(names(&db).await, ["pg", "psql"]);
}
