//! The nodes and namespaces that a kept answer of a write mentions. An answer is JSON, or has JSON as the text of a body.

use serde_json::Value;

/// The fields whose values are ids of nodes.
const FIELDS: [&str; 9] =
    ["node", "nodes", "id", "ids", "memory", "forgotten", "left", "evicted", "left_behind"];

/// The prefix of a `Location` with a node's id.
const PATH: &str = "/v1/memories/";

/// The ids that may be those of nodes.
pub(crate) fn nodes_of(answer: &Value) -> Vec<i64> {
    let mut found = Vec::new();
    walk(answer, "", &mut |field, value| {
        let id = match value {
            Value::Number(number) if FIELDS.contains(&field) => number.as_i64(),
            Value::String(text) => match text.strip_prefix(PATH) {
                Some(id) => id.parse().ok(),
                None if FIELDS.contains(&field) => text.parse().ok(),
                None => None,
            },
            _ => None,
        };
        found.extend(id);
    });
    found
}

/// Whether a text is among the values.
pub(crate) fn mentions(answer: &Value, text: &str) -> bool {
    let mut found = false;
    walk(answer, "", &mut |_, value| found |= value.as_str() == Some(text));
    found
}

/// Visits each value that is neither a list nor an object, with the name of its field.
fn walk(value: &Value, field: &str, visit: &mut impl FnMut(&str, &Value)) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| walk(item, field, visit)),
        Value::Object(fields) => fields.iter().for_each(|(name, value)| walk(value, name, visit)),
        Value::String(text) if field == "body" && text.starts_with(['{', '[']) => {
            match serde_json::from_str(text) {
                Ok(body) => walk(&body, "", visit),
                Err(_) => visit(field, value),
            }
        }
        _ => visit(field, value),
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
        let failed = json!({"results": [{"values": {"node": "12"}, "jobs": 3}, {"node": 4}]});
        assert_eq!(nodes_of(&failed), [12, 4]);
    }

    #[test]
    fn a_namespace_is_found_as_a_value() {
        let kept = json!({"status": 200, "body": "{\"namespace\":\"atlas\",\"quota\":{}}"});
        assert!(mentions(&kept, "atlas"));
        assert!(!mentions(&kept, "atlas/notes") && !mentions(&kept, "namespace"));
    }

    #[test]
    fn a_body_that_is_no_json_is_a_text() {
        assert!(nodes_of(&json!({"body": "{7"})).is_empty());
    }
}
