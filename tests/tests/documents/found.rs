//! Passages as hits: folded by document, with their neighbours, filtered by their document.

use htm_core::{Filter, RecallQuery, Stage};
use htm_tests::{TestDatabase, drain};

use super::{GUIDE, load, passages};

#[tokio::test]
async fn the_passages_of_a_document_are_one_hit() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    load(&htm, "a.md", GUIDE).await;
    load(&htm, "b.md", &GUIDE.replace("The guide", "The book")).await;
    drain(&db, Stage::Embed).await;
    let query = RecallQuery::new("zeppelin airships mooring fuel").limit(20);
    let plain = htm.recall(&query).await.unwrap();
    assert_eq!(plain.hits.len(), 6);
    let folded = htm.recall(&RecallQuery { fold_documents: true, ..query }).await.unwrap();
    assert_eq!(folded.hits.iter().map(|hit| hit.folded.len()).collect::<Vec<_>>(), [2, 2]);
    assert_eq!(folded.hits[0].node.id, plain.hits[0].node.id, "the best passage stands for its document");
}

#[tokio::test]
async fn a_hit_brings_its_neighbours() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    load(&htm, "a.md", GUIDE).await;
    let nodes = passages(&htm, "a.md").await;
    let query = RecallQuery { neighbours: 1, ..RecallQuery::new("\"mast holds\"") };
    let recalled = htm.recall(&query).await.unwrap();
    let hit = &recalled.hits[0];
    assert_eq!((hit.before[0].id, hit.after[0].id), (nodes[0].id, nodes[2].id));
    let json = serde_json::to_value(hit).unwrap();
    assert_eq!(json["before"][0]["session"], "a.md");
    let none = htm.recall(&RecallQuery::new("\"mast holds\"")).await.unwrap();
    assert!(serde_json::to_value(&none.hits[0]).unwrap().get("before").is_none());
    let too_many = htm.recall(&RecallQuery { neighbours: 11, ..RecallQuery::new("mast") }).await.unwrap_err();
    assert_eq!(too_many.code(), "limit_out_of_range");
}

#[tokio::test]
async fn a_document_can_be_searched_alone() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    load(&htm, "a.md", GUIDE).await;
    load(&htm, "b.md", GUIDE).await;
    let query = RecallQuery::new("mast").filter(Filter::default().session("b.md"));
    let recalled = htm.recall(&query).await.unwrap();
    assert!(!recalled.hits.is_empty());
    assert!(recalled.hits.iter().all(|hit| hit.node.passage().unwrap().path == "b.md"), "{recalled:?}");
}
