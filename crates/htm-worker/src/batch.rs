//! A batch of claimed jobs on its way through the worker.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chrono::{DateTime, Utc};
use htm_core::worker::jobs::{Claimed, Lease};
use htm_core::worker::priorities::LIVE;
use prometheus_client::metrics::gauge::Gauge;

use crate::slots::Slot;
use crate::turns::Turn;

/// Jobs held under one lease.
pub(crate) struct LeasedBatch {
    pub(crate) lease: Lease,
    pub(crate) jobs: Vec<Claimed>,
    held: Arc<Held>,
    settled: AtomicBool,
    slot: Mutex<Slot>,
}

impl LeasedBatch {
    /// Puts claimed jobs into one of the worker's slots for batches.
    pub(crate) fn new(lease: Lease, jobs: Vec<Claimed>, held: Arc<Held>, mut slot: Slot) -> Self {
        if jobs.iter().any(|job| job.priority < LIVE) {
            slot.is_backfill();
        }
        if jobs.iter().any(|job| job.priority >= LIVE) {
            slot.has_live();
        }
        if !jobs.iter().any(|job| job.suspect) {
            slot.is_unsuspected();
        }
        held.ids().extend(jobs.iter().map(|job| (job.id.clone(), lease.claimed_at)));
        held.gauge.inc_by(jobs.len() as i64);
        Self { lease, jobs, held, settled: AtomicBool::new(false), slot: Mutex::new(slot) }
    }

    /// Waits for the batch's turn at the provider; none after a stop. Drop it when the provider has answered. The next
    /// batch then uses the provider while this one's results are written.
    pub(crate) async fn turn(&self) -> Option<Turn> {
        let turn = self.slot().turn();
        turn.await
    }

    /// The job of this id.
    pub(crate) fn job(&self, id: &str) -> Option<&Claimed> {
        self.jobs.iter().find(|job| job.id == id)
    }

    /// Whether any of its jobs was held by a worker that was lost.
    pub(crate) fn is_suspect(&self) -> bool {
        self.jobs.iter().any(|job| job.suspect)
    }

    fn slot(&self) -> MutexGuard<'_, Slot> {
        self.slot.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Marks the batch as settled: the end of every job is in the database. The claimer releases the jobs of a batch
    /// that is dropped unsettled.
    pub(crate) fn settle(&self) {
        self.settled.store(true, Ordering::Release);
    }
}

impl Drop for LeasedBatch {
    fn drop(&mut self) {
        self.held.release(self.jobs.iter().map(|job| job.id.as_str()), self.lease.claimed_at);
        self.held.gauge.dec_by(self.jobs.len() as i64);
        if !self.settled.load(Ordering::Acquire) {
            self.held.leave_behind();
        }
    }
}

/// The jobs that the worker holds, and whether the database may list others under its name.
#[derive(Debug)]
pub(crate) struct Held {
    /// Each job with the time of its claim.
    ids: Mutex<HashMap<String, DateTime<Utc>>>,
    gauge: Gauge,
    left_behind: AtomicBool,
}

impl Held {
    /// Holds nothing yet. `gauge` counts the held jobs.
    pub(crate) fn new(gauge: Gauge) -> Self {
        Self { ids: Mutex::default(), gauge, left_behind: AtomicBool::new(false) }
    }

    fn ids(&self) -> MutexGuard<'_, HashMap<String, DateTime<Utc>>> {
        self.ids.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Releases the jobs of a claim. One whose lease was lost may be held under a later claim by now.
    fn release<'a>(&self, jobs: impl Iterator<Item = &'a str>, claimed_at: DateTime<Utc>) {
        let mut ids = self.ids();
        for job in jobs {
            if ids.get(job) == Some(&claimed_at) {
                ids.remove(job);
            }
        }
    }

    pub(crate) fn snapshot(&self) -> Vec<String> {
        self.ids().keys().cloned().collect()
    }

    /// The time of the oldest claim that is still held.
    pub(crate) fn since(&self) -> Option<DateTime<Utc>> {
        self.ids().values().min().copied()
    }

    pub(crate) fn leave_behind(&self) {
        self.left_behind.store(true, Ordering::Release);
    }

    pub(crate) fn take_left_behind(&self) -> bool {
        self.left_behind.swap(false, Ordering::AcqRel)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_that_lost_its_lease_leaves_later_claims() {
        let held = Held::new(Gauge::default());
        let (first, second) = (DateTime::UNIX_EPOCH, Utc::now());
        held.ids().extend([("lost".to_owned(), second), ("kept".to_owned(), first)]);
        held.release(["lost", "kept"].into_iter(), first);
        assert_eq!(held.snapshot(), ["lost"]);
        held.release(["lost"].into_iter(), second);
        assert!(held.snapshot().is_empty());
    }
}
