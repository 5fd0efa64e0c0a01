//! Models of a hub: the Hugging Face hub, or a server with its paths.
//!
//! A pull fetches the files that a local model needs, checks each against the size and the hash that the hub states,
//! loads the model once, and only then gives it its name below `<home>/models`. An interrupted pull is continued by the
//! next one.

mod download;
mod known;
mod place;
mod pull;
mod repository;

use std::path::PathBuf;
use std::time::Duration;

use htm_core::{Error, Result};
use htm_providers::Secret;
use reqwest::{Client, Response, StatusCode, Url, header, redirect};

pub use known::{KNOWN, KnownModel};
pub use place::Kind;
pub use pull::{Pulled, pull};
pub use repository::Repository;

use crate::codes;
use crate::http::client_of;
use crate::paths::named;

/// The hub, if `HF_ENDPOINT` names no other.
const ENDPOINT: &str = "https://huggingface.co";

/// The time limit of a connection attempt, and of a pause in an answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// The most bytes of an answer that is not a file.
const MAX_ANSWER_BYTES: usize = 32 << 20;

/// A hub.
pub struct Hub {
    http: Client,
    endpoint: Url,
    token: Secret,
}

impl Hub {
    /// The hub at `endpoint`, else at `HF_ENDPOINT`, else the public one. Its token is `HF_TOKEN`, or in the file
    /// `HF_TOKEN_PATH`: the variables of the hub's own programs.
    ///
    /// # Errors
    /// `hub_endpoint_invalid` for a URL that is not http or https, or a token that no header can carry or no file has.
    pub fn from_env(endpoint: Option<&str>) -> Result<Self> {
        let variable = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        let from_env = variable("HF_ENDPOINT");
        let endpoint = endpoint.or(from_env.as_deref()).unwrap_or(ENDPOINT);
        let token = match (variable("HF_TOKEN"), named("HF_TOKEN_PATH")) {
            (Some(token), _) => token,
            (None, Some(path)) => std::fs::read_to_string(&path).map_err(|error| {
                let message = format!("HF_TOKEN_PATH names {}, which cannot be read", path.display());
                Error::new(codes::HUB_ENDPOINT_INVALID, message).with_source(error)
            })?,
            (None, None) => String::new(),
        };
        Self::new(endpoint, Secret::new(token))
    }

    /// The hub at `endpoint`. An empty token is none.
    ///
    /// # Errors
    /// As [`from_env`](Self::from_env).
    pub fn new(endpoint: &str, token: Secret) -> Result<Self> {
        // The URL is not in the message, because it may have a password.
        let invalid = |reason: &str| {
            Error::new(
                codes::HUB_ENDPOINT_INVALID,
                format!("the address of the hub cannot be used: {reason}"),
            )
        };
        let endpoint: Url = endpoint.parse().map_err(|_| invalid("it is not a URL"))?;
        if !matches!(endpoint.scheme(), "http" | "https") || endpoint.cannot_be_a_base() {
            return Err(invalid("it is not an http or https URL"));
        }
        if !token.expose().bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(invalid("its token has characters that no HTTP header can carry"));
        }
        let builder = client_of(&endpoint)
            .connect_timeout(PATIENCE)
            .read_timeout(PATIENCE)
            .user_agent(concat!("htm/", env!("CARGO_PKG_VERSION")))
            // A file is on another host, to which the client passes no token.
            .redirect(redirect::Policy::custom(|attempt| match attempt.previous() {
                [first, ..] if first.scheme() == "https" && attempt.url().scheme() != "https" => {
                    attempt.error("a redirect from https to http")
                }
                earlier if earlier.len() > 5 => attempt.error("too many redirects"),
                _ => attempt.follow(),
            }));
        let http = builder.build().map_err(|error| invalid("there is no HTTP client").with_source(error))?;
        Ok(Self { http, endpoint, token })
    }

    /// The URL of a path, whose segments are encoded.
    fn url<'a>(&self, segments: impl IntoIterator<Item = &'a str>) -> Result<Url> {
        let mut url = self.endpoint.clone();
        let invalid = || Error::new(codes::HUB_ENDPOINT_INVALID, "the address of the hub has no paths");
        url.path_segments_mut().map_err(|()| invalid())?.pop_if_empty().extend(segments);
        Ok(url)
    }

    /// Asks for a URL, from byte `from` on.
    async fn get(&self, url: Url, from: u64) -> Result<Response> {
        let mut request = self.http.get(url).header(header::ACCEPT_ENCODING, "identity");
        if !self.token.expose().is_empty() {
            request = request.bearer_auth(self.token.expose());
        }
        if from > 0 {
            request = request.header(header::RANGE, format!("bytes={from}-"));
        }
        let answer = request.send().await.map_err(unreachable)?;
        match answer.status() {
            status if status.is_success() => Ok(answer),
            status => Err(refused(status, &answer)),
        }
    }

    /// Reads an answer that is not a file.
    async fn read(&self, url: Url) -> Result<Vec<u8>> {
        let mut answer = self.get(url, 0).await?;
        let mut bytes = Vec::new();
        while let Some(chunk) = answer.chunk().await.map_err(unreachable)? {
            if bytes.len() + chunk.len() > MAX_ANSWER_BYTES {
                let message = format!("an answer of the hub has more than {MAX_ANSWER_BYTES} bytes");
                return Err(Error::new(codes::HUB_ANSWER_INVALID, message));
            }
            bytes.extend_from_slice(&chunk);
        }
        Ok(bytes)
    }
}

/// A failure that may pass.
fn unreachable(error: reqwest::Error) -> Error {
    // A file's own URL has a signature.
    let message = "the hub, or the server of its files, does not answer";
    Error::new(codes::HUB_UNREACHABLE, message).with_source(error.without_url())
}

/// The error of a status.
fn refused(status: StatusCode, answer: &Response) -> Error {
    let header = |name: &str| answer.headers().get(name).and_then(|value| value.to_str().ok());
    let reason = header("x-error-message").map(|text| format!(": {text}")).unwrap_or_default();
    match (status.as_u16(), header("x-error-code")) {
        (_, Some("RepoNotFound" | "RevisionNotFound" | "EntryNotFound")) | (404 | 410, _) => Error::new(
            codes::HUB_NOT_FOUND,
            format!("the hub has no such model or revision ({status}{reason})"),
        ),
        // Without a token, 401 may also be for a model that there is not.
        (_, Some("GatedRepo")) | (401 | 403, _) => Error::new(
            codes::HUB_FORBIDDEN,
            format!("the hub does not give the model to you ({status}{reason})"),
        ),
        (408 | 429 | 500.., _) => {
            Error::new(codes::HUB_UNREACHABLE, format!("the hub cannot answer now ({status}{reason})"))
        }
        _ => Error::new(codes::HUB_ANSWER_INVALID, format!("the hub answers with {status}{reason}")),
    }
}

/// The file system rejected an operation.
fn io(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Error {
    let path = path.into();
    move |error| Error::new(codes::HUB_IO, format!("{}: {error}", path.display())).with_source(error)
}
