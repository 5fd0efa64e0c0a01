//! Recall by tags: filters, what is preferred, the tags of the hits, and all of a topic.

use htm_core::{
    Filter, Htm, Memory, RecallQuery, RelevanceWeights, Strategy, TagFilter, TagPath, TimelineQuery,
};
use htm_tests::TestDatabase;

fn tag(path: &str) -> TagPath {
    path.parse().unwrap()
}

fn tagged(text: &str, tags: &[&str]) -> Memory {
    let mut memory = Memory::new(text);
    memory.tags = tags.iter().map(|path| tag(path)).collect();
    memory
}

/// As a rename leaves it.
async fn rename_to_synonym(db: &TestDatabase, former: &str, path: &str) {
    sqlx::query(
        "insert into htm.tag_synonyms (namespace, path, tag_id)
         select 'default', $1, id from htm.tags where namespace = 'default' and path = $2",
    )
    .bind(former)
    .bind(path)
    .execute(&db.pool)
    .await
    .unwrap();
}

#[tokio::test]
async fn tags_are_stored_in_one_form_with_those_above_them() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let node = htm
        .remember(tagged("indexes", &["databases:postgresql:indexes", "database:postgresql:index"]))
        .await
        .unwrap()
        .node;
    assert_eq!(htm.get(node).await.unwrap().tags, [tag("database:postgresql:index")]);
    let paths: Vec<String> =
        sqlx::query_scalar("select path from htm.tags order by path").fetch_all(&db.pool).await.unwrap();
    assert_eq!(paths, ["database", "database:postgresql", "database:postgresql:index"]);
    let error = htm.remember(tagged("again and again", &["a:b:a"])).await.unwrap_err();
    assert_eq!((error.code(), error.to_string().contains("`a` comes twice")), ("tag_invalid", true));
    assert_eq!(db.count("select count(*) from htm.nodes").await, 1);
}

#[tokio::test]
async fn a_former_name_means_the_tag_for_who_writes_and_who_asks() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    htm.remember(tagged("first", &["database:postgresql"])).await.unwrap();
    rename_to_synonym(&db, "db", "database").await;
    let node = htm.remember(tagged("second", &["db:sqlite", "db"])).await.unwrap().node;
    assert_eq!(htm.get(node).await.unwrap().tags, [tag("database"), tag("database:sqlite")]);
    let found = htm.latest(&Filter::default().tag(TagFilter::Prefix(tag("db"))), 10).await.unwrap();
    assert_eq!(found.len(), 2);
    for filter in [TagFilter::Exact(tag("db:sqlite")), TagFilter::Prefix(tag("database:sqlite"))] {
        let query = RecallQuery::new("second").strategy(Strategy::Fulltext).tag(filter);
        assert_eq!(htm.recall(&query).await.unwrap().hits.len(), 1);
    }
    let edit = htm_core::Edit::default().untag(tag("db"));
    htm.edit(node, &edit).await.unwrap();
    assert_eq!(htm.get(node).await.unwrap().tags, [tag("database:sqlite")]);
}

#[tokio::test]
async fn what_has_the_tags_asked_for_comes_first_and_nothing_is_left_out() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let texts = [
        ("slow slow slow query", vec!["cooking"]),
        ("a slow query of the orders", vec!["database:postgresql", "performance"]),
        ("a slow query of the customers", vec!["database:sqlite"]),
    ];
    for (text, tags) in &texts {
        htm.remember(tagged(text, tags)).await.unwrap();
    }
    let base = RecallQuery::new("slow query").strategy(Strategy::Fulltext);
    let plain = htm.recall(&base).await.unwrap();
    assert_eq!(plain.hits[0].node.content, texts[0].0);
    assert_eq!((plain.hits[0].scores.tags, plain.hits[0].scores.relevance), (None, None));
    let boosted =
        base.clone().boost(TagFilter::Prefix(tag("database"))).boost(TagFilter::Exact(tag("performance")));
    let recalled = htm.recall(&boosted).await.unwrap();
    let order: Vec<_> =
        recalled.hits.iter().map(|hit| (hit.node.content.as_str(), hit.scores.tags)).collect();
    assert_eq!(order, [(texts[1].0, Some(1.0)), (texts[2].0, Some(0.5)), (texts[0].0, Some(0.0))]);
    let relevance: Vec<f64> = recalled.hits.iter().map(|hit| hit.scores.relevance.unwrap()).collect();
    assert!(relevance.is_sorted_by(|a, b| a >= b) && relevance[0] - relevance[2] > 0.29, "{relevance:?}");
    // The best is chosen from all candidates, not from the best scores alone.
    let one = htm.recall(&boosted.clone().limit(1)).await.unwrap();
    assert_eq!(one.hits[0].node.content, texts[1].0);
    let mut settings = htm.settings().clone();
    settings.recall.relevance = RelevanceWeights { tags: 0.9, ..RelevanceWeights::default() };
    let error = Htm::with_pool(db.pool.clone(), settings, None).recall(&boosted).await.unwrap_err();
    assert_eq!(error.code(), "relevance_weights_invalid");
}

