//! Turns at the provider, and the time of the next claim. A batch should be ready when the previous one is answered,
//! but not much sooner: an urgent job that comes after the claim has to wait behind the batch.

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
    /// Allows `concurrency` batches at the provider at once. No turn begins after `stop`.
    pub(crate) fn new(concurrency: usize, stop: CancellationToken) -> Self {
        Self {
            free: Arc::new(Semaphore::new(concurrency)),
            pace: Mutex::new(Pace { concurrency, ..Pace::default() }),
            changed: Notify::new(),
            stop,
        }
    }

    /// Waits until a turn is free, or will be soon.
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

/// The right to wait for a turn.
pub(crate) struct Seat {
    turns: Arc<Turns>,
    since: Instant,
}

impl Seat {
    /// Waits for the turn; none after a stop. Call it when the batch is ready.
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

/// A turn at the provider. It ends when it is dropped.
pub(crate) struct Turn {
    _counted: Option<Counted>,
    _ahead: Option<OwnedSemaphorePermit>,
}

impl Turn {
    /// A turn beside the worker's usual ones.
    pub(crate) fn beside() -> Self {
        Self { _counted: None, _ahead: None }
    }

    /// As [`beside`](Self::beside). It keeps `permit` until its end.
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

/// The turns in progress and their usual duration.
#[derive(Debug, Default)]
struct Pace {
    concurrency: usize,
    waiting: usize,
    /// The starts of the turns in progress, the oldest first.
    begun: Vec<Instant>,
    turn: Option<Duration>,
    /// The time from the claim until a batch is ready.
    prepare: Option<Duration>,
}

/// The time of the next claim.
#[derive(Debug, PartialEq)]
enum Due {
    Now,
    At(Instant),
    /// Unknown until something changes.
    Unknown,
}

impl Pace {
    fn due(&self, now: Instant) -> Due {
        // Waiting batches take the free turns, then those that end first.
        let Some(before) = (self.waiting + self.begun.len()).checked_sub(self.concurrency) else {
            return Due::Now;
        };
        let (Some(turn), Some(prepare), Some(begun)) = (self.turn, self.prepare, self.begun.get(before))
        else {
            return Due::Unknown;
        };
        // Half a turn at most. It bounds the extra wait of an urgent job that comes just after the claim.
        let due = *begun + turn - (2 * prepare).min(turn / 2);
        if due <= now { Due::Now } else { Due::At(due) }
    }
}

/// An exponential moving average with a weight of 1/8 for the new value.
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
