//! Tags what was remembered. The process is in `main.rs`; `htm up` and tests run the worker from here.

mod arguments;
mod governed;
mod in_use;
mod relevant;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use htm_core::error::chain;
use htm_core::provider::{Calls, ProviderError, ProviderErrorKind, TagExtractor, TagOrigin, TagSuggestion};
use htm_core::tag::{KnownTags, TagRules};
use htm_core::worker::governor::Breaker;
use htm_core::worker::jobs::{self, Lease, Tagged, Tagger};
use htm_core::worker::tags;
use htm_core::{Result, Stage};
use htm_runtime::Session;
use htm_worker::{Handler, Item};
use sqlx::PgPool;

pub use arguments::Arguments;
pub use governed::Governed;
use in_use::Ontologies;
pub use relevant::Relevance;

/// How many of a namespace's tags an extractor is shown that chooses for itself.
const ONTOLOGY_SHOWN: u32 = 200;

/// The tokens of the tags that a language model is shown: some hundred tags, a fraction of the smallest window.
const ONTOLOGY_TOKENS: usize = 1_500;

/// How long it may take to choose what an extractor is shown: a database that is gone without a word never answers.
const CHOICE: Duration = Duration::from_secs(60);

/// Proposes tags for texts, knowing the tags that their namespace has.
pub struct TagHandler {
    pool: PgPool,
    extractor: Arc<dyn TagExtractor>,
    shown: Option<(Ontologies, Relevance)>,
    rules: TagRules,
}

impl TagHandler {
    /// Works with an extractor; the pool is for reading the ontology.
    pub fn new(pool: PgPool, extractor: Arc<dyn TagExtractor>) -> Self {
        Self { pool, extractor, shown: None, rules: TagRules::default() }
    }

    /// This one, whose extractor is shown the relevant part of the ontology, whatever its size.
    #[must_use]
    pub fn showing(mut self, relevance: Relevance) -> Self {
        self.shown = Some((Ontologies::new(self.pool.clone()), relevance));
        self
    }

    /// This one, which writes tags by these rules.
    #[must_use]
    pub fn rules(mut self, rules: TagRules) -> Self {
        self.rules = rules;
        self
    }

    /// What the extractor is shown. Without the ontology it still works, only less consistently.
    async fn ontology(&self, namespace: &str, texts: &[String]) -> KnownTags {
        let unread = |error: &htm_core::Error| {
            tracing::warn!(code = error.code(), error = %chain(&error), "tagging without the tags in use");
            KnownTags::default()
        };
        match &self.shown {
            Some((ontologies, relevance)) => match ontologies.of(namespace).await {
                Ok(ontology) => {
                    KnownTags { tags: relevance.choose(&ontology, texts).await, ..KnownTags::default() }
                }
                Err(error) => unread(&error),
            },
            None => tags::known(&self.pool, namespace, ONTOLOGY_SHOWN)
                .await
                .unwrap_or_else(|error| unread(&error)),
        }
    }
}

/// The handler of the session's configuration. A language model is shown the tags that are near its texts by the
/// configured embedder; `local` finds the nearest terms by itself.
///
/// # Errors
/// Settings of the provider that cannot work.
pub async fn handler(session: &Session) -> Result<TagHandler> {
    let handler =
        TagHandler::new(session.pool().clone(), session.tagger()?).rules(session.config().tag.rules());
    if handler.extractor.origin() != TagOrigin::Llm {
        return Ok(handler);
    }
    let config = session.config();
    let embedder = session.embedder().map_err(|error| {
        tracing::warn!(code = error.code(), error = %chain(&error), "no embedder: a model is shown the top of the ontology alone");
    });
    let jobs = &config.jobs;
    let governed = Governed {
        pool: session.pool().clone(),
        breaker: Breaker {
            failures: jobs.breaker_failures,
            open: Duration::from_millis(jobs.breaker_open_ms),
            cap: Duration::from_millis(jobs.breaker_cap_ms),
        },
        deadline: Duration::from_millis(config.embedding.timeout_ms),
    };
    let relevance = Relevance::new(embedder.ok(), ONTOLOGY_TOKENS, config.tokens.encoding.into());
    Ok(handler.showing(relevance.governed(governed)))
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

    async fn work(
        &self,
        items: &[Item],
        calls: &dyn Calls,
    ) -> Result<Vec<Vec<TagSuggestion>>, ProviderError> {
        let Some(first) = items.first() else { return Ok(Vec::new()) };
        let texts: Vec<String> = items.iter().map(|item| item.content.clone()).collect();
        let choice = tokio::time::timeout(CHOICE, self.ontology(&first.namespace, &texts)).await;
        let ontology = choice.unwrap_or_else(|_elapsed| {
            tracing::warn!("tagging without the tags in use: nothing answers");
            KnownTags::default()
        });
        let suggestions = self.extractor.extract_within(&texts, &ontology, calls).await?;
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
            rules: &self.rules,
        };
        jobs::ack_tagged(pool, lease, tagger, &results).await
    }
}
