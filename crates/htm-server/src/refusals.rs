//! The log of refused keys: an operator wants to see the use of a revoked one.

use std::time::Duration;

use htm_core::ApiKey;
use htm_core::error::codes::{API_KEY_EXPIRED, API_KEY_INVALID, API_KEY_REVOKED, NAMESPACE_FORBIDDEN};
use moka::sync::Cache;

/// The time in which a refusal is not logged again, and the most of them that are known.
const KEPT: Duration = Duration::from_secs(60);
const MOST: u64 = 10_000;

/// The refusals of the last minute, by the visible part of the key and the code.
pub(crate) struct Refusals(Cache<(String, String), ()>);

impl Refusals {
    pub(crate) fn new() -> Self {
        Self(Cache::builder().max_capacity(MOST).time_to_live(KEPT).build())
    }

    /// Logs that the key with this text or this visible part was refused, if it was for what the key is or may.
    pub(crate) fn note(&self, key: &str, code: &str) {
        let key = ApiKey::id_in(key).unwrap_or("none");
        if self.is_new(key, code) {
            tracing::info!(key, code, "a key was refused");
        }
    }

    fn is_new(&self, key: &str, code: &str) -> bool {
        let codes = [API_KEY_INVALID, API_KEY_EXPIRED, API_KEY_REVOKED, NAMESPACE_FORBIDDEN];
        // Anybody can make up keys, so those that are not valid have one line together.
        let key = if code == API_KEY_INVALID.name { "" } else { key };
        codes.iter().any(|it| it.name == code)
            && self.0.entry((key.to_owned(), code.to_owned())).or_insert(()).is_fresh()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_logged_once_a_minute() {
        let refusals = Refusals::new();
        for (key, code, is_new) in [
            ("0123456789ab", "api_key_revoked", true),
            ("0123456789ab", "api_key_revoked", false),
            ("0123456789ab", "namespace_forbidden", true),
            ("ba9876543210", "api_key_revoked", true),
            ("0123456789ab", "api_key_invalid", true),
            ("ba9876543210", "api_key_invalid", false),
            ("0123456789ab", "too_many_requests", false),
        ] {
            assert_eq!(refusals.is_new(key, code), is_new, "{key} {code}");
        }
    }
}
