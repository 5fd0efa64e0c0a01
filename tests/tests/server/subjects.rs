//! The other subjects: robots, groups, tags, jobs, models, namespaces, health.

use htm_core::{JoinOptions, Stage};
use htm_tests::drain;
use serde_json::{Value, json};

use super::Served;

#[tokio::test]
async fn robots_and_their_working_memories() {
    let served = Served::new().await;
    let node = served.remember("Mara prefers tabs.").await;
    assert_eq!(served.post("/v1/robots", json!({"name": "ada"})).await.is(200)["name"], "ada");
    assert_eq!(served.post("/v1/robots", json!({"name": "ada"})).await.problem(), (409, "robot_taken"));
    let nodes = json!({"nodes": [node]});
    served.post("/v1/robots/ada/working-memory", nodes.clone()).await.is(200);
    let working = served.get("/v1/robots/ada/working-memory").await.is(200);
    assert_eq!(working["nodes"][0]["content"], "Mara prefers tabs.");
    assert_eq!(served.delete(&format!("/v1/robots/ada/working-memory/{node}")).await.is(200)["removed"], 1);
    assert_eq!(served.delete("/v1/robots/ada/working-memory").await.is(200)["removed"], 0);
    assert_eq!(served.post("/v1/robots/bob/working-memory", nodes).await.problem(), (404, "robot_unknown"));
    let both = json!({"name": "lovelace", "max_tokens": 500});
    assert_eq!(served.patch("/v1/robots/ada", both).await.problem(), (400, "body_invalid"));
    served.patch("/v1/robots/ada", json!({"max_tokens": 500})).await.is(200);
    served.patch("/v1/robots/ada", json!({"metadata": {"team": "infra"}})).await.is(200);
    let changed = served.patch("/v1/robots/ada", json!({"name": "lovelace"})).await.is(200);
    assert_eq!((&changed["name"], &changed["max_tokens"]), (&json!("lovelace"), &json!(500)));
    served.post("/v1/robots", json!({"name": "ada"})).await.is(200);
    let merge = json!({"from": ["ada"], "into": "lovelace"});
    assert_eq!(served.post("/v1/robots/merge", merge).await.is(200)["into"], "lovelace");
    let names: Vec<Value> =
        served.get("/v1/robots?all=true").await.is(200)["robots"].as_array().unwrap().clone();
    assert_eq!(names.iter().map(|it| it["name"].as_str().unwrap()).collect::<Vec<_>>(), ["htm", "lovelace"]);
}

#[tokio::test]
async fn groups_are_seen_and_administered() {
    let served = Served::new().await;
    let htm = served.db.htm();
    let ada = htm.group("crew").join("ada", JoinOptions::default()).await.unwrap();
    let ben = htm.group("crew").join("ben", JoinOptions::default()).await.unwrap();
    let crew = served.get("/v1/groups/crew").await.is(200);
    assert_eq!(crew["members"].as_array().unwrap().len(), 2);
    let promoted = served.post("/v1/groups/crew/promote", json!({"robot": "ben"})).await.is(200);
    let is_active = |it: &&Value| it["role"] == "active";
    assert_eq!(promoted["members"].as_array().unwrap().iter().filter(is_active).count(), 2);
    served.post("/v1/groups/crew/demote", json!({"robot": "ada"})).await.is(200);
    let nowhere = served.post("/v1/groups/crew/transfer", json!({})).await;
    assert_eq!(nowhere.problem(), (400, "body_invalid"));
    let ended = served.post("/v1/groups/crew/shutdown", json!({"clear": true})).await.is(200);
    assert_eq!(ended, json!({"members": 2}));
    assert!(!served.get("/v1/groups").await.is(200)[0]["closed_at"].is_null());
    assert_eq!(served.get("/v1/groups/none").await.problem(), (404, "group_unknown"));
    drop((ada, ben));
}

