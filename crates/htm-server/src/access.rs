//! Authorisation: the key or the token of a request, its role, its namespaces, its robot and its rate.
//!
//! Without any key in the database and without OAuth the server is open, and then it listens on this machine only. The
//! first key closes it.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use axum::extract::{FromRequestParts, MatchedPath, Request, State};
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use axum::http::{Extensions, HeaderMap, Method};
use axum::middleware::Next;
use axum::response::Response;
use chrono::Utc;
use htm_core::error::codes::{DATABASE_UNREACHABLE, NAMESPACE_FORBIDDEN};
use htm_core::{ApiKey, Htm, Role};
use moka::future::Cache;
use sha2::{Digest, Sha256};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;

use crate::app::{App, Shared};
use crate::codes;
use crate::oauth::{OAuth, Token};
use crate::problem::{Problem, Refused, Result};
use crate::rates::Rates;
use crate::refusals::Refusals;
use crate::request::late;
use crate::{read_your_writes, sign_in};

/// The time for which a key is not looked up again, and so the longest time until a revoked key is refused.
const KEPT: Duration = Duration::from_secs(1);

/// The most look-ups at a time of keys that were not accepted lately, and how long a further one waits. Anybody can make up
/// keys.
const MAX_LOOK_UPS: usize = 16;
const LOOK_UP_WAIT: Duration = Duration::from_secs(1);

/// The path of the metrics, which matter most while the database is away.
const METRICS: &str = "/metrics";

/// How long the metrics are shown while the database is away: to a key that was accepted before, or on an open server.
/// Metrics contain no memories.
const SEEN: Duration = Duration::from_secs(3_600);

/// The principal of a request: who makes it.
#[derive(Clone)]
pub(crate) struct Principal {
    /// The handle, restricted to what the principal may see.
    pub(crate) htm: Htm,
    pub(crate) role: Role,
    /// The id of its key, or `oauth:` and the subject of its token; empty if the server is open.
    pub(crate) key: String,
}

/// The sender of a request, as the request names it.
pub(crate) enum Sender {
    /// The server is open.
    Anyone,
    Key(ApiKey),
    Token(Token),
}

impl Principal {
    /// The principal that [`checked`] has found. A path that nobody checks has none.
    pub(crate) fn of(extensions: &Extensions) -> Result<&Self> {
        let unchecked =
            || Problem::new(codes::API_KEY_MISSING, "the path has no check of who makes the request");
        extensions.get().ok_or_else(unchecked)
    }

    /// The principal, if its role is enough.
    fn with(self, needed: Role) -> Result<Self> {
        enough(self.role, needed, "this").map(|()| self)
    }
}

/// Refuses a role that is lower than what is asked needs.
pub(crate) fn enough(role: Role, needed: Role, what: &str) -> Result<()> {
    match role < needed {
        true => {
            let problem = format!("the key or the token has the role {role}, and {what} needs {needed}");
            Err(Problem::new(codes::ROLE_INSUFFICIENT, problem))
        }
        false => Ok(()),
    }
}

/// The keys and sign-ins that were presented lately, and whose tokens are accepted.
pub(crate) struct Access {
    oauth: Option<OAuth>,
    keys: Cache<[u8; 32], ApiKey>,
    /// Keys that were accepted before the database went away.
    seen: Cache<[u8; 32], ApiKey>,
    /// A permit for each look-up of another key.
    look_ups: Semaphore,
    rates: Rates,
    pub(crate) refusals: Refusals,
    door: Mutex<Door>,
}

/// Whether the server answers requests without a key.
enum Door {
    /// There is a key. It stays like this: a revoked key is a key too.
    Closed,
    /// There was no key at this time.
    Open(Option<Instant>),
}

impl Access {
    pub(crate) fn new(oauth: Option<OAuth>) -> Self {
        let keys = |kept| Cache::builder().max_capacity(10_000).time_to_live(kept).build();
        Self {
            oauth,
            keys: keys(KEPT),
            seen: keys(SEEN),
            look_ups: Semaphore::new(MAX_LOOK_UPS),
            rates: Rates::default(),
            refusals: Refusals::new(),
            door: Mutex::new(Door::Open(None)),
        }
    }

