//! HTTP clients.

use reqwest::{Client, ClientBuilder, Url};

/// The builder of a client for a server at `url`. One on this machine is asked directly, whatever proxy is set.
pub(crate) fn client_of(url: &Url) -> ClientBuilder {
    match url.host_str() {
        Some("localhost" | "127.0.0.1" | "[::1]") => Client::builder().no_proxy(),
        _ => Client::builder(),
    }
}
