//! What a worker shows of itself.

use crate::metrics::Metrics;
use crate::vitals::Vitals;

/// Filled by a worker, read by [`crate::health`].
#[derive(Debug)]
pub struct Monitor {
    pub(crate) metrics: Metrics,
    pub(crate) vitals: Vitals,
}

impl Monitor {
    /// Of a worker of this queue, which has not started yet.
    pub fn new(queue: &str) -> Self {
        Self { metrics: Metrics::new(queue), vitals: Vitals::default() }
    }
}
