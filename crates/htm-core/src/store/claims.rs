//! Claims: the selection of a worker's next jobs in a queue, and the position at which the search for them begins.

use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};

use super::connections::Connections;
use super::named::sql;
use super::priorities;
use crate::model::error::Result;

/// A job that a worker holds.
#[derive(Clone, Debug, sqlx::FromRow)]
pub struct Claimed {
    /// The job's id in apalis.
    pub id: String,
    /// The namespace of its node, or the one that it learns for.
    pub namespace: String,
    /// The encoded payload; see [`Payload::decode`](crate::job::Payload::decode).
    pub payload: Vec<u8>,
    /// The number of this attempt, from 1.
    pub attempt: i32,
    /// The maximum number of attempts.
    pub max_attempts: i32,
    /// The priority; the largest is claimed first. See [`super::priorities`].
    pub priority: i32,
    /// The instant of the claim, by the database's clock: the same for all jobs of one claim.
    pub claimed_at: DateTime<Utc>,
    /// Whether a worker was lost while it held the job: the job's text may have crashed it.
    pub suspect: bool,
}

/// The fence of a claim: only its holder may change the jobs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The worker's identity.
    pub worker: String,
    /// The instant of the claim, by the database's clock.
    pub claimed_at: DateTime<Utc>,
}

/// The jobs that a claim looks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Any jobs, in the order of claims. A batch of [suspects](Claimed::suspect) has to be begun alone.
    Any,
    /// Any jobs but suspects: the batch may run beside some.
    Unsuspected,
    /// Only live jobs, without suspects: the batch may run beside others.
    Live,
}

/// The claims of one worker.
#[derive(Debug)]
pub struct Claims {
    queue: String,
    model: Option<String>,
    worker: String,
    frontier: Frontier,
    /// Whether the frontier may have passed suspects.
    passed_suspects: bool,
}

impl Claims {
    /// The claims of a registered worker for the jobs of a queue, while the provider of `model` may be called; of none,
    /// if the jobs need no provider.
    pub fn new(queue: &str, model: Option<&str>, worker: &str) -> Self {
        Self {
            queue: queue.into(),
            model: model.map(str::to_owned),
            worker: worker.into(),
            frontier: Frontier::default(),
            passed_suspects: false,
        }
    }

    /// Claims up to `limit` jobs that are due, by priority, then those due for longest. Returns none while the queue is
    /// paused or held, or while the provider asks for a pause.
    ///
    /// A job that enters the queue with an earlier due time may be overlooked for a second: the search begins where the
    /// claims before it ended.
    ///
    /// # Errors
    /// A database error. The claim may have been committed all the same: call
    /// [`release_unheld`](super::jobs::release_unheld) before the next one.
    pub async fn next(
        &mut self,
        pool: &dyn Connections,
        limit: usize,
        wanted: Wanted,
    ) -> Result<Option<(Lease, Vec<Claimed>)>> {
        let begun = Instant::now();
        match wanted {
            Wanted::Any if std::mem::take(&mut self.passed_suspects) => self.frontier = Frontier::default(),
            Wanted::Unsuspected => self.passed_suspects = true,
            Wanted::Any | Wanted::Live => {}
        }
        let (looked_at, from_start) = match wanted {
            Wanted::Any | Wanted::Unsuspected => (priorities::ALL.len(), self.frontier.is_outdated(begun)),
            Wanted::Live => (1, false),
        };
        let since = if from_start { Frontier::default().since } else { self.frontier.since };
        let rows: Vec<Row> = sql!(include_str!("sql/claim_jobs.sql"))
            .bind("queue", &self.queue)?
            .bind("worker", &self.worker)?
            .bind("limit", limit.min(i32::MAX as usize) as i32)?
            .bind("model", &self.model)?
            .bind("priorities", &priorities::ALL[..looked_at])?
            .bind("since", &since[..looked_at])?
            .bind("with_suspects", wanted == Wanted::Any)?
            .fetch_all(pool)
            .await?;
        if from_start {
            self.frontier.looked_from_start(begun, begun.elapsed());
        }
        let Some(first) = rows.first() else { return Ok(None) };
        let lease = Lease { worker: self.worker.clone(), claimed_at: first.claimed.claimed_at };
        self.frontier.move_on(&rows, looked_at);
        Ok(Some((lease, rows.into_iter().map(|row| row.claimed).collect())))
    }
}

#[derive(Debug, sqlx::FromRow)]
struct Row {
    #[sqlx(flatten)]
    claimed: Claimed,
    run_at: DateTime<Utc>,
    /// Whether the claim found as many due jobs as it could take.
    more: bool,
}

