//! `HTM-WAL-Position`: with read replicas, a write answers where it stands in the write-ahead log, and a read with that
//! position sees it.

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;
use htm_core::error::chain;
use htm_core::{Htm, WalPosition};

use crate::app::Shared;
use crate::codes;
use crate::problem::{Problem, Result};

/// The header of both.
pub(crate) const WAL_POSITION: HeaderName = HeaderName::from_static("htm-wal-position");

/// The handle for a request with these headers: it reads what was written before the position that they name.
pub(crate) fn seeing(htm: Htm, headers: &HeaderMap) -> Result<Htm> {
    let Some(header) = headers.get(WAL_POSITION) else { return Ok(htm) };
    let position = header.to_str().ok().and_then(|text| text.trim().parse::<WalPosition>().ok());
    let invalid = || {
        let problem = "the header HTM-WAL-Position is no position in the write-ahead log, such as 0/3000148";
        Problem::new(codes::HEADER_INVALID, problem)
    };
    position.map(|position| htm.reading_after(position)).ok_or_else(invalid)
}

/// Adds the position to the answer of a write, where there are read replicas.
pub(crate) async fn wrote(State(shared): State<Shared>, request: Request, next: Next) -> Response {
    let writes = !request.method().is_safe();
    let mut response = next.run(request).await;
    if writes && response.status().is_success() {
        match shared.htm.wal_position().await {
            Ok(position) => {
                let value = HeaderValue::from_str(&position.to_string()).expect("a position is visible");
                response.headers_mut().insert(WAL_POSITION, value);
            }
            // The write is done. A reader without its position reads as others do.
            Err(error) => tracing::info!(error = %chain(&error), "the position of a write was not read"),
        }
    }
    response
}
