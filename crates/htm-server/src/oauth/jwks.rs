//! The keys of the authorization server (RFC 7517), at the place that its metadata name (RFC 8414).
//!
//! They are fetched when a token names a key that is not among them, and again from time to time. Tokens of unknown keys
//! cannot make this more frequent. While the authorization server is away, the known keys stay.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use htm_core::{Error, Result};
use reqwest::{Client, Url, redirect};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::sync::Mutex;

use super::jwt::{Header, Key};
use super::{invalid, is_of_this_machine, is_secure, unusable};
use crate::codes;
use crate::problem::{self, Problem};

/// The time limit of a request to the authorization server.
const TIMEOUT: Duration = Duration::from_secs(5);

/// The most bytes of an answer of the authorization server.
const MAX_BYTES: usize = 256 << 10;

/// The time after which known keys are looked at again: one that was withdrawn is then not accepted any more.
const FRESH: Duration = Duration::from_secs(600);

/// The longest time from a failed look to the next.
const RETRY: Duration = Duration::from_secs(5);

/// The keys of the authorization server.
pub(super) struct Keys {
    http: Client,
    /// As the metadata have to have it.
    issuer: String,
    places: Places,
    pause: Duration,
    known: RwLock<Known>,
    /// Held while the authorization server is asked.
    last: Mutex<Option<Look>>,
}

/// Where the keys are.
enum Places {
    Known(Url),
    /// In metadata at one of these.
    InMetadata([Url; 2]),
}

#[derive(Clone)]
struct Known {
    keys: Arc<[Key]>,
    at: Instant,
}

/// A look at the keys.
#[derive(Clone, Copy)]
struct Look {
    at: Instant,
    has_failed: bool,
}

/// The metadata of an authorization server, as far as they matter here.
#[derive(Deserialize)]
struct Metadata {
    issuer: String,
    jwks_uri: String,
}

#[derive(Deserialize)]
struct Set {
    keys: Vec<Value>,
}

impl Keys {
    pub(super) fn new(issuer: &str, at: Url, keys: Option<Url>, pause: Duration) -> Result<Self> {
        let places = keys.map_or_else(|| Places::InMetadata(places_of_metadata(&at)), Places::Known);
        let mut builder = Client::builder().timeout(TIMEOUT).redirect(redirect::Policy::none());
        if is_of_this_machine(&at) {
            builder = builder.no_proxy();
        }
        let http = builder
            .build()
            .map_err(|error| unusable("the HTTP client could not be set up").with_source(error))?;
        let known = RwLock::new(Known { keys: Arc::new([]), at: Instant::now() });
        Ok(Self { http, issuer: issuer.into(), places, pause, known, last: Mutex::new(None) })
    }

    /// The key that verifies a token with this header.
    pub(super) async fn verifying(self: &Arc<Self>, header: &Header) -> problem::Result<Key> {
        let known = self.known();
        if let Some(key) = chosen(&known.keys, header) {
            if known.at.elapsed() >= FRESH && self.last.try_lock().is_ok() {
                tokio::spawn(self.clone().look());
            }
            return Ok(key);
        }
        // In a task of its own: a client that goes away does not stop it.
        let looked = tokio::spawn(self.clone().look()).await;
        looked.map_err(|_| Problem::new(codes::INTERNAL_ERROR, "the server failed"))??;
        let unknown = || invalid("the authorization server has no such key");
        chosen(&self.known().keys, header).ok_or_else(unknown)
    }

