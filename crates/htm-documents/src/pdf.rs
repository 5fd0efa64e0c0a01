//! The text of a PDF, page by page.
//!
//! The library panics on some broken files, and a broken file may keep it busy for ever. So it runs in a thread of its own,
//! whose panics are caught, with a deadline. A thread that misses the deadline is left behind.

mod nesting;

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::channel;
use std::sync::{Condvar, Mutex, Once, PoisonError};
use std::time::{Duration, Instant};

use pdf_extract::{Document, PlainTextOutput, output_doc_page};

use crate::unreadable::Unreadable;

/// The longest time for one file, with the wait for a thread.
const PATIENCE: Duration = Duration::from_secs(60);
/// The most threads at a time, with those left behind.
const MOST_THREADS: usize = 4;
/// The stack of the thread: objects of a PDF may be deeply nested.
const STACK: usize = 64 << 20;

/// The texts of the pages by their numbers, and the numbers of those that cannot be read.
type Pages = (Vec<(u32, String)>, Vec<u32>);

/// Reads the pages.
pub(crate) fn pages(bytes: &[u8]) -> Result<Pages, Unreadable> {
    silence();
    let until = Instant::now() + PATIENCE;
    let threads = THREADS.lock().unwrap_or_else(PoisonError::into_inner);
    let (mut threads, _) = ENDED
        .wait_timeout_while(threads, PATIENCE, |threads| *threads >= MOST_THREADS)
        .unwrap_or_else(PoisonError::into_inner);
    if *threads >= MOST_THREADS {
        return Err(Unreadable::TooSlow);
    }
    *threads += 1;
    drop(threads);
    let bytes = bytes.to_vec();
    let (send, receive) = channel();
    let thread = std::thread::Builder::new().name("pdf".into()).stack_size(STACK).spawn(move || {
        QUIET.set(true);
        let read = catch_unwind(AssertUnwindSafe(|| read(&bytes)));
        // Nobody may be waiting any more.
        let _ = send.send(read.unwrap_or(Err(Unreadable::Damaged)));
        end();
    });
    if thread.is_err() {
        end();
        return Err(Unreadable::TooSlow);
    }
    let left = until.saturating_duration_since(Instant::now());
    receive.recv_timeout(left).unwrap_or(Err(Unreadable::TooSlow))
}

/// The threads that run, and a sign that one has ended.
static THREADS: Mutex<usize> = Mutex::new(0);
static ENDED: Condvar = Condvar::new();

fn end() {
    *THREADS.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
    ENDED.notify_one();
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