#[tokio::test]
async fn the_ontology_is_seen_changed_and_reverted() {
    let served = Served::new().await;
    served.post("/v1/memories", json!({"content": "one", "tags": ["postgres", "database"]})).await.is(201);
    let tags = served.get("/v1/tags").await.is(200);
    assert_eq!(tags["tags"].as_array().unwrap().len(), 2);
    let rename = |dry_run: bool| json!({"tag": "postgres", "to": "database:postgresql", "dry_run": dry_run});
    assert_eq!(served.post("/v1/tags/rename", rename(true)).await.is(200)["change"], Value::Null);
    let change = served.post("/v1/tags/rename", rename(false)).await.is(200)["change"].clone();
    assert_eq!(served.get("/v1/tags/show/database:postgresql").await.is(200)["nodes"], 1);
    assert_eq!(served.get("/v1/tags/memories/database").await.is(200)["nodes"][0]["node"], 1);
    assert_eq!(served.get("/v1/tags/log").await.is(200)["changes"][0]["change"], change);
    served.post("/v1/tags/revert", json!({"id": change})).await.is(200);
    assert_eq!(served.get("/v1/tags/show/postgres").await.is(200)["nodes"], 1);
    let synonym = json!({"name": "pg", "tag": "postgres"});
    served.post("/v1/tags/synonyms/add", synonym).await.is(200);
    assert_eq!(served.get("/v1/tags/synonyms").await.is(200)[0]["name"], "pg");
    served.post("/v1/tags/synonyms/remove", json!({"name": "pg"})).await.is(200);
    let document = served.get("/v1/tags/export").await.is(200);
    let import = json!({"namespace": "other", "document": document});
    served.post("/v1/tags/import", import).await.is(200);
    assert_eq!(served.get("/v1/tags?namespace=other").await.is(200)["tags"].as_array().unwrap().len(), 2);
    let split = json!({"tag": "database", "into": [{"tag": "sql"}, {"tag": "graph"}], "dry_run": true});
    served.post("/v1/tags/split", split).await.is(200);
    assert_eq!(
        served.post("/v1/tags/remove", json!({"tag": "postgres"})).await.problem(),
        (409, "tag_in_use")
    );
    served.post("/v1/tags/remove", json!({"tag": "postgres", "assigned": true})).await.is(200);
    for list in ["similar?q=databse", "cooccurring", "orphans", "suggestions"] {
        assert!(served.get(&format!("/v1/tags/{list}")).await.is(200).is_array(), "{list}");
    }
    assert_eq!(served.get("/v1/tags/show/nothing").await.problem(), (404, "tag_unknown"));
}

