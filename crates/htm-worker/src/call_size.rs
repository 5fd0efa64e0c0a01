//! The number of texts per call. It falls when the provider is strained and rises again afterwards.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Additive increase, multiplicative decrease, as in TCP (Chiu and Jain, 1989). The size settles below the provider's
/// capacity. A worker's batches share it.
#[derive(Debug)]
pub(crate) struct CallSize {
    most: usize,
    now: AtomicUsize,
    /// A call that takes longer than this reduces the size.
    slow: Duration,
    /// The time of the first rate limit since a call was answered, or since the size was halved.
    limited: Mutex<Option<Instant>>,
}

impl CallSize {
    pub(crate) fn new(most: usize, slow: Duration) -> Self {
        Self { most, now: AtomicUsize::new(most), slow, limited: Mutex::default() }
    }

    /// Texts per call, from 1 to the maximum.
    pub(crate) fn get(&self) -> usize {
        self.now.load(Ordering::Relaxed)
    }

    /// Adjusts the size after an answer.
    pub(crate) fn answered(&self, took: Duration) {
        *self.first_limit() = None;
        match took > self.slow {
            true => self.change(|size| size - size / 4),
            false => self.change(|size| size + self.most.div_ceil(16)),
        }
    }

    /// Halves the size after the second rate limit in a row: the call may have more tokens than its provider takes in a
    /// minute. Where requests are limited, smaller calls would only be more of them. Calls that began before the first one
    /// was limited do not count.
    pub(crate) fn limited(&self, began: Instant) {
        let is_again = {
            let mut first = self.first_limit();
            let is_again = first.is_some_and(|first| first < began);
            if is_again || first.is_none() {
                *first = Some(Instant::now());
            }
            is_again
        };
        if is_again {
            self.strained();
        }
    }

    fn first_limit(&self) -> MutexGuard<'_, Option<Instant>> {
        self.limited.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Halves the size after a timeout.
    pub(crate) fn strained(&self) {
        self.change(|size| size / 2);
    }

    fn change(&self, to: impl Fn(usize) -> usize) {
        let change = |size| Some(to(size).clamp(1, self.most));
        // The closure never returns `None`.
        let _ = self.now.fetch_update(Ordering::Relaxed, Ordering::Relaxed, change);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SLOW: Duration = Duration::from_secs(10);

    #[test]
    fn it_halves_under_strain_and_recovers_step_by_step() {
        let size = CallSize::new(64, SLOW);
        size.strained();
        size.strained();
        assert_eq!(size.get(), 16);
        size.answered(Duration::from_secs(1));
        assert_eq!(size.get(), 20);
        size.answered(Duration::from_secs(11));
        assert_eq!(size.get(), 15);
        for _ in 0..20 {
            size.answered(Duration::ZERO);
        }
        assert_eq!(size.get(), 64);
    }

    #[test]
    fn a_limit_of_requests_makes_no_smaller_calls() {
        let size = CallSize::new(64, SLOW);
        let began = Instant::now();
        for _ in 0..9 {
            // Two at a time.
            size.limited(began);
            size.limited(began);
            size.answered(Duration::ZERO);
        }
        assert_eq!(size.get(), 64);
        size.limited(began);
        size.limited(Instant::now() + Duration::from_secs(1));
        assert_eq!(size.get(), 32);
    }

    proptest! {
        #[test]
        fn it_stays_within_its_bounds(most in 1usize..3_000, events in prop::collection::vec(0u8..3, 0..200)) {
            let size = CallSize::new(most, SLOW);
            for event in events {
                match event {
                    0 => size.strained(),
                    1 => size.answered(Duration::ZERO),
                    _ => size.answered(Duration::from_secs(60)),
                }
                prop_assert!((1..=most).contains(&size.get()));
            }
        }
    }
}