    fn known(&self) -> Known {
        self.known.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Fetches the keys, unless that was done lately.
    async fn look(self: Arc<Self>) -> problem::Result<()> {
        let mut last = self.last.lock().await;
        if let Some(Look { at, has_failed }) = *last {
            let pause = if has_failed { self.pause.min(RETRY) } else { self.pause };
            match pause.checked_sub(at.elapsed()) {
                Some(rest) if has_failed => {
                    let message = "the keys of the authorization server could not be fetched a moment ago";
                    return Err(Problem::from(unreachable(message)).retry_after(rest));
                }
                Some(_) => return Ok(()),
                None => {}
            }
        }
        let fetched = self.fetch().await;
        *last = Some(Look { at: Instant::now(), has_failed: fetched.is_err() });
        let keys = fetched?;
        *self.known.write().unwrap_or_else(PoisonError::into_inner) = Known { keys, at: Instant::now() };
        Ok(())
    }

    async fn fetch(&self) -> Result<Arc<[Key]>> {
        let place = match &self.places {
            Places::Known(url) => url.clone(),
            Places::InMetadata([first, second]) => match self.place_of_keys(first).await {
                Ok(place) => place,
                Err(error) => self.place_of_keys(second).await.map_err(|_| error)?,
            },
        };
        let set: Set = self.get(&place).await?;
        // Keys of other kinds are for other purposes.
        Ok(set.keys.into_iter().filter_map(Key::of).collect())
    }

    async fn place_of_keys(&self, url: &Url) -> Result<Url> {
        let Metadata { issuer, jwks_uri } = self.get(url).await?;
        if issuer != self.issuer {
            return Err(unreachable(format!("the metadata of the issuer are of `{issuer}`")));
        }
        let place: Option<Url> = jwks_uri.parse().ok().filter(is_secure);
        place.ok_or_else(|| unreachable("the metadata of the issuer have no https URL of its keys"))
    }

    async fn get<T: DeserializeOwned>(&self, url: &Url) -> Result<T> {
        let failed = |error: reqwest::Error| {
            unreachable("the authorization server does not answer as it should").with_source(error)
        };
        let sent = self.http.get(url.clone()).send().await.map_err(failed)?;
        let mut response = sent.error_for_status().map_err(failed)?;
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(failed)? {
            if bytes.len() + chunk.len() > MAX_BYTES {
                return Err(unreachable(format!("{url} has more than {MAX_BYTES} bytes")));
            }
            bytes.extend_from_slice(&chunk);
        }
        serde_json::from_slice(&bytes)
            .map_err(|error| unreachable(format!("{url} has an unexpected answer")).with_source(error))
    }
}

fn unreachable(message: impl Into<std::borrow::Cow<'static, str>>) -> Error {
    Error::new(codes::AUTHORIZATION_SERVER_UNREACHABLE, message)
}

/// The places of metadata: that of OAuth (RFC 8414, before the issuer's path), and that of OpenID Connect (after it).
fn places_of_metadata(issuer: &Url) -> [Url; 2] {
    let path = issuer.path().trim_end_matches('/');
    let at = |path: String| {
        let mut url = issuer.clone();
        url.set_path(&path);
        url
    };
    [
        at(format!("/.well-known/oauth-authorization-server{path}")),
        at(format!("{path}/.well-known/openid-configuration")),
    ]
}

/// The key that a header means. Without a name it is the only one that fits.
fn chosen(keys: &[Key], header: &Header) -> Option<Key> {
    let mut fitting =
        keys.iter().filter(|key| key.is_for(header.alg) && (header.kid.is_none() || key.kid == header.kid));
    let key = fitting.next()?;
    let is_only = header.kid.is_some() || fitting.next().is_none();
    is_only.then(|| key.clone())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn metadata_stand_before_or_after_the_path_of_the_issuer() {
        let places = |issuer: &str| places_of_metadata(&issuer.parse().unwrap()).map(String::from);
        assert_eq!(
            places("https://id.example.org"),
            [
                "https://id.example.org/.well-known/oauth-authorization-server",
                "https://id.example.org/.well-known/openid-configuration"
            ]
        );
        assert_eq!(
            places("https://id.example.org/realms/a/"),
            [
                "https://id.example.org/.well-known/oauth-authorization-server/realms/a",
                "https://id.example.org/realms/a/.well-known/openid-configuration"
            ]
        );
    }

    #[test]
    fn a_header_means_one_key() {
        let key = |kid: Option<&str>| {
            let jwk = json!({"kty": "EC", "crv": "P-256", "x": "AA", "y": "AA", "kid": kid});
            Key::of(jwk).unwrap()
        };
        let header = |header: Value| serde_json::from_value::<Header>(header).unwrap();
        let keys = [key(Some("a")), key(None)];
        assert!(chosen(&keys, &header(json!({"alg": "ES256", "kid": "a"}))).is_some());
        assert!(chosen(&keys, &header(json!({"alg": "ES256", "kid": "b"}))).is_none());
        assert!(chosen(&keys, &header(json!({"alg": "RS256", "kid": "a"}))).is_none());
        // Which of the two is meant is not guessed.
        assert!(chosen(&keys, &header(json!({"alg": "ES256"}))).is_none());
        assert!(chosen(&keys[..1], &header(json!({"alg": "ES256"}))).is_some());
    }
}
