//! The HTTP client of providers, and the classification of their failures.
//!
//! The clients of async-openai and ollama-rs are not used: ollama-rs loses the status, neither has a deadline, and
//! neither passes `Retry-After` on.

mod classify;
mod excerpt;

use std::time::Duration;

use htm_core::provider::{ModelName, ProviderError, ProviderErrorKind};
use htm_core::{Error, Result};
use reqwest::{Client, Response, Url, redirect};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::Secret;
use crate::codes::{self, bad_value};

/// The time limit of a connection attempt. It is short, because a slow model does not delay a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// The largest answer that is read, against an endless body. Twice 2,048 vectors of 3,072 components fit.
const MAX_BODY_BYTES: usize = 256 << 20;

/// A provider's HTTP API.
pub(crate) struct Http {
    client: Client,
    base: Url,
    key: Secret,
    model: ModelName,
}

impl Http {
    /// The API at `base_url`. Every call ends after `timeout`.
    pub(crate) fn new(
        provider: &'static str,
        base_url: &str,
        key: Secret,
        timeout: Duration,
        model: ModelName,
    ) -> Result<Self> {
        if model.name.trim().is_empty() {
            return Err(bad_value(&format!("the model of {provider}"), "must name a model"));
        }
        if timeout.is_zero() {
            let reason = "must be more than 0: a call without a deadline can hang for ever";
            return Err(bad_value(&format!("the timeout_ms of {provider}"), reason));
        }
        if !key.expose().bytes().all(|byte| byte.is_ascii_graphic()) {
            let setting = format!("the api_key of {provider}");
            return Err(bad_value(&setting, "holds characters that no HTTP header can carry"));
        }
        // The URL is not in the message, because it may contain a password.
        let base = base(base_url).map_err(|reason| {
            Error::new(codes::BASE_URL, format!("the base URL of {provider} cannot be used: {reason}"))
        })?;
        let mut builder = Client::builder()
            .connect_timeout(CONNECT_TIMEOUT.min(timeout))
            .timeout(timeout)
            // A redirect would turn the POST into a GET, and could carry the texts to another host.
            .redirect(redirect::Policy::none());
        if matches!(base.host_str(), Some("localhost" | "127.0.0.1" | "[::1]")) {
            builder = builder.no_proxy();
        }
        let client = builder.build().map_err(|error| {
            Error::new(codes::CLIENT, "the HTTP client could not be set up").with_source(error)
        })?;
        Ok(Self { client, base, key, model })
    }

    /// The model.
    pub(crate) fn model(&self) -> &ModelName {
        &self.model
    }

    /// Posts `body` to `path` under the base URL and parses the answer. `texts` are the memories in the body. An
    /// error's message leaves them out, also if the provider repeats them.
    pub(crate) async fn post<B: Serialize, A: DeserializeOwned>(
        &self,
        path: &str,
        body: &B,
        texts: &[String],
    ) -> Result<A, ProviderError> {
        let mut url = self.base.clone();
        url.set_path(&format!("{}/{path}", self.base.path().trim_end_matches('/')));
        let mut request = self.client.post(url).json(body);
        if !self.key.is_empty() {
            request = request.bearer_auth(self.key.expose());
        }
        let response = request.send().await.map_err(|error| classify::transport(&self.model, error))?;
        let (status, headers) = (response.status(), response.headers().clone());
        let bytes = self.read(response).await?;
        let excerpt = || excerpt::of(&bytes, self.key.expose(), texts);
        if !status.is_success() {
            return Err(classify::status(&self.model, status, &headers, &bytes, &excerpt()));
        }
        let parsed = serde_json::from_slice(&bytes).or_else(|error| {
            let mended = with_nulls(&bytes);
            mended.and_then(|bytes| serde_json::from_slice(&bytes).ok()).ok_or(error)
        });
        parsed.map_err(|error| {
            let kind = ProviderErrorKind::BadResponse;
            if let Some(stated) = classify::stated(&self.model, &headers, &bytes, &excerpt(), kind) {
                return stated;
            }
            // Only the position, because serde's own message quotes the answer.
            let message = format!(
                "the answer does not have the documented shape (line {}, column {})",
                error.line(),
                error.column()
            );
            ProviderError::new(&self.model, kind, message)
        })
    }

