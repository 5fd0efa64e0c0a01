//! The limits of requests.

use std::time::Duration;

/// The most bytes of a body of JSON. A text of 1 MiB has at most 6 MiB as JSON (`\u0001`).
pub(crate) const MAX_BODY_BYTES: usize = 16 << 20;

/// The most bytes that a body of JSON takes in memory when it is read. Texts and vectors of the most bytes fit.
pub(crate) const MAX_BODY_WEIGHT: usize = 64 << 20;

/// The most bytes of the bodies of all requests in hand.
pub(crate) const MAX_BODIES_BYTES: usize = 128 << 20;

/// The most bytes that the values of these bodies take in memory.
pub(crate) const MAX_VALUES_BYTES: usize = 128 << 20;

/// The longest pause in a JSON body.
pub(crate) const BODY_PAUSE: Duration = Duration::from_secs(10);

/// The most sign-ins in hand, the bytes of the body of one, and the time for that body.
pub(crate) const MAX_SIGN_INS: usize = 16;
pub(crate) const MAX_SIGN_IN_BYTES: usize = 4 << 10;
pub(crate) const SIGN_IN_BODY_TIME: Duration = Duration::from_secs(5);

/// The most bytes of a URI.
pub(crate) const MAX_URI_BYTES: usize = 16 << 10;

/// The most headers, and bytes of them.
pub(crate) const MAX_HEADERS: usize = 64;
pub(crate) const MAX_HEADERS_BYTES: usize = 64 << 10;

/// The most memories of a batch, and messages of a conversation.
pub(crate) const MAX_BATCH: usize = 1_000;

/// The most messages of a batch of the Model Context Protocol. Each may be a recall.
pub(crate) const MAX_MESSAGES: usize = 50;

/// The most tokens of a context, and characters of its separator.
pub(crate) const MAX_CONTEXT_TOKENS: u32 = 1_000_000;
pub(crate) const MAX_SEPARATOR: usize = 1_024;

/// The limits that a server is started with.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The most requests that are worked on at the same time. Further ones get 429.
    pub requests: usize,
    /// The most connections. Further clients wait.
    pub connections: usize,
    /// The time for a request, from its headers to its answer. Streams may take longer.
    pub request_time: Duration,
    /// The time for a client to send its headers.
    pub header_time: Duration,
    /// The time for a client to read the next part of an answer, or to send the next line of an import.
    pub stall_time: Duration,
    /// The time for requests in hand when the server stops.
    pub grace: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            requests: 256,
            connections: 1_024,
            request_time: Duration::from_secs(60),
            header_time: Duration::from_secs(10),
            stall_time: Duration::from_secs(60),
            grace: Duration::from_secs(10),
        }
    }
}
