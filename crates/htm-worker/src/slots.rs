//! Slots: the bound on the batches that a worker holds at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use htm_core::worker::claims::Wanted;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

use crate::pings::Pings;
use crate::turns::{Seat, Turn, Turns};

/// Batches of live jobs that may overtake a backfill at once: one at the provider, and one for jobs written meanwhile.
const OVERTAKING: usize = 2;

/// The slots of a worker. A batch has a slot from its claim to its end, and a turn while it is at the provider. There
/// are twice as many slots as turns, so the provider works on one batch while the results of another are written. The
/// number of slots bounds what waits for a slow database.
///
/// A few more slots are for live jobs only. They do not wait for a turn behind the batches of a backfill.
///
/// Of all slots one may have suspects.
pub(crate) struct Slots {
    usual: Arc<Semaphore>,
    held: usize,
    turns: Arc<Turns>,
    overtaking: Arc<Semaphore>,
    suspects: Arc<Semaphore>,
    backfilling: Arc<AtomicUsize>,
    stop: CancellationToken,
}

impl Slots {
    pub(crate) fn new(concurrency: usize, stop: CancellationToken) -> Self {
        let held = 2 * concurrency;
        Self {
            usual: Arc::new(Semaphore::new(held)),
            held,
            turns: Arc::new(Turns::new(concurrency, stop.clone())),
            overtaking: Arc::new(Semaphore::new(OVERTAKING)),
            suspects: Arc::new(Semaphore::new(1)),
            backfilling: Arc::default(),
            stop,
        }
    }

    /// Waits for a slot for a batch of any jobs. None if the semaphore is closed, which never happens.
    pub(crate) async fn room(&self) -> Option<Slot> {
        let permit = self.usual.clone().acquire_owned().await.ok()?;
        let way = Way::Usual(self.turns.soon().await);
        Some(Slot { way, suspects: self.suspects.clone().try_acquire_owned().ok(), ..self.slot(permit) })
    }

    /// Waits for a ping while the worker holds a backfill, and for a slot for live jobs that overtake it.
    pub(crate) async fn room_ahead(&self, pings: &Pings, poll: Duration) -> Option<Slot> {
        loop {
            pings.next_within(poll).await;
            let permit = self.overtaking.clone().acquire_owned().await.ok()?;
            if self.backfilling.load(Ordering::Acquire) > 0 {
                return Some(self.slot(permit));
            }
        }
    }

    /// Waits until all batches but one have ended. The remaining batch has a usual slot.
    pub(crate) async fn until_one(&self) {
        // An error means that the semaphore is closed, and thus free.
        self.usual.acquire_many(self.held as u32 - 1).await.ok();
        self.overtaking.acquire_many(OVERTAKING as u32).await.ok();
    }

    /// Waits until the worker holds no suspects.
    pub(crate) async fn until_unsuspected(&self) {
        self.suspects.acquire().await.ok();
    }

    pub(crate) fn are_free(&self) -> bool {
        self.usual.available_permits() == self.held && self.overtaking.available_permits() == OVERTAKING
    }

    pub(crate) async fn until_free(&self) {
        // An error means that the semaphore is closed, and thus free.
        self.usual.acquire_many(self.held as u32).await.ok();
        self.overtaking.acquire_many(OVERTAKING as u32).await.ok();
    }

    fn slot(&self, permit: OwnedSemaphorePermit) -> Slot {
        Slot {
            way: Way::Ahead(self.stop.clone()),
            backfilling: Backfilling { all: self.backfilling.clone(), counted: false },
            overtaking: self.overtaking.clone(),
            has_live: false,
            suspects: None,
            _permit: permit,
        }
    }
}

/// A batch's slot, from before its claim to its end.
pub(crate) struct Slot {
    way: Way,
    backfilling: Backfilling,
    overtaking: Arc<Semaphore>,
    has_live: bool,
    suspects: Option<OwnedSemaphorePermit>,
    _permit: OwnedSemaphorePermit,
}

enum Way {
    Usual(Seat),
    Ahead(CancellationToken),
    Gone,
}

impl Slot {
    /// The jobs that it is for.
    pub(crate) fn wanted(&self) -> Wanted {
        match (&self.way, &self.suspects) {
            (Way::Ahead(_), _) => Wanted::Live,
            (_, Some(_)) => Wanted::Any,
            (_, None) => Wanted::Unsuspected,
        }
    }

    /// Marks that the batch has no suspects. Another one may have them.
    pub(crate) fn is_unsuspected(&mut self) {
        self.suspects = None;
    }

    /// Marks that the batch has jobs of a backfill or an import. Live jobs may overtake it.
    pub(crate) fn is_backfill(&mut self) {
        self.backfilling.count();
    }

    /// Marks that the batch has live jobs. They do not wait for the turns of a backfill.
    pub(crate) fn has_live(&mut self) {
        self.has_live = true;
    }

    /// Waits for the turn at the provider; none after a stop, or if it was taken before.
    pub(crate) fn turn(&mut self) -> impl Future<Output = Option<Turn>> + use<> {
        let way = std::mem::replace(&mut self.way, Way::Gone);
        let overtakes = self.has_live && self.backfilling.of_others() > 0;
        let overtaking = self.overtaking.clone();
        async move {
            match way {
                // With a rate limit a turn lasts as long as the call waits for it.
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

/// A share in the count of batches with jobs of a backfill, until it is dropped.
struct Backfilling {
    all: Arc<AtomicUsize>,
    counted: bool,
}

impl Backfilling {
    /// The other batches that have jobs of a backfill.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn one_batch_of_suspects_is_held_at_a_time_and_others_beside_it() {
        let slots = Slots::new(2, CancellationToken::new());
        let mut innocent = slots.room().await.unwrap();
        assert_eq!(innocent.wanted(), Wanted::Any);
        innocent.is_unsuspected();
        let suspect = slots.room().await.unwrap();
        assert_eq!(suspect.wanted(), Wanted::Any);
        drop(innocent);
        slots.until_one().await;
        let beside = slots.room().await.unwrap();
        assert_eq!(beside.wanted(), Wanted::Unsuspected);
        drop(suspect);
        slots.until_unsuspected().await;
        assert_eq!(slots.room().await.unwrap().wanted(), Wanted::Any);
    }
}
