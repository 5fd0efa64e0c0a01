//! `htm export`: writes everything that is stored as JSON Lines.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;

use htm_core::{ExportOptions, Htm};
use htm_runtime::config::Config;
use htm_runtime::paths::sync_names;
use htm_runtime::shutdown::{self, INTERRUPTED};
use serde::Serialize;
use tempfile::NamedTempFile;
use tokio_util::sync::CancellationToken;

use super::session::with_session;
use crate::args::ExportAllArgs;
use crate::error::CliError;
use crate::output::{Output, count, plain_json};

/// The receipt of an export.
#[derive(Serialize)]
struct Exported {
    file: String,
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
        Err(error) => return Err(CliError::io("standard output cannot be written")(error)),
    }
    Ok(ExitCode::SUCCESS)
}

async fn to_file(
    htm: &Htm,
    options: ExportOptions,
    path: &Path,
    output: &Output,
) -> Result<ExitCode, CliError> {
    // A link is followed.
    let path = &path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let failed = || CliError::io(format!("{} cannot be written", path.display()));
    let stop = match is_special(path) {
        // Nothing is left of it, and a write may wait for a reader: a signal ends the process.
        true => CancellationToken::new(),
        false => shutdown::on_signal().map_err(CliError::io("signals cannot be handled"))?,
    };
    let mut destination = Destination::open(path).map_err(failed())?;
    let writing = export(htm, options, output, |block| destination.write_all(block));
    let Some(written) = stop.run_until_cancelled(writing).await else {
        output.say("stopped; nothing was exported");
        return Ok(ExitCode::from(INTERRUPTED));
    };
    let finished = written?.and_then(|written| destination.finish(path).map(|()| written));
    let (memories, bytes) = finished.map_err(failed())?;
    let exported = Exported { file: path.display().to_string(), memories, bytes };
    output.value(&exported, || format!("{} exported to {}", count(memories, "memory"), path.display()));
    Ok(ExitCode::SUCCESS)
}

/// Whether a path is a device or a pipe, which is written to and stays what it is.
fn is_special(path: &Path) -> bool {
    path.metadata().is_ok_and(|it| !it.is_file())
}

/// The directory of a file.
fn directory(path: &Path) -> &Path {
    path.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The place that an export is written to.
enum Destination {
    Special(File),
    /// A file beside the one that is named, which it replaces once it is whole. Its own name keeps it apart from that of
    /// another export to the same file. Dropping it deletes it.
    Part(NamedTempFile),
}

impl Destination {
    fn open(path: &Path) -> io::Result<Self> {
        if is_special(path) {
            return Ok(Self::Special(OpenOptions::new().write(true).open(path)?));
        }
        // It would be written whole before its name is found to be none.
        if path.as_os_str().as_encoded_bytes().ends_with(b"/") {
            return Err(ErrorKind::IsADirectory.into());
        }
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(".");
        // Memories are private: `tempfile` lets only the owner read them.
        let part = tempfile::Builder::new().prefix(&name).suffix(".part").tempfile_in(directory(path))?;
        Ok(Self::Part(part))
    }

    /// Gives a whole file its name. The disk has both when this returns.
    fn finish(self, path: &Path) -> io::Result<()> {
        let Self::Part(part) = self else { return Ok(()) };
        part.as_file().sync_all()?;
        part.persist(path)?;
        sync_names(directory(path))
    }
}

impl Write for Destination {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Special(file) => file.write(bytes),
            Self::Part(part) => part.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Special(file) => file.flush(),
            Self::Part(part) => part.flush(),
        }
    }
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

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn names(dir: &Path) -> Vec<String> {
        let names = dir.read_dir().unwrap().map(|it| it.unwrap().file_name().into_string().unwrap());
        names.collect()
    }

    #[test]
    fn two_exports_to_one_file_do_not_mix() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("memories.jsonl");
        let (mut one, mut other) = (Destination::open(&path).unwrap(), Destination::open(&path).unwrap());
        one.write_all(b"one ").unwrap();
        other.write_all(b"the other ").unwrap();
        one.write_all(b"is whole").unwrap();
        one.finish(&path).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "one is whole");
        other.write_all(b"is whole too").unwrap();
        other.finish(&path).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "the other is whole too");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(names(dir.path()), ["memories.jsonl"]);
    }

    #[test]
    fn an_export_that_does_not_end_leaves_the_last_one() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("memories.jsonl");
        fs::write(&path, "the last one").unwrap();
        let mut half = Destination::open(&path).unwrap();
        half.write_all(b"half of an export").unwrap();
        assert_eq!(names(dir.path()).len(), 2);
        drop(half);
        assert_eq!(names(dir.path()), ["memories.jsonl"]);
        assert_eq!(fs::read_to_string(&path).unwrap(), "the last one");
    }

    #[test]
    fn a_device_is_written_to_and_a_bare_name_is_in_the_current_directory() {
        let device = Path::new("/dev/null");
        let mut destination = Destination::open(device).unwrap();
        assert!(matches!(destination, Destination::Special(_)));
        destination.write_all(b"anything").unwrap();
        destination.finish(device).unwrap();
        assert!(is_special(device));
        assert_eq!(directory(Path::new("memories.jsonl")), Path::new("."));
        assert!(Destination::open(Path::new("not-there/")).is_err());
    }
}
