//! `/console/sign-in`: a browser presents a key once, and holds a cookie afterwards. A script cannot read the cookie, and
//! pages of other origins cannot use it.

mod cookie;

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::header::{HOST, ORIGIN};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{AppendHeaders, IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use chrono::{DateTime, Utc};
use htm_core::{KeyText, Role, SignIn};
use serde::{Deserialize, Serialize};
use tokio::time::timeout;

use crate::access::Sender;
use crate::app::{Common, Shared};
use crate::limits::{MAX_SIGN_IN_BYTES, MAX_SIGN_INS, SIGN_IN_BODY_TIME};
use crate::problem::{Problem, Result};
use crate::request::{late, late_body, refuse_stopping};
use crate::{codes, extract, json};

pub(crate) use cookie::token;

/// The header in which a browser says which page sends a request. Older ones, and any on a plain connection to another
/// machine, send none.
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// The user of the console.
#[derive(Serialize)]
struct SignedIn {
    role: Role,
    /// The namespaces that it sees; none: all.
    namespaces: Option<Vec<String>>,
    /// The namespace where none is named.
    namespace: String,
    robot: Option<String>,
    /// The id and the name of the key; none: the server needs no key.
    key: Option<String>,
    name: Option<String>,
    ends_at: Option<DateTime<Utc>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Presented {
    key: String,
}

pub(crate) fn router() -> Router<Shared> {
    Router::new().route("/console/sign-in", get(who).post(sign_in).delete(sign_out))
}

/// Refuses a sign-in when too many are in hand, or when the server stops; ends one that takes too long. No permit is held
/// while a body is awaited: nobody knows yet who sends it.
pub(crate) async fn limited(State(shared): State<Shared>, request: Request, next: Next) -> Result<Response> {
    refuse_stopping(&shared)?;
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        same_origin(request.method(), request.headers())?;
    }
    let (parts, body) = request.into_parts();
    let limit = shared.limits.request_time.min(SIGN_IN_BODY_TIME);
    let body = timeout(limit, extract::whole(&parts.headers, body, MAX_SIGN_IN_BYTES));
    let body = body.await.unwrap_or_else(|_elapsed| Err(late_body(limit)))?;
    let Ok(_permit) = shared.sign_ins.try_acquire() else {
        return Err(Problem::new(codes::TOO_BUSY, format!("{MAX_SIGN_INS} sign-ins are in hand")));
    };
    let limit = shared.limits.request_time;
    let answered = timeout(limit, next.run(Request::from_parts(parts, Body::from(body)))).await;
    answered.map_err(|_elapsed| late(limit))
}

/// The sign-in of the browser. Its token is replaced when it is due.
async fn who(State(shared): State<Shared>, headers: HeaderMap) -> Result<Response> {
    if let Sender::Anyone =
        shared.access.sender(&shared.htm, &Method::GET, &headers, "/console/sign-in").await?
    {
        return Ok(Json(SignedIn::anyone(&shared)).into_response());
    }
    let missing = || Problem::new(codes::API_KEY_MISSING, "the browser is not signed in");
    let found = shared.htm.renew_sign_in(token(&headers).ok_or_else(missing)?).await?;
    let renewed = found.token.as_ref();
    let renewed = renewed.map(|token| cookie::of(shared.is_tls, &headers, token.expose(), found.ends_at));
    Ok((renewed.into_iter().collect::<HeaderMap>(), Json(SignedIn::of(&shared, found))).into_response())
}

async fn sign_in(State(shared): State<Shared>, headers: HeaderMap, body: Bytes) -> Result<Response> {
    let Presented { key } =
        json::read(&body).map_err(|problem| Problem::new(codes::BODY_INVALID, problem))?;
    let found = shared.htm.authenticate(&key).await;
    let key = found.inspect_err(|error| shared.access.refusals.note(&key, error.code()))?;
    let sign_in = shared.htm.sign_in(key).await?;
    let token = sign_in.token.as_ref().map_or("", KeyText::expose);
    let cookie = cookie::of(shared.is_tls, &headers, token, sign_in.ends_at);
    Ok(([cookie], Json(SignedIn::of(&shared, sign_in))).into_response())
}

async fn sign_out(State(shared): State<Shared>, headers: HeaderMap) -> Result<Response> {
    for token in cookie::tokens(&headers) {
        shared.htm.sign_out(token).await?;
        shared.access.forget();
    }
    Ok((StatusCode::NO_CONTENT, AppendHeaders(cookie::none(&headers))).into_response())
}

impl SignedIn {
    fn anyone(shared: &Common) -> Self {
        let namespace = shared.htm.settings().namespace.clone();
        let (namespaces, robot, key, name) = (None, None, None, None);
        Self { role: Role::Admin, namespaces, namespace, robot, key, name, ends_at: None }
    }

    fn of(shared: &Common, SignIn { key, ends_at, .. }: SignIn) -> Self {
        let own = &shared.htm.settings().namespace;
        let namespace = match shared.htm.for_api_key(&key) {
            Ok(htm) => htm.settings().namespace.clone(),
            Err(_) => own.clone(),
        };
        Self {
            role: key.role,
            namespace,
            namespaces: key.namespaces,
            robot: key.robot,
            key: Some(key.id),
            name: key.name,
            ends_at: Some(ends_at),
        }
    }
}

/// Refuses a request that a page of another origin may have made with the browser's cookie. Another port of the same host
/// is another origin, though its pages send the cookie.
pub(crate) fn same_origin(method: &Method, headers: &HeaderMap) -> Result<()> {
    let text = |name: &HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    let reads = matches!(*method, Method::GET | Method::HEAD);
    let is_same = match (text(&FETCH_SITE), text(&ORIGIN)) {
        (Some(site), _) => site == "same-origin" || (reads && site == "none"),
        (None, Some(origin)) => origin.split_once("://").map(|(_, authority)| authority) == text(&HOST),
        // Browsers send the origin with every write.
        (None, None) => reads,
    };
    match is_same {
        true => Ok(()),
        false => Err(of_another_origin()),
    }
}

/// Refuses a request that a browser makes for a page of another origin. Programs do not say where theirs come from.
pub(crate) fn no_other_site(headers: &HeaderMap) -> Result<()> {
    match headers.get(&FETCH_SITE).map(HeaderValue::as_bytes) {
        Some(b"cross-site" | b"same-site") => Err(of_another_origin()),
        _ => Ok(()),
    }
}

fn of_another_origin() -> Problem {
    Problem::new(codes::HOST_FORBIDDEN, "the request comes from a page of another origin")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The headers of a request.
    pub(super) fn headers<const N: usize>(pairs: [(&'static str, &'static str); N]) -> HeaderMap {
        pairs.into_iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
    }

    #[test]
    fn a_page_of_another_origin_cannot_use_a_cookie() {
        let host = ("host", "127.0.0.1:7480");
        for (method, given, is_same) in [
            (Method::POST, headers([host, ("sec-fetch-site", "same-origin")]), true),
            (Method::GET, headers([host, ("sec-fetch-site", "none")]), true),
            (Method::POST, headers([host, ("sec-fetch-site", "none")]), false),
            (Method::GET, headers([host, ("sec-fetch-site", "same-site")]), false),
            (Method::POST, headers([host, ("sec-fetch-site", "cross-site")]), false),
            (Method::POST, headers([host, ("origin", "http://127.0.0.1:7480")]), true),
            (Method::POST, headers([host, ("origin", "http://127.0.0.1:3000")]), false),
            (Method::POST, headers([host, ("origin", "null")]), false),
            (Method::POST, headers([host]), false),
            (Method::GET, headers([host]), true),
        ] {
            assert_eq!(same_origin(&method, &given).is_ok(), is_same, "{method} {given:?}");
        }
    }
}
