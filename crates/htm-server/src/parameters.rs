//! What a path takes: the parameters of its query, and whether it has a body. Anything else is refused: a mistyped name, or
//! a body that says `dry_run` where none is read, would otherwise be ignored.

use std::collections::{BTreeMap, BTreeSet};

use axum::body::Body;
use axum::extract::{MatchedPath, Request};
use utoipa::openapi::path::{Operation, ParameterIn, PathItem};
use utoipa::openapi::{OpenApi, RefOr};

use crate::problem::{Problem, Result};
use crate::{codes, extract, query};

/// The parameters of each method and path.
pub(crate) struct Parameters(BTreeMap<String, ByMethod>);

type ByMethod = BTreeMap<&'static str, Taken>;

struct Taken {
    /// The names of the parameters.
    parameters: BTreeSet<String>,
    has_body: bool,
}

impl Parameters {
    /// Those of a description.
    pub(crate) fn of(described: &OpenApi) -> Self {
        let of = |item| operations(item).map(|(method, operation)| (method, taken(operation))).collect();
        Self(described.paths.paths.iter().map(|(path, item)| (path.clone(), of(item))).collect())
    }

    /// Refuses a request with a parameter or a body that its path does not have.
    pub(crate) async fn check(&self, request: Request) -> Result<Request> {
        let path = request.extensions().get::<MatchedPath>().map(MatchedPath::as_str).unwrap_or_default();
        let Some(taken) = self.0.get(path).and_then(|it| it.get(request.method().as_str())) else {
            return Ok(request);
        };
        check_query(&taken.parameters, request.uri().query().unwrap_or_default())?;
        if taken.has_body { Ok(request) } else { without_body(request).await }
    }
}

fn check_query(known: &BTreeSet<String>, given: &str) -> Result<()> {
    let given = query::pairs(given)?;
    let Some((unknown, _)) = given.iter().find(|(name, _)| !known.contains(name)) else { return Ok(()) };
    let known: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
    let known = if known.is_empty() { "it has none".into() } else { format!("it has {}", known.join(", ")) };
    let problem = format!("the path has no parameter `{unknown}`; {known}");
    Err(Problem::new(codes::QUERY_INVALID, problem))
}

/// Refuses a body, unless it is empty or an object without fields.
async fn without_body(request: Request) -> Result<Request> {
    let (parts, body) = request.into_parts();
    let body = extract::bytes(&parts, body).await?;
    let said = || body.iter().filter(|byte| !byte.is_ascii_whitespace());
    if said().next().is_some() && !said().eq(b"{}") {
        let problem = format!("{} {} takes no body, and the request has one", parts.method, parts.uri.path());
        return Err(Problem::new(codes::BODY_INVALID, problem));
    }
    Ok(Request::from_parts(parts, Body::from(body)))
}

fn operations(item: &PathItem) -> impl Iterator<Item = (&'static str, &Operation)> {
    let each = [
        ("GET", &item.get),
        ("PUT", &item.put),
        ("POST", &item.post),
        ("PATCH", &item.patch),
        ("DELETE", &item.delete),
    ];
    each.into_iter().filter_map(|(method, operation)| Some((method, operation.as_ref()?)))
}

fn taken(operation: &Operation) -> Taken {
    let parameters = operation.parameters.iter().flatten().filter_map(|parameter| match parameter {
        RefOr::T(parameter) if parameter.parameter_in == ParameterIn::Query => Some(parameter.name.clone()),
        _ => None,
    });
    Taken { parameters: parameters.collect(), has_body: operation.request_body.is_some() }
}
