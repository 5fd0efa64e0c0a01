//! `Idempotency-Key`: a write with a key is done once, and a retry gets the first answer.
//!
//! Memories and the answer commit together: their handlers take the operation and pass it to
//! [`remember_once`](htm_core::Htm::remember_once). Other writes are claimed before and answered after. Those that change a
//! memory or a file commit their answer too. After a crash, a retry does the rest again, which has no second effect.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::body::{Body, to_bytes};
use axum::extract::{FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use htm_core::error::chain;
use htm_core::{Htm, Kept, Operation};
use serde::Serialize;
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};
use tracing::Instrument;

use crate::access::Principal;
use crate::app::App;
use crate::codes;
use crate::extract;
use crate::problem::{Problem, Result};

/// The header with a key.
pub(crate) const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// The header of an answer that an earlier request got.
const REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");

/// The headers of an answer that a retry gets too.
const KEPT: [HeaderName; 2] = [header::ETAG, header::LOCATION];

/// The pause before an operation that could not be ended is ended again.
const AGAIN: Duration = Duration::from_secs(1);

/// The operation of a write whose handler keeps the answer.
pub(crate) struct Once(pub(crate) Option<Operation>);

impl Once {
    /// The operation, with how to make its answer.
    pub(crate) fn keeps<T>(&self, answer: fn(&T) -> Value) -> Option<Kept<'_, T>> {
        self.0.as_ref().map(|operation| Kept::new(operation, answer))
    }
}

impl<S: Sync> FromRequestParts<S> for Once {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self> {
        Ok(Self(parts.extensions.remove()))
    }
}

/// Reads the key, for a handler that keeps the answer.
pub(crate) async fn by_handler(request: Request, next: Next) -> Result<Response> {
    let (mut request, operation) = read(request).await?;
    if let Some(operation) = operation {
        request.extensions_mut().insert(operation);
    }
    Ok(next.run(request).await)
}

/// Reads the key, and keeps the answer.
pub(crate) async fn around(app: App, request: Request, next: Next) -> Result<Response> {
    let (mut request, operation) = read(request).await?;
    let Some(operation) = operation else { return Ok(next.run(request).await) };
    request.extensions_mut().insert(operation.clone());
    let lease = app.shared.limits.request_time * 2;
    let began = Instant::now();
    if let Some(answer) = app.htm.begin_operation(&operation, lease).await? {
        return Ok(replayed(&answer));
    }
    // In a task of its own: a client that goes away would otherwise leave the operation open.
    let work = async move {
        let claimed = Mutex::new(began);
        // A retry does not begin it again, however long it takes. The work goes on while its claim is renewed.
        let renewed = async {
            loop {
                sleep(lease / 4).await;
                let now = Instant::now();
                if renew(&app, &operation, lease).await {
                    *claimed.lock().unwrap_or_else(PoisonError::into_inner) = now;
                }
            }
        };
        let kept = async {
            let response = next.run(request).await;
            // Before the claim runs out: a retry may begin it anew then.
            let until = *claimed.lock().unwrap_or_else(PoisonError::into_inner) + lease * 3 / 4;
            keep(&app.htm, &operation, until, response).await
        };
        tokio::select! {
            response = kept => response,
            () = renewed => unreachable!("it has no end"),
        }
    };
    let work = tokio::spawn(work.in_current_span());
    work.await.map_err(|_| Problem::new(codes::INTERNAL_ERROR, "the server failed"))
}

/// Whether the claim is renewed.
async fn renew(app: &App, operation: &Operation, lease: Duration) -> bool {
    let renewed = app.htm.renew_operation(operation, lease).await;
    if let Err(error) = &renewed {
        tracing::warn!(code = error.code(), error = %chain(error), "the claim of an operation is not renewed");
    }
    renewed.is_ok()
}

