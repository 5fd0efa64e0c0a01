//! Reads each layer as keys and values, with its source.

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::{self, ErrorKind, Read as _};
use std::path::{Path, PathBuf};
use std::string::FromUtf8Error;

use etcetera::BaseStrategy as _;
use figment::value::{Dict, Map, Value};
use figment::{Metadata, Profile, Provider};
use htm_core::Result;

use super::trust::{self, Trust};
use super::{DEFAULT_TOML, Source, error, keys};

/// The most bytes of a file that are read. Configurations and secrets are much smaller.
const FILE_MOST: u64 = 1024 * 1024;

/// The locations of the layers. Empty locations give the defaults.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Locations {
    /// The user's file. It may be absent.
    pub user: Option<PathBuf>,
    /// The directory that records which files of projects the user trusts. None: no file is trusted.
    pub trusted: Option<PathBuf>,
    /// The start of the search for `htm.toml` and `htm.local.toml`. They are in this directory, or else in the nearest
    /// one above it that has one of them.
    pub project: Option<PathBuf>,
    /// Names and values. Names without `HTM_` and `__` are ignored, except `CREDENTIALS_DIRECTORY` and
    /// OpenTelemetry's headers.
    pub env: Vec<(String, OsString)>,
}

impl Locations {
    /// The locations of this process: `$XDG_CONFIG_HOME/htm/config.toml`, the current directory, and the environment.
    pub fn from_process() -> Self {
        let own = etcetera::base_strategy::Xdg::new().ok().map(|xdg| xdg.config_dir().join("htm"));
        Self {
            user: own.as_ref().map(|own| own.join("config.toml")),
            trusted: own.map(|own| own.join("trusted")),
            project: env::current_dir().ok(),
            env: env::vars_os().map(|(name, value)| (name.to_string_lossy().into_owned(), value)).collect(),
        }
    }
}

