//! The OpenAPI document.

use std::collections::BTreeSet;

use serde_json::Value;

use super::Served;

#[test]
fn the_routes_are_these() {
    let document = htm_server::openapi();
    let routes: Vec<String> = document["paths"]
        .as_object()
        .unwrap()
        .iter()
        .flat_map(|(path, methods)| {
            methods.as_object().unwrap().iter().map(move |(method, operation)| {
                format!(
                    "{:<6} {:<6} {path}: {}",
                    operation["x-role"].as_str().unwrap_or("?"),
                    method.to_uppercase(),
                    operation["summary"].as_str().unwrap_or("?")
                )
            })
        })
        .collect();
    insta::assert_snapshot!("routes", routes.join("\n"));
}

/// All references of the document.
fn references<'a>(value: &'a Value, found: &mut BTreeSet<&'a str>) {
    match value {
        Value::Object(fields) => {
            if let Some(Value::String(reference)) = fields.get("$ref") {
                found.insert(reference);
            }
            fields.values().for_each(|field| references(field, found));
        }
        Value::Array(items) => items.iter().for_each(|item| references(item, found)),
        _ => {}
    }
}

#[test]
fn a_body_is_described() {
    let document = htm_server::openapi();
    let mut without = Vec::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            if ["post", "put", "patch"].contains(&method.as_str()) && operation["requestBody"].is_null() {
                without.push(path.as_str());
            }
        }
    }
    let bare = [
        "/v1/backfills/{id}/cancel",
        "/v1/erasures/{id}/resume",
        "/v1/jobs/repair",
        "/v1/memories/{id}/refresh",
        "/v1/queues/{queue}/resume",
        "/v1/sweep",
    ];
    assert_eq!(without, bare);
}

#[tokio::test]
async fn the_document_is_whole() {
    let document = htm_server::openapi();
    let schemas = document["components"]["schemas"].as_object().unwrap();
    let mut found = BTreeSet::new();
    references(document, &mut found);
    for reference in found {
        let name = reference.strip_prefix("#/components/schemas/").unwrap();
        assert!(schemas.contains_key(name), "{reference} leads nowhere");
    }
    let text = document.to_string();
    assert!(!text.contains("](") && !text.contains("crate::"), "links of Rust's documentation");
    let operations =
        document["paths"].as_object().unwrap().values().flat_map(|it| it.as_object().unwrap().values());
    let ids: Vec<&str> = operations.map(|it| it["operationId"].as_str().unwrap()).collect();
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len(), "{ids:?}");
    let served = Served::new().await;
    assert_eq!(served.get("/openapi.json").await.is(200), *document);
}
