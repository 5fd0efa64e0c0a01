//! Embedding within the limits of the embedder's provider. The whole fleet shares these limits.

use std::time::Duration;

use htm_core::error::chain;
use htm_core::provider::{Embedder, Embedding, ProviderError, ProviderErrorKind, Purpose};
use htm_core::worker::governor::{self, Breaker, Call, CallFailure, FailureKind, Leave, Turn};
use htm_core::worker::priorities::LIVE;
use sqlx::PgPool;

/// The wait after a rate limit without `Retry-After`.
const LIMITED: Duration = Duration::from_secs(1);

/// Access to the governor, for optional embeddings.
pub struct Governed {
    /// The governor's database.
    pub pool: PgPool,
    /// The settings of the breaker for a failing provider.
    pub breaker: Breaker,
    /// The embedder's time limit of a call.
    pub deadline: Duration,
}

impl Governed {
    /// Embeds texts if the governor grants the call at once. Never waits in line. The names of tags are short: a second
    /// request is rare, and has no grant of its own.
    pub(crate) async fn embed(
        &self,
        embedder: &dyn Embedder,
        texts: &[String],
    ) -> Result<Vec<Embedding>, ProviderError> {
        let name = embedder.model().to_string();
        let held = |why: &str| {
            ProviderError::new(embedder.model(), ProviderErrorKind::RateLimited { retry_after: None }, why)
        };
        // A token per four bytes is close enough for a bound.
        let tokens =
            texts.iter().map(|text| text.len().div_ceil(4)).sum::<usize>().try_into().unwrap_or(u32::MAX);
        let call = Call {
            model: &name,
            worker: env!("CARGO_PKG_NAME"),
            tokens,
            deadline: self.deadline,
            priority: LIVE,
        };
        let answer = governor::acquire(&self.pool, &call, Turn::Once).await;
        let grant = match answer.map(|answer| answer.leave) {
            Ok(Leave::Granted(grant)) => grant,
            Ok(Leave::Wait { why, .. }) => {
                return Err(held(&format!("held back ({})", why.map_or("in line", <&str>::from))));
            }
            Err(error) => return Err(held(&format!("the governor cannot be asked: {}", error.code()))),
        };
        let is_trial = grant.is_trial();
        let result = embedder.embed(texts, Purpose::Document).await;
        let failure = result.as_ref().err().and_then(|error| match error.kind {
            // The provider may reject every text: only one that it takes may close the breaker.
            ProviderErrorKind::BadInput if is_trial => Some(CallFailure {
                reason: format!("{}: {error}", error.code()),
                kind: FailureKind::Transient,
            }),
            _ => CallFailure::of(error, LIMITED),
        });
        let noted = governor::finish(&self.pool, &name, grant, failure.as_ref(), self.breaker).await;
        if let Err(error) = noted {
            tracing::warn!(code = error.code(), error = %chain(&error), "the end of a call could not be recorded");
        }
        result
    }
}
