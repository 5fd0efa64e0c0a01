//! Room for batches in a worker.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

use crate::pings::Pings;
use crate::turns::{Seat, Turn, Turns};

/// Batches of live jobs that may overtake a backfill at once: one under way, and one for what comes meanwhile.
const OVERTAKING: usize = 2;

/// A turn at the provider, and a place until the end. There are more places than turns: while the results of a batch
/// are written, the provider works on the next. A database that is slower than the provider bounds what waits for it.
///
/// Beside them are a few places for live jobs, which need not wait for their turn behind batches of a backfill.
pub(crate) struct Places {
    usual: Arc<Semaphore>,
    held: usize,
    turns: Arc<Turns>,
    overtaking: Arc<Semaphore>,
    backfilling: Arc<AtomicUsize>,
    stop: CancellationToken,
}

impl Places {
    pub(crate) fn new(concurrency: usize, stop: CancellationToken) -> Self {
        let held = 2 * concurrency;
        Self {
            usual: Arc::new(Semaphore::new(held)),
            held,
            turns: Arc::new(Turns::new(concurrency, stop.clone())),
            overtaking: Arc::new(Semaphore::new(OVERTAKING)),
            backfilling: Arc::default(),
            stop,
        }
    }

    /// Waits for room for a batch of any jobs. None would mean that somebody has closed them; nobody does.
    pub(crate) async fn room(&self) -> Option<Place> {
        let permit = self.usual.clone().acquire_owned().await.ok()?;
        Some(Place { way: Way::Usual(self.turns.soon().await), ..self.place(permit) })
    }

    /// Waits until jobs were written, or may have been, that can overtake what the worker holds.
    pub(crate) async fn room_ahead(&self, pings: &Pings, poll: Duration) -> Option<Place> {
        loop {
            pings.next_within(poll).await;
            let permit = self.overtaking.clone().acquire_owned().await.ok()?;
            if self.backfilling.load(Ordering::Acquire) > 0 {
                return Some(self.place(permit));
            }
        }
    }

    /// Waits until every batch but one has ended, whose place is among the usual, and takes their places. None would mean
    /// that somebody has closed them; nobody does.
    pub(crate) async fn others(&self) -> Option<Others> {
        let usual = self.usual.clone().acquire_many_owned(self.held as u32 - 1).await.ok()?;
        let overtaking = self.overtaking.clone().acquire_many_owned(OVERTAKING as u32).await.ok()?;
        Some(Others { _usual: usual, _overtaking: overtaking })
    }

    pub(crate) fn are_free(&self) -> bool {
        self.usual.available_permits() == self.held && self.overtaking.available_permits() == OVERTAKING
    }

    pub(crate) async fn until_free(&self) {
        // Closed is as free as can be.
        self.usual.acquire_many(self.held as u32).await.ok();
        self.overtaking.acquire_many(OVERTAKING as u32).await.ok();
    }

    fn place(&self, permit: OwnedSemaphorePermit) -> Place {
        Place {
            way: Way::Ahead(self.stop.clone()),
            backfilling: Backfilling { all: self.backfilling.clone(), counted: false },
            overtaking: self.overtaking.clone(),
            has_live: false,
            _permit: permit,
            _others: None,
        }
    }
}

/// A batch's place, from before its claim to its end.
pub(crate) struct Place {
    way: Way,
    backfilling: Backfilling,
    overtaking: Arc<Semaphore>,
    has_live: bool,
    _permit: OwnedSemaphorePermit,
    _others: Option<Others>,
}

/// Every place but one.
pub(crate) struct Others {
    _usual: OwnedSemaphorePermit,
    _overtaking: OwnedSemaphorePermit,
}

enum Way {
    Usual(Seat),
    Ahead(CancellationToken),
    Gone,
}

impl Place {
    /// Whether it is for live jobs alone.
    pub(crate) fn is_ahead(&self) -> bool {
        matches!(self.way, Way::Ahead(_))
    }

    /// Keeps the other places as well: no other batch begins until this one ends.
    pub(crate) fn is_alone(&mut self, others: Others) {
        self._others = Some(others);
    }

    /// Says that it has jobs of a backfill or an import: those that are written meanwhile may overtake it.
    pub(crate) fn is_backfill(&mut self) {
        self.backfilling.count();
    }

    /// Says that it has live jobs: they need not wait for the turns of a backfill to end.
    pub(crate) fn has_live(&mut self) {
        self.has_live = true;
    }

    /// The turn at the provider, when it comes; none after a stop. It comes once.
    pub(crate) fn turn(&mut self) -> impl Future<Output = Option<Turn>> + use<> {
        let way = std::mem::replace(&mut self.way, Way::Gone);
        let overtakes = self.has_live && self.backfilling.of_others() > 0;
        let overtaking = self.overtaking.clone();
        async move {
            match way {
                // A turn lasts as long as a limited provider lets the call wait.
                Way::Usual(seat) if overtakes => tokio::select! {
                    biased;
                    turn = seat.turn() => turn,
                    permit = overtaking.acquire_owned() => Some(Turn::ahead(permit.ok()?)),
                },
                Way::Usual(seat) => seat.turn().await,
                Way::Ahead(stop) => (!stop.is_cancelled()).then(Turn::beside),
                Way::Gone => None,
            }
        }
    }
}

/// Counted for as long as it lives.
struct Backfilling {
    all: Arc<AtomicUsize>,
    counted: bool,
}

impl Backfilling {
    /// Batches beside this one that have jobs of a backfill.
    fn of_others(&self) -> usize {
        self.all.load(Ordering::Acquire).saturating_sub(usize::from(self.counted))
    }

    fn count(&mut self) {
        if !std::mem::replace(&mut self.counted, true) {
            self.all.fetch_add(1, Ordering::AcqRel);
        }
    }
}

impl Drop for Backfilling {
    fn drop(&mut self) {
        if self.counted {
            self.all.fetch_sub(1, Ordering::AcqRel);
        }
    }
}
