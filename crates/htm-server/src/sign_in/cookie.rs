//! The cookie with the token of a sign-in.
//!
//! Browsers keep the cookies of a host for all of its ports, so the name has the port. Once a page came by TLS, the cookie is
//! for TLS only. Its prefix keeps plain pages of the host from setting it (RFC 6265bis, 4.1.3).

use axum::http::header::{COOKIE, HOST, ORIGIN, SET_COOKIE};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use chrono::{DateTime, Utc};

const NAME: &str = "htm_sign_in";

/// The token of a request's cookie.
pub(crate) fn token(headers: &HeaderMap) -> Option<&str> {
    tokens(headers).next()
}

/// All tokens that the browser has for the server: that for TLS first.
pub(super) fn tokens(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    [true, false].into_iter().filter_map(|is_secure| value(headers, &name(headers, is_secure)))
}

/// The header that gives the sender of a request its token until a time.
pub(super) fn of(
    is_tls: bool,
    headers: &HeaderMap,
    token: &str,
    until: DateTime<Utc>,
) -> (HeaderName, HeaderValue) {
    // A proxy may speak TLS in front of the server. A sign-in has the page's origin, a renewal the cookie.
    let is_of_tls_page = headers.get(ORIGIN).is_some_and(|origin| origin.as_bytes().starts_with(b"https://"));
    let is_secure = is_tls || is_of_tls_page || value(headers, &name(headers, true)).is_some();
    header(headers, is_secure, token, until)
}

/// The headers that take the cookie from the sender of a request.
pub(super) fn none(headers: &HeaderMap) -> [(HeaderName, HeaderValue); 2] {
    [true, false].map(|is_secure| header(headers, is_secure, "", DateTime::UNIX_EPOCH))
}

fn header(
    headers: &HeaderMap,
    is_secure: bool,
    token: &str,
    until: DateTime<Utc>,
) -> (HeaderName, HeaderValue) {
    let name = name(headers, is_secure);
    let seconds = (until - Utc::now()).num_seconds().max(0);
    let secure = if is_secure { "; Secure" } else { "" };
    let text = format!("{name}={token}; Path=/; HttpOnly; SameSite=Strict; Max-Age={seconds}{secure}");
    (SET_COOKIE, HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static("")))
}

fn name(headers: &HeaderMap, is_secure: bool) -> String {
    let host = headers.get(HOST).and_then(|host| host.to_str().ok());
    let port = host.and_then(|host| host.parse::<Authority>().ok()).and_then(|host| host.port_u16());
    let (prefix, port) = (if is_secure { "__Host-" } else { "" }, port.map(|port| format!("_{port}")));
    format!("{prefix}{NAME}{}", port.unwrap_or_default())
}

fn value<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = cookies.flat_map(|text| text.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(its, value)| *its == name && !value.is_empty()).map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::super::tests::headers;
    use super::*;

    #[test]
    fn a_cookie_is_found_among_others() {
        assert_eq!(token(&headers([("cookie", "a=1; htm_sign_in=f00; b=2")])), Some("f00"));
        assert_eq!(token(&headers([("cookie", "htm_sign_in=; xhtm_sign_in=f00")])), None);
        assert_eq!(token(&headers([])), None);
    }

    #[test]
    fn each_port_has_its_own() {
        let cookies = ("cookie", "htm_sign_in=a; htm_sign_in_7480=b; htm_sign_in_7481=c");
        for (host, found) in [("localhost:7480", Some("b")), ("[::1]:7481", Some("c")), ("localhost:1", None)]
        {
            assert_eq!(token(&headers([("host", host), cookies])), found, "{host}");
        }
        assert_eq!(token(&headers([("host", "memory.example.com"), cookies])), Some("a"));
    }

    #[test]
    fn once_it_came_by_tls_it_is_for_tls_only() {
        let set = |is_tls, headers: HeaderMap| {
            let (_, value) = of(is_tls, &headers, "f00", DateTime::UNIX_EPOCH);
            value.to_str().unwrap().to_owned()
        };
        let plain = "htm_sign_in=f00; Path=/; HttpOnly; SameSite=Strict; Max-Age=0";
        assert_eq!(set(false, headers([("origin", "http://memory.example.com")])), plain);
        let secure = format!("__Host-{plain}; Secure");
        assert_eq!(set(true, headers([])), secure);
        assert_eq!(set(false, headers([("origin", "https://memory.example.com")])), secure);
        assert_eq!(set(false, headers([("cookie", "__Host-htm_sign_in=a")])), secure);
        let both = headers([("cookie", "htm_sign_in=old; __Host-htm_sign_in=new")]);
        assert_eq!(token(&both), Some("new"));
        assert_eq!(none(&both).map(|(_, value)| value.to_str().unwrap().contains("Secure")), [true, false]);
    }
}
