//! The state that a worker exposes.

use crate::metrics::Metrics;
use crate::vitals::Vitals;

/// A worker's metrics and vital signs. The worker writes them, and [`crate::health`] serves them.
#[derive(Debug)]
pub struct Monitor {
    pub(crate) metrics: Metrics,
    pub(crate) vitals: Vitals,
}

impl Monitor {
    /// The monitor of a worker of this queue that has not started yet.
    pub fn new(queue: &str) -> Self {
        Self { metrics: Metrics::new(queue), vitals: Vitals::default() }
    }
}
