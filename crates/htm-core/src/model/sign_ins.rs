//! Sign-ins: a browser that was signed in with a key of the API. The browser holds a token and not the key.

use std::time::Duration;

use chrono::{DateTime, Utc};
use sha2::{Digest, Sha256};

use super::api_keys::{ApiKey, KeyText};

/// The time from signing in to the end.
pub(crate) const LENGTH: Duration = Duration::from_secs(12 * 3_600);

/// The age at which a token is replaced.
pub(crate) const RENEWED_AFTER: Duration = Duration::from_secs(15 * 60);

/// The time for which a replaced token is still accepted: requests with it may be under way.
pub(crate) const OVERLAP: Duration = Duration::from_secs(60);

/// A browser that was signed in with a key.
#[derive(Clone, Debug)]
pub struct SignIn {
    /// The key.
    pub key: ApiKey,
    /// When it ends, unless the key ends before.
    pub ends_at: DateTime<Utc>,
    /// The new token of a new sign-in, or of one whose token was due to be replaced.
    pub token: Option<KeyText>,
}

/// A new token of 32 random bytes.
pub(crate) fn token(random: [u8; 32]) -> KeyText {
    KeyText::new(hex::encode(random))
}

/// The part of a token that the database has.
pub(crate) fn digest(token: &str) -> [u8; 32] {
    Sha256::digest(token).into()
}
