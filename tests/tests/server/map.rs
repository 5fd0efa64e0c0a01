//! The map of memories.

use htm_core::{Memory, Stage};
use htm_tests::drain;
use serde_json::{Value, json};

use super::Served;

#[tokio::test]
async fn a_map_places_a_sample_of_what_is_embedded() {
    let served = Served::new().await;
    let empty = served.post("/v1/map", json!({})).await.is(200);
    assert_eq!(
        empty,
        json!({
            "model": null, "memories": 0, "embedded": 0, "variance_x": 0.0, "variance_y": 0.0, "points": [],
        })
    );

    let htm = served.db.htm();
    let note = |at: usize| {
        let (text, tag) = match at % 2 {
            0 => (format!("bread and butter for breakfast, day {at}"), "food:bread"),
            _ => (format!("the train over the bridge is late, day {at}"), "travel:train"),
        };
        Memory::new(text).robot("ada").tag(tag.parse().unwrap())
    };
    let notes: Vec<Memory> = (0..40).map(note).collect();
    htm.remember_many(&notes).await.unwrap();
    drain(&served.db, Stage::Embed).await;
    htm.remember_many(&[note(40)]).await.unwrap();

    let map = served.post("/v1/map", json!({})).await.is(200);
    assert_eq!((&map["memories"], &map["embedded"]), (&json!(41), &json!(40)));
    let points = map["points"].as_array().unwrap();
    assert_eq!(points.len(), 40);
    let of = |topic: &str| -> Vec<f64> {
        let with = points.iter().filter(|point| point["topics"] == json!([topic]));
        with.map(|point| point["x"].as_f64().unwrap()).collect()
    };
    let (food, travel) = (of("food"), of("travel"));
    assert_eq!((food.len(), travel.len()), (20, 20));
    // Vectors of the two texts differ most in the words that they do not share.
    assert!(food.iter().all(|x| x.signum() == food[0].signum()), "{food:?}");
    assert!(travel.iter().all(|x| x.signum() == -food[0].signum()), "{travel:?}");
    assert_eq!(points[0]["excerpt"], "bread and butter for breakfast, day 0");
    assert_eq!(points[0]["robot"], "ada");

    let some = async |body: Value| -> Vec<i64> {
        let map = served.post("/v1/map", body).await.is(200);
        map["points"].as_array().unwrap().iter().map(|point| point["node"].as_i64().unwrap()).collect()
    };
    let sampled = some(json!({"limit": 7})).await;
    assert_eq!(sampled.len(), 7);
    assert_eq!(some(json!({"limit": 7})).await, sampled, "the same sample each time");
    let food = some(json!({"filter": {"tags": ["food"]}})).await;
    assert_eq!(food.len(), 20);
    assert!(some(json!({"filter": {"namespaces": ["elsewhere"]}})).await.is_empty());
    for limit in [0, 5_001] {
        assert_eq!(
            served.post("/v1/map", json!({"limit": limit})).await.problem(),
            (422, "limit_out_of_range")
        );
    }
}
