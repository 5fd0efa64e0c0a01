//! A worker's vital signs: whether it is alive and whether it is ready.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

/// The interval at which a waiting task reports that it is alive.
const TURN: Duration = Duration::from_secs(1);

/// A task is stuck after three leases without a turn, but not before this time. A slow database is no reason to kill a
/// worker.
const STUCK_AT_LEAST: Duration = Duration::from_secs(60);

/// The vital signs. The worker's tasks report them; `/livez`, `/readyz` and the supervision read them. None until the
/// worker is registered.
#[derive(Debug, Default)]
pub(crate) struct Vitals(Mutex<Option<Signs>>);

/// The signs of a worker that is registered.
#[derive(Debug)]
struct Signs {
    lease: Duration,
    stop: CancellationToken,
    claimer_turned: Instant,
    heartbeat_turned: Instant,
    /// The time of the database's last answer.
    answered: Instant,
    /// The error of the last heartbeat, if it failed.
    trouble: Option<String>,
}

impl Vitals {
    /// Records that the worker is registered and works until `stop`.
    pub(crate) fn registered(&self, lease: Duration, stop: CancellationToken) {
        let now = Instant::now();
        *self.signs() = Some(Signs {
            lease,
            stop,
            claimer_turned: now,
            heartbeat_turned: now,
            answered: now,
            trouble: None,
        });
    }

    /// Records the result of a heartbeat.
    pub(crate) fn heartbeat(&self, result: &htm_core::Result<()>) {
        if let Some(signs) = self.signs().as_mut() {
            signs.heartbeat_turned = Instant::now();
            signs.trouble = result.as_ref().err().map(|error| format!("{}: {error}", error.code()));
            if result.is_ok() {
                signs.answered = signs.heartbeat_turned;
            }
        }
    }

    /// Waits for something that may take long. The claimer counts as alive meanwhile.
    pub(crate) async fn while_waiting<T>(&self, wait: impl Future<Output = T>) -> T {
        tokio::pin!(wait);
        loop {
            self.claimer_turned();
            tokio::select! {
                result = &mut wait => {
                    self.claimer_turned();
                    return result;
                }
                () = tokio::time::sleep(TURN) => {}
            }
        }
    }

    /// # Errors
    /// The stuck task. Only a restart helps.
    pub(crate) fn live(&self) -> Result<(), String> {
        self.signs().as_ref().map_or(Ok(()), |signs| signs.live(Instant::now()))
    }

    /// # Errors
    /// The reason why the worker cannot work now.
    pub(crate) fn ready(&self) -> Result<(), String> {
        self.signs().as_ref().map_or_else(|| Err("starting".into()), |signs| signs.ready(Instant::now()))
    }

    /// Records a turn of the claimer.
    pub(crate) fn claimer_turned(&self) {
        if let Some(signs) = self.signs().as_mut() {
            signs.claimer_turned = Instant::now();
        }
    }

    /// Moves the claimer's last turn back.
    #[cfg(test)]
    pub(crate) fn backdate(&self, by: Duration) {
        if let Some(signs) = self.signs().as_mut() {
            signs.claimer_turned -= by;
        }
    }

    fn signs(&self) -> MutexGuard<'_, Option<Signs>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Signs {
    fn live(&self, now: Instant) -> Result<(), String> {
        if self.stop.is_cancelled() {
            // The claimer has ended, as it should. `jobs.grace_ms` limits the rest.
            return Ok(());
        }
        let most = (3 * self.lease).max(STUCK_AT_LEAST);
        for (task, turned) in [("claimer", self.claimer_turned), ("heartbeat", self.heartbeat_turned)] {
            let silent = now.saturating_duration_since(turned);
            if silent > most {
                return Err(format!("the {task} has been stuck for {} s", silent.as_secs()));
            }
        }
        Ok(())
    }

    fn ready(&self, now: Instant) -> Result<(), String> {
        if self.stop.is_cancelled() {
            return Err("stopping".into());
        }
        if let Some(trouble) = &self.trouble {
            return Err(trouble.clone());
        }
        let silent = now.saturating_duration_since(self.answered);
        if silent > self.lease {
            return Err(format!("the database has answered no heartbeat for {} s", silent.as_secs()));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEASE: Duration = Duration::from_secs(30);

    fn registered() -> (Vitals, CancellationToken, Instant) {
        let (vitals, stop) = (Vitals::default(), CancellationToken::new());
        vitals.registered(LEASE, stop.clone());
        (vitals, stop, Instant::now())
    }

    fn of<T>(vitals: &Vitals, look: impl FnOnce(&Signs) -> T) -> T {
        look(vitals.signs().as_ref().unwrap())
    }

    #[test]
    fn a_worker_that_is_not_registered_yet_lives_but_is_not_ready() {
        let vitals = Vitals::default();
        assert_eq!((vitals.live(), vitals.ready()), (Ok(()), Err("starting".into())));
    }

    #[test]
    fn a_silent_task_is_stuck_after_three_leases() {
        let (vitals, stop, now) = registered();
        assert_eq!(of(&vitals, |signs| signs.live(now + 3 * LEASE - TURN)), Ok(()));
        let later = now + 3 * LEASE + TURN;
        assert_eq!(of(&vitals, |signs| signs.live(later)), Err("the claimer has been stuck for 91 s".into()));
        stop.cancel();
        assert_eq!(of(&vitals, |signs| signs.live(later)), Ok(()));
    }

    #[test]
    fn a_worker_is_ready_while_the_database_answers() {
        let (vitals, stop, now) = registered();
        assert_eq!(vitals.ready(), Ok(()));
        let silent = of(&vitals, |signs| signs.ready(now + LEASE + TURN));
        assert_eq!(silent, Err("the database has answered no heartbeat for 31 s".into()));
        vitals.heartbeat(&Err(sqlx::Error::PoolTimedOut.into()));
        assert!(vitals.ready().unwrap_err().starts_with("database_unreachable: "));
        vitals.heartbeat(&Ok(()));
        assert_eq!(vitals.ready(), Ok(()));
        stop.cancel();
        assert_eq!(vitals.ready(), Err("stopping".into()));
    }

    #[tokio::test]
    async fn the_claimer_may_wait_as_long_as_it_likes() {
        let (vitals, _stop, _) = registered();
        let before = of(&vitals, |signs| signs.claimer_turned);
        assert_eq!(vitals.while_waiting(async { 7 }).await, 7);
        assert!(of(&vitals, |signs| signs.claimer_turned) >= before);
    }
}
