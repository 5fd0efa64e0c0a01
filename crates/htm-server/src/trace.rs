//! W3C trace context: <https://www.w3.org/TR/trace-context/>. If the program exports traces, requests are spans of theirs.

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use opentelemetry::trace::{SpanContext, SpanId, Status, TraceContextExt, TraceFlags, TraceId, TraceState};
use opentelemetry::{Context, KeyValue};
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt;

/// The header.
pub(crate) const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");

/// The trace that a request belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Trace {
    /// 32 hexadecimal digits.
    pub(crate) id: String,
    /// The caller's span, 16 hexadecimal digits.
    parent: String,
    flags: String,
}

impl Trace {
    /// The trace of a request; none without a valid header.
    pub(crate) fn of(headers: &HeaderMap) -> Option<Self> {
        let text = headers.get(TRACEPARENT)?.to_str().ok()?;
        let mut parts = text.split('-');
        let (version, id, parent, flags) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        let is_hex = |text: &str, length: usize| {
            text.len() == length && text.bytes().all(|it| it.is_ascii_digit() || (b'a'..=b'f').contains(&it))
        };
        let is_zero = |text: &str| text.bytes().all(|it| it == b'0');
        let valid = is_hex(version, 2)
            && version != "ff"
            && (version != "00" || parts.next().is_none())
            && is_hex(id, 32)
            && !is_zero(id)
            && is_hex(parent, 16)
            && !is_zero(parent)
            && is_hex(flags, 2);
        valid.then(|| Self { id: id.into(), parent: parent.into(), flags: flags.into() })
    }

    /// The caller's span.
    fn context(&self) -> Option<Context> {
        let flags = u8::from_str_radix(&self.flags, 16).ok()?;
        let span = SpanContext::new(
            TraceId::from_hex(&self.id).ok()?,
            SpanId::from_hex(&self.parent).ok()?,
            TraceFlags::new(flags),
            true,
            TraceState::default(),
        );
        Some(Context::new().with_remote_span_context(span))
    }

    /// The header of the answer, with a span of this server.
    pub(crate) fn answer(&self, span: u64) -> HeaderValue {
        let text = format!("00-{}-{:016x}-{}", self.id, span.max(1), self.flags);
        HeaderValue::from_str(&text).expect("hexadecimal digits are visible")
    }
}

/// Makes the span of a request a part of its trace. Returns the span's id if it is exported.
pub(crate) fn follow(span: &Span, trace: Option<&Trace>, method: &str, route: &str) -> Option<u64> {
    if let Some(context) = trace.and_then(Trace::context) {
        // An error means that no traces are exported.
        span.set_parent(context).ok()?;
    }
    let exported = span.context();
    let exported = exported.span();
    let id = exported.span_context().is_valid().then(|| exported.span_context().span_id())?;
    exported.update_name(format!("{method} {route}"));
    exported.set_attribute(KeyValue::new("http.request.method", method.to_owned()));
    exported.set_attribute(KeyValue::new("http.route", route.to_owned()));
    Some(u64::from_be_bytes(id.to_bytes()))
}

/// Notes the status of the answer on the span of a request.
pub(crate) fn answered(span: &Span, status: u16) {
    span.set_attribute("http.response.status_code", i64::from(status));
    if status >= 500 {
        span.set_status(Status::error(""));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Option<String> {
        let headers = HeaderMap::from_iter([(TRACEPARENT, HeaderValue::from_str(text).unwrap())]);
        Trace::of(&headers).map(|trace| trace.id)
    }

    #[test]
    fn only_a_valid_header_names_a_trace() {
        let id = "4bf92f3577b34da6a3ce929d0e0e4736";
        assert_eq!(of(&format!("00-{id}-00f067aa0ba902b7-01")).as_deref(), Some(id));
        assert_eq!(of(&format!("01-{id}-00f067aa0ba902b7-01-later")).as_deref(), Some(id));
        for other in [
            "",
            "00",
            &format!("00-{id}-00f067aa0ba902b7-01-more"),
            &format!("ff-{id}-00f067aa0ba902b7-01"),
            &format!("00-{}-00f067aa0ba902b7-01", "0".repeat(32)),
            &format!("00-{id}-0000000000000000-01"),
            &format!("00-{}-00f067aa0ba902b7-01", id.to_uppercase()),
        ] {
            assert_eq!(of(other), None, "{other}");
        }
    }

    #[test]
    fn an_answer_has_the_trace_and_a_span_of_its_own() {
        let header = HeaderValue::from_static("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
        let trace = Trace::of(&HeaderMap::from_iter([(TRACEPARENT, header)])).unwrap();
        assert_eq!(trace.answer(255), "00-4bf92f3577b34da6a3ce929d0e0e4736-00000000000000ff-01");
    }
}
