//! Operations: writes with an id of the caller, which a retry does not do again.

use std::time::Duration;

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::model::error::{Error, Result, codes};

/// The most bytes of an operation's id and of its scope.
pub const MAX_OPERATION_BYTES: usize = 255;

/// A write with an id. The same id with the same request gets the answer of the first; with another request it is an
/// error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Whose ids these are, such as a key of the API. Ids of different scopes have nothing to do with each other.
    pub(crate) scope: String,
    /// The id.
    pub(crate) id: String,
    /// The SHA-256 of the request.
    pub(crate) digest: [u8; 32],
    /// The time for which the answer is kept.
    pub(crate) keep: Duration,
}

/// An operation, and the function that makes its answer. The answer commits with the write.
#[derive(Debug)]
pub struct Kept<'a, T> {
    pub(crate) operation: &'a Operation,
    pub(crate) answer: fn(&T) -> Value,
}

impl<'a, T> Kept<'a, T> {
    /// An operation that was [begun](crate::Htm::begin_operation), and how to make its answer.
    pub fn new(operation: &'a Operation, answer: fn(&T) -> Value) -> Self {
        Self { operation, answer }
    }
}

impl<T> Clone for Kept<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Kept<'_, T> {}

impl Operation {
    /// The time for which an answer is kept by default.
    pub const KEEP: Duration = Duration::from_secs(86_400);

    /// An operation of a scope. `request` is all that the request consists of.
    ///
    /// # Errors
    /// `operation_invalid` for an id that is empty, longer than [`MAX_OPERATION_BYTES`], or has other than visible ASCII
    /// characters.
    pub fn new(scope: &str, id: &str, request: &[u8]) -> Result<Self> {
        let visible = |text: &str| text.bytes().all(|byte| byte.is_ascii_graphic());
        if id.is_empty()
            || id.len() > MAX_OPERATION_BYTES
            || !visible(id)
            || scope.len() > MAX_OPERATION_BYTES
        {
            let message = format!(
                "an operation's id of {} bytes is not 1 to {MAX_OPERATION_BYTES} visible ASCII characters",
                id.len()
            );
            return Err(Error::new(codes::OPERATION_INVALID, message).with_value("operation", id));
        }
        let digest = Sha256::digest(request).into();
        Ok(Self { scope: scope.into(), id: id.into(), digest, keep: Self::KEEP })
    }

    /// Sets the time for which the answer is kept.
    pub fn keep(mut self, keep: Duration) -> Self {
        self.keep = keep;
        self
    }

    /// The error of an id that was used for another request.
    pub(crate) fn differs(&self) -> Error {
        let message = format!("operation `{}` was another request", self.id);
        Error::new(codes::OPERATION_DIFFERS, message).with_value("operation", &self.id)
    }

    /// The error of an operation that has not ended.
    pub(crate) fn open(&self) -> Error {
        let message = format!("operation `{}` has not ended yet", self.id);
        Error::new(codes::OPERATION_OPEN, message).with_value("operation", &self.id)
    }

    /// The error of an operation whose answer was erased.
    pub(crate) fn erased(&self) -> Error {
        let message = format!("operation `{}` is done, and a memory of it was erased", self.id);
        Error::new(codes::OPERATION_ERASED, message).with_value("operation", &self.id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_short_and_visible() {
        assert!(Operation::new("", "8e03978e-40d5-43dd-bc93-6894a57f9324", b"").is_ok());
        for id in ["", "two words", "naïve", "a\n", &"x".repeat(256)] {
            assert!(Operation::new("", id, b"").unwrap_err().is(codes::OPERATION_INVALID), "{id}");
        }
    }

    #[test]
    fn another_request_has_another_digest() {
        let of = |request: &[u8]| Operation::new("", "a", request).unwrap();
        assert_eq!(of(b"one"), of(b"one"));
        assert_ne!(of(b"one"), of(b"two"));
    }
}