    /// The failure that a part of an answer states. Gateways (OpenRouter) state that of the model's server like this.
    #[cfg(feature = "openai")]
    pub(crate) fn stated(&self, error: &serde_json::Value, texts: &[String]) -> ProviderError {
        let body = serde_json::json!({ "error": error }).to_string();
        let excerpt = excerpt::of(body.as_bytes(), self.key.expose(), texts);
        let kind = ProviderErrorKind::Server;
        classify::stated(&self.model, &Default::default(), body.as_bytes(), &excerpt, kind)
            .unwrap_or_else(|| ProviderError::new(&self.model, kind, "the answer ended with an error"))
    }

    async fn read(&self, mut response: Response) -> Result<Vec<u8>, ProviderError> {
        let mut bytes = Vec::new();
        while let Some(chunk) =
            response.chunk().await.map_err(|error| classify::transport(&self.model, error))?
        {
            if bytes.len() + chunk.len() > MAX_BODY_BYTES {
                let message = format!("the answer is longer than {MAX_BODY_BYTES} bytes");
                return Err(ProviderError::new(&self.model, ProviderErrorKind::BadResponse, message));
            }
            bytes.extend_from_slice(&chunk);
        }
        Ok(bytes)
    }
}

/// A body with `null` for the numbers that JSON does not have and Python writes. None if it has none of them.
fn with_nulls(body: &[u8]) -> Option<Vec<u8>> {
    const NUMBERS: [&[u8]; 3] = [b"NaN", b"Infinity", b"-Infinity"];
    let (mut mended, mut rest) = (Vec::with_capacity(body.len()), body);
    let (mut in_string, mut has_any) = (false, false);
    while let Some(&byte) = rest.first() {
        let number = NUMBERS.iter().find(|number| !in_string && rest.starts_with(number));
        let length = match (number, byte) {
            (Some(number), _) => number.len(),
            (None, b'\\') => rest.len().min(2),
            _ => 1,
        };
        let (taken, left) = rest.split_at(length);
        mended.extend_from_slice(if number.is_some() { &b"null"[..] } else { taken });
        has_any |= number.is_some();
        in_string ^= byte == b'"';
        rest = left;
    }
    has_any.then_some(mended)
}

fn base(base_url: &str) -> Result<Url, String> {
    let url: Url = base_url.trim().parse().map_err(|error| format!("{error}"))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err("it must begin with http:// or https://".to_owned());
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err("it must end with the path: no `?` and no `#`".to_owned());
    }
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_json_does_not_have_are_null_and_texts_stay() {
        for (body, mended) in [
            ("[[1, NaN],[Infinity,-Infinity]]", Some("[[1, null],[null,null]]")),
            (r#"{"NaN":"a \" NaN","b":NaN}"#, Some(r#"{"NaN":"a \" NaN","b":null}"#)),
            (r#"{"a":"\\","b":NaN}"#, Some(r#"{"a":"\\","b":null}"#)),
            (r#"["Infinity", -1"#, None),
            ("\\", None),
        ] {
            assert_eq!(with_nulls(body.as_bytes()).as_deref(), mended.map(str::as_bytes), "{body}");
        }
    }

    #[test]
    fn bad_settings_are_named() {
        let build = |url: &str, key: &str, timeout_ms| {
            let (model, timeout) = (ModelName::new("openai", "m"), Duration::from_millis(timeout_ms));
            Http::new("openai", url, Secret::new(key), timeout, model).map(|_| ()).unwrap_err().to_string()
        };
        assert!(build("localhost", "", 1).contains("base URL of openai"));
        assert!(build("ftp://host", "", 1).contains("http://"));
        assert!(build("http://host/v1?key=1", "", 1).contains("no `?`"));
        assert!(build("http://host", "a\nb", 1).contains("the api_key of openai"));
        assert!(build("http://host", "", 0).contains("the timeout_ms of openai"));
    }
}
