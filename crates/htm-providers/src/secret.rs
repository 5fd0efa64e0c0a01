//! API keys that cannot be printed by accident.

use std::fmt;

/// A provider's key. `Debug` shows `Secret(***)`, and there is no `Display`.
///
/// ```
/// let key = htm_providers::Secret::new("sk-123");
/// assert_eq!(format!("{key:?}"), "Secret(***)");
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps `key`, without surrounding white space such as a file's final newline.
    pub fn new(key: impl AsRef<str>) -> Self {
        Self(key.as_ref().trim().to_owned())
    }

    /// The key itself, for a request's header. Never log it.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Whether no key is set. Requests then have no `Authorization` header.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_empty() { "Secret(none)" } else { "Secret(***)" })
    }
}