#[tokio::test]
async fn jobs_queues_and_models_are_seen_and_steered() {
    let served = Served::new().await;
    let node = served.remember("one").await;
    let jobs = served.get(&format!("/v1/jobs?node={node}")).await.is(200);
    assert_eq!(jobs["jobs"].as_array().unwrap().len(), 2);
    let id = jobs["jobs"][0]["id"].as_str().unwrap();
    assert_eq!(served.get(&format!("/v1/jobs/{id}")).await.is(200)["id"], id);
    assert_eq!(served.get("/v1/jobs/none").await.problem(), (404, "job_not_found"));
    assert_eq!(served.post("/v1/jobs/cancel", json!({})).await.problem(), (409, "not_confirmed"));
    // An empty list is no job, not every one.
    let none = json!({"ids": [], "confirm": true});
    assert_eq!(served.post("/v1/jobs/cancel", none).await.problem(), (400, "body_invalid"));
    assert_eq!(served.post("/v1/jobs/cancel", json!({"confirm": true})).await.is(200)["jobs"], 2);
    assert_eq!(served.get("/v1/jobs?state=dead").await.is(200)["jobs"].as_array().unwrap().len(), 2);
    let both = json!({"ids": [id], "queue": "htm.embed"});
    assert_eq!(served.post("/v1/jobs/retry", both).await.problem(), (400, "body_invalid"));
    assert_eq!(served.post("/v1/jobs/retry", json!({})).await.is(200)["retried"], 2);
    assert_eq!(served.get("/v1/jobs/audit").await.is(200)["stranded"], json!([]));
    assert_eq!(served.post("/v1/jobs/repair", json!({})).await.is(200)["jobs"], 0);
    drain(&served.db, Stage::Embed).await;
    assert_eq!(
        served.get(&format!("/v1/memories/{node}/status")).await.is(200)["stages"][0]["state"],
        "done"
    );
    served.post("/v1/queues/htm.embed/pause", json!({"reason": "maintenance"})).await.is(200);
    let queues = served.get("/v1/queues").await.is(200);
    assert!(queues.as_array().unwrap().iter().any(|it| it["queue"] == "htm.embed"), "{queues}");
    assert_eq!(served.post("/v1/queues/htm.embed/resume", json!({})).await.is(200)["changed"], true);
    assert_eq!(
        served.post("/v1/queues/none/pause", json!({"reason": "x"})).await.problem(),
        (404, "queue_unknown")
    );
    served.get("/v1/workers").await.is(200);
    let history = served.get("/v1/queues/history?minutes=5").await.is(200);
    assert_eq!(history[0]["queue"], "htm.embed");
    assert_eq!((&history[0]["done"], &history[0]["dead"]), (&json!(1), &json!(0)));
    assert!(history[0]["median_ms"].as_f64().is_some_and(|it| it >= 0.0), "{history}");
    let refused = served.get("/v1/queues/history?minutes=0").await;
    assert_eq!(refused.problem(), (422, "limit_out_of_range"));

    let models = served.get("/v1/models").await.is(200);
    let label = models[0]["label"].clone();
    assert_eq!((&models[0]["state"], &models[0]["embedded"]), (&json!("active"), &json!(1)));
    assert_eq!(
        served.post("/v1/models/retire", json!({"label": label})).await.problem(),
        (409, "model_active")
    );
    assert_eq!(
        served.post("/v1/models/activate", json!({"label": "x/y"})).await.problem(),
        (404, "model_unknown")
    );
    let limits = json!({"model": "openai/small", "requests_per_minute": 60});
    assert_eq!(served.patch("/v1/providers", limits).await.is(200)[0]["requests_per_minute"], 60);
    let none = json!({"model": "openai/small", "concurrent_calls": 0});
    assert_eq!(served.patch("/v1/providers", none).await.problem(), (422, "limit_out_of_range"));
    let less = json!({"namespace": "atlas", "tokens_per_day": -1});
    assert_eq!(served.put("/v1/budgets", less).await.problem(), (422, "budget_out_of_range"));
    served.post("/v1/providers/reset", json!({"model": "openai/small"})).await.is(200);
    served.put("/v1/budgets", json!({"namespace": "atlas", "tokens_per_day": 1000})).await.is(200);
    assert_eq!(served.get("/v1/budgets").await.is(200)[0]["namespace"], "atlas");
    let usage = served.get("/v1/usage?days=2").await.is(200);
    let memory = served.get(&format!("/v1/memories/{node}")).await.is(200);
    assert_eq!(usage.as_array().map(Vec::len), Some(1), "{usage}");
    assert_eq!(
        (&usage[0]["stage"], &usage[0]["model"], &usage[0]["jobs"]),
        (&json!("embed"), &label, &json!(1))
    );
    assert_eq!((&usage[0]["namespace"], &usage[0]["tokens"]), (&memory["namespace"], &memory["token_count"]));
    // A budget counts the whole day, whenever it is set.
    for _ in 0..2 {
        let budget = json!({"namespace": memory["namespace"], "tokens_per_day": 1000});
        served.put("/v1/budgets", budget).await.is(200);
        let budgets = served.get("/v1/budgets").await.is(200);
        let mut listed = budgets.as_array().unwrap().iter();
        let of_memory = listed.find(|it| it["namespace"] == memory["namespace"]).unwrap();
        assert_eq!(of_memory["tokens_used"], memory["token_count"]);
        let none = json!({"namespace": memory["namespace"], "tokens_per_day": null});
        served.put("/v1/budgets", none).await.is(200);
    }
    assert_eq!(served.get("/v1/usage?days=367").await.problem(), (422, "limit_out_of_range"));
}

#[tokio::test]
async fn namespaces_are_listed_by_pages_and_have_policies() {
    let served = Served::new().await;
    for namespace in ["tenant/a", "tenant/b", "tenant/c", "other"] {
        served.post("/v1/memories", json!({"content": "x", "namespace": namespace})).await.is(201);
    }
    let page = served.get("/v1/namespaces?prefix=tenant&limit=2").await.is(200);
    assert_eq!(page, json!({"namespaces": ["tenant/a", "tenant/b"], "next": "tenant/b"}));
    let page = served.get("/v1/namespaces?prefix=tenant&limit=2&cursor=tenant/b").await.is(200);
    assert_eq!(page, json!({"namespaces": ["tenant/c"], "next": null}));
    let policy = json!({"namespace": "other", "forget_after_seconds": 86400});
    served.patch("/v1/retention", policy).await.is(200);
    // Only what is named changes.
    served.patch("/v1/retention", json!({"namespace": "other", "purge_after_seconds": 3600})).await.is(200);
    let policy = served.get("/v1/retention?namespace=other").await.is(200);
    assert_eq!(policy, json!({"forget_after_seconds": 86400, "purge_after_seconds": 3600}));
    served.patch("/v1/retention", json!({"namespace": "other", "purge_after_seconds": null})).await.is(200);
    let policy = served.get("/v1/retention?namespace=other").await.is(200);
    assert_eq!(policy, json!({"forget_after_seconds": 86400, "purge_after_seconds": null}));
    assert_eq!(served.post("/v1/sweep", json!({})).await.is(200)["namespaces"], json!([]));
    assert_eq!(served.get("/v1/stats?all=true").await.is(200)["totals"]["nodes"], 4);
}

