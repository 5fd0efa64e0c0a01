//! What is wrong with a configuration.

use std::io;
use std::path::PathBuf;

use htm_core::fault::Fault;

/// What is wrong with a configuration, and where it is written.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// No key has this name.
    #[error("there is no key `{key}` (in {source_name}){}", did_you_mean(.nearest))]
    UnknownKey {
        /// As it is written.
        key: String,
        /// The file, the variable, or the flag.
        source_name: String,
        /// The key with the most similar name.
        nearest: Option<&'static str>,
    },
    /// Neither a key nor a section has this name.
    #[error("no key and no section is called `{name}`{}", did_you_mean(.nearest))]
    UnknownName {
        /// As it was asked for.
        name: String,
        /// The key with the most similar name.
        nearest: Option<&'static str>,
    },
    /// The value has the wrong type or is out of range.
    #[error("`{key}` cannot be {value} (in {source_name}); allowed: {allowed}")]
    BadValue {
        /// The key.
        key: String,
        /// The value; `***` for a secret.
        value: String,
        /// The file, the variable, or the flag.
        source_name: String,
        /// What it may be.
        allowed: String,
    },
    /// A file, or a value in the environment, is no TOML.
    #[error("{source_name} cannot be read as configuration: {message}")]
    Unreadable {
        /// The file or the variable.
        source_name: String,
        /// Where in it, and why not.
        message: String,
    },
    /// A project's file sets what only a trusted one may.
    #[error("{} sets {}, and nobody said that it is trusted", path.display(), quoted(.keys))]
    Untrusted {
        /// The file.
        path: PathBuf,
        /// What it sets.
        keys: Vec<String>,
    },
    /// A key would be sent to a URL that comes from a place that is trusted less.
    #[error("`{key}` of {key_source} would be sent to `{url_key}` of {url_source}, which is trusted less")]
    KeyElsewhere {
        /// As `openai.api_key`.
        key: &'static str,
        /// The file, the variable, or the flag.
        key_source: String,
        /// As `openai.base_url`.
        url_key: &'static str,
        /// The project's file.
        url_source: String,
    },
    /// The file system refused a file.
    #[error("could not {action} {}", path.display())]
    Io {
        /// As `read`.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

impl ConfigError {
    /// A stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::UnknownKey { .. } | Self::UnknownName { .. } => "config_unknown_key",
            Self::BadValue { .. } => "config_bad_value",
            Self::Unreadable { .. } => "config_unreadable",
            Self::Untrusted { .. } => "config_untrusted",
            Self::KeyElsewhere { .. } => "config_key_elsewhere",
            Self::Io { .. } => "config_io",
        }
    }

    /// What to do next.
    pub fn hint(&self) -> String {
        match self {
            Self::UnknownKey { source_name, .. } => {
                format!("rename or remove it in {source_name}; `htm config default` prints every key")
            }
            Self::UnknownName { .. } => "`htm config default` prints every key".into(),
            Self::BadValue { key, source_name, .. } => {
                format!("change `{key}` in {source_name}; what it does: `htm config explain {key}`")
            }
            Self::Unreadable { source_name, .. } => format!("mend {source_name}: it has to be TOML"),
            Self::Untrusted { path, .. } => format!(
                "it decides where memories and keys go, and which files are read: read {}, then run `htm config trust` \
                 here, again after each change; or remove these keys from it",
                path.display()
            ),
            Self::KeyElsewhere { key, url_key, url_source, .. } => format!(
                "if it is to go there, set `{url_key}` where `{key}` is set; else unset `{key}` here, or remove \
                 `{url_key}` from {url_source}"
            ),
            Self::Io { .. } => "check that it is there and who may read it".into(),
        }
    }

    /// Who has to act.
    pub fn fault(&self) -> Fault {
        Fault::User
    }
}

fn quoted(keys: &[String]) -> String {
    keys.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ")
}

fn did_you_mean(nearest: &Option<&'static str>) -> String {
    nearest.map(|nearest| format!("; did you mean `{nearest}`?")).unwrap_or_default()
}
