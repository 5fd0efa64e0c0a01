//! The [`ProviderErrorKind`] of a failed call.

use std::error::Error;
use std::time::Duration;

use chrono::{DateTime, FixedOffset, Utc};
use htm_core::provider::{ModelName, ProviderError, ProviderErrorKind};
use reqwest::StatusCode;
use reqwest::header::{DATE, HeaderMap, RETRY_AFTER};
use serde_json::Value;

/// The longest `Retry-After` that is honoured, because it holds the whole fleet. A longer limit then costs a call per
/// hour.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(3600);

/// Classifies an error below HTTP.
pub(crate) fn transport(model: &ModelName, error: reqwest::Error) -> ProviderError {
    let (kind, what) = if error.is_connect() {
        (ProviderErrorKind::Unreachable, "cannot connect")
    } else if error.is_timeout() {
        (ProviderErrorKind::Timeout, "no answer within the deadline")
    } else if error.is_builder() {
        (ProviderErrorKind::BadInput, "the request cannot be built")
    } else {
        (ProviderErrorKind::Unreachable, "the connection broke")
    };
    // The innermost cause says what happened ("Connection refused"). The outer ones repeat the URL.
    let error = error.without_url();
    let mut cause: Option<&dyn Error> = error.source();
    while let Some(inner) = cause.and_then(Error::source) {
        cause = Some(inner);
    }
    let message = match cause {
        Some(cause) if kind != ProviderErrorKind::Timeout => format!("{what}: {cause}"),
        _ => what.to_owned(),
    };
    ProviderError::new(model, kind, message)
}

/// The error in an answer with a status of success, if it states one: some gateways answer like this once a model has begun.
/// Its code may be the HTTP status that it stands for. Without such a code, its kind is `otherwise`.
pub(crate) fn stated(
    model: &ModelName,
    headers: &HeaderMap,
    body: &[u8],
    excerpt: &str,
    otherwise: ProviderErrorKind,
) -> Option<ProviderError> {
    let answer: Value = serde_json::from_slice(body).ok()?;
    let error = answer.get("error").filter(|error| !error.is_null())?;
    let code = error.get("code").and_then(Value::as_u64).and_then(|code| u16::try_from(code).ok());
    let code = code.filter(|code| (400..600).contains(code)).and_then(|code| StatusCode::from_u16(code).ok());
    Some(match code {
        Some(code) => status(model, code, headers, body, excerpt),
        None => {
            let message = format!("the answer is an error: {excerpt}");
            ProviderError::new(model, otherwise, message)
        }
    })
}

/// Classifies an answer with an error status. `excerpt` goes into the message. `body` is only searched for known
/// errors.
pub(crate) fn status(
    model: &ModelName,
    status: StatusCode,
    headers: &HeaderMap,
    body: &[u8],
    excerpt: &str,
) -> ProviderError {
    use ProviderErrorKind::*;
    let asked = retry_after(headers, Utc::now());
    let kind = match status.as_u16() {
        // The moderation of a gateway (OpenRouter) rejects a text, and not the key.
        403 if says(body, "\"flagged_input\"") => BadInput,
        401 | 403 => Unauthorized,
        402 => QuotaExceeded,
        404 => ModelNotFound,
        408 => Timeout,
        429 if says(body, "insufficient_quota") => QuotaExceeded,
        429 => RateLimited { retry_after: asked.map(|wait| wait.min(MAX_RETRY_AFTER)) },
        // The provider says when it will be available again (RFC 9110, 15.6.4).
        503 if asked.is_some_and(|wait| !wait.is_zero()) => {
            RateLimited { retry_after: asked.map(|wait| wait.min(MAX_RETRY_AFTER)) }
        }
        400 | 413 | 422 => BadInput,
        // Some versions of Ollama and of llama.cpp's server answer 500 to a text that is too long for the model.
        500 if says(body, "context length") || says(body, "too large to process") => BadInput,
        500.. => Server,
        _ => BadResponse,
    };
    let mut message = format!("HTTP {status}");
    if !excerpt.is_empty() {
        message = format!("{message}: {excerpt}");
    }
    if let (RateLimited { .. }, Some(wait)) = (kind, asked.filter(|wait| *wait > MAX_RETRY_AFTER)) {
        let most = MAX_RETRY_AFTER.as_secs();
        message = format!(
            "{message} (it asks for a wait of {} s; the next call is made after {most} s)",
            wait.as_secs()
        );
    }
    ProviderError::new(model, kind, message)
}

fn says(body: &[u8], words: &str) -> bool {
    body.windows(words.len()).any(|window| window == words.as_bytes())
}

