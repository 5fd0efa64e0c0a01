//! `htm export`: writes everything that is stored as JSON Lines.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use htm_core::{ExportOptions, Htm};
use htm_runtime::config::Config;
use serde::Serialize;

use super::session::with_session;
use crate::args::ExportAllArgs;
use crate::error::CliError;
use crate::output::{Output, count, plain_json};

/// The receipt of an export.
#[derive(Serialize)]
struct Exported {
    file: PathBuf,
    memories: u64,
    bytes: u64,
}

pub(crate) async fn run(config: &Config, args: ExportAllArgs, output: &Output) -> Result<ExitCode, CliError> {
    let ExportAllArgs { namespaces, output: file, forgotten, vectors } = args;
    let options = ExportOptions { namespaces, forgotten, vectors };
    with_session(config, async |session| match &file {
        Some(file) => to_file(&session.htm(), options, file, output).await,
        None => to_stdout(&session.htm(), options, output).await,
    })
    .await?;
    Ok(ExitCode::SUCCESS)
}

async fn to_stdout(htm: &Htm, options: ExportOptions, output: &Output) -> Result<(), CliError> {
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
        Err(error) => return Err(CliError::io("standard output cannot be written")(error)),
    }
    Ok(())
}

/// Writes the file under another name first, so that a file of this name is always whole.
async fn to_file(htm: &Htm, options: ExportOptions, path: &Path, output: &Output) -> Result<(), CliError> {
    // A link is followed. A device or a pipe is written to, and stays what it is.
    let path = &path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let is_special = path.metadata().is_ok_and(|it| !it.is_file());
    let mut name = path.as_os_str().to_owned();
    if !is_special {
        name.push(".part");
    }
    let part = PathBuf::from(name);
    let failed = || CliError::io(format!("{} cannot be written", path.display()));
    // Memories are private: only the owner may read them.
    let opened = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&part);
    let mut file: File = opened.map_err(failed())?;
    let result = export(htm, options, output, |block| file.write_all(block)).await;
    let written = result.and_then(|written| {
        let finished = written.and_then(|written| {
            if !is_special {
                file.sync_all()?;
                std::fs::rename(&part, path)?;
            }
            Ok(written)
        });
        finished.map_err(failed())
    });
    if written.is_err() && !is_special {
        // The error of the export says more than that of a file that stays behind.
        let _ = std::fs::remove_file(&part);
    }
    let (memories, bytes) = written?;
    let exported = Exported { file: path.to_owned(), memories, bytes };
    output.value(&exported, || format!("{} exported to {}", count(memories, "memory"), path.display()));
    Ok(())
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
