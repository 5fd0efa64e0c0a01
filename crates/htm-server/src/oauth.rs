//! Access tokens of an OAuth 2.1 authorization server: JWTs (RFC 9068) for this server (RFC 8707).
//!
//! The server here is a resource server only. It sends nobody to a login and issues nothing. Each request's token is
//! verified on its own, by the keys that the authorization server publishes.

mod jwks;
mod jwt;
mod metadata;

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::http::{HeaderValue, StatusCode};
use htm_core::{Error, Htm, NewApiKey, Result, Role};
use reqwest::Url;
use serde_json::Value;

use crate::codes;
use crate::problem::{self, Problem};

use self::jwt::{Claims, Unverified};
pub(crate) use self::metadata::router;

/// The difference of clocks that is allowed for, in seconds.
const LEEWAY_SECONDS: f64 = 60.0;

/// The most bytes of a subject. With its prefix it is the scope of an operation's id.
const MAX_SUBJECT_BYTES: usize = 240;

/// The most namespaces of a token, as of a key.
const MAX_NAMESPACES: usize = 100;

/// The only entry of a claim that stands for all namespaces.
const EVERY_NAMESPACE: &str = "*";

/// The settings of [`OAuth`].
#[derive(Clone, Debug)]
pub struct OAuthSettings {
    /// The URL of the authorization server, as its tokens have it in `iss`.
    pub issuer: String,
    /// The URL of this server without a path, as clients call it. Tokens have it in `aud`, alone or with a path below it.
    pub resource: String,
    /// The URL of the authorization server's keys. None: as its metadata say.
    pub jwks_url: Option<String>,
    /// The claim with the namespaces of a token.
    pub namespaces_claim: String,
    /// The shortest time between two looks at the keys.
    pub pause: Duration,
}

impl OAuthSettings {
    /// Settings with the usual claim, and a look at the keys at most every 30 seconds.
    pub fn new(issuer: impl Into<String>, resource: impl Into<String>) -> Self {
        Self {
            issuer: issuer.into(),
            resource: resource.into(),
            jwks_url: None,
            namespaces_claim: "htm_namespaces".into(),
            pause: Duration::from_secs(30),
        }
    }
}

/// An authorization server whose tokens are accepted. Cheap to clone.
#[derive(Clone)]
pub struct OAuth(Arc<Resource>);

/// This server, as tokens and clients know it.
struct Resource {
    issuer: String,
    /// Without a slash at the end.
    resource: String,
    url: Url,
    namespaces_claim: String,
    keys: Arc<jwks::Keys>,
}

/// The statements of a valid token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    /// `oauth:` and the subject.
    pub(crate) who: String,
    pub(crate) role: Role,
    /// None: all.
    namespaces: Option<Vec<String>>,
}

impl std::fmt::Debug for OAuth {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("OAuth").field(&self.0.issuer).finish()
    }
}

impl OAuth {
    /// Accepts the tokens of an issuer. Its keys are fetched when the first token comes.
    ///
    /// # Errors
    /// `oauth_unusable` for a URL that is no https URL (or http URL of this machine), a `resource` with a path, or an
    /// empty claim.
    pub fn new(settings: OAuthSettings) -> Result<Self> {
        let OAuthSettings { issuer, resource, jwks_url, namespaces_claim, pause } = settings;
        let url = secure("oauth.resource", &resource)?;
        if !matches!(url.path(), "" | "/") {
            return Err(unusable(format!("oauth.resource has the path {}", url.path())));
        }
        if namespaces_claim.trim().is_empty() {
            return Err(unusable("oauth.namespaces_claim is empty"));
        }
        let keys = jwks::Keys::new(
            &issuer,
            secure("oauth.issuer", &issuer)?,
            jwks_url.map(|url| secure("oauth.jwks_url", &url)).transpose()?,
            pause,
        )?;
        let resource = resource.trim_end_matches('/').to_owned();
        Ok(Self(Arc::new(Resource { issuer, resource, url, namespaces_claim, keys: Arc::new(keys) })))
    }

