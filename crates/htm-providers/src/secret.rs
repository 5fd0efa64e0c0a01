//! API keys that cannot be printed by accident.

use std::fmt;

/// A provider's key. `Debug`, `Display` and `Serialize` give `***`, or nothing for an empty one.
///
/// ```
/// let key = htm_providers::Secret::new("sk-123");
/// assert_eq!(format!("{key:?} {key}"), "Secret(***) ***");
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

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_empty() { "" } else { "***" })
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secret({self})")
    }
}

impl serde::Serialize for Secret {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for Secret {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::new)
    }
}
