//! Erasing over HTTP: roles, receipts, kept answers, and exports in progress.

use htm_core::{NewApiKey, Role};
use htm_tests::wait_until;
use reqwest::Method;
use serde_json::json;

use super::Served;

#[tokio::test]
async fn a_memory_is_erased_with_a_receipt() {
    let served = Served::new().await;
    let node = served.remember("The zeppelin is due.").await;
    let path = format!("/v1/memories/{node}");
    assert_eq!(served.delete(&format!("{path}?erase=true")).await.problem(), (409, "not_confirmed"));
    let receipt = served.delete(&format!("{path}?erase=true&confirm=true")).await.is(200);
    assert_eq!((&receipt["kind"], &receipt["erased"]), (&json!("memories"), &json!(1)), "{receipt}");
    assert!(receipt["ended_at"].is_string() && !receipt.to_string().contains("zeppelin"), "{receipt}");
    assert_eq!(served.get(&path).await.problem(), (404, "node_not_found"));
    assert_eq!(
        served.delete(&format!("{path}?erase=true&confirm=true")).await.problem(),
        (404, "node_not_found")
    );
    let erasure = format!("/v1/erasures/{}", receipt["id"]);
    // The vacuum comes after the answer.
    wait_until(async || served.get(&erasure).await.is(200)["vacuum"].is_object()).await;
    let verified = served.post(&format!("{erasure}/verify"), json!({"text": "zeppelin"})).await.is(200);
    assert_eq!(verified["is_clean"], true, "{verified}");
    assert_eq!(
        served.send(served.request(Method::POST, &format!("{erasure}/resume"))).await.is(200)["erased"],
        1
    );
    let listed = served.get("/v1/erasures?limit=5").await.is(200);
    assert_eq!(listed["erasures"].as_array().unwrap().len(), 1);
    assert_eq!(served.get("/v1/erasures/99").await.problem(), (404, "erasure_unknown"));
    let log = served.get("/v1/audit").await.is(200);
    assert_eq!(log["entries"][0]["action"], "erase", "{log}");
}

#[tokio::test]
async fn the_revision_and_the_plan_guard_an_erasure() {
    let served = Served::new().await;
    let node = served.remember("The zeppelin is due.").await;
    let edit = json!({"content": "The zeppelin is late.", "any_robot": true});
    served.patch(&format!("/v1/memories/{node}"), edit).await.is(200);
    let path = format!("/v1/memories/{node}?erase=true&confirm=true");
    let old = served.request(Method::DELETE, &path).header("if-match", "\"1\"");
    assert_eq!(served.send(old).await.problem(), (412, "revision_conflict"));
    let dry = json!({"text": "ZEPPELIN", "dry_run": true});
    let plan = served.post("/v1/memories/erase", dry).await.is(200)["plan"].clone();
    assert_eq!((&plan["memories"], &plan["matches"][0]["node"]), (&json!(1), &json!(node)), "{plan}");
    served.remember("Another zeppelin.").await;
    let planned = json!({"text": "ZEPPELIN", "plan": plan["plan"], "confirm": true});
    assert_eq!(served.post("/v1/memories/erase", planned).await.problem(), (409, "erase_plan_changed"));
    let unplanned = json!({"text": "ZEPPELIN", "confirm": true});
    assert_eq!(served.post("/v1/memories/erase", unplanned).await.problem(), (409, "plan_missing"));
    assert_eq!(served.db.count("select count(*) from htm.nodes").await, 2);
    let dry = json!({"text": "ZEPPELIN", "dry_run": true});
    let plan = served.post("/v1/memories/erase", dry).await.is(200)["plan"]["plan"].clone();
    let all = json!({"text": "ZEPPELIN", "plan": plan, "confirm": true});
    let erased = served.post("/v1/memories/erase", all).await.is(200);
    assert_eq!((&erased["erasure"]["erased"], &erased["plan"]), (&json!(2), &json!(null)), "{erased}");
    for body in [json!({"confirm": true}), json!({"text": "a", "robot": "ada", "confirm": true})] {
        assert_eq!(served.post("/v1/memories/erase", body).await.problem(), (400, "body_invalid"));
    }
    let nobody = json!({"robot": "nobody", "confirm": true});
    assert_eq!(served.post("/v1/memories/erase", nobody).await.problem(), (404, "robot_unknown"));
}

