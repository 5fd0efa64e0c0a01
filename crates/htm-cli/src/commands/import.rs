//! `htm import`: reads JSON Lines, plain ones or an export, or the memories of another system, with a transaction per
//! chunk.

mod foreign;
mod report;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use htm_core::error::codes::LINE_TOO_LONG;
use htm_core::fault::Fault;
use htm_core::{Htm, ImportedLine, LineKind, LineResult, MAX_LINE_BYTES, Outcome};
use htm_runtime::config::Config;
use htm_sources::codes::SOURCE_UNRECOGNISED;
use indicatif::{HumanBytes, ProgressBar};
use serde::Serialize;
use serde_json::json;

use super::runtime::with_runtime;
use crate::args::ImportArgs;
use crate::codes;
use crate::error::CliError;
use crate::lines::{Line as RawLine, Lines};
use crate::output::{Output, count, one_line};
use crate::quantity::rate;

/// The most rejected lines that are shown one by one.
const SHOWN: usize = 20;
/// The most rejected lines that `--json` lists. In a file of another kind, every line is rejected.
const LISTED: usize = 1_000;
/// A chunk ends at this many bytes of text, however few lines it has.
const CHUNK_BYTES: usize = 16 << 20;
/// The next step after an import that did not come to its end. Each line has a key, or is of an export.
const AGAIN: &str = "import it again: what is there is skipped";

pub(crate) async fn run(config: &Config, args: ImportArgs, output: &Output) -> Result<ExitCode, CliError> {
    if let Some(name) = &args.from {
        let (report, error) = foreign::run(config, &args, htm_sources::System::parse(name)?, output).await?;
        if error.is_none() || !report.is_empty() {
            output.value(&report, || report.describe());
        }
        return match error {
            None => Ok(exit_code(report.refused_count + report.unreadable())),
            // The source's own errors say so.
            Some(error) if error.fault == Fault::User => Err(error),
            Some(error) => {
                let hint = format!("{}; then {AGAIN}", error.hint);
                Err(error.with_hint(hint))
            }
        };
    }
    let (mut reader, bytes) = open(&args.file)?;
    let begin = reader.fill_buf().map_err(CliError::io("the file cannot be read"))?;
    if let Some((what, hint)) = foreign_format(begin) {
        let message = format!("{} is {what}, not lines of JSON", args.file.display());
        return Err(CliError::new(SOURCE_UNRECOGNISED, message).with_hint(hint));
    }
    let chunk = args.chunk.into();
    let report =
        with_runtime(config, async |runtime| import(&runtime.htm(), reader, bytes, chunk, output).await)
            .await?;
    output.value(&report, || report.describe());
    Ok(exit_code(report.refused_count))
}

/// The format of a file that has no lines of JSON, by its first bytes, with the next step.
fn foreign_format(begin: &[u8]) -> Option<(&'static str, &'static str)> {
    const OF_A_SYSTEM: &str = "if another system made it, name the system: `htm import --from SYSTEM FILE`";
    let text = begin.strip_prefix("\u{feff}".as_bytes()).unwrap_or(begin).trim_ascii_start();
    match begin {
        [0x1f, 0x8b, ..] => Some(("compressed by gzip", "decompress it: `gunzip -c FILE | htm import -`")),
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => Some((
            "UTF-16",
            "make it UTF-8: `iconv -f UTF-16 -t UTF-8 FILE | htm import -`; or if another system made it, name the system \
             with --from",
        )),
        [b'P', b'K', 3, 4, ..] => Some(("a ZIP archive", OF_A_SYSTEM)),
        _ if begin.starts_with(b"SQLite format 3\0") => Some(("a database of SQLite", OF_A_SYSTEM)),
        _ if text.starts_with(b"[") => Some(("a list of JSON", OF_A_SYSTEM)),
        _ => None,
    }
}

