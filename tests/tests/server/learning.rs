//! Learning over HTTP: settings, feedback, rankings.

use htm_core::ranking::Learnt;
use htm_core::{RankingFigures, Stage};
use htm_tests::drain;
use serde_json::json;

use super::Served;

#[tokio::test]
async fn feedback_and_rankings_over_http() {
    let served = Served::new().await;
    for place in 0..4 {
        served.remember(&format!("The disk of host {place} was full.")).await;
    }
    drain(&served.db, Stage::Embed).await;
    let ask = json!({"query": "which disk was full", "limit": 2});
    let recalled = served.post("/v1/recall", ask.clone()).await.is(200);
    assert!(recalled["recall_id"].is_null() && recalled["ranking"]["version"] == 0);

    let set = json!({"is_on": true, "least": 20, "signals": ["read"]});
    let state = served.put("/v1/learning", set).await.is(200);
    assert_eq!((&state["settings"]["keep_days"], &state["learns_at"]), (&90.into(), &20.into()));
    assert_eq!(
        served.put("/v1/learning", json!({"is_on": true, "least": 3})).await.problem().1,
        "learning_invalid"
    );
    let recalled = served.post("/v1/recall", ask.clone()).await.is(200);
    let id = recalled["recall_id"].as_str().unwrap();
    let hits: Vec<i64> =
        recalled["hits"].as_array().unwrap().iter().map(|hit| hit["id"].as_i64().unwrap()).collect();
    let path = format!("/v1/recalls/{id}/feedback");
    let receipt = served.post(&path, json!({"used": hits[..1], "useless": hits[1..]})).await.is(200);
    assert_eq!(
        (&receipt["used"], &receipt["useless"], &receipt["judged"]),
        (&1.into(), &1.into(), &1.into())
    );
    assert_eq!(served.post(&path, json!({})).await.problem().1, "feedback_invalid");
    let other = "/v1/recalls/01M8AGE71K3WB1C51X48ZE4G8H/feedback";
    assert_eq!(served.post(other, json!({"used": hits})).await.problem(), (404, "recall_unknown"));
    served.get(&format!("/v1/memories/{}", hits[1])).await.is(200);
    assert_eq!(served.db.count("select count(*) from htm.feedback where signal = 'read'").await, 1);

    assert_eq!(served.get("/v1/rankings").await.is(200)["active"], 0);
    assert_eq!(served.get("/v1/rankings/1").await.problem(), (404, "ranking_unknown"));
    sqlx::query(
        "insert into htm.rankings (namespace, version, learnt, figures, adopted, reason)
         select namespace, 1, $1, $2, false, 'the gain may be by chance' from htm.learning",
    )
    .bind(sqlx::types::Json(Learnt::default_ranking()))
    .bind(sqlx::types::Json(RankingFigures { judged: 40, ..RankingFigures::default() }))
    .execute(&served.db.pool)
    .await
    .unwrap();
    let shown = served.get("/v1/rankings/1").await.is(200);
    assert_eq!((&shown["is_active"], &shown["figures"]["judged"]), (&false.into(), &40.into()));
    let trial = json!({"version": 1, "kind": "shadow"});
    assert_eq!(served.put("/v1/rankings/trial", trial).await.is(200)["trial"]["version"], 1);
    let compared = served.get("/v1/rankings/1/comparison").await.is(200);
    assert_eq!(compared["verdict"], "nothing is known yet");
    let active = served.post("/v1/rankings/activate", json!({"version": 1})).await.is(200);
    assert_eq!((&active["active"], &active["trial"]), (&1.into(), &json!(null)));
    assert_eq!(served.post("/v1/recall", ask).await.is(200)["ranking"]["version"], 1);
    assert_eq!(served.post("/v1/rankings/revert", json!({})).await.is(200)["active"], 0);
}
