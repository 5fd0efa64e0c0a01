//! Relations and reading as of an earlier time, on the command line.

use htm_tests::{Sandbox, TestDatabase};

use crate::filtered;

#[tokio::test]
async fn a_superseded_memory_for_people_and_programs() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    for text in ["The ledger runs PostgreSQL 17.", "The ledger runs PostgreSQL 18.", "Mara prefers tabs."] {
        sandbox.htm(&["remember", "--at", "2026-03-01", text]).await.succeeds();
    }
    let reason = ["--reason", "the vendor certified 18"];
    let relate = [&["relate", "2", "supersedes", "1"], &reason[..]].concat();
    let related = sandbox.htm(&relate).await;
    assert_eq!(related.succeeds(), "node 2 supersedes node 1: the vendor certified 18\n");
    assert_eq!(
        sandbox.htm(&["relate", "2", "supersedes", "1"]).await.succeeds(),
        "node 2 supersedes node 1: the vendor certified 18; it was set before, and nothing has changed\n"
    );
    sandbox.htm(&["relate", "3", "contradicts", "1"]).await.succeeds();
    let turned = sandbox.htm(&["relate", "1", "supersedes", "2"]).await;
    assert_eq!(
        turned.succeeds(),
        "node 1 supersedes node 2\nremoved: node 2 supersedes node 1: the vendor certified 18\n"
    );
    sandbox.htm(&relate).await.succeeds();
    sandbox.htm(&["remember", "--robot", "bob", "Bob drinks tea."]).await.succeeds();
    sandbox.htm(&["relate", "4", "supersedes", "1", "--robot", "bob"]).await.succeeds();
    let circle = sandbox.htm(&["relate", "1", "supersedes", "4"]).await;
    let hint = "add `--any-robot`: it removes another robot's relation, 4 supersedes 1";
    assert!(circle.fails(2, "relation_cycle").contains(hint), "{circle:?}");
    let turned = sandbox.htm(&["relate", "1", "supersedes", "4", "--any-robot"]).await;
    assert_eq!(turned.succeeds(), "node 1 supersedes node 4\nremoved: node 4 supersedes node 1\n");
    sandbox.htm(&["unrelate", "1", "supersedes", "4"]).await.succeeds();
    for (kind, hint) in [("replaces", "give `supersedes` or `contradicts`"), ("superseded_by", "way round")] {
        let refused = sandbox.htm(&["relate", "1", kind, "2"]).await;
        assert!(refused.exits(2).stderr.contains(hint), "{refused:?}");
    }
    sandbox.htm(&["unrelate", "3", "supersedes", "1"]).await.fails(2, "relation_unknown");

    let listed = sandbox.htm(&["related", "1", "--kind", "superseded_by", "--json"]).await.json();
    assert_eq!(
        (&listed["related"][0]["node"], &listed["related"][0]["by"]),
        (&2.into(), &"superseded_by".into())
    );
    let elsewhere = ["related", "1", "--namespace", "elsewhere"];
    sandbox.htm(&elsewhere).await.fails(2, "node_not_found");
    let listed = filtered(sandbox.htm(&["related", "1", "--namespace", "default"]).await.succeeds());
    assert!(listed.contains("superseded_by") && listed.contains("the vendor certified 18; by "), "{listed}");
    assert!(listed.contains("contradicts") && listed.contains("not searched: near-duplicates"), "{listed}");

    let words = ["--strategy", "fulltext", "ledger"];
    let recalled = sandbox.htm(&[&["recall"], &words[..]].concat()).await;
    let line = "superseded by node 2, 2026-03-01: The ledger runs PostgreSQL 18. (the vendor certified 18)";
    assert!(recalled.succeeds().contains(line), "{recalled:?}");
    let recalled = sandbox.htm(&[&["recall", "--json"], &words[..]].concat()).await.json();
    assert_eq!(recalled["hits"][1]["superseded_by"][0]["node"], 2);
    let words = ["--strategy", "fulltext", "17"];
    let followed = sandbox.htm(&[&["recall", "--follow"], &words[..]].concat()).await;
    assert!(
        followed.succeeds().contains("in place of node 1, which it supersedes: The ledger"),
        "{followed:?}"
    );
    assert!(sandbox.htm(&["timeline"]).await.succeeds().contains(line));
    assert!(sandbox.htm(&["get", "1"]).await.succeeds().contains("by node 2, 2026-03-01"));
    let removed = sandbox.htm(&["unrelate", "2", "supersedes", "1"]).await;
    assert_eq!(removed.succeeds(), "removed: node 2 supersedes node 1: the vendor certified 18\n");
}

#[tokio::test]
async fn a_memory_as_it_stood() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    sandbox.htm(&["remember", "The kettle is red."]).await.succeeds();
    let then: String = sqlx::query_scalar(
        "select to_char(clock_timestamp() at time zone 'utc', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')",
    )
    .fetch_one(&db.pool)
    .await
    .unwrap();
    sandbox.htm(&["edit", "1", "The teapot is blue."]).await.succeeds();
    let recall = ["recall", "--strategy", "fulltext", "--as-of", &then, "kettle"];
    let recalled = sandbox.htm(&recall).await;
    let text = recalled.succeeds();
    assert!(
        text.contains("The kettle is red.") && text.contains("purged or erased since are not known"),
        "{text}"
    );
    let recalled = sandbox.htm(&[&recall[..], &["--json"]].concat()).await.json();
    assert_eq!(
        (&recalled["as_of"]["former_texts"], &recalled["hits"][0]["revision"]),
        (&1.into(), &1.into())
    );
    assert!(sandbox.htm(&["get", "1", "--as-of", &then]).await.succeeds().ends_with("The kettle is red.\n"));
    let timeline = sandbox.htm(&["timeline", "--as-of", &then]).await;
    assert!(timeline.succeeds().contains("The kettle is red."), "{timeline:?}");
    sandbox.htm(&["get", "1", "--as-of", "2020-01-01"]).await.fails(2, "node_not_found");
    sandbox.htm(&["recall", "--as-of", "2999-01-01", "kettle"]).await.fails(2, "time_in_future");
    sandbox.htm(&["recall", "--as-of", "before 2020", "kettle"]).await.exits(2);
}
