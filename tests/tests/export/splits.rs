//! Split tags in an export.

use htm_core::ontology::{ChangeKind, Term};
use htm_core::tag::Leftover;
use htm_tests::TestDatabase;
use serde_json::Value;

use super::{ALL, export, of_kind};

#[tokio::test]
async fn a_split_of_a_split_comes_back_whatever_lines_are_together() {
    let from = TestDatabase::new().await;
    let ontology = from.htm();
    let ontology = ontology.ontology(Some("atlas")).unwrap();
    let term = |tag: &str| Term { tag: tag.into(), description: Some(tag.into()), synonyms: Vec::new() };
    ontology.define(ChangeKind::Add, &[term("performance")]).await.unwrap();
    ontology.split("performance", &[term("slow"), term("capacity")], Leftover::First).await.unwrap();
    ontology.split("slow", &[term("latency"), term("retry")], Leftover::Keep).await.unwrap();
    let exported = export(&from.htm(), ALL, "").await;
    let to = TestDatabase::new().await;
    // Each line is written by itself.
    let mut import = to.htm().importer(1, 1 << 20);
    let mut results = Vec::new();
    for line in &exported {
        results.extend(import.line(line.to_string().as_bytes()).await.unwrap());
    }
    results.extend(import.finish().await.unwrap());
    let refused: Vec<String> =
        results.into_iter().filter_map(|(_, it)| Some(it.err()?.to_string())).collect();
    assert_eq!(refused, [""; 0]);
    let tags = |lines: &[Value]| -> Vec<Value> {
        let tags = of_kind(lines, "tag").into_iter().cloned();
        tags.map(|mut tag| {
            tag.as_object_mut().unwrap().remove("created_at");
            tag
        })
        .collect()
    };
    assert_eq!(tags(&export(&to.htm(), ALL, "").await), tags(&exported));
}
