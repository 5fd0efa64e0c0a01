//! The nodes and namespaces that a kept answer of a write mentions. An answer is JSON, or has JSON as the text of a body.

use serde_json::Value;

/// The fields with a list of ids of nodes. A number alone in one is a count.
const LISTS: [&str; 8] =
    ["nodes", "forgotten", "left", "evicted", "left_behind", "transferred", "folded", "included"];

/// The prefix of a `Location` with a node's id.
const PATH: &str = "/v1/memories/";

/// The ids of nodes.
pub(crate) fn nodes_of(answer: &Value) -> Vec<i64> {
    let mut found = Vec::new();
    walk(answer, &mut |value| {
        match value {
            Value::String(text) => {
                found.extend(text.strip_prefix(PATH).and_then(|id| id.parse::<i64>().ok()));
            }
            Value::Object(fields) => {
                // Robots, groups and receipts have a number too. A node has a text.
                let own = fields.get("id").filter(|_| fields.contains_key("content"));
                found.extend(fields.get("node").into_iter().chain(own).filter_map(number));
                // A relation is between two nodes. Others have a time from and to.
                let ends = ["from", "to"].into_iter().filter_map(|end| fields.get(end)?.as_i64());
                found.extend(ends.filter(|_| fields.contains_key("kind") && fields.contains_key("made_at")));
                let lists = LISTS.iter().filter_map(|name| fields.get(*name)?.as_array());
                found.extend(lists.flatten().filter_map(number));
            }
            _ => {}
        }
        true
    });
    found
}

/// A number, which the values of an error have as a text.
fn number(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| value.as_str()?.parse().ok())
}

/// Whether a namespace is among the values. The receipt of an erasure, which stays with the names of its namespaces, does not
/// count.
pub(crate) fn mentions(answer: &Value, namespace: &str) -> bool {
    let mut found = false;
    walk(answer, &mut |value| {
        found |= value.as_str() == Some(namespace);
        !is_receipt(value)
    });
    found
}

fn is_receipt(value: &Value) -> bool {
    ["asked_by", "namespaces", "erased", "began_at"].iter().all(|name| value.get(name).is_some())
}

/// Visits each value, those of a body too. Those within one are left out if `visit` says no.
fn walk(value: &Value, visit: &mut impl FnMut(&Value) -> bool) {
    if !visit(value) {
        return;
    }
    match value {
        Value::Array(items) => items.iter().for_each(|item| walk(item, visit)),
        Value::Object(fields) => {
            fields.values().for_each(|value| walk(value, visit));
            let body = fields.get("body").and_then(Value::as_str);
            if let Some(body) = body.and_then(|body| serde_json::from_str(body).ok()) {
                walk(&body, visit);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn ids_are_found_wherever_they_stand() {
        let body =
            json!({"plan": {"matches": [{"node": 7, "revision": 3}]}, "forgotten": [8, 9]}).to_string();
        let kept = json!({"status": 201, "headers": [["location", "/v1/memories/5"]], "body": body});
        let mut nodes = nodes_of(&kept);
        nodes.sort_unstable();
        assert_eq!(nodes, [5, 7, 8, 9]);
        let hits =
            json!({"hits": [{"id": 3, "content": "a", "scores": {}}], "evicted": [], "left_behind": [2]});
        assert_eq!(nodes_of(&hits), [2, 3]);
        let failed = json!({"results": [{"values": {"node": "12"}, "jobs": 3}, {"node": 4}]});
        assert_eq!(nodes_of(&failed), [12, 4]);
    }

    #[test]
    fn counts_and_other_ids_are_none() {
        let others = json!({"id": 1, "name": "ada", "nodes": 2, "forgotten": 3, "removed": {"nodes": 4}, "revision": 5});
        assert!(nodes_of(&others).is_empty());
    }

    #[test]
    fn a_namespace_is_found_as_a_value() {
        let kept = json!({"status": 200, "body": "{\"namespace\":\"atlas\",\"quota\":{}}"});
        assert!(mentions(&kept, "atlas"));
        assert!(!mentions(&kept, "atlas/notes") && !mentions(&kept, "namespace"));
    }

    #[test]
    fn the_receipt_of_an_erasure_names_its_namespace_and_is_no_trace() {
        let receipt = json!({"id": 7, "asked_by": "htm", "kind": "namespace", "namespaces": ["atlas"], "erased": 2,
            "removed": {"htm.nodes": 2}, "began_at": "2026-01-01T00:00:00Z"});
        for body in [json!({"plan": null, "erasure": receipt}), receipt.clone()] {
            assert!(!mentions(&json!({"status": 200, "body": body.to_string()}), "atlas"));
        }
        let beside = json!({"erasure": receipt, "namespace": "atlas"});
        assert!(mentions(&json!({"status": 200, "body": beside.to_string()}), "atlas"));
    }

    #[test]
    fn a_body_that_is_no_json_is_a_text() {
        assert!(nodes_of(&json!({"body": "{7"})).is_empty());
    }
}
