//! Logs: to standard error, for people or as JSON. Traces: to an OpenTelemetry collector, if one is configured.

mod traces;

use std::env;
use std::io::{self, IsTerminal as _, Write as _};

use htm_core::{Error, Result};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, Layer as _};

pub use self::traces::{Collector, Traces};
use crate::codes;
use crate::config::{Level, LogFormat};

/// The kind of process. It determines the format for `log.format = "auto"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A command of a person or a script: human.
    Command,
    /// A long-running process: human on a terminal, JSON elsewhere.
    Worker,
}

/// The filter of sqlx. It logs the whole text of each statement that waits for a lock or vacuums a table, each long wait for a
/// connection, and each connection that it closes because its server has gone.
const SQLX: &str = "sqlx::query=error,sqlx::pool=error,sqlx_core::pool=error";

/// The filter of other libraries. apalis repeats the worker's messages, and rmcp logs each request of MCP three times.
const LIBRARIES: &str = "apalis_core=warn,rmcp=warn";

/// The exported spans: those of requests and of batches.
const SPANS: &str = "off,htm_server=info,htm_worker=info";

/// Writes a text to standard error, as it is. One that cannot be written is lost: there is nowhere to say so.
pub fn to_stderr(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}

/// Starts logging to standard error; standard output stays free for results. With a collector it also starts the export
/// of traces, which ends when the result is dropped. It must be called within a runtime then.
///
/// `RUST_LOG` overrides `level`. `level` is for HTM's own crates: libraries never log below `info`. Colours appear only
/// on a terminal, and not if `NO_COLOR` is set.
///
/// # Errors
/// `telemetry_bad_filter` if `RUST_LOG` is invalid, `telemetry_already_started` at a second call in one process, and
/// `traces_unusable` for a collector with an invalid URL.
pub fn init(
    level: Level,
    format: LogFormat,
    role: Role,
    collector: Option<Collector<'_>>,
) -> Result<Option<Traces>> {
    let filter = match env::var("RUST_LOG") {
        Ok(directives) if !directives.trim().is_empty() => {
            EnvFilter::try_new(&directives).map_err(|source| {
                let message = format!("RUST_LOG={directives:?} is not a valid filter");
                Error::new(codes::TELEMETRY_BAD_FILTER, message).with_source(source)
            })?
        }
        _ => EnvFilter::new(directives(level)),
    };
    let terminal = io::stderr().is_terminal();
    // Reporting an error of a closed terminal on that terminal would panic during a clean stop.
    let lines = tracing_subscriber::fmt::layer().with_writer(io::stderr).log_internal_errors(false);
    let lines = if is_json(format, role, terminal) {
        lines.json().flatten_event(true).with_ansi(false).boxed()
    } else {
        let colours = terminal && env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        lines.with_ansi(colours).with_target(false).boxed()
    };
    let traces = collector.map(Traces::start).transpose()?;
    let spans = traces.as_ref().map(|(_, tracer)| {
        // Its own, so that a quiet log does not hide the spans.
        tracing_opentelemetry::layer().with_tracer(tracer.clone()).with_filter(EnvFilter::new(SPANS))
    });
    let started = tracing_subscriber::registry().with(lines.with_filter(filter)).with(spans).try_init();
    let message = "logging was already started in this process";
    started.map_err(|_| Error::new(codes::TELEMETRY_ALREADY_STARTED, message))?;
    Ok(traces.map(|(traces, _)| traces))
}

fn is_json(format: LogFormat, role: Role, terminal: bool) -> bool {
    match format {
        LogFormat::Human => false,
        LogFormat::Json => true,
        LogFormat::Auto => role == Role::Worker && !terminal,
    }
}

/// The filter for `level`. Libraries stay at `info`, because at `debug` they log every statement and request.
fn directives(level: Level) -> String {
    const OURS: [&str; 11] = [
        "htm",
        "htm_core",
        "htm_mcp",
        "htm_providers",
        "htm_runtime",
        "htm_worker",
        "htm_server",
        "htm_migration",
        "embed_worker",
        "tag_worker",
        "learn_worker",
    ];
    let name = level.as_ref();
    match level {
        Level::Error => name.to_owned(),
        Level::Warn => format!("{name},{SQLX}"),
        Level::Info => format!("{name},{SQLX},{LIBRARIES}"),
        Level::Debug | Level::Trace => OURS
            .iter()
            .fold(format!("info,{SQLX},{LIBRARIES}"), |all, target| format!("{all},{target}={name}")),
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
        let directives = directives(Level::Debug);
        assert!(directives.starts_with("info,") && directives.contains("htm_core=debug"), "{directives}");
        assert!(EnvFilter::try_new(directives).is_ok());
    }

    #[test]
    fn statements_are_logged_only_if_it_is_asked_for() {
        for level in [Level::Warn, Level::Info, Level::Debug, Level::Trace] {
            let directives = directives(level);
            assert!(directives.contains("sqlx::query=error"), "{directives}");
            assert!(EnvFilter::try_new(&directives).is_ok(), "{directives}");
        }
    }
}
