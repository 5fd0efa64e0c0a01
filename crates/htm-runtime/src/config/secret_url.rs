//! URLs with hidden passwords.

use std::fmt;

/// A URL that may hold a password: `Debug`, `Display` and `Serialize` hide it.
#[derive(Clone, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(transparent)]
pub struct SecretUrl(String);

impl SecretUrl {
    /// Wraps `url`.
    pub fn new(url: impl Into<String>) -> Self {
        Self(url.into())
    }

    /// The URL with its password, for connecting. Never log it.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Whether no URL is set.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Display for SecretUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&masked(&self.0))
    }
}

impl fmt::Debug for SecretUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", masked(&self.0))
    }
}

impl serde::Serialize for SecretUrl {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Parameters of a URL that hold no secret. The values of all others, such as `password` and `pass`, are hidden.
const SHOWN_PARAMETERS: &[&str] = &[
    "application_name",
    "channel_binding",
    "connect_timeout",
    "dbname",
    "host",
    "hostaddr",
    "port",
    "ssl-ca",
    "ssl-cert",
    "ssl-key",
    "ssl-mode",
    "ssl-root-cert",
    "sslcert",
    "sslkey",
    "sslmode",
    "sslrootcert",
    "statement-cache-capacity",
    "target_session_attrs",
    "user",
];

/// `url` without its password, if it has one: in the user part or as a parameter.
pub(super) fn masked(url: &str) -> String {
    // Without a scheme, a password cannot be located.
    let Some((scheme, rest)) = url.split_once("://") else {
        return if url.is_empty() { String::new() } else { "***".into() };
    };
    // An @ after the host: a password with an unescaped / or ?, or a password among the parameters.
    let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    if path.contains('@') {
        return format!("{scheme}://***");
    }
    // Split at the last @, so that a password with an unescaped @ stays hidden too.
    let (user, host) =
        authority.rsplit_once('@').map_or((None, authority), |(user, host)| (Some(user), host));
    let mut masked = format!("{scheme}://");
    if let Some(user) = user {
        masked.push_str(&match user.split_once(':') {
            Some((name, _)) => format!("{name}:***@"),
            None => format!("{user}@"),
        });
    }
    masked.push_str(host);
    let (path, query) = path.split_once('?').map_or((path, None), |(path, query)| (path, Some(query)));
    masked.push_str(path);
    for (number, parameter) in query.into_iter().flat_map(|query| query.split('&')).enumerate() {
        masked.push(if number == 0 { '?' } else { '&' });
        match parameter.split_once('=') {
            Some((name, _)) if SHOWN_PARAMETERS.contains(&name) => masked.push_str(parameter),
            Some((name, _)) => masked.push_str(&format!("{name}=***")),
            None => masked.push_str(if parameter.is_empty() { "" } else { "***" }),
        }
    }
    masked
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_in_urls_are_masked() {
        for (url, masked) in [
            ("postgres://me:pa@ss@host:5432/db", "postgres://me:***@host:5432/db"),
            ("postgres://me:pa/ss@host/db", "postgres://***"),
            ("postgres://me@host/db?password=x&a=b", "postgres://me@host/db?password=***&a=***"),
            ("postgres://me@host/db?pass=x", "postgres://me@host/db?pass=***"),
            ("postgres://me@host/db?%70assword=x", "postgres://me@host/db?%70assword=***"),
            (
                "postgres://me@host/db?sslmode=require&token=a",
                "postgres://me@host/db?sslmode=require&token=***",
            ),
            ("postgres://me:p@host/db?password=x@y", "postgres://***"),
            ("postgres://me@host/db?x", "postgres://me@host/db?***"),
            ("postgres://host:5432/db", "postgres://host:5432/db"),
            ("me:hunter2@host", "***"),
            ("", ""),
        ] {
            assert_eq!(super::masked(url), masked);
            let url = SecretUrl::new(url);
            assert_eq!((url.to_string(), format!("{url:?}")), (masked.into(), format!("{masked:?}")));
        }
    }
}