#[tokio::test]
async fn a_search_tells_the_names_of_its_filter_that_nothing_has() {
    let served = Served::new().await;
    let tea = json!({"content": "Ada drinks tea.", "namespace": "hon", "robot": "ada", "tags": ["food"]});
    served.post("/v1/memories", tea).await.is(201);
    let told =
        |kind: &str, name: &str, nearest: &str| json!({"kind": kind, "name": name, "nearest": [nearest]});
    let namespace = told("namespace", "hom", "hon");
    let robot = told("robot", "adda", "ada");
    let tag = told("tag", "foood", "food");
    for (filter, unknown) in [
        (json!({"namespaces": ["hom"]}), json!([namespace])),
        (json!({"namespaces": ["hon"], "robots": ["adda"], "tags": ["foood"]}), json!([robot, tag])),
        // One of several is enough to find something.
        (json!({"namespaces": ["hon", "hom"]}), json!([namespace])),
        (json!({"namespaces": ["hon"], "robots": ["ada", "adda"]}), json!([robot])),
        (json!({"namespaces": ["hon"], "robots": ["ada"], "tags": ["food"]}), json!([])),
    ] {
        let recall = json!({"query": "tea", "strategy": "fulltext", "filter": filter});
        assert_eq!(served.post("/v1/recall", recall).await.is(200)["unknown_names"], unknown, "{filter}");
        let timeline = served.post("/v1/timeline", json!({"filter": filter})).await.is(200);
        assert_eq!(timeline["unknown_names"], unknown, "{filter}");
    }
    let boosted = json!({"query": "tea", "strategy": "fulltext", "filter": {"namespaces": ["hon"]}, "boost_tags": ["foood"]});
    assert_eq!(served.post("/v1/recall", boosted).await.is(200)["unknown_names"], json!([tag]));
    let by_url = served.get("/v1/recall?q=tea&strategy=fulltext&namespace=hom").await.is(200);
    assert_eq!(by_url["unknown_names"], json!([namespace]));
    let context = json!({"robot": "ada", "filter": {"namespaces": ["hon"], "tags": ["foood"]}});
    assert_eq!(served.post("/v1/context", context).await.is(200)["unknown_names"], json!([tag]));
    // A tag of each namespace is named.
    let car = json!({"content": "The car is red.", "namespace": "garage", "tags": ["foot"]});
    served.post("/v1/memories", car).await.is(201);
    let filter = json!({"namespaces": ["garage", "hon"], "tags": ["foood"]});
    let of_both = served.post("/v1/timeline", json!({"filter": filter})).await.is(200);
    assert_eq!(of_both["unknown_names"][0]["nearest"], json!(["foot", "food"]));
}

#[tokio::test]
async fn health_and_metrics_are_for_monitoring() {
    let served = Served::new().await;
    assert_eq!(served.get("/livez").await.text, "ok\n");
    assert_eq!(served.get("/readyz").await.text, "ok\n");
    served.remember("one").await;
    served.get("/v1/memories/77").await;
    let metrics = served.get("/metrics").await;
    assert!(metrics.header("content-type").starts_with("application/openmetrics-text"));
    let line = "htm_http_requests_total{method=\"GET\",route=\"/v1/memories/{id}\",status=\"404\"} 1";
    assert!(metrics.text.contains(line), "{}", metrics.text);
}

#[tokio::test]
async fn the_metrics_show_the_parts_of_recalls_and_the_cache() {
    let served = Served::new().await;
    served.remember("The ledger closes at six.").await;
    drain(&served.db, Stage::Embed).await;
    for strategy in ["hybrid", "hybrid", "fulltext"] {
        let query = json!({"query": "when does the ledger close", "strategy": strategy});
        served.post("/v1/recall", query).await.is(200);
    }
    let metrics = served.get("/metrics").await.text;
    for line in [
        "htm_recall_embedding_cache_hits_total 1\n",
        "htm_recall_embedding_cache_misses_total 1\n",
        "htm_recall_time_seconds_count{part=\"embedding\"} 2\n",
        "htm_recall_time_seconds_count{part=\"search\"} 3\n",
    ] {
        assert!(metrics.contains(line), "{line}: {metrics}");
    }
    assert!(metrics.ends_with("# EOF\n") && !metrics.contains("htm_recall_degraded_total{"), "{metrics}");
}