    /// The authorization server.
    pub fn issuer(&self) -> &str {
        &self.0.issuer
    }

    /// The host by which clients call this server.
    pub(crate) fn host(&self) -> Option<&str> {
        self.0.url.host_str()
    }

    /// Reads a token, if it is valid for a path now.
    pub(crate) async fn token(&self, text: &str, path: &str) -> problem::Result<Token> {
        let token = Unverified::of(text)
            .ok_or_else(|| invalid("it is no JWT that is signed with RS, PS, ES or EdDSA"))?;
        let kind = token.header.typ.as_deref().unwrap_or("JWT").to_ascii_lowercase();
        if !matches!(kind.as_str(), "jwt" | "at+jwt" | "application/at+jwt") {
            return Err(invalid("its type is neither at+jwt nor JWT"));
        }
        let key = self.0.keys.verifying(&token.header).await?;
        let claims = token.verified(&key).ok_or_else(|| invalid("its signature is wrong"))?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
        self.0.check(&claims, path, now)?;
        self.0.read(&claims)
    }

    /// A problem with what a client has to do about it (RFC 6750): the place of the metadata, and the scopes to ask for.
    pub(crate) fn challenge(&self, problem: Problem, path: &str, has_token: bool, needed: Role) -> Problem {
        let error = match problem.status() {
            StatusCode::UNAUTHORIZED if has_token => r#"error="invalid_token", "#,
            StatusCode::UNAUTHORIZED => "",
            StatusCode::FORBIDDEN if problem.is(codes::ROLE_INSUFFICIENT) => {
                r#"error="insufficient_scope", "#
            }
            _ => return problem,
        };
        // Of a client of MCP, the usual tools write.
        let is_mcp = metadata::is_mcp(path);
        let role = if is_mcp { needed.max(Role::Writer) } else { needed };
        let scopes: Vec<String> = Role::ALL.into_iter().filter(|it| *it <= role).map(scope).collect();
        let place = metadata::place(&self.0.url, if is_mcp { path } else { "" });
        let challenge = format!(r#"Bearer {error}scope="{}", resource_metadata="{place}""#, scopes.join(" "));
        match HeaderValue::from_str(&challenge) {
            Ok(challenge) => problem.with_challenge(challenge),
            Err(_) => problem,
        }
    }
}

impl Resource {
    /// Whether an audience is this server, or has the path below its own: `…/mcp/atlas` covers that namespace's tools.
    fn covers(&self, audience: &str, path: &str) -> bool {
        let part = audience.trim_end_matches('/').strip_prefix(&self.resource);
        let rest = part.and_then(|part| if part.is_empty() { Some("") } else { path.strip_prefix(part) });
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// Refuses a token of another issuer, for another server, or for another time. `now` is in seconds since 1970.
    fn check(&self, claims: &Claims, path: &str, now: f64) -> problem::Result<()> {
        if claims.get("iss").and_then(Value::as_str) != Some(&self.issuer) {
            return Err(invalid("it is of another issuer"));
        }
        let audiences = listed(claims.get("aud")).unwrap_or_default();
        if !audiences.iter().any(|audience| self.covers(audience, path)) {
            return Err(invalid("its audience is another server, or another path of this one"));
        }
        let time = |claim: &str| claims.get(claim).map(|value| value.as_f64().ok_or(()));
        match (time("exp"), time("nbf")) {
            (Some(Ok(exp)), _) if exp + LEEWAY_SECONDS < now => Err(invalid("it has expired")),
            (Some(Ok(_)), Some(Ok(nbf))) if nbf - LEEWAY_SECONDS > now => Err(invalid("it is not valid yet")),
            (Some(Ok(_)), None | Some(Ok(_))) => Ok(()),
            _ => Err(invalid("it does not say when it expires, or not in seconds")),
        }
    }

    /// The subject of a valid token, and the rights of its holder. A right that is not named is not given.
    fn read(&self, claims: &Claims) -> problem::Result<Token> {
        let subject = claims.get("sub").and_then(Value::as_str).unwrap_or_default();
        let is_usable =
            (1..=MAX_SUBJECT_BYTES).contains(&subject.len()) && !subject.contains(char::is_control);
        if !is_usable {
            return Err(invalid("its subject is empty, too long or not printable"));
        }
        let scopes = claims.get("scope").or(claims.get("scp"));
        let scopes: Vec<&str> =
            listed(scopes).unwrap_or_default().into_iter().flat_map(str::split_whitespace).collect();
        let role = Role::ALL.into_iter().rev().find(|role| scopes.contains(&scope(*role).as_str()));
        let role = role.ok_or_else(|| {
            let known = Role::ALL.map(scope).join(", ");
            Problem::new(codes::ROLE_INSUFFICIENT, format!("the token has none of the scopes {known}"))
        })?;
        let claim = &self.namespaces_claim;
        let listed = listed(claims.get(claim)).filter(|them| (1..=MAX_NAMESPACES).contains(&them.len()));
        let namespaces = listed.ok_or_else(|| {
            unfit(format!("the token's claim `{claim}` is no list of 1 to {MAX_NAMESPACES} namespaces"))
        })?;
        let namespaces = match namespaces[..] {
            [EVERY_NAMESPACE] => None,
            _ => Some(as_of_a_key(&namespaces)?),
        };
        Ok(Token { who: format!("oauth:{subject}"), role, namespaces })
    }
}

impl Token {
    /// The namespaces that its holder sees. None: all.
    pub(crate) fn namespaces(&self) -> Option<&[String]> {
        self.namespaces.as_deref()
    }