/// The exit code, by the number of what was rejected or could not be read.
fn exit_code(refused: u64) -> ExitCode {
    if refused == 0 { ExitCode::SUCCESS } else { ExitCode::from(2) }
}

/// The result of an import.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Report {
    /// New memories.
    pub(crate) written: u64,
    /// Memories that existed already.
    pub(crate) skipped: u64,
    /// Written lines of an export that are no memories.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) others: BTreeMap<LineKind, u64>,
    /// The number of rejected lines.
    pub(crate) refused_count: u64,
    /// The first [`LISTED`] rejected lines.
    pub(crate) refused: Vec<Refused>,
    pub(crate) seconds: f64,
}

/// A rejected line.
#[derive(Debug, Serialize)]
pub(crate) struct Refused {
    /// The number of the line, from 1.
    line: u64,
    code: &'static str,
    reason: String,
}

impl Report {
    fn add(&mut self, results: Vec<LineResult>) {
        for (line, result) in results {
            match result {
                Ok(ImportedLine { kind: LineKind::Memory, outcome, .. }) => {
                    *(if outcome == Outcome::Written { &mut self.written } else { &mut self.skipped }) += 1;
                }
                Ok(ImportedLine { kind, outcome: Outcome::Written, .. }) => {
                    *self.others.entry(kind).or_default() += 1;
                }
                Ok(_) => {}
                Err(error) => {
                    self.refused_count += 1;
                    if self.refused.len() < LISTED {
                        self.refused.push(Refused { line, code: error.code(), reason: error.to_string() });
                    }
                }
            }
        }
    }

    fn counts(&self) -> String {
        format!("{} written, {} skipped, {} rejected", self.written, self.skipped, self.refused_count)
    }

    /// Has a command that a signal stops say how far it is.
    fn leave(&self, output: &Output) {
        let Self { written, skipped, refused_count, .. } = self;
        let answer = json!({
            "stopped": true, "written": written, "skipped": skipped, "refused_count": refused_count,
        });
        output.leaves(answer, format!("{} until then; {AGAIN}", self.counts()));
    }

    /// The error that ended the import, with how far it came.
    fn ended_by(&self, error: CliError) -> CliError {
        let message = format!("{}; {} until then", error.message, self.counts());
        let hint = format!("{}; then {AGAIN}", error.hint);
        CliError { message, hint, ..error }
    }

    fn describe(&self) -> String {
        let mut text = String::new();
        for refused in self.refused.iter().take(SHOWN) {
            let reason = one_line(&refused.reason, 300);
            // "line 7, column 39: …"
            let joint = if reason.starts_with("column ") { "," } else { ":" };
            text.push_str(&format!("line {}{joint} {reason} [{}]\n", refused.line, refused.code));
        }
        let shown = self.refused.len().min(SHOWN) as u64;
        if self.refused_count > shown {
            let more = self.refused_count - shown;
            text.push_str(&format!("… and {}; --json lists the first {LISTED}\n", count(more, "more line")));
        }
        let others: Vec<String> =
            self.others.iter().map(|(kind, number)| count(*number, called(*kind))).collect();
        if !others.is_empty() {
            text.push_str(&format!("{}\n", others.join(", ")));
        }
        text.push_str(&format!(
            "{} in {:.1} s ({} lines/s)",
            self.counts(),
            self.seconds,
            rate((self.written + self.skipped + self.refused_count) as f64 / self.seconds.max(1e-9))
        ));
        text
    }
}

/// Imports the lines. Rejected lines are reported, and the others are written.
pub(crate) async fn import(
    htm: &Htm,
    reader: impl BufRead,
    bytes: Option<u64>,
    chunk: usize,
    output: &Output,
) -> Result<Report, CliError> {
    let started = Instant::now();
    let bar = match bytes {
        Some(bytes) => output.progress_of_bytes(bytes),
        None => output.progress_of_steps(),
    };
    bar.set_message("import");
    let mut report = Report::default();
    let ended = import_lines(htm, Lines::new(reader, MAX_LINE_BYTES), chunk, &bar, &mut report, output).await;
    bar.finish_and_clear();
    report.seconds = started.elapsed().as_secs_f64();
    match ended {
        Ok(()) => Ok(report),
        Err(error) => Err(report.ended_by(error)),
    }
}

