//! The OpenAPI document, made of the routes and the types.

use std::sync::LazyLock;

use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::routing::get;
use htm_core::Role;
use htm_core::error::Code;
use serde_json::{Value, json};

use crate::app::Shared;
use crate::problem::{MEDIA_TYPE, of_code, of_pause, of_precondition};
use crate::routes::Routes;
use crate::{access, codes};

/// The methods that write.
const WRITES: [&str; 4] = ["post", "put", "patch", "delete"];

/// The OpenAPI 3.1 document of the server.
pub fn openapi() -> &'static Value {
    // Few servers are asked for it, and it takes longer than the rest of their start.
    static DOCUMENT: LazyLock<Value> = LazyLock::new(made);
    &DOCUMENT
}

/// `/openapi.json`.
pub(crate) fn router() -> Router<Shared> {
    static TEXT: LazyLock<String> = LazyLock::new(|| openapi().to_string());
    let answer = async || ([(CONTENT_TYPE, "application/json")], TEXT.as_str());
    Router::new().route("/openapi.json", get(answer))
}

fn made() -> Value {
    let routes = Routes::new();
    let mut document = serde_json::to_value(&routes.described).unwrap_or_default();
    document["info"] = json!({
        "title": "HTM",
        "version": env!("CARGO_PKG_VERSION"),
        "description": "Durable memory for LLM agents.",
        "license": {"name": "MIT OR Apache-2.0"},
    });
    document["components"]["schemas"]["Problem"] = problem_schema();
    document["components"]["securitySchemes"]["key"] = json!({
        "type": "http",
        "scheme": "bearer",
        "description": "A key of `htm keys create`, or an access token of the authorization server that /.well-known/oauth-protected-resource names. A server without both needs none.",
    });
    document["security"] = json!([{"key": []}, {}]);
    if let Some(paths) = document["paths"].as_object_mut() {
        for (path, methods) in paths.iter_mut() {
            let takes_key = !routes.without_key.contains(path);
            let Some(methods) = methods.as_object_mut() else { continue };
            for (method, operation) in methods.iter_mut() {
                complete(operation, takes_key && WRITES.contains(&method.as_str()));
                operation["x-role"] = json!(role(method, path));
            }
        }
    }
    without_links(&mut document);
    document
}

/// The role that an operation needs.
fn role(method: &str, path: &str) -> Role {
    access::needed(&method.to_uppercase().parse().unwrap_or_default(), path)
}

/// Adds what every operation has: a unique id, its errors and, if it writes, its header.
fn complete(operation: &mut Value, takes_key: bool) {
    let problem = |description: &str| {
        let schema = json!({"$ref": "#/components/schemas/Problem"});
        json!({"description": description, "content": {MEDIA_TYPE: {"schema": schema}}})
    };
    // A handler's name is unique within its subject only.
    let subject = operation["tags"][0].as_str().unwrap_or_default().replace(' ', "_");
    let name = operation["operationId"].as_str().unwrap_or_default().to_owned();
    operation["operationId"] = json!(format!("{subject}_{name}"));
    operation["responses"]["4XX"] = problem("The request was refused; nothing was changed.");
    operation["responses"]["5XX"] = problem("The server could not do it; the code says who has to act.");
    if takes_key {
        let header = json!({
            "name": "Idempotency-Key",
            "in": "header",
            "description": "An id of this request: a retry with it gets the first answer, for 24 hours.",
            "schema": {
                "type": "string",
                "minLength": 1,
                "maxLength": htm_core::MAX_OPERATION_BYTES,
                "pattern": "^[!-~]+$",
            },
        });
        match operation["parameters"].as_array_mut() {
            Some(parameters) => parameters.push(header),
            None => operation["parameters"] = json!([header]),
        }
    }
}

fn problem_schema() -> Value {
    json!({
        "type": "object",
        "description": "Problem details (RFC 9457).",
        "required": ["type", "title", "status", "detail", "code", "hint"],
        "properties": {
            "type": {"type": "string", "description": "A URI reference of the kind of problem."},
            "title": {"type": "string", "description": "What the code means."},
            "status": {"type": "integer", "description": "The HTTP status."},
            "detail": {"type": "string", "description": "What was wrong, with its value."},
            "code": {
                "type": "string",
                "description": "A stable code for programs, such as `key_taken`. `x-codes` lists those of this version.",
                "x-codes": codes::every().map(described_code).collect::<Vec<_>>(),
            },
            "hint": {"type": "string", "description": "The next step."},
            "values": {
                "type": "object",
                "additionalProperties": {"type": "string"},
                "description": "Values of the detail for programs, such as the node that has a key.",
            },
        },
    })
}

/// A code with its status, and with those after `If-Match` and after a pause of the client if they are others.
fn described_code(code: &Code) -> Value {
    let mut described = json!({
        "code": code.name,
        "status": of_code(code.name, code.fault).as_u16(),
        "meaning": code.meaning,
    });
    if let Some(status) = of_precondition(code.name) {
        described["status_after_if_match"] = json!(status.as_u16());
    }
    if let Some(status) = of_pause(code.name) {
        described["status_after_pause"] = json!(status.as_u16());
    }
    described
}

/// Turns the links of Rust's documentation into their text: [`Htm::edit`](crate::Htm::edit) becomes `Htm::edit`.
fn without_links(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                match field {
                    Value::String(text) if name == "description" || name == "summary" => {
                        *text = unlinked(text)
                    }
                    _ => without_links(field),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(without_links),
        _ => {}
    }
}

fn unlinked(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some(start) = rest.find('[') {
        plain.push_str(&rest[..start]);
        let inner = &rest[start + 1..];
        let Some(end) = inner.find(']') else { break };
        plain.push_str(&inner[..end]);
        rest = &inner[end + 1..];
        if let Some(target) = rest.strip_prefix('(')
            && let Some(close) = target.find(')')
        {
            rest = &target[close + 1..];
        }
    }
    plain + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_become_their_text() {
        assert_eq!(unlinked("Use [`Htm::edit`](crate::Htm::edit) or [it](x)."), "Use `Htm::edit` or it.");
        assert_eq!(unlinked("None."), "None.");
    }

    #[test]
    fn the_document_is_openapi_with_errors_and_keys() {
        let document = openapi();
        assert!(document["openapi"].as_str().is_some_and(|version| version.starts_with("3.1")));
        let create = &document["paths"]["/v1/memories"]["post"];
        assert!(create["responses"]["4XX"].is_object());
        let is_key = |parameter: &Value| parameter["name"] == "Idempotency-Key";
        assert!(create["parameters"].as_array().unwrap().iter().any(is_key));
        for path in ["/v1/recall", "/v1/import"] {
            let parameters = document["paths"][path]["post"]["parameters"].as_array();
            assert!(!parameters.is_some_and(|them| them.iter().any(is_key)), "{path}");
        }
    }
}