    /// The handle, restricted to what the holder may see.
    pub(crate) fn restricted(&self, htm: &Htm) -> problem::Result<Htm> {
        let htm = match &self.namespaces {
            None => htm.clone(),
            Some(namespaces) => htm.within(namespaces).map_err(|error| unfit(error.to_string()))?,
        };
        Ok(htm.on_behalf_of(&self.who))
    }
}

/// The namespaces of a token, if a key may have them: `*` beside others, or within a pattern, is refused.
fn as_of_a_key(namespaces: &[&str]) -> problem::Result<Vec<String>> {
    let namespaces = namespaces.iter().map(|it| (*it).to_owned()).collect();
    let key = NewApiKey { namespaces, ..NewApiKey::new(Role::Reader) };
    key.validate().map_err(|error| unfit(error.to_string()))?;
    Ok(key.namespaces)
}

/// The scope of a role.
fn scope(role: Role) -> String {
    format!("htm:{role}")
}

/// A text, or a list of texts. None: neither, or absent.
fn listed(claim: Option<&Value>) -> Option<Vec<&str>> {
    match claim? {
        Value::String(text) => Some(vec![text]),
        Value::Array(values) => values.iter().map(Value::as_str).collect(),
        _ => None,
    }
}

fn invalid(reason: &str) -> Problem {
    Problem::new(codes::TOKEN_INVALID, format!("the access token is refused: {reason}"))
}

fn unfit(reason: String) -> Problem {
    Problem::new(codes::TOKEN_NAMESPACES_UNFIT, reason)
}

fn unusable(reason: impl Into<String>) -> Error {
    Error::new(codes::OAUTH_UNUSABLE, reason.into())
}

/// Reads the URL of a setting.
fn secure(setting: &str, text: &str) -> Result<Url> {
    let url: Url =
        text.parse().map_err(|error| unusable(format!("{setting} is no URL")).with_source(error))?;
    if !is_secure(&url) {
        return Err(unusable(format!("{setting} is neither https nor of this machine")));
    }
    if url.query().is_some() || url.fragment().is_some() || !url.username().is_empty() {
        return Err(unusable(format!("{setting} has a query, a fragment or a user")));
    }
    Ok(url)
}

/// Whether the URL is safe from tampering: https, or this machine.
fn is_secure(url: &Url) -> bool {
    url.scheme() == "https" || (url.scheme() == "http" && is_of_this_machine(url))
}

fn is_of_this_machine(url: &Url) -> bool {
    matches!(url.host_str(), Some("localhost" | "127.0.0.1" | "[::1]"))
}

#[cfg(test)]
mod tests;
