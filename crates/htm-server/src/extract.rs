//! The parts of a request: its path, its query and its body, each with an error that says what is wrong.

use std::str::FromStr;

use axum::extract::path::ErrorKind;
use axum::extract::rejection::PathRejection;
use axum::extract::{FromRequest, FromRequestParts, Path, Request};
use axum::http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use bytes::Bytes;
use futures::StreamExt;
use htm_core::error::codes::{CURSOR_INVALID, LIMIT_OUT_OF_RANGE};
use serde::de::DeserializeOwned;
use tokio::time::timeout;

use crate::bodies::Reserved;
use crate::codes;
use crate::limits::{BODY_PAUSE, MAX_BODY_BYTES};
use crate::problem::{Problem, Result};
use crate::{json, query, weight};

/// A JSON body.
pub(crate) struct Body<T>(pub(crate) T);

impl<S: Sync, T: DeserializeOwned + 'static> FromRequest<S> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self> {
        json_only(request.headers())?;
        let (parts, body) = request.into_parts();
        let bytes = bytes(&parts, body).await?;
        weigh(&parts, &bytes)?;
        if bytes.is_empty() {
            return Err(Problem::new(codes::BODY_INVALID, "the body is empty"));
        }
        json::read(&bytes).map(Self).map_err(|problem| Problem::new(codes::BODY_INVALID, problem))
    }
}

/// Refuses JSON that takes too much memory when it is read. Reserves the memory.
pub(crate) fn weigh(parts: &Parts, json: &[u8]) -> Result<()> {
    let weight =
        weight::within_limit("body", json).map_err(|problem| Problem::new(codes::BODY_TOO_LARGE, problem))?;
    parts.extensions.get::<Reserved>().map_or(Ok(()), |reserved| reserved.reserve_values(weight))
}

/// The error of a body that is not the JSON it has to be.
pub(crate) fn unreadable(error: &serde_json::Error, is_empty: bool) -> Problem {
    match is_empty {
        true => Problem::new(codes::BODY_INVALID, "the body is empty"),
        false => {
            let said = htm_core::unreadable(error);
            Problem::new(codes::BODY_INVALID, format!("the body cannot be read: {said}"))
        }
    }
}

/// The parameters of the query. Unknown ones are an error.
pub(crate) struct Asked<T>(pub(crate) T);

impl<S: Sync + Send, T: DeserializeOwned> FromRequestParts<S> for Asked<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self> {
        query::read(parts.uri.query().unwrap_or_default()).map(Self)
    }
}

/// The most entries of a list: what is asked for, otherwise `default`.
pub(crate) fn limit(asked: Option<u32>, default: u32, most: u32) -> Result<u32> {
    match asked.unwrap_or(default) {
        limit if (1..=most).contains(&limit) => Ok(limit),
        limit => Err(Problem::new(LIMIT_OUT_OF_RANGE, format!("limit {limit} is outside 1 to {most}"))),
    }
}

/// The cursor after which a page begins: `next` of the page before it.
pub(crate) fn cursor<T: FromStr>(text: Option<&str>) -> Result<Option<T>> {
    let invalid = |text: &str| Problem::new(CURSOR_INVALID, format!("`{text}` is not a cursor"));
    text.map(|text| text.parse().map_err(|_| invalid(text))).transpose()
}

/// The cursor of the page after a full one: that of its last entry.
pub(crate) fn next<T, C>(entries: &[T], limit: usize, cursor: impl Fn(&T) -> C) -> Option<C> {
    entries.last().filter(|_| entries.len() == limit).map(cursor)
}

/// The parts of the path.
pub(crate) struct Named<T>(pub(crate) T);

impl<S: Sync + Send, T: DeserializeOwned + Send> FromRequestParts<S> for Named<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self> {
        let refused = |error| Problem::new(codes::PATH_INVALID, of_path(&error));
        Path::from_request_parts(parts, state).await.map(|Path(named)| Self(named)).map_err(refused)
    }
}

/// The error of a part of the path. Those that are no text are whole numbers.
fn of_path(error: &PathRejection) -> String {
    let PathRejection::FailedToDeserializePathParams(failed) = error else { return error.body_text() };
    match failed.kind() {
        ErrorKind::ParseError { value, .. }
        | ErrorKind::ParseErrorAtIndex { value, .. }
        | ErrorKind::ParseErrorAtKey { value, .. } => {
            format!("`{value}` in the path is not a whole number, or is too large")
        }
        ErrorKind::InvalidUtf8InPathParam { key } => format!("`{key}` in the path is not UTF-8"),
        _ => error.body_text(),
    }
}

/// The revision in `If-Match`, if there is one. `*` is any.
pub(crate) struct IfMatch(pub(crate) Option<i32>);