#[tokio::test]
async fn a_namespace_is_erased_by_an_admin_of_it() {
    let mut served = Served::new().await;
    let memory = json!({"content": "A note.", "namespace": "tenants/7", "robot": "ada"});
    let node = served.post("/v1/memories", memory).await.is(201)["node"].as_i64().unwrap();
    let other = served.remember("Kept.").await;
    let path = "/v1/namespaces/tenants%2F7/erase";
    let confirm = json!({"confirm": true});
    served.use_key(&NewApiKey::new(Role::Writer)).await;
    assert_eq!(served.post(path, confirm.clone()).await.problem(), (403, "role_insufficient"));
    let own = format!("/v1/memories/{node}?erase=true&confirm=true");
    assert_eq!(served.delete(&own).await.problem(), (403, "role_insufficient"));
    let some = json!({"ids": [node], "confirm": true});
    assert_eq!(served.post("/v1/memories/erase", some).await.problem(), (403, "role_insufficient"));
    assert_eq!(served.get("/v1/erasures").await.problem(), (403, "role_insufficient"));
    served.use_key(&NewApiKey::new(Role::Admin).namespace("default")).await;
    assert_eq!(served.post(path, confirm.clone()).await.problem(), (403, "namespace_forbidden"));
    served.use_key(&NewApiKey::new(Role::Admin).namespace("tenants/*")).await;
    assert_eq!(served.post(path, json!({})).await.problem(), (409, "not_confirmed"));
    let plan = served.post(path, json!({"dry_run": true})).await.is(200);
    assert_eq!(plan["plan"]["memories"], 1);
    let erased = served.post(path, confirm).await.is(200);
    assert_eq!(erased["erasure"]["namespaces"], json!(["tenants/7"]), "{erased}");
    assert_eq!(erased["erasure"]["removed"]["htm.robots"], 1, "{erased}");
    let others = format!("/v1/memories/{other}?erase=true&confirm=true");
    assert_eq!(served.delete(&others).await.problem(), (404, "node_not_found"));
    assert_eq!(served.db.count("select count(*) from htm.nodes").await, 1);
}

#[tokio::test]
async fn the_kept_receipt_of_a_namespace_is_no_trace_of_it() {
    let served = Served::new().await;
    let memory = json!({"content": "A note.", "namespace": "tenants/7"});
    served.post("/v1/memories", memory).await.is(201);
    let keyed = |path: &str, key: &'static str| {
        let request = served.request(Method::POST, path).header("idempotency-key", key);
        served.send(request.json(&json!({"confirm": true})))
    };
    let path = "/v1/namespaces/tenants%2F7/erase";
    let receipt = keyed(path, "e").await.is(200);
    let erasure = format!("/v1/erasures/{}", receipt["erasure"]["id"]);
    // The vacuum comes after the answer.
    wait_until(async || served.get(&erasure).await.is(200)["vacuum"].is_object()).await;
    let verified = served.post(&format!("{erasure}/verify"), json!({})).await.is(200);
    assert_eq!(verified["is_clean"], true, "{verified}");
    let again = keyed(path, "e").await;
    assert_eq!(again.header("idempotency-replayed"), "true");
    assert_eq!(again.is(200), receipt);
}

#[tokio::test]
async fn an_answer_that_is_kept_for_a_retry_is_erased() {
    let served = Served::new().await;
    let keyed = |method: Method, path: &str, key: &str| {
        served.request(method, path).header("idempotency-key", key.to_owned())
    };
    let write =
        || keyed(Method::POST, "/v1/memories", "write").json(&json!({"content": "The zeppelin is due."}));
    let node = served.send(write()).await.is(201)["node"].as_i64().unwrap();
    let plan = json!({"text": "zeppelin", "dry_run": true});
    let planned = || keyed(Method::POST, "/v1/memories/forget", "plan").json(&plan);
    assert!(served.send(planned()).await.text.contains("zeppelin"));
    let other = || keyed(Method::POST, "/v1/memories", "other").json(&json!({"content": "Kept."}));
    let kept = served.send(other()).await.is(201);
    let path = format!("/v1/memories/{node}?erase=true&confirm=true");
    let erase = || keyed(Method::DELETE, &path, "erase");
    let receipt = served.send(erase()).await.is(200);
    assert_eq!(receipt["removed"]["htm.operations"], 2, "{receipt}");
    for retry in [write(), planned()] {
        assert_eq!(served.send(retry).await.problem(), (410, "operation_erased"));
    }
    assert_eq!(served.send(other()).await.body["node"], kept["node"]);
    assert_eq!(served.send(erase()).await.is(200), receipt, "the receipt itself is kept");
    let erasure = format!("/v1/erasures/{}", receipt["id"]);
    wait_until(async || served.get(&erasure).await.is(200)["vacuum"].is_object()).await;
    let verified = served.post(&format!("{erasure}/verify"), json!({"text": "zeppelin"})).await.is(200);
    assert_eq!(verified["is_clean"], true, "{verified}");
    assert_eq!(served.db.count("select count(*) from htm.nodes").await, 1);
}

#[tokio::test]
async fn an_export_in_progress_has_no_end() {
    let served = Served::new().await;
    // More than the buffers between the database and a client that does not read.
    let large = "zeppelin ".repeat(100_000);
    for n in 0..24 {
        served.remember(&format!("{n} {large}")).await;
    }
    let mut export = served.request(Method::GET, "/v1/export").send().await.unwrap();
    assert_eq!(export.status(), 200);
    let first = export.chunk().await.unwrap().unwrap();
    assert!(!first.is_empty());
    let all = json!({"robot": "htm", "confirm": true});
    served.post("/v1/memories/erase", all).await.is(200);
    let mut text = first.to_vec();
    let cut = loop {
        match export.chunk().await {
            Ok(Some(chunk)) => text.extend(chunk),
            Ok(None) => break false,
            Err(_) => break true,
        }
    };
    assert!(cut, "the connection is closed without an end");
    assert!(!String::from_utf8_lossy(&text).contains("\"kind\":\"end\""));
}
