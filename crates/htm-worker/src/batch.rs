//! A batch of claimed jobs on its way through the worker.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chrono::{DateTime, Utc};
use htm_core::worker::jobs::{Claimed, Lease};
use htm_core::worker::priorities::LIVE;
use prometheus_client::metrics::gauge::Gauge;

use crate::places::{Others, Place};
use crate::turns::Turn;

/// Jobs held under one lease.
pub(crate) struct LeasedBatch {
    pub(crate) lease: Lease,
    pub(crate) jobs: Vec<Claimed>,
    held: Arc<Held>,
    settled: AtomicBool,
    place: Mutex<Place>,
}

impl LeasedBatch {
    /// It takes one of the places that the worker has for batches, and waits for its turn at the provider.
    pub(crate) fn new(lease: Lease, jobs: Vec<Claimed>, held: Arc<Held>, mut place: Place) -> Self {
        if jobs.iter().any(|job| job.priority < LIVE) {
            place.is_backfill();
        }
        if jobs.iter().any(|job| job.priority >= LIVE) {
            place.has_live();
        }
        held.ids().extend(jobs.iter().map(|job| (job.id.clone(), lease.claimed_at)));
        held.gauge.inc_by(jobs.len() as i64);
        Self { lease, jobs, held, settled: AtomicBool::new(false), place: Mutex::new(place) }
    }

    /// The batch's turn at the provider; none after a stop. To be dropped when the provider has answered: it serves
    /// the next batch while what it said is written.
    pub(crate) async fn turn(&self) -> Option<Turn> {
        let turn = self.place().turn();
        turn.await
    }

    /// The job of this id.
    pub(crate) fn job(&self, id: &str) -> Option<&Claimed> {
        self.jobs.iter().find(|job| job.id == id)
    }

    /// Whether its jobs were held by a worker when it was lost.
    pub(crate) fn is_suspect(&self) -> bool {
        self.jobs.iter().any(|job| job.suspect)
    }

    /// Keeps all other batches from beginning until this one ends.
    pub(crate) fn is_alone(&self, others: Others) {
        self.place().is_alone(others);
    }

    fn place(&self) -> MutexGuard<'_, Place> {
        self.place.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says that the database knows the end of every job. A batch that is dropped without it has left jobs behind
    /// in the worker's name: the claimer gives them back.
    pub(crate) fn settle(&self) {
        self.settled.store(true, Ordering::Release);
    }
}

impl Drop for LeasedBatch {
    fn drop(&mut self) {
        let mut ids = self.held.ids();
        for job in &self.jobs {
            ids.remove(&job.id);
        }
        drop(ids);
        self.held.gauge.dec_by(self.jobs.len() as i64);
        if !self.settled.load(Ordering::Acquire) {
            self.held.leave_behind();
        }
    }
}

/// What the worker holds, and whether something may stand in its name that it does not hold.
#[derive(Debug)]
pub(crate) struct Held {
    /// Each job with the instant of its claim.
    ids: Mutex<HashMap<String, DateTime<Utc>>>,
    gauge: Gauge,
    left_behind: AtomicBool,
}

impl Held {
    /// Nothing; `gauge` shows how many jobs it becomes.
    pub(crate) fn new(gauge: Gauge) -> Self {
        Self { ids: Mutex::default(), gauge, left_behind: AtomicBool::new(false) }
    }

    fn ids(&self) -> MutexGuard<'_, HashMap<String, DateTime<Utc>>> {
        self.ids.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn snapshot(&self) -> Vec<String> {
        self.ids().keys().cloned().collect()
    }

    /// The instant of the first claim that is still in hand.
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
