//! The verdict on a job after an error.

use std::time::Duration;

use htm_core::fault::Fault;
use htm_core::provider::{ProviderError, ProviderErrorKind};
use htm_core::worker::jobs::Verdict;

/// Exponential backoff with full jitter ("Exponential Backoff And Jitter", AWS Architecture Blog, 2015).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backoff {
    /// The ceiling of the first delay.
    pub base: Duration,
    /// The ceiling of every delay.
    pub cap: Duration,
}

impl Default for Backoff {
    fn default() -> Self {
        Self { base: Duration::from_secs(1), cap: Duration::from_secs(10 * 60) }
    }
}

impl Backoff {
    /// The delay after attempt number `attempt` (from 1). `jitter` is random, from 0 to 1.
    pub fn delay(self, attempt: u32, jitter: f64) -> Duration {
        let ceiling = self.base.saturating_mul(1 << attempt.saturating_sub(1).min(20)).min(self.cap);
        ceiling.mul_f64(jitter.clamp(0.0, 1.0))
    }
}

/// The verdict on a job whose provider call failed. A rate limit, a rejected key, a missing model and a provider that
/// rejects every text are not the job's fault and do not count as an attempt.
pub(crate) fn verdict(error: &ProviderError, attempt: u32, backoff: Backoff, jitter: f64) -> Verdict {
    let delay_ms = backoff.delay(attempt, jitter).as_millis() as u64;
    match error.kind {
        ProviderErrorKind::RateLimited { retry_after } => {
            // The backoff spreads the jobs after the limit's end. The sum saturates: the wait is the provider's number.
            let wait = retry_after.unwrap_or(backoff.base).as_millis() as u64;
            Verdict::Defer { delay_ms: wait.saturating_add(delay_ms) }
        }
        _ => match error.fault() {
            Fault::User => Verdict::Dead,
            Fault::Permanent => Verdict::Defer { delay_ms: delay_ms.max(backoff.base.as_millis() as u64) },
            Fault::Transient | Fault::Bug => Verdict::Retry { delay_ms },
        },
    }
}

#[cfg(test)]
mod tests {
    use htm_core::provider::ModelName;
    use proptest::prelude::*;

    use super::*;

    const BACKOFF: Backoff = Backoff { base: Duration::from_secs(1), cap: Duration::from_secs(600) };

    fn of(kind: ProviderErrorKind) -> Verdict {
        verdict(&ProviderError::new(&ModelName::new("fake", "m"), kind, ""), 3, BACKOFF, 1.0)
    }

    #[test]
    fn each_kind_has_its_verdict() {
        use ProviderErrorKind::*;
        assert_eq!(of(BadInput), Verdict::Dead);
        assert_eq!(of(UnusableAnswer), Verdict::Dead);
        assert_eq!(of(Timeout), Verdict::Retry { delay_ms: 4_000 });
        assert_eq!(of(Server), Verdict::Retry { delay_ms: 4_000 });
        assert_eq!(
            of(RateLimited { retry_after: Some(Duration::from_secs(7)) }),
            Verdict::Defer { delay_ms: 11_000 }
        );
        for kind in [RefusedAll, Unauthorized, QuotaExceeded, ModelNotFound, OtherDimensions] {
            assert!(matches!(of(kind), Verdict::Defer { .. }), "{kind:?}");
        }
    }

    proptest! {
        #[test]
        fn a_delay_is_never_above_its_ceilings(attempt in 0u32..100, jitter in 0.0f64..=1.0) {
            let delay = BACKOFF.delay(attempt, jitter);
            prop_assert!(delay <= BACKOFF.cap);
            prop_assert!(delay <= BACKOFF.base * 2u32.saturating_pow(attempt.saturating_sub(1).min(31)));
        }
    }
}
