//! `htm mcp install` and `htm mcp uninstall`: a client's configuration with and without the server.

use std::collections::BTreeSet;
use std::io::{BufRead, IsTerminal};
use std::process::ExitCode;

use htm_runtime::telemetry::to_stderr;
use serde_json::json;

use super::clients::{ClientFile, Form};
use super::file::ConfigFile;
use super::{json_text, toml_text};
use crate::args::{ClientPlaceArgs, InstallArgs, UninstallArgs};
use crate::codes;
use crate::error::CliError;
use crate::output::{Output, plain};

/// A server in a configuration.
pub(super) struct Entry<'a> {
    pub(super) section: &'a str,
    pub(super) name: &'a str,
    /// Its fields. Others that are there stay, such as `env`.
    pub(super) fields: Vec<(&'static str, serde_json::Value)>,
}

pub(super) fn install(args: &InstallArgs, output: &Output) -> Result<ExitCode, CliError> {
    let place = ClientFile::of(args.place.client, args.place.scope)?;
    let command = command(place.needs_full_path)?;
    let mut fields = vec![("command", json!(command)), ("args", json!(args.server.to_arguments()))];
    if place.has_type {
        fields.insert(0, ("type", json!("stdio")));
    }
    let entry = Entry { section: place.section, name: &args.place.name, fields };
    let change = |text: &str| -> Result<Change, Unusable> {
        let (text, own) = match place.form {
            Form::Json => (json_text::with(text, &entry)?, json_text::env(text, &entry)),
            Form::Toml => (toml_text::with(text, &entry)?, toml_text::env(text, &entry)),
        };
        let variables = variables().into_iter().filter(|name| !own.contains(name)).collect();
        Ok(Change { text, then: place.then, variables: Some(variables) })
    };
    let (code, change) = carry_out(&place, &args.place, change, output)?;
    let variables = change.variables.unwrap_or_default();
    if !variables.is_empty() {
        let names = variables.join(", ");
        output.aside(&plain(&format!(
            "note: {names}: set in this shell, but perhaps not where the client starts the server; put them into the \
             entry's `env` or into HTM's configuration"
        )));
    }
    Ok(code)
}

pub(super) fn uninstall(args: &UninstallArgs, output: &Output) -> Result<ExitCode, CliError> {
    let place = ClientFile::of(args.place.client, args.place.scope)?;
    let entry = Entry { section: place.section, name: &args.place.name, fields: Vec::new() };
    let change = |text: &str| -> Result<Change, Unusable> {
        let text = match place.form {
            Form::Json => json_text::without(text, &entry)?,
            Form::Toml => toml_text::without(text, &entry)?,
        };
        Ok(Change { text, then: "running clients have it until they restart", variables: None })
    };
    carry_out(&place, &args.place, change, output).map(|(code, _)| code)
}

/// The variables of HTM in this shell.
fn variables() -> BTreeSet<String> {
    let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    names.filter(|name| name.starts_with("HTM_")).collect()
}

/// A change of a client's file.
struct Change {
    text: String,
    /// The note after it is written.
    then: &'static str,
    /// Of an installation: the variables of HTM in this shell that are not in the entry's `env`.
    variables: Option<Vec<String>>,
}

/// Why a text cannot be changed. It does not quote the text, which may have keys.
#[derive(Debug)]
pub(super) struct Unusable {
    /// From 1. None for the whole text.
    pub(super) line: Option<usize>,
    pub(super) reason: String,
}

fn carry_out(
    place: &ClientFile,
    args: &ClientPlaceArgs,
    change: impl FnOnce(&str) -> Result<Change, Unusable>,
    output: &Output,
) -> Result<(ExitCode, Change), CliError> {
    let file = ConfigFile::read(&place.file)?;
    let path = file.path.display().to_string();
    let change = change(&file.text).map_err(|Unusable { line, reason }| {
        let place = line.map(|line| format!(", line {line}")).unwrap_or_default();
        CliError::new(codes::CLIENT_CONFIG_INVALID, format!("{path}{place}: {reason}"))
    })?;
    let diff = file.diff(&change.text);
    let answer = |outcome: &str| {
        let mut answer =
            json!({ "client": args.client.to_string(), "file": path, "outcome": outcome, "diff": diff });
        if let Some(variables) = &change.variables {
            answer["not_in_env"] = json!(variables);
        }
        answer
    };
    if change.text == file.text {
        output.value(&answer("unchanged"), || format!("{}: nothing to change", plain(&path)));
        return Ok((ExitCode::SUCCESS, change));
    }
    if args.consent.dry_run {
        output.value(&answer("planned"), || format!("{}\n{}", plain(&path), plain(&diff)));
        return Ok((ExitCode::SUCCESS, change));
    }
    output.say(format!("{}\n{}", plain(&path), plain(&diff)));
    if !args.consent.yes && !is_confirmed(output) {
        return Err(CliError::not_confirmed(format!("changing {path}")));
    }
    let backup = file.replace(&change.text)?.map(|backup| backup.display().to_string());
    let mut written = answer("written");
    written["backup"] = json!(backup);
    output.value(&written, || match &backup {
        Some(backup) => format!("written; before: {}; {}", plain(backup), change.then),
        None => format!("written; {}", change.then),
    });
    Ok((ExitCode::SUCCESS, change))
}

/// Asks on a terminal. Nobody else can answer.
fn is_confirmed(output: &Output) -> bool {
    if output.is_json() || !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        return false;
    }
    to_stderr("Write it? [y/N] ");
    let mut answer = String::new();
    let read = std::io::stdin().lock().read_line(&mut answer);
    read.is_ok() && matches!(answer.trim().to_lowercase().as_str(), "y" | "yes")
}

/// `htm`, if the PATH leads to this program. Otherwise its full path.
fn command(needs_full_path: bool) -> Result<String, CliError> {
    let program = std::env::current_exe().map_err(CliError::io("the path of this program is unknown"))?;
    let real = program.canonicalize().unwrap_or_else(|_| program.clone());
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut found = std::env::split_paths(&path).map(|dir| dir.join("htm")).filter(|it| it.is_file());
    let is_on_path = found.next().and_then(|it| it.canonicalize().ok()).is_some_and(|it| it == real);
    if is_on_path && !needs_full_path {
        return Ok("htm".into());
    }
    program.into_os_string().into_string().map_err(|path| {
        let path = path.to_string_lossy();
        CliError::new(codes::IO_ERROR, format!("the path of this program is not UTF-8: {path}"))
    })
}