impl<S: Sync + Send> FromRequestParts<S> for IfMatch {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self> {
        let Some(value) = parts.headers.get(axum::http::header::IF_MATCH) else { return Ok(Self(None)) };
        if value.as_bytes() == b"*" {
            return Ok(Self(None));
        }
        revision(value).map(|revision| Self(Some(revision))).ok_or_else(|| {
            let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
            let problem = format!("If-Match `{value}` is not one ETag of this server, such as \"3\"");
            Problem::new(codes::HEADER_INVALID, problem)
        })
    }
}

/// The revision of an ETag. A proxy that compresses an answer makes its ETag a weak one.
pub(crate) fn revision(etag: &HeaderValue) -> Option<i32> {
    let etag = etag.to_str().ok()?;
    etag.strip_prefix("W/").unwrap_or(etag).strip_prefix('"')?.strip_suffix('"')?.parse().ok()
}

/// The ETag of a revision.
pub(crate) fn etag(revision: i32) -> HeaderValue {
    HeaderValue::from_str(&format!("\"{revision}\"")).expect("a number is visible")
}

/// Refuses bodies that are not plain JSON.
pub(crate) fn json_only(headers: &HeaderMap) -> Result<()> {
    let media_type = headers.get(CONTENT_TYPE).map(|value| value.to_str().unwrap_or("?"));
    let essence = media_type.map(|it| it.split(';').next().unwrap_or_default().trim().to_ascii_lowercase());
    if essence.as_deref() != Some("application/json") {
        let given = media_type.unwrap_or("none");
        return Err(Problem::new(codes::MEDIA_TYPE_UNFIT, format!("the content type is `{given}`")));
    }
    plain_only(headers)
}

/// Refuses compressed bodies, whose size is not known before they are read.
pub(crate) fn plain_only(headers: &HeaderMap) -> Result<()> {
    match headers.get(CONTENT_ENCODING) {
        Some(encoding) if encoding.as_bytes() != b"identity" => {
            let given = String::from_utf8_lossy(encoding.as_bytes()).into_owned();
            Err(Problem::new(codes::MEDIA_TYPE_UNFIT, format!("the content encoding is `{given}`")))
        }
        _ => Ok(()),
    }
}

/// The length of the body, if the client says it.
pub(crate) fn length(headers: &HeaderMap) -> Option<usize> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// The whole body, up to the limit.
pub(crate) async fn bytes(parts: &Parts, body: axum::body::Body) -> Result<Bytes> {
    let set_read = |is_read| parts.extensions.get::<Reserved>().map(|reserved| reserved.set_read(is_read));
    set_read(true);
    let bytes = whole(&parts.headers, body, MAX_BODY_BYTES).await;
    set_read(false);
    bytes
}

/// The whole body, up to a number of bytes. A client that sends none for some time has gone.
pub(crate) async fn whole(headers: &HeaderMap, body: axum::body::Body, most: usize) -> Result<Bytes> {
    let too_large = || Problem::new(codes::BODY_TOO_LARGE, format!("the body has more than {most} bytes"));
    let length = length(headers);
    if length.is_some_and(|length| length > most) {
        return Err(too_large());
    }
    let mut stream = body.into_data_stream();
    let mut body = Vec::with_capacity(length.unwrap_or_default());
    let paused = |_elapsed| {
        let problem = format!("no byte of the body came for {} s", BODY_PAUSE.as_secs());
        Problem::new(codes::BODY_INCOMPLETE, problem).with_status(StatusCode::REQUEST_TIMEOUT)
    };
    while let Some(chunk) = timeout(BODY_PAUSE, stream.next()).await.map_err(paused)? {
        let chunk = chunk.map_err(|error| {
            Problem::new(codes::BODY_INCOMPLETE, format!("the body ended early: {error}"))
        })?;
        if body.len() + chunk.len() > most {
            return Err(too_large());
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body.into())
}

#[cfg(test)]
mod tests {
    use std::io;

    use axum::body::Body as Stream;
    use futures::stream;
    use tokio::time::Instant;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_client_that_sends_nothing_for_a_while_has_gone() {
        let first = stream::iter([Ok::<_, io::Error>(Bytes::from_static(b"{"))]);
        let body = Stream::from_stream(first.chain(stream::pending()));
        let started = Instant::now();
        let refused = whole(&HeaderMap::new(), body, 10).await.unwrap_err();
        assert!(refused.is(codes::BODY_INCOMPLETE) && refused.status() == StatusCode::REQUEST_TIMEOUT);
        assert_eq!(started.elapsed(), BODY_PAUSE);
        let refused = whole(&HeaderMap::new(), Stream::from("eleven byte"), 10).await.unwrap_err();
        assert!(refused.is(codes::BODY_TOO_LARGE));
    }

    #[test]
    fn an_etag_is_a_revision() {
        assert_eq!(revision(&etag(3)), Some(3));
        assert_eq!(revision(&HeaderValue::from_static("W/\"3\"")), Some(3));
        for other in ["3", "\"x\"", "\"3", "", "\"3\", \"4\""] {
            assert_eq!(revision(&HeaderValue::from_str(other).unwrap()), None, "{other}");
        }
    }
}
