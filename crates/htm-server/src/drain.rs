//! The rest of a body that nobody reads, such as that of a refused request. A client that sends all before it reads would
//! meet a closed connection in place of the answer.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::{Body, HttpBody};
use axum::extract::Request;
use axum::http::header::EXPECT;
use bytes::Bytes;
use futures::StreamExt;
use hyper::body::{Frame, SizeHint};
use tokio::runtime::Handle;
use tokio::time::timeout;

/// The most bytes that are read for nothing, and the longest time for it.
const MAX_BYTES: usize = 64 << 20;
const TIME: Duration = Duration::from_secs(5);

/// A request whose body is read to its end, within limits, after it is dropped. The answer does not wait for that.
pub(crate) fn drained(request: Request, limit: Duration) -> Request {
    // A client with `Expect` waits for the answer before it sends.
    if request.body().is_end_stream() || request.headers().contains_key(EXPECT) {
        return request;
    }
    request.map(|body| Body::new(Drained { body: Some(body), time: limit.min(TIME) }))
}

/// A body that may be dropped before its end.
struct Drained {
    /// None: it has ended.
    body: Option<Body>,
    time: Duration,
}

impl HttpBody for Drained {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let Some(body) = &mut self.body else { return Poll::Ready(None) };
        let frame = ready!(Pin::new(body).poll_frame(context));
        if !matches!(frame, Some(Ok(_))) {
            self.body = None;
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(HttpBody::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map_or_else(|| SizeHint::with_exact(0), HttpBody::size_hint)
    }
}

impl Drop for Drained {
    fn drop(&mut self) {
        let rest = self.body.take().filter(|body| !body.is_end_stream());
        if let (Some(rest), Ok(runtime)) = (rest, Handle::try_current()) {
            runtime.spawn(timeout(self.time, read(rest)));
        }
    }
}

async fn read(body: Body) {
    let (mut chunks, mut bytes) = (body.into_data_stream(), 0);
    while let Some(Ok(chunk)) = chunks.next().await
        && bytes < MAX_BYTES
    {
        bytes += chunk.len();
    }
}
