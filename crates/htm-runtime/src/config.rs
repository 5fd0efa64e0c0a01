//! Configuration in layers. Each value has its source, and a key that does not exist is an error.
//!
//! Later layers win: `config/default.toml` (built in), the user's file, the project's `htm.toml`, `htm.local.toml`
//! beside it, the credentials of systemd, `HTM_SECTION__KEY` in the environment, and the command line. A project's file
//! may set keys that could harm its reader only if the user trusts it ([`Config::trust`]).
//!
//! ```
//! use std::collections::BTreeMap;
//! use htm_runtime::config::{Config, Locations};
//!
//! let locations = Locations { env: vec![("HTM_RECALL__LIMIT".into(), "7".into())], ..Locations::default() };
//! let loaded = Config::load_from(&locations, &BTreeMap::new())?;
//! assert_eq!(loaded.config.recall.limit, 7);
//!
//! let overrides = BTreeMap::from([("recall.limt".to_owned(), "7".to_owned())]);
//! let error = Config::load_from(&Locations::default(), &overrides).unwrap_err();
//! assert_eq!(
//!     error.to_string(),
//!     "there is no key `recall.limt` (in --set recall.limt); did you mean `recall.limit`?"
//! );
//! # Ok::<(), htm_core::Error>(())
//! ```

mod error;
mod explain;
mod keys;
mod layers;
mod model;
mod secret_url;
mod trust;

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use figment::Figment;
use figment::value::Value;
use htm_core::Result;
use sha2::{Digest, Sha256};

pub use explain::{Explained, explain};
pub use layers::Locations;
pub use model::{
    Config, Database, Embedding, Expansion, ExpansionProvider, Jobs, Level, Local, Log, LogFormat, Memory,
    Ollama, Openai, Provider, Recall, Rerank, RerankProvider, Spelling, Tag, Time, Tokens, Worker,
    WorkerProcess,
};
pub use secret_url::SecretUrl;
use trust::Trust;
pub use trust::{Decision, ProjectFile};

/// Every key with its default, as a file to start from.
pub const DEFAULT_TOML: &str = include_str!("../../../config/default.toml");

/// Whether a key has this name, such as `recall.limit`.
pub fn is_key(name: &str) -> bool {
    keys::find(name).is_some()
}

/// Whether the value of a key may be a secret, or a URL with one. So may that of a key that there is not.
pub fn is_secret(name: &str) -> bool {
    keys::find(name).is_none_or(keys::Key::is_secret)
}

/// The source of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// `config/default.toml`, built into the program.
    Default,
    /// A configuration file.
    File(PathBuf),
    /// This environment variable.
    Env(String),
    /// The command line.
    Flag,
    /// The program, which has set a field of [`Config`].
    Program,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Default => f.write_str("default"),
            Source::File(path) => write!(f, "{}", path.display()),
            Source::Env(variable) => f.write_str(variable),
            Source::Flag => f.write_str("command line"),
            Source::Program => f.write_str("the program"),
        }
    }
}

/// A configuration, with the source of each value.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The values.
    pub config: Config,
    /// The source of each key, as `recall.limit`.
    pub sources: BTreeMap<String, Source>,
    shown: BTreeMap<String, String>,
    digest: [u8; 32],
}

/// One line of `htm config show`.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Entry {
    /// The key, such as `recall.limit`.
    pub key: &'static str,
    /// The value in TOML. A secret that is set is `"***"`, and so is the password in a URL.
    pub value: String,
    /// The source, as [`Source`] displays it.
    pub source: String,
}

impl Loaded {
    /// A SHA-256 of the values that decide what a command does. Configurations that differ only in a process's own
    /// log, address or size have the same.
    pub fn digest(&self) -> &[u8; 32] {
        &self.digest
    }

    /// Every key, in the order of `config/default.toml`. Safe to print.
    pub fn entries(&self) -> Vec<Entry> {
        keys::KEYS
            .iter()
            .map(|key| Entry {
                key: key.name,
                value: self.shown.get(key.name).cloned().unwrap_or_default(),
                source: self.sources.get(key.name).unwrap_or(&Source::Default).to_string(),
            })
            .collect()
    }
}

