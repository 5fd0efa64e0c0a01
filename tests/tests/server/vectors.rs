//! Vectors that callers bring, over HTTP.

use serde_json::json;

use super::Served;

#[tokio::test]
async fn a_caller_brings_its_vectors() {
    let served = Served::new().await;
    let model = json!({"name": "mine", "dimensions": 3});
    let added = served.post("/v1/models", model.clone()).await.is(200);
    assert_eq!(
        (&added["label"], &added["state"], &added["queue"]),
        (&json!("caller/mine"), &json!("active"), &json!(null))
    );
    assert_eq!(served.post("/v1/models", model).await.is(200)["id"], added["id"]);
    for wrong in [
        json!({"name": " ", "dimensions": 3}),
        json!({"name": "x", "dimensions": 0}),
        json!({"name": "x", "dimensions": 4001}),
    ] {
        assert_eq!(served.post("/v1/models", wrong).await.problem(), (400, "body_invalid"));
    }
    let memory = json!({"content": "Mara prefers tabs.", "vectors": {"caller/mine": [1, 0, 0]}});
    let first = served.post("/v1/memories", memory).await.is(201)["node"].clone();
    let second = served.remember("Staging is on port 5433.").await;
    assert_eq!(
        served.get(&format!("/v1/memories/{second}/status")).await.is(200)["stages"][0]["state"],
        "awaited"
    );
    let path = format!("/v1/memories/{second}/vector");
    let vector = json!({"model": "caller/mine", "revision": 1, "vector": [0, 1, 0]});
    assert_eq!(
        served.put(&path, vector).await.is(200),
        json!({"node": second, "revision": 1, "model": "caller/mine"})
    );
    let late = json!({"model": "caller/mine", "revision": 2, "vector": [0, 1, 0]});
    assert_eq!(served.put(&path, late).await.problem(), (409, "revision_conflict"));
    let short = json!({"model": "caller/mine", "revision": 1, "vector": [1]});
    assert_eq!(served.put(&path, short).await.problem(), (422, "vector_unfit"));

    let query = json!({"strategy": "vector", "vector": [0.1, 0.9, 0]});
    let found = served.post("/v1/recall", query).await.is(200);
    assert_eq!((&found["hits"][0]["id"], &found["hits"][1]["id"]), (&json!(second), &first), "{found}");
    assert_eq!(
        served.post("/v1/recall", json!({"vector": [0.1, 0.9, 0]})).await.problem(),
        (422, "content_empty")
    );
    let words = served.post("/v1/recall", json!({"query": "tabs"})).await.is(200);
    assert_eq!(
        (&words["hits"][0]["id"], &words["degraded"][0]["code"]),
        (&first, &json!("model_of_callers"))
    );
    let metrics = served.get("/metrics").await.text;
    assert!(metrics.contains("htm_recall_degraded_total{step=\"vector\"} 1\n"), "{metrics}");
    assert_eq!(served.get("/v1/models").await.is(200)[0]["queue"], json!(null));
    assert_eq!(served.db.count("select count(*) from apalis.jobs where job_type <> 'htm.tag'").await, 0);
}
