//! The proof that a provider takes texts. With it, a text that is rejected alone is to blame. Without it, the provider may
//! reject every text, and all jobs would become dead letters.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The time for which a text that was taken is proof.
const LASTS: Duration = Duration::from_secs(60);

/// The most texts that are blamed on one proof: a provider may begin to reject every text at any moment.
const MOST_BLAMED: u32 = 4;

/// The latest proof. A worker's batches share it.
#[derive(Debug, Default)]
pub(crate) struct Proof(Mutex<Option<Taken>>);

#[derive(Clone, Copy, Debug)]
struct Taken {
    at: Instant,
    blamed: u32,
}

impl Proof {
    /// Notes that the provider took a text.
    pub(crate) fn renew(&self, now: Instant) {
        *self.latest() = Some(Taken { at: now, blamed: 0 });
    }

    /// Blames a text that was rejected alone. False without a proof.
    pub(crate) fn blames(&self, now: Instant) -> bool {
        let mut latest = self.latest();
        let holds = |taken: &&mut Taken| now.duration_since(taken.at) < LASTS && taken.blamed < MOST_BLAMED;
        let Some(taken) = latest.as_mut().filter(holds) else { return false };
        taken.blamed += 1;
        true
    }

    fn latest(&self) -> MutexGuard<'_, Option<Taken>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_is_blamed_before_the_provider_took_one() {
        let (proof, now) = (Proof::default(), Instant::now());
        assert!(!proof.blames(now));
        proof.renew(now);
        assert!(proof.blames(now));
    }

    #[test]
    fn a_proof_is_for_a_minute_and_for_a_few_texts() {
        let (proof, now) = (Proof::default(), Instant::now());
        proof.renew(now);
        assert!(proof.blames(now + Duration::from_secs(59)) && !proof.blames(now + LASTS));
        proof.renew(now + LASTS);
        let blamed = (0..100).filter(|_| proof.blames(now + LASTS)).count();
        assert_eq!(blamed, MOST_BLAMED as usize);
        proof.renew(now + LASTS);
        assert!(proof.blames(now + LASTS));
    }

    #[test]
    fn a_proof_of_another_call_may_be_newer_than_the_clock_of_this_one() {
        let (proof, now) = (Proof::default(), Instant::now());
        proof.renew(now + Duration::from_secs(1));
        assert!(proof.blames(now));
    }
}
