//! Errors as answers: problem details (RFC 9457) with the stable code and the hint.

use std::collections::BTreeMap;
use std::time::Duration;

use axum::Json;
use axum::http::header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use htm_core::Error;
use htm_core::error::Code;
use htm_core::error::codes::HANDLE_CLOSED;
use htm_core::fault::Fault;
use serde::Serialize;
use utoipa::ToSchema;

use crate::{codes, hints, outage};

/// The media type of problem details.
pub(crate) const MEDIA_TYPE: &str = "application/problem+json";

/// The result of a handler.
pub(crate) type Result<T, E = Problem> = std::result::Result<T, E>;

/// Problem details (RFC 9457).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = Problem)]
pub(crate) struct Details {
    /// A URI reference of the kind of problem: the entry of its code in the list of errors.
    r#type: String,
    /// The meaning of the code.
    title: &'static str,
    /// The HTTP status.
    status: u16,
    /// The error, with the value that was wrong.
    detail: String,
    /// A stable code for programs, such as `key_taken`.
    code: &'static str,
    /// The next step.
    hint: String,
    /// Values of the detail for programs, such as the node that has a key.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    values: BTreeMap<&'static str, String>,
}

/// An error as an answer.
#[derive(Debug)]
pub(crate) struct Problem {
    status: StatusCode,
    /// Whether the same request may succeed in a moment.
    passes: bool,
    /// The seconds after which it may succeed, if they are known.
    wait: Option<u64>,
    /// The header `WWW-Authenticate`: the way in which a client gets access.
    challenge: Option<HeaderValue>,
    details: Box<Details>,
}

impl Problem {
    /// A problem of the server itself.
    pub(crate) fn new(code: &'static Code, detail: impl Into<String>) -> Self {
        Error::new(code, detail.into()).into()
    }

    /// Sets the time after which the same request may succeed.
    pub(crate) fn retry_after(self, wait: Duration) -> Self {
        Self { wait: Some(wait.as_secs() + 1), ..self }
    }

    /// Sets the header `WWW-Authenticate`.
    pub(crate) fn with_challenge(self, challenge: HeaderValue) -> Self {
        Self { challenge: Some(challenge), ..self }
    }

    /// Its status.
    pub(crate) fn status(&self) -> StatusCode {
        self.status
    }

    /// Whether it has this code.
    pub(crate) fn is(&self, code: &Code) -> bool {
        self.details.code == code.name
    }

    /// Its details, for an item of a list.
    pub(crate) fn details(self) -> Details {
        *self.details
    }

    /// Sets another next step than that of its code.
    pub(crate) fn with_hint(mut self, hint: &str) -> Self {
        self.details.hint = hint.to_owned();
        self
    }

    /// Says which entry of a list of the body it is about.
    pub(crate) fn of_entry(mut self, list: &str, place: usize) -> Self {
        self.details.detail = format!("`{list}[{place}]`: {}", self.details.detail);
        self.details.values.insert("place", place.to_string());
        self
    }

    /// Sets another status than that of its code.
    pub(crate) fn with_status(mut self, status: StatusCode) -> Self {
        self.status = status;
        self.details.status = status.as_u16();
        self
    }

    /// As the answer to a request with `If-Match`: a conflict is a failed precondition.
    pub(crate) fn of_precondition(self) -> Self {
        match of_precondition(self.details.code) {
            Some(status) => self.with_status(status),
            None => self,
        }
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        let status = status(&error);
        if status.is_server_error() {
            outage::warn(&error);
        }
        let values = error.values().map(|(name, value)| (name, value.to_owned())).collect();
        let details = Details {
            r#type: format!("/docs/errors#{}", error.code()),
            title: error.meaning(),
            status: status.as_u16(),
            detail: error.to_string(),
            code: error.code(),
            hint: hints::hint(&error),
            values,
        };
        let is_transient = error.fault() == Fault::Transient && !error.is(codes::REQUEST_TIMEOUT);
        // The server ends, and another one begins.
        let passes = is_transient || error.is(HANDLE_CLOSED);
        Self { status, passes, wait: None, challenge: None, details: Box::new(details) }
    }
}

/// The code of a problem, beside its answer.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Refused(pub(crate) &'static str);

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let (passes, wait) = (self.passes, self.wait.unwrap_or(1));
        let refused = Refused(self.details.code);
        let plain = || (self.status == StatusCode::UNAUTHORIZED).then(|| HeaderValue::from_static("Bearer"));
        let challenge = self.challenge.or_else(plain);
        let mut response = (self.status, Json(self.details)).into_response();
        response.extensions_mut().insert(refused);
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(MEDIA_TYPE));
        if passes {
            headers.insert(RETRY_AFTER, HeaderValue::from(wait));
        }
        if let Some(challenge) = challenge {
            headers.insert(WWW_AUTHENTICATE, challenge);
        }
        response
    }
}

