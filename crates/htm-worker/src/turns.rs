//! Turns at the provider, and when to claim for the next: a batch is to be ready when the one before is answered, and
//! not much sooner, for what is claimed early is what comes before the urgent.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

/// A worker's turns.
pub(crate) struct Turns {
    free: Arc<Semaphore>,
    pace: Mutex<Pace>,
    changed: Notify,
    stop: CancellationToken,
}

impl Turns {
    /// As many batches at the provider at once; none begins after `stop`.
    pub(crate) fn new(concurrency: usize, stop: CancellationToken) -> Self {
        Self {
            free: Arc::new(Semaphore::new(concurrency)),
            pace: Mutex::new(Pace { concurrency, ..Pace::default() }),
            changed: Notify::new(),
            stop,
        }
    }

    /// Waits until a turn is free, or is about to be.
    pub(crate) async fn soon(self: &Arc<Self>) -> Seat {
        loop {
            let changed = self.changed.notified();
            let due = match self.pace().due(Instant::now()) {
                Due::Now => break,
                Due::At(due) => Some(due),
                Due::Unknown => None,
            };
            tokio::select! {
                () = changed => {}
                () = tokio::time::sleep_until(due.unwrap_or_else(Instant::now).into()), if due.is_some() => {}
            }
        }
        self.pace().waiting += 1;
        Seat { turns: self.clone(), since: Instant::now() }
    }

    fn pace(&self) -> MutexGuard<'_, Pace> {
        self.pace.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Waiting for a turn.
pub(crate) struct Seat {
    turns: Arc<Turns>,
    since: Instant,
}

impl Seat {
    /// The turn, when it comes; none after a stop. To be asked for when everything is ready for it.
    pub(crate) async fn turn(self) -> Option<Turn> {
        let turns = self.turns.clone();
        let ready = self.since.elapsed();
        let permit = turns.stop.run_until_cancelled(turns.free.clone().acquire_owned()).await?.ok()?;
        let begun = Instant::now();
        {
            let mut pace = turns.pace();
            pace.prepare = Some(typical(pace.prepare, ready));
            pace.begun.push(begun);
        }
        drop(self);
        Some(Turn { _counted: Some(Counted { turns, begun, _permit: permit }), _ahead: None })
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.turns.pace().waiting -= 1;
        self.turns.changed.notify_one();
    }
}

/// With the provider, until it is dropped.
pub(crate) struct Turn {
    _counted: Option<Counted>,
    _ahead: Option<OwnedSemaphorePermit>,
}

impl Turn {
    /// One that is not among the worker's usual turns.
    pub(crate) fn beside() -> Self {
        Self { _counted: None, _ahead: None }
    }

    /// As [`beside`](Self::beside), and it lets go of `permit` at its end.
    pub(crate) fn ahead(permit: OwnedSemaphorePermit) -> Self {
        Self { _counted: None, _ahead: Some(permit) }
    }
}

struct Counted {
    turns: Arc<Turns>,
    begun: Instant,
    _permit: OwnedSemaphorePermit,
}

impl Drop for Counted {
    fn drop(&mut self) {
        let mut pace = self.turns.pace();
        pace.turn = Some(typical(pace.turn, self.begun.elapsed()));
        if let Some(place) = pace.begun.iter().position(|begun| *begun == self.begun) {
            pace.begun.remove(place);
        }
        drop(pace);
        self.turns.changed.notify_one();
    }
}

/// What is under way, and how long it usually takes.
#[derive(Debug, Default)]
struct Pace {
    concurrency: usize,
    waiting: usize,
    /// The turns under way, the oldest first.
    begun: Vec<Instant>,
    turn: Option<Duration>,
    /// From the claim to being ready.
    prepare: Option<Duration>,
}

/// When to claim.
#[derive(Debug, PartialEq)]
enum Due {
    Now,
    At(Instant),
    /// When something changes.
    Unknown,
}

impl Pace {
    fn due(&self, now: Instant) -> Due {
        // Those that wait take the turns that are free, then those that end first.
        let Some(before) = (self.waiting + self.begun.len()).checked_sub(self.concurrency) else {
            return Due::Now;
        };
        let (Some(turn), Some(prepare), Some(begun)) = (self.turn, self.prepare, self.begun.get(before))
        else {
            return Due::Unknown;
        };
        // Half a turn at most: what is urgent and comes just after waits for no more than that besides.
        let due = *begun + turn - (2 * prepare).min(turn / 2);
        if due <= now { Due::Now } else { Due::At(due) }
    }
}

/// A moving average: an eighth of it is new.
fn typical(before: Option<Duration>, now: Duration) -> Duration {
    before.map_or(now, |before| (7 * before + now) / 8)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn pace(concurrency: usize, waiting: usize, begun: &[Instant]) -> Pace {
        Pace { concurrency, waiting, begun: begun.into(), turn: Some(100 * MS), prepare: Some(5 * MS) }
    }

    #[test]
    fn a_free_turn_is_claimed_for_at_once_and_by_one_batch() {
        let now = Instant::now();
        assert_eq!(pace(1, 0, &[]).due(now), Due::Now);
        assert_eq!(pace(1, 1, &[]).due(now), Due::Unknown);
        assert_eq!(pace(2, 1, &[]).due(now), Due::Now);
    }

    #[test]
    fn a_turn_that_ends_soon_is_claimed_for_shortly_before() {
        let now = Instant::now();
        assert_eq!(pace(1, 0, &[now]).due(now), Due::At(now + 90 * MS));
        assert_eq!(pace(1, 0, &[now]).due(now + 90 * MS), Due::Now);
        assert_eq!(pace(1, 1, &[now]).due(now + 90 * MS), Due::Unknown);
        assert_eq!(pace(2, 1, &[now, now + 30 * MS]).due(now + 90 * MS), Due::At(now + 120 * MS));
    }

    #[test]
    fn a_slow_database_is_given_half_a_turn_at_most() {
        let now = Instant::now();
        let slow = Pace { prepare: Some(300 * MS), ..pace(1, 0, &[now]) };
        assert_eq!(slow.due(now), Due::At(now + 50 * MS));
        let unknown = Pace { turn: None, ..pace(1, 0, &[now]) };
        assert_eq!(unknown.due(now), Due::Unknown);
    }

    #[tokio::test]
    async fn who_waits_gets_the_turn_when_it_ends_and_none_after_a_stop() {
        let stop = CancellationToken::new();
        let turns = Arc::new(Turns::new(1, stop.clone()));
        let first = turns.soon().await.turn().await.unwrap();
        tokio::time::sleep(5 * MS).await;
        drop(first);
        let second = turns.soon().await.turn().await.unwrap();
        let seat = turns.soon().await;
        let third = tokio::spawn(seat.turn());
        drop(second);
        let third = third.await.unwrap().unwrap();
        let fourth = tokio::spawn(turns.soon().await.turn());
        stop.cancel();
        assert!(fourth.await.unwrap().is_none());
        drop(third);
        let pace = turns.pace();
        assert_eq!((pace.waiting, pace.begun.len()), (0, 0));
    }
}