/// Keeps a successful answer, and gives up the operation of another. If the database is away, it is tried again `until`.
async fn keep(htm: &Htm, operation: &Operation, until: Instant, response: Response) -> Response {
    let (parts, body) = response.into_parts();
    let body = to_bytes(body, usize::MAX).await.unwrap_or_default();
    let answer = parts.status.is_success().then(|| {
        let headers: Vec<(&str, &str)> = KEPT
            .iter()
            .filter_map(|name| Some((name.as_str(), parts.headers.get(name)?.to_str().ok()?)))
            .collect();
        kept(parts.status, &headers, &String::from_utf8_lossy(&body))
    });
    if let Err(error) = end(htm, operation, answer.as_ref()).await {
        // It is done, or refused, all the same.
        tracing::warn!(code = error.code(), error = %chain(&error), "the answer to a retry is not kept yet");
        tokio::spawn(end_later(htm.clone(), operation.clone(), answer, until).in_current_span());
    }
    Response::from_parts(parts, Body::from(body))
}

/// Ends an operation with its answer, or gives it up.
async fn end(htm: &Htm, operation: &Operation, answer: Option<&Value>) -> htm_core::Result<()> {
    match answer {
        Some(answer) => htm.end_operation(operation, answer).await,
        None => htm.abandon_operation(operation).await,
    }
}

/// Tries to end an operation until it succeeds, or its time is over. A retry does it again then.
async fn end_later(htm: Htm, operation: Operation, answer: Option<Value>, until: Instant) {
    loop {
        sleep(AGAIN).await;
        let rest = until.saturating_duration_since(Instant::now());
        if rest.is_zero() {
            return;
        }
        // No attempt outlasts the claim: a retry may begin it anew then.
        if let Ok(Ok(())) = timeout(rest, end(&htm, &operation, answer.as_ref())).await {
            return;
        }
    }
}

/// The form of an answer that is kept.
fn kept(status: StatusCode, headers: &[(&str, &str)], body: &str) -> Value {
    json!({"status": status.as_u16(), "headers": headers, "body": body})
}

/// The answer with a body of JSON, for a handler that commits it.
pub(crate) fn answer(status: StatusCode, headers: &[(&str, &str)], body: &impl Serialize) -> Value {
    kept(status, headers, &serde_json::to_string(body).unwrap_or_default())
}

/// As [`answer`], with the status 200 and no headers.
pub(crate) fn answer_of<T: Serialize>(body: &T) -> Value {
    answer(StatusCode::OK, &[], body)
}

/// Refuses a key on a path that cannot honour it.
pub(crate) async fn refused(request: Request, next: Next) -> Result<Response> {
    match request.headers().contains_key(IDEMPOTENCY_KEY) && request.method() != Method::GET {
        true => Err(Problem::new(codes::IDEMPOTENCY_UNFIT, "this path takes no Idempotency-Key")),
        false => Ok(next.run(request).await),
    }
}

/// Marks the answer of an earlier request.
pub(crate) fn mark(response: &mut Response) {
    response.headers_mut().insert(REPLAYED, HeaderValue::from_static("true"));
}

/// The operation of a write with a key, and the request with its body in memory.
async fn read(request: Request) -> Result<(Request, Option<Operation>)> {
    let Some(key) = request.headers().get(IDEMPOTENCY_KEY) else { return Ok((request, None)) };
    if matches!(*request.method(), Method::GET | Method::HEAD) {
        return Ok((request, None));
    }
    let key = String::from_utf8_lossy(key.as_bytes()).into_owned();
    let head = format!(
        "{} {} {:?}\n",
        request.method(),
        request.uri().path_and_query().map_or("", |it| it.as_str()),
        request.headers().get(header::IF_MATCH)
    );
    let (parts, body) = request.into_parts();
    let body = extract::bytes(&parts, body).await?;
    let principal = &Principal::of(&parts.extensions)?.key;
    let operation = Operation::new(principal, &key, &[head.as_bytes(), &body].concat())?;
    Ok((Request::from_parts(parts, Body::from(body)), Some(operation)))
}

fn replayed(answer: &Value) -> Response {
    let status = answer["status"].as_u64().and_then(|status| StatusCode::from_u16(status as u16).ok());
    let body = answer["body"].as_str().unwrap_or_default().to_owned();
    let mut response = (status.unwrap_or_default(), body).into_response();
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    for pair in answer["headers"].as_array().into_iter().flatten() {
        let name = pair[0].as_str().and_then(|name| KEPT.iter().find(|kept| kept.as_str() == name));
        let value = pair[1].as_str().and_then(|value| HeaderValue::from_str(value).ok());
        if let (Some(name), Some(value)) = (name, value) {
            response.headers_mut().insert(name.clone(), value);
        }
    }
    mark(&mut response);
    response
}
