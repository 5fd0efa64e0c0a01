//! PDFs are read by a process of its own. A stream of some KiB may inflate to many GiB, and the library has no limit for
//! that. So the process has one: what exceeds it ends the process, and not its caller.

use std::io::{self, Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

use nix::sys::resource::{Resource, setrlimit};

use super::Pages;
use crate::unreadable::Unreadable;

/// The most memory of the process: its heap, its data and the stacks of its threads.
const MAX_MEMORY: u64 = 1 << 30;

/// The most bytes of its answer. A document has fewer: its passages are counted.
const MAX_ANSWER: u64 = 64 << 20;

/// How PDFs are read.
#[derive(Clone, Debug, Default)]
pub struct PdfReader {
    pub(super) program: Option<PathBuf>,
}

impl PdfReader {
    /// The argument of a program that reads a PDF: it calls [`serve`](Self::serve) and ends.
    pub const ARGUMENT: &str = "read-pdf";

    /// Reads within this process, without a limit of memory: for files that are trusted.
    pub fn in_process() -> Self {
        Self::default()
    }

    /// Reads in a process of this program, which has to know [`ARGUMENT`](Self::ARGUMENT); within this process if the
    /// system does not tell where the program is.
    pub fn this_program() -> Self {
        // An upgrade may put another file in the program's place.
        let own = Path::new("/proc/self/exe");
        let program = if own.exists() { Some(own.to_path_buf()) } else { std::env::current_exe().ok() };
        Self { program }
    }

    /// Reads the PDF of standard input, and writes its pages to standard output.
    pub fn serve() -> ExitCode {
        // Not every system has this limit. The deadline is left there.
        let _ = setrlimit(Resource::RLIMIT_DATA, MAX_MEMORY, MAX_MEMORY);
        let mut bytes = Vec::new();
        if io::stdin().lock().read_to_end(&mut bytes).is_err() {
            return ExitCode::FAILURE;
        }
        let pages = super::pages(&bytes, &Self::in_process());
        match serde_json::to_writer(io::stdout().lock(), &pages) {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::FAILURE,
        }
    }
}

/// Has a program read the pages. It is ended after this time.
pub(super) fn pages(program: &Path, bytes: Vec<u8>, time: Duration) -> Result<Pages, Unreadable> {
    let mut command = Command::new(program);
    // It needs nothing of this process's environment, which has secrets.
    command.arg(PdfReader::ARGUMENT).env_clear();
    // A signal of the terminal is for this process, which may finish what is in hand.
    command.process_group(0);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let Ok(mut child) = command.spawn() else { return Err(Unreadable::NoReader) };
    let answer = answer(&mut child, bytes, time);
    let is_too_large = answer.as_ref().is_ok_and(|answer| answer.len() as u64 > MAX_ANSWER);
    if is_too_large || answer.is_err() {
        // It still runs.
        let _ = child.kill();
    }
    let ended = child.wait();
    match answer? {
        _ if is_too_large => Err(Unreadable::TooLarge),
        answer if !answer.is_empty() => {
            serde_json::from_slice(&answer).unwrap_or(Err(Unreadable::TooMuchMemory))
        }
        // An allocation that fails, and a stack that overflows, end it without an answer.
        _ if ended.is_ok_and(|status| status.code().is_none()) => Err(Unreadable::TooMuchMemory),
        _ => Err(Unreadable::Damaged),
    }
}

/// Its answer.
fn answer(child: &mut Child, bytes: Vec<u8>, time: Duration) -> Result<Vec<u8>, Unreadable> {
    let (Some(mut input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(Unreadable::NoReader);
    };
    let (send, receive) = channel();
    let thread = std::thread::Builder::new().name("pdf".into()).spawn(move || {
        // It ends without reading all if it cannot have the memory.
        let _ = input.write_all(&bytes);
        drop(input);
        let mut answer = Vec::new();
        let _ = output.take(MAX_ANSWER + 1).read_to_end(&mut answer);
        let _ = send.send(answer);
    });
    if thread.is_err() {
        return Err(Unreadable::NoReader);
    }
    receive.recv_timeout(time).map_err(|_| Unreadable::TooSlow)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cutting, read_with};

    #[test]
    fn a_program_that_cannot_be_started_reads_nothing() {
        let reader = PdfReader { program: Some("/nowhere/htm".into()) };
        let read = read_with("report.pdf", b"%PDF-1.7", &Cutting::default(), &reader);
        let reason = read.map(drop).unwrap_err();
        assert_eq!((reason, reason.as_ref()), (Unreadable::NoReader, "no_reader"));
    }
}