    /// The authorization server, if there is one.
    pub(crate) fn oauth(&self) -> Option<&OAuth> {
        self.oauth.as_ref()
    }

    /// Forgets the keys and the quotas that were looked up, so that what was changed here counts at once.
    pub(crate) fn forget(&self) {
        self.keys.invalidate_all();
        self.seen.invalidate_all();
        self.rates.forget();
    }

    async fn is_open(&self, htm: &Htm, path: &str) -> Result<bool> {
        if self.oauth.is_some() {
            return Ok(false);
        }
        let lock = || self.door.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let was_open = match *lock() {
            Door::Closed => return Ok(false),
            Door::Open(Some(at)) if at.elapsed() < KEPT => return Ok(true),
            Door::Open(at) => at.is_some_and(|at| at.elapsed() < SEEN),
        };
        let asked = Instant::now();
        let has_keys = match htm.has_api_keys().await {
            Err(error) if path == METRICS && was_open && error.is(DATABASE_UNREACHABLE) => return Ok(true),
            found => found?,
        };
        *lock() = if has_keys { Door::Closed } else { Door::Open(Some(asked)) };
        Ok(!has_keys)
    }

    /// The principal of a request for a path with these headers.
    async fn principal(
        &self,
        htm: &Htm,
        method: &Method,
        headers: &HeaderMap,
        path: &str,
    ) -> Result<Principal> {
        Ok(match self.sender(htm, method, headers, path).await? {
            Sender::Anyone => Principal { htm: htm.clone(), role: Role::Admin, key: String::new() },
            Sender::Key(key) => {
                let counted = async {
                    self.rates.take_for_key(htm, &key).await?;
                    self.rates.take_for_namespaces(htm, key.namespaces.as_deref()).await
                };
                match counted.await {
                    // The database went away since the key was looked up.
                    Err(problem) if path == METRICS && problem.is(DATABASE_UNREACHABLE) => {}
                    counted => counted?,
                }
                Principal { htm: htm.for_api_key(&key)?, role: key.role, key: key.id }
            }
            Sender::Token(token) => {
                self.rates.take_for_namespaces(htm, token.namespaces()).await?;
                Principal { htm: token.restricted(htm)?, role: token.role, key: token.who }
            }
        })
    }

    /// The sender of a request for a path with these headers, if the key, the token or the sign-in is valid.
    pub(crate) async fn sender(
        &self,
        htm: &Htm,
        method: &Method,
        headers: &HeaderMap,
        path: &str,
    ) -> Result<Sender> {
        let Some(header) = headers.get(AUTHORIZATION) else {
            return match (self.is_open(htm, path).await?, sign_in::token(headers)) {
                // A page cannot read the answer, but could have the server work.
                (true, _) => sign_in::no_other_site(headers).map(|()| Sender::Anyone),
                (false, Some(token)) => {
                    sign_in::same_origin(method, headers)?;
                    let signed_in = async || Ok(htm.signed_in(token).await?.key);
                    self.kept(token, path, signed_in).await.map(Sender::Key)
                }
                (false, None) => Err(Problem::new(codes::API_KEY_MISSING, "the request has no key")),
            };
        };
        let not_bearer =
            || Problem::new(codes::API_KEY_MISSING, "the header Authorization is not `Bearer` and a key");
        let (scheme, secret) =
            header.to_str().ok().and_then(|it| it.split_once(' ')).ok_or_else(not_bearer)?;
        if !scheme.eq_ignore_ascii_case("bearer") {
            return Err(not_bearer());
        }
        let secret = secret.trim();
        if let Some(oauth) = self.oauth.as_ref().filter(|_| !ApiKey::is_key(secret)) {
            return oauth.token(secret, path).await.map(Sender::Token);
        }
        let authenticated = async || htm.authenticate(secret).await;
        self.kept(secret, path, authenticated).await.map(Sender::Key)
    }