/// The margin by which the next search begins before the last job found: transactions that write jobs do not commit in
/// the order in which they begin.
const MARGIN: Duration = Duration::from_secs(1);

/// The minimum time between two searches from the start.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// The time between two searches from the start, as a multiple of the duration of the first. While an open transaction
/// keeps the entries of 230,000 claimed jobs in the index, such a search takes 20 ms.
const LOOKS_APART: u32 = 50;

/// The due time from which the jobs of each priority are searched: all earlier ones have been claimed. A job that gets
/// an earlier due time all the same (given back by a worker that stops, written by a slow transaction) is found by an
/// occasional search from the start.
#[derive(Debug, Default)]
struct Frontier {
    since: [Option<DateTime<Utc>>; priorities::ALL.len()],
    look_at: Option<Instant>,
}

impl Frontier {
    fn is_outdated(&self, now: Instant) -> bool {
        self.look_at.is_none_or(|at| at <= now)
    }

    fn looked_from_start(&mut self, begun: Instant, took: Duration) {
        self.look_at = Some(begun + LOOK_AGAIN.max(took * LOOKS_APART));
    }

    /// Moves on after a claim that searched the first `looked_at` priorities.
    fn move_on(&mut self, rows: &[Row], looked_at: usize) {
        // After a suspect, the next claim has to find the other suspects of the same loss.
        let Some(last) =
            rows.iter().min_by_key(|row| row.claimed.priority).filter(|row| !row.claimed.suspect)
        else {
            return *self = Self::default();
        };
        for (priority, since) in priorities::ALL.iter().zip(&mut self.since).take(looked_at) {
            let reached = if !last.more || *priority > last.claimed.priority {
                // All due jobs of this priority were claimed.
                last.claimed.claimed_at
            } else if *priority == last.claimed.priority {
                let of_it = rows.iter().filter(|row| row.claimed.priority == *priority);
                of_it.map(|row| row.run_at).max().unwrap_or(last.run_at)
            } else {
                continue;
            };
            *since = Some(reached - MARGIN);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(1_000_000 + second, 0).unwrap()
    }

    /// A job that was claimed at second 100.
    fn row(priority: i32, run_at: i64, more: bool) -> Row {
        let claimed = Claimed {
            id: String::new(),
            namespace: String::new(),
            payload: Vec::new(),
            attempt: 1,
            max_attempts: 25,
            priority,
            claimed_at: at(100),
            suspect: false,
        };
        Row { claimed, run_at: at(run_at), more }
    }

    #[test]
    fn a_claim_goes_on_where_the_one_before_was_full() {
        let mut frontier = Frontier::default();
        let rows = [
            row(priorities::BULK, 20, true),
            row(priorities::LIVE, 90, true),
            row(priorities::BULK, 10, true),
        ];
        frontier.move_on(&rows, 4);
        assert_eq!(frontier.since, [Some(at(99)), Some(at(19)), None, None]);
        // No live jobs are left; the other priorities were not searched.
        frontier.move_on(&[row(priorities::LIVE, 95, false)], 1);
        assert_eq!(frontier.since, [Some(at(99)), Some(at(19)), None, None]);
        frontier.move_on(&[row(priorities::LIVE, 95, false)], 4);
        assert_eq!(frontier.since, [Some(at(99)); 4]);
    }

    #[test]
    fn after_suspects_the_next_look_is_from_the_start() {
        let mut frontier = Frontier::default();
        let now = Instant::now();
        frontier.looked_from_start(now, Duration::ZERO);
        frontier.move_on(&[row(priorities::LIVE, 95, false)], 4);
        let mut suspect = row(priorities::LIVE, 10, false);
        suspect.claimed.suspect = true;
        frontier.move_on(&[suspect], 4);
        assert!(frontier.is_outdated(now));
        assert_eq!(frontier.since, [None; 4]);
    }

    #[test]
    fn looks_from_the_start_take_a_fiftieth_of_the_time_at_most() {
        let mut frontier = Frontier::default();
        let now = Instant::now();
        assert!(frontier.is_outdated(now));
        frontier.looked_from_start(now, Duration::from_millis(1));
        assert!(
            !frontier.is_outdated(now + Duration::from_millis(999)) && frontier.is_outdated(now + LOOK_AGAIN)
        );
        frontier.looked_from_start(now, Duration::from_millis(100));
        assert!(!frontier.is_outdated(now + Duration::from_millis(4_999)));
        assert!(frontier.is_outdated(now + Duration::from_secs(5)));
    }
}