/// The requested wait: `retry-after-ms` (OpenAI and Azure), else `Retry-After` in seconds or as a date (RFC 9110,
/// 10.2.3). A date is compared with the answer's own `Date`, so that this machine's clock does not matter.
fn retry_after(headers: &HeaderMap, now: DateTime<Utc>) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let seconds =
        |text: &str| text.parse::<f64>().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let date = |text: &str| DateTime::<FixedOffset>::parse_from_rfc2822(text).ok();
    text("retry-after-ms").and_then(seconds).map(|ms| ms / 1000).or_else(|| {
        let value = text(RETRY_AFTER.as_str())?;
        seconds(value).or_else(|| {
            let now = text(DATE.as_str()).and_then(date).unwrap_or_else(|| now.fixed_offset());
            // A date in the past means no wait.
            date(value).map(|then| (then - now).to_std().unwrap_or_default())
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind_of(code: u16, body: &str) -> ProviderErrorKind {
        let model = ModelName::new("openai", "m");
        status(&model, StatusCode::from_u16(code).unwrap(), &HeaderMap::new(), body.as_bytes(), "").kind
    }

    #[test]
    fn each_status_has_its_kind() {
        use ProviderErrorKind::*;
        for (code, body, kind) in [
            (400, "", BadInput),
            (401, "", Unauthorized),
            (402, "", QuotaExceeded),
            (403, "", Unauthorized),
            (403, r#"{"error":{"code":403,"message":"no \"flagged_input\""}}"#, Unauthorized),
            (403, r#"{"error":{"code":403,"metadata":{"reasons":["x"],"flagged_input":"…"}}}"#, BadInput),
            (404, "", ModelNotFound),
            (413, "", BadInput),
            (422, "", BadInput),
            (429, "", RateLimited { retry_after: None }),
            (429, r#"{"error":{"code":"insufficient_quota"}}"#, QuotaExceeded),
            (500, "", Server),
            (500, r#"{"error":"input length exceeds the context length"}"#, BadInput),
            (500, r#"{"error":{"message":"input (596 tokens) is too large to process. …"}}"#, BadInput),
            (503, "", Server),
            (529, "", Server),
            (301, "", BadResponse),
            (405, "", BadResponse),
        ] {
            assert_eq!(kind_of(code, body), kind, "{code} {body}");
        }
    }

    #[test]
    fn an_error_is_told_whatever_its_status() {
        use ProviderErrorKind::*;
        let model = ModelName::new("openai", "m");
        let of = |body: &str| {
            let error = stated(&model, &HeaderMap::new(), body.as_bytes(), "out of memory", BadResponse);
            error.map(|error| (error.kind, error.message))
        };
        let message = "the answer is an error: out of memory".to_owned();
        for body in
            [r#"{"error": "out of memory"}"#, r#"{"error": {"code": "oom"}}"#, r#"{"error": {"code": 7}}"#]
        {
            assert_eq!(of(body), Some((BadResponse, message.clone())), "{body}");
        }
        let limited =
            Some((RateLimited { retry_after: None }, "HTTP 429 Too Many Requests: out of memory".into()));
        assert_eq!(of(r#"{"error": {"code": 429}}"#), limited);
        assert_eq!(of(r#"{"error": null}"#), None);
        assert_eq!(of("[]"), None);
        assert_eq!(of("<html>"), None);
    }

    #[test]
    fn a_provider_that_names_its_return_is_waited_for() {
        let model = ModelName::new("openai", "m");
        let headers: HeaderMap = [(RETRY_AFTER, "7".parse().unwrap())].into_iter().collect();
        let kind =
            |headers: &HeaderMap| status(&model, StatusCode::SERVICE_UNAVAILABLE, headers, b"", "").kind;
        let limited = ProviderErrorKind::RateLimited { retry_after: Some(Duration::from_secs(7)) };
        assert_eq!(kind(&headers), limited);
        assert_eq!(kind(&HeaderMap::new()), ProviderErrorKind::Server);
        let at_once: HeaderMap = [(RETRY_AFTER, "0".parse().unwrap())].into_iter().collect();
        assert_eq!(kind(&at_once), ProviderErrorKind::Server);
    }

    #[test]
    fn a_long_retry_after_is_cut_and_told() {
        let model = ModelName::new("openai", "m");
        let of = |seconds: &str| {
            let headers = [(RETRY_AFTER, seconds.parse().unwrap())].into_iter().collect();
            let error = status(&model, StatusCode::TOO_MANY_REQUESTS, &headers, b"", "slow down");
            let ProviderErrorKind::RateLimited { retry_after } = error.kind else { panic!("{error:?}") };
            (retry_after, error.message)
        };
        let told = "HTTP 429 Too Many Requests: slow down";
        assert_eq!(of("3600"), (Some(Duration::from_secs(3600)), told.into()));
        let week = format!("{told} (it asks for a wait of 604800 s; the next call is made after 3600 s)");
        assert_eq!(of("604800"), (Some(Duration::from_secs(3600)), week));
    }

    #[test]
    fn retry_after_in_each_form() {
        let now = "2026-01-01T00:00:00Z".parse().unwrap();
        let of = |pairs: &[(&'static str, &str)]| {
            let headers = pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()));
            retry_after(&headers.collect(), now)
        };
        assert_eq!(of(&[("retry-after", "7")]), Some(Duration::from_secs(7)));
        assert_eq!(
            of(&[("retry-after", "7"), ("retry-after-ms", "1500")]),
            Some(Duration::from_millis(1500))
        );
        assert_eq!(of(&[("retry-after", "Thu, 01 Jan 2026 00:01:00 GMT")]), Some(Duration::from_secs(60)));
        let own_clock =
            [("retry-after", "Thu, 01 Jan 2026 00:01:00 GMT"), ("date", "Thu, 01 Jan 2026 00:00:50 GMT")];
        assert_eq!(of(&own_clock), Some(Duration::from_secs(10)));
        assert_eq!(of(&[("retry-after", "Wed, 31 Dec 2025 00:00:00 GMT")]), Some(Duration::ZERO));
        assert_eq!(of(&[("retry-after", "1e300")]), None);
        assert_eq!(of(&[("retry-after", "-1")]), None);
        assert_eq!(of(&[("retry-after", "soon")]), None);
        assert_eq!(of(&[]), None);
    }
}
