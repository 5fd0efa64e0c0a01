//! Scripted latency and failures, for tests.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use htm_core::provider::{ModelName, ProviderError, ProviderErrorKind};

#[derive(Debug, Default)]
pub(super) struct Trouble {
    latency: Duration,
    failure: Option<ProviderErrorKind>,
    failures_left: AtomicU64,
    refused: Option<String>,
    calls: AtomicU64,
}

impl Trouble {
    pub(super) fn new(latency: Duration) -> Self {
        Self { latency, ..Self::default() }
    }

    pub(super) fn fail(&mut self, kind: ProviderErrorKind, times: u64) {
        (self.failure, self.failures_left) = (Some(kind), AtomicU64::new(times));
    }

    pub(super) fn refuse(&mut self, word: String) {
        self.refused = Some(word);
    }

    pub(super) fn slow(&mut self, latency: Duration) {
        self.latency = latency;
    }

    pub(super) fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }

    /// Plays a call with `texts`: waits, then fails if a failure is due.
    pub(super) async fn meet(&self, model: &ModelName, texts: &[String]) -> Result<(), ProviderError> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        if !self.latency.is_zero() {
            tokio::time::sleep(self.latency).await;
        }
        let left = |left: u64| left.checked_sub(1);
        if let Some(kind) = self.failure
            && self.failures_left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, left).is_ok()
        {
            return Err(ProviderError::new(model, kind, "the fake was told to fail"));
        }
        if let Some(word) = &self.refused
            && texts.iter().any(|text| text.contains(word))
        {
            return Err(ProviderError::new(
                model,
                ProviderErrorKind::BadInput,
                "the fake was told to refuse a text",
            ));
        }
        Ok(())
    }
}
