//! A value that no log shows.

use std::fmt;

/// A secret: `Debug`, `Display` and `Serialize` give `***`, or nothing for an empty one.
#[derive(Clone, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// Keeps `value`.
    pub fn new(value: impl Into<String>) -> Self {
        Self(value.into())
    }

    /// The value itself: for a request's header, never for a log.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Whether none is set.
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

/// `url` with its password, if it has one, as `***`; in the user part or as a parameter.
pub(super) fn mask_password(url: &str) -> String {
    let mut masked = url.to_owned();
    if let Some(start) = masked.find("://").map(|at| at + 3) {
        // The last @ of all: a password with an unescaped @ or / stays hidden too.
        if let Some(at) = masked[start..].rfind('@').map(|at| start + at)
            && let Some(colon) = masked[start..at].find(':').map(|at| start + at)
        {
            masked.replace_range(colon + 1..at, "***");
        }
    }
    if let Some(start) = masked.find("password=").map(|at| at + "password=".len()) {
        let end = masked[start..].find('&').map_or(masked.len(), |at| start + at);
        masked.replace_range(start..end, "***");
    }
    masked
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_prints_nothing_of_itself() {
        let secret = Secret::new("sk-123");
        assert_eq!((format!("{secret}"), format!("{secret:?}")), ("***".into(), "Secret(***)".into()));
        assert_eq!(Secret::default().to_string(), "");
    }

    #[test]
    fn passwords_in_urls_are_masked() {
        for (url, masked) in [
            ("postgres://me:pa@ss@host:5432/db", "postgres://me:***@host:5432/db"),
            ("postgres://me:pa/ss@host/db", "postgres://me:***@host/db"),
            ("postgres://me@host/db?password=x&a=b", "postgres://me@host/db?password=***&a=b"),
            ("postgres://host:5432/db", "postgres://host:5432/db"),
            ("", ""),
        ] {
            assert_eq!(mask_password(url), masked);
        }
    }
}