    /// The key of a secret, not looked up again for a moment.
    async fn kept(
        &self,
        secret: &str,
        path: &str,
        look_up: impl AsyncFnOnce() -> htm_core::Result<ApiKey>,
    ) -> Result<ApiKey> {
        let digest: [u8; 32] = Sha256::digest(secret).into();
        if let Some(key) = self.keys.get(&digest).await {
            return Ok(key);
        }
        let permit = match self.seen.contains_key(&digest) {
            true => None,
            false => Some(self.permit().await?),
        };
        // Another request of the same key may have looked it up meanwhile.
        if let Some(key) = self.keys.get(&digest).await {
            return Ok(key);
        }
        let looked_up = look_up().await;
        drop(permit);
        let key = match looked_up {
            Err(error) if path == METRICS && error.is(DATABASE_UNREACHABLE) => {
                let seen = self.seen.get(&digest).await;
                let is_valid = |key: &ApiKey| key.expires_at.is_none_or(|at| at > Utc::now());
                // Without its limit: only the database has the count, and is not waited for twice.
                let uncounted = |key: ApiKey| ApiKey { requests_per_minute: None, ..key };
                return seen.filter(is_valid).map(uncounted).ok_or_else(|| error.into());
            }
            Err(error) => {
                self.refusals.note(secret, error.code());
                return Err(error.into());
            }
            Ok(key) => key,
        };
        self.keys.insert(digest, key.clone()).await;
        self.seen.insert(digest, key.clone()).await;
        Ok(key)
    }

    /// A permit for the look-up of a key that was not accepted lately.
    async fn permit(&self) -> Result<SemaphorePermit<'_>> {
        match timeout(LOOK_UP_WAIT, self.look_ups.acquire()).await {
            Ok(Ok(permit)) => Ok(permit),
            _ => Err(Problem::new(codes::TOO_BUSY, format!("{MAX_LOOK_UPS} keys are being looked up"))),
        }
    }
}

/// Finds the principal of a request. Refuses one whose role is not enough.
pub(crate) async fn checked(
    State(shared): State<Shared>,
    mut request: Request,
    next: Next,
) -> Result<Response> {
    let route = request.extensions().get::<MatchedPath>().map_or("", MatchedPath::as_str);
    let needed = needed(request.method(), route);
    let (headers, path) = (request.headers(), request.uri().path());
    let limit = shared.limits.request_time;
    let principal = shared.access.principal(&shared.htm, request.method(), headers, path);
    let principal = timeout(limit, principal).await.unwrap_or_else(|_elapsed| Err(late(limit)));
    let principal = principal.and_then(|principal| principal.with(needed));
    let principal = principal.map_err(|problem| match shared.access.oauth() {
        Some(oauth) => {
            let has_token = headers.contains_key(AUTHORIZATION) && !problem.is(codes::API_KEY_MISSING);
            oauth.challenge(problem, path, has_token, needed)
        }
        None => problem,
    })?;
    let htm = read_your_writes::seeing(principal.htm, headers)?;
    let key = principal.key.clone();
    request.extensions_mut().insert(Principal { htm, ..principal });
    let response = next.run(request).await;
    let is_refused = response.extensions().get() == Some(&Refused(NAMESPACE_FORBIDDEN.name));
    if is_refused && ApiKey::id_in(&key).is_some() {
        shared.access.refusals.note(&key, NAMESPACE_FORBIDDEN.name);
    }
    Ok(response)
}

