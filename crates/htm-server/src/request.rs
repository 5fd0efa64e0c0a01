//! The layers around every request: its id, its trace, the check of its host, its limits, its log and its metrics.

use std::panic::AssertUnwindSafe;
use std::time::{Duration, Instant};

use axum::extract::{MatchedPath, Request, State};
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE, HOST, IF_MATCH, ORIGIN};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures::FutureExt;
use prometheus_client::metrics::gauge::Gauge;
use tokio::time::timeout;
use tracing::Instrument;
use ulid::Ulid;

use crate::access::Principal;
use crate::app::Shared;
use crate::codes;
use crate::drain::drained;
use crate::idempotency::IDEMPOTENCY_KEY;
use crate::limits::{MAX_HEADERS, MAX_HEADERS_BYTES, MAX_URI_BYTES};
use crate::permits::tenant;
use crate::problem::{Problem, Result};
use crate::read_your_writes::WAL_POSITION;
use crate::trace::{TRACEPARENT, Trace, answered, follow};

/// The header with a request's id.
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The headers that a request has once at most.
const ONCE: [HeaderName; 7] =
    [HOST, ORIGIN, AUTHORIZATION, CONTENT_TYPE, IF_MATCH, IDEMPOTENCY_KEY, WAL_POSITION];

/// The most bytes of a client's id of a request.
const MAX_ID_BYTES: usize = 128;

/// Gives a request its id, logs and counts it, and answers a panic. Refuses one whose head is not acceptable.
pub(crate) async fn observed(State(shared): State<Shared>, request: Request, next: Next) -> Response {
    let started = Instant::now();
    let id = id(&request);
    let trace = Trace::of(request.headers());
    let method = standard(request.method()).to_owned();
    let route = request.extensions().get::<MatchedPath>().map_or("none", |path| path.as_str()).to_owned();
    let trace_id = trace.as_ref().map(|trace| trace.id.as_str());
    let span = tracing::info_span!("request", id = %id.to_str().unwrap_or("?"), trace_id, method, route);
    let exported = follow(&span, trace.as_ref(), &method, &route);
    let in_hand = InHand::new(&shared.metrics.in_flight);
    let request = drained(request, shared.limits.request_time);
    let work = async {
        let head = small_head(&request).and_then(|()| each_once(request.headers()));
        match head.and_then(|()| shared.hosts.check(&request)) {
            Ok(()) => next.run(request).await,
            Err(problem) => problem.into_response(),
        }
    };
    let work = AssertUnwindSafe(work).catch_unwind().instrument(span.clone());
    let mut response = work.await.unwrap_or_else(|_| {
        let _entered = span.enter();
        Problem::new(codes::INTERNAL_ERROR, "the server failed").into_response()
    });
    drop(in_hand);
    let (status, took) = (response.status().as_u16(), started.elapsed());
    shared.metrics.answered(&method, &route, status, took);
    answered(&span, status);
    span.in_scope(|| tracing::debug!(status, ms = took.as_millis() as u64, "answered"));
    let headers = response.headers_mut();
    headers.insert(REQUEST_ID, id);
    if let Some(trace) = trace {
        headers.insert(TRACEPARENT, trace.answer(exported.unwrap_or_else(|| fastrand::u64(..))));
    }
    response
}

/// The name of a standard method. Any token may be sent as one, and a metric of each would be kept.
fn standard(method: &Method) -> &str {
    match *method {
        Method::GET
        | Method::HEAD
        | Method::POST
        | Method::PUT
        | Method::PATCH
        | Method::DELETE
        | Method::OPTIONS
        | Method::TRACE
        | Method::CONNECT => method.as_str(),
        _ => "other",
    }
}

/// Counts a request in hand, until it is answered or its client has gone.
struct InHand(Gauge);

impl InHand {
    fn new(gauge: &Gauge) -> Self {
        gauge.inc();
        Self(gauge.clone())
    }
}

impl Drop for InHand {
    fn drop(&mut self) {
        self.0.dec();
    }
}

/// The client's id of a request if it has a usable one, else a new one.
fn id(request: &Request) -> HeaderValue {
    let given = request.headers().get(REQUEST_ID).filter(|value| {
        (1..=MAX_ID_BYTES).contains(&value.len()) && value.as_bytes().iter().all(u8::is_ascii_graphic)
    });
    given
        .cloned()
        .unwrap_or_else(|| HeaderValue::from_str(&Ulid::new().to_string()).expect("a ULID is visible"))
}

/// Refuses a request with two of a header that it has once. Another program on the way may have read the other one.
fn each_once(headers: &HeaderMap) -> Result<()> {
    let is_there_twice = |name: &&HeaderName| headers.get_all(*name).iter().nth(1).is_some();
    ONCE.iter().find(is_there_twice).map_or(Ok(()), |name| {
        let problem = format!("the request has the header `{name}` more than once");
        Err(Problem::new(codes::HEADER_INVALID, problem))
    })
}

/// Refuses a request whose head is too large.
fn small_head(request: &Request) -> Result<()> {
    let uri = request.uri().path_and_query().map_or(0, |it| it.as_str().len());
    if uri > MAX_URI_BYTES {
        let problem = format!("the URI has {uri} bytes, of {MAX_URI_BYTES} at most");
        return Err(Problem::new(codes::URI_TOO_LONG, problem));
    }
    let headers = request.headers();
    let bytes: usize = headers.iter().map(|(name, value)| name.as_str().len() + value.len()).sum();
    if headers.len() > MAX_HEADERS || bytes > MAX_HEADERS_BYTES {
        let problem = format!(
            "there are {} headers of {bytes} bytes, of {MAX_HEADERS} and {MAX_HEADERS_BYTES} at most",
            headers.len()
        );
        return Err(Problem::new(codes::HEADERS_TOO_LARGE, problem));
    }
    Ok(())
}

/// Refuses a request when too many are in hand, or when the server stops; ends one that takes too long. The request is of
/// a known principal: who has no key takes nothing of what keys share.
pub(crate) async fn limited(
    State(shared): State<Shared>,
    mut request: Request,
    next: Next,
) -> Result<Response> {
    refuse_stopping(&shared)?;
    let htm = &Principal::of(request.extensions())?.htm;
    let (_permit, tenant) = (shared.permits.take(htm)?, tenant(htm));
    let reserved = shared.bodies.reserve(&request, tenant)?;
    request.extensions_mut().insert(reserved.clone());
    let limit = shared.limits.request_time;
    let answered = async { Ok(next.run(shared.parameters.check(request).await?).await) };
    match timeout(limit, answered).await {
        Ok(answered) => answered,
        Err(_elapsed) if reserved.is_read() => Err(late_body(limit)),
        Err(_elapsed) => Err(late(limit)),
    }
}

/// Refuses what a server that stops would begin.
pub(crate) fn refuse_stopping(shared: &Shared) -> Result<()> {
    match shared.stop.is_cancelled() {
        true => Err(Problem::new(codes::STOPPING, "the server is stopping")),
        false => Ok(()),
    }
}

/// The error of a request that takes too long.
pub(crate) fn late(limit: Duration) -> Problem {
    let problem = format!("the request took longer than {} s", limit.as_secs_f64());
    Problem::new(codes::REQUEST_TIMEOUT, problem)
}

/// The error of a body that takes too long.
pub(crate) fn late_body(limit: Duration) -> Problem {
    let problem = format!("the body did not come within {} s", limit.as_secs_f64());
    Problem::new(codes::BODY_INCOMPLETE, problem).with_status(StatusCode::REQUEST_TIMEOUT)
}
