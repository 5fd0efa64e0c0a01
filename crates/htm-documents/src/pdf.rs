//! The text of a PDF, page by page.
//!
//! The library panics on some broken files, and a broken file may keep it busy for ever. So it runs in a thread of its own,
//! whose panics are caught, with a deadline. A file that nobody trusts is read in a process of its own, with a limit of
//! memory.

mod nesting;
mod process;

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::channel;
use std::sync::{Condvar, Mutex, Once, PoisonError};
use std::time::{Duration, Instant};

use pdf_extract::{Document, PlainTextOutput, output_doc_page};

pub use self::process::PdfReader;
use crate::unreadable::Unreadable;

/// The longest time for one file, with the wait for a turn.
const PATIENCE: Duration = Duration::from_secs(60);
/// The most files at a time.
const MOST_TURNS: usize = 4;
/// The stack of the thread: objects of a PDF may be deeply nested.
const STACK: usize = 64 << 20;

/// The texts of the pages by their numbers, and the numbers of those that cannot be read.
type Pages = (Vec<(u32, String)>, Vec<u32>);

/// Reads the pages.
pub(crate) fn pages(bytes: &[u8], reader: &PdfReader) -> Result<Pages, Unreadable> {
    let until = Instant::now() + PATIENCE;
    let turn = Turn::wait()?;
    let left = until.saturating_duration_since(Instant::now());
    match &reader.program {
        Some(program) => process::pages(program, bytes.to_vec(), left),
        None => pages_of_thread(bytes.to_vec(), left, turn),
    }
}

/// Has a thread read the pages. If it misses the deadline, it is left behind.
fn pages_of_thread(bytes: Vec<u8>, time: Duration, turn: Turn) -> Result<Pages, Unreadable> {
    silence();
    let (send, receive) = channel();
    let thread = std::thread::Builder::new().name("pdf".into()).stack_size(STACK).spawn(move || {
        QUIET.set(true);
        let read = catch_unwind(AssertUnwindSafe(|| read(&bytes)));
        // Nobody may be waiting any more.
        let _ = send.send(read.unwrap_or(Err(Unreadable::Damaged)));
        drop(turn);
    });
    if thread.is_err() {
        return Err(Unreadable::NoReader);
    }
    receive.recv_timeout(time).unwrap_or(Err(Unreadable::TooSlow))
}

/// A turn to read. There are few at a time, with those of threads that are left behind.
struct Turn;

/// The number of turns that are taken, and a sign that one has ended.
static TURNS: Mutex<usize> = Mutex::new(0);
static ENDED: Condvar = Condvar::new();

impl Turn {
    fn wait() -> Result<Self, Unreadable> {
        let turns = TURNS.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut turns, _) = ENDED
            .wait_timeout_while(turns, PATIENCE, |turns| *turns >= MOST_TURNS)
            .unwrap_or_else(PoisonError::into_inner);
        if *turns >= MOST_TURNS {
            return Err(Unreadable::TooSlow);
        }
        *turns += 1;
        Ok(Self)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        *TURNS.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        ENDED.notify_one();
    }
}

fn read(bytes: &[u8]) -> Result<Pages, Unreadable> {
    let mut document = Document::load_mem(bytes).map_err(|error| match error.to_string().to_lowercase() {
        text if text.contains("decrypt") || text.contains("password") => Unreadable::Encrypted,
        _ => Unreadable::Damaged,
    })?;
    if document.is_encrypted() && document.decrypt("").is_err() {
        return Err(Unreadable::Encrypted);
    }
    let (mut pages, mut left_out) = (Vec::new(), Vec::new());
    for (number, id) in document.get_pages() {
        let mut text = String::new();
        let page = || {
            !nesting::is_too_deep(&document, id)
                && output_doc_page(&document, &mut PlainTextOutput::new(&mut text), number).is_ok()
        };
        if catch_unwind(AssertUnwindSafe(page)).unwrap_or(false) {
            pages.push((number, text));
        } else {
            left_out.push(number);
        }
    }
    // Without any page, what leads to them is broken.
    if pages.is_empty() { Err(Unreadable::Damaged) } else { Ok((pages, left_out)) }
}

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Keeps the panics of these threads from standard error. Those of others are printed as before.
fn silence() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !QUIET.get() {
                before(panic);
            }
        }));
    });
}
