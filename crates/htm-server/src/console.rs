//! `/`: the console. Its files are made from `console/` of the repository and embedded, so it needs no network.
//!
//! The files hold no memories: the page asks the API for them, with the rights of its user.

use std::ffi::OsStr;

use axum::Router;
use axum::extract::Path;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, IF_NONE_MATCH, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use include_dir::{Dir, include_dir};
use sha2::{Digest, Sha256};

use crate::app::Shared;

/// The policy of the page: its own files and this server's API alone.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The files that are made of the sources.
static FILES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/console");

/// The page itself. Views are addresses below `/console/`, and the script tells them apart.
const PAGE: &str = "index.html";

pub(crate) fn router() -> Router<Shared> {
    let page = async |headers: HeaderMap| answer(PAGE, &headers);
    let view = async |Path(path): Path<String>, headers: HeaderMap| answer(&path, &headers);
    Router::new()
        .route("/", get(page))
        .route("/console", get(page))
        .route("/console/", get(page))
        .route("/console/{*path}", get(view))
}

/// The file with this path, or else the page; unless the browser has it already.
fn answer(path: &str, request: &HeaderMap) -> Response {
    let Some(file) = FILES.get_file(path).or_else(|| FILES.get_file(PAGE)) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let kind = match file.path().extension().and_then(OsStr::to_str) {
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        _ => "text/html; charset=utf-8",
    };
    let digest = Sha256::digest(file.contents());
    let tag = hex::encode(&digest[..8]);
    let tag = HeaderValue::from_str(&format!("\"{tag}\"")).unwrap_or(HeaderValue::from_static("\"\""));
    let is_known = request.get(IF_NONE_MATCH) == Some(&tag);
    let headers = [
        (CONTENT_TYPE, HeaderValue::from_static(kind)),
        (CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY)),
        (X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
        // A newer server is noticed at once.
        (CACHE_CONTROL, HeaderValue::from_static("no-cache")),
        (ETAG, tag),
    ];
    match is_known {
        true => (StatusCode::NOT_MODIFIED, headers).into_response(),
        false => (headers, file.contents()).into_response(),
    }
}