/// The role that a request needs. A path that is not named here needs the highest.
pub(crate) fn needed(method: &Method, path: &str) -> Role {
    let reads = matches!(*method, Method::GET | Method::HEAD);
    let subject = path.trim_start_matches("/v1/").trim_start_matches('/').split('/').next();
    match (path, subject.unwrap_or_default()) {
        ("/v1/robots/merge" | "/v1/memories/erase" | "/v1/namespaces/{namespace}/erase", _) => Role::Admin,
        (METRICS | "/v1/files/view", _) => Role::Reader,
        // A member acts for a robot. Only an admin changes the members of others.
        (path, "groups") if path.starts_with("/v1/groups/{name}/members") => Role::Writer,
        // Each tool needs its own.
        (_, "mcp") => Role::Reader,
        (_, "recall" | "context" | "timeline" | "map" | "stats" | "namespaces" | "export" | "events") => {
            Role::Reader
        }
        (_, "memories" | "conversations" | "documents" | "import" | "robots" | "files" | "recalls")
            if !reads =>
        {
            Role::Writer
        }
        (
            _,
            "memories" | "documents" | "robots" | "files" | "tags" | "groups" | "retention" | "quotas"
            | "learning" | "rankings",
        ) if reads => Role::Reader,
        _ => Role::Admin,
    }
}

impl FromRequestParts<Shared> for App {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, shared: &Shared) -> Result<Self> {
        let principal = Principal::of(&parts.extensions)?;
        Ok(Self { htm: principal.htm.clone(), role: principal.role, shared: shared.clone() })
    }
}

#[cfg(test)]
mod tests {
    use htm_core::Error;
    use htm_core::error::codes::API_KEY_INVALID;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn few_keys_that_may_be_made_up_are_looked_up_at_a_time() {
        async fn look_up() -> htm_core::Result<ApiKey> {
            Err(Error::new(API_KEY_INVALID, "it is not valid".to_owned()))
        }
        let access = Access::new(None);
        let all = access.look_ups.acquire_many(MAX_LOOK_UPS as u32).await.unwrap();
        let refused = access.kept("made up", "/v1/stats", look_up).await.map(drop).unwrap_err();
        assert!(refused.is(codes::TOO_BUSY));
        drop(all);
        let refused = access.kept("made up", "/v1/stats", look_up).await.map(drop).unwrap_err();
        assert!(refused.is(API_KEY_INVALID));
    }

    #[test]
    fn what_is_not_named_needs_the_highest_role() {
        for (method, path, role) in [
            (Method::GET, "/v1/memories/{id}", Role::Reader),
            (Method::POST, "/v1/recall", Role::Reader),
            (Method::POST, "/v1/memories", Role::Writer),
            (Method::POST, "/v1/files/view", Role::Reader),
            (Method::POST, "/v1/files/rename", Role::Writer),
            (Method::DELETE, "/v1/memories/{id}", Role::Writer),
            (Method::GET, "/v1/documents/passages", Role::Reader),
            (Method::PUT, "/v1/documents", Role::Writer),
            (Method::POST, "/v1/recalls/{id}/feedback", Role::Writer),
            (Method::GET, "/v1/rankings/{version}", Role::Reader),
            (Method::PUT, "/v1/learning", Role::Admin),
            (Method::POST, "/v1/rankings/activate", Role::Admin),
            (Method::POST, "/v1/robots/merge", Role::Admin),
            (Method::POST, "/v1/memories/erase", Role::Admin),
            (Method::POST, "/v1/namespaces/{namespace}/erase", Role::Admin),
            (Method::GET, "/v1/erasures/{id}", Role::Admin),
            (Method::POST, "/v1/tags/rename", Role::Admin),
            (Method::GET, "/v1/groups/{name}", Role::Reader),
            (Method::POST, "/v1/groups/{name}/members", Role::Writer),
            (Method::POST, "/v1/groups/{name}/members/{robot}/add", Role::Writer),
            (Method::POST, "/v1/groups/{name}/promote", Role::Admin),
            (Method::GET, "/v1/backfills/{id}", Role::Admin),
            (Method::GET, "/v1/keys", Role::Admin),
            (Method::GET, "/metrics", Role::Reader),
            (Method::GET, "/v1/something-new", Role::Admin),
            (Method::POST, "/mcp/{*namespace}", Role::Reader),
        ] {
            assert_eq!(needed(&method, path), role, "{method} {path}");
        }
    }
}
