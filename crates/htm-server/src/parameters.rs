//! The parameters of queries. Those that a path does not have are refused, also by paths that have none: a mistyped name
//! would otherwise be ignored.

use std::collections::{BTreeMap, BTreeSet};

use axum::extract::{MatchedPath, Query, Request};
use utoipa::openapi::path::{Operation, ParameterIn, PathItem};
use utoipa::openapi::{OpenApi, RefOr};

use crate::codes;
use crate::problem::{Problem, Result};

/// The names of the parameters of each method and path.
pub(crate) struct Parameters(BTreeMap<String, ByMethod>);

type ByMethod = BTreeMap<&'static str, BTreeSet<String>>;

impl Parameters {
    /// Those of a description.
    pub(crate) fn of(described: &OpenApi) -> Self {
        let of = |item| operations(item).map(|(method, operation)| (method, names(operation))).collect();
        Self(described.paths.paths.iter().map(|(path, item)| (path.clone(), of(item))).collect())
    }

    /// Refuses a request with a parameter that its path does not have.
    pub(crate) fn check(&self, request: &Request) -> Result<()> {
        let path = request.extensions().get::<MatchedPath>().map(MatchedPath::as_str).unwrap_or_default();
        let Some(known) = self.0.get(path).and_then(|it| it.get(request.method().as_str())) else {
            return Ok(());
        };
        let given = Query::<Vec<(String, String)>>::try_from_uri(request.uri())
            .map_err(|error| Problem::new(codes::QUERY_INVALID, error.body_text()))?;
        let Some((unknown, _)) = given.iter().find(|(name, _)| !known.contains(name)) else { return Ok(()) };
        let known: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
        let known =
            if known.is_empty() { "it has none".into() } else { format!("it has {}", known.join(", ")) };
        let problem = format!("the path has no parameter `{unknown}`; {known}");
        Err(Problem::new(codes::QUERY_INVALID, problem))
    }
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

fn names(operation: &Operation) -> BTreeSet<String> {
    let parameters = operation.parameters.iter().flatten().filter_map(|parameter| match parameter {
        RefOr::T(parameter) if parameter.parameter_in == ParameterIn::Query => Some(parameter.name.clone()),
        _ => None,
    });
    parameters.collect()
}
