//! The options that choose memories, which several commands share.

use htm_tests::{Sandbox, TestDatabase};
use serde_json::Value;

async fn filled(sandbox: &Sandbox) {
    for line in [
        "--type decision --importance 8 --source adr-7 --tag database --tag ledger|The ledger moves to Postgres.",
        "--type decision --importance 3 --source chat --tag database|The ledger closes at noon.",
        "--type fact --importance 9 --source chat --tag ledger|The ledger has nine books.",
        "--robot ada --tag database|The ledger is green.",
    ] {
        let (options, text) = line.split_once('|').unwrap();
        let arguments: Vec<&str> = options.split(' ').chain([text]).collect();
        sandbox.remember(&arguments).await;
    }
}

fn texts(nodes: &Value) -> Vec<&str> {
    let mut texts: Vec<&str> =
        nodes.as_array().unwrap().iter().map(|node| node["content"].as_str().unwrap()).collect();
    texts.sort_unstable();
    texts
}

#[tokio::test]
async fn every_command_has_the_same_filters() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db).set("HTM_RECALL__STRATEGY", "fulltext");
    filled(&sandbox).await;
    // Everything is in the working memory of one robot.
    sandbox.htm(&["recall", "--as", "reader", "ledger"]).await.succeeds();
    let (books, green, moves, noon) = (
        "The ledger has nine books.",
        "The ledger is green.",
        "The ledger moves to Postgres.",
        "The ledger closes at noon.",
    );
    for (filter, expected) in [
        (&["--type", "decision"][..], vec![noon, moves]),
        (&["--type", "decision", "--type", "fact"], vec![noon, books, moves]),
        (&["--source", "chat"], vec![noon, books]),
        (&["--source", "chat", "--type", "fact"], vec![books]),
        (&["--min-importance", "8"], vec![books, moves]),
        (&["--min-importance", "8.5"], vec![books]),
        (&["--robot", "ada"], vec![green]),
        (&["--tag", "database", "--tag", "ledger"], vec![moves]),
        (&["--exact-tag", "database", "--tag", "ledger", "--any-tag"], vec![noon, books, green, moves]),
        (&["--timeframe", "before 2020"], vec![]),
    ] {
        let ask = async |command: &[&str]| sandbox.htm(&[&["--json"], command, filter].concat()).await.json();
        assert_eq!(texts(&ask(&["recall", "ledger"]).await["hits"]), expected, "{filter:?}");
        let groups = ask(&["timeline"]).await["groups"].take();
        let entries =
            groups.as_array().unwrap().iter().flat_map(|group| group["entries"].as_array().unwrap());
        assert_eq!(texts(&entries.cloned().collect()), expected, "{filter:?}");
        for query in [&[][..], &["ledger"]] {
            let context = ask(&[&["context", "--as", "reader"], query].concat()).await;
            let text = context["text"].as_str().unwrap();
            let mut shown: Vec<&str> = text.split("\n\n").filter(|text| !text.is_empty()).collect();
            shown.sort_unstable();
            assert_eq!(shown, expected, "{filter:?}");
        }
    }
    // The tags of what passes are counted.
    let popular = sandbox.htm(&["tags", "popular", "--type", "decision", "--json"]).await.json();
    let counted: Vec<_> = popular.as_array().unwrap().iter().map(|it| (&it["tag"], &it["nodes"])).collect();
    assert_eq!(counted, [(&"database".into(), &2.into()), (&"ledger".into(), &1.into())]);
    let cooccur = ["tags", "cooccur", "--min", "1", "--json"];
    let pairs = sandbox.htm(&cooccur).await.json();
    assert_eq!(pairs[0]["nodes"], 1);
    let pairs = sandbox.htm(&[&cooccur[..], &["--type", "fact"]].concat()).await.json();
    assert_eq!(pairs, serde_json::json!([]));
}

#[tokio::test]
async fn a_filter_that_cannot_be_is_refused_by_every_command() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    sandbox.remember(&["--robot", "htm", "The ledger is green."]).await;
    let long = "x".repeat(5_000);
    for command in [
        &["recall", "ledger"][..],
        &["timeline"],
        &["context"],
        &["context", "ledger"],
        &["tags", "popular"],
        &["tags", "cooccur"],
    ] {
        for (filter, code) in [
            (["--min-importance", "11"], "importance_out_of_range"),
            (["--min-importance", "-1"], "importance_out_of_range"),
            (["--source", &long], "field_too_long"),
            (["--metadata", "7"], "metadata_not_object"),
            (["--tag", "no:"], "tag_invalid"),
            (["--timeframe", "someday"], "timeframe_invalid"),
        ] {
            sandbox.htm(&[command, &filter].concat()).await.fails(2, code);
        }
    }
}
