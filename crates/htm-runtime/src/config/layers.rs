//! Reading each layer as keys and values, with its source.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy as _;
use figment::providers::{Format as _, Toml};
use figment::value::{Dict, Map, Value};
use figment::{Metadata, Profile, Provider};

use super::error::ConfigError;
use super::keys;
use super::{DEFAULT_TOML, Source};

/// Where the layers are looked for; an empty one gives the defaults.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// The user's file; it need not be there.
    pub user: Option<PathBuf>,
    /// Where the search for `htm.toml` and `htm.local.toml` starts: here, else in the nearest directory above that
    /// has one of them.
    pub project: Option<PathBuf>,
    /// Names and values; those without `HTM_` and `__` are passed over.
    pub env: Vec<(String, String)>,
}

impl Places {
    /// Those of this process: `$XDG_CONFIG_HOME/htm/config.toml`, the current directory, its environment.
    pub fn from_process() -> Self {
        Self {
            user: etcetera::base_strategy::Xdg::new()
                .ok()
                .map(|xdg| xdg.config_dir().join("htm/config.toml")),
            project: env::current_dir().ok(),
            env: env::vars_os()
                .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
                .collect(),
        }
    }
}

/// One source's keys, as `recall.limit`, and values.
pub(super) struct Layer {
    pub(super) source: Source,
    pub(super) values: Vec<(String, Value)>,
}

impl Provider for Layer {
    fn metadata(&self) -> Metadata {
        Metadata::named(self.source.to_string())
    }

    fn data(&self) -> figment::Result<Map<Profile, Dict>> {
        let mut sections = Dict::new();
        for (name, value) in &self.values {
            if let Some((section, key)) = name.split_once('.')
                && let Value::Dict(_, keys) =
                    sections.entry(section.to_owned()).or_insert_with(|| Value::from(Dict::new()))
            {
                keys.insert(key.to_owned(), value.clone());
            }
        }
        Ok(Profile::Default.collect(sections))
    }
}

/// The layers that there are, weakest first.
pub(super) fn collect(
    places: &Places,
    overrides: &BTreeMap<String, String>,
) -> Result<Vec<Layer>, ConfigError> {
    let mut layers = vec![parse(DEFAULT_TOML, Source::Default)?];
    layers.extend(places.user.as_deref().map(file).transpose()?.flatten());
    if let Some(start) = &places.project {
        let names = ["htm.toml", "htm.local.toml"];
        if let Some(dir) = start.ancestors().find(|dir| names.iter().any(|name| dir.join(name).is_file())) {
            for name in names {
                layers.extend(file(&dir.join(name))?);
            }
        }
    }
    let mut variables: Vec<_> = places.env.iter().filter(|(name, _)| is_configuration(name)).collect();
    variables.sort();
    for (variable, text) in variables {
        let name = variable["HTM_".len()..].to_lowercase().replacen("__", ".", 1);
        layers.push(typed(&name, text, Source::Env(variable.clone()))?);
    }
    for (name, text) in overrides {
        layers.push(typed(name, text, Source::Flag)?);
    }
    Ok(layers)
}

/// `HTM_HOME` and its like are places, not configuration.
fn is_configuration(variable: &str) -> bool {
    variable.strip_prefix("HTM_").is_some_and(|name| name.contains("__"))
}

fn typed(name: &str, text: &str, source: Source) -> Result<Layer, ConfigError> {
    let key = keys::find(name).ok_or_else(|| keys::unknown(name, &source))?;
    let value = key.parse(text, &source)?;
    Ok(Layer { source, values: vec![(name.to_owned(), value)] })
}

fn file(path: &Path) -> Result<Option<Layer>, ConfigError> {
    match fs::read_to_string(path) {
        Ok(text) => parse(&text, Source::File(path.to_path_buf())).map(Some),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        Err(source) => Err(ConfigError::Io { path: path.to_path_buf(), source }),
    }
}

fn parse(text: &str, source: Source) -> Result<Layer, ConfigError> {
    let data = Toml::string(text).data().map_err(|error| ConfigError::Unreadable {
        source_name: keys::source_name(&source, ""),
        message: error.kind.to_string(),
    })?;
    let mut values = Vec::new();
    for (section, value) in data.into_values().flatten() {
        match value {
            Value::Dict(_, keys) if !keys.is_empty() || keys::is_section(&section) => {
                values.extend(keys.into_iter().map(|(key, value)| (format!("{section}.{key}"), value)));
            }
            _ if keys::is_section(&section) => {
                return Err(ConfigError::BadValue {
                    source_name: keys::source_name(&source, &section),
                    value: "a single value".into(),
                    allowed: format!("a section, written [{section}]"),
                    key: section,
                });
            }
            _ => return Err(keys::unknown(&section, &source)),
        }
    }
    Ok(Layer { source, values })
}
