//! Tags what was remembered. The process is in `main.rs`; `htm up` and tests run the worker from here.

use std::sync::Arc;

use async_trait::async_trait;
use htm_core::Stage;
use htm_core::provider::{ProviderError, ProviderErrorKind, TagExtractor, TagSuggestion};
use htm_core::store::jobs::{self, Lease, Tagged, Tagger};
use htm_core::store::tags;
use htm_runtime::{RuntimeError, Session};
use htm_worker::{Handler, Item};
use sqlx::PgPool;

/// How many of a namespace's tags an extractor is shown.
const ONTOLOGY_SHOWN: u32 = 200;

/// Proposes tags for texts, knowing the tags that their namespace has.
pub struct TagHandler {
    pool: PgPool,
    extractor: Arc<dyn TagExtractor>,
}

impl TagHandler {
    /// Works with an extractor; the pool is for reading the ontology.
    pub fn new(pool: PgPool, extractor: Arc<dyn TagExtractor>) -> Self {
        Self { pool, extractor }
    }
}

/// The handler of the session's configuration.
///
/// # Errors
/// Settings of the provider that cannot work.
pub async fn handler(session: &Session) -> Result<TagHandler, RuntimeError> {
    Ok(TagHandler::new(session.pool().clone(), session.tagger()?))
}

#[async_trait]
impl Handler for TagHandler {
    type Output = Vec<TagSuggestion>;

    fn stage(&self) -> Stage {
        Stage::Tag
    }

    fn model(&self) -> String {
        self.extractor.model().to_string()
    }

    fn one_namespace_a_call(&self) -> bool {
        true
    }

    async fn work(&self, items: &[Item]) -> Result<Vec<Vec<TagSuggestion>>, ProviderError> {
        let Some(first) = items.first() else { return Ok(Vec::new()) };
        // Without the ontology an extractor still works, only less consistently.
        let ontology =
            tags::in_use(&self.pool, &first.namespace, ONTOLOGY_SHOWN).await.unwrap_or_else(|error| {
                tracing::warn!(code = error.code(), %error, "tagging without the tags in use");
                Vec::new()
            });
        let texts: Vec<String> = items.iter().map(|item| item.content.clone()).collect();
        let suggestions = self.extractor.extract(&texts, &ontology).await?;
        if suggestions.len() != texts.len() {
            return Err(ProviderError::new(
                self.extractor.model(),
                ProviderErrorKind::BadResponse,
                format!("answered for {} of {} texts", suggestions.len(), texts.len()),
            ));
        }
        Ok(suggestions)
    }

    async fn ack(
        &self,
        pool: &PgPool,
        lease: &Lease,
        results: &[(Item, Vec<TagSuggestion>)],
    ) -> htm_core::Result<usize> {
        let results: Vec<Tagged> = results
            .iter()
            .map(|(item, suggestions)| Tagged {
                job: item.job.clone(),
                node: item.node,
                namespace: item.namespace.clone(),
                revision: item.revision,
                tags: suggestions.clone(),
            })
            .collect();
        let tagger = Tagger {
            model: self.extractor.model(),
            version: self.extractor.version(),
            origin: self.extractor.origin(),
        };
        jobs::ack_tagged(pool, lease, tagger, &results).await
    }
}