#[tokio::test]
async fn requests_have_ids_and_traces() {
    let served = Served::new().await;
    let id = served.get("/v1/robots").await.header("x-request-id").to_owned();
    assert_eq!(id.len(), 26);
    let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let request = served.request(reqwest::Method::GET, "/v1/memories/9");
    let reply = served.send(request.header("x-request-id", "mine").header("traceparent", trace)).await;
    assert_eq!(reply.header("x-request-id"), "mine");
    assert!(reply.header("traceparent").starts_with("00-4bf92f3577b34da6a3ce929d0e0e4736-"));
    assert!(!reply.header("traceparent").contains("00f067aa0ba902b7"), "its span is its own");
}

#[tokio::test]
async fn every_list_that_grows_has_pages() {
    let served = Served::new().await;
    for number in 0..4 {
        let memory = json!({"content": format!("memory {number}"), "robot": format!("robot-{number}"),
            "tags": [format!("tag-{number}"), format!("tag-0:{number}")]});
        served.post("/v1/memories", memory).await.is(201);
        let synonym = json!({"name": format!("name-{number}"), "tag": "tag-0"});
        served.post("/v1/tags/synonyms/add", synonym).await.is(200);
        served.post("/v1/backfills", json!({"stage": "tag"})).await.is(202);
    }
    // Two of the jobs are dead letters.
    served.post("/v1/jobs/cancel", json!({"ids": two_jobs(&served).await, "confirm": true})).await.is(200);
    for node in 1..=2 {
        served.delete(&format!("/v1/memories/{node}?erase=true&confirm=true&any_robot=true")).await.is(200);
    }
    for number in 0..4 {
        let memory = served.remember(&format!("to be forgotten {number}")).await;
        served.delete(&format!("/v1/memories/{memory}?confirm=true")).await.is(200);
    }
    for (path, list, id) in [
        ("/v1/jobs", "jobs", "/id"),
        ("/v1/audit", "entries", ""),
        ("/v1/erasures", "erasures", "/id"),
        ("/v1/backfills", "backfills", "/id"),
        ("/v1/tags/log", "changes", "/change"),
        ("/v1/tags", "tags", "/tag"),
        ("/v1/robots", "robots", "/uuid"),
        ("/v1/memories", "memories", "/id"),
        ("/v1/memories/forgotten", "memories", "/node"),
    ] {
        let ids = |page: &Value| -> Vec<String> {
            page[list].as_array().unwrap().iter().map(|it| it.pointer(id).unwrap().to_string()).collect()
        };
        let whole = served.get(&format!("{path}?limit=1000")).await.is(200);
        assert_eq!(whole["next"], Value::Null, "{path}");
        let whole = ids(&whole);
        assert!(whole.len() > 1, "{path}: {whole:?}");
        let (mut paged, mut cursor) = (Vec::new(), String::new());
        while paged.len() <= whole.len() {
            let page = served.get(&format!("{path}?limit=1{cursor}")).await.is(200);
            paged.extend(ids(&page));
            let Some(next) = page.get("next").filter(|it| !it.is_null()) else { break };
            cursor = format!("&cursor={}", next.to_string().trim_matches('"'));
        }
        assert_eq!(paged, whole, "{path}");
        let bad = served.get(&format!("{path}?cursor=nothing")).await;
        match path {
            // Every text has a place between tags.
            "/v1/tags" => assert_eq!(bad.is(200)["next"], Value::Null),
            _ => assert_eq!(bad.problem(), (422, "cursor_invalid"), "{path}"),
        }
    }
    for path in ["/v1/tags/memories/a?", "/v1/documents/passages?path=a&"] {
        let bad = served.get(&format!("{path}cursor=nothing")).await;
        assert_eq!(bad.problem(), (422, "cursor_invalid"), "{path}");
    }
}

/// The ids of two jobs.
async fn two_jobs(served: &Served) -> Vec<Value> {
    let jobs = served.get("/v1/jobs?limit=2").await.is(200);
    jobs["jobs"].as_array().unwrap().iter().map(|job| job["id"].clone()).collect()
}
