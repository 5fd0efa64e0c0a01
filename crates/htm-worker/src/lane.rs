//! Sweeps that take turns, so that they need few connections.

use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::{MissedTickBehavior, interval, timeout};

use crate::outage;

/// The longest time for which a sweep waits for those of other lanes at the start.
const AT_START: Duration = Duration::from_secs(1);

/// Sweeps of which one runs at a time. All are due when a worker starts: then those of all lanes take turns. Together they
/// would open a connection for each lane, and sqlx uses in rotation as many as were ever open.
pub(crate) struct Lane<'s> {
    turn: Mutex<()>,
    start: &'s Mutex<()>,
}

impl<'s> Lane<'s> {
    /// A lane that shares `start` with others.
    pub(crate) fn new(start: &'s Mutex<()>) -> Self {
        Self { turn: Mutex::default(), start }
    }

    /// Runs `work` now and then every `period`; a late run delays the next ones. Errors are logged with its name.
    pub(crate) async fn every<Fut>(&self, sweep: &str, period: Duration, work: impl Fn() -> Fut)
    where
        Fut: Future<Output = htm_core::Result<()>>,
    {
        let mut ticks = interval(period);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut is_first = true;
        loop {
            ticks.tick().await;
            let turn = self.turn.lock().await;
            // A slow one keeps the others waiting for a moment only.
            let first = match std::mem::take(&mut is_first) {
                true => timeout(AT_START, self.start.lock()).await.ok(),
                false => None,
            };
            if let Err(error) = work().await {
                outage::warn(&error, &format!("a sweep failed: {sweep}"));
            }
            drop((turn, first));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};

    use tokio::time::{Instant, sleep};

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn the_first_sweeps_of_all_lanes_take_turns() {
        let start = Mutex::default();
        let lanes = [Lane::new(&start), Lane::new(&start), Lane::new(&start)];
        let (running, most) = (Cell::new(0), Cell::new(0));
        let work = || async {
            running.set(running.get() + 1);
            most.set(most.get().max(running.get()));
            sleep(SECOND / 10).await;
            running.set(running.get() - 1);
            Ok(())
        };
        let [one, another, third] = lanes.each_ref().map(|lane| lane.every("a sweep", 60 * SECOND, work));
        timeout(10 * SECOND, async { tokio::join!(one, another, third) }).await.ok();
        assert_eq!((running.get(), most.get()), (0, 1));
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_sweep_delays_those_of_other_lanes_by_a_moment() {
        let (start, began) = (Mutex::default(), Instant::now());
        let (slow, quick) = (Lane::new(&start), Lane::new(&start));
        let runs = RefCell::new(Vec::new());
        let forever = slow.every("slow", SECOND, || async {
            sleep(1_000 * SECOND).await;
            Ok(())
        });
        let often = quick.every("quick", 10 * SECOND, || async {
            runs.borrow_mut().push(began.elapsed().as_secs());
            Ok(())
        });
        timeout(32 * SECOND, async { tokio::join!(forever, often) }).await.ok();
        assert_eq!(*runs.borrow(), [1, 10, 20, 30]);
    }
}
