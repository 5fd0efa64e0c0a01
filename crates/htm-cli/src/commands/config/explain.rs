//! `htm config explain` and `htm config default`. They work with an invalid configuration too.

use std::collections::BTreeMap;
use std::process::ExitCode;

use console::style;
use htm_runtime::config::{self, Config, DEFAULT_TOML, Entry, Explained};
use serde::Serialize;

use crate::error::CliError;
use crate::output::Output;

/// A key's explanation, with its value and source here.
#[derive(Serialize)]
struct Shown {
    #[serde(flatten)]
    explained: Explained,
    /// The value here. None if the configuration cannot be read.
    value: Option<String>,
    source: Option<String>,
}

pub(crate) fn explain(
    name: &str,
    overrides: &BTreeMap<String, String>,
    output: &Output,
) -> Result<ExitCode, CliError> {
    let explained = config::explain(name)?;
    let entries = Config::load(overrides).map(|loaded| loaded.entries()).unwrap_or_default();
    let shown = explained.into_iter().map(|explained| {
        let entry: Option<&Entry> = entries.iter().find(|entry| entry.key == explained.key);
        Shown {
            value: entry.map(|entry| entry.value.clone()),
            source: entry.map(|entry| entry.source.clone()),
            explained,
        }
    });
    let shown: Vec<Shown> = shown.collect();
    output.value(&shown, || shown.iter().map(describe).collect::<Vec<_>>().join("\n\n"));
    Ok(ExitCode::SUCCESS)
}

/// Prints the default configuration, as a file to start from.
pub(crate) fn default(output: &Output) -> ExitCode {
    output.value(&serde_json::json!({ "toml": DEFAULT_TOML }), || DEFAULT_TOML.trim_end().into());
    ExitCode::SUCCESS
}

fn describe(shown: &Shown) -> String {
    let Explained { key, explanation, default } = &shown.explained;
    let mut text = format!("{}\n{explanation}\ndefault: {default}", style(key).bold());
    if let (Some(value), Some(source)) = (&shown.value, &shown.source)
        && source != "default"
    {
        text.push_str(&format!("\nhere: {value}, from {source}"));
    }
    text
}
