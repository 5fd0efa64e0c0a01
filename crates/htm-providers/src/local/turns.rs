//! The threads of a model, and whose turn it is: short calls, such as a query, go before long ones.
//!
//! Long calls look before each batch whether a short call waits. If so, they leave the threads and come back when it has
//! begun. A short call thus waits for the batches that run when it arrives, and no others. Short calls without a pause do
//! not stop long ones: after [`PATIENCE`] of them, one batch of a long call runs all the same.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};

/// The short calls that a long call lets go before one of its batches.
const PATIENCE: usize = 32;

/// Threads, and those that wait for them.
pub(super) struct Turns {
    threads: ThreadPool,
    short: Mutex<Short>,
    begun: Condvar,
}

#[derive(Default)]
struct Short {
    /// The short calls that have not begun.
    waiting: usize,
    /// Those that have begun since a long call was last let in.
    passed: usize,
}

impl Turns {
    /// Starts threads. 0: one per processor.
    pub(super) fn new(threads: usize) -> Result<Self, ThreadPoolBuildError> {
        let builder = ThreadPoolBuilder::new().num_threads(threads);
        let threads = builder.thread_name(|index| format!("htm-local-{index}")).build()?;
        Ok(Self { threads, short: Mutex::default(), begun: Condvar::new() })
    }

    /// The number of threads.
    pub(super) fn threads(&self) -> usize {
        self.threads.current_num_threads()
    }

    /// Does the work of a short call.
    pub(super) fn short<T: Sync, R: Send>(&self, items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
        self.state().waiting += 1;
        self.threads.install(|| {
            let mut short = self.state();
            short.waiting -= 1;
            short.passed += 1;
            drop(short);
            self.begun.notify_all();
            items.par_iter().with_max_len(1).map(&work).collect()
        })
    }

    /// Does a part of the work of a long call, around short calls.
    pub(super) fn long<T: Sync, R: Send>(&self, items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
        let mut done: Vec<Option<R>> = items.iter().map(|_| None).collect();
        while done.iter().any(Option::is_none) {
            let is_owed = AtomicBool::new(self.wait());
            // Each thread takes one item at a time, so that a slow one does not delay the others.
            let open = done.par_iter_mut().zip(items).with_max_len(1).filter(|(done, _)| done.is_none());
            self.threads.install(|| {
                open.for_each(|(done, item)| {
                    if self.state().waiting == 0 || is_owed.swap(false, Ordering::Relaxed) {
                        *done = Some(work(item));
                    }
                });
            });
        }
        done.into_iter().flatten().collect()
    }

    /// Waits until no short call waits. Returns whether one batch may run although some do.
    fn wait(&self) -> bool {
        let goes_first = |short: &mut Short| short.waiting > 0 && short.passed < PATIENCE;
        let waited = self.begun.wait_while(self.state(), goes_first);
        let mut short = waited.unwrap_or_else(PoisonError::into_inner);
        short.passed = 0;
        short.waiting > 0
    }

    fn state(&self) -> MutexGuard<'_, Short> {
        self.short.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{self, Receiver};
    use std::thread::{scope, yield_now};

    use super::*;

    /// Waits until so many short calls wait.
    fn until_waiting(turns: &Turns, count: usize) {
        while turns.state().waiting < count {
            yield_now();
        }
    }

    /// A long call of 8 batches. Each notes that it runs, and ends when `may_end` says so.
    fn long(turns: &Turns, log: &Mutex<Vec<&'static str>>, may_end: &Mutex<Receiver<()>>) -> Vec<usize> {
        turns.long(&[0, 1, 2, 3, 4, 5, 6, 7], |place| {
            log.lock().unwrap().push("long");
            may_end.lock().unwrap().recv().unwrap();
            *place
        })
    }

    #[test]
    fn a_short_call_waits_for_one_batch_of_all_long_calls() {
        let turns = Turns::new(1).unwrap();
        let (log, (ends, may_end)) = (Mutex::default(), mpsc::channel());
        let may_end = Mutex::new(may_end);
        scope(|scope| {
            let long: Vec<_> = (0..4).map(|_| scope.spawn(|| long(&turns, &log, &may_end))).collect();
            while log.lock().unwrap().is_empty() {
                yield_now();
            }
            let short = scope.spawn(|| turns.short(&[()], |()| log.lock().unwrap().push("short")));
            until_waiting(&turns, 1);
            ends.send(()).unwrap();
            short.join().unwrap();
            (1..32).for_each(|_| ends.send(()).unwrap());
            for long in long {
                assert_eq!(long.join().unwrap(), [0, 1, 2, 3, 4, 5, 6, 7], "in order, each once");
            }
        });
        let log = log.into_inner().unwrap();
        assert_eq!((&log[..2], log.len()), (&["long", "short"][..], 33));
    }

    #[test]
    fn short_calls_without_a_pause_let_a_batch_through() {
        let turns = Turns::new(1).unwrap();
        let (log, (ends, may_end)) = (Mutex::default(), mpsc::channel());
        let may_end = Mutex::new(may_end);
        // As if one always waited.
        turns.state().waiting = 1;
        let mut is_early = false;
        scope(|scope| {
            let long = scope.spawn(|| long(&turns, &log, &may_end));
            for batch in 0..8 {
                for _ in 0..PATIENCE {
                    is_early |= log.lock().unwrap().len() > batch;
                    turns.short(&[()], |()| ());
                }
                while log.lock().unwrap().len() == batch {
                    yield_now();
                }
                ends.send(()).unwrap();
            }
            assert_eq!(long.join().unwrap().len(), 8);
        });
        assert!(!is_early);
    }

    #[test]
    fn a_short_call_of_several_parts_keeps_their_order() {
        let turns = Turns::new(2).unwrap();
        let items: Vec<usize> = (0..50).collect();
        assert_eq!(turns.short(&items, |item| *item), items);
        assert!(turns.short(&[], |item: &usize| *item).is_empty());
    }
}