/// The keys of one source, such as `recall.limit`, with their values.
pub(super) struct Layer {
    pub(super) source: Source,
    pub(super) trust: Trust,
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

/// The existing layers, weakest first.
pub(super) fn collect(locations: &Locations, overrides: &BTreeMap<String, String>) -> Result<Vec<Layer>> {
    let default = parse(DEFAULT_TOML, Source::Default)?;
    let mut layers = vec![Layer { trust: Trust::Program, ..default }];
    if let Some(path) = &locations.user
        && let Some(text) = read(path)?
    {
        layers.extend(with_secrets(vec![parse(&text, Source::File(path.clone()))?])?);
    }
    for path in project_files(locations) {
        layers.extend(with_secrets(vec![project(locations, path)?])?);
    }
    layers.extend(credentials(locations)?);

    if let Some((variable, key)) =
        locations.env.iter().find_map(|(name, _)| Some((name, keys::nearly(name)?)))
    {
        return Err(error::variable(variable, key));
    }
    let mut variables: Vec<_> = locations.env.iter().filter(|(name, _)| is_configuration(name)).collect();
    variables.sort();
    let set = variables.into_iter().map(|(variable, value)| {
        let text = value.to_str().ok_or_else(|| error::not_utf8(variable))?;
        let name = variable["HTM_".len()..].to_lowercase().replacen("__", ".", 1);
        typed(&name, text, Source::Env(variable.clone()))
    });
    layers.extend(with_secrets(set.collect::<Result<_, _>>()?)?);
    let set = overrides.iter().map(|(name, text)| typed(name, text, Source::Flag));
    layers.extend(with_secrets(set.collect::<Result<_, _>>()?)?);
    Ok(layers)
}

/// The project's existing files, weakest first.
pub(super) fn project_files(locations: &Locations) -> Vec<PathBuf> {
    let names = ["htm.toml", "htm.local.toml"];
    // A directory, or a link to nothing, is there too: reading it says what is wrong.
    let is_there = |path: &PathBuf| path.symlink_metadata().is_ok();
    let files = |dir: &Path| names.map(|name| dir.join(name)).into_iter().filter(is_there);
    let dirs = locations.project.iter().flat_map(|start| start.ancestors());
    dirs.map(|dir| files(dir).collect::<Vec<_>>()).find(|files| !files.is_empty()).unwrap_or_default()
}

/// The layer of a project's file, which may not set every key.
fn project(locations: &Locations, path: PathBuf) -> Result<Layer> {
    let text = read(&path)?.ok_or_else(|| error::io("read", &path, ErrorKind::NotFound.into()))?;
    let layer = Layer { trust: Trust::Project, ..parse(&text, Source::File(path.clone()))? };
    let guarded = trust::guarded(&layer);
    if !guarded.is_empty() && !trust::is_trusted(locations, &path, &text) {
        let keys: Vec<String> = guarded.into_iter().map(|(name, _)| name).collect();
        return Err(error::untrusted(&path, &keys));
    }
    Ok(layer)
}

/// The credentials of systemd (`LoadCredential=openai.api_key:/etc/…`). Each file is named after the key that it holds.
fn credentials(locations: &Locations) -> Result<Vec<Layer>> {
    let Some((_, dir)) = locations.env.iter().find(|(name, _)| name == "CREDENTIALS_DIRECTORY") else {
        return Ok(Vec::new());
    };
    let mut layers = Vec::new();
    for (name, _) in keys::in_files() {
        let path = Path::new(dir).join(name);
        if let Some(text) = read(&path)? {
            layers.push(secret(name, &text, &path, Source::File(path.clone()), Trust::User)?);
        }
    }
    Ok(layers)
}

/// Adds the secrets from files to the layers of one place. A value in the place itself wins over one in a file.
fn with_secrets(mut layers: Vec<Layer>) -> Result<Vec<Layer>> {
    let find = |layers: &[Layer], name: &str| {
        layers.iter().find_map(|layer| {
            let (_, value) = layer.values.iter().find(|(key, _)| key == name)?;
            let text = value.as_str().filter(|text| !text.is_empty())?;
            Some((text.to_owned(), layer.source.clone(), layer.trust))
        })
    };
    for (name, file_name) in keys::in_files() {
        if let Some((path, source, trust)) = find(&layers, file_name)
            && find(&layers, name).is_none()
        {
            let path = PathBuf::from(path);
            let text = read(&path)?.ok_or_else(|| error::io("read", &path, ErrorKind::NotFound.into()))?;
            layers.push(secret(name, &text, &path, source, trust)?);
        }
    }
    Ok(layers)
}

/// The layer of a secret from the file at `path`. A blank file is an error, as a file that is being written may be: without
/// its URL the database would be the private PostgreSQL, and without its key a call would be refused.
fn secret(name: &str, text: &str, path: &Path, source: Source, trust: Trust) -> Result<Layer> {
    match text.trim() {
        "" => Err(error::bad_value(name, "blank", &path.display().to_string(), "a file that holds it")),
        text => Ok(Layer { source, trust, values: vec![(name.to_owned(), Value::from(text))] }),
    }
}

/// Whether a variable is configuration. `HTM_HOME` and the like are locations.
fn is_configuration(variable: &str) -> bool {
    variable.strip_prefix("HTM_").is_some_and(|name| name.contains("__"))
}

fn typed(name: &str, text: &str, source: Source) -> Result<Layer> {
    let key = keys::find(name).ok_or_else(|| keys::unknown(name, &source))?;
    let value = key.parse(text, &source)?;
    Ok(Layer { source, trust: Trust::User, values: vec![(name.to_owned(), value)] })
}

/// The text of a file. `None` if there is no such file.
pub(super) fn read(path: &Path) -> Result<Option<String>> {
    let refused = |source| error::io("read", path, source);
    let file = match fs::File::open(path) {
        Ok(file) => file,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(refused(error)),
    };
    let mut bytes = Vec::new();
    file.take(FILE_MOST + 1).read_to_end(&mut bytes).map_err(refused)?;
    if bytes.len() as u64 > FILE_MOST {
        return Err(refused(ErrorKind::FileTooLarge.into()));
    }
    // Without the bytes: the file may be a secret.
    let no_text = |error: FromUtf8Error| io::Error::new(ErrorKind::InvalidData, error.utf8_error());
    String::from_utf8(bytes).map(Some).map_err(|error| refused(no_text(error)))
}

pub(super) fn parse(text: &str, source: Source) -> Result<Layer> {
    let unreadable = |message: String| error::unreadable(&keys::source_name(&source, ""), &message);
    let table: toml::Table = toml::from_str(text).map_err(|error| {
        // The position and the expectation, never the line itself, which may hold a secret.
        let before = &text[..error.span().map_or(0, |span| span.start.min(text.len()))];
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
        unreadable(format!("line {line}, column {column}: {}", error.message()))
    })?;
    let mut values = Vec::new();
    for (section, value) in table {
        let value = Value::serialize(value).map_err(|_| unreadable(format!("`{section}` has no value")))?;
        match value {
            Value::Dict(_, keys) if !keys.is_empty() || keys::is_section(&section) => {
                values.extend(keys.into_iter().map(|(key, value)| (format!("{section}.{key}"), value)));
            }
            _ if keys::is_section(&section) => {
                let (place, allowed) =
                    (keys::source_name(&source, &section), format!("a section, written [{section}]"));
                return Err(error::bad_value(&section, "a single value", &place, &allowed));
            }
            _ => return Err(keys::unknown(&section, &source)),
        }
    }
    Ok(Layer { source, trust: Trust::User, values })
}
