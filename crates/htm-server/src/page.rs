//! `/docs`: the OpenAPI document as a page, and the list of errors. The pages are plain HTML: they need neither a network
//! nor scripts.

use std::fmt::Write as _;
use std::sync::LazyLock;

use axum::Router;
use axum::http::HeaderName;
use axum::http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::routing::get;
use htm_core::error::Code;
use serde_json::Value;

use crate::app::Shared;
use crate::problem::{of_code, of_pause, of_precondition};
use crate::{codes, document};

/// The policy of a page: it may load its own styles alone.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

const HEADERS: [(HeaderName, &str); 2] =
    [(CONTENT_TYPE, "text/html; charset=utf-8"), (CONTENT_SECURITY_POLICY, POLICY)];

const STYLE: &str = "
body { font: 15px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 62rem; padding: 1rem 1.5rem 6rem;
       color: #1d2733; background: #fff; }
h1 { font-size: 1.6rem; } h2 { margin-top: 2.5rem; border-bottom: 1px solid #d5dbe3; }
a { color: #0b5cad; } code { font: 13px ui-monospace, monospace; background: #f1f4f8; padding: 0 .25em; }
details { margin: .35rem 0; border: 1px solid #d5dbe3; border-radius: 6px; padding: .35rem .8rem; }
summary { cursor: pointer; } summary b { display: inline-block; min-width: 4.2rem; }
table { border-collapse: collapse; width: 100%; margin: .5rem 0 1rem; }
th, td { text-align: left; vertical-align: top; padding: .25rem .6rem .25rem 0; border-bottom: 1px solid #e7ebf0; }
th { font-weight: 600; } .muted { color: #5c6b7c; }
@media (prefers-color-scheme: dark) {
  body { color: #dde4ec; background: #12171d; } a { color: #7db8f5; } code { background: #1f2730; }
  details, h2, th, td { border-color: #2b3541; } .muted { color: #93a2b3; } }
";

pub(crate) fn router() -> Router<Shared> {
    static REFERENCE: LazyLock<String> = LazyLock::new(|| reference(document::openapi()));
    static ERRORS: LazyLock<String> = LazyLock::new(errors);
    Router::new()
        .route("/docs", get(async || (HEADERS, REFERENCE.as_str())))
        .route("/docs/errors", get(async || (HEADERS, ERRORS.as_str())))
}

/// The text, safe within HTML; `code` between backticks.
fn html(text: &str) -> String {
    let escaped = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;");
    let mut parts = escaped.split('`');
    let mut html = parts.next().unwrap_or_default().to_owned();
    for (part, opens) in parts.zip([true, false].into_iter().cycle()) {
        html.push_str(if opens { "<code>" } else { "</code>" });
        html.push_str(part);
    }
    // An odd backtick leaves one open.
    if escaped.matches('`').count() % 2 == 1 { html + "</code>" } else { html }
}

fn page(title: &str, body: &str) -> String {
    format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title}</title>\
         <meta name=\"viewport\" content=\"width=device-width\"><style>{STYLE}</style></head><body>{body}</body></html>"
    )
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_default()
}

/// The operations by subject, and the shapes.
fn reference(document: &Value) -> String {
    let empty = serde_json::Map::new();
    let paths = document["paths"].as_object().unwrap_or(&empty);
    let mut subjects: Vec<(&str, String)> = Vec::new();
    for (path, methods) in paths {
        for (method, operation) in methods.as_object().into_iter().flatten() {
            let subject = operation["tags"][0].as_str().unwrap_or("other");
            let place = subjects.iter().position(|(name, _)| *name == subject).unwrap_or_else(|| {
                subjects.push((subject, String::new()));
                subjects.len() - 1
            });
            subjects[place].1.push_str(&described(path, method, operation));
        }
    }
    let mut body = String::from(
        "<h1>HTM over HTTP</h1><p><a href=\"/openapi.json\">OpenAPI document</a> · <a href=\"/docs/errors\">errors</a> · \
         <a href=\"#shapes\">shapes</a></p>",
    );
    for (subject, operations) in subjects {
        let _ = write!(body, "<h2>{}</h2>{operations}", html(subject));
    }
    body.push_str("<h2 id=\"shapes\">Shapes</h2>");
    for (name, schema) in document["components"]["schemas"].as_object().into_iter().flatten() {
        let _ = write!(
            body,
            "<details id=\"{0}\"><summary><code>{0}</code> <span class=\"muted\">{1}</span></summary>{2}</details>",
            html(name),
            html(text(schema, "description").lines().next().unwrap_or_default()),
            fields(schema)
        );
    }
    page("HTM over HTTP", &body)
}

fn described(path: &str, method: &str, operation: &Value) -> String {
    let mut body = format!(
        "<details><summary><b>{}</b><code>{}</code> {}</summary><p>{}</p>",
        method.to_uppercase(),
        html(path),
        html(text(operation, "summary")),
        html(text(operation, "description"))
    );
    let parameters: Vec<&Value> = operation["parameters"].as_array().into_iter().flatten().collect();
    if !parameters.is_empty() {
        body.push_str("<table><tr><th>parameter</th><th>in</th><th>type</th><th></th></tr>");
        for parameter in parameters {
            let _ = write!(
                body,
                "<tr><td><code>{}</code></td><td>{}</td><td>{}</td><td>{}</td></tr>",
                html(text(parameter, "name")),
                html(text(parameter, "in")),
                shape(&parameter["schema"]),
                html(text(parameter, "description"))
            );
        }
        body.push_str("</table>");
    }
    for schema in content(&operation["requestBody"]) {
        let _ = write!(body, "<p>Body: {}</p>", shape(schema));
    }
    for (status, response) in operation["responses"].as_object().into_iter().flatten() {
        let shapes: Vec<String> = content(response).map(shape).collect();
        let _ = write!(body, "<p class=\"muted\">{} {}</p>", html(status), shapes.join(" "));
    }
    body + "</details>"
}

/// The schemas of a body or a response, one for each media type.
fn content(value: &Value) -> impl Iterator<Item = &Value> {
    value["content"].as_object().into_iter().flat_map(|types| types.values().map(|it| &it["schema"]))
}

/// A schema in a few words, with a link to its shape.
fn shape(schema: &Value) -> String {
    if let Some(name) = schema["$ref"].as_str().and_then(|it| it.rsplit('/').next()) {
        return format!("<a href=\"#{0}\"><code>{0}</code></a>", html(name));
    }
    for choice in ["oneOf", "anyOf", "allOf"] {
        if let Some(all) = schema[choice].as_array() {
            return all.iter().map(shape).collect::<Vec<_>>().join(" or ");
        }
    }
    let kind = match &schema["type"] {
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or "),
        kind => kind.as_str().unwrap_or("any").to_owned(),
    };
    match &schema["items"] {
        Value::Null => html(&kind),
        items => format!("{} of {}", html(&kind), shape(items)),
    }
}

/// The fields of an object, or the values of an enumeration.
fn fields(schema: &Value) -> String {
    let parts = ["allOf", "oneOf", "anyOf"].iter().filter_map(|it| schema[*it].as_array()).flatten();
    let mut body = String::new();
    if let Some(values) = schema["enum"].as_array() {
        let values: Vec<String> =
            values.iter().filter_map(|it| Some(format!("<code>{}</code>", html(it.as_str()?)))).collect();
        let _ = write!(body, "<p>{}</p>", values.join(" "));
    }
    if let Some(properties) = schema["properties"].as_object() {
        body.push_str("<table>");
        let required: Vec<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        for (name, field) in properties {
            let needed = if required.contains(&name.as_str()) { "required" } else { "" };
            let _ = write!(
                body,
                "<tr><td><code>{}</code></td><td>{}</td><td class=\"muted\">{needed}</td><td>{}</td></tr>",
                html(name),
                shape(field),
                html(text(field, "description"))
            );
        }
        body.push_str("</table>");
    }
    for part in parts {
        match part["$ref"].is_string() {
            true => {
                let _ = write!(body, "<p>{}</p>", shape(part));
            }
            false => body.push_str(&fields(part)),
        }
    }
    body
}

/// Every code with its status, its meaning and the next step.
fn errors() -> String {
    let mut body = String::from(
        "<h1>Errors</h1><p><a href=\"/docs\">HTM over HTTP</a></p><p>An error is a problem (RFC 9457): \
         <code>code</code> is stable, <code>hint</code> is the next step.</p>\
         <table><tr><th>code</th><th>status</th><th>meaning</th></tr>",
    );
    let row = |body: &mut String, code: &Code| {
        let mut status = of_code(code.name, code.fault).as_u16().to_string();
        if let Some(other) = of_precondition(code.name) {
            let _ = write!(status, ", with <code>If-Match</code> {}", other.as_u16());
        }
        if let Some(other) = of_pause(code.name) {
            let _ = write!(status, ", after a pause of the client {}", other.as_u16());
        }
        let _ = write!(
            body,
            "<tr id=\"{0}\"><td><code>{0}</code></td><td>{status}</td><td>{1}</td></tr>",
            html(code.name),
            html(code.meaning)
        );
    };
    codes::every().for_each(|code| row(&mut body, code));
    page("HTM: errors", &(body + "</table>"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_never_markup() {
        assert_eq!(html("a <b> & `c<d`"), "a &lt;b&gt; &amp; <code>c&lt;d</code>");
        assert_eq!(html("odd `tick"), "odd <code>tick</code>");
    }

    #[test]
    fn each_operation_and_each_code_has_its_place() {
        let document = document::openapi();
        let page = reference(document);
        for path in document["paths"].as_object().unwrap().keys() {
            assert!(page.contains(&format!("<code>{path}</code>")), "{path}");
        }
        assert!(!page.contains("<script"));
        assert!(errors().contains("id=\"key_taken\"") && errors().contains("id=\"body_invalid\""));
        assert!(
            errors().contains("<code>body_incomplete</code></td><td>400, after a pause of the client 408<")
        );
    }
}
