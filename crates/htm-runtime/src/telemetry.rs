//! Logs: to standard error, for people or as JSON.

use std::env;
use std::io::{self, IsTerminal as _};

use htm_core::{Error, Result};
use tracing_subscriber::EnvFilter;

use crate::codes;
use crate::config::{Level, LogFormat};

/// What the process is; decides what `log.format = "auto"` means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A command that a person or a script runs: human.
    Command,
    /// A process that runs by itself: human on a terminal, JSON elsewhere.
    Worker,
}

/// Starts logging to standard error; standard output stays free for results.
///
/// `RUST_LOG` wins over `level`, which is meant for HTM's own crates: libraries say what is at `info` or above,
/// never more. Colours appear on a terminal only, and not when `NO_COLOR` is set.
///
/// # Errors
/// `telemetry_bad_filter` when `RUST_LOG` cannot be read; `telemetry_already_started` at a second
/// call in one process.
pub fn init(level: Level, format: LogFormat, role: Role) -> Result<()> {
    let filter = match env::var("RUST_LOG") {
        Ok(directives) if !directives.trim().is_empty() => {
            EnvFilter::try_new(&directives).map_err(|source| {
                let message = format!("RUST_LOG={directives:?} is no filter");
                Error::new(codes::TELEMETRY_BAD_FILTER, message).with_source(source)
            })?
        }
        _ => EnvFilter::new(directives(level, role)),
    };
    let terminal = io::stderr().is_terminal();
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(io::stderr)
        // A terminal that is gone cannot be told of it: saying so there panics, in the midst of a clean stop.
        .log_internal_errors(false);
    let started = if is_json(format, role, terminal) {
        builder.json().flatten_event(true).with_ansi(false).try_init()
    } else {
        let colours = terminal && env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        builder.with_ansi(colours).with_target(false).try_init()
    };
    let message = "logging is on already in this process";
    started.map_err(|_| Error::new(codes::TELEMETRY_ALREADY_STARTED, message))
}

fn is_json(format: LogFormat, role: Role, terminal: bool) -> bool {
    match format {
        LogFormat::Human => false,
        LogFormat::Json => true,
        LogFormat::Auto => role == Role::Worker && !terminal,
    }
}

/// Libraries at `debug` would log every statement and every request.
fn directives(level: Level, role: Role) -> String {
    const OURS: [&str; 9] = [
        "htm",
        "htm_core",
        "htm_providers",
        "htm_runtime",
        "htm_worker",
        "htm_server",
        "htm_migration",
        "embed_worker",
        "tag_worker",
    ];
    let name = level.as_str();
    match level {
        // A command waits for its own statements: that one takes its time (an audit) is no news to whoever sees it.
        Level::Warn if role == Role::Command => "warn,sqlx::query=error".to_owned(),
        Level::Error | Level::Warn => name.to_owned(),
        // apalis says again what the worker has said.
        Level::Info => "info,apalis_core=warn".to_owned(),
        Level::Debug | Level::Trace => OURS
            .iter()
            .fold("info,apalis_core=warn".to_owned(), |all, target| format!("{all},{target}={name}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn auto_is_json_only_for_a_worker_without_a_terminal() {
        assert!(is_json(LogFormat::Auto, Role::Worker, false));
        assert!(!is_json(LogFormat::Auto, Role::Worker, true));
        assert!(!is_json(LogFormat::Auto, Role::Command, false));
        assert!(is_json(LogFormat::Json, Role::Command, true));
    }

    #[test]
    fn debug_is_for_our_own_crates() {
        let directives = directives(Level::Debug, Role::Command);
        assert!(directives.starts_with("info,") && directives.contains("htm_core=debug"), "{directives}");
        assert!(EnvFilter::try_new(directives).is_ok());
    }
}