async fn import_lines(
    htm: &Htm,
    mut lines: Lines<impl BufRead>,
    chunk: usize,
    bar: &ProgressBar,
    report: &mut Report,
    output: &Output,
) -> Result<(), CliError> {
    let mut import = htm.importer(chunk, CHUNK_BYTES);
    report.leave(output);
    while let Some(line) = lines.next().map_err(CliError::io("the file cannot be read further"))? {
        match line {
            RawLine::Whole(line) => {
                let results = import.line(line).await?;
                if !results.is_empty() {
                    report.add(results);
                    report.leave(output);
                }
            }
            RawLine::TooLong => {
                let what = format!("it has more than {MAX_LINE_BYTES} bytes");
                import.unread(htm_core::Error::new(LINE_TOO_LONG, what));
            }
        }
        match bar.length() {
            Some(_) => bar.set_position(lines.bytes()),
            None if bar.is_hidden() => {}
            None => bar.set_message(format!("import  {}", HumanBytes(lines.bytes()))),
        }
    }
    report.add(import.finish().await?);
    Ok(())
}

/// The word of people for a line.
fn called(kind: LineKind) -> &'static str {
    match kind {
        LineKind::Header | LineKind::End => "line",
        LineKind::Model => "embedding model",
        LineKind::Retention => "retention policy",
        LineKind::Budget => "budget",
        LineKind::Limits => "provider limit",
        LineKind::Relation => "relation",
        LineKind::Document => "document",
        LineKind::Quota => "quota",
        LineKind::Learning => "learning setting",
        LineKind::Ranking => "ranking",
        LineKind::Robot => "robot",
        LineKind::Group => "group",
        LineKind::Change => "ontology change",
        LineKind::Name => "changed name",
        LineKind::Tag => "tag",
        LineKind::Memory => "memory",
        LineKind::Revision => "former text",
    }
}

/// Also the number of its bytes; none: it is a pipe.
fn open(file: &Path) -> Result<(Box<dyn BufRead>, Option<u64>), CliError> {
    if file.as_os_str() == "-" {
        return Ok((Box::new(BufReader::new(std::io::stdin())), None));
    }
    if file.to_string_lossy().contains("://") {
        // A URL may have a password: it is not shown.
        let message = "the location is a URL, not a file";
        return Err(
            CliError::new(codes::USAGE, message).with_hint("name the system: `htm import --from SYSTEM URL`")
        );
    }
    let cannot_open = || CliError::io(format!("{} cannot be opened", file.display()));
    let opened = File::open(file).map_err(cannot_open())?;
    let metadata = opened.metadata().map_err(cannot_open())?;
    let bytes = metadata.is_file().then_some(metadata.len());
    Ok((Box::new(BufReader::with_capacity(1 << 20, opened)), bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_another_format_is_known_by_its_first_bytes() {
        for (begin, said, hint) in [
            (&b"\x1f\x8b\x08"[..], "gzip", "gunzip"),
            (b"\xff\xfe{\0", "UTF-16", "--from"),
            (b"\xfe\xff\0{", "UTF-16", "--from"),
            (b"PK\x03\x04", "ZIP", "--from"),
            (b"SQLite format 3\0", "SQLite", "--from"),
            (b"\xef\xbb\xbf \n[{", "list", "--from"),
        ] {
            let (what, next) = foreign_format(begin).unwrap();
            assert!(what.contains(said) && next.contains(hint), "{what}: {next}");
        }
        for lines in [&b"{\"id\": 1}"[..], b"\xef\xbb\xbf{}", b"id,text", b"", b"\n\n"] {
            assert_eq!(foreign_format(lines), None);
        }
    }
}