/// The status of an error.
pub(crate) fn status(error: &Error) -> StatusCode {
    of_code(error.code(), error.fault())
}

/// The result of a write, for a request with `If-Match` if it names a revision.
pub(crate) fn of_request<T>(result: htm_core::Result<T>, revision: Option<i32>) -> Result<T> {
    result.map_err(|error| match revision {
        Some(_) => Problem::from(error).of_precondition(),
        None => error.into(),
    })
}

/// The status of a code in the answer to a request with `If-Match`, if it has another one there.
pub(crate) fn of_precondition(code: &str) -> Option<StatusCode> {
    (code == "revision_conflict").then_some(StatusCode::PRECONDITION_FAILED)
}

/// The status of a code after a pause of the client, if it has another one then.
pub(crate) fn of_pause(code: &str) -> Option<StatusCode> {
    (code == "body_incomplete").then_some(StatusCode::REQUEST_TIMEOUT)
}

/// The status of a code with a fault.
pub(crate) fn of_code(code: &str, fault: Fault) -> StatusCode {
    match code {
        "route_unknown"
        | "node_not_found"
        | "file_not_found"
        | "relation_unknown"
        | "recall_unknown"
        | "ranking_unknown"
        | "document_not_found"
        | "robot_unknown"
        | "group_unknown"
        | "group_member_unknown"
        | "tag_unknown"
        | "synonym_unknown"
        | "change_unknown"
        | "erasure_unknown"
        | "backfill_unknown"
        | "job_not_found"
        | "api_key_unknown"
        | "queue_unknown"
        | "provider_unknown"
        | "model_unknown" => StatusCode::NOT_FOUND,
        "api_key_missing" | "api_key_invalid" | "api_key_expired" | "api_key_revoked" | "signed_out"
        | "token_invalid" => StatusCode::UNAUTHORIZED,
        "operation_erased" => StatusCode::GONE,
        "method_unknown" => StatusCode::METHOD_NOT_ALLOWED,
        "host_forbidden"
        | "namespace_forbidden"
        | "robot_forbidden"
        | "role_insufficient"
        | "token_namespaces_unfit"
        | "not_owner" => StatusCode::FORBIDDEN,
        "body_invalid" | "body_incomplete" | "query_invalid" | "path_invalid" | "header_invalid"
        | "operation_invalid" | "idempotency_unfit" => StatusCode::BAD_REQUEST,
        "body_too_large" | "batch_too_large" | "content_too_large" => StatusCode::PAYLOAD_TOO_LARGE,
        "uri_too_long" => StatusCode::URI_TOO_LONG,
        "headers_too_large" => StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
        "media_type_unfit" => StatusCode::UNSUPPORTED_MEDIA_TYPE,
        "key_taken"
        | "content_taken"
        | "file_exists"
        | "robot_taken"
        | "tag_taken"
        | "tag_is_synonym"
        | "synonym_is_tag"
        | "tag_in_use"
        | "not_forgotten"
        | "remembered_by_others"
        | "revision_conflict"
        | "not_confirmed"
        | "relation_cycle"
        | "change_reverted"
        | "changed_since"
        | "plan_missing"
        | "erase_plan_changed"
        | "job_state_unfit"
        | "model_active"
        | "vector_index_unavailable"
        | "model_of_callers"
        | "model_retired"
        | "model_incomplete"
        | "group_closed"
        | "group_last_active"
        | "group_member_lost"
        | "group_member_passive"
        | "group_member_replaced"
        | "operation_open" => StatusCode::CONFLICT,
        "too_many_requests" | "too_busy" => StatusCode::TOO_MANY_REQUESTS,
        "request_timeout" => StatusCode::REQUEST_TIMEOUT,
        "provider_timeout" => StatusCode::GATEWAY_TIMEOUT,
        // The server ends.
        "handle_closed" => StatusCode::SERVICE_UNAVAILABLE,
        // The server has no such thing: another request can do without.
        "embedder_missing" | "reranker_missing" | "expander_missing" => StatusCode::UNPROCESSABLE_ENTITY,
        "namespace_full" | "quota_exceeded" => StatusCode::INSUFFICIENT_STORAGE,
        _ => match fault {
            Fault::User => StatusCode::UNPROCESSABLE_ENTITY,
            Fault::Transient | Fault::Permanent => StatusCode::SERVICE_UNAVAILABLE,
            Fault::Bug => StatusCode::INTERNAL_SERVER_ERROR,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_passes_says_when_to_come_again() {
        for (code, passes) in
            [(HANDLE_CLOSED, true), (codes::TOO_BUSY, true), (codes::REQUEST_TIMEOUT, false)]
        {
            let response = Problem::new(code, "one").into_response();
            assert_eq!(response.headers().contains_key(RETRY_AFTER), passes, "{}", code.name);
        }
    }
}
