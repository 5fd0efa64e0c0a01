//! Relations and reading as of an earlier time, over HTTP.

use serde_json::json;

use super::Served;

#[tokio::test]
async fn relations_over_http() {
    let served = Served::new().await;
    for text in ["The ledger runs PostgreSQL 17.", "The ledger runs PostgreSQL 18."] {
        served.post("/v1/memories", json!({"content": text, "robot": "ada"})).await.is(201);
    }
    let path = "/v1/memories/2/relations";
    let body = json!({"kind": "supersedes", "to": 1, "reason": "certified", "robot": "ada"});
    let made = served.post(path, body.clone()).await.is(201);
    assert_eq!((&made["from"], &made["to"], &made["is_new"]), (&2.into(), &1.into(), &true.into()));
    assert_eq!(served.post(path, body).await.is(200)["is_new"], false);
    // The newest statement holds, and back again.
    let reverse = json!({"kind": "supersedes", "to": 2, "robot": "ada"});
    let turned = served.post("/v1/memories/1/relations", reverse).await.is(201);
    assert_eq!((&turned["removed"][0]["from"], &turned["removed"][0]["to"]), (&2.into(), &1.into()));
    let back = json!({"kind": "supersedes", "to": 1, "reason": "certified", "robot": "ada"});
    served.post(path, back).await.is(201);
    served.post("/v1/memories", json!({"content": "It is retired now.", "robot": "bob"})).await.is(201);
    let by_bob = json!({"kind": "supersedes", "to": 2, "robot": "bob"});
    served.post("/v1/memories/3/relations", by_bob).await.is(201);
    let refused =
        served.post("/v1/memories/2/relations", json!({"kind": "supersedes", "to": 3, "robot": "ada"})).await;
    assert_eq!(refused.problem().1, "relation_cycle");
    let hint = "send `any_robot`: true: it removes another robot's relation, 3 supersedes 2";
    assert_eq!(refused.body["hint"], hint);
    let of_any = json!({"kind": "supersedes", "to": 3, "any_robot": true});
    let turned = served.post(path, of_any).await.is(201);
    assert_eq!((&turned["removed"][0]["from"], &turned["removed"][0]["to"]), (&3.into(), &2.into()));
    served.delete(&format!("{path}?kind=supersedes&to=3&robot=ada")).await.is(200);
    let others = json!({"kind": "contradicts", "to": 1, "robot": "bob"});
    assert_eq!(served.post(path, others.clone()).await.problem().1, "not_owner");
    let mut of_any = others;
    of_any["any_robot"] = true.into();
    of_any.as_object_mut().unwrap().remove("robot");
    served.post(path, of_any).await.is(201);

    let related = served.get("/v1/memories/1/relations?kind=superseded_by").await.is(200);
    assert_eq!(
        (&related["related"][0]["node"], &related["related"][0]["made_by"]),
        (&2.into(), &"ada".into())
    );
    assert_eq!(served.get("/v1/memories/1").await.is(200)["superseded_by"][0]["node"], 2);
    let query = json!({"query": "ledger", "strategy": "fulltext"});
    let hits = served.post("/v1/recall", query.clone()).await.is(200)["hits"].clone();
    assert_eq!((&hits[1]["id"], &hits[1]["superseded_by"][0]["reason"]), (&1.into(), &"certified".into()));
    // Where both are hits, the newer one stays at its place.
    let mut follow = query;
    (follow["query"], follow["follow"]) = ("17".into(), true.into());
    let hits = served.post("/v1/recall", follow).await.is(200)["hits"].clone();
    assert_eq!((hits.as_array().unwrap().len(), &hits[0]["followed_from"]["node"]), (1, &1.into()));

    let removal = format!("{path}?kind=supersedes&to=1&robot=ada");
    assert_eq!(served.delete(&removal).await.is(200)["kind"], "supersedes");
    assert_eq!(served.delete(&removal).await.problem().1, "relation_unknown");
    assert!(served.get("/v1/memories/1").await.is(200).get("superseded_by").is_none());
}

#[tokio::test]
async fn a_memory_as_it_stood_over_http() {
    let served = Served::new().await;
    served.post("/v1/memories", json!({"content": "The kettle is red.", "robot": "ada"})).await.is(201);
    let then = served.get("/v1/memories/1").await.is(200)["first_remembered"].as_str().unwrap().to_owned();
    served.patch("/v1/memories/1", json!({"content": "The teapot is blue.", "robot": "ada"})).await.is(200);
    let recalled = served
        .post("/v1/recall", json!({"query": "kettle", "strategy": "fulltext", "as_of": then}))
        .await
        .is(200);
    assert_eq!(recalled["hits"][0]["content"], "The kettle is red.");
    assert_eq!(recalled["as_of"]["former_texts"], 1);
    assert!(recalled["as_of"]["warning"].as_str().unwrap().contains("purged or erased"));
    let simply = format!("/v1/recall?q=kettle&strategy=fulltext&as_of={then}");
    assert_eq!(served.get(&simply).await.is(200)["hits"][0]["revision"], 1);
    assert_eq!(
        served.get(&format!("/v1/memories/1?as_of={then}")).await.is(200)["content"],
        "The kettle is red."
    );
    let timeline = served.post("/v1/timeline", json!({"as_of": then})).await.is(200);
    assert_eq!(timeline["entries"][0]["content"], "The kettle is red.");
    assert_eq!(served.get("/v1/memories/1?as_of=2020-01-01").await.problem(), (404, "node_not_found"));
    assert_eq!(served.get("/v1/memories/1?as_of=soon").await.problem().1, "timeframe_invalid");
    let endless = served.get("/v1/memories/1?as_of=before%202020").await;
    assert_eq!(endless.problem(), (422, "time_without_beginning"));
}
