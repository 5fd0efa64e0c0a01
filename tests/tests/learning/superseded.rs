//! Superseded hits: what is judged, and at which place, is what was seen.

use htm_core::worker::learning;
use htm_core::{Caller, Htm, Memory, NodeId, RecallQuery, RelationKind};
use htm_tests::TestDatabase;

use super::{judge, nodes, on, recall, with_learning};

async fn supersede(htm: &Htm, old: NodeId, new: NodeId) {
    htm.relate(new, RelationKind::Supersedes, old, None, &Caller::Handle).await.unwrap();
}

/// The hits of the only judged recall, as they are kept.
async fn kept(db: &TestDatabase) -> Vec<NodeId> {
    let sql = "select node_id from htm.recall_candidates where shown is not null order by shown";
    let nodes: Vec<i64> = sqlx::query_scalar(sql).fetch_all(&db.pool).await.unwrap();
    nodes.into_iter().map(NodeId).collect()
}

#[tokio::test]
async fn a_superseded_hit_is_kept_at_the_place_where_it_was_seen() {
    let (db, htm) = with_learning(on()).await;
    let before = nodes(&recall(&htm).await);
    supersede(&htm, before[0], before[2]).await;
    let recalled = recall(&htm).await;
    let hits = nodes(&recalled);
    assert_ne!(hits[0], before[0]);
    judge(&htm, &recalled, &hits[..1], &[]).await;
    assert_eq!(kept(&db).await, hits);
}

#[tokio::test]
async fn a_verdict_on_a_successor_counts_for_the_memory_that_was_found() {
    let (db, htm) = with_learning(on()).await;
    let found = nodes(&recall(&htm).await)[0];
    let successor = htm.remember(Memory::new("Nothing runs out of space now.")).await.unwrap().node;
    supersede(&htm, found, successor).await;
    let query = RecallQuery { follow: true, ..RecallQuery::new("which disk was full on host 3").limit(5) };
    let recalled = htm.recall(&query).await.unwrap();
    let hits = nodes(&recalled);
    assert!(hits.contains(&successor) && !hits.contains(&found), "{hits:?}");
    let receipt = judge(&htm, &recalled, &[successor], &[]).await;
    assert_eq!((receipt.used, receipt.not_considered), (1, vec![]));
    assert_eq!(kept(&db).await, hits);

    let evidence = learning::evidence(&db.pool, "default").await.unwrap();
    let of = |node: NodeId| evidence.recalls[0].candidates.iter().find(|it| it.node == node).unwrap();
    assert_eq!((of(successor).is_used, of(found).is_used), (Some(true), None));
    assert_eq!(of(successor).features, of(found).features);
    // The text of the query may quote the one that was found: its erasure has to meet the recall.
    assert_eq!(of(found).shown, None);
}