impl Config {
    /// Loads the configuration of this process. `overrides` maps `section.key` to its value on the command line.
    ///
    /// # Errors
    /// One of the `config_…` [`codes`](crate::codes), which names the key and the source at fault.
    pub fn load(overrides: &BTreeMap<String, String>) -> Result<Loaded> {
        Self::load_from(&Locations::from_process(), overrides)
    }

    /// Checks the values, as loading does: a program may have set some of them.
    ///
    /// # Errors
    /// `config_bad_value`.
    pub fn check(&self) -> Result<()> {
        // Secrets are hidden in it, and their rules take any text.
        let values = Value::serialize(self)
            .map_err(|error| error::unreadable(&Source::Program.to_string(), &error.to_string()))?;
        for key in keys::KEYS {
            if let Some(value) = values.find_ref(key.name) {
                key.check(value, &Source::Program)?;
            }
        }
        Ok(())
    }

    /// Trusts the project's files as they are now, or revokes the trust. Returns the files, weakest first.
    ///
    /// # Errors
    /// One of the `config_…` [`codes`](crate::codes): a file cannot be read or parsed, or the trust cannot be saved.
    pub fn trust(locations: &Locations, decision: Decision) -> Result<Vec<ProjectFile>> {
        trust::decide(locations, decision)
    }

    /// Loads the configuration of `locations`.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn load_from(locations: &Locations, overrides: &BTreeMap<String, String>) -> Result<Loaded> {
        let mut figment = Figment::new();
        let mut sources = BTreeMap::new();
        let mut trusts = BTreeMap::new();
        for layer in layers::collect(locations, overrides)? {
            for (name, value) in &layer.values {
                let key = keys::find(name).ok_or_else(|| keys::unknown(name, &layer.source))?;
                key.check(value, &layer.source)?;
                sources.insert(name.clone(), layer.source.clone());
                trusts.insert(name.clone(), layer.trust);
            }
            figment = figment.merge(layer);
        }
        // Figment's own message would quote the value.
        let config: Self = figment.extract().map_err(|error| {
            let key = error.path.join(".");
            let source = sources.get(&key).unwrap_or(&Source::Default).to_string();
            error::unreadable(&source, &format!("`{key}` has a value of another type"))
        })?;
        let is_set = |key: &str| figment.find_value(key).is_ok_and(|value| value.as_str() != Some(""));
        let source_of = |key: &str| keys::source_name(sources.get(key).unwrap_or(&Source::Default), key);
        for (key, url_key) in keys::SENT {
            if is_set(key) && trusts.get(url_key) < trusts.get(key) {
                return Err(error::key_elsewhere(key, &source_of(key), url_key, &source_of(url_key)));
            }
        }
        let headers = locations
            .env
            .iter()
            .find(|(name, value)| keys::HEADERS.contains(&name.as_str()) && !value.is_empty());
        if let Some((headers, _)) = headers
            && is_set(keys::COLLECTOR)
            && trusts.get(keys::COLLECTOR) < Some(&Trust::User)
        {
            let url_source = source_of(keys::COLLECTOR);
            return Err(error::key_elsewhere(headers, "the environment", keys::COLLECTOR, &url_source));
        }
        let shown = keys::KEYS
            .iter()
            .filter_map(|key| {
                let value: Value = figment.find_value(key.name).ok()?;
                Some((key.name.to_owned(), key.show(&value)))
            })
            .collect();
        let mut digest = Sha256::new();
        for key in keys::KEYS.iter().filter(|key| key.is_for_commands()) {
            let value = figment.find_value(key.name).map(|value| key.expose(&value)).unwrap_or_default();
            digest.update(format!("{} = {value}\n", key.name));
        }
        Ok(Loaded { config, sources, shown, digest: digest.finalize().into() })
    }
}

#[cfg(test)]
mod tests;
