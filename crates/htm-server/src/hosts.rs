//! The host that a request names, and the page that it comes from. A page on the web could otherwise use the server of its
//! reader, after a change of its name's address (DNS rebinding), and so could a page of another port of this machine.

use axum::extract::Request;
use axum::http::header::{HOST, ORIGIN};
use axum::http::uri::Authority;
use axum::http::{HeaderValue, Uri, Version};

use crate::codes;
use crate::oauth::OAuth;
use crate::problem::{Problem, Result};
use crate::server::Listening;

/// The hosts by which the server is called.
pub(crate) struct Hosts {
    /// Those of this machine. None: any host is served.
    own: Option<Vec<String>>,
    /// Those of the settings.
    named: Vec<String>,
    /// Whether the server itself speaks TLS.
    is_tls: bool,
}

impl Hosts {
    pub(crate) fn of(listening: &Listening) -> Self {
        let ip = listening.address.ip();
        let own = || {
            let ip = if ip.is_ipv6() { format!("[{ip}]") } else { ip.to_string() };
            vec!["localhost".into(), "127.0.0.1".into(), "[::1]".into(), ip]
        };
        // Beyond this machine every request has a key, which a page on the web does not know.
        let is_any = listening.hosts.is_empty() && !ip.is_loopback();
        // Clients get their tokens for the name of the resource.
        let of_tokens = listening.oauth.as_ref().and_then(OAuth::host);
        let named = listening.hosts.iter().map(String::as_str).chain(of_tokens);
        Self {
            own: (!is_any).then(own),
            named: named.map(str::to_ascii_lowercase).collect(),
            is_tls: listening.tls.is_some(),
        }
    }

    /// Refuses a request that names another host, or comes from a page of another origin.
    pub(crate) fn check(&self, request: &Request) -> Result<()> {
        let headers = request.headers();
        let origin = headers.get(ORIGIN).map(text);
        // The host of a URI counts, and the header does not then (RFC 9112, 3.2.2).
        let of_uri = request.uri().authority().map(|it| it.as_str().to_owned());
        let Some(host) = of_uri.or_else(|| headers.get(HOST).map(text)) else {
            // A program of HTTP/1.0 need not name a host. A browser does.
            return match request.version() < Version::HTTP_11 && origin.is_none() {
                true => Ok(()),
                false => Err(Problem::new(codes::HEADER_INVALID, "the request has no header Host")),
            };
        };
        let forbidden = |what: &str, value: &str| {
            let problem = format!("the server does not serve the {what} `{value}`");
            Err(Problem::new(codes::HOST_FORBIDDEN, problem))
        };
        let Some(called) = host.parse::<Authority>().ok().filter(|it| self.serves(it)) else {
            return forbidden("host", &host);
        };
        match origin {
            Some(origin) if !self.is_own_page(&origin, &called) => forbidden("origin", &origin),
            _ => Ok(()),
        }
    }

    fn serves(&self, called: &Authority) -> bool {
        place(called, "http").is_some_and(|(host, _)| {
            self.own.as_ref().is_none_or(|own| own.contains(&host)) || self.named.contains(&host)
        })
    }

    /// Whether an origin is that of the pages of this server, which was called by a host and a port.
    fn is_own_page(&self, origin: &str, called: &Authority) -> bool {
        let Ok(origin) = origin.parse::<Uri>() else { return false };
        let Some(scheme @ ("http" | "https")) = origin.scheme_str() else { return false };
        let Some(page) = origin.authority().and_then(|it| place(it, scheme)) else { return false };
        let is_named = self.named.contains(&page.0);
        // A proxy may speak TLS for the server. It may also call the server by another name than browsers do.
        let is_proxied = scheme == "https" && !self.is_tls && (is_named || self.own.is_none());
        let is_of_scheme = is_proxied || (scheme == "https") == self.is_tls;
        let is_of_place = place(called, scheme).is_some_and(|called| called == page);
        is_of_scheme && (is_of_place || (is_proxied && is_named && page.1 == 443))
    }
}

fn text(value: &HeaderValue) -> String {
    String::from_utf8_lossy(value.as_bytes()).into_owned()
}

