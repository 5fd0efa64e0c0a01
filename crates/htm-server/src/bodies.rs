//! The memory for the bodies of all requests in hand: for their bytes, and for the values that are read from them. The two
//! are apart, so that requests whose bytes take all of the first can still be read, one after the other.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::Request;
use axum::http::header::TRANSFER_ENCODING;

use crate::codes;
use crate::extract::length;
use crate::limits::{MAX_BODIES_BYTES, MAX_BODY_BYTES, MAX_VALUES_BYTES};
use crate::permits::{Full, Share, Shares, Tenant};
use crate::problem::{Problem, Result};

/// The memory is shared in parts of this many bytes.
const UNIT: usize = 1_024;

/// The memory for bodies.
#[derive(Clone)]
pub(crate) struct Bodies {
    bytes: Shares,
    values: Shares,
}

/// The share of this memory that a request has. It is given back when the request is answered.
#[derive(Clone)]
pub(crate) struct Reserved {
    values: Shares,
    tenant: Tenant,
    held: Arc<Mutex<Vec<Share>>>,
    is_read: Arc<AtomicBool>,
}

impl Bodies {
    pub(crate) fn new() -> Self {
        let of = |bytes: usize| Shares::new(bytes / UNIT);
        Self { bytes: of(MAX_BODIES_BYTES), values: of(MAX_VALUES_BYTES) }
    }

    /// Reserves the memory for the bytes of a request's body.
    pub(crate) fn reserve(&self, request: &Request, tenant: Tenant) -> Result<Reserved> {
        let share = take(&self.bytes, &tenant, body_bytes(request), "bodies")?;
        Ok(Reserved {
            values: self.values.clone(),
            tenant,
            held: Arc::new(Mutex::new(vec![share])),
            is_read: Arc::default(),
        })
    }
}

impl Reserved {
    /// Whether the body is being read.
    pub(crate) fn is_read(&self) -> bool {
        self.is_read.load(Ordering::Relaxed)
    }

    /// Says that the body is being read, or that it is whole.
    pub(crate) fn set_read(&self, is_read: bool) {
        self.is_read.store(is_read, Ordering::Relaxed);
    }

    /// Reserves the memory for the values of the body.
    pub(crate) fn reserve_values(&self, bytes: usize) -> Result<()> {
        let share = take(&self.values, &self.tenant, bytes, "values in the bodies")?;
        self.held.lock().unwrap_or_else(PoisonError::into_inner).push(share);
        Ok(())
    }
}

/// The bytes of a request's body. A body without a length may have the most bytes.
fn body_bytes(request: &Request) -> usize {
    match length(request.headers()) {
        Some(length) => length.min(MAX_BODY_BYTES),
        None if request.headers().contains_key(TRANSFER_ENCODING) => MAX_BODY_BYTES,
        None => 0,
    }
}

fn take(memory: &Shares, tenant: &Tenant, bytes: usize, what: &str) -> Result<Share> {
    memory.take(tenant, bytes.div_ceil(UNIT)).map_err(|Full { most, whose }| {
        let most = (most * UNIT) >> 20;
        let problem = format!(
            "the {what} of the requests in hand leave no room for this one: at most {most} MiB{whose}"
        );
        Problem::new(codes::TOO_BUSY, problem)
    })
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use axum::http::header::CONTENT_LENGTH;

    use super::*;
    use crate::limits::MAX_BODY_WEIGHT;

    fn request(bytes: usize) -> Request {
        Request::builder().header(CONTENT_LENGTH, bytes).body(Body::empty()).unwrap()
    }

    #[test]
    fn bodies_that_take_all_the_memory_for_bytes_can_be_read() {
        let bodies = Bodies::new();
        let admitted: Vec<Reserved> =
            std::iter::from_fn(|| bodies.reserve(&request(MAX_BODY_BYTES), None).ok()).collect();
        assert_eq!(admitted.len(), MAX_BODIES_BYTES / MAX_BODY_BYTES);
        let read = admitted.iter().filter(|it| it.reserve_values(MAX_BODY_WEIGHT).is_ok()).count();
        assert_eq!(read, MAX_VALUES_BYTES / MAX_BODY_WEIGHT);
        drop(admitted);
        bodies.reserve(&request(MAX_BODY_BYTES), None).unwrap().reserve_values(MAX_BODY_WEIGHT).unwrap();
    }

    #[test]
    fn a_tenant_takes_half_of_the_memory() {
        let bodies = Bodies::new();
        let reserve = |tenant: &str| bodies.reserve(&request(MAX_BODY_BYTES), Some(vec![tenant.to_owned()]));
        let held: Vec<Reserved> = std::iter::from_fn(|| reserve("a").ok()).collect();
        assert_eq!(held.len(), MAX_BODIES_BYTES / MAX_BODY_BYTES / 2);
        held[0].reserve_values(MAX_BODY_WEIGHT).unwrap();
        assert!(held[1].reserve_values(MAX_BODY_WEIGHT).is_err());
        let others: Vec<Reserved> = std::iter::from_fn(|| reserve("b").ok()).collect();
        assert!(!others.is_empty());
        bodies.reserve(&request(MAX_BODY_BYTES), None).unwrap().reserve_values(MAX_BODY_WEIGHT).unwrap();
    }

    #[test]
    fn a_body_without_a_length_may_have_the_most_bytes() {
        let streamed = Request::builder().header(TRANSFER_ENCODING, "chunked").body(Body::empty()).unwrap();
        assert_eq!(body_bytes(&streamed), MAX_BODY_BYTES);
        assert_eq!(body_bytes(&Request::new(Body::empty())), 0);
        assert_eq!(body_bytes(&request(usize::MAX)), MAX_BODY_BYTES);
    }
}
