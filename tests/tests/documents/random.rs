//! Random texts that replace one another: after each load the memory has the document as it is, and no more.

use htm_core::{Caller, LoadOutcome};
use htm_tests::TestDatabase;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use super::{document, passages};

fn versions() -> impl Strategy<Value = Vec<Vec<usize>>> {
    prop::collection::vec(prop::collection::vec(0_usize..6, 1..9), 1..6)
}

/// A text of sections, of which some are the same.
fn text(sections: &[usize]) -> String {
    sections.iter().map(|number| format!("# Part {number}\n\nText of part {number}.\n\n")).collect()
}

#[tokio::test]
async fn the_memory_has_what_the_last_load_had() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let mut runner = TestRunner::deterministic();
    for round in 0..12 {
        let path = format!("{round}.md");
        let versions = versions().new_tree(&mut runner).unwrap().current();
        let mut before: Vec<htm_core::Node> = Vec::new();
        for sections in versions {
            let document = document(&path, &text(&sections));
            let planned = htm.plan_document(&document, &Caller::Handle).await.unwrap();
            let loaded = htm.load_document(&document, &Caller::Handle).await.unwrap();
            assert_eq!(planned, loaded);
            let after = passages(&htm, &path).await;
            let expected: Vec<&str> = document.passages.iter().map(|it| it.content.as_str()).collect();
            assert_eq!(after.iter().map(|it| it.content.as_str()).collect::<Vec<_>>(), expected);
            assert_eq!(
                after.iter().filter_map(|it| it.seq).collect::<Vec<_>>(),
                (0..after.len() as i32).collect::<Vec<_>>()
            );
            let is_kept = |node: &&htm_core::Node| before.iter().any(|it| it.id == node.id);
            let kept = after.iter().filter(is_kept).count() as u64;
            assert_eq!(loaded.kept, kept);
            assert_eq!(loaded.written + kept, after.len() as u64);
            if loaded.outcome != LoadOutcome::Unchanged {
                assert_eq!(loaded.forgotten, before.len() as u64 - kept);
            }
            // As many as possible are kept: each text as often as both have it.
            let often =
                |nodes: &[htm_core::Node], text: &str| nodes.iter().filter(|it| it.content == text).count();
            let mut all: Vec<&str> = expected.clone();
            all.sort_unstable();
            all.dedup();
            let possible: usize = all.iter().map(|text| often(&before, text).min(often(&after, text))).sum();
            assert_eq!(kept, possible as u64);
            before = after;
        }
    }
}