/// The host and the port of an authority. None: it has a user, or a port that is none.
fn place(authority: &Authority, scheme: &str) -> Option<(String, u16)> {
    let port = match authority.as_str().strip_prefix(authority.host())? {
        "" if scheme == "https" => 443,
        "" => 80,
        _ => authority.port_u16()?,
    };
    Some((authority.host().to_ascii_lowercase(), port))
}

#[cfg(test)]
mod tests {
    use axum::body::Body;

    use super::*;

    fn hosts(address: &str, named: &[&str]) -> Hosts {
        let address = address.parse::<std::net::SocketAddr>().unwrap();
        let named = named.iter().map(|it| (*it).to_owned()).collect();
        Hosts::of(&Listening { hosts: named, ..Listening::from(address) })
    }

    fn asked(hosts: &Hosts, uri: &str, host: &str, origin: &str) -> bool {
        let mut request = Request::builder().uri(uri);
        for (name, value) in [(HOST, host), (ORIGIN, origin)] {
            if !value.is_empty() {
                request = request.header(name, value);
            }
        }
        hosts.check(&request.body(Body::empty()).unwrap()).is_ok()
    }

    #[test]
    fn a_page_is_of_the_same_scheme_host_and_port() {
        let local = hosts("127.0.0.1:7480", &[]);
        for (host, origin, is_served) in [
            ("127.0.0.1:7480", "http://127.0.0.1:7480", true),
            ("LocalHost:7480", "http://localhost:7480", true),
            ("[::1]:9", "http://[::1]:9", true),
            ("localhost", "http://localhost:80", true),
            ("127.0.0.1:7480", "http://localhost:7480", false),
            ("127.0.0.1:7480", "http://127.0.0.1:3000", false),
            ("127.0.0.1:7480", "http://127.0.0.1", false),
            ("127.0.0.1:7480", "https://127.0.0.1:7480", false),
            ("127.0.0.1:7480", "ftp://127.0.0.1:7480", false),
            ("127.0.0.1:7480", "127.0.0.1:7480", false),
            ("127.0.0.1:7480", "null", false),
            ("localhost", "https://localhost", false),
            ("evil@localhost:7480", "", false),
            ("localhost:99999", "", false),
            ("localhost.evil.example", "", false),
        ] {
            assert_eq!(asked(&local, "/", host, origin), is_served, "{host} {origin}");
        }
    }

    #[test]
    fn a_proxy_with_tls_serves_the_names_of_the_settings() {
        let named = hosts("127.0.0.1:7480", &["Memory.example.com"]);
        let any = hosts("0.0.0.0:7480", &[]);
        for (hosts, host, origin, is_served) in [
            (&named, "memory.example.com", "https://memory.example.com", true),
            (&named, "memory.example.com:8443", "https://memory.example.com:8443", true),
            // The proxy calls it by its address.
            (&named, "127.0.0.1:7480", "https://memory.example.com", true),
            (&named, "127.0.0.1:7480", "https://memory.example.com:8443", false),
            (&named, "memory.example.com:7480", "http://memory.example.com", false),
            (&named, "memory.example.com", "https://localhost", false),
            (&any, "memory.lan:7480", "http://memory.lan:7480", true),
            (&any, "memory.lan", "https://memory.lan", true),
            (&any, "memory.lan:7480", "https://other.lan:7480", false),
        ] {
            assert_eq!(asked(hosts, "/", host, origin), is_served, "{host} {origin}");
        }
    }

    #[test]
    fn the_host_of_a_uri_counts_and_one_is_named() {
        let local = hosts("127.0.0.1:7480", &[]);
        assert!(!asked(&local, "http://evil.example/v1/memories", "127.0.0.1:7480", ""));
        assert!(asked(&local, "http://127.0.0.1:7480/v1/memories", "evil.example", ""));
        assert!(!asked(&local, "/", "", ""));
        let old = |origin: Option<&str>| {
            let request = Request::builder().version(Version::HTTP_10);
            let request = origin.into_iter().fold(request, |it, origin| it.header(ORIGIN, origin));
            local.check(&request.body(Body::empty()).unwrap()).is_ok()
        };
        assert!(old(None) && !old(Some("http://127.0.0.1:7480")));
    }
}