#[tokio::test]
async fn what_has_a_boosted_tag_is_a_candidate_though_nothing_else_brings_it() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    for (text, tags) in [
        ("a slow query of the orders", vec!["cooking"]),
        ("vacuum runs at night", vec!["database:postgresql"]),
        ("bread and butter", vec!["food"]),
    ] {
        htm.remember(tagged(text, &tags)).await.unwrap();
    }
    let elsewhere =
        Memory { namespace: Some("home".into()), ..tagged("vacuum at home", &["database:postgresql"]) };
    htm.remember(elsewhere).await.unwrap();
    let forgotten = htm.remember(tagged("an index", &["database"])).await.unwrap().node;
    htm.forget(forgotten, &htm_core::Caller::AnyRobot, htm_core::Confirmation::Confirmed).await.unwrap();
    let query = RecallQuery::new("slow query").strategy(Strategy::Fulltext);
    assert_eq!(htm.recall(&query).await.unwrap().hits.len(), 1);
    let boosted = query.boost(TagFilter::Prefix(tag("database")));
    let hits = htm.recall(&boosted).await.unwrap().hits;
    let found: Vec<_> = hits.iter().map(|hit| (&hit.node.content[..], hit.matched_by.to_string())).collect();
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found.contains(&("vacuum runs at night", "tag".into())), "{found:?}");
    assert!(found.contains(&("a slow query of the orders", "text".into())), "{found:?}");
    // Filters hold for it, also those of the query's text.
    let cooking = boosted.clone().tag(TagFilter::Exact(tag("cooking")));
    assert_eq!(htm.recall(&cooking).await.unwrap().hits.len(), 1);
    let without = RecallQuery { text: "slow query -night".into(), ..boosted };
    assert_eq!(htm.recall(&without).await.unwrap().hits.len(), 1);
}

#[tokio::test]
async fn the_tags_of_the_hits_are_counted() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    htm.remember(tagged("bread one", &["cooking", "home"])).await.unwrap();
    htm.remember(tagged("bread two", &["cooking"])).await.unwrap();
    htm.remember(tagged("bread three", &[])).await.unwrap();
    htm.remember(tagged("wine", &["cellar"])).await.unwrap();
    let recalled = htm.recall(&RecallQuery::new("bread").strategy(Strategy::Fulltext)).await.unwrap();
    let facets: Vec<_> = recalled.facets.iter().map(|facet| (facet.tag.as_str(), facet.hits)).collect();
    assert_eq!(facets, [("cooking", 2), ("home", 1)]);
}

#[tokio::test]
async fn a_topic_is_found_the_latest_first_however_large_it_is() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    // More than are read whole, so that both ways are taken.
    htm.remember(tagged("note 0", &["note:daily"])).await.unwrap();
    sqlx::raw_sql(
        "insert into htm.nodes (namespace, robot_id, content, content_hash, token_count, token_encoding, created_at)
         select namespace, robot_id, 'note ' || g, sha256(g::text::bytea), token_count, token_encoding, created_at
           from htm.nodes, generate_series(1, 20100) g;
         insert into htm.node_tags (namespace, node_id, tag_id, origin)
         select n.namespace, n.id, t.id, 'llm' from htm.nodes n, htm.tags t where t.path = 'note:daily'
         on conflict do nothing;
         analyze htm.nodes; analyze htm.node_tags",
    )
    .execute(&db.pool)
    .await
    .unwrap();
    let day = |day: u32| format!("2030-03-{day:02}T12:00:00Z").parse().unwrap();
    for (text, at, tags) in [
        ("one", day(1), vec!["rare:a", "note:daily"]),
        ("three", day(3), vec!["rare:b"]),
        ("two", day(2), vec!["rare", "note"]),
        ("elsewhere", day(4), vec!["rarely"]),
    ] {
        htm.remember(tagged(text, &tags).at(at)).await.unwrap();
    }
    let find = |filter| {
        let htm = htm.clone();
        async move {
            let nodes = htm.latest(&Filter::default().tag(filter), 3).await.unwrap();
            nodes.into_iter().map(|node| node.content).collect::<Vec<_>>()
        }
    };
    assert_eq!(find(TagFilter::Prefix(tag("rare"))).await, ["three", "two", "one"]);
    assert_eq!(find(TagFilter::Exact(tag("rare"))).await, ["two"]);
    assert_eq!(find(TagFilter::Prefix(tag("note"))).await, ["two", "one", "note 20100"]);
    assert!(find(TagFilter::Prefix(tag("rar"))).await.is_empty());
    let timeline = |query: TimelineQuery| {
        let htm = htm.clone();
        async move {
            let timeline = htm.conversation_timeline(&query).await.unwrap();
            timeline.entries.into_iter().map(|entry| entry.node.content).collect::<Vec<_>>()
        }
    };
    let both =
        TimelineQuery::everything().tag(TagFilter::Prefix(tag("rare"))).tag(TagFilter::Prefix(tag("note")));
    assert_eq!(timeline(both.clone()).await, ["one", "two"]);
    // From the rarest on, however many the others have: those that meet, and those that never do.
    let exact = |path: &str| TagFilter::Exact(tag(path));
    let of =
        |tags: &[&str]| tags.iter().fold(TimelineQuery::everything(), |query, path| query.tag(exact(path)));
    assert_eq!(timeline(of(&["note:daily", "rare:a"])).await, ["one"]);
    assert!(timeline(of(&["note:daily", "rare"])).await.is_empty());
    assert!(timeline(of(&["note:daily", "nothing"])).await.is_empty());
    assert!(timeline(of(&["note:daily", "rare:a", "rare:b"])).await.is_empty());
    assert_eq!(timeline(of(&["note:daily", "note:daily"]).limit(1)).await, ["one"]);
    let mut any = both.limit(3);
    any.filter.any_tag = true;
    assert_eq!(timeline(any).await, ["one", "two", "three"]);
    let error = htm.latest(&Filter::default(), 0).await.unwrap_err();
    assert_eq!(error.code(), "limit_out_of_range");
}
