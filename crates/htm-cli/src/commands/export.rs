//! `htm export`: writes everything that is stored as JSON Lines.

use std::io::{self, ErrorKind, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;

use htm_core::{ExportOptions, Htm};
use htm_runtime::config::Config;
use htm_runtime::shutdown::INTERRUPTED;
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use super::notes::tell_unknown;
use super::runtime::with_runtime;
use crate::args::ExportAllArgs;
use crate::destination::{Destination, file_of, followed, is_special};
use crate::error::CliError;
use crate::output::{Output, count, plain_json, unwritable};

/// The receipt of an export.
#[derive(Serialize)]
struct Exported {
    file: String,
    memories: u64,
    bytes: u64,
}

pub(crate) async fn run(config: &Config, args: ExportAllArgs, output: &Output) -> Result<ExitCode, CliError> {
    let ExportAllArgs { namespaces, output: file, forgotten, vectors } = args;
    with_runtime(config, async |runtime| {
        let htm = runtime.htm();
        let named: Vec<&str> = namespaces.iter().map(String::as_str).collect();
        tell_unknown(&htm, &named, output).await?;
        let options = ExportOptions { namespaces: namespaces.clone(), forgotten, vectors };
        match file_of(file.as_deref()) {
            Some(file) => to_file(&htm, options, file, output).await,
            None => to_stdout(&htm, options, output).await,
        }
    })
    .await
}

async fn to_stdout(htm: &Htm, options: ExportOptions, output: &Output) -> Result<ExitCode, CliError> {
    let is_terminal = io::stdout().is_terminal();
    let write = |block: &[u8]| match is_terminal {
        // Stored text is harmless for a terminal as JSON escapes, which read the same.
        true => io::stdout().write_all(plain_json(&String::from_utf8_lossy(block)).as_bytes()),
        false => io::stdout().write_all(block),
    };
    match export(htm, options, output, write).await? {
        Ok((memories, _)) => output.aside(&format!("{} exported", count(memories, "memory"))),
        // A reader that has gone away (`| head`) is no error.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
        Err(error) => return Err(unwritable(&error)),
    }
    Ok(ExitCode::SUCCESS)
}

async fn to_file(
    htm: &Htm,
    options: ExportOptions,
    path: &Path,
    output: &Output,
) -> Result<ExitCode, CliError> {
    let path = &followed(path);
    let failed = || CliError::io(format!("{} cannot be written", path.display()));
    let stop = match is_special(path) {
        // Nothing is left of it, and a write may wait for a reader: a signal ends the process.
        true => CancellationToken::new(),
        false => output.stop(),
    };
    // Memories are private: only the owner reads them.
    let mut destination = Destination::open(path, 0o600).map_err(failed())?;
    let writing = export(htm, options, output, |block| destination.write_all(block));
    let Some(written) = stop.run_until_cancelled(writing).await else {
        let answer = serde_json::json!({ "stopped": true, "exported": false });
        output.value(&answer, || "stopped; nothing was exported".into());
        return Ok(ExitCode::from(INTERRUPTED));
    };
    let finished = written?.and_then(|written| destination.finish(path).map(|()| written));
    let (memories, bytes) = finished.map_err(failed())?;
    let exported = Exported { file: path.display().to_string(), memories, bytes };
    output.value(&exported, || format!("{} exported to {}", count(memories, "memory"), path.display()));
    Ok(ExitCode::SUCCESS)
}

/// Exports, and returns the numbers of memories and bytes. The inner error is that of `write`.
async fn export(
    htm: &Htm,
    options: ExportOptions,
    output: &Output,
    mut write: impl FnMut(&[u8]) -> io::Result<()>,
) -> Result<io::Result<(u64, u64)>, CliError> {
    let mut export = htm.export(options).await?;
    let bar = output.progress(export.memories(), "memories");
    bar.set_message("export");
    let mut bytes = 0;
    while let Some(block) = export.next().await? {
        bytes += block.len() as u64;
        if let Err(error) = write(&block) {
            return Ok(Err(error));
        }
        bar.set_position(export.exported());
    }
    bar.finish_and_clear();
    Ok(Ok((export.exported(), bytes)))
}
