//! Embedding within the limits of the embedder's provider, which the whole fleet shares.

use std::time::Duration;

use htm_core::HoldReason;
use htm_core::error::chain;
use htm_core::fault::Fault;
use htm_core::provider::{Embedder, Embedding, ProviderError, ProviderErrorKind, Purpose};
use htm_core::worker::governor::{self, Breaker, Call, CallFailure, FailureKind, Leave, Turn};
use htm_core::worker::priorities::LIVE;
use sqlx::PgPool;

/// How long a provider is left alone after a limit that does not say.
const LIMITED: Duration = Duration::from_secs(1);

/// The governor, as who asks for embeddings that can be done without.
pub struct Governed {
    /// Where the governor is.
    pub pool: PgPool,
    /// When a failing provider is left alone.
    pub breaker: Breaker,
    /// By when the embedder gives a call up.
    pub deadline: Duration,
}

impl Governed {
    /// Embeds, if that may be done at once: nothing waits for it.
    pub(crate) async fn embed(
        &self,
        embedder: &dyn Embedder,
        texts: &[String],
    ) -> Result<Vec<Embedding>, ProviderError> {
        let name = embedder.model().to_string();
        let held = |why: &str| {
            ProviderError::new(embedder.model(), ProviderErrorKind::RateLimited { retry_after: None }, why)
        };
        // A quarter of the characters: close enough for a bound.
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
                return Err(held(&format!("held back ({})", why.map_or("in line", HoldReason::as_str))));
            }
            Err(error) => return Err(held(&format!("the governor cannot be asked: {}", error.code()))),
        };
        let result = embedder.embed(texts, Purpose::Document).await;
        let failure = result.as_ref().err().filter(|error| !error.is_about_texts()).map(failure);
        let noted = governor::finish(&self.pool, &name, grant, failure.as_ref(), self.breaker).await;
        if let Err(error) = noted {
            tracing::warn!(code = error.code(), error = %chain(&error), "the end of a call could not be noted");
        }
        result
    }
}

fn failure(error: &ProviderError) -> CallFailure {
    let kind = match error.kind {
        ProviderErrorKind::RateLimited { retry_after } => FailureKind::Limited { retry_after, wait: LIMITED },
        _ if error.fault() == Fault::Permanent => FailureKind::Permanent,
        _ => FailureKind::Transient,
    };
    CallFailure { reason: format!("{}: {error}", error.code()), kind }
}
