//! `htm import`: reads JSON Lines, with a transaction per chunk.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use htm_core::{Htm, MAX_LINE_BYTES, Memory, Outcome};
use htm_runtime::Session;
use htm_runtime::config::Config;
use serde::Serialize;

use crate::args::ImportArgs;
use crate::codes;
use crate::error::CliError;
use crate::lines::{Line as RawLine, Lines};
use crate::output::{Output, count, one_line};

/// The most rejected lines that are shown one by one.
const SHOWN: usize = 20;
/// The most rejected lines that `--json` lists. In a file of another kind, every line is rejected.
const LISTED: usize = 1_000;
/// A chunk ends at this many bytes of text, however few lines it has.
const CHUNK_BYTES: usize = 16 << 20;

pub(crate) async fn run(config: &Config, args: ImportArgs, output: &Output) -> Result<ExitCode, CliError> {
    let (reader, bytes) = open(&args.file)?;
    let session = Session::open(config).await?;
    let htm = session.htm();
    let result = import(&htm, reader, bytes, args.chunk.into(), output).await;
    session.close().await;
    let report = result?;
    output.value(&report, || report.describe());
    Ok(if report.refused_count == 0 { ExitCode::SUCCESS } else { ExitCode::from(2) })
}

/// The result of an import.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Report {
    pub(crate) written: u64,
    /// Lines whose key and content existed already.
    pub(crate) skipped: u64,
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

impl Refused {
    fn of(line: u64, error: &htm_core::Error) -> Self {
        Self { line, code: error.code(), reason: error.to_string() }
    }
}

impl Report {
    fn refuse(&mut self, refused: Refused) {
        self.refused_count += 1;
        if self.refused.len() < LISTED {
            self.refused.push(refused);
        }
    }

    fn describe(&self) -> String {
        let mut text = String::new();
        for refused in self.refused.iter().take(SHOWN) {
            let reason = one_line(&refused.reason, 300);
            text.push_str(&format!("line {}: {reason} [{}]\n", refused.line, refused.code));
        }
        let shown = self.refused.len().min(SHOWN) as u64;
        if self.refused_count > shown {
            let more = self.refused_count - shown;
            text.push_str(&format!("… and {}; --json lists the first {LISTED}\n", count(more, "more line")));
        }
        text.push_str(&format!(
            "{} written, {} skipped, {} rejected in {:.1} s ({:.0} lines/s)",
            self.written,
            self.skipped,
            self.refused_count,
            self.seconds,
            (self.written + self.skipped) as f64 / self.seconds.max(1e-9)
        ));
        text
    }
}

/// Reads and remembers the lines. Rejected lines are reported, and the others are written.
pub(crate) async fn import(
    htm: &Htm,
    reader: impl BufRead,
    bytes: u64,
    chunk: usize,
    output: &Output,
) -> Result<Report, CliError> {
    let started = Instant::now();
    let bar = output.progress(bytes, "bytes");
    bar.set_message("import");
    let mut report = Report::default();
    let mut lines = Lines::new(reader, MAX_LINE_BYTES);
    let (mut numbers, mut memories, mut size) = (Vec::new(), Vec::<Memory>::new(), 0);
    let mut is_end = false;
    while !is_end {
        let parsed = match lines.next().map_err(CliError::io("the file cannot be read further"))? {
            None => {
                is_end = true;
                Ok(None)
            }
            Some(RawLine::Whole(line)) => {
                Memory::from_line(line, htm.tag_rules()).map_err(|error| Refused::of(0, &error))
            }
            Some(RawLine::TooLong) => Err(Refused {
                line: 0,
                code: codes::LINE_TOO_LONG.name,
                reason: format!("it has more than {MAX_LINE_BYTES} bytes"),
            }),
        };
        bar.set_position(lines.bytes());
        match parsed {
            Ok(None) => {}
            Ok(Some(memory)) => {
                numbers.push(lines.number());
                size += memory.content.len();
                memories.push(memory);
            }
            Err(refused) => report.refuse(Refused { line: lines.number(), ..refused }),
        }
        if memories.len() >= chunk || size >= CHUNK_BYTES || (is_end && !memories.is_empty()) {
            for (line, result) in numbers.drain(..).zip(htm.remember_many(&memories).await?) {
                match result {
                    Ok(receipt) if receipt.outcome == Outcome::Written => report.written += 1,
                    Ok(_) => report.skipped += 1,
                    Err(error) => {
                        report.refuse(Refused::of(line, &error));
                    }
                }
            }
            memories.clear();
            size = 0;
        }
    }
    bar.finish_and_clear();
    report.refused.sort_by_key(|refused| refused.line);
    report.seconds = started.elapsed().as_secs_f64();
    Ok(report)
}

fn open(file: &Path) -> Result<(Box<dyn BufRead>, u64), CliError> {
    if file.as_os_str() == "-" {
        return Ok((Box::new(BufReader::new(std::io::stdin())), 0));
    }
    let cannot_open = || CliError::io(format!("{} cannot be opened", file.display()));
    let opened = File::open(file).map_err(cannot_open())?;
    let bytes = opened.metadata().map_err(cannot_open())?.len();
    Ok((Box::new(BufReader::with_capacity(1 << 20, opened)), bytes))
}
